/*
 * io.c - the wrapper: every request of a run passes here.
 *
 * Invariants: those of io.h.  done() runs in io_poll only and never inside an engine call, so it
 * may submit, and may free its request.  The rest of a short transfer goes before waiting requests.
 * What it does not do: retries after an error, poisoning of read buffers, judging what was read.
 */
#include "sim/io.h"

#include <assert.h>
#include <errno.h>
#include <string.h>

#include "sim/io_trace.h"
#include "sim/iov.h"

#define NO_PROGRESS_MAX 2 /* transfers without progress at one place that end a request */

void io_init(struct io *io, struct io_engine *engine, struct clock *clock, struct stats *stats,
             enum phase *phase)
{
    *io = (struct io){.engine = engine, .clock = clock, .stats = stats, .phase = phase};
}

static bool is_aligned(uint64_t value, uint32_t align)
{
    return (value & (align - 1)) == 0;
}

static void check_alignment(const struct io_req *req)
{
    const struct io_target *target = req->target;
    assert(target->align_bytes && is_aligned(target->align_bytes, target->align_bytes));
    assert(target->memory_align_bytes &&
           is_aligned(target->memory_align_bytes, target->memory_align_bytes));
    assert(is_aligned(req->offset, target->align_bytes));
    assert(req->iov_count > 0 && req->iov_count <= IO_IOV_MAX);
    for (unsigned i = 0; i < req->iov_count; i++) {
        assert(is_aligned((uintptr_t)req->iov[i].iov_base, target->memory_align_bytes));
        assert(is_aligned(req->iov[i].iov_len, target->align_bytes));
    }
}

static void check_bounds(const struct io_req *req)
{
    uint64_t size = atomic_load_explicit(&req->target->size_bytes, memory_order_acquire);
    assert(req->total_bytes > 0);
    assert(req->offset <= size && req->total_bytes <= size - req->offset);
}

/* Log before page. */
static void check_log_durable(const struct io_req *req)
{
    if (req->log_durable == NULL) {
        assert(req->log_position_needed == 0);
        return;
    }
    assert(req->op == IO_WRITE);
    assert(atomic_load_explicit(req->log_durable, memory_order_acquire) > req->log_position_needed);
}

static void prepare(struct io *io, struct io_req *req)
{
    assert(req->done != NULL && req->target != NULL && req->stream < STREAM_COUNT);
    req->total_bytes = req->op == IO_FLUSH ? 0 : iov_bytes(req->iov, req->iov_count);
    if (req->op != IO_FLUSH) {
        check_alignment(req);
        check_bounds(req);
    }
    check_log_durable(req);
    /* relaxed: the log writer goes on while the coordinator begins the next phase */
    req->phase = io->phase ? __atomic_load_n(io->phase, __ATOMIC_RELAXED) : (enum phase)0;
    req->submit_ns = clock_now_ns(io->clock); /* unless it has to wait */
    req->intended_ns = req->due_ns ? req->due_ns : req->submit_ns;
    req->result = 0;
    req->issuer = io->issuer;
    req->entered = false;
    req->was_short = false;
    req->flush_failed = false;
    req->short_count = 0;
    req->moved_bytes = 0;
    req->engine_offset = req->offset;
    req->engine_iov = req->iov;
    req->engine_iov_count = req->iov_count;
}

/* True when the engine took it; it holds its places. */
static bool give(struct io *io, struct io_req *req)
{
    bool first = !req->was_short;
    if (first)
        io_watch_begin(io, req); /* before submit, which may transfer at once, or hang */
    req->completed_ns = 0;
    req->engine_result = 0;
    int r = io->engine->ops->submit(io->engine, req);
    assert(r == 0 || r == -EAGAIN);
    if (r && first)
        io_watch_cancel(io, req);
    return r == 0;
}

enum step { STARTED, AT_THE_GATE, NO_ROOM };

static enum step start(struct io *io, struct io_req *req)
{
    if (io->engine->outstanding >= io->engine->depth)
        return NO_ROOM;
    if (!req->entered && !io_gate_enter(io, req))
        return AT_THE_GATE;
    req->entered = true;
    return give(io, req) ? STARTED : NO_ROOM;
}

