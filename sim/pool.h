/*
 * pool.h - the buffer pool: frames, hash, eviction, and the frame state machine.
 *
 *   FREE -> READING -> CLEAN -> DIRTY -> WRITING -> CLEAN
 *              |                  ^----------| (write failed)
 *              v                             v
 *             BAD <---------------------- (third failure: quarantined)
 *
 *   FREE, CLEAN, DIRTY -> FORMATTING -> DIRTY: the page is overwritten whole, unread.
 *
 * Invariants (frame_assert_state, called by every mutator):
 *  1. Frame bytes do not change while WRITING, and nobody reads them while READING or FORMATTING.
 *  2. The only edges into CLEAN are a read that was verified and a write that was acknowledged; and
 * for a page that is of nobody any more, frame_forget_change.
 *  3. Only CLEAN and BAD frames without pins are evicted; system frames never are.
 *  4. generation, lsn and bytes change together, under the partition lock; or while FORMATTING.
 *
 * The pool never writes: cleaning is the writeback's job, so there is no cycle.  It calls its
 * cleaner (the lazy writer's task, where there is one) when fewer than free_low frames are free and
 * when somebody waits for one.
 *
 * Locks: one mutex a partition, protects the hash chains and all fields of the frames in it; a
 * partition lock may be held when the log's lock is taken, never the other way round, and never two
 * partition locks at once.
 */
#ifndef SIM_POOL_H
#define SIM_POOL_H

#include <pthread.h>

#include "sim/dirty_list.h"
#include "sim/numa.h"
#include "sim/worker.h"
#include "verify/page.h"

#define POOL_PARTITIONS         64
#define POOL_WRITE_FAILURES_MAX 3 /* then the page is quarantined (DESIGN section 6) */
/* The supply of free frames that the lazy writer keeps: a fiftieth of the pool, of a small pool 32
 * frames or a quarter of it.  SQL Server's own figure is not published. */
#define POOL_FREE_SHARE 50
#define POOL_FREE_MIN   32

enum frame_state {
    FRAME_FREE,
    FRAME_READING,
    FRAME_CLEAN,
    FRAME_DIRTY,
    FRAME_WRITING,
    FRAME_FORMATTING, /* being overwritten whole by one owner: neither used nor written */
    FRAME_BAD,
};

struct frame {
    _Atomic uint64_t key; /* file uid << 32 | page number; 0 = none (uid starts at 1) */
    enum frame_state state;
    unsigned pins;
    bool referenced; /* second chance */
    bool system;     /* a system page: never evicted */
    bool was_dirty;  /* FORMATTING: from DIRTY */
    unsigned write_failures;
    uint16_t actor; /* who changed it last */
    uint64_t generation;
    struct lsn lsn;        /* last change */
    uint64_t first_change; /* log position of the first change since it was clean */
    const void *writer;    /* WRITING: who claimed it, only to be compared */
    uint8_t *bytes;        /* PAGE_BYTES, aligned */
    struct frame *hash_next;
    struct dirty_place dirty; /* where dirty pages are listed */
    struct wait_list waiters; /* for READING, WRITING or FORMATTING to end */
};

struct pool_partition {
    pthread_mutex_t lock;
    struct frame **buckets;
};

struct pool {
    struct frame *frames; /* frame_count evictable ones, then system_count */
    uint8_t *memory;
    size_t memory_bytes;
    size_t frame_count, system_count;
    size_t buckets_per_partition;
    struct pool_partition partitions[POOL_PARTITIONS];
    _Atomic size_t clock_hand;
    _Atomic size_t dirty_count; /* DIRTY, WRITING, FORMATTING from DIRTY; system frames, too */
    pthread_mutex_t free_lock;
    /* Linked by hash_next: of each node, where the frames are spread over nodes; else the first. */
    struct frame *free_lists[NUMA_NODES_MAX];
    const struct numa *numa;                   /* NULL: not spread */
    unsigned (*here)(const struct numa *numa); /* numa_here; tests: their own */
    size_t node_frames;                        /* of each node, of the last one the rest */
    _Atomic size_t free_count;
    size_t free_target, free_low;   /* of the lazy writer, in frames */
    _Atomic(struct task *) cleaner; /* the lazy writer, or NULL */
    struct frame *system_free_list;
    struct wait_list frame_waiters;  /* for any frame to become evictable */
    _Atomic size_t waiting;          /* tasks in frame_waiters */
    struct dirty_list **dirty_lists; /* by file uid; NULL: not listed */
    unsigned dirty_lists_count;
};

