/*
 * verify_many.h - what several findings of an offline check say together.
 *
 * A file that went back in time, or wraps, is one event (reverted.h, wrapped.h); the two ends of a
 * misdirected write are one event at the victim; a copy of a page whose home is right and current
 * is a replayed write.  Each file goes back alone here: the order of writes is not on the disk.
 */
#ifndef SIM_VERIFY_MANY_H
#define SIM_VERIFY_MANY_H

#include "sim/verify_files.h"

/* After all files were checked.  0 or -ENOMEM. */
int verify_many(struct verify_set *set) __attribute__((warn_unused_result));

#endif
