/* snapshot.c - see snapshot.h. */
#include "tests/faultfs/snapshot.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <fnmatch.h>
#include <stdlib.h>
#include <string.h>
#include <sys/sendfile.h>
#include <unistd.h>

#include "tests/faultfs/damage.h"
#include "tests/faultfs/memory.h"
#include "tests/faultfs/power.h"

struct copy {
    struct copy *next;
    char *path;
    int fd; /* without a name */
};

struct snapshot {
    struct snapshot *next;
    char name[64];
    struct copy *copies;
    int count;
};

static int copy_file(struct fs *fs, struct snapshot *snapshot, const char *path)
{
    int from = openat(fs->nodes.root_fd, path, O_RDONLY | O_CLOEXEC);
    int to = openat(fs->nodes.root_fd, ".", O_TMPFILE | O_RDWR | O_CLOEXEC, 0600);
    ssize_t n = from < 0 || to < 0 ? -1 : 1;
    while (n > 0)
        n = sendfile(to, from, NULL, 1 << 24);
    int rc = n < 0 ? -errno : 0;
    if (from >= 0)
        close(from);
    if (rc) {
        if (to >= 0)
            close(to);
        return rc;
    }
    struct copy *copy = memory_zeroed(sizeof *copy);
    *copy = (struct copy){snapshot->copies, memory_text("%s", path), to};
    snapshot->copies = copy;
    snapshot->count++;
    return 0;
}

static int copy_directory(struct fs *fs, struct snapshot *snapshot, const char *path)
{
    int fd = openat(fs->nodes.root_fd, path, O_DIRECTORY | O_RDONLY | O_CLOEXEC), rc = 0;
    DIR *directory = fd < 0 ? NULL : fdopendir(fd);
    if (!directory)
        return -errno;
    for (struct dirent *entry; rc == 0 && (entry = readdir(directory));) {
        if (strcmp(entry->d_name, ".") == 0 || strcmp(entry->d_name, "..") == 0)
            continue;
        char *child = strcmp(path, ".") == 0 ? memory_text("%s", entry->d_name)
                                             : memory_text("%s/%s", path, entry->d_name);
        if (entry->d_type == DT_DIR)
            rc = copy_directory(fs, snapshot, child);
        else if (entry->d_type == DT_REG)
            rc = copy_file(fs, snapshot, child);
        free(child);
    }
    closedir(directory);
    return rc;
}

static struct snapshot *find(struct fs *fs, const char *name)
{
    struct snapshot *snapshot = fs->snapshots;
    while (snapshot && strcmp(snapshot->name, name) != 0)
        snapshot = snapshot->next;
    return snapshot;
}

static void empty(struct snapshot *snapshot)
{
    while (snapshot->copies) {
        struct copy *copy = snapshot->copies;
        snapshot->copies = copy->next;
        close(copy->fd);
        free(copy->path);
        free(copy);
    }
    snapshot->count = 0;
}

int snapshot_take(struct fs *fs, const char *name)
{
    struct snapshot *snapshot = find(fs, name);
    if (snapshot) {
        empty(snapshot);
    } else {
        snapshot = memory_zeroed(sizeof *snapshot);
        snprintf(snapshot->name, sizeof snapshot->name, "%s", name);
        snapshot->next = fs->snapshots;
        fs->snapshots = snapshot;
    }
    int rc = copy_directory(fs, snapshot, ".");
    return rc ? rc : snapshot->count;
}

int snapshot_read(struct fs *fs, const char *name, const struct node *node, void *bytes,
                  size_t size_bytes, uint64_t offset)
{
    const struct snapshot *snapshot = find(fs, name);
    char *path = node_path(&fs->nodes, node);
    int rc = -ENODATA;
    for (const struct copy *copy = snapshot ? snapshot->copies : NULL; copy; copy = copy->next)
        if (strcmp(copy->path, path) == 0) {
            unsigned char *found = memory_zeroed(size_bytes);
            if (pread(copy->fd, found, size_bytes, (off_t)offset) == (ssize_t)size_bytes) {
                memcpy(bytes, found, size_bytes);
                rc = 0;
            }
            free(found);
        }
    free(path);
    return rc;
}

static int restore_one(struct fs *fs, const struct copy *copy, const char *name)
{
    struct stat then, now;
    struct node *node = node_by_path(&fs->nodes, copy->path);
    if (!node || fstat(copy->fd, &then) < 0 || fstat(node->fd, &now) < 0)
        return -ENOENT;
    size_t size = (size_t)(then.st_size < now.st_size ? then.st_size : now.st_size);
    unsigned char *good = memory_zeroed(size), *bad = memory_zeroed(size);
    ssize_t n = content_read(node, good, size, 0);
    ssize_t m = pread(copy->fd, bad, size, 0);
    int rc = -EIO;
    if (n == (ssize_t)size && m == (ssize_t)size) {
        damage_rewritten(node, 0, size);
        struct event *event = truth_event(&fs->truth, 0, 'c', "rollback");
        event->note = memory_text("snapshot=%s", name);
        const struct patch patch = {event, node, 0, size, good, bad, .durable = true};
        rc = damage_patch(fs, &patch);
    }
    free(good);
    free(bad);
    return rc;
}

int snapshot_restore(struct fs *fs, const char *name, const char *glob)
{
    const struct snapshot *snapshot = find(fs, name);
    int count = snapshot ? 0 : -ENOENT;
    for (const struct copy *copy = snapshot ? snapshot->copies : NULL; copy; copy = copy->next)
        if (fnmatch(glob, copy->path, 0) == 0)
            count += restore_one(fs, copy, name) == 0;
    return count;
}

int snapshot_truncate(struct fs *fs, const char *path, uint64_t size_bytes)
{
    struct stat st;
    struct node *node = node_by_path(&fs->nodes, path);
    if (!node || fstat(node->fd, &st) < 0)
        return -ENOENT;
    if (size_bytes >= (uint64_t)st.st_size)
        return -EINVAL;
    if (ftruncate(node->fd, (off_t)size_bytes) < 0)
        return -errno;
    damage_gone(node, size_bytes);
    power_shrunk(node, size_bytes);
    struct event *event = truth_event(&fs->truth, 0, 'c', "truncate");
    truth_place(event, path, size_bytes, (size_t)st.st_size - size_bytes, NULL, NULL)->sectors =
        ((uint64_t)st.st_size - size_bytes) / SECTOR_BYTES;
    return 0;
}
