/*
 * evidence.h - the evidence of one event, written and synced before the actor goes on.
 *
 *   NNNNN-<class>-<file>-<page>.txt   facts, devices and LBAs, sector map, I/O history, images in
 *                                     hex, differences
 *   NNNNN-<class>-<file>-<page>.bin   the image as it was read first
 *   the same with -last, -good, -expected before .bin: the last wrong image, the first right one
 *                                     of a read that healed, the image that was owed
 *
 * Bounded: EVIDENCE_EVENTS_MAX integrity events of a run get files, EVIDENCE_BYTES_MAX bytes of an
 * image are shown, EVIDENCE_LINES_MAX lines of differences.  Any thread; one event one call.
 */
#ifndef SIM_EVIDENCE_H
#define SIM_EVIDENCE_H

#include "sim/disk_place.h"
#include "sim/findings.h"
#include "sim/io_history.h"

#define EVIDENCE_FOLDER     "evidence" /* in the folder of a run */
#define EVIDENCE_EVENTS_MAX 200
#define EVIDENCE_BYTES_MAX  65536 /* a log block and a little more */
#define EVIDENCE_LINES_MAX  256

/* What an evidence text is written from; all but the directory may be NULL. */
struct evidence_sources {
    const char *directory; /* created if it is missing (its parent is not) */
    struct ledger *ledger;
    const struct clock *clock;
    const struct disk_place *place;
    const struct io_histories *histories;
};

/* The expected image of a data page is regenerated when the caller has none and the ledger knows
 * the page. Sets finding->evidence.  0 or -errno; on error no half file is left under the name. */
int evidence_write(const struct evidence_sources *sources, struct finding *finding,
                   const struct finding_images *images) __attribute__((warn_unused_result));

#endif
