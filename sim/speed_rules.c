/*
 * speed_rules.c - the speed axis, line by line; see speed_rules.h.
 *
 * Invariant: the grade is the worst judged line; a line that lacks operations or a limit has none.
 */
#include "sim/speed_rules.h"

#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#define MACHINE_SHARE_MAX 0.05 /* this program's or the hypervisor's: more, and it is the limit */
#define CPU_SHARE_MAX     0.95 /* all CPUs busy */
#define BEGIN_SECONDS     0.5  /* between the time at which the phase was to begin and its begin */
#define NS_PER_MS         1e6
#define NS_PER_S          1e9
#define HUNDREDTHS        10000.0

const char *speed_word(double mean_ns)
{
    static const struct {
        double below_ms;
        const char *word;
    } words[] = {{2, "excellent"}, {6, "very good"}, {16, "good"}, {101, "poor"}, {501, "bad"}};
    for (size_t i = 0; i < sizeof words / sizeof words[0]; i++)
        if (mean_ns < words[i].below_ms * NS_PER_MS)
            return words[i].word;
    return "deplorable";
}

const char *speed_role_name(enum speed_role role)
{
    static const char *const names[ROLE_COUNT] = {"log writes", "page reads", "read-aheads",
                                                  "page writes"};
    return names[role];
}

enum speed_role speed_role_of(enum stream stream)
{
    static const enum speed_role roles[STREAM_COUNT] = {
#define STREAM(name, text, role) role,
#include "sim/streams.def"
#undef STREAM
    };
    return roles[stream];
}

static const struct limit *mean_limit(const struct thresholds *limits, enum speed_role role)
{
    const struct limit *means[ROLE_COUNT] = {&limits->log_write_mean, &limits->data_read_mean,
                                             &limits->read_ahead_mean, &limits->data_write_mean};
    return means[role];
}

double speed_fail_bound_ns(const struct thresholds *limits, enum speed_role role)
{
    const struct limit *limit = mean_limit(limits, role);
    return limit->judged && limit->warn != INT64_MAX ? (double)limit->warn : 0;
}

/* ---- lines ---- */

static enum grade grade_at_most(double value, const struct limit *limit)
{
    if (value <= (double)limit->pass)
        return GRADE_PASS;
    return limit->warn == INT64_MAX || value <= (double)limit->warn ? GRADE_WARN : GRADE_FAIL;
}

static struct speed_line *line_add(struct speed_result *out, struct speed_line line)
{
    out->lines[out->count] = line;
    return &out->lines[out->count++];
}

static void rate_line(const struct speed_facts *f, const struct thresholds *limits,
                      struct speed_result *out)
{
    const struct limit *limit = &limits->rate_held;
    double share = f->held * HUNDREDTHS;
    bool enough = f->asked_ios * f->seconds >= SPEED_OPS_MIN;
    struct speed_line line = {.key = "RateHeld",
                              .what = "rate",
                              .figure = "held",
                              .value = f->held,
                              .limit = *limit,
                              .grade = GRADE_NOT_TESTED};
    if (enough && limit->judged)
        line.grade = share >= (double)limit->pass   ? GRADE_PASS
                     : share >= (double)limit->warn ? GRADE_WARN
                                                    : GRADE_FAIL;
    line_add(out, line);
}

static void time_line(const struct role_facts *role, const char *key, const char *figure,
                      const struct limit *limit, double value, struct speed_result *out)
{
    bool judged = limit->judged && role->ops >= SPEED_OPS_MIN;
    line_add(out, (struct speed_line){
                      .key = key,
                      .figure = figure,
                      .value = value,
                      .limit = *limit,
                      .is_time = true,
                      .grade = judged ? grade_at_most(value, limit) : GRADE_NOT_TESTED,
                  });
}

static void role_lines(const struct speed_facts *f, const struct thresholds *limits,
                       struct speed_result *out)
{
    static const char *const mean_keys[ROLE_COUNT] = {"LogWriteMean", "DataReadMean",
                                                      "ReadAheadMean", "DataWriteMean"};
    static const char *const p99_keys[ROLE_COUNT] = {"LogWriteP99", "DataReadP99"};
    const struct limit *p99s[ROLE_COUNT] = {&limits->log_write_p99, &limits->data_read_p99};
    for (unsigned r = 0; r < ROLE_COUNT; r++) {
        const struct role_facts *role = &f->roles[r];
        unsigned first = out->count;
        time_line(role, mean_keys[r], "mean", mean_limit(limits, r), role->mean_ns, out);
        if (p99_keys[r])
            time_line(role, p99_keys[r], "p99", p99s[r], role->p99_ns, out);
        for (unsigned i = first; i < out->count; i++)
            out->lines[i].what = speed_role_name(r);
    }
}

