/* page_fault.c - see page_fault.h. */
#include "sim/page_fault.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "sim/neighbour.h"
#include "sim/os_errors.h"
#include "verify/check.h"

/* The file ends before what was acknowledged? */
static bool file_is_short(const struct data_file *file, uint64_t *now_bytes)
{
    int error = file_check_identity(&file->file, now_bytes);
    return error == -ENODATA;
}

bool page_fault_is_final(const struct page_reader *reader)
{
    uint64_t now_bytes;
    return reader->first_error == -ENODATA && file_is_short(reader->file, &now_bytes);
}

static enum verdict error_verdict(const struct page_reader *reader, bool healed)
{
    if (healed)
        return VERDICT_read_retry;
    return os_error_is_device_gone(reader->first_error) ? VERDICT_device_gone : VERDICT_unreadable;
}

/* One event for a file that was cut, however many pages are missing. True if that is the cause. */
static bool truncation(struct page_reader *reader, struct finding *finding)
{
    uint64_t now_bytes = 0;
    if (reader->first_error != -ENODATA || !file_is_short(reader->file, &now_bytes))
        return false;
    finding->verdict = VERDICT_truncated_file;
    finding->has_page = false;
    finding->offset = now_bytes;
    finding->size_bytes = reader->file->file.target.size_bytes - now_bytes;
    snprintf(finding->detail, sizeof finding->detail,
             "the file has %" PRIu64 " bytes, %" PRIu64 " were acknowledged", now_bytes,
             (uint64_t)reader->file->file.target.size_bytes);
    return true;
}

static void describe(const struct page_reader *reader, struct finding *finding)
{
    char bad[64];
    page_sectors_text(&reader->sectors, bad, sizeof bad);
    if (reader->first_error) {
        const char *system = strerror(-reader->first_error);
        finding->error = -reader->first_error;
        if (bad[0])
            snprintf(finding->detail, sizeof finding->detail,
                     "sectors %s of 512 bytes cannot be read; the system said: %s", bad, system);
        else if (reader->sectors.unit_bytes)
            snprintf(finding->detail, sizeof finding->detail,
                     "the page cannot be read, each of its sectors can; the system said: %s",
                     system);
        else
            snprintf(finding->detail, sizeof finding->detail, "the system said: %s", system);
    } else if (reader->first_why.verdict == VERDICT_NONE) {
        snprintf(finding->detail, sizeof finding->detail,
                 "the same bytes were judged wrong and, looked at again, right: the memory or a "
                 "CPU of this machine erred, not the storage. Test the memory of this machine");
    } else {
        snprintf(finding->detail, sizeof finding->detail,
                 "generation %" PRIu64 " was found, %" PRIu64 " was acknowledged",
                 reader->first_why.generation_found, reader->first_why.generation_expected);
    }
}

/* What was owed: the held image of a system page, else the page regenerated (not sealed). */
static void expected_image(struct page_reader *reader)
{
    struct data_file *file = reader->file;
    if (syspage_kind(reader->page_no, file->primary) != SYSPAGE_NONE) {
        memcpy(reader->expected, reader->system_acked, PAGE_BYTES);
        return;
    }
    const struct file_mark *mark = data_file_identity(file);
    struct page_identity identity = {
        .file_uid = mark->file_uid,
        .incarnation = mark->incarnation,
        .file_id = mark->file_id,
        .page_no = reader->page_no,
        .generation = reader->first_before.acked,
    };
    page_fill(reader->expected, &reader->run->identity, &identity, reader->first_before.actor);
}

/* Each place of a snapshot was a hole and is written once: zeros there are what it was before, and
 * not what something did to it. */
static enum verdict verdict_of(const struct page_reader *reader, bool healed)
{
    const struct explanation *why = &reader->first_why;
    if (why->verdict == VERDICT_NONE) /* explain() finds nothing wrong in the very same bytes */
        return VERDICT_memory_changed;
    enum verdict verdict = explain_after_rereads(why, healed);
    if (!CHECKED(snapshot_hole) || !reader->file->snapshot_of || verdict != VERDICT_zeroed)
        return verdict;
    if (page_is_zero(reader->first_image, PAGE_BYTES))
        return VERDICT_lost_write;
    return strspn(why->sectors, "nz") == PAGE_SECTORS ? VERDICT_torn_page : verdict;
}

/* It was right when it was last read, nobody wrote it since, and somebody wrote beside it. */
static void blame_neighbour(struct page_reader *reader, struct finding *finding)
{
    uint32_t size_pages = reader->file->file.size_pages, neighbour;
    if (finding->healed || finding->error ||
        !neighbour_written(reader->run->ledger, finding->file_uid, finding->page_no, size_pages,
                           finding->verdict, &neighbour))
        return;
    snprintf(finding->detail, sizeof finding->detail,
             "the page was right when it was last read and was not written since (what stands "
             "there: %s); page %" PRIu32 " in the same %u KiB was",
             verdict_info(finding->verdict)->name, neighbour, NEIGHBOUR_BLOCK_BYTES / 1024);
    finding->verdict = VERDICT_neighbour_damage;
}

