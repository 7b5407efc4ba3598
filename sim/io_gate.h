/*
 * io_gate.h - where requests wait that may not be outstanding yet; one for all workers of a run.
 *
 * Two bounds: the throttle's limit of each file (io_account.h), and MaxOutstandingIO for the whole
 * process, which holds in bursts, too.  Requests wait in one line, first come first served as far
 * as their files have room, whichever worker they belong to.  Whoever completes a request lets the
 * next ones through and wakes their workers, so nothing waits for anything but requests under way:
 * there is no deadlock.  Flushes pass: others wait for them, and they transfer nothing.
 *
 * Cost: without a lowered limit and with a process bound that cannot be reached, no lock and no
 * counter of its own.
 *
 * Threads: any, but for init, join and destroy.
 */
#ifndef SIM_IO_GATE_H
#define SIM_IO_GATE_H

#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

struct io;
struct io_req;

struct io_gate {
    pthread_mutex_t lock;
    uint32_t outstanding_max; /* MaxOutstandingIO */
    bool counting;            /* the members together could pass it */
    uint64_t depth_sum;
    _Atomic bool throttling;
    _Atomic uint32_t outstanding;
    _Atomic uint32_t waiting;     /* in the line below */
    struct io_req *first, **last; /* under the lock */
};

void io_gate_init(struct io_gate *gate, uint32_t outstanding_max);
void io_gate_destroy(struct io_gate *gate);
/* The wrapper's requests pass the gate from now on.  waits: false for set-up code that has the
 * machine to itself: it is counted and never held back. */
void io_gate_join(struct io_gate *gate, struct io *io, bool waits);
/* Switch the throttle; off in bursts (AllowIOBursts). */
void io_gate_throttle(struct io_gate *gate, bool on);
static inline bool io_gate_is_throttling(const struct io_gate *gate)
{
    return atomic_load_explicit(&((struct io_gate *)(uintptr_t)gate)->throttling,
                                memory_order_relaxed);
}

/* For io.c.  May this request go to the engine?  If not, it waits here, and comes back through
 * io_gate_granted() of its wrapper. */
bool io_gate_enter(struct io *io, struct io_req *req);
/* It came back from the engine, or did not get there. */
void io_gate_leave(struct io *io, struct io_req *req);
/* The requests of this wrapper that may go now, in order, linked by next; NULL if none. */
struct io_req *io_gate_granted(struct io *io);

#endif
