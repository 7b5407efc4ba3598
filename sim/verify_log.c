/*
 * verify_log.c - see verify_log.h.
 *
 * Memory: 32 bytes a logged change of a system page, 8 bytes a page of the data files for the
 * newest logged generation (untouched parts cost nothing).
 */
#include "sim/verify_log.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "sim/exit_code.h"
#include "sim/log_spot.h"
#include "sim/wal.h"
#include "verify/logscan.h"

struct log_check;

/* A file of the log, as the scan reads it. */
struct checked_file {
    struct log_check *check;
    struct verify_file *file;
};

struct log_check {
    struct verify_set *set;
    struct verify_file *log; /* the first file, which stands for the log */
    struct checked_file *files;
    struct log_scan_file *more; /* of the scan: all but the first */
    size_t file_count;
    struct log_scan scan;
    struct verify_file *bad_file; /* of a read that failed */
    uint64_t bad_offset;
    struct verify_file *end_file;
    uint64_t end_offset; /* behind the newest block, in end_file */
    uint64_t blocks;
    bool no_memory;
    /* Positions of the newest blocks, by number modulo; what was under way at once is among them.
     */
    uint64_t newest[WAL_OUTSTANDING_MAX];
};

/* ---- what the records say ---- */

static void *grown(struct log_check *check, void *list, size_t count, size_t *capacity,
                   size_t item_bytes)
{
    if (count < *capacity)
        return list;
    size_t wanted = *capacity ? 2 * *capacity : 64;
    void *bigger = realloc(list, wanted * item_bytes);
    if (!bigger) {
        check->no_memory = true;
        return NULL;
    }
    *capacity = wanted;
    return bigger;
}

static void note_checkpoint(struct log_check *check, struct lsn lsn)
{
    struct verify_log *log = &check->log->log;
    struct lsn *list = grown(check, log->checkpoints, log->checkpoint_count,
                             &log->checkpoint_capacity, sizeof *list);
    if (!list)
        return;
    log->checkpoints = list;
    log->checkpoints[log->checkpoint_count++] = lsn;
}

static void note_image(struct log_check *check, const struct log_page_change *change,
                       struct lsn lsn)
{
    struct verify_log *log = &check->log->log;
    struct logged_image *list =
        grown(check, log->images, log->image_count, &log->image_capacity, sizeof *list);
    if (!list)
        return;
    log->images = list;
    log->images[log->image_count++] = (struct logged_image){.file_uid = change->file_uid,
                                                            .page_no = change->page_no,
                                                            .lsn = lsn,
                                                            .generation = change->generation,
                                                            .xxh3 = change->image_xxh3};
}

static void note_newest(struct log_check *check, uint64_t **list, const struct verify_file *data,
                        uint32_t page_no, uint64_t generation)
{
    if (page_no >= data->page_count)
        return;
    if (!*list)
        *list = calloc(data->page_count, sizeof **list);
    if (!*list) {
        check->no_memory = true;
        return;
    }
    if ((*list)[page_no] < generation)
        (*list)[page_no] = generation;
}

/* Changes are made in the pool, whose pages a checkpoint writes: those of transactions and of loads
 * in bulk.  The initial update (generation 1) writes past the pool. */
static bool is_written_by_checkpoint(const struct log_record_view *record,
                                     const struct log_page_change *change)
{
    return record->op == LOG_OP_MODIFY ||
           (record->op == LOG_OP_FORMAT && change->generation > PAGE_FIRST_GENERATION);
}

static void note_change(struct log_check *check, const struct log_record_view *record,
                        const struct log_page_change *change, struct verify_file *data)
{
    struct verify_log *log = &check->log->log;
    uint32_t count = change->page_count <= EXTENT_PAGES ? change->page_count : EXTENT_PAGES;
    for (uint32_t i = 0; i < count; i++)
        note_newest(check, &data->logged, data, change->page_no + i, change->generation);
    if (record->op == LOG_OP_SET_BITS)
        note_image(check, change, record->lsn);
    log->modified = log->modified || record->op == LOG_OP_MODIFY;
    if (!is_written_by_checkpoint(record, change) ||
        lsn_compare(record->lsn, log->boot_checkpoint) >= 0)
        return;
    for (uint32_t i = 0; i < count; i++)
        note_newest(check, &data->settled, data, change->page_no + i, change->generation);
}

/* The file of the block that the scan is at. */
static struct verify_file *file_read(const struct log_check *check)
{
    return check->files[check->scan.file].file;
}

