/*
 * test_speed_rules.c - the limits of [Thresholds] line by line, and the sentences.
 *
 * The bounds are the project's table of thresholds: PASS up to the first figure, WARN up to the
 * second, FAIL above.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <stdlib.h>
#include <string.h>

#include "sim/speed_rules.h"
#include "sim/verdict_rules.h"

#define MS 1e6

/* A fast device that held VM Fleet's rate for a minute. */
static struct speed_facts good_facts(void)
{
    struct speed_facts facts = {.rated = true,
                                .arrivals = true,
                                .seconds = 60,
                                .asked_ios = 1500,
                                .asked_logs = 300,
                                .held = 1};
    const double mean_ms[ROLE_COUNT] = {0.4, 0.9, 3, 2}, p99_ms[ROLE_COUNT] = {1, 3, 9, 8};
    const uint64_t ops[ROLE_COUNT] = {18000, 63000, 1000, 5000};
    for (unsigned r = 0; r < ROLE_COUNT; r++)
        facts.roles[r] = (struct role_facts){
            .ops = ops[r], .mean_ns = mean_ms[r] * MS, .p99_ns = p99_ms[r] * MS, .max_ns = 50 * MS};
    return facts;
}

static struct thresholds limits_with(const char *key, const char *value)
{
    struct thresholds limits;
    char text[OPT_TEXT_MAX];
    void *settings = malloc(thresholds_section.size_bytes);
    assert_non_null(settings);
    opt_section_defaults(&thresholds_section, settings);
    if (key)
        assert_int_equal(opt_set(opt_find(&thresholds_section, key), settings, value, text), 0);
    assert_int_equal(thresholds_section.check(settings, text), 0);
    thresholds_read(settings, &limits);
    opt_section_free(&thresholds_section, settings);
    free(settings);
    return limits;
}

static struct speed_result result_of(struct speed_facts facts)
{
    struct thresholds limits = limits_with(NULL, NULL);
    struct speed_result result;
    speed_grades_make(&facts, &limits, &result);
    return result;
}

static void a_fast_device_passes_with_its_figures(void **state)
{
    struct speed_result result = result_of(good_facts());
    (void)state;
    assert_int_equal(result.axis.grade, GRADE_PASS);
    assert_string_equal(result.axis.reason, "1,500 IOPS + 300 log writes/s held; log writes 0.4 ms "
                                            "(limit 5); page reads 0.9 ms (limit 10)");
}

/* ---- the table ---- */

struct line_case {
    unsigned role;
    bool p99;
    double ms;
    enum grade grade;
};

static void every_mean_and_p99_has_its_bounds(void **state)
{
    static const struct line_case cases[] = {
        {ROLE_LOG_WRITE, false, 5, GRADE_PASS},      {ROLE_LOG_WRITE, false, 5.01, GRADE_WARN},
        {ROLE_LOG_WRITE, false, 15, GRADE_WARN},     {ROLE_LOG_WRITE, false, 15.01, GRADE_FAIL},
        {ROLE_LOG_WRITE, true, 10, GRADE_PASS},      {ROLE_LOG_WRITE, true, 9999, GRADE_WARN},
        {ROLE_PAGE_READ, false, 10, GRADE_PASS},     {ROLE_PAGE_READ, false, 10.01, GRADE_WARN},
        {ROLE_PAGE_READ, false, 20, GRADE_WARN},     {ROLE_PAGE_READ, false, 20.01, GRADE_FAIL},
        {ROLE_PAGE_READ, true, 50, GRADE_PASS},      {ROLE_PAGE_READ, true, 50.01, GRADE_WARN},
        {ROLE_PAGE_READ, true, 9999, GRADE_WARN},    {ROLE_READ_AHEAD, false, 30, GRADE_PASS},
        {ROLE_READ_AHEAD, false, 30.01, GRADE_WARN}, {ROLE_READ_AHEAD, false, 100, GRADE_WARN},
        {ROLE_READ_AHEAD, false, 101, GRADE_FAIL},   {ROLE_PAGE_WRITE, false, 20, GRADE_PASS},
        {ROLE_PAGE_WRITE, false, 20.01, GRADE_WARN}, {ROLE_PAGE_WRITE, false, 50, GRADE_WARN},
        {ROLE_PAGE_WRITE, false, 50.01, GRADE_FAIL},
    };
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        struct speed_facts facts = good_facts();
        struct role_facts *role = &facts.roles[cases[i].role];
        *(cases[i].p99 ? &role->p99_ns : &role->mean_ns) = cases[i].ms * MS;
        struct speed_result result = result_of(facts);
        if (result.axis.grade != cases[i].grade)
            fail_msg("case %zu: %s: %s", i, grade_name(result.axis.grade), result.axis.reason);
    }
}

