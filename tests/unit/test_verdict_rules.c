/* test_verdict_rules.c - the rules of the verdict and of the exit code, one by one. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <string.h>

#include "sim/verdict_rules.h"

/* A run without a flaw: 1,000 pages written, all read back. */
static struct verdict_facts good_facts(void)
{
    return (struct verdict_facts){
        .pages_written = 1000,
        .pages_seen = 1000,
        .pages_verified = 4211900,
        .log_blocks_verified = 96012,
        .loaded = true,
        .complete = true,
        .direct = true,
    };
}

static struct verdict_grades grades_of(struct verdict_facts facts)
{
    struct verdict_grades grades;
    verdict_grades_make(&facts, &grades);
    return grades;
}

static void a_clean_run_is_pass_and_0(void **state)
{
    struct verdict_grades grades = grades_of(good_facts());
    (void)state;
    assert_int_equal(grades.integrity.grade, GRADE_PASS);
    assert_int_equal(grades.durability.grade, GRADE_NOT_TESTED);
    assert_int_equal(grades.speed.grade, GRADE_NOT_TESTED);
    assert_int_equal(grades.overall.grade, GRADE_PASS);
    assert_int_equal(grades.exit_code, 0);
}

static void the_sentences_are_those_of_the_report(void **state)
{
    struct verdict_grades grades = grades_of(good_facts());
    (void)state;
    assert_string_equal(
        grades.integrity.reason,
        "4,211,900 pages and 96,012 log blocks checked, every written page read back");
    assert_string_equal(grades.result, "PASS (integrity); durability and speed not tested");
    assert_string_equal(grades.durability.reason, "no power was cut");
    assert_string_equal(grades.speed.reason, "no rated phase");
}

static void one_finding_is_fail_and_1(void **state)
{
    struct verdict_facts facts = good_facts();
    (void)state;
    facts.integrity_findings = 1;
    struct verdict_grades grades = grades_of(facts);
    assert_int_equal(grades.integrity.grade, GRADE_FAIL);
    assert_int_equal(grades.overall.grade, GRADE_FAIL);
    assert_int_equal(grades.exit_code, 1);
}

static void without_o_direct_it_is_warn_and_0(void **state)
{
    struct verdict_facts facts = good_facts();
    (void)state;
    facts.direct = false;
    struct verdict_grades grades = grades_of(facts);
    assert_int_equal(grades.integrity.grade, GRADE_WARN);
    assert_non_null(strstr(grades.integrity.reason, "memory"));
    assert_int_equal(grades.exit_code, 0);
}

static void pages_in_doubt_are_warn(void **state)
{
    struct verdict_facts facts = good_facts();
    (void)state;
    facts.pages_seen = 997;
    facts.pages_indeterminate = 3;
    facts.io_errors = 1;
    struct verdict_grades grades = grades_of(facts);
    assert_int_equal(grades.integrity.grade, GRADE_WARN);
    assert_non_null(strstr(grades.integrity.reason, "3 pages"));
    assert_int_equal(grades.exit_code, 0);
}

/* 419 of 1,000: "41 %", never rounded up. */
static void an_unfinished_run_says_how_much_was_checked(void **state)
{
    struct verdict_facts facts = good_facts();
    (void)state;
    facts.pages_seen = 419;
    facts.complete = false;
    struct verdict_grades grades = grades_of(facts);
    assert_int_equal(grades.integrity.grade, GRADE_INCOMPLETE);
    assert_int_equal(strncmp(grades.integrity.reason, "no damage in the 41 % that was checked", 38),
                     0);
    assert_int_equal(grades.overall.grade, GRADE_INCOMPLETE);
    assert_int_equal(grades.exit_code, 3);
}

static void an_audit_that_missed_a_page_is_not_pass(void **state)
{
    struct verdict_facts facts = good_facts();
    (void)state;
    facts.pages_seen = 999;
    facts.pages_unseen = 1;
    assert_int_equal(grades_of(facts).integrity.grade, GRADE_INCOMPLETE);
}

/* The one in doubt may have been read before its write failed: 999 + 1 says nothing. */
static void a_page_in_doubt_does_not_make_up_for_one_that_was_missed(void **state)
{
    struct verdict_facts facts = good_facts();
    (void)state;
    facts.pages_seen = 999;
    facts.pages_unseen = 1;
    facts.pages_indeterminate = 1;
    assert_int_equal(grades_of(facts).integrity.grade, GRADE_INCOMPLETE);
}

static void a_foreign_writer_makes_the_run_void(void **state)
{
    struct verdict_facts facts = good_facts();
    (void)state;
    facts.foreign_writes = 1;
    struct verdict_grades grades = grades_of(facts);
    assert_int_equal(grades.integrity.grade, GRADE_INCOMPLETE);
    assert_int_equal(grades.exit_code, 3);
}

