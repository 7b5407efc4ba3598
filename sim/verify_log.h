/*
 * verify_log.h - the offline check of a log, real or ours.
 *
 * A log of ours may have several files, checked with the first of them.  Scans it from end to end,
 * counts, reports damage, and keeps what the data files are compared with: its end, the newest
 * logged generation of each page, the logged images of system pages, the begin records of
 * checkpoints.  With a believed ledger the end must be where the run's was.  One thread.
 */
#ifndef SIM_VERIFY_LOG_H
#define SIM_VERIFY_LOG_H

#include "sim/verify_files.h"

/* 0 (whatever was found) or -errno: it could not be checked; set->message says why. */
int verify_log_check(struct verify_set *set, struct verify_file *log)
    __attribute__((warn_unused_result));
/* Is the position inside what the live log still covers? */
bool verify_log_covers(const struct verify_log *log, struct lsn lsn);
/* Did a checkpoint begin at this LSN? */
bool verify_log_has_checkpoint(const struct verify_log *log, struct lsn lsn);
/* The newest logged image of a system page that is not after lsn; NULL if none is in the log. */
const struct logged_image *verify_log_image(const struct verify_log *log, uint16_t file_uid,
                                            uint32_t page_no, struct lsn lsn);

#endif
