/* test_rng.c - the generator against the published sequences, its distributions, its splitting. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "patterns/rng.h"

/* First outputs of the reference implementation of xoshiro256** from the state {1, 2, 3, 4}. */
static void xoshiro_gives_the_published_sequence(void **state)
{
    static const uint64_t expected[] = {
        11520ull,
        0ull,
        1509978240ull,
        1215971899390074240ull,
        1216172134540287360ull,
        607988272756665600ull,
        16172922978634559625ull,
        8476171486693032832ull,
        10595114339597558777ull,
        2904607092377533576ull,
    };
    struct rng rng = {{1, 2, 3, 4}};

    (void)state;
    for (size_t i = 0; i < sizeof(expected) / sizeof(expected[0]); i++)
        assert_true(rng_next(&rng) == expected[i]);
}

/* splitmix64 from 1234567, the published test sequence; it seeds the four words. */
static void seeding_is_splitmix64(void **state)
{
    struct rng rng;

    (void)state;
    rng_seed(&rng, 1234567);
    assert_true(rng.s[0] == 6457827717110365317ull);
    assert_true(rng.s[1] == 3203168211198807973ull);
    assert_true(rng.s[2] == 9817491932198370423ull);
    assert_true(rng.s[3] == 4593380528125082431ull);
}

static void the_same_split_repeats(void **state)
{
    struct rng a, b;

    (void)state;
    rng_split(&a, 42, 7, 3);
    rng_split(&b, 42, 7, 3);
    for (int i = 0; i < 100; i++)
        assert_true(rng_next(&a) == rng_next(&b));
}

/* 64-bit values of independent streams: an equal pair among 3 * 100 has a chance below 2^-47. */
static void splits_differ_by_seed_purpose_and_index(void **state)
{
    static const uint64_t others[][3] = {{43, 7, 3}, {42, 8, 3}, {42, 7, 4}, {42, 3, 7}};
    struct rng base, other;

    (void)state;
    for (size_t k = 0; k < sizeof(others) / sizeof(others[0]); k++) {
        rng_split(&base, 42, 7, 3);
        rng_split(&other, others[k][0], others[k][1], others[k][2]);
        for (int i = 0; i < 100; i++)
            assert_true(rng_next(&base) != rng_next(&other));
    }
}

/* 70,000 draws of 7 values: 10,000 each expected, sigma = sqrt(70000 * 1/7 * 6/7) = 93; 6 sigma. */
static void below_is_uniform(void **state)
{
    unsigned counts[7] = {0};
    struct rng rng;

    (void)state;
    rng_seed(&rng, 1);
    for (int i = 0; i < 70000; i++) {
        const uint64_t value = rng_below(&rng, 7);

        assert_true(value < 7);
        counts[value]++;
    }
    for (int i = 0; i < 7; i++)
        assert_in_range(counts[i], 10000 - 558, 10000 + 558);
}

/* With bound = 3 * 2^62 a plain modulo gives values below 2^62 in half of the cases, a fair draw in
 * a third: 30,000 draws, 10,000 expected, sigma = sqrt(30000 * 1/3 * 2/3) = 82. */
static void below_has_no_modulo_bias(void **state)
{
    unsigned low = 0;
    struct rng rng;

    (void)state;
    rng_seed(&rng, 2);
    for (int i = 0; i < 30000; i++)
        low += rng_below(&rng, 3ull << 62) < 1ull << 62;
    assert_in_range(low, 10000 - 492, 10000 + 492);
}

static void below_one_is_zero(void **state)
{
    struct rng rng;

    (void)state;
    rng_seed(&rng, 3);
    for (int i = 0; i < 100; i++)
        assert_int_equal(rng_below(&rng, 1), 0);
}

static void range_reaches_both_ends_and_nothing_else(void **state)
{
    bool seen[5] = {false};
    struct rng rng;

    (void)state;
    rng_seed(&rng, 4);
    for (int i = 0; i < 1000; i++) {
        const int64_t value = rng_range(&rng, -2, 2);

        assert_true(value >= -2 && value <= 2);
        seen[value + 2] = true;
    }
    for (int i = 0; i < 5; i++)
        assert_true(seen[i]);
}

static void range_takes_the_whole_of_int64(void **state)
{
    unsigned negative = 0;
    struct rng rng;

    (void)state;
    rng_seed(&rng, 5);
    for (int i = 0; i < 1000; i++)
        negative += rng_range(&rng, INT64_MIN, INT64_MAX) < 0;
    assert_in_range(negative, 400, 600); /* 500 +- 6 sigma of 15.8 */
    assert_true(rng_range(&rng, INT64_MAX, INT64_MAX) == INT64_MAX);
}

static void chance_zero_is_never_and_10000_is_always(void **state)
{
    struct rng rng;

    (void)state;
    rng_seed(&rng, 6);
    for (int i = 0; i < 20000; i++) {
        assert_false(rng_chance(&rng, 0));
        assert_true(rng_chance(&rng, 10000));
    }
}

/* 500 hundredths are 5 %: of 100,000 draws 5,000, sigma = sqrt(100000 * 0.05 * 0.95) = 69. */
static void chance_counts_hundredths_of_a_percent(void **state)
{
    unsigned hits = 0;
    struct rng rng;

    (void)state;
    rng_seed(&rng, 7);
    for (int i = 0; i < 100000; i++)
        hits += rng_chance(&rng, 500);
    assert_in_range(hits, 5000 - 414, 5000 + 414);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(xoshiro_gives_the_published_sequence),
        cmocka_unit_test(seeding_is_splitmix64),
        cmocka_unit_test(the_same_split_repeats),
        cmocka_unit_test(splits_differ_by_seed_purpose_and_index),
        cmocka_unit_test(below_is_uniform),
        cmocka_unit_test(below_has_no_modulo_bias),
        cmocka_unit_test(below_one_is_zero),
        cmocka_unit_test(range_reaches_both_ends_and_nothing_else),
        cmocka_unit_test(range_takes_the_whole_of_int64),
        cmocka_unit_test(chance_zero_is_never_and_10000_is_always),
        cmocka_unit_test(chance_counts_hundredths_of_a_percent),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
