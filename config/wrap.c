/* wrap.c - running text in columns. */
#include "config/wrap.h"

#include <stdbool.h>
#include <string.h>

void wrap_print(FILE *out, const char *text, size_t at, size_t indent, size_t width)
{
    size_t column = at;
    bool first_word = true;

    while (*text != '\0') {
        size_t length = strcspn(text, " ");
        if (!first_word && column + 1 + length > width) {
            fprintf(out, "\n%*s", (int)indent, "");
            column = indent;
            first_word = true;
        }
        fprintf(out, "%s%.*s", first_word ? "" : " ", (int)length, text);
        column += length + (first_word ? 0 : 1);
        first_word = false;
        text += length;
        text += strspn(text, " ");
    }
    fputc('\n', out);
}
