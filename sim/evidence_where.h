/*
 * evidence_where.h - the part of an evidence text that speaks of the storage below the page: which
 * devices and LBAs its bytes are on, and what this run's own requests did to them.
 *
 * Any thread; no state.
 */
#ifndef SIM_EVIDENCE_WHERE_H
#define SIM_EVIDENCE_WHERE_H

#include <stdio.h>

#include "sim/disk_place.h"
#include "sim/findings.h"
#include "sim/io_history.h"

#define EVIDENCE_HISTORY_MAX 128 /* requests that are told, the latest ones */
#define EVIDENCE_FLUSHES_MAX 16

/* Devices, LBAs, extents, and the LBA of each wrong sector; place NULL: nobody looked. */
void evidence_write_place(FILE *out, const struct finding *finding, const struct disk_place *place);
/* The requests of the rings that overlap the range, or the page that its content belongs to. */
void evidence_write_history(FILE *out, const struct finding *finding, const struct clock *clock,
                            const struct io_histories *histories);

#endif
