/* test_source_ini.c - configuration files: syntax, encodings, real files, broken files. */
#include <errno.h>
#include <fcntl.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>

#include "config/explain_ini.h"
#include "config/paths.h"
#include "config/source.h"
#include "patterns/pattern.h"

#define REAL_DIR SOURCE_DIR "/../shared/data/sqliosim/"

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

static int load_bytes(struct profile *profile, const char *text, size_t size_bytes)
{
    return source_ini_text(profile, "run.ini", text, size_bytes);
}

static int load(struct profile *profile, const char *text)
{
    return load_bytes(profile, text, strlen(text));
}

static void expect_diag(const struct profile *profile, size_t index, unsigned line,
                        const char *part)
{
    const struct diag *diag = profile_diag_at(profile, index);

    assert_non_null(diag);
    assert_int_equal(diag->where.line, line);
    assert_string_equal(diag->where.source, "run.ini");
    if (strstr(diag->text, part) == NULL) {
        fail_msg("\"%s\" does not say \"%s\"", diag->text, part);
    }
}

static const char *name_of_file_1(struct profile *profile, const char *setting)
{
    char text[256];

    snprintf(text, sizeof(text), "[File1]\n%s\n", setting);
    assert_int_equal(load(profile, text), 0);
    assert_int_equal(profile_file_count(profile), 1);
    return profile_file(profile, 0)->file_name;
}

static void names_and_lines_are_kept(void **state)
{
    struct profile *profile = *state;
    struct opt_where where;

    assert_int_equal(load(profile, "\n; text\n[CONFIG]\n\nTestCycles=3\n"), 0);
    assert_int_equal(profile_config(profile)->test_cycles, 3);
    assert_true(profile_where(profile, "CONFIG", "TestCycles", &where));
    assert_int_equal(where.line, 5);
    assert_string_equal(where.source, "run.ini");
    assert_int_equal(profile_diag_count(profile), 0);
}

static void case_and_blanks_do_not_matter(void **state)
{
    struct profile *profile = *state;

    assert_int_equal(load(profile, " \t[ config ] \n\tTESTCYCLES \t = \t 3 \t\n"), 0);
    assert_int_equal(profile_config(profile)->test_cycles, 3);
}

static void comments_start_lines_with_semicolon_or_hash(void **state)
{
    struct profile *profile = *state;

    assert_int_equal(load(profile, "[CONFIG]\n;TestCycles=3\n  # TestCycles=4\n;\n#\n"), 0);
    assert_false(profile_is_set(profile, "CONFIG", "TestCycles"));
    assert_int_equal(profile_diag_count(profile), 0);
}

static void a_comment_may_follow_a_section(void **state)
{
    assert_int_equal(load(*state, "[CONFIG] ; the run\nTestCycles=3\n"), 0);
    assert_int_equal(profile_config(*state)->test_cycles, 3);
}

static void a_semicolon_later_in_a_line_is_text(void **state)
{
    assert_string_equal(name_of_file_1(*state, "FileName=/d/a;b ; c # d.mdx  "),
                        "/d/a;b ; c # d.mdx");
}

static void a_trailing_backslash_is_text(void **state)
{
    struct profile *profile = *state;

    assert_int_equal(load(profile, "[File1]\nFileName=f:\\\nInitialSize=5\n"), 0);
    assert_string_equal(profile_file(profile, 0)->file_name, "f:\\");
    assert_int_equal(profile_file(profile, 0)->initial_size_bytes, 5 << 20);
}

static void one_pair_of_quotes_goes(void **state)
{
    assert_string_equal(name_of_file_1(*state, "FileName=\"  a b.mdx \""), "  a b.mdx ");
}

static void single_quotes_go_as_well(void **state)
{
    assert_string_equal(name_of_file_1(*state, "FileName = 'a;b.mdx'"), "a;b.mdx");
}

static void inner_quotes_stay(void **state)
{
    assert_string_equal(name_of_file_1(*state, "FileName=\"\"a\"\""), "\"a\"");
}

static void an_unpaired_quote_stays(void **state)
{
    assert_string_equal(name_of_file_1(*state, "FileName=\"a'"), "\"a'");
}

