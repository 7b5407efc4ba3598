/* test_report.c - the frozen report and its writers, of a run that a test puts together by hand. */
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include <jansson.h>

#include "sim/report.h"
#include "tests/unit/plan_fixture.h"

#define STRESS_NS (2 * NS_PER_S)

struct made_run {
    struct run run;
    struct profile *profile;
    struct plan plan;
    struct plan_file plan_files[2];
    struct clock clock;
    struct database database;
    struct data_file data;
    struct data_file *files[1];
    struct syspage pfs;
    struct file log;
    struct wal_vlf vlfs[2];
    char ledger_path[64];
    uint8_t pfs_image[PAGE_BYTES];
};

static void make_ledger(struct made_run *made)
{
    static const uint8_t boot_id[16] = {1};
    struct run_identity identity = run_identity_make((const uint8_t[RUN_ID_BYTES]){7}, 7, 0);
    struct ledger_file_spec specs[2] = {
        {.incarnation = 1,
         .file_id = 1,
         .database_id = 5,
         .kind = FILE_KIND_DATA,
         .capacity_pages = 64,
         .path = "/data/a.mdx"},
        {.incarnation = 1,
         .file_id = 2,
         .database_id = 5,
         .kind = FILE_KIND_LOG,
         .path = "/data/a.ldx"},
    };
    snprintf(made->ledger_path, sizeof made->ledger_path, "/tmp/pagestorm-report-%d",
             (int)getpid());
    unlink(made->ledger_path);
    assert_int_equal(
        ledger_create(&made->run.ledger, made->ledger_path, &identity, 7, 0, boot_id, specs, 2), 0);
}

/* Page 10 to 12 acknowledged, 10 and 11 read back. */
static void write_pages(struct made_run *made)
{
    for (uint32_t page_no = 10; page_no < 13; page_no++) {
        ledger_begin(made->run.ledger, 1, page_no, 1);
        ledger_ack(made->run.ledger, 1, page_no, true, 0, 0);
    }
    for (uint32_t page_no = 10; page_no < 12; page_no++)
        ledger_seen(made->run.ledger, 1, page_no, ledger_view(made->run.ledger, 1, page_no).epoch);
}

static void make_files(struct made_run *made)
{
    made->pfs = (struct syspage){
        .page_no = 1, .kind = SYSPAGE_PFS, .acked = made->pfs_image, .has_acked = true};
    syspage_build_map(made->pfs_image, SYSPAGE_PFS, 1, 1);
    made->data.file = (struct file){.path = (char *)(uintptr_t) "/data/a.mdx",
                                    .size_pages = 64,
                                    .direct = true,
                                    .mark = {.file_uid = 1}};
    made->data.file.target.dsync = true;
    atomic_init(&made->data.file.target.size_bytes, 64 * PAGE_BYTES);
    made->data.database = &made->database;
    made->data.syspages = &made->pfs;
    made->data.syspage_count = 1;
    made->database.files = &made->data;
    made->database.file_count = 1;
    made->database.logs = &made->log;
    made->database.log_count = 1;
    made->log = (struct file){
        .path = (char *)(uintptr_t) "/data/a.ldx", .direct = true, .mark = {.file_uid = 2}};
    snprintf(made->database.name, sizeof made->database.name, "pagestorm1");
    made->vlfs[0].blocks = 30;
    made->vlfs[1].blocks = 12;
    made->database.wal.vlfs = made->vlfs;
    made->database.wal.vlf_count = 2;
    made->files[0] = &made->data;
}

static int make_run(void **state)
{
    struct made_run *made = calloc(1, sizeof *made);
    assert_non_null(made);
    struct run *run = &made->run;
    made->profile = empty_profile();
    set(made->profile, "CONFIG", "Compressibility", "25%");
    set_file(made->profile, "File3", "/data/a.mdx", "1", "FALSE", "1");
    assert_int_equal(profile_finish(made->profile), 0);
    made->plan = (struct plan){.workers = 2, .seed = 7, .pool_bytes = 64 << 20};
    clock_init_virtual(&made->clock);
    run->config = (struct run_config){.profile = made->profile,
                                      .plan = &made->plan,
                                      .engine = &engine_mem,
                                      .virtual_clock = true};
    run->settings = profile_config(made->profile);
    run->clock = &made->clock;
    run->session_start_ns = CLOCK_VIRTUAL_EPOCH_NS;
    run->run_id[0] = 0xAB;
    make_ledger(made);
    make_files(made);
    write_pages(made);
    assert_int_equal(findings_init(&run->findings, run->clock, NULL, NULL, false), 0);
    run->databases = &made->database;
    run->database_count = 1;
    run->files = made->files;
    run->file_count = 1;
    run->phases[PHASE_stress] =
        (struct run_phase_time){.start_ns = 1, .end_ns = 1 + STRESS_NS, .complete = true};
    run->phase = PHASE_stress;
    run->audited = true;
    run->main_stats.counters.page_hits = 1; /* a load ran */
    *state = made;
    return 0;
}

