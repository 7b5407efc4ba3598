/*
 * test_many_at_once.c - faults that only several pages together, or the order of writes, can name:
 * damage beside a write, a file that went back in time, a device that wraps.  Over the modelled
 * device and the fault layer.
 */
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>
#include <stdio.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include <cmocka.h>

#include "sim/fault_rule.h"
#include "sim/verify_check.h"
#include "tests/sim_fixture.h"

#define MIB               (1024ull * 1024)
#define DATA_UID          1
#define PAGES(first, end) .file_uid = DATA_UID, .low = (first)*8192ull, .high = (end)*8192ull

static void run_with(struct sim *sim, const struct fault_rule *rules, unsigned count,
                     const struct sim_options *base)
{
    struct sim_options options = *base;
    options.seed = options.seed ? options.seed : 3;
    options.with_faults = true;
    sim_begin(sim, &options);
    for (unsigned i = 0; i < count; i++)
        fault_add(sim->faults, &rules[i]);
    sim_run(sim);
    assert_int_equal(sim->result, 0);
}

/* The one integrity event that is left. */
static const struct finding *only_event(const struct sim *sim, enum verdict verdict)
{
    const struct findings *findings = &sim->run->findings;
    const struct finding *only = NULL;
    unsigned events = 0;
    for (unsigned i = 0; i < findings->count; i++) {
        if (findings->list[i].amended)
            continue;
        events++;
        only = &findings->list[i];
    }
    if (events != 1 || only->verdict != verdict)
        sim_print_findings(sim);
    assert_int_equal(events, 1);
    assert_int_equal(only->verdict, verdict);
    assert_int_equal(findings_count(&sim->run->findings, SEVERITY_INTEGRITY), 1);
    return only;
}

/* ---- damage beside a write ---- */

/* Every page is read again and again, and few are changed.  The fault: one late write damages 4 KiB
 * of the page before its own, which had been read and found right since it was last written.
 * (Which of the 190 writes does that was found by trying: most damage is healed by the next write
 * of the page itself.) */
static void a_page_damaged_beside_a_write_is_named_so(void **state)
{
    (void)state;
    static const struct fault_rule rule = {.kind = FAULT_NEIGHBOUR,
                                           .op = IO_WRITE,
                                           PAGES(100, 500),
                                           .nth = 177,
                                           .a = -8192,
                                           .b = 4096,
                                           .c = 5};
    static const struct sim_options options = {
        .data_bytes = 4 * MIB,
        .duration_ns = 4 * NS_PER_S,
        .settings = {{"CONFIG", "StopOnError", "FALSE"},
                     {"CONFIG", "CheckpointInterval", "1"},
                     {"CONFIG", "GatherPages", "1"},
                     {"RandomUser", "UserCount", "1"},
                     {"RandomUser", "SleepAfter", "50"},
                     {"BulkUpdateUser", "UserCount", "0"},
                     {"AuditUser", "UserCount", "4"},
                     {"AuditUser", "AuditDelay", "1"},
                     {"AuditUser", "DelayAfterCycles", "1"},
                     {"AuditUser", "BuffersValidated", "64"}}};
    struct sim sim;
    run_with(&sim, &rule, 1, &options);
    assert_int_equal(sim.faults->truth_count, 1);
    uint32_t written = (uint32_t)(sim.faults->truth[0].offset / PAGE_BYTES);
    assert_int_equal((written - 1) / EXTENT_PAGES, written / EXTENT_PAGES);
    const struct finding *event = only_event(&sim, VERDICT_neighbour_damage);
    assert_int_equal(event->page_no, written - 1);
    /* of the pages there it names the one that was written last, which may be another by now */
    assert_non_null(strstr(event->detail, "in the same 64 KiB was"));
    sim_end(&sim);
}

/* ---- back to an older state ---- */

/* The data file is copied at its 120th write and put back at a later one. */
static void run_reverted(struct sim *sim, unsigned revert_at, const char *audit_users)
{
    struct fault_rule rules[] = {
        {.kind = FAULT_KEEP, .op = IO_WRITE, .file_uid = DATA_UID, .nth = 120},
        {.kind = FAULT_REVERT, .op = IO_WRITE, .file_uid = DATA_UID, .nth = revert_at},
    };
    struct sim_options options = {.data_bytes = 8 * MIB,
                                  .duration_ns = 4 * NS_PER_S,
                                  .settings = {{"CONFIG", "StopOnError", "FALSE"},
                                               {"CONFIG", "CheckpointInterval", "1"},
                                               {"CONFIG", "GatherPages", "1"},
                                               {"RandomUser", "UserCount", "4"},
                                               {"RandomUser", "SleepAfter", "20"},
                                               {"BulkUpdateUser", "UserCount", "0"},
                                               {"AuditUser", "UserCount", audit_users}}};
    run_with(sim, rules, 2, &options);
    assert_int_equal(sim->faults->truth_count, 2);
}

