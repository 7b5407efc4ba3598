/*
 * live_view.c - see live_view.h.
 *
 * Sparklines show the p99 of the last minute; each step up is a doubling over the best moment of
 * the minute, so that a stall stands out however fast the device is.
 */
#include "sim/live_view.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "config/units.h"
#include "sim/clock.h"
#include "sim/verdict_rules.h"

#define SPARK_LEVELS   8
#define SPARK_NARROW   20 /* characters: 3 s each */
#define SPARK_BYTES    (LIVE_HISTORY_S * 4 + 1)
#define NUMBER_MAX     32
#define WIDTH_LONG     118 /* room for a character a second */
#define WIDTH_COVERAGE 150 /* all of the coverage */
#define WIDTH_SMALL    52  /* below: fewer words */
#define COLOUR_FINDING "\033[1;31m"
#define COLOUR_END     "\033[0m"

static const char *const spark_utf8[SPARK_LEVELS] = {"▁", "▂", "▃", "▄", "▅", "▆", "▇", "█"};
static const char *const spark_ascii[SPARK_LEVELS] = {".", ":", "-", "=", "+", "*", "#", "@"};

struct text {
    char text[NUMBER_MAX];
};

/* "02:11", "1:02:11" */
static struct text clock_text(uint64_t ns)
{
    struct text out;
    uint64_t s = ns / NS_PER_S;
    if (s < 3600)
        snprintf(out.text, sizeof out.text, "%02" PRIu64 ":%02" PRIu64, s / 60, s % 60);
    else
        snprintf(out.text, sizeof out.text, "%" PRIu64 ":%02" PRIu64 ":%02" PRIu64, s / 3600,
                 s / 60 % 60, s % 60);
    return out;
}

/* "85us", "0.4ms", "12.00s" */
static struct text latency_text(uint64_t latency_ns)
{
    struct text out;
    double ns = (double)latency_ns;
    if (ns < 1e5)
        snprintf(out.text, sizeof out.text, "%.0fus", ns / 1e3);
    else if (ns < 1e9)
        snprintf(out.text, sizeof out.text, ns < 1e8 ? "%.1fms" : "%.0fms", ns / 1e6);
    else
        snprintf(out.text, sizeof out.text, "%.2fs", ns / 1e9);
    return out;
}

static struct text rate_text(double value, const char *format)
{
    struct text out;
    snprintf(out.text, sizeof out.text, format, value);
    return out;
}

/* ---- the parts ---- */

/* "02:11 of 05:00", "42 %, 00:20 left" or "00:10" */
static void how_far(const struct live *live, char *out, size_t size)
{
    struct text spent = clock_text(live->elapsed_ns);
    if (live->length_ns != LIVE_UNKNOWN)
        snprintf(out, size, "%s of %s%s", spent.text, live->ends_early ? "at most " : "",
                 clock_text(live->length_ns + NS_PER_S / 2).text);
    else if (live->total == 0)
        snprintf(out, size, "%s", spent.text);
    else if (live->left_ns == LIVE_UNKNOWN)
        snprintf(out, size, "%u %%, %s", percent_of(live->done, live->total), spent.text);
    else
        snprintf(out, size, "%u %%, %s left", percent_of(live->done, live->total),
                 clock_text(live->left_ns).text);
}

static void all_left(const struct live *live, const char *before, const char *about, char *out,
                     size_t size)
{
    out[0] = '\0';
    if (live->stopping)
        snprintf(out, size, "%s", "stopping ...");
    else if (live->all_left_ns != LIVE_UNKNOWN)
        snprintf(out, size, "%s %s%s", before, live->all_at_most ? "at most " : about,
                 clock_text(live->all_left_ns).text);
}

static void findings_text(const struct live *live, char *out, size_t size)
{
    snprintf(out, size, "findings %" PRIu64 "%s%s", live->findings,
             live->findings_words[0] ? ": " : "", live->findings_words);
}

static unsigned spark_level(uint64_t ns, uint64_t base_ns)
{
    unsigned level = 0;
    while (level + 1 < SPARK_LEVELS && ns >= 2 * base_ns) {
        ns /= 2;
        level++;
    }
    return level;
}

/* chars characters for the last minute, the worst of its seconds in each. */
static void spark(const struct live_row *row, unsigned chars, bool utf8, char *out)
{
    const char *const *levels = utf8 ? spark_utf8 : spark_ascii;
    unsigned seconds = LIVE_HISTORY_S / chars;
    uint64_t base = UINT64_MAX;
    size_t used = 0;
    out[0] = '\0';
    for (unsigned i = 0; i < row->history_count; i++)
        if (row->p99_history_ns[i] && row->p99_history_ns[i] < base)
            base = row->p99_history_ns[i];
    for (unsigned i = 0; i < row->history_count; i += seconds) {
        uint64_t worst = 0;
        for (unsigned j = i; j < i + seconds && j < row->history_count; j++)
            worst = row->p99_history_ns[j] > worst ? row->p99_history_ns[j] : worst;
        used += (size_t)snprintf(out + used, SPARK_BYTES - used, "%s",
                                 worst ? levels[spark_level(worst, base)] : " ");
    }
}

