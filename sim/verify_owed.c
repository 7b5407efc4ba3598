/*
 * verify_owed.c - see verify_owed.h.
 *
 * Invariant: one event a fault.  A page that the ledger proves wrong is not asked what the log says
 * of it; pages ahead of the log are one event, for what is missing is the end of the log.
 */
#include "sim/verify_owed.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "sim/verify_log.h"
#include "sim/verify_name.h"
#include "verify/explain.h"
#include "verify/syspage_hash.h"

struct owed_page {
    struct verify_set *set;
    struct verify_file *file;
    uint32_t page_no;
    const uint8_t *page;
    int allocated;
    enum syspage_kind kind;
    struct run_identity run;
};

static void count(struct owed_page *p, enum verify_count what)
{
    p->file->counts[what]++;
}

static void report(struct owed_page *p, const struct explanation *why, struct ledger_view view,
                   const char *detail)
{
    struct finding finding = {.verdict = why->verdict,
                              .has_page = true,
                              .page_no = p->page_no,
                              .offset = (uint64_t)p->page_no * PAGE_BYTES,
                              .size_bytes = PAGE_BYTES,
                              .why = *why,
                              .writer = view.actor,
                              .written_s = view.time_s};
    count(p, VERIFY_COUNT_pages_wrong);
    if (detail)
        snprintf(finding.detail, sizeof finding.detail, "%s", detail);
    verify_report(p->set, p->file, &finding);
}

static void report_verdict(struct owed_page *p, enum verdict verdict, const char *detail)
{
    struct explanation why = {.verdict = verdict, .first_bad_offset = -1};
    report(p, &why, (struct ledger_view){0}, detail);
}

static struct expectation expectation(const struct owed_page *p, struct ledger_view owed)
{
    const struct file_mark *mark = &p->file->file.mark;
    return (struct expectation){.run = &p->run,
                                .file_uid = mark->file_uid,
                                .incarnation = mark->incarnation,
                                .file_id = mark->file_id,
                                .page_no = p->page_no,
                                .owed = owed,
                                .created_by_us = true};
}

/* ---- against the log ---- */

static void note_ahead(struct owed_page *p, struct lsn lsn)
{
    struct verify_file *file = p->file;
    if (file->pages_ahead++ == 0 || lsn_compare(lsn, file->ahead_lsn) > 0) {
        file->ahead_lsn = lsn;
        file->ahead_page = p->page_no;
    }
}

/* A page that is right otherwise: was it logged?  False if the log contradicts it. */
static bool logged_data_page(struct owed_page *p, const struct verify_log *log, struct lsn lsn)
{
    uint64_t generation = page_stamp_of(p->page)->generation;
    if (!log->whole || !verify_log_covers(log, lsn))
        return true;
    uint64_t newest = p->file->logged ? p->file->logged[p->page_no] : 0;
    if (newest >= generation)
        return true;
    struct explanation why = {.verdict = VERDICT_page_ahead_of_log,
                              .generation_found = generation,
                              .generation_expected = newest,
                              .first_bad_offset = -1};
    report(p, &why, (struct ledger_view){0},
           "the log does not hold the change that made this generation");
    return false;
}

static bool logged_system_page(struct owed_page *p, const struct verify_log *log, struct lsn lsn)
{
    char detail[FINDING_DETAIL_MAX];
    if (!log->whole || !verify_log_covers(log, lsn))
        return true;
    const struct logged_image *image =
        verify_log_image(log, p->file->file.mark.file_uid, p->page_no, lsn);
    if (!image || image->xxh3 == syspage_content_xxh3(p->page))
        return true;
    snprintf(detail, sizeof detail,
             "the system page is whole, but not the one that was logged as generation %" PRIu64,
             image->generation);
    report_verdict(p, VERDICT_garbage, detail);
    return false;
}