/* Pages that one of `scans` scans may have outstanding, so that all together hold at most a part of
 * the frames; wanted: what it would use. */
#define POOL_SCANS_SHARE    4    /* a quarter */
#define POOL_SCAN_PAGES_MAX 1024 /* pages ahead of one scan: SQL Server Enterprise */
static inline unsigned pool_scan_share(size_t frames, uint64_t scans, uint64_t wanted)
{
    uint64_t share = frames / POOL_SCANS_SHARE / (scans ? scans : 1);
    if (share > POOL_SCAN_PAGES_MAX)
        share = POOL_SCAN_PAGES_MAX;
    if (share > wanted)
        share = wanted;
    return share ? (unsigned)share : 1;
}

static inline uint64_t page_key(uint16_t file_uid, uint32_t page_no)
{
    return (uint64_t)file_uid << 32 | page_no;
}

int pool_create(struct pool *pool, size_t frame_count, size_t system_count)
    __attribute__((warn_unused_result));
void pool_destroy(struct pool *pool);
/* Spread the evictable frames over the memory of these nodes, in equal parts; a frame is then taken
 * from the caller's own node while that has a free one.  Before anybody uses the pool; numa
 * outlives it.  -errno (the system places no memory for us): all is as before. */
int pool_spread(struct pool *pool, const struct numa *numa) __attribute__((warn_unused_result));

enum pool_get {
    POOL_HIT,         /* pinned; CLEAN, DIRTY or WRITING */
    POOL_MISS,        /* pinned, READING, to be filled by the caller: pool_read_done */
    POOL_WAIT,        /* being read by another: the task waits on the frame */
    POOL_NO_FRAME,    /* nothing evictable: the task waits on the pool */
    POOL_QUARANTINED, /* BAD */
};
enum pool_get pool_get(struct pool *pool, uint64_t key, struct task *task, struct frame **out);
/* As pool_get, but nothing that is there is pinned (POOL_HIT, whatever its state) and nobody waits
 * (POOL_NO_FRAME): for pages that are read ahead. */
enum pool_get pool_claim(struct pool *pool, uint64_t key, struct frame **out);
/* A frame that stands for no page, for a copy that is read, judged and dropped: FREE, in no list.
 * NULL if none is to be had. */
struct frame *pool_borrow(struct pool *pool);
void pool_give_back(struct pool *pool, struct frame *frame);
/* The task waits until a frame may be had; it must hold none. */
void pool_wait_for_frame(struct pool *pool, struct task *task);
/* Something else woke it: a frame that comes is for the next in the line.  No effect when it does
 * not stand there. */
void pool_wait_forget(struct pool *pool, struct task *task);
/* Claim the page for being overwritten whole: FORMATTING, not pinned, the caller's alone.
 * POOL_HIT: it was in the pool; POOL_MISS: generation 0; POOL_WAIT, POOL_NO_FRAME: not now (task,
 * if not NULL, waits for that); POOL_QUARANTINED. */
enum pool_get pool_overwrite(struct pool *pool, uint64_t key, struct task *task,
                             struct frame **out);
/* The bytes are the new ones: DIRTY. */
void pool_overwrite_end(struct pool *pool, struct frame *frame, uint64_t generation, struct lsn lsn,
                        uint16_t actor);
/* They are as they were: as before the claim. */
void pool_overwrite_cancel(struct pool *pool, struct frame *frame);
/* For a page whose image is made, not read: as POOL_MISS.  NULL, and nobody waits, when the page is
 * there or no frame is free. */
struct frame *pool_take(struct pool *pool, uint64_t key);
/* The page is of nobody any more, and nobody asks for it: its frame becomes free, whatever it
 * holds. False: it is being written or read, or pinned for a moment; look again (task waits for the
 * end of a write or read, *waits says so).  *generation: what it held, 0 = nothing; it may never
 * have been written. */
