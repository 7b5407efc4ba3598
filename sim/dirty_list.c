/* dirty_list.c - see dirty_list.h. */
#include "sim/dirty_list.h"

#include <assert.h>

#include "sim/pool.h"

void dirty_list_init(struct dirty_list *list)
{
    *list = (struct dirty_list){.limit = 1};
    pthread_mutex_init(&list->lock, NULL);
}

void dirty_list_free(struct dirty_list *list)
{
    pthread_mutex_destroy(&list->lock);
}

/* ---- links ---- */

static void link_before(struct dirty_list *list, struct frame *frame, struct frame *next)
{
    struct dirty_place *place = &frame->dirty;
    assert(!place->listed);
    place->next = next;
    place->previous = next ? next->dirty.previous : list->last;
    *(place->previous ? &place->previous->dirty.next : &list->first) = frame;
    *(next ? &next->dirty.previous : &list->last) = frame;
    place->listed = true;
    atomic_fetch_add_explicit(&list->count, 1, memory_order_relaxed);
}

static void unlink_frame(struct dirty_list *list, struct frame *frame)
{
    struct dirty_place *place = &frame->dirty;
    assert(place->listed);
    *(place->previous ? &place->previous->dirty.next : &list->first) = place->next;
    *(place->next ? &place->next->dirty.previous : &list->last) = place->previous;
    place->previous = place->next = NULL;
    place->listed = false;
    atomic_fetch_sub_explicit(&list->count, 1, memory_order_relaxed);
}

/* ---- the pool's part ---- */

void dirty_list_enter(struct dirty_list *list, struct frame *frame)
{
    pthread_mutex_lock(&list->lock);
    frame->dirty.serial = atomic_fetch_add(&list->entered, 1) + 1;
    link_before(list, frame, NULL);
    pthread_mutex_unlock(&list->lock);
}

void dirty_list_leave(struct dirty_list *list, struct frame *frame)
{
    pthread_mutex_lock(&list->lock);
    unlink_frame(list, frame);
    pthread_mutex_unlock(&list->lock);
}

void dirty_list_write_begins(struct dirty_list *list, struct frame *frame)
{
    pthread_mutex_lock(&list->lock);
    unlink_frame(list, frame);
    list->writing++;
    list->writing_old += frame->dirty.serial < list->limit;
    pthread_mutex_unlock(&list->lock);
}

/* The frames that a failed write gives back are among the oldest: few steps. */
static void link_by_serial(struct dirty_list *list, struct frame *frame)
{
    struct frame *next = list->first;
    while (next && next->dirty.serial < frame->dirty.serial)
        next = next->dirty.next;
    link_before(list, frame, next);
}

void dirty_list_write_ended(struct dirty_list *list, struct frame *frame, bool again)
{
    pthread_mutex_lock(&list->lock);
    assert(list->writing > 0);
    list->writing--;
    if (again)
        link_by_serial(list, frame);
    if (frame->dirty.serial < list->limit) {
        assert(list->writing_old > 0);
        if (--list->writing_old == 0 && list->waiter)
            task_wake(list->waiter);
    }
    pthread_mutex_unlock(&list->lock);
}

/* ---- the checkpoint's part ---- */

void dirty_list_limit(struct dirty_list *list, struct task *waiter)
{
    pthread_mutex_lock(&list->lock);
    list->limit = atomic_load(&list->entered) + 1;
    list->writing_old = list->writing;
    list->waiter = waiter;
    pthread_mutex_unlock(&list->lock);
}

bool dirty_list_oldest(struct dirty_list *list, uint64_t *key)
{
    pthread_mutex_lock(&list->lock);
    struct frame *first = list->first;
    bool old = first && first->dirty.serial < list->limit;
    if (old)
        *key = atomic_load(&first->key);
    pthread_mutex_unlock(&list->lock);
    return old;
}

bool dirty_list_is_past(struct dirty_list *list)
{
    pthread_mutex_lock(&list->lock);
    bool past =
        list->writing_old == 0 && (!list->first || list->first->dirty.serial >= list->limit);
    pthread_mutex_unlock(&list->lock);
    return past;
}
