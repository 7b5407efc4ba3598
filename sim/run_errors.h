/*
 * run_errors.h - errors that the system reported for writes and flushes: recorded as findings.
 *
 * Data write: one retry, then the next checkpoint, quarantine after three (writeback.h).  Log write
 * or log flush: the database stops (9001).  Flush of a data file: everything acknowledged since the
 * last good flush is indeterminate (ledger.h).  A device that is gone ends the run.
 *
 * Threads: called on workers.
 */
#ifndef SIM_RUN_ERRORS_H
#define SIM_RUN_ERRORS_H

#include "sim/writeback.h"

struct run;

void run_write_error(struct gather *gather, bool final);
/* database->on_memory_changed (buffer_sum.h); wal->on_memory_changed. */
void run_memory_changed(struct gather *gather, unsigned index, const uint8_t *right, bool written);
void run_log_memory_changed(struct wal *wal, const struct log_buffer *buffer);
void run_flush_error(struct run *run, struct file *file, int error);
/* New space of a file, or its size, could not be written. */
void run_growth_error(struct run *run, struct file *file, uint64_t offset, int error);
void run_log_error(struct wal *wal); /* wal->context is the run */

#endif