static void an_equals_sign_in_a_value_stays(void **state)
{
    assert_string_equal(name_of_file_1(*state, "FileName=a=b=c"), "a=b=c");
}

static void what_iniparser_takes_for_syntax_passes_through(void **state)
{
    assert_string_equal(name_of_file_1(*state, "FileName=%41k1.0=v[s]\\\\\\\"x\\n"),
                        "%41k1.0=v[s]\\\\\\\"x\\n");
}

static void numbers_are_never_read_by_iniparser(void **state)
{
    struct profile *profile = *state;

    assert_int_equal(load(profile, "[CONFIG]\nTestCycles=010\nMaxMemoryMB=12abc\n"
                                   "CPUCount=99999999999\n"),
                     0);
    assert_int_equal(profile_config(profile)->test_cycles, 10); /* not octal 8 */
    expect_diag(profile, 0, 3, "[CONFIG] MaxMemoryMB=12abc: not a size");
    expect_diag(profile, 1, 4, "[CONFIG] CPUCount=99999999999: out of range");
    assert_int_equal(profile_finish(profile), -EINVAL);
}

static void all_line_ends_count_lines_alike(void **state)
{
    struct profile *profile = *state;
    static const char *const texts[] = {"[CONFIG]\nX=1\n\nY=2", "[CONFIG]\r\nX=1\r\n\r\nY=2\r\n",
                                        "[CONFIG]\rX=1\r\rY=2\r"};

    for (size_t i = 0; i < 3; i++) {
        assert_int_equal(load(profile, texts[i]), 0);
        expect_diag(profile, 2 * i, 2, "X: unknown key");
        expect_diag(profile, 2 * i + 1, 4, "Y: unknown key");
    }
}

static void crlf_leaves_nothing_in_the_value(void **state)
{
    assert_string_equal(name_of_file_1(*state, "FileName=a.mdx\r\nInitialSize=1\r"), "a.mdx");
    assert_int_equal(profile_diag_count(*state), 0);
}

static void a_utf8_byte_order_mark_is_skipped(void **state)
{
    assert_int_equal(load(*state, "\xef\xbb\xbf[CONFIG]\nTestCycles=3\n"), 0);
    assert_int_equal(profile_config(*state)->test_cycles, 3);
}

/* ASCII text as UTF-16 with its byte order mark. */
static size_t utf16(const char *text, bool big_endian, char *out)
{
    size_t length = 0;

    out[length++] = big_endian ? '\xfe' : '\xff';
    out[length++] = big_endian ? '\xff' : '\xfe';
    for (; *text != '\0'; text++) {
        out[length++] = big_endian ? '\0' : *text;
        out[length++] = big_endian ? *text : '\0';
    }
    return length;
}

static void utf16_of_both_byte_orders_is_read(void **state)
{
    (void)state;
    char bytes[256];

    for (int big = 0; big < 2; big++) {
        struct profile *profile = make();
        size_t length = utf16("[CONFIG]\r\nTestCycles=3\r\n", big == 1, bytes);
        assert_int_equal(load_bytes(profile, bytes, length), 0);
        assert_int_equal(profile_config(profile)->test_cycles, 3);
        assert_int_equal(profile_diag_count(profile), 0);
        profile_free(profile);
    }
}

static void utf16_letters_become_utf8(void **state)
{
    struct profile *profile = *state;
    char bytes[256];
    size_t length = utf16("[File1]\nFileName=", false, bytes);
    /* U+00E9, U+20AC, U+1F4BE (D83D DCBE), little endian; in UTF-8: C3 A9, E2 82 AC, F0 9F 92 BE */
    static const char letters[] = "\xe9\x00\xac\x20\x3d\xd8\xbe\xdc";

    memcpy(bytes + length, letters, 8);
    assert_int_equal(load_bytes(profile, bytes, length + 8), 0);
    assert_string_equal(profile_file(profile, 0)->file_name,
                        "\xc3\xa9\xe2\x82\xac\xf0\x9f\x92\xbe");
}

