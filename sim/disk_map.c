/* disk_map.c - see disk_map.h. */
#include "sim/disk_map.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>

struct disk_map_file {
    uint16_t uid;
    uint64_t device;
    unsigned count;
    struct disk_extent extents[DISK_MAP_EXTENTS];
};

int disk_map_add(struct disk_map *map, uint16_t file_uid, const char *path)
{
    struct stat st;
    bool cut;
    if (stat(path, &st) || !S_ISREG(st.st_mode))
        return 0;
    struct disk_map_file **files = realloc(map->files, (map->count + 1) * sizeof(void *));
    if (!files)
        return -ENOMEM;
    map->files = files;
    struct disk_map_file *file = calloc(1, sizeof *file);
    if (!file)
        return -ENOMEM;
    int count =
        disk_extents_read(path, 0, (uint64_t)st.st_size, file->extents, DISK_MAP_EXTENTS, &cut);
    if (count <= 0) {
        free(file);
        return 0;
    }
    file->uid = file_uid;
    file->device = st.st_dev;
    file->count = (unsigned)count;
    map->files[map->count++] = file;
    return 0;
}

void disk_map_place(const struct disk_map *map, const char *sysfs, uint16_t file_uid,
                    uint64_t offset, uint64_t size_bytes, struct disk_place *place)
{
    for (unsigned i = 0; i < map->count; i++) {
        const struct disk_map_file *file = map->files[i];
        if (file->uid != file_uid)
            continue;
        disk_place_of_extents(place, sysfs, file->device, file->extents, file->count, offset,
                              size_bytes);
        return;
    }
    *place = (struct disk_place){.step_count = 0};
    snprintf(place->why_not, sizeof place->why_not, "%s",
             "the file was not mapped when the run began");
}

void disk_map_free(struct disk_map *map)
{
    for (unsigned i = 0; i < map->count; i++)
        free(map->files[i]);
    free(map->files);
    *map = (struct disk_map){.count = 0};
}
