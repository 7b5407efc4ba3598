/* The long tier of test_seeds.c: 5,000 runs at the TEST_SCALE of run.sh --long, which is 10. */
#include "tests/model/seeds.h"

#define SEEDS 500

static void every_seed_runs_clean(void **state)
{
    (void)state;
    seeds_try(seed_is_clean, test_scaled(SEEDS));
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(every_seed_runs_clean)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
