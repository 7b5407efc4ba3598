/* host_facts.c - see host_facts.h. */
#include "sim/host_facts.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "config/units.h"
#include "sim/small_file.h"

static const char *const host_numbers[HOST_NUMBER_COUNT] = {
    [HOST_SWAPPINESS] = "vm/swappiness",
    [HOST_DIRTY_BACKGROUND_RATIO] = "vm/dirty_background_ratio",
    [HOST_DIRTY_RATIO] = "vm/dirty_ratio",
    [HOST_DIRTY_EXPIRE_CENTISECS] = "vm/dirty_expire_centisecs",
    [HOST_DIRTY_WRITEBACK_CENTISECS] = "vm/dirty_writeback_centisecs",
    [HOST_MAX_MAP_COUNT] = "vm/max_map_count",
    [HOST_NUMA_BALANCING] = "kernel/numa_balancing",
    [HOST_AIO_MAX_NR] = "fs/aio-max-nr",
    [HOST_AIO_NR] = "fs/aio-nr",
};

/* "always [madvise] never" */
static void look_at_huge_pages(struct host_facts *facts, const char *root)
{
    char text[SMALL_FILE_TEXT_MAX];
    char folder[SMALL_FILE_PATH_MAX];
    snprintf(folder, sizeof folder, "%s/sys/kernel/mm/transparent_hugepage", root);
    if (!small_file_text(folder, "enabled", text, sizeof text))
        return;
    const char *open = strchr(text, '[');
    if (open)
        snprintf(facts->huge_pages, sizeof facts->huge_pages, "%.*s", (int)strcspn(open + 1, "]"),
                 open + 1);
}

/* ---- mssql.conf ---- */

/* The next line without blanks around it; NULL at the end.  text is cut up. */
static char *next_line(char **text)
{
    if (!**text)
        return NULL;
    char *line = *text + strspn(*text, " \t");
    char *end = line + strcspn(line, "\n");
    *text = *end ? end + 1 : end;
    *end = '\0';
    while (end > line && strchr(" \t\r", end[-1]))
        *--end = '\0';
    return line;
}

static int64_t number_of(const char *text)
{
    int64_t number;
    bool truth;
    if (units_int(text, &number) == 0)
        return number;
    return units_bool(text, &truth) == 0 ? truth : HOST_NUMBER_NONE;
}

static void take_setting(struct host_facts *facts, const char *section, const char *key,
                         const char *value)
{
    int64_t number = number_of(value);
    if (strcasecmp(section, "control") == 0 && strcasecmp(key, "writethrough") == 0)
        facts->write_through = number;
    if (strcasecmp(section, "control") == 0 && strcasecmp(key, "alternatewritethrough") == 0)
        facts->alternate_write_through = number;
    if (strcasecmp(section, "traceflag") == 0 && number > 0 && number <= UINT16_MAX &&
        facts->trace_count < HOST_TRACES_MAX)
        facts->traces[facts->trace_count++] = (unsigned)number;
}

void host_facts_mssql_conf(struct host_facts *facts, const char *text)
{
    char section[HOST_TEXT_MAX] = "", *copy = strdup(text), *rest = copy;
    facts->has_mssql_conf = copy != NULL;
    for (char *line; copy && (line = next_line(&rest));) {
        char *equals = strchr(line, '=');
        if (line[0] == '[') {
            snprintf(section, sizeof section, "%.*s", (int)strcspn(line + 1, "]"), line + 1);
        } else if (equals && line[0] != '#' && line[0] != ';') {
            *equals = '\0';
            line[strcspn(line, " \t")] = '\0';
            take_setting(facts, section, line, equals + 1 + strspn(equals + 1, " \t"));
        }
    }
    free(copy);
}

bool host_facts_has_trace(const struct host_facts *facts, unsigned flag)
{
    for (unsigned i = 0; i < facts->trace_count; i++)
        if (facts->traces[i] == flag)
            return true;
    return false;
}

bool host_facts_kernel_is(const struct host_facts *facts, unsigned major, unsigned minor)
{
    return facts->kernel_major > major ||
           (facts->kernel_major == major && facts->kernel_minor >= minor);
}

/* ---- all ---- */

static void look_at_mssql_conf(struct host_facts *facts, const char *root)
{
    char path[SMALL_FILE_PATH_MAX], line[SMALL_FILE_TEXT_MAX];
    snprintf(path, sizeof path, "%s/var/opt/mssql", root);
    if (!small_file_text(path, "mssql.conf", line, sizeof line))
        return;
    snprintf(path, sizeof path, "%s/var/opt/mssql/mssql.conf", root);
    char *text = small_file_whole(path);
    if (text)
        host_facts_mssql_conf(facts, text);
    free(text);
}

void host_facts_look(struct host_facts *facts, const char *root)
{
    char folder[SMALL_FILE_PATH_MAX];
    *facts = (struct host_facts){
        .write_through = HOST_NUMBER_NONE,
        .alternate_write_through = HOST_NUMBER_NONE,
    };
    snprintf(folder, sizeof folder, "%s/proc/sys", root);
    for (unsigned i = 0; i < HOST_NUMBER_COUNT; i++) {
        uint64_t value;
        facts->numbers[i] = small_file_number(folder, host_numbers[i], &value) && value < INT64_MAX
                                ? (int64_t)value
                                : HOST_NUMBER_NONE;
    }
    if (small_file_text(folder, "kernel/osrelease", facts->kernel, sizeof facts->kernel) &&
        sscanf(facts->kernel, "%u.%u", &facts->kernel_major, &facts->kernel_minor) != 2)
        facts->kernel_major = facts->kernel_minor = 0;
    look_at_huge_pages(facts, root);
    snprintf(folder, sizeof folder, "%s/sys/devices/system/cpu/cpu0/cpufreq", root);
    (void)small_file_text(folder, "scaling_governor", facts->governor, sizeof facts->governor);
    look_at_mssql_conf(facts, root);
}
