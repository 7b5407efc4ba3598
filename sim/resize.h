/*
 * resize.h - the steps of which a change of size is made: what growth, shrink and the freeing of
 * extents share.
 *
 * Each step is called again and again until it is no longer STEP_WAIT: the task was then, or will
 * be, woken.  STEP_FAILED: the log has failed, or a write or flush did and is reported.
 *
 * Ownership: a resize belongs to one task and one database; nothing is allocated.
 */
#ifndef SIM_RESIZE_H
#define SIM_RESIZE_H

#include "sim/allocation.h"
#include "sim/database_extents.h"
#include "sim/database_use.h"
#include "sim/run.h"
#include "sim/writeback.h"

enum step { STEP_WAIT, STEP_DONE, STEP_FAILED };

struct resize {
    struct run *run;
    struct task *task;
    const char *actor; /* for findings and events */
    struct database *database;
    struct data_file *file; /* the present one */
    struct xact xact;
    bool reserved, begun, committed;
    struct lsn lsn;
    struct allocation allocation;
    struct wal_waiter waiter;
    struct gather gather; /* system pages */
    bool writing;
    struct io_req req; /* flushes; zeros of a growth */
    bool flying, flown;
    uint32_t flush;
};

void resize_init(struct resize *r, struct run *run, struct task *task, const char *actor);

/* ---- a transaction ---- */

/* Reserve need bytes of log and write the begin record. */
enum step resize_xact_begin(struct resize *r, uint64_t need);
/* Make the changes of r->allocation (planned). */
enum step resize_allocate(struct resize *r);
/* Page 0 of the file says the new size. */
enum step resize_header(struct resize *r, uint32_t size_pages);
/* Commit; durable: and wait until it is.  Failed or not, the transaction is over. */
enum step resize_xact_commit(struct resize *r, bool durable);
/* Log need of resize_header, begin and commit. */
uint64_t resize_need(const struct resize *r);

/* ---- the device ---- */

/* A system page of the file is on the device as it is in memory; dirty neighbours go with it. */
enum step resize_write_page(struct resize *r, uint32_t page_no);
/* Flush the file.  What was acknowledged of it is durable then, and so is its size. */
enum step resize_flush(struct resize *r);
/* Submit r->req, whose op, stream, offset and iov are set, and wait for it: *error is its result.
 */
enum step resize_io(struct resize *r, int *error);

/* ---- sizes ---- */

static inline struct ledger_file *resize_row(const struct resize *r)
{
    return ledger_file_at(r->run->ledger, r->file->file.mark.file_uid);
}
/* So many pages may be used from now on, and everybody learns it. */
void resize_set_limit(struct resize *r, uint32_t size_pages);

#endif
