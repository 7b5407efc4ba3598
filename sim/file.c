/*
 * file.c - open, check, close and delete files of ours.
 *
 * Invariants: a file is opened and deleted only after its mark was read through the descriptor that
 * holds its lock; a name is unlinked only while it still leads to that descriptor's file.
 */
#include "sim/file.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "sim/file_parts.h"

static int fail_other(const char *path, int error, const char *step, char *message)
{
    return file_fail(message, error, "%s: %s failed (%s).", path, step, strerror(-error));
}

static int check_sector(const struct file *file, const struct file_alignment *alignment,
                        char *message)
{
    if (!file->direct || alignment->offset_bytes <= file->mark.sector_bytes)
        return 0;
    return file_fail(
        message, -EINVAL,
        "%s was created for sectors of %u bytes, but direct I/O needs %u here. Move it "
        "back to a device with such sectors, or create it anew.",
        file->path, file->mark.sector_bytes, alignment->offset_bytes);
}

static void describe(struct file *file, const struct stat *st, bool writable,
                     const struct file_alignment *alignment)
{
    uint32_t align = alignment->offset_bytes;
    if (writable && align < file->mark.sector_bytes)
        align = file->mark.sector_bytes;
    file->target.uid = file->mark.file_uid;
    file->target.is_log = file->mark.kind == FILE_KIND_LOG;
    file->target.align_bytes = align;
    file->target.memory_align_bytes = alignment->memory_bytes;
    atomic_init(&file->target.size_bytes, (uint64_t)st->st_size);
    file->size_pages = (uint32_t)((uint64_t)st->st_size / PAGE_BYTES);
    file->device = st->st_dev;
    file->inode = st->st_ino;
    file->created_by_us = true;
}

static int check_name(const struct file *file, struct stat *st, char *message)
{
    struct stat named;
    if (fstat(file->target.fd, st) < 0)
        return fail_other(file->path, -errno, "examining it", message);
    if (lstat(file->path, &named) == 0 && named.st_dev == st->st_dev && named.st_ino == st->st_ino)
        return 0;
    return file_fail(message, -ESTALE,
                     "%s was removed or replaced while it was opened. Another program works in "
                     "this directory; start again when it has finished.",
                     file->path);
}

/* The descriptor of the run is open: from its lock on nobody else can change what is checked. */
static int lock_and_check(struct file *file, bool writable, const struct file_alignment *alignment,
                          char *message)
{
    struct stat st;
    int r = file_lock(file->target.fd, writable, file->path, message);
    if (r == 0)
        r = check_name(file, &st, message);
    if (r == 0)
        r = file_read_mark(file->target.fd, file->path, &file->mark, message);
    if (r == 0 && writable)
        r = check_sector(file, alignment, message);
    if (r == 0)
        describe(file, &st, writable, alignment);
    return r;
}

static int open_by_name(const char *path, int flags)
{
    int fd = open(path, flags | O_CLOEXEC | O_NOFOLLOW | O_NOCTTY);
    return fd >= 0 ? fd : -errno;
}

/* fd is plain and unlocked: it serves to recognise the file before direct I/O is tried on it. */
static int adopt(struct file *file, int fd, bool writable, bool direct, int more_flags,
                 char *message)
{
    struct file_alignment alignment;
    int r = file_read_mark(fd, file->path, &file->mark, message);
    if (r < 0)
        return r;
    r = file_alignment_find(fd, &alignment);
    if (r < 0)
        return fail_other(file->path, r, "finding its alignment", message);
    file->direct = direct && alignment.direct_works;
    int flags = (writable ? O_RDWR : O_RDONLY) | (file->direct ? O_DIRECT : 0) | more_flags;
    r = file_reopen(fd, flags);
    if (r == -ENOENT) /* no /proc (a chroot): by name; lock_and_check reads the mark again */
        r = open_by_name(file->path, flags);
    if (r < 0)
        return fail_other(file->path, r, "opening it", message);
    file->target.fd = r;
    return lock_and_check(file, writable, &alignment, message);
}

