/*
 * rewrite.h - after a failed write or flush: what is in doubt is made dirty again, so that the next
 * checkpoint writes it (DESIGN section 6, a run that goes on after an error).
 *
 * A page that is in memory goes out as it is.  A data page that is not (the initial update writes
 * past the pool, others were evicted) is generated again: its body follows from its generation.  It
 * gets LSN 0, for nobody remembers the record that made it; that record is durable.
 *
 * Threads: the database's one checkpoint, while nothing else writes its pages.
 */
#ifndef SIM_REWRITE_H
#define SIM_REWRITE_H

#include "sim/database.h"

struct rewrite {
    unsigned file;
    uint32_t page_no;
};

/* Go on from *at (zeroed: from the start).  True when every page in doubt is dirty; false when no
 * frame is free: write what is dirty, then call again. */
bool rewrite_step(struct database *database, struct rewrite *at);

#endif
