/*
 * share_gate.h - held shares in a closed loop: of all requests of the kinds of users that have a
 * share, each kind issues its part, however fast the storage serves the one or the other.
 *
 * A kind may begin while it has issued no more than its part of all requests so far and a few
 * (SHARE_SLACK); else its users wait until the others have issued more.  The kind that is furthest
 * behind may always begin, so somebody always goes on.  A kind whose last user has ended is left
 * out: the others share among themselves.
 *
 * Counted is what is issued, which the users tell after each turn; so a kind may run ahead by what
 * its users issue in one turn each.
 *
 * Threads: any.  Lock: its own, a leaf but for the wake-ups.  No allocation but in the making.
 */
#ifndef SIM_SHARE_GATE_H
#define SIM_SHARE_GATE_H

#include "sim/worker.h"

#define SHARE_KINDS_MAX 16
#define SHARE_SLACK     8 /* requests: one scan's depth */

struct share_kind {
    const void *key; /* who: compared only */
    uint64_t weight; /* > 0 */
    uint64_t issued; /* while it was at work; under the lock */
    unsigned users;  /* at work */
    struct wait_list waiting;
};

struct share_gate {
    pthread_mutex_t lock;
    struct share_kind kinds[SHARE_KINDS_MAX];
    unsigned count;
};

/* What a user has of it; gate NULL: no share, may always begin. */
struct share_user {
    struct share_gate *gate;
    unsigned kind;
};

struct share_gate *share_gate_create(void);
void share_gate_free(struct share_gate *gate);
/* One more user of this kind.  False: too many kinds. */
bool share_join(struct share_gate *gate, const void *key, uint64_t weight, struct share_user *out)
    __attribute__((warn_unused_result));
/* False: the task stands in line and is woken. */
bool share_may_begin(struct share_user *user, struct task *task);
/* Does it stand in that line? */
bool share_is_waiting(const struct share_user *user, const struct task *task);
/* It waits no more, for whatever reason. */
void share_forget(struct share_user *user, struct task *task);
void share_issued(struct share_user *user, uint64_t requests);
/* The user has ended.  May be repeated. */
void share_leave(struct share_user *user);

#endif