static void broken_utf16_is_refused(void **state)
{
    struct profile *profile = *state;

    assert_int_equal(load_bytes(profile, "\xff\xfe[\0C", 5), -EINVAL);
    expect_diag(profile, 0, 0, "middle of a character");
    assert_int_equal(load_bytes(profile, "\xff\xfe\x3d\xd8", 4), -EINVAL);
    expect_diag(profile, 1, 0, "surrogate");
    assert_int_equal(load_bytes(profile, "\xff\xfe\x3d\xd8\x41\x00", 6), -EINVAL);
    expect_diag(profile, 2, 0, "surrogate");
    assert_int_equal(load_bytes(profile, "\xfe\xff\xdc\xbe", 4), -EINVAL);
    expect_diag(profile, 3, 0, "surrogate");
}

static void zero_bytes_mean_no_text(void **state)
{
    struct profile *profile = *state;

    assert_int_equal(load_bytes(profile, "[CONFIG]\n\0TestCycles=3\n", 23), -EINVAL);
    expect_diag(profile, 0, 0, "zero bytes");
    assert_int_equal(load_bytes(profile, "[\0C\0", 4), -EINVAL); /* UTF-16 without its mark */
    assert_int_equal(load_bytes(profile, "\xff\xfe\0\0[\0\0\0", 8), -EINVAL); /* UTF-32 */
    assert_int_equal(profile_error_count(profile), 3);
}

static void an_empty_text_sets_nothing(void **state)
{
    assert_int_equal(load_bytes(*state, "", 0), 0);
    assert_int_equal(load_bytes(*state, "\xef\xbb\xbf", 3), 0);
    assert_int_equal(load_bytes(*state, "\xff\xfe", 2), 0);
    assert_int_equal(profile_diag_count(*state), 0);
}

static void every_broken_line_is_reported_and_the_rest_is_read(void **state)
{
    struct profile *profile = *state;

    assert_int_equal(load(profile, "TestCycles=1\n"
                                   "[CONFIG]\n"
                                   "no equals sign\n"
                                   "=value\n"
                                   "TestCycles=4\n"
                                   "[] \n"
                                   "[RandomUser\n"
                                   "UserCount=5\n"
                                   "[AuditUser] UserCount=7\n"
                                   "[AuditUser]\n"
                                   "UserCount=6\n"),
                     -EINVAL);
    expect_diag(profile, 0, 1, "before the first [Section]");
    expect_diag(profile, 1, 3, "\"no equals sign\" is neither");
    expect_diag(profile, 2, 4, "without a key");
    expect_diag(profile, 3, 6, "without a name");
    expect_diag(profile, 4, 7, "closing ']'");
    expect_diag(profile, 5, 9, "on its own line");
    assert_int_equal(profile_diag_count(profile), 6);
    assert_int_equal(profile_config(profile)->test_cycles, 4);
    assert_false(profile_is_set(profile, "RandomUser", "UserCount"));
    assert_true(profile_is_set(profile, "AuditUser", "UserCount"));
}

/* A wrong file, named by mistake: one error instead of one a line. */
static void what_is_no_configuration_at_all_is_one_error(void **state)
{
    struct profile *profile = *state;

    assert_int_equal(
        load(profile, "; a comment\n\nDear all,\nplease find attached\r\n  the file\n"), -EINVAL);
    assert_int_equal(profile_diag_count(profile), 1);
    expect_diag(profile, 0, 0, "none of its 3 lines is [Section] or Key=Value");
}

static void a_line_that_is_too_long_is_named_and_the_rest_is_read(void **state)
{
    struct profile *profile = *state;
    char *text = NULL;
    size_t size_bytes;
    FILE *out = open_memstream(&text, &size_bytes);

    fprintf(out, "[CONFIG]\nErrorFile=%0*d\nTestCycles=2\n", 1 << 20, 0);
    fclose(out);
    assert_int_equal(load(profile, text), -EMSGSIZE);
    expect_diag(profile, 0, 2, "a line of 1048586 bytes"); /* 1 MiB and "ErrorFile=" */
    assert_int_equal(profile_config(profile)->test_cycles, 2);
    free(text);
}