static void record_seen(void *context, const struct log_record_view *record)
{
    struct log_check *check = context;
    struct log_page_change change;
    file_read(check)->counts[VERIFY_COUNT_log_records]++;
    if (record->op == LOG_OP_BEGIN_CHECKPOINT)
        note_checkpoint(check, record->lsn);
    if (!check->log->ours || !log_record_change(record, &change))
        return;
    struct verify_file *data = verify_data_by_uid(check->set, check->log, change.file_uid);
    if (data && data->file.mark.incarnation == change.incarnation)
        note_change(check, record, &change, data);
}

static void block_seen(void *context, const struct log_block_info *info, uint64_t file_offset)
{
    struct log_check *check = context;
    uint64_t *counts = file_read(check)->counts;
    struct lsn start = {info->fseq, info->block, 0};
    check->end_file = file_read(check);
    check->end_offset = file_offset + info->size_bytes;
    check->newest[check->blocks % WAL_OUTSTANDING_MAX] = lsn_position(start);
    if (check->blocks++ == 0)
        check->log->log.first_position = lsn_position(start);
    counts[VERIFY_COUNT_log_blocks]++;
    counts[VERIFY_COUNT_log_blocks_chained] += check->scan.chained;
    counts[VERIFY_COUNT_log_sectors] += info->size_bytes / LOG_SECTOR_BYTES;
    counts[VERIFY_COUNT_log_blocks_with_checksum] += info->has_checksum;
}

static int check_read(void *context, uint64_t offset, void *buf, size_t size_bytes)
{
    const struct checked_file *file = context;
    int error = verify_read(file->check->set, file->file, offset, buf, size_bytes);
    if (error) {
        file->check->bad_file = file->file;
        file->check->bad_offset = offset;
    }
    return error;
}

/* ---- what is wrong ---- */

static void report_damage(struct log_check *check)
{
    for (size_t i = 0; i < check->scan.damage_count && i < LOG_SCAN_DAMAGE_MAX; i++) {
        const struct log_damage *damage = &check->scan.damage[i];
        struct finding finding = log_spot_finding(damage, false);
        verify_report(check->set, check->files[damage->file].file, &finding);
    }
}

/* Remains of a write that was under way, or of none: a whole block that contradicts is no such. */
static bool may_be_unfinished(enum log_block_check what)
{
    return what != LOG_BLOCK_BAD_VLF && what != LOG_BLOCK_GAP && what != LOG_BLOCK_BAD_PLACE &&
           what != LOG_BLOCK_BAD_CHAIN;
}

/* Could all blocks behind the position have been under way together with the one that is missing?
 */
static bool within_flight(const struct log_check *check, uint64_t position)
{
    if (check->blocks < WAL_OUTSTANDING_MAX)
        return true;
    return check->newest[check->blocks % WAL_OUTSTANDING_MAX] < position; /* the oldest of them */
}

/* Without a ledger nothing says how far the log was acknowledged.  A hole that a kill can have
 * left, with no more blocks behind it than are written at once, is where the log ends: what proves
 * more is a page that was written after it, and that is looked for in the data files. */
static void end_at_unfinished(struct log_check *check)
{
    struct log_scan *scan = &check->scan;
    for (size_t i = 0; i < scan->damage_count && i < LOG_SCAN_DAMAGE_MAX; i++) {
        const struct log_damage damage = scan->damage[i];
        uint64_t position = (uint64_t)damage.fseq << 32 | damage.block;
        if (!may_be_unfinished(damage.what) || !within_flight(check, position))
            continue;
        struct finding finding = log_spot_finding(&damage, false);
        finding.verdict = VERDICT_torn_in_flight;
        log_spot_drop_unacknowledged(scan, position);
        scan->end_position = position;
        verify_report(check->set, check->files[damage.file].file, &finding);
        return;
    }
}

static enum verdict end_verdict(enum log_end end)
{
    switch (end) {
    case LOG_END_TORN_TAIL:
        return VERDICT_log_torn;
    case LOG_END_OLD_USE:
    case LOG_END_MID_BLOCK:
        return VERDICT_log_old_use;
    default:
        return VERDICT_log_lost;
    }
}

