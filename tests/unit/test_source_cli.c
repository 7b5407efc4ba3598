/* test_source_cli.c - the command line of `pagestorm run` and of SQLIOSim. */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "config/source_cli.h"
#include "patterns/pattern.h"

#define ARGS_MAX 32

struct fixture {
    struct profile *profile;
    struct run_options options;
};

static int setup(void **state)
{
    struct fixture *fixture = calloc(1, sizeof(*fixture));
    const struct opt_section *sections[16];
    size_t count = pattern_sections(sections, 16);

    fixture->profile = profile_create(sections, count);
    run_options_init(&fixture->options);
    *state = fixture;
    return 0;
}

static int teardown(void **state)
{
    struct fixture *fixture = *state;

    run_options_free(&fixture->options);
    profile_free(fixture->profile);
    free(fixture);
    return 0;
}

/* The words of line, parted by single blanks, behind the program's name. */
static int parse(struct fixture *fixture, const char *line)
{
    char *copy = strdup(line);
    char *argv[ARGS_MAX + 2] = {copy};
    char program[] = "run";
    char *rest = copy;
    int argc = 1;

    argv[0] = program;
    while (rest != NULL && *rest != '\0') {
        assert_true(argc < ARGS_MAX);
        argv[argc++] = strsep(&rest, " ");
    }
    int rc = run_options_parse(&fixture->options, fixture->profile, argc, argv);
    free(copy);
    return rc;
}

static void expect_error(struct fixture *fixture, const char *line, const char *text)
{
    assert_int_equal(parse(fixture, line), -EINVAL);
    const struct diag *diag =
        profile_diag_at(fixture->profile, profile_diag_count(fixture->profile) - 1);
    assert_string_equal(diag->where.source, "command line");
    assert_int_equal(diag->where.line, 0);
    assert_string_equal(diag->text, text);
}

/* A configuration file with this text; the caller unlinks it. */
static void write_config(char *path, const char *text)
{
    int fd = mkstemp(path);

    assert_true(fd >= 0);
    assert_int_equal(write(fd, text, strlen(text)), strlen(text));
    close(fd);
}

static void sqliosims_command_line_works(void **state)
{
    struct fixture *f = *state;

    assert_int_equal(parse(f, "-cfg a.ini -save b.ini -log c.xml -dir /d -d 20 -size 100"), 0);
    assert_string_equal(f->options.config_path, "a.ini");
    assert_string_equal(f->options.save_path, "b.ini");
    assert_int_equal(f->options.dirs.count, 1);
    assert_string_equal(f->options.dirs.items[0], "/d");
    assert_int_equal(f->options.size_bytes, 104857600); /* 100 * 1048576 */
    free(f->options.config_path);
    f->options.config_path = NULL;
    assert_int_equal(run_options_apply(&f->options, f->profile), 0);
    assert_true(profile_config(f->profile)->test_cycle_duration_ns == 20000000000LL);
    assert_string_equal(profile_config(f->profile)->error_file, "c.xml");
}

static void options_come_in_any_order_with_one_dash_or_two(void **state)
{
    struct fixture *f = *state;

    assert_int_equal(parse(f, "--seed 5 -quiet x.ini --dir=/a -strict --dir /b -dir=/c"), 0);
    assert_string_equal(f->options.config_path, "x.ini");
    assert_int_equal(f->options.dirs.count, 3);
    assert_string_equal(f->options.dirs.items[0], "/a");
    assert_string_equal(f->options.dirs.items[1], "/b");
    assert_string_equal(f->options.dirs.items[2], "/c");
    assert_true(f->options.quiet);
    assert_true(f->options.strict);
    assert_false(f->options.dry_run);
}

static void posix_order_of_the_environment_changes_nothing(void **state)
{
    struct fixture *f = *state;

    setenv("POSIXLY_CORRECT", "1", 1);
    int rc = parse(f, "x.ini --quiet");
    unsetenv("POSIXLY_CORRECT");
    assert_int_equal(rc, 0);
    assert_true(f->options.quiet);
}

static void every_kind_of_directory_is_kept_apart(void **state)
{
    struct fixture *f = *state;

    assert_int_equal(parse(f, "--data-dir /a --log-dir /b --log-dir /c --tempdb-dir /d "
                              "--backup-dir /e --map f:=/m --out /o --label first"),
                     0);
    assert_int_equal(f->options.dirs.count, 0);
    assert_string_equal(f->options.data_dirs.items[0], "/a");
    assert_int_equal(f->options.log_dirs.count, 2);
    assert_string_equal(f->options.log_dirs.items[1], "/c");
    assert_string_equal(f->options.tempdb_dirs.items[0], "/d");
    assert_string_equal(f->options.backup_dirs.items[0], "/e");
    assert_string_equal(f->options.maps.items[0], "f:=/m");
    assert_string_equal(f->options.out_dir, "/o");
    assert_string_equal(f->options.label, "first");
}

