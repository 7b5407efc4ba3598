/* test_live_time.c - how long a run will take, against arithmetic. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "sim/live_time.h"

/* 400 MB of data, 100 MB of log, a pool of 50 MB; 100 MB/s written, 200 MB/s read. */
#define MB 1000000ull
static struct plan_file files[] = {
    {.path = "a.mdx", .size_bytes = 400 * MB},
    {.path = "a.ldx", .is_log = true, .size_bytes = 100 * MB},
};
static const struct plan plan = {
    .files = files, .file_count = 2, .pool_bytes = 50 * MB, .test_cycle_ns = 300 * NS_PER_S};
static const struct work_speed speed = {100e6, 200e6};

static uint64_t phase_seconds(enum phase phase, const struct config_settings *settings)
{
    return live_time_ns(&plan, phase, settings, &speed) / NS_PER_S;
}

static void phases_take_their_bytes_by_the_speed(void **state)
{
    const struct config_settings settings = {.test_cycles = 1};
    (void)state;
    assert_int_equal(phase_seconds(PHASE_create, &settings), 1);         /* 100 / 100 */
    assert_int_equal(phase_seconds(PHASE_initial_update, &settings), 4); /* 400 / 100 */
    assert_int_equal(phase_seconds(PHASE_stress, &settings), 300);
    assert_int_equal(live_time_bytes(&plan, PHASE_final_checkpoint, &settings), 50 * MB);
    assert_int_equal(live_time_bytes(&plan, PHASE_audit, &settings), 500 * MB);
    assert_int_equal(phase_seconds(PHASE_rated, &settings), 0); /* none was asked for */
}

/* A sparse file has 1 GB, of which only system pages are written before the load. */
static void a_sparse_file_takes_no_time_in_the_initial_update(void **state)
{
    struct plan_file with_sparse[] = {
        files[0], files[1], {.path = "s.mdx", .sparse = true, .size_bytes = 1000 * MB}};
    const struct plan sparse = {.files = with_sparse, .file_count = 3};
    const struct config_settings settings = {.test_cycles = 1};
    (void)state;
    assert_int_equal(live_time_bytes(&sparse, PHASE_initial_update, &settings), 400 * MB);
    assert_int_equal(live_time_bytes(&sparse, PHASE_audit, &settings), 1500 * MB);
}

static void stamped_files_are_written_at_creation(void **state)
{
    const struct config_settings settings = {.stamp_files = true};
    (void)state;
    assert_int_equal(phase_seconds(PHASE_create, &settings), 5); /* (100 + 400) / 100 */
}

/* Behind the initial update: 10 + 60 s rated, then three times 300 s of load, 0.5 s of checkpoint
 * and 2.5 s of audit: 70 + 3 * 303 = 979 s. */
static void what_is_behind_a_phase_counts_the_cycles_left(void **state)
{
    const struct config_settings settings = {.rated_duration_ns = 60 * (int64_t)NS_PER_S,
                                             .rated_warm_up_ns = 10 * (int64_t)NS_PER_S};
    (void)state;
    assert_int_equal(live_time_behind_ns(&plan, PHASE_initial_update, &settings, &speed, 2),
                     979 * NS_PER_S);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(phases_take_their_bytes_by_the_speed),
        cmocka_unit_test(a_sparse_file_takes_no_time_in_the_initial_update),
        cmocka_unit_test(stamped_files_are_written_at_creation),
        cmocka_unit_test(what_is_behind_a_phase_counts_the_cycles_left),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
