/*
 * sequential.h - going through all pages in order, in cycles with pauses: what AuditUser,
 * ReadAheadUser and BulkUpdateUser share.
 *
 * Each user starts at its own random place of all pages, so that users do not follow each other,
 * goes on by page number, file after file, and begins again after the last.  A cycle that meets
 * the end of a file goes on in the next one, as a second intent.  After DelayAfterCycles cycles it
 * pauses.
 *
 * Pure; the state belongs to one actor.
 */
#ifndef PATTERNS_SEQUENTIAL_H
#define PATTERNS_SEQUENTIAL_H

#include "patterns/pattern.h"

/* Limits of the keys of these users. */
#define SEQUENTIAL_PAGES_MAX  "1048576"  /* of a cycle: 8 GiB, beyond is a typing error */
#define SEQUENTIAL_CYCLES_MAX "1000000"  /* DelayAfterCycles */
#define SEQUENTIAL_DELAY_MAX  "86400000" /* ms: a day */

struct sequential {
    struct rng rng;
    bool placed;
    unsigned file;
    uint32_t page;
    uint32_t cycle_left; /* pages of this cycle not yet taken; 0: between cycles */
    int64_t cycles;      /* completed since the last pause */
};

void sequential_init(struct sequential *seq, uint64_t seed, uint64_t purpose, unsigned index);
/* A cycle is complete, or none was begun. */
static inline bool sequential_is_between(const struct sequential *seq)
{
    return seq->cycle_left == 0;
}
/* Between cycles: is a pause due after so many of them (0 = never)?  Counts from 0 again. */
bool sequential_pause_due(struct sequential *seq, int64_t delay_after_cycles);
/* Pages of a new cycle: min to max, at least one. */
uint32_t sequential_draw_pages(struct sequential *seq, int64_t pages_min, int64_t pages_max);
/* All pages that it goes over. */
uint64_t sequential_all_pages(const struct pattern_view *view);
/* Between cycles: the next one begins at another random place. */
static inline void sequential_leave(struct sequential *seq)
{
    seq->placed = false;
}
/* The next pages of the present cycle, or of a new one of cycle_pages (> 0), into file, first_page
 * and page_count of out.  A new place is a multiple of grain.  False if no file has pages. */
bool sequential_take(struct sequential *seq, const struct pattern_view *view, uint32_t cycle_pages,
                     uint32_t grain, struct op *out);

#endif
