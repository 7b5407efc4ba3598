/*
 * wal.h - the write-ahead log of one database: LSNs, log buffers, group commit, circular VLFs,
 * space.
 *
 * Records are appended to the open log block.  The log writer (a task of this module) seals blocks
 * and writes them, several at once; the log is durable up to the first block that is not, whatever
 * order the writes complete in.  Partial blocks are sealed only while few writes are under way, so
 * that commits gather in the next block (group commit).
 *
 * Invariants:
 *  1. durable_end moves forward only, block by block in order, after the write (and, without
 *     write-through, the flush) of the block and of every earlier one.
 *  2. A written sector is never rewritten within one use of a VLF; a VLF is used again only when
 * all its records precede MinLSN; its header is durable before its first block.
 *  3. Space: a transaction reserves the upper bound of its log need (log_record_cost) before it
 * pins a page and waits only then, so an append never fails for want of space.
 *  4. Free space counts whole VLFs less the tail of a block that may not fit, so the bound holds.
 *
 * Errors: a failed log write or flush stops the database (9001): wal_failed(); all waiters are
 * woken. What it does not do: judge pages, run checkpoints.  A log that grows: wal_growth.h.
 *
 * Locks: one mutex; taken after a pool partition lock, never before one.
 */
#ifndef SIM_WAL_H
#define SIM_WAL_H

#include <pthread.h>

#include "sim/file.h"
#include "sim/worker.h"
#include "verify/ledger.h"
#include "verify/logblk.h"
#include "verify/vlf.h"

#define WAL_BUFFERS                 128 /* log buffers of a database: SQL Server's number */
#define WAL_OUTSTANDING_MAX         112 /* log writes under way: SQL Server 2012 and later */
#define WAL_OUTSTANDING_BYTES       (3840 * 1024) /* SQL Server 2008 and later */
#define WAL_PARTIAL_OUTSTANDING_MAX 2     /* partial blocks wait while more writes are under way */
#define WAL_VLFS_MAX                16384 /* what a scan can read (LOG_SCAN_VLF_MAX) */
#define WAL_HEADROOM_BYTES          (128 * 1024) /* for checkpoints: they run when it is full */

struct wal_vlf {
    struct vlf_header header;
    uint64_t blocks;     /* sealed in the present use */
    uint64_t used_bytes; /* by the present use, header included */
    uint32_t start_crc;  /* chain value before its first block */
    bool in_use;         /* holds records at or after MinLSN, or is the head, or is being read */
    bool reading;        /* needed no more, but to be read back first (wal_read_back.h) */
    bool verified;       /* all of the present use was read back */
};

enum log_buffer_state {
    LOG_BUFFER_FREE,
    LOG_BUFFER_OPEN,
    LOG_BUFFER_SEALED,
    LOG_BUFFER_WRITING,
    LOG_BUFFER_WRITTEN
};

struct log_buffer {
    enum log_buffer_state state;
    bool is_header; /* a VLF header instead of a block */
    struct wal *wal;
    struct file *file;
    uint8_t *bytes; /* LOG_BLOCK_BYTES_MAX */
    size_t size_bytes;
    uint64_t file_offset;
    uint64_t end_position; /* durable_end once this is durable */
    uint64_t due_ns;       /* when somebody first waited for it, or it was full; 0 = at once */
    uint32_t crc;
    uint64_t sum; /* of the bytes, while wal->on_memory_changed is set */
    unsigned records;
    struct iovec iov;
    struct io_req req;
    struct log_buffer *next; /* in order of the log */
};

/* A transaction in the log: pins MinLSN from its first record on. */
struct xact {
    uint64_t id;
    uint64_t begin_position;      /* 0 = no record yet */
    struct lsn last;              /* its newest record */
    uint64_t reserved_bytes;      /* left of its reservation */
    struct xact *previous, *next; /* active transactions in order of begin */
};

