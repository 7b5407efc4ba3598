/* test_idle_clock.c - a run whose users never wait for anything ends all the same. */
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>
#include <cmocka.h>

#include "tests/sim_fixture.h"

/* Everything is in memory, nobody sleeps or writes: under a virtual clock only turns take time. */
static void users_that_find_all_in_memory_reach_the_end(void **state)
{
    struct sim sim;
    struct sim_options options = {.data_bytes = 1 << 20,
                                  .duration_ns = 50 * NS_PER_MS,
                                  .settings = {{"CONFIG", "CacheHitRatio", "10000"},
                                               {"RandomUser", "UserCount", "2"},
                                               {"RandomUser", "RandomUserReadWriteRatio", "0"},
                                               {"RandomUser", "SleepAfter", "0"},
                                               {"AuditUser", "UserCount", "0"},
                                               {NULL, NULL, NULL}}};
    (void)state;
    sim_begin(&sim, &options);
    sim_run(&sim);
    assert_int_equal(sim.result, 0);
    assert_true(sim.run->audited);
    sim_end(&sim);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(users_that_find_all_in_memory_reach_the_end),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
