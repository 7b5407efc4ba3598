/*
 * report.c - freeze a run: sums, files, coverage, grades.
 *
 * Invariants: after report_freeze() no number of the report changes; every writer sees the same.
 * It prints nothing and judges nothing itself (verdict_rules.c does).
 */
#include "sim/report.h"

#include <assert.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>

#include "sim/report_file.h"
#include "sim/report_speed.h"
#include "verify/verdict.h"

#define US_PER_S 1e6
#define BYTES_MB 1048576.0 /* as SQL Server counts */

const char *report_phase_name(unsigned phase)
{
    return phase < PHASE_COUNT ? phase_name((enum phase)phase) : "total";
}

static void stream_figures(struct report_stream *out)
{
    if (out->seconds > 0) {
        out->iops = (double)out->stats.ops / out->seconds;
        out->mb_per_s = (double)out->stats.bytes / out->seconds / BYTES_MB;
    }
    out->in_flight = out->iops * hist_mean_ns(&out->stats.latency) / (double)NS_PER_S;
}

void report_stream_of(const struct stream_stats *stats, enum stream stream, double seconds,
                      struct report_stream *out)
{
    memset(out, 0, sizeof *out); /* tens of KiB: not by a compound literal on the stack */
    out->stream = stream;
    out->seconds = seconds;
    out->stats = *stats;
    stream_figures(out);
}

bool report_stream(const struct report *report, unsigned phase, enum stream stream,
                   struct report_stream *out)
{
    memset(out, 0, sizeof *out);
    out->stream = stream;
    for (unsigned p = 0; p < PHASE_COUNT; p++) {
        if (phase != PHASE_COUNT && p != phase)
            continue;
        const struct stream_stats *part = &report->stats->streams[p][stream];
        out->stats.ops += part->ops;
        out->stats.bytes += part->bytes;
        hist_merge(&out->stats.latency, &part->latency);
        hist_merge(&out->stats.response, &part->response);
    }
    out->seconds = phase < PHASE_COUNT ? report->phase_seconds[phase] : report->total_seconds;
    stream_figures(out);
    return out->stats.ops > 0;
}

/* ---- files ---- */

#define PFS_BIT_ALLOCATED 0x40

/* Pages that the acknowledged PFS page says are allocated, and that were written. */
static uint64_t allocated_under(const struct run *run, const struct data_file *file,
                                const struct syspage *pfs)
{
    uint64_t pages = 0;
    uint32_t first = pfs->page_no / PFS_INTERVAL_PAGES * PFS_INTERVAL_PAGES;
    uint32_t end = first + PFS_INTERVAL_PAGES;
    if (end > file->file.size_pages)
        end = file->file.size_pages;
    for (uint32_t page_no = first; page_no < end; page_no++)
        pages += (pfs_get(pfs->acked, page_no) & PFS_BIT_ALLOCATED) &&
                 ledger_view(run->ledger, file->file.mark.file_uid, page_no).acked > 0;
    return pages;
}

static uint64_t allocated_pages(const struct run *run, const struct data_file *file)
{
    uint64_t pages = 0;
    for (size_t i = 0; i < file->syspage_count; i++)
        if (file->syspages[i].kind == SYSPAGE_PFS && file->syspages[i].has_acked)
            pages += allocated_under(run, file, &file->syspages[i]);
    return pages;
}

static void add_data_file(struct report *report, const struct data_file *file)
{
    struct report_file *out = &report->files[report->file_count++];
    const struct run *run = report->run;
    *out = (struct report_file){
        .path = file->file.path,
        .uid = file->file.mark.file_uid,
        .database = file->database->index,
        .size_bytes = atomic_load(&file->file.target.size_bytes),
        .direct = file->file.direct,
        .dsync = file->file.target.dsync,
    };
    if (run->ledger && out->uid) {
        out->count = ledger_count(run->ledger, out->uid);
        out->allocated_pages = allocated_pages(run, file);
    }
    report_file_freeze(report, out, &file->file);
    coverage_add(&file->coverage, &out->coverage);
    coverage_add(&file->coverage, &report->coverage);
    report->pages_written += out->count.written;
    report->pages_seen += out->count.seen;
    report->pages_unseen += out->count.unseen;
    report->pages_indeterminate += out->count.indeterminate;
    report->pages_quarantined += out->count.quarantined;
}

static void add_log_file(struct report *report, const struct database *database, unsigned index)
{
    const struct file *file = &database->logs[index];
    struct report_file *out = &report->files[report->file_count++];
    *out = (struct report_file){
        .path = file->path,
        .uid = file->mark.file_uid,
        .database = database->index,
        .is_log = true,
        .size_bytes = atomic_load(&database->logs[index].target.size_bytes),
        .live_log_blocks = wal_file_live_blocks(&database->wal, index),
        .direct = file->direct,
        .dsync = file->target.dsync,
    };
    report_file_freeze(report, out, file);
}

static int freeze_files(struct report *report)
{
    const struct run *run = report->run;
    unsigned count = run->file_count;
    for (unsigned d = 0; d < run->database_count; d++)
        count += run->databases[d].log_count;
    report->files = calloc(count ? count : 1, sizeof *report->files);
    if (!report->files)
        return -ENOMEM;
    for (unsigned d = 0; d < run->database_count; d++) {
        const struct database *database = &run->databases[d];
        for (unsigned i = 0; i < database->file_count; i++)
            if (database->files[i].file.path)
                add_data_file(report, &database->files[i]);
        for (unsigned i = 0; i < database->log_count; i++)
            if (database->logs[i].path)
                add_log_file(report, database, i);
    }
    return 0;
}