/* ---- nine lines ---- */

/* As much as there is room for, the most important last to go. */
static void first_line(const struct live *live, const struct live_style *style, char *out)
{
    char far[NUMBER_MAX * 3], all[NUMBER_MAX * 2], in[NUMBER_MAX * 2], words[2 * LIVE_WORDS_MAX];
    char number[NUMBER_MAX * 2];
    how_far(live, far, sizeof far);
    all_left(live, "all done in", "about ", all, sizeof all);
    all_left(live, "all in", "", in, sizeof in);
    findings_text(live, words, sizeof words);
    snprintf(number, sizeof number, "findings %" PRIu64, live->findings);
    const char *const variants[][3] = {
        {live->phase, all, words}, {live->phase, in, words}, {live->phase, in, number},
        {live->phase, "", number}, {"", "", number},
    };
    for (size_t i = 0; i < sizeof variants / sizeof variants[0]; i++) {
        const char *const *v = variants[i];
        snprintf(out, LIVE_LINE_BYTES, "%s%s%s  %s%s%s", v[0], v[0][0] ? " " : "", far, v[1],
                 v[1][0] ? "  " : "", v[2]);
        if (live_text_columns(out) <= style->width)
            return;
    }
}

static void head_line(const struct live_style *style, char *out)
{
    (void)style;
    snprintf(out, LIVE_LINE_BYTES, "%-11s %8s %8s %7s %7s %9s   p99, last 60 s", "", "IOPS", "MB/s",
             "mean", "p99", "in flight");
}

static void row_line(const struct live_row *row, const struct live_style *style, char *out)
{
    char last[SPARK_BYTES];
    spark(row, style->width >= WIDTH_LONG ? LIVE_HISTORY_S : SPARK_NARROW, style->utf8, last);
    if (row->checkpoint_percent)
        snprintf(last, sizeof last, "checkpoint %u %%", row->checkpoint_percent);
    if (!row->known) {
        snprintf(out, LIVE_LINE_BYTES, "%-11s %8s %8s %7s %7s %9s   %s", row->label, "-", "-", "-",
                 "-", "-", last);
        return;
    }
    bool any = row->iops > 0;
    snprintf(out, LIVE_LINE_BYTES, "%-11s %8s %8s %7s %7s %9s   %s", row->label,
             rate_text(row->iops, "%.0f").text, rate_text(row->mb_per_s, "%.1f").text,
             any ? latency_text(row->mean_ns).text : "-",
             any ? latency_text(row->p99_ns).text : "-", rate_text(row->in_flight, "%.1f").text,
             last);
}

/* The rest of the coverage where there is room. */
static void verified_line(const struct live *live, const struct live_style *style, char *out)
{
    char coverage[256] = "";
    if (live->coverage_known && style->width >= WIDTH_COVERAGE)
        snprintf(coverage, sizeof coverage,
                 "; %u %% since last write; oldest unread %" PRIu64 " s; first check after %.1f s, "
                 "longest %.1f s; %s overwritten unread",
                 live->covered_percent, live->oldest_unread_s, live->check_mean_s,
                 live->check_longest_s, count_text(live->overwritten_unread).text);
    else if (live->coverage_known)
        snprintf(coverage, sizeof coverage, "; %u %% since last write; oldest unread %" PRIu64 " s",
                 live->covered_percent, live->oldest_unread_s);
    snprintf(out, LIVE_LINE_BYTES, "verified %s pages, %s wrong%s", count_text(live->verified).text,
             count_text(live->wrong).text, coverage);
}

static void device_line(const struct live *live, char *out)
{
    char written[UNITS_TEXT_MAX];
    units_human_size((int64_t)live->written_bytes, written, sizeof written);
    snprintf(out, LIVE_LINE_BYTES,
             "dirty %u %%  log %u %%  throttled %" PRIu64 "  stalled %" PRIu64
             "  written to device %s",
             live->dirty_percent, live->log_percent, live->throttled, live->stalled, written);
}

static void last_line(const struct live *live, char *out)
{
    snprintf(out, LIVE_LINE_BYTES, "%s Files: %s%s%s",
             live->stopping ? "Ctrl-C again ends at once." : "Ctrl-C ends and reports.",
             live->folders, live->result ? "   Result: " : "", live->result ? live->result : "");
}

static unsigned full_lines(const struct live *live, const struct live_style *style,
                           char lines[LIVE_LINES_MAX][LIVE_LINE_BYTES])
{
    unsigned n = 0;
    first_line(live, style, lines[n++]);
    head_line(style, lines[n++]);
    for (unsigned i = 0; i < LIVE_ROWS; i++)
        row_line(&live->rows[i], style, lines[n++]);
    verified_line(live, style, lines[n++]);
    device_line(live, lines[n++]);
    last_line(live, lines[n++]);
    return n;
}

