/*
 * device_facts.h - what the system tells of a path that SQL Server's files are to lie on: file
 * system and mount, devices below, direct I/O, sectors, space, locks.
 *
 * Looks, and (a directory) writes one extent to a file of its own that is gone afterwards.  A block
 * device is only read.  What is not known stays unknown.
 *
 * Ownership: values.  Threads: any, one struct each.  Units: as named.
 */
#ifndef SIM_DEVICE_FACTS_H
#define SIM_DEVICE_FACTS_H

#include <limits.h>

#include "sim/device_users.h"
#include "sim/environment.h"
#include "sim/file.h"

enum path_kind { PATH_DIRECTORY, PATH_FILE, PATH_BLOCK_DEVICE };

struct path_facts {
    char path[PATH_MAX]; /* absolute, free of links */
    char directory[PATH_MAX];
    enum path_kind kind;
    struct environment_volume volume; /* of a block device: where it is mounted, else empty */
    struct device_place place;
    bool read_only, writable;
    bool compressed, encrypted, no_cow; /* attributes of the directory */
    int direct_error;                   /* 0, or -errno of trying direct I/O */
    struct file_direct direct;
    uint32_t file_sector_bytes; /* that a database file was made for; 0: none, or not one */
    int lock_pid;               /* a file: who holds a lock on it; 0 = nobody, -1 = not known */
    struct device_users users;
    struct device_busy busy; /* the caller's, see device_facts_counters() */
};

/* Where everything is looked up; DEVICE_PROC and DRIVE_SYSFS, or folders that look like them. */
struct device_roots {
    const char *proc, *sysfs;
};

/* 0, or -errno with a message: no such path, or neither directory, regular file nor block device.
 * Users are those of this path's devices. */
int device_facts_look(struct path_facts *facts, const struct device_roots *roots, const char *path,
                      char message[FILE_MESSAGE_MAX]) __attribute__((warn_unused_result));
/* Where a path lies: file system and devices, and the text of mountinfo that was used. */
void device_place_look(struct device_place *place, struct environment_volume *volume,
                       const struct device_roots *roots, const char *mounts, uint64_t device);
/* Of the device that the file system is on; false when it has none. */
bool device_facts_counters(const struct device_place *place, const struct device_roots *roots,
                           struct drive_level *out);
/* "rw,noatime" has "noatime"; "size=1M" is found by "size". */
bool device_facts_option(const char *options, const char *name);

#endif
