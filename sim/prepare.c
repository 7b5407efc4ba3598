/*
 * prepare.c - see prepare.h.
 *
 *   RESERVE -> ALLOCATE (system pages) -> FORMAT records, commit -> WAIT durable -> WRITE -> next
 * chunk
 *
 * A chunk's runs of data pages between system pages go out as one gather write each.  A sparse file
 * gets its system pages only.
 */
#include "sim/prepare.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "sim/allocation.h"
#include "sim/buffer_sum.h"
#include "sim/page_change.h"
#include "sim/run.h"
#include "sim/run_errors.h"

#define CHUNK_RUNS_MAX 8 /* runs of data pages in a chunk: system pages split it */

struct preparer {
    struct task task;
    struct run *run;
    struct data_file *file;
    _Atomic uint32_t *next_chunk;
    uint32_t chunk_limit;
    enum task_result (*state)(struct preparer *p);
    struct xact xact;
    struct wal_waiter waiter;
    struct allocation allocation;
    uint32_t first_page, count;
    unsigned extent; /* next extent to log */
    bool committed;
    struct lsn lsns[ALLOCATION_EXTENTS];
    struct lsn last_lsn;
    uint8_t *buffer; /* a chunk */
    unsigned writing;
    struct gather gathers[CHUNK_RUNS_MAX];
};

static enum task_result next_chunk(struct preparer *p);
static enum task_result reserve(struct preparer *p);
static enum task_result allocate(struct preparer *p);
static enum task_result log_formats(struct preparer *p);
static enum task_result wait_log(struct preparer *p);
static enum task_result write_pages(struct preparer *p);
static enum task_result wait_writes(struct preparer *p);

static struct wal *wal_of(struct preparer *p)
{
    return &p->file->database->wal;
}

static enum task_result go(struct preparer *p, enum task_result (*state)(struct preparer *p))
{
    p->state = state;
    return state(p);
}

static enum task_result abandon(struct preparer *p)
{
    wal_end(wal_of(p), &p->xact);
    return TASK_DONE;
}

/* Take the next chunk of the file; false if there is none. */
static bool take_chunk(struct preparer *p)
{
    uint32_t chunk = atomic_load(p->next_chunk);
    uint64_t first;
    do {
        first = (uint64_t)chunk * ALLOCATION_CHUNK_PAGES;
        if (run_stopping(p->run) || chunk >= p->chunk_limit || first >= p->file->file.size_pages)
            return false;
    } while (!atomic_compare_exchange_weak(p->next_chunk, &chunk, chunk + 1));
    uint64_t left = p->file->file.size_pages - first;
    p->first_page = (uint32_t)first;
    p->count = left < ALLOCATION_CHUNK_PAGES ? (uint32_t)left : ALLOCATION_CHUNK_PAGES;
    p->extent = 0;
    p->committed = false;
    return true;
}

static enum task_result next_chunk(struct preparer *p)
{
    while (take_chunk(p)) {
        if (allocation_wanted(p->file, p->first_page, p->count))
            return go(p, reserve);
        atomic_fetch_add(&p->run->progress_done, p->count);
    }
    return TASK_DONE;
}

static enum task_result reserve(struct preparer *p)
{
    struct wal *wal = wal_of(p);
    if (!wal_reserve(wal, &p->xact, allocation_log_need(wal->sector_bytes), &p->task))
        return TASK_PARK;
    allocation_plan(&p->allocation, p->file, p->first_page, p->count);
    return go(p, allocate);
}

static enum task_result allocate(struct preparer *p)
{
    int error = allocation_step(&p->allocation, &p->xact, &p->task);
    if (error)
        return error == -EAGAIN ? TASK_PARK : abandon(p);
    return go(p, log_formats);
}

static int format_append(struct preparer *p)
{
    uint32_t first = p->first_page + p->extent * EXTENT_PAGES;
    const struct file_mark *mark = &p->file->file.mark;
    struct page_identity page = {.file_uid = mark->file_uid,
                                 .incarnation = mark->incarnation,
                                 .page_no = first,
                                 .generation = PAGE_FIRST_GENERATION};
    return page_format_log(wal_of(p), &p->xact, &page, EXTENT_PAGES, &p->lsns[p->extent], &p->task);
}

