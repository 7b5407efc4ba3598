/*
 * neighbour.h - was a page damaged by a write beside it?
 *
 * A page that was right when it was last read, and was not written since, can be damaged by what
 * the storage does around a write next to it: read-modify-write of a larger block that was cut
 * short, a stripe, a pair of flash pages.  The sign: a page in the same aligned block of
 * NEIGHBOUR_BLOCK_BYTES was written after this one was last verified.  A few flipped bits keep
 * their name: they need no neighbour.
 *
 * Threads: any.
 */
#ifndef SIM_NEIGHBOUR_H
#define SIM_NEIGHBOUR_H

#include "verify/explain.h"

#define NEIGHBOUR_BLOCK_BYTES 65536 /* SQL Server's extent; the commonest stripe of arrays */

/* The page of the block that was written last since page_no was verified, or is being written;
 * false: there is none, or it is not known.  verdict: what the image of page_no shows. */
bool neighbour_written(const struct ledger *ledger, uint16_t uid, uint32_t page_no,
                       uint32_t size_pages, enum verdict verdict, uint32_t *neighbour);

#endif
