/*
 * device_users.c - see device_users.h.
 *
 * A link of /proc/PID/fd shows by its own mode whether the file is open for writing; statx through
 * it says which file it is without opening it.
 */
#include "sim/device_users.h"

#include <ctype.h>
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <unistd.h>

#include "sim/clock.h"
#include "sim/small_file.h"

#define MB          1048576.0
#define MS_PER_S    1000
#define SEEN_MAX    64 /* file systems whose disks are remembered during one look */
#define PERCENT_MAX 100

/* By the beginning of their names; PostgreSQL and Oracle name what each process does. */
static const struct {
    const char *stem;
    enum device_user_kind kind;
} programs[] = {
    {"sqlservr", DEVICE_USER_SQL_SERVER},     {"pagestorm", DEVICE_USER_PAGESTORM},
    {"sqliosim", DEVICE_USER_PAGESTORM},      {"mysqld", DEVICE_USER_DATABASE},
    {"mariadbd", DEVICE_USER_DATABASE},       {"postgres", DEVICE_USER_DATABASE},
    {"oracle", DEVICE_USER_DATABASE},         {"ora_", DEVICE_USER_DATABASE},
    {"mongod", DEVICE_USER_DATABASE},         {"db2sysc", DEVICE_USER_DATABASE},
    {"hdbindexserver", DEVICE_USER_DATABASE}, {"fio", DEVICE_USER_DATABASE},
    {"sysbench", DEVICE_USER_DATABASE},       {"diskspd", DEVICE_USER_DATABASE},
    {"vdbench", DEVICE_USER_DATABASE},
};

struct search {
    const char *sysfs;
    const struct device_place *places;
    unsigned place_count;
    struct {
        uint64_t device;
        bool shared;
    } seen[SEEN_MAX]; /* what was found out of a file system or device */
    unsigned seen_count;
};

const char *device_user_text(enum device_user_kind kind)
{
    switch (kind) {
    case DEVICE_USER_SQL_SERVER:
        return "SQL Server";
    case DEVICE_USER_DATABASE_FILES:
        return "a program with SQL Server files";
    case DEVICE_USER_PAGESTORM:
        return "another pagestorm";
    case DEVICE_USER_DATABASE:
        break;
    }
    return "another database or load";
}

/* ---- is a file on these devices? ---- */

static bool shares(const struct search *search, uint64_t device)
{
    struct device_chain *chain = malloc(sizeof *chain);
    bool shared = false;
    if (!chain)
        return false;
    device_chain_look(chain, search->sysfs, device);
    for (unsigned i = 0; i < search->place_count && !shared; i++)
        shared = search->places[i].file_system == device ||
                 device_chain_share(&search->places[i].chain, chain);
    free(chain);
    return shared;
}

static bool is_on_devices(struct search *search, uint64_t device)
{
    for (unsigned i = 0; i < search->seen_count; i++)
        if (search->seen[i].device == device)
            return search->seen[i].shared;
    bool shared = shares(search, device);
    if (search->seen_count < SEEN_MAX) {
        search->seen[search->seen_count].device = device;
        search->seen[search->seen_count++].shared = shared;
    }
    return shared;
}

static bool is_database_name(const char *path)
{
    static const char *const ends[] = {".mdf", ".ndf", ".ldf"};
    size_t length = strlen(path);
    for (size_t i = 0; i < sizeof ends / sizeof ends[0]; i++)
        if (length > strlen(ends[i]) && strcasecmp(path + length - strlen(ends[i]), ends[i]) == 0)
            return true;
    return false;
}

/* ---- one process ---- */

/* Standard streams lead wherever the caller led them: to a log, which is no use of a device. */
static bool is_stream(const char *number)
{
    return number[1] == '\0' && number[0] <= '2';
}

/* What the open file is, if it counts and is on these devices. */
static bool look_at_file(struct search *search, int folder_fd, const char *number,
                         char path[DEVICE_FILE_MAX])
{
    struct stat link;
    struct statx file;
    ssize_t length = readlinkat(folder_fd, number, path, DEVICE_FILE_MAX - 1);
    if (length <= 0 || path[0] != '/')
        return false;
    path[length] = '\0';
    if (strncmp(path, "/dev/", 5) != 0 && !is_database_name(path) &&
        (fstatat(folder_fd, number, &link, AT_SYMLINK_NOFOLLOW) != 0 || !(link.st_mode & S_IWUSR)))
        return false;
    if (statx(folder_fd, number, AT_STATX_DONT_SYNC | AT_NO_AUTOMOUNT, STATX_TYPE, &file) != 0)
        return false;
    if (S_ISBLK(file.stx_mode))
        return is_on_devices(search, makedev(file.stx_rdev_major, file.stx_rdev_minor));
    return S_ISREG(file.stx_mode) &&
           is_on_devices(search, makedev(file.stx_dev_major, file.stx_dev_minor));
}