static void the_rate_is_held_to_95_and_90_percent(void **state)
{
    static const struct {
        double held;
        enum grade grade;
    } cases[] = {{1, GRADE_PASS},    {0.95, GRADE_PASS},  {0.949, GRADE_WARN},
                 {0.90, GRADE_WARN}, {0.899, GRADE_FAIL}, {0, GRADE_FAIL}};
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        struct speed_facts facts = good_facts();
        facts.held = cases[i].held;
        assert_int_equal(result_of(facts).axis.grade, cases[i].grade);
    }
}

static void a_plateau_warns_at_10_and_fails_at_60_seconds(void **state)
{
    static const struct {
        unsigned seconds;
        enum grade grade;
    } cases[] = {{9, GRADE_PASS}, {10, GRADE_WARN}, {59, GRADE_WARN}, {60, GRADE_FAIL}};
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        struct speed_facts facts = good_facts();
        facts.roles[ROLE_PAGE_READ].plateau_s = cases[i].seconds;
        struct speed_result result = result_of(facts);
        assert_int_equal(result.axis.grade, cases[i].grade);
        if (cases[i].grade != GRADE_PASS)
            assert_non_null(strstr(result.axis.reason, "page reads were beyond their bound for"));
    }
}

static void one_stall_fails(void **state)
{
    struct speed_facts facts = good_facts();
    (void)state;
    facts.stalls = 1;
    struct speed_result result = result_of(facts);
    assert_int_equal(result.axis.grade, GRADE_FAIL);
    assert_non_null(strstr(result.axis.reason, "1 request took 15 s and more"));
}

/* ---- what is not tested ---- */

static void not_tested_without(struct speed_facts facts, const char *reason)
{
    struct speed_result result = result_of(facts);
    assert_int_equal(result.axis.grade, GRADE_NOT_TESTED);
    if (!strstr(result.axis.reason, reason))
        fail_msg("%s", result.axis.reason);
}

static void without_a_rated_phase_nothing_is_tested(void **state)
{
    (void)state;
    not_tested_without((struct speed_facts){.rated = false}, "no rated phase");
}

static void a_closed_loop_is_not_judged(void **state)
{
    struct speed_facts facts = good_facts();
    (void)state;
    facts.arrivals = false;
    not_tested_without(facts, "no stated rate");
}

static void less_than_30_seconds_are_not_judged(void **state)
{
    struct speed_facts facts = good_facts();
    (void)state;
    facts.seconds = 29;
    not_tested_without(facts, "lasted 29 s");
    facts.seconds = 29.999; /* a busy machine begins it a moment late */
    assert_int_equal(result_of(facts).axis.grade, GRADE_PASS);
}

/* 30 s at 33/s ask for 990 I/Os, at 34/s for 1,020. */
static void less_than_1000_operations_are_not_judged(void **state)
{
    struct speed_facts facts = good_facts();
    (void)state;
    facts.seconds = 30;
    facts.asked_ios = 33;
    not_tested_without(facts, "990");
    facts.asked_ios = 34;
    assert_int_equal(result_of(facts).axis.grade, GRADE_PASS);
}