static void named_options_become_settings(void **state)
{
    struct fixture *f = *state;

    assert_int_equal(parse(f, "--duration 5m --memory 2G --engine MEM --seed 42 --cycles 0 "
                              "--stop-on-error=no"),
                     0);
    assert_int_equal(run_options_apply(&f->options, f->profile), 0);
    const struct config_settings *config = profile_config(f->profile);
    assert_true(config->test_cycle_duration_ns == 300000000000LL);
    assert_true(config->max_memory_bytes == 2LL << 30);
    assert_int_equal(config->engine, CONFIG_ENGINE_MEM);
    assert_int_equal(config->seed, 42);
    assert_int_equal(config->test_cycles, 0);
    assert_false(config->stop_on_error);
}

static void stop_on_error_without_a_value_means_true(void **state)
{
    struct fixture *f = *state;

    assert_int_equal(parse(f, "--set CONFIG.StopOnError=FALSE --stop-on-error x.ini"), 0);
    assert_string_equal(f->options.config_path, "x.ini"); /* not taken for its value */
    free(f->options.config_path);
    f->options.config_path = NULL;
    assert_int_equal(run_options_apply(&f->options, f->profile), 0);
    assert_true(profile_config(f->profile)->stop_on_error);
}

static void a_bare_size_is_mb_and_units_work(void **state)
{
    struct fixture *f = *state;

    assert_int_equal(parse(f, "--size 4G"), 0);
    assert_true(f->options.size_bytes == 4LL << 30);
    expect_error(f, "--size 12abc",
                 "--size 12abc: not a size (a whole number of MB, or with a unit: 512M, 4G; "
                 "allowed 1B .. 16T)");
    assert_int_equal(parse(f, "--size 0"), -EINVAL);
    assert_int_equal(parse(f, "--size 17T"), -EINVAL);
    assert_true(f->options.size_bytes == 4LL << 30);
}

static void precedence_is_file_then_set_then_named_whatever_the_order(void **state)
{
    struct fixture *f = *state;
    char path[] = "/tmp/pagestorm-test-XXXXXX";
    char line[256];

    write_config(path, "[CONFIG]\nTestCycles=1\nTestCycleDuration=1\nSeed=1\n");
    snprintf(line, sizeof(line),
             "--seed 3 -d 3 --set CONFIG.TestCycleDuration=2 --set CONFIG.Seed=2 "
             "--set CONFIG.TestCycles=2 %s",
             path);
    assert_int_equal(parse(f, line), 0);
    assert_int_equal(run_options_apply(&f->options, f->profile), 0);
    unlink(path);
    assert_int_equal(profile_config(f->profile)->test_cycles, 2);
    assert_int_equal(profile_config(f->profile)->seed, 3);
    assert_true(profile_config(f->profile)->test_cycle_duration_ns == 3000000000LL);
    assert_int_equal(profile_diag_count(f->profile), 0);
}

static void the_last_of_equal_options_wins(void **state)
{
    struct fixture *f = *state;

    assert_int_equal(parse(f, "--seed 1 --set CONFIG.TestCycles=3 --set CONFIG.TestCycles=4 "
                              "--seed 2"),
                     0);
    assert_int_equal(run_options_apply(&f->options, f->profile), 0);
    assert_int_equal(profile_config(f->profile)->seed, 2);
    assert_int_equal(profile_config(f->profile)->test_cycles, 4);
}

static void a_wrong_value_of_a_named_option_is_told_like_a_setting(void **state)
{
    struct fixture *f = *state;

    assert_int_equal(parse(f, "--cycles 12abc"), 0);
    assert_int_equal(run_options_apply(&f->options, f->profile), -EINVAL);
    const struct diag *diag = profile_diag_at(f->profile, 0);
    assert_string_equal(diag->where.source, "command line");
    assert_string_equal(diag->text,
                        "[CONFIG] TestCycles=12abc: not an integer (allowed 0 .. 1000000 cycles)");
}

static void unknown_options_name_the_nearest(void **state)
{
    struct fixture *f = *state;

    expect_error(f, "--quite", "--quite: unknown option; did you mean --quiet?");
    expect_error(f, "-sise 100", "-sise: unknown option; did you mean --size?");
    expect_error(f, "--durration=5", "--durration=5: unknown option; did you mean --duration?");
    expect_error(f, "--wombat", "--wombat: unknown option; see --help");
}

