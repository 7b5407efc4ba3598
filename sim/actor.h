/*
 * actor.h - one running pattern: asks it for the next intent and does it, never blocking.
 *
 * An executor is the state machine of one kind of op (transaction.c, page_audit.c, read_ahead.c,
 * checkpoint.c, lazy_write.c,
 * frame_check.c). The actor is a task; its executor's step runs until the op is done
 * or must wait.
 *
 * Threads: an actor belongs to its worker; only `sleeping` is read by the coordinator.
 */
#ifndef SIM_ACTOR_H
#define SIM_ACTOR_H

#include "sim/arrivals.h"
#include "sim/bulk_update.h"
#include "sim/database_use.h"
#include "sim/dbcc_check.h"
#include "sim/page_read.h"
#include "sim/page_scan.h"
#include "sim/rollback.h"
#include "sim/run.h"
#include "sim/share_gate.h"
#include "sim/sparse_extents.h"
#include "sim/writeback.h"

#define AUDIT_PAGES_MAX    64 /* one vectored read: 512 KiB, DBCC's read-ahead */
#define FRAME_CHECK_FRAMES 64 /* looked at in one turn */
#define CHECKPOINT_GATHERS 32 /* gather writes under way: target of outstanding writes */
/* Until a checkpoint has written a page that has as many unwritten changes as its ledger entry can
 * tell apart (ledger_span_ok). */
#define SPAN_PAUSE_NS (10 * NS_PER_MS)

struct actor;
typedef enum task_result (*executor_step)(struct actor *actor); /* TASK_DONE: the op is done */

/* transaction.c */
struct transaction {
    struct data_file *file;
    unsigned index;      /* in op.pages */
    unsigned scanned;    /* pages before this index were read, or were in the pool */
    struct frame *frame; /* pinned */
    struct xact xact;
    bool begun;
    bool undoing;      /* its changes, newest first: rollback.h */
    uint64_t start_ns; /* of the commit wait */
    uint64_t commit_position;
};

/* page_audit.c */
struct page_audit {
    struct data_file *file;
    uint32_t next, end; /* pages still to read */
    bool unseen_only;
    unsigned again; /* tries left for an overlapped page */
    struct page_batch batch;
    struct iovec iov[AUDIT_PAGES_MAX];
    struct ledger_view before[AUDIT_PAGES_MAX];
    uint8_t *buffer; /* AUDIT_PAGES_MAX pages */
};

struct checkpoint;
struct lazy_write;
struct backup;
struct size_change;
struct frame_check;
struct tempdb_work;

struct actor {
    struct task task;
    struct run *run;
    const struct pattern *pattern;
    void *state;
    unsigned number;           /* of its row in reports */
    unsigned serial;           /* of its kind in this run: for its random numbers */
    char name[32];             /* "RandomUser 3" */
    struct database *database; /* per_database patterns */
    bool service;              /* runs until the last user has ended (checkpoint) */
    struct op op;
    executor_step execute;      /* NULL between ops */
    struct arrivals *arrivals;  /* open loop: a slot that serves these; else NULL */
    uint64_t begun_ns;          /* when the arrival op began; 0 = it waits, or there is none */
    bool slot_was_free;         /* it waited for its time, not for this slot */
    struct pattern_file *files; /* of the view: their sizes at one moment */
    unsigned files_as_of;       /* run->size_changes of that moment */
    struct file_use use;        /* of the data file that the op works on */
    struct share_user share;    /* of the requests of a closed loop; none: gate NULL */
    struct wal_waiter waiter;
    struct page_reader reader;
    struct page_scan scan; /* of patterns with pages_at_once */
    struct transaction transaction;
    struct rollback *rollback; /* of patterns that undo */
    struct page_audit audit;
    struct bulk_update *bulk; /* of patterns that load, or change sparse files */
    struct sparse_extents sparse;
    struct dbcc_check *dbcc;         /* of patterns that read past the pool */
    struct size_change *size_change; /* of patterns that resize, or load new extents */
    struct checkpoint *checkpoint;
    struct lazy_write *lazy;
    struct backup *backup; /* of patterns that back up */
    struct frame_check *frame_check;
    struct tempdb_work *tempdb;             /* of patterns that use tempdb */
    const struct config_settings *settings; /* of its phase */
    int database_only;      /* index: it sees the files of this database; -1: of all */
    _Atomic unsigned until; /* number of the phase that waits for it, or 0 */
    _Atomic bool through;   /* it has what that phase waits for */
    unsigned op_until;    /* `until` when its op began: what was begun before is not the phase's */
    _Atomic bool leaving; /* it ends at its next op boundary: the phase has changed */
    _Atomic bool ended;   /* nobody runs it any more */
    uint64_t ended_seen_ns; /* the coordinator's (run_actors.c) */
    _Atomic bool sleeping;
    uint64_t think_until_ns;
    uint64_t ops;
};

