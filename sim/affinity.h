/*
 * affinity.h - which CPUs a thread may run on: asked, and set.
 *
 * Threads: any; each asks and sets for itself.  Errors: 0 or -errno.
 */
#ifndef SIM_AFFINITY_H
#define SIM_AFFINITY_H

#include "config/cpu_list.h"

/* CPUs that the calling thread may run on; none: the system does not say. */
struct cpu_list affinity_allowed(void);
/* Bind the calling thread to these CPUs; NULL or none leaves it as it is. */
int affinity_pin(const struct cpu_list *cpus) __attribute__((warn_unused_result));

#endif
