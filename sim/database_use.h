/*
 * database_use.h - living with data files whose size changes: who uses a file, who may change it.
 *
 * The rule for everybody who names pages of a data file (executors, rewrites, backups, snapshots):
 *   1. file_use_begin(), then look at file.size_pages and stay below it; file_use_end() when no
 *      request of yours is under way and you hold no frame of it.  actor.c does both for every op
 *      that names a file, so an executor has only to clip after its begin.
 *   2. Who meets pages as frames of the pool (checkpoint, lazy writer) needs no use: a frame that
 *      is being written or read is waited for.
 *   3. Sizes are not kept from one use to the next.
 *   4. Who must not see a file shrink for longer than a use (a full backup, a snapshot) calls
 *      shrink_forbid(); a shrink is refused meanwhile, as SQL Server does.
 *
 * A shrink lowers file.size_pages first, then file_use_turn() begins a new epoch; when the old one
 * has no users left (file_use_drained) nobody can name a page beyond the new end, and nothing
 * waited for more than one op.  A growth raises file.size_pages last, when everything stands for
 * which the pages need (space, system pages, ledger, page 0).
 *
 * Users may wait for log, frames and I/O inside a use; so a drainer must not hold any of them.
 * A user must not wait for a change of size inside a use (it would wait for itself).
 *
 * Threads: any.  No allocation, no lock in a use.
 */
#ifndef SIM_DATABASE_USE_H
#define SIM_DATABASE_USE_H

#include "sim/database.h"

struct file_use {
    struct data_file *file; /* NULL: none */
    unsigned epoch;
};

/* One file at a time. */
void file_use_begin(struct file_use *use, struct data_file *file);
/* No effect when there is no use. */
void file_use_end(struct file_use *use);

/* ---- for who changes a size ---- */

/* Begin a new epoch; the number of the old one.  task is woken when that is empty.  Only with the
 * right to change sizes (below), after the last old epoch was drained. */
unsigned file_use_turn(struct data_file *file, struct task *task);
/* True: nobody uses the file since before that turn, and the task is forgotten. */
bool file_use_drained(struct data_file *file, unsigned epoch);

void size_rights_init(struct size_rights *rights);
void size_rights_free(struct size_rights *rights);

enum size_right {
    SIZE_RIGHT_YOURS,   /* until size_right_end */
    SIZE_RIGHT_WAIT,    /* another changes a size: the task waits for its end */
    SIZE_RIGHT_REFUSED, /* shrinking is forbidden at present */
};
/* One change of size at a time in a database. */
enum size_right size_right_begin(struct database *database, bool shrink, struct task *task);
void size_right_end(struct database *database);

/* ---- for who must not see a file shrink ---- */

/* False: one is shrinking now, and the task waits for its end. */
bool shrink_forbid(struct database *database, struct task *task)
    __attribute__((warn_unused_result));
void shrink_allow(struct database *database);

#endif
