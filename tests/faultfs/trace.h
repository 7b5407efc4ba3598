/*
 * trace.h - one line for each operation, when it is done:
 *
 *   BEGIN_NS END_NS OP FILE OFFSET BYTES FLAGS RESULT
 *
 * OP: read write fsync fdatasync fallocate truncate create unlink.  FLAGS: words of direct, dsync,
 * sync, cached joined by commas, or -.  Times are of CLOCK_REALTIME.  Any thread.
 */
#ifndef FAULTFS_TRACE_H
#define FAULTFS_TRACE_H

#include <sys/types.h>

#include "tests/faultfs/fs.h"

/* 0 or -errno; NULL ends it. */
int trace_to(struct fs *fs, const char *path) __attribute__((warn_unused_result));
void trace_line(struct fs *fs, uint64_t begin_ns, const char *op, const char *path, uint64_t offset,
                uint64_t size_bytes, int flags, ssize_t result);
void trace_node(struct fs *fs, uint64_t begin_ns, const char *op, const struct node *node,
                uint64_t offset, uint64_t size_bytes, int flags, ssize_t result);

#endif
