/* test_result_dir.c - the result folder: where it is made, its name, what is removed from it. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "sim/result_dir.h"

struct place {
    char root[64]; /* is the current directory */
    char *before;  /* current directory of the program */
};

static int enter(void **state)
{
    struct place *place = calloc(1, sizeof *place);
    assert_non_null(place);
    snprintf(place->root, sizeof place->root, "/tmp/pagestorm-result-XXXXXX");
    assert_non_null(mkdtemp(place->root));
    place->before = getcwd(NULL, 0);
    assert_int_equal(chdir(place->root), 0);
    *state = place;
    return 0;
}

static int leave(void **state)
{
    struct place *place = *state;
    char command[128];
    assert_int_equal(chdir(place->before), 0);
    snprintf(command, sizeof command, "rm -rf '%s'", place->root);
    assert_int_equal(system(command), 0);
    unsetenv("XDG_STATE_HOME");
    free(place->before);
    free(place);
    return 0;
}

static void touch(const char *path)
{
    int fd = open(path, O_CREAT | O_WRONLY, 0600);
    assert_true(fd >= 0);
    close(fd);
}

static bool exists(const char *path)
{
    struct stat st;
    return lstat(path, &st) == 0;
}

/* 2026-01-01 00:00:00 UTC is 1,767,225,600 s. */
static const struct result_place by_default = {.realtime_ns = CLOCK_VIRTUAL_EPOCH_NS};

static void the_default_name_is_the_utc_time(void **state)
{
    struct result_dir dir;
    char message[RESULT_MESSAGE_MAX], expected[128];
    struct place *place = *state;
    assert_int_equal(result_dir_create(&dir, &by_default, message), 0);
    snprintf(expected, sizeof expected, "%s/pagestorm-20260101-000000", place->root);
    assert_string_equal(dir.path, expected);
    assert_true(exists(expected));
    assert_string_equal(dir.note, "");
    result_dir_free(&dir);
}

static void a_taken_name_gets_2_and_3(void **state)
{
    struct result_dir dir[3];
    char message[RESULT_MESSAGE_MAX];
    (void)state;
    for (int i = 0; i < 3; i++)
        assert_int_equal(result_dir_create(&dir[i], &by_default, message), 0);
    assert_string_equal(strrchr(dir[1].path, '/') + 1, "pagestorm-20260101-000000-2");
    assert_string_equal(strrchr(dir[2].path, '/') + 1, "pagestorm-20260101-000000-3");
    for (int i = 0; i < 3; i++)
        result_dir_free(&dir[i]);
}

/* Another device than that of the current directory, if this machine has one. */
static const char *other_device(void)
{
    struct stat here, there;
    assert_int_equal(stat(".", &here), 0);
    if (stat("/dev/shm", &there) == 0 && there.st_dev != here.st_dev &&
        access("/dev/shm", W_OK) == 0)
        return "/dev/shm";
    return NULL;
}

static void on_a_device_under_test_it_moves_to_another_and_says_so(void **state)
{
    static const char *const under_test[] = {"./new.mdx"};
    struct result_place place = by_default;
    struct result_dir dir;
    char message[RESULT_MESSAGE_MAX];
    (void)state;
    if (!other_device()) {
        print_message("SKIP: /dev/shm is not a device of its own\n");
        skip();
    }
    setenv("XDG_STATE_HOME", "/dev/shm", 1);
    place.under_test = under_test;
    place.under_test_count = 1;
    assert_int_equal(result_dir_create(&dir, &place, message), 0);
    assert_int_equal(strncmp(dir.path, "/dev/shm/pagestorm-2026", 23), 0);
    assert_non_null(strstr(dir.note, "/dev/shm"));
    assert_int_equal(rmdir(dir.path), 0);
    result_dir_free(&dir);
}

/* Every device that could serve is under test. */
static void without_another_device_it_stays_and_says_so(void **state)
{
    static const char *const under_test[] = {"./new.mdx", "/var/tmp/x", "/dev/shm/x"};
    struct result_place place = by_default;
    struct result_dir dir;
    char message[RESULT_MESSAGE_MAX];
    struct place *here = *state;
    setenv("XDG_STATE_HOME", "/dev/shm", 1);
    place.under_test = under_test;
    place.under_test_count = 3;
    assert_int_equal(result_dir_create(&dir, &place, message), 0);
    assert_int_equal(strncmp(dir.path, here->root, strlen(here->root)), 0);
    assert_non_null(strstr(dir.note, "--out"));
    result_dir_free(&dir);
}

static int create_at(const char *wanted, struct result_dir *dir, char *message)
{
    struct result_place place = by_default;
    place.wanted = wanted;
    return result_dir_create(dir, &place, message);
}

static void a_wanted_folder_may_exist_empty(void **state)
{
    struct result_dir dir;
    char message[RESULT_MESSAGE_MAX];
    (void)state;
    assert_int_equal(mkdir("mine", 0700), 0);
    assert_int_equal(create_at("mine", &dir, message), 0);
    assert_false(dir.created);
    result_dir_free(&dir);
}

static void a_wanted_folder_with_something_in_it_is_refused(void **state)
{
    struct result_dir dir;
    char message[RESULT_MESSAGE_MAX];
    (void)state;
    assert_int_equal(mkdir("mine", 0700), 0);
    touch("mine/notes");
    assert_int_equal(create_at("mine", &dir, message), -EEXIST);
    assert_non_null(strstr(message, "mine"));
    result_dir_free(&dir);
}

static void a_wanted_folder_that_is_a_file_is_refused(void **state)
{
    struct result_dir dir;
    char message[RESULT_MESSAGE_MAX];
    (void)state;
    touch("mine");
    assert_int_equal(create_at("mine", &dir, message), -ENOTDIR);
    result_dir_free(&dir);
}

