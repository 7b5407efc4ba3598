/*
 * bulk_update.c - OP_BULK: a load in bulk (SELECT INTO, BULK INSERT), minimally logged.
 *
 *   (what is cached: read again, as CacheHitRatio says)
 *   RESERVE -> (FORMAT an extent -> one log record) ... -> SEND eager gather writes ... -> SETTLE
 * -> COMMIT -> WAIT -> done
 *
 * Pages are overwritten whole, so nothing is read that is not in the pool: each page of an extent
 * is claimed (pool_overwrite), one record names the extent and the new generation of all its pages,
 * then they are filled.  When a gather write's worth of pages stands, it is sent, merged with dirty
 * neighbours; the log is durable first.  The commit record is written only when every page is on
 * the device (SQL Server's rule for what is not fully logged).
 *
 * Invariants:
 *  1. Log space is reserved before the first page is claimed.  When the reserved records are used
 *     up (busy pages cut extents into pieces), the transaction commits and another one goes on.
 *  2. Who holds claimed frames waits for log buffers only; a busy page or the want of a frame ends
 *     the extent's run at the pages held, so bulk users cannot block each other.
 *  3. The task stands in a list of waiters only when no write of its own is under way: else its
 *     completion would wake it there.
 *
 * After a failed write there is no commit: the checkpoint looks after the pages.
 *
 * Into new extents (struct bulk_load): the same, and their allocation is logged and made when the
 * pages are on the device, just before the commit.  So a map on the disk never calls a page
 * allocated that was not written, whenever the run is killed.
 */
#include "sim/bulk_update.h"

#include <assert.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "sim/actor.h"
#include "sim/buffer_sum.h"
#include "sim/page_change.h"
#include "sim/page_use.h"

static enum task_result scan_cached(struct actor *actor);
static enum task_result reserve(struct actor *actor);
static enum task_result format(struct actor *actor);
static enum task_result log_run(struct actor *actor);
static enum task_result send_pages(struct actor *actor);
static enum task_result settle(struct actor *actor);
static enum task_result allocate(struct actor *actor);
static enum task_result commit(struct actor *actor);
static enum task_result wait_commit(struct actor *actor);

static struct wal *wal_of(struct actor *actor)
{
    return &actor->bulk->file->database->wal;
}

static uint64_t key_of(const struct bulk_update *b, uint32_t page_no)
{
    return page_key(b->file->file.mark.file_uid, page_no);
}

/* What became of the extents. */
static enum task_result load_end(struct actor *actor, enum extent_state state)
{
    struct bulk_load *load = &actor->bulk->load;
    struct extent_run part = load->extents;
    part.count = (actor->bulk->next - part.first * EXTENT_PAGES + EXTENT_PAGES - 1) / EXTENT_PAGES;
    extents_set(&part, state);
    part.first += part.count;
    part.count = load->extents.count - part.count;
    extents_set(&part, EXTENT_FREE);
    return actor_go(actor, load->after);
}

/* Without a commit. */
static enum task_result abandon(struct actor *actor)
{
    struct bulk_update *b = actor->bulk;
    actor->execute = abandon;
    if (b->writing)
        return TASK_PARK;
    wal_end(wal_of(actor), &b->xact);
    return b->fresh ? load_end(actor, EXTENT_FAILED) : TASK_DONE;
}

/* ---- begin ---- */

static enum task_result scan_cached(struct actor *actor)
{
    if (page_scan_step(&actor->scan) == TASK_PARK)
        return TASK_PARK;
    return actor_go(actor, reserve);
}

static enum task_result reserve(struct actor *actor)
{
    struct bulk_update *b = actor->bulk;
    struct wal *wal = wal_of(actor);
    assert(b->records > 0 && b->writing == 0);
    switch (wal_reserve_or_fail(wal, &b->xact, b->need_bytes, &actor->task)) {
    case WAL_RESERVED:
        break;
    case WAL_RESERVE_FULL:
        b->failed = -ENOSPC;
        return b->fresh ? load_end(actor, EXTENT_FREE) : log_full_begin(actor);
    case WAL_RESERVE_WAIT:
        log_wait_count(actor, wal);
        return TASK_PARK;
    }
    b->records_left = b->records;
    b->begun = false;
    b->failed = 0;
    b->first_page = b->sent = b->settled = b->next;
    return actor_go(actor, format);
}

/* ---- formatting an extent ---- */

static void run_cancel(struct actor *actor)
{
    struct bulk_run *run = &actor->bulk->run;
    for (unsigned i = 0; i < run->count; i++)
        pool_overwrite_cancel(&actor->run->pool, run->frames[i]);
    run->count = 0;
}

