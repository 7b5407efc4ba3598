/*
 * report_text.c - what stands on the terminal at the end of a run: streams per phase, findings, and
 * the last lines with the three axes.
 *
 * The last lines are always the same in number and order; 80 columns where paths allow.
 */
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "config/units.h"
#include "sim/evidence.h"
#include "sim/final_summary.h"
#include "sim/report_backups.h"
#include "sim/report_slots.h"
#include "sim/report_system.h"
#include "sim/report_speed.h"
#include "verify/verdict.h"

#define FINDINGS_SHOWN  20 /* the others are in the result file */
#define SUMMARIES_SHOWN 16 /* files; a run of more is one of many small ones */
#define NUMBER_MAX      32

/* A latency in six columns: "0.4ms", "12.0s". */
static const char *short_time(double ns, char out[NUMBER_MAX])
{
    if (ns < 1e6)
        snprintf(out, NUMBER_MAX, "%.0fus", ns / 1e3);
    else if (ns < 1e8)
        snprintf(out, NUMBER_MAX, "%.1fms", ns / 1e6);
    else
        snprintf(out, NUMBER_MAX, "%.2fs", ns / 1e9);
    return out;
}

static void write_stream(const struct report_stream *stream, FILE *out)
{
    char mean[NUMBER_MAX], p99[NUMBER_MAX], max[NUMBER_MAX];
    const struct hist *latency = &stream->stats.latency;
    fprintf(out, "  %-16s %11s %9.1f %8.1f %8s %8s %8s %6.1f\n", stream_name(stream->stream),
            count_text(stream->stats.ops).text, stream->iops, stream->mb_per_s,
            short_time(hist_mean_ns(latency), mean),
            short_time((double)hist_quantile_ns(latency, 0.99), p99),
            short_time((double)latency->max_ns, max), stream->in_flight);
}

/* True when the phase had any I/O. */
static bool write_phase(const struct report *report, enum phase phase, struct report_stream *stream,
                        FILE *out)
{
    bool headed = false;
    for (unsigned s = 0; s < STREAM_COUNT; s++) {
        if (!report_stream(report, phase, (enum stream)s, stream))
            continue;
        if (!headed)
            fprintf(out, "\n%s, %.1f s\n  %-16s %11s %9s %8s %8s %8s %8s %6s\n", phase_text(phase),
                    report->phase_seconds[phase], "", "ops", "IOPS", "MB/s", "mean", "p99", "max",
                    "in fl.");
        headed = true;
        write_stream(stream, out);
    }
    return headed;
}

static int write_phases(const struct report *report, FILE *out)
{
    struct report_stream *stream = malloc(sizeof *stream);
    bool any = false;
    if (!stream)
        return -ENOMEM;
    for (unsigned p = 0; p < PHASE_COUNT; p++)
        any = write_phase(report, (enum phase)p, stream, out) || any;
    free(stream);
    if (any)
        fprintf(out,
                "\n%s ask for as much as the storage gives: latency there is the number of\n"
                "requests in flight divided by the rate. It is shown, and not judged.\n",
                report->speed_facts.rated ? "All phases but the rated one" : "These phases");
    return 0;
}

static void write_row(void *context, const char *row)
{
    fprintf(context, "%s\n", row);
}

/* SQLIOSim's; each file stands in the XML log. */
static void write_summary(const struct report *report, FILE *out)
{
    for (unsigned i = 0; i < report->file_count && i < SUMMARIES_SHOWN; i++) {
        fputc('\n', out);
        final_summary_of(&report->files[i], write_row, out);
    }
    if (report->file_count > SUMMARIES_SHOWN)
        fprintf(out, "and the summaries of %u more files: see the XML log\n",
                report->file_count - SUMMARIES_SHOWN);
}

/* VerifyWithin: kept, or by how much not. */
static void write_bound(const struct coverage_sums *coverage, uint64_t bound_ns, FILE *out)
{
    double bound_s = (double)bound_ns / NS_PER_S;
    if (bound_ns && coverage->late_checks)
        fprintf(out,
                "  VerifyWithin %g s was missed: %s of %s first checks came later, up to %.1f s; "
                "more audit users ([AuditUser] UserCount) read more at a time\n",
                bound_s, count_text(coverage->late_checks).text,
                count_text(coverage->first_checks).text,
                coverage_longest_ms(coverage) / 1000.0 - bound_s);
    else if (bound_ns)
        fprintf(out, "  VerifyWithin %g s was kept\n", bound_s);
}

/* How much of what was written was looked at, and how soon. */
static void write_coverage(const struct report *report, FILE *out)
{
    const struct counters *counters = &report->stats->counters;
    const struct coverage_sums *coverage = &report->coverage;
    if (!report->pages_written)
        return;
    fprintf(out,
            "\ncoverage: %s pages written, %.1f %% of them read back after their last write; %s "
            "generations overwritten unread\n",
            count_text(report->pages_written).text,
            (double)report->pages_seen * 100.0 / (double)report->pages_written,
            count_text(coverage->overwritten_unread).text);
    fprintf(out, "  first check of a page %.3f s after its write on average, %.3f s at most\n",
            coverage_mean_ms(coverage) / 1000.0, coverage_longest_ms(coverage) / 1000.0);
    write_bound(coverage, report->run->config.plan->verify_within_ns, out);
    fprintf(out, "  log: %s blocks written, %s verified, %s overwritten unread\n",
            count_text(counters->log_blocks_written).text,
            count_text(counters->log_blocks_verified).text,
            count_text(counters->log_blocks_overwritten_unread).text);
}