static int open_own(struct file *file, const char *path, bool writable, bool direct, int more_flags,
                    char *message)
{
    *file = (struct file){.target = {.fd = -1}};
    message[0] = '\0';
    struct file_place place;
    int r = file_place_find(&place, path, message);
    if (r < 0)
        return r;
    file->path = place.path;
    place.path = NULL;
    file_place_free(&place);
    int fd;
    struct stat st;
    r = file_open_regular(file->path, writable ? O_RDWR : O_RDONLY, &fd, &st, message);
    if (r == 0) {
        r = adopt(file, fd, writable, direct, more_flags, message);
        close(fd);
    }
    if (r < 0)
        file_close(file);
    else if (direct && !file->direct)
        file_warn_buffered(message, file->path);
    return r;
}

int file_open_own(struct file *file, const char *path, bool writable, bool direct, char *message)
{
    return open_own(file, path, writable, direct, 0, message);
}

int file_take_over(struct file *file, const struct file_open *how, const struct file_mark *mark,
                   char *message)
{
    int r = open_own(file, how->path, true, how->direct,
                     how->dsync && !how->coalesced ? O_DSYNC : 0, message);
    if (r < 0)
        return r;
    const struct file_mark *found = &file->mark;
    if (memcmp(found->run_id, mark->run_id, sizeof found->run_id) != 0 ||
        found->file_uid != mark->file_uid || found->incarnation != mark->incarnation ||
        found->kind != mark->kind || found->database_id != mark->database_id) {
        r = file_fail(message, -ESTALE,
                      "%s is a file of another run than the one that is taken over. It was left "
                      "as it is.",
                      file->path);
        file_close(file);
        return r;
    }
    file->target.dsync = how->dsync;
    file->target.coalesced = how->dsync && how->coalesced;
    return 0;
}

int file_check_identity(const struct file *file, uint64_t *size_bytes_now)
{
    struct stat named, opened;
    if (fstat(file->target.fd, &opened) < 0)
        return -errno;
    *size_bytes_now = (uint64_t)opened.st_size;
    if (lstat(file->path, &named) < 0)
        return errno == ENOTDIR ? -ENOENT : -errno;
    if (named.st_dev != file->device || named.st_ino != file->inode)
        return -ESTALE;
    uint64_t expected = atomic_load(&file->target.size_bytes);
    if (*size_bytes_now > expected)
        return -EFBIG;
    return *size_bytes_now < expected ? -ENODATA : 0;
}

void file_close(struct file *file)
{
    if (file->path != NULL && file->target.fd >= 0) {
        file_unlock(file->target.fd); /* a ring that is just ending may keep the file open */
        close(file->target.fd);
    }
    free(file->path);
    *file = (struct file){.target = {.fd = -1}};
}

static int unlink_checked(int fd, const struct file_place *place, char *message)
{
    struct stat named, opened;
    if (fstat(fd, &opened) < 0 || lstat(place->path, &named) < 0)
        return fail_other(place->path, -errno, "examining it", message);
    if (named.st_dev != opened.st_dev || named.st_ino != opened.st_ino)
        return file_fail(message, -ESTALE,
                         "%s was replaced by another file while it was examined, and was left "
                         "alone. Another program works in this directory.",
                         place->path);
    if (unlink(place->path) < 0)
        return fail_other(place->path, -errno, "removing it", message);
    return file_sync_directory(place->directory, message);
}

int file_delete_own(const char *path, const uint8_t *run_id, char *message)
{
    struct file_place place;
    struct file_mark mark;
    struct stat st;
    int fd;
    message[0] = '\0';
    int r = file_place_find(&place, path, message);
    if (r < 0)
        return r;
    r = file_open_regular(place.path, O_RDWR, &fd, &st, message);
    if (r == 0) {
        r = file_lock(fd, true, place.path, message);
        if (r == 0)
            r = file_read_mark(fd, place.path, &mark, message);
        if (r == 0 && run_id && memcmp(mark.run_id, run_id, RUN_ID_BYTES) != 0)
            r = file_fail(message, -ESTALE, "%s belongs to another run by now, and was left alone.",
                          place.path);
        if (r == 0)
            r = unlink_checked(fd, &place, message);
        close(fd);
    }
    file_place_free(&place);
    return r;
}
