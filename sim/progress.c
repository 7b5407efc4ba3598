/*
 * progress.c - see progress.h.
 *
 * The block is drawn over itself: the cursor stands at the start of the line below it, goes up as
 * many lines as it takes at the present width (a terminal that became narrower wraps what stands
 * there), and every line is cleared before it is written.
 */
#include "sim/progress.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/ioctl.h>
#include <time.h>
#include <unistd.h>

#include "config/units.h"

#define PLAIN_INTERVAL_NS (10 * NS_PER_S)
#define DRAW_INTERVAL_NS  (NS_PER_S / 5) /* a virtual clock may run fast */
#define COLUMNS_DEFAULT   80
#define LINES_DEFAULT     24

static uint64_t machine_ns(void)
{
    struct timespec ts;
    clock_gettime(CLOCK_MONOTONIC, &ts);
    return (uint64_t)ts.tv_sec * NS_PER_S + (uint64_t)ts.tv_nsec;
}

/* ---- the terminal ---- */

static bool is_set(const char *name)
{
    const char *value = getenv(name);
    return value && *value;
}

bool progress_is_live(FILE *out, bool quiet)
{
    const char *term = getenv("TERM");
    return !quiet && isatty(fileno(out)) == 1 && term && *term && strcmp(term, "dumb") != 0;
}

/* As the C library chooses it. */
static bool locale_is_utf8(void)
{
    static const char *const names[] = {"LC_ALL", "LC_CTYPE", "LANG"};
    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++) {
        const char *value = getenv(names[i]);
        if (value && *value)
            return strcasestr(value, "utf-8") || strcasestr(value, "utf8");
    }
    return false;
}

static struct live_style style_now(const struct progress *progress)
{
    struct live_style style = {.width = COLUMNS_DEFAULT,
                               .height = LINES_DEFAULT,
                               .utf8 = progress->utf8,
                               .colour = progress->colour};
    struct winsize size;
    if (ioctl(fileno(progress->out), TIOCGWINSZ, &size) == 0 && size.ws_col && size.ws_row) {
        style.width = size.ws_col;
        style.height = size.ws_row;
    }
    style.height -= style.height > 1; /* the cursor's line below the block */
    return style;
}

/* Lines that the block takes when the terminal is width wide. */
static unsigned shown_height(const struct progress *progress, unsigned width)
{
    unsigned height = 0;
    for (unsigned i = 0; i < progress->shown_lines; i++) {
        unsigned columns = progress->shown_columns[i];
        height += columns > width ? (columns + width - 1) / width : 1;
    }
    return height;
}

static void go_above_block(struct progress *progress, unsigned width)
{
    unsigned height = shown_height(progress, width);
    if (height)
        fprintf(progress->out, "\r\033[%uA\033[J", height);
    progress->shown_lines = 0;
}

void progress_init(struct progress *progress, FILE *out, bool quiet)
{
    memset(progress, 0, sizeof *progress);
    pthread_mutex_init(&progress->lock, NULL);
    progress->out = out;
    progress->quiet = quiet;
    progress->terminal = progress_is_live(out, quiet);
    progress->utf8 = locale_is_utf8();
    progress->colour = progress->terminal && !is_set("NO_COLOR");
    progress->shown_ns = machine_ns();
    progress->says = calloc(PROGRESS_SAYS_MAX, sizeof *progress->says);
}

/* ---- lines that stay ---- */

/* On a terminal the time of day is enough; a file may be read next week. */
static void print_time(const struct progress *progress, uint64_t realtime_ns)
{
    char text[32];
    struct tm tm;
    time_t seconds = (time_t)(realtime_ns / NS_PER_S);
    gmtime_r(&seconds, &tm);
    strftime(text, sizeof text, progress->terminal ? "%H:%M:%S" : "%Y-%m-%d %H:%M:%SZ", &tm);
    fprintf(progress->out, "%s ", text);
}

static void print_says(struct progress *progress)
{
    pthread_mutex_lock(&progress->lock);
    unsigned count = progress->say_count;
    uint64_t lost = progress->says_lost;
    struct progress_saying *says = count ? malloc(count * sizeof *says) : NULL;
    if (says)
        memcpy(says, progress->says, count * sizeof *says);
    progress->say_count = 0;
    progress->says_lost = 0;
    pthread_mutex_unlock(&progress->lock);
    for (unsigned i = 0; says && i < count; i++) {
        print_time(progress, says[i].realtime_ns);
        fprintf(progress->out, "%s\n", says[i].text);
    }
    if (lost)
        fprintf(progress->out, "and %" PRIu64 " more lines that were not shown\n", lost);
    free(says);
}

void progress_say(struct progress *progress, uint64_t realtime_ns, const char *line)
{
    if (progress->quiet || !progress->says)
        return;
    pthread_mutex_lock(&progress->lock);
    if (progress->say_count < PROGRESS_SAYS_MAX) {
        struct progress_saying *saying = &progress->says[progress->say_count++];
        saying->realtime_ns = realtime_ns;
        snprintf(saying->text, sizeof saying->text, "%s", line);
    } else {
        progress->says_lost++;
    }
    pthread_mutex_unlock(&progress->lock);
}

