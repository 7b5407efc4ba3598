/* test_hdd_mix.c - the mix of SQLIOSim's default run, at a sixteenth of the size (hdd_mix.h). */
#include "tests/model/hdd_mix.h"

/* 256 MB of data and 40 MB of pool stand for 4 GB and 630 MB; a virtual minute. */
static void the_default_run_on_a_disk_has_the_mix_of_real_runs(void **state)
{
    struct sim sim;
    (void)state;
    hdd_mix_run(&sim, 256 * HDD_MIB, 40 * HDD_MIB, 60 * NS_PER_S, NULL);
    hdd_mix_check(&sim);
    sim_end(&sim);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_default_run_on_a_disk_has_the_mix_of_real_runs),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