static int free_run(void **state)
{
    struct made_run *made = *state;
    findings_free(&made->run.findings);
    ledger_close(made->run.ledger, true);
    unlink(made->ledger_path);
    profile_free(made->profile);
    free(made);
    return 0;
}

static void freeze(struct made_run *made, struct report *report, int signal)
{
    assert_int_equal(report_freeze(report, &made->run, "pagestorm run --dir /data", signal), 0);
}

static char *written(const struct report *report, const char *writer)
{
    char *text = NULL;
    size_t size = 0;
    FILE *out = open_memstream(&text, &size);
    assert_non_null(out);
    assert_int_equal(report_writer_by_name(writer)->write(report, out), 0);
    fclose(out);
    return text;
}

static json_t *json_of(struct made_run *made, int signal)
{
    struct report report;
    json_error_t error;
    freeze(made, &report, signal);
    char *text = written(&report, "json");
    json_t *root = json_loads(text, JSON_REJECT_DUPLICATES, &error);
    if (!root)
        fail_msg("line %d: %s", error.line, error.text);
    free(text);
    report_free(&report);
    return root;
}

/* "verdict.integrity.grade"; a number selects from a list. */
static const json_t *at(const json_t *json, const char *path)
{
    char key[64];
    while (*path && json) {
        size_t length = strcspn(path, ".");
        snprintf(key, sizeof key, "%.*s", (int)length, path);
        json = json_is_array(json) ? json_array_get(json, (size_t)strtoul(key, NULL, 10))
                                   : json_object_get(json, key);
        path += length + (path[length] == '.');
    }
    if (!json)
        fail_msg("no such key: %s", key);
    return json;
}

static long long integer_at(const json_t *json, const char *path)
{
    assert_true(json_is_integer(at(json, path)));
    return json_integer_value(at(json, path));
}

static const char *text_at(const json_t *json, const char *path)
{
    assert_true(json_is_string(at(json, path)));
    return json_string_value(at(json, path));
}

static void expect_real(const json_t *json, const char *path, double expected)
{
    double value = json_number_value(at(json, path));
    double error = value > expected ? value - expected : expected - value;
    if (error > expected * 1e-9 + 1e-12)
        fail_msg("%s is %.12g, not %.12g", path, value, expected);
}

/* ---- files and coverage ---- */

static void coverage_counts_pages_read_back_since_their_last_write(void **state)
{
    json_t *root = json_of(*state, 0);
    assert_int_equal(integer_at(root, "integrity.coverage.pages_written"), 3);
    assert_int_equal(integer_at(root, "integrity.coverage.pages_read_back"), 2);
    expect_real(root, "integrity.coverage.percent_read_back", 66.6666666667);
    json_decref(root);
}

/* Checks 1, 2 and 6 s after the writes: 3 s on average. */
static void coverage_tells_how_long_pages_waited_for_their_first_check(void **state)
{
    struct made_run *made = *state;
    coverage_first_check(&made->data.coverage, 2 * NS_PER_S);
    coverage_first_check(&made->data.coverage, 6 * NS_PER_S);
    coverage_first_check(&made->data.coverage, 1 * NS_PER_S);
    made->data.coverage.overwritten_unread = 5;
    json_t *root = json_of(made, 0);
    assert_int_equal(integer_at(root, "integrity.coverage.first_checks"), 3);
    expect_real(root, "integrity.coverage.first_check_mean_ms", 3000);
    expect_real(root, "integrity.coverage.first_check_longest_ms", 6000);
    const json_t *file = json_array_get(at(root, "files"), 0);
    assert_int_equal(integer_at(file, "overwritten_unread"), 5);
    assert_int_equal(integer_at(file, "first_checks"), 3);
    expect_real(file, "first_check_longest_ms", 6000);
    expect_real(file, "percent_read_back", 66.6666666667);
    json_decref(root);
}

