/*
 * allocation.h - allocating pages: the changes in PFS, GAM, DIFF, ML and IAM, each logged with the
 * page's new generation and the XXH3 of its new image.  In a sparse file only the system pages of
 * the chunk are allocated: the others are left holes.
 *
 * Threads: any; a system page is changed under its frame's partition lock, in one turn.
 */
#ifndef SIM_ALLOCATION_H
#define SIM_ALLOCATION_H

#include "sim/database.h"

#define ALLOCATION_CHUNK_PAGES 128 /* pages allocated at a time: 1 MiB, 16 extents */
/* PFS (a chunk may touch two), GAM, DIFF, ML, IAM, and system pages inside the chunk. */
#define ALLOCATION_PAGES_MAX 24
#define ALLOCATION_EXTENTS   (ALLOCATION_CHUNK_PAGES / EXTENT_PAGES)

/* System pages that a chunk changes, in a fixed order. */
struct allocation {
    struct data_file *file;
    uint32_t first_page, count;
    uint32_t pages[ALLOCATION_PAGES_MAX];
    unsigned page_count;
    unsigned done; /* of pages */
};

void allocation_plan(struct allocation *allocation, struct data_file *file, uint32_t first_page,
                     uint32_t count);
/* Is there anything to allocate?  Not in a chunk of a sparse file without system pages. */
bool allocation_wanted(const struct data_file *file, uint32_t first_page, uint32_t count);
/* Log space at most of the transaction that formats one chunk: the system page changes, one record
 * an extent, begin and commit. */
uint64_t allocation_log_need(size_t sector_bytes);
/* Change the next pages; 0 when all are done, -EAGAIN (the task waits), -EIO. */
int allocation_step(struct allocation *allocation, struct xact *xact, struct task *task)
    __attribute__((warn_unused_result));

#endif
