/*
 * io.h - one request, the engine contract, and THE wrapper through which all I/O goes.
 *
 * Engine: seven operations.  create, attach, submit, reap, detach, destroy are called by the owning
 * worker's thread only; wake is the only one callable from another thread.  Engines move bytes and
 * report results; everything else is the wrapper's: alignment, bounds, the write-ahead assertion,
 * due and submit time, short-transfer resume, histograms.
 *
 * Wrapper invariants (asserted in every build):
 *  1. offset, length and memory are aligned to the target (STATX_DIOALIGN or the device's sectors).
 *  2. A transfer lies inside the target's size.
 *  3. A data page write is submitted only when the log is durable to req->log_position_needed.
 *  4. Every submitted request completes exactly once.  It is never cancelled: its buffer is the
 *     engine's until done() runs.
 *
 * Ownership: the request, its iovec and its buffers belong to the issuer until done(); no
 * allocation. Errors: req->result is 0 (all bytes transferred) or -errno; a transfer that stays
 * short twice at the same place ends as -ENODATA (read, end of file) or -ENOSPC (write).
 */
#ifndef SIM_IO_H
#define SIM_IO_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/uio.h>

#include "sim/clock.h"
#include "sim/io_account.h"
#include "sim/io_flush.h"
#include "sim/io_gate.h"
#include "sim/io_history.h"
#include "sim/io_limit.h"
#include "sim/io_watch.h"
#include "sim/seconds.h"
#include "sim/stats.h"

#define IO_IOV_MAX 130 /* pages of one gather write (128) and room for a resume */

enum io_op { IO_READ, IO_WRITE, IO_FLUSH };

/* What the wrapper and the engines know of an open file. Embedded in struct file. */
struct io_target {
    int fd;
    uint16_t uid; /* run-wide file uid */
    bool is_log;
    bool dsync;           /* write-through: completion = durable */
    bool forced_flush;    /* and is flushed besides, as without write-through (ForcedFlush) */
    uint32_t align_bytes; /* offset and length */
    uint32_t memory_align_bytes;
    bool coalesced; /* dsync by shared flushes, with what follows: io_flush.h */
    _Atomic bool flushing;
    _Atomic(struct io_flush *) flush_line;
    _Atomic uint32_t flush_failures;
    _Atomic uint64_t size_bytes;
    struct io_account account; /* zeroed: no throttle */
};

/* Is it flushed after log writes and at the end of a checkpoint?  Not with shared flushes: they
 * have flushed each write, and only one flush of such a file may be under way (io_flush.h). */
static inline bool io_target_is_flushed(const struct io_target *target)
{
    return !target->dsync || (target->forced_flush && !target->coalesced);
}

struct io_req {
    /* set by the issuer */
    enum io_op op;
    enum stream stream;
    struct io_target *target;
    uint64_t offset;
    const struct iovec *iov;
    unsigned iov_count;
    uint64_t due_ns;                     /* intended start; 0 = now */
    const _Atomic uint64_t *log_durable; /* data page writes: end position of the durable log */
    uint64_t log_position_needed; /* *log_durable must be above this; 0 with log_durable NULL */
    void (*done)(struct io_req *req);
    void *context;
    /* set by the wrapper, valid in done() */
    int result;
    uint64_t submit_ns, done_ns; /* given to the engine; transferred */
    bool was_short;
    bool flush_failed; /* the write was transferred, its flush failed */
    /* set by the engine: when the transfer ended (clock), or 0 if it learns that only in reap() */
    uint64_t completed_ns;
    /* private to wrapper and engine */
    struct io *owner;
    const char *issuer;      /* io->issuer at submission */
    bool entered;            /* holds its places (io_gate.h) */
    uint32_t flush_failures; /* of the target, when the write was transferred */
    uint32_t slot;           /* io_watch.h */
    enum phase phase;        /* at submission */
    uint64_t intended_ns;    /* due_ns, or the time of io_submit */
    uint64_t start_ns;       /* not before (io_limit.h) */
    uint64_t total_bytes, moved_bytes;
    ssize_t engine_result; /* bytes or -errno of this transfer */
    unsigned short_count;
    uint64_t engine_offset; /* what the engine transfers now: the rest after a short transfer */
    const struct iovec *engine_iov;
    unsigned engine_iov_count;
    struct iovec resume_iov[IO_IOV_MAX];
    struct io_req *next;    /* engine's and wrapper's list link */
    uint64_t engine_key[2]; /* engine-private (completion time, rule state) */
};

struct cpu_list;