static void a_long_value_within_the_limit_is_read_whole(void **state)
{
    struct profile *profile = *state;
    char text[SOURCE_LINE_MAX + 64] = "[File1]\nFileName=";
    size_t start = strlen(text);

    for (size_t i = 0; i < OPT_STRING_MAX; i++) {
        text[start + i] = "ab;%\\\"= "[i % 7];
    }
    text[start + OPT_STRING_MAX - 1] = 'z';
    assert_int_equal(load(profile, text), 0);
    assert_string_equal(profile_file(profile, 0)->file_name, text + start);
}

static void a_repeated_section_continues_the_first(void **state)
{
    struct profile *profile = *state;

    assert_int_equal(load(profile, "[CONFIG]\nTestCycles=1\n[RandomUser]\nSleepAfter=1\n"
                                   "[config]\nTestCycleDuration=9\nTestCycles=2\n"),
                     0);
    expect_diag(profile, 0, 7, "set before in line 2 (run.ini:2)");
    assert_int_equal(profile_config(profile)->test_cycles, 2);
    assert_true(profile_config(profile)->test_cycle_duration_ns == 9000000000LL);
}

static void ten_thousand_files_give_one_clear_error(void **state)
{
    struct profile *profile = *state;
    char *text = NULL;
    size_t size_bytes;
    FILE *out = open_memstream(&text, &size_bytes);

    for (int n = 1; n <= 10000; n++) {
        fprintf(out, "[File%d]\nFileName=f%d.mdx\nInitialSize=1\nMaxSize=1\nLogFile=FALSE\n", n, n);
    }
    fclose(out);
    assert_int_equal(load_bytes(profile, text, size_bytes), 0);
    assert_int_equal(profile_finish(profile), -EINVAL);
    assert_int_equal(profile_diag_count(profile), 1);
    expect_diag(profile, 0, 1024 * 5 + 2, "[File1025]: more than 1024 files");
    assert_int_equal(profile_file_count(profile), PROFILE_FILES_MAX);
    free(text);
}

/* A file with these bytes; the caller unlinks it. */
static void write_file(char *path, const char *bytes, size_t size_bytes)
{
    int fd = mkstemp(path);

    assert_true(fd >= 0);
    assert_int_equal(write(fd, bytes, size_bytes), size_bytes);
    close(fd);
}

static void expect_load_error(struct profile *profile, const char *path, int rc, const char *part)
{
    assert_int_equal(source_ini_load(profile, path), rc);
    const struct diag *diag = profile_diag_at(profile, profile_diag_count(profile) - 1);
    assert_string_equal(diag->where.source, path);
    assert_int_equal(diag->where.line, 0);
    assert_non_null(strstr(diag->text, part));
}

static void a_missing_file_says_so(void **state)
{
    expect_load_error(*state, "/nonexistent/run.ini", -ENOENT, "no such configuration file");
}

static void a_directory_says_so(void **state)
{
    expect_load_error(*state, "/", -EISDIR, "is a directory");
}

static void a_file_above_the_limit_says_so(void **state)
{
    char path[] = "/tmp/pagestorm-test-XXXXXX";
    size_t size_bytes = SOURCE_FILE_MAX + 1;
    char *bytes = malloc(size_bytes);

    memset(bytes, '\n', size_bytes);
    write_file(path, bytes, size_bytes);
    expect_load_error(*state, path, -EFBIG, "larger than 4 MiB");
    assert_int_equal(truncate(path, SOURCE_FILE_MAX), 0);
    assert_int_equal(source_ini_load(*state, path), 0);
    unlink(path);
    free(bytes);
}

static void an_endless_device_is_refused(void **state)
{
    if (access("/dev/zero", R_OK) != 0) {
        print_message("skipped: no /dev/zero\n");
        skip();
    }
    expect_load_error(*state, "/dev/zero", -EFBIG, "larger than 4 MiB");
}

static void an_unreadable_file_says_so(void **state)
{
    char path[] = "/tmp/pagestorm-test-XXXXXX";

    if (geteuid() == 0) {
        print_message("skipped: root may read every file\n");
        skip();
    }
    write_file(path, "", 0);
    chmod(path, 0);
    expect_load_error(*state, path, -EACCES, "may not read");
    unlink(path);
}

