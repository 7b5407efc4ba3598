/*
 * tick.h - how long work below the run tells that it goes on, and is told to stop.
 *
 * Pure: the callback is the caller's, and is called on the thread that works.
 */
#ifndef SIM_TICK_H
#define SIM_TICK_H

#include <stdint.h>

struct tick {
    /* bytes more are done.  0, or -EINTR: stop, and leave nothing half done behind. */
    int (*done)(void *context, uint64_t bytes);
    void *context;
};

/* tick may be NULL: nobody wants to know. */
static inline int tick_done(const struct tick *tick, uint64_t bytes)
{
    return tick ? tick->done(tick->context, bytes) : 0;
}

#endif
