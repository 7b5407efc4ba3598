/*
 * tempdb_spill.h - what sorts and hash joins write to tempdb and read back, past the buffer pool.
 *
 * An object is a list of chunks, each a stretch of extents of its own.  Appending a chunk allocates
 * it, fills its pages and writes them in one request; fetching one reads it back in one request,
 * judges every page by the overlap rule (a wrong one goes up the ladder of page_read.h alone) and
 * frees it.  Several requests are outstanding, one change of the allocation pages at a time.
 *
 * Use: call spill_work() first in every step; then append and fetch while spill_can_append() and
 * spill_can_fetch() say so; park until woken.  A chunk is in its list from the append on: who wants
 * to fetch it waits for spill_is_idle() first.
 *
 * Invariants:
 *  1. A chunk that was allocated is written: PFS never shows a page of an object without content.
 *  2. The task stands in a list of waiters for the change alone, and touches the change only when
 *     it stands in none: completions of requests wake it, too.
 *
 * Errors: spill->failed (a write that stayed failed, or the log): no more appends and fetches.
 * Ownership and threads: a spill belongs to one actor.  No allocation but in spill_create.
 */
#ifndef SIM_TEMPDB_SPILL_H
#define SIM_TEMPDB_SPILL_H

#include "sim/page_batch.h"
#include "sim/tempdb_change.h"
#include "sim/writeback.h"

struct actor;
struct spill;

struct spill_chunk {
    struct tempdb_stretch at;
    struct spill_chunk *next;
};

struct spill_list {
    struct spill_chunk *head, *tail;
    uint64_t pages;
};

/* One request and its buffer. */
struct spill_slot {
    struct spill *spill;
    struct tempdb_stretch at;
    struct spill_chunk *chunk; /* being read; NULL: being written */
    uint8_t *buffer;
    struct gather gather;
    struct page_batch batch;
    struct iovec iov[GATHER_PAGES_MAX];
    struct ledger_view before[GATHER_PAGES_MAX];
    struct spill_slot *next; /* of the free ones, or of those that are read */
};

struct spill {
    struct actor *actor;
    struct tempdb_space *space;
    struct page_reader *reader;
    unsigned slot_count, chunk_pages;
    struct spill_slot *slots, *free_slots;
    uint8_t *memory;
    unsigned busy; /* slots */
    struct spill_chunk *chunks, *free_chunks;
    struct spill_list freeing;   /* judged, to be deallocated */
    struct spill_slot *writing;  /* whose chunk is being allocated */
    struct spill_chunk *current; /* the one that is being deallocated */
    bool changing;
    struct tempdb_change change;
    enum stream read_stream, write_stream;
    uint64_t read_pages; /* judged since the owner set it to 0 */
    bool full;           /* tempdb had no extent for an append */
    int failed;
};

/* slots: requests outstanding; chunk_pages: of one, up to GATHER_PAGES_MAX; pages_max: of all
 * objects at a time.  NULL: no memory. */
struct spill *spill_create(struct actor *actor, unsigned slots, unsigned chunk_pages,
                           uint64_t pages_max);
void spill_free(struct spill *spill);

/* Judge what was read, go on with changes.  Never waits; what can be done then, the questions say.
 */
void spill_work(struct spill *spill);
bool spill_can_append(const struct spill *spill);
bool spill_can_fetch(const struct spill *spill);
/* At most `pages` pages (a chunk at most); returns how many, 0: tempdb is full. */
uint32_t spill_append(struct spill *spill, struct spill_list *list, uint32_t pages);
/* The list's first chunk; the list is not empty. */
void spill_fetch(struct spill *spill, struct spill_list *list);
/* Nothing is under way, freed or to be freed. */
bool spill_is_idle(const struct spill *spill);
/* The list's chunks stay allocated, for the audit; the next user frees them. */
void spill_leave(struct spill *spill, struct spill_list *list);
/* Before an object, after one that failed, too. */
void spill_reset(struct spill *spill);
/* Into the list, one stretch of what earlier users left; false: nothing is left. */
bool spill_adopt_left(struct spill *spill, struct spill_list *list);

#endif
