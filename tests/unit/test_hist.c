/* test_hist.c - the latency histogram: error, bounds, quantiles, merge. */
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>
#include <stdio.h>
#include <stdlib.h>
#include <cmocka.h>

#include "patterns/rng.h"
#include "sim/hist.h"

#define US  1000ull
#define MIN (60ull * 1000000000ull)

static struct hist *new_hist(void)
{
    struct hist *hist = calloc(1, sizeof(*hist));
    assert_non_null(hist);
    return hist;
}

/* Median of {1 ns, value, 2^40 ns}: the middle of value's bucket, not clamped to min or max. */
static uint64_t reported(uint64_t value)
{
    struct hist *hist = new_hist();
    hist_add(hist, 1);
    hist_add(hist, value);
    hist_add(hist, 1ull << 40);
    uint64_t median = hist_quantile_ns(hist, 0.5);
    free(hist);
    return median;
}

static void assert_within_1_percent(uint64_t value)
{
    uint64_t got = reported(value);
    uint64_t error = got > value ? got - value : value - got;
    if (error * 100 > value)
        fail_msg("%llu ns is reported as %llu ns", (unsigned long long)value,
                 (unsigned long long)got);
}

static void error_is_at_most_1_percent_from_1_us_to_10_min(void **state)
{
    (void)state;
    /* A bucket's worst cases are its first and its last value, so these are all of them. */
    unsigned checked = 0;
    for (unsigned i = 0; i < HIST_BUCKETS; i++) {
        uint64_t low = hist_bucket_low_ns(i);
        uint64_t last = hist_bucket_high_ns(i) - 1;
        if (last < 1 * US || low > 10 * MIN)
            continue;
        assert_within_1_percent(low < 1 * US ? 1 * US : low);
        assert_within_1_percent(last > 10 * MIN ? 10 * MIN : last);
        checked++;
    }
    /* 10 min / 1 us = 6e8 = 2^29.2: at least 29 octaves of 64 buckets lie between them. */
    assert_true(checked >= 29 * 64);
}

static void buckets_are_contiguous_from_0_to_2_to_the_41(void **state)
{
    (void)state;
    assert_int_equal(hist_bucket_low_ns(0), 0);
    for (unsigned i = 0; i + 1 < HIST_BUCKETS; i++) {
        assert_true(hist_bucket_high_ns(i) > hist_bucket_low_ns(i));
        assert_int_equal(hist_bucket_high_ns(i), hist_bucket_low_ns(i + 1));
    }
    assert_int_equal(hist_bucket_high_ns(HIST_BUCKETS - 1), 1ull << 41);
}

static void a_value_is_counted_in_the_bucket_whose_bounds_hold_it(void **state)
{
    (void)state;
    uint64_t seed = 20260101;
    print_message("seed %llu\n", (unsigned long long)seed);
    struct rng rng;
    rng_seed(&rng, seed);
    struct hist *hist = new_hist();
    for (unsigned n = 0; n < 20000; n++) {
        uint64_t value = rng_next(&rng) >> (24 + rng_below(&rng, 40));
        hist_add(hist, value);
        unsigned i = 0;
        while (hist_bucket_high_ns(i) <= value && i + 1 < HIST_BUCKETS)
            i++;
        assert_int_equal(hist->buckets[i], 1);
        hist->buckets[i] = 0;
    }
    free(hist);
}

static void min_max_count_and_mean_are_exact(void **state)
{
    (void)state;
    struct hist *hist = new_hist();
    hist_add(hist, 123457);
    hist_add(hist, 1000003);
    hist_add(hist, 777777);
    assert_int_equal(hist->count, 3);
    assert_int_equal(hist->min_ns, 123457);
    assert_int_equal(hist->max_ns, 1000003);
    assert_int_equal(hist->sum_ns, 123457 + 1000003 + 777777);
    assert_true(hist_mean_ns(hist) == (123457.0 + 1000003.0 + 777777.0) / 3);
    assert_int_equal(hist_quantile_ns(hist, 0), 123457);
    assert_int_equal(hist_quantile_ns(hist, 1), 1000003);
    free(hist);
}

static void assert_near(uint64_t got, uint64_t expected)
{
    assert_true(got * 100 >= expected * 99 && got * 100 <= expected * 101);
}

