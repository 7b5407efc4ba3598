/*
 * test_full_disk.c - real file systems that are full, or fill up under a run.
 *
 * A tmpfs of 40 MiB is mounted for each case, in a mount namespace of this process, so that it is
 * gone with it whatever happens; without root the cases are skipped.  Files of a run
 * are allocated in full, so that only a thin file system can fill up later: here the space is taken
 * away again by punching holes into the files while they hold nothing but zeros, and by a file of
 * somebody else that takes what became free.  (A thin volume or a snapshot does the same.)
 */
#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <sys/statvfs.h>

#include "tests/fault/outcome.h"

#define MIB          (1024ull * 1024)
#define FULL_OPTIONS "size=40m"
#define WHAT_MAX     128

struct mounted {
    char path[64];
};

static int mount_begin(void **state)
{
    struct mounted *m = calloc(1, sizeof *m);
    if (!m)
        return -1;
    snprintf(m->path, sizeof m->path, "/tmp/pagestorm-full-XXXXXX");
    if (!mkdtemp(m->path))
        return -1;
    *state = m;
    if (unshare(CLONE_NEWNS) == 0 && mount(NULL, "/", NULL, MS_REC | MS_PRIVATE, NULL) == 0 &&
        mount("tmpfs", m->path, "tmpfs", 0, FULL_OPTIONS) == 0)
        return 0;
    printf("SKIP: a tmpfs cannot be mounted here (%s); it needs root\n", strerror(errno));
    rmdir(m->path);
    m->path[0] = '\0';
    return 0;
}

static int mount_end(void **state)
{
    struct mounted *m = *state;
    if (m->path[0]) {
        umount2(m->path, MNT_DETACH);
        rmdir(m->path);
    }
    free(m);
    return 0;
}

static const char *place(void **state)
{
    struct mounted *m = *state;
    if (!m->path[0])
        skip();
    return m->path;
}

static struct sim_options options_make(const char *directory)
{
    return (struct sim_options){
        .duration_ns = 300 * NS_PER_MS,
        .data_bytes = 16 * MIB,
        .log_bytes = 4 * MIB,
        .pool_bytes = 2 * MIB,
        .workers = 2,
        .directory = directory,
        .settings = {{"CONFIG", "StopOnError", "TRUE"},
                     {"RandomUser", "UserCount", "4"},
                     {"RandomUser", "MaxIOChainLength", "16"},
                     {"RandomUser", "MaxLogPerBuffer", "1024"},
                     {"AuditUser", "UserCount", "1"}},
    };
}

static uint64_t free_bytes(const char *path)
{
    struct statvfs fs;
    assert_int_equal(statvfs(path, &fs), 0);
    return (uint64_t)fs.f_bavail * fs.f_frsize;
}

/* ---- creation ---- */

static void creation_leaves_nothing(const char *directory, uint64_t data_bytes, uint64_t log_bytes)
{
    struct sim sim;
    struct outcome o;
    char what[WHAT_MAX];
    uint64_t before = free_bytes(directory);
    struct sim_options options = options_make(directory);
    options.data_bytes = data_bytes;
    options.log_bytes = log_bytes;
    snprintf(what, sizeof what, "data %llu, log %llu on 40 MiB", (unsigned long long)data_bytes,
             (unsigned long long)log_bytes);
    sim_begin(&sim, &options);
    sim_run(&sim);
    outcome_take(&sim, &o);
    OUTCOME_CHECK(&sim, what, !o.created);
    OUTCOME_CHECK(&sim, what, o.result == -ENOSPC);
    OUTCOME_CHECK(&sim, what, strstr(sim.run->message, "available") != NULL);
    outcome_judge_not_created(&sim, what, &o);
    sim_end(&sim);
    assert_int_equal(free_bytes(directory), before);
}

static void data_that_does_not_fit_leaves_nothing(void **state)
{
    creation_leaves_nothing(place(state), 64 * MIB, 4 * MIB);
}

static void log_that_does_not_fit_leaves_nothing(void **state)
{
    creation_leaves_nothing(place(state), 32 * MIB, 16 * MIB);
}

/* ---- a file system that fills up under a run ---- */

/* Takes the space of the files away when the first data page is written: between the creation and
 * the initial update, while both files hold nothing that matters but page 0 and the VLF headers. */
struct thief {
    char data_path[SIM_PATH_MAX], hog_path[SIM_PATH_MAX];
    uint64_t after_bytes; /* of the data file: below stays allocated */
    bool done;
};

static struct thief thief; /* lint: mutable: an engine has no context of a test */

