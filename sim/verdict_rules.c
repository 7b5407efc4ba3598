/*
 * verdict_rules.c - the rules of the verdict, one function an axis.
 *
 * Invariants: one finding of severity integrity makes integrity FAIL, whatever else happened; PASS
 * needs a complete run, every page seen, nothing indeterminate and O_DIRECT.
 * It does not look at the run: what it needs to know stands in struct verdict_facts.
 */
#include "sim/verdict_rules.h"

#include <stdio.h>
#include <string.h>

static bool moved_nothing(const struct verdict_facts *f)
{
    return f->pages_written == 0 && f->pages_verified == 0 && f->log_blocks_verified == 0;
}

static bool everything_seen(const struct verdict_facts *f)
{
    return f->pages_unseen == 0;
}

/* Why an unfinished run ended, for the sentence after its coverage. */
static const char *why_incomplete(const struct verdict_facts *f)
{
    if (f->foreign_writes)
        return "another process changed a file of this run";
    if (f->io_errors)
        return "the run could not go on after an I/O error";
    if (f->interrupted)
        return "the run was interrupted before its final audit was complete";
    if (f->complete)
        return "the final audit did not reach every page";
    return "the run ended before its final audit was complete";
}

static void integrity_axis(const struct verdict_facts *f, struct axis *axis)
{
    struct count_text pages = count_text(f->pages_verified);
    struct count_text blocks = count_text(f->log_blocks_verified);
    if (f->integrity_findings) {
        axis_set(axis, GRADE_FAIL,
                 "%s finding%s: data that was acknowledged came back wrong or not at all",
                 count_text(f->integrity_findings).text, f->integrity_findings == 1 ? "" : "s");
    } else if (moved_nothing(f)) {
        axis_set(axis, GRADE_NOT_TESTED, "nothing was written or read");
    } else if (!f->complete || f->foreign_writes || !everything_seen(f)) {
        axis_set(axis, GRADE_INCOMPLETE, "no damage in the %u %% that was checked; %s",
                 percent_of(f->pages_seen, f->pages_written), why_incomplete(f));
    } else if (f->pages_indeterminate || f->pages_quarantined) {
        axis_set(axis, GRADE_WARN,
                 "%s pages are in doubt after write errors; every other page was read back",
                 count_text(f->pages_indeterminate + f->pages_quarantined).text);
    } else if (!f->loaded) {
        axis_set(axis, GRADE_WARN,
                 "no load was run: the configuration asks for no user that this version simulates; "
                 "only the initial write of %s pages was checked",
                 pages.text);
    } else if (!f->direct) {
        axis_set(axis, GRADE_WARN,
                 "%s pages and %s log blocks checked, every written page read back, but without "
                 "O_DIRECT: reads may have come from memory",
                 pages.text, blocks.text);
    } else {
        axis_set(axis, GRADE_PASS,
                 "%s pages and %s log blocks checked, every written page read back", pages.text,
                 blocks.text);
    }
}

/* How bad an axis is; PASS 0.  Not tested is not bad. */
static unsigned badness(enum grade grade)
{
    static const unsigned of[] = {[GRADE_PASS] = 0,
                                  [GRADE_NOT_TESTED] = 0,
                                  [GRADE_WARN] = 1,
                                  [GRADE_INCOMPLETE] = 2,
                                  [GRADE_FAIL] = 3};
    return of[grade];
}

static bool is_tested(const struct axis *axis)
{
    return axis->grade != GRADE_NOT_TESTED;
}

/* The axes in the order in which they lead: of two that are equally bad the first. */
struct named_axis {
    const char *name;
    const struct axis *axis;
};

#define AXES 3

static void axes_of(const struct verdict_grades *grades, struct named_axis out[AXES])
{
    out[0] = (struct named_axis){"integrity", &grades->integrity};
    out[1] = (struct named_axis){"durability", &grades->durability};
    out[2] = (struct named_axis){"speed", &grades->speed};
}

/* The worst axis that was tested; an unfinished run stays INCOMPLETE, and so does one that tested
 * nothing of its data. */
static const struct named_axis *worst_axis(const struct named_axis axes[AXES])
{
    const struct named_axis *worst = &axes[0];
    for (unsigned i = 1; i < AXES; i++)
        if (is_tested(axes[i].axis) && badness(axes[i].axis->grade) > badness(worst->axis->grade))
            worst = &axes[i];
    return worst;
}