static int check_at(const char *wanted, const char *under_test, char *message)
{
    struct result_place place = by_default;
    const char *paths[] = {under_test};
    place.wanted = wanted;
    place.under_test = paths;
    place.under_test_count = 1;
    return result_dir_check(&place, message);
}

static void a_check_creates_nothing(void **state)
{
    char message[RESULT_MESSAGE_MAX];
    (void)state;
    assert_int_equal(check_at("new", "a.mdx", message), 0);
    assert_int_equal(check_at("new//", "a.mdx", message), 0);
    assert_false(exists("new"));
}

static void a_check_refuses_what_creating_would(void **state)
{
    char message[RESULT_MESSAGE_MAX];
    (void)state;
    touch("file");
    assert_int_equal(mkdir("full", 0700), 0);
    touch("full/notes");
    assert_int_equal(check_at("nowhere/new", "a.mdx", message), -ENOENT);
    assert_int_equal(check_at("file", "a.mdx", message), -ENOTDIR);
    assert_int_equal(check_at("full", "a.mdx", message), -EEXIST);
}

static void a_file_under_test_may_not_have_a_name_of_ours_in_the_folder(void **state)
{
    static const char *const ours[] = {"out/result.json", "out/result.json.part", "out/ledger",
                                       "out/evidence", "./out/../out/ledger"};
    static const char *const others[] = {"out/result.jso", "out/a.mdx", "ledger", "result.json"};
    char message[RESULT_MESSAGE_MAX];
    (void)state;
    assert_int_equal(mkdir("out", 0700), 0);
    for (size_t i = 0; i < sizeof ours / sizeof ours[0]; i++) {
        assert_int_equal(check_at("out", ours[i], message), -EEXIST);
        assert_non_null(strstr(message, ours[i]));
    }
    for (size_t i = 0; i < sizeof others / sizeof others[0]; i++)
        assert_int_equal(check_at("out", others[i], message), 0);
}

static void known_files_are_removed_and_then_the_folder(void **state)
{
    unsigned kept;
    (void)state;
    assert_int_equal(mkdir("r", 0700), 0);
    assert_int_equal(mkdir("r/evidence", 0700), 0);
    touch("r/result.json");
    touch("r/result.json.part");
    touch("r/ledger");
    touch("r/evidence/00001-bit_flip-a.mdx-7.txt");
    touch("r/evidence/00001-bit_flip-a.mdx-7.bin");
    assert_int_equal(result_dir_remove("r", &kept), 0);
    assert_int_equal(kept, 0);
    assert_false(exists("r"));
}

static void logs_alone_are_a_run_that_had_no_ledger_yet(void **state)
{
    (void)state;
    assert_int_equal(mkdir("r", 0700), 0);
    assert_true(result_dir_is_begun("r"));
    touch("r/sqliosim.log.xml");
    touch("r/ErrorLog.xslt");
    touch("r/series.csv");
    assert_true(result_dir_is_begun("r"));
    touch("r/result.json");
    assert_false(result_dir_is_begun("r"));
    assert_int_equal(unlink("r/result.json"), 0);
    touch("r/notes.txt");
    assert_false(result_dir_is_begun("r"));
    assert_false(result_dir_is_begun("not-there"));
}

static void strangers_stay_and_are_counted(void **state)
{
    static const char *const strangers[] = {"r/result.json.bak", "r/Ledger", "r/evidence/1-a.txt",
                                            "r/evidence/00001-a.png"};
    unsigned kept;
    (void)state;
    assert_int_equal(mkdir("r", 0700), 0);
    assert_int_equal(mkdir("r/evidence", 0700), 0);
    touch("r/ledger");
    for (size_t i = 0; i < 4; i++)
        touch(strangers[i]);
    assert_int_equal(result_dir_remove("r", &kept), 0);
    assert_int_equal(kept, 4);
    assert_false(exists("r/ledger"));
    for (size_t i = 0; i < 4; i++)
        assert_true(exists(strangers[i]));
}

static void a_symbolic_link_with_our_name_is_a_stranger(void **state)
{
    unsigned kept;
    (void)state;
    touch("precious");
    assert_int_equal(mkdir("r", 0700), 0);
    assert_int_equal(symlink("../precious", "r/ledger"), 0);
    assert_int_equal(result_dir_remove("r", &kept), 0);
    assert_int_equal(kept, 1);
    assert_true(exists("precious"));
    assert_true(exists("r/ledger"));
}

#define PLACED(test) cmocka_unit_test_setup_teardown(test, enter, leave)

int main(void)
{
    const struct CMUnitTest tests[] = {
        PLACED(the_default_name_is_the_utc_time),
        PLACED(a_taken_name_gets_2_and_3),
        PLACED(on_a_device_under_test_it_moves_to_another_and_says_so),
        PLACED(without_another_device_it_stays_and_says_so),
        PLACED(a_wanted_folder_may_exist_empty),
        PLACED(a_wanted_folder_with_something_in_it_is_refused),
        PLACED(a_wanted_folder_that_is_a_file_is_refused),
        PLACED(a_check_creates_nothing),
        PLACED(a_check_refuses_what_creating_would),
        PLACED(a_file_under_test_may_not_have_a_name_of_ours_in_the_folder),
        PLACED(known_files_are_removed_and_then_the_folder),
        PLACED(logs_alone_are_a_run_that_had_no_ledger_yet),
        PLACED(strangers_stay_and_are_counted),
        PLACED(a_symbolic_link_with_our_name_is_a_stranger),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
