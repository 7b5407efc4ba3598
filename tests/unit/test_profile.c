/* test_profile.c - the store of settings: what is kept, what is complained of, what is dumped. */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "config/profile.h"
#include "config/source.h"
#include "patterns/pattern.h"

static struct opt_where line(unsigned number)
{
    return (struct opt_where){.source = "run.ini", .line = number};
}

static struct profile *make(void)
{
    const struct opt_section *sections[16];
    size_t count = pattern_sections(sections, 16);

    return profile_create(sections, count);
}

static int setup(void **state)
{
    *state = make();
    return 0;
}

static int teardown(void **state)
{
    profile_free(*state);
    return 0;
}

/* The index-th diagnostic as it is printed, without its line end. */
static const char *printed(const struct profile *profile, size_t index)
{
    static char text[2 * OPT_TEXT_MAX];
    FILE *out = fmemopen(text, sizeof(text), "w");

    assert_true(index < profile_diag_count(profile));
    diag_print(profile_diag_at(profile, index), out);
    fclose(out);
    text[strcspn(text, "\n")] = '\0';
    return text;
}

static char *dumped(const struct profile *profile)
{
    char *text = NULL;
    size_t size_bytes;
    FILE *out = open_memstream(&text, &size_bytes);

    profile_dump(profile, out);
    fclose(out);
    return text;
}

static void add_pair(struct profile *profile, const char *data, const char *log, int64_t database)
{
    assert_int_equal(profile_add_file(profile, data, false, 1 << 20, 2 << 20, database, line(90)),
                     0);
    assert_int_equal(profile_add_file(profile, log, true, 1 << 20, 1 << 20, database, line(91)), 0);
}

static void a_stored_setting_has_value_and_place(void **state)
{
    struct profile *profile = *state;
    struct opt_where where;

    assert_false(profile_is_set(profile, "CONFIG", "TestCycles"));
    assert_false(profile_where(profile, "CONFIG", "TestCycles", &where));
    assert_int_equal(profile_set(profile, "config", "testcycles", "7", line(3)), 0);
    assert_int_equal(profile_config(profile)->test_cycles, 7);
    assert_true(profile_is_set(profile, "Config", "TESTCYCLES"));
    assert_true(profile_where(profile, "CONFIG", "TestCycles", &where));
    assert_string_equal(where.source, "run.ini");
    assert_int_equal(where.line, 3);
    assert_false(profile_is_set(profile, "CONFIG", "NoSuchKey"));
    assert_false(profile_is_set(profile, "NoSuchSection", "TestCycles"));
    assert_false(profile_is_set(profile, "File9", "FileName"));
}

static void a_wrong_value_names_file_line_section_key_value_and_range(void **state)
{
    struct profile *profile = *state;

    assert_int_equal(profile_set(profile, "RandomUser", "UserCount", "12abc", line(12)), -EINVAL);
    assert_string_equal(printed(profile, 0), "run.ini:12: [RandomUser] UserCount=12abc: not an "
                                             "integer (allowed -1 .. 65372 users)");
    assert_false(profile_is_set(profile, "RandomUser", "UserCount"));
    assert_int_equal(profile_set(profile, "CONFIG", "CacheHitRatio", "10001", line(13)), -ERANGE);
    assert_string_equal(printed(profile, 1),
                        "run.ini:13: [CONFIG] CacheHitRatio=10001: out of range (allowed 0 .. "
                        "10000 in 1/100 %)");
    assert_int_equal(profile_finish(profile), -EINVAL);
}

static void a_comment_behind_a_number_is_explained(void **state)
{
    struct profile *profile = *state;

    assert_int_equal(profile_set(profile, "RandomUser", "UserCount", "4 ; four", line(1)), -EINVAL);
    assert_non_null(strstr(printed(profile, 0), "a comment needs a line of its own"));
}

