/*
 * verify_files.h - what `pagestorm verify` works on: files opened read-only, and what is known of
 * them.
 *
 * A set is one run directory with its ledger, or files given by name without one.  Files of ours
 * are locked for reading, so that no run writes meanwhile; foreign ones (SQL Server's) are only
 * read.
 *
 * Ownership: the set owns its files, ledger, findings and I/O.  One thread.  Errors: 0 or -errno
 * with set->message for people and set->exit_code.
 */
#ifndef SIM_VERIFY_FILES_H
#define SIM_VERIFY_FILES_H

#include "sim/file.h"
#include "sim/findings.h"
#include "sim/io.h"
#include "verify/ledger.h"
#include "verify/logscan.h"
#include "verify/syspage.h"

#define VERIFY_MESSAGE_MAX FILE_MESSAGE_MAX
#define VERIFY_CHUNK_PAGES 128 /* 1 MiB a read */
#define VERIFY_RETRIES_MAX 4   /* SQL Server's */

enum verify_count {
#define VERIFY_COUNT(name, text) VERIFY_COUNT_##name,
#include "sim/verify_counts.def"
#undef VERIFY_COUNT
    VERIFY_COUNT_COUNT
};
const char *verify_count_name(enum verify_count count);
const char *verify_count_text(enum verify_count count);

/* A logged change of a system page. */
struct logged_image {
    uint16_t file_uid;
    uint32_t page_no;
    struct lsn lsn;
    uint64_t generation, xxh3;
};

/* What the log of a database says. */
struct verify_log {
    bool whole;              /* scanned, and without damage */
    uint64_t first_position; /* of its oldest live block */
    uint64_t end_position;   /* behind the newest */
    struct lsn last_record;
    struct logged_image *images; /* in order of the log */
    size_t image_count, image_capacity;
    struct lsn *checkpoints; /* begin records */
    size_t checkpoint_count, checkpoint_capacity;
    /* What recovery would rely on: everything changed before this checkpoint began is on the
     * device. From the boot page; zero when none can be believed. */
    struct lsn boot_checkpoint;
    bool modified;  /* a user changed a page: the initial update was over */
    bool tail_lost; /* reported: pages ahead of the end follow from it */
};

struct verify_file {
    struct file file;                            /* foreign: path and target only */
    bool ours, is_log, is_backup, primary, open; /* data file: neither of them */
    bool cut;                                    /* reported: shorter than it must be */
    bool other_inode; /* than the one the ledger knows: what is wrong with it was brought along */
    uint16_t file_id; /* as page 0 says */
    uint64_t size_bytes;     /* now */
    uint32_t page_count;     /* to check: what a file has beyond its size is not ours */
    uint32_t header_pages;   /* SQL Server's: size by its file header, 0 = unknown */
    struct ledger_file *row; /* of the set's ledger, or NULL */
    uint64_t counts[VERIFY_COUNT_COUNT];
    /* data files of ours */
    uint64_t *logged;  /* newest logged generation of each page, 0 = none */
    uint64_t *settled; /* the same of changes in the pool before the boot page's checkpoint */
    uint32_t pages_ahead, ahead_page; /* newer than the end of the log; the newest of them */
    struct lsn ahead_lsn;
    /* log files */
    struct verify_log log;
};

struct verify_set {
    const char *path;      /* of the run directory, or NULL */
    struct ledger *ledger; /* or NULL */
    bool believed, clean;  /* of the ledger */
    bool same_boot;        /* the ledger is of this one */
    struct verify_file *files;
    size_t count;
    struct findings *findings;
    struct clock clock;
    struct stats *stats;
    enum phase phase;
    struct io_engine *engine;
    struct io io;
    uint8_t *buffer; /* VERIFY_CHUNK_PAGES pages */
    char message[VERIFY_MESSAGE_MAX];
    int exit_code; /* of a set that could not be checked: enum exit_code */
    bool incomplete;
};

/* Open a run directory (paths[0], has a ledger), or files. */
int verify_set_open(struct verify_set *set, const char *const *paths, size_t count, bool run_dir,
                    struct findings *findings) __attribute__((warn_unused_result));
void verify_set_close(struct verify_set *set);
bool verify_is_run_dir(const char *path);

/* Read, with retries; the last error stays.  Retries are counted and reported. */
int verify_read(struct verify_set *set, struct verify_file *file, uint64_t offset, void *buf,
                size_t size_bytes) __attribute__((warn_unused_result));
/* Fill in what every finding of a file carries, and report. */
void verify_report(struct verify_set *set, struct verify_file *file, struct finding *finding);
/* The same for a page; detail may be NULL. */
void verify_report_page(struct verify_set *set, struct verify_file *file, uint32_t page_no,
                        enum verdict verdict, const char *detail);
/* A data file of tempdb whose run did not end in order: nothing of it is owed. */
bool verify_is_unspecified(const struct verify_set *set, const struct verify_file *file);
/* The first log file of the database of a file of ours, which stands for its log; NULL if the set
 * has none.  complete: it has all of them. */
struct verify_file *verify_log_first(struct verify_set *set, const struct verify_file *file,
                                     bool *complete);
/* The same if it is complete: what a data file can be compared with; else NULL. */
struct verify_file *verify_log_of(struct verify_set *set, const struct verify_file *file);
/* The log file of the same database behind `after` (NULL: the first) in order of the set. */
struct verify_file *verify_log_next(struct verify_set *set, const struct verify_file *file,
                                    struct verify_file *after);
struct verify_file *verify_data_by_uid(struct verify_set *set, const struct verify_file *log,
                                       uint16_t uid);

#endif
