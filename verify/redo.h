/*
 * redo.h - what the log of a backup does to the pages of the backup.
 *
 * The records between the first and the last LSN are noted first; then each page is redone in one
 * step.  A data page is a pure function of its generation, so that its newest record says all; a
 * system page is changed record by record (syspage_delta.h), and each image must have the XXH3-64
 * that its record names.
 *
 * Ownership: the table owns its memory; redo_note allocates, redo_page does not.  One thread.
 */
#ifndef VERIFY_REDO_H
#define VERIFY_REDO_H

#include "verify/logblk.h"
#include "verify/syspage.h"
#include "verify/syspage_delta.h"

#define REDO_FILES_MAX 80

struct redo_page_entry {
    uint64_t generation; /* newest logged, 0 = none */
    struct lsn lsn;      /* of that record */
};

/* A logged change of a system page. */
struct redo_change {
    uint16_t file_uid;
    uint32_t page_no;
    struct lsn lsn;
    uint64_t generation, xxh3;
    uint16_t delta_bytes;
    uint8_t delta[SYSPAGE_DELTA_MAX + 4]; /* records read back may be longer by 3 zero bytes */
};

struct redo_file {
    struct file_mark mark; /* of the file that is restored */
    bool primary;
    uint32_t capacity_pages;
    uint32_t page_count; /* newest page in the log + 1 */
    struct redo_page_entry *pages;
};

struct redo {
    struct run_identity run;
    char database[32];
    struct redo_file files[REDO_FILES_MAX];
    size_t file_count;
    struct redo_change *changes; /* by file, page, LSN once redo_prepare has run */
    size_t change_count, change_capacity;
    uint64_t records; /* of changes */
};

void redo_init(struct redo *redo, const struct run_identity *run, const char *database);
/* NULL with too many files. */
struct redo_file *redo_add_file(struct redo *redo, const struct file_mark *mark, bool primary);
struct redo_file *redo_file_of(const struct redo *redo, uint16_t uid);
/* Note what a record changes: 0 (also for a record that changes no page of these files), -EBADMSG
 * (it contradicts itself), -ENOMEM. */
int redo_note(struct redo *redo, const struct log_record_view *record)
    __attribute__((warn_unused_result));
/* After the last record. */
void redo_prepare(struct redo *redo);

enum redo_result {
    REDO_KEPT,       /* the image is the newest */
    REDO_CHANGED,    /* image is sealed */
    REDO_IMPOSSIBLE, /* SQL Server: 3456; the image was not what the log record applies to */
};
/* page: the image of the backup, or zeros where it has none.  write_time_ns: for the stamp. */
enum redo_result redo_page(const struct redo *redo, const struct redo_file *file, uint32_t page_no,
                           void *page, uint64_t write_time_ns);
void redo_free(struct redo *redo);

#endif
