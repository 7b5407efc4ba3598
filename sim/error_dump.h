/*
 * error_dump.h - SqlSimErrorDumpNNNNN.txt: one wrong page or log block as SQLIOSim's users know it.
 *
 * What was written, what was read, where they differ, the three checksums, the page header taken
 * apart, the times, and one sentence of what it means.  Where evidence/ (evidence.h) is everything
 * for the storage vendor, this is the page for the person who looks first; both come from the same
 * images.
 *
 * Bounded: the caller writes at most EVIDENCE_EVENTS_MAX, each of at most ERROR_DUMP_IMAGE_MAX
 * bytes of an image and ERROR_DUMP_RANGES_MAX ranges that differ.  Any thread; one event one call.
 */
#ifndef SIM_ERROR_DUMP_H
#define SIM_ERROR_DUMP_H

#include "sim/findings.h"

#define ERROR_DUMP_IMAGE_MAX  65536 /* a log block and a little more */
#define ERROR_DUMP_RANGES_MAX 64

/* Writes into directory, which exists, under a name of the number (from 1), which goes to name. 0
 * or -errno; on error no half file is left. */
int error_dump_write(const char *directory, unsigned number, struct ledger *ledger,
                     const struct finding *finding, const struct finding_images *images,
                     char name[FINDING_DUMP_MAX]) __attribute__((warn_unused_result));
/* "SqlSimErrorDump" and five digits or more and ".txt"? */
bool error_dump_is_name(const char *name);

#endif
