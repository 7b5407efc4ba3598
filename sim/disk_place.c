/* disk_place.c - see disk_place.h. */
#include "sim/disk_place.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <linux/fiemap.h>
#include <linux/fs.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <unistd.h>

#include "sim/small_file.h"

#define SYSFS_SECTOR_BYTES 512 /* of start and loop/offset's kin, whatever the disk has */
#define FIEMAP_BATCH       32
#define LOOPS_MAX          3 /* files in files; each takes up to two steps */

/* ---- extents ---- */

/* What has no fixed place of its own bytes on the device. */
#define NOT_PLACED                                                                                 \
    (FIEMAP_EXTENT_UNKNOWN | FIEMAP_EXTENT_DELALLOC | FIEMAP_EXTENT_ENCODED |                      \
     FIEMAP_EXTENT_DATA_INLINE | FIEMAP_EXTENT_NOT_ALIGNED)

#define BATCH_BYTES (sizeof(struct fiemap) + FIEMAP_BATCH * sizeof(struct fiemap_extent))

static struct disk_extent extent_of(const struct fiemap_extent *from)
{
    return (struct disk_extent){
        .file_offset = from->fe_logical,
        .fs_offset = from->fe_physical,
        .size_bytes = from->fe_length,
        .flags = from->fe_flags,
        .placed = !(from->fe_flags & NOT_PLACED),
    };
}

static int extents_of_fd(int fd, uint64_t offset, uint64_t size_bytes, struct disk_extent *out,
                         unsigned max, bool *cut)
{
    uint64_t end = offset + size_bytes, at = offset;
    unsigned count = 0;
    *cut = false;
    while (at < end) {
        _Alignas(struct fiemap) unsigned char bytes[BATCH_BYTES] = {0};
        struct fiemap *map = (struct fiemap *)bytes; /* its extents follow it */
        map->fm_start = at;
        map->fm_length = end - at;
        map->fm_extent_count = FIEMAP_BATCH;
        if (ioctl(fd, FS_IOC_FIEMAP, map))
            return -errno;
        unsigned got = map->fm_mapped_extents;
        for (unsigned i = 0; i < got; i++) {
            if (count == max) {
                *cut = true;
                return (int)count;
            }
            out[count++] = extent_of(&map->fm_extents[i]);
        }
        if (got < FIEMAP_BATCH)
            break;
        at = map->fm_extents[got - 1].fe_logical + map->fm_extents[got - 1].fe_length;
    }
    return (int)count;
}

static int open_look(const char *path)
{
    int fd = open(path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK);
    return fd < 0 ? -errno : fd;
}

int disk_extents_read(const char *path, uint64_t offset, uint64_t size_bytes,
                      struct disk_extent *out, unsigned max, bool *cut)
{
    int fd = open_look(path);
    if (fd < 0)
        return fd;
    int count = extents_of_fd(fd, offset, size_bytes, out, max, cut);
    close(fd);
    return count;
}

/* ---- the way down ---- */

static void why_not(struct disk_place *place, const char *text)
{
    snprintf(place->why_not, sizeof place->why_not, "%s", text);
}

static bool add_step(struct disk_place *place, const char *folder, uint64_t offset, uint64_t base)
{
    uint64_t sector_bytes = SYSFS_SECTOR_BYTES;
    char queue[PATH_MAX + 16];
    if (place->step_count == DISK_STEPS_MAX)
        return false;
    struct disk_step *step = &place->steps[place->step_count++];
    snprintf(queue, sizeof queue, "%s/queue", folder);
    if (!small_file_number(queue, "logical_block_size", &sector_bytes)) {
        snprintf(queue, sizeof queue, "%s/../queue", folder); /* a partition has its disk's */
        (void)!small_file_number(queue, "logical_block_size", &sector_bytes);
    }
    const char *slash = strrchr(folder, '/');
    *step =
        (struct disk_step){.offset = offset, .base = base, .sector_bytes = (uint32_t)sector_bytes};
    snprintf(step->name, sizeof step->name, "%.*s", DRIVE_NAME_MAX - 1, slash ? slash + 1 : folder);
    return true;
}

/* The extent that holds the byte, or NULL. */
static const struct disk_extent *extent_at(const struct disk_extent *extents, unsigned count,
                                           uint64_t offset)
{
    for (unsigned i = 0; i < count; i++)
        if (offset >= extents[i].file_offset &&
            offset - extents[i].file_offset < extents[i].size_bytes)
            return &extents[i];
    return NULL;
}

static void steps_of_device(struct disk_place *place, const char *sysfs, uint64_t device,
                            uint64_t offset, uint64_t base, unsigned loops);

/* Where the byte of a loop device's file lies. */
static void steps_of_loop(struct disk_place *place, const char *sysfs, const char *folder,
                          uint64_t offset, uint64_t base, unsigned loops)
{
    char path[SMALL_FILE_TEXT_MAX];
    uint64_t start = 0;
    struct disk_extent extents[2];
    struct stat st;
    bool cut;
    if (loops == LOOPS_MAX || place->extent_count != 1 ||
        !small_file_text(folder, "loop/backing_file", path, sizeof path))
        return;
    (void)!small_file_number(folder, "loop/offset", &start);
    if (stat(path, &st) || !S_ISREG(st.st_mode) || major(st.st_dev) == 0)
        return;
    int count = disk_extents_read(path, offset + start, place->size_bytes, extents, 2, &cut);
    const struct disk_extent *extent =
        count > 0 ? extent_at(extents, (unsigned)count, offset + start) : NULL;
    if (!extent || !extent->placed ||
        extent->file_offset + extent->size_bytes < offset + start + place->size_bytes)
        return;
    uint64_t below = extent->fs_offset + (offset + start - extent->file_offset);
    steps_of_device(place, sysfs, st.st_dev, below, base + (below - offset), loops + 1);
}

