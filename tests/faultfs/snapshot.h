/*
 * snapshot.h - the files of the mount as they were at one moment: for content of an earlier run,
 * and for a volume that goes back in time under a running program.  Gate: alone.
 */
#ifndef FAULTFS_SNAPSHOT_H
#define FAULTFS_SNAPSHOT_H

#include "tests/faultfs/fs.h"

/* All regular files; a name that exists is replaced.  Files, or -errno. */
int snapshot_take(struct fs *fs, const char *name);
/* -ENODATA: the snapshot does not have these bytes. */
int snapshot_read(struct fs *fs, const char *name, const struct node *node, void *bytes,
                  size_t size_bytes, uint64_t offset) __attribute__((warn_unused_result));
/* Files whose path matches get their content of then, as far as they are long today.  Files. */
int snapshot_restore(struct fs *fs, const char *name, const char *glob);
/* A file is cut off behind the programs' backs.  0 or -errno. */
int snapshot_truncate(struct fs *fs, const char *path, uint64_t size_bytes)
    __attribute__((warn_unused_result));

#endif