static void all_mistakes_of_a_line_are_reported_at_once(void **state)
{
    struct fixture *f = *state;

    assert_int_equal(parse(f, "--quite --sed 5 --size x --dir"), -EINVAL);
    assert_int_equal(profile_error_count(f->profile), 4);
}

static void a_missing_or_superfluous_value_is_told(void **state)
{
    struct fixture *f = *state;

    expect_error(f, "--dir", "--dir: needs a value (DIR)");
    expect_error(f, "-d", "-d: needs a value (TIME)");
    expect_error(f, "--seed", "--seed: needs a value (N)");
    expect_error(f, "--quiet=yes", "--quiet=yes: takes no value");
    expect_error(f, "--label=", "--label: its value TEXT is empty");
}

static void an_ambiguous_beginning_is_told(void **state)
{
    struct fixture *f = *state;

    expect_error(f, "--se 5", "--se: could be several options; write it in full");
}

static void d_is_the_duration_also_without_a_blank(void **state)
{
    struct fixture *f = *state;

    assert_int_equal(parse(f, "-d300"), 0);
    assert_int_equal(run_options_apply(&f->options, f->profile), 0);
    assert_true(profile_config(f->profile)->test_cycle_duration_ns == 300000000000LL);
}

static void a_second_configuration_is_an_error(void **state)
{
    struct fixture *f = *state;

    expect_error(f, "a.ini b.ini", "configuration file: given twice, a.ini and b.ini");
    assert_string_equal(f->options.config_path, "a.ini");
    expect_error(f, "--cfg c.ini", "--cfg: given twice, a.ini and c.ini");
}

static void words_behind_a_double_dash_are_no_options(void **state)
{
    struct fixture *f = *state;

    assert_int_equal(parse(f, "--quiet -- -odd.ini"), 0);
    assert_string_equal(f->options.config_path, "-odd.ini");
}

static void a_missing_configuration_is_an_error(void **state)
{
    struct fixture *f = *state;

    assert_int_equal(parse(f, "/nonexistent/a.ini"), 0);
    assert_int_equal(run_options_apply(&f->options, f->profile), -ENOENT);
    assert_int_equal(profile_error_count(f->profile), 1);
}

static void strict_reaches_the_file(void **state)
{
    struct fixture *f = *state;
    char path[] = "/tmp/pagestorm-test-XXXXXX";
    char line[128];

    write_config(path, "[CONFIG]\nTestCycle=1\n");
    snprintf(line, sizeof(line), "%s --strict", path);
    assert_int_equal(parse(f, line), 0);
    assert_int_not_equal(run_options_apply(&f->options, f->profile), 0);
    unlink(path);
    assert_int_equal(profile_error_count(f->profile), 1);
}

static void unknown_names_are_warnings_without_strict(void **state)
{
    struct fixture *f = *state;
    char path[] = "/tmp/pagestorm-test-XXXXXX";

    write_config(path, "[CONFIG]\nTestCycle=1\n");
    assert_int_equal(parse(f, path), 0);
    assert_int_equal(run_options_apply(&f->options, f->profile), 0);
    unlink(path);
    assert_int_equal(profile_diag_count(f->profile), 1);
    assert_int_equal(profile_error_count(f->profile), 0);
}

static void unknown_names_in_set_are_errors_without_strict(void **state)
{
    struct fixture *f = *state;

    assert_int_equal(parse(f, "--set CONFIG.TestCycle=1"), 0);
    assert_int_not_equal(run_options_apply(&f->options, f->profile), 0);
    assert_int_equal(profile_error_count(f->profile), 1);
}

/* Apply in an empty directory that may hold a sqliosim.cfg.ini. */
static void apply_in_directory(struct fixture *f, const char *config, bool sqliosim_mode)
{
    char directory[] = "/tmp/pagestorm-test-XXXXXX";
    char *back = getcwd(NULL, 0);

    assert_non_null(mkdtemp(directory));
    assert_int_equal(chdir(directory), 0);
    if (config != NULL) {
        FILE *out = fopen(SQLIOSIM_CONFIG_NAME, "w");
        fputs(config, out);
        fclose(out);
    }
    f->options.sqliosim_mode = sqliosim_mode;
    int rc = run_options_apply(&f->options, f->profile);
    unlink(SQLIOSIM_CONFIG_NAME);
    assert_int_equal(chdir(back), 0);
    rmdir(directory);
    free(back);
    assert_int_equal(rc, 0);
}

