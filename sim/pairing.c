/*
 * pairing.c - see pairing.h.
 *
 * What it does not do: judge pages that have no part in a misdirection, or look into logs.
 */
#include "sim/pairing.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "sim/page_fault.h"
#include "sim/reverted.h"
#include "sim/snapshot.h"
#include "sim/survey.h"
#include "sim/wrapped.h"
#include "verify/check.h"

#define CHUNK_PAGES     128 /* 1 MiB: SQL Server's largest read-ahead */
#define BUFFER_ALIGN    4096
#define LOST_WRITES_MAX FINDINGS_MAX

struct pairing {
    struct run *run;
    struct page_reader reader;             /* for its expectation only: it never reads */
    uint8_t *buffer;                       /* CHUNK_PAGES pages */
    struct finding *lost[LOST_WRITES_MAX]; /* lost writes whose other end is not known */
    unsigned lost_count;
};

/* ---- reading ---- */

static int pages_read(struct pairing *pairing, struct data_file *file, uint32_t first,
                      unsigned count)
{
    struct iovec iov = {pairing->buffer, (size_t)count * PAGE_BYTES};
    struct io_req req = {.op = IO_READ,
                         .stream = STREAM_pairing_read,
                         .target = &file->file.target,
                         .offset = (uint64_t)first * PAGE_BYTES,
                         .iov = &iov,
                         .iov_count = 1};
    return io_run(&pairing->run->io, &req);
}

static struct ledger_view view_of(struct pairing *pairing, struct data_file *file, uint32_t page_no)
{
    return ledger_view(pairing->run->ledger, file->file.mark.file_uid, page_no);
}

static struct expectation expectation_of(struct pairing *pairing, struct data_file *file,
                                         uint32_t page_no)
{
    return page_expectation(&pairing->reader, file, page_no, view_of(pairing, file, page_no));
}

/* ---- joining ---- */

static void name_home(struct finding *victim, const struct data_file *home, uint32_t page_no)
{
    snprintf(victim->other_file, sizeof victim->other_file, "%s", home->file.path);
    victim->other_page_no = page_no;
    victim->other_generation = victim->why.origin_generation;
}

static void join(struct findings *findings, struct finding *victim, struct finding *home,
                 const struct data_file *home_file, uint32_t page_no)
{
    victim->paired = true;
    name_home(victim, home_file, page_no);
    snprintf(victim->detail, sizeof victim->detail,
             "generation %" PRIu64 " of page %" PRIu32 " of %s was written here instead of there",
             victim->why.origin_generation, page_no, home_file->file.path);
    if (home)
        finding_drop(findings, home);
}

static void home_is_right(struct pairing *pairing, struct finding *victim,
                          const struct data_file *home, uint32_t page_no, uint64_t generation)
{
    name_home(victim, home, page_no);
    if (generation != victim->why.origin_generation) {
        snprintf(victim->detail, sizeof victim->detail,
                 "page %" PRIu32 " of %s, whose generation %" PRIu64
                 " stands here, was written again since: its half is healed",
                 page_no, home->file.path, victim->why.origin_generation);
        return;
    }
    snprintf(victim->detail, sizeof victim->detail,
             "page %" PRIu32 " of %s holds the same generation %" PRIu64
             ": its write was done there and here, too",
             page_no, home->file.path, generation);
    finding_rename(&pairing->run->findings, victim, VERDICT_replayed_write);
}

/* Look at a home that has no event: is it stale? */
static int look_at_home(struct pairing *pairing, struct finding *victim, struct data_file *home,
                        uint32_t page_no)
{
    struct ledger_view view = view_of(pairing, home, page_no);
    if (view.state != LEDGER_QUIET)
        return 0;
    int error = pages_read(pairing, home, page_no, 1);
    if (error)
        return error;
    struct expectation expect = expectation_of(pairing, home, page_no);
    struct explanation why = {0};
    if (explain_is_right(pairing->buffer, &expect)) {
        home_is_right(pairing, victim, home, page_no, view.acked);
        return 0;
    }
    explain(pairing->buffer, 0, &expect, &why);
    if (why.verdict != VERDICT_lost_write)
        return 0;
    ledger_quarantine(pairing->run->ledger, home->file.mark.file_uid, page_no);
    join(&pairing->run->findings, victim, NULL, home, page_no);
    return 0;
}

/* The copy of the page for the snapshot of its file, which never came there: the same image. */
static struct finding *lost_copy(struct findings *findings, const struct finding *victim,
                                 const struct data_file *home)
{
    if (!home->snapshot)
        return NULL;
    uint16_t uid = home->snapshot->file.file.mark.file_uid;
    struct finding *copy = findings_at(findings, uid, victim->why.origin_page_no);
    bool same = copy && copy != victim && copy->verdict == VERDICT_lost_write &&
                copy->why.generation_expected == victim->why.origin_generation;
    return same ? copy : NULL;
}