static uint64_t generation_before(struct actor *actor, const struct frame *frame, uint32_t page_no)
{
    struct bulk_update *b = actor->bulk;
    if (frame->generation)
        return frame->generation;
    return ledger_view(actor->run->ledger, b->file->file.mark.file_uid, page_no).issued;
}

/* The next page joins the run, is left out, or ends it. */
enum joined { JOINED, LEFT_OUT, RUN_ENDS };

static enum joined run_join(struct actor *actor, uint32_t page_no)
{
    struct bulk_update *b = actor->bulk;
    struct pool *pool = &actor->run->pool;
    bool may_wait = b->run.count == 0 && b->writing == 0;
    struct frame *frame;
    if (!b->fresh && !page_may_be_used(b->file, page_no))
        return LEFT_OUT;
    switch (pool_overwrite(pool, key_of(b, page_no), may_wait ? &actor->task : NULL, &frame)) {
    case POOL_QUARANTINED:
        return LEFT_OUT;
    case POOL_HIT:
    case POOL_MISS:
        break;
    case POOL_NO_FRAME:
        relaxed_add(&actor->task.worker->stats.counters.frame_waits, may_wait);
        return RUN_ENDS;
    case POOL_WAIT:
        return RUN_ENDS;
    }
    uint64_t generation = generation_before(actor, frame, page_no) + 1;
    if (generation > b->run.generation)
        b->run.generation = generation;
    b->run.frames[b->run.count++] = frame;
    return JOINED;
}

/* Pages of one extent from b->next on, as many as can be had at once. */
static void run_claim(struct actor *actor)
{
    struct bulk_update *b = actor->bulk;
    b->run = (struct bulk_run){.first_page = b->next};
    for (uint32_t page_no = b->next; page_no < b->end; page_no++) {
        if (b->run.count && page_no % EXTENT_PAGES == 0)
            return;
        enum joined joined = run_join(actor, page_no);
        if (joined == RUN_ENDS || (joined == LEFT_OUT && b->run.count))
            return;
        if (joined == LEFT_OUT) {
            b->generations[b->next - b->first_page] = 0;
            b->run.first_page = ++b->next;
        }
    }
}

/* May the ledger hold the new generation of every page? */
static bool run_spans(struct actor *actor)
{
    struct bulk_update *b = actor->bulk;
    for (unsigned i = 0; i < b->run.count; i++)
        if (!ledger_span_ok(actor->run->ledger, b->file->file.mark.file_uid, b->run.first_page + i,
                            b->run.generation))
            return false;
    return true;
}

/* Formatted pages that are sent together: a gather write, or an extent where there is none. */
static uint32_t chunk_pages(const struct actor *actor)
{
    unsigned cap = actor_gather_cap(actor);
    return cap > 1 ? cap : EXTENT_PAGES;
}

/* A new extent is formatted as a whole, and nobody waits for frames with frames in hand. */
static enum task_result frames_short(struct actor *actor)
{
    run_cancel(actor);
    relaxed_add(&actor->task.worker->stats.counters.frame_waits, 1);
    if (actor->bulk->writing == 0)
        pool_wait_for_frame(&actor->run->pool, &actor->task);
    return TASK_PARK;
}

static enum task_result format(struct actor *actor)
{
    struct bulk_update *b = actor->bulk;
    actor->execute = format;
    if (wal_failed(wal_of(actor)) || b->failed)
        return abandon(actor);
    if (run_stopping(actor->run)) /* what there is is committed */
        b->end = b->next;
    if (b->next == b->end || b->records_left == 0 || b->next - b->sent >= chunk_pages(actor))
        return actor_go(actor, send_pages);
    run_claim(actor);
    if (b->fresh && b->run.count && b->run.count < EXTENT_PAGES)
        return frames_short(actor);
    if (b->run.count == 0)
        return b->next == b->end ? actor_go(actor, send_pages) : TASK_PARK;
    if (run_spans(actor))
        return actor_go(actor, log_run);
    run_cancel(actor); /* so many changes unwritten: they must be written first */
    task_sleep_until(&actor->task, clock_now_ns(actor->run->clock) + SPAN_PAUSE_NS);
    return TASK_PARK;
}

static int begin_append(struct actor *actor, struct lsn *lsn)
{
    struct bulk_update *b = actor->bulk;
    int error = 0;
    if (!b->begun)
        error = log_mark(wal_of(actor), &b->xact, LOG_OP_BEGIN_XACT, lsn, &actor->task);
    b->begun = b->begun || !error;
    return error;
}

