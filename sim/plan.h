/*
 * plan.h - from what the user asked to what will be done: files, sizes, pool, workers, time, space.
 *
 * Defaults of DESIGN section 7.  Looks at the machine (space, memory, CPUs), changes nothing. Every
 * default that the machine reduced is a note.  Below the minimum: -ENOSPC or -ENOMEM with the sum.
 *
 * Order of use: plan_add_files() while the profile may still change (--dir without [FileN]), then
 * profile_finish(), then plan_make().  What the machine has comes in through struct plan_machine,
 * so that all of it can be tested without one.
 */
#ifndef SIM_PLAN_H
#define SIM_PLAN_H

#include "config/profile.h"
#include "sim/numa.h"
#include "patterns/pattern.h"
#include "sim/file.h"

#define PLAN_MESSAGE_MAX    1024
#define PLAN_NOTES_MAX      32
#define PLAN_NOTE_MAX       256
#define PLAN_DATA_BYTES_MIN (1ll << 20) /* system pages and room for users */

/* A file system. */
struct plan_space {
    uint64_t device;
    uint64_t available_bytes; /* to us, nothing reserved yet */
    uint64_t total_bytes;
};

/* What the machine has. */
struct plan_machine {
    unsigned cpus;           /* that this process may use */
    struct cpu_list allowed; /* which; none: could not be found out */
    struct numa numa;
    uint64_t memory_bytes; /* available under the cgroup limit; 0 = could not be found out */
    /* Of the file system of a directory; 0 or -errno. */
    int (*space)(void *context, const char *directory, struct plan_space *out);
    /* Bytes that an earlier file of ours at path gives back when it is replaced. */
    uint64_t (*reusable_bytes)(void *context, const char *path);
    void *context;
};
/* This machine.  root is "" (tests: the folder that stands for /). */
void plan_look_at_machine(struct plan_machine *machine);
uint64_t plan_memory_available(const char *root);

struct plan_notes {
    char text[PLAN_NOTES_MAX][PLAN_NOTE_MAX];
    unsigned count;
};
void plan_note(struct plan_notes *notes, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

/* Directories of the command line: --dir stands for each list that is not given by itself. */
struct plan_dirs {
    const char *const *dirs;
    size_t dir_count;
    const char *const *data_dirs;
    size_t data_dir_count;
    const char *const *log_dirs;
    size_t log_dir_count;
    int64_t size_bytes; /* --size; 0 = by the free space */
};
/* Add a database with data and log files for these directories to the profile.  Several --dir: a
 * database each.  As many databases as log directories; data directories beyond that add data files
 * to the last one.  Errors: -EINVAL, -ENOSPC with message and *exit_code. */
int plan_add_files(struct profile *profile, const struct plan_dirs *dirs,
                   const struct plan_machine *machine, struct plan_notes *notes,
                   char message[PLAN_MESSAGE_MAX], int *exit_code)
    __attribute__((warn_unused_result));

struct plan_file {
    const char *path; /* the profile's */
    bool is_log;
    unsigned database; /* 0-based, dense */
    uint64_t size_bytes;
    uint64_t max_bytes;
    uint64_t increment_bytes; /* by which it grows; 0: never */
    uint64_t initial_bytes;   /* --reuse: what it is filled to for ever; 0: size_bytes */
    bool shrinkable;
    bool sparse;
    bool tempdb;
};
/* What the file may reach. */
static inline uint64_t plan_file_capacity(const struct plan_file *file)
{
    return file->increment_bytes && file->max_bytes > file->size_bytes ? file->max_bytes
                                                                       : file->size_bytes;
}

/* A file for backups (backup_media.h). */
struct plan_backup {
    char *path;
    unsigned database;
    bool log; /* for log backups */
    uint64_t size_bytes;
};

/* The sparse file of a DBCC CHECKDB beside a data file; empty but for the time of a pass. */
struct plan_snapshot {
    char *path;
    unsigned source; /* index of the data file */
};

struct plan {
    struct plan_file *files; /* data files before the log of each database, databases in order,
                                tempdb last */
    unsigned file_count, database_count;
    struct plan_snapshot *snapshots;
    unsigned snapshot_count;
    size_t pool_bytes;
    uint64_t buffer_bytes;       /* beside it: reads of CHECKDB, transfers of backups */
    struct plan_backup *backups; /* full backups before log backups of each database */
    unsigned backup_count;
    uint64_t restore_bytes; /* beside the first of them, for a restore */
    unsigned workers;
    struct numa numa;              /* to spread workers and pool over; count 0: nothing to do */
    struct cpu_list cpus, io_cpus; /* of the workers, of the engines' threads; none = any */
    unsigned queue_depth;
    uint64_t seed;
    bool seed_drawn;
    uint64_t test_cycle_ns;
    uint64_t
        verify_within_ns;    /* each page is read back in that time after its write; 0: no bound */
    bool prepared;           /* the pages are there already: --reuse */
    uint64_t bytes_to_write; /* estimate: creation, initial update */
    char notes[PLAN_NOTES_MAX][PLAN_NOTE_MAX];
    unsigned note_count;
};

/* In which time users read back each page after its write; 0: no bound. */
uint64_t plan_verify_within_ns(const struct profile *profile);
/* How many actors of a pattern there are: who resizes, only where a file is shrinkable. */
int64_t plan_users(const struct plan *plan, const struct pattern *pattern, const void *settings);

/* profile: finished.  The exit code that a failed plan means (enum exit_code) in *exit_code.
 * plan_free() in any case. */
int plan_make(struct plan *plan, const struct profile *profile, char message[PLAN_MESSAGE_MAX],
              int *exit_code) __attribute__((warn_unused_result));
/* The same for a given machine, with the notes of plan_add_files (or NULL) first. */
int plan_make_on(struct plan *plan, const struct profile *profile,
                 const struct plan_machine *machine, const struct plan_notes *notes,
                 char message[PLAN_MESSAGE_MAX], int *exit_code)
    __attribute__((warn_unused_result));
void plan_free(struct plan *plan);
/* The snapshots that a DBCC of the profile will want; part of plan_make.  -ENOMEM, or -ENAMETOOLONG
 * with message. */
int plan_add_snapshots(struct plan *plan, const struct profile *profile,
                       char message[PLAN_MESSAGE_MAX]) __attribute__((warn_unused_result));

/* plan_backup.c: the files of [BackupUser] for the files of the plan. 0 or -ENOMEM. */
int plan_backups(struct plan *plan, const struct profile *profile)
    __attribute__((warn_unused_result));
void plan_backups_free(struct plan *plan);

/* The part of a free file system that is never used: Reserve, or max(1 GiB, 5 %). */
uint64_t plan_reserve_bytes(const struct config_settings *settings, uint64_t total_bytes);

#endif
