/* test_device_look.c - what the look before the load allows and says. */
#include "fake_root.h"

#include "sim/device_look.h"

static struct device_before volume;
static struct device_look look = {.volumes = &volume, .volume_count = 1};

static void set_user(unsigned i, enum device_user_kind kind, const char *program)
{
    look.users.list[i] = (struct device_user){.kind = kind, .pid = 42, .files = 2};
    snprintf(look.users.list[i].program, sizeof look.users.list[i].program, "%s", program);
    snprintf(look.users.list[i].file, sizeof look.users.list[i].file, "/data/x.mdf");
    look.users.count = i + 1;
}

static int begin(void **state)
{
    (void)state;
    memset(&look.users, 0, sizeof look.users);
    memset(&volume, 0, sizeof volume);
    snprintf(volume.volume.mount_point, sizeof volume.volume.mount_point, "/data");
    return 0;
}

static void an_idle_device_gives_no_note(void **state)
{
    char notes[4][PLAN_NOTE_MAX], message[PLAN_MESSAGE_MAX];
    (void)state;
    assert_int_equal(device_look_notes(&look, notes, 4), 0);
    volume.busy = (struct device_busy){true, DEVICE_BUSY_PERCENT, 1, 1};
    assert_int_equal(device_look_notes(&look, notes, 4), 0);
    assert_true(device_look_allows(&look, message));
}

static void a_sql_server_stops_the_run(void **state)
{
    char message[PLAN_MESSAGE_MAX];
    (void)state;
    set_user(0, DEVICE_USER_SQL_SERVER, "sqlservr");
    assert_false(device_look_allows(&look, message));
    assert_non_null(strstr(message, "pid 42"));
    assert_non_null(strstr(message, "/data/x.mdf"));
    assert_non_null(strstr(message, "--beside-others"));
}

static void all_others_are_notes(void **state)
{
    char notes[4][PLAN_NOTE_MAX], message[PLAN_MESSAGE_MAX];
    (void)state;
    set_user(0, DEVICE_USER_DATABASE_FILES, "restore");
    set_user(1, DEVICE_USER_DATABASE, "postgres");
    volume.busy = (struct device_busy){true, 30, 12.5, 0};
    assert_true(device_look_allows(&look, message));
    assert_int_equal(device_look_notes(&look, notes, 4), 3);
    assert_non_null(strstr(notes[0], "restore"));
    assert_non_null(strstr(notes[1], "postgres"));
    assert_non_null(strstr(notes[2], "30 % busy"));
    assert_non_null(strstr(notes[2], "/data"));
    assert_int_equal(device_look_notes(&look, notes, 2), 2); /* never more than there is room */
}

/* A container or an ordinary user sees nothing: that is no reason to refuse. */
static void what_may_not_be_seen_does_not_stop_a_run(void **state)
{
    char notes[4][PLAN_NOTE_MAX], message[PLAN_MESSAGE_MAX];
    (void)state;
    look.users.unseen = 200;
    assert_true(device_look_allows(&look, message));
    assert_int_equal(device_look_notes(&look, notes, 4), 0);
    look.users.unseen_sql_server = 4711;
    assert_true(device_look_allows(&look, message));
    assert_int_equal(device_look_notes(&look, notes, 4), 1);
    assert_non_null(strstr(notes[0], "4711"));
}

/* Two paths of one file system are one volume. */
static void each_file_system_is_looked_at_once(void **state)
{
    struct fake_root *root = *state;
    static struct device_look real;
    struct device_roots roots = {root->proc, root->sysfs};
    const char *paths[] = {root->path, root->path, "/nonexistent/anywhere"};
    assert_int_equal(device_look(&real, &roots, paths, 3), 0);
    assert_int_equal(real.volume_count, 1);
    assert_int_equal(real.users.count, 0);
    assert_false(real.volumes[0].busy.known); /* no disk in this tree */
    device_look_free(&real);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup(an_idle_device_gives_no_note, begin),
        cmocka_unit_test_setup(a_sql_server_stops_the_run, begin),
        cmocka_unit_test_setup(all_others_are_notes, begin),
        cmocka_unit_test_setup(what_may_not_be_seen_does_not_stop_a_run, begin),
        IN_FAKE_ROOT(each_file_system_is_looked_at_once),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
