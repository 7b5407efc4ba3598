/*
 * test_backup.c - what bad storage does to a backup file, or to what a backup reads, is found and
 * named; nothing else is.
 */
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include "tests/sim_fixture.h"

#define MIB        (1024ull * 1024)
#define DATA_UID   1
#define BACKUP_UID 3 /* behind data and log file; Keep=1 */
/* Inside the second block: a meta page of 8 KiB and one block of 1 MiB stand before it. */
#define SPOT_LOW  (1 * MIB + 16 * 8192ull)
#define SPOT_HIGH (SPOT_LOW + PAGE_BYTES)

struct backup_fault {
    const char *name;
    struct fault_rule rule;
    bool again; /* the second backup in the same file */
    enum verdict expected[2];
};

static const struct backup_fault faults[] = {
    {"bit of a page",
     {.kind = FAULT_FLIP, .low = SPOT_LOW, .high = SPOT_HIGH, .a = 4000, .b = 3},
     false,
     {VERDICT_bit_flip}},
    {"zeroed page",
     {.kind = FAULT_FILL, .low = SPOT_LOW, .high = SPOT_HIGH, .b = PAGE_BYTES},
     false,
     {VERDICT_zeroed}},
    {"garbage",
     {.kind = FAULT_GARBAGE, .low = SPOT_LOW, .high = SPOT_HIGH, .b = PAGE_BYTES, .c = 7},
     false,
     {VERDICT_garbage}},
    {"lost block of a new file",
     {.kind = FAULT_LOST, .low = SPOT_LOW, .high = SPOT_HIGH},
     false,
     {VERDICT_zeroed}},
    {"lost block of a file that is used again",
     {.kind = FAULT_LOST, .low = SPOT_LOW, .high = SPOT_HIGH, .nth = 2, .count = UINT32_MAX},
     true,
     {VERDICT_lost_write}},
    {"block over the one before it",
     {.kind = FAULT_MISDIRECT_WRITE, .low = SPOT_LOW, .high = SPOT_HIGH, .a = -(int64_t)MIB},
     false,
     {VERDICT_misdirected_write, VERDICT_zeroed}},
    {"lost last header",
     {.kind = FAULT_LOST, .low = 8192, .high = 16384, .nth = 2},
     false,
     {VERDICT_lost_write}},
    {"bit of the header",
     {.kind = FAULT_FLIP, .low = 8192, .high = 16384, .nth = 2, .a = 300, .b = 1},
     false,
     {VERDICT_bit_flip}},
};

static struct sim_options options_of(bool again)
{
    return (struct sim_options){
        .seed = 77,
        .duration_ns = 1000 * NS_PER_MS,
        .data_bytes = 4 * MIB,
        .log_bytes = 4 * MIB,
        .with_faults = true,
        .backup_files = true,
        .settings = {{"CONFIG", "StopOnError", "FALSE"},
                     {"BackupUser", "UserCount", "1"},
                     {"BackupUser", "Keep", "1"},
                     {"BackupUser", "BufferCount", "1"}, /* one block after the other */
                     {"BackupUser", "FullInterval", again ? "500ms" : "1h"},
                     {"RandomUser", "UserCount", "3"},
                     {"RandomUser", "MaxLogPerBuffer", "1024"},
                     {"ReadAheadUser", "UserCount", "0"},
                     {"BulkUpdateUser", "UserCount", "1"},
                     {"AuditUser", "UserCount", "0"}},
    };
}

static bool is_expected(const struct backup_fault *fault, enum verdict verdict)
{
    return verdict == fault->expected[0] ||
           (fault->expected[1] != VERDICT_NONE && verdict == fault->expected[1]);
}

static void judge(struct sim *sim, const struct backup_fault *fault)
{
    const struct findings *findings = &sim->run->findings;
    bool seen = false, others = false;
    for (unsigned i = 0; i < findings->count; i++) {
        const struct finding *finding = &findings->list[i];
        bool here = finding->file_uid == BACKUP_UID && is_expected(fault, finding->verdict);
        seen |= here && finding->verdict == fault->expected[0];
        others |= !here;
    }
    if (!seen || others || sim->faults->truth_count == 0) {
        sim_print_findings(sim);
        fail_msg("%s: expected %s in the backup and nothing else", fault->name,
                 verdict_info(fault->expected[0])->name);
    }
}

static void each_fault_of_a_backup_file_is_named(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof faults / sizeof faults[0]; i++) {
        struct sim_options options = options_of(faults[i].again);
        struct fault_rule rule = faults[i].rule;
        struct sim sim;
        rule.op = IO_WRITE;
        rule.file_uid = BACKUP_UID;
        sim_begin(&sim, &options);
        fault_add(sim.faults, &rule);
        sim_run(&sim);
        judge(&sim, &faults[i]);
        sim_end(&sim);
    }
}

/* ---- reads of the check ---- */