/* PASS below the first figure, WARN below the second. */
static enum grade grade_below(double value, const struct limit *limit)
{
    if (value < (double)limit->pass)
        return GRADE_PASS;
    return limit->warn == INT64_MAX || value < (double)limit->warn ? GRADE_WARN : GRADE_FAIL;
}

static void plateau_line(const struct speed_facts *f, const struct thresholds *limits,
                         struct speed_result *out)
{
    struct speed_line line = {.key = "Plateau",
                              .what = "",
                              .figure = "longest plateau",
                              .limit = limits->plateau,
                              .is_time = true,
                              .grade = GRADE_NOT_TESTED};
    for (unsigned r = 0; r < ROLE_COUNT; r++) {
        double ns = f->roles[r].plateau_s * NS_PER_S;
        if (f->roles[r].ops < SPEED_OPS_MIN || !limits->plateau.judged)
            continue;
        if (line.grade == GRADE_NOT_TESTED || ns > line.value) {
            line.value = ns;
            line.what = speed_role_name(r);
        }
        line.grade = grade_below(line.value, &limits->plateau);
    }
    line_add(out, line);
}

static void stall_line(const struct speed_facts *f, const struct thresholds *limits,
                       struct speed_result *out)
{
    struct limit limit = {
        .pass = limits->stalls_rated, .warn = limits->stalls_rated, .judged = true};
    line_add(out, (struct speed_line){.key = "StallRated",
                                      .what = "requests",
                                      .figure = "of 15 s and more",
                                      .value = (double)f->stalls,
                                      .limit = limit,
                                      .grade = grade_at_most((double)f->stalls, &limit)});
}

/* ---- the sentence ---- */

struct sentence {
    char text[AXIS_REASON_MAX];
    size_t used;
};

__attribute__((format(printf, 2, 3))) static void say(struct sentence *s, const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    int length = vsnprintf(s->text + s->used, sizeof s->text - s->used, format, arguments);
    va_end(arguments);
    s->used += (size_t)length;
    if (s->used >= sizeof s->text)
        s->used = sizeof s->text - 1;
}

static void say_ms(struct sentence *s, double ns)
{
    say(s, ns < 100 * NS_PER_MS ? "%.1f ms" : "%.0f ms", ns / NS_PER_MS);
}

static void say_line(struct sentence *s, const struct speed_line *line)
{
    if (strcmp(line->key, "RateHeld") == 0)
        return;
    if (strcmp(line->key, "StallRated") == 0) {
        say(s, "; %s request%s took 15 s and more", count_text((uint64_t)line->value).text,
            line->value == 1 ? "" : "s");
    } else if (strcmp(line->key, "Plateau") == 0) {
        say(s, "; %s were beyond their bound for %.0f s without a break", line->what,
            line->value / NS_PER_S);
    } else {
        bool mean = strcmp(line->figure, "mean") == 0;
        say(s, "; %s%s%s ", line->what, mean ? "" : " ", mean ? "" : line->figure);
        say_ms(s, line->value);
        say(s, " (limit %g", (double)line->limit.pass / NS_PER_MS);
        if (line->grade != GRADE_PASS && line->limit.warn != INT64_MAX &&
            line->limit.warn != line->limit.pass)
            say(s, ", bound %g", (double)line->limit.warn / NS_PER_MS);
        say(s, line->limit.users ? ", yours)" : ")");
    }
}

/* "1,500 IOPS + 300 log writes/s held" or "held about 115 of 1,500 IOPS" */
static void say_rate(struct sentence *s, const struct speed_facts *f, const struct speed_line *rate,
                     struct speed_result *out)
{
    struct count_text asked = count_text((uint64_t)llround(f->asked_ios));
    if (rate->grade == GRADE_FAIL || rate->grade == GRADE_WARN) {
        struct count_text held = count_text((uint64_t)llround(f->asked_ios * f->held));
        snprintf(out->held, sizeof out->held, "%s of %s IOPS", held.text, asked.text);
        say(s, "held about %s", out->held);
    } else {
        say(s, "%s IOPS + %s log writes/s held", asked.text,
            count_text((uint64_t)llround(f->asked_logs)).text);
    }
}

static bool is_leading(const struct speed_line *line)
{
    return strcmp(line->key, "LogWriteMean") == 0 || strcmp(line->key, "DataReadMean") == 0;
}

/* What is not PASS; when all is, log and reads. */
static void say_lines(struct sentence *s, const struct speed_result *out)
{
    bool any = false;
    for (unsigned i = 1; i < out->count; i++) {
        const struct speed_line *line = &out->lines[i];
        if (line->grade == GRADE_FAIL || line->grade == GRADE_WARN) {
            say_line(s, line);
            any = true;
        }
    }
    for (unsigned i = 1; i < out->count && !any; i++)
        if (out->lines[i].grade == GRADE_PASS && is_leading(&out->lines[i]))
            say_line(s, &out->lines[i]);
}

