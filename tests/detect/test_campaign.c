/*
 * test_campaign.c - thousands of drawn faults: every one that can be found is found and named, and
 * nothing else is; see campaign.h.  The seed is printed; TEST_SEED=N runs one.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "tests/detect/campaign.h"
#include "tests/scale.h"

#define INJECTIONS       2000
#define INJECTIONS_FEW   200 /* where TEST_SCALE is below 1: for sanitizers, not for figures */
#define RUNS_MAX         60
#define MISNAMED_OF_1000 1  /* at least 99.9 % named right */
#define COUNTED_PERCENT  50 /* of the injected: else the faults were put where nobody looks */

static void every_fault_that_is_met_is_found_and_named(void **state)
{
    (void)state;
    struct campaign_tally tally = {0};
    const char *only = getenv("TEST_SEED");
    const bool fewer = test_scaled(INJECTIONS) < INJECTIONS;
    const uint64_t wanted = fewer ? INJECTIONS_FEW : test_scaled(INJECTIONS);
    uint64_t seed = only ? strtoull(only, NULL, 10) : 1;
    do {
        assert_int_equal(campaign_run(seed++, &tally), 0);
    } while (!only && tally.injected < wanted && tally.runs < RUNS_MAX * (wanted / INJECTIONS + 1));
    printf("seeds from 1; ");
    campaign_print(&tally);
    assert_int_equal(tally.missed, 0);
    assert_int_equal(tally.others, 0);
    assert_true(tally.misnamed * 1000 <= tally.named * MISNAMED_OF_1000);
    assert_true(only || tally.injected >= wanted);
    assert_true(tally.counted * 100 >= tally.injected * COUNTED_PERCENT);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_fault_that_is_met_is_found_and_named),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
