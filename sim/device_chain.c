/*
 * device_chain.c - see device_chain.h.
 *
 * A partition's folder lies in its disk's, whose queue it shares; a stacked device names what lies
 * below it in slaves/, a loop device its file in loop/backing_file.
 */
#include "sim/device_chain.h"

#include <dirent.h>
#include <glob.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>

#include "sim/small_file.h"

#define SYSFS_SECTOR_BYTES 512 /* of size, whatever the disk has */

struct kind_row {
    const char *text;
    bool is_remote;
};

static const struct kind_row kind_rows[DEVICE_KIND_COUNT] = {
    [DEVICE_OTHER] = {"block device", false},
    [DEVICE_PARTITION] = {"partition", false},
    [DEVICE_LVM] = {"LVM volume", false},
    [DEVICE_CRYPT] = {"encrypted", false},
    [DEVICE_MULTIPATH] = {"multipath", false},
    [DEVICE_DM] = {"device mapper", false},
    [DEVICE_MD] = {"software RAID", false},
    [DEVICE_LOOP] = {"loop", false},
    [DEVICE_BCACHE] = {"bcache", false},
    [DEVICE_DRBD] = {"DRBD", true},
    [DEVICE_NVME] = {"NVMe", false},
    [DEVICE_NVME_FABRICS] = {"NVMe over fabrics", true},
    [DEVICE_SCSI] = {"SCSI", false},
    [DEVICE_SATA] = {"SATA", false},
    [DEVICE_USB] = {"USB", false},
    [DEVICE_ISCSI] = {"iSCSI", true},
    [DEVICE_FC] = {"Fibre Channel", true},
    [DEVICE_VIRTIO] = {"virtio", false},
    [DEVICE_HYPERV] = {"Hyper-V", false},
    [DEVICE_XEN] = {"Xen", false},
    [DEVICE_NBD] = {"NBD", true},
    [DEVICE_RBD] = {"Ceph RBD", true},
    [DEVICE_PMEM] = {"persistent memory", false},
    [DEVICE_MEMORY] = {"memory", false},
};

/* By what the name begins with; SCSI disks are told apart by the way to them. */
static const struct {
    const char *stem;
    enum device_kind kind;
} name_rows[] = {
    {"nvme", DEVICE_NVME},     {"vd", DEVICE_VIRTIO},  {"xvd", DEVICE_XEN},
    {"md", DEVICE_MD},         {"dm-", DEVICE_DM},     {"loop", DEVICE_LOOP},
    {"nbd", DEVICE_NBD},       {"rbd", DEVICE_RBD},    {"drbd", DEVICE_DRBD},
    {"pmem", DEVICE_PMEM},     {"ram", DEVICE_MEMORY}, {"zram", DEVICE_MEMORY},
    {"bcache", DEVICE_BCACHE}, {"sd", DEVICE_SCSI},
};

static const struct {
    const char *part; /* of the path in sysfs */
    enum device_kind kind;
} way_rows[] = {
    {"/session", DEVICE_ISCSI}, {"/rport-", DEVICE_FC}, {"/usb", DEVICE_USB},
    {"/virtio", DEVICE_VIRTIO}, {"/ata", DEVICE_SATA},  {"vmbus", DEVICE_HYPERV},
};

static const struct {
    const char *stem; /* of dm/uuid */
    enum device_kind kind;
} mapper_rows[] = {
    {"LVM-", DEVICE_LVM},
    {"CRYPT-", DEVICE_CRYPT},
    {"mpath-", DEVICE_MULTIPATH},
    {"part", DEVICE_PARTITION},
};

const char *device_kind_text(enum device_kind kind)
{
    return kind_rows[kind].text;
}

static bool begins_with(const char *text, const char *stem)
{
    return strncmp(text, stem, strlen(stem)) == 0;
}

/* ---- one device ---- */

static enum device_kind kind_of_name(const char *name)
{
    for (size_t i = 0; i < sizeof name_rows / sizeof name_rows[0]; i++)
        if (begins_with(name, name_rows[i].stem))
            return name_rows[i].kind;
    return DEVICE_OTHER;
}

/* folder: the real path, which leads over controllers and sessions. */
static enum device_kind kind_of_way(const char *folder, enum device_kind kind)
{
    char text[SMALL_FILE_TEXT_MAX];
    if (kind == DEVICE_NVME && small_file_text(folder, "device/transport", text, sizeof text))
        return strcmp(text, "pcie") == 0 ? DEVICE_NVME : DEVICE_NVME_FABRICS;
    if (kind != DEVICE_SCSI)
        return kind;
    for (size_t i = 0; i < sizeof way_rows / sizeof way_rows[0]; i++)
        if (strstr(folder, way_rows[i].part))
            return way_rows[i].kind;
    return kind;
}

