/*
 * test_file.c - files: what is refused stays as it is, what is made is whole, nothing is left
 * behind.
 *
 * Works in a directory of its own below TMPDIR (or /tmp).
 */
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/ptrace.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <unistd.h>
#include <cmocka.h>

#include "sim/file.h"

#define PAGES 40u

struct place {
    char directory[256];
    char path[300];
    char message[FILE_MESSAGE_MAX];
};

static int set_up(void **state)
{
    struct place *place = calloc(1, sizeof(*place));
    const char *base = getenv("TMPDIR");
    snprintf(place->directory, sizeof(place->directory), "%s/pagestorm-file-XXXXXX",
             base ? base : "/tmp");
    if (mkdtemp(place->directory) == NULL)
        return -1;
    snprintf(place->path, sizeof(place->path), "%s/a.mdx", place->directory);
    *state = place;
    return 0;
}

static int tear_down(void **state)
{
    struct place *place = *state;
    DIR *directory = opendir(place->directory);
    struct dirent *entry;
    while (directory && (entry = readdir(directory)) != NULL)
        unlinkat(dirfd(directory), entry->d_name, 0);
    closedir(directory);
    rmdir(place->directory);
    free(place);
    return 0;
}

static unsigned entries(const char *path)
{
    unsigned count = 0;
    DIR *directory = opendir(path);
    struct dirent *entry;
    while ((entry = readdir(directory)) != NULL)
        count += entry->d_name[0] != '.';
    closedir(directory);
    return count;
}

static struct file_mark mark_of(enum file_kind kind)
{
    return (struct file_mark){.run_id = {1, 2, 3, 4},
                              .file_uid = 7,
                              .incarnation = 2,
                              .file_id = kind == FILE_KIND_LOG ? 2 : 1,
                              .database_id = 5,
                              .kind = kind,
                              .seed = 99};
}

static int create(struct place *place, struct file *file, const struct file_open *how)
{
    struct file_mark mark = mark_of(FILE_KIND_DATA);
    return file_create(file, how, &mark, PAGES, place->message);
}

static void create_and_close(struct place *place)
{
    struct file file;
    assert_int_equal(create(place, &file, &(struct file_open){.path = place->path}), 0);
    file_close(&file);
}

static void write_text(const char *path, const char *text)
{
    int fd = open(path, O_CREAT | O_TRUNC | O_WRONLY, 0600);
    assert_true(fd >= 0);
    assert_int_equal(write(fd, text, strlen(text)), strlen(text));
    close(fd);
}

/* The whole state of a path that a refusal must not change. */
struct fingerprint {
    struct stat st;
    uint64_t hash;
};

static struct fingerprint fingerprint(const char *path)
{
    struct fingerprint f = {.hash = 14695981039346656037u};
    assert_int_equal(lstat(path, &f.st), 0);
    if (!S_ISREG(f.st.st_mode))
        return f;
    FILE *stream = fopen(path, "rb");
    assert_non_null(stream);
    for (int c; (c = fgetc(stream)) != EOF;)
        f.hash = (f.hash ^ (uint64_t)c) * 1099511628211u;
    fclose(stream);
    return f;
}

static void assert_unchanged(const char *path, const struct fingerprint *before)
{
    struct fingerprint now = fingerprint(path);
    assert_int_equal(now.st.st_ino, before->st.st_ino);
    assert_int_equal(now.st.st_size, before->st.st_size);
    assert_int_equal(now.st.st_mode, before->st.st_mode);
    assert_int_equal(now.st.st_mtim.tv_sec, before->st.st_mtim.tv_sec);
    assert_int_equal(now.st.st_mtim.tv_nsec, before->st.st_mtim.tv_nsec);
    assert_true(now.hash == before->hash);
}

/* Everything that could harm a foreign file refuses it, names it, and leaves it alone. */
static void assert_refused(struct place *place)
{
    struct fingerprint before = fingerprint(place->path);
    struct file file;
    struct file_mark mark;
    assert_int_equal(file_probe(place->path, &mark, place->message), FILE_FOREIGN);
    assert_non_null(strstr(place->message, place->path));
    assert_true(create(place, &file, &(struct file_open){.path = place->path, .delete_own = true}) <
                0);
    assert_non_null(strstr(place->message, place->path));
    assert_true(file_open_own(&file, place->path, true, false, place->message) < 0);
    assert_true(file_delete_own(place->path, NULL, place->message) < 0);
    assert_unchanged(place->path, &before);
    assert_int_equal(entries(place->directory), 1);
}

/* ------------------------------------------------------------------------------------- foreign */

