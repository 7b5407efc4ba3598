/*
 * reverted.h - did a volume, or a file, go back to an older state?
 *
 * Many pages hold older images (or the zeros from before their first write).  Lost here and there,
 * they lie between writes that are there.  Gone back in time, *all* writes between two moments are
 * missing and none before.  The order of writes (verify/write_order.h) tells: of the pages last
 * written between the first and the last of the missing writes at most one in
 * REVERTED_SURVIVORS_SHARE may be right (several are under way at once, so the edges are not
 * sharp).
 *
 * Offline there is no such order.  Then the times in the pages decide: nothing in the file may be
 * newer than the newest of the old images, but for the same share.
 *
 * All files of a device go back together (offline: each for itself), or one file does: one event,
 * with the number of pages, their ranges, and the time as of which the content is.
 */
#ifndef SIM_REVERTED_H
#define SIM_REVERTED_H

#include "sim/findings.h"
#include "sim/page_source.h"

#define REVERTED_PAGES_MIN       16
#define REVERTED_WRITES_MIN      4 /* one lost write of 1 MiB makes 128 old pages */
#define REVERTED_WRITE_PAGES     128
#define REVERTED_SURVIVORS_SHARE 8
#define REVERTED_EDGE_WRITES     1024 /* pages that may be under way at once: 8 writes of 1 MiB */

#define REVERTED_LOOK_PAGES      1048576 /* 8 GiB of a file, offline */

/* Called when no worker is running; findings without a ledger are offline ones, and only for them
 * source is asked.  0 or -ENOMEM. */
int reverted_find(struct findings *findings, const struct page_source *source)
    __attribute__((warn_unused_result));

#endif
