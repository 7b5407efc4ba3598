/*
 * snapshot_copy.c - see snapshot_copy.h.
 *
 *   (a gather) -> NEXT run of pages that still stand in the source -> READ them from the device ->
 *   JUDGE each -> WRITE what is right into the snapshot -> NEXT ... -> the gather goes
 *
 * Invariants:
 *  1. A page leaves SNAPSHOT_SOURCE only when its copy was acknowledged, or when there is nothing
 * to copy; so a page that stands in the source is whole there.
 *  2. The gather goes in any case: a page that cannot be read has a finding, a snapshot that cannot
 *     be written is suspect.
 */
#include "sim/snapshot_copy.h"

#include <assert.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "sim/os_errors.h"
#include "sim/run_errors.h"

#define OVERLAP_TRIES 16 /* only a quarantine changes the epoch meanwhile */
#define COPIER_NAME   "DBCC snapshot"
#define BUFFER_ALIGN  4096

static enum task_result next_run(struct snapshot_copier *copier);
static enum task_result judge(struct snapshot_copier *copier);
static enum task_result write_run(struct snapshot_copier *copier);
static enum task_result written(struct snapshot_copier *copier);

static enum task_result go(struct snapshot_copier *copier,
                           enum task_result (*step)(struct snapshot_copier *copier))
{
    copier->step = step;
    return step(copier);
}

static struct ledger *ledger_of(const struct snapshot_copier *copier)
{
    return copier->snapshot->run->ledger;
}

static uint16_t source_uid(const struct snapshot_copier *copier)
{
    return copier->snapshot->source->file.mark.file_uid;
}

static uint8_t *page_bytes(const struct snapshot_copier *copier, unsigned index)
{
    return copier->buffer + (size_t)index * PAGE_BYTES;
}

/* ---- gathers come and go ---- */

static void copier_begin(struct snapshot_copier *copier, struct gather *gather)
{
    copier->gather = gather;
    copier->snapshot = gather->file->snapshot;
    copier->next_page = 0;
    copier->step = next_run;
}

void snapshot_copy(struct snapshot *snapshot, struct gather *gather)
{
    struct snapshot_copiers *of = &snapshot->run->snapshots->copiers[gather->worker->index];
    struct snapshot_copier *copier = of->free_list;
    if (copier) {
        of->free_list = copier->next;
        copier_begin(copier, gather);
        task_wake(&copier->task);
        return;
    }
    gather_line_add(&of->line, gather);
}

/* The next of the line, or free. */
static enum task_result copier_next(struct snapshot_copier *copier)
{
    struct snapshot_copiers *of = copier->of;
    struct gather *gather = gather_line_take(&of->line);
    if (!gather) {
        copier->gather = NULL;
        copier->next = of->free_list;
        of->free_list = copier;
        return TASK_PARK;
    }
    copier_begin(copier, gather);
    return TASK_AGAIN;
}

static enum task_result finish(struct snapshot_copier *copier)
{
    struct gather *gather = copier->gather;
    snapshot_let_go(copier->snapshot);
    enum task_result result = copier_next(copier);
    writeback_send(gather);
    return result;
}

/* ---- which pages ---- */

/* Was anything owed there that can be kept?  A page in doubt may be. */
static bool is_owed(struct ledger_view view)
{
    return view.issued > 0 && (view.state == LEDGER_QUIET || view.state == LEDGER_INDETERMINATE);
}

/* Must the page be copied?  One that was not owed is settled at once. */
static bool is_wanted(struct snapshot_copier *copier, uint32_t page_no, struct ledger_view *before)
{
    struct snapshot *snapshot = copier->snapshot;
    if (page_no >= snapshot->size_pages || snapshot_place_of(snapshot, page_no) != SNAPSHOT_SOURCE)
        return false;
    *before = ledger_view(ledger_of(copier), source_uid(copier), page_no);
    if (is_owed(*before))
        return true;
    snapshot_place_set(snapshot, page_no, SNAPSHOT_NONE);
    return false;
}

static void run_find(struct snapshot_copier *copier)
{
    const struct gather *gather = copier->gather;
    copier->count = 0;
    while (copier->next_page < gather->count && copier->count < SNAPSHOT_COPY_PAGES) {
        uint32_t page_no = gather->first_page + copier->next_page;
        bool wanted = is_wanted(copier, page_no, &copier->before[copier->count]);
        if (!wanted && copier->count)
            return;
        copier->next_page++;
        if (wanted && copier->count++ == 0)
            copier->first_page = page_no;
    }
}

static void run_read(struct snapshot_copier *copier)
{
    struct page_batch_pages pages = {.file = copier->snapshot->source,
                                     .first_page = copier->first_page,
                                     .count = copier->count,
                                     .stream = STREAM_snapshot_read};
    page_batch_iov(&copier->batch, copier->buffer, pages.count);
    page_batch_send(&copier->batch, &pages);
}

static enum task_result next_run(struct snapshot_copier *copier)
{
    if (snapshot_is_suspect(copier->snapshot))
        return finish(copier);
    run_find(copier);
    if (copier->count == 0)
        return finish(copier);
    copier->written = 0;
    copier->again = OVERLAP_TRIES;
    run_read(copier);
    copier->step = judge;
    return TASK_PARK;
}

/* ---- judging ---- */

/* What was acknowledged; of a page in doubt what was found.  0: an image that nobody can build on.
 */
static uint64_t generation_of(const struct snapshot_copier *copier, struct ledger_view view,
                              uint32_t page_no, const uint8_t *image)
{
    if (view.state == LEDGER_QUIET)
        return view.acked;
    bool system = syspage_kind(page_no, copier->snapshot->source->primary) != SYSPAGE_NONE;
    if (view.state != LEDGER_INDETERMINATE || system || page_check(image) != PAGE_OK)
        return 0;
    return page_stamp_of(image)->generation;
}

