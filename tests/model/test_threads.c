/*
 * Whole runs with real threads, the sync engine and the real clock: what the seeded runs show in
 * one thread must hold here, too.  Under the thread sanitizer this is the test of the core's locks.
 */
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>
#include <stdlib.h>
#include <cmocka.h>

#include "tests/model/drawn.h"

#define RUN_S 2

static const struct sim_setting busy_users[] = {
    {"RandomUser", "UserCount", "12"},  {"RandomUser", "MaxIOChainLength", "20"},
    {"RandomUser", "SleepAfter", "1"},  {"AuditUser", "UserCount", "2"},
    {"AuditUser", "AuditDelay", "20"},  {"CONFIG", "CheckpointInterval", "1"},
    {"CONFIG", "NoBuffering", "FALSE"}, {"CpuIdleUser", "PagesPerSecond", "1000000"},
};

static void run_threads(unsigned workers, unsigned databases, bool write_through)
{
    struct sim_options options = {.seed = 7,
                                  .duration_ns = RUN_S * NS_PER_S,
                                  .workers = workers,
                                  .databases = databases,
                                  .pool_bytes = 3 * DRAWN_MIB,
                                  .real_clock = true};
    size_t count = sizeof busy_users / sizeof *busy_users;
    memcpy(options.settings, busy_users, sizeof busy_users);
    options.settings[count] =
        (struct sim_setting){"CONFIG", "WriteThrough", write_through ? "TRUE" : "FALSE"};
    struct sim sim;
    sim_begin(&sim, &options);
    sim_run(&sim);
    bool clean = drawn_run_is_clean(&sim);
    sim_end(&sim);
    assert_true(clean);
}

static void one_worker_thread_runs_clean(void **state)
{
    (void)state;
    run_threads(1, 1, true);
}

static void three_worker_threads_run_clean(void **state)
{
    (void)state;
    run_threads(3, 1, true);
}

static void two_databases_and_flushes_run_clean(void **state)
{
    (void)state;
    run_threads(3, 2, false);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(one_worker_thread_runs_clean),
        cmocka_unit_test(three_worker_threads_run_clean),
        cmocka_unit_test(two_databases_and_flushes_run_clean),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
