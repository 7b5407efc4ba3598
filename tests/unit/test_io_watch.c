/* test_io_watch.c - the table of outstanding requests and what a look at it tells. */
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>
#include <string.h>
#include <cmocka.h>

#include "sim/io.h"

#define S     1000000000ull
#define DEPTH 2
#define SLOTS (IO_WATCH_DEPTHS * DEPTH)

struct bench {
    struct io_engine engine;
    struct io io;
    struct io_watch watch;
    struct io_target target;
    struct io_req requests[SLOTS + 1];
    struct io_stall told[2 * SLOTS];
    unsigned told_count;
};

static void note(void *context, struct io_stall *stall)
{
    struct bench *b = context;
    b->told[b->told_count] = *stall;
    stall->told = ++b->told_count;
}

static void bench_begin(struct bench *b)
{
    memset(b, 0, sizeof *b);
    b->engine.depth = DEPTH;
    b->io.engine = &b->engine;
    b->target.uid = 7;
    io_watch_init(&b->watch);
    b->watch.stall = note;
    b->watch.context = b;
    assert_int_equal(io_watch_join(&b->watch, &b->io), 0);
}

static struct io_req *begin(struct bench *b, unsigned index, uint64_t at_ns)
{
    struct io_req *req = &b->requests[index];
    *req = (struct io_req){.op = IO_WRITE,
                           .target = &b->target,
                           .offset = 65536,
                           .total_bytes = 8192,
                           .submit_ns = at_ns};
    io_watch_begin(&b->io, req);
    return req;
}

static void end(struct bench *b, struct io_req *req, uint64_t at_ns)
{
    req->done_ns = at_ns;
    io_watch_end(&b->io, req);
}

static void it_is_told_at_15_s_and_not_before(void **state)
{
    (void)state;
    struct bench b;
    bench_begin(&b);
    begin(&b, 0, 0);
    assert_int_equal(io_watch_tick(&b.watch, 15 * S - 1), 0);
    assert_int_equal(io_watch_tick(&b.watch, 15 * S), 1);
    assert_int_equal(b.told_count, 1);
    assert_int_equal(b.told[0].file_uid, 7);
    assert_int_equal(b.told[0].op, IO_WRITE);
    assert_int_equal(b.told[0].offset, 65536);
    assert_int_equal(b.told[0].size_bytes, 8192);
    assert_false(b.told[0].complete);
    io_watch_free(&b.watch);
}

static void it_is_told_once_while_outstanding_and_once_at_its_end(void **state)
{
    (void)state;
    struct bench b;
    bench_begin(&b);
    struct io_req *req = begin(&b, 0, 1 * S);
    for (uint64_t now = 16; now <= 30; now++)
        io_watch_tick(&b.watch, now * S);
    assert_int_equal(b.told_count, 1);
    assert_int_equal(b.watch.stalled_now, 1);
    end(&b, req, 31 * S);
    io_watch_tick(&b.watch, 32 * S);
    assert_int_equal(b.told_count, 2);
    assert_true(b.told[1].complete && b.told[1].again);
    assert_int_equal(b.told[1].told, 1);
    assert_true(b.told[1].age_ns == 30 * S);
    assert_int_equal(b.watch.stalled_now, 0);
    io_watch_free(&b.watch);
}

static void one_that_ended_between_two_looks_is_told_as_complete(void **state)
{
    (void)state;
    struct bench b;
    bench_begin(&b);
    struct io_req *req = begin(&b, 0, 0);
    io_watch_tick(&b.watch, 14 * S);
    end(&b, req, 16 * S);
    begin(&b, 1, 16 * S); /* into the same slot */
    io_watch_tick(&b.watch, 17 * S);
    assert_int_equal(b.told_count, 1);
    assert_true(b.told[0].complete && !b.told[0].again);
    io_watch_free(&b.watch);
}

static void what_completed_meanwhile_is_counted_without_itself(void **state)
{
    (void)state;
    struct bench b;
    bench_begin(&b);
    struct io_req *slow = begin(&b, 0, 0);
    io_watch_tick(&b.watch, 0);
    for (unsigned i = 0; i < 5; i++)
        end(&b, begin(&b, 1, 1 * S), 2 * S);
    io_watch_tick(&b.watch, 15 * S);
    assert_int_equal(b.told[0].meanwhile, 5);
    end(&b, begin(&b, 1, 16 * S), 17 * S);
    end(&b, slow, 18 * S);
    io_watch_tick(&b.watch, 18 * S);
    assert_int_equal(b.told[1].meanwhile, 6);
    io_watch_free(&b.watch);
}

/* 20 s old, of them the machine stood still for 3 s before it, 4 s within, 2 s of 5 within. */
static void only_the_pauses_within_its_life_are_taken_off(void **state)
{
    (void)state;
    struct bench b;
    bench_begin(&b);
    begin(&b, 0, 10 * S);
    io_watch_pause(&b.watch, 5 * S, 3 * S);
    io_watch_pause(&b.watch, 12 * S, 4 * S);
    io_watch_pause(&b.watch, 28 * S, 5 * S);
    io_watch_tick(&b.watch, 30 * S);
    assert_int_equal(b.told_count, 0);
    assert_true(b.watch.oldest_age_ns == 14 * S);
    io_watch_free(&b.watch);
}

static void more_requests_than_slots_do_no_harm(void **state)
{
    (void)state;
    struct bench b;
    bench_begin(&b);
    struct io_req *requests[SLOTS + 1];
    for (unsigned i = 0; i <= SLOTS; i++)
        requests[i] = begin(&b, i, 0);
    assert_int_equal(io_watch_tick(&b.watch, 15 * S), SLOTS);
    for (unsigned i = 0; i <= SLOTS; i++)
        end(&b, requests[i], 16 * S);
    io_watch_tick(&b.watch, 17 * S);
    assert_int_equal(b.told_count, 2 * SLOTS);
    io_watch_free(&b.watch);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(it_is_told_at_15_s_and_not_before),
        cmocka_unit_test(it_is_told_once_while_outstanding_and_once_at_its_end),
        cmocka_unit_test(one_that_ended_between_two_looks_is_told_as_complete),
        cmocka_unit_test(what_completed_meanwhile_is_counted_without_itself),
        cmocka_unit_test(only_the_pauses_within_its_life_are_taken_off),
        cmocka_unit_test(more_requests_than_slots_do_no_harm),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
