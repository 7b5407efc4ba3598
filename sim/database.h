/*
 * database.h - a database: its data files with their system pages, its log, its checkpoint state.
 *
 * System pages live in pinned frames of the pool and are written by the checkpoint like any page.
 * Beside each frame the database keeps the image the device acknowledged and the one that is being
 * written, since a disk copy is judged by those, never by the frame.
 *
 * Ownership: the run owns its databases; a database owns its files.  Threads: the system page table
 * of a file grows under its lock; images are copied under it.
 */
#ifndef SIM_DATABASE_H
#define SIM_DATABASE_H

#include "sim/coverage.h"
#include "sim/database_checkpoint.h"
#include "sim/file.h"
#include "sim/pool.h"
#include "sim/recovery_target.h"
#include "sim/wal.h"

#define DATABASE_NAME_MAX 32
#define BOOT_PAGE         9
#define DATABASE_ID_FIRST 5 /* 1 to 4 are SQL Server's system databases */

/* Who uses a data file at present, by epochs: database_use.h. */
struct file_users {
    _Atomic unsigned epoch; /* 0 or 1: of those who begin now */
    _Atomic uint32_t count[2];
    _Atomic(struct task *) drainer; /* woken when an epoch is empty; NULL: nobody waits */
};

/* Extents of a data file that come and go: database_extents.h. */
struct extent_map {
    pthread_mutex_t lock;
    uint32_t first;          /* extent number of states[0]: those below are used for ever */
    uint32_t end;            /* those from here on are not given out */
    uint32_t hint;           /* none below is free */
    _Atomic uint32_t free;   /* below end */
    _Atomic uint8_t *states; /* enum extent_state, up to the file's capacity */
    int64_t credit;          /* proportional fill */
};

/* Who may change the sizes of a database's files: database_use.h. */
struct size_rights {
    pthread_mutex_t lock;
    struct task *changer;      /* changes a size now, or NULL */
    unsigned shrink_forbidden; /* how many forbid it */
    bool shrinking;            /* what the changer does */
    struct wait_list waiters;
};

/* A system page that exists. */
struct syspage {
    uint32_t page_no;
    enum syspage_kind kind;
    struct frame *frame;
    uint8_t *acked;  /* image on the device */
    uint8_t *issued; /* image of the newest write */
    bool has_acked, has_issued;
    bool older_issued; /* one before `issued` failed and may be on the device, too: not held */
};

struct gather;
struct snapshot;
struct write_checks;

struct data_file {
    struct file file;
    /* A snapshot of that file (snapshot.h): its pages carry that file's identity; or NULL. */
    struct data_file *snapshot_of;
    struct snapshot *snapshot; /* of this file, whether in use or not; or NULL */
    /* Asked before images go out, and after they were acknowledged (writeback.h); true: it keeps
     * the gather and lets it go on later.  NULL: nobody is asked. */
    bool (*check_old)(struct gather *gather);
    bool (*before_write)(struct gather *gather);
    bool (*after_write)(struct gather *gather);
    struct write_checks *checks; /* of check_old and after_write */
    unsigned index;              /* in the run's data files: what patterns see */
    struct database *database;
    /* What it may grow to: ledger, frames and tables are made for that.  Before data_file_init;
     * less than the size: it never grows. */
    uint32_t capacity_pages;
    struct file_users users; /* database_use.h */
    struct extent_map extents;
    uint64_t increment_bytes; /* step of its size; 0: it has one size for ever */
    bool shrinkable;
    bool growth_refused; /* told, and none has succeeded since; of who has the right to its size */
    uint32_t initial_pages;   /* before data_file_init; 0: its size */
    bool primary;             /* has the boot page */
    bool sparse;              /* pages are not allocated beforehand: sparse files, tempdb's */
    pthread_mutex_t lock;     /* of syspages and their images */
    struct syspage *syspages; /* ordered by page_no */
    size_t syspage_count, syspage_capacity;
    _Atomic bool truncated; /* reported once */
    struct coverage coverage;
};

struct database {
    unsigned index; /* 0-based; id = index + 1 */
    bool tempdb;    /* commits do not wait, what is not recovered need not be durable */
    char name[DATABASE_NAME_MAX];
    struct data_file *files;
    unsigned file_count;
    struct file *logs; /* used one after the other */
    unsigned log_count;
    struct wal wal;
    struct pool *pool;
    struct ledger *ledger;
    const struct run_identity *run;
    _Atomic unsigned checkpoint_permille; /* of the sweep under way, for people; 0 = none */
    _Atomic uint64_t last_checkpoint_ns;  /* end of the last complete one */
    struct lsn checkpoint_lsn;            /* its begin record */
    _Atomic uint64_t checkpoints;
    unsigned failed_checkpoints; /* one after another */
    struct checkpoint_desk desk;
    bool indirect; /* checkpoints: by the target below, from the list of dirty pages */
    struct dirty_list dirty;
    struct recovery_target recovery; /* the checkpoint's */
    _Atomic bool in_doubt;           /* a write or flush failed: rewrite.h */
    struct size_rights sizes;        /* database_use.h */
    /* buffer_sum.h; right: what should be there, or NULL.  NULL: no sums. */
    void (*on_memory_changed)(struct gather *gather, unsigned index, const uint8_t *right,
                              bool written);
};

/* What the stamps of its pages say. */
static inline const struct file_mark *data_file_identity(const struct data_file *file)
{
    return file->snapshot_of ? &file->snapshot_of->file.mark : &file->file.mark;
}

int data_file_init(struct data_file *file, struct database *database, unsigned index, bool primary);
void data_file_free(struct data_file *file);
/* Number of system pages a file of this size has. */
size_t syspage_count_of(uint32_t size_pages, bool primary);

/* Indirect checkpoints from now on.  Before a page is dirty. */
int database_target_recovery(struct database *database, uint64_t target_ns, uint64_t now_ns)
    __attribute__((warn_unused_result));
/* More pages are dirty than the target allows; by the checkpoint alone. */
bool database_recovery_is_due(struct database *database, uint64_t now_ns);

/* Frame of the system page, created (formatted in memory, CLEAN, generation 0) if it does not
 * exist. */
struct frame *syspage_frame(struct data_file *file, uint32_t page_no);
/* The file ends before the page now, whose extents are free: the frame stands for no page until it
 * is changed again.  False: it is being written, and the task waits for that. */
bool syspage_retire(struct data_file *file, uint32_t page_no, struct task *task);
/* Copies of the images for judging a read. */
struct syspage_images {
    bool has_acked, has_issued;
    uint8_t *acked, *issued; /* PAGE_BYTES each, the caller's */
};
void syspage_images_copy(struct data_file *file, uint32_t page_no, struct syspage_images *images);
/* Called by the writeback: image is going out / the newest image was acknowledged. */
void syspage_issued(struct data_file *file, uint32_t page_no, const uint8_t *image);
void syspage_acked(struct data_file *file, uint32_t page_no);
/* For a snapshot: there is such a page, it has no frame; none of them is left. */
void syspage_place(struct data_file *file, uint32_t page_no);
void syspages_forget(struct data_file *file);

#endif
