/*
 * lazy_write.c - OP_LAZY_WRITE: one sweep of the lazy writer.
 *
 *   SWEEP (clock over the pool: free what is clean and cold, write what is dirty and cold, several
 *   gather writes under way) <-> LOG (durable to the page's LSN first) -> DRAIN -> done
 *
 * A sweep ends when the supply reaches the pool's target, counting what is being written, or after
 * two turns of the clock: the first takes the reference bits away, the second finds the cold.  When
 * users wait and two turns gave nothing, a third writes pages whose write failed before, which are
 * otherwise left to the checkpoint.
 *
 * It waits for nothing but the log writer and its own writes, neither of which ever waits for a
 * frame or for log space, so users that wait for frames are always served in the end.  System pages
 * are the checkpoint's.  What it does not do: make room in the log, flush data files.
 */
#include <assert.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "sim/actor.h"

#define LAZY_GATHERS    32  /* gather writes under way, as many as a checkpoint has */
#define FRAMES_PER_TURN 512 /* of the walk; then the others have their turns */
#define TURNS           2   /* of the clock in a sweep */

struct lazy_write {
    size_t looked, looked_max; /* frames passed in this sweep */
    size_t index;              /* the frame that is looked at; valid while held */
    bool held;                 /* look at it again: its log was not durable */
    bool failed_too;           /* the third turn */
    bool gave;                 /* something was freed or written in this sweep */
    unsigned writing;          /* gathers under way */
    size_t pages;              /* in them */
    struct wal *wal;           /* whose log is waited for */
    uint64_t position;
    struct gather *free_gathers;
    struct gather gathers[LAZY_GATHERS];
};

static enum task_result sweep(struct actor *actor);
static enum task_result wait_log(struct actor *actor);
static enum task_result drain(struct actor *actor);

/* ---- writing ---- */

/* What was written and is still cold is free at once. */
static void gather_finished(struct gather *gather)
{
    struct actor *actor = gather->context;
    struct lazy_write *lazy = actor->lazy;
    struct pool *pool = &actor->run->pool;
    uint16_t uid = gather->file->file.mark.file_uid;
    uint64_t freed = 0;
    for (unsigned i = 0; i < gather->count; i++)
        freed +=
            pool_free_cold(pool, gather->images[i].frame, page_key(uid, gather->first_page + i));
    relaxed_add(&actor->task.worker->stats.counters.frames_freed, freed);
    lazy->writing--;
    lazy->pages -= gather->count;
    gather_push(&lazy->free_gathers, gather);
    pool_wake_waiters(pool, freed);
    task_wake(&actor->task);
}

static void gather_send(struct actor *actor)
{
    struct lazy_write *lazy = actor->lazy;
    struct gather *gather = gather_pop(&lazy->free_gathers);
    lazy->writing++;
    lazy->pages += gather->count;
    lazy->gave = true;
    actor_gather_send(actor, gather, STREAM_lazy_write, gather_finished);
}

/* A cold dirty page.  True: go on with the next frame; false: wait for its log. */
static bool write_page(struct actor *actor, uint64_t key)
{
    struct lazy_write *lazy = actor->lazy;
    struct data_file *file = run_file_by_uid(actor->run, (uint16_t)(key >> 32));
    if (wal_failed(&file->database->wal)) /* it can never be written */
        return true;
    switch (writeback_collect(file->database, file, (uint32_t)key, actor_gather_cap(actor),
                              lazy->free_gathers, &lazy->position)) {
    case COLLECT_CLAIMED:
        gather_send(actor);
        return true;
    case COLLECT_LOG:
        lazy->wal = &file->database->wal;
        return false;
    case COLLECT_NOTHING: /* somebody else was faster */
    case COLLECT_BUSY:
        break;
    }
    return true;
}

/* ---- the walk ---- */

static bool is_supplied(const struct actor *actor)
{
    const struct pool *pool = &actor->run->pool;
    return pool_free_count(pool) + actor->lazy->pages >= pool->free_target;
}

/* Two turns found nothing and users wait: pages whose write failed are tried, too. */
static bool try_failed_too(struct actor *actor)
{
    struct lazy_write *lazy = actor->lazy;
    if (lazy->gave || lazy->failed_too || atomic_load(&actor->run->pool.waiting) == 0)
        return false;
    lazy->failed_too = true;
    lazy->looked_max += actor->run->pool.frame_count;
    return true;
}

/* False: the walk must wait for the log. */
static bool look_at_frame(struct actor *actor)
{
    struct lazy_write *lazy = actor->lazy;
    struct pool *pool = &actor->run->pool;
    uint64_t key;
    if (!lazy->held)
        lazy->index = pool_clock_next(pool);
    lazy->held = false;
    switch (pool_age(pool, lazy->index, lazy->failed_too, &key)) {
    case POOL_AGE_FREED:
        relaxed_add(&actor->task.worker->stats.counters.frames_freed, 1);
        lazy->gave = true;
        pool_wake_waiters(pool, 1);
        break;
    case POOL_AGE_DIRTY:
        if (!write_page(actor, key))
            return false;
        break;
    case POOL_AGE_KEPT:
        break;
    }
    lazy->looked++;
    return true;
}

static enum task_result sweep(struct actor *actor)
{
    struct lazy_write *lazy = actor->lazy;
    actor->execute = sweep;
    for (unsigned i = 0; i < FRAMES_PER_TURN; i++) {
        bool over = lazy->looked >= lazy->looked_max && !try_failed_too(actor);
        if (over || is_supplied(actor))
            return actor_go(actor, drain);
        if (!lazy->free_gathers)
            return TASK_PARK;
        if (!look_at_frame(actor))
            return actor_go(actor, wait_log);
    }
    return TASK_AGAIN;
}

static enum task_result wait_log(struct actor *actor)
{
    struct lazy_write *lazy = actor->lazy;
    actor->execute = wait_log;
    bool durable = wal_wait_durable(lazy->wal, lazy->position, &actor->waiter, &actor->task);
    if (!durable && !wal_failed(lazy->wal))
        return TASK_PARK;
    wal_wait_forget(lazy->wal, &actor->waiter); /* the next one may be another log's */
    lazy->held = durable;
    return actor_go(actor, sweep);
}

/* Who still waits while frames are free was passed over by one that needed none; and users of a
 * database that stopped are let go, since nothing frees what they wait for. */
static enum task_result drain(struct actor *actor)
{
    struct pool *pool = &actor->run->pool;
    actor->execute = drain;
    if (actor->lazy->writing)
        return TASK_PARK;
    if (!actor->lazy->gave || pool_free_count(pool) > 0)
        pool_wake_frame_waiters(pool);
    return TASK_DONE;
}

/* ---- life ---- */

int lazy_write_create(struct actor *actor)
{
    struct lazy_write *lazy = calloc(1, sizeof *lazy);
    if (!lazy)
        return -ENOMEM;
    for (unsigned i = 0; i < LAZY_GATHERS; i++)
        gather_push(&lazy->free_gathers, &lazy->gathers[i]);
    actor->lazy = lazy;
    return 0;
}

enum task_result lazy_write_begin(struct actor *actor)
{
    struct lazy_write *lazy = actor->lazy;
    assert(lazy->writing == 0);
    lazy->looked = 0;
    lazy->looked_max = TURNS * actor->run->pool.frame_count;
    lazy->held = lazy->failed_too = lazy->gave = false;
    return actor_go(actor, sweep);
}