static bool has_says(struct progress *progress)
{
    pthread_mutex_lock(&progress->lock);
    bool any = progress->say_count || progress->says_lost;
    pthread_mutex_unlock(&progress->lock);
    return any;
}

static bool phase_has_ended(const struct progress *progress, const struct run *run)
{
    return !progress->phase_known || progress->phase != run->phase;
}

static void phase_ended(struct progress *progress, const struct run *run, enum phase phase)
{
    const struct run_phase_time *time = &run->phases[phase];
    char spent[UNITS_TEXT_MAX];
    if (time->end_ns <= time->start_ns)
        return;
    units_human_duration((int64_t)(time->end_ns - time->start_ns), spent, sizeof spent);
    print_time(progress, clock_realtime_ns(run->clock));
    fprintf(progress->out, "%s: %s after %s\n", phase_text(phase),
            time->complete ? "done" : "ended", spent);
}

/* The run shows each phase when it begins, so the one of the last call has ended. */
static void phases_follow(struct progress *progress, const struct run *run)
{
    if (!phase_has_ended(progress, run))
        return;
    for (unsigned p = 0; !progress->phase_known && p < (unsigned)run->phase; p++)
        phase_ended(progress, run, (enum phase)p);
    if (progress->phase_known)
        phase_ended(progress, run, progress->phase);
    progress->phase_known = true;
    progress->phase = run->phase;
}

/* The signal handler says it where no block stands. */
static bool stop_is_new(const struct progress *progress, const struct live *live)
{
    return progress->terminal && live->stopping && !progress->stop_said;
}

static void print_lines(struct progress *progress, const struct run *run, const struct live *live)
{
    phases_follow(progress, run);
    print_says(progress);
    if (stop_is_new(progress, live)) {
        print_time(progress, clock_realtime_ns(run->clock));
        fputs("stopping; press Ctrl-C again to end at once\n", progress->out);
        progress->stop_said = true;
    }
}

/* ---- the block ---- */

static void draw(struct progress *progress, const struct live *live, const struct live_style *style)
{
    char lines[LIVE_LINES_MAX][LIVE_LINE_BYTES];
    struct live_style plain = *style;
    plain.colour = false;
    unsigned count = live_view_lines(live, &plain, lines);
    for (unsigned i = 0; i < count; i++)
        progress->shown_columns[i] = live_text_columns(lines[i]);
    live_view_lines(live, style, lines);
    for (unsigned i = 0; i < count; i++)
        fprintf(progress->out, "\033[2K%s\n", lines[i]);
    fputs("\033[J", progress->out);
    progress->shown_lines = count;
}

static void show_on_terminal(struct progress *progress, const struct run *run,
                             const struct live *live)
{
    uint64_t now = machine_ns();
    bool lines =
        phase_has_ended(progress, run) || has_says(progress) || stop_is_new(progress, live);
    if (!lines && progress->shown_lines && now - progress->shown_ns < DRAW_INTERVAL_NS)
        return;
    struct live_style style = style_now(progress);
    unsigned height = shown_height(progress, style.width);
    if (lines) {
        go_above_block(progress, style.width);
        print_lines(progress, run, live);
    } else if (height) {
        fprintf(progress->out, "\r\033[%uA", height);
    }
    draw(progress, live, &style);
    progress->shown_ns = now;
}

static void show_plain(struct progress *progress, const struct run *run, const struct live *live)
{
    char line[LIVE_PLAIN_MAX];
    uint64_t now = machine_ns();
    print_lines(progress, run, live);
    if (now - progress->shown_ns < PLAIN_INTERVAL_NS)
        return;
    progress->shown_ns = now;
    live_view_plain(live, line);
    print_time(progress, clock_realtime_ns(run->clock));
    fprintf(progress->out, "%s\n", line);
}

void progress_show(struct progress *progress, const struct run *run, const struct live *live)
{
    if (progress->quiet)
        return;
    if (progress->terminal)
        show_on_terminal(progress, run, live);
    else
        show_plain(progress, run, live);
    fflush(progress->out); /* whoever watches a file or a pipe sees a phase end when it ends */
}

void progress_end(struct progress *progress, const struct run *run)
{
    if (progress->quiet)
        return;
    go_above_block(progress, style_now(progress).width);
    phases_follow(progress, run);
    phase_ended(progress, run, run->phase);
    print_says(progress);
    fflush(progress->out);
}

void progress_clear(struct progress *progress)
{
    if (progress->quiet)
        return;
    go_above_block(progress, style_now(progress).width);
    print_says(progress);
    fflush(progress->out);
}

void progress_free(struct progress *progress)
{
    if (!progress->out)
        return;
    if (has_says(progress))
        progress_clear(progress);
    pthread_mutex_destroy(&progress->lock);
    free(progress->says);
    progress->says = NULL;
    progress->out = NULL;
}
