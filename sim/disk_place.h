/*
 * disk_place.h - where a range of a file lies on the devices: file system extents by FIEMAP, then
 * down the block layer as far as sysfs tells it (partition, loop file), to a disk and its LBA.
 *
 * That is what a storage vendor can look for.  A device mapper, RAID or multipath device maps its
 * blocks in ways that sysfs does not tell: the last step is that device then.  A file system that
 * does not say where its blocks are (btrfs numbers its own address space; network file systems have
 * none) gives no step, and `why_not` says why.
 *
 * A loop file is followed where the whole range lies in one piece, so that every byte of it is
 * found by adding.
 *
 * A look opens the file and may wait for the device.  Threads: any; no state.  Units: bytes; LBA in
 * logical sectors of the device.  Source: Linux' Documentation/filesystems/fiemap, ABI of sysfs.
 */
#ifndef SIM_DISK_PLACE_H
#define SIM_DISK_PLACE_H

#include <stdbool.h>
#include <stdint.h>

#include "sim/drive_level.h"

#define DISK_STEPS_MAX   8
#define DISK_EXTENTS_MAX 32 /* of a range: a page has at most 16 on 512-byte blocks */
#define DISK_WHY_MAX     128

/* One device of the way down; the first is the one that the file system is on. */
struct disk_step {
    char name[DRIVE_NAME_MAX]; /* the kernel's: "sda1" */
    uint64_t offset;           /* of the first byte of the range */
    uint64_t base;             /* offset less the place in the file system's device: what to add */
    uint32_t sector_bytes;     /* logical sectors */
};

struct disk_extent {
    uint64_t file_offset, fs_offset, size_bytes;
    uint32_t flags; /* FIEMAP_EXTENT_* */
    bool placed;    /* fs_offset means something */
};

struct disk_place {
    struct disk_step steps[DISK_STEPS_MAX];
    unsigned step_count; /* 0: not known, see why_not */
    uint64_t size_bytes; /* of the range */
    struct disk_extent extents[DISK_EXTENTS_MAX];
    unsigned extent_count;
    bool cut; /* there are more extents */
    char why_not[DISK_WHY_MAX];
};

/* sysfs: DRIVE_SYSFS or a folder that looks like it.  Never fails: what is not known stays so. */
void disk_place_look(struct disk_place *place, const char *sysfs, const char *path, uint64_t offset,
                     uint64_t size_bytes);
/* The same from extents that are known already (FIEMAP of an earlier look at the whole file), and
 * the file's device; does not touch the file. */
void disk_place_of_extents(struct disk_place *place, const char *sysfs, uint64_t device,
                           const struct disk_extent *extents, unsigned count, uint64_t offset,
                           uint64_t size_bytes);
/* The extents of a range of the file: how many there are stored, at most `max`, or -errno. */
int disk_extents_read(const char *path, uint64_t offset, uint64_t size_bytes,
                      struct disk_extent *out, unsigned max, bool *cut)
    __attribute__((warn_unused_result));
/* The step that stands nearest to the disk, or NULL. */
const struct disk_step *disk_place_bottom(const struct disk_place *place);
/* Where a byte of the file is on that step; false when no extent of the place holds it. */
bool disk_place_find(const struct disk_place *place, const struct disk_step *step,
                     uint64_t file_offset, uint64_t *device_offset);

#endif
