/*
 * test_no_direct.c - a file system without O_DIRECT: it is used, it is said, and it is judged.
 *
 * open() is this program's own: it answers EINVAL to O_DIRECT, as such file systems do.
 */
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>
#include <cmocka.h>

#include "sim/report.h"
#include "tests/sim_fixture.h"

/* lint: mutable, the fault: open() has no other way to know. */
static bool refuse_direct;
/* lint: mutable, how often it did. */
static unsigned refused;

static int open_as_told(const char *path, int flags, mode_t mode)
{
    if (refuse_direct && (flags & O_DIRECT)) {
        refused++;
        errno = EINVAL;
        return -1;
    }
    return (int)syscall(SYS_openat, AT_FDCWD, path, flags, mode);
}

static mode_t mode_of(int flags, va_list arguments)
{
    return flags & (O_CREAT | __O_TMPFILE) ? va_arg(arguments, mode_t) : 0;
}

/* Under the name that _FILE_OFFSET_BITS=64 gives it. */
int open(const char *path, int flags, ...)
{
    va_list arguments;
    va_start(arguments, flags);
    int fd = open_as_told(path, flags, mode_of(flags, arguments));
    va_end(arguments);
    return fd;
}

/* Where the tests stand; tmpfs would not do, it is never opened with O_DIRECT. */
static const char *directory(void)
{
    const char *own = getenv("TMPDIR");
    return own ? own : "/var/tmp";
}

static void create(const char *folder, struct file *file, bool refuse, char *message)
{
    char path[SIM_PATH_MAX];
    struct file_mark mark = {.file_uid = 1, .incarnation = 1, .file_id = 1, .kind = FILE_KIND_DATA};
    snprintf(path, sizeof path, "%s/a.mdx", folder);
    struct file_open how = {.path = path, .direct = true, .dsync = true, .delete_own = true};
    refuse_direct = refuse;
    refused = 0;
    assert_int_equal(file_create(file, &how, &mark, 64, message), 0);
    refuse_direct = false;
}

static void a_file_system_that_refuses_is_used_with_a_warning(void **state)
{
    char folder[SIM_PATH_MAX], message[FILE_MESSAGE_MAX];
    struct file file;
    (void)state;
    snprintf(folder, sizeof folder, "%s/pagestorm-direct-XXXXXX", directory());
    assert_non_null(mkdtemp(folder));
    create(folder, &file, true, message);
    assert_true(refused > 0);
    assert_false(file.direct);
    assert_false(fcntl(file.target.fd, F_GETFL) & O_DIRECT);
    assert_true(fcntl(file.target.fd, F_GETFL) & O_DSYNC);
    static const char *const words[] = {"a.mdx",  "O_DIRECT", "page cache",
                                        "memory", "WARN",     "ext4"};
    for (size_t i = 0; i < sizeof words / sizeof *words; i++)
        assert_non_null(strstr(message, words[i]));
    file_close(&file);
    create(folder, &file, true, message); /* replaces it */
    file_close(&file);
    char path[SIM_PATH_MAX + 8];
    snprintf(path, sizeof path, "%s/a.mdx", folder);
    unlink(path);
    rmdir(folder);
}

/* A whole run with threads; what it says of integrity, and whether it used O_DIRECT. */
static void whole_run(bool refuse, const char *no_buffering, struct axis *integrity, bool *direct)
{
    struct sim sim;
    struct report report;
    struct sim_options options = {
        .seed = 5,
        .duration_ns = 200 * NS_PER_MS,
        .real_clock = true,
        .directory = directory(),
        .settings = {{"CONFIG", "NoBuffering", no_buffering}, {NULL, NULL, NULL}},
    };
    sim_begin(&sim, &options);
    refuse_direct = refuse;
    sim_run(&sim);
    refuse_direct = false;
    assert_int_equal(sim.result, 0);
    assert_int_equal(report_freeze(&report, sim.run, "test", 0), 0);
    *integrity = report.integrity;
    *direct = sim.run->files[0]->file.direct && sim.run->databases[0].logs[0].direct;
    assert_int_equal(sim.run->findings.count, 0);
    report_free(&report);
    sim_end(&sim);
}

static void a_run_without_direct_io_is_warn(void **state)
{
    struct axis integrity;
    bool direct;
    (void)state;
    whole_run(true, "TRUE", &integrity, &direct);
    assert_false(direct);
    assert_int_equal(integrity.grade, GRADE_WARN);
    assert_non_null(strstr(integrity.reason, "without O_DIRECT"));
}

static void no_buffering_false_is_warn(void **state)
{
    struct axis integrity;
    bool direct;
    (void)state;
    whole_run(false, "FALSE", &integrity, &direct);
    assert_false(direct);
    assert_int_equal(integrity.grade, GRADE_WARN);
    assert_non_null(strstr(integrity.reason, "without O_DIRECT"));
}

/* The control: without the fault the same run passes. */
static void with_direct_io_the_same_run_passes(void **state)
{
    struct axis integrity;
    bool direct;
    (void)state;
    whole_run(false, "TRUE", &integrity, &direct);
    if (!direct) {
        print_message("SKIP: %s has no direct I/O\n", directory());
        skip();
    }
    assert_int_equal(integrity.grade, GRADE_PASS);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_file_system_that_refuses_is_used_with_a_warning),
        cmocka_unit_test(a_run_without_direct_io_is_warn),
        cmocka_unit_test(no_buffering_false_is_warn),
        cmocka_unit_test(with_direct_io_the_same_run_passes),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