/* profile: of whose settings; the run's, or that of the rated phase. */
int actor_init(struct actor *actor, struct run *run, const struct profile *profile,
               const struct pattern *pattern, struct worker *worker, unsigned number,
               unsigned kind_index, struct database *database) __attribute__((warn_unused_result));
/* What it works with; name and counts stay for the report.  May be repeated. */
void actor_free(struct actor *actor);
void actor_start(struct actor *actor);

/* Go on with another step of the executor, now. */
static inline enum task_result actor_go(struct actor *actor, executor_step step)
{
    actor->execute = step;
    return step(actor);
}

/* log_full.c: a transaction was refused log space (9002): the actor rests and the op is over. */
enum task_result log_full_begin(struct actor *actor);
/* A wait for log space, by its reason. */
void log_wait_count(struct actor *actor, struct wal *wal);
/* transaction.c, for rollback.c: go on with the page at the transaction's index; no page is left.
 */
enum task_result transaction_page(struct actor *actor);
enum task_result transaction_over(struct actor *actor);
enum task_result transaction_begin(struct actor *actor);
enum task_result read_ahead_begin(struct actor *actor);
enum task_result bulk_update_begin(struct actor *actor);
enum task_result page_audit_begin(struct actor *actor);
enum task_result dbcc_check_begin(struct actor *actor);
enum task_result checkpoint_begin(struct actor *actor);
enum task_result new_extents_begin(struct actor *actor);
/* size_change.c */
enum task_result size_change_begin(struct actor *actor);
int size_change_create(struct actor *actor) __attribute__((warn_unused_result));
void size_change_free(struct actor *actor);
int checkpoint_create(struct actor *actor) __attribute__((warn_unused_result));
enum task_result lazy_write_begin(struct actor *actor);
int lazy_write_create(struct actor *actor) __attribute__((warn_unused_result));
enum task_result tempdb_sort_begin(struct actor *actor);
enum task_result tempdb_hash_begin(struct actor *actor);
enum task_result tempdb_store_begin(struct actor *actor);
enum task_result frame_check_begin(struct actor *actor);
/* Of `shares` actors that begin spread over the pool, number `share`. */
int frame_check_create(struct actor *actor, unsigned share, unsigned shares)
    __attribute__((warn_unused_result));
void frame_check_free(struct actor *actor);
/* Pages of one gather write, by GatherPages and UseScatterGather. */
unsigned actor_gather_cap(const struct actor *actor);
/* Send what was claimed (writeback.h); done() finds the actor in gather->context. */
void actor_gather_send(struct actor *actor, struct gather *gather, enum stream stream,
                       void (*done)(struct gather *gather));

/* It ends at its next op boundary: time, the phase or the run is over. */
bool actor_is_over(const struct actor *actor);

/* It has done what users of its pattern come to do (opt.h: through), in this op. */
void actor_came_through(struct actor *actor);

/* What patterns see. */
void actor_view(struct actor *actor, struct pattern_view *view);

#endif
