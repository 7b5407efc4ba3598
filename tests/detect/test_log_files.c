/* Faults of log files that grow, and of the second log file of a database: found, and named with
 * the file in which they are. */
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>
#include <errno.h>

#include "tests/sim_fixture.h"

#define MIB             (1024ull * 1024)
#define FIRST_LOG_UID   2 /* files in the order of the plan: data, its logs */
#define SECOND_LOG_UID  3 /* its first four writes create it, the fifth is a VLF header */
#define FIRST_LOG_NAME  "log1.ldx"
#define SECOND_LOG_NAME "log1-2.ldx"

/* Many long transactions fill a log of two small files, which grow. */
static void run_with(struct sim *sim, struct fault_rule rule, unsigned logs)
{
    struct sim_options options = {.seed = 5,
                                  .duration_ns = NS_PER_S / 4,
                                  .log_bytes = 2 * MIB,
                                  .logs = logs,
                                  .log_max_bytes = 8 * MIB,
                                  .log_increment = MIB / 2,
                                  .with_faults = true,
                                  .settings = {{"CONFIG", "StopOnError", "FALSE"},
                                               {"CONFIG", "LogReadBack", logs > 1 ? "10000" : "0"},
                                               {"RandomUser", "UserCount", "40"},
                                               {"RandomUser", "MaxIOChainLength", "60"},
                                               {"RandomUser", "MaxLogPerBuffer", "2048"},
                                               {"RandomUser", "SleepAfter", "1"},
                                               {"BulkUpdateUser", "UserCount", "0"}}};
    sim_begin(sim, &options);
    fault_add(sim->faults, &rule);
    sim_run(sim);
    assert_true(sim->faults->truth_count > 0);
}

static const struct finding *finding_of(const struct sim *sim, enum verdict verdict)
{
    const struct findings *findings = &sim->run->findings;
    for (size_t i = 0; i < findings->count; i++)
        if (findings->list[i].verdict == verdict)
            return &findings->list[i];
    sim_print_findings(sim);
    return NULL;
}

static void expect(struct fault_rule rule, enum verdict verdict, const char *file)
{
    struct sim sim;
    rule.op = IO_WRITE;
    run_with(&sim, rule, strcmp(file, SECOND_LOG_NAME) == 0 ? 2 : 1);
    const struct finding *finding = finding_of(&sim, verdict);
    assert_non_null(finding);
    assert_non_null(strstr(finding->file, file));
    sim_end(&sim);
}

static void a_lost_size_of_a_grown_log_is_a_lost_write(void **state)
{
    (void)state;
    expect(
        (struct fault_rule){
            .kind = FAULT_LOST, .file_uid = FIRST_LOG_UID, .high = PAGE_BYTES, .count = UINT32_MAX},
        VERDICT_lost_write, FIRST_LOG_NAME);
}

static void a_flipped_bit_in_the_second_log_file_is_named_with_it(void **state)
{
    (void)state;
    expect(
        (struct fault_rule){
            .kind = FAULT_FLIP, .file_uid = SECOND_LOG_UID, .nth = 8, .a = 100, .b = 3},
        VERDICT_log_torn, SECOND_LOG_NAME);
}

static void a_lost_block_in_the_second_log_file_is_named_with_it(void **state)
{
    (void)state;
    expect((struct fault_rule){.kind = FAULT_LOST, .file_uid = SECOND_LOG_UID, .nth = 8},
           VERDICT_log_lost, SECOND_LOG_NAME);
}

/* What stands in the place of a block is named by what it proves. */
static void zeros_in_the_log_are_named(void **state)
{
    (void)state;
    expect((struct fault_rule){.kind = FAULT_FILL, .file_uid = SECOND_LOG_UID, .nth = 8, .b = MIB},
           VERDICT_zeroed, SECOND_LOG_NAME);
}

static void garbage_in_the_log_is_named(void **state)
{
    (void)state;
    expect(
        (struct fault_rule){
            .kind = FAULT_GARBAGE, .file_uid = SECOND_LOG_UID, .nth = 8, .b = 512, .c = 7},
        VERDICT_garbage, SECOND_LOG_NAME);
}

static void no_space_to_grow_is_told_with_the_file(void **state)
{
    (void)state;
    expect((struct fault_rule){.kind = FAULT_ERRNO,
                               .file_uid = FIRST_LOG_UID,
                               .low = 2 * MIB,
                               .high = 8 * MIB,
                               .a = ENOSPC},
           VERDICT_no_space, FIRST_LOG_NAME);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_lost_size_of_a_grown_log_is_a_lost_write),
        cmocka_unit_test(a_flipped_bit_in_the_second_log_file_is_named_with_it),
        cmocka_unit_test(a_lost_block_in_the_second_log_file_is_named_with_it),
        cmocka_unit_test(zeros_in_the_log_are_named),
        cmocka_unit_test(garbage_in_the_log_is_named),
        cmocka_unit_test(no_space_to_grow_is_told_with_the_file),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
