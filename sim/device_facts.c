/* device_facts.c - see device_facts.h. */
#include "sim/device_facts.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <linux/fs.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <sys/sysmacros.h>
#include <unistd.h>

#include "sim/file_parts.h"
#include "sim/small_file.h"

#define DEVICE_READ_BYTES 4096

bool device_facts_option(const char *options, const char *name)
{
    size_t length = strlen(name);
    for (const char *at = options; *at; at += strcspn(at, ",")) {
        at += *at == ',';
        size_t word = strcspn(at, ",=");
        if (word == length && strncmp(at, name, length) == 0)
            return true;
    }
    return false;
}

/* ---- where it lies ---- */

/* "upperdir=/x": a container shows another system's path, which leads nowhere or elsewhere. */
static void look_below_overlay(struct device_place *place, const struct device_roots *roots,
                               const char *options)
{
    char path[ENVIRONMENT_PATH_MAX];
    struct stat st;
    const char *upper = strstr(options, "upperdir=");
    if (!upper)
        return;
    upper += strlen("upperdir=");
    snprintf(path, sizeof path, "%.*s", (int)strcspn(upper, ","), upper);
    if (stat(path, &st) == 0)
        device_chain_look(&place->chain, roots->sysfs, st.st_dev);
}

void device_place_look(struct device_place *place, struct environment_volume *volume,
                       const struct device_roots *roots, const char *mounts, uint64_t device)
{
    memset(volume, 0, sizeof *volume);
    volume->device = device;
    environment_mount(mounts, device, volume);
    place->file_system = device;
    device_chain_look(&place->chain, roots->sysfs, device);
    if (place->chain.count)
        return;
    if (strcmp(volume->type, "btrfs") == 0)
        device_chain_look_btrfs(&place->chain, roots->sysfs, volume->source);
    else if (strcmp(volume->type, "overlay") == 0)
        look_below_overlay(place, roots, volume->options);
}

bool device_facts_counters(const struct device_place *place, const struct device_roots *roots,
                           struct drive_level *out)
{
    if (place->chain.count == 0)
        return false;
    /* The disk, not the partition: what its neighbours do slows it as well. */
    const struct device_link *link = &place->chain.links[0];
    if (link->kind == DEVICE_PARTITION && place->chain.count > 1)
        link = &place->chain.links[1];
    drive_level_look(out, roots->sysfs, link->device);
    return out->has_counters;
}

/* A block device: the last file system that is mounted from it or from what is built on it. */
static void look_at_mounts_of(struct path_facts *facts, const struct device_roots *roots,
                              const char *mounts, uint64_t device)
{
    struct device_chain *chain = malloc(sizeof *chain);
    for (const char *line = mounts; chain && *line;) {
        unsigned major_no, minor_no;
        if (sscanf(line, "%*u %*u %u:%u", &major_no, &minor_no) == 2) {
            device_chain_look(chain, roots->sysfs, makedev(major_no, minor_no));
            for (unsigned i = 0; i < chain->count; i++)
                if (chain->links[i].device == device)
                    environment_mount(mounts, chain->links[0].device, &facts->volume);
        }
        line += strcspn(line, "\n");
        line += *line == '\n';
    }
    free(chain);
}

/* ---- attributes, locks, sectors ---- */

