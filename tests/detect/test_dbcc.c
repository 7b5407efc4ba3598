/*
 * test_dbcc.c - what storage does to a snapshot of DBCC CHECKDB, and to its reads, is found and
 * named; what only the snapshot suffers from does not end the run.
 *
 * The faults are injected on the snapshot's file alone, the third of the run: 1 is the data file,
 * 2 the log.
 */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "tests/sim_fixture.h"

#define DATA_UID     1
#define SNAPSHOT_UID 3
#define SUFFIX       ".MSSQL_DBCC5"

struct told {
    unsigned suspects; /* events that name 17053 */
};

static void on_event(void *context, const struct event *event)
{
    struct told *told = context;
    if (event->text && strstr(event->text, "17053"))
        told->suspects++;
}

static void begin(struct sim *sim, struct told *told)
{
    struct sim_options options = {
        .duration_ns = 2 * NS_PER_S,
        .pool_bytes = 2ull << 20,
        .with_faults = true,
        .event = on_event,
        .context = told,
        .device = {.channels = 8},
        .settings = {{"CONFIG", "StopOnError", "FALSE"},
                     {"RandomUser", "UserCount", "6"},
                     {"RandomUser", "JumpToNewRegionPercentage", "3000"},
                     {"AuditUser", "UserCount", "0"},
                     {"DbccUser", "UserCount", "2"},
                     {"DbccUser", "Outstanding", "2"},
                     {"DbccUser", "ReadPages", "16"}},
    };
    *told = (struct told){0};
    sim_begin(sim, &options);
}

static unsigned count_in_snapshot(const struct sim *sim, enum verdict verdict)
{
    unsigned count = 0;
    for (unsigned i = 0; i < sim->run->findings.count; i++) {
        const struct finding *f = &sim->run->findings.list[i];
        bool there = strstr(f->file, SUFFIX) != NULL;
        count += !f->amended && f->verdict == verdict && there == (f->file_uid == SNAPSHOT_UID) &&
                 f->file_uid == SNAPSHOT_UID;
    }
    return count;
}

static unsigned standing(const struct sim *sim)
{
    unsigned count = 0;
    for (unsigned i = 0; i < sim->run->findings.count; i++)
        count += !sim->run->findings.list[i].amended;
    return count;
}

/* All findings that stand are of the snapshot and of this name. */
static void assert_named(const struct sim *sim, enum verdict verdict)
{
    unsigned named = count_in_snapshot(sim, verdict);
    if (named == 0 || named != standing(sim))
        sim_print_findings(sim);
    assert_true(named > 0);
    assert_int_equal(named, standing(sim));
}

static void fault_is_named(const struct fault_rule *rule, enum verdict verdict)
{
    struct sim sim;
    struct told told;
    begin(&sim, &told);
    fault_add(sim.faults, rule);
    sim_run(&sim);
    assert_int_equal(sim.result, 0);
    assert_true(sim.faults->truth_count > 0);
    assert_named(&sim, verdict);
    assert_true(sim.run->audited);
    sim_end(&sim);
}

#define ON_SNAPSHOT(operation) .file_uid = SNAPSHOT_UID, .op = (operation), .count = 40

static void a_lost_copy_is_a_lost_write(void **state)
{
    (void)state;
    struct fault_rule rule = {.kind = FAULT_LOST, ON_SNAPSHOT(IO_WRITE)};
    fault_is_named(&rule, VERDICT_lost_write);
}

static void a_flipped_bit_in_a_copy_is_a_bit_flip(void **state)
{
    (void)state;
    struct fault_rule rule = {.kind = FAULT_FLIP, ON_SNAPSHOT(IO_WRITE), .a = 1000, .b = 3};
    fault_is_named(&rule, VERDICT_bit_flip);
}

static void a_copy_of_which_half_came_is_a_torn_page(void **state)
{
    (void)state;
    struct fault_rule rule = {.kind = FAULT_TORN, ON_SNAPSHOT(IO_WRITE), .a = 4096};
    struct sim sim;
    struct told told;
    begin(&sim, &told);
    fault_add(sim.faults, &rule);
    sim_run(&sim);
    /* A gather write that is cut leaves its other pages lost. */
    assert_true(count_in_snapshot(&sim, VERDICT_torn_page) > 0);
    assert_int_equal(count_in_snapshot(&sim, VERDICT_torn_page) +
                         count_in_snapshot(&sim, VERDICT_lost_write),
                     sim.run->findings.count);
    sim_end(&sim);
}