/* The rule on reads of the backup file: one finding, of this name and in that file. */
static void fault_of_the_check(struct fault_rule rule, enum verdict expected, bool healed)
{
    struct sim_options options = options_of(false);
    struct sim sim;
    rule.op = IO_READ;
    rule.file_uid = BACKUP_UID;
    rule.low = SPOT_LOW;
    rule.high = SPOT_HIGH;
    sim_begin(&sim, &options);
    fault_add(sim.faults, &rule);
    sim_run(&sim);
    if (sim.run->findings.count != 1)
        sim_print_findings(&sim);
    assert_int_equal(sim.run->findings.count, 1);
    const struct finding *finding = &sim.run->findings.list[0];
    assert_int_equal(finding->verdict, expected);
    assert_int_equal(finding->file_uid, BACKUP_UID);
    assert_int_equal(finding->healed, healed);
    sim_end(&sim);
}

static void a_read_of_the_check_that_fills_nothing_is_named(void **state)
{
    (void)state;
    fault_of_the_check((struct fault_rule){.kind = FAULT_NOT_READ, .count = UINT32_MAX},
                       VERDICT_bytes_not_read, false);
}

static void a_read_of_the_check_that_fills_nothing_once_is_named(void **state)
{
    (void)state;
    fault_of_the_check((struct fault_rule){.kind = FAULT_NOT_READ}, VERDICT_bytes_not_read, true);
}

static void a_read_of_the_check_from_elsewhere_is_a_misdirected_read(void **state)
{
    (void)state;
    fault_of_the_check((struct fault_rule){.kind = FAULT_MISDIRECT_READ, .a = -(int64_t)MIB / 2},
                       VERDICT_misdirected_read, true);
}

static void a_bit_of_one_read_of_the_check_is_transient(void **state)
{
    (void)state;
    fault_of_the_check((struct fault_rule){.kind = FAULT_FLIP, .a = 4000, .b = 3},
                       VERDICT_transient_damage, true);
}

/* ---- what a backup reads ---- */

static void only_the_backup_reads(struct sim_options *options)
{
    for (unsigned i = 0; options->settings[i].section; i++)
        if (strcmp(options->settings[i].key, "UserCount") == 0 &&
            strcmp(options->settings[i].section, "BackupUser") != 0)
            options->settings[i].value = "0";
}

static uint64_t incomplete_of(const struct sim *sim)
{
    struct stats *stats = calloc(1, sizeof *stats);
    assert_non_null(stats);
    run_stats(sim->run, stats);
    uint64_t count = stats->counters.backups_incomplete;
    free(stats);
    return count;
}

static void a_page_damaged_once_on_its_way_is_read_again_and_backed_up(void **state)
{
    struct sim_options options = options_of(false);
    struct fault_rule rule = {.kind = FAULT_FLIP,
                              .op = IO_READ,
                              .file_uid = DATA_UID,
                              .low = SPOT_LOW,
                              .high = SPOT_HIGH,
                              .a = 4000,
                              .b = 3};
    struct sim sim;
    (void)state;
    only_the_backup_reads(&options);
    sim_begin(&sim, &options);
    fault_add(sim.faults, &rule);
    sim_run(&sim);
    assert_int_equal(sim.run->findings.count, 1);
    assert_int_equal(sim.run->findings.list[0].verdict, VERDICT_transient_damage);
    assert_memory_equal(sim.run->findings.list[0].actor, "BackupUser", 10);
    assert_int_equal(incomplete_of(&sim), 0);
    sim_end(&sim);
}

static void a_damaged_page_ends_the_backup(void **state)
{
    struct sim_options options = options_of(false);
    struct fault_rule rule = {.kind = FAULT_FLIP,
                              .op = IO_WRITE,
                              .file_uid = DATA_UID,
                              .low = SPOT_LOW,
                              .high = SPOT_HIGH,
                              .a = 4000,
                              .b = 3};
    struct sim sim;
    (void)state;
    only_the_backup_reads(&options);
    sim_begin(&sim, &options);
    fault_add(sim.faults, &rule);
    sim_run(&sim);
    assert_int_equal(sim.run->findings.count, 1);
    assert_int_equal(sim.run->findings.list[0].verdict, VERDICT_bit_flip);
    assert_memory_equal(sim.run->findings.list[0].actor, "BackupUser", 10);
    assert_int_equal(incomplete_of(&sim), 1);
    sim_end(&sim);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(each_fault_of_a_backup_file_is_named),
        cmocka_unit_test(a_read_of_the_check_that_fills_nothing_is_named),
        cmocka_unit_test(a_read_of_the_check_that_fills_nothing_once_is_named),
        cmocka_unit_test(a_read_of_the_check_from_elsewhere_is_a_misdirected_read),
        cmocka_unit_test(a_bit_of_one_read_of_the_check_is_transient),
        cmocka_unit_test(a_page_damaged_once_on_its_way_is_read_again_and_backed_up),
        cmocka_unit_test(a_damaged_page_ends_the_backup),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
