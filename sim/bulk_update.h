/*
 * bulk_update.h - the state of OP_BULK's executor (bulk_update.c).
 */
#ifndef SIM_BULK_UPDATE_H
#define SIM_BULK_UPDATE_H

#include "sim/page_scan.h"
#include "sim/writeback.h"

#define BULK_GATHERS        4  /* eager writes under way: 4 MiB */
#define BULK_GATHERS_SINGLE 32 /* with UseScatterGather=FALSE: as many as a checkpoint has */

/* A run of consecutive pages of one extent that is being formatted: one log record. */
struct bulk_run {
    uint32_t first_page;
    unsigned count;
    uint64_t generation; /* the new one, of all its pages */
    struct frame *frames[EXTENT_PAGES];
};

struct bulk_update {
    uint32_t pages_max; /* of an op */
    struct data_file *file;
    struct xact xact;
    bool begun;
    unsigned records_left;  /* of the reservation */
    uint32_t first_page;    /* of the present transaction */
    uint32_t next, end;     /* pages still to format */
    uint32_t sent;          /* pages before this one were sent to the device, or need not be */
    uint32_t settled;       /* pages before this one are on the device */
    uint64_t wait_position; /* of the log, for a page to be written */
    uint64_t commit_position, commit_ns;
    int failed; /* a page could not be written: no commit */
    struct bulk_run run;
    unsigned writing; /* gathers under way */
    struct gather *free_gathers;
    unsigned gather_count;
    struct gather *gathers;
    uint64_t generations[]; /* of each page of the transaction from first_page on; 0 = left out */
};

struct actor;

/* pages_max: of one op.  NULL: no memory. */
struct bulk_update *bulk_update_create(struct actor *actor, uint32_t pages_max);
void bulk_update_free(struct bulk_update *bulk);

#endif