static struct page_identity identity_of(const struct bulk_update *b, uint32_t page_no)
{
    const struct file_mark *mark = &b->file->file.mark;
    return (struct page_identity){mark->file_uid, mark->incarnation, mark->file_id, page_no,
                                  b->run.generation};
}

/* The first page of the run has its record. */
static void page_fill_first(struct actor *actor, struct lsn lsn)
{
    struct bulk_update *b = actor->bulk;
    uint16_t number = (uint16_t)actor->number;
    struct frame *frame = b->run.frames[0];
    struct page_identity identity = identity_of(b, b->run.first_page);
    page_fill(frame->bytes, &actor->run->identity, &identity, number);
    buffer_built(b->file->database, frame->bytes);
    pool_overwrite_end(&actor->run->pool, frame, b->run.generation, lsn, number);
    b->generations[b->run.first_page - b->first_page] = b->run.generation;
    b->logged_position = lsn_position(lsn);
    b->run.first_page++;
    b->run.count--;
    memmove(&b->run.frames[0], &b->run.frames[1], b->run.count * sizeof b->run.frames[0]);
}

/* One record for all pages of the run, or (full log) one a page. */
static int run_append(struct actor *actor)
{
    struct bulk_update *b = actor->bulk;
    struct lsn lsn;
    struct page_identity first = identity_of(b, b->run.first_page);
    int error = begin_append(actor, &lsn);
    if (!error && !b->load.full_log)
        error = page_format_log(wal_of(actor), &b->xact, &first, b->run.count, &lsn, &actor->task);
    while (!error && b->run.count) {
        first = identity_of(b, b->run.first_page);
        if (b->load.full_log)
            error = page_change_log(wal_of(actor), &b->xact, &first, BULK_ROW_BYTES, &lsn,
                                    &actor->task);
        if (!error)
            page_fill_first(actor, lsn);
    }
    return error;
}

static enum task_result log_run(struct actor *actor)
{
    struct bulk_update *b = actor->bulk;
    int error = run_append(actor);
    if (error == -EAGAIN)
        return TASK_PARK;
    if (error) {
        run_cancel(actor);
        return abandon(actor);
    }
    relaxed_add(&actor->task.worker->stats.counters.page_updates, b->run.first_page - b->next);
    b->next = b->run.first_page;
    b->records_left--;
    actor->execute = format;
    return TASK_AGAIN;
}

/* ---- eager writes ---- */

static void gather_finished(struct gather *gather)
{
    struct actor *actor = gather->context;
    struct bulk_update *b = actor->bulk;
    b->writing--;
    if (gather->result)
        b->failed = gather->result;
    gather_push(&b->free_gathers, gather);
    task_wake(&actor->task);
}

/* The first of the free gathers is filled. */
static void gather_send(struct actor *actor)
{
    struct bulk_update *b = actor->bulk;
    struct gather *gather = gather_pop(&b->free_gathers);
    b->writing++;
    actor_gather_send(actor, gather, STREAM_eager_write, gather_finished);
}

static enum task_result wait_log(struct actor *actor, executor_step then)
{
    struct bulk_update *b = actor->bulk;
    struct wal *wal = wal_of(actor);
    if (wal_wait_durable(wal, b->wait_position, &actor->waiter, &actor->task))
        return actor_go(actor, then);
    return wal_failed(wal) ? abandon(actor) : TASK_PARK;
}

static enum task_result wait_send_log(struct actor *actor)
{
    return wait_log(actor, send_pages);
}

static enum task_result wait_settle_log(struct actor *actor)
{
    return wait_log(actor, settle);
}

/* Where the pages are dirty still; what others are writing is looked at in settle(). */
static enum task_result send_pages(struct actor *actor)
{
    struct bulk_update *b = actor->bulk;
    actor->execute = send_pages;
    while (b->sent < b->next) {
        if (b->failed)
            return abandon(actor);
        if (!b->free_gathers)
            return TASK_PARK;
        enum collect got = COLLECT_NOTHING;
        if (b->generations[b->sent - b->first_page])
            got = writeback_collect(b->file->database, b->file, b->sent, actor_gather_cap(actor),
                                    b->free_gathers, &b->wait_position);
        if (got == COLLECT_LOG) {
            /* Of all that is to be sent, else writes would be small. */
            if (b->load.full_log && b->logged_position > b->wait_position)
                b->wait_position = b->logged_position;
            return actor_go(actor, wait_send_log);
        }
        uint32_t end = b->sent + 1;
        if (got == COLLECT_CLAIMED) {
            end = b->free_gathers->first_page + b->free_gathers->count;
            gather_send(actor);
        }
        b->sent = end < b->next ? end : b->next;
    }
    bool more = b->next < b->end && b->records_left;
    return actor_go(actor, more ? format : settle);
}

