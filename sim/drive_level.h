/*
 * drive_level.h - what the system knows of the disk below a file, as SQLIOSim's DRIVE LEVEL lines
 * show it: sector size, geometry, caches, and the disk's counters, which include everybody's I/O.
 *
 * Read from sysfs, so no device is opened and no right is needed.  Geometry is the convention of
 * 255 heads and 63 sectors a track, which Windows and HDIO_GETGEO give for every disk of today.
 *
 * What cannot be known is marked so, never guessed: a network or memory file system has no disk.
 *
 * Units: as named; counters since the machine started (drive_level_since gives differences).
 * Threads: the coordinator.
 */
#ifndef SIM_DRIVE_LEVEL_H
#define SIM_DRIVE_LEVEL_H

#include <stdbool.h>
#include <stdint.h>

#define DRIVE_NAME_MAX 64
#define DRIVE_SYSFS    "/sys"

enum drive_answer { DRIVE_UNKNOWN, DRIVE_NO, DRIVE_YES };
/* Windows' MEDIA_TYPE. */
enum drive_media { DRIVE_MEDIA_REMOVABLE = 11, DRIVE_MEDIA_FIXED = 12 };

struct drive_counters {
    uint64_t reads, read_ms, bytes_read;
    uint64_t writes, write_ms, bytes_written;
    uint64_t busy_ms;
};

struct drive_level {
    bool has_geometry, has_counters;
    uint32_t sector_bytes;
    uint64_t cylinders;
    unsigned sectors_per_track, tracks_per_cylinder;
    enum drive_media media;
    enum drive_answer read_cache, write_cache;
    struct drive_counters counters;
    unsigned storage_number;   /* the device's minor number */
    char name[DRIVE_NAME_MAX]; /* the kernel's: "sda1" */
};

/* device: st_dev of the file; sysfs: DRIVE_SYSFS, or a directory that looks like it.  Never fails:
 * what could not be read stays unknown. */
void drive_level_look(struct drive_level *out, const char *sysfs, uint64_t device);
/* The counters of now less those of the start; false when either is unknown or they went back (the
 * device was replaced). */
bool drive_level_since(const struct drive_level *start, const struct drive_level *now,
                       struct drive_counters *out);
const char *drive_answer_text(enum drive_answer answer); /* "Yes", "No", "Unknown" */

#endif
