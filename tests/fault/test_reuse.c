/*
 * test_reuse.c - a second session over the files of the first: generations and log go on above the
 * old ones, faults are found as ever, and each of its first I/Os may fail.
 */
#include "sim/exit_code.h"
#include "tests/fault/outcome.h"

#define MIB        (1024ull * 1024)
#define PAGE_AT    (40ull * PAGE_BYTES)
#define FAULTS_MAX 60 /* of the I/Os of a session: taking over and some of the load */

static const struct sim_options small = {
    .duration_ns = 100 * NS_PER_MS,
    .data_bytes = 2 * MIB,
    .log_bytes = 1 * MIB,
    .pool_bytes = 64 * PAGE_BYTES,
    .with_faults = true,
    .settings = {{"CONFIG", "StopOnError", "FALSE"},
                 {"RandomUser", "UserCount", "3"},
                 {"RandomUser", "MaxIOChainLength", "12"},
                 {"RandomUser", "MaxLogPerBuffer", "512"},
                 {"AuditUser", "UserCount", "1"},
                 {"ReadAheadUser", "UserCount", "1"},
                 {"BulkUpdateUser", "UserCount", "1"},
                 {"BulkUpdateUser", "BuffersBUMin", "16"},
                 {"BulkUpdateUser", "BuffersBUMax", "16"},
                 {"CpuIdleUser", "UserCount", "0"}},
};

static void first_session(struct sim *sim)
{
    sim_begin(sim, &small);
    sim_run(sim);
    assert_int_equal(sim->result, 0);
    assert_true(sim->run->audited);
}

static void take_over(struct sim *sim, const char *name)
{
    char message[PLAN_MESSAGE_MAX] = "";
    if (sim_take_over(sim, name, message))
        fail_msg("%s", message);
}

static uint64_t integrity_of(const struct sim *sim)
{
    return outcome_count(&sim->run->findings, SEVERITY_INTEGRITY);
}

static void everything_goes_on_above_the_first_session(void **state)
{
    struct sim sim;
    uint64_t before[256], fseq[2], changed = 0;
    uint8_t id[RUN_ID_BYTES];
    (void)state;
    first_session(&sim);
    for (uint32_t page = 0; page < 256; page++)
        before[page] = ledger_view(sim.run->ledger, 1, page).issued;
    fseq[0] = ledger_file_at(sim.run->ledger, 2)->log_durable_position >> 32;
    memcpy(id, sim.run->run_id, sizeof id);
    take_over(&sim, "second");
    sim_run(&sim);
    assert_int_equal(sim.result, 0);
    assert_true(sim.run->audited);
    assert_int_equal(integrity_of(&sim), 0);
    assert_memory_equal(id, sim.run->run_id, sizeof id);
    assert_int_equal(ledger_header_of(sim.run->ledger)->session, 2);
    for (uint32_t page = 0; page < 256; page++) {
        struct ledger_view view = ledger_view(sim.run->ledger, 1, page);
        assert_true(view.acked >= before[page]);
        changed += view.acked > before[page];
    }
    assert_true(changed > 10);
    fseq[1] = ledger_file_at(sim.run->ledger, 2)->log_durable_position >> 32;
    assert_true(fseq[1] > fseq[0]);
    /* a third one, over the folder of the second */
    take_over(&sim, "third");
    sim_run(&sim);
    assert_int_equal(sim.result, 0);
    assert_int_equal(integrity_of(&sim), 0);
    assert_int_equal(ledger_header_of(sim.run->ledger)->session, 3);
    sim_end(&sim);
}

static void a_lost_write_of_the_second_session_is_found(void **state)
{
    struct sim sim;
    (void)state;
    first_session(&sim);
    take_over(&sim, "second");
    struct fault_rule rule = {.kind = FAULT_LOST,
                              .op = IO_WRITE,
                              .file_uid = 1,
                              .low = PAGE_AT,
                              .high = PAGE_AT + PAGE_BYTES,
                              .nth = 1,
                              .count = UINT32_MAX};
    fault_add(sim.faults, &rule);
    sim_run(&sim);
    assert_true(sim.faults->truth_count > 0);
    const struct finding *finding = outcome_finding(&sim, VERDICT_lost_write, 1);
    if (!finding)
        sim_print_findings(&sim);
    assert_non_null(finding);
    assert_int_equal(finding->page_no, 40);
    assert_true(finding->why.generation_found >= 1); /* what the first session had written */
    sim_end(&sim);
}

/* What was in doubt is not taken over. */
static void a_session_with_findings_is_refused(void **state)
{
    struct sim sim;
    char message[PLAN_MESSAGE_MAX];
    (void)state;
    sim_begin(&sim, &small);
    struct fault_rule rule = {.kind = FAULT_FLIP,
                              .op = IO_WRITE,
                              .file_uid = 1,
                              .low = PAGE_AT,
                              .high = PAGE_AT + PAGE_BYTES,
                              .nth = 1,
                              .count = UINT32_MAX,
                              .a = 1000};
    fault_add(sim.faults, &rule);
    sim_run(&sim);
    assert_true(integrity_of(&sim) > 0);
    assert_int_not_equal(sim_take_over(&sim, "second", message), 0);
    assert_non_null(strstr(message, "page 40"));
    assert_non_null(strstr(message, "Run without --reuse"));
    sim_end(&sim);
}

static void a_killed_session_is_refused(void **state)
{
    struct sim sim;
    char message[PLAN_MESSAGE_MAX];
    struct sim_options options = small;
    (void)state;
    options.leave_like_killed = true;
    sim_begin(&sim, &options);
    sim_run(&sim);
    assert_int_not_equal(sim_take_over(&sim, "second", message), 0);
    assert_non_null(strstr(message, "did not end in order"));
    sim_end(&sim);
}

/* Of a session over the same first one; false when no fault fired. */
static bool second_with_fault(unsigned n, bool sticky)
{
    struct sim sim;
    first_session(&sim);
    take_over(&sim, "second");
    struct fault_rule rule = {
        .kind = FAULT_ERRNO, .any_op = true, .nth = n, .count = sticky ? UINT32_MAX : 1, .a = EIO};
    fault_add(sim.faults, &rule);
    alarm(OUTCOME_SECONDS_MAX);
    sim_run(&sim);
    alarm(0);
    bool fired = sim.faults->truth_count > 0;
    bool sound = integrity_of(&sim) == sim.run->findings.by_verdict[VERDICT_unreadable];
    if (!sim.run->phases[PHASE_create].complete)
        sound = sound && sim.run->message[0] && sim.run->exit_code == EXIT_CODE_INCOMPLETE;
    char path[SIM_PATH_MAX];
    sim_path(&sim, "data1.mdx", path);
    sound = sound && access(path, R_OK) == 0; /* what was there is never removed */
    if (!sound) {
        sim_print_findings(&sim);
        fail_msg("I/O %u fails%s", n, sticky ? " from there on" : "");
    }
    sim_end(&sim);
    return fired;
}

static void each_of_its_first_ios_may_fail(void **state)
{
    (void)state;
    for (unsigned sticky = 0; sticky < 2; sticky++)
        for (unsigned n = 1; n <= FAULTS_MAX; n++)
            assert_true(second_with_fault(n, sticky));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(everything_goes_on_above_the_first_session),
        cmocka_unit_test(a_lost_write_of_the_second_session_is_found),
        cmocka_unit_test(a_session_with_findings_is_refused),
        cmocka_unit_test(a_killed_session_is_refused),
        cmocka_unit_test(each_of_its_first_ios_may_fail),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