struct io_engine_config {
    struct clock *clock;
    unsigned depth;              /* most requests outstanding */
    const struct cpu_list *cpus; /* of the engine's own threads, copied; NULL = any */
    void *device; /* mem: struct mem_device *; fault: struct fault_config *; uring, aio: what
                     to do without (engine_without.h), for tests; else NULL */
    /* Where most transfers will happen: registered with the kernel where the engine can. */
    const struct iovec *memory;
    unsigned memory_count;
    unsigned memory_engines; /* engines that are given it: they share RLIMIT_MEMLOCK */
};

struct io_engine; /* engines embed this first */

struct io_engine_ops {
    const char *name;
    int (*create)(struct io_engine **out, const struct io_engine_config *config);
    int (*attach)(struct io_engine *engine, struct io_target *target);
    /* Takes the request (0) or -EAGAIN when depth requests are outstanding. */
    int (*submit)(struct io_engine *engine, struct io_req *req);
    /* Completed requests, linked by next, into *list; returns their number.  Waits until min of
     * them or deadline_ns (0 = do not wait, UINT64_MAX = no deadline) or wake().  A wake() that
     * comes while nobody waits ends the next wait.  Under a virtual clock a wait moves the clock
     * instead: to the next completion or the deadline, whichever is first; with neither it returns
     * 0 at once. */
    int (*reap)(struct io_engine *engine, unsigned min, uint64_t deadline_ns, struct io_req **list);
    void (*wake)(struct io_engine *engine);
    void (*detach)(struct io_engine *engine, struct io_target *target);
    void (*destroy)(struct io_engine *engine);
};

struct io_engine {
    const struct io_engine_ops *ops;
    struct clock *clock;
    unsigned depth;
    unsigned outstanding;             /* taken by submit, not yet reaped */
    bool wants_memory;                /* it registers memory, as far as it may */
    uint64_t memory_registered_bytes; /* of config->memory */
};

#define ENGINE(name) extern const struct io_engine_ops engine_##name;
#include "sim/engines.def"
#undef ENGINE

extern const struct io_engine_ops *const io_engines[]; /* engines.def, fault excluded */
extern const size_t io_engines_count;
const struct io_engine_ops *io_engine_by_name(const char *name);

/* The wrapper of one worker. */
struct io {
    struct io_engine *engine;
    struct clock *clock;
    struct stats *stats;
    struct seconds *seconds;                /* of the rated phase, or NULL */
    enum phase *phase;                      /* the run's present phase */
    struct io_req *queue_head, *queue_tail; /* waiting for depth */
    struct io_limit *limit;                 /* NULL: none */
    struct io_req *held_head, *held_tail;   /* until their start_ns, which rise */
    unsigned pending;                       /* submitted to the wrapper, done() not yet run */
    uint64_t submitted;                     /* so far; its own thread's */
    struct io_gate *gate;                   /* NULL: no bounds but the engine's depth */
    bool waits;                             /* at the gate */
    _Atomic unsigned granted; /* by the gate, not yet fetched; the list under its lock */
    struct io_req *granted_head, *granted_tail;
    struct io_watch *watch;
    unsigned watch_member;
    struct io_slots *slots;        /* NULL: not watched */
    const char *issuer;            /* who has the turn: task.name; for the trace */
    struct io_trace_buffer *trace; /* NULL: none (io_trace.h) */
    struct io_history history;     /* zeroed: none is kept */
    struct io_flushes flushes;
    unsigned ended; /* requests, wrapping */
    /* io_run: about twice a second while it waits; true: give up.  NULL: it waits for ever. */
    bool (*waiting)(void *context);
    void *waiting_context;
    bool abandoned; /* it gave up */
};

void io_init(struct io *io, struct io_engine *engine, struct clock *clock, struct stats *stats,
             enum phase *phase);
/* Never fails: errors arrive in done(), which runs in io_poll only.  Never waits (but for an engine
 * that transfers inside submit).  Beyond the engine's depth requests queue here, first in first
 * out, and beyond the bounds of the gate there; a limit of the run holds them back before that.
 * That time counts in the response time, not in the latency. */
void io_submit(struct io *io, struct io_req *req);
/* Run done() of what completed; returns how many. min and deadline as for reap, but min counts
 * requests, not transfers: the rest of a short one is waited for.  done() may submit.  Requests
 * that succeeded are entered into the statistics of their stream and of the phase of their
 * submission. */
unsigned io_poll(struct io *io, unsigned min, uint64_t deadline_ns);
void io_wake(struct io *io); /* any thread */
/* When the next request may start that a limit holds back; UINT64_MAX: there is none. */
static inline uint64_t io_next_start_ns(const struct io *io)
{
    return io->held_head ? io->held_head->start_ns : UINT64_MAX;
}
/* Submit and wait, for set-up code outside the phases' actors. Returns req->result; -ETIMEDOUT when
 * io->waiting gave this one or an earlier one up. */
int io_run(struct io *io, struct io_req *req) __attribute__((warn_unused_result));

#endif