static void a_value_in_a_message_is_escaped_and_cut(void **state)
{
    struct profile *profile = *state;
    char value[2000];

    memset(value, 'x', sizeof(value));
    value[0] = '\x1b';
    value[sizeof(value) - 1] = '\0';
    assert_int_equal(profile_set(profile, "CONFIG", "TestCycles", value, line(1)), -EINVAL);
    const char *text = printed(profile, 0);
    assert_null(strchr(text, '\x1b'));
    assert_non_null(strstr(text, "TestCycles=\\x1bxxx"));
    assert_non_null(strstr(text, "...: not an integer"));
}

static void a_quoted_text_is_never_cut_inside_a_character(void **state)
{
    (void)state;
    char out[20];

    /* 8 are kept free for "..." or an escape: 13 bytes could stand, "é" would straddle the end */
    diag_quote("aaaaaaaaaaaa\xc3\xa9zzzzzzzzz", out, sizeof(out));
    assert_string_equal(out, "aaaaaaaaaaaa...");
    diag_quote("short", out, sizeof(out));
    assert_string_equal(out, "short");
}

static void an_unknown_key_warns_with_the_nearest_name(void **state)
{
    struct profile *profile = *state;

    assert_int_equal(profile_set(profile, "RandomUser", "UserCont", "4", line(5)), -ENOENT);
    assert_string_equal(
        printed(profile, 0),
        "run.ini:5: warning: [RandomUser] UserCont: unknown key, ignored; did you mean UserCount?");
    assert_int_equal(profile_finish(profile), 0);
}

static void a_key_under_the_wrong_heading_is_sent_home(void **state)
{
    struct profile *profile = *state;

    assert_int_equal(profile_set(profile, "RandomUser", "TestCycles", "4", line(5)), -ENOENT);
    assert_non_null(strstr(printed(profile, 0), "does it belong to section CONFIG?"));
    assert_int_equal(profile_set(profile, "CONFIG", "FileName", "x", line(6)), -ENOENT);
    assert_non_null(strstr(printed(profile, 1), "does it belong to section FileN?"));
}

static void an_unknown_section_is_complained_of_once(void **state)
{
    struct profile *profile = *state;

    assert_int_equal(profile_set(profile, "RandomUsers", "UserCount", "4", line(5)), -ENOENT);
    assert_int_equal(profile_set(profile, "randomusers", "SleepAfter", "4", line(6)), -ENOENT);
    assert_int_equal(profile_diag_count(profile), 1);
    assert_string_equal(printed(profile, 0),
                        "run.ini:5: warning: [RandomUsers]: unknown section, its settings are "
                        "ignored; did you mean RandomUser?");
}

static void strict_makes_unknown_names_errors(void **state)
{
    struct profile *profile = *state;

    profile_set_strict(profile, true);
    assert_int_equal(profile_set(profile, "RandomUser", "UserCont", "4", line(5)), -ENOENT);
    assert_int_equal(profile_set(profile, "Nonsense", "UserCont", "4", line(6)), -ENOENT);
    assert_int_equal(profile_error_count(profile), 2);
    assert_int_equal(profile_finish(profile), -EINVAL);
}

static void strict_lets_known_keys_without_effect_pass(void **state)
{
    struct profile *profile = *state;

    profile_set_strict(profile, true);
    assert_int_equal(profile_set(profile, "CONFIG", "CacheHitRatio", "1000", line(5)), 0);
    assert_int_equal(profile_finish(profile), 0);
}

static void a_key_twice_in_one_file_warns_with_both_lines(void **state)
{
    struct profile *profile = *state;

    assert_int_equal(profile_set(profile, "CONFIG", "TestCycles", "1", line(2)), 0);
    assert_int_equal(profile_set(profile, "CONFIG", "TestCycles", "5", line(9)), 0);
    assert_int_equal(profile_diag_count(profile), 1);
    assert_string_equal(printed(profile, 0), "run.ini:9: warning: [CONFIG] TestCycles: set before "
                                             "in line 2 (run.ini:2); this one counts");
    assert_int_equal(profile_config(profile)->test_cycles, 5);
}

