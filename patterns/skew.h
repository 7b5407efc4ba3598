/*
 * skew.h - where random accesses fall: most of them in a small part of a file.
 *
 * "95/5,4/10": 95 % of the accesses go to the first 5 % of the pages, 4 % to the next 10 %, and
 * what is left (1 %) to the rest; DiskSpd's -rdpct means the same.  No text: all pages alike.
 *
 * Threads: plain data; the caller owns it.
 */
#ifndef PATTERNS_SKEW_H
#define PATTERNS_SKEW_H

#include "config/opt.h"
#include "patterns/rng.h"

#define SKEW_BANDS_MAX 8 /* the rest included */

struct skew_band {
    uint32_t access_end; /* percent: accesses of this band and all before it */
    uint32_t space_end;
};

struct skew {
    struct skew_band bands[SKEW_BANDS_MAX]; /* the last one ends at 100 and 100 */
    unsigned count;
};

/* text may be NULL.  0, or -EINVAL with the reason. */
int skew_parse(const char *text, struct skew *out, char why[OPT_TEXT_MAX]) OPT_CHECK;
/* A page of a file of that many pages (at least one). Always two draws. */
uint32_t skew_page(const struct skew *skew, struct rng *rng, uint32_t size_pages);

#endif
