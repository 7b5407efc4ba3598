/*
 * reverted.c - see reverted.h.
 *
 * A live run is not read again.  Pages that fell out of the order of writes say nothing, neither
 * the missing nor the right ones: what is left is a fair sample of both.
 */
#include "sim/reverted.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include "sim/evidence_image.h"
#include "sim/finding_group.h"
#include "verify/check.h"
#include "verify/page.h"

#define BUFFER_ALIGN 4096

struct span {
    uint64_t first, last; /* of the missing writes, in the order of all */
    uint64_t known, survivors;
    uint64_t quiet;    /* of the known: only surveyed, so that the ledger does not know it yet */
    uint64_t as_of_ns; /* the newest image that is there */
};

/* Which files are asked together. */
struct scope {
    struct ledger *ledger; /* NULL: offline */
    const struct page_source *source;
    uint16_t file_uid; /* this one, or 0: all of the device */
    uint64_t device;
    const struct span *edge; /* proven: pages torn between then and now are part of it, too */
};

static bool in_scope(const struct scope *scope, uint16_t uid)
{
    if (scope->file_uid)
        return uid == scope->file_uid;
    const struct ledger_file *row = ledger_file_at(scope->ledger, uid);
    return row && row->device == scope->device;
}

static bool is_old(const struct finding_site *site)
{
    return site->verdict == VERDICT_lost_write || site->verdict == VERDICT_replayed_write ||
           (site->verdict == VERDICT_zeroed && site->all_zero);
}

/* A write that was under way when the state was kept, or when it came back, is half there. */
static bool is_edge(const struct span *edge, const struct finding_site *site)
{
    if (!edge || site->verdict != VERDICT_torn_page)
        return false;
    if (edge->known == 0) /* offline: torn between two old images */
        return site->none_newest;
    return site->written + REVERTED_EDGE_WRITES >= edge->first &&
           site->written <= edge->last + REVERTED_EDGE_WRITES;
}

/* Its pages are all of one short time, and it was empty before: all of its writes cut or lost look
 * like a state from before them.  It proves nothing, but shares the fate of the others. */
static bool is_of_snapshot(const struct scope *scope, const struct finding_site *site)
{
    const struct ledger_file *row =
        scope->ledger ? ledger_file_at(scope->ledger, site->file_uid) : NULL;
    return row && row->kind == FILE_KIND_SNAPSHOT;
}

static bool belongs(const void *context, const struct finding_site *site)
{
    const struct scope *scope = context;
    if (!scope->edge && is_of_snapshot(scope, site))
        return false;
    return (is_old(site) || is_edge(scope->edge, site)) && !site->has_origin &&
           in_scope(scope, site->file_uid);
}

static struct span span_of(const struct finding_group *group)
{
    struct span span = {.first = UINT64_MAX};
    for (size_t i = 0; i < group->count; i++) {
        const struct finding_site *site = group->sites[i];
        if (site->found_written_ns > span.as_of_ns)
            span.as_of_ns = site->found_written_ns;
        if (!site->written)
            continue;
        span.known++;
        span.quiet += !site->counted;
        span.first = site->written < span.first ? site->written : span.first;
        span.last = site->written > span.last ? site->written : span.last;
    }
    return span;
}

/* Pages that were written last within the span and are right. */
static uint64_t survivors(const struct scope *scope, const struct finding_group *group,
                          const struct span *span)
{
    uint64_t count = 0;
    for (size_t i = 0; i < group->count; i++) {
        uint16_t uid = group->sites[i]->file_uid;
        if (i > 0 && group->sites[i - 1]->file_uid == uid)
            continue; /* once a file */
        uint32_t pages = ledger_file_at(scope->ledger, uid)->capacity_pages;
        for (uint32_t page = 0; page < pages; page++) {
            uint64_t written = ledger_order(scope->ledger, uid, page).written;
            count += written >= span->first && written <= span->last &&
                     ledger_view(scope->ledger, uid, page).state == LEDGER_QUIET;
        }
    }
    return count > span->quiet ? count - span->quiet : 0;
}

/* Offline: pages of the file that are newer than all that came back; up to `enough` of them. */
static int newer_pages(const struct scope *scope, const struct span *span, uint64_t enough,
                       uint64_t *count)
{
    uint32_t pages = scope->source->pages(scope->source->context, scope->file_uid);
    uint8_t *page = aligned_alloc(BUFFER_ALIGN, PAGE_BYTES);
    *count = 0;
    if (!page)
        return -ENOMEM;
    for (uint32_t i = 0; i < pages && i < REVERTED_LOOK_PAGES && *count < enough; i++)
        *count += scope->source->read(scope->source->context, scope->file_uid, i, page) == 0 &&
                  page_check(page) == PAGE_OK &&
                  page_stamp_of(page)->write_time_ns > span->as_of_ns;
    free(page);
    return 0;
}

