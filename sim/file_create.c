/*
 * file_create.c - create a file of ours.
 *
 * It is built without a name (O_TMPFILE): mark, alignment, space, lock; only then does it get its
 * name, which fails if the name exists.  A kill at any moment leaves nothing, or the whole file.
 * Where a file system has no O_TMPFILE the file is created under its name (O_EXCL), gets its mark
 * at once and its lock for as long as it is built.
 *
 * Invariant: on an error nothing is left that this code made, and what was there before is
 * untouched (but for a file of ours that delete_own asked to replace).
 */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "sim/file_parts.h"

#define FILE_MODE 0640 /* the group may verify */

struct building {
    const struct file_open *how;
    struct file_mark *mark;
    struct file_place place;
    struct file_alignment alignment;
    uint64_t size_bytes;
    int fd;       /* plain, for building */
    int final_fd; /* with the flags of the run; -1 until then */
    bool named;
    char *message;
};

static int fail_step(const struct building *b, int error, const char *step)
{
    return file_fail(b->message, error, "%s: %s failed (%s). Check the device and the file system.",
                     b->place.path, step, strerror(-error));
}

static int open_unnamed(struct building *b)
{
    b->fd = open(b->place.directory, O_TMPFILE | O_RDWR | O_CLOEXEC, FILE_MODE);
    if (b->fd >= 0)
        return 0;
    return errno == EOPNOTSUPP || errno == EISDIR || errno == ENOENT || errno == EINVAL
               ? -EOPNOTSUPP
               : -errno;
}

static int open_named(struct building *b)
{
    b->fd = open(b->place.path, O_CREAT | O_EXCL | O_NOFOLLOW | O_RDWR | O_CLOEXEC, FILE_MODE);
    if (b->fd < 0)
        return -errno;
    b->named = true;
    return 0;
}

static int open_building(struct building *b)
{
    /* Without /proc an unnamed file could not get its name. */
    int r = access("/proc/self/fd", X_OK) == 0 ? open_unnamed(b) : -EOPNOTSUPP;
    if (r == -EOPNOTSUPP)
        r = open_named(b);
    return r < 0 ? fail_step(b, r, "creating it") : 0;
}

static int write_mark(struct building *b)
{
    _Alignas(PAGE_BYTES) unsigned char page[PAGE_BYTES];
    syspage_build_file_header(page, b->mark);
    syspage_seal(page, (struct lsn){0, 0, 0});
    ssize_t n;
    do {
        n = pwrite(b->fd, page, sizeof(page), 0);
    } while (n < 0 && errno == EINTR);
    if (n == (ssize_t)sizeof(page))
        return 0;
    return fail_step(b, n < 0 ? -errno : -ENOSPC, "writing its first page");
}

static int choose_sector(struct building *b)
{
    uint32_t needed = b->alignment.offset_bytes;
    uint32_t forced = b->how->forced_sector_bytes;
    if (needed > 4096)
        return file_fail(b->message, -EINVAL,
                         "%s: its device works in sectors of %u bytes. SQL Server accepts 512 and "
                         "4,096 only; choose another device.",
                         b->place.path, needed);
    if (forced != 0 && forced != 512 && forced != 4096)
        return file_fail(b->message, -EINVAL,
                         "%s: a sector size of %u bytes was asked for. SQL Server knows 512 and "
                         "4,096.",
                         b->place.path, forced);
    if (forced != 0 && forced < needed)
        return file_fail(b->message, -EINVAL,
                         "%s: a sector size of %u bytes was asked for, but direct I/O on its "
                         "device needs %u. Ask for %u, or leave SectorSize out.",
                         b->place.path, forced, needed, needed);
    b->mark->sector_bytes = forced ? forced : needed > 512 ? 4096 : 512;
    return 0;
}

static int find_sector(struct building *b)
{
    int r = file_alignment_find(b->fd, &b->alignment);
    if (r < 0)
        return fail_step(b, r, "finding its alignment");
    return choose_sector(b);
}

static int open_final_by_name(const struct building *b, int flags)
{
    struct stat built, opened;
    int fd = open(b->place.path, flags | O_NOFOLLOW | O_CLOEXEC);
    if (fd < 0)
        return -errno;
    if (fstat(b->fd, &built) == 0 && fstat(fd, &opened) == 0 && built.st_dev == opened.st_dev &&
        built.st_ino == opened.st_ino)
        return fd;
    close(fd);
    return -ESTALE;
}

static int open_final(struct building *b)
{
    int flags = O_RDWR;
    if (b->how->direct && b->alignment.direct_works)
        flags |= O_DIRECT;
    if (b->how->dsync && !b->how->coalesced)
        flags |= O_DSYNC;
    int fd = file_reopen(b->fd, flags);
    if (fd < 0 && b->named)
        fd = open_final_by_name(b, flags);
    if (fd < 0)
        return fail_step(b, fd, "opening it for the run");
    b->final_fd = fd;
    if (b->named)
        file_unlock(b->fd);
    return file_lock(fd, true, b->place.path, b->message);
}

