/* verify_many.c - see verify_many.h. */
#include "sim/verify_many.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>

#include "sim/reverted.h"
#include "sim/wrapped.h"

static struct verify_file *file_of(struct verify_set *set, uint16_t uid)
{
    for (size_t i = 0; i < set->count; i++) {
        struct verify_file *file = &set->files[i];
        if (file->ours && file->row && file->row->uid == uid && !file->is_log && !file->is_backup)
            return file;
    }
    return NULL;
}

static int read_page(void *context, uint16_t file_uid, uint32_t page_no, void *page)
{
    struct verify_set *set = context;
    struct verify_file *file = file_of(set, file_uid);
    if (!file || page_no >= file->page_count)
        return -ENODATA;
    return verify_read(set, file, (uint64_t)page_no * PAGE_BYTES, page, PAGE_BYTES);
}

static uint32_t pages_of(void *context, uint16_t file_uid)
{
    const struct verify_file *file = file_of(context, file_uid);
    return file ? file->page_count : 0;
}

static void name_home(struct finding *victim, const struct verify_file *home)
{
    victim->paired = true;
    snprintf(victim->other_file, sizeof victim->other_file, "%s", home->file.path);
    victim->other_page_no = victim->why.origin_page_no;
    victim->other_generation = victim->why.origin_generation;
}

/* Its home shows what is owed there, and that is the very same generation? */
static bool home_is_current(struct verify_set *set, const struct finding *victim)
{
    const struct explanation *why = &victim->why;
    const struct page_stamp *stamp = page_stamp_of(set->buffer);
    struct ledger_view view = ledger_view(set->ledger, why->origin_file_uid, why->origin_page_no);
    return view.state == LEDGER_QUIET && view.acked == why->origin_generation &&
           read_page(set, why->origin_file_uid, why->origin_page_no, set->buffer) == 0 &&
           page_check(set->buffer) == PAGE_OK && stamp->file_uid == why->origin_file_uid &&
           stamp->page_no == why->origin_page_no && stamp->generation == why->origin_generation;
}

static void pair(struct verify_set *set, struct finding *victim)
{
    const struct explanation *why = &victim->why;
    struct verify_file *home = file_of(set, why->origin_file_uid);
    if (!why->has_origin || why->origin_other_run || !home ||
        why->origin_page_no >= home->row->capacity_pages)
        return;
    struct finding *event = findings_at(set->findings, why->origin_file_uid, why->origin_page_no);
    if (event && event != victim && event->verdict == VERDICT_lost_write) {
        name_home(victim, home);
        finding_drop(set->findings, event);
    } else if (!event && home_is_current(set, victim)) {
        snprintf(victim->detail, sizeof victim->detail,
                 "page %" PRIu32 " of %s holds the same generation %" PRIu64
                 ": its write was done there and here, too",
                 why->origin_page_no, home->file.path, why->origin_generation);
        finding_rename(set->findings, victim, VERDICT_replayed_write);
    }
}

int verify_many(struct verify_set *set)
{
    struct findings *findings = set->findings;
    struct page_source source = {read_page, pages_of, set};
    if (!set->ledger || !set->believed)
        return 0;
    int error = reverted_find(findings, &source);
    if (!error)
        error = wrapped_find(findings, &source);
    for (unsigned i = 0; i < findings->count && !error; i++)
        if (findings->list[i].verdict == VERDICT_misdirected_write && !findings->list[i].amended)
            pair(set, &findings->list[i]);
    return error;
}