static void presence_is_existence(void **state)
{
    (void)state;
    assert_true(source_ini_present("/"));
    assert_false(source_ini_present("/nonexistent/run.ini"));
}

static void set_reads_section_key_and_value(void **state)
{
    struct profile *profile = *state;

    assert_int_equal(source_set_option(profile, "config.TestCycles=4"), 0);
    assert_int_equal(profile_config(profile)->test_cycles, 4);
    assert_int_equal(source_set_option(profile, "File1.FileName=f:\\a.b=c"), 0);
    assert_string_equal(profile_file(profile, 0)->file_name, "f:\\a.b=c");
}

static void set_refuses_other_forms(void **state)
{
    struct profile *profile = *state;
    static const char *const bad[] = {"",          "TestCycles=4",  "CONFIG.TestCycles",
                                      "CONFIG.=4", ".TestCycles=4", "TestCycles=4.5",
                                      "="};

    for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
        assert_int_equal(source_set_option(profile, bad[i]), -EINVAL);
        const struct diag *diag = profile_diag_at(profile, i);
        assert_string_equal(diag->where.source, "--set");
        assert_non_null(strstr(diag->text, "Section.Key=value"));
    }
}

static const char *const real_files[] = {"default", "hwcache", "nothrottle", "seqwrites", "sparse"};

static void real_path(const char *name, char *out, size_t out_size_bytes)
{
    snprintf(out, out_size_bytes, REAL_DIR "sqliosim.%s.cfg.ini", name);
    if (access(out, R_OK) != 0) {
        print_message("skipped: SQLIOSim's sample files are not beside the repository\n");
        skip();
    }
}

static void load_real(struct profile *profile, const char *name)
{
    char path[512];

    real_path(name, path, sizeof(path));
    assert_int_equal(source_ini_load(profile, path), 0);
}

static void sqliosims_own_files_load_without_error(void **state)
{
    (void)state;
    for (size_t i = 0; i < 5; i++) {
        struct profile *profile = make();
        profile_set_strict(profile, true); /* they hold no unknown key */
        load_real(profile, real_files[i]);
        assert_int_equal(profile_finish(profile), 0);
        assert_int_equal(profile_diag_count(profile), 0); /* every key has its effect */
        profile_free(profile);
    }
}

/* figures from the files themselves */
static void the_sparse_file_means_what_it_says(void **state)
{
    struct profile *profile = *state;

    load_real(profile, "sparse");
    assert_int_equal(paths_apply(profile, &(struct path_rules){.dirs = NULL}), 0);
    assert_int_equal(profile_finish(profile), 0);
    assert_int_equal(profile_check_files(profile), 0);
    const struct config_settings *config = profile_config(profile);
    assert_int_equal(config->max_memory_bytes, 32 << 20);
    assert_int_equal(config->test_cycles, 3);
    assert_true(config->test_cycle_duration_ns == 600000000000LL);
    assert_true(config->target_io_duration_ns == 10000000000LL); /* 10000 ms */
    assert_false(config->use_scatter_gather);
    assert_int_equal(profile_file_count(profile), 3);
    assert_string_equal(profile_file(profile, 0)->file_name, "sqliosim.mdx");
    assert_true(profile_file(profile, 1)->log_file);
    assert_string_equal(profile_file(profile, 2)->file_name, "sqliosim.mdx.replica");
    assert_true(profile_file(profile, 2)->sparse);
    assert_int_equal(profile_file(profile, 2)->initial_size_bytes, 1000 << 20);
}

static void the_hwcache_file_goes_under_the_single_dir(void **state)
{
    struct profile *profile = *state;
    static const char *const dirs[] = {"/mnt/volume"};

    load_real(profile, "hwcache");
    assert_int_equal(paths_apply(profile, &(struct path_rules){.dirs = dirs, .dir_count = 1}), 0);
    assert_int_equal(profile_finish(profile), 0);
    assert_int_equal(profile_check_files(profile), 0);
    assert_string_equal(profile_file(profile, 0)->file_name, "/mnt/volume/sqliosim.mdx");
    assert_string_equal(profile_file(profile, 1)->file_name, "/mnt/volume/sqliosim.ldx");
    assert_int_equal(profile_file(profile, 1)->initial_size_bytes, 50 << 20);
    assert_int_equal(profile_config(profile)->cache_hit_ratio, 10000);
}

