/*
 * hist.h - latency histogram: fixed size, mergeable, at most 1 % error from 1 us to 10 min.
 *
 * Log-linear buckets (64 linear steps per power of two) of ns.  Percentiles report the middle of
 * the bucket; min, max and sum are exact.  Threads: one writer (relaxed stores); anybody may merge
 * from it meanwhile (relaxed loads) into a histogram of his own.
 */
#ifndef SIM_HIST_H
#define SIM_HIST_H

#include <stdint.h>

#define HIST_SUB_BITS 6
#define HIST_BUCKETS  ((41 - HIST_SUB_BITS + 1) << HIST_SUB_BITS) /* to 2^41 ns = 36 min */

struct hist {
    uint64_t count;
    uint64_t sum_ns;
    uint64_t min_ns, max_ns;
    uint64_t buckets[HIST_BUCKETS];
};

void hist_add(struct hist *hist, uint64_t ns);
void hist_merge(struct hist *into, const struct hist *from);
/* What was added between two states of one histogram.  Its min and max are bucket bounds where they
 * cannot be known exactly. */
void hist_difference(const struct hist *now, const struct hist *before, struct hist *out);
/* quantile 0..1; 0 when empty. */
uint64_t hist_quantile_ns(const struct hist *hist, double quantile);
double hist_mean_ns(const struct hist *hist);
unsigned hist_bucket_of(uint64_t ns);
/* Bounds of bucket index, for the report. */
uint64_t hist_bucket_low_ns(unsigned index);
uint64_t hist_bucket_high_ns(unsigned index);

#endif
