/*
 * sparse_extents.h - the extents of a sparse file that an op is about to change are allocated
 * first.
 *
 * A sparse file begins with its system pages alone.  Who changes a page of an extent that is not
 * allocated loads the whole extent (bulk_update.c): each page is formatted as its first generation
 * without a read, logged, and written; then PFS, GAM, DIFF, ML and IAM follow, in a transaction of
 * its own, as SQL Server allocates.  After that the op itself begins, and finds pages like others.
 * Extents with system pages keep their other pages as holes.
 *
 * Log space for an allocation is waited for before the op reserves its own, so nobody waits for log
 * while holding some.  The extents that another user is allocating at this moment are left to it:
 * the op leaves their pages out, as it does with those in doubt.
 *
 * Ownership: the actor's.  Threads: its worker.
 */
#ifndef SIM_SPARSE_EXTENTS_H
#define SIM_SPARSE_EXTENTS_H

#include <stdbool.h>
#include <stdint.h>

#include "sim/worker.h"

struct actor;
struct run;

struct sparse_extents {
    uint32_t next;   /* OP_UPDATE: index into its pages; OP_BULK: extent */
    uint32_t loaded; /* extents */
};

/* Has the run files whose extents come so? */
bool sparse_extents_needed(const struct run *run);
/* May the actor's op need them? */
bool sparse_extents_wanted(const struct actor *actor);
/* Inside the op's use of its file: allocate, then do the op. */
enum task_result sparse_extents_begin(struct actor *actor);

#endif