/* The boot page names where recovery would begin. */
static bool checkpoint_exists(struct owed_page *p, const struct verify_log *log)
{
    struct lsn lsn = boot_get_checkpoint(p->page);
    char detail[FINDING_DETAIL_MAX];
    if (!log->whole || lsn_is_zero(lsn) || lsn_position(lsn) >= log->end_position ||
        verify_log_has_checkpoint(log, lsn))
        return true;
    snprintf(detail, sizeof detail,
             "the boot page names a checkpoint at %" PRIu32 ":%" PRIu32
             ":%u, and no checkpoint begins there",
             lsn.fseq, lsn.block, lsn.slot);
    report_verdict(p, VERDICT_lost_write, detail);
    return false;
}

static bool log_agrees(struct owed_page *p)
{
    struct verify_file *log_file = verify_log_of(p->set, p->file);
    struct lsn lsn = page_lsn(p->page);
    if (!log_file)
        return true;
    const struct verify_log *log = &log_file->log;
    if (!lsn_is_zero(lsn) && lsn_position(lsn) >= log->end_position) {
        note_ahead(p, lsn);
        return true; /* one event for all of them, at the end */
    }
    if (p->kind == SYSPAGE_NONE)
        return logged_data_page(p, log, lsn);
    /* tempdb's automatic checkpoints give log back and write no page, the boot page included */
    bool recovers = p->file->file.mark.database_id != DATABASE_ID_TEMPDB;
    if (p->kind == SYSPAGE_BOOT && recovers && !checkpoint_exists(p, log))
        return false;
    return logged_system_page(p, log, lsn);
}

static void right_so_far(struct owed_page *p)
{
    if (log_agrees(p))
        count(p, VERIFY_COUNT_pages_right);
}

static void damaged_system_page(struct owed_page *p)
{
    char detail[FINDING_DETAIL_MAX];
    enum verdict verdict =
        verify_name_damage(p->page, p->page_no, p->file->file.mark.file_id, detail);
    if (verdict == VERDICT_NONE) {
        verdict = VERDICT_garbage;
        snprintf(detail, sizeof detail, "the system page is not of the type of its place");
    }
    report_verdict(p, verdict, detail);
}

/* ---- against a believed ledger ---- */

/* An older image than the acknowledged one, by the log's word; 0 if it does not know. */
static uint64_t generation_of_system_page(struct owed_page *p)
{
    struct verify_file *log_file = verify_log_of(p->set, p->file);
    if (!log_file)
        return 0;
    const struct logged_image *image = verify_log_image(&log_file->log, p->file->file.mark.file_uid,
                                                        p->page_no, page_lsn(p->page));
    return image && image->xxh3 == syspage_content_xxh3(p->page) ? image->generation : 0;
}

static void system_page_by_ledger(struct owed_page *p, struct ledger_view view)
{
    bool whole = syspage_check(p->page, p->kind, p->page_no, p->file->file.mark.file_id);
    if (view.state == LEDGER_INDETERMINATE) {
        count(p, VERIFY_COUNT_pages_indeterminate);
        return;
    }
    if (!whole) {
        damaged_system_page(p);
        return;
    }
    uint64_t found = generation_of_system_page(p);
    if (found && found < view.acked) {
        struct explanation why = {.verdict = VERDICT_lost_write,
                                  .generation_expected = view.acked,
                                  .generation_found = found,
                                  .first_bad_offset = -1};
        report(p, &why, view, NULL);
        return;
    }
    right_so_far(p);
}

static void data_page_by_ledger(struct owed_page *p, struct ledger_view view)
{
    struct expectation expect = expectation(p, view);
    struct explanation why = {0};
    if (!explain_is_right(p->page, &expect)) {
        explain(p->page, 0, &expect, &why);
        if (why.verdict == VERDICT_NONE)
            why.verdict = VERDICT_garbage;
        report(p, &why, view, NULL);
    } else if (view.state == LEDGER_INDETERMINATE) {
        count(p, VERIFY_COUNT_pages_indeterminate);
    } else {
        right_so_far(p);
    }
}

