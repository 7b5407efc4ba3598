/*
 * sweep.h - all pages of all files again and again, by a schedule.
 *
 * Begins at a random page, goes on by page number, file after file, in slices, and comes round once
 * in a period: slice after slice is due in proportion to the pages before it.  Who is late goes on
 * at once; a round that took longer than the period makes the next one begin then, so that a lag is
 * never made up for by a burst.
 *
 * Pure; the state belongs to one actor.
 */
#ifndef PATTERNS_SWEEP_H
#define PATTERNS_SWEEP_H

#include "patterns/pattern.h"

struct sweep {
    struct rng rng;
    bool placed;
    unsigned file;
    uint32_t page;
    uint64_t began_ns;    /* this round, on the run's clock */
    uint64_t taken_pages; /* of this round */
};

void sweep_init(struct sweep *sweep, uint64_t seed, uint64_t purpose, unsigned index);
/* The next slice of at most slice_pages into file, first_page and page_count of out; or, when it is
 * not due yet, OP_THINK until then.  The kind of a slice is the caller's.  False if there are no
 * pages. */
bool sweep_take(struct sweep *sweep, const struct pattern_view *view, uint64_t period_ns,
                uint32_t slice_pages, struct op *out);

#endif
