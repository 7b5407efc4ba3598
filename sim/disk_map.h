/*
 * disk_map.h - where the files of a run lay when they were made, so that a request that hangs can
 * be placed on the disk without asking a file system that may hang with it.
 *
 * Holds the first DISK_MAP_EXTENTS extents of each file; space that came later is not in it.
 *
 * Threads: disk_map_add before the workers start; disk_map_place by any.  Units: bytes.
 */
#ifndef SIM_DISK_MAP_H
#define SIM_DISK_MAP_H

#include "sim/disk_place.h"

#define DISK_MAP_EXTENTS 256

struct disk_map_file;

struct disk_map {
    struct disk_map_file **files;
    unsigned count;
};

/* Look at a file; one without FIEMAP is left out.  0 or -ENOMEM. */
int disk_map_add(struct disk_map *map, uint16_t file_uid, const char *path)
    __attribute__((warn_unused_result));
void disk_map_place(const struct disk_map *map, const char *sysfs, uint16_t file_uid,
                    uint64_t offset, uint64_t size_bytes, struct disk_place *place);
void disk_map_free(struct disk_map *map); /* zeroed is fine */

#endif
