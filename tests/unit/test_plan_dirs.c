/* test_plan_dirs.c - what --dir makes: names, databases, sizes by the design's rules. */
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "tests/unit/plan_fixture.h"

struct added {
    struct fake_machine fake;
    struct profile *profile;
    struct plan_notes notes;
    char message[PLAN_MESSAGE_MAX];
    int exit_code;
    int error;
};

/* Lists end with NULL; NULL = not given. */
static size_t length_of(const char *const *list)
{
    size_t count = 0;
    while (list && list[count])
        count++;
    return count;
}

static void add(struct added *a, const char *const *dirs, const char *const *data,
                const char *const *log, uint64_t size_bytes)
{
    struct plan_dirs given = {
        .dirs = dirs,
        .dir_count = length_of(dirs),
        .data_dirs = data,
        .data_dir_count = length_of(data),
        .log_dirs = log,
        .log_dir_count = length_of(log),
        .size_bytes = (int64_t)size_bytes,
    };
    a->profile = empty_profile();
    a->notes.count = 0;
    a->error =
        plan_add_files(a->profile, &given, &a->fake.machine, &a->notes, a->message, &a->exit_code);
    if (!a->error)
        assert_int_equal(profile_finish(a->profile), 0);
}

static void expect_file(const struct added *a, size_t index, const char *path, bool is_log,
                        int64_t database)
{
    const struct file_settings *file = profile_file(a->profile, index);
    assert_non_null(file);
    assert_string_equal(file->file_name, path);
    assert_int_equal(file->log_file, is_log);
    assert_int_equal(file->database, database);
}

static uint64_t size_of_file(const struct added *a, size_t index)
{
    return (uint64_t)profile_file(a->profile, index)->initial_size_bytes;
}

static const char *const one_dir[] = {"/data", NULL};

static void one_directory_gets_a_data_and_a_log_file(void **state)
{
    struct added a;
    (void)state;
    fake_machine_init(&a.fake, 1024 * GIB, 1024 * GIB);
    add(&a, one_dir, NULL, NULL, 0);
    assert_int_equal(profile_file_count(a.profile), 2);
    expect_file(&a, 0, "/data/sqliosim.mdx", false, 1);
    expect_file(&a, 1, "/data/sqliosim.ldx", true, 1);
    profile_free(a.profile);
}

static void a_large_file_system_gives_4_gib_and_512_mib(void **state)
{
    struct added a;
    (void)state;
    fake_machine_init(&a.fake, 1024 * GIB, 1024 * GIB);
    add(&a, one_dir, NULL, NULL, 0);
    assert_int_equal(size_of_file(&a, 0), 4 * GIB);
    assert_int_equal(profile_file(a.profile, 0)->max_size_bytes, 8 * GIB);
    assert_int_equal(size_of_file(&a, 1), 512 * MIB);
    assert_int_equal(a.notes.count, 0);
    profile_free(a.profile);
}

/* (5 GiB - 1 GiB reserve) / 4 = 1 GiB of data, a quarter of it log; and a note why. */
static void a_small_file_system_gives_a_quarter_and_a_note(void **state)
{
    struct added a;
    (void)state;
    fake_machine_init(&a.fake, 20 * GIB, 5 * GIB);
    add(&a, one_dir, NULL, NULL, 0);
    assert_int_equal(size_of_file(&a, 0), 1 * GIB);
    assert_int_equal(size_of_file(&a, 1), 256 * MIB);
    assert_int_equal(a.notes.count, 1);
    assert_non_null(strstr(a.notes.text[0], "1 GiB instead of 4 GiB"));
    profile_free(a.profile);
}

/* 5 % of 100 GiB are 5 GiB: (15 - 5) / 4 = 2.5 GiB. */
static void the_reserve_of_a_large_file_system_is_5_percent(void **state)
{
    struct added a;
    (void)state;
    fake_machine_init(&a.fake, 100 * GIB, 15 * GIB);
    add(&a, one_dir, NULL, NULL, 0);
    assert_int_equal(size_of_file(&a, 0), 2560 * MIB);
    profile_free(a.profile);
}

