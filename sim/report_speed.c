/*
 * report_speed.c - see report_speed.h.
 *
 * Where log files are flushed apart from their writes, what a log write costs is both: their means
 * and percentiles are added.
 */
#include "sim/report_speed.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "sim/arrivals.h"

#define NS_PER_MS_REAL 1e6
#define TEXT_MAX       48

/* ---- facts ---- */

static uint64_t rated_start_ns(const struct run *run)
{
    return run->phases[PHASE_rated].start_ns - 1; /* 0 = not begun, so it is kept one higher */
}

static uint64_t rated_end_ns(const struct run *run)
{
    uint64_t end_ns = run->phases[PHASE_rated].end_ns;
    uint64_t now_ns = end_ns ? end_ns - 1 : clock_now_ns(run->clock);
    return now_ns < run->rated_end_ns ? now_ns : run->rated_end_ns;
}

static void add_arrivals(const struct run *run, struct speed_facts *facts)
{
    uint64_t response_ns = 0, tool_ns = 0;
    facts->held = 1;
    for (unsigned i = 0; i < run->arrivals_count; i++) {
        struct arrivals *arrivals = run->arrivals[i];
        const struct arrivals_config *config = &arrivals->times.config;
        if (!arrivals->rated)
            continue;
        uint64_t asked = arrival_times_count(config, rated_start_ns(run), rated_end_ns(run));
        uint64_t done = atomic_load(&arrivals->done[PHASE_rated]);
        double held = asked ? (double)done / (double)asked : 1;
        facts->arrivals = true;
        facts->held = held < facts->held ? held : facts->held;
        facts->asked_ios += config->per_second * arrivals->ios;
        facts->asked_logs += arrivals->ios > 0 ? config->per_second : 0;
        response_ns += atomic_load(&arrivals->response_ns);
        tool_ns += atomic_load(&arrivals->tool_ns);
    }
    if (response_ns)
        facts->tool_share = (double)tool_ns / (double)response_ns;
}

static uint64_t stalls_of(const struct hist *hist)
{
    uint64_t stalls = 0;
    for (unsigned i = 0; i < HIST_BUCKETS; i++)
        stalls += hist_bucket_low_ns(i) >= IO_STALL_NS ? hist->buckets[i] : 0;
    return stalls;
}

static void add_log_flushes(const struct report *report, struct role_facts *role)
{
    const struct hist *flush = &report->stats->streams[PHASE_rated][STREAM_log_flush].response;
    if (flush->count == 0)
        return;
    role->mean_ns += hist_mean_ns(flush);
    role->p99_ns += (double)hist_quantile_ns(flush, 0.99);
    role->max_ns += (double)flush->max_ns;
}

/* All streams of the role but the flushes of logs. */
static void add_role(const struct report *report, enum speed_role role, struct hist *sum,
                     struct speed_facts *facts)
{
    struct role_facts *out = &facts->roles[role];
    memset(sum, 0, sizeof *sum);
    for (unsigned s = 0; s < STREAM_COUNT; s++) {
        const struct stream_stats *stream = &report->stats->streams[PHASE_rated][s];
        if (speed_role_of((enum stream)s) != role)
            continue;
        facts->stalls += stalls_of(&stream->latency);
        if (s != STREAM_log_flush)
            hist_merge(sum, &stream->response);
    }
    out->ops = sum->count;
    out->mean_ns = hist_mean_ns(sum);
    out->p99_ns = (double)hist_quantile_ns(sum, 0.99);
    out->max_ns = (double)sum->max_ns;
    if (role == ROLE_LOG_WRITE)
        add_log_flushes(report, out);
}

/* The seconds of all workers together. */
static int add_plateau(const struct run *run, enum speed_role role, double bound_ns,
                       struct role_facts *out)
{
    size_t count = run->seconds ? run->seconds[0].count : 0;
    struct second_sum *sums = calloc(count + 1, sizeof *sums);
    if (!sums)
        return -ENOMEM;
    for (unsigned w = 0; w < run->worker_count && count; w++) {
        const struct second_sum *part = seconds_of(&run->seconds[w], role);
        for (size_t i = 0; i < count; i++) {
            sums[i].ops += part[i].ops;
            sums[i].response_ns += part[i].response_ns;
        }
    }
    out->plateau_s = bound_ns > 0 ? seconds_plateau(sums, count, bound_ns) : 0;
    free(sums);
    return 0;
}

static uint64_t host_pauses(const struct run *run)
{
    const struct findings *findings = &run->findings;
    uint64_t from_ns =
        run->session_start_ns + rated_start_ns(run) - (run->phases[PHASE_create].start_ns - 1);
    uint64_t to_ns = from_ns + (rated_end_ns(run) - rated_start_ns(run));
    uint64_t pauses = 0;
    for (unsigned i = 0; i < findings->count; i++)
        pauses += findings->list[i].verdict == VERDICT_host_pause &&
                  findings->list[i].found_ns >= from_ns && findings->list[i].found_ns <= to_ns;
    return pauses;
}