/* ---- five lines ---- */

static void short_row(const struct live_row *row, bool small, char *out)
{
    struct text p99 = latency_text(row->p99_ns), mean = latency_text(row->mean_ns);
    if (!row->known || row->iops <= 0)
        snprintf(out, LIVE_LINE_BYTES, "%-10s %7s IOPS", row->label, row->known ? "0" : "-");
    else if (small)
        snprintf(out, LIVE_LINE_BYTES, "%-10s %7.0f IOPS p99 %s", row->label, row->iops, p99.text);
    else
        snprintf(out, LIVE_LINE_BYTES, "%-10s %7.0f IOPS  mean %6s  p99 %6s  in fl. %.1f",
                 row->label, row->iops, mean.text, p99.text, row->in_flight);
}

static void short_verified(const struct live *live, bool small, char *out)
{
    if (small && live->findings_words[0])
        snprintf(out, LIVE_LINE_BYTES, "%s", live->findings_words);
    else if (small && live->coverage_known)
        snprintf(out, LIVE_LINE_BYTES, "%s wrong; %u %% read back", count_text(live->wrong).text,
                 live->covered_percent);
    else if (live->coverage_known)
        snprintf(out, LIVE_LINE_BYTES,
                 "verified %s, %s wrong; %u %% read back, oldest %" PRIu64 " s",
                 count_text(live->verified).text, count_text(live->wrong).text,
                 live->covered_percent, live->oldest_unread_s);
    else
        snprintf(out, LIVE_LINE_BYTES, "verified %s pages, %s wrong",
                 count_text(live->verified).text, count_text(live->wrong).text);
}

static unsigned short_lines(const struct live *live, const struct live_style *style,
                            char lines[LIVE_LINES_MAX][LIVE_LINE_BYTES])
{
    bool small = style->width < WIDTH_SMALL;
    unsigned n = 0;
    first_line(live, style, lines[n++]);
    short_row(&live->rows[0], small, lines[n++]);
    short_row(&live->rows[1], small, lines[n++]);
    short_row(&live->rows[3], small, lines[n++]);
    short_verified(live, small, lines[n++]);
    return n;
}

/* ---- all ---- */

static void colour_findings(char *line)
{
    char *at = strstr(line, "findings ");
    if (!at || at[9] == '0' || strlen(line) + sizeof COLOUR_FINDING COLOUR_END > LIVE_LINE_BYTES)
        return;
    memmove(at + sizeof COLOUR_FINDING - 1, at, strlen(at) + 1);
    memcpy(at, COLOUR_FINDING, sizeof COLOUR_FINDING - 1);
    memcpy(line + strlen(line), COLOUR_END, sizeof COLOUR_END);
}

unsigned live_view_lines(const struct live *live, const struct live_style *style,
                         char lines[LIVE_LINES_MAX][LIVE_LINE_BYTES])
{
    bool full = style->width >= LIVE_WIDTH_FULL && style->height >= LIVE_LINES_MAX;
    unsigned count = full ? full_lines(live, style, lines) : short_lines(live, style, lines);
    if (count > style->height)
        count = style->height ? style->height : 1;
    for (unsigned i = 0; i < count; i++) {
        live_text_cut(lines[i], style->width, style->utf8 ? "…" : "~");
        for (size_t end = strlen(lines[i]); end && lines[i][end - 1] == ' '; end--)
            lines[i][end - 1] = '\0';
        if (style->colour)
            colour_findings(lines[i]);
    }
    return count;
}

static size_t plain_row(const struct live_row *row, char *out, size_t size)
{
    if (!row->known || row->iops <= 0)
        return 0;
    int n =
        snprintf(out, size, "; %s %.0f IOPS %.1f MB/s mean %s p99 %s", row->label, row->iops,
                 row->mb_per_s, latency_text(row->mean_ns).text, latency_text(row->p99_ns).text);
    return n > 0 && (size_t)n < size ? (size_t)n : 0;
}

void live_view_plain(const struct live *live, char out[LIVE_PLAIN_MAX])
{
    char far[NUMBER_MAX * 3], all[NUMBER_MAX * 2], findings[2 * LIVE_WORDS_MAX];
    how_far(live, far, sizeof far);
    all_left(live, "all done in", "about ", all, sizeof all);
    findings_text(live, findings, sizeof findings);
    size_t used = (size_t)snprintf(out, LIVE_PLAIN_MAX, "%s %s%s%s; %.100s", live->phase, far,
                                   all[0] ? ", " : "", all, findings);
    for (unsigned i = 0; i < LIVE_ROWS; i++)
        used += plain_row(&live->rows[i], out + used, LIVE_PLAIN_MAX - used);
    snprintf(out + used, LIVE_PLAIN_MAX - used, "; verified %s pages, %s wrong",
             count_text(live->verified).text, count_text(live->wrong).text);
}
