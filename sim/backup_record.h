/*
 * backup_record.h - what became of each backup of a database, for the report: complete or not, what
 * is in it, how fast it was; whether it still stands in its file, was read back, was restored.
 *
 * The newest BACKUP_RECORDS_MAX are kept: a run of days takes tens of thousands.
 *
 * Ownership: struct backup_media has them.  Threads: whoever has set in_use of the media, the
 * coordinator after the main part.  Units: pages of 8 KiB, bytes, ns of the run's clock.
 */
#ifndef SIM_BACKUP_RECORD_H
#define SIM_BACKUP_RECORD_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define BACKUP_RECORDS_MAX 1000
#define BACKUP_WHY_MAX     160
#define BACKUP_LSN_MAX     40

struct backup_file;

enum backup_look { BACKUP_LOOK_NONE, BACKUP_LOOK_RIGHT, BACKUP_LOOK_WRONG };

struct backup_record {
    uint32_t number;
    bool log, complete;
    const struct backup_file *file;        /* NULL: written nowhere */
    bool in_file;                          /* complete, and not overwritten since */
    uint64_t pages, log_bytes, bytes;      /* bytes: all that was written, or would have been */
    uint64_t first_position, end_position; /* of the log in it */
    uint64_t begun_ns, took_ns;
    enum backup_look verified, restored;
    uint64_t pages_compared;  /* of the restored ones, with what they must be */
    char why[BACKUP_WHY_MAX]; /* it is not complete */
};

struct backup_records {
    struct backup_record *list; /* a ring */
    uint64_t made;              /* all */
};

int backup_records_make(struct backup_records *records) __attribute__((warn_unused_result));
void backup_records_free(struct backup_records *records);
void backup_records_add(struct backup_records *records, const struct backup_record *record);
/* How many there are, and one of them, the oldest first. */
size_t backup_records_count(const struct backup_records *records);
const struct backup_record *backup_record_at(const struct backup_records *records, size_t index);
/* The file is written from its beginning. */
void backup_records_overwritten(struct backup_records *records, const struct backup_file *file);
/* What stands in the file was read back. */
void backup_records_verified(struct backup_records *records, const struct backup_file *file,
                             bool right);
/* What stands in it was restored, and so many pages compared. */
void backup_records_restored(struct backup_records *records, const struct backup_file *file,
                             bool right, uint64_t pages_compared);
/* As SQL Server writes an LSN: "00000025:00000190:0001". */
void backup_lsn_text(uint64_t position, char out[BACKUP_LSN_MAX]);

#endif
