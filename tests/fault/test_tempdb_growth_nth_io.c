/*
 * test_tempdb_growth_nth_io.c - a transfer or flush of a growth of tempdb fails, one after the
 * other: the file keeps its size, or has it and a finding says what failed; the run goes on.
 */
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include "tests/model/tempdb_run.h"

#define MIB    (1ull << 20)
#define POINTS 14

/* Two files of 2 MiB, by 1 MiB up to 8: their users need 4 MiB and more. */
static void begin(struct sim *sim)
{
    struct sim_options options = tempdb_options(5);
    options.duration_ns = 300 * NS_PER_MS;
    options.with_faults = true;
    options.tempdb_bytes = 2 * MIB;
    options.tempdb_increment = MIB;
    options.tempdb_max_bytes = 8 * MIB;
    options.settings[17] = (struct sim_setting){"CONFIG", "StampFiles", "TRUE"};
    sim_begin(sim, &options);
}

static struct stats *stats_of(const struct sim *sim)
{
    struct stats *stats = calloc(1, sizeof *stats);
    assert_non_null(stats);
    run_stats(sim->run, stats);
    return stats;
}

static bool nothing_is_wrong(const struct sim *sim)
{
    for (int v = 0; v < VERDICT_COUNT; v++)
        if (verdict_info((enum verdict)v)->severity == SEVERITY_INTEGRITY &&
            sim->run->findings.by_verdict[v])
            return false;
    return true;
}

static void check(struct sim *sim, const char *what, unsigned nth)
{
    struct stats *stats = stats_of(sim);
    bool ok = sim->result == 0 && sim->run->audited && nothing_is_wrong(sim) &&
              stats->counters.file_growths > 0 && stats->counters.tempdb_sorts > 0;
    if (!ok) {
        print_error("%s, number %u\n", what, nth);
        sim_print_findings(sim);
    }
    assert_true(ok);
    free(stats);
}

/* The first write beyond the initial size is the first chunk of zeros of a growth. */
static void a_disk_that_is_full_leaves_the_file_as_it_was(void **state)
{
    (void)state;
    struct sim sim;
    begin(&sim);
    struct fault_rule rule = {FAULT_ERRNO,        IO_WRITE, .low = 2 * MIB,
                              .high = UINT64_MAX, .nth = 1, .count = UINT32_MAX,
                              .a = ENOSPC};
    rule.file_uid = TEMPDB_FILE_FIRST;
    fault_add(sim.faults, &rule);
    sim_run(&sim);
    check(&sim, "no space in one file", 1);
    struct stats *stats = stats_of(&sim);
    assert_true(stats->counters.growths_failed > 0);
    assert_int_equal(sim.run->findings.count, 0);
    const struct database *tempdb = tempdb_space_database(sim.run->tempdb);
    assert_int_equal(tempdb->files[0].file.size_pages, 2 * MIB / PAGE_BYTES);
    assert_true(tempdb->files[1].file.size_pages > 2 * MIB / PAGE_BYTES);
    free(stats);
    sim_end(&sim);
}

static void each_transfer_of_a_growth_fails_once(void **state)
{
    static const int errors[] = {ENOSPC, EIO};
    (void)state;
    unsigned hit = 0;
    for (unsigned nth = 1; nth <= POINTS; nth++) {
        struct sim sim;
        begin(&sim);
        struct fault_rule rule = {FAULT_ERRNO, IO_WRITE,   .low = 2 * MIB,      .high = UINT64_MAX,
                                  .nth = nth,  .count = 1, .a = errors[nth % 2]};
        rule.file_uid = (uint16_t)(TEMPDB_FILE_FIRST + nth % 2);
        fault_add(sim.faults, &rule);
        sim_run(&sim);
        check(&sim, "write", nth);
        hit += sim.faults->truth_count > 0;
        sim_end(&sim);
    }
    assert_int_equal(hit, POINTS);
}

static void each_flush_fails_once(void **state)
{
    (void)state;
    unsigned refused = 0;
    for (unsigned nth = 1; nth <= POINTS / 2; nth++) {
        struct sim sim;
        begin(&sim);
        struct fault_rule rule = {FAULT_ERRNO, IO_FLUSH, .nth = nth, .count = 1, .a = EIO};
        rule.file_uid = TEMPDB_FILE_FIRST;
        fault_add(sim.faults, &rule);
        sim_run(&sim);
        check(&sim, "flush", nth);
        struct stats *stats = stats_of(&sim);
        refused += stats->counters.growths_failed > 0;
        free(stats);
        sim_end(&sim);
    }
    assert_true(refused > 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_disk_that_is_full_leaves_the_file_as_it_was),
        cmocka_unit_test(each_transfer_of_a_growth_fails_once),
        cmocka_unit_test(each_flush_fails_once),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
