/*
 * test_coverage.c - the coverage that a run tells, over the modelled device: what the wait for a
 * first check must be by the length of the phases, and sums that agree with each other.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <cmocka.h>

#include "tests/model/tempdb_run.h"
#include "tests/sim_fixture.h"

#define MIB    (1024ull * 1024)
#define IDLE_S 20 /* between the first write of every page and the audit */

static struct coverage_sums coverage_of(const struct sim *sim)
{
    struct coverage_sums sums = {.first_checks = 0};
    for (unsigned i = 0; i < sim->run->file_count; i++)
        coverage_add(&sim->run->files[i]->coverage, &sums);
    return sums;
}

static uint64_t pages_in(const struct sim *sim, bool seen)
{
    uint64_t pages = 0;
    for (unsigned i = 0; i < sim->run->file_count; i++) {
        struct ledger_count count =
            ledger_count(sim->run->ledger, sim->run->files[i]->file.mark.file_uid);
        pages += seen ? count.seen : count.written;
    }
    return pages;
}

/* Nobody works: every page is written before the idle time and read for the first time after it. */
static void pages_that_nobody_reads_wait_for_the_audit(void **state)
{
    (void)state;
    struct sim sim;
    const struct sim_options options = {
        .duration_ns = IDLE_S * NS_PER_S,
        .data_bytes = 2 * MIB,
        .log_bytes = 1 * MIB,
        .settings = {{"RandomUser", "UserCount", "0"},
                     {"ReadAheadUser", "UserCount", "0"},
                     {"BulkUpdateUser", "UserCount", "0"},
                     {"AuditUser", "UserCount", "1"},
                     {"AuditUser", "DelayAfterCycles", "1"},
                     {"AuditUser", "AuditDelay", "3600000"},
                     {"CpuIdleUser", "UserCount", "0"}},
    };
    sim_begin(&sim, &options);
    sim_run(&sim);
    assert_int_equal(sim.result, 0);
    struct coverage_sums sums = coverage_of(&sim);
    assert_int_equal(pages_in(&sim, true), pages_in(&sim, false));
    assert_true(sums.first_checks > 200); /* of 256 pages, without system pages */
    assert_true(sums.first_checks <= pages_in(&sim, true));
    assert_true(sums.wait_us_max >= IDLE_S * 1000000ull);
    assert_true(sums.wait_us_max * 1000 <= clock_now_ns(sim.run->clock));
    assert_true(sums.wait_us <= sums.first_checks * sums.wait_us_max);
    assert_true(sums.overwritten_unread < 20); /* system pages, written again by a checkpoint */
    sim_end(&sim);
}

/* Under load, tempdb among the files: what each file says adds up to what the workers counted. */
static void the_files_add_up_to_what_the_workers_counted(void **state)
{
    (void)state;
    struct sim sim;
    static struct stats stats; /* lint: mutable: scratch, too large for a stack */
    const struct sim_options options = tempdb_options(1);
    sim_begin(&sim, &options);
    sim_run(&sim);
    assert_int_equal(sim.result, 0);
    run_stats(sim.run, &stats);
    struct coverage_sums sums = coverage_of(&sim);
    const struct data_file *temp = sim.run->files[sim.run->file_count - 1];
    assert_true(temp->database->tempdb && atomic_load(&temp->coverage.first_checks) > 0);
    assert_true(sums.overwritten_unread > 0);
    assert_int_equal(sums.overwritten_unread, stats.counters.overwritten_unread);
    assert_true(sums.first_checks > 0);
    assert_true(sums.first_checks <= stats.counters.pages_verified);
    assert_true(sums.wait_us_max * 1000 <= clock_now_ns(sim.run->clock));
    sim_end(&sim);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(pages_that_nobody_reads_wait_for_the_audit),
        cmocka_unit_test(the_files_add_up_to_what_the_workers_counted),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
