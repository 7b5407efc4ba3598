/* environment.c - where each line of the report's environment comes from; see environment.h. */
#include "sim/environment.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <sys/sysmacros.h>
#include <sys/utsname.h>
#include <unistd.h>

#include "config/alloc.h"
#include "sim/plan.h"
#include "sim/small_file.h"

#define MOUNTINFO_FIELDS 11 /* of a line, without the optional ones; see proc(5) */

/* The line that begins with key, without the key; its length in *length, NULL if there is none. */
static const char *line_after(const char *text, const char *key, size_t *length)
{
    size_t key_length = strlen(key);
    for (const char *line = text; *line;) {
        size_t all = strcspn(line, "\n");
        if (all >= key_length && strncmp(line, key, key_length) == 0) {
            *length = all - key_length;
            return line + key_length;
        }
        line += all + (line[all] == '\n');
    }
    return NULL;
}

static void copy_part(char *out, size_t out_size_bytes, const char *from, size_t length)
{
    snprintf(out, out_size_bytes, "%.*s", (int)length, from);
}

void environment_distribution(const char *text, char *out, size_t out_size_bytes)
{
    size_t length;
    const char *value = line_after(text, "PRETTY_NAME=", &length);
    out[0] = '\0';
    if (!value)
        return;
    if (length >= 2 && (value[0] == '"' || value[0] == '\'') && value[length - 1] == value[0]) {
        value++;
        length -= 2;
    }
    copy_part(out, out_size_bytes, value, length);
}

void environment_cpu_model(const char *text, char *out, size_t out_size_bytes)
{
    size_t length;
    const char *value = line_after(text, "model name", &length);
    out[0] = '\0';
    if (!value)
        return;
    size_t skip = strspn(value, "\t :");
    copy_part(out, out_size_bytes, value + skip, length - skip);
}

/* mountinfo writes blank, tab, newline and backslash as three octal digits. */
static void unescape(char *text)
{
    char *to = text;
    for (const char *from = text; *from; to++) {
        unsigned code;
        if (from[0] == '\\' && sscanf(from + 1, "%3o", &code) == 1) {
            *to = (char)code;
            from += 4;
        } else {
            *to = *from++;
        }
    }
    *to = '\0';
}

static void field_copy(char *out, size_t out_size_bytes, const char *field)
{
    copy_part(out, out_size_bytes, field, strcspn(field, " \n"));
    unescape(out);
}

/* "36 35 98:0 /mnt1 /mnt2 rw,noatime master:1 - ext3 /dev/root rw,errors=continue" */
static void mount_line(const char *line, uint64_t device, struct environment_volume *out)
{
    const char *fields[MOUNTINFO_FIELDS] = {0};
    size_t count = 0;
    unsigned major_no, minor_no;
    for (const char *at = line; *at && *at != '\n' && count < MOUNTINFO_FIELDS;) {
        bool optional = count == 6 && !(at[0] == '-' && at[1] == ' ');
        if (!optional)
            fields[count++] = at;
        at += strcspn(at, " \n");
        at += *at == ' ';
    }
    if (count < 10 || sscanf(fields[2], "%u:%u", &major_no, &minor_no) != 2 ||
        makedev(major_no, minor_no) != device)
        return;
    char super[ENVIRONMENT_PATH_MAX] = "";
    field_copy(out->mount_point, sizeof out->mount_point, fields[4]);
    field_copy(out->options, sizeof out->options, fields[5]);
    field_copy(out->type, sizeof out->type, fields[7]);
    field_copy(out->source, sizeof out->source, fields[8]);
    field_copy(super, sizeof super, fields[9]);
    size_t used = strlen(out->options);
    snprintf(out->options + used, sizeof out->options - used, ",%s", super);
}

void environment_mount(const char *text, uint64_t device, struct environment_volume *out)
{
    for (const char *line = text; *line;) {
        mount_line(line, device, out);
        line += strcspn(line, "\n");
        line += *line == '\n';
    }
}

static void look_at_host(struct environment *environment)
{
    struct utsname name;
    if (uname(&name) == 0) {
        copy_part(environment->host, sizeof environment->host, name.nodename,
                  strlen(name.nodename));
        snprintf(environment->kernel, sizeof environment->kernel, "%.32s %.64s %.24s", name.sysname,
                 name.release, name.machine);
    }
    char *text = small_file_whole("/etc/os-release");
    if (text)
        environment_distribution(text, environment->distribution, sizeof environment->distribution);
    free(text);
    text = small_file_whole("/proc/cpuinfo");
    if (text)
        environment_cpu_model(text, environment->cpu_model, sizeof environment->cpu_model);
    free(text);
}

static void look_at_resources(struct environment *environment)
{
    struct plan_machine *machine = alloc_zeroed(1, sizeof *machine); /* large: not on the stack */
    plan_look_at_machine(machine);
    long online = sysconf(_SC_NPROCESSORS_ONLN);
    long pages = sysconf(_SC_PHYS_PAGES);
    long page_bytes = sysconf(_SC_PAGESIZE);
    environment->cpus_online = online > 0 ? (unsigned)online : 0;
    environment->cpus_allowed = machine->cpus;
    environment->memory_available_bytes = machine->memory_bytes;
    free(machine);
    if (pages > 0 && page_bytes > 0)
        environment->memory_total_bytes = (uint64_t)pages * (uint64_t)page_bytes;
}

static bool known_device(const struct environment *environment, uint64_t device)
{
    for (unsigned i = 0; i < environment->volume_count; i++)
        if (environment->volumes[i].device == device)
            return true;
    return false;
}

static void look_at_volume(struct environment *environment, const char *path, const char *mounts)
{
    struct stat st;
    struct statvfs fs;
    if (stat(path, &st) != 0 || known_device(environment, st.st_dev))
        return;
    struct environment_volume *volume = &environment->volumes[environment->volume_count++];
    volume->device = st.st_dev;
    environment_mount(mounts, st.st_dev, volume);
    if (statvfs(path, &fs) == 0) {
        volume->total_bytes = (uint64_t)fs.f_blocks * fs.f_frsize;
        volume->available_bytes = (uint64_t)fs.f_bavail * fs.f_frsize;
    }
}

int environment_look(struct environment *environment, const char *const *paths, size_t count)
{
    memset(environment, 0, sizeof *environment);
    environment->volumes = calloc(count ? count : 1, sizeof *environment->volumes);
    char *mounts = small_file_whole("/proc/self/mountinfo");
    if (!environment->volumes || !mounts) {
        free(mounts);
        environment_free(environment);
        return -ENOMEM;
    }
    look_at_host(environment);
    look_at_resources(environment);
    for (size_t i = 0; i < count; i++)
        look_at_volume(environment, paths[i], mounts);
    free(mounts);
    return 0;
}

void environment_free(struct environment *environment)
{
    free(environment->volumes);
    memset(environment, 0, sizeof *environment);
}
