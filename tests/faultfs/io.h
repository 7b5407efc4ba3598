/*
 * io.h - one transfer through all of it: freeze, delays, power, rules, damage, content.
 *
 * Threads: any.  Sizes are bytes; results are bytes or -errno.
 */
#ifndef FAULTFS_IO_H
#define FAULTFS_IO_H

#include <sys/types.h>

#include "tests/faultfs/shot.h"

ssize_t io_read(struct fs *fs, struct request *request);
ssize_t io_write(struct fs *fs, struct request *request);
int io_sync(struct fs *fs, struct request *request) __attribute__((warn_unused_result));
/* A change of a file's size or blocks by the program itself: what it cuts off is gone. */
void io_cut_off(struct fs *fs, struct node *node, uint64_t size_bytes);
/* Space that reads as zeros from now on: as a write would. */
void io_zeroed(struct fs *fs, struct node *node, uint64_t offset, uint64_t size_bytes);

#endif