static void a_role_with_too_few_operations_has_no_grade(void **state)
{
    struct speed_facts facts = good_facts();
    (void)state;
    facts.roles[ROLE_READ_AHEAD].ops = 999;
    facts.roles[ROLE_READ_AHEAD].mean_ns = 5000 * MS;
    facts.roles[ROLE_READ_AHEAD].plateau_s = 60;
    assert_int_equal(result_of(facts).axis.grade, GRADE_PASS);
}

static void when_this_machine_was_the_limit_nothing_fails(void **state)
{
    (void)state;
    for (unsigned i = 0; i < 4; i++) {
        struct speed_facts facts = good_facts();
        facts.roles[ROLE_PAGE_READ].mean_ns = 25 * MS;
        facts.tool_share = i == 0 ? 0.051 : 0.05;
        facts.cpu_share = i == 1 ? 0.96 : 0.95;
        facts.steal_share = i == 2 ? 0.051 : 0.05;
        facts.host_pauses = i == 3;
        not_tested_without(facts, "this machine was the limit");
        facts.roles[ROLE_PAGE_READ].mean_ns = 1 * MS; /* in spite of it, it is fast */
        assert_int_equal(result_of(facts).axis.grade, GRADE_PASS);
    }
}

/* The storage was not asked for what the mix asks for. */
static void when_a_ceiling_held_requests_back_nothing_fails(void **state)
{
    struct speed_facts facts = good_facts();
    (void)state;
    facts.held = 0.3;
    facts.limit_waits = 12345;
    not_tested_without(facts, "MaxIops or MaxMBps was the limit: it held back 12,345 requests");
    facts.held = 1;
    assert_int_equal(result_of(facts).axis.grade, GRADE_PASS);
}

static void a_busy_machine_below_the_bounds_is_no_excuse(void **state)
{
    struct speed_facts facts = good_facts();
    (void)state;
    facts.roles[ROLE_PAGE_READ].mean_ns = 25 * MS;
    facts.tool_share = facts.steal_share = 0.05;
    facts.cpu_share = 0.95;
    assert_int_equal(result_of(facts).axis.grade, GRADE_FAIL);
}

/* ---- limits of the user ---- */

static void a_limit_of_the_user_is_marked_and_counts(void **state)
{
    struct speed_facts facts = good_facts();
    struct thresholds limits = limits_with("LogWriteMean", "300us");
    struct speed_result result;
    (void)state;
    speed_grades_make(&facts, &limits, &result);
    assert_int_equal(result.axis.grade, GRADE_FAIL);
    assert_non_null(strstr(result.axis.reason, "log writes 0.4 ms (limit 0.3, yours)"));
}

static void a_dash_is_not_judged(void **state)
{
    struct speed_facts facts = good_facts();
    struct thresholds limits = limits_with("DataReadMean", "-");
    struct speed_result result;
    (void)state;
    facts.roles[ROLE_PAGE_READ].mean_ns = 9000 * MS;
    speed_grades_make(&facts, &limits, &result);
    assert_int_equal(result.axis.grade, GRADE_PASS);
}

static void limits_that_make_no_sense_are_refused(void **state)
{
    static const char *const bad[][2] = {{"LogWriteMean", "15ms/5ms"}, {"LogWriteMean", "5%/1%"},
                                         {"LogWriteMean", "5ms/"},     {"LogWriteMean", "fast"},
                                         {"RateHeld", "90%/95%"},      {"RateHeld", "5ms/1ms"},
                                         {"Plateau", "60s/10s"}};
    char text[OPT_TEXT_MAX];
    void *settings = malloc(thresholds_section.size_bytes);
    (void)state;
    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++) {
        const struct opt *opt = opt_find(&thresholds_section, bad[i][0]);
        opt_section_defaults(&thresholds_section, settings);
        assert_int_equal(opt_set(opt, settings, bad[i][1], text), 0);
        assert_int_not_equal(thresholds_section.check(settings, text), 0);
        assert_non_null(strstr(text, bad[i][0]));
        opt_section_free(&thresholds_section, settings);
    }
    free(settings);
}

/* ---- Microsoft's words ---- */