static void a_file_that_went_back_is_one_event_with_the_time_of_its_state(void **state)
{
    (void)state;
    struct sim sim;
    run_reverted(&sim, 500, "1");
    const struct finding *event = only_event(&sim, VERDICT_reverted_volume);
    assert_false(event->has_page);
    assert_int_equal(event->file_uid, DATA_UID);
    /* 380 writes were undone; some pages of them had been written twice, or again since */
    assert_in_range(event->pages, 16, 380);
    assert_non_null(strstr(event->detail, "state as of 20"));
    uint64_t in_ranges = 0;
    for (unsigned i = 0; i < event->range_count; i++)
        in_ranges += event->ranges[i].count;
    assert_true(in_ranges <= event->pages && event->range_count > 0);
    assert_true(event->ranges_all > FINDING_RANGES_MAX || in_ranges == event->pages);
    sim_end(&sim);
}

/* The run stops at the first old page; the survey finds the others. */
static void a_revert_that_stopped_the_run_is_found_whole(void **state)
{
    (void)state;
    struct fault_rule rules[] = {
        {.kind = FAULT_KEEP, .op = IO_WRITE, .file_uid = DATA_UID, .nth = 120},
        {.kind = FAULT_REVERT, .op = IO_WRITE, .file_uid = DATA_UID, .nth = 500},
    };
    struct sim_options options = {.data_bytes = 8 * MIB,
                                  .duration_ns = 4 * NS_PER_S,
                                  .settings = {{"CONFIG", "StopOnError", "TRUE"},
                                               {"CONFIG", "CheckpointInterval", "1"},
                                               {"CONFIG", "GatherPages", "1"},
                                               {"RandomUser", "UserCount", "4"},
                                               {"RandomUser", "SleepAfter", "20"},
                                               {"BulkUpdateUser", "UserCount", "0"},
                                               {"AuditUser", "UserCount", "1"}}};
    struct sim sim;
    run_with(&sim, rules, 2, &options);
    const struct finding *event = only_event(&sim, VERDICT_reverted_volume);
    assert_in_range(event->pages, 16, 380);
    sim_end(&sim);
}

/* As many pages, each lost for itself, among others that were written. */
static void writes_lost_here_and_there_are_no_revert(void **state)
{
    (void)state;
    struct sim sim;
    struct fault_rule rules[30];
    for (unsigned i = 0; i < 30; i++)
        rules[i] = (struct fault_rule){.kind = FAULT_LOST,
                                       .op = IO_WRITE,
                                       PAGES(40 + 30 * i, 41 + 30 * i),
                                       .nth = 2,
                                       .count = UINT32_MAX};
    struct sim_options options = {.data_bytes = 8 * MIB,
                                  .settings = {{"CONFIG", "StopOnError", "FALSE"},
                                               {"CONFIG", "GatherPages", "1"},
                                               {"RandomUser", "UserCount", "8"},
                                               {"RandomUser", "SleepAfter", "2"},
                                               {"BulkUpdateUser", "UserCount", "0"},
                                               {"AuditUser", "UserCount", "0"}}};
    run_with(&sim, rules, 30, &options);
    const struct findings *findings = &sim.run->findings;
    assert_int_equal(findings->by_verdict[VERDICT_reverted_volume], 0);
    assert_true(findings->by_verdict[VERDICT_lost_write] >= 16);
    sim_end(&sim);
}

/* ---- a device that wraps ---- */

#define WRAP_PAGES 1024 /* of 2048 */

/* What lies behind WRAP_PAGES is what lies so far before. */
static void run_wrapped(struct sim *sim, const char *stop_on_error)
{
    static const int64_t back = -(int64_t)WRAP_PAGES * PAGE_BYTES;
    struct fault_rule rules[] = {{.kind = FAULT_MISDIRECT_WRITE,
                                  .op = IO_WRITE,
                                  PAGES(WRAP_PAGES, 2 * WRAP_PAGES),
                                  .count = UINT32_MAX,
                                  .a = back},
                                 {.kind = FAULT_MISDIRECT_READ,
                                  .op = IO_READ,
                                  PAGES(WRAP_PAGES, 2 * WRAP_PAGES),
                                  .count = UINT32_MAX,
                                  .a = back}};
    struct sim_options options = {.settings = {{"CONFIG", "StopOnError", stop_on_error},
                                               {"RandomUser", "UserCount", "2"},
                                               {"RandomUser", "SleepAfter", "50"},
                                               {"BulkUpdateUser", "UserCount", "0"},
                                               {"AuditUser", "UserCount", "0"}}};
    run_with(sim, rules, 2, &options);
}

