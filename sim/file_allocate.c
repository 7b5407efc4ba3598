/*
 * file_allocate.c - give a new file its space, all of it, before the run depends on it; a sparse
 * file its size.
 *
 * Invariant: page 0 is there already and stays; every other byte reads as zero afterwards.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/statvfs.h>
#include <unistd.h>

#include "sim/file_parts.h"

#define CHUNK_BYTES ((size_t)8 << 20) /* SQLIOSim's and SQL Server's zeroing writes */
#define CHUNK_ALIGN 4096

static int fail_allocate(int fd, int error, uint64_t size_bytes, const char *path, char *message)
{
    struct statvfs fs;
    unsigned long long available = 0;
    if (fstatvfs(fd, &fs) == 0)
        available = (unsigned long long)fs.f_bavail * fs.f_frsize;
    const char *advice = error == -EFBIG
                             ? "The file system or the limit on file sizes (ulimit -f) allows less."
                         : error == -EDQUOT ? "A disk quota was reached."
                                            : "Make room, or ask for smaller files.";
    return file_fail(message, error,
                     "%s: %llu bytes are needed and could not be had (%s); %llu bytes are "
                     "available. %s Nothing of the file was left behind.",
                     path, (unsigned long long)size_bytes, strerror(-error), available, advice);
}

/* ---- while it is used ---- */

int file_grow(struct file *file, uint64_t size_bytes, bool hole)
{
    uint64_t old_bytes = atomic_load(&file->target.size_bytes);
    int r;
    do {
        r = hole ? ftruncate(file->target.fd, (off_t)size_bytes)
                 : fallocate(file->target.fd, 0, (off_t)old_bytes, (off_t)(size_bytes - old_bytes));
    } while (r < 0 && errno == EINTR);
    if (r == 0) {
        atomic_store(&file->target.size_bytes, size_bytes);
        return 0;
    }
    r = -errno;
    /* fallocate may have come half the way */
    int undone = ftruncate(file->target.fd, (off_t)old_bytes);
    return undone < 0 ? -errno : r;
}

int file_cut(struct file *file, uint64_t size_bytes)
{
    uint64_t old_bytes = atomic_exchange(&file->target.size_bytes, size_bytes);
    int r;
    do {
        r = ftruncate(file->target.fd, (off_t)size_bytes);
    } while (r < 0 && errno == EINTR);
    r = r < 0 ? -errno : 0;
    if (r < 0)
        atomic_store(&file->target.size_bytes, old_bytes);
    return r;
}

/* ---- at its creation ---- */

static int reserve(int fd, uint64_t size_bytes)
{
    int r;
    do {
        r = fallocate(fd, 0, 0, (off_t)size_bytes);
    } while (r < 0 && errno == EINTR);
    return r < 0 ? -errno : 0;
}

static int write_zeros(int fd, uint64_t size_bytes, const struct tick *tick)
{
    void *zeros = NULL;
    size_t chunk = size_bytes < CHUNK_BYTES ? (size_t)size_bytes : CHUNK_BYTES;
    if (posix_memalign(&zeros, CHUNK_ALIGN, chunk) != 0)
        return -ENOMEM;
    memset(zeros, 0, chunk);
    int r = 0;
    uint64_t at = PAGE_BYTES;
    while (at < size_bytes && r == 0) {
        size_t size = size_bytes - at < chunk ? (size_t)(size_bytes - at) : chunk;
        ssize_t n = pwrite(fd, zeros, size, (off_t)at);
        if (n < 0)
            r = errno == EINTR ? 0 : -errno;
        else if (n < PAGE_BYTES)
            r = -ENOSPC;
        else /* the rest of a short write begins on a page, so that it stays aligned */
            at = (at + (uint64_t)n) / PAGE_BYTES * PAGE_BYTES;
        if (n > 0 && r == 0)
            r = tick_done(tick, (uint64_t)n);
    }
    free(zeros);
    return r;
}

/* Past the page cache where that works: gigabytes of dirty zeros would slow the start of the run.
 */
static int write_zeros_direct(int fd, const struct file_alignment *alignment, uint64_t size_bytes,
                              const struct tick *tick)
{
    int direct_fd = alignment->direct_works ? file_reopen(fd, O_WRONLY | O_DIRECT) : -EINVAL;
    if (direct_fd < 0)
        return write_zeros(fd, size_bytes, tick);
    int r = write_zeros(direct_fd, size_bytes, tick);
    close(direct_fd);
    return r;
}

static int set_size(int fd, uint64_t size_bytes)
{
    return ftruncate(fd, (off_t)size_bytes) == 0 ? 0 : -errno;
}

int file_allocate(int fd, const struct file_alignment *alignment, uint64_t size_bytes,
                  enum file_space space, const struct tick *tick, const char *path, char *message)
{
    int r = space == FILE_SPACE_WRITTEN  ? -EOPNOTSUPP
            : space == FILE_SPACE_SPARSE ? set_size(fd, size_bytes)
                                         : reserve(fd, size_bytes);
    if (r == -EOPNOTSUPP || r == -ENOSYS)
        r = write_zeros_direct(fd, alignment, size_bytes, tick);
    return r == -EINTR ? r : r < 0 ? fail_allocate(fd, r, size_bytes, path, message) : 0;
}