/* Lines 1 to 100,000 of one key: 99,999 repetitions, 5 named, 99,994 counted. */
static void a_key_100000_times_warns_a_few_times_and_tells_how_often(void **state)
{
    struct profile *profile = *state;

    for (unsigned i = 1; i <= 100000; i++) {
        assert_int_equal(profile_set(profile, "CONFIG", "TestCycles", "1", line(i)), 0);
    }
    assert_int_equal(profile_finish(profile), 0);
    assert_int_equal(profile_diag_count(profile), 5 + 1);
    assert_string_equal(printed(profile, 5),
                        "run.ini:100000: warning: and 99994 more settings that were set before, "
                        "the last one here; the last one of a key counts");
}

static void both_spellings_of_a_key_are_one_key(void **state)
{
    struct profile *profile = *state;

    assert_int_equal(profile_set(profile, "CONFIG", "ScatterGather", "FALSE", line(2)), 0);
    assert_false(profile_config(profile)->use_scatter_gather);
    assert_true(profile_is_set(profile, "CONFIG", "UseScatterGather"));
    assert_int_equal(profile_set(profile, "CONFIG", "UseScatterGather", "TRUE", line(3)), 0);
    assert_int_equal(profile_diag_count(profile), 1);
    assert_int_equal(profile_set(profile, "ShrinkUser", "MaxExtents", "9", line(4)), 0);
    assert_true(profile_is_set(profile, "ShrinkUser", "MaxExtends"));
}

static void a_later_source_overrides_silently(void **state)
{
    struct profile *profile = *state;
    const struct opt_where cli = {.source = "command line"};

    assert_int_equal(profile_set(profile, "CONFIG", "TestCycles", "1", line(2)), 0);
    assert_int_equal(profile_set(profile, "CONFIG", "TestCycles", "2", cli), 0);
    assert_int_equal(profile_set(profile, "CONFIG", "TestCycles", "3", cli), 0);
    assert_int_equal(profile_diag_count(profile), 0);
    assert_int_equal(profile_config(profile)->test_cycles, 3);
}

static void a_minimum_above_its_maximum_is_an_error_at_a_key_that_was_set(void **state)
{
    struct profile *profile = *state;

    assert_int_equal(profile_set(profile, "ReadAheadUser", "BuffersRAMin", "65", line(20)), 0);
    assert_int_equal(profile_set(profile, "BulkUpdateUser", "BuffersBUMax", "63", line(30)), 0);
    assert_int_equal(profile_set(profile, "ShrinkUser", "MinShrinkInterval", "601", line(40)), 0);
    assert_int_equal(profile_set(profile, "RandomUser", "MinIOChainLength", "101", line(50)), 0);
    assert_int_equal(profile_finish(profile), -EINVAL);
    assert_int_equal(profile_error_count(profile), 4);
    assert_non_null(strstr(printed(profile, 0), "run.ini:50: [RandomUser] "));
    assert_string_equal(printed(profile, 1),
                        "run.ini:20: [ReadAheadUser] BuffersRAMin is above BuffersRAMax");
    assert_string_equal(printed(profile, 2),
                        "run.ini:30: [BulkUpdateUser] BuffersBUMin is above BuffersBUMax");
    assert_string_equal(printed(profile, 3),
                        "run.ini:40: [ShrinkUser] MinShrinkInterval is above MaxShrinkInterval");
}

static void min_extends_above_max_extends_is_an_error(void **state)
{
    struct profile *profile = *state;

    assert_int_equal(profile_set(profile, "ShrinkUser", "MinExtends", "21", line(20)), 0);
    assert_int_equal(profile_finish(profile), -EINVAL);
    assert_string_equal(printed(profile, 0),
                        "run.ini:20: [ShrinkUser] MinExtends is above MaxExtends");
}