/* The run knew its log durable beyond the end, or with another last block. */
static void check_durable_end(struct log_check *check)
{
    const struct log_scan *scan = &check->scan;
    struct verify_file *log = check->log;
    if (!log->row || !check->set->believed)
        return;
    uint64_t durable = atomic_load(&log->row->log_durable_position);
    uint32_t crc = atomic_load(&log->row->log_durable_crc);
    bool is_short = durable > scan->end_position;
    bool other = durable == scan->end_position && durable != 0 && crc != scan->end_crc;
    if (!is_short && !other)
        return;
    log->log.tail_lost = true;
    if (scan->damage_count) /* told already */
        return;
    struct finding finding = {.verdict = is_short ? end_verdict(scan->end) : VERDICT_log_torn,
                              .offset = check->end_offset,
                              .size_bytes = LOG_SECTOR_BYTES};
    snprintf(finding.detail, sizeof finding.detail,
             is_short ? "the log ends at VLF sequence %" PRIu64 ", block %" PRIu64
                        "; it was durable to %" PRIu64 ", block %" PRIu64
                      : "the last block, before VLF sequence %" PRIu64 ", block %" PRIu64
                        ", is not the one that was written (durable to %" PRIu64 ", block %" PRIu64
                        ")",
             scan->end_position >> 32, scan->end_position & UINT32_MAX, durable >> 32,
             durable & UINT32_MAX);
    verify_report(check->set, check->end_file ? check->end_file : log, &finding);
}

static bool any_is_cut(const struct log_check *check)
{
    bool cut = false;
    for (size_t i = 0; i < check->file_count; i++)
        cut |= check->files[i].file->cut;
    return cut;
}

static int report_unscanned(struct log_check *check, int error)
{
    struct verify_set *set = check->set;
    struct verify_file *log = check->log;
    if (any_is_cut(check) && error != -ENOMEM) { /* told: what is missing, is missing there */
        log->log.tail_lost = true;
        return 0;
    }
    if (error == -EINVAL) {
        struct finding finding = {.verdict = VERDICT_log_lost,
                                  .offset = PAGE_BYTES,
                                  .size_bytes = file_read(check)->size_bytes - PAGE_BYTES,
                                  .detail = "no VLF header at all is left in the log file"};
        verify_report(set, file_read(check), &finding);
        return 0;
    }
    if (error == -EFBIG || error == -ENOMEM) {
        snprintf(set->message, sizeof set->message, "%.400s: %s", log->file.path,
                 error == -EFBIG ? "more VLFs than a log can have: not checked" : "no memory");
        set->exit_code = EXIT_CODE_INCOMPLETE;
        return error;
    }
    struct finding finding = {.verdict = VERDICT_unreadable,
                              .offset = check->bad_offset,
                              .size_bytes = LOG_READ_ALIGN_BYTES,
                              .retries = VERIFY_RETRIES_MAX,
                              .error = -error};
    snprintf(finding.detail, sizeof finding.detail, "the log cannot be read: %s", strerror(-error));
    verify_report(set, check->bad_file, &finding);
    return 0;
}

static void keep_results(struct log_check *check)
{
    const struct log_scan *scan = &check->scan;
    struct verify_file *log = check->log;
    log->counts[VERIFY_COUNT_vlfs] = scan->vlf_count;
    for (size_t i = 1; i < check->file_count; i++) {
        check->files[i].file->counts[VERIFY_COUNT_vlfs] = check->more[i - 1].vlf_count;
        log->counts[VERIFY_COUNT_vlfs] -= check->more[i - 1].vlf_count;
    }
    log->counts[VERIFY_COUNT_log_damage] = scan->damage_count;
    for (size_t i = 0; i < scan->damage_count && i < LOG_SCAN_DAMAGE_MAX; i++) {
        log->counts[VERIFY_COUNT_log_damage]--;
        check->files[scan->damage[i].file].file->counts[VERIFY_COUNT_log_damage]++;
    }
    log->log.end_position = scan->end_position;
    log->log.last_record = scan->last_record;
}

/* Page 0 of the log file is a file header like any. */
static int check_page_0(struct verify_set *set, struct verify_file *log)
{
    int error = verify_read(set, log, 0, set->buffer, PAGE_BYTES);
    if (error)
        return 0; /* the scan meets it, too */
    if (!syspage_check(set->buffer, SYSPAGE_FILE_HEADER, 0, log->file_id) && log->ours)
        verify_report_page(set, log, 0, VERDICT_garbage, "the file header of the log is damaged");
    else if (log->row && set->believed && log->file.mark.size_pages &&
             log->file.mark.size_pages < log->row->size_pages_acked)
        verify_report_page(set, log, 0, VERDICT_lost_write,
                           "the file header of the log says a size that the file had before it "
                           "grew");
    return 0;
}

/* ---- the check ---- */

static size_t count_logs(struct verify_set *set, const struct verify_file *first)
{
    size_t count = 0;
    struct verify_file *log = NULL;
    while (first->ours && (log = verify_log_next(set, first, log)))
        count++;
    return count ? count : 1;
}

