/*
 * coverage.h - how well what was written to a data file was checked: what was overwritten before
 * anybody read it back, and how long a page waited for its first check.
 *
 * A first check is the first right read of a page after a write of it; the wait is from the time in
 * the page's stamp, when its image was sealed for the write, so that it covers pages with our stamp
 * written in this session, and no system pages.
 *
 * With a bound (VerifyWithin) checks that came later are counted.
 *
 * Threads: add by any, relaxed; sums are read while they go on.  Units as named.
 */
#ifndef SIM_COVERAGE_H
#define SIM_COVERAGE_H

#include <stdatomic.h>
#include <stdint.h>

struct coverage {
    _Atomic uint64_t overwritten_unread; /* generations */
    _Atomic uint64_t first_checks, wait_us, wait_us_max;
    uint64_t bound_us;            /* 0: none; set before the first write */
    _Atomic uint64_t late_checks; /* first checks after more than that */
};

/* The sums of one file, or of several. */
struct coverage_sums {
    uint64_t overwritten_unread, first_checks, wait_us, wait_us_max, late_checks;
};

static inline void coverage_first_check(struct coverage *coverage, uint64_t wait_ns)
{
    uint64_t wait_us = wait_ns / 1000;
    uint64_t max = atomic_load_explicit(&coverage->wait_us_max, memory_order_relaxed);
    atomic_fetch_add_explicit(&coverage->first_checks, 1, memory_order_relaxed);
    atomic_fetch_add_explicit(&coverage->wait_us, wait_us, memory_order_relaxed);
    if (coverage->bound_us && wait_us > coverage->bound_us)
        atomic_fetch_add_explicit(&coverage->late_checks, 1, memory_order_relaxed);
    while (wait_us > max &&
           !atomic_compare_exchange_weak_explicit(&coverage->wait_us_max, &max, wait_us,
                                                  memory_order_relaxed, memory_order_relaxed))
        ;
}

static inline void coverage_add(const struct coverage *from, struct coverage_sums *sums)
{
    struct coverage *c = (struct coverage *)(uintptr_t)from; /* C11's loads want no const */
    uint64_t max = atomic_load_explicit(&c->wait_us_max, memory_order_relaxed);
    sums->overwritten_unread += atomic_load_explicit(&c->overwritten_unread, memory_order_relaxed);
    sums->first_checks += atomic_load_explicit(&c->first_checks, memory_order_relaxed);
    sums->wait_us += atomic_load_explicit(&c->wait_us, memory_order_relaxed);
    sums->late_checks += atomic_load_explicit(&c->late_checks, memory_order_relaxed);
    sums->wait_us_max = max > sums->wait_us_max ? max : sums->wait_us_max;
}

static inline double coverage_mean_ms(const struct coverage_sums *sums)
{
    return sums->first_checks ? (double)sums->wait_us / (double)sums->first_checks / 1000.0 : 0.0;
}

static inline double coverage_longest_ms(const struct coverage_sums *sums)
{
    return (double)sums->wait_us_max / 1000.0;
}

#endif
