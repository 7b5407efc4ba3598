/* The pace of a checkpoint: 5 ms naps at the target, a target that follows the latency. */
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>
#include <cmocka.h>

#include "sim/write_pace.h"

#define MS  1000000ull
#define MAX 4096

static struct write_pace pace_of(unsigned schedulers, uint64_t slow_ms)
{
    struct write_pace pace;
    write_pace_init(&pace, schedulers, MAX, slow_ms * MS);
    return pace;
}

/* So many pages go out and come back, one at a time. */
static void pages_through(struct write_pace *pace, unsigned pages, uint64_t latency_ns)
{
    for (unsigned i = 0; i < pages; i++) {
        write_pace_sent(pace, 1);
        write_pace_returned(pace, 1, latency_ns);
    }
}

static void it_begins_with_64_pages_a_scheduler(void **state)
{
    (void)state;
    assert_int_equal(pace_of(1, 50).target, 64);
    assert_int_equal(pace_of(4, 50).target, 256);
    assert_int_equal(pace_of(1000, 50).target, MAX);
}

static void it_is_full_at_the_target(void **state)
{
    (void)state;
    struct write_pace pace = pace_of(1, 50);
    write_pace_sent(&pace, 63);
    assert_false(write_pace_is_full(&pace));
    write_pace_sent(&pace, 1);
    assert_true(write_pace_is_full(&pace));
    write_pace_returned(&pace, 1, 40 * MS);
    assert_false(write_pace_is_full(&pace));
}

/* 51 ms, of which 50 are allowed: 64 - 16 = 48 after 64 pages, 48 - 12 = 36 after 48 more. */
static void it_shrinks_above_the_latency_of_the_version(void **state)
{
    (void)state;
    struct write_pace pace = pace_of(1, 50);
    pages_through(&pace, 64, 51 * MS);
    assert_int_equal(pace.target, 48);
    pages_through(&pace, 48, 51 * MS);
    assert_int_equal(pace.target, 36);
    struct write_pace older = pace_of(1, 20);
    pages_through(&older, 64, 21 * MS);
    assert_int_equal(older.target, 48);
}

static void it_stays_between_half_the_latency_and_the_whole(void **state)
{
    (void)state;
    struct write_pace pace = pace_of(1, 50);
    pages_through(&pace, 1000, 50 * MS);
    pages_through(&pace, 1000, 25 * MS);
    assert_int_equal(pace.target, 64);
}

/* 64 + 16 = 80. */
static void it_grows_while_the_device_is_fast(void **state)
{
    (void)state;
    struct write_pace pace = pace_of(1, 50);
    pages_through(&pace, 64, MS);
    assert_int_equal(pace.target, 80);
    pages_through(&pace, 100000, MS);
    assert_int_equal(pace.target, MAX);
}

static void it_never_shrinks_below_two_extents(void **state)
{
    (void)state;
    struct write_pace pace = pace_of(1, 50);
    pages_through(&pace, 10000, 1000 * MS);
    assert_int_equal(pace.target, 16);
}

/* One write of 100 ms among many of 30: the mean is (30 x 7 + 100) / 8 = 38.75 ms, below 50. */
static void one_slow_write_changes_nothing(void **state)
{
    (void)state;
    struct write_pace pace = pace_of(1, 50);
    pages_through(&pace, 63, 30 * MS);
    pages_through(&pace, 1, 100 * MS);
    assert_int_equal(pace.mean_ns, 38750000);
    assert_int_equal(pace.target, 64);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(it_begins_with_64_pages_a_scheduler),
        cmocka_unit_test(it_is_full_at_the_target),
        cmocka_unit_test(it_shrinks_above_the_latency_of_the_version),
        cmocka_unit_test(it_stays_between_half_the_latency_and_the_whole),
        cmocka_unit_test(it_grows_while_the_device_is_fast),
        cmocka_unit_test(it_never_shrinks_below_two_extents),
        cmocka_unit_test(one_slow_write_changes_nothing),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
