/* test_paths.c - names of Windows, shares and streams on this machine. */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "config/paths.h"

static const char *const one_dir[] = {"/mnt/d"};
static const char *const two_dirs[] = {"/mnt/d", "/mnt/e"};
static const char *const maps[] = {"f:=/mnt/data", "F:\\logs=/mnt/log/", "\\\\srv\\share=/mnt/srv"};

static const struct path_rules no_rules = {.dirs = NULL};
static const struct path_rules with_dir = {.dirs = one_dir, .dir_count = 1};
static const struct path_rules with_dirs = {.dirs = two_dirs, .dir_count = 2};
static const struct path_rules with_maps = {.maps = maps, .map_count = 3};

static void expect(const char *name, const struct path_rules *rules, const char *expected)
{
    char text[OPT_TEXT_MAX] = "";
    char *out = NULL;

    if (path_map(name, rules, &out, text) != 0) {
        fail_msg("%s: %s", name, text);
    }
    assert_string_equal(out, expected);
    free(out);
}

static void expect_refusal(const char *name, const struct path_rules *rules, const char *part)
{
    char text[OPT_TEXT_MAX] = "";
    char *out = NULL;

    assert_int_equal(path_map(name, rules, &out, text), -EINVAL);
    assert_null(out);
    if (strstr(text, part) == NULL) {
        fail_msg("%s: \"%s\" does not say \"%s\"", name, text, part);
    }
}

static void linux_names_stay_as_they_are(void **state)
{
    (void)state;
    expect("/mnt/x/sqliosim.mdx", &with_dir, "/mnt/x/sqliosim.mdx");
    expect("sqliosim.mdx", &no_rules, "sqliosim.mdx");
    expect("./d/sqliosim.mdx", &no_rules, "./d/sqliosim.mdx");
    expect("/mnt/a:b/x.mdx", &no_rules, "/mnt/a:b/x.mdx");
    expect("/mnt/back\\slash.mdx", &no_rules, "/mnt/back\\slash.mdx");
    expect("/dev/sdb", &with_dir, "/dev/sdb");
}

static void relative_names_go_under_the_single_dir(void **state)
{
    (void)state;
    static const char *const dirs[] = {"/mnt/a", "/mnt/b"};
    struct path_rules one = {.dirs = dirs, .dir_count = 1}, two = {.dirs = dirs, .dir_count = 2};
    char text[OPT_TEXT_MAX] = "";
    char *mapped = NULL;
    assert_int_equal(path_map("sqliosim.mdx:replica", &one, &mapped, text), 0);
    assert_string_equal(mapped, "/mnt/a/sqliosim.mdx.replica");
    free(mapped);
    assert_int_equal(path_map("sqliosim.mdx", &two, &mapped, text), -EINVAL);
    assert_non_null(strstr(text, "several --dir"));
}

static void relative_windows_names_get_slashes(void **state)
{
    (void)state;
    expect("data\\x.mdx", &no_rules, "data/x.mdx");
    expect(".\\x.mdx", &no_rules, "./x.mdx");
}

static void a_drive_goes_under_the_single_dir(void **state)
{
    (void)state;
    expect("f:\\sqliosim.mdx", &with_dir, "/mnt/d/sqliosim.mdx");
    expect("F:/a/b/sqliosim.mdx", &with_dir, "/mnt/d/sqliosim.mdx");
    expect("f:sqliosim.mdx", &with_dir, "/mnt/d/sqliosim.mdx");
    expect("\\\\srv\\share\\x.mdx", &with_dir, "/mnt/d/x.mdx");
    expect("\\\\?\\f:\\x.mdx", &with_dir, "/mnt/d/x.mdx");
    expect("\\\\?\\UNC\\srv\\share\\x.mdx", &with_dir, "/mnt/d/x.mdx");
}

static void a_drive_without_a_place_names_both_remedies(void **state)
{
    (void)state;
    expect_refusal("f:\\x.mdx", &no_rules, "--map f:=DIR");
    expect_refusal("f:\\x.mdx", &no_rules, "--dir DIR");
    expect_refusal("f:\\x.mdx", &with_dirs, "more than one was given");
    expect_refusal("\\\\srv\\s\\x.mdx", &no_rules, "--map '\\\\SERVER\\SHARE=DIR'");
    expect_refusal("g:\\x.mdx", &with_maps, "--map g:=DIR");
}

static void a_map_keeps_the_rest_of_the_path(void **state)
{
    (void)state;
    expect("f:\\x.mdx", &with_maps, "/mnt/data/x.mdx");
    expect("F:\\a\\b\\x.mdx", &with_maps, "/mnt/data/a/b/x.mdx");
    expect("f:x.mdx", &with_maps, "/mnt/data/x.mdx");
    expect("\\\\SRV\\Share\\a\\x.mdx", &with_maps, "/mnt/srv/a/x.mdx");
    expect("\\\\?\\UNC\\srv\\share\\x.mdx", &with_maps, "/mnt/srv/x.mdx");
}