/* What belongs to the log: not space that was being added when the run ended. */
static uint64_t bytes_of(const struct verify_set *set, const struct verify_file *file)
{
    uint64_t bytes = atomic_load(&((struct verify_file *)(uintptr_t)file)->file.target.size_bytes);
    uint64_t pages = file->ours ? file->file.mark.size_pages : 0;
    if (file->row && set->believed && file->row->size_pages_acked > pages)
        pages = file->row->size_pages_acked;
    return pages && pages * PAGE_BYTES < bytes ? pages * PAGE_BYTES : bytes;
}

static int files_make(struct log_check *check)
{
    struct verify_set *set = check->set;
    struct verify_file *file = NULL;
    check->file_count = count_logs(set, check->log);
    check->files = calloc(check->file_count, sizeof *check->files);
    check->more = calloc(check->file_count, sizeof *check->more);
    if (!check->files || !check->more)
        return -ENOMEM;
    check->files[0] = (struct checked_file){check, check->log};
    for (size_t i = 1; i < check->file_count;) {
        file = verify_log_next(set, check->log, file);
        if (file == check->log)
            continue;
        check->files[i] = (struct checked_file){check, file};
        check->more[i - 1] = (struct log_scan_file){
            .reader = {check_read, &check->files[i]},
            .file_bytes = bytes_of(set, file),
        };
        i++;
    }
    return 0;
}

static void scan_prepare(struct log_check *check)
{
    const struct verify_file *log = check->log;
    const struct file_mark *mark = &log->file.mark;
    bool complete = true;
    verify_log_first(check->set, log, &complete);
    check->scan = (struct log_scan){
        .reader = {check_read, &check->files[0]},
        .file_bytes = bytes_of(check->set, log),
        .more = check->more,
        .more_count = check->file_count - 1,
        .chained = log->ours,
        .gaps_allowed = !log->ours || !complete,
        .on_record = record_seen,
        .on_block = block_seen,
        .context = check,
    };
    if (!log->ours)
        return;
    check->scan.chain_start = run_chain_start(mark->run_id, mark->file_uid);
    check->scan.first_fseq = complete ? run_first_fseq(mark->run_id) : 0;
}

static int judge(struct log_check *check)
{
    struct verify_set *set = check->set;
    struct verify_file *log = check->log;
    bool cut = any_is_cut(check);
    if (log->row && set->believed)
        log_spot_drop_unacknowledged(&check->scan, atomic_load(&log->row->log_durable_position));
    else if (log->ours && !cut)
        end_at_unfinished(check);
    keep_results(check);
    if (cut) { /* one event, and told */
        log->log.tail_lost = true;
        return 0;
    }
    report_damage(check);
    check_durable_end(check);
    log->log.whole = check->scan.damage_count == 0 && !log->log.tail_lost;
    return 0;
}

static int check_all(struct log_check *check)
{
    int error = files_make(check);
    if (!error) {
        scan_prepare(check);
        error = log_scan_run(&check->scan);
    }
    if (!error && check->no_memory)
        error = -ENOMEM;
    return error ? report_unscanned(check, error) : judge(check);
}

int verify_log_check(struct verify_set *set, struct verify_file *log)
{
    int error = check_page_0(set, log);
    bool complete;
    if (error || (log->ours && verify_log_first(set, log, &complete) != log))
        return error; /* the first file of the log stands for all */
    struct log_check check = {.set = set, .log = log};
    error = check_all(&check);
    free(check.files);
    free(check.more);
    return error;
}

/* ---- questions ---- */

bool verify_log_covers(const struct verify_log *log, struct lsn lsn)
{
    uint64_t position = lsn_position(lsn);
    return log->end_position && position >= log->first_position && position < log->end_position;
}

bool verify_log_has_checkpoint(const struct verify_log *log, struct lsn lsn)
{
    for (size_t i = 0; i < log->checkpoint_count; i++)
        if (lsn_compare(log->checkpoints[i], lsn) == 0)
            return true;
    return false;
}

const struct logged_image *verify_log_image(const struct verify_log *log, uint16_t file_uid,
                                            uint32_t page_no, struct lsn lsn)
{
    for (size_t i = log->image_count; i-- > 0;) {
        const struct logged_image *image = &log->images[i];
        if (image->file_uid == file_uid && image->page_no == page_no &&
            lsn_compare(image->lsn, lsn) <= 0)
            return image;
    }
    return NULL;
}
