/*
 * align.c - which alignment direct I/O needs on a file.
 *
 * The kernel is asked (STATX_DIOALIGN, Linux 6.1); where it cannot say, reads of 512 and 4,096
 * bytes are tried.  It is never left to the file system: btrfs would serve a misaligned request
 * buffered.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/vfs.h>
#include <unistd.h>

#include <assert.h>

#include "sim/file_parts.h"

#define SECTOR_MIN 512
#define SECTOR_MAX 4096

/* From linux/stat.h, by value: build machines have older headers than the machines it runs on. */
#define DIOALIGN_MASK          0x2000u
#define DIOALIGN_MEMORY_OFFSET 0x98
#define DIOALIGN_OFFSET_OFFSET 0x9c
#define BTRFS_MAGIC            0x9123683e
#define TMPFS_MAGIC            0x01021994
#define RAMFS_MAGIC            0x858458f6

static uint32_t at_least(uint32_t value, uint32_t least)
{
    return value > least ? value : least;
}

static bool is_on(int fd, uint32_t magic)
{
    struct statfs fs;
    return fstatfs(fd, &fs) == 0 && (uint32_t)fs.f_type == magic;
}

/* tmpfs takes O_DIRECT since Linux 6.6, and serves it from memory as everything else. */
static bool is_in_memory(int fd)
{
    return is_on(fd, TMPFS_MAGIC) || is_on(fd, RAMFS_MAGIC);
}

/* True when the kernel knows; out->direct_works false when it knows that there is none. */
static bool ask_kernel(int fd, struct file_alignment *out)
{
    struct statx stx;
    static_assert(sizeof(stx) >= DIOALIGN_OFFSET_OFFSET + sizeof(uint32_t), "room for dio fields");
    if (statx(fd, "", AT_EMPTY_PATH, DIOALIGN_MASK, &stx) < 0 || !(stx.stx_mask & DIOALIGN_MASK))
        return false;
    uint32_t memory, offset;
    memcpy(&memory, (const char *)&stx + DIOALIGN_MEMORY_OFFSET, sizeof(memory));
    memcpy(&offset, (const char *)&stx + DIOALIGN_OFFSET_OFFSET, sizeof(offset));
    out->direct_works = offset != 0;
    out->offset_bytes = at_least(offset, SECTOR_MIN);
    out->memory_bytes = at_least(memory, SECTOR_MIN);
    return true;
}

static int try_reads(int direct_fd, struct file_alignment *out)
{
    void *buffer = NULL;
    if (posix_memalign(&buffer, SECTOR_MAX, SECTOR_MAX) != 0)
        return -ENOMEM;
    int r = 0;
    out->direct_works = false;
    uint32_t size = is_on(direct_fd, BTRFS_MAGIC) ? SECTOR_MAX : SECTOR_MIN; /* it is lenient */
    for (; size <= SECTOR_MAX && !out->direct_works; size *= SECTOR_MAX / SECTOR_MIN) {
        ssize_t n = pread(direct_fd, buffer, size, (off_t)size);
        if (n < 0 && errno != EINVAL) {
            r = -errno;
            break;
        }
        if (n == (ssize_t)size)
            *out = (struct file_alignment){true, size, size};
    }
    free(buffer);
    return r;
}

int file_alignment_find(int fd, struct file_alignment *out)
{
    *out = (struct file_alignment){false, SECTOR_MIN, SECTOR_MIN};
    if (is_in_memory(fd))
        return 0;
    int direct_fd = file_reopen(fd, O_RDONLY | O_DIRECT);
    if (direct_fd == -EINVAL)
        return 0;
    if (direct_fd == -ENOENT) { /* no /proc: what the kernel says must do */
        (void)ask_kernel(fd, out);
        return 0;
    }
    if (direct_fd < 0)
        return direct_fd;
    int r = ask_kernel(direct_fd, out) ? 0 : try_reads(direct_fd, out);
    close(direct_fd);
    if (!out->direct_works)
        out->offset_bytes = out->memory_bytes = SECTOR_MIN;
    return r;
}

void file_warn_buffered(char *message, const char *path)
{
    (void)file_fail(
        message, 0,
        "%s: its file system has no direct I/O (O_DIRECT), so this file goes through the "
        "page cache: reads may come from memory, so speed is that of memory as well as "
        "of the device, and damage on the device may stay unseen (integrity is WARN at "
        "best). SQL Server needs XFS or ext4; put the file there for results that "
        "count.",
        path);
}
