/*
 * file_direct.c - does direct I/O work in a directory: a real write and a real read.
 *
 * With a file of ours that has no name (O_TMPFILE); where a file system has none, one with a name
 * of its own that is removed at once, so that nothing is left but after a kill in between.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "sim/file_parts.h"

#define PROBE_BYTES 65536 /* an extent */
#define PROBE_MODE  0600

static int open_named(const char *directory)
{
    char path[FILE_MESSAGE_MAX];
    int length = snprintf(path, sizeof path, "%s/.pagestorm-preflight-XXXXXX", directory);
    if (length < 0 || (size_t)length >= sizeof path)
        return -ENAMETOOLONG;
    int fd = mkostemp(path, O_CLOEXEC);
    if (fd < 0)
        return -errno;
    return unlink(path) == 0 ? fd : (close(fd), -errno);
}

static int open_probe(const char *directory)
{
    int fd = open(directory, O_TMPFILE | O_RDWR | O_CLOEXEC, PROBE_MODE);
    if (fd >= 0)
        return fd;
    if (errno == EOPNOTSUPP || errno == EISDIR || errno == ENOENT || errno == EINVAL)
        return open_named(directory);
    return -errno;
}

/* An extent, write-through and past the page cache, comes back as it was. */
static int write_and_read(int fd, struct file_direct *out)
{
    void *memory = NULL;
    int error = 0;
    int direct_fd = file_reopen(fd, O_RDWR | O_DIRECT | O_DSYNC);
    if (direct_fd < 0)
        return direct_fd;
    if (posix_memalign(&memory, PAGE_BYTES, (size_t)2 * PROBE_BYTES) != 0) {
        close(direct_fd);
        return -ENOMEM;
    }
    unsigned char *wrote = memory, *got = wrote + PROBE_BYTES;
    for (size_t i = 0; i < PROBE_BYTES; i++)
        wrote[i] = (unsigned char)(i * 31 + i / 251);
    memset(got, 0, PROBE_BYTES);
    if (pwrite(direct_fd, wrote, PROBE_BYTES, 0) != PROBE_BYTES ||
        pread(direct_fd, got, PROBE_BYTES, 0) != PROBE_BYTES)
        error = errno ? -errno : -EIO;
    else
        out->came_back = memcmp(wrote, got, PROBE_BYTES) == 0;
    free(memory);
    close(direct_fd);
    return error;
}

int file_direct_probe(const char *directory, bool write, struct file_direct *out)
{
    struct file_alignment alignment = {.direct_works = false};
    *out = (struct file_direct){.works = false};
    int fd = open_probe(directory);
    if (fd < 0)
        return fd;
    errno = 0;
    int error = ftruncate(fd, PROBE_BYTES) == 0 ? file_alignment_find(fd, &alignment) : -errno;
    out->works = !error && alignment.direct_works;
    out->offset_bytes = alignment.offset_bytes;
    out->memory_bytes = alignment.memory_bytes;
    if (out->works && write)
        error = write_and_read(fd, out);
    if (error == -ENOENT) /* no /proc to open it again by: what the kernel says must do */
        error = 0;
    close(fd);
    return error;
}
