/*
 * test_selftest.c - every row of the self-test's table is caught, named, placed, and nothing else
 * is reported; and the judgement itself can fail.
 *
 * TEST_SCALE above 1 adds seeds.
 */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include "sim/selftest.h"
#include "tests/scale.h"

#define FIRST_SEED 1

static const char *temporary_folder(void)
{
    const char *folder = getenv("TMPDIR");
    return folder && *folder ? folder : "/tmp";
}

static void the_case_comes_out_as_it_must(void **state)
{
    const struct selftest_case *test = *state;
    for (uint64_t seed = FIRST_SEED; seed < FIRST_SEED + test_scaled(1); seed++) {
        struct selftest_config config = {.dir = temporary_folder(), .seed = seed};
        struct selftest_result result;
        int error = selftest_run(test, &config, &result);
        if (error || !selftest_passed(test, &result))
            print_message("%s, seed %llu: error %d %s, injected %llu, caught %d, named %d, %u "
                          "others: %s\n",
                          test->name, (unsigned long long)seed, error, result.message,
                          (unsigned long long)result.injected, result.caught, result.named,
                          result.others, result.first_other);
        assert_int_equal(error, 0);
        assert_true(selftest_passed(test, &result));
    }
}

/* ---- the judge ---- */

struct scene {
    struct fault_config faults;
    struct finding list[2];
    struct findings findings;
    struct selftest_result result;
};

static const struct selftest_case flip = {
    .name = "flip",
    .expected = VERDICT_bit_flip,
    .place = SELFTEST_AT_HOME,
    .rule_count = 1,
};

static struct finding flip_at(uint32_t page_no)
{
    return (struct finding){.verdict = VERDICT_bit_flip,
                            .has_page = true,
                            .file_uid = SELFTEST_DATA_UID,
                            .page_no = page_no};
}

static void scene_make(struct scene *scene)
{
    memset(scene, 0, sizeof *scene);
    scene->faults.truth[0] = (struct fault_truth){
        .file_uid = SELFTEST_DATA_UID, .offset = SELFTEST_HOME * 8192ull, .size_bytes = 8192};
    scene->faults.truth_count = 1;
    scene->list[0] = flip_at(SELFTEST_HOME);
    scene->findings.list = scene->list;
    scene->findings.count = 1;
}

static bool judged_good(struct scene *scene, const struct selftest_case *test)
{
    selftest_judge(test, &scene->faults, &scene->findings, &scene->result);
    return selftest_passed(test, &scene->result);
}

static struct scene *scene_new(void)
{
    struct scene *scene = calloc(1, sizeof *scene);
    assert_non_null(scene);
    scene_make(scene);
    return scene;
}

static void the_judge_accepts_the_one_right_event(void **state)
{
    (void)state;
    struct scene *scene = scene_new();
    assert_true(judged_good(scene, &flip));
    free(scene);
}

static void the_judge_rejects_silence(void **state)
{
    (void)state;
    struct scene *scene = scene_new();
    scene->findings.count = 0;
    assert_false(judged_good(scene, &flip));
    assert_false(scene->result.caught);
    free(scene);
}

static void the_judge_rejects_a_wrong_name(void **state)
{
    (void)state;
    struct scene *scene = scene_new();
    scene->list[0].verdict = VERDICT_garbage;
    assert_false(judged_good(scene, &flip));
    assert_true(scene->result.caught);
    assert_false(scene->result.named);
    free(scene);
}

static void the_judge_rejects_a_wrong_page(void **state)
{
    (void)state;
    struct scene *scene = scene_new();
    scene->list[0] = flip_at(SELFTEST_HOME + 1);
    assert_false(judged_good(scene, &flip));
    free(scene);
}

static void the_judge_rejects_a_second_event(void **state)
{
    (void)state;
    struct scene *scene = scene_new();
    scene->list[1] = flip_at(SELFTEST_HOME);
    scene->findings.count = 2;
    assert_false(judged_good(scene, &flip));
    assert_int_equal(scene->result.others, 1);
    free(scene);
}

static void the_judge_rejects_a_fault_that_never_happened(void **state)
{
    (void)state;
    struct scene *scene = scene_new();
    scene->faults.truth_count = 0;
    assert_false(judged_good(scene, &flip));
    free(scene);
}

