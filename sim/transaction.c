/*
 * transaction.c - OP_UPDATE: one transaction of a user.
 *
 *   RESERVE -> (SCAN -> GET -> CHANGE ...) ... -> COMMIT -> WAIT -> done
 *
 * The chain is read a window at a time, adjacent pages in one request (page_scan.h); GET reads a
 * page alone if it has left the pool again meanwhile.
 *
 * Log space for the largest need is reserved before a page is pinned, and waited for only there.
 * One page is pinned at a time.  A change is made in one turn under the frame's partition lock:
 * append the log record, then new generation, body, LSN; so frame and log never disagree.
 * SQLIOSim's rollback is drawn by the pattern: such a transaction only reads.  One that is to be
 * undone goes the same way backwards before it ends (rollback.h).
 */
#include <assert.h>
#include <errno.h>
#include <string.h>

#include "sim/actor.h"
#include "sim/buffer_sum.h"
#include "sim/page_change.h"
#include "sim/page_use.h"
#include "verify/checksum.h"

#define CHAIN_WINDOW_PAGES 128 /* read before the first of them is changed */
#define PAGES_PER_TURN     16  /* of a long chain; the others have their turns, too */

static enum task_result reserve(struct actor *actor);
static enum task_result scan_chain(struct actor *actor);
static enum task_result get_page(struct actor *actor);
static enum task_result read_page(struct actor *actor);
static enum task_result change_page(struct actor *actor);
static enum task_result commit(struct actor *actor);
static enum task_result wait_commit(struct actor *actor);

#define DELAYED_FLUSH_NS (100 * NS_PER_MS) /* SQL Server publishes no figure; ours */

static struct wal *wal_of(struct actor *actor)
{
    return &actor->transaction.file->database->wal;
}

static enum task_result finish(struct actor *actor)
{
    wal_end(wal_of(actor), &actor->transaction.xact);
    return TASK_DONE;
}

static enum task_result abandon(struct actor *actor)
{
    struct transaction *t = &actor->transaction;
    if (t->frame)
        pool_unpin(&actor->run->pool, t->frame);
    t->frame = NULL;
    return finish(actor);
}

/* ---- reserve ---- */

static uint64_t log_need(const struct actor *actor, size_t sector_bytes)
{
    uint64_t need = 2 * log_record_cost(LOG_MARK_BYTES, sector_bytes);
    for (unsigned i = 0; i < actor->op.pages_count && !actor->op.rollback; i++) {
        const struct op_page *page = &actor->op.pages[i];
        if (page->update)
            need += page_change_cost(page->log_bytes, sector_bytes) * (actor->op.undo ? 2 : 1);
    }
    return need;
}

static enum task_result reserve(struct actor *actor)
{
    struct wal *wal = wal_of(actor);
    uint64_t need = log_need(actor, wal->sector_bytes);
    switch (wal_reserve_or_fail(wal, &actor->transaction.xact, need, &actor->task)) {
    case WAL_RESERVED:
        return actor_go(actor, get_page);
    case WAL_RESERVE_FULL:
        return log_full_begin(actor);
    case WAL_RESERVE_WAIT:
        break;
    }
    log_wait_count(actor, wal);
    return TASK_PARK;
}

/* ---- reading the chain ---- */

/* Adjacent pages of the chain that are not in memory are read together; of those that are, the
 * share that CacheHitRatio leaves is read again and verified. */
static enum task_result scan_begin(struct actor *actor)
{
    struct transaction *t = &actor->transaction;
    const struct op_page *pages = actor->op.pages;
    unsigned end = t->index + 1;
    while (end < actor->op.pages_count && end - t->index < CHAIN_WINDOW_PAGES &&
           pages[end].page_no == pages[end - 1].page_no + 1)
        end++;
    t->scanned = end;
    struct page_scan_range range = {.file = t->file,
                                    .first_page = pages[t->index].page_no,
                                    .page_count = end - t->index,
                                    .stream = STREAM_page_read,
                                    .cached = SCAN_CACHED_ROLL,
                                    .users_only = true};
    page_scan_start(&actor->scan, &range);
    return actor_go(actor, scan_chain);
}

static enum task_result scan_chain(struct actor *actor)
{
    if (page_scan_step(&actor->scan) == TASK_PARK)
        return TASK_PARK;
    return actor_go(actor, get_page);
}

/* ---- get ---- */