static void an_unknown_key_makes_no_file(void **state)
{
    struct profile *profile = *state;

    assert_int_equal(profile_set(profile, "File1", "FileNam", "x", line(5)), -ENOENT);
    assert_string_equal(printed(profile, 0), "run.ini:5: warning: [File1] FileNam: unknown key, "
                                             "ignored; did you mean FileName?");
    assert_int_equal(profile_file_count(profile), 0);
}

static void unknown_keys_beyond_the_kept_number_are_counted(void **state)
{
    struct profile *profile = *state;

    profile_set_strict(profile, true);
    for (unsigned n = 0; n < 500; n++) {
        assert_int_equal(profile_set(profile, "CONFIG", "Nonsense", "x", line(n + 1)), -ENOENT);
    }
    assert_int_equal(profile_error_count(profile), 500);
    assert_int_equal(profile_diag_count(profile), PROFILE_DIAGS_MAX + 1);
}

static void a_minimum_equal_to_its_maximum_is_fine(void **state)
{
    struct profile *profile = *state;

    assert_int_equal(profile_set(profile, "ReadAheadUser", "BuffersRAMin", "64", line(20)), 0);
    assert_int_equal(profile_set(profile, "ShrinkUser", "MinExtends", "20", line(21)), 0);
    assert_int_equal(profile_finish(profile), 0);
}

static void a_sector_size_is_512_or_4096(void **state)
{
    struct profile *profile = *state;

    assert_int_equal(profile_set(profile, "CONFIG", "SectorSize", "1024", line(8)), 0);
    assert_int_equal(profile_finish(profile), -EINVAL);
    assert_string_equal(printed(profile, 0),
                        "run.ini:8: [CONFIG] SectorSize must be 512, 4096 or 0");
}

static void files_are_sorted_by_number_and_keep_it(void **state)
{
    struct profile *profile = *state;

    assert_int_equal(profile_set(profile, "File12", "FileName", "b", line(1)), 0);
    assert_int_equal(profile_set(profile, "File12", "InitialSize", "1", line(2)), 0);
    assert_int_equal(profile_set(profile, "FILE3", "FileName", "a", line(3)), 0);
    assert_int_equal(profile_set(profile, "file3", "InitialSize", "1", line(4)), 0);
    assert_int_equal(profile_finish(profile), 0);
    assert_int_equal(profile_file_count(profile), 2);
    assert_int_equal(profile_file(profile, 0)->number, 3);
    assert_string_equal(profile_file(profile, 0)->file_name, "a");
    assert_int_equal(profile_file(profile, 1)->number, 12);
    assert_int_equal(profile_file(profile, 1)->where.line, 1);
    assert_null(profile_file(profile, 2));
}

static void a_file_without_a_name_is_skipped_silently(void **state)
{
    struct profile *profile = *state;

    assert_int_equal(profile_set(profile, "File3", "FileName", "", line(1)), 0);
    assert_int_equal(profile_set(profile, "File4", "InitialSize", "7", line(2)), 0);
    assert_int_equal(profile_finish(profile), 0);
    assert_int_equal(profile_file_count(profile), 0);
    assert_int_equal(profile_diag_count(profile), 0);
}

static void odd_file_numbers_are_errors(void **state)
{
    struct profile *profile = *state;
    static const char *const bad[] = {"File0", "File01", "File1000000", "File99999999999999999999"};

    for (size_t i = 0; i < 4; i++) {
        assert_int_equal(profile_set(profile, bad[i], "FileName", "x", line(1)), -EINVAL);
        assert_int_equal(profile_error_count(profile), i + 1);
    }
    assert_int_equal(profile_set(profile, "File", "FileName", "x", line(1)), -ENOENT);
    assert_int_equal(profile_set(profile, "File1x", "FileName", "x", line(1)), -ENOENT);
    assert_int_equal(profile_set(profile, "File999999", "FileName", "x", line(1)), 0);
}

