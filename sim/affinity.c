/* affinity.c - see affinity.h. */
#include "sim/affinity.h"

#include <errno.h>
#include <sched.h>

/* The kernel takes sets larger than its own, and refuses to tell into smaller ones. */
_Static_assert(__BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__, "a cpu_list is the kernel's set of CPUs");

struct cpu_list affinity_allowed(void)
{
    struct cpu_list out = {{0}};
    if (sched_getaffinity(0, sizeof out, (cpu_set_t *)&out) != 0)
        out = (struct cpu_list){{0}};
    return out;
}

int affinity_pin(const struct cpu_list *cpus)
{
    if (!cpus || cpu_list_is_empty(cpus))
        return 0;
    return sched_setaffinity(0, sizeof *cpus, (const cpu_set_t *)cpus) == 0 ? 0 : -errno;
}