static int freeze_environment(struct report *report)
{
    unsigned count = report->file_count;
    const char **paths = calloc(count + 1, sizeof *paths);
    if (!paths)
        return -ENOMEM;
    for (unsigned i = 0; i < count; i++)
        paths[i] = report->files[i].path;
    int error = environment_look(&report->environment, paths, count);
    free(paths);
    return error;
}

/* ---- times ---- */

static void freeze_times(struct report *report)
{
    const struct run *run = report->run;
    uint64_t now = clock_now_ns(run->clock);
    for (unsigned p = 0; p < PHASE_COUNT; p++) {
        const struct run_phase_time *time = &run->phases[p];
        bool begun = time->start_ns || time->end_ns || time->complete;
        uint64_t end = time->end_ns ? time->end_ns : begun ? now : time->start_ns;
        report->phase_seconds[p] =
            (double)(time->earlier_ns + end - time->start_ns) / (double)NS_PER_S;
        report->total_seconds += report->phase_seconds[p];
    }
    struct rusage usage;
    if (getrusage(RUSAGE_SELF, &usage) == 0) {
        report->cpu_user_seconds =
            (double)usage.ru_utime.tv_sec + (double)usage.ru_utime.tv_usec / US_PER_S;
        report->cpu_system_seconds =
            (double)usage.ru_stime.tv_sec + (double)usage.ru_stime.tv_usec / US_PER_S;
    }
}

/* ---- verdict ---- */

static void count_findings(const struct run *run, struct verdict_facts *facts)
{
    for (int i = VERDICT_NONE + 1; i < VERDICT_COUNT; i++) {
        const struct verdict_info *info = verdict_info((enum verdict)i);
        uint64_t count = run->findings.by_verdict[i];
        if (info->severity == SEVERITY_INTEGRITY)
            facts->integrity_findings += count;
        else if (info->severity == SEVERITY_IO_ERROR && info->blame == BLAME_OTHER_PROCESS)
            facts->foreign_writes += count;
        else if (info->severity == SEVERITY_IO_ERROR)
            facts->io_errors += count;
    }
}

static bool all_direct(const struct report *report)
{
    for (unsigned i = 0; i < report->file_count; i++)
        if (!report->files[i].direct)
            return false;
    return true;
}

static bool was_loaded(const struct report *report)
{
    static const enum phase loads[] = {PHASE_rated_warm_up, PHASE_rated, PHASE_stress};
    uint64_t reads = report->stats->counters.page_hits;
    for (size_t i = 0; i < sizeof loads / sizeof loads[0]; i++)
        reads += report->stats->streams[loads[i]][STREAM_page_read].ops +
                 report->stats->streams[loads[i]][STREAM_audit_read].ops +
                 report->stats->streams[loads[i]][STREAM_read_ahead].ops +
                 report->stats->streams[loads[i]][STREAM_dbcc_read].ops +
                 report->stats->streams[loads[i]][STREAM_backup_read].ops +
                 report->stats->streams[loads[i]][STREAM_tempdb_read].ops +
                 report->stats->streams[loads[i]][STREAM_sort_read].ops +
                 report->stats->streams[loads[i]][STREAM_eager_write].ops;
    return reads > 0;
}

static void freeze_verdict(struct report *report)
{
    const struct counters *counters = &report->stats->counters;
    struct verdict_facts facts = {
        .pages_written = report->pages_written,
        .pages_seen = report->pages_seen,
        .pages_unseen = report->pages_unseen,
        .pages_indeterminate = report->pages_indeterminate,
        .pages_quarantined = report->pages_quarantined,
        .pages_verified = counters->pages_verified,
        .log_blocks_verified = counters->log_blocks_verified,
        .loaded = was_loaded(report),
        .complete = report->complete,
        .direct = all_direct(report),
        .interrupted = report->interrupted != 0,
        .fail_on_warn = report->run->settings->fail_on == CONFIG_FAIL_ON_WARN,
        .modelled = report->run->config.virtual_clock,
        .speed = &report->speed_result,
    };
    struct verdict_grades grades;
    count_findings(report->run, &facts);
    verdict_grades_make(&facts, &grades);
    report->integrity = grades.integrity;
    report->durability = grades.durability;
    report->speed = grades.speed;
    report->overall = grades.overall;
    report->exit_code = grades.exit_code;
    memcpy(report->result, grades.result, sizeof report->result);
}

const char *report_version(void)
{
    return PAGESTORM_VERSION;
}

int report_freeze(struct report *report, const struct run *run, const char *command, int signal)
{
    memset(report, 0, sizeof *report);
    report->run = run;
    report->command = command;
    report->version = report_version();
    report->interrupted = signal;
    report->complete = run->audited && !run->stuck;
    report->stats = calloc(1, sizeof *report->stats);
    int error = report->stats ? freeze_files(report) : -ENOMEM;
    if (!error)
        error = freeze_environment(report);
    if (error) {
        report_free(report);
        return error;
    }
    run_stats(run, report->stats);
    freeze_times(report);
    error = report_speed_freeze(report);
    if (error) {
        report_free(report);
        return error;
    }
    freeze_verdict(report);
    return 0;
}

void report_problem_add(struct report *report, const char *name, const char *text)
{
    if (!text || report->problem_count == REPORT_PROBLEMS_MAX)
        return;
    struct report_problem *problem = &report->problems[report->problem_count++];
    problem->name = name;
    snprintf(problem->text, sizeof problem->text, "%s", text);
}

void report_free(struct report *report)
{
    free(report->stats);
    free(report->files);
    free(report->slots);
    environment_free(&report->environment);
    memset(report, 0, sizeof *report);
}
