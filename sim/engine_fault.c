/*
 * engine_fault.c - the fault layer as an engine: passes requests through, delays, completes itself.
 *
 * Invariants: a request is below, held back (delayed) or ready; never more below than were
 * submitted here, so the engine below needs no more depth than this one.  With no rule firing a
 * request passes unchanged, and order and timing are those of the engine below.
 */
#include "sim/engine_fault.h"

#include <assert.h>
#include <errno.h>
#include <stdlib.h>

#include "sim/fault_apply.h"
#include "sim/iov.h"

struct fault_engine {
    struct io_engine base;
    struct io_engine *below;
    struct fault_config *config;
    struct fault_op *active;  /* below, with faults */
    struct fault_op *delayed; /* transferred, held back */
    struct io_req *ready_head, *ready_tail;
    unsigned ready_count;
};

static struct fault_engine *fault_of(struct io_engine *engine)
{
    return (struct fault_engine *)engine;
}

static int fault_create(struct io_engine **out, const struct io_engine_config *config)
{
    *out = NULL;
    if (config->depth == 0 || config->device == NULL)
        return -EINVAL;
    struct fault_engine *fault = calloc(1, sizeof(*fault));
    if (fault == NULL)
        return -ENOMEM;
    fault->base =
        (struct io_engine){.ops = &engine_fault, .clock = config->clock, .depth = config->depth};
    fault->config = config->device;
    struct io_engine_config below = *config;
    below.device = fault->config->below_device;
    int r = fault->config->below->create(&fault->below, &below);
    if (r < 0) {
        free(fault);
        return r;
    }
    fault->base.wants_memory = fault->below->wants_memory;
    fault->base.memory_registered_bytes = fault->below->memory_registered_bytes;
    *out = &fault->base;
    return 0;
}

static int fault_attach(struct io_engine *engine, struct io_target *target)
{
    struct io_engine *below = fault_of(engine)->below;
    fault_target_add(fault_of(engine)->config, target);
    return below->ops->attach(below, target);
}

static void fault_detach(struct io_engine *engine, struct io_target *target)
{
    struct io_engine *below = fault_of(engine)->below;
    fault_target_drop(fault_of(engine)->config, target);
    below->ops->detach(below, target);
}

static void fault_wake(struct io_engine *engine)
{
    struct io_engine *below = fault_of(engine)->below;
    below->ops->wake(below);
}

static void fault_destroy(struct io_engine *engine)
{
    struct fault_engine *fault = fault_of(engine);
    assert(engine->outstanding == 0 && fault->active == NULL && fault->delayed == NULL);
    fault->below->ops->destroy(fault->below);
    free(fault);
}

static void make_ready(struct fault_engine *fault, struct io_req *req)
{
    req->next = NULL;
    if (fault->ready_tail)
        fault->ready_tail->next = req;
    else
        fault->ready_head = req;
    fault->ready_tail = req;
    fault->ready_count++;
}

static void flight_end(struct fault_engine *fault, const struct io_req *req)
{
    pthread_mutex_lock(&fault->config->lock);
    fault_flight_end(fault->config, req);
    pthread_mutex_unlock(&fault->config->lock);
}

/* Transferred; now it is ready, or held back first. */
static void op_transferred(struct fault_engine *fault, struct fault_op *op)
{
    uint64_t now = clock_now_ns(fault->base.clock);
    fault_op_finish(op, now);
    flight_end(fault, op->req);
    if (op->delay_ns > 0) {
        op->due_ns = (op->req->completed_ns ? op->req->completed_ns : now) + op->delay_ns;
        op->next = fault->delayed;
        fault->delayed = op;
        return;
    }
    make_ready(fault, op->req);
    fault_op_free(op);
}

static void pass_down(struct fault_engine *fault, struct io_req *req)
{
    int r = fault->below->ops->submit(fault->below, req);
    assert(r == 0); /* never more below than here */
}

static void start(struct fault_engine *fault, struct io_req *req, const struct fault_range *range,
                  const struct fault_hit *hits, unsigned hit_count)
{
    struct fault_op *op = fault_op_create(fault->config, req, range, hits, hit_count);
    if (op == NULL) {
        req->engine_result = -ENOMEM;
        flight_end(fault, req);
        make_ready(fault, req);
        return;
    }
    if (op->skip_transfer) {
        op_transferred(fault, op);
        return;
    }
    op->next = fault->active;
    fault->active = op;
    pass_down(fault, req);
}

