/*
 * run_watch.h - the coordinator's look at requests that take too long, and at its own sleep.
 *
 * What io_watch finds becomes findings here: stalled_io (SQL Server's 833), host_pause, stuck_io.
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
/* A sleep that lasts this much longer than asked: the machine stood still.  Well above what a busy
 * scheduler takes. */
#define HOST_PAUSE_NS_MIN (2 * NS_PER_S)

int run_watch_make(struct run *run) __attribute__((warn_unused_result));
/* Look now, if the interval is over. */
void run_watch_tick(struct run *run);
/* The same whatever the interval: after a phase. */
void run_watch_look(struct run *run);
/* The coordinator began to sleep at from_ns, for asked_ns at most, and has just woken up. */
void run_watch_slept(struct run *run, uint64_t from_ns, uint64_t asked_ns);

#endif
