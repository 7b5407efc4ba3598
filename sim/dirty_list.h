/*
 * dirty_list.h - the dirty pages of one database in the order in which they became dirty.
 *
 * SQL Server's dirty page list, which its indirect checkpoints work from instead of a sweep over
 * the whole pool.  A frame is in the list from the moment it becomes dirty, or is claimed to be
 * overwritten, until its write begins; a failed write puts it back where it was.  So the first one
 * is always the oldest page that nobody is writing.
 *
 * A limit, set by dirty_list_limit, divides what became dirty before from what comes after it:
 * dirty_list_is_past says when nothing from before is left, neither in the list nor being written.
 *
 * Invariant: serials rise from first to last.  The pool calls enter, write_begins, write_ended and
 * leave under the frame's partition lock; the list's own lock is a leaf below it.
 */
#ifndef SIM_DIRTY_LIST_H
#define SIM_DIRTY_LIST_H

#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

struct frame;
struct task;

/* A frame's place, part of it. */
struct dirty_place {
    struct frame *previous, *next;
    uint64_t serial; /* 0: never was in a list */
    bool listed;
};

struct dirty_list {
    pthread_mutex_t lock;
    struct frame *first, *last;
    _Atomic uint64_t count;   /* in the list */
    _Atomic uint64_t entered; /* ever: pages that became dirty */
    uint64_t limit;           /* the serial of the next one when it was set */
    uint64_t writing;         /* left the list to be written, and not yet ended */
    uint64_t writing_old;     /* of those from before the limit */
    struct task *waiter;      /* called when writing_old comes down to 0 */
};

void dirty_list_init(struct dirty_list *list);
void dirty_list_free(struct dirty_list *list);

static inline uint64_t dirty_list_count(const struct dirty_list *list)
{
    return atomic_load_explicit(&((struct dirty_list *)(uintptr_t)list)->count,
                                memory_order_relaxed);
}
static inline uint64_t dirty_list_entered(const struct dirty_list *list)
{
    return atomic_load_explicit(&((struct dirty_list *)(uintptr_t)list)->entered,
                                memory_order_relaxed);
}

/* All that is in the list or being written now is from before the limit.  waiter: the task that
 * will ask dirty_list_is_past. */
void dirty_list_limit(struct dirty_list *list, struct task *waiter);
/* The page of the oldest frame from before the limit; false if there is none in the list. */
bool dirty_list_oldest(struct dirty_list *list, uint64_t *key);
/* Is all from before the limit written?  If not, and none of it is in the list, the waiter is woken
 * at the end of the writes. */
bool dirty_list_is_past(struct dirty_list *list);

/* ---- for the pool ---- */

void dirty_list_enter(struct dirty_list *list, struct frame *frame);
void dirty_list_leave(struct dirty_list *list, struct frame *frame);
void dirty_list_write_begins(struct dirty_list *list, struct frame *frame);
/* again: the write failed and the frame is dirty as before. */
void dirty_list_write_ended(struct dirty_list *list, struct frame *frame, bool again);

#endif