static enum task_result log_formats(struct preparer *p)
{
    int error = 0;
    while (!error && !p->file->sparse && p->extent < p->count / EXTENT_PAGES) {
        error = format_append(p);
        p->extent += !error;
    }
    if (!error)
        error = log_mark(wal_of(p), &p->xact, LOG_OP_COMMIT_XACT, &p->last_lsn, &p->task);
    if (error)
        return error == -EAGAIN ? TASK_PARK : abandon(p);
    return go(p, wait_log);
}

static enum task_result wait_log(struct preparer *p)
{
    struct wal *wal = wal_of(p);
    if (wal_wait_durable(wal, lsn_position(p->last_lsn), &p->waiter, &p->task))
        return go(p, write_pages);
    return wal_failed(wal) ? abandon(p) : TASK_PARK;
}

/* ---- writing ---- */

static void gather_finished(struct gather *gather)
{
    struct preparer *p = gather->context;
    p->writing--;
    task_wake(&p->task);
}

static void page_image(struct preparer *p, uint32_t page_no, struct page_image *image)
{
    struct file *file = &p->file->file;
    struct page_identity identity = {file->mark.file_uid, file->mark.incarnation,
                                     file->mark.file_id, page_no, PAGE_FIRST_GENERATION};
    uint8_t *bytes = p->buffer + (size_t)(page_no - p->first_page) * PAGE_BYTES;
    page_fill(bytes, &p->run->identity, &identity, 0);
    buffer_built(p->file->database, bytes);
    *image = (struct page_image){.bytes = bytes,
                                 .generation = PAGE_FIRST_GENERATION,
                                 .lsn = p->lsns[(page_no - p->first_page) / EXTENT_PAGES]};
}

/* The run of data pages from page_no; returns the page behind it. */
static uint32_t run_collect(struct preparer *p, uint32_t page_no, struct gather *gather)
{
    gather->file = p->file;
    gather->first_page = page_no;
    gather->count = 0;
    while (page_no < p->first_page + p->count &&
           syspage_kind(page_no, p->file->primary) == SYSPAGE_NONE) {
        page_image(p, page_no, &gather->images[gather->count++]);
        page_no++;
    }
    return page_no;
}

static enum task_result write_pages(struct preparer *p)
{
    if (p->file->sparse)
        return go(p, wait_writes);
    unsigned runs = 0;
    uint32_t page_no = p->first_page;
    while (page_no < p->first_page + p->count) {
        if (syspage_kind(page_no, p->file->primary) != SYSPAGE_NONE) {
            page_no++;
            continue;
        }
        page_no = run_collect(p, page_no, &p->gathers[runs++]);
    }
    p->writing = runs;
    p->state = wait_writes;
    for (unsigned i = 0; i < runs; i++) {
        struct gather *gather = &p->gathers[i];
        gather->stream = STREAM_prepare_write;
        gather->worker = p->task.worker;
        gather->retried = false;
        gather->done = gather_finished;
        gather->context = p;
        gather->on_error = run_write_error;
        gather->run = p->run;
        gather->actor = "initial update";
        writeback_submit(gather);
    }
    return TASK_PARK;
}

static enum task_result wait_writes(struct preparer *p)
{
    if (p->writing)
        return TASK_PARK;
    atomic_fetch_add(&p->run->progress_done, p->count);
    wal_end(wal_of(p), &p->xact);
    return go(p, next_chunk);
}

/* ---- life ---- */

static enum task_result preparer_step(struct task *task)
{
    struct preparer *p = (struct preparer *)task; /* first member */
    return p->state(p);
}

static void preparer_finished(struct task *task)
{
    run_task_ended(((struct preparer *)task)->run, true);
}

int preparer_create(struct preparer **out, struct run *run, struct worker *worker,
                    struct data_file *file, _Atomic uint32_t *next_chunk_no, uint32_t chunk_limit)
{
    struct preparer *p = calloc(1, sizeof *p);
    if (!p)
        return -ENOMEM;
    p->buffer = aligned_alloc(4096, ALLOCATION_CHUNK_PAGES * PAGE_BYTES);
    if (!p->buffer) {
        free(p);
        return -ENOMEM;
    }
    task_init(&p->task, worker, preparer_step);
    p->task.name = "initial update";
    p->task.finished = preparer_finished;
    p->run = run;
    p->file = file;
    p->next_chunk = next_chunk_no;
    p->chunk_limit = chunk_limit;
    p->state = next_chunk;
    *out = p;
    return 0;
}

void preparer_start(struct preparer *p)
{
    run_task_started(p->run, true);
    task_start(&p->task);
}

void preparer_free(struct preparer *p)
{
    if (!p)
        return;
    free(p->buffer);
    free(p);
}
