/*
 * test_stall.c - requests that take long, and requests that never end, under the virtual clock.
 *
 * The fault layer holds the nth request back: for 20 s (a stall: one finding, with the place and
 * the final age, and nothing else happens), for 14 s (no stall), or for ever (the run must end
 * without it, with its findings in order).
 */
#include <stdio.h>

#include "sim/report.h"
#include "sim/run_watch.h"
#include "tests/fault/outcome.h"
#include "tests/scale.h"

#define MIB      (1024ull * 1024)
#define FOR_EVER (4000000000ll * (int64_t)NS_PER_S) /* 126 years: fits the clock */

static void sim_small_with(struct sim *sim, uint64_t seconds, const char *stop_on_error)
{
    const struct sim_options options = {
        .duration_ns = seconds * NS_PER_S,
        .data_bytes = 2 * MIB,
        .log_bytes = 1 * MIB,
        .pool_bytes = 48 * PAGE_BYTES,
        .with_faults = true,
        .settings = {{"RandomUser", "UserCount", "4"},
                     {"RandomUser", "MaxIOChainLength", "8"},
                     {"RandomUser", "SleepAfter", "100"},
                     {"ReadAheadUser", "UserCount", "0"},
                     {"BulkUpdateUser", "UserCount", "0"},
                     {"AuditUser", "UserCount", "1"},
                     {"CONFIG", "StopOnError", stop_on_error},
                     {"CpuIdleUser", "UserCount", "0"}}, /* 300 s of a virtual clock, 60 times */
    };
    sim_begin(sim, &options);
}

static void sim_small(struct sim *sim, uint64_t seconds)
{
    sim_small_with(sim, seconds, "TRUE");
}

static void hold_back(struct sim *sim, struct fault_rule rule, int64_t ns)
{
    rule.kind = FAULT_DELAY;
    rule.a = ns;
    fault_add(sim->faults, &rule);
}

static uint64_t stalled(const struct sim *sim)
{
    uint64_t sum = 0;
    for (unsigned i = 0; i < sim->run->file_count; i++)
        sum += sim->run->files[i]->file.target.account.stalled;
    for (unsigned i = 0; i < sim->run->database_count; i++)
        sum += sim->run->databases[i].logs[0].target.account.stalled;
    return sum;
}

/* Let what was held back end, so that everything can be taken apart. */
static void release(struct sim *sim)
{
    clock_advance_to(&sim->clock, clock_now_ns(&sim->clock) + 2 * (uint64_t)FOR_EVER);
    for (unsigned i = 0; i < sim->run->worker_count; i++)
        while (sim->run->workers[i].io.pending)
            io_poll(&sim->run->workers[i].io, 1, UINT64_MAX);
    while (sim->run->io.pending)
        io_poll(&sim->run->io, 1, UINT64_MAX);
}

/* ---- stalls ---- */

static void a_request_of_20_s_is_told_once_with_its_place_and_final_age(void **state)
{
    (void)state;
    struct sim sim;
    struct outcome o;
    sim_small(&sim, 60);
    hold_back(&sim, (struct fault_rule){.op = IO_READ, .file_uid = 1, .nth = 40},
              20 * (int64_t)NS_PER_S);
    sim_run(&sim);
    outcome_take(&sim, &o);
    OUTCOME_CHECK(&sim, "20 s", o.result == 0);
    OUTCOME_CHECK(&sim, "20 s", o.warnings == 1 && o.by_verdict[VERDICT_stalled_io] == 1);
    OUTCOME_CHECK(&sim, "20 s", o.integrity == 0 && o.io_errors == 0);
    assert_int_equal(stalled(&sim), 1);
    const struct finding *finding = outcome_finding(&sim, VERDICT_stalled_io, 1);
    assert_non_null(finding);
    assert_int_equal(finding->offset, sim.faults->truth[0].offset);
    assert_int_equal(finding->size_bytes, sim.faults->truth[0].size_bytes);
    assert_string_equal(finding->file, sim.plan.files[0].path);
    OUTCOME_CHECK(&sim, "20 s", strstr(finding->detail, "a read of ") == finding->detail);
    OUTCOME_CHECK(&sim, "20 s", strstr(finding->detail, " took 20.") != NULL);
    OUTCOME_CHECK(&sim, "20 s", strstr(finding->detail, "at least 0 other") == NULL);
    assert_int_equal(verdict_info(VERDICT_stalled_io)->sql_error, 833);
    sim_end(&sim);
}

