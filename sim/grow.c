/* grow.c - see grow.h. */
#include "sim/grow.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "config/paths.h"
#include "sim/os_errors.h"
#include "sim/run_errors.h"
#include "sim/tempdb_space.h"

static enum step right(struct growth *g);
static enum step next_file(struct growth *g);
static enum step space(struct growth *g);
static enum step zeros(struct growth *g);
static enum step size_flush(struct growth *g);
static enum step plan(struct growth *g);
static enum step reserve(struct growth *g);
static enum step system_pages(struct growth *g);
static enum step header(struct growth *g);
static enum step commit(struct growth *g);
static enum step header_write(struct growth *g);
static enum step system_write(struct growth *g);
static enum step header_flush(struct growth *g);
static enum step raise_limit(struct growth *g);

static enum step go(struct growth *g, enum step (*state)(struct growth *g))
{
    g->state = state;
    return state(g);
}

/* Go on with `then` when the step is done; when it failed, the database has stopped, or the device
 * does not answer: the right is given back. */
static enum step after(struct growth *g, enum step step, enum step (*then)(struct growth *g))
{
    if (step == STEP_FAILED)
        size_right_end(g->r.database);
    return step == STEP_DONE ? go(g, then) : step;
}

uint8_t *growth_zeros(void)
{
    uint8_t *zero = aligned_alloc(4096, GROW_ZERO_BYTES);
    if (zero)
        memset(zero, 0, GROW_ZERO_BYTES);
    return zero;
}

/* ---- how far ---- */

static uint32_t size_wanted(const struct data_file *file, unsigned increments)
{
    uint64_t pages = file->file.size_pages + increments * (file->increment_bytes / PAGE_BYTES);
    return pages < file->capacity_pages ? (uint32_t)pages : file->capacity_pages;
}

bool growth_possible(const struct database *database)
{
    for (unsigned i = 0; i < database->file_count; i++)
        if (size_wanted(&database->files[i], 1) > database->files[i].file.size_pages)
            return true;
    return false;
}

/* Others have grown the files meanwhile, or given back. */
static bool has_free(const struct growth *g)
{
    const struct database *database = g->r.database;
    return database->tempdb ? !tempdb_space_is_full(g->r.run->tempdb) : extents_free(database) > 0;
}

void growth_begin(struct growth *g, struct database *database, unsigned increments,
                  bool only_when_full)
{
    g->r.database = database;
    g->increments = increments;
    g->only_when_full = only_when_full;
    g->next_file = g->grown = g->failed = 0;
    g->state = right;
}

enum step growth_step(struct growth *g)
{
    return g->state(g);
}

static enum step right(struct growth *g)
{
    if (size_right_begin(g->r.database, false, g->r.task) == SIZE_RIGHT_WAIT)
        return STEP_WAIT;
    if (g->only_when_full && has_free(g))
        g->next_file = g->r.database->file_count;
    return go(g, next_file);
}

static enum step next_file(struct growth *g)
{
    struct database *database = g->r.database;
    while (g->next_file < database->file_count) {
        struct data_file *file = &database->files[g->next_file++];
        g->r.file = file;
        g->old_pages = file->file.size_pages;
        /* A growth was given up behind its space, as the database stopped: that space is
         * acknowledged, and no later failure may cut it off. */
        if (resize_row(&g->r)->size_pages_acked > g->old_pages)
            continue;
        g->new_pages = size_wanted(file, g->increments);
        if (g->new_pages > g->old_pages)
            return go(g, space);
    }
    size_right_end(database);
    return STEP_DONE;
}

/* ---- space ---- */

