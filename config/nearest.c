/* nearest.c - edit distance between names (optimal string alignment). */
#include "config/nearest.h"

#include <limits.h>
#include <stddef.h>
#include <string.h>

#define NAME_MAX_LENGTH 40 /* longer than any option or section name */

static char lower(char c)
{
    return c >= 'A' && c <= 'Z' ? (char)(c | 0x20) : c;
}

static unsigned least(unsigned a, unsigned b)
{
    return a < b ? a : b;
}

unsigned nearest_distance(const char *a, const char *b)
{
    unsigned table[NAME_MAX_LENGTH + 1][NAME_MAX_LENGTH + 1];
    size_t rows = strlen(a);
    size_t columns = strlen(b);

    if (rows > NAME_MAX_LENGTH || columns > NAME_MAX_LENGTH) {
        return UINT_MAX;
    }
    for (size_t i = 0; i <= rows; i++) {
        for (size_t j = 0; j <= columns; j++) {
            if (i == 0 || j == 0) {
                table[i][j] = (unsigned)(i + j);
                continue;
            }
            unsigned change = lower(a[i - 1]) != lower(b[j - 1]);
            unsigned edits = least(table[i - 1][j] + 1, table[i][j - 1] + 1);
            edits = least(edits, table[i - 1][j - 1] + change);
            if (i > 1 && j > 1 && lower(a[i - 1]) == lower(b[j - 2]) &&
                lower(a[i - 2]) == lower(b[j - 1])) {
                edits = least(edits, table[i - 2][j - 2] + 1);
            }
            table[i][j] = edits;
        }
    }
    return table[rows][columns];
}

void nearest_init(struct nearest *nearest, const char *word)
{
    *nearest = (struct nearest){.word = word, .distance = UINT_MAX};
}

void nearest_offer(struct nearest *nearest, const char *candidate)
{
    unsigned distance = nearest_distance(nearest->word, candidate);

    if (distance < nearest->distance) {
        nearest->best = candidate;
        nearest->distance = distance;
    }
}

const char *nearest_name(const struct nearest *nearest)
{
    /* A third of the letters wrong is still a slip; more is another word. */
    size_t allowed = (strlen(nearest->word) + 2) / 3;

    return nearest->best != NULL && nearest->distance <= allowed ? nearest->best : NULL;
}
