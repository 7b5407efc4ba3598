/*
 * size_change.h - the state of OP_RESIZE's executor (size_change.c, shrink.c) and of loads into new
 * extents (new_extents.c).
 */
#ifndef SIM_SIZE_CHANGE_H
#define SIM_SIZE_CHANGE_H

#include "sim/grow.h"
#include "sim/shrink.h"

struct size_change {
    struct growth growth; /* its resize is the shrink's, too */
    struct shrink shrink;
    uint8_t *zeros, *page;
    /* after a growth: half of the new extents are filled */
    unsigned file;          /* of the database */
    uint32_t *sizes_before; /* in pages, of the database's files */
    uint32_t from;          /* the next extent */
    /* loads into new extents */
    bool grown;         /* for this op: there is no more to grow */
    bool freed;         /* ... and what was loaded before is freed */
    unsigned next_file; /* of the database, to be freed */
    unsigned epoch;     /* of it, to be drained */
};

static inline struct resize *size_change_of(struct actor *actor)
{
    return &actor->size_change->growth.r;
}

#endif
