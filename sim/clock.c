/*
 * clock.c - real and virtual time.
 *
 * Invariant: neither clock ever goes back.  The real one is CLOCK_MONOTONIC; wall-clock time is
 * derived from it with the difference found at the start, so that a step of the system's clock
 * during a run neither reorders stamps nor bends a duration.
 */
#include "sim/clock.h"

#include <assert.h>
#include <time.h>

static uint64_t read_clock(clockid_t id)
{
    struct timespec ts;
    int r = clock_gettime(id, &ts);
    assert(r == 0);
    return (uint64_t)ts.tv_sec * NS_PER_S + (uint64_t)ts.tv_nsec;
}

void clock_init_real(struct clock *clock)
{
    *clock = (struct clock){.is_virtual = false};
    clock->realtime_base_ns = read_clock(CLOCK_REALTIME) - read_clock(CLOCK_MONOTONIC);
}

void clock_init_virtual(struct clock *clock)
{
    *clock = (struct clock){.is_virtual = true, .realtime_base_ns = CLOCK_VIRTUAL_EPOCH_NS};
}

uint64_t clock_now_ns(const struct clock *clock)
{
    return clock->is_virtual ? clock->virtual_ns : read_clock(CLOCK_MONOTONIC);
}

uint64_t clock_realtime_ns(const struct clock *clock)
{
    return clock->realtime_base_ns + clock_now_ns(clock);
}

void clock_advance_to(struct clock *clock, uint64_t ns)
{
    assert(clock->is_virtual);
    if (ns > clock->virtual_ns)
        clock->virtual_ns = ns;
}