static void a_foreign_file_is_refused_and_unchanged(void **state)
{
    struct place *place = *state;
    write_text(place->path, "somebody's only copy\n");
    assert_refused(place);
}

static void an_empty_file_of_unknown_origin_is_foreign(void **state)
{
    struct place *place = *state;
    write_text(place->path, "");
    assert_refused(place);
}

static void a_large_file_of_zeros_is_foreign(void **state)
{
    struct place *place = *state;
    write_text(place->path, "");
    assert_int_equal(truncate(place->path, 1 << 20), 0);
    assert_refused(place);
}

static void a_directory_is_foreign(void **state)
{
    struct place *place = *state;
    assert_int_equal(mkdir(place->path, 0700), 0);
    assert_refused(place);
    assert_int_equal(rmdir(place->path), 0);
}

static void a_symbolic_link_is_refused_even_to_a_file_of_ours(void **state)
{
    struct place *place = *state;
    char target[300];
    snprintf(target, sizeof(target), "%s/.target.mdx", place->directory);
    struct file file;
    struct file_mark mark = mark_of(FILE_KIND_DATA);
    struct file_open how = {.path = target};
    assert_int_equal(file_create(&file, &how, &mark, PAGES, place->message), 0);
    file_close(&file);
    assert_int_equal(symlink(target, place->path), 0);
    struct fingerprint before = fingerprint(target);
    assert_refused(place);
    assert_unchanged(target, &before);
}

static void a_dangling_link_is_refused_and_its_target_not_created(void **state)
{
    struct place *place = *state;
    char target[300];
    snprintf(target, sizeof(target), "%s/.nowhere", place->directory);
    assert_int_equal(symlink(target, place->path), 0);
    assert_refused(place);
    assert_int_equal(access(target, F_OK), -1);
}

static void a_fifo_is_refused_without_blocking(void **state)
{
    struct place *place = *state;
    assert_int_equal(mkfifo(place->path, 0600), 0);
    assert_refused(place);
}

static void a_socket_is_refused(void **state)
{
    struct place *place = *state;
    struct sockaddr_un address = {.sun_family = AF_UNIX};
    if (strlen(place->path) >= sizeof(address.sun_path)) {
        print_message("skipped: TMPDIR is too long for a socket's name\n");
        skip();
    }
    memcpy(address.sun_path, place->path, strlen(place->path));
    int fd = socket(AF_UNIX, SOCK_STREAM, 0);
    assert_int_equal(bind(fd, (struct sockaddr *)&address, sizeof(address)), 0);
    assert_refused(place);
    close(fd);
}

static void a_device_is_refused(void **state)
{
    struct place *place = *state;
    struct file_mark mark;
    assert_int_equal(file_probe("/dev/null", &mark, place->message), FILE_FOREIGN);
    assert_non_null(strstr(place->message, "character device"));
}

static void an_unreadable_file_is_foreign(void **state)
{
    struct place *place = *state;
    if (geteuid() == 0) {
        print_message("skipped: root reads everything\n");
        skip();
    }
    create_and_close(place);
    assert_int_equal(chmod(place->path, 0), 0);
    struct file_mark mark;
    assert_int_equal(file_probe(place->path, &mark, place->message), FILE_FOREIGN);
    assert_int_equal(file_delete_own(place->path, NULL, place->message), -EACCES);
}

static void a_damaged_mark_is_not_ours(void **state)
{
    struct place *place = *state;
    create_and_close(place);
    int fd = open(place->path, O_WRONLY);
    assert_int_equal(pwrite(fd, "\xff\xff", 2, 300), 2);
    close(fd);
    assert_refused(place);
}

static void a_sql_server_database_is_foreign(void **state)
{
    struct place *place = *state;
    /* A sound file header page without our mark: built like ours, the mark's text overwritten, and
     * the page protected again. */
    create_and_close(place);
    _Alignas(8) unsigned char page[PAGE_BYTES];
    int fd = open(place->path, O_RDWR);
    assert_int_equal(pread(fd, page, PAGE_BYTES, 0), PAGE_BYTES);
    unsigned char *text = memmem(page, PAGE_BYTES, MARK_TEXT, strlen(MARK_TEXT));
    assert_non_null(text);
    memset(text, 'x', strlen(MARK_TEXT));
    syspage_seal(page, (struct lsn){0, 0, 0});
    assert_int_equal(pwrite(fd, page, PAGE_BYTES, 0), PAGE_BYTES);
    close(fd);
    assert_refused(place);
}

/* ------------------------------------------------------------------------------------ directories
 */

