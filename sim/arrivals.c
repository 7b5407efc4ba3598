/* arrivals.c - see arrivals.h. */
#include "sim/arrivals.h"

#include <assert.h>
#include <math.h>

#include "sim/clock.h"

#define RNG_PURPOSE 0x41525256 /* "ARRV" */
#define TWO_POW_53  9007199254740992.0

void arrival_times_init(struct arrival_times *times, const struct arrivals_config *config)
{
    assert(config->per_second > 0);
    *times = (struct arrival_times){.config = *config};
    rng_split(&times->rng, config->seed, RNG_PURPOSE, config->process);
}

/* -ln of a uniform number in (0, 1]: mean 1. */
static double draw_exponential(struct rng *rng)
{
    double uniform = (double)((rng_next(rng) >> 11) + 1) / TWO_POW_53;
    return -log(uniform);
}

uint64_t arrival_times_next(struct arrival_times *times)
{
    double gap_ns = (double)NS_PER_S / times->config.per_second;
    times->count++;
    if (times->config.fixed) /* by count: no rounding adds up */
        times->offset_ns = (double)times->count * gap_ns;
    else
        times->offset_ns += gap_ns * draw_exponential(&times->rng);
    return times->config.start_ns + (uint64_t)times->offset_ns;
}

uint64_t arrival_times_count(const struct arrivals_config *config, uint64_t from_ns, uint64_t to_ns)
{
    struct arrival_times times;
    uint64_t count = 0, due_ns;
    arrival_times_init(&times, config);
    while ((due_ns = arrival_times_next(&times)) < to_ns)
        count += due_ns >= from_ns;
    return count;
}

void arrivals_init(struct arrivals *arrivals, const char *name, double ios,
                   const struct arrivals_config *config)
{
    *arrivals = (struct arrivals){.name = name, .ios = ios};
    pthread_mutex_init(&arrivals->lock, NULL);
    arrival_times_init(&arrivals->times, config);
}

void arrivals_free(struct arrivals *arrivals)
{
    pthread_mutex_destroy(&arrivals->lock);
}

uint64_t arrivals_take(struct arrivals *arrivals)
{
    pthread_mutex_lock(&arrivals->lock);
    uint64_t due_ns = arrival_times_next(&arrivals->times);
    pthread_mutex_unlock(&arrivals->lock);
    return due_ns;
}

void arrivals_done(struct arrivals *arrivals, enum phase phase, uint64_t due_ns, uint64_t begun_ns,
                   uint64_t done_ns, bool slot_was_free)
{
    uint64_t late_ns = begun_ns > due_ns ? begun_ns - due_ns : 0;
    atomic_fetch_add_explicit(&arrivals->done[phase], 1, memory_order_relaxed);
    atomic_fetch_add_explicit(&arrivals->response_ns, done_ns - due_ns, memory_order_relaxed);
    if (slot_was_free) {
        atomic_fetch_add_explicit(&arrivals->tool_ns, late_ns, memory_order_relaxed);
        return;
    }
    uint64_t longest = atomic_load_explicit(&arrivals->queued_ns_max, memory_order_relaxed);
    while (late_ns > longest &&
           !atomic_compare_exchange_weak_explicit(&arrivals->queued_ns_max, &longest, late_ns,
                                                  memory_order_relaxed, memory_order_relaxed))
        ;
}
