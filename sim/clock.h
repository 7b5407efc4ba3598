/*
 * clock.h - where every time of a run comes from.
 *
 * A real clock (CLOCK_MONOTONIC, with CLOCK_REALTIME beside it for stamps and reports) or a virtual
 * one, which stands still until somebody advances it.  Under a virtual clock the whole simulator
 * runs in one thread, so the same seed gives the same run.
 *
 * Units: ns.  Threads: a real clock is read by anyone; a virtual one belongs to its one thread.
 */
#ifndef SIM_CLOCK_H
#define SIM_CLOCK_H

#include <stdbool.h>
#include <stdint.h>

#define CLOCK_VIRTUAL_EPOCH_NS                                                                     \
    1767225600000000000ull /* virtual runs begin 2026-01-01 00:00 UTC                              \
                            */
#define NS_PER_S  1000000000ull
#define NS_PER_MS 1000000ull

struct clock {
    bool is_virtual;
    uint64_t virtual_ns;       /* since virtual start */
    uint64_t realtime_base_ns; /* realtime minus monotonic at clock_init */
};

void clock_init_real(struct clock *clock);
void clock_init_virtual(struct clock *clock);
uint64_t clock_now_ns(const struct clock *clock);      /* monotonic; virtual starts at 0 */
uint64_t clock_realtime_ns(const struct clock *clock); /* for stamps, file names, reports */
/* Virtual only: move forward to ns (never back). */
void clock_advance_to(struct clock *clock, uint64_t ns);

#endif
