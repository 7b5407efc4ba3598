/*
 * test_log_deadline.c - the log fills up exactly when the load ends: users that wait for log at the
 * deadline are served, or refused, and the run ends with everything in order.
 *
 * The moment of the first wait is searched for by repeating the run, which is the same up to there;
 * then it ends just before, at, and just after that moment.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include <cmocka.h>

#include "sim/stats.h"
#include "tests/scale.h"
#include "tests/sim_fixture.h"

#define MIB        ((uint64_t)1 << 20)
#define LONGEST_NS NS_PER_S
#define NEAR_NS    16000 /* the search ends here */

/* In FULL recovery nothing but log backups give log back, and these come once an hour or when the
 * log is full. */
static struct sim_options options_of(uint64_t seed, bool backed_up)
{
    struct sim_options options = {
        .seed = seed,
        .data_bytes = 4 * MIB,
        .log_bytes = 2 * MIB,
        .pool_bytes = MIB,
        .backup_files = true,
        .settings = {{"RandomUser", "UserCount", "6"},
                     {"RandomUser", "MaxLogPerBuffer", "4096"},
                     {"RandomUser", "SleepAfter", "10"},
                     {"BulkUpdateUser", "UserCount", "0"},
                     {"ReadAheadUser", "UserCount", "0"},
                     {"AuditUser", "UserCount", "0"},
                     {"CpuIdleUser", "UserCount", "0"}},
    };
    if (backed_up) {
        options.settings[7] = (struct sim_setting){"BackupUser", "UserCount", "1"};
        options.settings[8] = (struct sim_setting){"BackupUser", "FullInterval", "1h"};
        options.settings[9] = (struct sim_setting){"BackupUser", "LogInterval", "1h"};
    }
    return options;
}

/* Of a run of that length, which must end well. */
static uint64_t log_waits(struct sim_options options, uint64_t duration_ns)
{
    struct sim sim;
    struct stats *stats = calloc(1, sizeof *stats);
    assert_non_null(stats);
    options.duration_ns = duration_ns;
    sim_begin(&sim, &options);
    sim_run(&sim);
    if (sim.result || sim.run->findings.count) {
        print_message("  duration %llu ns\n", (unsigned long long)duration_ns);
        sim_print_findings(&sim);
    }
    assert_int_equal(sim.result, 0);
    assert_int_equal(sim.run->findings.count, 0);
    assert_true(sim.run->audited);
    run_stats(sim.run, stats);
    uint64_t waits = stats->counters.log_space_waits;
    free(stats);
    sim_end(&sim);
    return waits;
}

static void it_ends_in_order_around(uint64_t seed, bool backed_up)
{
    struct sim_options options = options_of(seed, backed_up);
    uint64_t low = NS_PER_MS, high = LONGEST_NS;
    assert_int_equal(log_waits(options, low), 0);
    assert_true(log_waits(options, high) > 0);
    while (high - low > NEAR_NS) {
        uint64_t middle = low + (high - low) / 2;
        if (log_waits(options, middle) > 0)
            high = middle;
        else
            low = middle;
    }
    print_message("  seed %llu%s: log is first waited for when the load ends at %llu ns\n",
                  (unsigned long long)seed, backed_up ? ", backed up" : "",
                  (unsigned long long)high);
    for (int64_t step = -4; step <= 4; step++)
        (void)log_waits(options, high + (uint64_t)(step * (int64_t)NS_PER_MS / 10));
    for (int64_t step = -4; step <= 4; step++)
        (void)log_waits(options, high + (uint64_t)(step * NEAR_NS / 4));
}

static void a_log_that_only_backups_free_is_full_at_the_deadline(void **state)
{
    (void)state;
    for (uint64_t seed = 1; seed <= test_scaled(1); seed++)
        it_ends_in_order_around(seed, true);
}

static void a_log_that_checkpoints_free_is_full_at_the_deadline(void **state)
{
    (void)state;
    for (uint64_t seed = 1; seed <= test_scaled(1); seed++)
        it_ends_in_order_around(seed, false);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_log_that_only_backups_free_is_full_at_the_deadline),
        cmocka_unit_test(a_log_that_checkpoints_free_is_full_at_the_deadline),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
