/* file_path.c - where a file is to stand: absolute path, directory, name; and messages. */
#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "sim/file_parts.h"

int file_fail(char *message, int error, const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(message, FILE_MESSAGE_MAX, format, arguments);
    va_end(arguments);
    return error;
}

static char *directory_of(const char *path, const char *name)
{
    if (name == path)
        return strdup(".");
    size_t length = (size_t)(name - path);
    while (length > 1 && path[length - 1] == '/')
        length--;
    return strndup(path, length);
}

static int join(struct file_place *place, const char *name)
{
    const char *slash = strcmp(place->directory, "/") == 0 ? "" : "/";
    if (asprintf(&place->path, "%s%s%s", place->directory, slash, name) < 0) {
        place->path = NULL;
        return -ENOMEM;
    }
    place->name = place->path + strlen(place->path) - strlen(name);
    return 0;
}

int file_place_find(struct file_place *place, const char *path, char *message)
{
    *place = (struct file_place){0};
    const char *slash = strrchr(path, '/');
    const char *name = slash ? slash + 1 : path;
    if (*name == '\0' || strcmp(name, ".") == 0 || strcmp(name, "..") == 0)
        return file_fail(message, -EISDIR,
                         "\"%s\" names a directory where a file is needed. Add a file name.", path);
    char *given = directory_of(path, name);
    if (given == NULL)
        return file_fail(message, -ENOMEM, "%s: no memory for its path.", path);
    place->directory = realpath(given, NULL);
    int r = place->directory ? 0 : -errno;
    if (r < 0)
        (void)file_fail(
            message, r,
            "%s: the directory %s cannot be used (%s). Directories are not created, "
            "because a missing mount point would put the load on another disk: mount or "
            "create it first.",
            path, given, strerror(-r));
    free(given);
    if (r == 0 && (r = join(place, name)) < 0)
        (void)file_fail(message, r, "%s: no memory for its path.", path);
    if (r < 0)
        file_place_free(place);
    return r;
}

void file_place_free(struct file_place *place)
{
    free(place->path);
    free(place->directory);
    *place = (struct file_place){0};
}

int file_sync_directory(const char *directory, char *message)
{
    int fd = open(directory, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    int r = fd < 0 || fsync(fd) < 0 ? -errno : 0;
    if (fd >= 0)
        close(fd);
    if (r == -EINVAL) /* a file system without fsync of directories: it has nothing to lose there */
        return 0;
    if (r < 0)
        (void)file_fail(message, r,
                        "%s: the change of this directory could not be made durable (%s). Check "
                        "the device and the permissions of the directory.",
                        directory, strerror(-r));
    return r;
}
