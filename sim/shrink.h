/*
 * shrink.h - a data file shrinks while it is used, as DBCC SHRINKFILE does.
 *
 *   RIGHT -> LIMIT lowered -> users of the old epoch DRAINED -> for each used extent beyond the new
 *   end, the highest first: its pages READ one by one, backwards -> MOVED to the lowest free extent
 *   below the end (fully logged), or, when there is none, DROPPED -> SYSTEM pages beyond the end
 *   freed -> LOG of the size, durable -> allocation map and page 0 WRITTEN, flushed -> CUT, flushed
 *
 * Never below the initial size.  It is refused while a backup or a snapshot forbids it.  A run that
 * ends while pages are moved undoes what is not done: the limit is raised again.
 *
 * Reads are 8 KiB, one at a time (SQL Server: single thread, depth 1); each is judged.  What moves
 * is the use of an extent: a page's content belongs to its place, as that of every page of ours.
 *
 * What a kill leaves: page 0 and the maps on the disk tell of the new size before the file is cut,
 * and so does the ledger (acknowledged new, issued old).
 *
 * Ownership: a part of size_change.h; belongs to one actor.
 */
#ifndef SIM_SHRINK_H
#define SIM_SHRINK_H

#include "sim/actor.h"
#include "sim/extent_drop.h"

struct shrink {
    struct extent_drop drop;
    uint32_t old_pages, new_pages;
    unsigned epoch;               /* to be drained */
    uint32_t extent;              /* that is moved */
    uint32_t page_no, first_page; /* of what is read, then discarded */
    uint32_t chunk_page;          /* the next chunk to look at for system pages */
    uint64_t moved;
    int error; /* of the cut */
};

enum task_result shrink_begin(struct actor *actor);

#endif
