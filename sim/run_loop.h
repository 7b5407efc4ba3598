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
void run_phase_begin(struct run *run, enum phase phase, uint64_t total_pages);
void run_phase_end(struct run *run);

#endif
