/*
 * The log's whole life over the modelled device: tiny logs of several files that grow, transactions
 * that are undone, commits that do not wait, VLFs that are read back.  No deadlock, no finding, and
 * every page and log block right at the end.
 */
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/random.h>
#include <cmocka.h>

#include "tests/model/drawn.h"
#include "tests/scale.h"

struct result {
    bool clean;
    uint64_t log_reads; /* in the main part */
    struct counters counters;
};

static struct result run_of(const struct sim_options *options)
{
    struct sim sim;
    struct result result;
    struct stats *stats = malloc(sizeof *stats);
    assert_non_null(stats);
    sim_begin(&sim, options);
    sim_run(&sim);
    result.clean = drawn_run_is_clean(&sim);
    run_stats(sim.run, stats);
    result.log_reads = stats->streams[PHASE_stress][STREAM_log_read].ops;
    result.counters = stats->counters;
    free(stats);
    sim_end(&sim);
    return result;
}

/* Many long transactions, which hold a log that all of them together fill. */
static struct sim_options tiny(uint64_t seed)
{
    return (struct sim_options){.seed = seed,
                                .duration_ns = NS_PER_S / 4,
                                .log_bytes = 2 * DRAWN_MIB,
                                .settings = {{"RandomUser", "UserCount", "40"},
                                             {"RandomUser", "MaxIOChainLength", "60"},
                                             {"RandomUser", "MaxLogPerBuffer", "2048"},
                                             {"RandomUser", "SleepAfter", "1"},
                                             {"BulkUpdateUser", "UserCount", "0"}}};
}

static void add(struct sim_options *options, const char *section, const char *key,
                const char *value)
{
    unsigned n = 0;
    while (options->settings[n].section)
        n++;
    options->settings[n] = (struct sim_setting){section, key, value};
}

static void tiny_logs_of_two_files_grow_and_never_stop(void **state)
{
    uint64_t first, growths = 0;
    (void)state;
    assert_int_equal(getrandom(&first, sizeof first, 0), sizeof first);
    first %= 1000000;
    print_message("first seed %llu\n", (unsigned long long)first);
    for (uint64_t i = 0; i < test_scaled(3); i++) {
        static const char *const rules[] = {"2012", "2014", "2022"};
        static const char *const shares[] = {"0", "5000", "10000"};
        struct sim_options options = tiny(first + i);
        options.logs = 1 + (unsigned)(i % 2);
        options.log_max_bytes = 8 * DRAWN_MIB;
        options.log_increment = DRAWN_MIB / 2;
        add(&options, "CONFIG", "VlfRule", rules[i % 3]);
        add(&options, "CONFIG", "LogReadBack", shares[i % 3]);
        add(&options, "CONFIG", "DelayedDurability", shares[(i + 1) % 3]);
        add(&options, "CONFIG", "WriteThrough", i % 3 == 2 ? "FALSE" : "TRUE");
        add(&options, "RandomUser", "LoggedRollbackChance", "2000");
        struct result result = run_of(&options);
        growths += result.counters.log_growths;
        assert_true(result.clean);
        assert_true(result.counters.log_space_waits > 0);
        assert_true(result.counters.logged_rollbacks > 0);
        assert_int_equal(result.counters.log_full_errors, 0);
    }
    assert_true(growths > 0);
}

/* Nothing is committed by users whose every transaction is undone; each undo is a change, too. */
static void everything_is_undone(void **state)
{
    (void)state;
    struct sim_options options = tiny(7);
    options.log_bytes = 16 * DRAWN_MIB;
    add(&options, "RandomUser", "LoggedRollbackChance", "10000");
    add(&options, "RandomUser", "RollbackChance", "0");
    add(&options, "CONFIG", "LogReadBack", "0");
    add(&options, "AuditUser", "UserCount", "0");
    struct sim sim;
    sim_begin(&sim, &options);
    sim_run(&sim);
    struct stats *stats = malloc(sizeof *stats);
    assert_non_null(stats);
    run_stats(sim.run, stats);
    assert_int_equal(sim.run->findings.count, 0);
    assert_int_equal(stats->counters.transactions, 0);
    assert_true(stats->counters.logged_rollbacks > 10);
    assert_int_equal(stats->counters.page_updates % 2, 0); /* done and undone */
    /* the log is read back for those records that have left its buffers */
    assert_true(stats->streams[PHASE_stress][STREAM_log_read].ops > 0);
    assert_int_equal(stats->streams[PHASE_stress][STREAM_log_read].ops,
                     stats->counters.log_blocks_read_back);
    free(stats);
    sim_end(&sim);
}

static void without_these_keys_the_log_is_not_read_in_the_main_part(void **state)
{
    (void)state;
    struct sim_options options = tiny(9);
    add(&options, "CONFIG", "LogReadBack", "0");
    struct result result = run_of(&options);
    assert_true(result.clean);
    assert_int_equal(result.log_reads, 0);
    assert_int_equal(result.counters.delayed_commits, 0);
    assert_int_equal(result.counters.logged_rollbacks, 0);
    assert_int_equal(result.counters.log_growths, 0);
    assert_true(result.counters.log_blocks_overwritten_unread > 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(tiny_logs_of_two_files_grow_and_never_stop),
        cmocka_unit_test(everything_is_undone),
        cmocka_unit_test(without_these_keys_the_log_is_not_read_in_the_main_part),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