static void queue_append(struct io *io, struct io_req *req)
{
    req->next = NULL;
    if (io->queue_tail)
        io->queue_tail->next = req;
    else
        io->queue_head = req;
    io->queue_tail = req;
}

static void queue_prepend(struct io *io, struct io_req *req)
{
    req->next = io->queue_head;
    io->queue_head = req;
    if (io->queue_tail == NULL)
        io->queue_tail = req;
}

/* Those that the gate lets go have waited longest. */
static void fetch_granted(struct io *io)
{
    struct io_req *list = io_gate_granted(io), *last = list;
    if (!list)
        return;
    list->entered = true;
    for (; last->next; last = last->next)
        last->next->entered = true;
    last->next = io->queue_head;
    io->queue_head = list;
    if (io->queue_tail == NULL)
        io->queue_tail = last;
}

static void release_held(struct io *io)
{
    uint64_t now_ns = io->held_head ? clock_now_ns(io->clock) : 0;
    while (io->held_head && io->held_head->start_ns <= now_ns) {
        struct io_req *req = io->held_head;
        io->held_head = req->next;
        if (io->held_head == NULL)
            io->held_tail = NULL;
        queue_append(io, req);
    }
}

static void queue_pump(struct io *io)
{
    release_held(io);
    fetch_granted(io);
    while (io->queue_head && io->engine->outstanding < io->engine->depth) {
        struct io_req *req = io->queue_head;
        if (!req->was_short)
            req->submit_ns = clock_now_ns(io->clock);
        struct io_req *rest = req->next;
        if (start(io, req) == NO_ROOM) {
            req->next = rest;
            return;
        }
        io->queue_head = rest;
        if (rest == NULL)
            io->queue_tail = NULL;
    }
}

/* True: the limit of the run lets it start only later. */
static bool hold(struct io *io, struct io_req *req)
{
    if (!io->limit || req->op == IO_FLUSH)
        return false;
    req->start_ns = io_limit_take(io->limit, req->submit_ns, req->total_bytes);
    if (req->start_ns <= req->submit_ns && !io->held_head)
        return false;
    if (io->stats)
        relaxed_add(&io->stats->counters.limit_waits, 1);
    req->next = NULL;
    if (io->held_tail)
        io->held_tail->next = req;
    else
        io->held_head = req;
    io->held_tail = req;
    return true;
}

void io_submit(struct io *io, struct io_req *req)
{
    prepare(io, req);
    io->pending++;
    io->submitted++;
    if (hold(io, req))
        return;
    if (io->queue_head || start(io, req) == NO_ROOM)
        queue_append(io, req);
}

static uint64_t elapsed(uint64_t from_ns, uint64_t to_ns)
{
    return to_ns > from_ns ? to_ns - from_ns : 0;
}

static enum io_kind kind_of(const struct io_req *req)
{
    bool several = req->iov_count > 1 && !req->target->is_log;
    if (req->op == IO_READ)
        return several ? IO_KIND_SCATTER_READ : IO_KIND_READ;
    return several ? IO_KIND_GATHER_WRITE : IO_KIND_WRITE;
}

/* The account first: the gate looks at the limit that this completion may have moved. */
static void leave(struct io *io, struct io_req *req)
{
    if (req->op != IO_FLUSH) {
        bool throttling = io->gate && io_gate_is_throttling(io->gate);
        io_account_completed(&req->target->account, kind_of(req),
                             elapsed(req->submit_ns, req->done_ns), throttling);
    }
    io_gate_leave(io, req);
}

static void finish_at(struct io *io, struct io_req *req, int result, uint64_t done_ns)
{
    req->result = result;
    req->done_ns = done_ns;
    if (req->was_short && result == 0)
        io_account_short(&req->target->account, req->offset, req->total_bytes);
    leave(io, req);
    io_watch_end(io, req);
    assert(io->pending > 0);
    io->pending--;
    io->ended++;
    io_history_add(&io->history, req, io->pending);
    if (io->trace)
        io_trace_add(io->trace, req);
    uint64_t response_ns = elapsed(req->intended_ns, req->done_ns);
    if (result == 0 && io->stats)
        stats_add(io->stats, req->phase, req->stream, req->total_bytes,
                  elapsed(req->submit_ns, req->done_ns), response_ns);
    if (result == 0 && io->seconds && req->phase == PHASE_rated)
        seconds_add(io->seconds, req->stream, req->done_ns, response_ns);
    req->done(req);
}

