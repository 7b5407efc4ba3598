/*
 * io_account.h - what the requests of one file add up to, and how many of them may be outstanding.
 *
 * The counts are those of SQLIOSim's Final Summary: single pages are Reads and Writes, several
 * pages in one request are Scatter Reads and Gather Writes; a log never scatters.  Failed requests
 * count, too: they were posted and came back.  Flushes do not.
 *
 * Throttle: the running average is SQLIOSim's (P. Dorr's post of 2008-11-12): it begins at the
 * target and each completion of d ms makes it (average * (MaxIOs - 1) + d) / MaxIOs in whole
 * milliseconds, MaxIOs being the request blocks that the file has reached, at most its present
 * limit.  The truncation is part of it: on fast storage the average drifts to 0.  (The product is
 * computed in 64 bits; in 32 it would wrap.)
 * While the average is above the target the limit is lowered, below it is raised again.  How far
 * was never published, so the steps are ours: a quarter less once a window of completions (as
 * congestion control does it: fast enough for a device that chokes, slow enough for the average to
 * follow), one more once a window, and no limit again when it has passed what the file ever had
 * outstanding.
 *
 * Threads: any; relaxed atomics, since each figure is only a count.  All zero is a valid account
 * without throttle and without an average.  Units: ms and ns as named.
 */
#ifndef SIM_IO_ACCOUNT_H
#define SIM_IO_ACCOUNT_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#include "sim/hist.h"

/* One request is served and one waits, so that the device need not idle between two. */
#define IO_LIMIT_FLOOR 2
/* "the tool's own ~140,000" that stands behind MaxOutstandingIO=0 (KB231619's range). */
#define IO_OUTSTANDING_MAX 140000

enum io_kind { IO_KIND_READ, IO_KIND_SCATTER_READ, IO_KIND_WRITE, IO_KIND_GATHER_WRITE };

struct io_account {
    uint32_t target_ms; /* TargetIODuration */
    uint32_t limit_max; /* 0: no throttle, no average */
    _Atomic uint64_t reads, scatter_reads, writes, gather_writes;
    /* durations, submission to completion, overlapping ones in full */
    _Atomic uint64_t total_io_ns;
    _Atomic uint64_t longest_ns;
    _Atomic uint64_t buckets[HIST_BUCKETS]; /* of the durations, as in hist.h */
    _Atomic uint64_t throttled;             /* posts that met the lowered limit and had to wait */
    _Atomic uint64_t stalled;               /* requests of 15 s and longer */
    _Atomic uint64_t shorts; /* completed by a further transfer; where the latest was: */
    _Atomic uint64_t short_offset, short_bytes;
    uint64_t shorts_told; /* the coordinator's: findings made of them */
    _Atomic uint32_t running_average_ms;
    _Atomic uint32_t outstanding;      /* given to the engine, not yet completed */
    _Atomic uint32_t outstanding_high; /* "IO request blocks" */
    _Atomic uint32_t limit;            /* of outstanding; limit_max = not lowered */
    _Atomic uint32_t window;           /* completions since the limit last moved */
    _Atomic uint32_t waiting;          /* requests that wait in the gate */
};

void io_account_init(struct io_account *account, uint32_t target_ms, uint32_t limit_max);
/* One more is outstanding; false if the file is at its limit (limited) and nothing was changed. */
bool io_account_enter(struct io_account *account, bool limited);
void io_account_leave(struct io_account *account);
/* A request of this kind took so long; it has not left yet.  throttling: the limit may move. */
void io_account_completed(struct io_account *account, enum io_kind kind, uint64_t duration_ns,
                          bool throttling);
/* The durations so far as a histogram; its minimum is the lower bound of a bucket. */
void io_account_hist(const struct io_account *account, struct hist *out);
/* The system transferred less than asked at first, and the rest went through. */
void io_account_short(struct io_account *account, uint64_t offset, uint64_t size_bytes);
/* Is the limit lowered? */
bool io_account_is_lowered(const struct io_account *account);

#endif
