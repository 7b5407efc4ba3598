/* test_device_users.c - who has files on a device, by processes put together by hand: a link of
 * proc/PID/fd leads to a real file, whose device number stands in a fake sysfs. */
#include "fake_root.h"

#include "sim/clock.h"
#include "sim/device_users.h"

struct world {
    struct fake_root *root;
    struct device_place place;
    struct device_users users;
};

static struct world world_make(void **state)
{
    struct world w = {.root = *state};
    struct stat st;
    assert_int_equal(stat(w.root->path, &st), 0);
    fake_device(w.root, "pci0/block/vda", major(st.st_dev), minor(st.st_dev));
    w.place.file_system = st.st_dev;
    device_chain_look(&w.place.chain, w.root->sysfs, st.st_dev);
    assert_int_equal(w.place.chain.count, 1);
    return w;
}

static void process(const struct world *w, int pid, const char *name)
{
    char text[256];
    snprintf(text, sizeof text, "proc/%d/comm", pid);
    fake_put(w->root, text, name);
    snprintf(text, sizeof text, "mkdir -p proc/%d/fd", pid);
    fake_do(w->root, text);
}

static void open_file(const struct world *w, int pid, int fd, const char *target)
{
    char text[512];
    snprintf(text, sizeof text, "ln -s %s proc/%d/fd/%d", target, pid, fd);
    fake_do(w->root, text);
}

static void own_file(const struct world *w, int pid, int fd, const char *name)
{
    char target[256];
    fake_put(w->root, name, "x");
    snprintf(target, sizeof target, "%s/%s", w->root->path, name);
    open_file(w, pid, fd, target);
}

static void look(struct world *w)
{
    device_users_look(&w->users, w->root->proc, w->root->sysfs, &w->place, 1);
}

static void a_sql_server_is_found_by_its_files(void **state)
{
    struct world w = world_make(state);
    process(&w, 17, "sqlservr\n");
    open_file(&w, 17, 0, "/dev/null");
    own_file(&w, 17, 5, "errorlog");
    own_file(&w, 17, 6, "Sales.MDF");
    own_file(&w, 17, 7, "Sales_log.ldf");
    look(&w);
    assert_int_equal(w.users.count, 1);
    const struct device_user *user = device_users_find(&w.users, DEVICE_USER_SQL_SERVER);
    assert_non_null(user);
    assert_int_equal(user->pid, 17);
    assert_string_equal(user->program, "sqlservr");
    assert_int_equal(user->files, 3);
    assert_non_null(strstr(user->file, "ales")); /* one of the database's, not the error log */
}

static void standard_streams_are_no_use(void **state)
{
    struct world w = world_make(state);
    process(&w, 17, "sqlservr\n");
    own_file(&w, 17, 1, "stdout.log");
    own_file(&w, 17, 2, "stderr.log");
    look(&w);
    assert_int_equal(w.users.count, 0);
    own_file(&w, 17, 12, "x");
    look(&w);
    assert_int_equal(w.users.count, 1);
}

/* /dev/shm is another file system and has no device. */
static void files_elsewhere_are_nobodys_business(void **state)
{
    struct world w = world_make(state);
    struct stat st;
    if (stat("/dev/shm", &st) != 0 || st.st_dev == w.place.file_system) {
        print_message("SKIP: /dev/shm is no file system of its own\n");
        skip();
    }
    char text[128], path[] = "/dev/shm/pagestorm-users-XXXXXX.mdf";
    int fd = mkstemps(path, 4);
    assert_true(fd >= 0);
    process(&w, 17, "sqlservr\n");
    open_file(&w, 17, 5, path);
    look(&w);
    close(fd);
    unlink(path);
    assert_int_equal(w.users.count, 0);
    snprintf(text, sizeof text, "rm proc/17/fd/5");
    fake_do(w.root, text);
}

static void another_file_system_of_the_same_disk_counts(void **state)
{
    struct world w = world_make(state);
    process(&w, 17, "sqlservr\n");
    own_file(&w, 17, 5, "a.mdf");
    /* The path under test is on another partition of the disk that the file's system is on. */
    fake_device(w.root, "pci0/block/vda/vda9", 200, 9);
    fake_put(w.root, "sys/devices/pci0/block/vda/vda9/partition", "9\n");
    w.place.file_system = makedev(200, 9);
    device_chain_look(&w.place.chain, w.root->sysfs, w.place.file_system);
    assert_int_equal(w.place.chain.count, 2);
    look(&w);
    assert_int_equal(w.users.count, 1);
}

