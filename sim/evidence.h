/*
 * evidence.h - the evidence of one event, written and synced before the actor goes on.
 *
 *   NNNNN-<class>-<file>-<page>.txt   facts, sector map, images in hex, differences
 *   NNNNN-<class>-<file>-<page>.bin   the image as it was read
 *
 * Bounded: EVIDENCE_EVENTS_MAX integrity events of a run get files, EVIDENCE_BYTES_MAX bytes of an
 * image are shown, EVIDENCE_LINES_MAX lines of differences.  Any thread; one event one call.
 */
#ifndef SIM_EVIDENCE_H
#define SIM_EVIDENCE_H

#include "sim/findings.h"

#define EVIDENCE_FOLDER     "evidence" /* in the folder of a run */
#define EVIDENCE_EVENTS_MAX 200
#define EVIDENCE_BYTES_MAX  65536 /* a log block and a little more */
#define EVIDENCE_LINES_MAX  256

/* Writes into directory, which is created if it is missing (its parent is not).  The expected image
 * of a data page is regenerated when the caller has none and the ledger (may be NULL) knows the
 * page. Sets finding->evidence.  0 or -errno; on error no half file is left under the name. */
int evidence_write(const char *directory, struct ledger *ledger, struct finding *finding,
                   const struct finding_images *images) __attribute__((warn_unused_result));

#endif
