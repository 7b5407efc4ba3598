/* affinity.c - see affinity.h. */
#include "sim/affinity.h"

#include <errno.h>
#include <stdio.h>

#define MASK_CPUS    64
#define SET_CPUS_MAX (1 << 20) /* far above the kernel's largest CONFIG_NR_CPUS */

struct allowed {
    uint64_t first; /* of the first 64 */
    unsigned count; /* of all */
};

/* The kernel refuses a set that is smaller than its own. */
static struct allowed look(void)
{
    struct allowed out = {0};
    for (int cpus = CPU_SETSIZE; cpus <= SET_CPUS_MAX && out.count == 0; cpus *= 2) {
        cpu_set_t *set = CPU_ALLOC(cpus);
        size_t bytes = CPU_ALLOC_SIZE(cpus);
        if (!set)
            break;
        if (sched_getaffinity(0, bytes, set) == 0) {
            out.count = (unsigned)CPU_COUNT_S(bytes, set);
            for (unsigned i = 0; i < MASK_CPUS; i++)
                out.first |= CPU_ISSET_S(i, bytes, set) ? UINT64_C(1) << i : 0;
        }
        CPU_FREE(set);
    }
    return out;
}

uint64_t affinity_allowed(void)
{
    return look().first;
}

unsigned affinity_allowed_count(void)
{
    unsigned count = look().count;
    return count ? count : 1;
}

void affinity_cpu_set(uint64_t mask, cpu_set_t *set)
{
    CPU_ZERO(set);
    for (unsigned i = 0; i < MASK_CPUS; i++)
        if (mask >> i & 1)
            CPU_SET(i, set);
}

int affinity_pin(uint64_t mask)
{
    cpu_set_t set;
    if (mask == 0)
        return 0;
    affinity_cpu_set(mask, &set);
    return sched_setaffinity(0, sizeof set, &set) == 0 ? 0 : -errno;
}

static unsigned last_of_run(uint64_t mask, unsigned first)
{
    unsigned last = first;
    while (last + 1 < MASK_CPUS && (mask >> (last + 1) & 1))
        last++;
    return last;
}

void affinity_text(uint64_t mask, char *out, size_t out_size_bytes)
{
    size_t used = 0;
    snprintf(out, out_size_bytes, "none");
    for (unsigned i = 0; i < MASK_CPUS && used + 1 < out_size_bytes; i++) {
        if (!(mask >> i & 1))
            continue;
        unsigned last = last_of_run(mask, i);
        const char *comma = used ? "," : "";
        int n = last > i ? snprintf(out + used, out_size_bytes - used, "%s%u-%u", comma, i, last)
                         : snprintf(out + used, out_size_bytes - used, "%s%u", comma, i);
        used += n > 0 ? (size_t)n : 0;
        i = last;
    }
}
