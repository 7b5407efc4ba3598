/*
 * long_campaign.c - 100,000 drawn faults and a thousand million verifications of faultless pages,
 * at the TEST_SCALE of run.sh --long, which is 10; see campaign.h.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "tests/detect/campaign.h"
#include "tests/scale.h"

#define SEED_FIRST 1000
#define INJECTIONS 10000

static void of_100_000_faults_none_is_missed(void **state)
{
    (void)state;
    struct campaign_tally tally = {0};
    const uint64_t wanted = test_scaled(INJECTIONS);
    for (uint64_t seed = SEED_FIRST; tally.injected < wanted && tally.runs < wanted; seed++)
        assert_int_equal(campaign_run(seed, &tally), 0);
    campaign_print(&tally);
    assert_int_equal(tally.missed, 0);
    assert_int_equal(tally.others, 0);
    assert_true(tally.misnamed * 1000 <= tally.named);
    assert_true(tally.injected >= wanted);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(of_100_000_faults_none_is_missed),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