/* 1..1000 us once each: by nearest rank p50 is the 500th value, p99 the 990th, p999 the 999th. */
static void quantiles_follow_the_nearest_rank(void **state)
{
    (void)state;
    struct hist *hist = new_hist();
    for (uint64_t us = 1000; us >= 1; us--)
        hist_add(hist, us * US);
    assert_near(hist_quantile_ns(hist, 0.50), 500 * US);
    assert_near(hist_quantile_ns(hist, 0.90), 900 * US);
    assert_near(hist_quantile_ns(hist, 0.99), 990 * US);
    assert_near(hist_quantile_ns(hist, 0.999), 999 * US);
    free(hist);
}

static void one_slow_request_in_1000_shows_above_p999_only(void **state)
{
    (void)state;
    struct hist *hist = new_hist();
    for (unsigned i = 0; i < 999; i++)
        hist_add(hist, 100 * US);
    hist_add(hist, 5000 * US);
    assert_near(hist_quantile_ns(hist, 0.999), 100 * US);
    assert_near(hist_quantile_ns(hist, 0.9991), 5000 * US);
    free(hist);
}

static void an_empty_histogram_reports_zero(void **state)
{
    (void)state;
    struct hist *hist = new_hist();
    assert_int_equal(hist_quantile_ns(hist, 0.5), 0);
    assert_true(hist_mean_ns(hist) == 0);
    free(hist);
}

static void values_beyond_the_top_stay_counted_with_an_exact_max(void **state)
{
    (void)state;
    struct hist *hist = new_hist();
    hist_add(hist, 1ull << 50);
    assert_int_equal(hist->count, 1);
    assert_int_equal(hist->buckets[HIST_BUCKETS - 1], 1);
    assert_int_equal(hist->max_ns, 1ull << 50);
    free(hist);
}

static void a_merge_equals_adding_everything_to_one(void **state)
{
    (void)state;
    uint64_t seed = 7;
    print_message("seed %llu\n", (unsigned long long)seed);
    struct rng rng;
    rng_seed(&rng, seed);
    struct hist *parts[3] = {new_hist(), new_hist(), new_hist()}; /* the third stays empty */
    struct hist *whole = new_hist();
    struct hist *merged = new_hist();
    for (unsigned i = 0; i < 1000; i++) {
        uint64_t value = 1000 + rng_below(&rng, 1000000000);
        hist_add(parts[i % 2], value);
        hist_add(whole, value);
    }
    for (unsigned i = 0; i < 3; i++) {
        hist_merge(merged, parts[i]);
        free(parts[i]);
    }
    assert_memory_equal(merged, whole, sizeof(*whole));
    free(whole);
    free(merged);
}

/* Three values before; between the looks 2 ms and 3 ms are added, both below the old maximum. */
static void a_difference_holds_what_was_added_between_two_states(void **state)
{
    (void)state;
    struct hist *hist = new_hist(), *before = new_hist(), *difference = new_hist();
    hist_add(hist, 1000 * US);
    hist_add(hist, 2000 * US);
    hist_add(hist, 9000 * US);
    *before = *hist;
    hist_add(hist, 2000 * US);
    hist_add(hist, 3000 * US);
    hist_difference(hist, before, difference);
    assert_int_equal(difference->count, 2);
    assert_int_equal(difference->sum_ns, 5000 * US);
    assert_true(hist_mean_ns(difference) == 2500.0 * US);
    assert_near(hist_quantile_ns(difference, 0.5), 2000 * US);
    assert_near(difference->max_ns, 3000 * US);
    free(hist);
    free(before);
    free(difference);
}

static void a_new_maximum_is_exact_in_the_difference(void **state)
{
    (void)state;
    struct hist *hist = new_hist(), *before = new_hist(), *difference = new_hist();
    hist_add(hist, 1000 * US);
    *before = *hist;
    hist_add(hist, 7654321);
    hist_difference(hist, before, difference);
    assert_int_equal(difference->max_ns, 7654321);
    free(hist);
    free(before);
    free(difference);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(error_is_at_most_1_percent_from_1_us_to_10_min),
        cmocka_unit_test(buckets_are_contiguous_from_0_to_2_to_the_41),
        cmocka_unit_test(a_value_is_counted_in_the_bucket_whose_bounds_hold_it),
        cmocka_unit_test(min_max_count_and_mean_are_exact),
        cmocka_unit_test(quantiles_follow_the_nearest_rank),
        cmocka_unit_test(one_slow_request_in_1000_shows_above_p999_only),
        cmocka_unit_test(an_empty_histogram_reports_zero),
        cmocka_unit_test(values_beyond_the_top_stay_counted_with_an_exact_max),
        cmocka_unit_test(a_merge_equals_adding_everything_to_one),
        cmocka_unit_test(a_difference_holds_what_was_added_between_two_states),
        cmocka_unit_test(a_new_maximum_is_exact_in_the_difference),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
