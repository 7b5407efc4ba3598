/*
 * wrap.h - a device that is smaller than it says: addresses of a file modulo a number of bytes.
 * Who wrote a sector last is kept, so that the truth log knows which reads met another's content.
 */
#ifndef FAULTFS_WRAP_H
#define FAULTFS_WRAP_H

#include "tests/faultfs/node.h"

/* How many of the bytes from offset on lie together. */
size_t wrap_piece(const struct node *node, uint64_t offset, size_t size_bytes);
void wrap_written(struct node *node, uint64_t offset, size_t size_bytes);
void wrap_read(struct node *node, uint64_t offset, size_t size_bytes);

#endif
