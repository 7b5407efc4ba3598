/*
 * run_log.h - what the logs of a run do besides being written: they grow, they are full.
 *
 * Told as events; a growth that failed is a finding.  While a log grows the run counts a task, so
 * that no phase ends and nobody reads the log meanwhile.
 *
 * Threads: called on workers, for the log's tasks; wal->context is the run.
 */
#ifndef SIM_RUN_LOG_H
#define SIM_RUN_LOG_H

#include "sim/run.h"

/* Let the log of a database grow and tell, as the plan says.  After wal_init. */
int run_log_prepare(struct run *run, struct database *database) __attribute__((warn_unused_result));

#endif