static void the_judge_rejects_an_event_of_a_clean_run(void **state)
{
    (void)state;
    static const struct selftest_case clean = {.name = "clean", .place = SELFTEST_NOWHERE};
    struct scene *scene = scene_new();
    assert_false(judged_good(scene, &clean));
    free(scene);
}

static void the_judge_wants_both_ends_of_a_misdirection(void **state)
{
    (void)state;
    struct selftest_case pair = flip;
    struct scene *scene = scene_new();
    pair.expected = VERDICT_misdirected_write;
    pair.place = SELFTEST_AT_VICTIM;
    pair.pairs = true;
    scene->list[0] = flip_at(SELFTEST_VICTIM);
    scene->list[0].verdict = VERDICT_misdirected_write;
    assert_false(judged_good(scene, &pair));
    scene->list[0].paired = true;
    scene->list[0].other_page_no = SELFTEST_HOME;
    scene->list[0].why.has_origin = true;
    scene->list[0].why.origin_page_no = SELFTEST_HOME;
    memset(&scene->result, 0, sizeof scene->result);
    assert_true(judged_good(scene, &pair));
    free(scene);
}

/* A run whose faults are real and whose table row is wrong must fail: nothing is waved through. */
static void a_row_with_a_wrong_name_fails_in_a_real_run(void **state)
{
    (void)state;
    struct selftest_config config = {.dir = temporary_folder(), .seed = FIRST_SEED};
    struct selftest_result result;
    struct selftest_case wrong = {0};
    for (size_t i = 0; i < selftest_case_count; i++)
        if (selftest_cases[i].expected == VERDICT_bit_flip)
            wrong = selftest_cases[i];
    wrong.expected = VERDICT_lost_write;
    assert_int_equal(selftest_run(&wrong, &config, &result), 0);
    assert_true(result.injected > 0);
    assert_false(selftest_passed(&wrong, &result));
}

static void every_class_that_the_fault_layer_can_make_has_a_row(void **state)
{
    (void)state;
    static const enum verdict wanted[] = {
        VERDICT_bit_flip,          VERDICT_header_damage,     VERDICT_zeroed,
        VERDICT_garbage,           VERDICT_torn_page,         VERDICT_lost_write,
        VERDICT_stale_read,        VERDICT_misdirected_write, VERDICT_misdirected_read,
        VERDICT_bytes_not_read,    VERDICT_transient_damage,  VERDICT_truncated_file,
        VERDICT_log_torn,          VERDICT_log_lost,          VERDICT_log_old_use,
        VERDICT_page_ahead_of_log, VERDICT_unreadable,        VERDICT_read_retry,
        VERDICT_write_error,
    };
    for (size_t i = 0; i < sizeof wanted / sizeof *wanted; i++) {
        bool found = false;
        for (size_t row = 0; row < selftest_case_count; row++)
            found = found || selftest_cases[row].expected == wanted[i];
        if (!found)
            print_message("no row for %s\n", verdict_info(wanted[i])->name);
        assert_true(found);
    }
}

static const struct CMUnitTest judge_tests[] = {
    cmocka_unit_test(the_judge_accepts_the_one_right_event),
    cmocka_unit_test(the_judge_rejects_silence),
    cmocka_unit_test(the_judge_rejects_a_wrong_name),
    cmocka_unit_test(the_judge_rejects_a_wrong_page),
    cmocka_unit_test(the_judge_rejects_a_second_event),
    cmocka_unit_test(the_judge_rejects_a_fault_that_never_happened),
    cmocka_unit_test(the_judge_rejects_an_event_of_a_clean_run),
    cmocka_unit_test(the_judge_wants_both_ends_of_a_misdirection),
    cmocka_unit_test(a_row_with_a_wrong_name_fails_in_a_real_run),
    cmocka_unit_test(every_class_that_the_fault_layer_can_make_has_a_row),
};

static int run_rows(void)
{
    struct CMUnitTest *tests = calloc(selftest_case_count, sizeof *tests);
    if (!tests)
        return 1;
    for (size_t i = 0; i < selftest_case_count; i++)
        tests[i] = (struct CMUnitTest){.name = selftest_cases[i].name,
                                       .test_func = the_case_comes_out_as_it_must,
                                       .initial_state = (void *)(uintptr_t)&selftest_cases[i]};
    int failed = _cmocka_run_group_tests("rows", tests, selftest_case_count, NULL, NULL);
    free(tests);
    return failed;
}

int main(void)
{
    int failed = cmocka_run_group_tests(judge_tests, NULL, NULL);
    return failed + run_rows();
}