static void a_missing_directory_is_named_and_not_created(void **state)
{
    struct place *place = *state;
    struct file file;
    struct file_mark mark;
    char path[400];
    snprintf(path, sizeof(path), "%s/missing/a.mdx", place->directory);
    assert_int_equal(file_probe(path, &mark, place->message), FILE_DIRECTORY_BAD);
    assert_non_null(strstr(place->message, "missing"));
    assert_int_equal(create(place, &file, &(struct file_open){.path = path}), -ENOENT);
    assert_int_equal(entries(place->directory), 0);
}

static void a_read_only_directory_is_bad(void **state)
{
    struct place *place = *state;
    if (geteuid() == 0) {
        print_message("skipped: root writes everywhere\n");
        skip();
    }
    struct file_mark mark;
    assert_int_equal(chmod(place->directory, 0500), 0);
    assert_int_equal(file_probe(place->path, &mark, place->message), FILE_DIRECTORY_BAD);
    assert_int_equal(chmod(place->directory, 0700), 0);
}

static void a_file_in_the_way_of_a_directory_is_bad(void **state)
{
    struct place *place = *state;
    struct file_mark mark;
    write_text(place->path, "x");
    char path[400];
    snprintf(path, sizeof(path), "%s/b.mdx", place->path);
    assert_int_equal(file_probe(path, &mark, place->message), FILE_DIRECTORY_BAD);
}

static void an_absent_file_is_absent_and_stays_so(void **state)
{
    struct place *place = *state;
    struct file_mark mark;
    assert_int_equal(file_probe(place->path, &mark, place->message), FILE_ABSENT);
    assert_int_equal(entries(place->directory), 0);
}

/* --------------------------------------------------------------------------------------- creation
 */

static void a_created_file_is_ours_of_full_size_and_zero_behind_its_mark(void **state)
{
    struct place *place = *state;
    struct file file;
    assert_int_equal(create(place, &file, &(struct file_open){.path = place->path}), 0);
    struct stat st;
    assert_int_equal(stat(place->path, &st), 0);
    assert_int_equal(st.st_size, PAGES * PAGE_BYTES);
    assert_true((uint64_t)st.st_blocks * 512 >= PAGES * PAGE_BYTES); /* allocated, not sparse */
    assert_int_equal(file.target.size_bytes, PAGES * PAGE_BYTES);
    assert_int_equal(file.target.uid, 7);
    assert_int_equal(file.size_pages, PAGES);
    assert_int_equal(file.inode, st.st_ino);
    assert_int_equal(file.device, st.st_dev);
    assert_true(file.created_by_us);
    assert_int_equal(file.path[0], '/');
    unsigned char page[PAGE_BYTES];
    for (unsigned p = 1; p < PAGES; p++) {
        int fd = open(place->path, O_RDONLY);
        assert_int_equal(pread(fd, page, PAGE_BYTES, p * PAGE_BYTES), PAGE_BYTES);
        assert_true(page_is_zero(page, PAGE_BYTES));
        close(fd);
    }
    file_close(&file);
    assert_int_equal(entries(place->directory), 1);
}

static void the_mark_says_what_was_asked_for_and_the_sector_that_was_found(void **state)
{
    struct place *place = *state;
    struct file file;
    assert_int_equal(create(place, &file, &(struct file_open){.path = place->path}), 0);
    struct file_mark found;
    assert_int_equal(file_probe(place->path, &found, place->message), FILE_IN_USE);
    file_close(&file);
    assert_int_equal(file_probe(place->path, &found, place->message), FILE_OURS);
    struct file_mark asked = mark_of(FILE_KIND_DATA);
    assert_memory_equal(found.run_id, asked.run_id, RUN_ID_BYTES);
    assert_int_equal(found.file_uid, 7);
    assert_int_equal(found.incarnation, 2);
    assert_int_equal(found.size_pages, PAGES);
    assert_int_equal(found.seed, 99);
    assert_true(found.sector_bytes == 512 || found.sector_bytes == 4096);
}

static void stamped_files_are_written_not_just_allocated(void **state)
{
    struct place *place = *state;
    struct file file;
    assert_int_equal(create(place, &file, &(struct file_open){.path = place->path, .stamp = true}),
                     0);
    struct stat st;
    assert_int_equal(stat(place->path, &st), 0);
    assert_int_equal(st.st_size, PAGES * PAGE_BYTES);
    assert_true((uint64_t)st.st_blocks * 512 >= PAGES * PAGE_BYTES);
    unsigned char page[PAGE_BYTES];
    for (unsigned p = 1; p < PAGES; p++) {
        int fd = open(place->path, O_RDONLY);
        assert_int_equal(pread(fd, page, PAGE_BYTES, p * PAGE_BYTES), PAGE_BYTES);
        assert_true(page_is_zero(page, PAGE_BYTES));
        close(fd);
    }
    file_close(&file);
}

