/*
 * mem_disk.h - a disk with one actuator: how long it takes to get to a place and to transfer.
 *
 * Positions are bytes from the outer edge; a track holds what passes below the head in one
 * revolution.  The angle of the platter follows from the time, so equal times and positions give
 * equal waits, without a random number.
 *
 * Figures: 7,200 revolutions a minute; average seek 8.2 ms (HGST Ultrastar 7K4000 specification,
 * table 6; the same within 0.3 ms for other drives of the class), one track 1.0 ms with settling
 * (Hitachi 5K320 specification, table 7), 150 MB/s (between the 138 and 210 MB/s that the data
 * sheets of 1 to 2 TB drives name), 1 TB.  Seek time grows with the square root of the distance,
 * the usual model; over all pairs of places the root of the distance is 8/15 of the longest on
 * average, so 1.0 + k * 8/15 = 8.2 gives k = 13.5 ms.
 *
 * What it does not do: zones (outer tracks are faster), head switches, errors, a write cache (each
 * write goes to the platter before it completes, as with write-through).
 *
 * Threads: the caller's lock.
 */
#ifndef SIM_MEM_DISK_H
#define SIM_MEM_DISK_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define MEM_DISK_REVOLUTION_NS UINT64_C(8333333) /* 7,200 rpm */
#define MEM_DISK_TRACK_SEEK_NS UINT64_C(1000000)
#define MEM_DISK_STROKE_NS     UINT64_C(13500000) /* k above: the longest seek takes 14.5 ms */
#define MEM_DISK_BYTES         (UINT64_C(1) << 40)
#define MEM_DISK_BYTES_PER_US  UINT64_C(150)
#define MEM_DISK_TRACK_BYTES   (MEM_DISK_REVOLUTION_NS * MEM_DISK_BYTES_PER_US / 1000)
#define MEM_DISK_QUEUE         32 /* commands among which the drive chooses: SATA's NCQ */
#define MEM_DISK_PASSED_MAX    64 /* times that a command is passed over before it must be served */

struct mem_disk {
    uint64_t head; /* position behind the last transfer */
    bool reads_on; /* that was a read: the drive goes on reading into its buffer */
};

/* From one position to another, settling included; 0 within a track. */
uint64_t mem_disk_seek_ns(uint64_t from, uint64_t to);
/* From now until the head would be over the position: seek, then the rest of the revolution.  A
 * read that goes on where the last read ended comes from the drive's buffer: 0. */
uint64_t mem_disk_position_ns(const struct mem_disk *disk, uint64_t now_ns, uint64_t position,
                              bool is_read);
/* Transfer; returns when it ends. */
uint64_t mem_disk_serve(struct mem_disk *disk, uint64_t now_ns, uint64_t position,
                        size_t size_bytes, bool is_read);

#endif