static void look_at_attributes(struct path_facts *facts)
{
    long flags = 0;
    int fd = open(facts->directory, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (fd < 0)
        return;
    if (ioctl(fd, FS_IOC_GETFLAGS, &flags) == 0) {
        facts->compressed = flags & FS_COMPR_FL;
        facts->encrypted = flags & FS_ENCRYPT_FL;
        facts->no_cow = flags & FS_NOCOW_FL;
    }
    close(fd);
}

/* "1: OFDLCK ADVISORY  WRITE 1234 08:01:5678 0 EOF"; an OFD lock has no owner and shows -1. */
static int lock_holder(const struct device_roots *roots, const struct stat *st)
{
    char path[SMALL_FILE_PATH_MAX];
    int holder = 0;
    snprintf(path, sizeof path, "%s/locks", roots->proc);
    char *text = small_file_whole(path);
    for (const char *line = text; line && *line;) {
        int pid;
        unsigned major_no, minor_no;
        uint64_t inode;
        if (sscanf(line, "%*s %*s %*s %*s %d %x:%x:%" SCNu64, &pid, &major_no, &minor_no, &inode) ==
                4 &&
            makedev(major_no, minor_no) == st->st_dev && inode == st->st_ino)
            holder = pid > 0 ? pid : -1;
        line += strcspn(line, "\n");
        line += *line == '\n';
    }
    free(text);
    return holder;
}

/* Of a database file of SQL Server or of ours. */
static uint32_t sector_of_file(const char *path)
{
    _Alignas(PAGE_BYTES) unsigned char page[PAGE_BYTES];
    struct file_header_info info;
    int fd = open(path, O_RDONLY | O_NONBLOCK | O_NOFOLLOW | O_CLOEXEC);
    if (fd < 0)
        return 0;
    bool is_one =
        pread(fd, page, sizeof page, 0) == (ssize_t)sizeof page && file_header_read(page, &info);
    close(fd);
    return is_one ? info.sector_bytes : 0;
}

/* ---- direct I/O ---- */

/* What direct I/O of a block device asks for is its sector; one is read. */
static void try_device(struct path_facts *facts)
{
    void *memory = NULL;
    int fd = open(facts->path, O_RDONLY | O_DIRECT | O_NONBLOCK | O_CLOEXEC);
    if (fd < 0) {
        facts->direct_error = -errno;
        return;
    }
    if (posix_memalign(&memory, PAGE_BYTES, DEVICE_READ_BYTES) != 0) {
        facts->direct_error = -ENOMEM;
    } else if (pread(fd, memory, DEVICE_READ_BYTES, 0) != DEVICE_READ_BYTES) {
        facts->direct_error = errno ? -errno : -EIO;
    } else {
        const struct device_chain *chain = &facts->place.chain;
        uint32_t sector = chain->count ? (uint32_t)chain->links[0].logical_bytes : 0;
        facts->direct = (struct file_direct){true, true, sector, sector};
    }
    free(memory);
    close(fd);
}

/* ---- all ---- */

static void look_at_space(struct path_facts *facts)
{
    struct statvfs fs;
    if (statvfs(facts->directory, &fs) != 0)
        return;
    facts->volume.total_bytes = (uint64_t)fs.f_blocks * fs.f_frsize;
    facts->volume.available_bytes = (uint64_t)fs.f_bavail * fs.f_frsize;
    facts->read_only = fs.f_flag & ST_RDONLY;
}

static void look_at_directory(struct path_facts *facts)
{
    look_at_space(facts);
    look_at_attributes(facts);
    facts->writable = faccessat(AT_FDCWD, facts->directory, W_OK | X_OK, AT_EACCESS) == 0;
    if (facts->writable)
        facts->direct_error = file_direct_probe(facts->directory, true, &facts->direct);
    else
        facts->direct_error = -errno;
}

static int resolve(struct path_facts *facts, const char *path, struct stat *st, char *message)
{
    if (!realpath(path, facts->path) || stat(facts->path, st) != 0) {
        int error = -errno;
        return file_fail(message, error,
                         "%s: %s. Name a directory, a file or a block device that "
                         "exists.",
                         path, strerror(-error));
    }
    if (!S_ISDIR(st->st_mode) && !S_ISREG(st->st_mode) && !S_ISBLK(st->st_mode))
        return file_fail(message, -EINVAL,
                         "%s is no directory, regular file or block device, so no SQL Server file "
                         "can lie there.",
                         path);
    facts->kind = S_ISDIR(st->st_mode)   ? PATH_DIRECTORY
                  : S_ISBLK(st->st_mode) ? PATH_BLOCK_DEVICE
                                         : PATH_FILE;
    snprintf(facts->directory, sizeof facts->directory, "%s", facts->path);
    char *slash = strrchr(facts->directory, '/');
    if (facts->kind != PATH_DIRECTORY)
        slash[slash == facts->directory] = '\0';
    return 0;
}

int device_facts_look(struct path_facts *facts, const struct device_roots *roots, const char *path,
                      char message[FILE_MESSAGE_MAX])
{
    struct stat st;
    char name[SMALL_FILE_PATH_MAX];
    memset(facts, 0, sizeof *facts);
    int error = resolve(facts, path, &st, message);
    if (error)
        return error;
    snprintf(name, sizeof name, "%s/self/mountinfo", roots->proc);
    char *mounts = small_file_whole(name);
    if (!mounts)
        return file_fail(message, -ENOMEM, "%s: no memory to look at it", path);
    bool is_device = facts->kind == PATH_BLOCK_DEVICE;
    device_place_look(&facts->place, &facts->volume, roots, mounts,
                      is_device ? st.st_rdev : st.st_dev);
    if (is_device) {
        look_at_mounts_of(facts, roots, mounts, st.st_rdev);
        facts->writable = true;
        try_device(facts);
    } else {
        look_at_directory(facts);
    }
    if (facts->kind == PATH_FILE) {
        facts->file_sector_bytes = sector_of_file(facts->path);
        facts->lock_pid = lock_holder(roots, &st);
    }
    free(mounts);
    device_users_look(&facts->users, roots->proc, roots->sysfs, &facts->place, 1);
    return 0;
}