static void never_written(struct owed_page *p, struct ledger_view view)
{
    struct expectation expect = expectation(p, view);
    struct explanation why = {.first_bad_offset = -1};
    if (page_is_zero(p->page, PAGE_BYTES)) {
        count(p, VERIFY_COUNT_pages_never_written);
        return;
    }
    explain(p->page, 0, &expect, &why);
    why.verdict = why.verdict == VERDICT_NONE ? VERDICT_garbage : why.verdict;
    report(p, &why, view, "the page was never written and is not zero");
}

static void by_ledger(struct owed_page *p)
{
    struct ledger_view view = ledger_view(p->set->ledger, p->file->row->uid, p->page_no);
    if (view.state == LEDGER_NEVER_WRITTEN)
        never_written(p, view);
    else if (view.state == LEDGER_FREED)
        count(p, VERIFY_COUNT_pages_not_judged);
    else {
        if (view.state == LEDGER_IN_FLIGHT) /* whoever wrote it is gone */
            view.state = LEDGER_INDETERMINATE;
        if (view.state == LEDGER_QUARANTINED) { /* is it still wrong? */
            count(p, VERIFY_COUNT_pages_known_bad);
            bool settled = view.issued == view.acked && view.durable == view.acked;
            view.state = settled ? LEDGER_QUIET : LEDGER_INDETERMINATE;
        }
        if (p->kind == SYSPAGE_NONE)
            data_page_by_ledger(p, view);
        else
            system_page_by_ledger(p, view);
    }
}

/* ---- without a ledger that can be believed ---- */

/* The newest generation that any part of the image claims for this place. */
static uint64_t claimed_generation(const struct owed_page *p)
{
    const struct file_mark *mark = &p->file->file.mark;
    uint64_t newest = 1;
    for (unsigned i = 1; i < PAGE_SECTORS; i++) {
        struct sector_identity id;
        if (sector_stamp_read(p->page + (size_t)i * PAGE_SECTOR_BYTES, &id) &&
            id.page_no == p->page_no && id.file_uid == mark->file_uid &&
            id.run_tag == p->run.run_tag && id.generation_low > newest)
            newest = id.generation_low;
    }
    if (page_header_crc_ok(p->page) && page_stamp_of(p->page)->page_no == p->page_no &&
        page_stamp_of(p->page)->generation > newest)
        newest = page_stamp_of(p->page)->generation;
    return newest;
}

/* After an end that nobody saw, a write that was in flight may be torn. */
static bool tear_is_allowed(const struct owed_page *p, const struct explanation *why)
{
    return why->verdict == VERDICT_torn_page && !(p->set->ledger && p->set->clean);
}

/* May it have been freed, and its last changes with it?  The maps say so, or may not yet. */
static bool may_be_freed(struct owed_page *p)
{
    static const struct lsn newest = {UINT32_MAX, UINT32_MAX, UINT16_MAX};
    const struct verify_file *log = verify_log_of(p->set, p->file);
    if (p->allocated == 0)
        return true;
    if (!log)
        return false;
    const struct logged_image *map = verify_log_image(&log->log, p->file->file.mark.file_uid,
                                                      syspage_pfs_of(p->page_no), newest);
    return map && lsn_compare(map->lsn, log->log.boot_checkpoint) >= 0;
}

/* Older than what the checkpoint wrote that the boot page names? */
static bool older_than_checkpoint(struct owed_page *p)
{
    uint64_t found = page_stamp_of(p->page)->generation;
    uint64_t settled = p->file->settled ? p->file->settled[p->page_no] : 0;
    if (found >= settled || may_be_freed(p))
        return false;
    struct explanation why = {.verdict = VERDICT_lost_write,
                              .generation_expected = settled,
                              .generation_found = found,
                              .first_bad_offset = -1};
    report(p, &why, (struct ledger_view){0}, NULL);
    return true;
}

