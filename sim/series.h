/*
 * series.h - series.csv in the result folder: what each second of a run brought, a row per stream.
 *
 *   t_s        end of the interval, seconds since the run began (run clock)
 *   utc        the same moment
 *   seconds    length of the interval; the first row of a stream may be shorter
 *   phase      of the submission of these requests
 *   stream     of streams.def; "all" once each interval: all but commit and transaction, no I/O
 *   ops bytes  completed; empty for "all", so that a column can be summed: the sum over all rows of
 *              a phase and stream is the total of result.json
 *   mean_us p99_us max_us  latency from submission, of these requests alone
 *   in_flight  mean number in flight: latency sum by interval
 *   throttled stalled  of "all": requests that the throttle held back, requests of 15 s and more
 *
 * Each interval is one write, so that a kill leaves whole rows.  When that fails (a full disk) the
 * file keeps its whole rows, nothing more is written, and series_problem() says so; the run goes
 * on.
 *
 * Threads: the coordinator.
 */
#ifndef SIM_SERIES_H
#define SIM_SERIES_H

#include "sim/sampler.h"

#define SERIES_FILE_NAME   "series.csv"
#define SERIES_MESSAGE_MAX 256

struct series {
    int fd;
    char *path;
    char *buffer; /* one interval */
    uint64_t size_bytes;
    uint64_t intervals; /* written */
    int error;          /* why it ended early, or 0 */
};

/* In directory, which must exist.  What fails is remembered. */
void series_open(struct series *series, const char *directory);
/* The rows of the sampler's last interval. */
void series_write(struct series *series, const struct sampler *sampler, const struct run *run);
void series_close(struct series *series);
/* NULL, or one sentence: what is missing in the file and why. */
const char *series_problem(const struct series *series, char message[SERIES_MESSAGE_MAX]);

#endif
