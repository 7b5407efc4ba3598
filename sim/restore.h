/*
 * restore.h - a database from a full backup and the log backups after it: pages and redo.
 *
 *   load the backups, newest full one, then every log backup that follows it without a gap
 *   -> read all log: note what each record changes (verify/redo.h)
 *   -> read the pages in order, redo each, write it (restore_write, MaxTransferSize)
 *   -> flush, read everything back, compare with what was written
 *
 * The state is that at the end of the newest log, with transactions under way as they are (RESTORE
 * ... WITH NORECOVERY: nothing is undone).  SQL Server writes the pages first and redoes them then,
 * page by page; here a page is redone before it is written, so each is written once.
 *
 * The files are created with our mark and never replace any other.  Damaged backups are findings
 * and are refused; what is left of the new files then is removed.
 *
 * One thread; blocks.  Ownership: the caller's files, io and findings.
 */
#ifndef SIM_RESTORE_H
#define SIM_RESTORE_H

#include "sim/backup_check.h"
#include "verify/redo.h"

#define RESTORE_SOURCES_MAX 64

struct restore {
    /* in */
    struct io *io;
    struct file *sources[RESTORE_SOURCES_MAX]; /* backup files of one database, in any order */
    size_t source_count;
    const char *directory, *prefix; /* of the new files: prefix and the name of the old one */
    struct file_open how;           /* direct, dsync, delete_own: for them */
    struct findings *findings;
    const char *actor;
    const struct tick *tick;
    uint64_t now_ns; /* realtime: write time of redone pages */
    /* Every page as it was read back, or NULL.  False: it is not what it must be; text says why. */
    bool (*judge)(void *context, uint16_t file_uid, uint32_t page_no, const void *page,
                  char text[FINDING_DETAIL_MAX]);
    void *context;
    /* out */
    char message[FILE_MESSAGE_MAX];
    bool refused; /* for what the backups are, not for a fault of the storage */
    uint64_t pages, redone, log_records, bytes, damaged;
    uint64_t end_position;
    unsigned log_backups;
    struct file targets[REDO_FILES_MAX];
    unsigned target_count;
};

/* 0; -EBADMSG (damaged: findings say what), -EINVAL (refused: message), -EINTR or another -errno
 * with message.  restore_close in any case: with keep the new files stay. */
int restore_run(struct restore *restore) __attribute__((warn_unused_result));
void restore_close(struct restore *restore, bool keep);

#endif
