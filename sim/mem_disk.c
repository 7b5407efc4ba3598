/* mem_disk.c - see mem_disk.h. */
#include "sim/mem_disk.h"

static uint64_t root_of(uint64_t value)
{
    uint64_t root = 0;
    for (uint64_t bit = UINT64_C(1) << 31; bit; bit >>= 1)
        if ((root | bit) * (root | bit) <= value)
            root |= bit;
    return root;
}

uint64_t mem_disk_seek_ns(uint64_t from, uint64_t to)
{
    uint64_t distance = from > to ? from - to : to - from;
    if (from / MEM_DISK_TRACK_BYTES == to / MEM_DISK_TRACK_BYTES)
        return 0;
    if (distance > MEM_DISK_BYTES)
        distance = MEM_DISK_BYTES;
    /* The distance as a share of the stroke is distance / 2^40; its root is root / 2^20. */
    return MEM_DISK_TRACK_SEEK_NS + (MEM_DISK_STROKE_NS * root_of(distance) >> 20);
}

uint64_t mem_disk_position_ns(const struct mem_disk *disk, uint64_t now_ns, uint64_t position,
                              bool is_read)
{
    if (is_read && disk->reads_on && position == disk->head)
        return 0;
    uint64_t seek = mem_disk_seek_ns(disk->head, position);
    uint64_t target = position % MEM_DISK_TRACK_BYTES * 1000 / MEM_DISK_BYTES_PER_US;
    uint64_t angle = (now_ns + seek) % MEM_DISK_REVOLUTION_NS;
    return seek + (target + MEM_DISK_REVOLUTION_NS - angle) % MEM_DISK_REVOLUTION_NS;
}

uint64_t mem_disk_serve(struct mem_disk *disk, uint64_t now_ns, uint64_t position,
                        size_t size_bytes, bool is_read)
{
    uint64_t end = now_ns + mem_disk_position_ns(disk, now_ns, position, is_read) +
                   size_bytes * 1000 / MEM_DISK_BYTES_PER_US;
    disk->head = position + size_bytes;
    disk->reads_on = is_read;
    return end;
}