/* Why log space cannot be used again: SQL Server's log_reuse_wait_desc. */
enum wal_reuse_wait {
    WAL_REUSE_NOTHING,
    WAL_REUSE_CHECKPOINT,
    WAL_REUSE_LOG_BACKUP,
    WAL_REUSE_ACTIVE_BACKUP,
    WAL_REUSE_ACTIVE_TRANSACTION,
    WAL_REUSE_SNAPSHOT,
    WAL_REUSE_LOG_SCAN,
};
const char *wal_reuse_wait_name(enum wal_reuse_wait why);

/* The log from here on stays although no transaction or checkpoint needs it: for a backup. */
struct wal_hold {
    uint64_t position;
    enum wal_reuse_wait reason; /* set before it is held; NOTHING: a log backup */
    bool held;
    struct wal_hold *next;
};

/* A piece of durable log that lies in one VLF: whole blocks, which stay while they are held. */
struct wal_span {
    struct file *file;
    uint64_t offset;   /* in the file */
    uint64_t bytes;    /* at least one block */
    uint64_t position; /* of the first block */
    uint8_t parity;
};

struct wal_waiter {
    uint64_t position; /* durable_end must exceed this */
    struct task *task;
    struct wal_waiter *next;
    bool queued;
};

struct wal_growth;
struct wal_read_back;

struct wal {
    pthread_mutex_t lock;
    struct clock *clock;
    struct ledger *ledger;
    struct file *files; /* of the log, used one after the other */
    unsigned file_count;
    size_t sector_bytes; /* the largest of the files' */
    struct wal_vlf *vlfs;
    size_t vlf_count, vlf_capacity, head; /* head: index of the VLF being filled */
    struct wal_growth *growth;            /* NULL: the log does not grow */
    struct wal_read_back *read_back;      /* NULL: nothing is read back */
    uint64_t overwritten_unread;          /* blocks in VLFs that were used again unread */
    uint64_t overwritten_counted;         /* of them, by the log writer */
    uint64_t largest_bytes;               /* usable part of the largest VLF */
    uint32_t next_fseq;
    uint32_t chain_crc; /* of the newest sealed block */
    uint16_t previous_bytes;
    struct log_builder builder;
    struct log_buffer *open;  /* the block being filled, or NULL */
    uint64_t open_cost_bytes; /* upper bound of what it will take */
    struct log_buffer *free_buffers;
    unsigned free_count;
    struct log_buffer buffers[WAL_BUFFERS];
    uint8_t *memory;
    struct log_buffer *first, *last; /* sealed and later, oldest first */
    unsigned outstanding;            /* writes under way, and their limits: wal_set_limits */
    size_t outstanding_bytes;
    unsigned outstanding_max;
    size_t outstanding_bytes_max;
    _Atomic uint64_t durable_end;
    uint64_t flush_wanted; /* somebody waits for this position */
    uint64_t lazy_due_ns;  /* when the open block, with lazy commits in it, is written; 0 = none */
    bool flushing;
    struct log_buffer *flush_last;
    struct io_req flush_req;
    struct wal_waiter *waiters; /* for durability */
    struct wait_list buffer_waiters, space_waiters;
    uint64_t full_since_ns; /* nobody can give space back since then (wal_full.c); 0 = no */
    enum wal_reuse_wait full_why;
    bool refusing; /* for so long that who wants space is refused */
    uint64_t reserved_bytes;
    uint64_t capacity_bytes; /* free space of an empty log */
    uint64_t usable_bytes;   /* free space that is certain when only the head VLF is in use */
    struct xact *oldest, *newest;
    uint64_t checkpoint_position; /* of the last complete one's begin: older records are not needed
                                     by it */
    struct wal_hold *holds;
    uint64_t next_xact_id;
    struct task writer; /* the log writer */
    _Atomic bool failed;
    _Atomic bool closing;
    int error;                /* why it failed */
    enum stream write_stream; /* log_write, unless set otherwise before a worker runs */
    bool error_was_flush;
    struct file *error_file;
    uint64_t error_offset;
    uint64_t records;                  /* appended */
    void (*on_error)(struct wal *wal); /* called once, by the log writer */
    void (*on_full)(struct wal *wal);  /* it begins to refuse; by the log writer, may be NULL */
    /* A block is not what it was when it was sealed; on the writer's thread.  NULL: no sums. */
    void (*on_memory_changed)(struct wal *wal, const struct log_buffer *buffer);
    void *context;
};

