/*
 * file_identity.c - what a file is: regular, ours, in use.
 *
 * Invariants: nothing here changes a file.  Links, devices, pipes and sockets are recognised by
 * name before an open could act on them, and the descriptor is compared with the name afterwards.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "sim/file_parts.h"

/* A killed process is gone before its files are: io_uring gives them back in the background, after
 * up to 2 s on a busy machine. */
#define LOCK_TRIES    200
#define LOCK_PAUSE_NS 10000000 /* 10 ms */

static const char *kind_text(mode_t mode)
{
    switch (mode & S_IFMT) {
    case S_IFLNK:
        return "a symbolic link";
    case S_IFDIR:
        return "a directory";
    case S_IFBLK:
        return "a block device";
    case S_IFCHR:
        return "a character device";
    case S_IFIFO:
        return "a named pipe";
    case S_IFSOCK:
        return "a socket";
    default:
        return "not a regular file";
    }
}

static int check_regular(const char *path, const struct stat *st, char *message)
{
    if (S_ISREG(st->st_mode))
        return 0;
    return file_fail(message, -EPERM,
                     "%s is %s. pagestorm uses only regular files that it created itself; this was "
                     "left alone. Choose another name.",
                     path, kind_text(st->st_mode));
}

static bool is_same(const struct stat *a, const struct stat *b)
{
    return a->st_dev == b->st_dev && a->st_ino == b->st_ino;
}

static int check_opened(int fd, const char *path, const struct stat *seen, struct stat *st,
                        char *message)
{
    if (fstat(fd, st) < 0) {
        int error = errno;
        return file_fail(message, -error, "%s: cannot be examined (%s).", path, strerror(error));
    }
    if (!is_same(seen, st))
        return file_fail(message, -ESTALE,
                         "%s was replaced by another file while it was opened. Another program "
                         "works in this directory; stop it or choose another one.",
                         path);
    return check_regular(path, st, message);
}

int file_open_regular(const char *path, int flags, int *fd, struct stat *st, char *message)
{
    struct stat seen;
    *fd = -1;
    if (lstat(path, &seen) < 0) {
        int error = errno;
        return file_fail(message, -error, "%s: cannot be examined (%s).", path, strerror(error));
    }
    int r = check_regular(path, &seen, message);
    if (r < 0)
        return r;
    int opened = open(path, flags | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY | O_CLOEXEC);
    if (opened < 0) {
        int error = errno;
        return file_fail(
            message, -error, "%s: cannot be opened for %s (%s). Check the permissions of the file.",
            path, (flags & O_ACCMODE) == O_RDONLY ? "reading" : "writing", strerror(error));
    }
    r = check_opened(opened, path, &seen, st, message);
    if (r < 0) {
        close(opened);
        return r;
    }
    *fd = opened;
    return 0;
}

/* Page 0 into memory that direct I/O accepts, too. */
static int read_page0(int fd, void **page)
{
    *page = NULL;
    if (posix_memalign(page, PAGE_BYTES, PAGE_BYTES) != 0)
        return -ENOMEM;
    ssize_t n;
    do {
        n = pread(fd, *page, PAGE_BYTES, 0);
    } while (n < 0 && errno == EINTR);
    if (n == PAGE_BYTES)
        return 0;
    return n < 0 ? -errno : -ENODATA;
}

static const char *why_foreign(int error)
{
    switch (error) {
    case -ENODATA:
        return "is shorter than one page, so nothing in it says who made it";
    case -ENOENT:
        return "is a database file that another program made, perhaps SQL Server's own";
    case -EBADMSG:
        return "has a damaged first page, so its origin cannot be proven";
    default:
        return "does not carry pagestorm's mark";
    }
}

int file_read_mark(int fd, const char *path, struct file_mark *mark, char *message)
{
    void *page;
    int r = read_page0(fd, &page);
    if (r < 0 && r != -ENODATA) {
        free(page);
        return file_fail(message, r, "%s: its first page cannot be read (%s).", path, strerror(-r));
    }
    struct file_mark found;
    if (r == 0)
        r = file_mark_read(page, &found);
    free(page);
    if (r < 0)
        return file_fail(message, -EPERM,
                         "%s exists and %s. It was left as it is. Choose another name, or move it "
                         "away yourself if it is not needed.",
                         path, why_foreign(r));
    *mark = found;
    return 0;
}

static bool is_held_by_another(int error)
{
    return error == EAGAIN || error == EACCES;
}

static void lock_pause(void)
{
    const struct timespec pause = {.tv_nsec = LOCK_PAUSE_NS};
    (void)nanosleep(&pause, NULL);
}

/* 0 or errno. */
static int lock_now_or_soon(int fd, struct flock *lock)
{
    int error = 0;
    for (unsigned i = 0; i <= LOCK_TRIES; i++) {
        if (fcntl(fd, F_OFD_SETLK, lock) == 0)
            return 0;
        error = errno;
        if (!is_held_by_another(error))
            break;
        lock_pause();
    }
    return error;
}

int file_lock(int fd, bool exclusive, const char *path, char *message)
{
    struct flock lock = {.l_type = exclusive ? F_WRLCK : F_RDLCK, .l_whence = SEEK_SET};
    int error = lock_now_or_soon(fd, &lock);
    if (!error)
        return 0;
    if (is_held_by_another(error))
        return file_fail(message, -EBUSY,
                         "%s is in use by another pagestorm (or something else that locked it). "
                         "Wait for that run to end, or choose another name.",
                         path);
    return file_fail(message, -error,
                     "%s: cannot be locked (%s), so another run could use it at the same time. Its "
                     "file system must support file locks (NFS: mount without nolock).",
                     path, strerror(error));
}

void file_unlock(int fd)
{
    struct flock lock = {.l_type = F_UNLCK, .l_whence = SEEK_SET};
    (void)fcntl(fd, F_OFD_SETLK, &lock); /* closing the descriptor unlocks at the latest */
}

static bool is_locked_now(int fd)
{
    struct flock lock = {.l_type = F_WRLCK, .l_whence = SEEK_SET};
    return fcntl(fd, F_OFD_GETLK, &lock) == 0 && lock.l_type != F_UNLCK;
}

bool file_is_locked(int fd)
{
    bool locked = is_locked_now(fd);
    for (unsigned i = 0; i < LOCK_TRIES && locked; i++) {
        lock_pause();
        locked = is_locked_now(fd);
    }
    return locked;
}

int file_reopen(int fd, int flags)
{
    char name[32];
    snprintf(name, sizeof(name), "/proc/self/fd/%d", fd);
    int again = open(name, flags | O_CLOEXEC);
    return again < 0 ? -errno : again;
}
