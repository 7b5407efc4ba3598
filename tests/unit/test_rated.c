/*
 * test_rated.c - whole rated phases over the modelled device: response times when the rate is above
 * what the device can do, the shares of the oltp preset, both against arithmetic.
 *
 * The model serves a request in half to one and a half times its base time, one in a thousand
 * twenty times slower, and 500 bytes a microsecond: 8 KiB with a base of 10 ms take 10 x (1 + 19 /
 * 1000) + 0.02 = 10.2 ms on average.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <stdio.h>
#include <string.h>

#include "config/preset.h"
#include "sim/report.h"
#include "tests/sim_fixture.h"

#define MS            1e6
#define MIB           (1024ull * 1024)
#define SERVICE_MS    10.2
#define RATED_SECONDS 40
#define RATED_TEXT    "40"

static void assert_near(double value, double expected, double share, const char *what)
{
    print_message("  %s: %.4g, expected %.4g\n", what, value, expected);
    if (value < expected * (1 - share) || value > expected * (1 + share))
        fail_msg("%s: %.6g, expected %.6g within %.0f %%", what, value, expected, share * 100);
}

/* Single page reads of one file, one channel of 10 ms. */
static struct sim_options reads_at(const char *users, const char *rate, unsigned channels)
{
    return (struct sim_options){
        .seed = 4,
        .duration_ns = 1,
        .workers = 1,
        .device = {.channels = channels, .read_ns = 10 * NS_PER_MS},
        .settings = {{"CONFIG", "RatedDuration", RATED_TEXT},
                     {"CONFIG", "RatedWarmUp", "0"},
                     {"CONFIG", "Arrivals", "fixed"},
                     {"CONFIG", "CacheHitRatio", "0"},
                     {"RandomUser", "UserCount", users},
                     {"RandomUser", "RatePerSecond", rate},
                     {"RandomUser", "ReadsPerTransaction", "1"},
                     {"RandomUser", "RollbackChance", "0"},
                     {"ReadAheadUser", "UserCount", "0"},
                     {"BulkUpdateUser", "UserCount", "0"},
                     {"AuditUser", "UserCount", "0"},
                     {"CpuIdleUser", "UserCount", "0"}},
    };
}

static void run_rated_by_itself(struct sim *sim, const struct sim_options *options,
                                struct report *report)
{
    sim_begin(sim, options);
    profile_rate_by_itself(sim->profile);
    sim_run(sim);
    assert_int_equal(sim->result, 0);
    assert_int_equal(report_freeze(report, sim->run, "test", 0), 0);
}

/* 200 reads a second arrive every 5 ms, one slot does one in 10.2 ms: 5 / 10.2 = 49 % are done. The
 * k-th begins k x (10.2 - 5) ms late, so the mean over the phase of T is half of what the last one
 * waits: T / 2 x (1 - 5 / 10.2) = 10.2 s, while each read takes 10.2 ms. */
static void above_capacity_the_queue_shows_in_the_response_time(void **state)
{
    struct sim_options options = reads_at("1", "200", 1);
    struct report report;
    struct sim sim;
    (void)state;
    run_rated_by_itself(&sim, &options, &report);
    const struct role_facts *reads = &report.speed_facts.roles[ROLE_PAGE_READ];
    const struct hist *latency = &report.stats->streams[PHASE_rated][STREAM_page_read].latency;
    double held = 5 / SERVICE_MS;
    assert_near(report.speed_facts.held, held, 0.03, "held");
    assert_near(hist_mean_ns(latency) / MS, SERVICE_MS, 0.03, "latency, ms");
    assert_near(reads->mean_ns / MS, RATED_SECONDS * 1e3 / 2 * (1 - held), 0.04, "response, ms");
    assert_int_equal(report.speed_result.axis.grade, GRADE_FAIL);
    report_free(&report);
    sim_end(&sim);
}

/* The same with eight slots before the one channel: who waits in front of a slot and who waits in
 * the device make no difference to the response time. */
static void more_slots_do_not_hide_the_queue(void **state)
{
    struct sim_options options = reads_at("8", "200", 1);
    struct report report;
    struct sim sim;
    (void)state;
    run_rated_by_itself(&sim, &options, &report);
    double held = 5 / SERVICE_MS;
    assert_near(report.speed_facts.held, held, 0.03, "held");
    assert_near(report.speed_facts.roles[ROLE_PAGE_READ].mean_ns / MS,
                RATED_SECONDS * 1e3 / 2 * (1 - held), 0.04, "response, ms");
    report_free(&report);
    sim_end(&sim);
}

/* 50 a second on 64 channels: nobody waits, the response time is the latency. */
static void below_capacity_the_response_time_is_the_latency(void **state)
{
    struct sim_options options = reads_at("64", "50", 64);
    struct report report;
    struct sim sim;
    (void)state;
    run_rated_by_itself(&sim, &options, &report);
    const struct stream_stats *reads = &report.stats->streams[PHASE_rated][STREAM_page_read];
    assert_int_equal(reads->response.sum_ns, reads->latency.sum_ns);
    assert_near(report.speed_facts.held, 1, 0.005, "held");
    report_free(&report);
    sim_end(&sim);
}