/* Below 2 ms excellent, 2 to 5 very good, 6 to 15 good, 16 to 100 poor, 100 to 500 bad. */
static void the_words_are_microsofts(void **state)
{
    (void)state;
    assert_string_equal(speed_word(1.9 * MS), "excellent");
    assert_string_equal(speed_word(2 * MS), "very good");
    assert_string_equal(speed_word(5 * MS), "very good");
    assert_string_equal(speed_word(6 * MS), "good");
    assert_string_equal(speed_word(15 * MS), "good");
    assert_string_equal(speed_word(16 * MS), "poor");
    assert_string_equal(speed_word(100 * MS), "poor");
    assert_string_equal(speed_word(500 * MS), "bad");
    assert_string_equal(speed_word(501 * MS), "deplorable");
}

/* ---- the hard cases of the verdict ---- */

static struct verdict_grades verdict_with(const struct speed_result *speed, uint64_t findings,
                                          bool fail_on_warn)
{
    struct verdict_facts facts = {.pages_written = 1000,
                                  .pages_seen = 1000,
                                  .pages_verified = 1000,
                                  .log_blocks_verified = 10,
                                  .loaded = true,
                                  .complete = true,
                                  .direct = true,
                                  .integrity_findings = findings,
                                  .fail_on_warn = fail_on_warn,
                                  .speed = speed};
    struct verdict_grades grades;
    verdict_grades_make(&facts, &grades);
    return grades;
}

/* Flat out 115 of 1,500; the queue grows, so response times are seconds. */
static void an_honest_slow_disk_fails_with_4(void **state)
{
    struct speed_facts facts = good_facts();
    (void)state;
    facts.held = 115.0 / 1500;
    facts.roles[ROLE_PAGE_READ].mean_ns = 25000 * MS;
    struct speed_result speed = result_of(facts);
    struct verdict_grades grades = verdict_with(&speed, 0, false);
    assert_int_equal(
        strncmp(speed.axis.reason, "held about 115 of 1,500 IOPS; page reads 25000 ms", 49), 0);
    assert_string_equal(grades.result, "FAIL (speed): your data was safe here, but it carries 115 "
                                       "of 1,500 IOPS; durability not tested");
    assert_int_equal(grades.exit_code, 4);
}

/* --need 40: reads of 13 ms are beyond the limit of 10, within the bound of 20. */
static void the_same_disk_at_a_rate_it_carries_warns(void **state)
{
    struct speed_facts facts = good_facts();
    (void)state;
    facts.asked_ios = 40;
    facts.asked_logs = 8;
    facts.roles[ROLE_PAGE_READ].mean_ns = 13 * MS;
    struct speed_result speed = result_of(facts);
    struct verdict_grades grades = verdict_with(&speed, 0, false);
    assert_string_equal(speed.axis.reason, "40 IOPS + 8 log writes/s held; page reads 13.0 ms "
                                           "(limit 10, bound 20)");
    assert_string_equal(grades.result, "WARN (speed); durability not tested");
    assert_int_equal(grades.exit_code, 0);
    assert_int_equal(verdict_with(&speed, 0, true).exit_code, 4);
}

static void a_fast_device_passes_both_axes(void **state)
{
    struct speed_result speed = result_of(good_facts());
    struct verdict_grades grades = verdict_with(&speed, 0, true);
    (void)state;
    assert_string_equal(grades.result, "PASS (integrity, speed); durability not tested");
    assert_int_equal(grades.exit_code, 0);
}

static void a_fast_device_that_loses_a_write_fails_with_1(void **state)
{
    struct speed_result speed = result_of(good_facts());
    struct verdict_grades grades = verdict_with(&speed, 1, false);
    (void)state;
    assert_string_equal(grades.result, "FAIL (integrity); durability not tested");
    assert_int_equal(grades.speed.grade, GRADE_PASS);
    assert_int_equal(grades.exit_code, 1);
}

static void integrity_beats_speed(void **state)
{
    struct speed_facts facts = good_facts();
    (void)state;
    facts.held = 0.1;
    struct speed_result speed = result_of(facts);
    struct verdict_grades grades = verdict_with(&speed, 1, false);
    assert_int_equal(grades.exit_code, 1);
    assert_int_equal(strncmp(grades.overall.reason, "integrity", 9), 0);
}

