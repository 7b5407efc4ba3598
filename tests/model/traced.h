/*
 * traced.h - an engine over the modelled device that writes down every request.
 *
 * Tests look at that trace, never at what the simulator says of itself.
 */
#ifndef TESTS_MODEL_TRACED_H
#define TESTS_MODEL_TRACED_H

#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include "sim/actor.h"
#include "sim/iov.h"
#include "tests/sim_fixture.h"

#define TRACE_MAX 400000
#define MIB       (UINT64_C(1) << 20)

struct traced_io {
    enum io_op op;
    enum stream stream;
    enum phase phase;
    bool is_log;
    uint64_t offset;
    size_t bytes;
    unsigned parts; /* iovecs */
    uint64_t when_ns;
    unsigned outstanding; /* of its engine, itself included */
};

struct trace {
    struct traced_io *list;
    unsigned count;
};

/* lint: mutable, the trace: an engine is given nothing else to write it to. */
static struct trace trace;

static const struct io_engine_ops engine_traced;

static int traced_create(struct io_engine **out, const struct io_engine_config *config)
{
    int error = engine_mem.create(out, config);
    if (!error)
        (*out)->ops = &engine_traced;
    return error;
}

static int traced_submit(struct io_engine *engine, struct io_req *req)
{
    int error = engine_mem.submit(engine, req);
    if (error)
        return error;
    assert_true(trace.count < TRACE_MAX);
    trace.list[trace.count++] = (struct traced_io){
        .op = req->op,
        .stream = req->stream,
        .phase = req->phase,
        .is_log = req->target->is_log,
        .offset = req->engine_offset,
        .bytes = req->op == IO_FLUSH ? 0 : iov_bytes(req->engine_iov, req->engine_iov_count),
        .parts = req->engine_iov_count,
        .when_ns = clock_now_ns(engine->clock),
        .outstanding = engine->outstanding,
    };
    return 0;
}

static int traced_attach(struct io_engine *engine, struct io_target *target)
{
    return engine_mem.attach(engine, target);
}

static int traced_reap(struct io_engine *engine, unsigned min, uint64_t deadline_ns,
                       struct io_req **list)
{
    return engine_mem.reap(engine, min, deadline_ns, list);
}

static void traced_wake(struct io_engine *engine)
{
    engine_mem.wake(engine);
}

static void traced_detach(struct io_engine *engine, struct io_target *target)
{
    engine_mem.detach(engine, target);
}

static void traced_destroy(struct io_engine *engine)
{
    engine_mem.destroy(engine);
}

static const struct io_engine_ops engine_traced = {
    .name = "mem",
    .create = traced_create,
    .attach = traced_attach,
    .submit = traced_submit,
    .reap = traced_reap,
    .wake = traced_wake,
    .detach = traced_detach,
    .destroy = traced_destroy,
};

static int trace_begin(void **state)
{
    (void)state;
    trace.list = calloc(TRACE_MAX, sizeof *trace.list);
    return trace.list ? 0 : -1;
}

static int trace_end(void **state)
{
    (void)state;
    free(trace.list);
    return 0;
}

/* Run these options over the traced engine to the end, without a finding. */
static inline void traced_execute(struct sim *sim)
{
    struct run_config config = {.profile = sim->profile,
                                .plan = &sim->plan,
                                .out_dir = sim->folder,
                                .engine = &engine_traced,
                                .engine_device = sim->device,
                                .virtual_clock = true,
                                .clock = &sim->clock};
    trace.count = 0;
    sim->run = calloc(1, sizeof *sim->run);
    sim->created = true;
    assert_int_equal(run_create(sim->run, &config), 0);
    assert_int_equal(run_execute(sim->run), 0);
    assert_int_equal(sim->run->findings.count, 0);
}

#endif
