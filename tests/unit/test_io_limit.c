/*
 * The ceiling for a run: exact arithmetic of its start times, and that its rate holds however
 * requests arrive.
 */
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>
#include <cmocka.h>

#include "patterns/rng.h"
#include "sim/io_limit.h"

#define MS    1000000ull
#define S     1000000000ull
#define KIB_8 8192

/* 1,000 a second: 1 ms each; 20 of them are 20 ms, so the first 21 go at once. */
static void what_was_idle_may_be_20_ms_ahead_and_no_more(void **state)
{
    (void)state;
    struct io_limit limit;
    io_limit_init(&limit, 1000, 0);
    for (unsigned i = 0; i <= 20; i++)
        assert_int_equal(io_limit_take(&limit, 5 * S, KIB_8), 5 * S);
    for (unsigned i = 1; i <= 100; i++)
        assert_int_equal(io_limit_take(&limit, 5 * S, KIB_8), 5 * S + i * MS);
    assert_int_equal(limit.held, 100);
    assert_int_equal(limit.held_ns, 5050 * MS); /* 1 + 2 + ... + 100 ms */
    io_limit_free(&limit);
}

/* Whoever comes each 2 ms is never held by 1,000 a second, nor is he given more later. */
static void below_the_rate_nobody_waits(void **state)
{
    (void)state;
    struct io_limit limit;
    io_limit_init(&limit, 1000, 0);
    for (uint64_t i = 0; i < 1000; i++)
        assert_int_equal(io_limit_take(&limit, i * 2 * MS, KIB_8), i * 2 * MS);
    assert_int_equal(limit.held, 0);
    io_limit_free(&limit);
}

/* 10 MB/s: 1 MiB each 100 ms.  The second waits until the first is paid for but 20 ms. */
static void bytes_are_paid_for_in_full(void **state)
{
    (void)state;
    struct io_limit limit;
    io_limit_init(&limit, 0, 10 << 20);
    assert_int_equal(io_limit_take(&limit, S, 1 << 20), S);
    for (uint64_t i = 1; i <= 50; i++)
        assert_int_equal(io_limit_take(&limit, S, 1 << 20), S + i * 100 * MS - 20 * MS);
    io_limit_free(&limit);
}

/* 100 a second of 1 MiB would be 100 MB/s: the bytes decide; of 8 KiB the transfers do. */
static void the_tighter_of_the_two_decides(void **state)
{
    (void)state;
    struct io_limit limit;
    io_limit_init(&limit, 100, 10 << 20);
    uint64_t at = 0;
    for (unsigned i = 0; i < 101; i++)
        at = io_limit_take(&limit, 0, 1 << 20);
    assert_int_equal(at, 10 * S - 20 * MS);
    io_limit_free(&limit);
    io_limit_init(&limit, 100, 10 << 20);
    for (unsigned i = 0; i < 101; i++)
        at = io_limit_take(&limit, 0, KIB_8);
    assert_int_equal(at, S - 20 * MS);
    io_limit_free(&limit);
}

/* Arrivals at random, in bursts and pauses: in no 100 ms do more start than the rate and the burst
 * allow, and what is always in arrears gets the rate to one request. */
static void no_window_has_more_than_the_rate_and_the_burst(void **state)
{
    (void)state;
    enum { COUNT = 20000, RATE = 3000 };
    static uint64_t starts[COUNT];
    struct rng rng;
    struct io_limit limit;
    rng_seed(&rng, 7);
    io_limit_init(&limit, RATE, 0);
    uint64_t now_ns = 0;
    for (unsigned i = 0; i < COUNT; i++) {
        now_ns += rng_below(&rng, 100) == 0 ? rng_below(&rng, 50 * MS) : rng_below(&rng, MS / 10);
        starts[i] = io_limit_take(&limit, now_ns, KIB_8);
        assert_true(starts[i] >= now_ns && (i == 0 || starts[i] >= starts[i - 1]));
    }
    for (unsigned first = 0, next = 0; first < COUNT; first++) {
        while (next < COUNT && starts[next] < starts[first] + 100 * MS)
            next++;
        assert_true(next - first <= RATE / 10 + RATE / 50 + 1);
    }
    io_limit_free(&limit);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(what_was_idle_may_be_20_ms_ahead_and_no_more),
        cmocka_unit_test(below_the_rate_nobody_waits),
        cmocka_unit_test(bytes_are_paid_for_in_full),
        cmocka_unit_test(the_tighter_of_the_two_decides),
        cmocka_unit_test(no_window_has_more_than_the_rate_and_the_burst),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