static void finish(struct io *io, struct io_req *req, int result)
{
    finish_at(io, req, result, req->completed_ns ? req->completed_ns : clock_now_ns(io->clock));
}

void io_finish_held(struct io *io, struct io_req *req, int result, uint64_t done_ns)
{
    finish_at(io, req, result, done_ns);
}

/* Where the rest of a transfer of bytes_done may start: aligned in the file and in memory. */
static uint64_t resume_position(const struct io_req *req, uint64_t bytes_done)
{
    const struct io_target *target = req->target;
    uint64_t align = target->align_bytes > target->memory_align_bytes ? target->align_bytes
                                                                      : target->memory_align_bytes;
    uint64_t start = 0;
    unsigned i = 0;
    while (bytes_done - start >= req->iov[i].iov_len)
        start += req->iov[i++].iov_len;
    return start + ((bytes_done - start) & ~(align - 1));
}

static void resume(struct io *io, struct io_req *req)
{
    req->engine_iov_count = iov_slice(req->resume_iov, req->iov, req->iov_count, req->moved_bytes,
                                      req->total_bytes - req->moved_bytes);
    req->engine_iov = req->resume_iov;
    req->engine_offset = req->offset + req->moved_bytes;
    if (start(io, req) == NO_ROOM)
        queue_prepend(io, req);
}

/* One transfer ended, and with it its request, unless a part or a flush is missing. */
static void settle(struct io *io, struct io_req *req)
{
    ssize_t moved = req->engine_result;
    if (moved < 0 || req->op == IO_FLUSH) {
        finish(io, req, moved < 0 ? (int)moved : 0);
        return;
    }
    uint64_t reached = req->moved_bytes + (uint64_t)moved;
    assert(reached <= req->total_bytes);
    if (reached == req->total_bytes) {
        req->moved_bytes = reached;
        if (!io_flush_hold(io, req))
            finish(io, req, 0);
        return;
    }
    req->was_short = true;
    if (io->stats)
        relaxed_add(&io->stats->counters.short_ios, 1);
    uint64_t position = resume_position(req, reached);
    /* A file end inside a sector can put the position before the last one: that is no progress. */
    req->short_count = position > req->moved_bytes ? 0 : req->short_count + 1;
    if (req->short_count >= NO_PROGRESS_MAX) {
        finish(io, req, req->op == IO_READ ? -ENODATA : -ENOSPC);
        return;
    }
    if (position > req->moved_bytes)
        req->moved_bytes = position;
    resume(io, req);
}

static void settle_all(struct io *io, struct io_req *list)
{
    while (list) {
        struct io_req *req = list;
        list = req->next; /* before done(), which may reuse or free the request */
        req->next = NULL;
        settle(io, req);
    }
    io_flush_start(io);
}

/* No more transfers than can arrive, or a wait for min would outlast the queue behind the depth; at
 * least one, since an idle worker waits here for its deadline or a wake. */
static unsigned transfers_to_wait_for(const struct io *io, unsigned missing)
{
    unsigned possible = io->engine->outstanding > 0 ? io->engine->outstanding : 1;
    return missing < possible ? missing : possible;
}

unsigned io_poll(struct io *io, unsigned min, uint64_t deadline_ns)
{
    unsigned done = 0;
    for (;;) {
        queue_pump(io);
        unsigned ask = done < min ? transfers_to_wait_for(io, min - done) : 0;
        uint64_t start_ns = io_next_start_ns(io);
        uint64_t until_ns = deadline_ns < start_ns ? deadline_ns : start_ns;
        struct io_req *list = NULL;
        int got = io->engine->ops->reap(io->engine, ask, until_ns, &list);
        assert(got >= 0);
        unsigned before = io->ended;
        settle_all(io, list);
        done += io->ended - before;
        queue_pump(io);
        if (done >= min || (unsigned)got < ask)
            return done;
    }
}

void io_wake(struct io *io)
{
    io->engine->ops->wake(io->engine);
}
