/*
 * alloc.h - memory for settings.
 *
 * Settings are a few kilobytes read before anything starts: when there is no memory for them there
 * is no run to save, so these abort instead of returning NULL.  Memory is released with free().
 */
#ifndef CONFIG_ALLOC_H
#define CONFIG_ALLOC_H

#include <stddef.h>

/* count elements of size_bytes, all zero; never NULL. */
void *alloc_zeroed(size_t count, size_t size_bytes) __attribute__((warn_unused_result));
/* As reallocarray(); the added part is not cleared; never NULL. */
void *alloc_resized(void *old, size_t count, size_t size_bytes) __attribute__((warn_unused_result));
/* A copy of text; never NULL. */
char *alloc_text(const char *text) __attribute__((warn_unused_result));
/* printf into fresh memory; never NULL. */
char *alloc_printf(const char *format, ...)
    __attribute__((format(printf, 1, 2), warn_unused_result));

#endif