static void the_descriptor_has_the_flags_that_were_asked_for(void **state)
{
    struct place *place = *state;
    for (unsigned i = 0; i < 4; i++) {
        struct file file;
        struct file_open how = {
            .path = place->path, .direct = i & 1, .dsync = i & 2, .delete_own = true};
        assert_int_equal(create(place, &file, &how), 0);
        int flags = fcntl(file.target.fd, F_GETFL);
        assert_int_equal(!!(flags & O_DSYNC), how.dsync);
        assert_int_equal(file.target.dsync, how.dsync);
        assert_int_equal(!!(flags & O_DIRECT), file.direct);
        if (how.direct && !file.direct) /* then the start echo must be able to say so */
            assert_non_null(strstr(place->message, "O_DIRECT"));
        else
            assert_int_equal(file.direct, how.direct);
        assert_false(flags & O_NONBLOCK);
        assert_true(fcntl(file.target.fd, F_GETFD) & FD_CLOEXEC);
        file_close(&file);
    }
}

static void the_alignment_that_was_found_is_enough_for_direct_io(void **state)
{
    struct place *place = *state;
    struct file file;
    assert_int_equal(create(place, &file, &(struct file_open){.path = place->path, .direct = true}),
                     0);
    if (!file.direct) {
        print_message("skipped: %s\n", place->message);
        file_close(&file);
        skip();
    }
    assert_true(file.target.align_bytes == 512 || file.target.align_bytes == 4096);
    size_t align = file.target.memory_align_bytes;
    unsigned char *memory = aligned_alloc(2 * align, 2 * align + 4096);
    ssize_t n = file.target.align_bytes;
    /* Aligned to exactly what was found, and to no more. */
    assert_int_equal(pread(file.target.fd, memory + align, (size_t)n, n), n);
    assert_int_equal(pwrite(file.target.fd, memory + align, (size_t)n, PAGE_BYTES + n), n);
    free(memory);
    file_close(&file);
}

static void a_forced_sector_size_is_stored_and_used(void **state)
{
    struct place *place = *state;
    struct file file;
    struct file_mark mark = mark_of(FILE_KIND_LOG);
    struct file_open how = {.path = place->path, .forced_sector_bytes = 4096};
    assert_int_equal(file_create(&file, &how, &mark, PAGES, place->message), 0);
    assert_int_equal(mark.sector_bytes, 4096);
    assert_int_equal(file.mark.sector_bytes, 4096);
    assert_int_equal(file.target.align_bytes, 4096);
    assert_true(file.target.is_log);
    file_close(&file);
    assert_int_equal(file_open_own(&file, place->path, true, false, place->message), 0);
    assert_int_equal(file.target.align_bytes, 4096);
    file_close(&file);
}

static void a_sector_size_that_sql_server_does_not_know_is_refused(void **state)
{
    struct place *place = *state;
    struct file file;
    struct file_open how = {.path = place->path, .forced_sector_bytes = 1024};
    assert_int_equal(create(place, &file, &how), -EINVAL);
    assert_non_null(strstr(place->message, "1024"));
    assert_int_equal(entries(place->directory), 0);
}

static void a_file_of_0_pages_is_refused(void **state)
{
    struct place *place = *state;
    struct file file;
    struct file_mark mark = mark_of(FILE_KIND_DATA);
    struct file_open how = {.path = place->path};
    assert_int_equal(file_create(&file, &how, &mark, 0, place->message), -EINVAL);
    assert_int_equal(entries(place->directory), 0);
}

static void our_own_file_is_kept_unless_told_otherwise(void **state)
{
    struct place *place = *state;
    create_and_close(place);
    struct fingerprint before = fingerprint(place->path);
    struct file file;
    assert_int_equal(create(place, &file, &(struct file_open){.path = place->path}), -EEXIST);
    assert_non_null(strstr(place->message, "DeleteFilesAtStartup"));
    assert_unchanged(place->path, &before);
}

static void our_own_file_is_replaced_when_told_so(void **state)
{
    struct place *place = *state;
    create_and_close(place);
    int fd = open(place->path, O_WRONLY);
    assert_int_equal(pwrite(fd, "old", 3, 5 * PAGE_BYTES), 3);
    close(fd);
    struct file file;
    assert_int_equal(
        create(place, &file, &(struct file_open){.path = place->path, .delete_own = true}), 0);
    unsigned char page[PAGE_BYTES];
    fd = open(place->path, O_RDONLY);
    assert_int_equal(pread(fd, page, PAGE_BYTES, 5 * PAGE_BYTES), PAGE_BYTES);
    assert_true(page_is_zero(page, PAGE_BYTES));
    close(fd);
    file_close(&file);
}

