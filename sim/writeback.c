/* writeback.c - see writeback.h. */
#include "sim/writeback.h"

#include <assert.h>
#include <string.h>

#include "sim/buffer_sum.h"
#include "verify/ledger.h"

/* ---- claiming dirty frames ---- */

/* Who claims what. */
struct claimer {
    struct database *database;
    struct data_file *file;
    bool system;       /* system pages, too */
    struct task *task; /* waits for another's write; NULL: does not */
    uint64_t position; /* COLLECT_LOG: what must be durable */
};

static enum collect claim_frame(struct claimer *by, struct frame *frame, struct page_image *image)
{
    struct database *database = by->database;
    bool others = (frame->state == FRAME_WRITING && frame->writer != by->task) ||
                  frame->state == FRAME_FORMATTING;
    if (others && by->task) {
        wait_list_add(&frame->waiters, by->task);
        return COLLECT_BUSY;
    }
    if (frame->state != FRAME_DIRTY)
        return COLLECT_NOTHING;
    if (!lsn_is_zero(frame->lsn) && !wal_is_durable(&database->wal, lsn_position(frame->lsn))) {
        by->position = lsn_position(frame->lsn);
        return COLLECT_LOG;
    }
    frame_begin_write(database->pool, frame);
    frame->writer = by->task;
    *image = (struct page_image){.bytes = frame->bytes,
                                 .generation = frame->generation,
                                 .lsn = frame->lsn,
                                 .frame = frame,
                                 .actor = frame->actor};
    return COLLECT_CLAIMED;
}

/* Claim the page if it is dirty and its log is durable. */
static enum collect claim(struct claimer *by, uint32_t page_no, struct page_image *image)
{
    struct pool *pool = by->database->pool;
    uint64_t key = page_key(by->file->file.mark.file_uid, page_no);
    pthread_mutex_t *lock = pool_lock_key(pool, key);
    pthread_mutex_lock(lock);
    struct frame *frame = pool_find_locked(pool, key);
    enum collect result = COLLECT_NOTHING;
    if (frame && (by->system || !frame->system))
        result = claim_frame(by, frame, image);
    pthread_mutex_unlock(lock);
    return result;
}

/* A neighbour is not waited for.  One whose write failed goes alone, so that a single bad page does
 * not take the others of its gather into quarantine. */
static bool claim_neighbour(const struct claimer *by, uint32_t page_no, struct page_image *image)
{
    struct pool *pool = by->database->pool;
    uint64_t key = page_key(by->file->file.mark.file_uid, page_no);
    struct claimer hasty = *by;
    pthread_mutex_t *lock = pool_lock_key(pool, key);
    pthread_mutex_lock(lock);
    struct frame *frame = pool_find_locked(pool, key);
    bool fit = frame && frame->state == FRAME_DIRTY && !frame->write_failures &&
               (by->system || !frame->system);
    bool claimed = fit && claim_frame(&hasty, frame, image) == COLLECT_CLAIMED;
    pthread_mutex_unlock(lock);
    return claimed;
}

static enum collect collect(struct claimer *by, uint32_t page_no, unsigned cap,
                            struct gather *gather)
{
    assert(cap >= 1 && cap <= GATHER_PAGES_MAX);
    struct page_image first;
    enum collect result = claim(by, page_no, &first);
    if (result != COLLECT_CLAIMED)
        return result;
    if (first.frame->write_failures)
        cap = 1;
    struct page_image *images = gather->images;
    unsigned backward = 0, forward = 0;
    images[0] = first;
    while (1 + forward < cap && page_no + forward + 1 < by->file->file.size_pages &&
           claim_neighbour(by, page_no + forward + 1, &images[1 + forward]))
        forward++;
    struct page_image before[GATHER_PAGES_MAX];
    while (1 + forward + backward < cap && page_no > backward &&
           claim_neighbour(by, page_no - backward - 1, &before[backward]))
        backward++;
    memmove(&images[backward], &images[0], (1 + forward) * sizeof images[0]);
    for (unsigned i = 0; i < backward; i++)
        images[i] = before[backward - 1 - i];
    gather->file = by->file;
    gather->first_page = page_no - backward;
    gather->count = 1 + forward + backward;
    return COLLECT_CLAIMED;
}

static enum collect collect_at(struct claimer *by, uint32_t page_no, unsigned cap,
                               struct gather *gather, uint64_t *position)
{
    enum collect result = collect(by, page_no, cap, gather);
    if (result == COLLECT_LOG)
        *position = by->position;
    return result;
}

enum collect writeback_collect(struct database *database, struct data_file *file, uint32_t page_no,
                               unsigned cap, struct gather *gather, uint64_t *position)
{
    struct claimer by = {.database = database, .file = file};
    return collect_at(&by, page_no, cap, gather, position);
}

enum collect writeback_collect_all(struct database *database, struct data_file *file,
                                   uint32_t page_no, unsigned cap, struct gather *gather,
                                   uint64_t *position, struct task *task)
{
    struct claimer by = {.database = database, .file = file, .system = true, .task = task};
    return collect_at(&by, page_no, cap, gather, position);
}

enum collect writeback_collect_waiting(struct database *database, struct data_file *file,
                                       uint32_t page_no, unsigned cap, struct gather *gather,
                                       uint64_t *position, struct task *task)
{
    struct claimer by = {.database = database, .file = file, .task = task};
    return collect_at(&by, page_no, cap, gather, position);
}

/* ---- completion ---- */

/* Seconds since the session began, as the ledger counts. */
static uint64_t session_seconds(const struct gather *gather)
{
    struct ledger *ledger = gather->file->database->ledger;
    uint64_t start_ns = ledger_header_of(ledger)->session_start_ns;
    return (clock_realtime_ns(gather->worker->clock) - start_ns) / NS_PER_S;
}