static void the_hwcache_file_without_a_dir_names_both_remedies(void **state)
{
    struct profile *profile = *state;

    load_real(profile, "hwcache");
    assert_int_equal(paths_apply(profile, &(struct path_rules){.dirs = NULL}), -EINVAL);
    assert_int_equal(profile_diag_count(profile), 2);
    const struct diag *diag = profile_diag_at(profile, 0);
    assert_int_equal(diag->where.line, 64); /* grep -n FileName */
    assert_non_null(strstr(diag->text, "--map f:=DIR"));
    assert_non_null(strstr(diag->text, "--dir DIR"));
}

static void a_real_file_is_the_same_as_utf16_and_crlf(void **state)
{
    struct profile *profile = *state;
    char path[512];
    char text[4096];
    char crlf[8192];
    char bytes[16384];
    size_t used = 0;

    real_path("seqwrites", path, sizeof(path));
    FILE *in = fopen(path, "r");
    assert_non_null(in);
    size_t length = fread(text, 1, sizeof(text) - 1, in);
    fclose(in);
    for (size_t i = 0; i < length; i++) {
        if (text[i] == '\n') {
            crlf[used++] = '\r';
        }
        crlf[used++] = text[i];
    }
    crlf[used] = '\0';
    assert_int_equal(load_bytes(profile, bytes, utf16(crlf, false, bytes)), 0);
    struct profile *plain = make();
    assert_int_equal(source_ini_load(plain, path), 0);
    char *dumps[2] = {NULL, NULL};
    for (int i = 0; i < 2; i++) {
        size_t size_bytes;
        FILE *out = open_memstream(&dumps[i], &size_bytes);
        assert_int_equal(profile_finish(i == 0 ? profile : plain), 0);
        profile_dump(i == 0 ? profile : plain, out);
        fclose(out);
    }
    assert_string_equal(dumps[0], dumps[1]);
    free(dumps[0]);
    free(dumps[1]);
    profile_free(plain);
}

static char *explained(struct profile *profile, const char *path, int64_t cpu_count)
{
    char *text = NULL;
    size_t size_bytes;
    FILE *out = open_memstream(&text, &size_bytes);

    assert_int_equal(config_explain(profile, path, cpu_count, out), 0);
    fclose(out);
    return text;
}

static void explain_says_values_defaults_files_and_users(void **state)
{
    struct profile *profile = *state;
    static const char *const parts[] = {
        "line 9    TestCycleDuration = 600, which is 10 min (default: 300)",
        "line 27   RandomUserReadWriteRatio = 9000, which is 90 % (the default)",
        "line 65   InitialSize = 1000, which is 1000 MiB",
        "[File2]  a transaction log",
        "[File3]  a sparse data file",
        "Files: 3; data 1.95 GiB, log 50 MiB", /* 2000 / 1024 = 1.953 */
        "Users with 3 CPUs:",
        "RandomUser         6  (automatic", /* 3 * 2 */
        "BulkUpdateUser     6",
    };
    char path[512];

    real_path("sparse", path, sizeof(path));
    char *text = explained(profile, path, 3);
    for (size_t i = 0; i < sizeof(parts) / sizeof(parts[0]); i++) {
        if (strstr(text, parts[i]) == NULL) {
            fail_msg("no \"%s\" in:\n%s", parts[i], text);
        }
    }
    free(text);
}

static void explain_caps_automatic_users_at_8(void **state)
{
    char path[512];

    real_path("default", path, sizeof(path));
    char *text = explained(*state, path, 64);
    assert_non_null(strstr(text, "RandomUser         8  (automatic"));
    assert_non_null(strstr(text, "Files: none named"));
    free(text);
}

static void load_sample(struct profile *profile, const char *name)
{
    char path[512];

    snprintf(path, sizeof(path), SOURCE_DIR "/samples/%s", name);
    profile_set_strict(profile, true);
    assert_int_equal(source_ini_load(profile, path), 0);
}