bool pool_discard(struct pool *pool, uint64_t key, struct task *task, bool *waits,
                  uint64_t *generation);
/* Present and usable right now?  Not pinned: only a hint. */
bool pool_contains(struct pool *pool, uint64_t key);
/* The read of a MISS ended: CLEAN with generation and lsn from the page, or gone again (not right).
 */
void pool_read_done(struct pool *pool, struct frame *frame, bool right, uint64_t generation);
void pool_unpin(struct pool *pool, struct frame *frame);
/* A new frame for a system page that is not yet on the device: CLEAN, generation 0, zeroed. */
struct frame *pool_add_system(struct pool *pool, uint64_t key);

/* ---- the lazy writer's part ---- */

static inline size_t pool_free_count(const struct pool *pool)
{
    return atomic_load(&((struct pool *)(uintptr_t)pool)->free_count);
}
static inline bool pool_is_low(const struct pool *pool)
{
    return pool_free_count(pool) < pool->free_low;
}
/* Index of the next frame of the clock. */
size_t pool_clock_next(struct pool *pool);
/* One step of the clock at a frame. */
enum pool_age {
    POOL_AGE_KEPT,  /* in use, or had its second chance now */
    POOL_AGE_FREED, /* was clean and cold: it is in the free list */
    POOL_AGE_DIRTY, /* is dirty and cold: *key is to be written */
};
/* failed_too: also a dirty page whose last write failed. */
enum pool_age pool_age(struct pool *pool, size_t index, bool failed_too, uint64_t *key);
/* Free the frame if it still has this page, clean and cold; true if so. */
bool pool_free_cold(struct pool *pool, struct frame *frame, uint64_t key);
/* List the dirty pages of this file there.  Before a worker runs; the list outlives the pool. */
int pool_list_dirty(struct pool *pool, uint16_t file_uid, struct dirty_list *list)
    __attribute__((warn_unused_result));
/* Whoever was changing a page at the call has ended that change: pages whose log record was
 * appended before it are dirty now, or claimed. */
void pool_changes_end(struct pool *pool);
/* The task that is woken when frames are short; NULL: nobody. */
void pool_set_cleaner(struct pool *pool, struct task *cleaner);

/* ---- the idle user's part ---- */

/* A clean page as it stood in memory at one moment. */
struct frame_copy {
    size_t index; /* of its frame */
    uint64_t key, generation;
    struct lsn lsn;
    bool system;
    uint8_t *bytes; /* PAGE_BYTES, the caller's */
};
/* Copy the frame if it is CLEAN, was ever written, and nobody has it pinned (system frames have one
 * pin for ever).  Who has pinned a clean page may be about to make it. */
bool pool_copy_clean(struct pool *pool, size_t index, struct frame_copy *copy);
/* The copy was found damaged: free its frame if it is as it was then; a system page's frame gets
 * `image` (PAGE_BYTES, what was acknowledged) instead. */
void pool_give_up_clean(struct pool *pool, const struct frame_copy *copy, const uint8_t *image);

pthread_mutex_t *frame_lock(struct pool *pool, const struct frame *frame);
/* Under the partition lock: */
struct frame *pool_find_locked(struct pool *pool, uint64_t key);
pthread_mutex_t *pool_lock_key(struct pool *pool, uint64_t key);
void frame_mark_dirty(struct pool *pool, struct frame *frame, struct lsn lsn);
/* Nobody needs the change of a page that is of nobody: CLEAN without a write. */
void frame_forget_change(struct pool *pool, struct frame *frame);
void frame_begin_write(struct pool *pool, struct frame *frame);
/* ok: CLEAN; else DIRTY again, or BAD after POOL_WRITE_FAILURES_MAX.  Wakes the waiters. */
void frame_end_write(struct pool *pool, struct frame *frame, bool ok);
void frame_assert_state(const struct frame *frame);
/* Wake tasks that wait for an evictable frame, in their order: as many as frames became free, for a
 * frame serves one.  Who is woken and needs none after all gives nothing on: the lazy writer looks
 * after those that still wait. */
void pool_wake_waiters(struct pool *pool, size_t frames);
void pool_wake_frame_waiters(struct pool *pool); /* all */

#endif