static void initial_size_must_be_given_and_not_exceed_max_size(void **state)
{
    struct profile *profile = *state;

    assert_int_equal(profile_set(profile, "File1", "FileName", "a", line(1)), 0);
    assert_int_equal(profile_set(profile, "File2", "FileName", "b", line(5)), 0);
    assert_int_equal(profile_set(profile, "File2", "InitialSize", "10", line(6)), 0);
    assert_int_equal(profile_set(profile, "File2", "MaxSize", "9", line(7)), 0);
    assert_int_equal(profile_finish(profile), -EINVAL);
    assert_string_equal(printed(profile, 0), "run.ini:1: [File1] InitialSize is missing or 0: say "
                                             "how large the file is to be");
    assert_string_equal(printed(profile, 1), "run.ini:7: [File2] InitialSize is above MaxSize");
}

static void max_size_that_is_not_given_is_the_initial_size(void **state)
{
    struct profile *profile = *state;

    assert_int_equal(profile_set(profile, "File1", "FileName", "a", line(1)), 0);
    assert_int_equal(profile_set(profile, "File1", "InitialSize", "10", line(1)), 0);
    assert_int_equal(profile_finish(profile), 0);
    assert_int_equal(profile_file(profile, 0)->max_size_bytes, 10485760);
}

static void a_log_file_is_at_most_2_tb(void **state)
{
    struct profile *profile = *state;

    assert_int_equal(profile_set(profile, "File1", "FileName", "a", line(1)), 0);
    assert_int_equal(profile_set(profile, "File1", "InitialSize", "10", line(2)), 0);
    assert_int_equal(profile_set(profile, "File1", "MaxSize", "2097153", line(3)),
                     0); /* 2 TB + 1 */
    assert_int_equal(profile_set(profile, "File1", "LogFile", "TRUE", line(4)), 0);
    assert_int_equal(profile_finish(profile), -EINVAL);
    assert_non_null(strstr(printed(profile, 0), "run.ini:3: [File1] MaxSize is above 2 TB"));
}

static void two_sections_that_name_one_file_are_an_error(void **state)
{
    struct profile *profile = *state;

    add_pair(profile, "/d/a.mdx", "/d/a.ldx", 1);
    assert_int_equal(profile_add_file(profile, "/d//x/.././a.mdx", false, 1, 1, 1, line(99)), 0);
    assert_int_equal(profile_finish(profile), -EINVAL);
    assert_int_equal(profile_error_count(profile), 1);
    assert_string_equal(printed(profile, 0), "run.ini:99: [File3] FileName=/d//x/.././a.mdx: the "
                                             "same file as [File1] (run.ini:90)");
}

static void names_that_differ_in_case_are_two_files(void **state)
{
    struct profile *profile = *state;

    add_pair(profile, "/d/a.mdx", "/d/a.ldx", 1);
    assert_int_equal(profile_add_file(profile, "/d/A.mdx", false, 1, 1, 1, line(99)), 0);
    assert_int_equal(profile_finish(profile), 0);
}

static void an_added_file_gets_the_next_number(void **state)
{
    struct profile *profile = *state;

    assert_int_equal(profile_set(profile, "File5", "FileName", "x", line(1)), 0);
    assert_int_equal(profile_set(profile, "File5", "InitialSize", "1", line(1)), 0);
    add_pair(profile, "/d/a.mdx", "/d/a.ldx", 2);
    assert_int_equal(profile_finish(profile), 0);
    const struct file_settings *log = profile_file(profile, 2);
    assert_int_equal(profile_file(profile, 1)->number, 6);
    assert_int_equal(log->number, 7);
    assert_true(log->log_file);
    assert_int_equal(log->database, 2);
    assert_int_equal(log->initial_size_bytes, 1 << 20);
    assert_true(profile_is_set(profile, "File7", "LogFile"));
    assert_false(profile_is_set(profile, "File7", "Sparse"));
}

