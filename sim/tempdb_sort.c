/*
 * tempdb_sort.c - OP_SORT: a sort that does not fit in its memory.
 *
 *   RUNS (each as long as the memory holds, written in sequence) -> MERGE, as often as there are
 * more runs than ways: `ways` runs are read, interleaved, and written as one -> last MERGE: read
 * alone, the rows go to the query -> done
 *
 * Which run delivers next is random, as keys are.  What was read and judged is freed at once, so a
 * merge needs no more room than the sort itself.  Rows in memory between reading and writing are
 * bounded by the requests that may be outstanding.
 *
 * Source: reference "SQL Server storage I/O", section 1 (sort spill).
 */
#include <assert.h>

#include "sim/tempdb_work.h"

static enum task_result make_runs(struct actor *actor);
static enum task_result merge_begin(struct actor *actor);
static enum task_result merge(struct actor *actor);

/* ---- the lists: inputs of the merge, its output, a ring of runs ---- */

static struct spill_list *output_of(struct actor *actor)
{
    return &actor->tempdb->lists[actor->op.spill.ways];
}

static struct spill_list *run_at(struct actor *actor, unsigned index)
{
    struct tempdb_work *work = actor->tempdb;
    unsigned before = actor->op.spill.ways + 1, ring = work->list_count - before;
    return &work->lists[before + (work->sort.first + index) % ring];
}

static void run_finish(struct actor *actor)
{
    struct spill_list *output = output_of(actor);
    *run_at(actor, actor->tempdb->sort.runs++) = *output;
    *output = (struct spill_list){0};
}

static struct spill_list run_take(struct actor *actor)
{
    struct tempdb_sort *sort = &actor->tempdb->sort;
    struct spill_list *place = run_at(actor, 0), run = *place;
    *place = (struct spill_list){0};
    unsigned ring = actor->tempdb->list_count - actor->op.spill.ways - 1;
    sort->first = (sort->first + 1) % ring;
    sort->runs--;
    return run;
}

/* ---- runs ---- */

static uint32_t least(uint64_t a, uint32_t b)
{
    return a < b ? (uint32_t)a : b;
}

/* False: tempdb is full. */
static bool write_run(struct actor *actor)
{
    struct tempdb_work *work = actor->tempdb;
    struct tempdb_sort *sort = &work->sort;
    while (sort->to_write && spill_can_append(work->spill)) {
        uint32_t wanted = least(sort->to_write, sort->run_left);
        uint32_t pages = spill_append(work->spill, output_of(actor), wanted);
        if (pages == 0)
            return false;
        sort->to_write -= pages;
        sort->run_left -= pages;
        if (sort->run_left && sort->to_write)
            continue;
        run_finish(actor);
        sort->run_left = actor->op.spill.run_pages;
    }
    return true;
}

static enum task_result make_runs(struct actor *actor)
{
    struct tempdb_work *work = actor->tempdb;
    actor->execute = make_runs;
    spill_work(work->spill);
    if (tempdb_work_is_cut(actor))
        return tempdb_work_drain(actor);
    if (!write_run(actor))
        return tempdb_work_full(actor, make_runs, tempdb_work_drain);
    if (work->sort.to_write || !spill_is_idle(work->spill))
        return TASK_PARK;
    return actor_go(actor, merge_begin);
}

/* ---- merges ---- */

static enum task_result merge_begin(struct actor *actor)
{
    struct tempdb_sort *sort = &actor->tempdb->sort;
    unsigned ways = least(sort->runs, actor->op.spill.ways);
    if (ways == 0) {
        relaxed_add(&actor->task.worker->stats.counters.tempdb_sorts, 1);
        return tempdb_work_drain(actor);
    }
    sort->is_final = ways == sort->runs;
    sort->credit = 0;
    actor->tempdb->spill->read_pages = 0;
    for (unsigned i = 0; i < ways; i++)
        actor->tempdb->lists[i] = run_take(actor);
    return actor_go(actor, merge);
}

/* An input that has something left, at random; NULL: none has. */
static struct spill_list *input_draw(struct actor *actor)
{
    struct tempdb_work *work = actor->tempdb;
    unsigned ways = actor->op.spill.ways;
    unsigned first = (unsigned)rng_below(&work->rng, ways);
    for (unsigned i = 0; i < ways; i++) {
        struct spill_list *input = &work->lists[(first + i) % ways];
        if (input->head)
            return input;
    }
    return NULL;
}

static bool inputs_are_empty(struct actor *actor)
{
    for (unsigned i = 0; i < actor->op.spill.ways; i++)
        if (actor->tempdb->lists[i].head)
            return false;
    return true;
}

/* False: tempdb is full. */
static bool write_merged(struct actor *actor)
{
    struct tempdb_work *work = actor->tempdb;
    struct tempdb_sort *sort = &work->sort;
    uint32_t chunk = work->spill->chunk_pages;
    while (sort->credit && spill_can_append(work->spill)) {
        bool last = inputs_are_empty(actor) && work->spill->busy == 0;
        if (sort->credit < chunk && !last)
            return true;
        uint32_t pages = spill_append(work->spill, output_of(actor), least(sort->credit, chunk));
        if (pages == 0)
            return false;
        sort->credit -= pages;
    }
    return true;
}

static void read_inputs(struct actor *actor)
{
    struct tempdb_work *work = actor->tempdb;
    struct spill *spill = work->spill;
    uint64_t held_max = (uint64_t)spill->slot_count * spill->chunk_pages;
    while (spill_can_fetch(spill) && work->sort.credit < held_max) {
        struct spill_list *input = input_draw(actor);
        if (!input)
            return;
        spill_fetch(spill, input);
    }
}

static enum task_result merge(struct actor *actor)
{
    struct tempdb_work *work = actor->tempdb;
    struct tempdb_sort *sort = &work->sort;
    actor->execute = merge;
    spill_work(work->spill);
    sort->credit += sort->is_final ? 0 : work->spill->read_pages;
    work->spill->read_pages = 0;
    if (tempdb_work_is_cut(actor))
        return tempdb_work_drain(actor);
    if (!write_merged(actor))
        return tempdb_work_full(actor, merge, tempdb_work_drain);
    read_inputs(actor);
    if (!inputs_are_empty(actor) || sort->credit || !spill_is_idle(work->spill))
        return TASK_PARK;
    relaxed_add(&actor->task.worker->stats.counters.tempdb_merges, 1);
    if (!sort->is_final)
        run_finish(actor);
    return actor_go(actor, merge_begin);
}

enum task_result tempdb_sort_begin(struct actor *actor)
{
    const struct op_spill *op = &actor->op.spill;
    struct tempdb_work *work = actor->tempdb;
    assert(work && work->spill && work->list_count > op->ways + 1);
    work->spill->read_stream = STREAM_sort_read;
    work->spill->write_stream = STREAM_sort_write;
    work->sort = (struct tempdb_sort){.to_write = op->pages, .run_left = op->run_pages};
    return tempdb_work_begin(actor, make_runs);
}
