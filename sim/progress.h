/*
 * progress.h - what people see while a run is going: on a terminal a block of lines that is drawn
 * again in place, elsewhere a plain line each ten seconds and at the end of a phase; nothing when
 * quiet.
 *
 * A terminal is one that can move its cursor (not TERM=dumb).  Its size is asked at each drawing,
 * so that it may change.  Nothing but the cursor's line is ever changed about it: whoever ends the
 * program at once leaves it as it was.  NO_COLOR is honoured.
 *
 * Lines for people (findings, warnings) stand above the block for good.  They are kept until the
 * coordinator prints them, since a worker must not wait for a terminal that was stopped.
 *
 * Threads: progress_say by anyone; all else by the coordinator.
 */
#ifndef SIM_PROGRESS_H
#define SIM_PROGRESS_H

#include <pthread.h>
#include <stdio.h>

#include "sim/live_view.h"
#include "sim/run.h"

#define PROGRESS_SAYS_MAX 64
#define PROGRESS_SAY_MAX  1024

struct progress_saying {
    uint64_t realtime_ns;
    char text[PROGRESS_SAY_MAX];
};

struct progress {
    FILE *out;
    bool terminal, quiet;
    bool utf8, colour;
    unsigned shown_lines; /* of the block that stands on the terminal */
    unsigned shown_columns[LIVE_LINES_MAX];
    uint64_t shown_ns; /* of the last drawing or plain line; machine's clock */
    bool stop_said;
    bool phase_known;
    enum phase phase;     /* of the last call */
    pthread_mutex_t lock; /* of the following */
    struct progress_saying *says;
    unsigned say_count;
    uint64_t says_lost;
};

void progress_init(struct progress *progress, FILE *out, bool quiet);
/* Prints what was said and not yet shown. */
void progress_free(struct progress *progress);
/* Does a block stand on the terminal, so that nobody else may write there? */
bool progress_is_live(FILE *out, bool quiet);
/* live is the present state. */
void progress_show(struct progress *progress, const struct run *run, const struct live *live);
/* One line, with the time that it happened. */
void progress_say(struct progress *progress, uint64_t realtime_ns, const char *line);
/* The block is gone and all that was said is shown: others may write below it. */
void progress_clear(struct progress *progress);
/* The run ended: the last phase's line; the block is gone. */
void progress_end(struct progress *progress, const struct run *run);

#endif