static void a_page_that_was_not_read_back_keeps_the_run_from_passing(void **state)
{
    json_t *root = json_of(*state, 0);
    assert_string_equal(text_at(root, "verdict.integrity.grade"), "INCOMPLETE");
    assert_int_equal(integer_at(root, "verdict.exit_code"), 3);
    json_decref(root);
}

static void every_page_read_back_is_pass(void **state)
{
    struct made_run *made = *state;
    ledger_seen(made->run.ledger, 1, 12, ledger_view(made->run.ledger, 1, 12).epoch);
    json_t *root = json_of(made, 0);
    assert_string_equal(text_at(root, "verdict.overall.grade"), "PASS");
    assert_int_equal(integer_at(root, "verdict.exit_code"), 0);
    json_decref(root);
}

static void a_file_without_o_direct_is_warn(void **state)
{
    struct made_run *made = *state;
    ledger_seen(made->run.ledger, 1, 12, ledger_view(made->run.ledger, 1, 12).epoch);
    made->log.direct = false;
    json_t *root = json_of(made, 0);
    assert_string_equal(text_at(root, "verdict.integrity.grade"), "WARN");
    json_decref(root);
}

/* Pages 11 and 12 are written and allocated, 13 is allocated only, 10 written only. */
static void allocated_pages_are_written_and_marked_in_the_pfs(void **state)
{
    struct made_run *made = *state;
    for (uint32_t page_no = 11; page_no < 14; page_no++)
        pfs_set(made->pfs_image, page_no, PFS_BYTE_FULL);
    json_t *root = json_of(made, 0);
    assert_int_equal(integer_at(root, "files.0.allocated_pages"), 2);
    json_decref(root);
}

static void the_log_counts_the_live_blocks_of_all_vlfs(void **state)
{
    json_t *root = json_of(*state, 0);
    assert_string_equal(text_at(root, "files.1.kind"), "log");
    assert_int_equal(integer_at(root, "files.1.log_blocks_live"), 42);
    json_decref(root);
}

/* ---- streams ---- */

/* 100 reads of 8 KiB in 2 s, 1 ms each: 50 a second, 100 * 8192 / 2 / 1048576 MB/s, and by Little's
 * law 50 * 0.001 in flight. */
static void a_stream_has_its_rates_and_latencies(void **state)
{
    struct made_run *made = *state;
    for (int i = 0; i < 100; i++)
        stats_add(&made->run.main_stats, PHASE_stress, STREAM_page_read, 8192, NS_PER_MS,
                  3 * NS_PER_MS);
    json_t *root = json_of(made, 0);
    const json_t *stream = at(root, "streams.0");
    assert_string_equal(text_at(stream, "phase"), "stress");
    assert_string_equal(text_at(stream, "name"), "page_read");
    assert_int_equal(integer_at(stream, "ops"), 100);
    assert_int_equal(integer_at(stream, "bytes"), 819200);
    expect_real(stream, "iops", 50);
    expect_real(stream, "mb_per_s", 0.390625);
    expect_real(stream, "in_flight", 0.05);
    expect_real(stream, "latency_us.min", 1000);
    expect_real(stream, "latency_us.mean", 1000);
    expect_real(stream, "latency_us.p99", 1000); /* clamped to min and max */
    expect_real(stream, "response_us.max", 3000);
    json_decref(root);
}

static void buckets_hold_every_operation_between_their_bounds(void **state)
{
    struct made_run *made = *state;
    for (int i = 0; i < 7; i++)
        stats_add(&made->run.main_stats, PHASE_stress, STREAM_log_write, 512, 250000, 250000);
    json_t *root = json_of(made, 0);
    const json_t *bucket = at(root, "streams.0.latency_us.buckets.0");
    assert_true(json_number_value(json_array_get(bucket, 0)) <= 250);
    assert_true(json_number_value(json_array_get(bucket, 1)) > 250);
    assert_int_equal(json_integer_value(json_array_get(bucket, 2)), 7);
    json_decref(root);
}

