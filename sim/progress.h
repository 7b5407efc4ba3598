/*
 * progress.h - what people see while a run is going: one line that is rewritten on a terminal,
 * plain lines each ten seconds and at the end of a phase elsewhere; nothing when quiet.
 *
 * Threads: progress_show by the coordinator, progress_say by anyone (one mutex).
 */
#ifndef SIM_PROGRESS_H
#define SIM_PROGRESS_H

#include <pthread.h>
#include <stdio.h>

#include "sim/run.h"

struct progress {
    pthread_mutex_t lock;
    FILE *out;
    bool terminal, quiet;
    bool line_shown; /* a rewritten line stands on the terminal */
    bool phase_known;
    enum phase phase;   /* of the last call */
    uint64_t shown_ns;  /* of the last plain line; machine's clock */
    uint64_t sample_ns; /* run clock, of the rates */
    uint64_t ops, bytes;
    bool rates_known; /* of this phase */
    double iops, mb_per_s;
};

void progress_init(struct progress *progress, FILE *out, bool quiet);
void progress_free(struct progress *progress);
/* For struct run_config: context is the progress. */
void progress_show(void *context, const struct run *run);
void progress_say(void *context, const char *line);
/* The run ended: the last phase's line, and the terminal's line is left behind. */
void progress_end(struct progress *progress, const struct run *run);

#endif