/* An unlinked hog: it is gone with its descriptor, which the test closes at its end. */
static int hog_fd = -1; /* lint: mutable: as above */

static void space_take(void)
{
    struct stat st;
    int fd = open(thief.data_path, O_RDWR | O_CLOEXEC);
    assert_true(fd >= 0);
    assert_int_equal(fstat(fd, &st), 0);
    assert_int_equal(fallocate(fd, FALLOC_FL_PUNCH_HOLE | FALLOC_FL_KEEP_SIZE,
                               (off_t)thief.after_bytes, st.st_size - (off_t)thief.after_bytes),
                     0);
    close(fd);
    hog_fd = open(thief.hog_path, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
    assert_true(hog_fd >= 0);
    unlink(thief.hog_path);
    struct statvfs fs;
    assert_int_equal(fstatvfs(hog_fd, &fs), 0);
    assert_int_equal(fallocate(hog_fd, 0, 0, (off_t)(fs.f_bavail * fs.f_frsize)), 0);
}

static int thief_submit(struct io_engine *engine, struct io_req *req)
{
    if (!thief.done && req->op == IO_WRITE && req->stream == STREAM_prepare_write) {
        thief.done = true;
        space_take();
    }
    return engine_mem.submit(engine, req);
}

static int thief_create(struct io_engine **out, const struct io_engine_config *config);

static const struct io_engine_ops *thief_ops(void)
{
    static struct io_engine_ops ops; /* lint: mutable: engine_mem's table but for two entries */
    ops = engine_mem;
    ops.create = thief_create;
    ops.submit = thief_submit;
    return &ops;
}

static int thief_create(struct io_engine **out, const struct io_engine_config *config)
{
    int error = engine_mem.create(out, config);
    if (!error)
        (*out)->ops = thief_ops();
    return error;
}

static void fill_up(const char *directory, const char *stop_on_error, uint64_t after_bytes,
                    const char *write_through)
{
    struct sim sim;
    struct outcome o;
    char what[WHAT_MAX];
    snprintf(what, sizeof what, "StopOnError %s, WriteThrough %s, full after %llu", stop_on_error,
             write_through, (unsigned long long)after_bytes);
    struct sim_options options = options_make(directory);
    options.with_faults = true;
    options.settings[0].value = stop_on_error;
    options.settings[5] = (struct sim_setting){"CONFIG", "WriteThrough", write_through};
    sim_begin(&sim, &options);
    sim.faults->below = thief_ops();
    thief = (struct thief){.after_bytes = after_bytes};
    sim_path(&sim, "data1.mdx", thief.data_path);
    sim_path(&sim, "somebody-elses", thief.hog_path);
    alarm(OUTCOME_SECONDS_MAX);
    sim_run(&sim);
    alarm(0);
    outcome_take(&sim, &o);
    OUTCOME_CHECK(&sim, what, thief.done && o.created);
    OUTCOME_CHECK(&sim, what, o.by_verdict[VERDICT_no_space] > 0);
    OUTCOME_CHECK(&sim, what, outcome_finding(&sim, VERDICT_no_space, 1) != NULL);
    OUTCOME_CHECK(&sim, what, o.integrity == 0 && o.io_errors == o.by_verdict[VERDICT_no_space]);
    OUTCOME_CHECK(&sim, what, o.stop == RUN_STOP_ERROR && !o.audited);
    OUTCOME_CHECK(&sim, what, o.ledger.in_flight == 0);
    OUTCOME_CHECK(&sim, what, o.ledger.indeterminate + o.ledger.quarantined > 0);
    outcome_judge_files(&sim, what);
    sim_end(&sim);
    close(hog_fd);
}

static void full_disk_stops_the_run(void **state)
{
    const char *directory = place(state);
    fill_up(directory, "TRUE", 1 * MIB, "FALSE");
    fill_up(directory, "TRUE", 8 * MIB, "TRUE");
}

/* StopOnError=FALSE: pages that cannot be written are tried again at each checkpoint, until the
 * database stops for want of any that succeeds. */
static void full_disk_stops_the_database(void **state)
{
    const char *directory = place(state);
    fill_up(directory, "FALSE", 1 * MIB, "FALSE");
    fill_up(directory, "FALSE", 8 * MIB, "TRUE");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(data_that_does_not_fit_leaves_nothing, mount_begin,
                                        mount_end),
        cmocka_unit_test_setup_teardown(log_that_does_not_fit_leaves_nothing, mount_begin,
                                        mount_end),
        cmocka_unit_test_setup_teardown(full_disk_stops_the_run, mount_begin, mount_end),
        cmocka_unit_test_setup_teardown(full_disk_stops_the_database, mount_begin, mount_end),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
