/*
 * prepare.h - the initial update: every page formatted once, as generation 1.
 *
 * Minimally logged (one record an extent), written eagerly in gather writes up to 1 MiB past the
 * pool. The allocation of each chunk changes the system pages that cover it; they are written by
 * the checkpoint that follows.
 */
#ifndef SIM_PREPARE_H
#define SIM_PREPARE_H

#include "sim/writeback.h"

struct run;
struct preparer;

/* One file is prepared by several preparers that take chunks in turn from *next_chunk, up to the
 * limit (UINT32_MAX: to the end of the file). */
int preparer_create(struct preparer **out, struct run *run, struct worker *worker,
                    struct data_file *file, _Atomic uint32_t *next_chunk, uint32_t chunk_limit)
    __attribute__((warn_unused_result));
void preparer_start(struct preparer *preparer);
void preparer_free(struct preparer *preparer);
#endif