static void the_longest_map_wins_on_whole_components(void **state)
{
    (void)state;
    expect("f:\\logs\\x.ldx", &with_maps, "/mnt/log/x.ldx");
    expect("f:/LOGS/x.ldx", &with_maps, "/mnt/log/x.ldx");
    expect("f:\\logs2\\x.ldx", &with_maps, "/mnt/data/logs2/x.ldx");
}

static void a_map_comes_before_the_single_dir(void **state)
{
    (void)state;
    const struct path_rules both = {.dirs = one_dir, .dir_count = 1, .maps = maps, .map_count = 3};

    expect("f:\\x.mdx", &both, "/mnt/data/x.mdx");
    expect("g:\\x.mdx", &both, "/mnt/d/x.mdx");
}

static void a_mapped_name_cannot_climb_out(void **state)
{
    (void)state;
    expect_refusal("f:\\..\\..\\etc\\x", &with_maps, "'..'");
    expect_refusal("f:\\a\\..", &with_maps, "'..'");
    expect("f:\\a..b\\x", &with_maps, "/mnt/data/a..b/x");
}

static void a_stream_becomes_part_of_the_name(void **state)
{
    (void)state;
    expect("sqliosim.mdx:replica", &no_rules, "sqliosim.mdx.replica");
    expect("sqliosim.mdx:replica:$DATA", &no_rules, "sqliosim.mdx.replica");
    expect("sqliosim.mdx::$DATA", &no_rules, "sqliosim.mdx");
    expect("f:\\sqliosim.mdx:replica", &with_dir, "/mnt/d/sqliosim.mdx.replica");
    expect("/mnt/x.mdx:s", &no_rules, "/mnt/x.mdx.s");
}

static void a_directory_is_not_a_file_name(void **state)
{
    (void)state;
    expect_refusal("f:\\", &with_dir, "directory");
    expect_refusal("/mnt/d/", &no_rules, "directory");
    expect_refusal("d\\", &no_rules, "directory");
    expect_refusal("..", &no_rules, "directory");
    expect_refusal("", &no_rules, "directory");
    expect_refusal("f:", &with_dir, "directory");
}

static void a_windows_device_is_refused(void **state)
{
    (void)state;
    expect_refusal("\\\\.\\PhysicalDrive1", &with_dir, "/dev/");
}

static void a_bad_map_is_a_diagnostic_of_the_command_line(void **state)
{
    (void)state;
    static const char *const bad[] = {"f:", "=/mnt", "f:=", "f:=/mnt/data"};
    const struct path_rules rules = {.maps = bad, .map_count = 4};
    struct profile *profile = profile_create(NULL, 0);

    assert_int_equal(paths_apply(profile, &rules), -EINVAL);
    assert_int_equal(profile_diag_count(profile), 3);
    assert_string_equal(profile_diag_at(profile, 0)->where.source, "command line");
    assert_non_null(strstr(profile_diag_at(profile, 0)->text, "--map f:: must be of the form"));
    profile_free(profile);
}

static void apply_renames_files_and_places_errors(void **state)
{
    (void)state;
    struct profile *profile = profile_create(NULL, 0);
    const struct opt_where where = {.source = "x.ini", .line = 7};

    assert_int_equal(profile_set(profile, "File1", "FileName", "f:\\a.mdx", where), 0);
    assert_int_equal(profile_set(profile, "File2", "FileName", "", where), 0);
    assert_int_equal(profile_set(profile, "File3", "FileName", "b.mdx:s", where), 0);
    assert_int_equal(paths_apply(profile, &with_dir), 0);
    assert_string_equal(profile_file(profile, 0)->file_name, "/mnt/d/a.mdx");
    assert_null(profile_file(profile, 1)->file_name);
    assert_string_equal(profile_file(profile, 2)->file_name, "/mnt/d/b.mdx.s");
    assert_int_equal(profile_set(profile, "File1", "FileName", "z:\\a.mdx", where), 0);
    assert_int_equal(paths_apply(profile, &no_rules), -EINVAL);
    const struct diag *diag = profile_diag_at(profile, profile_diag_count(profile) - 1);
    assert_int_equal(diag->where.line, 7);
    assert_non_null(strstr(diag->text, "[File1] FileName=z:\\a.mdx: a Windows path"));
    profile_free(profile);
}

/* ---- ErrorFile ---- */

