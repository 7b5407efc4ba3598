/* test_io_account.c - counts, SQLIOSim's running average and the steps of the limit, against
 * figures worked out by hand. */
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>
#include <cmocka.h>

#include "sim/io_account.h"

#define MS 1000000ull

/* So many outstanding, none of them limited. */
static void enter(struct io_account *account, unsigned count)
{
    for (unsigned i = 0; i < count; i++)
        assert_true(io_account_enter(account, false));
}

/* One of the outstanding ones completes and another one takes its place. */
static void turn(struct io_account *account, uint64_t ms, bool throttling)
{
    io_account_completed(account, IO_KIND_READ, ms * MS, throttling);
    io_account_leave(account);
    enter(account, 1);
}

static void requests_are_counted_by_kind(void **state)
{
    (void)state;
    struct io_account account;
    io_account_init(&account, 100, 140000);
    for (int kind = 0; kind < 4; kind++)
        for (int i = 0; i <= kind; i++)
            io_account_completed(&account, (enum io_kind)kind, 10 * MS, false);
    assert_int_equal(account.reads, 1);
    assert_int_equal(account.scatter_reads, 2);
    assert_int_equal(account.writes, 3);
    assert_int_equal(account.gather_writes, 4);
    assert_int_equal(account.total_io_ns, 100 * MS);
}

/* 100 requests: 99 of 1 ms and one of 3 s. */
static void the_durations_are_kept_as_a_histogram(void **state)
{
    (void)state;
    struct io_account account;
    struct hist hist;
    io_account_init(&account, 100, 140000);
    for (int i = 0; i < 100; i++)
        io_account_completed(&account, IO_KIND_READ, i == 50 ? 3000 * MS : MS, false);
    io_account_hist(&account, &hist);
    assert_int_equal(hist.count, 100);
    assert_int_equal(hist.max_ns, 3000 * MS);
    assert_int_equal(hist.sum_ns, 3099 * MS);
    assert_in_range(hist_quantile_ns(&hist, 0.99), 990000, 1010000); /* 1 % of 1 ms */
    assert_int_equal(hist_quantile_ns(&hist, 1), 3000 * MS);
}

static void the_average_begins_at_the_target(void **state)
{
    (void)state;
    struct io_account account;
    io_account_init(&account, 100, 140000);
    assert_int_equal(account.running_average_ms, 100);
}

/* MaxIOs 4: (100*3 + 20)/4 = 80; (80*3 + 20)/4 = 65; (65*3 + 20)/4 = 53.75 -> 53 */
static void the_average_is_weighted_and_truncated(void **state)
{
    (void)state;
    struct io_account account;
    io_account_init(&account, 100, 140000);
    enter(&account, 4);
    const uint32_t expected[] = {80, 65, 53};
    for (unsigned i = 0; i < 3; i++) {
        turn(&account, 20, false);
        assert_int_equal(account.running_average_ms, expected[i]);
    }
}

/* MaxIOs 8: (7*7 + 0)/8 = 6; 42/8 = 5; 35/8 = 4; 28/8 = 3; 21/8 = 2; 14/8 = 1; 7/8 = 0.
 * And from 0 a duration below MaxIOs is lost: 7/8 = 0, 8/8 = 1. */
static void fast_storage_lets_the_average_drift_to_0(void **state)
{
    (void)state;
    struct io_account account;
    io_account_init(&account, 7, 140000);
    enter(&account, 8);
    for (uint32_t expected = 6;; expected--) {
        turn(&account, 0, false);
        assert_int_equal(account.running_average_ms, expected);
        if (expected == 0)
            break;
    }
    turn(&account, 7, false);
    assert_int_equal(account.running_average_ms, 0);
    turn(&account, 8, false);
    assert_int_equal(account.running_average_ms, 1);
}

/* 1,000,000 * 139,999 does not fit into 32 bits; with MaxIOs 2: (1000000 + 0)/2 = 500000. */
static void large_targets_do_not_wrap(void **state)
{
    (void)state;
    struct io_account account;
    io_account_init(&account, 1000000, 140000);
    enter(&account, 140000);
    turn(&account, 1000000, true);
    assert_int_equal(account.running_average_ms, 1000000);
    io_account_init(&account, 1000000, 140000);
    enter(&account, 2);
    turn(&account, 0, true);
    assert_int_equal(account.running_average_ms, 500000);
}