static int pair_victim(struct pairing *pairing, struct finding *victim)
{
    struct findings *findings = &pairing->run->findings;
    const struct explanation *why = &victim->why;
    if (!why->has_origin || why->origin_other_run)
        return 0;
    struct data_file *home = run_file_by_uid(pairing->run, why->origin_file_uid);
    uint32_t page_no = why->origin_page_no;
    if (!home || page_no >= home->file.size_pages)
        return 0;
    struct finding *event = lost_copy(findings, victim, home);
    if (event) {
        join(findings, victim, event, &home->snapshot->file, page_no);
        return 0;
    }
    event = findings_at(findings, why->origin_file_uid, page_no);
    if (event == victim)
        return 0;
    if (!event)
        return look_at_home(pairing, victim, home, page_no);
    if (event->verdict == VERDICT_lost_write)
        join(findings, victim, event, home, page_no);
    return 0;
}

static int pair_victims(struct pairing *pairing)
{
    struct findings *findings = &pairing->run->findings;
    int error = 0;
    for (unsigned i = 0; i < findings->count && !error; i++) {
        struct finding *event = &findings->list[i];
        if (event->verdict == VERDICT_misdirected_write && !event->amended && !event->paired)
            error = pair_victim(pairing, event);
    }
    return error;
}

/* ---- the search for a lost write ---- */

static void collect_lost(struct pairing *pairing)
{
    struct findings *findings = &pairing->run->findings;
    pairing->lost_count = 0;
    for (unsigned i = 0; i < findings->count; i++) {
        struct finding *event = &findings->list[i];
        if (event->verdict == VERDICT_lost_write && event->has_page && !event->amended)
            pairing->lost[pairing->lost_count++] = event;
    }
}

/* What the stamps of the pages of a file say. */
static uint16_t stamped_uid(const struct pairing *pairing, uint16_t file_uid)
{
    const struct data_file *file = run_file_by_uid(pairing->run, file_uid);
    return file ? data_file_identity(file)->file_uid : file_uid;
}

/* The lost write that this image is, standing at another place; NULL if it is none. */
static struct finding *lost_identity(struct pairing *pairing, const uint8_t *image, uint16_t uid,
                                     uint32_t page_no)
{
    const struct page_stamp *stamp = page_stamp_of(image);
    if (stamp->magic != PAGE_STAMP_MAGIC || !page_header_crc_ok(image) ||
        memcmp(stamp->run_id, pairing->run->run_id, RUN_ID_BYTES) != 0 ||
        (stamp->file_uid == uid && stamp->page_no == page_no))
        return NULL;
    for (unsigned i = 0; i < pairing->lost_count; i++) {
        struct finding *lost = pairing->lost[i];
        if (!lost->amended && stamped_uid(pairing, lost->file_uid) == stamp->file_uid &&
            lost->page_no == stamp->page_no && stamp->generation > lost->why.generation_found &&
            stamp->generation <= lost->why.generation_expected)
            return lost;
    }
    return NULL;
}

/* A new event at the victim takes the place of the one at the home. */
static void report_victim(struct pairing *pairing, struct data_file *file, uint32_t page_no,
                          const uint8_t *image, struct finding *lost)
{
    struct findings *findings = &pairing->run->findings;
    struct ledger_view view = view_of(pairing, file, page_no);
    const struct page_stamp *stamp = page_stamp_of(image);
    struct finding victim = {
        .verdict = VERDICT_misdirected_write,
        .file_uid = file->file.mark.file_uid,
        .has_page = true,
        .page_no = page_no,
        .offset = (uint64_t)page_no * PAGE_BYTES,
        .size_bytes = PAGE_BYTES,
        .actor = "pairing",
        .writer = view.actor,
        .written_s = view.time_s,
    };
    struct finding_images images = {.read_image = image, .size_bytes = PAGE_BYTES};
    struct expectation expect = expectation_of(pairing, file, page_no);
    struct data_file *home = run_file_by_uid(pairing->run, lost->file_uid);
    snprintf(victim.file, sizeof victim.file, "%s", file->file.path);
    explain(image, 0, &expect, &victim.why);
    victim.why.has_origin = true;
    victim.why.origin_other_run = false;
    victim.why.origin_file_uid = stamp->file_uid;
    victim.why.origin_page_no = stamp->page_no;
    victim.why.origin_generation = stamp->generation;
    join(findings, &victim, NULL, home, lost->page_no);
    if (findings_at(findings, victim.file_uid, page_no) || findings->count == FINDINGS_MAX)
        return; /* another fault stands there: the lost write stays what it is */
    finding_report(findings, &victim, &images);
    finding_drop(findings, lost);
}

