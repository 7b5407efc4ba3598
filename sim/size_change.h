/*
 * size_change.h - the state of OP_RESIZE's executor (size_change.c, shrink.c).
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
};

static inline struct resize *size_change_of(struct actor *actor)
{
    return &actor->size_change->growth.r;
}

#endif