static void page_keep(struct snapshot_copier *copier, bool right)
{
    unsigned i = copier->batch.at;
    uint32_t page_no = copier->first_page + i;
    struct ledger_view view = page_batch_before(&copier->batch);
    uint64_t generation = right ? generation_of(copier, view, page_no, page_bytes(copier, i)) : 0;
    copier->generation[i] = generation;
    copier->wanted[i] = generation > 0;
    if (!copier->wanted[i])
        snapshot_place_set(copier->snapshot, page_no, SNAPSHOT_NONE);
}

static enum task_result judge(struct snapshot_copier *copier)
{
    for (;;) {
        enum page_read_result result = page_batch_step(&copier->batch);
        if (result == PAGE_READ_WAIT)
            return TASK_PARK;
        if (result == PAGE_READ_OVER)
            return go(copier, write_run);
        if (result == PAGE_READ_OVERLAPPED && copier->again-- > 0) {
            page_batch_again(&copier->batch, copier->snapshot->source);
            return TASK_PARK;
        }
        copier->again = OVERLAP_TRIES;
        page_keep(copier, result == PAGE_READ_RIGHT);
    }
}

/* ---- writing ---- */

static void out_done(struct gather *out)
{
    struct snapshot_copier *copier = out->context;
    copier->in_flight = false;
    task_wake(&copier->task);
}

/* A full disk harms nothing but the snapshot. */
static void out_error(struct gather *out, bool final)
{
    if (!os_error_is_no_space(out->result))
        run_write_error(out, final);
}

/* The next pages that go together, from copier->written on. */
static void out_fill(struct snapshot_copier *copier)
{
    struct gather *out = &copier->out;
    struct data_file *file = &copier->snapshot->file;
    out->count = 0;
    while (copier->written < copier->count && copier->wanted[copier->written]) {
        unsigned i = copier->written++;
        uint32_t page_no = copier->first_page + i;
        if (out->count == 0)
            out->first_page = page_no;
        out->images[out->count++] = (struct page_image){.bytes = page_bytes(copier, i),
                                                        .generation = copier->generation[i],
                                                        .actor = copier->before[i].actor};
        if (syspage_kind(page_no, file->primary) != SYSPAGE_NONE)
            syspage_place(file, page_no);
    }
    out->file = file;
    out->stream = STREAM_snapshot_write;
    out->worker = copier->task.worker;
    out->retried = false;
    out->done = out_done;
    out->on_error = out_error;
    out->run = copier->snapshot->run;
    out->actor = COPIER_NAME;
    out->context = copier;
}

static enum task_result write_run(struct snapshot_copier *copier)
{
    while (copier->written < copier->count && !copier->wanted[copier->written])
        copier->written++;
    if (copier->written == copier->count || snapshot_is_suspect(copier->snapshot))
        return go(copier, next_run);
    out_fill(copier);
    copier->in_flight = true;
    copier->step = written;
    writeback_submit(&copier->out);
    return TASK_PARK;
}

static enum task_result written(struct snapshot_copier *copier)
{
    const struct gather *out = &copier->out;
    if (copier->in_flight)
        return TASK_PARK;
    if (out->result)
        snapshot_fail(copier->snapshot, out->result);
    for (unsigned i = 0; i < out->count && !out->result; i++)
        snapshot_place_set(copier->snapshot, out->first_page + i, SNAPSHOT_HERE);
    return go(copier, write_run);
}

/* ---- life ---- */

static enum task_result copier_step(struct task *task)
{
    struct snapshot_copier *copier = (struct snapshot_copier *)task; /* first member */
    return copier->gather ? copier->step(copier) : TASK_PARK;
}

static int copier_init(struct snapshot_copiers *of, unsigned index, struct run *run,
                       struct worker *worker)
{
    struct snapshot_copier *copier = &of->list[index];
    copier->of = of;
    copier->next = of->free_list;
    of->free_list = copier;
    task_init(&copier->task, worker, copier_step);
    copier->task.name = "snapshot";
    copier->buffer = aligned_alloc(BUFFER_ALIGN, SNAPSHOT_COPY_PAGES * PAGE_BYTES);
    copier->batch.reader = &copier->reader;
    copier->batch.iov = copier->iov;
    copier->batch.before = copier->before;
    copier->batch.to_the_end = true; /* the gather goes in any case */
    int error = page_reader_init(&copier->reader, run, &copier->task, COPIER_NAME);
    if (!error && !copier->buffer)
        error = -ENOMEM;
    if (!error)
        task_start(&copier->task);
    return error;
}

int snapshot_copiers_create(struct run *run)
{
    struct snapshots *snapshots = run->snapshots;
    int error = 0;
    snapshots->copiers = calloc(run->worker_count, sizeof *snapshots->copiers);
    if (!snapshots->copiers)
        return -ENOMEM;
    snapshots->worker_count = run->worker_count;
    for (unsigned i = 0; i < run->worker_count; i++)
        for (unsigned j = 0; j < SNAPSHOT_COPIERS && !error; j++)
            error = copier_init(&snapshots->copiers[i], j, run, &run->workers[i]);
    return error;
}

/* A copier that was never made is zeroed. */
void snapshot_copiers_free(struct snapshots *snapshots)
{
    for (unsigned i = 0; i < snapshots->worker_count; i++)
        for (unsigned j = 0; j < SNAPSHOT_COPIERS; j++) {
            page_reader_free(&snapshots->copiers[i].list[j].reader);
            free(snapshots->copiers[i].list[j].buffer);
        }
    free(snapshots->copiers);
    snapshots->copiers = NULL;
}