/* No space is an event and no finding: the file system was never asked to keep it for us. */
static enum step refused(struct growth *g, int error, const char *why)
{
    struct resize *r = &g->r;
    struct ledger_file *row = resize_row(r);
    uint64_t wanted_bytes = (uint64_t)(g->new_pages - g->old_pages) * PAGE_BYTES;
    row->size_pages_issued = row->size_pages_acked;
    relaxed_add(&r->task->worker->stats.counters.growths_failed, 1);
    g->failed++;
    if (!r->file->growth_refused) /* once, not for every load that would need it */
        run_tell(r->run, EVENT_WARNING, EVENT_HERE,
                 "%s cannot grow by %" PRIu64 " MB: %s (SQL Server: 1105). It goes on with %" PRIu64
                 " MB; make room, or lower MaxSize",
                 r->file->file.path, wanted_bytes >> 20, error ? strerror(-error) : why,
                 (uint64_t)g->old_pages * PAGE_BYTES >> 20);
    r->file->growth_refused = true;
    return go(g, next_file);
}

/* Would the growth use what must stay free?  Under a virtual clock the machine counts for nothing.
 */
static bool reserve_is_touched(struct growth *g)
{
    const struct run *run = g->r.run;
    uint64_t available, total, device;
    if (run->config.virtual_clock)
        return false;
    char *directory = path_directory_of(g->r.file->file.path);
    int error = file_system_space(directory, &available, &total, &device);
    free(directory);
    uint64_t wanted = (uint64_t)(g->new_pages - g->old_pages) * PAGE_BYTES;
    return !error && available < wanted + plan_reserve_bytes(run->settings, total);
}

/* Pages of tempdb are not allocated beforehand, its space is. */
static bool is_sparse(const struct data_file *file)
{
    return file->sparse && !file->database->tempdb;
}

static enum step space(struct growth *g)
{
    struct resize *r = &g->r;
    bool sparse = is_sparse(r->file), stamped = r->run->settings->stamp_files && !sparse;
    uint64_t bytes = (uint64_t)g->new_pages * PAGE_BYTES;
    if (reserve_is_touched(g))
        return refused(g, 0, "the rest of the file system must stay free (Reserve)");
    resize_row(r)->size_pages_issued = g->new_pages;
    int error = file_grow(&r->file->file, bytes, stamped || sparse);
    if (error == -EOPNOTSUPP || error == -ENOSYS) {
        stamped = true;
        error = file_grow(&r->file->file, bytes, true);
    }
    if (error)
        return refused(g, error, NULL);
    g->zeroed_bytes = stamped ? (uint64_t)g->old_pages * PAGE_BYTES : bytes;
    return go(g, zeros);
}

static void zeros_prepare(struct growth *g)
{
    struct io_req *req = &g->r.req;
    uint64_t left = (uint64_t)g->new_pages * PAGE_BYTES - g->zeroed_bytes;
    uint64_t bytes = left < GROW_CHUNK_BYTES ? left : GROW_CHUNK_BYTES;
    unsigned parts = 0;
    memset(req, 0, offsetof(struct io_req, resume_iov));
    for (uint64_t at = 0; at < bytes; at += GROW_ZERO_BYTES) {
        size_t part = bytes - at < GROW_ZERO_BYTES ? (size_t)(bytes - at) : GROW_ZERO_BYTES;
        g->iov[parts++] = (struct iovec){(void *)(uintptr_t)g->zeros, part};
    }
    req->op = IO_WRITE;
    req->stream = STREAM_growth_write;
    req->offset = g->zeroed_bytes;
    req->iov = g->iov;
    req->iov_count = parts;
}

/* The file is as it was before. */
static enum step zeros_failed(struct growth *g, int error)
{
    struct resize *r = &g->r;
    int undone = file_cut(&r->file->file, (uint64_t)g->old_pages * PAGE_BYTES);
    return refused(g, undone ? undone : error, NULL);
}

static enum step zeros(struct growth *g)
{
    struct resize *r = &g->r;
    while (g->zeroed_bytes < (uint64_t)g->new_pages * PAGE_BYTES) {
        int error;
        if (!r->flying && !r->flown)
            zeros_prepare(g);
        if (resize_io(r, &error) == STEP_WAIT)
            return STEP_WAIT;
        if (error && !os_error_is_no_space(error))
            run_growth_error(r->run, &r->file->file, r->req.offset, error);
        if (error)
            return zeros_failed(g, error);
        g->zeroed_bytes += r->req.total_bytes;
    }
    return go(g, size_flush);
}

