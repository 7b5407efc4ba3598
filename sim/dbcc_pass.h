/*
 * dbcc_pass.h - one pass of DBCC CHECKDB: what its threads share.
 *
 * A pass goes over one database, the databases take turns.  The first thread that comes opens the
 * pass, whoever comes later joins it; each takes one page set after another, in allocation order,
 * until there is none left; the last one that leaves closes the pass, and only then does the next
 * one begin.  A thread that must end (stop, end of the phase) leaves early, and the pass is not
 * complete.
 *
 * Ownership: the run's, made with the first thread.  Threads: any; the lock is a leaf but for the
 * wake-ups.
 */
#ifndef SIM_DBCC_PASS_H
#define SIM_DBCC_PASS_H

#include "sim/run.h"

/* Page sets a thread gets in a pass where all are equally fast: so that none waits long for the
 * slowest. */
#define DBCC_SETS_OF_A_THREAD 4
#define DBCC_SET_PAGES_MAX    8192 /* 64 MiB */

/* Consecutive pages of one file. */
struct dbcc_set {
    struct data_file *file;
    uint32_t first_page, page_count;
};

struct dbcc_pass {
    struct run *run;
    pthread_mutex_t lock;
    enum { DBCC_IDLE, DBCC_OPENING, DBCC_RUNNING, DBCC_CLOSING } state;
    uint64_t number;         /* of passes opened so far */
    unsigned actors;         /* that there are */
    unsigned threads;        /* in the pass */
    bool complete;           /* so far no thread left early */
    unsigned until;          /* number of the phase that waits for it, or 0 (actor.h) */
    unsigned row, row_until; /* complete passes one after the other of that phase */
    struct wait_list waiters;
    struct database *database; /* of the present pass */
    bool snapshot;             /* it checks snapshots of the files */
    uint64_t ticket;           /* its checkpoint */
    unsigned database_next;
    unsigned file; /* the next page set begins here */
    uint32_t page, set_pages;
};

/* NULL: no memory.  free: NULL is fine. */
struct dbcc_pass *dbcc_pass_create(struct run *run);
void dbcc_pass_free(struct dbcc_pass *pass);

/* An actor more, or one less. */
void dbcc_pass_actors(struct dbcc_pass *pass, int change);

enum dbcc_join {
    DBCC_JOIN_OPEN, /* the caller opens it: dbcc_pass_opened */
    DBCC_JOIN_IN,   /* it runs */
    DBCC_JOIN_WAIT, /* it is being opened or closed: the task is woken */
};
/* until: of the actor. */
enum dbcc_join dbcc_pass_join(struct dbcc_pass *pass, unsigned read_pages, unsigned until,
                              struct task *task);
/* With snapshots of all files, or of none. */
void dbcc_pass_opened(struct dbcc_pass *pass, bool snapshot);
/* A snapshot can be believed no more: the pass is to end. */
bool dbcc_pass_is_suspect(const struct dbcc_pass *pass);
/* The next page set of the pass; false: none is left. */
bool dbcc_pass_take(struct dbcc_pass *pass, struct dbcc_set *out);
/* True: the caller was the last and closes it: dbcc_pass_closed.  early: with sets left. */
bool dbcc_pass_leave(struct dbcc_pass *pass, bool early);
/* True: complete. */
bool dbcc_pass_closed(struct dbcc_pass *pass);
/* Had each database a complete pass in that phase?  They take turns, so as many in a row do. */
bool dbcc_pass_is_through(struct dbcc_pass *pass, unsigned until);
/* Has the pass of this number ended?  If not, the task is woken at its end. */
bool dbcc_pass_is_over(struct dbcc_pass *pass, uint64_t number, struct task *task);

#endif
