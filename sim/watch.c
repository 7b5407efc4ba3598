/* watch.c - see watch.h. */
#include "sim/watch.h"

int watch_init(struct watch *watch, const char *directory, FILE *out, bool quiet)
{
    progress_init(&watch->progress, out, quiet);
    series_open(&watch->series, directory);
    live_state_init(&watch->live);
    return sampler_init(&watch->sampler);
}

void watch_show(struct watch *watch, const struct run *run)
{
    if (sampler_look(&watch->sampler, run, false)) {
        series_write(&watch->series, &watch->sampler, run);
        live_state_sample(&watch->live, &watch->sampler, run);
    }
    if (watch->progress.quiet)
        return;
    live_state_now(&watch->live, run);
    progress_show(&watch->progress, run, &watch->live.live);
}

void watch_say(struct watch *watch, uint64_t realtime_ns, const char *line)
{
    progress_say(&watch->progress, realtime_ns, line);
}

void watch_clear(struct watch *watch)
{
    progress_clear(&watch->progress);
}

void watch_end(struct watch *watch, const struct run *run)
{
    if (sampler_look(&watch->sampler, run, true))
        series_write(&watch->series, &watch->sampler, run);
    series_close(&watch->series);
    progress_end(&watch->progress, run);
}

void watch_free(struct watch *watch)
{
    series_close(&watch->series);
    sampler_free(&watch->sampler);
    progress_free(&watch->progress);
}