/* "NAME=" in the text; its value up to the end of the line, in out. */
static void value_of(const char *text, const char *name, char *out, size_t size_bytes)
{
    char key[64];
    snprintf(key, sizeof key, "\nPAGESTORM_%s=", name);
    const char *at = strstr(text, key);
    out[0] = '\0';
    if (at)
        snprintf(out, size_bytes, "%.*s", (int)strcspn(at + strlen(key), "\n"), at + strlen(key));
}

/* One of two stalls: the command is told of it after 15 s, before its end after 20 s. */
static void a_stall_starts_the_command_while_the_request_is_out(void **state)
{
    (void)state;
    struct sim sim;
    char path[SIM_PATH_MAX + 16], text[8192] = "\n", value[256];
    sim_small(&sim, 60);
    sim.options.on_stall = "env >>\"$PAGESTORM_RESULT_DIR/stall.env\"";
    hold_back(&sim, (struct fault_rule){.op = IO_READ, .file_uid = 1, .nth = 40, .count = 2},
              20 * (int64_t)NS_PER_S);
    sim_run(&sim);
    uint64_t first = sim.faults->truth[0].offset, second = sim.faults->truth[1].offset;
    assert_int_equal(sim.faults->truth_count, 2);
    assert_int_equal(sim.run->findings.by_verdict[VERDICT_stalled_io], 2);
    sim_close(&sim); /* and the command has ended */
    snprintf(path, sizeof path, "%s/stall.env", sim.out);
    FILE *file = fopen(path, "re");
    assert_non_null(file);
    text[1 + fread(text + 1, 1, sizeof text - 2, file)] = '\0';
    fclose(file);
    value_of(text, "EVENT", value, sizeof value);
    assert_string_equal(value, "stall");
    value_of(text, "CLASS", value, sizeof value);
    assert_string_equal(value, "stalled_io");
    value_of(text, "SQL_ERROR", value, sizeof value);
    assert_string_equal(value, "833");
    value_of(text, "OFFSET", value, sizeof value);
    uint64_t offset = strtoull(value, NULL, 10);
    assert_true(offset == first || offset == second); /* one look met both */
    value_of(text, "AGE_MS", value, sizeof value);
    assert_in_range(strtoull(value, NULL, 10), 15000, 19999);
    value_of(text, "DETAIL", value, sizeof value);
    assert_non_null(strstr(value, "has been outstanding for"));
    assert_null(strstr(strstr(text, "PAGESTORM_EVENT=") + 1, "PAGESTORM_EVENT=")); /* once */
    sim_end(&sim);
}

static void a_request_of_14_s_is_not_told(void **state)
{
    (void)state;
    struct sim sim;
    struct outcome o;
    sim_small(&sim, 60);
    hold_back(&sim, (struct fault_rule){.op = IO_READ, .file_uid = 1, .nth = 40},
              14 * (int64_t)NS_PER_S);
    sim_run(&sim);
    outcome_take(&sim, &o);
    OUTCOME_CHECK(&sim, "14 s", sim.faults->truth_count == 1);
    OUTCOME_CHECK(&sim, "14 s", o.result == 0 && o.warnings == 0);
    sim_end(&sim);
}

static void each_of_several_stalls_is_one_finding(void **state)
{
    (void)state;
    struct sim sim;
    struct outcome o;
    sim_small(&sim, 60);
    hold_back(&sim, (struct fault_rule){.op = IO_READ, .file_uid = 1, .nth = 40, .count = 3},
              16 * (int64_t)NS_PER_S);
    sim_run(&sim);
    outcome_take(&sim, &o);
    OUTCOME_CHECK(&sim, "3", sim.faults->truth_count == 3);
    OUTCOME_CHECK(&sim, "3", o.by_verdict[VERDICT_stalled_io] == 3);
    OUTCOME_CHECK(&sim, "3", sim.run->findings.count == 3);
    sim_end(&sim);
}