static void overall_axis(const struct named_axis *worst, struct axis *axis)
{
    if (is_tested(worst->axis))
        axis_set(axis, worst->axis->grade, "%s: %.380s", worst->name, worst->axis->reason);
    else
        axis_set(axis, GRADE_INCOMPLETE, "%s", worst->axis->reason);
}

/* "integrity", "integrity, speed": tested or not, and with which grade (GRADE_COUNT: any). */
static unsigned list_axes(const struct named_axis axes[AXES], bool tested, const char *joint,
                          enum grade worse_than_pass, char *out, size_t out_size_bytes)
{
    unsigned count = 0;
    size_t used = 0;
    out[0] = '\0';
    for (unsigned i = 0; i < AXES; i++) {
        bool listed = is_tested(axes[i].axis) == tested &&
                      (worse_than_pass == GRADE_PASS || axes[i].axis->grade == worse_than_pass);
        if (!listed)
            continue;
        used += (size_t)snprintf(out + used, out_size_bytes - used, "%s%s", count ? joint : "",
                                 axes[i].name);
        count++;
    }
    return count;
}

/* "PASS (integrity, speed); durability not tested"; when something is wrong, only what is. */
static void result_line(const struct verdict_facts *f, const struct verdict_grades *grades,
                        const struct named_axis axes[AXES], char *out, size_t out_size_bytes)
{
    char in_question[64], untested[64], safe[160] = "";
    enum grade overall = grades->overall.grade;
    if (!is_tested(&grades->integrity) && overall == GRADE_INCOMPLETE) {
        snprintf(out, out_size_bytes, "%s: nothing was written or read", grade_name(overall));
        return;
    }
    list_axes(axes, true, ", ", overall, in_question, sizeof in_question);
    unsigned open = list_axes(axes, false, " and ", GRADE_PASS, untested, sizeof untested);
    bool speed_alone = overall == GRADE_FAIL && grades->speed.grade == GRADE_FAIL &&
                       grades->integrity.grade == GRADE_PASS;
    if (speed_alone && f->speed->held[0])
        snprintf(safe, sizeof safe, ": your data was safe here, but it carries %s", f->speed->held);
    else if (speed_alone)
        snprintf(safe, sizeof safe, ": your data was safe here, but it is too slow");
    snprintf(out, out_size_bytes, "%s (%s)%s%s%s%s%s", grade_name(overall), in_question, safe,
             open ? "; " : "", untested, open ? " not tested" : "",
             f->modelled ? "; a modelled device (engine mem), not this storage" : "");
}

/* 1 beats 3 beats 130 beats 4. */
static int exit_code_of(const struct verdict_facts *f, const struct verdict_grades *grades)
{
    bool stopped_by_error = f->foreign_writes || (f->io_errors && !f->complete);
    enum grade overall = grades->overall.grade;
    if (grades->integrity.grade == GRADE_FAIL || grades->durability.grade == GRADE_FAIL)
        return EXIT_CODE_FAIL;
    if (stopped_by_error)
        return EXIT_CODE_INCOMPLETE;
    if (f->interrupted)
        return EXIT_CODE_INTERRUPTED;
    if (grades->integrity.grade == GRADE_INCOMPLETE || overall == GRADE_INCOMPLETE)
        return EXIT_CODE_INCOMPLETE;
    bool missed = overall == GRADE_FAIL || (f->fail_on_warn && overall == GRADE_WARN);
    return missed ? EXIT_CODE_SPEED : EXIT_CODE_OK;
}

void verdict_grades_make(const struct verdict_facts *facts, struct verdict_grades *out)
{
    struct named_axis axes[AXES];
    integrity_axis(facts, &out->integrity);
    axis_set(&out->durability, GRADE_NOT_TESTED, "no power was cut");
    if (facts->speed)
        out->speed = facts->speed->axis;
    else
        axis_set(&out->speed, GRADE_NOT_TESTED, "no rated phase");
    axes_of(out, axes);
    overall_axis(worst_axis(axes), &out->overall);
    result_line(facts, out, axes, out->result, sizeof out->result);
    out->exit_code = exit_code_of(facts, out);
}