static int give_name(struct building *b)
{
    char source[32];
    if (b->named)
        return 0;
    snprintf(source, sizeof(source), "/proc/self/fd/%d", b->fd);
    if (linkat(AT_FDCWD, source, AT_FDCWD, b->place.path, AT_SYMLINK_FOLLOW) < 0)
        return fail_step(b, -errno, "giving it its name");
    b->named = true;
    return 0;
}

static int publish(struct building *b)
{
    if (fsync(b->fd) < 0)
        return fail_step(b, -errno, "making it durable");
    int r = give_name(b);
    return r < 0 ? r : file_sync_directory(b->place.directory, b->message);
}

static enum file_space space_of(const struct building *b)
{
    if (b->mark->kind != FILE_KIND_DATA && b->mark->kind != FILE_KIND_SNAPSHOT)
        return FILE_SPACE_RESERVED;
    if (b->how->sparse)
        return FILE_SPACE_SPARSE;
    return b->how->stamp ? FILE_SPACE_WRITTEN : FILE_SPACE_RESERVED;
}

static int build(struct building *b)
{
    b->mark->sector_bytes =
        512; /* of the first mark, which is written before the sector is known */
    int r = open_building(b);
    if (r == 0)
        r = write_mark(b);
    if (r == 0 && b->named)
        r = file_lock(b->fd, true, b->place.path, b->message);
    if (r == 0)
        r = find_sector(b);
    if (r == 0)
        r = write_mark(b);
    if (r == 0)
        r = file_allocate(b->fd, &b->alignment, b->size_bytes, space_of(b), b->how->tick,
                          b->place.path, b->message);
    if (r == 0)
        r = open_final(b);
    return r < 0 ? r : publish(b);
}

/* Unlink the name only while it is still that of the file that was built here. */
static void abandon(struct building *b)
{
    struct stat built, named;
    if (b->named && fstat(b->fd, &built) == 0 && lstat(b->place.path, &named) == 0 &&
        built.st_dev == named.st_dev && built.st_ino == named.st_ino)
        unlink(b->place.path);
    if (b->final_fd >= 0)
        close(b->final_fd);
    if (b->fd >= 0)
        close(b->fd);
}

static int hand_out(struct building *b, struct file *file)
{
    struct stat st;
    if (fstat(b->final_fd, &st) < 0)
        return fail_step(b, -errno, "examining it");
    file->target = (struct io_target){
        .fd = b->final_fd,
        .uid = b->mark->file_uid,
        .is_log = b->mark->kind == FILE_KIND_LOG,
        .dsync = b->how->dsync,
        .coalesced = b->how->dsync && b->how->coalesced,
        .align_bytes = b->mark->sector_bytes,
        .memory_align_bytes = b->alignment.memory_bytes,
    };
    atomic_init(&file->target.size_bytes, b->size_bytes);
    file->mark = *b->mark;
    file->size_pages = (uint32_t)(b->size_bytes / PAGE_BYTES);
    file->device = st.st_dev;
    file->inode = st.st_ino;
    file->direct = b->how->direct && b->alignment.direct_works;
    file->created_by_us = true;
    file->path = b->place.path;
    b->place.path = NULL;
    close(b->fd);
    if (b->how->direct && !file->direct)
        file_warn_buffered(b->message, file->path);
    return 0;
}

/* Nothing in the way, or only a file of ours that may go. */
static int clear_the_way(const struct file_open *how, char *message)
{
    struct file_mark old;
    switch (file_probe(how->path, &old, message)) {
    case FILE_ABSENT:
        return 0;
    case FILE_OURS:
        return how->delete_own ? file_delete_own(how->path, NULL, message) : -EEXIST;
    case FILE_IN_USE:
        return -EBUSY;
    case FILE_DIRECTORY_BAD:
        return -EACCES;
    case FILE_FOREIGN:
        break;
    }
    return -EPERM;
}

int file_create(struct file *file, const struct file_open *how, struct file_mark *mark,
                uint32_t size_pages, char *message)
{
    *file = (struct file){.target = {.fd = -1}};
    mark->size_pages = size_pages;
    struct building b = {.how = how,
                         .mark = mark,
                         .size_bytes = (uint64_t)size_pages * PAGE_BYTES,
                         .fd = -1,
                         .final_fd = -1,
                         .message = message};
    if (size_pages == 0)
        return file_fail(message, -EINVAL, "%s: a size of 0 pages was asked for.", how->path);
    int r = file_place_find(&b.place, how->path, message);
    if (r < 0)
        return r;
    r = clear_the_way(how, message);
    if (r == 0) {
        message[0] = '\0';
        r = build(&b);
        if (r == 0)
            r = hand_out(&b, file);
        if (r < 0)
            abandon(&b);
    }
    file_place_free(&b.place);
    return r;
}
