/* test_plan_growth.c - SQLIOSim's rules for Increment, and page 0 of a file whose size changed. */
#include "tests/core_fixture.h"

#include "sim/plan_growth.h"

#define MIB CORE_MIB

/* reference: Increment * MaxExtends < MaxMemoryMB / number of data files */
static void the_increment_is_cut_to_the_share_of_the_pool(void **state)
{
    (void)state;
    struct plan_file files[3] = {
        {.path = "a",
         .size_bytes = MIB,
         .max_bytes = 99 * MIB,
         .increment_bytes = 10 * MIB,
         .shrinkable = true},
        {.path = "b", .size_bytes = MIB, .max_bytes = 99 * MIB, .increment_bytes = 10 * MIB},
        {.path = "l", .is_log = true, .increment_bytes = 64 * MIB}};
    struct plan plan = {.files = files, .file_count = 3, .pool_bytes = 64 * MIB};
    struct plan_notes *notes = calloc(1, sizeof *notes);
    plan_growth(&plan, 20, notes);
    /* 64 MiB for 2 files are 32; the largest step of whole extents below 32 / 20: 1.5625 MiB */
    assert_int_equal(files[0].increment_bytes, 25 * 64 * 1024);
    assert_true(files[0].shrinkable);
    assert_int_equal(files[1].increment_bytes, 10 * MIB); /* nothing is moved in that one */
    assert_int_equal(files[2].increment_bytes, 64 * MIB);
    assert_int_equal(notes->count, 1);
    free(notes);
}

static void an_increment_cut_to_nothing_makes_the_file_not_shrinkable(void **state)
{
    (void)state;
    struct plan_file files[1] = {{.path = "a",
                                  .size_bytes = MIB,
                                  .max_bytes = 9 * MIB,
                                  .increment_bytes = MIB,
                                  .shrinkable = true}};
    struct plan plan = {.files = files, .file_count = 1, .pool_bytes = 64 * MIB};
    struct plan_notes *notes = calloc(1, sizeof *notes);
    plan_growth(&plan, 1024, notes); /* 64 KiB each would be just the share, not below it */
    assert_int_equal(files[0].increment_bytes, 0);
    assert_false(files[0].shrinkable);
    assert_int_equal(plan_file_capacity(&files[0]), MIB);
    free(notes);
}

static void who_resizes_is_there_only_for_shrinkable_files(void **state)
{
    (void)state;
    struct plan_file files[1] = {{.path = "a"}};
    struct plan plan = {.files = files, .file_count = 1, .workers = 2};
    const struct pattern *pattern = pattern_by_name("ShrinkUser");
    assert_non_null(pattern);
    assert_int_equal(plan_users(&plan, pattern, NULL), 0);
    files[0].shrinkable = true;
    assert_int_equal(plan_users(&plan, pattern, NULL), 1);
}

static void page_0_tells_the_new_size_and_keeps_the_rest(void **state)
{
    (void)state;
    _Alignas(8) uint8_t page[PAGE_BYTES], other[PAGE_BYTES];
    struct file_mark got, mark = {.file_uid = 3,
                                  .incarnation = 1,
                                  .file_id = 1,
                                  .database_id = 5,
                                  .size_pages = 1024,
                                  .sector_bytes = 4096,
                                  .seed = 7};
    struct file_header_info info;
    syspage_build_file_header(page, &mark);
    file_header_set_size(page, 2048);
    syspage_seal(page, (struct lsn){0});
    assert_int_equal(file_mark_read(page, &got), 0);
    assert_int_equal(got.size_pages, 2048);
    assert_int_equal(got.seed, 7);
    assert_true(file_header_read(page, &info));
    assert_int_equal(info.size_pages, 2048);
    file_header_set_size(page, 1024); /* back, and nothing else has changed */
    syspage_build_file_header(other, &mark);
    syspage_seal(page, (struct lsn){0});
    syspage_seal(other, (struct lsn){0});
    assert_memory_equal(page, other, PAGE_BYTES);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_increment_is_cut_to_the_share_of_the_pool),
        cmocka_unit_test(an_increment_cut_to_nothing_makes_the_file_not_shrinkable),
        cmocka_unit_test(who_resizes_is_there_only_for_shrinkable_files),
        cmocka_unit_test(page_0_tells_the_new_size_and_keeps_the_rest),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
