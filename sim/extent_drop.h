/*
 * extent_drop.h - extents are freed: nobody uses them any more, and their pages are of nobody.
 *
 *   for each chunk of CLOSING extents, the highest first:
 *   FREE in the maps, logged and committed -> frames DISCARDED, ledger FREED -> the extents are
 * FREE
 *
 * Who drops has made sure that no user is left who saw them USED (database_use.h: turn and drain).
 * Generations stay in the ledger, so that the next load into them goes on above.
 *
 * Ownership: belongs to one task, with its resize.
 */
#ifndef SIM_EXTENT_DROP_H
#define SIM_EXTENT_DROP_H

#include "sim/resize.h"

struct extent_drop {
    struct resize *r;
    enum step (*state)(struct extent_drop *drop);
    uint32_t first, chosen; /* extents of the present chunk */
    uint32_t page_no, end;  /* to be discarded */
    uint64_t pages;         /* dropped so far */
};

/* Of r->file.  Then extent_drop_step until it is no longer STEP_WAIT. */
void extent_drop_begin(struct extent_drop *drop, struct resize *r);
enum step extent_drop_step(struct extent_drop *drop);

/* The page is of nobody: its frame is discarded, the ledger does not judge it any more. */
enum step extent_drop_page(struct resize *r, uint32_t page_no);

#endif
