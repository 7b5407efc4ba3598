/*
 * run_loop.h - waiting for the actors of a phase: with threads, or in one thread under a virtual
 * clock.
 *
 * Internal to run*.c.  The coordinator alone calls these.
 */
#ifndef SIM_RUN_LOOP_H
#define SIM_RUN_LOOP_H

#include "sim/run.h"

int run_workers_start(struct run *run) __attribute__((warn_unused_result));
void run_workers_stop(struct run *run);
/* Until the last task of the phase has ended; looks at the signal, reports progress. */
void run_wait(struct run *run);
/* The same, or until ns: true when the last task has ended. */
bool run_wait_until(struct run *run, uint64_t ns);
/* Until all that are awaited (run->awaited) are through, but not before least_ns, nor after ns: are
 * they? */
bool run_wait_through(struct run *run, uint64_t least_ns, uint64_t ns);
/* Those that sleep look again whether they are over. */
void run_wake_sleepers(struct run *run);
/* For io_run: the coordinator waits for a request of its own. True: it never ends. */
bool run_io_waits(void *context);
void run_phase_begin(struct run *run, enum phase phase, uint64_t total_pages);
void run_phase_end(struct run *run);
/* The present phase ends and the next begins while the actors of both go on. */
void run_phase_follows(struct run *run, enum phase phase);

#endif
