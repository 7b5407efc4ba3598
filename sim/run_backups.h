/*
 * run_backups.h - the backups at the end of a main part: the tail of the log, and the proof that
 * they can be restored.
 *
 * With log backups, the log up to the final checkpoint is backed up once more (SQL Server: the tail
 * of the log).  Then the newest full backup and what follows it are read and checked (Verify), or
 * restored beside the backup files, read back and compared page by page (Restore): with the ledger
 * exactly where the log was backed up to its end, else with what it had acknowledged when the
 * backup ended and what it has issued since.
 *
 * Called by the coordinator while no user is at work.
 */
#ifndef SIM_RUN_BACKUPS_H
#define SIM_RUN_BACKUPS_H

#include "sim/run.h"

/* Right after the final checkpoint.  0 or -errno. */
int run_backups_tail(struct run *run) __attribute__((warn_unused_result));
/* 0, -EINTR, or -errno with a message told: the run cannot be called complete. */
int run_backups_look(struct run *run) __attribute__((warn_unused_result));

#endif