static void a_relative_name_becomes_absolute(void **state)
{
    struct place *place = *state;
    char before[PATH_MAX];
    assert_non_null(getcwd(before, sizeof(before)));
    assert_int_equal(chdir(place->directory), 0);
    struct file file;
    int r = create(place, &file, &(struct file_open){.path = "a.mdx"});
    assert_int_equal(chdir(before), 0);
    assert_int_equal(r, 0);
    char *real = realpath(place->path, NULL);
    assert_string_equal(file.path, real);
    free(real);
    file_close(&file);
}

static void a_name_that_is_a_directory_is_refused(void **state)
{
    struct place *place = *state;
    struct file file;
    char path[300];
    snprintf(path, sizeof(path), "%s/", place->directory);
    assert_int_equal(create(place, &file, &(struct file_open){.path = path}), -EISDIR);
}

/* ----------------------------------------------------------------------------- no space, no trace
 */

static void a_limit_on_file_size_leaves_nothing_behind(void **state)
{
    struct place *place = *state;
    for (unsigned stamp = 0; stamp < 2; stamp++) {
        struct rlimit before, small;
        assert_int_equal(getrlimit(RLIMIT_FSIZE, &before), 0);
        small = before;
        small.rlim_cur = 10 * PAGE_BYTES;
        void (*old)(int) = signal(SIGXFSZ, SIG_IGN);
        assert_int_equal(setrlimit(RLIMIT_FSIZE, &small), 0);
        struct file file;
        int r = create(place, &file, &(struct file_open){.path = place->path, .stamp = stamp});
        assert_int_equal(setrlimit(RLIMIT_FSIZE, &before), 0);
        signal(SIGXFSZ, old);
        assert_true(r == -EFBIG || r == -ENOSPC); /* the write before the limit is cut short */
        assert_int_equal(entries(place->directory), 0);
        assert_non_null(strstr(place->message, place->path));
        assert_non_null(strstr(place->message, "327680")); /* 40 pages needed */
    }
}

static void a_full_file_system_is_enospc_with_the_sums_and_leaves_nothing(void **state)
{
    struct place *place = *state;
    char mount_point[300];
    snprintf(mount_point, sizeof(mount_point), "%s/fs", place->directory);
    assert_int_equal(mkdir(mount_point, 0700), 0);
    if (mount("pagestorm", mount_point, "tmpfs", 0, "size=131072") < 0) {
        print_message("skipped: cannot mount a small file system (%s)\n", strerror(errno));
        rmdir(mount_point);
        skip();
    }
    int results[2];
    unsigned left[2];
    char messages[2][FILE_MESSAGE_MAX];
    for (unsigned stamp = 0; stamp < 2; stamp++) {
        char path[400];
        struct file file;
        snprintf(path, sizeof(path), "%s/a.mdx", mount_point);
        results[stamp] = create(place, &file, &(struct file_open){.path = path, .stamp = stamp});
        memcpy(messages[stamp], place->message, FILE_MESSAGE_MAX);
        left[stamp] = entries(mount_point);
    }
    umount(mount_point);
    rmdir(mount_point);
    for (unsigned stamp = 0; stamp < 2; stamp++) {
        assert_int_equal(results[stamp], -ENOSPC);
        assert_int_equal(left[stamp], 0);
        assert_non_null(strstr(messages[stamp], "327680")); /* 40 pages needed */
        assert_non_null(strstr(messages[stamp], "available"));
    }
}

/* Runs create in a child that has no /proc, so that a file cannot be built without a name; its
 * result as an exit status. */
static int create_without_proc(struct place *place, rlim_t size_limit)
{
    fflush(NULL);
    pid_t pid = fork();
    assert_true(pid >= 0);
    if (pid == 0) {
        struct file file;
        struct file_open how = {.path = place->path, .dsync = true};
        struct rlimit limit = {size_limit, size_limit};
        signal(SIGXFSZ, SIG_IGN);
        if (unshare(CLONE_NEWNS) < 0 || mount("none", "/", NULL, MS_REC | MS_PRIVATE, NULL) < 0 ||
            mount("none", "/proc", "tmpfs", 0, NULL) < 0 || setrlimit(RLIMIT_FSIZE, &limit) < 0)
            _exit(255);
        _exit(-create(place, &file, &how));
    }
    int status;
    assert_int_equal(waitpid(pid, &status, 0), pid);
    assert_true(WIFEXITED(status));
    if (WEXITSTATUS(status) == 255) {
        print_message("skipped: needs root and a mount namespace\n");
        skip();
    }
    return WEXITSTATUS(status);
}

