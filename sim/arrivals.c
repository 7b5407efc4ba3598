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
    arrival_times_init(&arrivals->counted, config);
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
    atomic_fetch_add_explicit(&arrivals->response_ns[phase], done_ns - due_ns,
                              memory_order_relaxed);
    if (slot_was_free) {
        atomic_fetch_add_explicit(&arrivals->tool_ns[phase], late_ns, memory_order_relaxed);
        return;
    }
    uint64_t longest = atomic_load_explicit(&arrivals->queued_ns_max, memory_order_relaxed);
    while (late_ns > longest &&
           !atomic_compare_exchange_weak_explicit(&arrivals->queued_ns_max, &longest, late_ns,
                                                  memory_order_relaxed, memory_order_relaxed))
        ;
}

static struct arrivals_sum sum_of(const struct arrivals *arrivals, enum phase phase)
{
    struct arrivals *a = (struct arrivals *)(uintptr_t)arrivals; /* atomics */
    return (struct arrivals_sum){
        .done = atomic_load_explicit(&a->done[phase], memory_order_relaxed),
        .response_ns = atomic_load_explicit(&a->response_ns[phase], memory_order_relaxed),
        .tool_ns = atomic_load_explicit(&a->tool_ns[phase], memory_order_relaxed),
    };
}

void arrivals_mark(struct arrivals *arrivals)
{
    for (unsigned p = 0; p < PHASE_COUNT; p++)
        arrivals->marks[p] = sum_of(arrivals, (enum phase)p);
}

struct arrivals_sum arrivals_since_mark(const struct arrivals *arrivals, enum phase phase)
{
    struct arrivals_sum now = sum_of(arrivals, phase);
    const struct arrivals_sum *mark = &arrivals->marks[phase];
    return (struct arrivals_sum){.done = now.done - mark->done,
                                 .response_ns = now.response_ns - mark->response_ns,
                                 .tool_ns = now.tool_ns - mark->tool_ns};
}

uint64_t arrivals_asked(struct arrivals *arrivals, uint64_t from_ns, uint64_t to_ns)
{
    uint64_t count = 0;
    if (arrivals->counted_due_ns == 0)
        arrivals->counted_due_ns = arrival_times_next(&arrivals->counted);
    while (arrivals->counted_due_ns < to_ns) {
        count += arrivals->counted_due_ns >= from_ns;
        arrivals->counted_due_ns = arrival_times_next(&arrivals->counted);
    }
    return count;
}
