/* tempdb_work.c - see tempdb_work.h. */
#include "sim/tempdb_work.h"

#include <assert.h>
#include <errno.h>
#include <stdlib.h>

#define RNG_PURPOSE    0x54454D50 /* "TEMP" */
#define FULL_REST_NS   (10 * NS_PER_MS)
#define PINNED_REST_NS NS_PER_MS /* another looks at the frame for a moment */

/* ---- life ---- */

static unsigned lists_of(const struct op *op)
{
    const struct op_spill *spill = &op->spill;
    if (op->kind == OP_HASH)
        return spill->ways;
    /* a sort: the inputs of a merge, its output, the runs that wait */
    uint64_t runs = (spill->pages + spill->run_pages - 1) / spill->run_pages;
    return spill->ways + 1 + (unsigned)runs + 1;
}

static int store_create(struct tempdb_work *work, const struct op_store *op)
{
    struct tempdb_store *store = &work->store;
    store->capacity =
        (unsigned)((op->keep_pages + op->pages) / EXTENT_PAGES) + 1 + TEMPDB_STORE_SPARE;
    store->ring = calloc(store->capacity, sizeof *store->ring);
    return store->ring ? 0 : -ENOMEM;
}

static int growth_create(struct actor *actor)
{
    struct tempdb_work *work = actor->tempdb;
    struct database *database = tempdb_space_database(actor->run->tempdb);
    if (!growth_possible(database))
        return 0;
    work->zeros = growth_zeros();
    work->growth.zeros = work->zeros;
    return work->zeros ? 0 : -ENOMEM;
}

int tempdb_work_create(struct actor *actor)
{
    struct op largest = {.kind = OP_END};
    actor->pattern->largest(actor->state, &largest);
    struct tempdb_work *work = calloc(1, sizeof *work);
    actor->tempdb = work;
    if (!work)
        return -ENOMEM;
    rng_split(&work->rng, actor->run->config.plan->seed, RNG_PURPOSE, actor->number);
    if (largest.kind != OP_STORE && largest.kind != OP_SORT && largest.kind != OP_HASH)
        return 0;
    assert(actor->run->tempdb); /* the plan has seen to it */
    int error = growth_create(actor);
    if (error || largest.kind == OP_STORE)
        return error ? error : store_create(work, &largest.store);
    work->list_count = lists_of(&largest);
    work->lists = calloc(work->list_count, sizeof *work->lists);
    work->spill = spill_create(actor, largest.spill.outstanding, largest.spill.chunk_pages,
                               largest.spill.pages);
    return work->lists && work->spill ? 0 : -ENOMEM;
}

void tempdb_work_free(struct tempdb_work *work)
{
    if (!work)
        return;
    spill_free(work->spill);
    free(work->lists);
    free(work->store.ring);
    free(work->zeros);
    free(work);
}

/* ---- frames ---- */

struct wal *tempdb_work_wal(const struct actor *actor)
{
    return &tempdb_space_database(actor->run->tempdb)->wal;
}

bool tempdb_work_discard(struct actor *actor, const struct tempdb_stretch *at, uint32_t *index)
{
    for (; *index < at->pages; ++*index) {
        uint64_t key = page_key(at->file->file.mark.file_uid, at->first_page + *index);
        bool waits = false;
        uint64_t generation; /* tempdb's changes are not redone: nobody misses it */
        if (pool_discard(&actor->run->pool, key, &actor->task, &waits, &generation))
            continue;
        if (!waits)
            task_sleep_until(&actor->task, clock_now_ns(actor->run->clock) + PINNED_REST_NS);
        return false;
    }
    return true;
}

void tempdb_work_finish(struct actor *actor)
{
    if (actor->tempdb && actor->tempdb->store.ring)
        tempdb_store_leave(actor);
}

/* ---- begin ---- */

/* What earlier users left is read like an object of one's own, for perhaps nobody has yet. */
static bool adopt(struct actor *actor, struct spill_list *left)
{
    struct tempdb_work *work = actor->tempdb;
    if (!spill_adopt_left(work->spill, left))
        return false;
    work->discarded = 0;
    return true;
}

