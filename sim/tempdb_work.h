/*
 * tempdb_work.h - what the executors of sorts and hash joins share: the object's lists, the
 * clearing of what earlier users left, and the end of an operation.
 *
 *   CLEAR -> (the executor's own steps) -> DRAIN -> done
 *
 * An operation that the end of a phase cuts short leaves its chunks (tempdb_space.h); so does one
 * that failed.  One that finds tempdb full lets what is under way end and grows tempdb's files
 * (grow.h), as SQL Server's sessions do, or waits until another has; where nothing came of it, it
 * is given up and rests for a moment.
 *
 * Ownership and threads: an actor's.
 */
#ifndef SIM_TEMPDB_WORK_H
#define SIM_TEMPDB_WORK_H

#include "patterns/rng.h"
#include "sim/actor.h"
#include "sim/grow.h"
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

/* tempdb_store.c */
#define TEMPDB_STORE_SPARE 64 /* stretches beyond what is kept: under way, and left by others */
struct tempdb_store {
    struct tempdb_stretch *ring; /* an extent each at most, oldest first */
    unsigned capacity, first, count;
    uint64_t pages;
    struct tempdb_change change;
    uint32_t appended, reads; /* pages of the present op */
    uint32_t index;           /* page of the stretch that is being made */
    uint32_t discarded;       /* pages of the oldest stretch */
    bool drawn;               /* reading is the page to be read */
    struct tempdb_stretch reading;
    uint32_t reading_index;
    struct frame *frame;
};

struct tempdb_work {
    struct spill *spill;
    struct spill_list *lists; /* all chunks of the object are in one of these */
    unsigned list_count;
    struct rng rng;        /* which run delivers next, which partition a row belongs to */
    executor_step cleared; /* goes on after CLEAR */
    uint64_t rest_until_ns;
    uint32_t discarded;    /* CLEAR: pages of the stretch that is taken up */
    struct growth growth;  /* of tempdb's files */
    uint8_t *zeros;        /* the growth's; NULL: the files have one size for ever */
    executor_step roomy;   /* goes on when tempdb is no longer full */
    executor_step cramped; /* goes on when it is as large as it can be */
    struct tempdb_store store;
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
/* Free the frames of the stretch's pages, from *index on, unwritten; false: one is in use, and the
 * task is woken. */
bool tempdb_work_discard(struct actor *actor, const struct tempdb_stretch *at, uint32_t *index);
struct wal *tempdb_work_wal(const struct actor *actor);
/* The actor has ended: what lives is left. */
void tempdb_work_finish(struct actor *actor);
void tempdb_store_leave(struct actor *actor);
/* The phase or the run ends, or the spill failed: no more is begun. */
bool tempdb_work_is_cut(const struct actor *actor);
/* tempdb is full.  Grow it and go on with `roomy`; else with `cramped`.  Of a spill nothing but
 * what is under way goes on meanwhile. */
enum task_result tempdb_work_full(struct actor *actor, executor_step roomy, executor_step cramped);
/* Let what is under way end; then the operation is done. */
enum task_result tempdb_work_drain(struct actor *actor);

#endif