/* files: of the log, each formatted by wal_format; they stay the caller's.  What is durable is told
 * to the ledger in the row of the first.  worker: where the log writer runs; it is started here. */
int wal_init(struct wal *wal, struct clock *clock, struct ledger *ledger, struct file *files,
             unsigned file_count, const struct run_identity *run, struct worker *worker)
    __attribute__((warn_unused_result));
/* The same for a log that begins with VLF sequence number first_fseq, above those that its files
 * had in an earlier session of the run (wal_init: the run's first). */
int wal_init_from(struct wal *wal, struct clock *clock, struct ledger *ledger, struct file *files,
                  unsigned file_count, const struct run_identity *run, struct worker *worker,
                  uint32_t first_fseq) __attribute__((warn_unused_result));
void wal_free(struct wal *wal);
/* Log writes under way at most, in number (up to WAL_OUTSTANDING_MAX, what wal_init sets) and in
 * bytes; one write may always be under way.  Before a worker runs. */
void wal_set_limits(struct wal *wal, unsigned writes, size_t bytes);
/* Write the whole log file: VLF headers, the rest fresh_byte, which no block has at the start of a
 * sector (0x00, or 0xC0 from SQL Server 2016 on). Synchronous, at creation; -EINTR when tick
 * (may be NULL) says stop. */
int wal_format(struct io *io, struct file *file, uint8_t fresh_byte, const struct tick *tick)
    __attribute__((warn_unused_result));

/* Reserve for a transaction (begin and commit included) or park the task on log space. */
bool wal_reserve(struct wal *wal, struct xact *xact, uint64_t bytes, struct task *task);
/* The same for who can do without: refused when the log stays full (9002). */
enum wal_reserve { WAL_RESERVED, WAL_RESERVE_WAIT, WAL_RESERVE_FULL };
enum wal_reserve wal_reserve_or_fail(struct wal *wal, struct xact *xact, uint64_t bytes,
                                     struct task *task);
/* Give back what is left and leave the list of active transactions. */
void wal_end(struct wal *wal, struct xact *xact);

/* Append records of a transaction, all or none (xact may be NULL: system records, from the
 * headroom). 0 and *lsn of the last, -EAGAIN (no log buffer: the task waits), -ENOSPC (9002: not
 * even the headroom is left), -EIO (failed). */
int wal_append(struct wal *wal, struct xact *xact, const struct log_record *records, unsigned count,
               struct lsn *lsn, struct task *task) __attribute__((warn_unused_result));
/* Durable through position (lsn_position of a record)?  If not, the waiter's task is woken when it
 * is, or when the log failed. */
bool wal_wait_durable(struct wal *wal, uint64_t position, struct wal_waiter *waiter,
                      struct task *task);
/* Wait no longer: the waiter may be used for another log. */
void wal_wait_forget(struct wal *wal, struct wal_waiter *waiter);
/* The transaction does not wait for its commit record, the newest (delayed durability; tempdb): it
 * becomes durable when its block is full, with the next record that is waited for, or within
 * flush_ns (0: no such bound). */
void wal_commit_lazily(struct wal *wal, uint64_t flush_ns);
static inline bool wal_is_durable(const struct wal *wal, uint64_t position)
{
    return atomic_load(&((struct wal *)(uintptr_t)wal)->durable_end) > position;
}
static inline bool wal_failed(const struct wal *wal)
{
    return atomic_load(&((struct wal *)(uintptr_t)wal)->failed);
}
/* Oldest position that an active transaction needs, or UINT64_MAX. */
uint64_t wal_oldest_active(struct wal *wal);
/* Is there room in the headroom for a checkpoint, whose records take at most bytes?  One that can
 * give no VLF back must leave room for the one that will. */
