/*
 * writeback.h - the one function that sends page images to disk, whoever asks.
 *
 * writeback_submit: demands a log durable to every m_lsn (unless 0), seals, tells the ledger,
 * submits one gather write of consecutive pages.  writeback_collect claims dirty frames for it by
 * SQL Server's merge rule: from one dirty page forward, then backward, while the neighbour is
 * dirty, may be latched at once and its log is durable, up to the cap.
 *
 * System pages are written by the checkpoint alone (writeback_collect_all), which changes and
 * writes the boot page in one go.
 *
 * Before anything of that, who must see the old images first may keep the gather back
 * (data_file.check_old: VerifyBeforeOverwrite; then before_write: a snapshot), and after a good
 * write who reads it back (after_write: ReadBack); its frames stay WRITING meanwhile.  Images of a
 * snapshot are written as they were read.
 *
 * After a failed write: one retry at once, then the next checkpoints write each page alone;
 * quarantined after three failures (pool.h).  Until a write succeeds the pages are indeterminate.
 *
 * Threads: a gather belongs to the worker that submits it.
 */
#ifndef SIM_WRITEBACK_H
#define SIM_WRITEBACK_H

#include "sim/database.h"

struct run;

#define GATHER_PAGES_MAX 128 /* 1 MiB: SQL Server 2016+; 32 before */

/* One page image that goes out. */
struct page_image {
    uint8_t *bytes;
    uint64_t generation;
    struct lsn lsn;      /* zero: not logged */
    struct frame *frame; /* claimed (WRITING), or NULL for images outside the pool */
    uint16_t actor;
    uint64_t sum; /* of the image that was submitted: buffer_sum.h */
};

struct gather {
    struct data_file *file;
    uint32_t first_page;
    unsigned count;
    struct page_image images[GATHER_PAGES_MAX];
    struct iovec iov[GATHER_PAGES_MAX];
    struct io_req req;
    enum stream stream;
    struct worker *worker;
    bool retried;
    bool settled;                        /* acknowledged, and perhaps being read back */
    int result;                          /* after done */
    void (*done)(struct gather *gather); /* on the worker's thread */
    void *context;
    struct gather *next; /* the owner's list */
    struct gather *held; /* of who keeps it back */
    void (*on_error)(struct gather *gather,
                     bool final); /* each failed write; final: no retry left */
    struct run *run;              /* for on_error: opaque here */
    const char *actor;            /* who asked */
};

/* The owner's list of gathers that are free. */
static inline void gather_push(struct gather **list, struct gather *gather)
{
    gather->next = *list;
    *list = gather;
}
static inline struct gather *gather_pop(struct gather **list)
{
    struct gather *gather = *list;
    *list = gather->next;
    return gather;
}

/* Gathers that wait their turn with who keeps them back; linked by held. */
struct gather_line {
    struct gather *head, *tail;
};
static inline void gather_line_add(struct gather_line *line, struct gather *gather)
{
    gather->held = NULL;
    if (line->tail)
        line->tail->held = gather;
    else
        line->head = gather;
    line->tail = gather;
}
/* NULL: nobody waits. */
static inline struct gather *gather_line_take(struct gather_line *line)
{
    struct gather *gather = line->head;
    if (gather)
        line->head = gather->held;
    if (!line->head)
        line->tail = NULL;
    return gather;
}

enum collect {
    COLLECT_NOTHING, /* not dirty any more, or being written */
    COLLECT_LOG,     /* the log must be durable to *position first */
    COLLECT_CLAIMED, /* gather is filled: submit it */
    COLLECT_BUSY, /* somebody else writes or overwrites it; the task is woken at the end of that */
};
enum collect writeback_collect(struct database *database, struct data_file *file, uint32_t page_no,
                               unsigned cap, struct gather *gather, uint64_t *position);
/* For the checkpoint: system pages, too; and a page that another task is writing is waited for,
 * since its write may fail. */
enum collect writeback_collect_all(struct database *database, struct data_file *file,
                                   uint32_t page_no, unsigned cap, struct gather *gather,
                                   uint64_t *position, struct task *task);
/* As writeback_collect, but a page that another is writing or overwriting is waited for. */
enum collect writeback_collect_waiting(struct database *database, struct data_file *file,
                                       uint32_t page_no, unsigned cap, struct gather *gather,
                                       uint64_t *position, struct task *task);
/* count, images, file, first_page, stream, worker and done are set. */
void writeback_submit(struct gather *gather);
/* For who kept a gather back: after check_old it goes on, after before_write it goes; after
 * after_write its pages are free again and its owner is told. */
void writeback_go_on(struct gather *gather);
void writeback_send(struct gather *gather);
void writeback_release(struct gather *gather);

#endif
