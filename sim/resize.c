/* resize.c - see resize.h. */
#include "sim/resize.h"

#include <errno.h>
#include <string.h>

#include "sim/database_syspage.h"
#include "sim/page_change.h"
#include "sim/run_errors.h"

void resize_init(struct resize *r, struct run *run, struct task *task, const char *actor)
{
    memset(r, 0, sizeof *r);
    r->run = run;
    r->task = task;
    r->actor = actor;
}

static struct wal *wal_of(struct resize *r)
{
    return &r->database->wal;
}

/* ---- a transaction ---- */

uint64_t resize_need(const struct resize *r)
{
    size_t sector_bytes = r->database->wal.sector_bytes;
    return 2 * log_record_cost(LOG_MARK_BYTES, sector_bytes) +
           log_record_cost(sizeof(struct syspage_change), sector_bytes);
}

static void xact_over(struct resize *r)
{
    if (r->reserved)
        wal_end(wal_of(r), &r->xact);
    r->reserved = r->begun = r->committed = false;
}

static enum step log_error(struct resize *r, int error)
{
    if (error == -EAGAIN)
        return STEP_WAIT;
    xact_over(r);
    return STEP_FAILED;
}

enum step resize_xact_begin(struct resize *r, uint64_t need)
{
    if (!r->reserved && !wal_reserve(wal_of(r), &r->xact, need, r->task)) {
        relaxed_add(&r->task->worker->stats.counters.log_space_waits, 1);
        return STEP_WAIT;
    }
    r->reserved = true;
    int error = log_mark(wal_of(r), &r->xact, LOG_OP_BEGIN_XACT, &r->lsn, r->task);
    if (error)
        return log_error(r, error);
    r->begun = true;
    return STEP_DONE;
}

enum step resize_allocate(struct resize *r)
{
    int error = allocation_step(&r->allocation, &r->xact, r->task);
    return error ? log_error(r, error) : STEP_DONE;
}

static void edit_size(void *context, uint8_t *image)
{
    file_header_set_size(image, *(const uint32_t *)context);
}

enum step resize_header(struct resize *r, uint32_t size_pages)
{
    int error = syspage_edit(r->file, 0, edit_size, &size_pages, &r->xact, r->task);
    return error ? log_error(r, error) : STEP_DONE;
}

enum step resize_xact_commit(struct resize *r, bool durable)
{
    struct wal *wal = wal_of(r);
    if (!r->committed) {
        int error = log_mark(wal, &r->xact, LOG_OP_COMMIT_XACT, &r->lsn, r->task);
        if (error)
            return log_error(r, error);
        r->committed = true;
    }
    if (durable && !wal_wait_durable(wal, lsn_position(r->lsn), &r->waiter, r->task)) {
        if (!wal_failed(wal))
            return STEP_WAIT;
        xact_over(r);
        return STEP_FAILED;
    }
    xact_over(r);
    return STEP_DONE;
}

/* ---- the device ---- */

static void page_written(struct gather *gather)
{
    struct resize *r = gather->context;
    r->writing = false;
    task_wake(r->task);
}

static void page_send(struct resize *r)
{
    struct gather *gather = &r->gather;
    gather->stream = STREAM_growth_write;
    gather->worker = r->task->worker;
    gather->retried = false;
    gather->done = page_written;
    gather->on_error = run_write_error;
    gather->run = r->run;
    gather->actor = r->actor;
    gather->context = r;
    gather->result = 0;
    r->writing = true;
    writeback_submit(gather);
}

enum step resize_write_page(struct resize *r, uint32_t page_no)
{
    struct wal *wal = wal_of(r);
    uint64_t position;
    if (r->writing)
        return STEP_WAIT;
    if (r->gather.result) {
        r->gather.result = 0;
        return STEP_FAILED;
    }
    switch (writeback_collect_all(r->database, r->file, page_no, EXTENT_PAGES, &r->gather,
                                  &position, r->task)) {
    case COLLECT_CLAIMED:
        page_send(r);
        return STEP_WAIT;
    case COLLECT_BUSY:
        return STEP_WAIT;
    case COLLECT_LOG:
        if (wal_failed(wal))
            return STEP_FAILED;
        return wal_wait_durable(wal, position, &r->waiter, r->task)
                   ? resize_write_page(r, page_no)
                   : (wal_failed(wal) ? STEP_FAILED : STEP_WAIT);
    case COLLECT_NOTHING:
        break;
    }
    return STEP_DONE;
}

static void io_finished(struct io_req *req)
{
    struct resize *r = req->context;
    r->flying = false;
    r->flown = true;
    task_wake(r->task);
}

enum step resize_io(struct resize *r, int *error)
{
    if (r->flying)
        return STEP_WAIT;
    if (r->flown) {
        r->flown = false;
        *error = r->req.result;
        return STEP_DONE;
    }
    r->req.target = &r->file->file.target;
    r->req.done = io_finished;
    r->req.context = r;
    r->flying = true;
    io_submit(&r->task->worker->io, &r->req);
    return STEP_WAIT;
}

enum step resize_flush(struct resize *r)
{
    uint16_t uid = r->file->file.mark.file_uid;
    int error;
    if (!r->flying && !r->flown) {
        memset(&r->req, 0, offsetof(struct io_req, resume_iov));
        r->req.op = IO_FLUSH;
        r->req.stream = STREAM_data_flush;
        r->flush = ledger_flush_begin(r->run->ledger, uid);
    }
    if (resize_io(r, &error) == STEP_WAIT)
        return STEP_WAIT;
    ledger_flush_end(r->run->ledger, uid, r->flush, error == 0);
    if (error)
        run_flush_error(r->run, &r->file->file, error);
    return error ? STEP_FAILED : STEP_DONE;
}

/* ---- sizes ---- */

void resize_set_limit(struct resize *r, uint32_t size_pages)
{
    atomic_store(&r->file->file.size_pages, size_pages);
    atomic_fetch_add(&r->run->size_changes, 1);
}
