/*
 * wrapped.h - does the storage wrap: is one place known by two addresses?
 *
 * A device that is smaller than it says drops the upper bits of an address.  Then the content of
 * page p + C stands at p, or that of p at p + C, with the same distance C for many pages.  Writes
 * that went astray can look alike, so it is proven: pages of the range that nobody complained of,
 * read at both addresses, must be the same bytes, all of them.
 *
 * One event, with the distance: so much the storage can really hold from the start of the range on.
 */
#ifndef SIM_WRAPPED_H
#define SIM_WRAPPED_H

#include "sim/findings.h"
#include "sim/page_source.h"

#define WRAPPED_PAGES_MIN 8
#define WRAPPED_RANGE_MIN 128 /* pages: beyond one request of 1 MiB */
#define WRAPPED_SAMPLES   64
#define WRAPPED_LOOKS_MAX 4096 /* pages of other classes that are looked at */

/* Called when no worker is running.  0 or -ENOMEM; a page that cannot be read proves nothing. */
int wrapped_find(struct findings *findings, const struct page_source *source)
    __attribute__((warn_unused_result));

#endif
