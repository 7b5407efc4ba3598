/*
 * dbcc_check.h - the state of OP_CHECKDB's executor (dbcc_check.c): one thread of DBCC CHECKDB.
 *
 * Ownership and threads: the actor's.  No allocation but in dbcc_check_create.
 */
#ifndef SIM_DBCC_CHECK_H
#define SIM_DBCC_CHECK_H

#include "patterns/pattern.h"
#include "sim/dbcc_pass.h"
#include "sim/page_batch.h"
#include "sim/snapshot.h"

struct dbcc_check;

/* One read of consecutive pages. */
struct dbcc_request {
    struct dbcc_check *check;
    struct page_batch batch; /* of the source, or of its snapshot */
    bool busy;
    struct data_file *source; /* whose pages they are */
    uint8_t *buffer;
};

struct dbcc_check {
    struct actor *actor;
    struct dbcc_pass *pass;
    uint64_t number;              /* of the pass that this thread is in */
    struct dbcc_set set;          /* what is left of its page set */
    bool early;                   /* it left pages unread */
    bool suspect;                 /* ... because of the snapshot */
    unsigned closing;             /* of the database's files: its snapshot is being given up */
    unsigned busy;                /* requests */
    unsigned again;               /* tries left for an overlapped page */
    uint64_t again_ns;            /* the next one is due then; 0 = none */
    struct dbcc_request *waiting; /* for that */
    unsigned request_count, request_pages;
    struct dbcc_request *requests;
    uint8_t *buffer;
    struct iovec *iov;
    struct ledger_view *before;
};

struct actor;

/* NULL: no memory.  free: NULL is fine. */
struct dbcc_check *dbcc_check_create(struct actor *actor, struct pattern_reads reads);
void dbcc_check_free(struct dbcc_check *check);

#endif
