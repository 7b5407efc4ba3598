/* ini_values.c - canonical text to iniparser and back (see ini_values.h). */
#include "config/ini_values.h"

#include <assert.h>
#include <errno.h>
#include <iniparser.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "config/alloc.h"

#define PART_BYTES 256 /* of a value; escaped at most three times that, below iniparser's 1,024 */

static const char hex_digits[] = "0123456789abcdef";

static bool passes(char c)
{
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '.' ||
           c == '/' || c == '_' || c == '-';
}

/* "kI.P=v" and the escaped part: never empty, never anything that iniparser looks at. */
static void write_part(FILE *out, size_t index, size_t part, const char *text, size_t length)
{
    fprintf(out, "k%zu.%zu=v", index, part);
    for (size_t i = 0; i < length; i++) {
        unsigned char c = (unsigned char)text[i];
        if (passes(text[i])) {
            fputc(c, out);
        } else {
            fprintf(out, "%%%02x", c);
        }
    }
    fputc('\n', out);
}

static void write_value(FILE *out, size_t index, const char *value)
{
    size_t length = strlen(value);
    size_t part = 0;

    do {
        size_t now = length > PART_BYTES ? PART_BYTES : length;
        write_part(out, index, part++, value, now);
        value += now;
        length -= now;
    } while (length > 0);
}

static int write_canonical(int fd, const char *const *values, size_t count)
{
    int copy = dup(fd);
    FILE *out = copy >= 0 ? fdopen(copy, "w") : NULL;

    if (out == NULL) {
        int error = errno;
        if (copy >= 0) {
            close(copy);
        }
        return -error;
    }
    fputs("[s]\n", out);
    for (size_t i = 0; i < count; i++) {
        write_value(out, i, values[i]);
    }
    bool failed = ferror(out) != 0;
    return fclose(out) != 0 || failed ? -EIO : 0;
}

static char unescape(const char **cursor)
{
    const char *at = *cursor;

    if (at[0] != '%') {
        *cursor = at + 1;
        return at[0];
    }
    const char *high = at[1] != '\0' ? strchr(hex_digits, at[1]) : NULL;
    const char *low = high != NULL && at[2] != '\0' ? strchr(hex_digits, at[2]) : NULL;
    assert(low != NULL); /* we wrote it */
    *cursor = at + 3;
    return (char)((high - hex_digits) << 4 | (low - hex_digits));
}

/* NULL when a part is missing: iniparser ran out of memory and said nothing. */
static char *read_value(const dictionary *parsed, size_t index, size_t length)
{
    char *value = alloc_zeroed(length + 1, 1);
    size_t used = 0;
    size_t part = 0;

    do {
        char key[64];
        snprintf(key, sizeof(key), "s:k%zu.%zu", index, part++);
        const char *text = iniparser_getstring(parsed, key, NULL);
        if (text == NULL || text[0] != 'v') {
            free(value);
            return NULL;
        }
        for (text++; *text != '\0' && used < length;) {
            value[used++] = unescape(&text);
        }
    } while (used < length);
    return value;
}

static int read_values(int fd, const char *const *values, size_t count, char **out)
{
    char path[64];
    size_t done = 0;

    snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
    dictionary *parsed = iniparser_load(path);
    if (parsed == NULL) {
        return -EIO;
    }
    for (; done < count; done++) {
        out[done] = read_value(parsed, done, strlen(values[done]));
        if (out[done] == NULL) {
            break;
        }
    }
    iniparser_freedict(parsed);
    if (done == count) {
        return 0;
    }
    while (done > 0) {
        free(out[--done]);
    }
    return -ENOMEM;
}

int ini_values_read(const char *const *values, size_t count, char **out)
{
    int fd = memfd_create("pagestorm-settings", MFD_CLOEXEC); /* 4.1 reads files only */
    int rc;

    assert(count <= INI_VALUES_MAX);
    if (fd < 0) {
        return -errno;
    }
    rc = write_canonical(fd, values, count);
    if (rc == 0) {
        rc = read_values(fd, values, count, out);
    }
    close(fd);
    return rc;
}