static void too_many_files_are_one_error(void **state)
{
    struct profile *profile = *state;
    char section[32];

    for (unsigned n = 1; n <= 10000; n++) {
        snprintf(section, sizeof(section), "File%u", n);
        int rc = profile_set(profile, section, "FileName", section, line(n));
        assert_int_equal(rc, n <= PROFILE_FILES_MAX ? 0 : -E2BIG);
    }
    assert_int_equal(profile_diag_count(profile), 1);
    assert_string_equal(printed(profile, 0), "run.ini:1025: [File1025]: more than 1024 files; this "
                                             "and the following are not read");
}

static void diagnostics_are_kept_up_to_a_number_and_counted_beyond(void **state)
{
    struct profile *profile = *state;

    for (unsigned n = 0; n < 5000; n++) {
        assert_int_equal(profile_set(profile, "CONFIG", "TestCycles", "x", line(n + 1)), -EINVAL);
    }
    assert_int_equal(profile_error_count(profile), 5000);
    assert_int_equal(profile_diag_count(profile), PROFILE_DIAGS_MAX + 1);
    assert_string_equal(printed(profile, PROFILE_DIAGS_MAX),
                        "run.ini: too many errors; the others are not listed");
}

static void nothing_set_gives_no_warning(void **state)
{
    assert_int_equal(profile_finish(*state), 0);
    assert_int_equal(profile_diag_count(*state), 0);
}

static void no_files_at_all_is_an_error_of_the_file_check_only(void **state)
{
    struct profile *profile = *state;

    assert_int_equal(profile_finish(profile), 0);
    assert_int_equal(profile_check_files(profile), -EINVAL);
    assert_non_null(strstr(printed(profile, 0), "--dir DIR"));
}

static void a_database_without_a_log_file_is_an_error(void **state)
{
    struct profile *profile = *state;

    add_pair(profile, "/d/a.mdx", "/d/a.ldx", 1);
    assert_int_equal(profile_add_file(profile, "/e/b1.mdx", false, 1, 1, 2, line(50)), 0);
    assert_int_equal(profile_add_file(profile, "/e/b2.mdx", false, 1, 1, 2, line(51)), 0);
    assert_int_equal(profile_finish(profile), 0);
    assert_int_equal(profile_check_files(profile), -EINVAL);
    assert_int_equal(profile_error_count(profile), 1);
    assert_string_equal(
        printed(profile, 0),
        "run.ini:50: [File3]: no log file for database 2; add a [FileN] with LogFile=TRUE");
}

static void a_database_without_a_data_file_is_an_error(void **state)
{
    struct profile *profile = *state;

    assert_int_equal(profile_add_file(profile, "/d/a.ldx", true, 1, 1, 1, line(50)), 0);
    assert_int_equal(profile_finish(profile), 0);
    assert_int_equal(profile_check_files(profile), -EINVAL);
    assert_non_null(strstr(printed(profile, 0), "has a log file but no data file"));
}

static void complete_databases_pass_the_file_check(void **state)
{
    struct profile *profile = *state;

    add_pair(profile, "/d/a.mdx", "/d/a.ldx", 1);
    add_pair(profile, "/e/a.mdx", "/e/a.ldx", 2);
    assert_int_equal(profile_finish(profile), 0);
    assert_int_equal(profile_check_files(profile), 0);
}

static void a_sparse_log_is_warned_of(void **state)
{
    struct profile *profile = *state;

    assert_int_equal(profile_set(profile, "File1", "FileName", "a", line(1)), 0);
    assert_int_equal(profile_set(profile, "File1", "InitialSize", "1", line(2)), 0);
    assert_int_equal(profile_set(profile, "File1", "LogFile", "TRUE", line(3)), 0);
    assert_int_equal(profile_set(profile, "File1", "Sparse", "TRUE", line(4)), 0);
    assert_int_equal(profile_finish(profile), 0);
    assert_non_null(strstr(printed(profile, 0), "warning: [File1] Sparse has no effect"));
}

