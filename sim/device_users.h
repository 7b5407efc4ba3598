/*
 * device_users.h - who else uses the devices of some paths: SQL Server, another pagestorm, other
 * databases, whoever has .mdf, .ndf or .ldf files open; and how busy a device is.
 *
 * Looks at /proc/PID/fd.  Only files open for writing, named as database files, or block devices
 * count, so that a program that lies on the disk is no user of it; nor do standard streams.  Files
 * are stat'ed without asking a server (AT_STATX_DONT_SYNC), so that a dead NFS mount of somebody
 * else hangs nothing. What may not be seen (other users' processes, another container) is counted,
 * never guessed.
 *
 * Ownership: values, no memory.  Threads: any, one struct each.
 */
#ifndef SIM_DEVICE_USERS_H
#define SIM_DEVICE_USERS_H

#include "sim/device_chain.h"

#define DEVICE_PROC         "/proc"
#define DEVICE_USERS_MAX    32
#define DEVICE_FILE_MAX     512
#define DEVICE_BUSY_PERCENT 5 /* from here on it is worth a word */

enum device_user_kind {
    DEVICE_USER_SQL_SERVER,
    DEVICE_USER_DATABASE_FILES, /* some program with .mdf, .ndf or .ldf files open */
    DEVICE_USER_PAGESTORM,
    DEVICE_USER_DATABASE, /* another database or load generator that is known by its name */
};

struct device_user {
    enum device_user_kind kind;
    int pid;
    char program[32];           /* /proc/PID/comm */
    char file[DEVICE_FILE_MAX]; /* one of them; a database file where there is one */
    unsigned files;             /* on these devices */
};

struct device_users {
    struct device_user list[DEVICE_USERS_MAX]; /* worst kind first */
    unsigned count, more;                      /* more: beyond the list */
    unsigned unseen;                           /* processes whose files may not be looked at */
    int unseen_sql_server;                     /* of them one named sqlservr: its pid, else 0 */
};

/* Where the paths lie. */
struct device_place {
    uint64_t file_system; /* st_dev */
    struct device_chain chain;
};

/* proc: DEVICE_PROC, sysfs: DRIVE_SYSFS, or folders that look like them.  This process is left
 * out. */
void device_users_look(struct device_users *users, const char *proc, const char *sysfs,
                       const struct device_place *places, unsigned place_count);
/* Of those on the devices: the first of a kind, or NULL. */
const struct device_user *device_users_find(const struct device_users *users,
                                            enum device_user_kind kind);
const char *device_user_text(enum device_user_kind kind); /* "SQL Server" */

/* How busy a device was between two looks. */
struct device_busy {
    bool known;
    unsigned percent; /* of the time with a request under way */
    double read_mb_per_s, write_mb_per_s;
};
struct device_busy device_busy_between(const struct drive_level *start,
                                       const struct drive_level *now, uint64_t elapsed_ns);

#endif