static enum task_result next_page(struct actor *actor)
{
    struct transaction *t = &actor->transaction;
    if (t->frame)
        pool_unpin(&actor->run->pool, t->frame);
    t->frame = NULL;
    t->index += !t->undoing;
    actor->execute = t->undoing ? rollback_next : get_page;
    return t->index % PAGES_PER_TURN ? actor->execute(actor) : TASK_AGAIN;
}

/* Forward to the next page that may be used.  When the run stops a long chain commits, or undoes,
 * what it has. */
static void pages_skip(struct actor *actor)
{
    struct transaction *t = &actor->transaction;
    if (run_stopping(actor->run))
        t->index = actor->op.pages_count;
    while (t->index < actor->op.pages_count &&
           !page_may_be_used(t->file, actor->op.pages[t->index].page_no))
        t->index++;
}

static enum task_result get_page(struct actor *actor)
{
    struct transaction *t = &actor->transaction;
    struct counters *counters = &actor->task.worker->stats.counters;
    if (!t->undoing)
        pages_skip(actor);
    if (wal_failed(wal_of(actor)))
        return abandon(actor);
    if (t->index == actor->op.pages_count) {
        t->undoing = actor->op.undo && t->begun;
        return t->undoing ? rollback_next(actor) : actor_go(actor, commit);
    }
    if (t->index >= t->scanned)
        return scan_begin(actor);
    uint32_t page_no = actor->op.pages[t->index].page_no;
    if (!page_may_be_used(t->file, page_no)) /* undoing: it was cut off meanwhile */
        return next_page(actor);
    uint64_t key = page_key(t->file->file.mark.file_uid, page_no);
    switch (pool_get(&actor->run->pool, key, &actor->task, &t->frame)) {
    case POOL_HIT:
        return actor_go(actor, change_page);
    case POOL_MISS:
        relaxed_add(&counters->page_misses, 1);
        page_read_start(&actor->reader, t->file, page_no, t->frame->bytes, STREAM_page_read);
        return actor_go(actor, read_page);
    case POOL_NO_FRAME:
        relaxed_add(&counters->frame_waits, 1);
        return TASK_PARK;
    case POOL_WAIT:
        return TASK_PARK;
    case POOL_QUARANTINED:
        return next_page(actor);
    }
    return TASK_DONE;
}

static enum task_result read_page(struct actor *actor)
{
    struct transaction *t = &actor->transaction;
    enum page_read_result result = page_read_step(&actor->reader);
    if (result == PAGE_READ_WAIT)
        return TASK_PARK;
    /* A page that is not in the pool has no writer: an overlapped read means another path wrote it.
     */
    bool right = result == PAGE_READ_RIGHT;
    uint64_t generation = right ? page_stamp_of(t->frame->bytes)->generation : 0;
    right = right && page_is_newest(t->file, actor->op.pages[t->index].page_no, generation);
    struct frame *frame = t->frame;
    if (!right)
        t->frame = NULL;
    pool_read_done(&actor->run->pool, frame, right, generation);
    if (right)
        return actor_go(actor, change_page);
    return result == PAGE_READ_OVERLAPPED ? actor_go(actor, get_page) : next_page(actor);
}

/* ---- change ---- */

static int log_begin(struct actor *actor)
{
    struct transaction *t = &actor->transaction;
    struct lsn lsn;
    if (t->begun)
        return 0;
    int error = log_mark(wal_of(actor), &t->xact, LOG_OP_BEGIN_XACT, &lsn, &actor->task);
    t->begun = !error;
    return error;
}

/* Under the partition lock. */
static int change_locked(struct actor *actor)
{
    struct transaction *t = &actor->transaction;
    struct file *file = &t->file->file;
    struct frame *frame = t->frame;
    const struct op_page *page = &actor->op.pages[t->index];
    uint16_t uid = file->mark.file_uid;
    if (!ledger_span_ok(actor->run->ledger, uid, page->page_no, frame->generation + 1))
        return -EBUSY; /* so many changes unwritten: the checkpoint must write the page first */
    struct page_identity identity = {uid, file->mark.incarnation, file->mark.file_id, page->page_no,
                                     frame->generation + 1};
    struct lsn lsn;
    int error =
        page_change_log(wal_of(actor), &t->xact, &identity, page->log_bytes, &lsn, &actor->task);
    if (error)
        return error;
    page_fill(frame->bytes, &actor->run->identity, &identity, (uint16_t)actor->number);
    buffer_built(t->file->database, frame->bytes);
    frame->generation = identity.generation;
    frame->actor = (uint16_t)actor->number;
    frame_mark_dirty(&actor->run->pool, frame, lsn);
    if (actor->op.undo && !t->undoing)
        rollback_note(actor->rollback, t->index, lsn, identity.generation);
    return 0;
}