static void search_chunk(struct pairing *pairing, struct data_file *file, uint32_t first,
                         unsigned count)
{
    for (unsigned i = 0; i < count; i++) {
        const uint8_t *image = pairing->buffer + (size_t)i * PAGE_BYTES;
        uint16_t uid = file->file.mark.file_uid;
        struct finding *lost = lost_identity(pairing, image, uid, first + i);
        if (lost)
            report_victim(pairing, file, first + i, image, lost);
    }
}

/* Pages that cannot be read are no evidence: the search goes on behind them. */
static void search_file(struct pairing *pairing, struct data_file *file, uint32_t *pages_left)
{
    uint32_t size = file->file.size_pages;
    for (uint32_t first = 0; first<size && * pages_left> 0; first += CHUNK_PAGES) {
        if (run_interrupted(pairing->run))
            return;
        uint32_t count = size - first < CHUNK_PAGES ? size - first : CHUNK_PAGES;
        count = count < *pages_left ? count : *pages_left;
        *pages_left -= count;
        if (pages_read(pairing, file, first, count) == 0)
            search_chunk(pairing, file, first, count);
        run_step_done(pairing->run, count);
    }
}

/* Who asked for the end does not wait for it. */
static void search(struct pairing *pairing)
{
    struct run *run = pairing->run;
    uint32_t pages_left = PAIRING_PAGES_MAX;
    uint64_t pages = 0;
    for (unsigned i = 0; i < run->file_count; i++)
        pages += run->files[i]->file.size_pages;
    run_step(run, "looking for the other end of a lost write",
             pages < pages_left ? pages : pages_left);
    for (unsigned i = 0; i < run->file_count; i++)
        search_file(pairing, run->files[i], &pages_left);
    run_step(run, NULL, 0);
    if (run_interrupted(run))
        run_say(run, "the search for where a lost write went was ended by the signal");
}

/* ---- many at once ---- */

static int read_for_wrap(void *context, uint16_t file_uid, uint32_t page_no, void *page)
{
    struct pairing *pairing = context;
    struct data_file *file = run_file_by_uid(pairing->run, file_uid);
    if (!file || page_no >= file->file.size_pages)
        return -ENODATA;
    int error = pages_read(pairing, file, page_no, 1);
    if (!error)
        memcpy(page, pairing->buffer, PAGE_BYTES);
    return error;
}

static uint32_t pages_for_wrap(void *context, uint16_t file_uid)
{
    const struct pairing *pairing = context;
    const struct data_file *file = run_file_by_uid(pairing->run, file_uid);
    return file ? file->file.size_pages : 0;
}

/* A run that was stopped at its first finding has not looked at the others yet. */
static bool wants_survey(const struct run *run)
{
    return !run->audited && run->findings.stop_on_error &&
           run->findings.by_verdict[VERDICT_device_gone] == 0 && !run_interrupted(run);
}

/* Before single pages are paired: what is part of one event of many needs no other end. */
static int name_many(struct pairing *pairing)
{
    struct run *run = pairing->run;
    struct page_source source = {read_for_wrap, pages_for_wrap, pairing};
    if (wants_survey(run))
        survey_pages(run, &pairing->reader, pairing->buffer, PAIRING_PAGES_MAX);
    int error = reverted_find(&run->findings, &source);
    return error ? error : wrapped_find(&run->findings, &source);
}

static bool anything_to_pair(const struct findings *findings)
{
    return findings->by_verdict[VERDICT_misdirected_write] > 0 ||
           findings->by_verdict[VERDICT_lost_write] > 0 ||
           findings->by_verdict[VERDICT_replayed_write] > 0 ||
           findings->by_verdict[VERDICT_zeroed] > 0;
}

int findings_pair(struct run *run)
{
    if (!CHECKED(pairing) || !anything_to_pair(&run->findings))
        return 0;
    struct pairing *pairing = calloc(1, sizeof *pairing);
    if (!pairing)
        return -ENOMEM;
    pairing->run = run;
    int error = page_reader_init(&pairing->reader, run, NULL, "pairing");
    pairing->buffer = aligned_alloc(BUFFER_ALIGN, (size_t)CHUNK_PAGES * PAGE_BYTES);
    if (!error && !pairing->buffer)
        error = -ENOMEM;
    if (!error)
        error = name_many(pairing);
    if (!error)
        error = pair_victims(pairing);
    if (!error) {
        collect_lost(pairing);
        if (pairing->lost_count)
            search(pairing);
    }
    page_reader_free(&pairing->reader);
    free(pairing->buffer);
    free(pairing);
    return error;
}
