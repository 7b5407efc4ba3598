/*
 * device_chain.h - the block devices below a file system, from the one that is mounted down to the
 * disks: partitions, LVM, encryption, multipath, MD, loop files, NVMe, SCSI, virtio.
 *
 * Read from sysfs, so no device is opened and no right is needed.  What it does not tell stays
 * unknown; a network or memory file system has an empty chain.
 *
 * Ownership: values, no memory.  Threads: pure but for reading sysfs.  Units: as named.
 * Source: Linux' Documentation/ABI (block, dm, md).
 */
#ifndef SIM_DEVICE_CHAIN_H
#define SIM_DEVICE_CHAIN_H

#include "sim/drive_level.h"

#define DEVICE_CHAIN_MAX  32 /* devices; a wider stack is cut, and says so */
#define DEVICE_DETAIL_MAX 256

enum device_kind {
    DEVICE_OTHER,
    DEVICE_PARTITION,
    DEVICE_LVM,
    DEVICE_CRYPT,
    DEVICE_MULTIPATH,
    DEVICE_DM, /* of any other target */
    DEVICE_MD,
    DEVICE_LOOP,
    DEVICE_BCACHE,
    DEVICE_DRBD,
    DEVICE_NVME,
    DEVICE_NVME_FABRICS,
    DEVICE_SCSI,
    DEVICE_SATA,
    DEVICE_USB,
    DEVICE_ISCSI,
    DEVICE_FC,
    DEVICE_VIRTIO,
    DEVICE_HYPERV,
    DEVICE_XEN,
    DEVICE_NBD,
    DEVICE_RBD,
    DEVICE_PMEM,
    DEVICE_MEMORY, /* ram, zram */
    DEVICE_KIND_COUNT
};

struct device_link {
    uint64_t device; /* makedev(major, minor) */
    char name[DRIVE_NAME_MAX];
    enum device_kind kind;
    unsigned depth;                         /* 0: what the file system is on */
    bool is_bottom;                         /* nothing known lies below */
    char detail[DEVICE_DETAIL_MAX];         /* model, name, level or file behind it; or "" */
    uint64_t logical_bytes, physical_bytes; /* sectors; 0 = unknown */
    uint64_t atomic_write_bytes;            /* largest write that is never torn; 0 = not reported */
    uint64_t read_ahead_kib, queue_requests, size_bytes;
    enum drive_answer fua, write_cache, rotational, read_only, dax;
    char scheduler[DRIVE_NAME_MAX]; /* the one in use; "" = unknown */
};

struct device_chain {
    struct device_link links[DEVICE_CHAIN_MAX]; /* each before what lies below it */
    unsigned count;
    bool cut; /* there are more than fit */
};

/* sysfs: DRIVE_SYSFS or a folder that looks like it.  Never fails: see above. */
void device_chain_look(struct device_chain *chain, const char *sysfs, uint64_t device);
/* The devices of a btrfs, whose files have a device number of no disk; source: what it was mounted
 * from ("/dev/sda2"). */
void device_chain_look_btrfs(struct device_chain *chain, const char *sysfs, const char *source);
/* Have both a disk in common? */
bool device_chain_share(const struct device_chain *a, const struct device_chain *b);
/* Is any device of the chain reached over a network? */
bool device_chain_is_remote(const struct device_chain *chain);
/* The first of this kind, or NULL. */
const struct device_link *device_chain_find(const struct device_chain *chain,
                                            enum device_kind kind);
const char *device_kind_text(enum device_kind kind); /* "NVMe", "LVM volume" */

#endif