static void write_findings(const struct report *report, FILE *out)
{
    const struct findings *findings = &report->run->findings;
    char line[FINDING_FILE_MAX + FINDING_DETAIL_MAX];
    unsigned shown = 0, kept = 0;
    for (unsigned i = 0; i < findings->count; i++) {
        const struct finding *finding = &findings->list[i];
        if (finding->amended)
            continue;
        kept++;
        if (shown == FINDINGS_SHOWN)
            continue;
        finding_line(finding, line, sizeof line);
        fprintf(out, "%s%s\n    %s\n", shown == 0 ? "\n" : "", line,
                verdict_info(finding->verdict)->sentence);
        shown++;
    }
    if (kept > shown)
        fprintf(out, "and %u more findings: see the report\n", kept - shown);
}

/* The first evidence file, and how many more there are. */
static void write_evidence(const struct report *report, FILE *out)
{
    const struct findings *findings = &report->run->findings;
    const struct finding *first = NULL;
    unsigned more = 0;
    for (unsigned i = 0; i < findings->count; i++) {
        const struct finding *finding = &findings->list[i];
        if (finding->amended || !finding->evidence[0])
            continue;
        if (first)
            more++;
        else
            first = finding;
    }
    if (!first || !report->out_dir)
        return;
    fprintf(out, "\nevidence: %s/" EVIDENCE_FOLDER "/%s\n", report->out_dir, first->evidence);
    if (more)
        fprintf(out, "  and of %u more finding%s in %s/" EVIDENCE_FOLDER "\n", more,
                more == 1 ? "" : "s", report->out_dir);
}

static void write_advice(const struct report *report, FILE *out)
{
    const struct run *run = report->run;
    if (report->integrity.grade != GRADE_FAIL)
        return;
    write_evidence(report, out);
    fputs("\nwhat to do next:\n", out);
    if (run->findings.stop_on_error &&
        atomic_load(&((struct run *)(uintptr_t)run)->stop) == RUN_STOP_ERROR)
        fputs("  the run stopped at the first fault (StopOnError): --stop-on-error=no looks for "
              "more\n",
              out);
    if (report->out_dir && !run->settings->delete_files_at_shutdown)
        fprintf(out, "  pagestorm verify %s checks every page\n", report->out_dir);
    fputs("  do not put databases here; give the evidence (.txt) to the storage vendor\n", out);
}

static void write_axis(const char *name, const struct axis *axis, FILE *out)
{
    fprintf(out, "%-11s %-11s %s\n", name, grade_name(axis->grade), axis->reason);
}

static void write_files(const struct report *report, FILE *out)
{
    for (unsigned i = 0; i < report->file_count; i++) {
        char size[UNITS_TEXT_MAX];
        units_human_size((int64_t)report->files[i].size_bytes, size, sizeof size);
        fprintf(out, "%s%s %s", i == 0 ? "files   " : ", ", report->files[i].path, size);
    }
    if (report->file_count == 0)
        fputs("files   none", out);
    else if (report->run->settings->delete_files_at_shutdown)
        fputs("   removed at the end (DeleteFilesAtShutdown)", out);
    else if (report->out_dir)
        fprintf(out, "   remove: pagestorm clean %s", report->out_dir);
    fputc('\n', out);
}

static bool is_whole(const struct report *report, const char *name)
{
    for (unsigned i = 0; i < report->problem_count; i++)
        if (strcmp(report->problems[i].name, name) == 0)
            return false;
    return true;
}

/* The reports that are there, then what is not, or not whole. */
static void write_reports(const struct report *report, FILE *out)
{
    for (size_t i = 0; i < report_writers_count; i++) {
        const char *name = report_writers[i]->file_name;
        if (name && is_whole(report, name))
            fprintf(out, "report  %s/%s\n", report->out_dir, name);
    }
    for (unsigned i = 0; i < report->problem_count; i++) {
        const struct report_problem *problem = &report->problems[i];
        bool elsewhere = strchr(problem->name, '/') != NULL;
        fprintf(out, "report  INCOMPLETE: %s%s%s %s\n", elsewhere ? "" : report->out_dir,
                elsewhere ? "" : "/", problem->name, problem->text);
    }
}

int report_text_verdict(const struct report *report, FILE *out)
{
    if (report->run->message[0])
        fprintf(out, "%s\n", report->run->message);
    write_axis("INTEGRITY", &report->integrity, out);
    write_axis("DURABILITY", &report->durability, out);
    write_axis("SPEED", &report->speed, out);
    fprintf(out, "%-11s %s\n", "RESULT", report->result);
    if (report->out_dir)
        write_reports(report, out);
    write_files(report, out);
    return ferror(out) ? -EIO : 0;
}

static int write_text(const struct report *report, FILE *out)
{
    int error = write_phases(report, out);
    report_speed_text(report, out);
    report_slots_text(report, out);
    report_backups_text(report, out);
    report_system_text(report, out);
    write_summary(report, out);
    write_coverage(report, out);
    write_findings(report, out);
    write_advice(report, out);
    fputc('\n', out);
    int verdict = report_text_verdict(report, out);
    return error ? error : verdict;
}

const struct report_writer report_writer_text = {
    .name = "text",
    .file_name = NULL,
    .write = write_text,
};