static enum task_result change_page(struct actor *actor)
{
    struct transaction *t = &actor->transaction;
    if (!actor->op.pages[t->index].update || actor->op.rollback)
        return next_page(actor);
    int error = log_begin(actor);
    pthread_mutex_t *lock = frame_lock(&actor->run->pool, t->frame);
    pthread_mutex_lock(lock);
    bool bad = t->frame->state == FRAME_BAD;
    if (!error && (t->frame->state == FRAME_WRITING || t->frame->state == FRAME_FORMATTING)) {
        wait_list_add(&t->frame->waiters, &actor->task);
        error = -EAGAIN;
    }
    if (!error && !bad)
        error = change_locked(actor);
    pthread_mutex_unlock(lock);
    if (error == -EAGAIN)
        return TASK_PARK;
    if (error == -EBUSY && !wal_failed(wal_of(actor))) {
        task_sleep_until(&actor->task, clock_now_ns(actor->run->clock) + SPAN_PAUSE_NS);
        return TASK_PARK;
    }
    if (error)
        return abandon(actor);
    relaxed_add(&actor->task.worker->stats.counters.page_updates, !bad);
    return next_page(actor);
}

/* ---- commit ---- */

/* Delayed durability: the share that asks for it. */
static bool commit_is_delayed(const struct actor *actor)
{
    uint64_t share = (uint64_t)actor->run->settings->delayed_durability;
    uint64_t id = actor->transaction.xact.id;
    return share && xxh3_64_seeded(&id, sizeof id, actor->run->config.plan->seed) % 10000 < share;
}

static enum task_result commit_delayed(struct actor *actor)
{
    struct counters *counters = &actor->task.worker->stats.counters;
    wal_commit_lazily(wal_of(actor), DELAYED_FLUSH_NS);
    relaxed_add(&counters->transactions, 1);
    relaxed_add(&counters->delayed_commits, 1);
    return finish(actor);
}

static enum task_result commit(struct actor *actor)
{
    struct transaction *t = &actor->transaction;
    if (!t->begun) {
        relaxed_add(&actor->task.worker->stats.counters.rollbacks, actor->op.rollback);
        return finish(actor);
    }
    struct lsn lsn;
    enum log_op op = t->undoing ? LOG_OP_ABORT_XACT : LOG_OP_COMMIT_XACT;
    int error = log_mark(wal_of(actor), &t->xact, op, &lsn, &actor->task);
    if (error == -EAGAIN)
        return TASK_PARK;
    if (error)
        return abandon(actor);
    if (!t->undoing && commit_is_delayed(actor))
        return commit_delayed(actor);
    t->commit_position = lsn_position(lsn);
    t->start_ns = clock_now_ns(actor->run->clock);
    return actor_go(actor, wait_commit);
}

static enum task_result wait_commit(struct actor *actor)
{
    struct transaction *t = &actor->transaction;
    struct wal *wal = wal_of(actor);
    if (!wal_wait_durable(wal, t->commit_position, &actor->waiter, &actor->task)) {
        if (wal_failed(wal))
            return abandon(actor);
        return TASK_PARK;
    }
    uint64_t waited = clock_now_ns(actor->run->clock) - t->start_ns;
    struct stats *stats = &actor->task.worker->stats;
    if (t->undoing) {
        relaxed_add(&stats->counters.logged_rollbacks, 1);
        return finish(actor);
    }
    stats_add(stats, run_phase_now(actor->run), STREAM_commit, 0, waited,
              waited + actor->reader.lateness_ns);
    relaxed_add(&stats->counters.transactions, 1);
    return finish(actor);
}

enum task_result transaction_page(struct actor *actor)
{
    return actor_go(actor, get_page);
}

enum task_result transaction_over(struct actor *actor)
{
    return actor_go(actor, commit);
}

enum task_result transaction_begin(struct actor *actor)
{
    struct transaction *t = &actor->transaction;
    memset(t, 0, sizeof *t);
    t->file = actor->run->files[actor->op.file];
    if (actor->op.undo)
        rollback_forget(actor->rollback, actor->op.pages_count);
    return actor_go(actor, reserve);
}