/* A pause of the machine of 10 s falls into a request's 20 s: 10 s are left, no stall. */
static void the_time_in_which_the_machine_stood_still_does_not_count(void **state)
{
    (void)state;
    struct sim sim;
    struct outcome o;
    sim_small(&sim, 60);
    hold_back(&sim, (struct fault_rule){.op = IO_READ, .file_uid = 1, .nth = 40},
              20 * (int64_t)NS_PER_S);
    sim_create(&sim);
    /* the request begins before 5 s (checked below), so [5 s, 15 s) lies inside it */
    io_watch_pause(&sim.run->watch, 5 * NS_PER_S, 10 * NS_PER_S);
    sim.result = run_execute(sim.run);
    outcome_take(&sim, &o);
    OUTCOME_CHECK(&sim, "pause", sim.faults->truth_count == 1);
    OUTCOME_CHECK(&sim, "pause", sim.faults->truth[0].time_ns < 5 * NS_PER_S);
    OUTCOME_CHECK(&sim, "pause", o.result == 0 && o.warnings == 0);
    sim_end(&sim);
}

static void a_pause_of_the_machine_is_an_event_with_its_length(void **state)
{
    (void)state;
    struct sim sim;
    sim_small(&sim, 1);
    sim_create(&sim);
    run_watch_paused(sim.run, 10 * NS_PER_S, 29500 * NS_PER_MS);
    assert_int_equal(sim.run->findings.by_verdict[VERDICT_host_pause], 1);
    const struct finding *finding = outcome_finding(&sim, VERDICT_host_pause, 0);
    assert_non_null(strstr(finding->detail, "29.5 s"));
    sim_end(&sim);
}

static void a_short_transfer_whose_rest_went_through_is_a_warning(void **state)
{
    (void)state;
    struct sim sim;
    struct outcome o;
    sim_small(&sim, 2);
    fault_add(sim.faults,
              &(struct fault_rule){
                  .kind = FAULT_SHORT, .op = IO_READ, .file_uid = 1, .nth = 40, .a = 4096});
    sim_run(&sim);
    outcome_take(&sim, &o);
    OUTCOME_CHECK(&sim, "short", o.result == 0 && o.integrity == 0 && o.io_errors == 0);
    OUTCOME_CHECK(&sim, "short", o.warnings == 1 && o.by_verdict[VERDICT_short_io] == 1);
    const struct finding *finding = outcome_finding(&sim, VERDICT_short_io, 1);
    assert_non_null(finding);
    assert_int_equal(finding->offset, sim.faults->truth[0].offset);
    sim_end(&sim);
}

/* ---- requests that never end ---- */

static void judge_stuck(struct sim *sim, const char *what)
{
    struct outcome o;
    struct report report;
    outcome_take(sim, &o);
    OUTCOME_CHECK(sim, what, sim->run->stuck);
    OUTCOME_CHECK(sim, what, o.by_verdict[VERDICT_stuck_io] == 1);
    OUTCOME_CHECK(sim, what, o.by_verdict[VERDICT_stalled_io] == 1);
    OUTCOME_CHECK(sim, what, o.integrity == 0 && o.io_errors == 1);
    OUTCOME_CHECK(sim, what, clock_now_ns(&sim->clock) >= IO_STUCK_NS);
    assert_int_equal(report_freeze(&report, sim->run, "test", 0), 0);
    OUTCOME_CHECK(sim, what, !report.complete);
    OUTCOME_CHECK(sim, what, report.exit_code == 3);
    report_free(&report);
    release(sim);
}

