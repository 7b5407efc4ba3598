/*
 * progress.c - the live view; see progress.h.
 *
 * It reads the workers' counters while they write (relaxed, as stats.h allows): rates only, never
 * histograms.  Nothing of it enters the report.
 */
#include "sim/progress.h"

#include <inttypes.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "config/units.h"

#define PLAIN_INTERVAL_NS (10 * NS_PER_S)
#define RATE_INTERVAL_NS  (NS_PER_S / 10) /* a rate over less is none */
#define LINE_MAX_CHARS    240
#define BYTES_MB          1048576.0
#define CLEAR_LINE        "\r\033[K"

static uint64_t machine_ns(void)
{
    struct timespec ts;
    clock_gettime(CLOCK_MONOTONIC, &ts);
    return (uint64_t)ts.tv_sec * NS_PER_S + (uint64_t)ts.tv_nsec;
}

void progress_init(struct progress *progress, FILE *out, bool quiet)
{
    memset(progress, 0, sizeof *progress);
    pthread_mutex_init(&progress->lock, NULL);
    progress->out = out;
    progress->quiet = quiet;
    progress->terminal = isatty(fileno(out)) == 1;
    progress->shown_ns = machine_ns();
}

void progress_free(struct progress *progress)
{
    pthread_mutex_destroy(&progress->lock);
}

/* ---- what to say ---- */

static void add_ops(const struct stats *stats, uint64_t *ops, uint64_t *bytes)
{
    for (unsigned p = 0; p < PHASE_COUNT; p++) {
        for (unsigned s = 0; s < STREAM_COUNT; s++) {
            const struct stream_stats *stream = &stats->streams[p][s];
            *ops += __atomic_load_n(&stream->ops, __ATOMIC_RELAXED);
            *bytes += __atomic_load_n(&stream->bytes, __ATOMIC_RELAXED);
        }
    }
}

static void sample_rates(struct progress *progress, const struct run *run)
{
    uint64_t ops = 0, bytes = 0, now = clock_now_ns(run->clock);
    bool begun = progress->sample_ns != 0;
    if (begun && now - progress->sample_ns < RATE_INTERVAL_NS)
        return;
    for (unsigned i = 0; i < run->worker_count; i++)
        add_ops(&run->workers[i].stats, &ops, &bytes);
    double seconds = (double)(now - progress->sample_ns) / (double)NS_PER_S;
    if (begun) {
        progress->rates_known = true;
        progress->iops = (double)(ops - progress->ops) / seconds;
        progress->mb_per_s = (double)(bytes - progress->bytes) / seconds / BYTES_MB;
    }
    progress->sample_ns = now;
    progress->ops = ops;
    progress->bytes = bytes;
}

static void clock_text(uint64_t ns, char *out, size_t out_size_bytes)
{
    uint64_t s = ns / NS_PER_S;
    if (s < 3600)
        snprintf(out, out_size_bytes, "%02" PRIu64 ":%02" PRIu64, s / 60, s % 60);
    else
        snprintf(out, out_size_bytes, "%" PRIu64 ":%02" PRIu64 ":%02" PRIu64, s / 3600, s / 60 % 60,
                 s % 60);
}

/* "01:02 of 05:00", "42 %, 00:10" or "00:10": how far the phase is. */
static void how_far(const struct run *run, char *out, size_t out_size_bytes)
{
    char spent[32], all[32];
    uint64_t start = run->phases[run->phase].start_ns, now = clock_now_ns(run->clock);
    uint64_t done = atomic_load(&run->progress_done), total = atomic_load(&run->progress_total);
    clock_text(now > start ? now - start : 0, spent, sizeof spent);
    if (run->phase_deadline_ns != UINT64_MAX && run->phase_deadline_ns > start) {
        clock_text(run->phase_deadline_ns - start, all, sizeof all);
        snprintf(out, out_size_bytes, "%s of %s", spent, all);
    } else if (total > 0 && done <= total) {
        snprintf(out, out_size_bytes, "%u %%, %s", (unsigned)(done * 100 / total), spent);
    } else {
        snprintf(out, out_size_bytes, "%s", spent);
    }
}

static uint64_t integrity_findings(const struct run *run)
{
    return findings_count((struct findings *)(uintptr_t)&run->findings, SEVERITY_INTEGRITY);
}

static void line_make(const struct progress *progress, const struct run *run, char *out,
                      size_t out_size_bytes)
{
    char far[80], rates[80] = "- IOPS  - MB/s";
    how_far(run, far, sizeof far);
    if (progress->rates_known)
        snprintf(rates, sizeof rates, "%.0f IOPS  %.1f MB/s", progress->iops, progress->mb_per_s);
    snprintf(out, out_size_bytes, "%s  %s  findings %" PRIu64 "  %s", phase_text(run->phase), far,
             integrity_findings(run), rates);
}

/* ---- saying it ---- */

static void clear_locked(struct progress *progress)
{
    if (progress->line_shown)
        fputs(CLEAR_LINE, progress->out);
    progress->line_shown = false;
}

static void phase_ended(struct progress *progress, const struct run *run, enum phase phase)
{
    const struct run_phase_time *time = &run->phases[phase];
    char spent[UNITS_TEXT_MAX];
    if (time->end_ns <= time->start_ns)
        return;
    units_human_duration((int64_t)(time->end_ns - time->start_ns), spent, sizeof spent);
    clear_locked(progress);
    fprintf(progress->out, "%s: %s after %s\n", phase_text(phase),
            time->complete ? "done" : "ended", spent);
}

/* The run shows each phase when it begins, so the one of the last call has ended. */
static void phases_follow(struct progress *progress, const struct run *run)
{
    if (progress->phase_known && progress->phase == run->phase)
        return;
    for (unsigned p = 0; !progress->phase_known && p < (unsigned)run->phase; p++)
        phase_ended(progress, run, (enum phase)p);
    if (progress->phase_known)
        phase_ended(progress, run, progress->phase);
    progress->phase_known = true;
    progress->phase = run->phase;
    progress->sample_ns = 0;
    progress->rates_known = false;
}

void progress_show(void *context, const struct run *run)
{
    struct progress *progress = context;
    char line[LINE_MAX_CHARS];
    uint64_t now = machine_ns();
    if (progress->quiet)
        return;
    pthread_mutex_lock(&progress->lock);
    phases_follow(progress, run);
    bool due = now - progress->shown_ns >= PLAIN_INTERVAL_NS;
    if (progress->terminal || due || progress->sample_ns == 0) /* 0: the phase begins */
        sample_rates(progress, run);
    if (progress->terminal || due) {
        line_make(progress, run, line, sizeof line);
        progress->shown_ns = now;
        fprintf(progress->out, progress->terminal ? CLEAR_LINE "%.79s" : "%s\n", line);
        progress->line_shown = progress->terminal;
    }
    fflush(progress->out); /* whoever watches a file or a pipe sees a phase end when it ends */
    pthread_mutex_unlock(&progress->lock);
}

void progress_say(void *context, const char *line)
{
    struct progress *progress = context;
    if (progress->quiet)
        return;
    pthread_mutex_lock(&progress->lock);
    clear_locked(progress);
    fprintf(progress->out, "%s\n", line);
    fflush(progress->out);
    pthread_mutex_unlock(&progress->lock);
}

void progress_end(struct progress *progress, const struct run *run)
{
    if (progress->quiet)
        return;
    pthread_mutex_lock(&progress->lock);
    phases_follow(progress, run);
    phase_ended(progress, run, run->phase);
    clear_locked(progress);
    fflush(progress->out);
    pthread_mutex_unlock(&progress->lock);
}