static void the_total_adds_the_phases(void **state)
{
    struct made_run *made = *state;
    stats_add(&made->run.main_stats, PHASE_stress, STREAM_log_write, 512, 1000, 1000);
    stats_add(&made->run.main_stats, PHASE_audit, STREAM_log_write, 1024, 3000, 3000);
    json_t *root = json_of(made, 0);
    assert_int_equal(json_array_size(at(root, "streams")), 3);
    assert_string_equal(text_at(root, "streams.2.phase"), "total");
    assert_int_equal(integer_at(root, "streams.2.ops"), 2);
    assert_int_equal(integer_at(root, "streams.2.bytes"), 1536);
    expect_real(root, "streams.2.latency_us.mean", 2);
    json_decref(root);
}

/* ---- findings ---- */

static void add_finding(struct made_run *made, enum verdict verdict, uint32_t page_no)
{
    struct finding finding = {.verdict = verdict,
                              .file_uid = 1,
                              .has_page = true,
                              .page_no = page_no,
                              .offset = (uint64_t)page_no * PAGE_BYTES};
    snprintf(finding.file, sizeof finding.file, "/data/a.mdx");
    finding.why.generation_expected = 9;
    finding.why.generation_found = 8;
    snprintf(finding.why.sectors, sizeof finding.why.sectors, "oooooooooooooooo");
    finding_report(&made->run.findings, &finding, NULL);
}

static void a_finding_has_the_keys_of_the_design_and_fails_the_run(void **state)
{
    add_finding(*state, VERDICT_lost_write, 11);
    json_t *root = json_of(*state, 0);
    const json_t *finding = at(root, "integrity.findings.0");
    assert_string_equal(text_at(finding, "class"), "lost_write");
    assert_string_equal(text_at(finding, "severity"), "integrity");
    assert_string_equal(text_at(finding, "blame"), "storage");
    assert_int_equal(integer_at(finding, "sql_error"), 824);
    assert_string_equal(text_at(finding, "file"), "/data/a.mdx");
    assert_int_equal(integer_at(finding, "page"), 11);
    assert_int_equal(integer_at(finding, "offset"), 90112);
    assert_int_equal(integer_at(finding, "generation_expected"), 9);
    assert_int_equal(integer_at(finding, "generation_found"), 8);
    assert_string_equal(text_at(finding, "sectors"), "oooooooooooooooo");
    assert_string_equal(text_at(finding, "time"), "2026-01-01T00:00:00.000Z");
    at(finding, "retries");
    at(finding, "actor");
    at(finding, "evidence");
    assert_string_equal(text_at(root, "verdict.integrity.grade"), "FAIL");
    assert_int_equal(integer_at(root, "verdict.exit_code"), 1);
    json_decref(root);
}

static void a_dropped_finding_is_not_reported(void **state)
{
    struct made_run *made = *state;
    add_finding(made, VERDICT_lost_write, 11);
    add_finding(made, VERDICT_misdirected_write, 12);
    finding_drop(&made->run.findings, &made->run.findings.list[0]);
    json_t *root = json_of(made, 0);
    assert_int_equal(json_array_size(at(root, "integrity.findings")), 1);
    assert_int_equal(integer_at(root, "integrity.findings.0.page"), 12);
    assert_int_equal(json_object_size(at(root, "integrity.findings_by_class")), 1);
    json_decref(root);
}

/* ---- the document ---- */

static void the_document_has_every_part_of_the_design(void **state)
{
    static const char *const paths[] = {"schema",
                                        "run.id",
                                        "run.seed",
                                        "run.command",
                                        "run.version",
                                        "run.label",
                                        "run.started",
                                        "run.complete",
                                        "run.phases.0.seconds",
                                        "run.phases.0.rated",
                                        "environment.kernel",
                                        "environment.distribution",
                                        "environment.cpu_model",
                                        "environment.cpus_allowed",
                                        "environment.memory_total_bytes",
                                        "environment.file_systems",
                                        "environment.version",
                                        "config.CONFIG.TestCycleDuration",
                                        "verdict.overall.reasons.0",
                                        "verdict.durability.grade",
                                        "verdict.speed.grade",
                                        "integrity.pages_verified",
                                        "integrity.log_blocks_verified",
                                        "integrity.overlapped_reads",
                                        "integrity.read_retries",
                                        "integrity.findings",
                                        "streams",
                                        "files.0.path",
                                        "databases.0.name",
                                        "actors",
                                        "counters.transactions",
                                        "cpu.user_seconds",
                                        "cpu.system_seconds"};
    json_t *root = json_of(*state, 0);
    for (size_t i = 0; i < sizeof paths / sizeof paths[0]; i++)
        at(root, paths[i]);
    assert_string_equal(text_at(root, "schema"), "pagestorm-result/1");
    assert_int_equal(strncmp(text_at(root, "run.id"), "ab00", 4), 0);
    assert_int_equal(integer_at(root, "run.seed"), 7);
    json_decref(root);
}