static int fault_submit(struct io_engine *engine, struct io_req *req)
{
    struct fault_engine *fault = fault_of(engine);
    if (engine->outstanding >= engine->depth)
        return -EAGAIN;
    engine->outstanding++;
    struct fault_range range = {req->op, req->target, req->engine_offset, 0};
    if (req->op != IO_FLUSH)
        range.size_bytes = iov_bytes(req->engine_iov, req->engine_iov_count);
    struct fault_hit hits[FAULT_RULES_MAX];
    pthread_mutex_lock(&fault->config->lock);
    unsigned hit_count = fault_match(fault->config, &range, hits);
    if (req->op == IO_WRITE)
        fault_preimage_keep(fault->config, &range);
    fault_flight_begin(fault->config, req, &range);
    pthread_mutex_unlock(&fault->config->lock);
    if (hit_count > 0)
        start(fault, req, &range, hits, hit_count);
    else
        pass_down(fault, req);
    return 0;
}

static struct fault_op *take_active(struct fault_engine *fault, const struct io_req *req)
{
    struct fault_op **link = &fault->active;
    while (*link && (*link)->req != req)
        link = &(*link)->next;
    struct fault_op *op = *link;
    if (op)
        *link = op->next;
    return op;
}

static void absorb(struct fault_engine *fault, struct io_req *list)
{
    while (list) {
        struct io_req *req = list;
        list = req->next;
        struct fault_op *op = take_active(fault, req);
        if (op) {
            op_transferred(fault, op);
        } else {
            flight_end(fault, req);
            make_ready(fault, req);
        }
    }
}

static struct fault_op **earliest_delayed(struct fault_engine *fault)
{
    struct fault_op **best = &fault->delayed;
    for (struct fault_op **link = best; *link; link = &(*link)->next) {
        if ((*link)->due_ns <= (*best)->due_ns) /* of equals the one held back first */
            best = link;
    }
    return best;
}

static uint64_t next_due_ns(struct fault_engine *fault)
{
    struct fault_op *op = *earliest_delayed(fault);
    return op ? op->due_ns : UINT64_MAX;
}

static void release_due(struct fault_engine *fault)
{
    uint64_t now = clock_now_ns(fault->base.clock);
    while (fault->delayed && next_due_ns(fault) <= now) {
        struct fault_op **link = earliest_delayed(fault);
        struct fault_op *op = *link;
        *link = op->next;
        op->req->completed_ns = op->due_ns;
        make_ready(fault, op->req);
        fault_op_free(op);
    }
}

/* One reap below; false when it ended for another reason than completions or our limit (a wake, or
 * under a virtual clock a completion of another engine): then the caller's wait is over, too. */
static bool collect(struct fault_engine *fault, unsigned min, uint64_t limit_ns)
{
    struct io_req *list = NULL;
    int got = fault->below->ops->reap(fault->below, min, limit_ns, &list);
    assert(got >= 0);
    absorb(fault, list);
    release_due(fault);
    return (unsigned)got >= min || clock_now_ns(fault->base.clock) >= limit_ns;
}

static void wait_for(struct fault_engine *fault, unsigned min, uint64_t deadline_ns)
{
    while (fault->ready_count < min) {
        uint64_t due = next_due_ns(fault);
        uint64_t limit = due < deadline_ns ? due : deadline_ns;
        if (!collect(fault, min - fault->ready_count, limit))
            return;
        if (clock_now_ns(fault->base.clock) >= deadline_ns)
            return;
    }
}

static int fault_reap(struct io_engine *engine, unsigned min, uint64_t deadline_ns,
                      struct io_req **list)
{
    struct fault_engine *fault = fault_of(engine);
    collect(fault, 0, 0);
    if (deadline_ns != 0)
        wait_for(fault, min, deadline_ns);
    unsigned count = fault->ready_count;
    *list = fault->ready_head;
    fault->ready_head = fault->ready_tail = NULL;
    fault->ready_count = 0;
    engine->outstanding -= count;
    return (int)count;
}

const struct io_engine_ops engine_fault = {
    .name = "fault",
    .create = fault_create,
    .attach = fault_attach,
    .submit = fault_submit,
    .reap = fault_reap,
    .wake = fault_wake,
    .detach = fault_detach,
    .destroy = fault_destroy,
};
