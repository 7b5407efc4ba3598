/*
 * machine_load.h - what this machine had to spare: CPU time of this process and time that the
 * hypervisor took, between two looks.
 */
#ifndef SIM_MACHINE_LOAD_H
#define SIM_MACHINE_LOAD_H

#include <stdint.h>

struct machine_load {
    double cpu_s;                      /* user and system time of the process */
    uint64_t steal_ticks, total_ticks; /* of all CPUs, from /proc/stat; 0 where it is not */
};

void machine_load_look(struct machine_load *out);
/* The first line of /proc/stat. */
void machine_load_parse(const char *line, struct machine_load *out);
/* Share of all CPUs' time that the hypervisor took between two looks; 0 where nothing is known. */
double machine_load_steal(const struct machine_load *from, const struct machine_load *to);

#endif
