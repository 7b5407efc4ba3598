/*
 * tempdb_store.c - OP_STORE: objects in tempdb whose pages live in the buffer pool: the version
 * store, worktables.
 *
 *   ALLOCATE -> MAKE (fill frames: dirty, not logged) -> READ (some pages that live, through the
 * pool) -> while there are more than are to be kept: DISCARD the oldest stretch's frames, unwritten
 * where they are dirty -> DEALLOCATE -> done
 *
 * Nobody writes these pages but the lazy writer, when frames are short, and the checkpoint that
 * ends a phase.  What lives at the end of a phase is left, with what others left (tempdb_space.h):
 * a store takes that up as its oldest.
 *
 * Invariant: a page that was allocated is made, also when the phase ends meanwhile.
 *
 * Source: reference "SQL Server storage I/O", sections 1 and 8.
 */
#include <assert.h>
#include <errno.h>

#include "sim/buffer_sum.h"
#include "sim/page_use.h"
#include "sim/tempdb_work.h"

static enum task_result store_next(struct actor *actor);
static enum task_result allocate(struct actor *actor);
static enum task_result make(struct actor *actor);
static enum task_result read_begin(struct actor *actor);
static enum task_result read_page(struct actor *actor);
static enum task_result drop(struct actor *actor);
static enum task_result deallocate(struct actor *actor);

/* ---- the ring of stretches, oldest first ---- */

static struct tempdb_stretch *stretch_at(struct tempdb_store *store, unsigned index)
{
    return &store->ring[(store->first + index) % store->capacity];
}

static void stretch_add(struct tempdb_store *store, const struct tempdb_stretch *stretch)
{
    assert(store->count < store->capacity);
    *stretch_at(store, store->count++) = *stretch;
    store->pages += stretch->pages;
}

static void stretch_drop(struct tempdb_store *store)
{
    store->pages -= stretch_at(store, 0)->pages;
    store->first = (store->first + 1) % store->capacity;
    store->count--;
}

static void take_up_left(struct actor *actor)
{
    struct tempdb_store *store = &actor->tempdb->store;
    struct tempdb_stretch at;
    while (store->count + TEMPDB_STORE_SPARE / 2 < store->capacity &&
           tempdb_space_left(actor->run->tempdb, EXTENT_PAGES, &at))
        stretch_add(store, &at);
}

void tempdb_store_leave(struct actor *actor)
{
    struct tempdb_store *store = &actor->tempdb->store;
    for (unsigned i = 0; i < store->count; i++)
        tempdb_space_leave(actor->run->tempdb, stretch_at(store, i));
    store->count = 0;
    store->pages = 0;
}

static uint64_t key_of(const struct tempdb_stretch *at, uint32_t index)
{
    return page_key(at->file->file.mark.file_uid, at->first_page + index);
}

/* ---- appending ---- */

static enum task_result no_room(struct actor *actor)
{
    relaxed_add(&actor->task.worker->stats.counters.tempdb_full, 1);
    return actor_go(actor, drop);
}

static enum task_result store_next(struct actor *actor)
{
    struct tempdb_store *store = &actor->tempdb->store;
    const struct op_store *op = &actor->op.store;
    struct tempdb_stretch at;
    bool iam = op->iam && store->appended == 0;
    if (store->appended >= op->pages + op->iam)
        return actor_go(actor, read_begin);
    if (!tempdb_space_take(actor->run->tempdb, iam ? 1 : EXTENT_PAGES, &at))
        return tempdb_work_full(actor, store_next, no_room);
    stretch_add(store, &at);
    tempdb_change_start(&store->change, &at, true);
    store->change.first_is_iam = iam;
    return actor_go(actor, allocate);
}

static enum task_result allocate(struct actor *actor)
{
    struct tempdb_store *store = &actor->tempdb->store;
    int error = tempdb_change_step(&store->change, &actor->task);
    if (error)
        return error == -EAGAIN ? TASK_PARK : TASK_DONE; /* the log has failed */
    store->index = 0;
    return actor_go(actor, make);
}

static uint64_t generation_after(struct actor *actor, const struct frame *frame, uint64_t key)
{
    struct ledger_view view = ledger_view(actor->run->ledger, (uint16_t)(key >> 32), (uint32_t)key);
    return (frame->generation > view.issued ? frame->generation : view.issued) + 1;
}

static void page_make(struct actor *actor, const struct tempdb_stretch *at, uint32_t index,
                      struct frame *frame)
{
    const struct file_mark *mark = &at->file->file.mark;
    struct page_identity identity = {mark->file_uid, mark->incarnation, mark->file_id,
                                     at->first_page + index,
                                     generation_after(actor, frame, key_of(at, index))};
    uint16_t number = (uint16_t)actor->number;
    page_fill(frame->bytes, &actor->run->identity, &identity, number);
    buffer_built(at->file->database, frame->bytes);
    pool_overwrite_end(&actor->run->pool, frame, identity.generation, (struct lsn){0}, number);
    relaxed_add(&actor->task.worker->stats.counters.tempdb_pages_made, 1);
}