static void a_device_that_wraps_is_one_event_with_the_distance(void **state)
{
    (void)state;
    static const char *const stop[] = {"FALSE", "TRUE"};
    for (unsigned i = 0; i < 2; i++) {
        struct sim sim;
        run_wrapped(&sim, stop[i]);
        const struct finding *event = only_event(&sim, VERDICT_capacity_wrap);
        assert_int_equal(event->file_uid, DATA_UID);
        /* of each pair of pages that were written one is the other's */
        assert_in_range(event->pages, 900, WRAP_PAGES + 10);
        assert_non_null(strstr(event->detail, "8388608 bytes (8.0 MiB)"));
        sim_end(&sim);
    }
}

/* The same distance each time, and no wrap: both places are what they are. */
static void writes_that_go_astray_by_one_distance_are_no_wrap(void **state)
{
    (void)state;
    struct fault_rule rules[20];
    for (unsigned i = 0; i < 20; i++)
        rules[i] = (struct fault_rule){.kind = FAULT_DUPLICATE,
                                       .op = IO_WRITE,
                                       PAGES(40 + 20 * i, 41 + 20 * i),
                                       .nth = 2,
                                       .count = UINT32_MAX,
                                       .a = 1000 * (int64_t)PAGE_BYTES};
    struct sim_options options = {.settings = {{"CONFIG", "StopOnError", "FALSE"},
                                               {"CONFIG", "GatherPages", "1"},
                                               {"RandomUser", "UserCount", "8"},
                                               {"RandomUser", "SleepAfter", "2"},
                                               {"BulkUpdateUser", "UserCount", "0"},
                                               {"AuditUser", "UserCount", "0"}}};
    struct sim sim;
    run_with(&sim, rules, 20, &options);
    const struct findings *findings = &sim.run->findings;
    assert_int_equal(findings->by_verdict[VERDICT_capacity_wrap], 0);
    /* the copy of a page whose home is right */
    assert_true(findings->by_verdict[VERDICT_replayed_write] >= 1);
    assert_int_equal(findings->by_verdict[VERDICT_lost_write], 0);
    sim_end(&sim);
}

/* ---- offline ---- */

/* The copy that the fault layer kept goes over the file of the run that has ended. */
static void put_back(const struct sim *sim)
{
    char path[SIM_PATH_MAX];
    struct stat st;
    struct io_target target = {.uid = DATA_UID};
    sim_path(sim, "data1.mdx", path);
    target.fd = open(path, O_RDWR | O_CLOEXEC);
    assert_true(target.fd >= 0 && fstat(target.fd, &st) == 0);
    atomic_store(&target.size_bytes, (uint64_t)st.st_size);
    assert_int_equal(fault_kept_restore(sim->faults, &target), 0);
    close(target.fd);
}

static void a_file_put_back_after_its_run_is_one_event_of_verify(void **state)
{
    (void)state;
    static const struct fault_rule keep = {
        .kind = FAULT_KEEP, .op = IO_WRITE, .file_uid = DATA_UID, .nth = 400};
    static const struct sim_options options = {.data_bytes = 8 * MIB,
                                               .settings = {{"CONFIG", "GatherPages", "1"},
                                                            {"CONFIG", "CheckpointInterval", "1"},
                                                            {"RandomUser", "UserCount", "4"},
                                                            {"RandomUser", "SleepAfter", "20"},
                                                            {"BulkUpdateUser", "UserCount", "0"},
                                                            {"AuditUser", "UserCount", "0"}}};
    struct sim sim;
    struct verify_set set;
    struct findings findings;
    run_with(&sim, &keep, 1, &options);
    assert_int_equal(sim.run->findings.count, 0);
    put_back(&sim);
    sim_close(&sim);
    const char *paths[] = {sim.out};
    assert_int_equal(findings_init(&findings, NULL, NULL, NULL, false), 0);
    assert_int_equal(verify_set_open(&set, paths, 1, true, &findings), 0);
    assert_int_equal(verify_check(&set), 0);
    const struct finding *event = NULL;
    for (unsigned i = 0; i < findings.count; i++)
        if (findings.list[i].verdict == VERDICT_reverted_volume)
            event = &findings.list[i];
    assert_non_null(event);
    assert_true(event->pages >= 16);
    assert_int_equal(findings_count(&findings, SEVERITY_INTEGRITY), 1);
    verify_set_close(&set);
    findings_free(&findings);
    sim_end(&sim);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_page_damaged_beside_a_write_is_named_so),
        cmocka_unit_test(a_file_that_went_back_is_one_event_with_the_time_of_its_state),
        cmocka_unit_test(a_revert_that_stopped_the_run_is_found_whole),
        cmocka_unit_test(a_device_that_wraps_is_one_event_with_the_distance),
        cmocka_unit_test(writes_that_go_astray_by_one_distance_are_no_wrap),
        cmocka_unit_test(a_file_put_back_after_its_run_is_one_event_of_verify),
        cmocka_unit_test(writes_lost_here_and_there_are_no_revert),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
