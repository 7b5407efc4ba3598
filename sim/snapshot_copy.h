/*
 * snapshot_copy.h - copiers: tasks that bring old images into a snapshot before a gather write
 * goes.
 *
 * Each worker has a few; a gather that finds none free waits in the worker's line.
 *
 * Threads: all of a worker's copiers and its line belong to that worker.  No allocation but in
 * create.
 */
#ifndef SIM_SNAPSHOT_COPY_H
#define SIM_SNAPSHOT_COPY_H

#include "sim/page_batch.h"
#include "sim/snapshot.h"

#define SNAPSHOT_COPIERS    8  /* of a worker: gathers that are copied for at a time */
#define SNAPSHOT_COPY_PAGES 32 /* read and written at once: 256 KiB */

struct snapshot_copier {
    struct task task;
    struct snapshot_copiers *of;
    struct snapshot_copier *next; /* free ones */
    struct page_reader reader;
    enum task_result (*step)(struct snapshot_copier *copier);
    struct snapshot *snapshot;
    struct gather *gather; /* that waits for it; NULL: free */
    unsigned next_page;    /* of the gather: pages before it are in their places */
    uint32_t first_page;   /* of the run of pages that is being copied */
    unsigned count, written;
    unsigned again;                   /* tries left for an overlapped page */
    bool in_flight;                   /* the write */
    bool wanted[SNAPSHOT_COPY_PAGES]; /* its image is right: it goes into the snapshot */
    uint64_t generation[SNAPSHOT_COPY_PAGES];
    struct ledger_view before[SNAPSHOT_COPY_PAGES];
    struct iovec iov[SNAPSHOT_COPY_PAGES];
    struct page_batch batch;
    struct gather out;
    uint8_t *buffer; /* SNAPSHOT_COPY_PAGES pages */
};

struct snapshot_copiers {
    struct snapshot_copier *free_list;
    struct gather_line line;
    struct snapshot_copier list[SNAPSHOT_COPIERS];
};

/* Of a worker that is at work on this thread: gather->worker.  The gather goes when its pages are
 * in the snapshot; snapshot->kept_back has counted it. */
void snapshot_copy(struct snapshot *snapshot, struct gather *gather);

int snapshot_copiers_create(struct run *run) __attribute__((warn_unused_result));
void snapshot_copiers_free(struct snapshots *snapshots);

#endif