static void data_is_at_least_256_mib(void **state)
{
    struct added a;
    (void)state;
    fake_machine_init(&a.fake, 20 * GIB, 1500 * MIB);
    add(&a, one_dir, NULL, NULL, 0);
    assert_int_equal(size_of_file(&a, 0), 256 * MIB);
    assert_int_equal(size_of_file(&a, 1), 64 * MIB);
    profile_free(a.profile);
}

/* 256 + 64 MiB are wanted; 1,124 - 1,024 MiB are there: exit 3 with the sum. */
static void the_minimum_that_does_not_fit_is_refused_with_the_sum(void **state)
{
    struct added a;
    struct plan plan;
    (void)state;
    fake_machine_init(&a.fake, 20 * GIB, 1124 * MIB);
    add(&a, one_dir, NULL, NULL, 0);
    assert_int_equal(
        plan_make_on(&plan, a.profile, &a.fake.machine, &a.notes, a.message, &a.exit_code),
        -ENOSPC);
    assert_int_equal(a.exit_code, 3);
    assert_non_null(strstr(a.message, "320 MiB"));
    plan_free(&plan);
    profile_free(a.profile);
}

/* SQLIOSim's -size: data as said, up to twice that, log half of it. */
static void size_gives_half_of_it_as_log(void **state)
{
    struct added a;
    (void)state;
    fake_machine_init(&a.fake, 1024 * GIB, 1024 * GIB);
    add(&a, one_dir, NULL, NULL, 16 * MIB);
    assert_int_equal(size_of_file(&a, 0), 16 * MIB);
    assert_int_equal(profile_file(a.profile, 0)->max_size_bytes, 32 * MIB);
    assert_int_equal(size_of_file(&a, 1), 8 * MIB);
    profile_free(a.profile);
}

static void size_gives_at_most_50_mb_of_log(void **state)
{
    struct added a;
    (void)state;
    fake_machine_init(&a.fake, 1024 * GIB, 1024 * GIB);
    add(&a, one_dir, NULL, NULL, 1000 * MIB);
    assert_int_equal(size_of_file(&a, 1), 50 * MIB);
    profile_free(a.profile);
}

static void several_directories_are_a_database_each(void **state)
{
    static const char *const dirs[] = {"/data/a", "/data/b", NULL};
    struct added a;
    (void)state;
    fake_machine_init(&a.fake, 1024 * GIB, 1024 * GIB);
    add(&a, dirs, NULL, NULL, 0);
    assert_int_equal(profile_file_count(a.profile), 4);
    expect_file(&a, 0, "/data/a/sqliosim.mdx", false, 1);
    expect_file(&a, 1, "/data/a/sqliosim.ldx", true, 1);
    expect_file(&a, 2, "/data/b/sqliosim.mdx", false, 2);
    expect_file(&a, 3, "/data/b/sqliosim.ldx", true, 2);
    profile_free(a.profile);
}

/* (9 - 1) / 4 / 2 = 1 GiB each. */
static void data_files_on_one_file_system_share_its_quarter(void **state)
{
    static const char *const dirs[] = {"/data/a", "/data/b", NULL};
    struct added a;
    (void)state;
    fake_machine_init(&a.fake, 20 * GIB, 9 * GIB);
    add(&a, dirs, NULL, NULL, 0);
    assert_int_equal(size_of_file(&a, 0), 1 * GIB);
    assert_int_equal(size_of_file(&a, 2), 1 * GIB);
    profile_free(a.profile);
}

