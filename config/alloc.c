/* alloc.c - memory for settings: abort instead of NULL (see alloc.h). */
#include "config/alloc.h"

#include <assert.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static void *must(void *memory)
{
    if (memory == NULL) {
        fputs("pagestorm: no memory for the settings\n", stderr);
        abort();
    }
    return memory;
}

void *alloc_zeroed(size_t count, size_t size_bytes)
{
    return must(calloc(count > 0 ? count : 1, size_bytes > 0 ? size_bytes : 1));
}

void *alloc_resized(void *old, size_t count, size_t size_bytes)
{
    assert(count > 0 && size_bytes > 0);
    return must(reallocarray(old, count, size_bytes));
}

char *alloc_text(const char *text)
{
    return must(strdup(text));
}

char *alloc_printf(const char *format, ...)
{
    char *text = NULL;
    va_list arguments;

    va_start(arguments, format);
    int length = vasprintf(&text, format, arguments);
    va_end(arguments);
    return must(length >= 0 ? text : NULL);
}
