/*
 * pairing.h - at the end of a run: join the two ends of a misdirected write into one event.
 *
 * A victim holds another page's content; the home of that content still holds the older one.  Both
 * are found apart, or only one of them is.  The event stays at the victim, `other_*` names the
 * home.
 *
 *   victim and home known              -> one event misdirected_write, paired
 *   victim known, home stale           -> the same; the home gets no event of its own
 *   victim known, home right and the victim shows the home's present generation
 *                                      -> replayed_write (the write was done here, too)
 *   victim known, home written since   -> misdirected_write, not paired: the other half is healed
 *   only a lost write known            -> all data files are searched, up to PAIRING_PAGES_MAX
 * pages, for an image that carries what was lost
 *
 * Before that the many at once: reverted.h, wrapped.h, and after StopOnError survey.h.
 *
 * Reads only, through run->io (stream pairing_read); without an old, zeroed or misdirected page it
 * reads nothing.  Called when all actors have stopped.
 */
#ifndef SIM_PAIRING_H
#define SIM_PAIRING_H

#include "sim/run.h"

#define PAIRING_PAGES_MAX 1048576u /* 8 GiB: a bounded look, after StopOnError too */

/* 0, or -errno when it could not look; findings stay as they were then. */
int findings_pair(struct run *run) __attribute__((warn_unused_result));

#endif