static enum task_result make(struct actor *actor)
{
    struct tempdb_store *store = &actor->tempdb->store;
    const struct tempdb_stretch *at = &store->change.stretch;
    actor->execute = make;
    for (; store->index < at->pages; store->index++) {
        struct frame *frame;
        switch (pool_overwrite(&actor->run->pool, key_of(at, store->index), &actor->task, &frame)) {
        case POOL_HIT:
        case POOL_MISS:
            page_make(actor, at, store->index, frame);
            break;
        case POOL_NO_FRAME:
            relaxed_add(&actor->task.worker->stats.counters.frame_waits, 1);
            return TASK_PARK;
        case POOL_WAIT:
            return TASK_PARK;
        case POOL_QUARANTINED:
            break;
        }
    }
    store->appended += at->pages;
    return actor_go(actor, store_next);
}

/* ---- reading ---- */

static enum task_result read_next(struct actor *actor)
{
    actor->tempdb->store.reads++;
    actor->execute = read_begin;
    return TASK_AGAIN; /* the others have their turns */
}

/* A page that lives, at random. */
static void draw_page(struct actor *actor)
{
    struct tempdb_work *work = actor->tempdb;
    struct tempdb_store *store = &work->store;
    store->reading = *stretch_at(store, (unsigned)rng_below(&work->rng, store->count));
    store->reading_index = (uint32_t)rng_below(&work->rng, store->reading.pages);
}

static enum task_result read_begin(struct actor *actor)
{
    struct tempdb_store *store = &actor->tempdb->store;
    struct counters *counters = &actor->task.worker->stats.counters;
    actor->execute = read_begin;
    if (store->reads >= actor->op.store.reads || store->count == 0 || run_stopping(actor->run))
        return actor_go(actor, drop);
    if (!store->drawn)
        draw_page(actor);
    store->drawn = true;
    uint64_t key = key_of(&store->reading, store->reading_index);
    switch (pool_get(&actor->run->pool, key, &actor->task, &store->frame)) {
    case POOL_HIT:
        relaxed_add(&counters->page_hits, 1);
        pool_unpin(&actor->run->pool, store->frame);
        break;
    case POOL_MISS:
        relaxed_add(&counters->page_misses, 1);
        page_read_start(&actor->reader, store->reading.file, (uint32_t)key, store->frame->bytes,
                        STREAM_tempdb_read);
        actor->execute = read_page;
        return TASK_PARK;
    case POOL_NO_FRAME:
        relaxed_add(&counters->frame_waits, 1);
        return TASK_PARK;
    case POOL_WAIT:
        return TASK_PARK;
    case POOL_QUARANTINED:
        break;
    }
    store->drawn = false;
    return read_next(actor);
}

static enum task_result read_page(struct actor *actor)
{
    struct tempdb_store *store = &actor->tempdb->store;
    enum page_read_result result = page_read_step(&actor->reader);
    if (result == PAGE_READ_WAIT)
        return TASK_PARK;
    uint32_t page_no = store->reading.first_page + store->reading_index;
    bool right = result == PAGE_READ_RIGHT;
    uint64_t generation = right ? page_stamp_of(store->frame->bytes)->generation : 0;
    right = right && page_is_newest(store->reading.file, page_no, generation);
    pool_read_done(&actor->run->pool, store->frame, right, generation);
    if (right)
        pool_unpin(&actor->run->pool, store->frame);
    store->drawn = false;
    return read_next(actor);
}

/* ---- dropping the oldest ---- */

static enum task_result drop(struct actor *actor)
{
    struct tempdb_store *store = &actor->tempdb->store;
    actor->execute = drop;
    if (store->pages <= actor->op.store.keep_pages || wal_failed(tempdb_work_wal(actor)))
        return TASK_DONE;
    const struct tempdb_stretch *at = stretch_at(store, 0);
    if (!tempdb_work_discard(actor, at, &store->discarded))
        return TASK_PARK;
    store->discarded = 0;
    tempdb_change_start(&store->change, at, false);
    return actor_go(actor, deallocate);
}

static enum task_result deallocate(struct actor *actor)
{
    struct tempdb_store *store = &actor->tempdb->store;
    int error = tempdb_change_step(&store->change, &actor->task);
    if (error)
        return error == -EAGAIN ? TASK_PARK : TASK_DONE;
    tempdb_space_give(actor->run->tempdb, &store->change.stretch);
    stretch_drop(store);
    actor->execute = drop;
    return TASK_AGAIN;
}

/* ---- life ---- */

enum task_result tempdb_store_begin(struct actor *actor)
{
    struct tempdb_store *store = &actor->tempdb->store;
    assert(store->ring);
    take_up_left(actor);
    store->appended = store->reads = 0;
    return actor_go(actor, store_next);
}