static void sqliosim_reads_its_default_file(void **state)
{
    struct fixture *f = *state;

    apply_in_directory(f, "[CONFIG]\nTestCycles=9\n", true);
    assert_int_equal(profile_config(f->profile)->test_cycles, 9);
    assert_string_equal(f->options.config_path, "sqliosim.cfg.ini");
}

static void run_does_not_read_sqliosims_default_file(void **state)
{
    struct fixture *f = *state;

    apply_in_directory(f, "[CONFIG]\nTestCycles=9\n", false);
    assert_int_equal(profile_config(f->profile)->test_cycles, 1);
}

static void sqliosim_without_a_default_file_takes_defaults(void **state)
{
    struct fixture *f = *state;

    apply_in_directory(f, NULL, true);
    assert_int_equal(profile_config(f->profile)->test_cycles, 1);
    assert_null(f->options.config_path);
}

static void the_program_name_decides_the_mode(void **state)
{
    (void)state;
    assert_true(run_options_called_as_sqliosim("sqliosim"));
    assert_true(run_options_called_as_sqliosim("/opt/bin/SQLIOSim.com"));
    assert_true(run_options_called_as_sqliosim("./sqliosim.exe"));
    assert_false(run_options_called_as_sqliosim("pagestorm"));
    assert_false(run_options_called_as_sqliosim("/sqliosim/pagestorm"));
    assert_false(run_options_called_as_sqliosim("sqliosim2"));
}

static void help_is_asked_for_in_three_ways(void **state)
{
    struct fixture *f = *state;
    static const char *const lines[] = {"--help", "-help", "-h"};

    for (size_t i = 0; i < 3; i++) {
        f->options.help = false;
        assert_int_equal(parse(f, lines[i]), 0);
        assert_true(f->options.help);
    }
}

static void help_names_every_option_within_80_columns(void **state)
{
    (void)state;
    static const char *const names[] = {"--cfg FILE, -cfg",
                                        "--save FILE, -save",
                                        "--log FILE, -log",
                                        "--dir DIR, -dir",
                                        "--duration TIME, -d",
                                        "--size MB, -size",
                                        "--data-dir",
                                        "--log-dir",
                                        "--tempdb-dir",
                                        "--backup-dir",
                                        "--map",
                                        "--set SECTION.KEY=VALUE",
                                        "--engine",
                                        "--seed",
                                        "--memory",
                                        "--out",
                                        "--label",
                                        "--dry-run",
                                        "--strict",
                                        "--quiet",
                                        "--stop-on-error[=BOOL]"};
    char *text = NULL;
    size_t size_bytes;
    FILE *out = open_memstream(&text, &size_bytes);

    run_options_help(out);
    fclose(out);
    for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
        if (strstr(text, names[i]) == NULL) {
            fail_msg("no %s in:\n%s", names[i], text);
        }
    }
    for (char *at = text; *at != '\0'; at += strcspn(at, "\n") + 1) {
        assert_true(strcspn(at, "\n") <= 80);
    }
    free(text);
}

#define CASE(name) cmocka_unit_test_setup_teardown(name, setup, teardown)

int main(void)
{
    const struct CMUnitTest tests[] = {
        CASE(sqliosims_command_line_works),
        CASE(options_come_in_any_order_with_one_dash_or_two),
        CASE(posix_order_of_the_environment_changes_nothing),
        CASE(every_kind_of_directory_is_kept_apart),
        CASE(named_options_become_settings),
        CASE(stop_on_error_without_a_value_means_true),
        CASE(a_bare_size_is_mb_and_units_work),
        CASE(precedence_is_file_then_set_then_named_whatever_the_order),
        CASE(the_last_of_equal_options_wins),
        CASE(a_wrong_value_of_a_named_option_is_told_like_a_setting),
        CASE(unknown_options_name_the_nearest),
        CASE(all_mistakes_of_a_line_are_reported_at_once),
        CASE(a_missing_or_superfluous_value_is_told),
        CASE(an_ambiguous_beginning_is_told),
        CASE(d_is_the_duration_also_without_a_blank),
        CASE(a_second_configuration_is_an_error),
        CASE(words_behind_a_double_dash_are_no_options),
        CASE(a_missing_configuration_is_an_error),
        CASE(strict_reaches_the_file),
        CASE(unknown_names_are_warnings_without_strict),
        CASE(unknown_names_in_set_are_errors_without_strict),
        CASE(sqliosim_reads_its_default_file),
        CASE(run_does_not_read_sqliosims_default_file),
        CASE(sqliosim_without_a_default_file_takes_defaults),
        CASE(the_program_name_decides_the_mode),
        CASE(help_is_asked_for_in_three_ways),
        CASE(help_names_every_option_within_80_columns),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