/* Load the dump of profile into a fresh one and return that one's dump. */
static char *dump_of_reloaded(const struct profile *profile, struct profile **reloaded)
{
    char *text = dumped(profile);

    *reloaded = make();
    assert_int_equal(source_ini_text(*reloaded, "dump", text, strlen(text)), 0);
    free(text);
    assert_int_equal(profile_finish(*reloaded), 0);
    return dumped(*reloaded);
}

static void the_dump_of_defaults_reloads_to_the_same_without_a_word(void **state)
{
    struct profile *profile = *state;
    struct profile *reloaded;

    assert_int_equal(profile_finish(profile), 0);
    char *first = dumped(profile);
    char *second = dump_of_reloaded(profile, &reloaded);
    assert_string_equal(first, second);
    assert_int_equal(profile_diag_count(reloaded), 0);
    free(first);
    free(second);
    profile_free(reloaded);
}

static void the_dump_of_odd_values_reloads_to_equal_settings(void **state)
{
    struct profile *profile = *state;
    struct profile *reloaded;
    static const char *const names[] = {
        "  blanks  ", "\"quoted\"", "'single'",      "semi;colon ; x", "#hash # x",
        "back\\",     "a=b=c",      "[File9]",       "p%20ct%v",       "\xc3\xa9\xe2\x82\xac",
        "\"",         "\"open",     "\xff\xfe latin"};
    const size_t count = sizeof(names) / sizeof(names[0]);
    char section[32];

    assert_int_equal(profile_set(profile, "CONFIG", "MaxMemoryMB", "1536K", line(1)), 0);
    assert_int_equal(profile_set(profile, "CONFIG", "TestCycleDuration", "1500ms", line(1)), 0);
    assert_int_equal(profile_set(profile, "CONFIG", "Affinity", "0xff", line(1)), 0);
    assert_int_equal(profile_set(profile, "CONFIG", "Engine", "mem", line(1)), 0);
    assert_int_equal(profile_set(profile, "CONFIG", "CacheHitRatio", "12.5%", line(1)), 0);
    assert_int_equal(profile_set(profile, "CONFIG", "Seed", "9223372036854775807", line(1)), 0);
    assert_int_equal(profile_set(profile, "CONFIG", "ErrorFile", "", line(1)), 0);
    for (size_t i = 0; i < count; i++) {
        snprintf(section, sizeof(section), "File%zu", 3 * i + 1);
        assert_int_equal(profile_set(profile, section, "FileName", names[i], line(2)), 0);
        assert_int_equal(profile_set(profile, section, "InitialSize", "1025K", line(2)), 0);
    }
    assert_int_equal(profile_finish(profile), 0);
    char *first = dumped(profile);
    char *second = dump_of_reloaded(profile, &reloaded);
    assert_string_equal(first, second);
    const struct config_settings *config = profile_config(reloaded);
    assert_int_equal(config->max_memory_bytes, 1536 * 1024);
    assert_int_equal(config->test_cycle_duration_ns, 1500000000);
    assert_int_equal(config->affinity.words[0], 255);
    assert_int_equal(cpu_list_count(&config->affinity), 8);
    assert_int_equal(config->engine, CONFIG_ENGINE_MEM);
    assert_int_equal(config->cache_hit_ratio, 1250);
    assert_true(config->seed == INT64_MAX);
    assert_null(config->error_file);
    assert_int_equal(profile_file_count(reloaded), count);
    for (size_t i = 0; i < count; i++) {
        assert_string_equal(profile_file(reloaded, i)->file_name, names[i]);
        assert_int_equal(profile_file(reloaded, i)->initial_size_bytes, 1025 * 1024);
    }
    free(first);
    free(second);
    profile_free(reloaded);
}