/* Need: 5 times the rate of 50 reads a second that the settings have. */
static void need_scales_the_rates(void **state)
{
    struct sim_options options = reads_at("64", "50", 64);
    struct report report;
    struct sim sim;
    (void)state;
    options.settings[12] = (struct sim_setting){"CONFIG", "Need", "250"};
    run_rated_by_itself(&sim, &options, &report);
    uint64_t done = report.stats->streams[PHASE_rated][STREAM_transaction].ops;
    assert_near(report.speed_facts.asked_ios, 250, 0.0001, "asked");
    assert_near((double)done, 250 * RATED_SECONDS, 0.002, "transactions");
    report_free(&report);
    sim_end(&sim);
}

/* ---- the preset ---- */

static void oltp_run(struct sim *sim, struct report *report)
{
    struct sim_options options = {
        .seed = 9,
        .duration_ns = 1,
        .data_bytes = 64 * MIB,
        .log_bytes = 16 * MIB,
        .pool_bytes = 16 * MIB,
        .settings = {{"CONFIG", "RatedDuration", RATED_TEXT}, {"CONFIG", "RatedWarmUp", "2"}},
    };
    sim_begin(sim, &options);
    profile_rate_by(sim->profile, preset_by_name("oltp"));
    sim_run(sim);
    assert_int_equal(sim->result, 0);
    assert_int_equal(report_freeze(report, sim->run, "test", 0), 0);
}

static double per_second(const struct report *report, enum stream stream)
{
    return (double)report->stats->streams[PHASE_rated][stream].ops / RATED_SECONDS;
}

/* 300 transactions a second of 3.5 reads and 1.5 updates, each with a log write of about 32 KiB.
 * 12,000 Poisson arrivals vary by 0.9 %, pages that lie next to each other are read together and
 * system pages are left out (together under 2 %), one in a hundred changes nothing; commits that
 * meet share a write, and a checkpoint adds some: 4 % cover all of it. */
static void oltp_issues_its_rates(void **state)
{
    struct report report;
    struct sim sim;
    (void)state;
    oltp_run(&sim, &report);
    const struct stream_stats *log = &report.stats->streams[PHASE_rated][STREAM_log_write];
    double reads = per_second(&report, STREAM_page_read);
    assert_near(per_second(&report, STREAM_transaction), 300, 0.04, "transactions/s");
    assert_near(reads, 1050, 0.04, "page reads/s");
    assert_near(per_second(&report, STREAM_log_write), 300, 0.05, "log writes/s");
    assert_near((double)log->bytes / RATED_SECONDS / 300, 32 * 1024, 0.04, "log bytes");
    /* 600 Poisson arrivals: five standard deviations are 20 % */
    assert_near(per_second(&report, STREAM_read_ahead), 15, 0.2, "read-aheads/s");
    /* one audit user, a request of 64 pages each 200 ms and a little: nobody else reads */
    double audits = per_second(&report, STREAM_audit_read);
    assert_true(audits > 4 && audits <= 5);
    double updates = (double)report.stats->counters.page_updates / (RATED_SECONDS + 2);
    assert_near(reads / (reads + updates), 0.70, 0.02 / 0.70, "share of reads");
    report_free(&report);
    sim_end(&sim);
}

static void a_fast_device_passes(void **state)
{
    struct report report;
    struct sim sim;
    (void)state;
    oltp_run(&sim, &report);
    print_message("  %s\n", report.speed.reason);
    assert_int_equal(report.speed.grade, GRADE_PASS);
    assert_int_equal(strncmp(report.speed.reason, "1,500 IOPS + 300 log writes/s held", 34), 0);
    assert_true(report.phase_seconds[PHASE_rated_warm_up] > 1.99);
    assert_true(report.phase_seconds[PHASE_rated] > RATED_SECONDS - 0.01);
    report_free(&report);
    sim_end(&sim);
}

static void the_same_seed_gives_the_same_response_times(void **state)
{
    struct report one, two;
    struct sim a, b;
    (void)state;
    oltp_run(&a, &one);
    oltp_run(&b, &two);
    for (unsigned s = 0; s < STREAM_COUNT; s++) {
        const struct stream_stats *left = &one.stats->streams[PHASE_rated][s];
        const struct stream_stats *right = &two.stats->streams[PHASE_rated][s];
        assert_memory_equal(&left->response, &right->response, sizeof left->response);
    }
    report_free(&one);
    report_free(&two);
    sim_end(&a);
    sim_end(&b);
}

static void without_rated_settings_there_is_no_rated_phase(void **state)
{
    struct sim_options options = {.duration_ns = NS_PER_S / 10};
    struct report report;
    struct sim sim;
    (void)state;
    sim_begin(&sim, &options);
    sim_run(&sim);
    assert_int_equal(report_freeze(&report, sim.run, "test", 0), 0);
    assert_true(report.phase_seconds[PHASE_rated] == 0);
    assert_string_equal(report.speed.reason, "no rated phase");
    report_free(&report);
    sim_end(&sim);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(above_capacity_the_queue_shows_in_the_response_time),
        cmocka_unit_test(more_slots_do_not_hide_the_queue),
        cmocka_unit_test(below_capacity_the_response_time_is_the_latency),
        cmocka_unit_test(need_scales_the_rates),
        cmocka_unit_test(oltp_issues_its_rates),
        cmocka_unit_test(a_fast_device_passes),
        cmocka_unit_test(the_same_seed_gives_the_same_response_times),
        cmocka_unit_test(without_rated_settings_there_is_no_rated_phase),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
