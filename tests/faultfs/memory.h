/* memory.h - allocation that cannot fail: a daemon without memory ends, and its mount with it. */
#ifndef FAULTFS_MEMORY_H
#define FAULTFS_MEMORY_H

#include <stddef.h>

void *memory_zeroed(size_t bytes);
void *memory_resize(void *old, size_t bytes);
void *memory_copy(const void *from, size_t bytes);
char *memory_text(const char *format, ...) __attribute__((format(printf, 1, 2)));

#endif