static void garbage_in_a_copy_is_garbage(void **state)
{
    (void)state;
    struct fault_rule rule = {
        .kind = FAULT_GARBAGE, ON_SNAPSHOT(IO_WRITE), .a = 2000, .b = 3000, .c = 7};
    fault_is_named(&rule, VERDICT_garbage);
}

static void a_flip_on_the_way_of_a_read_is_transient(void **state)
{
    (void)state;
    struct fault_rule rule = {.kind = FAULT_FLIP, ON_SNAPSHOT(IO_READ), .a = 1000, .b = 3};
    rule.count = 1;
    fault_is_named(&rule, VERDICT_transient_damage);
}

/* 64 pages further: another place of the snapshot gets it, and its own stays a hole. */
static void a_copy_that_went_elsewhere_is_misdirected_or_lost(void **state)
{
    (void)state;
    struct sim sim;
    struct told told;
    struct fault_rule rule = {
        .kind = FAULT_MISDIRECT_WRITE, ON_SNAPSHOT(IO_WRITE), .a = 64 * PAGE_BYTES};
    begin(&sim, &told);
    fault_add(sim.faults, &rule);
    sim_run(&sim);
    unsigned there = count_in_snapshot(&sim, VERDICT_lost_write) +
                     count_in_snapshot(&sim, VERDICT_misdirected_write);
    if (there == 0 || there != standing(&sim))
        sim_print_findings(&sim);
    assert_true(there > 0);
    assert_int_equal(there, standing(&sim));
    sim_end(&sim);
}

/* Without room for the copies a pass ends, and nothing else: no finding, every page is audited. */
static void a_full_disk_costs_the_pass_and_nothing_else(void **state)
{
    (void)state;
    struct sim sim;
    struct told told;
    struct stats stats;
    struct fault_rule rule = {.kind = FAULT_ERRNO, ON_SNAPSHOT(IO_WRITE), .a = ENOSPC};
    rule.count = UINT32_MAX;
    begin(&sim, &told);
    fault_add(sim.faults, &rule);
    sim_run(&sim);
    run_stats(sim.run, &stats);
    assert_int_equal(sim.result, 0);
    assert_int_equal(sim.run->findings.count, 0);
    assert_true(told.suspects > 0);
    assert_int_equal(stats.counters.dbcc_passes, 0);
    assert_true(sim.run->audited);
    sim_end(&sim);
}

static void a_write_error_is_a_finding_and_costs_the_pass(void **state)
{
    (void)state;
    struct sim sim;
    struct told told;
    struct stats stats;
    struct fault_rule rule = {.kind = FAULT_ERRNO, ON_SNAPSHOT(IO_WRITE), .a = EIO};
    rule.count = 2; /* the write and its retry */
    begin(&sim, &told);
    fault_add(sim.faults, &rule);
    sim_run(&sim);
    run_stats(sim.run, &stats);
    assert_int_equal(sim.result, 0);
    assert_true(count_in_snapshot(&sim, VERDICT_write_error) > 0);
    assert_int_equal(told.suspects, 1);
    assert_true(stats.counters.dbcc_passes > 0); /* later ones */
    assert_true(sim.run->audited);
    sim_end(&sim);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_lost_copy_is_a_lost_write),
        cmocka_unit_test(a_flipped_bit_in_a_copy_is_a_bit_flip),
        cmocka_unit_test(a_copy_of_which_half_came_is_a_torn_page),
        cmocka_unit_test(garbage_in_a_copy_is_garbage),
        cmocka_unit_test(a_flip_on_the_way_of_a_read_is_transient),
        cmocka_unit_test(a_copy_that_went_elsewhere_is_misdirected_or_lost),
        cmocka_unit_test(a_full_disk_costs_the_pass_and_nothing_else),
        cmocka_unit_test(a_write_error_is_a_finding_and_costs_the_pass),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
