/* share_gate.c - see share_gate.h. */
#include "sim/share_gate.h"

#include <assert.h>
#include <stdlib.h>

struct share_gate *share_gate_create(void)
{
    struct share_gate *gate = calloc(1, sizeof *gate);
    if (gate)
        pthread_mutex_init(&gate->lock, NULL);
    return gate;
}

void share_gate_free(struct share_gate *gate)
{
    if (!gate)
        return;
    pthread_mutex_destroy(&gate->lock);
    free(gate);
}

bool share_join(struct share_gate *gate, const void *key, uint64_t weight, struct share_user *out)
{
    unsigned i = 0;
    while (i < gate->count && gate->kinds[i].key != key)
        i++;
    if (i == SHARE_KINDS_MAX)
        return false;
    if (i == gate->count)
        gate->kinds[gate->count++] = (struct share_kind){.key = key, .weight = weight};
    gate->kinds[i].users++;
    *out = (struct share_user){.gate = gate, .kind = i};
    return true;
}

/* ---- under the lock ---- */

/* issued / all <= weight / weights + slack, without division */
static bool is_within(const struct share_gate *gate, const struct share_kind *kind)
{
    uint64_t all = 0, weights = 0;
    for (unsigned i = 0; i < gate->count; i++) {
        if (gate->kinds[i].users == 0)
            continue;
        all += gate->kinds[i].issued;
        weights += gate->kinds[i].weight;
    }
    return (unsigned __int128)kind->issued * weights <=
           (unsigned __int128)kind->weight * all + (unsigned __int128)SHARE_SLACK * weights;
}

static void wake_those_that_may(struct share_gate *gate)
{
    for (unsigned i = 0; i < gate->count; i++)
        if (gate->kinds[i].waiting.head && is_within(gate, &gate->kinds[i]))
            wait_list_wake_all(&gate->kinds[i].waiting);
}

/* ---- the users ---- */

bool share_may_begin(struct share_user *user, struct task *task)
{
    struct share_gate *gate = user->gate;
    if (!gate)
        return true;
    struct share_kind *kind = &gate->kinds[user->kind];
    pthread_mutex_lock(&gate->lock);
    bool may = is_within(gate, kind);
    if (may)
        wait_list_remove(&kind->waiting, task);
    else
        wait_list_add(&kind->waiting, task);
    pthread_mutex_unlock(&gate->lock);
    return may;
}

bool share_is_waiting(const struct share_user *user, const struct task *task)
{
    return user->gate && atomic_load(&((struct task *)(uintptr_t)task)->wait_list) ==
                             &user->gate->kinds[user->kind].waiting;
}

void share_forget(struct share_user *user, struct task *task)
{
    struct share_gate *gate = user->gate;
    if (!gate)
        return;
    pthread_mutex_lock(&gate->lock);
    wait_list_remove(&gate->kinds[user->kind].waiting, task);
    pthread_mutex_unlock(&gate->lock);
}

void share_issued(struct share_user *user, uint64_t requests)
{
    struct share_gate *gate = user->gate;
    if (!gate || requests == 0)
        return;
    pthread_mutex_lock(&gate->lock);
    gate->kinds[user->kind].issued += requests;
    wake_those_that_may(gate);
    pthread_mutex_unlock(&gate->lock);
}

/* Those left begin anew: what is past was shared with who is gone. */
void share_leave(struct share_user *user)
{
    struct share_gate *gate = user->gate;
    if (!gate)
        return;
    pthread_mutex_lock(&gate->lock);
    assert(gate->kinds[user->kind].users > 0);
    if (--gate->kinds[user->kind].users == 0)
        for (unsigned i = 0; i < gate->count; i++)
            gate->kinds[i].issued = 0;
    wake_those_that_may(gate);
    pthread_mutex_unlock(&gate->lock);
    user->gate = NULL;
}