static void add_machine(const struct report *report, struct speed_facts *facts)
{
    const struct run *run = report->run;
    unsigned cpus = report->environment.cpus_allowed;
    facts->host_pauses = host_pauses(run);
    facts->steal_share = machine_load_steal(&run->rated_from, &run->rated_to);
    if (cpus && facts->seconds > 0)
        facts->cpu_share = (run->rated_to.cpu_s - run->rated_from.cpu_s) / facts->seconds / cpus;
}

int report_speed_freeze(struct report *report)
{
    const struct run *run = report->run;
    struct speed_facts *facts = &report->speed_facts;
    struct thresholds *limits = &report->thresholds;
    struct hist *sum = calloc(1, sizeof *sum);
    int error = sum ? 0 : -ENOMEM;
    thresholds_read(profile_section(run->config.profile, thresholds_section.name), limits);
    facts->rated = run->phases[PHASE_rated].start_ns != 0;
    if (facts->rated && !error) {
        facts->seconds = (double)(rated_end_ns(run) - rated_start_ns(run)) / (double)NS_PER_S;
        add_arrivals(run, facts);
        add_machine(report, facts);
        for (unsigned r = 0; r < ROLE_COUNT && !error; r++) {
            add_role(report, r, sum, facts);
            error = add_plateau(run, r, speed_fail_bound_ns(limits, r), &facts->roles[r]);
        }
    }
    free(sum);
    if (!error)
        speed_grades_make(facts, limits, &report->speed_result);
    return error;
}

/* ---- the table ---- */

static const char *time_text(double ns, char out[TEXT_MAX])
{
    snprintf(out, TEXT_MAX, ns < 1e8 ? "%.2fms" : "%.0fms", ns / NS_PER_MS_REAL);
    return out;
}

/* "5/15 ms", "10/- ms" */
static const char *limit_text(const struct limit *limit, char out[TEXT_MAX])
{
    double pass = (double)limit->pass / NS_PER_MS_REAL, warn = (double)limit->warn / NS_PER_MS_REAL;
    const char *yours = limit->users ? " yours" : "";
    if (!limit->judged)
        snprintf(out, TEXT_MAX, "-");
    else if (limit->warn == INT64_MAX)
        snprintf(out, TEXT_MAX, "%g/- ms%s", pass, yours);
    else
        snprintf(out, TEXT_MAX, "%g/%g ms%s", pass, warn, yours);
    return out;
}

static const struct speed_line *line_of(const struct speed_result *result, const char *what,
                                        const char *figure)
{
    for (unsigned i = 0; i < result->count; i++)
        if (strcmp(result->lines[i].what, what) == 0 &&
            strcmp(result->lines[i].figure, figure) == 0)
            return &result->lines[i];
    return NULL;
}

static void write_role(const struct report *report, enum speed_role role, FILE *out)
{
    const struct role_facts *facts = &report->speed_facts.roles[role];
    const struct speed_line *line = line_of(&report->speed_result, speed_role_name(role), "mean");
    char mean[TEXT_MAX], p99[TEXT_MAX], max[TEXT_MAX], limit[TEXT_MAX] = "-";
    if (facts->ops == 0)
        return;
    bool judged = line && line->grade != GRADE_NOT_TESTED;
    if (line)
        limit_text(&line->limit, limit);
    fprintf(out, "  %-11s %8.1f %8s %8s %8s  %-9s %-10s %s\n", speed_role_name(role),
            (double)facts->ops / report->speed_facts.seconds, time_text(facts->mean_ns, mean),
            time_text(facts->p99_ns, p99), time_text(facts->max_ns, max), limit,
            judged ? grade_name(line->grade) : "not judged", speed_word(facts->mean_ns));
}

void report_speed_text(const struct report *report, FILE *out)
{
    const struct speed_facts *facts = &report->speed_facts;
    if (!facts->rated)
        return;
    fprintf(out,
            "\nresponse times of the rated phase, from the intended start; %.0f s\n"
            "  %-11s %8s %8s %8s %8s  %-9s %-10s %s\n",
            facts->seconds, "", "per s", "mean", "p99", "max", "PASS/WARN", "mean", "Microsoft");
    for (unsigned r = 0; r < ROLE_COUNT; r++)
        write_role(report, r, out);
    if (facts->arrivals)
        fprintf(out,
                "  asked for %s data IOPS and %s transactions/s; %.1f %% of the work was done in "
                "time\n",
                count_text((uint64_t)(facts->asked_ios + 0.5)).text,
                count_text((uint64_t)(facts->asked_logs + 0.5)).text, facts->held * 100);
}
