/*
 * affinity.h - CPU masks as SQLIOSim has them: bit n stands for CPU n of the system, 0 = any.
 *
 * A mask names the first 64 CPUs, SQLIOSim's limit; CPUs beyond them cannot be named and are used
 * only where no mask is given.  Threads: any.  Errors: 0 or -errno.
 */
#ifndef SIM_AFFINITY_H
#define SIM_AFFINITY_H

#include <sched.h>
#include <stddef.h>
#include <stdint.h>

#define AFFINITY_TEXT_MAX 200 /* 64 single CPUs with commas fit: "0,2,4,...,62" and more */

/* Those of the first 64 CPUs that the calling thread may run on. */
uint64_t affinity_allowed(void);
/* How many CPUs the calling thread may run on, those beyond 64 included; at least 1. */
unsigned affinity_allowed_count(void);
/* The mask as the system's calls want it. */
void affinity_cpu_set(uint64_t mask, cpu_set_t *set);
/* Bind the calling thread to the CPUs of the mask; 0 leaves it as it is. */
int affinity_pin(uint64_t mask) __attribute__((warn_unused_result));
/* "0-3,7"; "none" for 0. */
void affinity_text(uint64_t mask, char *out, size_t out_size_bytes);

#endif