static void without_unnamed_files_the_result_is_the_same(void **state)
{
    struct place *place = *state;
    assert_int_equal(create_without_proc(place, RLIM_INFINITY), 0);
    struct file file;
    assert_int_equal(file_open_own(&file, place->path, true, false, place->message), 0);
    assert_int_equal(file.size_pages, PAGES);
    assert_int_equal(file.mark.size_pages, PAGES);
    file_close(&file);
}

static void without_unnamed_files_an_error_leaves_nothing_either(void **state)
{
    struct place *place = *state;
    int error = create_without_proc(place, 10 * PAGE_BYTES);
    assert_true(error == EFBIG || error == ENOSPC);
    assert_int_equal(entries(place->directory), 0);
}

/* The child creates a file and is killed when it enters or leaves its k-th system call.  False when
 * it came to its end before that; skips where a process may not be traced. */
static bool create_and_kill_at(struct place *place, unsigned k)
{
    fflush(NULL);
    pid_t pid = fork();
    assert_true(pid >= 0);
    if (pid == 0) {
        struct file file;
        struct file_open how = {.path = place->path, .stamp = true};
        if (ptrace(PTRACE_TRACEME, 0, NULL, NULL) < 0)
            _exit(77);
        raise(SIGSTOP);
        _exit(create(place, &file, &how) == 0 ? 0 : 1);
    }
    int status;
    assert_int_equal(waitpid(pid, &status, 0), pid);
    if (WIFEXITED(status) && WEXITSTATUS(status) == 77) {
        print_message("skipped: this process may not trace its child\n");
        skip();
    }
    for (unsigned stops = 0; stops < k && WIFSTOPPED(status); stops++) {
        assert_int_equal(ptrace(PTRACE_SYSCALL, pid, NULL, NULL), 0);
        assert_int_equal(waitpid(pid, &status, 0), pid);
    }
    if (WIFSTOPPED(status)) {
        kill(pid, SIGKILL);
        waitpid(pid, NULL, 0);
        return true;
    }
    assert_true(WIFEXITED(status) && WEXITSTATUS(status) == 0);
    return false;
}

/* At each of its system calls: what stands there is a whole file of ours, or nothing at all. */
static void a_kill_at_any_moment_of_creation_leaves_nothing_foreign(void **state)
{
    struct place *place = *state;
    unsigned kills = 0, absent = 0, whole = 0;
    for (; create_and_kill_at(place, kills + 1); kills++) {
        struct file file;
        struct file_mark mark;
        enum file_owner owner = file_probe(place->path, &mark, place->message);
        if (owner == FILE_ABSENT) {
            absent++;
            assert_int_equal(entries(place->directory), 0);
            continue;
        }
        if (owner != FILE_OURS)
            fail_msg("kill %u: %s", kills, place->message);
        whole++;
        assert_int_equal(entries(place->directory), 1);
        assert_int_equal(file_open_own(&file, place->path, true, false, place->message), 0);
        assert_int_equal(file.size_pages, PAGES);
        file_close(&file);
        assert_int_equal(file_delete_own(place->path, NULL, place->message), 0);
    }
    print_message("%u kills: %u left nothing, %u a whole file\n", kills, absent, whole);
    assert_true(absent > 0 && whole > 0);
}

/* --------------------------------------------------------------------------------- locks and
 * opening */

static void a_locked_file_is_in_use_for_everybody_else(void **state)
{
    struct place *place = *state;
    struct file file, second;
    struct file_mark mark;
    assert_int_equal(create(place, &file, &(struct file_open){.path = place->path}), 0);
    assert_int_equal(file_probe(place->path, &mark, place->message), FILE_IN_USE);
    assert_int_equal(file_open_own(&second, place->path, true, false, place->message), -EBUSY);
    assert_int_equal(file_open_own(&second, place->path, false, false, place->message), -EBUSY);
    assert_int_equal(file_delete_own(place->path, NULL, place->message), -EBUSY);
    assert_int_equal(
        create(place, &second, &(struct file_open){.path = place->path, .delete_own = true}),
        -EBUSY);
    assert_int_equal(entries(place->directory), 1);
    file_close(&file);
    assert_int_equal(file_probe(place->path, &mark, place->message), FILE_OURS);
}