/* What the device owes from now on. */
static void page_settled(struct gather *gather, unsigned index, bool ok)
{
    struct page_image *image = &gather->images[index];
    struct data_file *file = gather->file;
    struct database *database = file->database;
    uint16_t uid = file->file.mark.file_uid;
    uint32_t page_no = gather->first_page + index;
    bool system = syspage_kind(page_no, file->primary) != SYSPAGE_NONE;
    /* Nobody flushes tempdb or a snapshot: nothing of them is owed after a crash. */
    bool durable = file->file.target.dsync || database->tempdb || file->snapshot_of;
    if (ok) {
        if (system)
            syspage_acked(file, page_no);
        ledger_ack(database->ledger, uid, page_no, durable, image->actor, session_seconds(gather));
    } else {
        ledger_fail(database->ledger, uid, page_no);
        if (!file->snapshot_of)
            atomic_store(&database->in_doubt, true);
    }
}

static void frame_released(struct gather *gather, unsigned index)
{
    struct frame *frame = gather->images[index].frame;
    struct database *database = gather->file->database;
    if (!frame)
        return;
    pthread_mutex_t *lock = frame_lock(database->pool, frame);
    pthread_mutex_lock(lock);
    frame_end_write(database->pool, frame, gather->result == 0);
    bool bad = frame->state == FRAME_BAD;
    pthread_mutex_unlock(lock);
    if (bad)
        ledger_quarantine(database->ledger, gather->file->file.mark.file_uid,
                          gather->first_page + index);
}

void writeback_release(struct gather *gather)
{
    for (unsigned i = 0; i < gather->count; i++)
        frame_released(gather, i);
    pool_wake_waiters(gather->file->database->pool, gather->count);
    gather->done(gather);
}

static void gather_done(struct io_req *req)
{
    struct gather *gather = req->context;
    bool ok = req->result == 0;
    gather->result = req->result;
    if (!ok) {
        relaxed_add(&gather->worker->stats.counters.write_errors, 1);
        gather->on_error(gather, gather->retried);
    }
    if (!ok && !gather->retried) {
        for (unsigned i = 0; i < gather->count; i++)
            ledger_fail(gather->file->database->ledger, gather->file->file.mark.file_uid,
                        gather->first_page + i);
        gather->retried = true;
        writeback_submit(gather);
        return;
    }
    for (unsigned i = 0; i < gather->count; i++) {
        if (ok)
            buffer_check_sum(gather, i);
        page_settled(gather, i, ok);
    }
    if (ok)
        relaxed_add(&gather->worker->stats.counters.pages_written, gather->count);
    gather->settled = true;
    if (!ok || !gather->file->after_write || !gather->file->after_write(gather))
        writeback_release(gather);
}

/* ---- submission ---- */

/* Seal the image and tell the ledger. */
static void page_prepare(struct gather *gather, unsigned index)
{
    struct page_image *image = &gather->images[index];
    struct data_file *file = gather->file;
    struct ledger *ledger = file->database->ledger;
    uint16_t uid = file->file.mark.file_uid;
    uint32_t page_no = gather->first_page + index;
    struct wal *wal = &file->database->wal;
    assert(lsn_is_zero(image->lsn) || wal_is_durable(wal, lsn_position(image->lsn)));

    bool system = syspage_kind(page_no, file->primary) != SYSPAGE_NONE;
    bool as_read = file->snapshot_of != NULL;
    if (!gather->retried && !as_read && system)
        syspage_seal(image->bytes, image->lsn);
    else if (!gather->retried && !as_read) {
        buffer_check_built(gather, index);
        page_seal(image->bytes, image->lsn, clock_realtime_ns(gather->worker->clock));
    }
    if (!gather->retried && system)
        syspage_issued(file, page_no, image->bytes);
    struct ledger_view view = ledger_view(ledger, uid, page_no);
    if (view.acked > 0 && !view.seen) {
        relaxed_add(&gather->worker->stats.counters.overwritten_unread, 1);
        atomic_fetch_add_explicit(&file->coverage.overwritten_unread, 1, memory_order_relaxed);
    }
    ledger_begin(ledger, uid, page_no, image->generation);
}

void writeback_submit(struct gather *gather)
{
    struct data_file *file = gather->file;
    gather->settled = false;
    if (gather->retried || !file->check_old || !file->check_old(gather))
        writeback_go_on(gather);
}

void writeback_go_on(struct gather *gather)
{
    struct data_file *file = gather->file;
    if (!file->before_write || !file->before_write(gather))
        writeback_send(gather);
}

void writeback_send(struct gather *gather)
{
    struct file *file = &gather->file->file;
    uint64_t log_needed = 0;
    for (unsigned i = 0; i < gather->count; i++) {
        struct page_image *image = &gather->images[i];
        page_prepare(gather, i);
        buffer_sum(gather, i);
        gather->iov[i] = (struct iovec){image->bytes, PAGE_BYTES};
        uint64_t position = lsn_is_zero(image->lsn) ? 0 : lsn_position(image->lsn);
        log_needed = position > log_needed ? position : log_needed;
    }
    struct io_req *req = &gather->req;
    memset(req, 0, offsetof(struct io_req, resume_iov));
    req->op = IO_WRITE;
    req->stream = gather->stream;
    req->target = &file->target;
    req->offset = (uint64_t)gather->first_page * PAGE_BYTES;
    req->iov = gather->iov;
    req->iov_count = gather->count;
    req->log_durable = log_needed ? &gather->file->database->wal.durable_end : NULL;
    req->log_position_needed = log_needed;
    req->done = gather_done;
    req->context = gather;
    io_submit(&gather->worker->io, req);
}