static enum device_kind kind_of_mapper(const char *folder)
{
    char uuid[SMALL_FILE_TEXT_MAX];
    (void)small_file_text(folder, "dm/uuid", uuid, sizeof uuid);
    for (size_t i = 0; i < sizeof mapper_rows / sizeof mapper_rows[0]; i++)
        if (begins_with(uuid, mapper_rows[i].stem))
            return mapper_rows[i].kind;
    return DEVICE_DM;
}

static void trim(char *text)
{
    size_t length = strlen(text);
    while (length > 0 && text[length - 1] == ' ')
        text[--length] = '\0';
}

static void look_at_kind(struct device_link *link, const char *folder)
{
    static const char *const details[] = {"dm/name", "md/level", "loop/backing_file",
                                          "device/model"};
    char partition[SMALL_FILE_TEXT_MAX];
    if (small_file_text(folder, "partition", partition, sizeof partition)) {
        link->kind = DEVICE_PARTITION;
        return;
    }
    link->kind = kind_of_way(folder, kind_of_name(link->name));
    if (link->kind == DEVICE_DM)
        link->kind = kind_of_mapper(folder);
    for (size_t i = 0; i < sizeof details / sizeof details[0] && !link->detail[0]; i++)
        (void)small_file_text(folder, details[i], link->detail, sizeof link->detail);
    trim(link->detail);
}

static enum drive_answer flag_of(const char *folder, const char *name)
{
    uint64_t value;
    if (!small_file_number(folder, name, &value))
        return DRIVE_UNKNOWN;
    return value ? DRIVE_YES : DRIVE_NO;
}

/* "none [mq-deadline] kyber": the one in brackets, or the only one. */
static void look_at_scheduler(struct device_link *link, const char *queue)
{
    char text[SMALL_FILE_TEXT_MAX];
    if (!small_file_text(queue, "scheduler", text, sizeof text))
        return;
    const char *open = strchr(text, '[');
    const char *from = open ? open + 1 : text;
    snprintf(link->scheduler, sizeof link->scheduler, "%.*s", (int)strcspn(from, "] "), from);
}

/* disk: the folder that has the queue, a partition's own or its disk's. */
static void look_at_queue(struct device_link *link, const char *folder, const char *disk)
{
    char queue[PATH_MAX], text[SMALL_FILE_TEXT_MAX];
    snprintf(queue, sizeof queue, "%.*s/queue", PATH_MAX - 16, disk);
    (void)!small_file_number(queue, "logical_block_size", &link->logical_bytes);
    (void)!small_file_number(queue, "physical_block_size", &link->physical_bytes);
    (void)!small_file_number(queue, "atomic_write_unit_max_bytes", &link->atomic_write_bytes);
    (void)!small_file_number(queue, "read_ahead_kb", &link->read_ahead_kib);
    (void)!small_file_number(queue, "nr_requests", &link->queue_requests);
    if (small_file_number(folder, "size", &link->size_bytes))
        link->size_bytes *= SYSFS_SECTOR_BYTES;
    link->fua = flag_of(queue, "fua");
    link->rotational = flag_of(queue, "rotational");
    link->dax = flag_of(queue, "dax");
    link->read_only = flag_of(folder, "ro");
    if (small_file_text(queue, "write_cache", text, sizeof text))
        link->write_cache = begins_with(text, "write back") ? DRIVE_YES : DRIVE_NO;
    look_at_scheduler(link, queue);
}

/* ---- what lies below ---- */

static bool number_of(const char *folder, uint64_t *device)
{
    char text[SMALL_FILE_TEXT_MAX];
    unsigned major_no, minor_no;
    if (!small_file_text(folder, "dev", text, sizeof text) ||
        sscanf(text, "%u:%u", &major_no, &minor_no) != 2)
        return false;
    *device = makedev(major_no, minor_no);
    return true;
}

static void add_device(struct device_chain *chain, const char *sysfs, uint64_t device,
                       unsigned depth);

/* Each device of a folder of links: slaves/, or the devices of a btrfs. */
static unsigned add_folder(struct device_chain *chain, const char *sysfs, const char *folder,
                           unsigned depth)
{
    struct dirent **names = NULL;
    unsigned added = 0;
    int count = scandir(folder, &names, NULL, alphasort);
    for (int i = 0; i < count; i++) {
        char path[PATH_MAX];
        uint64_t device;
        int length = snprintf(path, sizeof path, "%s/%s", folder, names[i]->d_name);
        if (names[i]->d_name[0] != '.' && length > 0 && (size_t)length < sizeof path &&
            number_of(path, &device)) {
            add_device(chain, sysfs, device, depth);
            added++;
        }
        free(names[i]);
    }
    free(names);
    return added;
}

