/*
 * report_speed.c - see report_speed.h.
 *
 * Every judged slot is judged for itself; the worst one leads the axis and is named.
 */
#include "sim/report_speed.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "sim/run_slots.h"

#define NS_PER_MS_REAL 1e6
#define TEXT_MAX       48

/* ---- facts ---- */

/* How bad: what was not tested says nothing against a slot that was. */
static unsigned badness(enum grade grade)
{
    return grade == GRADE_FAIL ? 3 : grade == GRADE_WARN ? 2 : grade == GRADE_PASS ? 1 : 0;
}

/* The worse one; of two that are equally good the one that carried more. */
static bool leads(const struct report_slot *slot, const struct report_slot *leader)
{
    unsigned own = badness(slot->result.axis.grade), other = badness(leader->result.axis.grade);
    return own > other || (own == other && slot->facts.asked_ios > leader->facts.asked_ios);
}

/* Which of several leads says so, and how many were judged. */
static void name_leader(struct report *report, const struct report_slot *leader, unsigned rated)
{
    struct axis *axis = &report->speed_result.axis;
    char reason[AXIS_REASON_MAX], of[TEXT_MAX] = "";
    if (!leader->slot->name[0])
        return;
    snprintf(reason, sizeof reason, "%s", axis->reason);
    if (rated > 1)
        snprintf(of, sizeof of, " (the %s of %u judged)",
                 axis->grade == GRADE_PASS ? "hardest" : "worst", rated);
    axis_set(axis, axis->grade, "%.96s%s: %.380s", leader->slot->name, of, reason);
}

/* Reads and writes of pages in the main part, by users and those who write for them. */
static double main_part_mb_per_s(const struct report *report)
{
    double sum = 0;
    for (unsigned i = 0; i < STREAM_COUNT; i++) {
        enum speed_role role = speed_role_of(i);
        struct report_stream stream;
        bool of_pages =
            role == ROLE_PAGE_READ || role == ROLE_READ_AHEAD || role == ROLE_PAGE_WRITE;
        if (of_pages && report_stream(report, PHASE_stress, i, &stream))
            sum += stream.mb_per_s;
    }
    return sum;
}

static void judge_need(struct report *report)
{
    int64_t need = report->run->settings->need_mbps;
    if (need)
        speed_need_judge(main_part_mb_per_s(report), report->phase_seconds[PHASE_stress], need,
                         &report->speed_result);
}

int report_speed_freeze(struct report *report)
{
    const struct run *run = report->run;
    const struct run_slots *slots = run->slots;
    const struct report_slot *leader = NULL;
    unsigned rated = 0;
    report->speed_slot = "";
    thresholds_read(profile_section(run->config.profile, thresholds_section.name),
                    &report->thresholds);
    report->slots = calloc(slots ? slots->count + 1 : 1, sizeof *report->slots);
    if (!report->slots)
        return -ENOMEM;
    report->slot_count = slots ? slots->count : 0;
    for (unsigned i = 0; i < report->slot_count; i++) {
        struct report_slot *out = &report->slots[i];
        out->slot = &slots->list[i];
        out->of_main_part = i >= slots->main_first;
        slot_speed_facts(out->slot, report->environment.cpus_allowed, &out->facts);
        speed_grades_make(&out->facts, &report->thresholds, &out->result);
        if (!out->facts.rated)
            continue;
        rated++;
        if (!leader || leads(out, leader))
            leader = out;
    }
    if (leader) {
        report->speed_facts = leader->facts;
        report->speed_result = leader->result;
        report->speed_slot = leader->slot->name;
        name_leader(report, leader, rated);
    } else {
        speed_grades_make(&report->speed_facts, &report->thresholds, &report->speed_result);
    }
    judge_need(report);
    return 0;
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
            "\nresponse times of the rated phase%s%s, from the intended start; %.0f s\n"
            "  %-11s %8s %8s %8s %8s  %-9s %-10s %s\n",
            report->speed_slot[0] ? " " : "", report->speed_slot, facts->seconds, "", "per s",
            "mean", "p99", "max", "PASS/WARN", "mean", "Microsoft");
    for (unsigned r = 0; r < ROLE_COUNT; r++)
        write_role(report, r, out);
    if (facts->arrivals)
        fprintf(out,
                "  asked for %s data IOPS and %s transactions/s; %.1f %% of the work was done in "
                "time\n",
                count_text((uint64_t)(facts->asked_ios + 0.5)).text,
                count_text((uint64_t)(facts->asked_logs + 0.5)).text, facts->held * 100);
}
