/*
 * wrap.h - running text in columns, for help and lists.
 */
#ifndef CONFIG_WRAP_H
#define CONFIG_WRAP_H

#include <stddef.h>
#include <stdio.h>

/* Print text from column at (0-based, where the cursor is now) and break it at blanks before width;
 * further lines are indented.  Ends the last line. */
void wrap_print(FILE *out, const char *text, size_t at, size_t indent, size_t width);

#endif
