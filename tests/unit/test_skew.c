/*
 * test_skew.c - where skewed accesses fall, by Pearson's chi-square against the shares that were
 * asked for.
 *
 * The bounds are the 99.9 % quantiles of the chi-square distribution: 13.8 for two degrees of
 * freedom (three bands), 29.6 for ten, 149.4 for a hundred (any table).  The seeds are fixed, so a
 * test passes always or never.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "patterns/skew.h"

#define PAGES 20000
#define DRAWS 200000
#define CELLS 101

static struct skew parsed(const char *text)
{
    struct skew skew;
    char why[OPT_TEXT_MAX];
    assert_int_equal(skew_parse(text, &skew, why), 0);
    return skew;
}

static double chi_square(const uint64_t *seen, const double *shares, size_t cells)
{
    double sum = 0;
    for (size_t i = 0; i < cells; i++) {
        double expected = shares[i] * DRAWS;
        sum += ((double)seen[i] - expected) * ((double)seen[i] - expected) / expected;
    }
    return sum;
}

/* 95 % in pages 0 to 999, 4 % in 1,000 to 2,999, 1 % in the rest. */
static void each_band_has_its_share(void **state)
{
    struct skew skew = parsed("95/5,4/10");
    const double shares[] = {0.95, 0.04, 0.01};
    (void)state;
    for (uint64_t seed = 1; seed <= 5; seed++) {
        struct rng rng;
        uint64_t seen[3] = {0};
        rng_split(&rng, seed, 1, 0);
        for (unsigned i = 0; i < DRAWS; i++) {
            uint32_t page = skew_page(&skew, &rng, PAGES);
            assert_true(page < PAGES);
            seen[page < 1000 ? 0 : page < 3000 ? 1 : 2]++;
        }
        double chi = chi_square(seen, shares, 3);
        print_message("  seed %llu: %.2f\n", (unsigned long long)seed, chi);
        assert_true(chi < 13.8);
    }
}

/* The hot 1,000 pages in ten parts, and all that is outside them: eleven cells. */
static void the_hot_band_is_even_in_itself(void **state)
{
    struct skew skew = parsed("95/5,4/10");
    double shares[11];
    uint64_t seen[11] = {0};
    struct rng rng;
    (void)state;
    for (unsigned i = 0; i < 10; i++)
        shares[i] = 0.095;
    shares[10] = 0.05;
    rng_split(&rng, 7, 1, 0);
    for (unsigned i = 0; i < DRAWS; i++) {
        uint32_t page = skew_page(&skew, &rng, PAGES);
        seen[page < 1000 ? page / 100 : 10]++;
    }
    assert_true(chi_square(seen, shares, 11) < 29.6);
}

static void without_skew_all_pages_are_alike(void **state)
{
    struct skew skew = parsed("");
    double shares[CELLS];
    uint64_t seen[CELLS] = {0};
    struct rng rng;
    (void)state;
    for (unsigned i = 0; i < CELLS; i++)
        shares[i] = 1.0 / CELLS;
    rng_split(&rng, 9, 1, 0);
    for (unsigned i = 0; i < DRAWS; i++) /* 198 pages a cell */
        seen[skew_page(&skew, &rng, CELLS * 198) / 198]++;
    assert_true(chi_square(seen, shares, CELLS) < 149.4);
}

/* The measure sees a skew that is not there: 95/5 is not 94/5. */
static void a_wrong_share_is_seen(void **state)
{
    struct skew skew = parsed("94/5,5/10");
    const double shares[] = {0.95, 0.04, 0.01};
    uint64_t seen[3] = {0};
    struct rng rng;
    (void)state;
    rng_split(&rng, 1, 1, 0);
    for (unsigned i = 0; i < DRAWS; i++) {
        uint32_t page = skew_page(&skew, &rng, PAGES);
        seen[page < 1000 ? 0 : page < 3000 ? 1 : 2]++;
    }
    assert_true(chi_square(seen, shares, 3) > 13.8);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(each_band_has_its_share),
        cmocka_unit_test(the_hot_band_is_even_in_itself),
        cmocka_unit_test(without_skew_all_pages_are_alike),
        cmocka_unit_test(a_wrong_share_is_seen),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
