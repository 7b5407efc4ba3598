/*
 * allocation.h - allocating and freeing extents: the changes in PFS, GAM, DIFF, ML and IAM, each
 * logged with the page's new generation and the XXH3 of its new image.  In a sparse file only the
 * system pages of the chunk are allocated: the others are left holes.
 *
 * What is freed is as if it had never been allocated, also in DIFF and ML: a map page whose extents
 * are all free is the image that it was built with.
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

enum allocation_what {
    ALLOCATION_ALL,    /* every page of the chunk, of a sparse file its system pages */
    ALLOCATION_SYSTEM, /* the system pages of the chunk: their extents hold nothing else */
    ALLOCATION_TAKE,   /* chosen extents, which hold no system pages */
    ALLOCATION_FREE,   /* chosen extents */
};

/* System pages that a chunk changes, in a fixed order. */
struct allocation {
    struct data_file *file;
    enum allocation_what what;
    uint32_t extents; /* chosen ones, a bit each: 0 is that of first_page */
    uint32_t first_page, count;
    uint32_t pages[ALLOCATION_PAGES_MAX];
    unsigned page_count;
    unsigned done; /* of pages */
};

void allocation_plan(struct allocation *allocation, struct data_file *file, uint32_t first_page,
                     uint32_t count);
/* For extents of a chunk that begins with an extent; ALLOCATION_SYSTEM takes those of them that
 * have system pages: a plan without pages when none has. */
void allocation_plan_extents(struct allocation *allocation, struct data_file *file,
                             uint32_t first_page, enum allocation_what what, uint32_t extents);
/* Is there anything to allocate?  Not in a chunk of a sparse file without system pages. */
bool allocation_wanted(const struct data_file *file, uint32_t first_page, uint32_t count);
/* Log space at most of the transaction that formats one chunk: the system page changes, one record
 * an extent, begin and commit. */
uint64_t allocation_log_need(size_t sector_bytes);
/* Log space at most of one plan's changes alone, ALLOCATION_TAKE or _FREE: two PFS pages, and two
 * each of GAM, DIFF, ML and IAM. */
#define ALLOCATION_MAPS_MAX 10
uint64_t allocation_changes_need(size_t sector_bytes);
/* Change the next pages; 0 when all are done, -EAGAIN (the task waits), -EIO. */
int allocation_step(struct allocation *allocation, struct xact *xact, struct task *task)
    __attribute__((warn_unused_result));

#endif
