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

/* Space that the file has since its creation cannot run out on storage that reserved it. */
static const char *space_text(int error, bool reserved)
{
    if (!os_error_is_no_space(error) || !reserved)
        return "";
    return "; this space was reserved when the file was made: the storage below is thin or "
           "copies on write (a sparse image, a thin volume, btrfs, a snapshot, a quota), and SQL "
           "Server would fail here, too. Give it real space";
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
    char what[FINDING_DETAIL_MAX];
    snprintf(what, sizeof what, "%s%s",
             final ? "a write failed twice; its pages stay dirty"
                   : "a write failed and is repeated",
             space_text(gather->result, !gather->file->sparse));
    snprintf(finding.actor, sizeof finding.actor, "%s", gather->actor);
    report(gather->run, &gather->file->file, &finding, gather->result, what);
}

void run_flush_error(struct run *run, struct file *file, int error)
{
    struct finding finding = {.verdict = class_of(error, VERDICT_flush_error)};
    report(run, file, &finding, error,
           run->settings->stop_on_error
               ? "a flush failed: what was acknowledged since the last good one is uncertain"
               : "a flush failed: what was acknowledged since the last good one is uncertain and "
                 "is written again; the run goes on as degraded");
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
    char what[FINDING_DETAIL_MAX];
    snprintf(what, sizeof what,
             "the log cannot be written: the database stops (SQL Server: 9001)%s",
             space_text(wal->error, true));
    report(run, wal->error_file, &finding, wal->error, what);
    run_stop(run, RUN_STOP_ERROR);
}

/* ---- memory ---- */

void run_memory_changed(struct gather *gather, unsigned index, const uint8_t *right, bool written)
{
    const struct page_image *image = &gather->images[index];
    const struct file *file = &gather->file->file;
    uint32_t page_no = gather->first_page + index;
    struct finding finding = {
        .verdict = VERDICT_memory_changed,
        .file_uid = file->mark.file_uid,
        .has_page = true,
        .page_no = page_no,
        .offset = (uint64_t)page_no * PAGE_BYTES,
        .size_bytes = PAGE_BYTES,
        .healed = !written,
        .writer = image->actor,
        .why = {.verdict = VERDICT_memory_changed, .generation_expected = image->generation},
    };
    const struct finding_images images = {
        .read_image = image->bytes, .expected_image = right, .size_bytes = PAGE_BYTES};
    snprintf(finding.file, sizeof finding.file, "%s", file->path);
    snprintf(finding.actor, sizeof finding.actor, "%s", gather->actor ? gather->actor : "");
    snprintf(finding.detail, sizeof finding.detail,
             written ? "the page changed in memory while it was written: what the storage got is "
                       "uncertain, and not its fault. Test the memory of this machine"
                     : "the page changed in memory between its change and its write; it was built "
                       "anew and written as it should be. Test the memory of this machine");
    finding_report(&gather->run->findings, &finding, &images);
}

void run_log_memory_changed(struct wal *wal, const struct log_buffer *buffer)
{
    struct run *run = wal->context;
    struct finding finding = {.verdict = VERDICT_memory_changed,
                              .file_uid = buffer->file->mark.file_uid,
                              .offset = buffer->file_offset,
                              .size_bytes = buffer->size_bytes};
    snprintf(finding.file, sizeof finding.file, "%s", buffer->file->path);
    snprintf(finding.detail, sizeof finding.detail,
             "a log block changed in memory between its sealing and the end of its write: what the "
             "storage got is uncertain, and not its fault. Test the memory of this machine");
    finding_report(&run->findings, &finding, NULL);
}
