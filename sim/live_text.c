/*
 * live_text.c - how wide a text is on a terminal.
 *
 * The usual wide (East Asian, emoji) and zero-width ranges; what is no UTF-8 counts a column a
 * byte. What it does not do: ask the locale, which may be C while the terminal is not.
 */
#include "sim/live_view.h"

#include <string.h>

struct range {
    uint32_t first, last;
};

static const struct range zero_width[] = {
    {0x0300, 0x036F}, {0x200B, 0x200F}, {0x202A, 0x202E}, {0x20D0, 0x20FF}, {0xFE00, 0xFE0F},
};
static const struct range wide[] = {
    {0x1100, 0x115F}, {0x2E80, 0xA4CF}, {0xAC00, 0xD7A3},   {0xF900, 0xFAFF},   {0xFE30, 0xFE6F},
    {0xFF00, 0xFF60}, {0xFFE0, 0xFFE6}, {0x1F300, 0x1FAFF}, {0x20000, 0x3FFFD},
};

static bool is_in(uint32_t c, const struct range *ranges, size_t count)
{
    for (size_t i = 0; i < count; i++)
        if (c >= ranges[i].first && c <= ranges[i].last)
            return true;
    return false;
}

static unsigned char_columns(uint32_t c)
{
    if (is_in(c, zero_width, sizeof zero_width / sizeof zero_width[0]))
        return 0;
    return is_in(c, wide, sizeof wide / sizeof wide[0]) ? 2 : 1;
}

/* Bytes of the character at text; its code in *out, 0 for a byte that is no UTF-8. */
static unsigned decode(const unsigned char *text, uint32_t *out)
{
    unsigned length = *text < 0x80 ? 1 : *text >= 0xF0 ? 4 : *text >= 0xE0 ? 3 : 2;
    uint32_t c = length == 1 ? *text : *text & (0x7Fu >> length);
    *out = 0;
    if (*text >= 0x80 && *text < 0xC0)
        return 1;
    for (unsigned i = 1; i < length; i++) {
        if ((text[i] & 0xC0) != 0x80)
            return 1;
        c = c << 6 | (text[i] & 0x3F);
    }
    *out = c;
    return length;
}

/* Bytes of text that fit into so many columns; *used: the columns that they take. */
static size_t fitting(const char *text, unsigned columns, unsigned *used)
{
    size_t at = 0;
    *used = 0;
    while (text[at]) {
        uint32_t c;
        unsigned bytes = decode((const unsigned char *)text + at, &c);
        unsigned more = char_columns(c);
        if (*used + more > columns)
            break;
        *used += more;
        at += bytes;
    }
    return at;
}

unsigned live_text_columns(const char *text)
{
    unsigned used;
    fitting(text, UINT32_MAX, &used);
    return used;
}

void live_text_cut(char *text, unsigned columns, const char *mark)
{
    unsigned used;
    if (live_text_columns(text) <= columns)
        return;
    char *end = text + fitting(text, columns ? columns - 1 : 0, &used);
    const char *last = columns ? mark : "";
    memcpy(end, last, strlen(last) + 1);
}
