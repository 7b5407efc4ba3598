/*
 * live_view.h - from the state of a run to the lines that stand on a terminal.
 *
 * Pure.  No line is wider than the width, counted in columns of the terminal (UTF-8, wide and
 * combining characters), whatever is in it.  Nine lines from 80 columns on, five below.
 */
#ifndef SIM_LIVE_VIEW_H
#define SIM_LIVE_VIEW_H

#include <stddef.h>

#include "sim/live.h"

#define LIVE_LINES_MAX  9
#define LIVE_LINE_BYTES 512
#define LIVE_WIDTH_FULL 80
#define LIVE_PLAIN_MAX  512

struct live_style {
    unsigned width;  /* columns */
    unsigned height; /* lines that there is room for */
    bool utf8;       /* sparklines of block characters, else of ASCII */
    bool colour;     /* findings stand out; the words say the same */
};

/* The number of lines; without line ends. */
unsigned live_view_lines(const struct live *live, const struct live_style *style,
                         char lines[LIVE_LINES_MAX][LIVE_LINE_BYTES]);
/* The same for a file or a pipe: one line, of any width. */
void live_view_plain(const struct live *live, char out[LIVE_PLAIN_MAX]);

/* Columns that text takes on a terminal. */
unsigned live_text_columns(const char *text);
/* Cut text, in place, to at most so many columns; mark (one column) then takes the last one, so
 * that half a number is not read as a number.  Room for mark must be behind the text. */
void live_text_cut(char *text, unsigned columns, const char *mark);

#endif