enum wal_room {
    WAL_ROOM,
    WAL_ROOM_LATER, /* when the transactions under way have ended */
    WAL_ROOM_NEVER, /* nobody will give anything back */
};
enum wal_room wal_checkpoint_room(struct wal *wal, uint64_t bytes);
/* A checkpoint is complete: records before min_position are not needed any more. */
void wal_release(struct wal *wal, uint64_t min_position);
/* Why can the oldest log not be used again? */
enum wal_reuse_wait wal_reuse_wait(struct wal *wal);
/* Would a checkpoint give a VLF back?  Not while an active transaction began in the oldest one. */
bool wal_checkpoint_frees(struct wal *wal);
/* Hold the log from MinLSN (last checkpoint, oldest active transaction) on; returns that position.
 */
uint64_t wal_hold(struct wal *wal, struct wal_hold *hold);
/* Hold it from a position on that another hold has not passed. */
void wal_hold_at(struct wal *wal, struct wal_hold *hold, uint64_t position);
/* Hold it from a later position only, or (UINT64_MAX) not any more: what nobody else needs is given
 * back. */
void wal_hold_move(struct wal *wal, struct wal_hold *hold, uint64_t position);
/* Is a hold all that keeps VLFs from being used again? */
bool wal_is_held_back(struct wal *wal);
/* Bytes of log from a held position on, about: headers of VLFs included. */
uint64_t wal_bytes_from(struct wal *wal, uint64_t position);
/* Are the records of the block at this position still in a log buffer? */
bool wal_in_buffers(struct wal *wal, uint64_t position);
/* The durable log at a held position; false when there is none yet. */
bool wal_durable_span(struct wal *wal, uint64_t position, struct wal_span *span);
unsigned wal_used_permille(struct wal *wal);
bool wal_space_wanted(struct wal *wal);
/* Most bytes a transaction may reserve (half the usable log). */
uint64_t wal_transaction_max(const struct wal *wal);
/* The database stops for another reason than its log: everybody who waits for the log is woken. */
void wal_stop(struct wal *wal, int error);
/* Let the log writer write what is left and end (wal->writer finishes). */
void wal_close(struct wal *wal);
/* Live blocks: of each VLF's present use. After the writer ended. */
uint64_t wal_live_blocks(const struct wal *wal);
/* The same of one file of the log. */
uint64_t wal_file_live_blocks(const struct wal *wal, unsigned file);
/* Where recovery and readers begin: the value that the chain of a log starts with. */
static inline uint16_t wal_uid(const struct wal *wal)
{
    return wal->files[0].mark.file_uid;
}

/* wal_writer.c: the log writer's step; wal.c: what it needs, under the lock. */
enum task_result wal_writer_step(struct task *task);
/* VLFs were added. */
void wal_space_learn(struct wal *wal, const struct vlf_header *vlfs, size_t count);
void wal_seal_open(struct wal *wal);
uint64_t wal_open_position(const struct wal *wal); /* of the block that is being filled */

uint32_t wal_oldest_fseq(const struct wal *wal); /* of the VLFs in use */

/* wal_full.c, under the lock. */
#define LOG_FULL_PATIENCE_NS (5 * NS_PER_S) /* SQL Server refuses at once; ours */
enum wal_reuse_wait wal_reuse_wait_locked(const struct wal *wal);
void wal_space_lacks(struct wal *wal); /* somebody waits for space */
void wal_space_found(struct wal *wal);
/* By the log writer: true if the log begins to refuse now.  *next_ns is brought forward to when to
 * look again. */
bool wal_full_look(struct wal *wal, uint64_t *next_ns);

/* wal_hold.c, under the lock. */
uint64_t wal_hold_position(const struct wal *wal); /* the oldest; UINT64_MAX: none */
void wal_release_locked(struct wal *wal);

#endif