/* As the kernel does with the files of a killed run that used io_uring. */
static void a_lock_that_goes_away_at_once_is_waited_for(void **state)
{
    struct place *place = *state;
    struct file file;
    struct file_mark mark;
    for (int probes = 0; probes < 2; probes++) {
        int ready[2];
        char byte;
        assert_int_equal(
            create(place, &file, &(struct file_open){.path = place->path, .delete_own = true}), 0);
        assert_int_equal(pipe(ready), 0);
        pid_t child = fork(); /* shares the locked description */
        if (child == 0) {
            (void)!write(ready[1], "", 1);
            usleep(100000);
            _exit(0);
        }
        assert_int_equal(read(ready[0], &byte, 1), 1);
        assert_int_equal(close(file.target.fd), 0); /* file_close() would take the lock away */
        file.target.fd = -1;
        file_close(&file);
        if (probes)
            assert_int_equal(file_probe(place->path, &mark, place->message), FILE_OURS);
        else
            assert_int_equal(file_open_own(&file, place->path, true, false, place->message), 0);
        if (!probes)
            file_close(&file);
        assert_int_equal(waitpid(child, NULL, 0), child);
        close(ready[0]);
        close(ready[1]);
    }
}

static void readers_share_and_exclude_writers(void **state)
{
    struct place *place = *state;
    create_and_close(place);
    struct file a, b, c;
    assert_int_equal(file_open_own(&a, place->path, false, false, place->message), 0);
    assert_int_equal(file_open_own(&b, place->path, false, true, place->message), 0);
    assert_int_equal(file_open_own(&c, place->path, true, false, place->message), -EBUSY);
    file_close(&a);
    file_close(&b);
    assert_int_equal(file_open_own(&c, place->path, true, false, place->message), 0);
    file_close(&c);
}

static void an_opened_file_knows_mark_and_present_size(void **state)
{
    struct place *place = *state;
    create_and_close(place);
    assert_int_equal(truncate(place->path, 30 * PAGE_BYTES), 0);
    struct file file;
    assert_int_equal(file_open_own(&file, place->path, true, true, place->message), 0);
    assert_int_equal(file.mark.size_pages, PAGES);
    assert_int_equal(file.size_pages, 30);
    assert_int_equal(file.target.size_bytes, 30 * PAGE_BYTES);
    assert_int_equal(file.target.uid, 7);
    assert_false(fcntl(file.target.fd, F_GETFL) & O_NONBLOCK);
    file_close(&file);
}

static void opening_what_does_not_exist_is_enoent(void **state)
{
    struct place *place = *state;
    struct file file;
    assert_int_equal(file_open_own(&file, place->path, true, false, place->message), -ENOENT);
    assert_non_null(strstr(place->message, place->path));
    assert_int_equal(entries(place->directory), 0);
}

static void closing_a_zeroed_file_is_fine_and_keeps_descriptor_0(void **state)
{
    (void)state;
    struct file file;
    memset(&file, 0, sizeof(file));
    int was_open = fcntl(0, F_GETFD);
    file_close(&file);
    assert_int_equal(fcntl(0, F_GETFD), was_open);
}

/* --------------------------------------------------------------------------------------- identity
 */

static void identity_of_an_untouched_file_is_good(void **state)
{
    struct place *place = *state;
    struct file file;
    uint64_t size;
    assert_int_equal(create(place, &file, &(struct file_open){.path = place->path}), 0);
    assert_int_equal(file_check_identity(&file, &size), 0);
    assert_int_equal(size, PAGES * PAGE_BYTES);
    file_close(&file);
}

static void a_removed_file_is_enoent(void **state)
{
    struct place *place = *state;
    struct file file;
    uint64_t size;
    assert_int_equal(create(place, &file, &(struct file_open){.path = place->path}), 0);
    assert_int_equal(unlink(place->path), 0);
    assert_int_equal(file_check_identity(&file, &size), -ENOENT);
    file_close(&file);
}

static void a_replaced_file_is_estale(void **state)
{
    struct place *place = *state;
    struct file file;
    uint64_t size;
    assert_int_equal(create(place, &file, &(struct file_open){.path = place->path}), 0);
    assert_int_equal(unlink(place->path), 0);
    write_text(place->path, "another");
    assert_int_equal(file_check_identity(&file, &size), -ESTALE);
    file_close(&file);
}