static void the_high_mark_is_the_most_outstanding_at_once(void **state)
{
    (void)state;
    struct io_account account;
    io_account_init(&account, 100, 140000);
    enter(&account, 5);
    io_account_leave(&account);
    enter(&account, 1);
    assert_int_equal(account.outstanding, 5);
    assert_int_equal(account.outstanding_high, 5);
}

/* 16 outstanding at 200 ms: (100*15 + 200)/16 = 106 > 100, so at once 16 - 16/4 = 12. */
static void above_the_target_the_limit_falls_by_a_quarter(void **state)
{
    (void)state;
    struct io_account account;
    io_account_init(&account, 100, 140000);
    enter(&account, 16);
    turn(&account, 200, true);
    assert_int_equal(account.limit, 12);
    assert_false(io_account_enter(&account, true));
    assert_true(io_account_enter(&account, false));
}

/* 12 - 3 = 9 after 12 completions more (MaxIOs is 12 now), not before. */
static void it_falls_once_a_window(void **state)
{
    (void)state;
    struct io_account account;
    io_account_init(&account, 100, 140000);
    enter(&account, 16);
    turn(&account, 200, true);
    for (unsigned i = 1; i <= 11; i++) {
        turn(&account, 200, true);
        assert_int_equal(account.limit, 12);
    }
    turn(&account, 200, true);
    assert_int_equal(account.limit, 9);
}

static void it_never_falls_below_the_floor(void **state)
{
    (void)state;
    struct io_account account;
    io_account_init(&account, 100, 140000);
    enter(&account, 16);
    for (unsigned i = 0; i < 1000; i++)
        turn(&account, 500, true);
    assert_int_equal(account.limit, IO_LIMIT_FLOOR);
}

/* The first completion of 200 ms lowers it to 3 (4 - 4/4), average (100*3 + 200)/4 = 125.  With
 * MaxIOs 3 and 0 ms: (125*2)/3 = 83, not above; 3 completions make a window: 4; it is what the file
 * ever had, so it binds still; 4 more: 5 is more than that: not lowered any more. */
static void below_the_target_it_rises_again_and_ends(void **state)
{
    (void)state;
    struct io_account account;
    io_account_init(&account, 100, 140000);
    enter(&account, 4);
    turn(&account, 200, true);
    assert_int_equal(account.limit, 3);
    assert_int_equal(account.running_average_ms, 125);
    for (unsigned i = 0; i < 3; i++)
        turn(&account, 0, true);
    assert_int_equal(account.limit, 4);
    assert_true(io_account_is_lowered(&account));
    for (unsigned i = 0; i < 4; i++)
        turn(&account, 0, true);
    assert_int_equal(account.limit, 140000);
    assert_false(io_account_is_lowered(&account));
}

static void in_a_burst_the_average_follows_and_the_limit_stays(void **state)
{
    (void)state;
    struct io_account account;
    io_account_init(&account, 100, 140000);
    enter(&account, 16);
    turn(&account, 200, false);
    assert_int_equal(account.running_average_ms, 106);
    assert_int_equal(account.limit, 140000);
}

static void a_zeroed_account_counts_and_has_no_limit(void **state)
{
    (void)state;
    struct io_account account = {0};
    enter(&account, 1);
    assert_true(io_account_enter(&account, true));
    io_account_completed(&account, IO_KIND_WRITE, 900 * MS, true);
    assert_int_equal(account.writes, 1);
    assert_int_equal(account.running_average_ms, 0);
    assert_true(io_account_enter(&account, true));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(requests_are_counted_by_kind),
        cmocka_unit_test(the_durations_are_kept_as_a_histogram),
        cmocka_unit_test(the_average_begins_at_the_target),
        cmocka_unit_test(the_average_is_weighted_and_truncated),
        cmocka_unit_test(fast_storage_lets_the_average_drift_to_0),
        cmocka_unit_test(large_targets_do_not_wrap),
        cmocka_unit_test(the_high_mark_is_the_most_outstanding_at_once),
        cmocka_unit_test(above_the_target_the_limit_falls_by_a_quarter),
        cmocka_unit_test(it_falls_once_a_window),
        cmocka_unit_test(it_never_falls_below_the_floor),
        cmocka_unit_test(below_the_target_it_rises_again_and_ends),
        cmocka_unit_test(in_a_burst_the_average_follows_and_the_limit_stays),
        cmocka_unit_test(a_zeroed_account_counts_and_has_no_limit),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
