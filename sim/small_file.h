/*
 * small_file.h - the short texts of /proc, /sys and /etc.
 *
 * Each function says "not there" instead of failing: what a system does not tell is unknown, which
 * is for the caller to say.  Nothing is ever written.
 *
 * Threads: pure functions.  Ownership: small_file_whole() gives fresh memory.
 */
#ifndef SIM_SMALL_FILE_H
#define SIM_SMALL_FILE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define SMALL_FILE_TEXT_MAX 256
#define SMALL_FILE_PATH_MAX 1024

/* First line of folder/name, without its end; false if it is not there or empty. */
bool small_file_text(const char *folder, const char *name, char *out, size_t out_size_bytes);
/* One decimal number and nothing else; *out stays where there is none. */
bool small_file_number(const char *folder, const char *name, uint64_t *out);
/* The whole text; "" when it cannot be read, NULL without memory. */
char *small_file_whole(const char *path) __attribute__((warn_unused_result));

#endif
