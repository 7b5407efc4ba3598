/*
 * plan_machine.c - what this machine has: CPUs allowed, memory available, space.
 *
 * Memory is the least of MemAvailable and, for each memory cgroup on the way to the root (v2 and
 * v1), its limit less what it uses that cannot be given back (page cache can).
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "config/alloc.h"
#include "sim/affinity.h"
#include "sim/plan.h"

#define TEXT_BYTES     65536 /* of a file of /proc: not on the stack, which may be small */
#define NUMBER_BYTES   64
#define STAT_BLOCK     512u                /* unit of st_blocks */
#define NO_LIMIT_BYTES ((uint64_t)1 << 60) /* cgroup v1 writes about 2^63 for "no limit" */
#define SELF_CGROUP    "/proc/self/cgroup"
#define MEMINFO        "/proc/meminfo"

/* The text of a small file below root; "" when it cannot be read. */
static void read_text(const char *root, const char *path, char *out, size_t out_size_bytes)
{
    char full[4096];
    snprintf(full, sizeof full, "%s%s", root, path);
    FILE *file = fopen(full, "re");
    size_t length = 0;
    if (file) {
        length = fread(out, 1, out_size_bytes - 1, file);
        fclose(file);
    }
    out[length] = '\0';
}

/* The number after a word at the start of a line: "MemAvailable:  123 kB". */
static bool number_after(const char *text, const char *word, uint64_t *out)
{
    size_t length = strlen(word);
    for (const char *line = text; *line; line++) {
        if (strncmp(line, word, length) == 0)
            return sscanf(line + length, " %" SCNu64, out) == 1;
        line = strchr(line, '\n');
        if (!line)
            break;
    }
    return false;
}

static uint64_t limit_of(const char *root, const char *folder, const char *max_name,
                         const char *now_name, const char *cache_key)
{
    char path[4096], number[NUMBER_BYTES];
    uint64_t limit = 0, now = 0, cache = 0;
    snprintf(path, sizeof path, "%s/%s", folder, max_name);
    read_text(root, path, number, sizeof number);
    if (sscanf(number, "%" SCNu64, &limit) != 1 || limit >= NO_LIMIT_BYTES)
        return UINT64_MAX; /* "max", or no such file */
    snprintf(path, sizeof path, "%s/%s", folder, now_name);
    read_text(root, path, number, sizeof number);
    if (sscanf(number, "%" SCNu64, &now) != 1)
        now = 0;
    char *text = alloc_zeroed(1, TEXT_BYTES);
    snprintf(path, sizeof path, "%s/memory.stat", folder);
    read_text(root, path, text, TEXT_BYTES);
    if (!number_after(text, cache_key, &cache) || cache > now)
        cache = 0;
    free(text);
    now -= cache;
    return limit > now ? limit - now : 0;
}

/* The least limit of a cgroup and its parents up to the mount. */
static uint64_t least_limit(const char *root, const char *mount, const char *group,
                            const char *max_name, const char *now_name, const char *cache_key)
{
    char folder[2048];
    uint64_t least = UINT64_MAX;
    size_t stem = strlen(mount);
    snprintf(folder, sizeof folder, "%s%s", mount, strcmp(group, "/") == 0 ? "" : group);
    for (;;) {
        uint64_t limit = limit_of(root, folder, max_name, now_name, cache_key);
        least = limit < least ? limit : least;
        char *slash = strrchr(folder, '/');
        if (strlen(folder) <= stem || !slash)
            return least;
        *slash = '\0';
    }
}

/* Is name one of the controllers of "N:a,b,c:/group"? */
static bool has_controller(const char *controllers, const char *end, const char *name)
{
    size_t length = strlen(name);
    for (const char *at = controllers; at < end;) {
        size_t word = strcspn(at, ",:");
        if (word == length && strncmp(at, name, length) == 0)
            return true;
        at += word + 1;
    }
    return false;
}

static uint64_t cgroup_limit(const char *root)
{
    char *text = alloc_zeroed(1, TEXT_BYTES);
    uint64_t least = UINT64_MAX;
    read_text(root, SELF_CGROUP, text, TEXT_BYTES);
    for (char *line = text, *next; *line; line = next) {
        next = line + strcspn(line, "\n");
        next += *next == '\n';
        if (next > line && next[-1] == '\n')
            next[-1] = '\0';
        char *controllers = strchr(line, ':');
        char *group = controllers ? strchr(controllers + 1, ':') : NULL;
        if (!group)
            continue;
        uint64_t limit = UINT64_MAX;
        if (group == controllers + 1)
            limit = least_limit(root, "/sys/fs/cgroup", group + 1, "memory.max", "memory.current",
                                "inactive_file");
        else if (has_controller(controllers + 1, group, "memory"))
            limit = least_limit(root, "/sys/fs/cgroup/memory", group + 1, "memory.limit_in_bytes",
                                "memory.usage_in_bytes", "total_inactive_file");
        least = limit < least ? limit : least;
    }
    free(text);
    return least;
}

uint64_t plan_memory_available(const char *root)
{
    char *text = alloc_zeroed(1, TEXT_BYTES);
    uint64_t kib = 0;
    read_text(root, MEMINFO, text, TEXT_BYTES);
    uint64_t available = number_after(text, "MemAvailable:", &kib) ? kib * 1024 : UINT64_MAX;
    free(text);
    uint64_t limit = cgroup_limit(root);
    uint64_t least = limit < available ? limit : available;
    return least == UINT64_MAX ? 0 : least;
}

static int space_of(void *context, const char *directory, struct plan_space *out)
{
    (void)context;
    return file_system_space(directory, &out->available_bytes, &out->total_bytes, &out->device);
}

static uint64_t reusable_bytes_of(void *context, const char *path)
{
    char message[FILE_MESSAGE_MAX];
    struct file_mark mark;
    struct stat st;
    (void)context;
    if (file_probe(path, &mark, message) != FILE_OURS || stat(path, &st) != 0)
        return 0;
    return (uint64_t)st.st_blocks * STAT_BLOCK;
}

void plan_look_at_machine(struct plan_machine *machine)
{
    struct cpu_list allowed = affinity_allowed();
    unsigned cpus = cpu_list_count(&allowed);
    memset(machine, 0, sizeof *machine); /* a literal would stand on the stack first */
    machine->cpus = cpus ? cpus : 1;
    machine->allowed = allowed;
    machine->memory_bytes = plan_memory_available("");
    machine->space = space_of;
    machine->reusable_bytes = reusable_bytes_of;
    numa_look(&machine->numa, NUMA_FOLDER);
}
