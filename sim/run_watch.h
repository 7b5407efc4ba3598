/*
 * run_watch.h - the coordinator's look at requests that take too long, and at the time in which
 * this machine stood still.
 *
 * What io_watch finds becomes findings here: stalled_io (SQL Server's 833), host_pause, stuck_io.
 * A request that is IO_STUCK_NS old is told; StopOnError ends the run then.
 *
 * A request that never ends must not keep a run from its end: when the run only waits for it, and
 * it is IO_STUCK_NS old, run->stuck is set, run_wait() returns, and the run goes to its report
 * without it.  Its memory stays the system's: run_destroy() frees nothing that a request may use.
 *
 * Threads: the coordinator.
 */
#ifndef SIM_RUN_WATCH_H
#define SIM_RUN_WATCH_H

#include "sim/run.h"

#define RUN_WATCH_INTERVAL_NS (500 * NS_PER_MS)
int run_watch_make(struct run *run) __attribute__((warn_unused_result));
/* Look now, if the interval is over. */
void run_watch_tick(struct run *run);
/* The same whatever the interval: after a phase. */
void run_watch_look(struct run *run);
/* This machine stood still: requests are so much younger, and people are told. */
void run_watch_paused(struct run *run, uint64_t from_ns, uint64_t length_ns);
void run_watch_free(struct run *run);

#endif