static enum step size_flush(struct growth *g)
{
    struct resize *r = &g->r;
    enum step step = resize_flush(r);
    if (step == STEP_WAIT)
        return STEP_WAIT;
    if (step == STEP_FAILED)
        return zeros_failed(g, -EIO);
    resize_row(r)->size_pages_acked = g->new_pages;
    g->chunk_page = g->old_pages;
    return go(g, plan);
}

/* ---- system pages and size ---- */

/* Plan the next chunk of the new space that has system pages; none: the size is next. */
static void chunk_plan(struct growth *g)
{
    struct resize *r = &g->r;
    r->allocation.page_count = 0;
    while (g->chunk_page < g->new_pages && r->allocation.page_count == 0) {
        uint32_t extents = (g->new_pages - g->chunk_page) / EXTENT_PAGES;
        uint32_t chosen = extents < ALLOCATION_EXTENTS ? (1u << extents) - 1 : UINT32_MAX;
        allocation_plan_extents(&r->allocation, r->file, g->chunk_page, ALLOCATION_SYSTEM, chosen);
        g->chunk_page += ALLOCATION_CHUNK_PAGES;
    }
}

static enum step plan(struct growth *g)
{
    chunk_plan(g);
    return go(g, reserve);
}

/* A transaction a chunk, the last one for the size. */
static enum step reserve(struct growth *g)
{
    struct resize *r = &g->r;
    bool pages = r->allocation.page_count > 0;
    uint64_t need = resize_need(r) + allocation_log_need(r->database->wal.sector_bytes);
    return after(g, resize_xact_begin(r, need), pages ? system_pages : header);
}

static enum step system_pages(struct growth *g)
{
    return after(g, resize_allocate(&g->r), commit);
}

static enum step header(struct growth *g)
{
    return after(g, resize_header(&g->r, g->new_pages), commit);
}

static enum step commit(struct growth *g)
{
    bool pages = g->r.allocation.page_count > 0;
    return after(g, resize_xact_commit(&g->r, !pages), pages ? plan : header_write);
}

/* ---- page 0 ---- */

/* A write or flush that failed is a finding, and page 0 remains for the checkpoint; the log has the
 * size. */
static enum step header_write(struct growth *g)
{
    enum step step = resize_write_page(&g->r, 0);
    g->chunk_page = g->old_pages;
    return step == STEP_WAIT ? step : go(g, system_write);
}

/* The new system pages, so that no map on the disk tells of one that is not there. */
static enum step system_write(struct growth *g)
{
    for (; g->chunk_page < g->new_pages; g->chunk_page++) {
        enum syspage_kind kind = syspage_kind(g->chunk_page, g->r.file->primary);
        if (kind == SYSPAGE_NONE || kind == SYSPAGE_RESERVED)
            continue;
        if (resize_write_page(&g->r, g->chunk_page) == STEP_WAIT)
            return STEP_WAIT;
    }
    return go(g, header_flush);
}

static enum step header_flush(struct growth *g)
{
    enum step step = g->r.file->file.target.dsync ? STEP_DONE : resize_flush(&g->r);
    return step == STEP_WAIT ? step : go(g, raise_limit);
}

static enum step raise_limit(struct growth *g)
{
    struct resize *r = &g->r;
    extents_set_end(r->file, g->new_pages / EXTENT_PAGES);
    resize_set_limit(r, g->new_pages);
    if (r->database->tempdb)
        tempdb_space_grown(r->run->tempdb, r->file, g->new_pages);
    relaxed_add(&r->task->worker->stats.counters.file_growths, 1);
    g->grown++;
    r->file->growth_refused = false;
    run_log(r->run, r->actor, EVENT_HERE, "%s grew from %" PRIu64 " MB to %" PRIu64 " MB",
            r->file->file.path, (uint64_t)g->old_pages * PAGE_BYTES >> 20,
            (uint64_t)g->new_pages * PAGE_BYTES >> 20);
    return go(g, next_file);
}
