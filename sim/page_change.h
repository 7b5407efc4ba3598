/*
 * page_change.h - the log records of page changes, and of the begin and end of what makes them.
 *
 * A record names file uid, page and new generation; a payload over LOG_RECORD_BYTES_MAX becomes two
 * records (the second repeats the change).
 */
#ifndef SIM_PAGE_CHANGE_H
#define SIM_PAGE_CHANGE_H

#include "sim/wal.h"
#include "verify/syspage_delta.h"

#define LOG_MARK_BYTES 16 /* payload of begin, commit and checkpoint records */

/* Append a begin, commit or checkpoint record (xact NULL: checkpoint).  Errors as wal_append. */
int log_mark(struct wal *wal, struct xact *xact, enum log_op op, struct lsn *lsn, struct task *task)
    __attribute__((warn_unused_result));
/* Upper bound of the log space of one change with log_bytes of payload asked. */
uint64_t page_change_cost(uint32_t log_bytes, size_t sector_bytes);
/* Append; *lsn is the newest record's.  0, -EAGAIN (the task waits; nothing was appended), -EIO. */
int page_change_log(struct wal *wal, struct xact *xact, const struct page_identity *identity,
                    uint32_t log_bytes, struct lsn *lsn, struct task *task)
    __attribute__((warn_unused_result));
/* A change of a system page, from the image before to the one after it: its record (payload in
 * *change), with the bytes that redo must change.  At most SYSPAGE_DELTA_MAX of them, run heads
 * included. */
struct syspage_change {
    struct log_page_change change;
    uint8_t delta[SYSPAGE_DELTA_MAX];
};
struct log_record syspage_change_record(struct syspage_change *change,
                                        const struct page_identity *identity, const void *before,
                                        const void *after);
/* Append one record for the format of page_count pages from first->page_no on, of one generation.
 * Errors as wal_append. */
int page_format_log(struct wal *wal, struct xact *xact, const struct page_identity *first,
                    uint32_t page_count, struct lsn *lsn, struct task *task)
    __attribute__((warn_unused_result));

#endif
