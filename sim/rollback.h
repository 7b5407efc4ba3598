/*
 * rollback.h - undoing what a transaction has changed, with compensation records.
 *
 * The changes are undone newest first.  Each undo is a change as any: a log record, a new
 * generation of the page.  Its log space was reserved with the change, so a rollback never waits
 * for space nor makes the log grow.  What to undo stands in the log: a record that has left the log
 * buffers is read back, its block verified, and compared with what the transaction did.
 *
 * Ownership: the actor's.  Threads: its worker.
 */
#ifndef SIM_ROLLBACK_H
#define SIM_ROLLBACK_H

#include <stdint.h>

#include "sim/worker.h"
#include "verify/lsn.h"

struct actor;
struct rollback;

/* pages_max: most pages of one transaction. */
struct rollback *rollback_create(struct actor *actor, int64_t pages_max);
void rollback_free(struct rollback *rollback); /* NULL is fine */
/* A transaction begins: nothing is changed yet. */
void rollback_forget(struct rollback *rollback, unsigned pages_count);
/* The page at index of the op was changed by the record at lsn, to generation. */
void rollback_note(struct rollback *rollback, unsigned index, struct lsn lsn, uint64_t generation);
/* Undo the newest change that is left: the transaction's index is its page, and it goes on in
 * transaction_page(); when none is left, in transaction_over(). */
enum task_result rollback_next(struct actor *actor);

#endif