static enum task_result clear(struct actor *actor)
{
    struct tempdb_work *work = actor->tempdb;
    struct spill_list *left = &work->lists[0]; /* the object has no chunk yet */
    actor->execute = clear;
    spill_work(work->spill);
    if (tempdb_work_is_cut(actor))
        return tempdb_work_drain(actor);
    while (spill_can_fetch(work->spill) && !atomic_load(&actor->task.wait_list) &&
           (left->head || adopt(actor, left))) {
        if (!tempdb_work_discard(actor, &left->head->at, &work->discarded))
            return TASK_PARK; /* a version store had it */
        spill_fetch(work->spill, left);
    }
    return spill_is_idle(work->spill) ? actor_go(actor, work->cleared) : TASK_PARK;
}

enum task_result tempdb_work_begin(struct actor *actor, executor_step then)
{
    struct tempdb_work *work = actor->tempdb;
    spill_reset(work->spill);
    work->cleared = then;
    return clear(actor);
}

bool tempdb_work_is_cut(const struct actor *actor)
{
    const struct run *run = actor->run;
    return actor->tempdb->spill->failed || run_stopping(run) || atomic_load(&actor->leaving) ||
           clock_now_ns(run->clock) >= run->phase_deadline_ns;
}

/* ---- growth ---- */

static enum task_result grow(struct actor *actor)
{
    struct tempdb_work *work = actor->tempdb;
    actor->execute = grow;
    switch (growth_step(&work->growth)) {
    case STEP_WAIT:
        return TASK_PARK;
    case STEP_FAILED:
        return actor_go(actor, work->cramped);
    case STEP_DONE:
        break;
    }
    bool full = tempdb_space_is_full(actor->run->tempdb);
    if (work->spill)
        work->spill->full = full;
    return actor_go(actor, full ? work->cramped : work->roomy);
}

/* A growth wakes the task for its own steps alone: nothing else may be under way. */
static enum task_result settle(struct actor *actor)
{
    struct tempdb_work *work = actor->tempdb;
    struct database *database = tempdb_space_database(actor->run->tempdb);
    actor->execute = settle;
    if (work->spill)
        spill_work(work->spill);
    if (work->spill && !spill_is_idle(work->spill))
        return TASK_PARK;
    bool failed = (work->spill && work->spill->failed) || wal_failed(&database->wal);
    if (failed || run_stopping(actor->run))
        return actor_go(actor, work->cramped);
    resize_init(&work->growth.r, actor->run, &actor->task, actor->name);
    growth_begin(&work->growth, database, 1, true);
    return actor_go(actor, grow);
}

enum task_result tempdb_work_full(struct actor *actor, executor_step roomy, executor_step cramped)
{
    struct tempdb_work *work = actor->tempdb;
    work->roomy = roomy;
    work->cramped = cramped;
    bool grows = work->zeros && growth_possible(tempdb_space_database(actor->run->tempdb));
    return actor_go(actor, grows ? settle : cramped);
}

/* ---- end ---- */

static enum task_result rest(struct actor *actor)
{
    struct tempdb_work *work = actor->tempdb;
    if (tempdb_work_is_cut(actor) || clock_now_ns(actor->run->clock) >= work->rest_until_ns)
        return TASK_DONE;
    actor->execute = rest;
    task_sleep_until(&actor->task, work->rest_until_ns);
    return TASK_PARK;
}

enum task_result tempdb_work_drain(struct actor *actor)
{
    struct tempdb_work *work = actor->tempdb;
    actor->execute = tempdb_work_drain;
    spill_work(work->spill);
    if (!spill_is_idle(work->spill))
        return TASK_PARK;
    for (unsigned i = 0; i < work->list_count; i++)
        spill_leave(work->spill, &work->lists[i]);
    spill_leave(work->spill, &work->spill->freeing);
    if (!work->spill->full)
        return TASK_DONE;
    relaxed_add(&actor->task.worker->stats.counters.tempdb_full, 1);
    work->rest_until_ns = clock_now_ns(actor->run->clock) + FULL_REST_NS;
    return rest(actor);
}