/* In the main part, long before its end. */
static void a_stuck_read_ends_the_run_when_it_has_the_age(void **state)
{
    (void)state;
    struct sim sim;
    sim_small(&sim, 600);
    hold_back(&sim, (struct fault_rule){.op = IO_READ, .file_uid = 1, .nth = 40}, FOR_EVER);
    sim_run(&sim);
    const struct run_phase_time *stress = &sim.run->phases[PHASE_stress];
    assert_true(stress->end_ns - stress->start_ns < 330 * NS_PER_S); /* IO_STUCK_NS and a little */
    judge_stuck(&sim, "read");
    outcome_judge_files(&sim, "read");
    sim_end(&sim);
}

/* Without StopOnError the others go on to the end, then the run ends. */
static void without_stop_on_error_a_stuck_read_ends_the_run_when_its_time_is_over(void **state)
{
    (void)state;
    struct sim sim;
    sim_small_with(&sim, 600, "FALSE");
    hold_back(&sim, (struct fault_rule){.op = IO_READ, .file_uid = 1, .nth = 40}, FOR_EVER);
    sim_run(&sim);
    const struct run_phase_time *stress = &sim.run->phases[PHASE_stress];
    assert_true(stress->end_ns - stress->start_ns >= 600 * NS_PER_S);
    judge_stuck(&sim, "read");
    outcome_judge_files(&sim, "read");
    sim_end(&sim);
}

/* Whatever it is that never ends, in whatever phase.  How many requests an undisturbed run has is
 * found out first. */
static void whatever_request_is_stuck_the_run_ends(void **state)
{
    (void)state;
    struct sim sim;
    sim_small(&sim, 1);
    sim_create(&sim);
    uint64_t created = sim.faults->requests;
    sim.result = run_execute(sim.run);
    assert_int_equal(sim.result, 0);
    uint64_t last = sim.faults->requests;
    sim_end(&sim);
    unsigned stuck = 0, cases = test_scaled(60);
    for (unsigned i = 0; i < cases; i++) {
        char what[64];
        unsigned nth = (unsigned)(created + 1 + (last - created - 1) * i / cases);
        snprintf(what, sizeof what, "request %u of %u", nth, (unsigned)last);
        sim_small(&sim, 1);
        hold_back(&sim, (struct fault_rule){.any_op = true, .nth = nth}, FOR_EVER);
        sim_run(&sim);
        judge_stuck(&sim, what);
        if (sim.run->phases[PHASE_initial_update].complete) /* else there is no database yet */
            outcome_judge_files(&sim, what);
        stuck++;
        sim_end(&sim);
    }
    assert_int_equal(stuck, cases);
}

/* The log is written before the first phase, by the coordinator. */
static void a_run_whose_first_write_is_stuck_does_not_start(void **state)
{
    (void)state;
    struct sim sim;
    sim_small(&sim, 1);
    hold_back(&sim, (struct fault_rule){.op = IO_WRITE, .nth = 1}, FOR_EVER);
    sim_run(&sim);
    print_message("  %s\n", sim.run->message);
    OUTCOME_CHECK(&sim, "creation", sim.result < 0 && sim.run->stuck);
    OUTCOME_CHECK(&sim, "creation", sim.run->exit_code == 3);
    OUTCOME_CHECK(&sim, "creation", sim.run->findings.by_verdict[VERDICT_stuck_io] == 1);
    release(&sim);
    sim_end(&sim);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_request_of_20_s_is_told_once_with_its_place_and_final_age),
        cmocka_unit_test(a_stall_starts_the_command_while_the_request_is_out),
        cmocka_unit_test(a_request_of_14_s_is_not_told),
        cmocka_unit_test(each_of_several_stalls_is_one_finding),
        cmocka_unit_test(the_time_in_which_the_machine_stood_still_does_not_count),
        cmocka_unit_test(a_pause_of_the_machine_is_an_event_with_its_length),
        cmocka_unit_test(a_short_transfer_whose_rest_went_through_is_a_warning),
        cmocka_unit_test(a_stuck_read_ends_the_run_when_it_has_the_age),
        cmocka_unit_test(without_stop_on_error_a_stuck_read_ends_the_run_when_its_time_is_over),
        cmocka_unit_test(whatever_request_is_stuck_the_run_ends),
        cmocka_unit_test(a_run_whose_first_write_is_stuck_does_not_start),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