/* 25 % are 2,500 hundredths; a key that nobody set has its default. */
static void the_configuration_in_effect_is_complete(void **state)
{
    json_t *root = json_of(*state, 0);
    assert_string_equal(text_at(root, "config.CONFIG.Compressibility"), "2500");
    assert_string_equal(text_at(root, "config.CONFIG.TestCycleDuration"), "300");
    assert_string_equal(text_at(root, "config.File3.FileName"), "/data/a.mdx");
    assert_int_equal(json_object_size(at(root, "config.CONFIG")), config_section.count);
    at(root, "config.RandomUser.UserCount");
    json_decref(root);
}

static void bytes_that_are_no_text_do_not_break_the_document(void **state)
{
    struct made_run *made = *state;
    struct report report;
    assert_int_equal(report_freeze(&report, &made->run, "run --dir /\xff\xfe", 0), 0);
    char *text = written(&report, "json");
    json_t *root = json_loads(text, 0, NULL);
    assert_non_null(root);
    assert_string_equal(text_at(root, "run.command"), "run --dir /??");
    json_decref(root);
    free(text);
    report_free(&report);
}

static void a_report_is_frozen(void **state)
{
    struct made_run *made = *state;
    struct report report;
    freeze(made, &report, 0);
    char *first = written(&report, "json");
    stats_add(&made->run.main_stats, PHASE_stress, STREAM_page_read, 8192, 1, 1);
    char *second = written(&report, "json");
    assert_string_equal(first, second);
    free(first);
    free(second);
    report_free(&report);
}

static void a_signal_is_130_and_named(void **state)
{
    struct made_run *made = *state;
    made->run.audited = false;
    json_t *root = json_of(made, SIGINT);
    assert_int_equal(integer_at(root, "verdict.exit_code"), 130);
    assert_int_equal(integer_at(root, "run.interrupted_by_signal"), SIGINT);
    assert_true(json_is_false(at(root, "run.complete")));
    json_decref(root);
}

/* ---- text ---- */

static void the_text_ends_with_the_axes_in_order(void **state)
{
    static const char *const lines[] = {
        "\nINTEGRITY   INCOMPLETE  ",   "\nDURABILITY  NOT TESTED  ",
        "\nSPEED       NOT TESTED  ",   "\nRESULT      INCOMPLETE",
        "\nreport  /out/result.json\n", "\nfiles   /data/a.mdx 512 KiB, /data/a.ldx"};
    struct made_run *made = *state;
    struct report report;
    freeze(made, &report, 0);
    report.out_dir = "/out";
    char *text = written(&report, "text");
    const char *from = text;
    for (size_t i = 0; i < sizeof lines / sizeof lines[0]; i++) {
        const char *found = strstr(from, lines[i]);
        if (!found)
            fail_msg("missing or out of order: %s", lines[i]);
        from = found + strlen(lines[i]) - 1;
    }
    assert_non_null(strstr(from, "remove: pagestorm clean /out\n"));
    free(text);
    report_free(&report);
}

static void the_text_shows_a_stream_with_its_figures(void **state)
{
    struct made_run *made = *state;
    struct report report;
    for (int i = 0; i < 2000; i++)
        stats_add(&made->run.main_stats, PHASE_stress, STREAM_page_read, 8192, NS_PER_MS, 0);
    freeze(made, &report, 0);
    char *text = written(&report, "text");
    const char *line = strstr(text, "  page_read");
    assert_non_null(line);
    char ops[16], mean[16], p99[16];
    double iops, mb;
    assert_int_equal(sscanf(line, " page_read %15s %lf %lf %15s %15s", ops, &iops, &mb, mean, p99),
                     5);
    assert_string_equal(ops, "2,000");
    assert_true(iops == 1000.0 && mb == 7.8); /* 1,000 * 8,192 / 1,048,576 = 7.8125 */
    assert_string_equal(mean, "1.0ms");
    free(text);
    report_free(&report);
}