static void a_stall_of_22_seconds_fails_the_rated_phase(void **state)
{
    struct speed_facts facts = good_facts();
    (void)state;
    facts.stalls = 1;
    struct speed_result speed = result_of(facts);
    struct verdict_grades grades = verdict_with(&speed, 0, false);
    assert_string_equal(grades.result, "FAIL (speed): your data was safe here, but it is too slow; "
                                       "durability not tested");
    assert_int_equal(grades.exit_code, 4);
}

/* 2,000 MB/s are needed: 2,100 pass, 1,234 do not; 20 s are not judged. */
static void a_need_in_mb_per_s_judges_the_main_part(void **state)
{
    const struct {
        double mb_per_s, seconds;
        enum grade grade;
    } cases[] = {{2100, 60, GRADE_PASS}, {1234, 60, GRADE_FAIL}, {1234, 20, GRADE_NOT_TESTED}};
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        struct speed_result speed = {.axis.grade = GRADE_NOT_TESTED};
        speed_need_judge(cases[i].mb_per_s, cases[i].seconds, 2000, &speed);
        assert_int_equal(speed.axis.grade, cases[i].grade);
        if (cases[i].grade == GRADE_FAIL) {
            struct verdict_grades grades = verdict_with(&speed, 0, false);
            assert_string_equal(grades.result,
                                "FAIL (speed): your data was safe here, but it carries 1,234 of "
                                "2,000 MB/s; durability not tested");
            assert_int_equal(grades.exit_code, 4);
        }
    }
}

static void a_need_that_is_met_leaves_a_slow_rated_phase_slow(void **state)
{
    struct speed_facts facts = good_facts();
    (void)state;
    facts.held = 0.1;
    struct speed_result speed = result_of(facts);
    speed_need_judge(3000, 60, 2000, &speed);
    assert_int_equal(speed.axis.grade, GRADE_FAIL);
    speed = result_of(good_facts());
    speed_need_judge(1000, 60, 2000, &speed);
    assert_int_equal(speed.axis.grade, GRADE_FAIL);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_need_in_mb_per_s_judges_the_main_part),
        cmocka_unit_test(a_need_that_is_met_leaves_a_slow_rated_phase_slow),
        cmocka_unit_test(a_fast_device_passes_with_its_figures),
        cmocka_unit_test(every_mean_and_p99_has_its_bounds),
        cmocka_unit_test(the_rate_is_held_to_95_and_90_percent),
        cmocka_unit_test(a_plateau_warns_at_10_and_fails_at_60_seconds),
        cmocka_unit_test(one_stall_fails),
        cmocka_unit_test(without_a_rated_phase_nothing_is_tested),
        cmocka_unit_test(a_closed_loop_is_not_judged),
        cmocka_unit_test(less_than_30_seconds_are_not_judged),
        cmocka_unit_test(less_than_1000_operations_are_not_judged),
        cmocka_unit_test(a_role_with_too_few_operations_has_no_grade),
        cmocka_unit_test(when_this_machine_was_the_limit_nothing_fails),
        cmocka_unit_test(when_a_ceiling_held_requests_back_nothing_fails),
        cmocka_unit_test(a_busy_machine_below_the_bounds_is_no_excuse),
        cmocka_unit_test(a_limit_of_the_user_is_marked_and_counts),
        cmocka_unit_test(a_dash_is_not_judged),
        cmocka_unit_test(limits_that_make_no_sense_are_refused),
        cmocka_unit_test(the_words_are_microsofts),
        cmocka_unit_test(an_honest_slow_disk_fails_with_4),
        cmocka_unit_test(the_same_disk_at_a_rate_it_carries_warns),
        cmocka_unit_test(a_fast_device_passes_both_axes),
        cmocka_unit_test(a_fast_device_that_loses_a_write_fails_with_1),
        cmocka_unit_test(integrity_beats_speed),
        cmocka_unit_test(a_stall_of_22_seconds_fails_the_rated_phase),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
