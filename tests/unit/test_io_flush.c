/* test_io_flush.c - AlternateWriteThrough: when a write is complete, who shares a flush, what a
 * failed one does; over the fault layer and the modelled device under a virtual clock. */
#include "tests/unit/engine_fixture.h"

#define WRITES 6

struct bed {
    struct rig rig;
    struct stats *stats;
    unsigned char *memory;
    struct iovec iov;
    struct io_req requests[WRITES];
    unsigned done;
};

static void bed_begin(struct bed *bed)
{
    memset(bed, 0, sizeof *bed);
    rig_start(&bed->rig, "mem", true, true, 32, 1);
    bed->rig.target.dsync = bed->rig.target.coalesced = true;
    bed->stats = calloc(1, sizeof *bed->stats);
    bed->rig.io.stats = bed->stats;
    bed->rig.phase = PHASE_stress;
    bed->memory = pages_of(1, 0x5a);
    bed->iov = (struct iovec){bed->memory, PAGE};
    assert_int_equal(io_flush_attach(&bed->rig.io, &bed->rig.target), 0);
}

static void bed_end(struct bed *bed)
{
    io_flush_free(&bed->rig.io);
    rig_stop(&bed->rig);
    free(bed->memory);
    free(bed->stats);
}

static void note_done(struct io_req *req)
{
    ((struct bed *)req->context)->done++;
}

static void post(struct bed *bed, unsigned index)
{
    struct io_req *req = &bed->requests[index];
    *req = (struct io_req){.op = IO_WRITE,
                           .stream = STREAM_checkpoint_write,
                           .target = &bed->rig.target,
                           .offset = (uint64_t)index * PAGE,
                           .iov = &bed->iov,
                           .iov_count = 1,
                           .done = note_done,
                           .context = bed};
    io_submit(&bed->rig.io, req);
}

static void run_until(struct bed *bed, unsigned done)
{
    while (bed->done < done)
        io_poll(&bed->rig.io, 1, UINT64_MAX);
}

/* Of the one write that was posted. */
static void until_flush_begins(struct bed *bed)
{
    while (bed->rig.io.pending == 1) {
        clock_advance_to(&bed->rig.clock, clock_now_ns(&bed->rig.clock) + 1000);
        io_poll(&bed->rig.io, 0, 0);
    }
    assert_int_equal(bed->done, 0);
}

static uint64_t flushes(const struct bed *bed)
{
    return bed->stats->streams[PHASE_stress][STREAM_data_flush].ops;
}

static void a_write_is_complete_after_a_flush_that_began_later(void **state)
{
    (void)state;
    struct bed bed;
    bed_begin(&bed);
    post(&bed, 0);
    run_until(&bed, 1);
    assert_int_equal(bed.requests[0].result, 0);
    assert_int_equal(flushes(&bed), 1);
    const struct hist *flush = &bed.stats->streams[PHASE_stress][STREAM_data_flush].latency;
    const struct hist *write = &bed.stats->streams[PHASE_stress][STREAM_checkpoint_write].latency;
    assert_true(write->min_ns > flush->min_ns); /* the write's contains its flush */
    bed_end(&bed);
}

static void what_was_acknowledged_survives_a_power_cut(void **state)
{
    (void)state;
    struct bed bed;
    bed_begin(&bed);
    for (unsigned i = 0; i < WRITES; i++)
        post(&bed, i);
    run_until(&bed, WRITES);
    mem_device_cut(bed.rig.device, MEM_CUT_DROP_ALL);
    assert_file_bytes(&bed.rig, 0, WRITES * PAGE, 0x5a);
    bed_end(&bed);
}

static void what_was_transferred_and_not_flushed_is_lost_at_a_cut(void **state)
{
    (void)state;
    struct bed bed;
    bed_begin(&bed);
    post(&bed, 0);
    until_flush_begins(&bed);
    assert_int_equal(bed.done, 0);
    mem_device_cut(bed.rig.device, MEM_CUT_DROP_ALL);
    assert_file_bytes(&bed.rig, 0, PAGE, 0);
    run_until(&bed, 1);
    assert_true(bed.requests[0].result < 0 && bed.requests[0].flush_failed);
    bed_end(&bed);
}

