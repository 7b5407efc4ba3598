/*
 * survey.h - a run ended before its audit: are there more pages like the one that ended it?
 *
 * With StopOnError one page is known, and a volume that went back in time, or wraps, shows only in
 * many.  Every page that is quiet is read once and compared with what it owes; those that are old,
 * or another page's, are noted as sites (finding_sites.h).  They are no events: if nothing names
 * them together, the run has not looked at them.
 *
 * Bounded by pages_max.  Called when all actors have stopped.
 */
#ifndef SIM_SURVEY_H
#define SIM_SURVEY_H

#include "sim/page_fault.h"

#define SURVEY_CHUNK_PAGES 128 /* 1 MiB: SQL Server's largest read-ahead */

/* reader: for its expectations; buffer: SURVEY_CHUNK_PAGES pages, aligned. */
void survey_pages(struct run *run, struct page_reader *reader, uint8_t *buffer, uint32_t pages_max);

#endif