static int went_back_offline(const struct scope *scope, const struct finding_group *group,
                             struct span *span, bool *found)
{
    size_t writes = 0;
    finding_group_ranges(group, REVERTED_WRITE_PAGES, &writes);
    *span = span_of(group);
    *found = false;
    if (group->count < REVERTED_PAGES_MIN || writes < REVERTED_WRITES_MIN || !span->as_of_ns)
        return 0;
    int error = newer_pages(scope, span, group->count, &span->survivors);
    *found = !error && span->survivors * REVERTED_SURVIVORS_SHARE <= group->count;
    return error;
}

static bool went_back(const struct scope *scope, const struct finding_group *group,
                      struct span *span)
{
    size_t writes = 0;
    finding_group_ranges(group, REVERTED_WRITE_PAGES, &writes);
    *span = span_of(group);
    if (!CHECKED(reverted) || span->known < REVERTED_PAGES_MIN || writes < REVERTED_WRITES_MIN)
        return false;
    span->survivors = survivors(scope, group, span);
    return !CHECKED(reverted_survivors) ||
           span->survivors * REVERTED_SURVIVORS_SHARE <= span->known;
}

static size_t files_of(const struct finding_group *group)
{
    size_t files = 0;
    for (size_t i = 0; i < group->count; i++)
        files += i == 0 || group->sites[i - 1]->file_uid != group->sites[i]->file_uid;
    return files;
}

static void tell(struct findings *findings, struct finding_group *group, const struct span *span)
{
    char as_of[64] = "the start", ranges[120];
    size_t files = files_of(group);
    struct finding *event = finding_group_join(findings, group, VERDICT_reverted_volume);
    if (!event)
        return;
    finding_group_take_rest(findings, event, VERDICT_lost_write);
    finding_group_take_rest(findings, event, VERDICT_replayed_write);
    if (span->as_of_ns)
        evidence_time_text(span->as_of_ns, true, as_of, sizeof as_of);
    finding_group_ranges_text(event, ranges, sizeof ranges);
    if (span->known == 0) {
        snprintf(event->detail, sizeof event->detail,
                 "%" PRIu64 " pages are in the state as of %s, and nothing in the file is newer: "
                 "what was written after that is gone; %s",
                 event->pages, as_of, ranges);
        return;
    }
    snprintf(event->detail, sizeof event->detail,
             "%" PRIu64 " pages of %zu file%s are in the state as of %s: what was written after "
             "that, over %" PRIu64 " writes, is gone, and nothing that was written before; %s",
             event->pages, files, files == 1 ? "" : "s", as_of, span->last - span->first + 1,
             ranges);
}

/* True: they went back, and one event stands for it. */
static int try_scope(struct findings *findings, const struct scope *scope, bool *found)
{
    struct finding_group group;
    struct span span;
    int error = finding_group_make(&group, &findings->sites, belongs, scope);
    if (error)
        return error;
    if (scope->ledger)
        *found = went_back(scope, &group, &span);
    else
        error = went_back_offline(scope, &group, &span, found);
    finding_group_free(&group);
    if (error || !*found)
        return error;
    struct scope with_edge = *scope;
    with_edge.edge = &span;
    error = finding_group_make(&group, &findings->sites, belongs, &with_edge);
    if (error)
        return error;
    tell(findings, &group, &span);
    finding_group_free(&group);
    return 0;
}

/* The whole device first, then the file alone. */
int reverted_find(struct findings *findings, const struct page_source *source)
{
    struct scope scope = {.ledger = findings->ledger, .source = source};
    bool tried[LEDGER_FILES_MAX + 1] = {false};
    for (unsigned i = 0; i < findings->sites.count; i++) {
        const struct finding_site *site = &findings->sites.list[i];
        bool found = false;
        int error = 0;
        if (site->joined || !is_old(site) || site->file_uid > LEDGER_FILES_MAX ||
            tried[site->file_uid])
            continue;
        tried[site->file_uid] = true;
        scope.file_uid = 0;
        if (scope.ledger) {
            scope.device = ledger_file_at(scope.ledger, site->file_uid)->device;
            error = try_scope(findings, &scope, &found);
        }
        scope.file_uid = site->file_uid;
        if (!error && !found)
            error = try_scope(findings, &scope, &found);
        if (error)
            return error;
    }
    return 0;
}