static bool add_below(struct device_chain *chain, const char *sysfs, const char *folder,
                      const struct device_link *link)
{
    char path[PATH_MAX + 16];
    struct stat st;
    uint64_t device;
    unsigned below = link->depth + 1; /* the link may move no more, but what is added follows it */
    if (link->kind == DEVICE_PARTITION) {
        snprintf(path, sizeof path, "%s/..", folder);
        if (number_of(path, &device)) {
            add_device(chain, sysfs, device, below);
            return true;
        }
    }
    if (link->kind == DEVICE_LOOP && link->detail[0] == '/' && stat(link->detail, &st) == 0) {
        unsigned before = chain->count;
        add_device(chain, sysfs, st.st_dev, below);
        return chain->count > before;
    }
    snprintf(path, sizeof path, "%s/slaves", folder);
    return add_folder(chain, sysfs, path, below) > 0;
}

static bool is_in(const struct device_chain *chain, uint64_t device)
{
    for (unsigned i = 0; i < chain->count; i++)
        if (chain->links[i].device == device)
            return true;
    return false;
}

static void add_device(struct device_chain *chain, const char *sysfs, uint64_t device,
                       unsigned depth)
{
    char name[SMALL_FILE_PATH_MAX], folder[PATH_MAX], disk[PATH_MAX + 4], text[SMALL_FILE_TEXT_MAX];
    snprintf(name, sizeof name, "%s/dev/block/%u:%u", sysfs, major(device), minor(device));
    if (is_in(chain, device) || !realpath(name, folder))
        return;
    if (chain->count == DEVICE_CHAIN_MAX) {
        chain->cut = true;
        return;
    }
    struct device_link *link = &chain->links[chain->count++];
    *link = (struct device_link){.device = device, .depth = depth};
    snprintf(link->name, sizeof link->name, "%.*s", DRIVE_NAME_MAX - 1, strrchr(folder, '/') + 1);
    look_at_kind(link, folder);
    bool is_partition = small_file_text(folder, "partition", text, sizeof text);
    snprintf(disk, sizeof disk, "%s%s", folder, is_partition ? "/.." : "");
    look_at_queue(link, folder, disk);
    link->is_bottom = !add_below(chain, sysfs, folder, link);
}

/* ---- all ---- */

void device_chain_look(struct device_chain *chain, const char *sysfs, uint64_t device)
{
    *chain = (struct device_chain){.count = 0};
    add_device(chain, sysfs, device, 0);
}

void device_chain_look_btrfs(struct device_chain *chain, const char *sysfs, const char *source)
{
    char pattern[PATH_MAX], name[PATH_MAX], real[PATH_MAX];
    struct stat st;
    glob_t found;
    *chain = (struct device_chain){.count = 0};
    const char *slash = strrchr(source, '/');
    snprintf(real, sizeof real, "%s", slash ? slash + 1 : source);
    /* "/dev/mapper/x" is no name of the kernel's */
    if (stat(source, &st) == 0 && S_ISBLK(st.st_mode)) {
        snprintf(name, sizeof name, "%s/dev/block/%u:%u", sysfs, major(st.st_rdev),
                 minor(st.st_rdev));
        if (realpath(name, pattern))
            snprintf(real, sizeof real, "%s", strrchr(pattern, '/') + 1);
    }
    int length = snprintf(pattern, sizeof pattern, "%s/fs/btrfs/*/devices/%s", sysfs, real);
    if (length < 0 || (size_t)length >= sizeof pattern || glob(pattern, 0, NULL, &found) != 0)
        return;
    char *end = strrchr(found.gl_pathv[0], '/');
    *end = '\0';
    (void)add_folder(chain, sysfs, found.gl_pathv[0], 0);
    globfree(&found);
}

bool device_chain_share(const struct device_chain *a, const struct device_chain *b)
{
    for (unsigned i = 0; i < a->count; i++)
        if (is_in(b, a->links[i].device))
            return true;
    return false;
}

bool device_chain_is_remote(const struct device_chain *chain)
{
    for (unsigned i = 0; i < chain->count; i++)
        if (kind_rows[chain->links[i].kind].is_remote)
            return true;
    return false;
}

const struct device_link *device_chain_find(const struct device_chain *chain, enum device_kind kind)
{
    for (unsigned i = 0; i < chain->count; i++)
        if (chain->links[i].kind == kind)
            return &chain->links[i];
    return NULL;
}
