/* database_checkpoint.c - see database_checkpoint.h. */
#include "sim/database_checkpoint.h"

#include <assert.h>

#include "sim/database.h"

const char *checkpoint_kind_name(enum checkpoint_kind kind)
{
    static const char *const names[CHECKPOINT_KINDS] = {"automatic", "indirect", "manual",
                                                        "shutdown"};
    assert(kind < CHECKPOINT_KINDS);
    return names[kind];
}

void checkpoint_desk_init(struct checkpoint_desk *desk)
{
    *desk = (struct checkpoint_desk){.service = NULL};
    pthread_mutex_init(&desk->lock, NULL);
}

void checkpoint_desk_free(struct checkpoint_desk *desk)
{
    pthread_mutex_destroy(&desk->lock);
}

bool checkpoint_is_asked(const struct checkpoint_desk *desk)
{
    struct checkpoint_desk *d = (struct checkpoint_desk *)(uintptr_t)desk;
    return atomic_load(&d->served) < atomic_load(&d->asked);
}

uint64_t checkpoint_ask(struct database *database)
{
    struct checkpoint_desk *desk = &database->desk;
    pthread_mutex_lock(&desk->lock);
    uint64_t ticket = atomic_fetch_add(&desk->asked, 1) + 1;
    if (desk->service)
        task_wake(desk->service);
    pthread_mutex_unlock(&desk->lock);
    return ticket;
}

enum checkpoint_answer checkpoint_wait(struct database *database, uint64_t ticket,
                                       struct task *task)
{
    struct checkpoint_desk *desk = &database->desk;
    enum checkpoint_answer answer = CHECKPOINT_PENDING;
    pthread_mutex_lock(&desk->lock);
    assert(ticket <= atomic_load(&desk->asked));
    if (atomic_load(&desk->served) >= ticket)
        answer = CHECKPOINT_SERVED;
    else if (wal_failed(&database->wal))
        answer = CHECKPOINT_FAILED;
    else
        wait_list_add(&desk->waiters, task);
    if (answer != CHECKPOINT_PENDING)
        wait_list_remove(&desk->waiters, task); /* it may have been woken by something else */
    assert(answer != CHECKPOINT_PENDING || desk->service); /* else nobody would ever answer */
    pthread_mutex_unlock(&desk->lock);
    return answer;
}

void checkpoint_wait_forget(struct database *database, struct task *task)
{
    struct checkpoint_desk *desk = &database->desk;
    pthread_mutex_lock(&desk->lock);
    wait_list_remove(&desk->waiters, task);
    pthread_mutex_unlock(&desk->lock);
}

void checkpoint_desk_serve(struct checkpoint_desk *desk, struct task *service)
{
    pthread_mutex_lock(&desk->lock);
    desk->service = service;
    pthread_mutex_unlock(&desk->lock);
}

uint64_t checkpoint_desk_begin(struct checkpoint_desk *desk)
{
    return atomic_load(&desk->asked);
}

void checkpoint_desk_end(struct checkpoint_desk *desk, uint64_t ticket)
{
    pthread_mutex_lock(&desk->lock);
    if (atomic_load(&desk->served) < ticket)
        atomic_store(&desk->served, ticket);
    wait_list_wake_all(&desk->waiters);
    pthread_mutex_unlock(&desk->lock);
}

void checkpoint_desk_wake(struct checkpoint_desk *desk)
{
    pthread_mutex_lock(&desk->lock);
    wait_list_wake_all(&desk->waiters);
    pthread_mutex_unlock(&desk->lock);
}
