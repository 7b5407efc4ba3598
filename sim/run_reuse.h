/*
 * run_reuse.h - a run over the files of an earlier one (reuse.h): what takes the place of creating
 * them.
 *
 * The log is formatted anew, with sequence numbers above the old ones: after a run that came to its
 * end nothing on disk needs the old log.  Until the first checkpoint has written the boot page the
 * ledger says that the run is being made, as it does when files are created.
 *
 * Threads: the coordinator, before the workers.  Errors: -errno with run->message.
 */
#ifndef SIM_RUN_REUSE_H
#define SIM_RUN_REUSE_H

#include "sim/run.h"

/* Into the new ledger: session, and every page of the data files. */
void run_reuse_ledger(struct run *run);
/* The system pages of a data file from the device into their frames; their images are what the
 * device acknowledged; and which extents are used.  Of tempdb nothing is read. */
int run_reuse_system_pages(struct run *run, struct data_file *file)
    __attribute__((warn_unused_result));
/* tempdb anew, in its files, as SQL Server makes it at each start: of its planned size, empty.
 * After run_reuse_taken, since the earlier ledger knows what stood there. */
int run_reuse_tempdb(struct run *run) __attribute__((warn_unused_result));
/* The earlier result folder owes nothing any more. */
int run_reuse_taken(struct run *run) __attribute__((warn_unused_result));

#endif