static void the_first_run_sample_needs_a_dir_only(void **state)
{
    struct profile *profile = *state;
    const struct opt_where where = {.source = "--dir"};

    load_sample(profile, "first-run.ini");
    assert_int_equal(profile_add_file(profile, "/d/a.mdx", false, 1, 1, 1, where), 0);
    assert_int_equal(profile_add_file(profile, "/d/a.ldx", true, 1, 1, 1, where), 0);
    assert_int_equal(profile_finish(profile), 0);
    assert_int_equal(profile_check_files(profile), 0);
    assert_int_equal(profile_diag_count(profile), 0);
    assert_int_equal(profile_file_count(profile), 2);
}

static void the_two_volumes_sample_is_complete(void **state)
{
    struct profile *profile = *state;
    bool log_apart = true;

    load_sample(profile, "two-volumes.ini");
    static const char *const maps[] = {"d:=/mnt/data", "l:=/mnt/log"};
    assert_int_equal(paths_apply(profile, &(struct path_rules){.maps = maps, .map_count = 2}), 0);
    assert_int_equal(profile_finish(profile), 0);
    assert_int_equal(profile_check_files(profile), 0);
    assert_int_equal(profile_diag_count(profile), 0);
    for (size_t i = 0; i < profile_file_count(profile); i++) {
        const struct file_settings *file = profile_file(profile, i);
        bool on_log_volume = strstr(file->file_name, "/log/") != NULL;
        log_apart = log_apart && on_log_volume == file->log_file;
    }
    assert_true(log_apart);
}

#define CASE(name) cmocka_unit_test_setup_teardown(name, setup, teardown)

int main(void)
{
    const struct CMUnitTest tests[] = {
        CASE(names_and_lines_are_kept),
        CASE(case_and_blanks_do_not_matter),
        CASE(comments_start_lines_with_semicolon_or_hash),
        CASE(a_comment_may_follow_a_section),
        CASE(a_semicolon_later_in_a_line_is_text),
        CASE(a_trailing_backslash_is_text),
        CASE(one_pair_of_quotes_goes),
        CASE(single_quotes_go_as_well),
        CASE(inner_quotes_stay),
        CASE(an_unpaired_quote_stays),
        CASE(an_equals_sign_in_a_value_stays),
        CASE(what_iniparser_takes_for_syntax_passes_through),
        CASE(numbers_are_never_read_by_iniparser),
        CASE(all_line_ends_count_lines_alike),
        CASE(crlf_leaves_nothing_in_the_value),
        CASE(a_utf8_byte_order_mark_is_skipped),
        CASE(utf16_of_both_byte_orders_is_read),
        CASE(utf16_letters_become_utf8),
        CASE(broken_utf16_is_refused),
        CASE(zero_bytes_mean_no_text),
        CASE(an_empty_text_sets_nothing),
        CASE(every_broken_line_is_reported_and_the_rest_is_read),
        CASE(what_is_no_configuration_at_all_is_one_error),
        CASE(a_line_that_is_too_long_is_named_and_the_rest_is_read),
        CASE(a_long_value_within_the_limit_is_read_whole),
        CASE(a_repeated_section_continues_the_first),
        CASE(ten_thousand_files_give_one_clear_error),
        CASE(a_missing_file_says_so),
        CASE(a_directory_says_so),
        CASE(a_file_above_the_limit_says_so),
        CASE(an_endless_device_is_refused),
        CASE(an_unreadable_file_says_so),
        CASE(presence_is_existence),
        CASE(set_reads_section_key_and_value),
        CASE(set_refuses_other_forms),
        CASE(sqliosims_own_files_load_without_error),
        CASE(the_sparse_file_means_what_it_says),
        CASE(the_hwcache_file_goes_under_the_single_dir),
        CASE(the_hwcache_file_without_a_dir_names_both_remedies),
        CASE(a_real_file_is_the_same_as_utf16_and_crlf),
        CASE(explain_says_values_defaults_files_and_users),
        CASE(explain_caps_automatic_users_at_8),
        CASE(the_first_run_sample_needs_a_dir_only),
        CASE(the_two_volumes_sample_is_complete),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
