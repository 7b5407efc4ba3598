/* long_hdd_mix.c - the mix of SQLIOSim's default run at full size (hdd_mix.h). */
#include <stdio.h>
#include <sys/statvfs.h>

#include "tests/model/hdd_mix.h"

#define NEEDED_BYTES (6 * 1024 * HDD_MIB)

/* 4 GB of data, MaxMemoryMB=630, five virtual minutes; the bytes lie in memory. */
static void the_default_run_of_4_gb_on_a_disk_has_the_mix_of_real_runs(void **state)
{
    struct sim sim;
    struct statvfs fs;
    (void)state;
    if (statvfs("/dev/shm", &fs) < 0 || (uint64_t)fs.f_bavail * fs.f_frsize < NEEDED_BYTES) {
        print_message("SKIP: 6 GB in /dev/shm are needed\n");
        skip();
    }
    hdd_mix_run(&sim, 4096 * HDD_MIB, 630 * HDD_MIB, 300 * NS_PER_S, "/dev/shm");
    hdd_mix_check(&sim);
    sim_end(&sim);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_default_run_of_4_gb_on_a_disk_has_the_mix_of_real_runs),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
