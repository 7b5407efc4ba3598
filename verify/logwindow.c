/*
 * logwindow.c - an aligned window over a log file (see logwindow.h).
 *
 * A request that straddles the end of the window reads the window again from there: blocks are at
 * most 60 KiB of 1 MiB, so that little is read twice.
 */
#include "verify/logwindow.h"

#include <assert.h>

static bool inside(const struct log_window *window, uint64_t offset, size_t size_bytes)
{
    return offset >= window->start && offset - window->start <= window->filled_bytes &&
           size_bytes <= window->filled_bytes - (offset - window->start);
}

static uint64_t align_up(uint64_t value)
{
    return (value + LOG_READ_ALIGN_BYTES - 1) / LOG_READ_ALIGN_BYTES * LOG_READ_ALIGN_BYTES;
}

static int refill(struct log_window *window, uint64_t offset, uint64_t want_bytes)
{
    uint64_t start = offset / LOG_READ_ALIGN_BYTES * LOG_READ_ALIGN_BYTES;
    uint64_t size = align_up(offset - start + want_bytes);
    if (size > LOG_WINDOW_BYTES)
        size = LOG_WINDOW_BYTES;
    if (size > window->file_bytes - start)
        size = window->file_bytes - start;
    window->filled_bytes = 0;
    window->error = window->reader->read(window->reader->context, start, window->buf, size);
    if (window->error != 0)
        return window->error;
    window->start = start;
    window->filled_bytes = size;
    return 0;
}

void log_window_turn(struct log_window *window, const struct log_reader *reader,
                     uint64_t file_bytes)
{
    if (window->reader == reader)
        return;
    window->reader = reader;
    window->file_bytes = file_bytes;
    window->filled_bytes = 0;
}

const uint8_t *log_window_get(struct log_window *window, uint64_t offset, size_t size_bytes,
                              uint64_t ahead_bytes)
{
    assert(offset <= window->file_bytes && size_bytes <= window->file_bytes - offset);
    assert(size_bytes + LOG_READ_ALIGN_BYTES <= LOG_WINDOW_BYTES);
    if (window->error != 0)
        return NULL;
    if (!inside(window, offset, size_bytes)) {
        uint64_t want = ahead_bytes > LOG_WINDOW_BYTES ? LOG_WINDOW_BYTES : ahead_bytes;
        if (refill(window, offset, size_bytes > want ? size_bytes : want) != 0)
            return NULL;
    }
    return window->buf + (offset - window->start);
}