static void data_page_alone(struct owed_page *p)
{
    uint64_t generation = claimed_generation(p);
    struct ledger_view owed = {
        .acked = generation, .issued = generation, .durable = generation, .state = LEDGER_QUIET};
    struct expectation expect = expectation(p, owed);
    struct explanation why = {0};
    if (explain_is_right(p->page, &expect)) {
        if (!older_than_checkpoint(p))
            right_so_far(p);
        return;
    }
    explain(p->page, 0, &expect, &why);
    if (why.verdict == VERDICT_NONE)
        why.verdict = VERDICT_garbage;
    if (tear_is_allowed(p, &why)) {
        count(p, VERIFY_COUNT_pages_indeterminate);
        verify_report_page(p->set, p->file, p->page_no, VERDICT_torn_in_flight, NULL);
        return;
    }
    report(p, &why, owed, NULL);
}

/* Between its log record and its first write a page is zero: only the initial update does that, and
 * a page that was changed since, or whose record is gone from the log, was written. */
static bool may_be_unwritten(struct owed_page *p)
{
    const struct verify_file *log = verify_log_of(p->set, p->file);
    if (p->allocated != 1 || !log || !log->log.whole)
        return true;
    uint64_t logged = p->file->logged ? p->file->logged[p->page_no] : 0;
    return logged == 1 && !log->log.modified;
}

static void zero_page_alone(struct owed_page *p)
{
    if (p->allocated == 0)
        count(p, VERIFY_COUNT_pages_never_written);
    else if (may_be_unwritten(p))
        count(p, VERIFY_COUNT_pages_not_judged);
    else
        report_verdict(p, VERDICT_zeroed, "the page is allocated, was written, and is all zero");
}

static void page_alone(struct owed_page *p)
{
    if (page_is_zero(p->page, PAGE_BYTES)) {
        zero_page_alone(p);
        return;
    }
    if (p->kind == SYSPAGE_NONE) {
        data_page_alone(p);
        return;
    }
    if (syspage_check(p->page, p->kind, p->page_no, p->file->file.mark.file_id)) {
        right_so_far(p);
        return;
    }
    damaged_system_page(p);
}

/* ---- entry ---- */

void verify_owed_page(struct verify_set *set, struct verify_file *file, uint32_t page_no,
                      const uint8_t *page, int allocated)
{
    const struct file_mark *mark = &file->file.mark;
    struct owed_page p = {.set = set,
                          .file = file,
                          .page_no = page_no,
                          .page = page,
                          .allocated = allocated,
                          .kind = syspage_kind(page_no, file->primary),
                          .run = run_identity_make(mark->run_id, mark->seed, mark->compressible)};
    if (p.kind == SYSPAGE_RESERVED) {
        if (page_is_zero(page, PAGE_BYTES))
            count(&p, VERIFY_COUNT_pages_never_written);
        else
            report_verdict(&p, VERDICT_garbage, "a reserved page is not zero");
        return;
    }
    bool known = set->believed && file->row && page_no < file->row->capacity_pages;
    if (known)
        by_ledger(&p);
    else
        page_alone(&p);
}

void verify_owed_end(struct verify_set *set, struct verify_file *file)
{
    struct verify_file *log = verify_log_of(set, file);
    char detail[FINDING_DETAIL_MAX];
    if (!file->pages_ahead || !log || log->log.tail_lost)
        return; /* a lost tail is one event, and told */
    snprintf(detail, sizeof detail,
             "%" PRIu32 " page%s newer than the end of the log (VLF sequence %" PRIu64
             ", block %" PRIu64 "); this one, the newest, has LSN %" PRIu32 ":%" PRIu32 ":%u",
             file->pages_ahead, file->pages_ahead == 1 ? " is" : "s are",
             log->log.end_position >> 32, log->log.end_position & UINT32_MAX, file->ahead_lsn.fseq,
             file->ahead_lsn.block, file->ahead_lsn.slot);
    verify_report_page(set, log->other_inode ? log : file, file->ahead_page,
                       VERDICT_page_ahead_of_log, detail);
}
