/* run_errors.c - see run_errors.h. */
#include "sim/run_errors.h"

#include <stdio.h>
#include <string.h>

#include "sim/os_errors.h"
#include "sim/run.h"

static enum verdict class_of(int error, enum verdict otherwise)
{
    if (os_error_is_no_space(error))
        return VERDICT_no_space;
    return os_error_is_device_gone(error) ? VERDICT_device_gone : otherwise;
}

static void report(struct run *run, const struct file *file, struct finding *finding, int error,
                   const char *what)
{
    finding->file_uid = file->mark.file_uid;
    finding->error = -error;
    snprintf(finding->file, sizeof finding->file, "%s", file->path);
    snprintf(finding->detail, sizeof finding->detail, "%s: the system said: %s", what,
             strerror(-error));
    finding_report(&run->findings, finding, NULL);
    if (finding->verdict == VERDICT_device_gone)
        run_stop(run, RUN_STOP_ERROR);
}

void run_write_error(struct gather *gather, bool final)
{
    struct finding finding = {
        .verdict = class_of(gather->result,
                            gather->req.flush_failed ? VERDICT_flush_error : VERDICT_write_error),
        .has_page = true,
        .page_no = gather->first_page,
        .offset = (uint64_t)gather->first_page * PAGE_BYTES,
        .size_bytes = (uint64_t)gather->count * PAGE_BYTES,
        .retries = final ? 1 : 0,
    };
    snprintf(finding.actor, sizeof finding.actor, "%s", gather->actor);
    report(gather->run, &gather->file->file, &finding, gather->result,
           final ? "a write failed twice; its pages stay dirty" : "a write failed and is repeated");
}

void run_flush_error(struct run *run, struct file *file, int error)
{
    struct finding finding = {.verdict = class_of(error, VERDICT_flush_error)};
    report(run, file, &finding, error,
           "a flush failed: what was acknowledged since the last good one is uncertain");
}

void run_growth_error(struct run *run, struct file *file, uint64_t offset, int error)
{
    struct finding finding = {.verdict = class_of(error, VERDICT_write_error), .offset = offset};
    report(run, file, &finding, error, "the file cannot grow (SQL Server: 5149)");
}

void run_log_error(struct wal *wal)
{
    struct run *run = wal->context;
    enum verdict otherwise = wal->error_was_flush ? VERDICT_flush_error : VERDICT_write_error;
    struct finding finding = {.verdict = class_of(wal->error, otherwise),
                              .offset = wal->error_offset};
    report(run, wal->error_file, &finding, wal->error,
           "the log cannot be written: the database stops (SQL Server: 9001)");
    run_stop(run, RUN_STOP_ERROR);
}
