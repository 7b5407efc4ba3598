/*
 * verdict_rules.c - the rules of the verdict, one function an axis.
 *
 * Invariants: one finding of severity integrity makes integrity FAIL, whatever else happened; PASS
 * needs a complete run, every page seen, nothing indeterminate and O_DIRECT.
 * It does not look at the run: what it needs to know stands in struct verdict_facts.
 */
#include "sim/verdict_rules.h"

#include <assert.h>
#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>

static const char *const grade_names[] = {
    [GRADE_PASS] = "PASS",
    [GRADE_WARN] = "WARN",
    [GRADE_FAIL] = "FAIL",
    [GRADE_NOT_TESTED] = "NOT TESTED",
    [GRADE_INCOMPLETE] = "INCOMPLETE",
};

const char *grade_name(enum grade grade)
{
    assert(grade <= GRADE_INCOMPLETE);
    return grade_names[grade];
}

struct count_text count_text(uint64_t value)
{
    char digits[24];
    int length = snprintf(digits, sizeof digits, "%" PRIu64, value);
    struct count_text out;
    char *to = out.text;
    for (int i = 0; i < length; i++) {
        if (i > 0 && (length - i) % 3 == 0)
            *to++ = ',';
        *to++ = digits[i];
    }
    *to = '\0';
    return out;
}

unsigned percent_of(uint64_t part, uint64_t whole)
{
    if (whole == 0 || part >= whole)
        return 100;
    return (unsigned)((unsigned __int128)part * 100 / whole);
}

__attribute__((format(printf, 3, 4))) static void axis_set(struct axis *axis, enum grade grade,
                                                           const char *format, ...)
{
    va_list arguments;
    axis->grade = grade;
    va_start(arguments, format);
    vsnprintf(axis->reason, sizeof axis->reason, format, arguments);
    va_end(arguments);
}

static bool moved_nothing(const struct verdict_facts *f)
{
    return f->pages_written == 0 && f->pages_verified == 0 && f->log_blocks_verified == 0;
}

static bool everything_seen(const struct verdict_facts *f)
{
    return f->pages_seen + f->pages_indeterminate + f->pages_quarantined >= f->pages_written;
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

/* The worst axis that was tested; an unfinished run stays INCOMPLETE. */
static void overall_axis(const struct axis *integrity, struct axis *axis)
{
    bool tested = integrity->grade != GRADE_NOT_TESTED;
    axis_set(axis, tested ? integrity->grade : GRADE_INCOMPLETE, "%s%s",
             tested ? "integrity: " : "", integrity->reason);
}

static void result_line(const struct verdict_grades *grades, char *out, size_t out_size_bytes)
{
    bool tested = grades->integrity.grade != GRADE_NOT_TESTED;
    snprintf(out, out_size_bytes, "%s%s", grade_name(grades->overall.grade),
             tested ? " (integrity); durability and speed not tested"
                    : ": nothing was written or read");
}

/* 1 beats 3 beats 130 beats 4. */
static int exit_code_of(const struct verdict_facts *f, enum grade overall)
{
    bool stopped_by_error = f->foreign_writes || (f->io_errors && !f->complete);
    if (overall == GRADE_FAIL)
        return EXIT_CODE_FAIL;
    if (stopped_by_error)
        return EXIT_CODE_INCOMPLETE;
    if (f->interrupted)
        return EXIT_CODE_INTERRUPTED;
    return overall == GRADE_INCOMPLETE ? EXIT_CODE_INCOMPLETE : EXIT_CODE_OK;
}

void verdict_grades_make(const struct verdict_facts *facts, struct verdict_grades *out)
{
    integrity_axis(facts, &out->integrity);
    axis_set(&out->durability, GRADE_NOT_TESTED, "no power was cut");
    axis_set(&out->speed, GRADE_NOT_TESTED, "no rated phase");
    overall_axis(&out->integrity, &out->overall);
    result_line(out, out->result, sizeof out->result);
    out->exit_code = exit_code_of(facts, out->overall.grade);
}
