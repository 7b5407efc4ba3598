/*
 * buffer_sum.h - is the memory of a page what it was when the page was built, submitted, written?
 *
 * Over the image when it is built (kept in the stamp's place for the XXH3, which sealing renews),
 * checked before it is sealed; the seal's own XXH3 is the sum at submission (system pages and those
 * of snapshots get one of their own), checked when the write completes.  What changed in between
 * was changed by this machine (832), and is never the storage's fault.  Cost: three XXH3 of 8 KiB a
 * page, 3,000 instructions each.
 *
 * Before the write: the page is built anew from its generation and compared; if it differs, that is
 * reported, and the right page is written.  After it: what reached the medium is uncertain, the
 * page is quarantined; the frame gets the right image.
 *
 * database->on_memory_changed NULL: off, no cost.  Threads: who owns the buffer.
 */
#ifndef SIM_BUFFER_SUM_H
#define SIM_BUFFER_SUM_H

#include "sim/writeback.h"
#include "verify/page.h"

static inline void buffer_built(const struct database *database, void *page)
{
    if (database->on_memory_changed)
        page_mark_built(page);
}
/* For writeback.c: before page_seal, at submission, at completion of a good write. */
void buffer_check_built(struct gather *gather, unsigned index);
void buffer_sum(struct gather *gather, unsigned index);
void buffer_check_sum(struct gather *gather, unsigned index);

#endif
