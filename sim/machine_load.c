/* machine_load.c - see machine_load.h. */
#include "sim/machine_load.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>

#define LINE_MAX_BYTES 512
#define COLUMNS        8 /* user nice system idle iowait irq softirq steal; guests are in user */
#define COLUMN_STEAL   7
#define US_PER_S       1e6

void machine_load_parse(const char *line, struct machine_load *out)
{
    out->steal_ticks = out->total_ticks = 0;
    if (strncmp(line, "cpu ", 4) != 0)
        return;
    char *next = (char *)(uintptr_t)line + 4;
    for (unsigned i = 0; i < COLUMNS; i++) {
        uint64_t ticks = strtoull(next, &next, 10);
        out->total_ticks += ticks;
        out->steal_ticks = i == COLUMN_STEAL ? ticks : 0;
    }
}

void machine_load_look(struct machine_load *out)
{
    char line[LINE_MAX_BYTES];
    struct rusage usage;
    memset(out, 0, sizeof *out);
    FILE *stat = fopen("/proc/stat", "re");
    if (stat && fgets(line, sizeof line, stat))
        machine_load_parse(line, out);
    if (stat)
        fclose(stat);
    if (getrusage(RUSAGE_SELF, &usage) == 0)
        out->cpu_s = (double)(usage.ru_utime.tv_sec + usage.ru_stime.tv_sec) +
                     (double)(usage.ru_utime.tv_usec + usage.ru_stime.tv_usec) / US_PER_S;
}

double machine_load_steal(const struct machine_load *from, const struct machine_load *to)
{
    if (to->total_ticks <= from->total_ticks || to->steal_ticks < from->steal_ticks)
        return 0;
    return (double)(to->steal_ticks - from->steal_ticks) /
           (double)(to->total_ticks - from->total_ticks);
}
