/*
 * watch.h - what is looked at while a run goes on: samples per second, series.csv, the live view.
 *
 * Ownership: the watch owns all of them.  Threads: the coordinator; watch_say by anyone.
 */
#ifndef SIM_WATCH_H
#define SIM_WATCH_H

#include "sim/live_state.h"
#include "sim/progress.h"
#include "sim/sampler.h"
#include "sim/series.h"

struct watch {
    struct sampler sampler;
    struct series series;
    struct live_state live;
    struct progress progress;
};

/* directory: the result folder.  0 or -ENOMEM; watch_free() in any case. */
int watch_init(struct watch *watch, const char *directory, FILE *out, bool quiet)
    __attribute__((warn_unused_result));
/* About twice a second, and when a phase begins and ends. */
void watch_show(struct watch *watch, const struct run *run);
/* One line for people, with the time that it happened. */
void watch_say(struct watch *watch, uint64_t realtime_ns, const char *line);
/* Clears the terminal for what others print. */
void watch_clear(struct watch *watch);
/* The run has ended and nobody writes statistics any more: the rest of series.csv, which is closed.
 */
void watch_end(struct watch *watch, const struct run *run);
void watch_free(struct watch *watch);

#endif
