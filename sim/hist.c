/*
 * hist.c - the log-linear latency histogram.
 *
 * Invariant: a bucket at or above 64 ns is at most 1/64 of its lower bound wide, so that its middle
 * is within 0.8 % of every value in it; below 64 ns each value has its own bucket.  Values of 2^41
 * ns and more share the last bucket; min, max and sum stay exact for them, too.
 */
#include "sim/hist.h"

#include <math.h>
#include <stddef.h>

#include "sim/relaxed.h"

#define SUB_COUNT (1u << HIST_SUB_BITS)

unsigned hist_bucket_of(uint64_t ns)
{
    if (ns < SUB_COUNT)
        return (unsigned)ns;
    unsigned exponent = 63 - (unsigned)__builtin_clzll(ns);
    unsigned shift = exponent - HIST_SUB_BITS;
    unsigned index = (shift << HIST_SUB_BITS) + (unsigned)(ns >> shift);
    return index < HIST_BUCKETS ? index : HIST_BUCKETS - 1;
}

uint64_t hist_bucket_low_ns(unsigned index)
{
    if (index < SUB_COUNT)
        return index;
    unsigned shift = (index >> HIST_SUB_BITS) - 1;
    return (uint64_t)(SUB_COUNT + (index & (SUB_COUNT - 1))) << shift;
}

uint64_t hist_bucket_high_ns(unsigned index)
{
    return hist_bucket_low_ns(index + 1);
}

void hist_add(struct hist *hist, uint64_t ns)
{
    if (hist->count == 0 || ns < hist->min_ns)
        relaxed_store(&hist->min_ns, ns);
    if (ns > hist->max_ns)
        relaxed_store(&hist->max_ns, ns);
    relaxed_add(&hist->buckets[hist_bucket_of(ns)], 1);
    relaxed_add(&hist->sum_ns, ns);
    relaxed_add(&hist->count, 1);
}

void hist_merge(struct hist *into, const struct hist *from)
{
    uint64_t count = relaxed_load(&from->count);
    if (count == 0)
        return;
    uint64_t min_ns = relaxed_load(&from->min_ns), max_ns = relaxed_load(&from->max_ns);
    if (into->count == 0 || min_ns < into->min_ns)
        into->min_ns = min_ns;
    if (max_ns > into->max_ns)
        into->max_ns = max_ns;
    into->count += count;
    into->sum_ns += relaxed_load(&from->sum_ns);
    for (size_t i = 0; i < HIST_BUCKETS; i++)
        into->buckets[i] += relaxed_load(&from->buckets[i]);
}

void hist_difference(const struct hist *now, const struct hist *before, struct hist *out)
{
    *out = (struct hist){.count = now->count - before->count,
                         .sum_ns = now->sum_ns - before->sum_ns,
                         .min_ns = UINT64_MAX};
    for (unsigned i = 0; i < HIST_BUCKETS; i++) {
        out->buckets[i] = now->buckets[i] - before->buckets[i];
        if (!out->buckets[i])
            continue;
        if (out->min_ns == UINT64_MAX)
            out->min_ns = hist_bucket_low_ns(i);
        out->max_ns = hist_bucket_high_ns(i) - 1;
    }
    if (out->min_ns == UINT64_MAX || (before->count && now->min_ns < before->min_ns) ||
        out->min_ns < now->min_ns)
        out->min_ns = now->min_ns;
    if (now->max_ns > before->max_ns || out->max_ns > now->max_ns)
        out->max_ns = now->max_ns;
}

static uint64_t clamp(uint64_t ns, uint64_t low, uint64_t high)
{
    return ns < low ? low : ns > high ? high : ns;
}

/* The smallest value that at least quantile of all values do not exceed (nearest rank). */
uint64_t hist_quantile_ns(const struct hist *hist, double quantile)
{
    if (hist->count == 0)
        return 0;
    if (quantile <= 0)
        return hist->min_ns;
    if (quantile >= 1)
        return hist->max_ns;
    uint64_t rank = (uint64_t)ceil(quantile * (double)hist->count);
    uint64_t seen = 0;
    for (unsigned i = 0; i < HIST_BUCKETS; i++) {
        seen += hist->buckets[i];
        if (seen < rank)
            continue;
        uint64_t low = hist_bucket_low_ns(i);
        uint64_t middle = low + (hist_bucket_high_ns(i) - low) / 2;
        return clamp(middle, hist->min_ns, hist->max_ns);
    }
    return hist->max_ns;
}

double hist_mean_ns(const struct hist *hist)
{
    return hist->count ? (double)hist->sum_ns / (double)hist->count : 0;
}
