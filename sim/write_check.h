/*
 * write_check.h - pages read from the device around their write.
 *
 *   VerifyBeforeOverwrite  what a write is about to overwrite is read and judged before it goes:
 *                          a good write over a bad page heals the evidence
 *   ReadBack=immediate     what a write brought is read and judged before anybody may change the
 *                          page again
 *
 * For every data file, those of tempdb too, whoever writes (writeback.h); not for snapshots, which
 * are read by those for whom they are made, and not for pages of which nothing is owed (never
 * written, freed, quarantined).
 *
 * Each worker has a few checkers, tasks that take a gather and let it go on when its pages were
 * judged; a gather that finds none free waits in the worker's line.  A fault that they find is a
 * finding like any other, and the gather goes on in any case.
 *
 * Threads: a worker's checkers and its line belong to that worker.  No allocation but in create.
 */
#ifndef SIM_WRITE_CHECK_H
#define SIM_WRITE_CHECK_H

#include "sim/run.h"

/* Before the first write; nothing is made when neither setting is on. */
int write_checks_create(struct run *run) __attribute__((warn_unused_result));
void write_checks_free(struct run *run);

#endif
