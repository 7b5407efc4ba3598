/* test_io_history.c - the rings of past requests: what comes back, in which order, and what does
 * not. */
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>
#include <string.h>
#include <errno.h>
#include <pthread.h>
#include <cmocka.h>

#include "sim/io.h"

#define UID 7

struct bench {
    struct io_history rings[2];
    struct io_histories all;
    struct io_target target;
};

static void bench_begin(struct bench *b, unsigned rings)
{
    memset(b, 0, sizeof *b);
    b->target.uid = UID;
    for (unsigned i = 0; i < 2; i++) {
        assert_int_equal(io_history_init(&b->rings[i], rings), 0);
        b->all.rings[i] = &b->rings[i];
    }
    b->all.count = 2;
}

static void bench_end(struct bench *b)
{
    for (unsigned i = 0; i < 2; i++)
        io_history_free(&b->rings[i]);
}

static void add(struct bench *b, unsigned ring, enum io_op op, uint64_t submit_ns, uint64_t offset,
                uint64_t size_bytes, int result)
{
    struct io_req req = {.op = op,
                         .stream = STREAM_checkpoint_write,
                         .phase = PHASE_stress,
                         .target = &b->target,
                         .offset = offset,
                         .total_bytes = size_bytes,
                         .submit_ns = submit_ns,
                         .done_ns = submit_ns + 5000000,
                         .result = result};
    io_history_add(&b->rings[ring], &req, 3);
}

static unsigned collect(struct bench *b, uint64_t offset, uint64_t size_bytes, struct io_past *out,
                        unsigned max, uint64_t *left_out)
{
    return io_history_collect(&b->all, UID, offset, size_bytes, out, max, left_out);
}

static void a_request_comes_back_as_it_was(void **state)
{
    (void)state;
    struct bench b;
    struct io_past past[4];
    uint64_t left_out;
    bench_begin(&b, 2);
    add(&b, 1, IO_WRITE, 1000000, 16ull << 40, 1 << 20, -EIO);
    assert_int_equal(collect(&b, 16ull << 40, 8192, past, 4, &left_out), 1);
    assert_int_equal(left_out, 0);
    assert_int_equal(past[0].submit_ns, 1000000);
    assert_int_equal(past[0].latency_ns, 5000000);
    assert_int_equal(past[0].offset, 16ull << 40);
    assert_int_equal(past[0].size_bytes, 1 << 20);
    assert_int_equal(past[0].file_uid, UID);
    assert_int_equal(past[0].op, IO_WRITE);
    assert_int_equal(past[0].stream, STREAM_checkpoint_write);
    assert_int_equal(past[0].phase, PHASE_stress);
    assert_int_equal(past[0].error, EIO);
    assert_int_equal(past[0].others, 3);
    assert_int_equal(past[0].ring, 1);
    bench_end(&b);
}

static void only_what_overlaps_comes_back_in_order_of_submission(void **state)
{
    (void)state;
    struct bench b;
    struct io_past past[8];
    uint64_t left_out;
    bench_begin(&b, 2);
    add(&b, 0, IO_WRITE, 30, 8192, 8192, 0); /* the page itself */
    add(&b, 1, IO_READ, 10, 0, 65536, 0);    /* around it */
    add(&b, 1, IO_READ, 20, 0, 8192, 0);     /* ends where it begins */
    add(&b, 0, IO_READ, 40, 16384, 8192, 0); /* begins where it ends */
    add(&b, 0, IO_FLUSH, 50, 0, 0, 0);
    add(&b, 1, IO_WRITE, 60, 8192 + 7680, 512, 0); /* its last sector */
    b.target.uid = UID + 1;
    add(&b, 1, IO_WRITE, 25, 8192, 8192, 0); /* of another file */
    assert_int_equal(collect(&b, 8192, 8192, past, 8, &left_out), 3);
    assert_int_equal(past[0].submit_ns, 10);
    assert_int_equal(past[1].submit_ns, 30);
    assert_int_equal(past[2].submit_ns, 60);
    assert_int_equal(collect(&b, 0, 0, past, 8, &left_out), 1); /* flushes */
    assert_int_equal(past[0].submit_ns, 50);
    bench_end(&b);
}

