/*
 * logaudit.h - read a live log back, end to end, and compare it with what the log writer knows.
 *
 * Every block of the present use of every VLF is read through run->io (stream log_read), checked
 * with its chain, counted (log_blocks_verified), and their number and end compared with the log
 * writer's. What is damaged or missing becomes one finding a spot: log_torn, log_lost, log_old_use;
 * unreadable when it cannot be read.  A log that is right on a second look was read wrongly:
 * transient_damage.
 *
 * Called when the log writer has ended and no actor runs.  After a failed log write only what was
 * acknowledged as durable is demanded.
 */
#ifndef SIM_LOGAUDIT_H
#define SIM_LOGAUDIT_H

#include "sim/run.h"

#define LOG_REREADS_MAX 4 /* SQL Server's, as for pages */

/* 0 (whatever was found) or -errno: could not look for want of memory. */
int log_audit(struct run *run, struct database *db) __attribute__((warn_unused_result));

#endif
