/*
 * tempdb_work.h - what the executors of sorts and hash joins share: the object's lists, the
 * clearing of what earlier users left, and the end of an operation.
 *
 *   CLEAR -> (the executor's own steps) -> DRAIN -> done
 *
 * An operation that the end of a phase cuts short leaves its chunks (tempdb_space.h); so does one
 * that failed.  One for which tempdb has no room is given up and rests for a moment.
 *
 * Ownership and threads: an actor's.
 */
#ifndef SIM_TEMPDB_WORK_H
#define SIM_TEMPDB_WORK_H

#include "patterns/rng.h"
#include "sim/actor.h"
#include "sim/tempdb_spill.h"

/* tempdb_sort.c */
struct tempdb_sort {
    uint64_t to_write; /* pages that are in no run yet */
    uint32_t run_left; /* of the run that is being written */
    unsigned first, runs;
    bool is_final;   /* merge: the result goes to the query, not back to tempdb */
    uint64_t credit; /* pages merged and not yet written */
};

/* tempdb_hash.c */
struct tempdb_hash {
    uint64_t to_write;
    unsigned partition; /* that is being read back */
};

struct tempdb_work {
    struct spill *spill;
    struct spill_list *lists; /* all chunks of the object are in one of these */
    unsigned list_count;
    struct rng rng;        /* which run delivers next, which partition a row belongs to */
    executor_step cleared; /* goes on after CLEAR */
    uint64_t rest_until_ns;
    union {
        struct tempdb_sort sort;
        struct tempdb_hash hash;
    };
};

/* For the largest op of the actor's pattern. */
int tempdb_work_create(struct actor *actor) __attribute__((warn_unused_result));
void tempdb_work_free(struct tempdb_work *work);

/* Free what earlier users left, then go on. */
enum task_result tempdb_work_begin(struct actor *actor, executor_step then);
/* The phase or the run ends, or the spill failed: no more is begun. */
bool tempdb_work_is_cut(const struct actor *actor);
/* Let what is under way end; then the operation is done. */
enum task_result tempdb_work_drain(struct actor *actor);

#endif
