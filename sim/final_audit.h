/*
 * final_audit.h - the audit of every page at the end of a cycle: one actor a worker, taking ranges
 * in turn from a shared cursor, with the executor of page_audit.c; then, with frame_check.c, every
 * clean page in the pool.
 *
 * A pattern without options that the run itself uses; users cannot ask for it.
 */
#ifndef SIM_FINAL_AUDIT_H
#define SIM_FINAL_AUDIT_H

#include "sim/actor.h"

/* State of an audit actor: the cursor is shared by all of them. */
struct audit_cursor {
    _Atomic uint64_t next_chunk; /* over all files: chunks of AUDIT_PAGES_MAX pages */
    _Atomic uint32_t next_frame; /* of the pool, in steps of FRAME_CHECK_FRAMES */
    uint32_t frames;
};

extern const struct pattern pattern_final_audit;

/* After actor_init. */
void final_audit_share(struct actor *actor, struct audit_cursor *cursor);

#endif