/* ---- before the commit ---- */

/* On the device, or never to be written again. */
static bool is_settled(struct actor *actor, uint32_t page_no)
{
    struct bulk_update *b = actor->bulk;
    uint64_t generation = b->generations[page_no - b->first_page];
    struct ledger_view view = ledger_view(actor->run->ledger, b->file->file.mark.file_uid, page_no);
    return generation == 0 || view.acked >= generation || view.state == LEDGER_QUARANTINED;
}

/* With no write of our own under way: one that failed, was made dirty again, or is another's. */
static enum task_result settle_page(struct actor *actor)
{
    struct bulk_update *b = actor->bulk;
    switch (writeback_collect_waiting(b->file->database, b->file, b->settled,
                                      actor_gather_cap(actor), b->free_gathers, &b->wait_position,
                                      &actor->task)) {
    case COLLECT_CLAIMED:
        gather_send(actor);
        return TASK_PARK;
    case COLLECT_LOG:
        return actor_go(actor, wait_settle_log);
    case COLLECT_BUSY:
        return TASK_PARK;
    case COLLECT_NOTHING:
        break;
    }
    return TASK_AGAIN; /* it was written this moment */
}

static enum task_result settle(struct actor *actor)
{
    struct bulk_update *b = actor->bulk;
    actor->execute = settle;
    if (b->writing)
        return TASK_PARK;
    if (b->failed || wal_failed(wal_of(actor)))
        return abandon(actor);
    while (b->settled < b->next) {
        if (!is_settled(actor, b->settled))
            return settle_page(actor);
        b->settled++;
    }
    return actor_go(actor, b->fresh ? allocate : commit);
}

/* ---- new extents ---- */

/* The changes that are under way, if any. */
static int allocation_go_on(struct actor *actor)
{
    struct bulk_update *b = actor->bulk;
    return b->allocation.page_count ? allocation_step(&b->allocation, &b->xact, &actor->task) : 0;
}

/* The next chunk of extents, then the one that is moved from; false: that was all. */
static bool allocation_next(struct bulk_update *b)
{
    if (b->allocated < b->next) {
        uint32_t extents = (b->next - b->allocated) / EXTENT_PAGES;
        uint32_t count = extents < ALLOCATION_EXTENTS ? extents : ALLOCATION_EXTENTS;
        allocation_plan_extents(&b->allocation, b->file, b->allocated, ALLOCATION_TAKE,
                                (1u << count) - 1);
        b->allocated += count * EXTENT_PAGES;
        return true;
    }
    if (!b->load.moves || b->freed || b->next == b->first_page)
        return false;
    allocation_plan_extents(&b->allocation, b->file, b->load.from * EXTENT_PAGES, ALLOCATION_FREE,
                            1);
    b->freed = true;
    return true;
}

static enum task_result allocate(struct actor *actor)
{
    struct bulk_update *b = actor->bulk;
    actor->execute = allocate;
    do {
        int error = allocation_go_on(actor);
        if (error)
            return error == -EAGAIN ? TASK_PARK : abandon(actor);
    } while (allocation_next(b));
    return actor_go(actor, commit);
}

/* ---- commit ---- */

static enum task_result transaction_end(struct actor *actor)
{
    struct bulk_update *b = actor->bulk;
    wal_end(wal_of(actor), &b->xact);
    if (b->fresh)
        return load_end(actor, EXTENT_USED);
    if (b->next == b->end || run_stopping(actor->run))
        return TASK_DONE;
    return actor_go(actor, reserve);
}

static enum task_result commit(struct actor *actor)
{
    struct bulk_update *b = actor->bulk;
    if (!b->begun)
        return transaction_end(actor);
    struct lsn lsn;
    int error = log_mark(wal_of(actor), &b->xact, LOG_OP_COMMIT_XACT, &lsn, &actor->task);
    if (error)
        return error == -EAGAIN ? TASK_PARK : abandon(actor);
    b->commit_position = lsn_position(lsn);
    b->commit_ns = clock_now_ns(actor->run->clock);
    return actor_go(actor, wait_commit);
}