/* ---- the axis ---- */

static bool not_tested(const struct speed_facts *f, struct axis *axis)
{
    if (!f->rated)
        axis_set(axis, GRADE_NOT_TESTED, "no rated phase");
    else if (!f->arrivals)
        axis_set(axis, GRADE_NOT_TESTED,
                 "the rated phase had no stated rate: in a closed loop latency is the number of "
                 "requests in flight divided by the rate");
    else if (f->seconds < SPEED_SECONDS_MIN - BEGIN_SECONDS)
        axis_set(axis, GRADE_NOT_TESTED,
                 "the rated phase lasted %.0f s, and at least %d s are judged", f->seconds,
                 SPEED_SECONDS_MIN);
    else if (f->asked_ios * f->seconds < SPEED_OPS_MIN)
        axis_set(axis, GRADE_NOT_TESTED,
                 "the rated phase asked for %.0f data I/Os, and at least %d are judged",
                 floor(f->asked_ios * f->seconds), SPEED_OPS_MIN);
    else
        return false;
    return true;
}

/* NULL: it was not this machine. */
static const char *machine_limit(const struct speed_facts *f, char text[AXIS_REASON_MAX])
{
    if (f->host_pauses)
        snprintf(text, AXIS_REASON_MAX, "it stood still %s time%s", count_text(f->host_pauses).text,
                 f->host_pauses == 1 ? "" : "s");
    else if (f->steal_share > MACHINE_SHARE_MAX)
        snprintf(text, AXIS_REASON_MAX, "its hypervisor took %.0f %% of the CPU time",
                 f->steal_share * 100);
    else if (f->cpu_share > CPU_SHARE_MAX)
        snprintf(text, AXIS_REASON_MAX, "this program used %.0f %% of its CPUs",
                 f->cpu_share * 100);
    else if (f->tool_share > MACHINE_SHARE_MAX)
        snprintf(text, AXIS_REASON_MAX,
                 "%.0f %% of the response time was spent outside the storage", f->tool_share * 100);
    else
        return NULL;
    return text;
}

static enum grade worst_line(const struct speed_result *out)
{
    enum grade worst = GRADE_PASS;
    for (unsigned i = 0; i < out->count; i++) {
        enum grade grade = out->lines[i].grade;
        if (grade == GRADE_FAIL || (grade == GRADE_WARN && worst == GRADE_PASS))
            worst = grade;
    }
    return worst;
}

void speed_grades_make(const struct speed_facts *facts, const struct thresholds *limits,
                       struct speed_result *out)
{
    char machine[AXIS_REASON_MAX];
    struct sentence s = {.used = 0};
    memset(out, 0, sizeof *out);
    if (not_tested(facts, &out->axis))
        return;
    rate_line(facts, limits, out);
    role_lines(facts, limits, out);
    plateau_line(facts, limits, out);
    stall_line(facts, limits, out);
    enum grade worst = worst_line(out);
    say_rate(&s, facts, &out->lines[0], out);
    say_lines(&s, out);
    if (worst != GRADE_PASS && facts->limit_waits)
        axis_set(&out->axis, GRADE_NOT_TESTED,
                 "MaxIops or MaxMBps was the limit: it held back %s requests; %.200s",
                 count_text(facts->limit_waits).text, s.text);
    else if (worst != GRADE_PASS && machine_limit(facts, machine))
        axis_set(&out->axis, GRADE_NOT_TESTED, "this machine was the limit: %.150s; %.200s",
                 machine, s.text);
    else
        axis_set(&out->axis, worst, "%s", s.text);
}

void speed_need_judge(double mb_per_s, double seconds, int64_t need_mbps, struct speed_result *out)
{
    bool rated = out->axis.grade != GRADE_NOT_TESTED;
    bool reached = mb_per_s >= (double)need_mbps;
    if (seconds < SPEED_SECONDS_MIN - BEGIN_SECONDS) {
        if (!rated)
            axis_set(&out->axis, GRADE_NOT_TESTED,
                     "the main part lasted %.0f s, and %d s at least are judged by NeedMBps",
                     seconds, SPEED_SECONDS_MIN);
        return;
    }
    if (rated && (reached || out->axis.grade == GRADE_FAIL))
        return;
    snprintf(out->held, sizeof out->held, "%s of %s MB/s", count_text((uint64_t)mb_per_s).text,
             count_text((uint64_t)need_mbps).text);
    axis_set(&out->axis, reached ? GRADE_PASS : GRADE_FAIL,
             "pages were read and written at %s MB/s, %s MB/s are needed",
             count_text((uint64_t)mb_per_s).text, count_text((uint64_t)need_mbps).text);
}
