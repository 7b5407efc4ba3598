/*
 * evidence_image.h - what the texts about a wrong page share: the image that was owed, times, hex.
 * Internal to evidence.c and error_dump.c.  Any thread.
 */
#ifndef SIM_EVIDENCE_IMAGE_H
#define SIM_EVIDENCE_IMAGE_H

#include <stdio.h>

#include "sim/findings.h"

/* The page that the place owed: the caller's image, else built from what the ledger (may be NULL)
 * knows; false if nobody knows it.  What only the writer knew (LSN, write time, the checksums over
 * them) is taken from the image that was read when its header CRC holds and it is of the same
 * generation; otherwise it is blank, and *compared_from is where the bytes begin that can be
 * compared, else 0. */
bool evidence_expected(struct ledger *ledger, const struct finding *finding,
                       const struct finding_images *images, uint8_t out[PAGE_BYTES],
                       size_t *compared_from);
/* "2026-01-01 00:00:00 UTC", or local with its zone. */
void evidence_time_text(uint64_t realtime_ns, bool utc, char *out, size_t out_size_bytes);
/* "01f0  00 01 ..." */
void evidence_hex_line(FILE *out, const uint8_t *bytes, size_t offset, size_t count);

#endif
