/*
 * tempdb_hash.c - OP_HASH: a hash join whose input does not fit in its memory.
 *
 *   BUILD (rows go to partitions, each appended to by whole chunks) -> PROBE (partition after
 * partition is read back and freed) -> done
 *
 * Which partition fills a chunk next is random, as hashes are.  What it does not do: recurse, which
 * writes and reads the same way once more.
 *
 * Source: reference "SQL Server storage I/O", section 1 (hash spill).
 */
#include <assert.h>

#include "sim/tempdb_work.h"

static enum task_result build(struct actor *actor);
static enum task_result probe(struct actor *actor);

/* False: tempdb is full. */
static bool write_partitions(struct actor *actor)
{
    struct tempdb_work *work = actor->tempdb;
    struct tempdb_hash *hash = &work->hash;
    while (hash->to_write && spill_can_append(work->spill)) {
        uint64_t partition = rng_below(&work->rng, actor->op.spill.ways);
        uint32_t wanted = hash->to_write < work->spill->chunk_pages ? (uint32_t)hash->to_write
                                                                    : work->spill->chunk_pages;
        uint32_t pages = spill_append(work->spill, &work->lists[partition], wanted);
        if (pages == 0)
            return false;
        hash->to_write -= pages;
    }
    return true;
}

static enum task_result build(struct actor *actor)
{
    struct tempdb_work *work = actor->tempdb;
    actor->execute = build;
    spill_work(work->spill);
    if (tempdb_work_is_cut(actor))
        return tempdb_work_drain(actor);
    if (!write_partitions(actor))
        return tempdb_work_full(actor, build, tempdb_work_drain);
    if (work->hash.to_write || !spill_is_idle(work->spill))
        return TASK_PARK;
    return actor_go(actor, probe);
}

static enum task_result probe(struct actor *actor)
{
    struct tempdb_work *work = actor->tempdb;
    struct tempdb_hash *hash = &work->hash;
    unsigned partitions = actor->op.spill.ways;
    actor->execute = probe;
    spill_work(work->spill);
    if (tempdb_work_is_cut(actor))
        return tempdb_work_drain(actor);
    while (spill_can_fetch(work->spill) && hash->partition < partitions) {
        if (work->lists[hash->partition].head)
            spill_fetch(work->spill, &work->lists[hash->partition]);
        else
            hash->partition++;
    }
    if (hash->partition < partitions || !spill_is_idle(work->spill))
        return TASK_PARK;
    relaxed_add(&actor->task.worker->stats.counters.tempdb_hashes, 1);
    return tempdb_work_drain(actor);
}

enum task_result tempdb_hash_begin(struct actor *actor)
{
    struct tempdb_work *work = actor->tempdb;
    assert(work && work->spill && work->list_count >= actor->op.spill.ways);
    work->spill->read_stream = STREAM_tempdb_read;
    work->spill->write_stream = STREAM_tempdb_write;
    work->hash = (struct tempdb_hash){.to_write = actor->op.spill.pages};
    return tempdb_work_begin(actor, build);
}
