/*
 * io_gate.c - see io_gate.h.
 *
 * Invariants: a request in the line holds neither a place of its file nor one of the process; when
 * nobody holds the lock, no request waits that both bounds would let through.  For that, who joins
 * the line counts itself before it tries once more, and who leaves looks at that count after it has
 * given its places back.
 */
#include "sim/io_gate.h"

#include <assert.h>

#include "sim/io.h"

void io_gate_init(struct io_gate *gate, uint32_t outstanding_max)
{
    *gate = (struct io_gate){.outstanding_max = outstanding_max};
    pthread_mutex_init(&gate->lock, NULL);
    gate->last = &gate->first;
}

void io_gate_destroy(struct io_gate *gate)
{
    if (gate->last)
        pthread_mutex_destroy(&gate->lock);
    *gate = (struct io_gate){0};
}

void io_gate_join(struct io_gate *gate, struct io *io, bool waits)
{
    io->gate = gate;
    io->waits = waits;
    gate->depth_sum += io->engine->depth;
    gate->counting = gate->depth_sum > gate->outstanding_max;
}

/* ---- places ---- */

static bool process_enter(struct io_gate *gate, bool limited)
{
    if (!gate->counting)
        return true;
    uint32_t now = atomic_load(&gate->outstanding);
    do {
        if (limited && now >= gate->outstanding_max)
            return false;
    } while (!atomic_compare_exchange_weak(&gate->outstanding, &now, now + 1));
    return true;
}

static void process_leave(struct io_gate *gate)
{
    if (gate->counting)
        atomic_fetch_sub(&gate->outstanding, 1);
}

/* Both places or none. */
static bool places_take(struct io_gate *gate, struct io_req *req, bool limited)
{
    bool throttling = limited && io_gate_is_throttling(gate);
    if (!process_enter(gate, limited))
        return false;
    if (io_account_enter(&req->target->account, throttling))
        return true;
    process_leave(gate);
    return false;
}

/* ---- the line ---- */

static void line_join(struct io_gate *gate, struct io_req *req)
{
    req->next = NULL;
    *gate->last = req;
    gate->last = &req->next;
    atomic_fetch_add(&req->target->account.waiting, 1);
}

static void grant(struct io *owner, struct io_req *req)
{
    req->next = NULL;
    if (owner->granted_tail)
        owner->granted_tail->next = req;
    else
        owner->granted_head = req;
    owner->granted_tail = req;
    atomic_fetch_add(&owner->granted, 1);
}

/* Let through whoever can go, in order.  The caller's own worker needs no wake. */
static void line_advance(struct io_gate *gate, const struct io *caller)
{
    pthread_mutex_lock(&gate->lock);
    struct io_req **link = &gate->first;
    while (*link) {
        struct io_req *req = *link;
        if (!places_take(gate, req, true)) {
            if (gate->counting && atomic_load(&gate->outstanding) >= gate->outstanding_max)
                break;
            link = &req->next;
            continue;
        }
        *link = req->next;
        if (gate->last == &req->next)
            gate->last = link;
        atomic_fetch_sub(&req->target->account.waiting, 1);
        atomic_fetch_sub(&gate->waiting, 1);
        grant(req->owner, req);
        if (req->owner != caller)
            io_wake(req->owner);
    }
    pthread_mutex_unlock(&gate->lock);
}

/* Throttled: the file's limit was the reason, not the process's. */
static void count_throttled(struct io_gate *gate, struct io_account *account)
{
    if (io_gate_is_throttling(gate) && io_account_is_lowered(account) &&
        atomic_load(&account->outstanding) >= atomic_load(&account->limit))
        atomic_fetch_add_explicit(&account->throttled, 1, memory_order_relaxed);
}

static bool enter_or_wait(struct io_gate *gate, struct io_req *req)
{
    struct io_account *account = &req->target->account;
    pthread_mutex_lock(&gate->lock);
    atomic_fetch_add(&gate->waiting, 1);
    /* behind those of its file who came first */
    bool entered = atomic_load(&account->waiting) == 0 && places_take(gate, req, true);
    if (entered) {
        atomic_fetch_sub(&gate->waiting, 1);
    } else {
        count_throttled(gate, account);
        line_join(gate, req);
    }
    pthread_mutex_unlock(&gate->lock);
    return entered;
}

bool io_gate_enter(struct io *io, struct io_req *req)
{
    struct io_gate *gate = io->gate;
    struct io_account *account = &req->target->account;
    req->owner = io;
    if (req->op == IO_FLUSH)
        return true;
    if (!gate)
        return io_account_enter(account, false);
    bool behind = io->waits && atomic_load_explicit(&account->waiting, memory_order_relaxed) > 0;
    if (!behind && places_take(gate, req, io->waits))
        return true;
    return enter_or_wait(gate, req);
}

void io_gate_leave(struct io *io, struct io_req *req)
{
    if (req->op == IO_FLUSH)
        return;
    io_account_leave(&req->target->account);
    if (!io->gate)
        return;
    process_leave(io->gate);
    if (atomic_load(&io->gate->waiting))
        line_advance(io->gate, io);
}

struct io_req *io_gate_granted(struct io *io)
{
    if (!io->gate || atomic_load_explicit(&io->granted, memory_order_relaxed) == 0)
        return NULL;
    pthread_mutex_lock(&io->gate->lock);
    struct io_req *list = io->granted_head;
    io->granted_head = io->granted_tail = NULL;
    atomic_store(&io->granted, 0);
    pthread_mutex_unlock(&io->gate->lock);
    return list;
}

void io_gate_throttle(struct io_gate *gate, bool on)
{
    atomic_store(&gate->throttling, on);
    if (!on)
        line_advance(gate, NULL);
}
