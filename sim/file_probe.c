/* file_probe.c - look at a path and at what stands there, without changing anything. */
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <unistd.h>

#include "sim/file_parts.h"

static bool may_change(const struct file_place *place)
{
    return faccessat(AT_FDCWD, place->directory, W_OK | X_OK, AT_EACCESS) == 0;
}

static enum file_owner probe_absent(const struct file_place *place, char *message)
{
    if (!may_change(place)) {
        (void)file_fail(message, 0,
                        "%s cannot be created: the directory %s is not writable (%s). Change its "
                        "permissions or choose another directory.",
                        place->path, place->directory, strerror(errno));
        return FILE_DIRECTORY_BAD;
    }
    (void)file_fail(message, 0, "%s does not exist and can be created.", place->path);
    return FILE_ABSENT;
}

static enum file_owner probe_existing(const char *path, struct file_mark *mark, char *message)
{
    int fd;
    struct stat st;
    if (file_open_regular(path, O_RDONLY, &fd, &st, message) < 0)
        return FILE_FOREIGN;
    enum file_owner owner = FILE_FOREIGN;
    if (file_read_mark(fd, path, mark, message) == 0)
        owner = file_is_locked(fd) ? FILE_IN_USE : FILE_OURS;
    close(fd);
    if (owner == FILE_IN_USE)
        (void)file_fail(message, 0,
                        "%s is in use by another pagestorm. Wait for that run to end, or choose "
                        "another name.",
                        path);
    if (owner == FILE_OURS)
        (void)file_fail(message, 0,
                        "%s is a file of an earlier run. DeleteFilesAtStartup=TRUE replaces it; "
                        "\"pagestorm clean\" removes it.",
                        path);
    return owner;
}

/* An old file of ours is replaced, which takes a directory that can be written to. */
static enum file_owner probe_own(const struct file_place *place, struct file_mark *mark,
                                 char *message)
{
    enum file_owner owner = probe_existing(place->path, mark, message);
    if (owner != FILE_OURS || may_change(place))
        return owner;
    (void)file_fail(message, 0,
                    "%s cannot be replaced: the directory %s is not writable (%s). Change its "
                    "permissions or choose another directory.",
                    place->path, place->directory, strerror(errno));
    return FILE_DIRECTORY_BAD;
}

static enum file_owner probe_place(const struct file_place *place, struct file_mark *mark,
                                   char *message)
{
    struct stat st;
    if (lstat(place->path, &st) == 0)
        return probe_own(place, mark, message);
    if (errno == ENOENT)
        return probe_absent(place, message);
    (void)file_fail(message, 0,
                    "%s: the directory %s cannot be used (%s). Check its permissions and that it "
                    "is a directory.",
                    place->path, place->directory, strerror(errno));
    return FILE_DIRECTORY_BAD;
}

enum file_owner file_probe(const char *path, struct file_mark *mark, char *message)
{
    struct file_mark unused;
    struct file_place place;
    int r = file_place_find(&place, path, message);
    if (r < 0)
        return r == -EISDIR ? FILE_FOREIGN : FILE_DIRECTORY_BAD;
    enum file_owner owner = probe_place(&place, mark ? mark : &unused, message);
    file_place_free(&place);
    return owner;
}