/* One is transferred first and gets a flush; the others, transferred while it runs, share one. */
static void writes_of_one_time_share_a_flush(void **state)
{
    (void)state;
    struct bed bed;
    bed_begin(&bed);
    post(&bed, 0);
    until_flush_begins(&bed);
    for (unsigned i = 1; i < WRITES; i++)
        post(&bed, i);
    run_until(&bed, 1);
    assert_int_equal(bed.done, 1); /* the flush that ran does not cover them */
    run_until(&bed, WRITES);
    assert_int_equal(flushes(&bed), 2);
    bed_end(&bed);
}

static void a_failed_flush_fails_every_write_that_waits_for_it(void **state)
{
    (void)state;
    struct bed bed;
    bed_begin(&bed);
    fault_add(bed.rig.fault, &(struct fault_rule){.kind = FAULT_ERRNO, .op = IO_FLUSH, .a = EIO});
    post(&bed, 0);
    run_until(&bed, 1);
    assert_int_equal(bed.requests[0].result, -EIO);
    assert_true(bed.requests[0].flush_failed);
    post(&bed, 1);
    run_until(&bed, 2);
    assert_int_equal(bed.requests[1].result, 0);
    assert_false(bed.requests[1].flush_failed);
    bed_end(&bed);
}

/* The system tells an error once: the other wrapper's flush may have got it. */
static void a_failure_that_another_wrapper_met_fails_it_too(void **state)
{
    (void)state;
    struct bed bed;
    bed_begin(&bed);
    post(&bed, 0);
    until_flush_begins(&bed);
    atomic_fetch_add(&bed.rig.target.flush_failures, 1);
    run_until(&bed, 1);
    assert_int_equal(bed.requests[0].result, -EIO);
    bed_end(&bed);
}

static void step_both(struct bed *bed, struct io *other)
{
    clock_advance_to(&bed->rig.clock, clock_now_ns(&bed->rig.clock) + 1000);
    io_poll(&bed->rig.io, 0, 0);
    io_poll(other, 0, 0);
}

/* Or a second one could succeed because the first one has been told of the error. */
static void two_wrappers_never_flush_a_file_at_once(void **state)
{
    (void)state;
    struct bed bed;
    struct io_engine *engine;
    struct io other;
    bed_begin(&bed);
    struct io_engine_config config = {
        .clock = &bed.rig.clock, .depth = 4, .device = bed.rig.device};
    assert_int_equal(engine_mem.create(&engine, &config), 0);
    assert_int_equal(engine->ops->attach(engine, &bed.rig.target), 0);
    io_init(&other, engine, &bed.rig.clock, NULL, &bed.rig.phase);
    assert_int_equal(io_flush_attach(&other, &bed.rig.target), 0);
    post(&bed, 0);
    bed.requests[1] = bed.requests[0];
    bed.requests[1].offset = PAGE;
    io_submit(&other, &bed.requests[1]);
    unsigned waited = 0;
    while (bed.done == 0) { /* pending 2: a held write and a flush */
        step_both(&bed, &other);
        assert_true(bed.rig.io.pending + other.pending <= 3);
        waited += bed.rig.io.pending == 2 && engine->outstanding == 0;
    }
    assert_true(waited > 0);
    while (bed.done < 2)
        step_both(&bed, &other);
    assert_int_equal(bed.requests[1].result, 0);
    io_flush_free(&other);
    engine->ops->detach(engine, &bed.rig.target);
    engine->ops->destroy(engine);
    bed_end(&bed);
}

static void reads_do_not_wait_for_a_flush(void **state)
{
    (void)state;
    struct bed bed;
    bed_begin(&bed);
    assert_int_equal(rig_io(&bed.rig, IO_READ, 0, bed.memory, PAGE), 0);
    assert_int_equal(flushes(&bed), 0);
    bed_end(&bed);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_write_is_complete_after_a_flush_that_began_later),
        cmocka_unit_test(what_was_acknowledged_survives_a_power_cut),
        cmocka_unit_test(what_was_transferred_and_not_flushed_is_lost_at_a_cut),
        cmocka_unit_test(writes_of_one_time_share_a_flush),
        cmocka_unit_test(a_failed_flush_fails_every_write_that_waits_for_it),
        cmocka_unit_test(a_failure_that_another_wrapper_met_fails_it_too),
        cmocka_unit_test(two_wrappers_never_flush_a_file_at_once),
        cmocka_unit_test(reads_do_not_wait_for_a_flush),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