static void the_latest_are_kept_where_there_are_more_than_asked_for(void **state)
{
    (void)state;
    struct bench b;
    struct io_past past[3];
    uint64_t left_out;
    bench_begin(&b, 2);
    for (uint64_t i = 0; i < 10; i++)
        add(&b, i % 2, IO_READ, 100 + i, 0, 8192, 0);
    assert_int_equal(collect(&b, 0, 8192, past, 3, &left_out), 3);
    assert_int_equal(left_out, 7);
    for (unsigned i = 0; i < 3; i++)
        assert_int_equal(past[i].submit_ns, 107 + i);
    bench_end(&b);
}

/* A ring of 1,024: of requests 0..2,999 the last 1,023 are whole for sure. */
static void a_full_ring_forgets_the_oldest_and_says_since_when(void **state)
{
    (void)state;
    struct bench b;
    static struct io_past past[IO_HISTORY_MIN];
    uint64_t left_out;
    bench_begin(&b, IO_HISTORY_RINGS_MAX);
    assert_int_equal(io_history_since_ns(&b.all), 0);
    for (uint64_t i = 0; i < 3000; i++)
        add(&b, 0, IO_READ, i, 0, 8192, 0);
    assert_int_equal(collect(&b, 0, 8192, past, IO_HISTORY_MIN, &left_out), IO_HISTORY_MIN - 1);
    assert_int_equal(past[0].submit_ns, 3000 - IO_HISTORY_MIN + 1);
    assert_int_equal(past[IO_HISTORY_MIN - 2].submit_ns, 2999);
    assert_int_equal(io_history_since_ns(&b.all), 3000 - IO_HISTORY_MIN);
    bench_end(&b);
}

static void all_rings_together_stay_within_32_mib(void **state)
{
    (void)state;
    for (unsigned rings = 2; rings <= IO_HISTORY_RINGS_MAX; rings++) {
        struct io_history history;
        assert_int_equal(io_history_init(&history, rings), 0);
        uint64_t entries = (uint64_t)history.mask + 1;
        bool least = entries == IO_HISTORY_MIN;
        assert_true(least || entries * rings * 32 <= 32 << 20);
        io_history_free(&history);
    }
}

/* ---- while it is written ---- */

#define ROUNDS 200000

/* Each entry's parts belong together: offset, size and time are made of one number. */
static void *writer(void *context)
{
    struct bench *b = context;
    for (uint64_t i = 1; i <= ROUNDS; i++)
        add(b, 0, IO_WRITE, i, i * 8192, 8192 + i % 16 * 512, 0);
    return NULL;
}

static void a_reader_never_sees_half_an_entry(void **state)
{
    (void)state;
    struct bench b;
    pthread_t thread;
    static struct io_past past[256];
    uint64_t left_out, seen = 0;
    bench_begin(&b, IO_HISTORY_RINGS_MAX);
    assert_int_equal(pthread_create(&thread, NULL, writer, &b), 0);
    do {
        unsigned count = collect(&b, 8192, ROUNDS * 8192ull + 8192, past, 256, &left_out);
        for (unsigned i = 0; i < count; i++) {
            uint64_t number = past[i].submit_ns;
            assert_int_equal(past[i].offset, number * 8192);
            assert_int_equal(past[i].size_bytes, 8192 + number % 16 * 512);
            seen = number > seen ? number : seen;
        }
    } while (seen < ROUNDS);
    assert_int_equal(pthread_join(thread, NULL), 0);
    bench_end(&b);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_request_comes_back_as_it_was),
        cmocka_unit_test(only_what_overlaps_comes_back_in_order_of_submission),
        cmocka_unit_test(the_latest_are_kept_where_there_are_more_than_asked_for),
        cmocka_unit_test(a_full_ring_forgets_the_oldest_and_says_since_when),
        cmocka_unit_test(all_rings_together_stay_within_32_mib),
        cmocka_unit_test(a_reader_never_sees_half_an_entry),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
