/*
 * sampler.h - what happened since the last look: per phase and stream, while the workers go on.
 *
 * A look reads the statistics of all workers and of the coordinator (relaxed, stats.h) and keeps
 * the differences to the look before as rows.  Sums over all rows are exact: what one look misses
 * of a request that is being entered stands in the next.  The last look, when nobody writes any
 * more, takes the rest.
 *
 * Ownership: the sampler owns its memory, of a fixed size.  Threads: the coordinator.  Units: ns
 * and bytes; times are the run clock's.
 */
#ifndef SIM_SAMPLER_H
#define SIM_SAMPLER_H

#include "sim/run.h"

#define SAMPLER_INTERVAL_NS NS_PER_S

/* One stream of one phase (of the submission) in one interval. */
struct sample_row {
    enum phase phase;
    enum stream stream;
    uint64_t ops, bytes;
    uint64_t latency_sum_ns;
    double mean_ns;
    uint64_t p99_ns; /* bucket middle, at most 1 % off (hist.h) */
    uint64_t max_ns; /* exact when it is the run's largest so far, else as p99 */
};

struct sampler {
    struct stats *seen; /* sums of all looks */
    struct hist *now, *interval;
    struct sample_row rows[PHASE_COUNT * STREAM_COUNT];
    unsigned row_count;
    uint64_t start_ns, end_ns;   /* of the interval of the rows */
    uint64_t throttled, stalled; /* requests of all files in the interval (io_account.h) */
    uint64_t throttled_in_all, stalled_in_all;
    uint64_t looks;
};

int sampler_init(struct sampler *sampler) __attribute__((warn_unused_result));
void sampler_free(struct sampler *sampler);
/* Begin a new interval if a whole second of the run has begun since the last one (or if forced, and
 * any time has passed or anything happened): true, and the rows are those of the interval that
 * ended. */
bool sampler_look(struct sampler *sampler, const struct run *run, bool force);
/* Sums of all looks so far. */
const struct stats *sampler_sums(const struct sampler *sampler);
/* When the run began, by its clock. */
uint64_t sampler_run_start_ns(const struct run *run);

#endif
