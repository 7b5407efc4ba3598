/* memory.c - see memory.h. */
#include "tests/faultfs/memory.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static void *demand(void *memory)
{
    if (!memory) {
        fprintf(stderr, "faultfs: out of memory; the mount ends\n");
        exit(1);
    }
    return memory;
}

void *memory_zeroed(size_t bytes)
{
    return demand(calloc(1, bytes ? bytes : 1));
}

void *memory_resize(void *old, size_t bytes)
{
    return demand(realloc(old, bytes ? bytes : 1));
}

void *memory_copy(const void *from, size_t bytes)
{
    return memcpy(memory_zeroed(bytes), from, bytes);
}

char *memory_text(const char *format, ...)
{
    char *text = NULL;
    va_list list;
    va_start(list, format);
    if (vasprintf(&text, format, list) < 0)
        text = NULL;
    va_end(list);
    return demand(text);
}
