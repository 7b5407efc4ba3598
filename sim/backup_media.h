/*
 * backup_media.h - the files that the backups of a run are written to, and what they hold.
 *
 * Each database has Keep files for full backups, used in turn (BACKUP ... WITH INIT), and, with log
 * backups, as many for those: the log backups that follow a full backup stand one behind the other
 * in the file beside it (WITH NOINIT).  All are made before the first phase, so that nothing has to
 * be created or removed while users work, and the space is known to the plan.
 *
 * Threads: made and freed by the coordinator; while users work the media of a database belong to
 * the actor that has set in_use.
 */
#ifndef SIM_BACKUP_MEDIA_H
#define SIM_BACKUP_MEDIA_H

#include "patterns/backup_user.h"
#include "sim/backup_record.h"
#include "sim/run.h"
#include "verify/backup.h"

/* What a file holds. */
struct backup_file {
    struct file file;
    uint32_t number;       /* of the newest complete backup; 0 = none */
    uint64_t end_offset;   /* behind it */
    uint64_t end_position; /* of the log in it */
};

struct backup_media {
    struct database *database;
    _Atomic bool in_use; /* a backup of it is under way */
    unsigned keep;
    struct backup_file *full, *log; /* `keep` of each; NULL: not written, no log backups */
    unsigned current;               /* where the newest complete full backup is */
    uint32_t number;                /* of the newest backup, complete or not */
    /* FULL recovery: the log from here on is not backed up yet.  Not held before the first full
     * backup. */
    struct wal_hold log_hold;
    uint32_t log_crc; /* chain value at log_hold.position */
    bool log_crc_known;
    /* Of each data file: the generations that the device had acknowledged when the newest full
     * backup ended, so that a restored page is at least as new.  NULL: not restored. */
    uint64_t **floors;
    uint32_t *floor_pages;
    uint64_t complete, failed, log_backups;
    struct backup_records records; /* of all that were begun */
};

/* Create the files of the plan, after all others.  0, or -errno with run->message and exit_code. */
int backup_media_create(struct run *run) __attribute__((warn_unused_result));
void backup_media_free(struct run *run);
/* The file of a row of the plan's backups, and its row for the ledger. */
struct backup_file *backup_media_file(const struct run *run, unsigned index);
struct ledger_file_spec backup_media_spec(const struct run *run, unsigned index);
/* Remove the files (run_build.c's files_remove). */
void backup_media_remove(struct run *run);
/* The settings of [BackupUser] of the main part. */
const struct backup_user_settings *backup_settings(const struct run *run);

#endif
