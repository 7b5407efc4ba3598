/*
 * file.h - a database or log file: created, owned, locked, grown to size, closed.
 *
 * Safety: a file is opened with O_NOFOLLOW, locked (open file description lock), and its mark is
 * read through that same descriptor before anything is done to it; device and inode are compared
 * with the path again before it is deleted.  What does not carry our mark is refused and stays
 * byte-identical. A new file appears under its name only with its mark in page 0 (O_TMPFILE and
 * linkat, else O_EXCL), so that a kill during creation leaves nothing that looks foreign.
 *
 * Threads: everything here runs before the workers start or after they stopped, but for
 * target.size_bytes, size_pages, file_grow and file_cut (one task a file at a time).  Errors: 0 or
 * -errno, with a message for people in *message (FILE_MESSAGE_MAX). With 0 the message is empty or
 * a warning that belongs in the start echo (no O_DIRECT here).
 */
#ifndef SIM_FILE_H
#define SIM_FILE_H

#include <stdbool.h>
#include <stdint.h>

#include "sim/io.h"
#include "sim/tick.h"
#include "verify/syspage.h"

#define FILE_MESSAGE_MAX 1024

struct file {
    struct io_target target;
    char *path;            /* absolute */
    struct file_mark mark; /* what page 0 carries */
    /* Pages that may be used.  Of a data file it changes while it is used: database_use.h. */
    _Atomic uint32_t size_pages;
    uint64_t device, inode;
    bool direct;        /* O_DIRECT in effect */
    bool created_by_us; /* never-written space must read as zeros */
};

struct file_open {
    const char *path;
    bool direct;                  /* NoBuffering */
    bool dsync;                   /* WriteThrough */
    bool coalesced;               /* ... by shared flushes instead of O_DSYNC: io_flush.h */
    bool stamp;                   /* StampFiles: write zeros instead of fallocate (data files) */
    bool sparse;                  /* Sparse: space is given when it is written (data files) */
    bool delete_own;              /* DeleteFilesAtStartup */
    uint32_t forced_sector_bytes; /* 512 or 4096; 0 = find out */
    const struct tick *tick;      /* of what is written, or NULL */
};

enum file_owner {
    FILE_ABSENT,        /* no such file; the directory is writable */
    FILE_OURS,          /* carries our mark, lock free */
    FILE_FOREIGN,       /* anything else: not a regular file of ours */
    FILE_IN_USE,        /* ours, and another process holds the lock */
    FILE_DIRECTORY_BAD, /* the directory is missing or not writable */
};
/* Look, without changing anything.  message says what is there and what to do. */
enum file_owner file_probe(const char *path, struct file_mark *mark, char *message);

/* Find alignment, create (or replace our own), write the mark (page 0), allocate to size_pages,
 * lock. The sector size that was found is stored in mark->sector_bytes before page 0 is written.  A
 * data file's space is allocated (fallocate) and reads as zeros; with stamp it is written, with
 * sparse it is only a hole; -EINTR when how->tick said stop (nothing is left, no message).  A log
 * file is filled by the caller (its contents are formatted). */
int file_create(struct file *file, const struct file_open *how, struct file_mark *mark,
                uint32_t size_pages, char *message) __attribute__((warn_unused_result));
/* Open an existing file of ours, read-only (shared lock) or read-write (exclusive lock).  Its size
 * is what the file has now; mark.size_pages says what it should have. */
int file_open_own(struct file *file, const char *path, bool writable, bool direct, char *message)
    __attribute__((warn_unused_result));
/* The same for a run that goes on with it: read-write, as `how` says of direct and dsync.  It must
 * be the file of that very run, uid, incarnation and kind: -ESTALE otherwise. */
int file_take_over(struct file *file, const struct file_open *how, const struct file_mark *mark,
                   char *message) __attribute__((warn_unused_result));
/* Size, device and inode as they should be?  0, -ENOENT/-ESTALE (replaced), -EFBIG/-ENODATA (size).
 */
int file_check_identity(const struct file *file, uint64_t *size_bytes_now)
    __attribute__((warn_unused_result));
void file_close(struct file *file); /* zeroed file is fine */
/* Give an open data file of ours another size, by one system call that may wait for the device:
 * more with its space reserved, or (hole) with its size alone, for what is written afterwards;
 * -errno
 * (-EOPNOTSUPP: the file system cannot reserve), and then the size is as it was; or less.  Moves
 * target.size_bytes, which is never above what the file has. */
int file_grow(struct file *file, uint64_t size_bytes, bool hole)
    __attribute__((warn_unused_result));
int file_cut(struct file *file, uint64_t size_bytes) __attribute__((warn_unused_result));
/* Remove a file that carries our mark, checked through the descriptor under its lock: 0, -ENOENT,
 * -EPERM (not ours: left alone), -EBUSY (in use), -ESTALE (of another run than run_id, which may be
 * NULL: of any) or another -errno. */
int file_delete_own(const char *path, const uint8_t *run_id, char *message)
    __attribute__((warn_unused_result));

/* Direct I/O in a directory, tried with a file that is gone afterwards. */
struct file_direct {
    bool works;            /* O_DIRECT is accepted, and not served from memory */
    bool came_back;        /* what was written past the page cache was read back */
    uint32_t offset_bytes; /* alignment of offset and length */
    uint32_t memory_bytes; /* alignment of buffers */
};
/* write: an extent is written and read as well, else only alignment is found out.  0, or -errno of
 * the step that failed (no room, no right). */
int file_direct_probe(const char *directory, bool write, struct file_direct *out)
    __attribute__((warn_unused_result));

/* Bytes that may be used on the file system of path, the file system's own reserve (root's blocks)
 * taken off; total for the 5 % rule. */
int file_system_space(const char *directory, uint64_t *available_bytes, uint64_t *total_bytes,
                      uint64_t *device) __attribute__((warn_unused_result));

#endif