static void expect_error_file(const char *name, const struct path_rules *rules,
                              const char *expected, const char *warning)
{
    struct profile *profile = profile_create(NULL, 0);
    const struct opt_where where = {.source = "x.ini", .line = 2};

    assert_int_equal(profile_set(profile, "CONFIG", "ErrorFile", name, where), 0);
    assert_int_equal(paths_apply(profile, rules), 0);
    assert_string_equal(profile_config(profile)->error_file, expected);
    assert_int_equal(profile_diag_count(profile), warning ? 1 : 0);
    if (warning) {
        assert_int_equal(profile_diag_at(profile, 0)->where.line, 2);
        assert_non_null(strstr(profile_diag_at(profile, 0)->text, warning));
    }
    profile_free(profile);
}

static void an_error_file_is_no_test_file_and_does_not_go_under_dir(void **state)
{
    (void)state;
    expect_error_file("sqliosim.log.xml", &with_dir, "sqliosim.log.xml", NULL);
    expect_error_file("/tmp/12:30.xml", &with_dir, "/tmp/12:30.xml", NULL);
    expect_error_file("logs\\x.xml", &with_dir, "logs/x.xml", NULL);
}

static void an_error_file_of_windows_keeps_its_name_and_that_is_said(void **state)
{
    (void)state;
    expect_error_file("c:\\temp\\x.xml", &with_dir, "x.xml", "x.xml in the result folder");
    expect_error_file("\\\\srv2\\share\\x.xml", &with_maps, "x.xml", "a Windows path");
}

static void an_error_file_goes_where_a_map_says(void **state)
{
    (void)state;
    expect_error_file("f:\\logs\\x.xml", &with_maps, "/mnt/log/x.xml", NULL);
}

static void an_error_file_that_is_a_directory_is_an_error(void **state)
{
    (void)state;
    struct profile *profile = profile_create(NULL, 0);
    const struct opt_where where = {.source = "x.ini", .line = 2};

    assert_int_equal(profile_set(profile, "CONFIG", "ErrorFile", "c:\\temp\\", where), 0);
    assert_int_equal(paths_apply(profile, &no_rules), -EINVAL);
    profile_free(profile);
}

static void normalised(const char *name, const char *expected)
{
    char *out = path_normalised(name);

    assert_string_equal(out, expected);
    free(out);
}

static void normalising_drops_what_means_nothing(void **state)
{
    (void)state;
    normalised("/a/b", "/a/b");
    normalised("//a///b/", "/a/b");
    normalised("/a/./b/.", "/a/b");
    normalised("/a/x/../b", "/a/b");
    normalised("/../../a", "/a");
    normalised("a/../b", "b");
    normalised("../a", "../a");
    normalised("../../a", "../../a");
    normalised("a/../../b", "../b");
    normalised("./a", "a");
    normalised("/", "/");
    normalised("", "");
    normalised("a/..", "");
    normalised("x../..y/...", "x../..y/...");
}

static void assert_parts(const char *path, const char *directory, const char *name)
{
    char *found = path_directory_of(path);
    assert_string_equal(found, directory);
    assert_string_equal(path_last_name(path), name);
    free(found);
}

static void a_path_is_a_directory_and_a_name(void **state)
{
    (void)state;
    assert_parts("/a/b/c", "/a/b", "c");
    assert_parts("/c", "/", "c");
    assert_parts("c", ".", "c");
    assert_parts("../b/c", "../b", "c");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(linux_names_stay_as_they_are),
        cmocka_unit_test(relative_names_go_under_the_single_dir),
        cmocka_unit_test(relative_windows_names_get_slashes),
        cmocka_unit_test(a_drive_goes_under_the_single_dir),
        cmocka_unit_test(a_drive_without_a_place_names_both_remedies),
        cmocka_unit_test(a_map_keeps_the_rest_of_the_path),
        cmocka_unit_test(the_longest_map_wins_on_whole_components),
        cmocka_unit_test(a_map_comes_before_the_single_dir),
        cmocka_unit_test(a_mapped_name_cannot_climb_out),
        cmocka_unit_test(a_stream_becomes_part_of_the_name),
        cmocka_unit_test(a_directory_is_not_a_file_name),
        cmocka_unit_test(a_windows_device_is_refused),
        cmocka_unit_test(a_bad_map_is_a_diagnostic_of_the_command_line),
        cmocka_unit_test(apply_renames_files_and_places_errors),
        cmocka_unit_test(an_error_file_is_no_test_file_and_does_not_go_under_dir),
        cmocka_unit_test(an_error_file_of_windows_keeps_its_name_and_that_is_said),
        cmocka_unit_test(an_error_file_goes_where_a_map_says),
        cmocka_unit_test(an_error_file_that_is_a_directory_is_an_error),
        cmocka_unit_test(normalising_drops_what_means_nothing),
        cmocka_unit_test(a_path_is_a_directory_and_a_name),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
