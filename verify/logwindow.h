/*
 * logwindow.h - an aligned window over a log file, for logscan.c.
 *
 * Invariants: reads are multiples of LOG_READ_ALIGN_BYTES as far as the file's size allows; what
 * window_get returned is valid until the next call; nothing outside the file is ever asked for.
 * Memory is the caller's.  One thread.
 */
#ifndef VERIFY_LOGWINDOW_H
#define VERIFY_LOGWINDOW_H

#include "verify/logscan.h"

#define LOG_WINDOW_BYTES (1u << 20) /* one read, the size at which devices read at full speed */

struct log_window {
    const struct log_reader *reader;
    uint64_t file_bytes;
    uint8_t *buf;        /* LOG_WINDOW_BYTES, aligned to LOG_READ_ALIGN_BYTES */
    uint64_t start;      /* file offset of buf */
    size_t filled_bytes; /* 0: nothing read yet */
    int error;           /* of the first failed read; stays */
};

/* Look at another file from now on. */
void log_window_turn(struct log_window *window, const struct log_reader *reader,
                     uint64_t file_bytes);
/* size_bytes at offset (both inside the file), or NULL after a failed read.  ahead_bytes: how much
 * of what follows will be wanted, too, if a read is needed; at most LOG_WINDOW_BYTES in all. */
const uint8_t *log_window_get(struct log_window *window, uint64_t offset, size_t size_bytes,
                              uint64_t ahead_bytes);

#endif