static void anybody_with_database_files_counts_and_a_program_that_lies_there_does_not(void **state)
{
    struct world w = world_make(state);
    process(&w, 30, "bash\n");
    own_file(&w, 30, 3, "history");
    process(&w, 31, "restore.sh\n");
    own_file(&w, 31, 3, "copy.ndf");
    process(&w, 32, "postgres\n");
    own_file(&w, 32, 3, "base");
    process(&w, 33, "pagestorm\n");
    own_file(&w, 33, 3, "sqliosim.mdx");
    process(&w, 34, "mysqld\n"); /* runs, and has nothing here */
    open_file(&w, 34, 3, "/proc/self/stat");
    look(&w);
    assert_int_equal(w.users.count, 3);
    assert_int_equal(w.users.list[0].kind, DEVICE_USER_DATABASE_FILES); /* worst first */
    assert_int_equal(w.users.list[0].pid, 31);
    assert_int_equal(w.users.list[1].kind, DEVICE_USER_PAGESTORM);
    assert_int_equal(w.users.list[2].kind, DEVICE_USER_DATABASE);
    assert_null(device_users_find(&w.users, DEVICE_USER_SQL_SERVER));
}

/* Without a right to look nothing is claimed, but that it was not looked at is said. */
static void what_may_not_be_seen_is_counted(void **state)
{
    struct world w = world_make(state);
    process(&w, 40, "sqlservr\n");
    process(&w, 41, "init\n");
    process(&w, 42, "gone\n");
    /* a file in place of the folder fails like a right that lacks */
    fake_do(w.root, "rmdir proc/40/fd proc/41/fd proc/42/fd && touch proc/40/fd proc/41/fd");
    look(&w);
    assert_int_equal(w.users.count, 0);
    assert_int_equal(w.users.unseen, 2);
    assert_int_equal(w.users.unseen_sql_server, 40);
}

static void without_proc_nobody_is_seen(void **state)
{
    struct world w = world_make(state);
    device_users_look(&w.users, "/nonexistent", w.root->sysfs, &w.place, 1);
    assert_int_equal(w.users.count, 0);
    assert_int_equal(w.users.unseen, 0);
}

static void the_worst_stay_when_there_are_too_many(void **state)
{
    struct world w = world_make(state);
    for (int pid = 100; pid < 100 + DEVICE_USERS_MAX + 3; pid++) {
        char name[32];
        process(&w, pid, "fio\n");
        snprintf(name, sizeof name, "f%d", pid);
        own_file(&w, pid, 3, name);
    }
    process(&w, 999, "sqlservr\n");
    own_file(&w, 999, 3, "x.mdf");
    look(&w);
    assert_int_equal(w.users.count, DEVICE_USERS_MAX);
    assert_int_equal(w.users.more, 4);
    assert_int_equal(w.users.list[0].kind, DEVICE_USER_SQL_SERVER);
}

/* 300 ms busy of 3 s: 10 %; 6 MiB and 3 MiB in 3 s */
static void busy_is_time_with_a_request_under_way(void **state)
{
    (void)state;
    struct drive_level start = {.has_counters = true}, now = {.has_counters = true};
    now.counters.busy_ms = 300;
    now.counters.bytes_read = 6 << 20;
    now.counters.bytes_written = 3 << 20;
    struct device_busy busy = device_busy_between(&start, &now, 3 * NS_PER_S);
    assert_true(busy.known);
    assert_int_equal(busy.percent, 10);
    assert_true(busy.read_mb_per_s > 1.99 && busy.read_mb_per_s < 2.01);
    assert_true(busy.write_mb_per_s > 0.99 && busy.write_mb_per_s < 1.01);
    assert_false(device_busy_between(&now, &start, NS_PER_S).known); /* another device */
    assert_false(device_busy_between(&start, &now, 0).known);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        IN_FAKE_ROOT(a_sql_server_is_found_by_its_files),
        IN_FAKE_ROOT(standard_streams_are_no_use),
        IN_FAKE_ROOT(files_elsewhere_are_nobodys_business),
        IN_FAKE_ROOT(another_file_system_of_the_same_disk_counts),
        IN_FAKE_ROOT(anybody_with_database_files_counts_and_a_program_that_lies_there_does_not),
        IN_FAKE_ROOT(what_may_not_be_seen_is_counted),
        IN_FAKE_ROOT(without_proc_nobody_is_seen),
        IN_FAKE_ROOT(the_worst_stay_when_there_are_too_many),
        cmocka_unit_test(busy_is_time_with_a_request_under_way),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
