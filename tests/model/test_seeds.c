/* 200 short runs with drawn settings, fewer under sanitizers; long_seeds.c has more. */
#include "tests/model/seeds.h"

#define SEEDS 200

static void every_seed_runs_clean(void **state)
{
    (void)state;
    unsigned long scaled = test_scaled(SEEDS);
    seeds_run_clean(scaled < SEEDS ? scaled : SEEDS);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(every_seed_runs_clean)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
