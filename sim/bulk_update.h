/*
 * bulk_update.h - the state of OP_BULK's executor (bulk_update.c).
 */
#ifndef SIM_BULK_UPDATE_H
#define SIM_BULK_UPDATE_H

#include "sim/allocation.h"
#include "sim/database_extents.h"
#include "sim/page_scan.h"
#include "sim/writeback.h"

#define BULK_GATHERS        4    /* eager writes under way: 4 MiB */
#define BULK_ROW_BYTES      8060 /* logged of a page that is logged in full: its one row */
#define BULK_GATHERS_SINGLE 32   /* with UseScatterGather=FALSE: as many as a checkpoint has */

/* A run of consecutive pages of one extent that is being formatted: one log record. */
struct bulk_run {
    uint32_t first_page;
    unsigned count;
    uint64_t generation; /* the new one, of all its pages */
    struct frame *frames[EXTENT_PAGES];
};

struct actor;

/* A load into extents that were taken (BUSY): they become USED with its commit, or what was not
 * formatted FREE again, or FAILED.  No page of it can be busy or in the pool. */
struct bulk_load {
    struct extent_run extents;
    bool full_log; /* a record with the whole row for each page, instead of one an extent */
    bool moves;    /* to one extent, from the extent `from` of the same file, which is freed */
    uint32_t from;
    bool inside; /* what a user's transaction needs, not a transaction of a user */
    enum task_result (*after)(struct actor *actor); /* what the executor does then */
};

struct bulk_update {
    uint32_t pages_max; /* of an op */
    bool fresh;         /* into new extents: `load` */
    struct bulk_load load;
    struct allocation allocation;
    uint32_t allocated;  /* pages before this one have their extents allocated */
    bool freed;          /* load.from */
    uint64_t need_bytes; /* of log, of one transaction */
    unsigned records;    /* of page formats in it */
    struct data_file *file;
    struct xact xact;
    bool begun;
    unsigned records_left;    /* of the reservation */
    uint32_t first_page;      /* of the present transaction */
    uint32_t next, end;       /* pages still to format */
    uint32_t sent;            /* pages before this one were sent to the device, or need not be */
    uint32_t settled;         /* pages before this one are on the device */
    uint64_t wait_position;   /* of the log, for a page to be written */
    uint64_t logged_position; /* of the newest record of a page */
    uint64_t commit_position, commit_ns;
    int failed; /* a page could not be written: no commit */
    struct bulk_run run;
    unsigned writing; /* gathers under way */
    struct gather *free_gathers;
    unsigned gather_count;
    struct gather *gathers;
    uint64_t generations[]; /* of each page of the transaction from first_page on; 0 = left out */
};

/* Log space of a load of so many pages into new extents. */
uint64_t bulk_load_need(uint32_t pages, bool full_log, bool moves, size_t sector_bytes);
/* For an executor: do the load, then load->after. */
enum task_result bulk_load_begin(struct actor *actor, const struct bulk_load *load);

/* pages_max: of one op.  NULL: no memory. */
struct bulk_update *bulk_update_create(struct actor *actor, uint32_t pages_max);
void bulk_update_free(struct bulk_update *bulk);

#endif