static void steps_of_device(struct disk_place *place, const char *sysfs, uint64_t device,
                            uint64_t offset, uint64_t base, unsigned loops)
{
    char name[SMALL_FILE_PATH_MAX], folder[PATH_MAX], disk[PATH_MAX], text[SMALL_FILE_TEXT_MAX];
    uint64_t start;
    snprintf(name, sizeof name, "%s/dev/block/%u:%u", sysfs, major(device), minor(device));
    if (!realpath(name, folder) || !add_step(place, folder, offset, base))
        return;
    if (small_file_text(folder, "partition", text, sizeof text) &&
        small_file_number(folder, "start", &start)) {
        uint64_t shift = start * SYSFS_SECTOR_BYTES;
        snprintf(name, sizeof name, "%.*s/..", SMALL_FILE_PATH_MAX - 8, folder);
        if (realpath(name, disk))
            (void)add_step(place, disk, offset + shift, base + shift);
    } else {
        steps_of_loop(place, sysfs, folder, offset, base, loops);
    }
}

/* ---- a place ---- */

static void place_steps(struct disk_place *place, const char *sysfs, uint64_t device,
                        uint64_t offset)
{
    const struct disk_extent *extent = extent_at(place->extents, place->extent_count, offset);
    if (!extent)
        why_not(place, "the file system has no block there (a hole)");
    else if (!extent->placed)
        why_not(place, "the file system does not say where this block is");
    else if (major(device) == 0)
        why_not(place, "the file system is on no block device of its own");
    else
        steps_of_device(place, sysfs, device, extent->fs_offset + (offset - extent->file_offset), 0,
                        0);
    if (!place->step_count && !place->why_not[0])
        why_not(place, "sysfs does not know the device");
}

void disk_place_of_extents(struct disk_place *place, const char *sysfs, uint64_t device,
                           const struct disk_extent *extents, unsigned count, uint64_t offset,
                           uint64_t size_bytes)
{
    *place = (struct disk_place){.size_bytes = size_bytes ? size_bytes : 1};
    for (unsigned i = 0; i < count; i++) {
        bool outside = extents[i].file_offset >= offset + size_bytes ||
                       extents[i].file_offset + extents[i].size_bytes <= offset;
        if (outside)
            continue;
        if (place->extent_count == DISK_EXTENTS_MAX) {
            place->cut = true;
            break;
        }
        place->extents[place->extent_count++] = extents[i];
    }
    place_steps(place, sysfs, device, offset);
}

/* A raw device has no file system between. */
static void place_of_device(struct disk_place *place, const char *sysfs, uint64_t device,
                            uint64_t offset, uint64_t size_bytes)
{
    place->extents[place->extent_count++] = (struct disk_extent){
        .file_offset = offset, .fs_offset = offset, .size_bytes = size_bytes, .placed = true};
    place_steps(place, sysfs, device, offset);
}

static void place_of_file(struct disk_place *place, const char *sysfs, int fd, uint64_t device,
                          uint64_t offset, uint64_t size_bytes)
{
    int count = extents_of_fd(fd, offset, size_bytes ? size_bytes : 1, place->extents,
                              DISK_EXTENTS_MAX, &place->cut);
    if (count < 0) {
        snprintf(place->why_not, sizeof place->why_not, "the file system has no FIEMAP: %s",
                 strerror(-count));
        return;
    }
    place->extent_count = (unsigned)count;
    place_steps(place, sysfs, device, offset);
}

void disk_place_look(struct disk_place *place, const char *sysfs, const char *path, uint64_t offset,
                     uint64_t size_bytes)
{
    struct stat st;
    *place = (struct disk_place){.size_bytes = size_bytes ? size_bytes : 1};
    int fd = open_look(path);
    if (fd < 0 || fstat(fd, &st)) {
        snprintf(place->why_not, sizeof place->why_not, "the file cannot be opened: %s",
                 strerror(fd < 0 ? -fd : errno));
        if (fd >= 0)
            close(fd);
        return;
    }
    if (S_ISBLK(st.st_mode))
        place_of_device(place, sysfs, st.st_rdev, offset, size_bytes);
    else
        place_of_file(place, sysfs, fd, st.st_dev, offset, size_bytes);
    close(fd);
}

const struct disk_step *disk_place_bottom(const struct disk_place *place)
{
    return place->step_count ? &place->steps[place->step_count - 1] : NULL;
}

bool disk_place_find(const struct disk_place *place, const struct disk_step *step,
                     uint64_t file_offset, uint64_t *device_offset)
{
    const struct disk_extent *extent = extent_at(place->extents, place->extent_count, file_offset);
    if (!extent || !extent->placed)
        return false;
    *device_offset = extent->fs_offset + (file_offset - extent->file_offset) + step->base;
    return true;
}
