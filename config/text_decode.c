/* text_decode.c - byte order marks and UTF-16 (see text_decode.h). */
#include "config/text_decode.h"

#include <errno.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "config/alloc.h"

static const char binary_problem[] =
    "contains zero bytes: not a text file (UTF-16 is read when it begins with a byte order mark)";

static size_t put_utf8(uint32_t code, char *out)
{
    if (code < 0x80) {
        out[0] = (char)code;
        return 1;
    }
    if (code < 0x800) {
        out[0] = (char)(0xc0 | code >> 6);
        out[1] = (char)(0x80 | (code & 0x3f));
        return 2;
    }
    if (code < 0x10000) {
        out[0] = (char)(0xe0 | code >> 12);
        out[1] = (char)(0x80 | (code >> 6 & 0x3f));
        out[2] = (char)(0x80 | (code & 0x3f));
        return 3;
    }
    out[0] = (char)(0xf0 | code >> 18);
    out[1] = (char)(0x80 | (code >> 12 & 0x3f));
    out[2] = (char)(0x80 | (code >> 6 & 0x3f));
    out[3] = (char)(0x80 | (code & 0x3f));
    return 4;
}

static uint32_t unit_at(const unsigned char *bytes, size_t index, bool big_endian)
{
    uint32_t first = bytes[2 * index];
    uint32_t second = bytes[2 * index + 1];

    return big_endian ? first << 8 | second : second << 8 | first;
}

/* The code point at *index, which is moved behind it; UINT32_MAX for half a surrogate pair. */
static uint32_t next_code(const unsigned char *bytes, size_t count, size_t *index, bool big_endian)
{
    uint32_t high = unit_at(bytes, (*index)++, big_endian);

    if (high < 0xd800 || high > 0xdfff) {
        return high;
    }
    if (high > 0xdbff || *index == count) {
        return UINT32_MAX;
    }
    uint32_t low = unit_at(bytes, *index, big_endian);
    if (low < 0xdc00 || low > 0xdfff) {
        return UINT32_MAX;
    }
    (*index)++;
    return 0x10000 + ((high - 0xd800) << 10 | (low - 0xdc00));
}

static int decode_utf16(const unsigned char *bytes, size_t size_bytes, bool big_endian, char *out,
                        size_t *length, const char **problem)
{
    size_t count = size_bytes / 2;
    size_t used = 0;

    if (size_bytes % 2 != 0) {
        *problem = "is UTF-16 and ends in the middle of a character: the file was cut";
        return -EINVAL;
    }
    for (size_t i = 0; i < count;) {
        uint32_t code = next_code(bytes, count, &i, big_endian);
        if (code == 0) {
            *problem = binary_problem;
            return -EINVAL;
        }
        if (code == UINT32_MAX) {
            *problem = "begins like UTF-16 but is not: half a surrogate pair";
            return -EINVAL;
        }
        used += put_utf8(code, out + used);
    }
    *length = used;
    return 0;
}

int text_decode(const char *bytes, size_t size_bytes, char **out, size_t *length,
                const char **problem)
{
    const unsigned char *raw = (const unsigned char *)bytes;
    bool little = size_bytes >= 2 && raw[0] == 0xff && raw[1] == 0xfe;
    bool big = size_bytes >= 2 && raw[0] == 0xfe && raw[1] == 0xff;
    int rc = 0;

    if (little || big) {
        /* two bytes become three at most */
        *out = alloc_zeroed(size_bytes / 2 * 3 + 1, 1);
        rc = decode_utf16(raw + 2, size_bytes - 2, big, *out, length, problem);
    } else {
        size_t skip = size_bytes >= 3 && memcmp(raw, "\xef\xbb\xbf", 3) == 0 ? 3 : 0;
        *length = size_bytes - skip;
        *out = alloc_zeroed(*length + 1, 1);
        if (*length > 0) {
            memcpy(*out, bytes + skip, *length);
        }
        if (memchr(*out, '\0', *length) != NULL) {
            *problem = binary_problem;
            rc = -EINVAL;
        }
    }
    if (rc != 0) {
        free(*out);
        *out = NULL;
    }
    return rc;
}