static void nothing_moved_is_not_tested_and_incomplete(void **state)
{
    struct verdict_facts facts = {.loaded = true, .complete = true, .direct = true};
    (void)state;
    struct verdict_grades grades = grades_of(facts);
    assert_int_equal(grades.integrity.grade, GRADE_NOT_TESTED);
    assert_int_equal(grades.overall.grade, GRADE_INCOMPLETE);
    assert_int_equal(grades.exit_code, 3);
}

static void an_interrupted_run_is_130(void **state)
{
    struct verdict_facts facts = good_facts();
    (void)state;
    facts.complete = false;
    facts.interrupted = true;
    struct verdict_grades grades = grades_of(facts);
    assert_int_equal(grades.overall.grade, GRADE_INCOMPLETE);
    assert_int_equal(grades.exit_code, 130);
}

static void one_beats_3_and_130(void **state)
{
    struct verdict_facts facts = good_facts();
    (void)state;
    facts.complete = false;
    facts.interrupted = true;
    facts.io_errors = 1;
    facts.integrity_findings = 1;
    assert_int_equal(grades_of(facts).exit_code, 1);
}

static void three_beats_130(void **state)
{
    struct verdict_facts facts = good_facts();
    (void)state;
    facts.complete = false;
    facts.interrupted = true;
    facts.io_errors = 1;
    assert_int_equal(grades_of(facts).exit_code, 3);
}

static void percent_is_100_only_when_nothing_is_missing(void **state)
{
    (void)state;
    assert_int_equal(percent_of(999999, 1000000), 99);
    assert_int_equal(percent_of(1000000, 1000000), 100);
    assert_int_equal(percent_of(UINT64_MAX - 1, UINT64_MAX), 99);
    assert_int_equal(percent_of(0, 7), 0);
    assert_int_equal(percent_of(0, 0), 100);
}

static void counts_are_grouped_by_thousands(void **state)
{
    (void)state;
    assert_string_equal(count_text(0).text, "0");
    assert_string_equal(count_text(999).text, "999");
    assert_string_equal(count_text(1000).text, "1,000");
    assert_string_equal(count_text(4211900).text, "4,211,900");
    assert_string_equal(count_text(UINT64_MAX).text, "18,446,744,073,709,551,615");
}

static void grades_have_the_words_of_the_report(void **state)
{
    (void)state;
    assert_string_equal(grade_name(GRADE_PASS), "PASS");
    assert_string_equal(grade_name(GRADE_WARN), "WARN");
    assert_string_equal(grade_name(GRADE_FAIL), "FAIL");
    assert_string_equal(grade_name(GRADE_NOT_TESTED), "NOT TESTED");
    assert_string_equal(grade_name(GRADE_INCOMPLETE), "INCOMPLETE");
}

static void no_load_is_a_warning(void **state)
{
    (void)state;
    struct verdict_facts facts = {.pages_written = 10,
                                  .pages_seen = 10,
                                  .pages_verified = 10,
                                  .log_blocks_verified = 1,
                                  .complete = true,
                                  .direct = true};
    struct verdict_grades grades;
    verdict_grades_make(&facts, &grades);
    assert_int_equal(grades.integrity.grade, GRADE_WARN);
    assert_non_null(strstr(grades.integrity.reason, "no load was run"));
    assert_int_equal(grades.exit_code, EXIT_CODE_OK);
}

static void a_modelled_device_is_not_this_storage(void **state)
{
    (void)state;
    struct verdict_facts facts = good_facts();
    assert_null(strstr(grades_of(facts).result, "not this storage"));
    facts.modelled = true;
    assert_non_null(strstr(grades_of(facts).result, "not this storage"));
    assert_int_equal(grades_of(facts).exit_code, EXIT_CODE_OK);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(no_load_is_a_warning),
        cmocka_unit_test(a_modelled_device_is_not_this_storage),
        cmocka_unit_test(a_clean_run_is_pass_and_0),
        cmocka_unit_test(the_sentences_are_those_of_the_report),
        cmocka_unit_test(one_finding_is_fail_and_1),
        cmocka_unit_test(without_o_direct_it_is_warn_and_0),
        cmocka_unit_test(pages_in_doubt_are_warn),
        cmocka_unit_test(an_unfinished_run_says_how_much_was_checked),
        cmocka_unit_test(an_audit_that_missed_a_page_is_not_pass),
        cmocka_unit_test(a_page_in_doubt_does_not_make_up_for_one_that_was_missed),
        cmocka_unit_test(a_foreign_writer_makes_the_run_void),
        cmocka_unit_test(nothing_moved_is_not_tested_and_incomplete),
        cmocka_unit_test(an_interrupted_run_is_130),
        cmocka_unit_test(one_beats_3_and_130),
        cmocka_unit_test(three_beats_130),
        cmocka_unit_test(percent_is_100_only_when_nothing_is_missing),
        cmocka_unit_test(counts_are_grouped_by_thousands),
        cmocka_unit_test(grades_have_the_words_of_the_report),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
