/* small_file.c - see small_file.h. */
#include "sim/small_file.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

bool small_file_text(const char *folder, const char *name, char *out, size_t out_size_bytes)
{
    char path[SMALL_FILE_PATH_MAX];
    int length = snprintf(path, sizeof path, "%s/%s", folder, name);
    out[0] = '\0';
    if (length < 0 || (size_t)length >= sizeof path)
        return false;
    int fd = open(path, O_RDONLY | O_NONBLOCK | O_CLOEXEC);
    if (fd < 0)
        return false;
    ssize_t got = read(fd, out, out_size_bytes - 1);
    close(fd);
    if (got <= 0) {
        out[0] = '\0';
        return false;
    }
    out[got] = '\0';
    out[strcspn(out, "\n")] = '\0';
    return out[0] != '\0';
}

bool small_file_number(const char *folder, const char *name, uint64_t *out)
{
    char text[SMALL_FILE_TEXT_MAX], *end;
    if (!small_file_text(folder, name, text, sizeof text))
        return false;
    errno = 0;
    uint64_t value = strtoull(text, &end, 10);
    if (end == text || *end != '\0' || errno != 0)
        return false;
    *out = value;
    return true;
}

char *small_file_whole(const char *path)
{
    char *text = NULL;
    size_t size = 0, length = 0;
    FILE *file = fopen(path, "re");
    do {
        if (length + 1 >= size) {
            size = size * 2 + 4096;
            char *more = realloc(text, size);
            if (!more) {
                free(text);
                text = NULL;
                break;
            }
            text = more;
        }
        size_t got = file ? fread(text + length, 1, size - length - 1, file) : 0;
        length += got;
        text[length] = '\0';
        if (got == 0)
            break;
    } while (true);
    if (file)
        fclose(file);
    return text;
}