/* The files of a process on these devices; false: may not be looked at. */
static bool look_at_files(struct search *search, const char *process, struct device_user *user,
                          bool *database_files)
{
    char folder[SMALL_FILE_PATH_MAX];
    snprintf(folder, sizeof folder, "%s/fd", process);
    DIR *files = opendir(folder);
    if (!files)
        return errno == ENOENT; /* it has ended */
    for (const struct dirent *entry; (entry = readdir(files));) {
        char path[DEVICE_FILE_MAX];
        if (entry->d_name[0] == '.' || is_stream(entry->d_name) ||
            !look_at_file(search, dirfd(files), entry->d_name, path))
            continue;
        bool is_database = is_database_name(path);
        if (user->files == 0 || (is_database && !*database_files))
            snprintf(user->file, sizeof user->file, "%s", path);
        *database_files |= is_database;
        user->files++;
    }
    closedir(files);
    return true;
}

static bool known_program(const char *name, enum device_user_kind *kind)
{
    for (size_t i = 0; i < sizeof programs / sizeof programs[0]; i++) {
        if (strncmp(name, programs[i].stem, strlen(programs[i].stem)) != 0)
            continue;
        *kind = programs[i].kind;
        return true;
    }
    return false;
}

/* In the order of the kinds, worst first. */
static void add_user(struct device_users *users, const struct device_user *user)
{
    unsigned at = users->count;
    while (at > 0 && users->list[at - 1].kind > user->kind)
        at--;
    if (users->count == DEVICE_USERS_MAX) {
        users->more++;
        if (at == DEVICE_USERS_MAX)
            return;
        users->count--;
    }
    memmove(&users->list[at + 1], &users->list[at], (users->count - at) * sizeof users->list[0]);
    users->list[at] = *user;
    users->count++;
}

static void look_at_process(struct device_users *users, struct search *search, const char *proc,
                            int pid)
{
    char process[SMALL_FILE_PATH_MAX - 8];
    struct device_user user = {.pid = pid};
    bool database_files = false;
    snprintf(process, sizeof process, "%s/%d", proc, pid);
    if (!small_file_text(process, "comm", user.program, sizeof user.program))
        return;
    bool known = known_program(user.program, &user.kind);
    if (!look_at_files(search, process, &user, &database_files)) {
        users->unseen++;
        if (known && user.kind == DEVICE_USER_SQL_SERVER)
            users->unseen_sql_server = pid;
        return;
    }
    if (database_files && (!known || user.kind == DEVICE_USER_DATABASE)) {
        user.kind = DEVICE_USER_DATABASE_FILES;
        known = true;
    }
    if (known && user.files)
        add_user(users, &user);
}

void device_users_look(struct device_users *users, const char *proc, const char *sysfs,
                       const struct device_place *places, unsigned place_count)
{
    struct search search = {.sysfs = sysfs, .places = places, .place_count = place_count};
    *users = (struct device_users){.count = 0};
    DIR *processes = opendir(proc);
    if (!processes)
        return;
    for (const struct dirent *entry; (entry = readdir(processes));) {
        char *end;
        long pid = strtol(entry->d_name, &end, 10);
        if (isdigit((unsigned char)entry->d_name[0]) && *end == '\0' && pid != getpid())
            look_at_process(users, &search, proc, (int)pid);
    }
    closedir(processes);
}

const struct device_user *device_users_find(const struct device_users *users,
                                            enum device_user_kind kind)
{
    for (unsigned i = 0; i < users->count; i++)
        if (users->list[i].kind == kind)
            return &users->list[i];
    return NULL;
}

struct device_busy device_busy_between(const struct drive_level *start,
                                       const struct drive_level *now, uint64_t elapsed_ns)
{
    struct drive_counters moved;
    struct device_busy busy = {.known = false};
    if (elapsed_ns == 0 || !drive_level_since(start, now, &moved))
        return busy;
    double seconds = (double)elapsed_ns / (double)NS_PER_S;
    double percent = (double)moved.busy_ms / (seconds * MS_PER_S) * PERCENT_MAX;
    busy.known = true;
    busy.percent = percent > PERCENT_MAX ? PERCENT_MAX : (unsigned)percent;
    busy.read_mb_per_s = (double)moved.bytes_read / MB / seconds;
    busy.write_mb_per_s = (double)moved.bytes_written / MB / seconds;
    return busy;
}