static void the_list_names_every_option_within_100_columns(void **state)
{
    struct profile *profile = *state;
    char *text = NULL;
    size_t size_bytes;
    FILE *out = open_memstream(&text, &size_bytes);

    profile_list(profile, out);
    fclose(out);
    for (size_t i = 0; i < profile_section_count(profile); i++) {
        const void *settings;
        const struct opt_section *section = profile_section_at(profile, i, &settings);
        assert_non_null(strstr(text, section->name));
        for (size_t k = 0; k < section->count; k++) {
            assert_non_null(strstr(text, section->opts[k].name));
        }
    }
    assert_non_null(strstr(text, "[FileN]"));
    assert_non_null(strstr(text, "MaxExtents")); /* the other spelling */
    for (char *at = text; *at != '\0'; at += strcspn(at, "\n") + 1) {
        assert_true(strcspn(at, "\n") <= 100);
    }
    free(text);
}

static void sections_are_found_by_name(void **state)
{
    struct profile *profile = *state;

    assert_ptr_equal(profile_section(profile, "config"), profile_config(profile));
    assert_non_null(profile_section(profile, "RandomUser"));
    assert_non_null(profile_section(profile, "shrinkuser"));
    assert_null(profile_section(profile, "File1"));
    assert_null(profile_section(profile, "nothing"));
}

#define CASE(name) cmocka_unit_test_setup_teardown(name, setup, teardown)

int main(void)
{
    const struct CMUnitTest tests[] = {
        CASE(a_stored_setting_has_value_and_place),
        CASE(a_wrong_value_names_file_line_section_key_value_and_range),
        CASE(a_comment_behind_a_number_is_explained),
        CASE(a_value_in_a_message_is_escaped_and_cut),
        CASE(a_quoted_text_is_never_cut_inside_a_character),
        CASE(an_unknown_key_warns_with_the_nearest_name),
        CASE(a_key_under_the_wrong_heading_is_sent_home),
        CASE(an_unknown_section_is_complained_of_once),
        CASE(strict_makes_unknown_names_errors),
        CASE(strict_lets_known_keys_without_effect_pass),
        CASE(a_key_twice_in_one_file_warns_with_both_lines),
        CASE(a_key_100000_times_warns_a_few_times_and_tells_how_often),
        CASE(both_spellings_of_a_key_are_one_key),
        CASE(a_later_source_overrides_silently),
        CASE(a_minimum_above_its_maximum_is_an_error_at_a_key_that_was_set),
        CASE(min_extends_above_max_extends_is_an_error),
        CASE(an_unknown_key_makes_no_file),
        CASE(unknown_keys_beyond_the_kept_number_are_counted),
        CASE(a_minimum_equal_to_its_maximum_is_fine),
        CASE(a_sector_size_is_512_or_4096),
        CASE(files_are_sorted_by_number_and_keep_it),
        CASE(a_file_without_a_name_is_skipped_silently),
        CASE(odd_file_numbers_are_errors),
        CASE(initial_size_must_be_given_and_not_exceed_max_size),
        CASE(max_size_that_is_not_given_is_the_initial_size),
        CASE(a_log_file_is_at_most_2_tb),
        CASE(two_sections_that_name_one_file_are_an_error),
        CASE(names_that_differ_in_case_are_two_files),
        CASE(an_added_file_gets_the_next_number),
        CASE(too_many_files_are_one_error),
        CASE(diagnostics_are_kept_up_to_a_number_and_counted_beyond),
        CASE(nothing_set_gives_no_warning),
        CASE(no_files_at_all_is_an_error_of_the_file_check_only),
        CASE(a_database_without_a_log_file_is_an_error),
        CASE(a_database_without_a_data_file_is_an_error),
        CASE(complete_databases_pass_the_file_check),
        CASE(a_sparse_log_is_warned_of),
        CASE(the_dump_of_defaults_reloads_to_the_same_without_a_word),
        CASE(the_dump_of_odd_values_reloads_to_equal_settings),
        CASE(the_list_names_every_option_within_100_columns),
        CASE(sections_are_found_by_name),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
