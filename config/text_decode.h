/*
 * text_decode.h - the bytes of a text file become UTF-8 without a byte order mark.
 *
 * UTF-8 is passed through (bytes that are not UTF-8 are kept: old files name paths in other
 * encodings); UTF-16 needs its byte order mark.  A zero byte means that the file is no text.
 */
#ifndef CONFIG_TEXT_DECODE_H
#define CONFIG_TEXT_DECODE_H

#include <stddef.h>

/* malloc'd, zero-terminated text in *out and its length without the zero.  0, or -EINVAL with
 * *problem set to a sentence for people. */
int text_decode(const char *bytes, size_t size_bytes, char **out, size_t *length,
                const char **problem) __attribute__((warn_unused_result));

#endif