static enum task_result wait_commit(struct actor *actor)
{
    struct bulk_update *b = actor->bulk;
    struct wal *wal = wal_of(actor);
    if (!wal_wait_durable(wal, b->commit_position, &actor->waiter, &actor->task))
        return wal_failed(wal) ? abandon(actor) : TASK_PARK;
    if (b->load.inside)
        return transaction_end(actor);
    uint64_t waited = clock_now_ns(actor->run->clock) - b->commit_ns;
    struct stats *stats = &actor->task.worker->stats;
    stats_add(stats, run_phase_now(actor->run), STREAM_commit, 0, waited,
              waited + actor->reader.lateness_ns);
    relaxed_add(&stats->counters.transactions, 1);
    return transaction_end(actor);
}

/* ---- life ---- */

struct bulk_update *bulk_update_create(struct actor *actor, uint32_t pages_max)
{
    pages_max = (pages_max + EXTENT_PAGES - 1) / EXTENT_PAGES * EXTENT_PAGES;
    struct bulk_update *b = calloc(1, sizeof *b + pages_max * sizeof b->generations[0]);
    if (!b)
        return NULL;
    b->pages_max = pages_max; /* whole extents */
    b->gather_count = actor->run->settings->use_scatter_gather ? BULK_GATHERS : BULK_GATHERS_SINGLE;
    b->gathers = calloc(b->gather_count, sizeof *b->gathers);
    if (!b->gathers) {
        free(b);
        return NULL;
    }
    for (unsigned i = 0; i < b->gather_count; i++)
        gather_push(&b->free_gathers, &b->gathers[i]);
    return b;
}

void bulk_update_free(struct bulk_update *b)
{
    if (!b)
        return;
    assert(b->writing == 0);
    free(b->gathers);
    free(b);
}

/* Of the records of one extent. */
static uint64_t extent_log_cost(bool full_log, size_t sector_bytes)
{
    return full_log ? EXTENT_PAGES * page_change_cost(BULK_ROW_BYTES, sector_bytes)
                    : log_record_cost(sizeof(struct log_page_change), sector_bytes);
}

enum task_result bulk_update_begin(struct actor *actor)
{
    struct bulk_update *b = actor->bulk;
    assert(b && actor->op.page_count <= b->pages_max); /* the pattern said that it loads in bulk */
    b->file = actor->run->files[actor->op.file];
    b->fresh = false;
    b->load = (struct bulk_load){.full_log = actor->op.full_log};
    b->records = actor->op.log_records;
    size_t sector_bytes = wal_of(actor)->sector_bytes;
    b->need_bytes = 2 * log_record_cost(LOG_MARK_BYTES, sector_bytes) +
                    b->records * extent_log_cost(b->load.full_log, sector_bytes);
    uint32_t size = b->file->file.size_pages;
    b->next = actor->op.first_page < size ? actor->op.first_page : size;
    b->end = actor->op.page_count < size - b->next ? b->next + actor->op.page_count : size;
    if (actor->op.unread)
        return actor_go(actor, reserve);
    struct page_scan_range range = {.file = b->file,
                                    .first_page = b->next,
                                    .page_count = b->end - b->next,
                                    .stream = STREAM_page_read,
                                    .cached = SCAN_CACHED_ROLL,
                                    .users_only = true,
                                    .cached_only = true};
    page_scan_start(&actor->scan, &range);
    return actor_go(actor, scan_cached);
}

uint64_t bulk_load_need(uint32_t pages, bool full_log, bool moves, size_t sector_bytes)
{
    uint32_t extents = (pages + EXTENT_PAGES - 1) / EXTENT_PAGES;
    uint32_t chunks = (extents + ALLOCATION_EXTENTS - 1) / ALLOCATION_EXTENTS + moves;
    uint64_t formats =
        full_log ? pages * page_change_cost(BULK_ROW_BYTES, sector_bytes)
                 : extents * log_record_cost(sizeof(struct log_page_change), sector_bytes);
    return 2 * log_record_cost(LOG_MARK_BYTES, sector_bytes) + formats +
           chunks * allocation_changes_need(sector_bytes);
}

enum task_result bulk_load_begin(struct actor *actor, const struct bulk_load *load)
{
    struct bulk_update *b = actor->bulk;
    uint32_t pages = load->extents.count * EXTENT_PAGES;
    assert(b && pages > 0 && pages <= b->pages_max && (!load->moves || pages == EXTENT_PAGES));
    b->file = load->extents.file;
    b->fresh = true;
    b->load = *load;
    b->next = b->allocated = load->extents.first * EXTENT_PAGES;
    b->end = b->next + pages;
    b->allocation.page_count = 0;
    b->freed = false;
    b->records = load->extents.count;
    b->need_bytes = bulk_load_need(pages, load->full_log, load->moves, wal_of(actor)->sector_bytes);
    return actor_go(actor, reserve);
}
