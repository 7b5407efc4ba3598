/*
 * power.h - the content of the backing files, and what of it would survive a power cut.
 *
 * With the volatile cache on, the backing file always holds the newest content.  What a sector held
 * when it was last durable is kept beside it, and each write that no flush has covered is kept in
 * order; a cut puts the durable content back and then applies those writes that it lets survive.
 * A write with O_DSYNC, O_SYNC or RWF_DSYNC is durable by itself, as with FUA.  Held are data, not
 * metadata: names and sizes are durable at once.
 *
 * Gate: alone, but for content_read() and content_write() of a plain request.
 */
#ifndef FAULTFS_POWER_H
#define FAULTFS_POWER_H

#include <sys/types.h>

#include "tests/faultfs/fs.h"

struct cut_counts {
    uint64_t pending, kept, dropped, torn; /* writes */
};

/* Bytes or -errno; short at the end of the file only. */
ssize_t content_read(struct node *node, void *bytes, size_t size_bytes, uint64_t offset);
/* 0 or -errno. */
int content_write(struct fs *fs, struct node *node, const void *bytes, size_t size_bytes,
                  uint64_t offset, bool durable) __attribute__((warn_unused_result));
void power_flush(struct fs *fs, struct node *node);
void power_drop(struct node *node);                        /* everything unflushed of one file */
void power_shrunk(struct node *node, uint64_t size_bytes); /* nothing beyond comes back */
/* -EINVAL: no such mode (all prefix random torn keepall reorder). */
int power_cut(struct fs *fs, const char *mode, uint64_t seed, struct cut_counts *counts)
    __attribute__((warn_unused_result));

#endif