static void the_text_names_the_findings(void **state)
{
    struct made_run *made = *state;
    struct report report;
    add_finding(made, VERDICT_lost_write, 11);
    freeze(made, &report, 0);
    char *text = written(&report, "text");
    const char *finding = strstr(text, "LOST WRITE");
    assert_non_null(finding);
    assert_true(finding < strstr(text, "INTEGRITY   FAIL"));
    free(text);
    report_free(&report);
}

static void a_failed_text_says_where_the_evidence_is_and_what_to_do(void **state)
{
    static const char *const parts[] = {
        "\nevidence: /out/evidence/00001-lost_write-a.mdx-11.txt\n",
        "  and of 1 more finding in /out/evidence\n",
        "pagestorm verify /out checks every page",
        "do not put databases here",
        "\nINTEGRITY   FAIL",
    };
    struct made_run *made = *state;
    struct report report;
    add_finding(made, VERDICT_lost_write, 11);
    add_finding(made, VERDICT_lost_write, 12);
    snprintf(made->run.findings.list[0].evidence, FINDING_EVIDENCE_MAX,
             "00001-lost_write-a.mdx-11.txt");
    snprintf(made->run.findings.list[1].evidence, FINDING_EVIDENCE_MAX,
             "00002-lost_write-a.mdx-12.txt");
    freeze(made, &report, 0);
    report.out_dir = "/out";
    char *text = written(&report, "text");
    const char *from = text;
    for (size_t i = 0; i < sizeof parts / sizeof parts[0]; i++) {
        from = strstr(from, parts[i]);
        if (!from)
            fail_msg("missing or out of order: %s", parts[i]);
    }
    assert_null(strstr(text, "stopped at the first fault"));
    free(text);
    report_free(&report);
}

static void a_text_of_a_run_that_stopped_at_a_fault_says_how_to_go_on(void **state)
{
    struct made_run *made = *state;
    struct report report;
    add_finding(made, VERDICT_lost_write, 11);
    made->run.findings.stop_on_error = true;
    atomic_store(&made->run.stop, RUN_STOP_ERROR);
    freeze(made, &report, 0);
    char *text = written(&report, "text");
    assert_non_null(strstr(text, "stopped at the first fault (StopOnError): --stop-on-error=no"));
    free(text);
    report_free(&report);
}

static void a_text_without_a_fault_gives_no_advice(void **state)
{
    struct made_run *made = *state;
    struct report report;
    freeze(made, &report, 0);
    char *text = written(&report, "text");
    assert_null(strstr(text, "what to do next"));
    free(text);
    report_free(&report);
}

#define OF_A_RUN(test) cmocka_unit_test_setup_teardown(test, make_run, free_run)

int main(void)
{
    const struct CMUnitTest tests[] = {
        OF_A_RUN(coverage_counts_pages_read_back_since_their_last_write),
        OF_A_RUN(coverage_tells_how_long_pages_waited_for_their_first_check),
        OF_A_RUN(a_page_that_was_not_read_back_keeps_the_run_from_passing),
        OF_A_RUN(every_page_read_back_is_pass),
        OF_A_RUN(a_file_without_o_direct_is_warn),
        OF_A_RUN(allocated_pages_are_written_and_marked_in_the_pfs),
        OF_A_RUN(the_log_counts_the_live_blocks_of_all_vlfs),
        OF_A_RUN(a_stream_has_its_rates_and_latencies),
        OF_A_RUN(buckets_hold_every_operation_between_their_bounds),
        OF_A_RUN(the_total_adds_the_phases),
        OF_A_RUN(a_finding_has_the_keys_of_the_design_and_fails_the_run),
        OF_A_RUN(a_dropped_finding_is_not_reported),
        OF_A_RUN(the_document_has_every_part_of_the_design),
        OF_A_RUN(the_configuration_in_effect_is_complete),
        OF_A_RUN(bytes_that_are_no_text_do_not_break_the_document),
        OF_A_RUN(a_report_is_frozen),
        OF_A_RUN(a_signal_is_130_and_named),
        OF_A_RUN(the_text_ends_with_the_axes_in_order),
        OF_A_RUN(the_text_shows_a_stream_with_its_figures),
        OF_A_RUN(the_text_names_the_findings),
        OF_A_RUN(a_failed_text_says_where_the_evidence_is_and_what_to_do),
        OF_A_RUN(a_text_of_a_run_that_stopped_at_a_fault_says_how_to_go_on),
        OF_A_RUN(a_text_without_a_fault_gives_no_advice),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