static void a_changed_size_is_efbig_or_enodata(void **state)
{
    struct place *place = *state;
    struct file file;
    uint64_t size;
    assert_int_equal(create(place, &file, &(struct file_open){.path = place->path}), 0);
    assert_int_equal(truncate(place->path, 10 * PAGE_BYTES), 0);
    assert_int_equal(file_check_identity(&file, &size), -ENODATA);
    assert_int_equal(size, 10 * PAGE_BYTES);
    assert_int_equal(truncate(place->path, 50 * PAGE_BYTES), 0);
    assert_int_equal(file_check_identity(&file, &size), -EFBIG);
    file_close(&file);
}

/* --------------------------------------------------------------------------------------- deletion
 */

static void our_file_is_deleted(void **state)
{
    struct place *place = *state;
    create_and_close(place);
    assert_int_equal(file_delete_own(place->path, NULL, place->message), 0);
    assert_int_equal(entries(place->directory), 0);
    assert_int_equal(file_delete_own(place->path, NULL, place->message), -ENOENT);
}

static void a_file_of_another_run_is_not_deleted(void **state)
{
    struct place *place = *state;
    static const uint8_t other[RUN_ID_BYTES] = {9};
    const struct file_mark mark = mark_of(FILE_KIND_DATA);
    create_and_close(place);
    assert_int_equal(file_delete_own(place->path, other, place->message), -ESTALE);
    assert_non_null(strstr(place->message, "another run"));
    assert_int_equal(entries(place->directory), 1);
    assert_int_equal(file_delete_own(place->path, mark.run_id, place->message), 0);
    assert_int_equal(entries(place->directory), 0);
}

static void space_of_a_file_system_adds_up(void **state)
{
    struct place *place = *state;
    uint64_t available, total, device;
    struct stat st;
    assert_int_equal(file_system_space(place->directory, &available, &total, &device), 0);
    assert_int_equal(stat(place->directory, &st), 0);
    assert_int_equal(device, st.st_dev);
    assert_true(total > 0 && available <= total);
    assert_int_equal(file_system_space("/nonexistent", &available, &total, &device), -ENOENT);
}

#define T(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)

int main(void)
{
    const struct CMUnitTest tests[] = {
        T(a_foreign_file_is_refused_and_unchanged),
        T(an_empty_file_of_unknown_origin_is_foreign),
        T(a_large_file_of_zeros_is_foreign),
        T(a_directory_is_foreign),
        T(a_symbolic_link_is_refused_even_to_a_file_of_ours),
        T(a_dangling_link_is_refused_and_its_target_not_created),
        T(a_fifo_is_refused_without_blocking),
        T(a_socket_is_refused),
        T(a_device_is_refused),
        T(an_unreadable_file_is_foreign),
        T(a_damaged_mark_is_not_ours),
        T(a_sql_server_database_is_foreign),
        T(a_missing_directory_is_named_and_not_created),
        T(a_read_only_directory_is_bad),
        T(a_file_in_the_way_of_a_directory_is_bad),
        T(an_absent_file_is_absent_and_stays_so),
        T(a_created_file_is_ours_of_full_size_and_zero_behind_its_mark),
        T(the_mark_says_what_was_asked_for_and_the_sector_that_was_found),
        T(stamped_files_are_written_not_just_allocated),
        T(the_descriptor_has_the_flags_that_were_asked_for),
        T(the_alignment_that_was_found_is_enough_for_direct_io),
        T(a_forced_sector_size_is_stored_and_used),
        T(a_sector_size_that_sql_server_does_not_know_is_refused),
        T(a_file_of_0_pages_is_refused),
        T(our_own_file_is_kept_unless_told_otherwise),
        T(our_own_file_is_replaced_when_told_so),
        T(a_relative_name_becomes_absolute),
        T(a_name_that_is_a_directory_is_refused),
        T(a_limit_on_file_size_leaves_nothing_behind),
        T(a_full_file_system_is_enospc_with_the_sums_and_leaves_nothing),
        T(without_unnamed_files_the_result_is_the_same),
        T(without_unnamed_files_an_error_leaves_nothing_either),
        T(a_kill_at_any_moment_of_creation_leaves_nothing_foreign),
        T(a_locked_file_is_in_use_for_everybody_else),
        T(a_lock_that_goes_away_at_once_is_waited_for),
        T(readers_share_and_exclude_writers),
        T(an_opened_file_knows_mark_and_present_size),
        T(opening_what_does_not_exist_is_enoent),
        T(closing_a_zeroed_file_is_fine_and_keeps_descriptor_0),
        T(identity_of_an_untouched_file_is_good),
        T(a_removed_file_is_enoent),
        T(a_replaced_file_is_estale),
        T(a_changed_size_is_efbig_or_enodata),
        T(our_file_is_deleted),
        T(a_file_of_another_run_is_not_deleted),
        T(space_of_a_file_system_adds_up),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