static void data_and_log_directories_pair_up(void **state)
{
    static const char *const data[] = {"/data/d1", "/data/d2", NULL};
    static const char *const log[] = {"/data/l1", "/data/l2", NULL};
    struct added a;
    (void)state;
    fake_machine_init(&a.fake, 1024 * GIB, 1024 * GIB);
    add(&a, NULL, data, log, 0);
    expect_file(&a, 0, "/data/d1/sqliosim.mdx", false, 1);
    expect_file(&a, 1, "/data/l1/sqliosim.ldx", true, 1);
    expect_file(&a, 2, "/data/d2/sqliosim.mdx", false, 2);
    expect_file(&a, 3, "/data/l2/sqliosim.ldx", true, 2);
    profile_free(a.profile);
}

static void more_data_directories_than_logs_are_one_database(void **state)
{
    static const char *const data[] = {"/data/d1", "/data/d2", NULL};
    static const char *const log[] = {"/data/l1", NULL};
    struct added a;
    (void)state;
    fake_machine_init(&a.fake, 1024 * GIB, 1024 * GIB);
    add(&a, NULL, data, log, 0);
    assert_int_equal(profile_file_count(a.profile), 3);
    expect_file(&a, 0, "/data/d1/sqliosim.mdx", false, 1);
    expect_file(&a, 1, "/data/d2/sqliosim.mdx", false, 1);
    expect_file(&a, 2, "/data/l1/sqliosim.ldx", true, 1);
    profile_free(a.profile);
}

static void more_logs_than_data_directories_number_the_data_files(void **state)
{
    static const char *const data[] = {"/data/d1", NULL};
    static const char *const log[] = {"/data/l1", "/data/l2", NULL};
    struct added a;
    (void)state;
    fake_machine_init(&a.fake, 1024 * GIB, 1024 * GIB);
    add(&a, NULL, data, log, 0);
    expect_file(&a, 0, "/data/d1/sqliosim.mdx", false, 1);
    expect_file(&a, 2, "/data/d1/sqliosim2.mdx", false, 2);
    profile_free(a.profile);
}

static void a_log_directory_alone_is_refused(void **state)
{
    static const char *const log[] = {"/data/l1", NULL};
    struct added a;
    (void)state;
    fake_machine_init(&a.fake, 1024 * GIB, 1024 * GIB);
    add(&a, NULL, NULL, log, 0);
    assert_int_equal(a.error, -EINVAL);
    assert_int_equal(a.exit_code, 2);
    assert_non_null(strstr(a.message, "--data-dir"));
    profile_free(a.profile);
}

static void a_missing_directory_is_named(void **state)
{
    static const char *const dirs[] = {"/missing", NULL};
    struct added a;
    (void)state;
    fake_machine_init(&a.fake, 1024 * GIB, 1024 * GIB);
    add(&a, dirs, NULL, NULL, 0);
    assert_int_equal(a.error, -ENOENT);
    assert_int_equal(a.exit_code, 2);
    assert_non_null(strstr(a.message, "/missing"));
    profile_free(a.profile);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(one_directory_gets_a_data_and_a_log_file),
        cmocka_unit_test(a_large_file_system_gives_4_gib_and_512_mib),
        cmocka_unit_test(a_small_file_system_gives_a_quarter_and_a_note),
        cmocka_unit_test(the_reserve_of_a_large_file_system_is_5_percent),
        cmocka_unit_test(data_is_at_least_256_mib),
        cmocka_unit_test(the_minimum_that_does_not_fit_is_refused_with_the_sum),
        cmocka_unit_test(size_gives_half_of_it_as_log),
        cmocka_unit_test(size_gives_at_most_50_mb_of_log),
        cmocka_unit_test(several_directories_are_a_database_each),
        cmocka_unit_test(data_files_on_one_file_system_share_its_quarter),
        cmocka_unit_test(data_and_log_directories_pair_up),
        cmocka_unit_test(more_data_directories_than_logs_are_one_database),
        cmocka_unit_test(more_logs_than_data_directories_number_the_data_files),
        cmocka_unit_test(a_log_directory_alone_is_refused),
        cmocka_unit_test(a_missing_directory_is_named),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
