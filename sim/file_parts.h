/*
 * file_parts.h - inside of file.h: what its source files share, and nobody else includes.
 *
 * Threads and errors as in file.h.
 */
#ifndef SIM_FILE_PARTS_H
#define SIM_FILE_PARTS_H

#include <sys/stat.h>

#include "sim/file.h"

#define FILE_CHECK __attribute__((warn_unused_result))

/* Write the message; returns error, so that a failing path is one statement. */
int file_fail(char *message, int error, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

/* file_path.c: where a file is to stand. */
struct file_place {
    char *path; /* absolute, the directory free of links */
    char *directory;
    const char *name; /* last component, inside path */
};
int file_place_find(struct file_place *place, const char *path, char *message) FILE_CHECK;
void file_place_free(struct file_place *place);
/* Make a change of the directory durable. */
int file_sync_directory(const char *directory, char *message) FILE_CHECK;

/* file_identity.c: what a file is. */
/* Open a regular file (never a link, device or pipe, never blocking); st is its fstat.  fd is for
 * looking at it: O_NONBLOCK is set, which io_uring would take as "do not wait for this I/O". */
int file_open_regular(const char *path, int flags, int *fd, struct stat *st,
                      char *message) FILE_CHECK;
/* The mark of page 0 through fd; -EPERM with a message if it is not ours. */
int file_read_mark(int fd, const char *path, struct file_mark *mark, char *message) FILE_CHECK;
/* -EBUSY with a message when somebody holds a lock that excludes this one, and goes on holding it
 * for about 2 s: the files of a killed run are released a little after its end. */
int file_lock(int fd, bool exclusive, const char *path, char *message) FILE_CHECK;
void file_unlock(int fd);
bool file_is_locked(int fd); /* and stays locked, as above */
/* The same file through another descriptor, with other flags. */
int file_reopen(int fd, int flags) FILE_CHECK;

/* align.c: what direct I/O asks for. */
struct file_alignment {
    bool direct_works;
    uint32_t offset_bytes; /* of offset and length, at least 512 */
    uint32_t memory_bytes; /* at least 512 */
};
/* fd: readable, with at least 8 KiB of contents. */
int file_alignment_find(int fd, struct file_alignment *out) FILE_CHECK;
/* The sentence that the start echo shows when O_DIRECT was wanted and does not work. */
void file_warn_buffered(char *message, const char *path);

/* file_allocate.c: space. */
enum file_space {
    FILE_SPACE_RESERVED, /* allocated, not written */
    FILE_SPACE_WRITTEN,  /* zeros through the device */
    FILE_SPACE_SPARSE,   /* a hole */
};
/* Give fd size_bytes.  tick: of what is written; -EINTR (without a message) when it says so. */
int file_allocate(int fd, const struct file_alignment *alignment, uint64_t size_bytes,
                  enum file_space space, const struct tick *tick, const char *path,
                  char *message) FILE_CHECK;

#endif