/* Of a page that cannot be read as a whole: which sectors, and what stands in the others. */
static void sectors_explain(struct page_reader *reader, struct explanation *why)
{
    struct explanation map;
    struct expectation expect =
        page_expectation(reader, reader->file, reader->page_no, reader->first_before);
    if (!reader->sectors.unit_bytes)
        return;
    explain(reader->sectors.image, reader->sectors.serial, &expect, &map);
    memcpy(why->sectors, map.sectors, sizeof why->sectors);
    page_sectors_mark(&reader->sectors, why->sectors);
    why->generation_expected = map.generation_expected;
    why->generation_found = map.generation_found;
}

static struct finding_images images_of(const struct page_reader *reader, bool healed)
{
    bool known = !reader->first_error; /* else there is no first image */
    return (struct finding_images){
        .read_image = known ? reader->first_image : NULL,
        .last_image = known ? page_read_last_bad(reader) : NULL,
        .good_image = healed ? reader->target : NULL,
        .expected_image = reader->expected,
        .size_bytes = PAGE_BYTES,
    };
}

static struct finding finding_of(const struct page_reader *reader, bool healed)
{
    const struct data_file *file = reader->file;
    struct finding finding = {
        .file_uid = file->file.mark.file_uid,
        .has_page = true,
        .page_no = reader->page_no,
        .offset = (uint64_t)reader->page_no * PAGE_BYTES,
        .size_bytes = PAGE_BYTES,
        .why = reader->first_why,
        .retries = reader->attempt,
        .agreed = reader->agreed,
        .healed = healed,
        .heal_ns = healed ? clock_now_ns(reader->run->clock) - reader->first_ns : 0,
        .writer = reader->first_before.actor,
        .written_s = reader->first_before.time_s,
    };
    snprintf(finding.file, sizeof finding.file, "%s", file->file.path);
    snprintf(finding.actor, sizeof finding.actor, "%s", reader->actor);
    describe(reader, &finding);
    return finding;
}

unsigned page_fault_sighted(struct page_reader *reader)
{
    struct findings *findings = &reader->run->findings;
    if (!findings->hook || reader->first_before.state == LEDGER_QUARANTINED)
        return 0;
    struct finding finding = finding_of(reader, false);
    finding.verdict =
        reader->first_error ? error_verdict(reader, false) : verdict_of(reader, false);
    return finding_sight(findings, &finding);
}

void page_fault_report(struct page_reader *reader, bool healed)
{
    struct data_file *file = reader->file;
    struct finding finding = finding_of(reader, healed);
    if (truncation(reader, &finding)) {
        ledger_quarantine(reader->run->ledger, finding.file_uid, reader->page_no);
        if (atomic_exchange(&file->truncated, true))
            return;
    } else {
        finding.verdict =
            reader->first_error ? error_verdict(reader, healed) : verdict_of(reader, healed);
        blame_neighbour(reader, &finding);
    }
    sectors_explain(reader, &finding.why);
    expected_image(reader);
    struct finding_images images = images_of(reader, healed);
    finding_report(&reader->run->findings, &finding, &images);
    if (finding.verdict == VERDICT_device_gone)
        run_stop(reader->run, RUN_STOP_ERROR);
}

void page_fault_report_retry(struct page_reader *reader, struct data_file *file,
                             uint32_t first_page, unsigned count, int error)
{
    struct finding finding = {
        .verdict = VERDICT_read_retry,
        .file_uid = file->file.mark.file_uid,
        .has_page = count == 1,
        .page_no = first_page,
        .offset = (uint64_t)first_page * PAGE_BYTES,
        .size_bytes = (uint64_t)count * PAGE_BYTES,
        .retries = 1,
        .healed = true,
        .error = -error,
    };
    snprintf(finding.file, sizeof finding.file, "%s", file->file.path);
    snprintf(finding.actor, sizeof finding.actor, "%s", reader->actor);
    if (count > 1)
        snprintf(finding.detail, sizeof finding.detail,
                 "a read of %u pages failed, each page alone could be read; the system said: %s",
                 count, strerror(finding.error));
    else
        snprintf(finding.detail, sizeof finding.detail,
                 "a read failed and the next one did not; the system said: %s",
                 strerror(finding.error));
    relaxed_add(&reader->task->worker->stats.counters.read_retries, 1);
    finding_report(&reader->run->findings, &finding, NULL);
}
