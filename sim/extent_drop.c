/* extent_drop.c - see extent_drop.h. */
#include "sim/extent_drop.h"

#include <string.h>

static enum step next_chunk(struct extent_drop *d);
static enum step reserve(struct extent_drop *d);
static enum step unallocate(struct extent_drop *d);
static enum step commit(struct extent_drop *d);
static enum step discard(struct extent_drop *d);

static enum step after(struct extent_drop *d, enum step step,
                       enum step (*then)(struct extent_drop *d))
{
    if (step != STEP_DONE)
        return step;
    d->state = then;
    return then(d);
}

void extent_drop_begin(struct extent_drop *d, struct resize *r)
{
    *d = (struct extent_drop){
        .r = r, .state = next_chunk, .first = r->file->capacity_pages / EXTENT_PAGES};
}

enum step extent_drop_step(struct extent_drop *d)
{
    return d->state(d);
}

static enum step next_chunk(struct extent_drop *d)
{
    struct resize *r = d->r;
    d->chosen = extents_closing(r->file, &d->first);
    if (!d->chosen)
        return STEP_DONE;
    allocation_plan_extents(&r->allocation, r->file, d->first * EXTENT_PAGES, ALLOCATION_FREE,
                            d->chosen);
    return after(d, STEP_DONE, reserve);
}

static enum step reserve(struct extent_drop *d)
{
    struct resize *r = d->r;
    uint64_t need = resize_need(r) + allocation_changes_need(r->database->wal.sector_bytes);
    return after(d, resize_xact_begin(r, need), unallocate);
}

static enum step unallocate(struct extent_drop *d)
{
    return after(d, resize_allocate(d->r), commit);
}

static enum step commit(struct extent_drop *d)
{
    d->page_no = d->first * EXTENT_PAGES;
    d->end = d->page_no + ALLOCATION_CHUNK_PAGES;
    return after(d, resize_xact_commit(d->r, false), discard);
}

enum step extent_drop_page(struct resize *r, uint32_t page_no)
{
    uint16_t uid = r->file->file.mark.file_uid;
    uint64_t generation;
    bool waits;
    if (!pool_discard(&r->run->pool, page_key(uid, page_no), r->task, &waits, &generation)) {
        if (!waits)
            task_sleep_until(r->task, clock_now_ns(r->run->clock) + NS_PER_MS);
        return STEP_WAIT;
    }
    /* Changes that were never written stand in the log: generations go on above them. */
    if (generation || ledger_view(r->run->ledger, uid, page_no).state != LEDGER_NEVER_WRITTEN)
        ledger_free(r->run->ledger, uid, page_no, generation);
    return STEP_DONE;
}

static void chunk_free(struct extent_drop *d)
{
    for (uint32_t i = 0; i < ALLOCATION_EXTENTS; i++) {
        struct extent_run run = {d->r->file, d->first + i, 1};
        if (d->chosen >> i & 1)
            extents_set(&run, EXTENT_FREE);
    }
}

static enum step discard(struct extent_drop *d)
{
    for (; d->page_no < d->end; d->page_no++) {
        if (!(d->chosen >> (d->page_no / EXTENT_PAGES - d->first) & 1))
            continue;
        if (extent_drop_page(d->r, d->page_no) == STEP_WAIT)
            return STEP_WAIT;
        d->pages++;
        relaxed_add(&d->r->task->worker->stats.counters.pages_dropped, 1);
    }
    chunk_free(d);
    return after(d, STEP_DONE, next_chunk);
}
