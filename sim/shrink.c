/* shrink.c - see shrink.h. */
#include "sim/shrink.h"

#include <errno.h>
#include <inttypes.h>
#include <string.h>

#include "sim/size_change.h"

static enum task_result right(struct actor *actor);
static enum task_result drain(struct actor *actor);
static enum task_result next_extent(struct actor *actor);
static enum task_result read_page(struct actor *actor);
static enum task_result move(struct actor *actor);
static enum task_result leave_extent(struct actor *actor);
static enum task_result drop(struct actor *actor);
static enum task_result system_reserve(struct actor *actor);
static enum task_result system_free(struct actor *actor);
static enum task_result system_commit(struct actor *actor);
static enum task_result system_retire(struct actor *actor);
static enum task_result size_reserve(struct actor *actor);
static enum task_result size_log(struct actor *actor);
static enum task_result size_commit(struct actor *actor);
static enum task_result map_write(struct actor *actor);
static enum task_result gam_write(struct actor *actor);
static enum task_result header_write(struct actor *actor);
static enum task_result header_flush(struct actor *actor);
static enum task_result cut(struct actor *actor);
static enum task_result cut_flush(struct actor *actor);

static struct shrink *shrink_of(struct actor *actor)
{
    return &actor->size_change->shrink;
}

/* The log has failed, or page 0 cannot be written: the file stays as long as it is, and what is
 * beyond the limit is of nobody. */
static enum task_result give_up(struct actor *actor)
{
    size_right_end(size_change_of(actor)->database);
    return TASK_DONE;
}

static enum task_result after(struct actor *actor, enum step step, executor_step then)
{
    if (step == STEP_WAIT)
        return TASK_PARK;
    return step == STEP_DONE ? actor_go(actor, then) : give_up(actor);
}

/* ---- nobody is beyond the new end any more ---- */

static uint32_t new_size(const struct actor *actor, const struct data_file *file)
{
    uint64_t by = (uint64_t)-actor->op.increments * (file->increment_bytes / PAGE_BYTES);
    uint32_t room = file->file.size_pages - file->initial_pages;
    return by < room ? file->file.size_pages - (uint32_t)by : file->initial_pages;
}

static enum task_result right(struct actor *actor)
{
    struct resize *r = size_change_of(actor);
    struct shrink *s = shrink_of(actor);
    switch (size_right_begin(r->database, true, &actor->task)) {
    case SIZE_RIGHT_WAIT:
        return TASK_PARK;
    case SIZE_RIGHT_REFUSED:
        run_log(actor->run, actor->name, EVENT_HERE,
                "%s is not shrunk: a backup or a snapshot of its database is under way",
                r->file->file.path);
        return TASK_DONE;
    case SIZE_RIGHT_YOURS:
        break;
    }
    s->old_pages = r->file->file.size_pages;
    s->new_pages = new_size(actor, r->file);
    s->moved = 0;
    s->extent = r->file->capacity_pages / EXTENT_PAGES;
    if (s->new_pages == s->old_pages)
        return give_up(actor);
    extents_set_end(r->file, s->new_pages / EXTENT_PAGES);
    resize_set_limit(r, s->new_pages);
    s->epoch = file_use_turn(r->file, &actor->task);
    return actor_go(actor, drain);
}

static enum task_result drain(struct actor *actor)
{
    struct shrink *s = shrink_of(actor);
    if (!file_use_drained(size_change_of(actor)->file, s->epoch))
        return TASK_PARK;
    return actor_go(actor, next_extent);
}

/* ---- moving ---- */

/* The run ends: what is not moved stays where it is. */
static enum task_result undo(struct actor *actor)
{
    struct resize *r = size_change_of(actor);
    struct shrink *s = shrink_of(actor);
    resize_set_limit(r, s->old_pages);
    extents_set_end(r->file, s->old_pages / EXTENT_PAGES);
    return give_up(actor);
}

static enum task_result next_extent(struct actor *actor)
{
    struct resize *r = size_change_of(actor);
    struct shrink *s = shrink_of(actor);
    uint32_t end = s->new_pages / EXTENT_PAGES;
    if (run_stopping(actor->run))
        return undo(actor);
    if (atomic_load(&r->file->extents.free) == 0) {
        extents_close(r->file, end);
        extent_drop_begin(&s->drop, r);
        return actor_go(actor, drop);
    }
    if (!extents_close_highest(r->file, end, &s->extent)) {
        s->drop.pages = 0;
        s->chunk_page = s->new_pages;
        return actor_go(actor, system_reserve);
    }
    s->first_page = s->extent * EXTENT_PAGES;
    s->page_no = s->first_page + EXTENT_PAGES - 1;
    page_read_start(&actor->reader, r->file, s->page_no, actor->size_change->page,
                    STREAM_page_read);
    return actor_go(actor, read_page);
}

/* Whatever the read says: what is wrong is reported, and the page goes all the same. */
static enum task_result read_page(struct actor *actor)
{
    struct resize *r = size_change_of(actor);
    struct shrink *s = shrink_of(actor);
    if (page_read_step(&actor->reader) == PAGE_READ_WAIT)
        return TASK_PARK;
    if (s->page_no == s->first_page)
        return actor_go(actor, move);
    s->page_no--;
    actor->execute = read_page;
    page_read_start(&actor->reader, r->file, s->page_no, actor->size_change->page,
                    STREAM_page_read);
    return TASK_PARK;
}

static enum task_result move(struct actor *actor)
{
    struct resize *r = size_change_of(actor);
    struct shrink *s = shrink_of(actor);
    struct bulk_load load = {.extents = extents_take(r->file, 0, 1),
                             .full_log = true,
                             .moves = true,
                             .from = s->extent,
                             .after = leave_extent};
    struct extent_run source = {r->file, s->extent, 1};
    if (load.extents.count == 0) { /* nobody else can have taken it */
        extents_set(&source, EXTENT_USED);
        return undo(actor);
    }
    return bulk_load_begin(actor, &load);
}

/* Its use has moved, unless the run ended or the load failed before. */
static enum task_result leave_extent(struct actor *actor)
{
    struct resize *r = size_change_of(actor);
    struct shrink *s = shrink_of(actor);
    struct extent_run source = {r->file, s->extent, 1};
    actor->execute = leave_extent;
    if (!actor->bulk->freed || actor->bulk->failed) {
        extents_set(&source, EXTENT_USED);
        return undo(actor);
    }
    for (; s->page_no < s->first_page + EXTENT_PAGES; s->page_no++) {
        if (extent_drop_page(r, s->page_no) == STEP_WAIT)
            return TASK_PARK;
        s->moved++;
        relaxed_add(&actor->task.worker->stats.counters.pages_moved, 1);
    }
    extents_set(&source, EXTENT_FREE);
    return actor_go(actor, next_extent);
}

static enum task_result drop(struct actor *actor)
{
    struct shrink *s = shrink_of(actor);
    actor->execute = drop;
    s->chunk_page = s->new_pages;
    return after(actor, extent_drop_step(&s->drop), system_reserve);
}

/* ---- system pages beyond the new end ---- */

static bool system_plan(struct actor *actor)
{
    struct resize *r = size_change_of(actor);
    struct shrink *s = shrink_of(actor);
    for (; s->chunk_page < s->old_pages; s->chunk_page += ALLOCATION_CHUNK_PAGES) {
        uint32_t extents = (s->old_pages - s->chunk_page) / EXTENT_PAGES, chosen = 0;
        for (uint32_t i = 0; i < ALLOCATION_EXTENTS && i < extents; i++)
            if (extent_state_of(r->file, s->chunk_page / EXTENT_PAGES + i) == EXTENT_SYSTEM)
                chosen |= 1u << i;
        if (!chosen)
            continue;
        allocation_plan_extents(&r->allocation, r->file, s->chunk_page, ALLOCATION_FREE, chosen);
        return true;
    }
    return false;
}

static enum task_result system_reserve(struct actor *actor)
{
    struct resize *r = size_change_of(actor);
    uint64_t need = resize_need(r) + allocation_changes_need(r->database->wal.sector_bytes);
    if (!r->reserved && !system_plan(actor)) {
        shrink_of(actor)->page_no = shrink_of(actor)->new_pages;
        return actor_go(actor, system_retire);
    }
    return after(actor, resize_xact_begin(r, need), system_free);
}

static enum task_result system_free(struct actor *actor)
{
    return after(actor, resize_allocate(size_change_of(actor)), system_commit);
}

static enum task_result system_commit(struct actor *actor)
{
    enum step step = resize_xact_commit(size_change_of(actor), false);
    if (step == STEP_DONE)
        shrink_of(actor)->chunk_page += ALLOCATION_CHUNK_PAGES;
    return after(actor, step, system_reserve);
}

static enum task_result system_retire(struct actor *actor)
{
    struct resize *r = size_change_of(actor);
    struct shrink *s = shrink_of(actor);
    uint16_t uid = r->file->file.mark.file_uid;
    for (; s->page_no < s->old_pages; s->page_no++) {
        if (syspage_kind(s->page_no, r->file->primary) == SYSPAGE_NONE)
            continue;
        if (!syspage_retire(r->file, s->page_no, &actor->task))
            return TASK_PARK;
        if (ledger_view(actor->run->ledger, uid, s->page_no).state != LEDGER_NEVER_WRITTEN)
            ledger_free(actor->run->ledger, uid, s->page_no, 0);
    }
    return actor_go(actor, size_reserve);
}

/* ---- the size ---- */

static enum task_result size_reserve(struct actor *actor)
{
    struct resize *r = size_change_of(actor);
    return after(actor, resize_xact_begin(r, resize_need(r)), size_log);
}

static enum task_result size_log(struct actor *actor)
{
    return after(actor, resize_header(size_change_of(actor), shrink_of(actor)->new_pages),
                 size_commit);
}

static enum task_result size_commit(struct actor *actor)
{
    return after(actor, resize_xact_commit(size_change_of(actor), true), map_write);
}

/* What calls pages beyond the end free: PFS and GAM, which stand side by side in the first interval
 * and then go in one write. */
static enum task_result map_write(struct actor *actor)
{
    uint32_t map = syspage_pfs_of(shrink_of(actor)->new_pages - 1);
    return after(actor, resize_write_page(size_change_of(actor), map), gam_write);
}

static enum task_result gam_write(struct actor *actor)
{
    uint32_t map = syspage_interval_page(shrink_of(actor)->new_pages - 1, SYSPAGE_GAM);
    if (map == SYSPAGE_NO_PAGE)
        return actor_go(actor, header_write);
    return after(actor, resize_write_page(size_change_of(actor), map), header_write);
}

static enum task_result header_write(struct actor *actor)
{
    struct resize *r = size_change_of(actor);
    return after(actor, resize_write_page(r, 0), r->file->file.target.dsync ? cut : header_flush);
}

static enum task_result header_flush(struct actor *actor)
{
    return after(actor, resize_flush(size_change_of(actor)), cut);
}

/* ---- the cut ---- */

static enum task_result cut(struct actor *actor)
{
    struct resize *r = size_change_of(actor);
    struct shrink *s = shrink_of(actor);
    resize_row(r)->size_pages_acked = s->new_pages;
    s->error = file_cut(&r->file->file, (uint64_t)s->new_pages * PAGE_BYTES);
    if (s->error) {
        run_warn(actor->run, "%s could not be cut to %" PRIu64 " MB: %s. It keeps its length",
                 r->file->file.path, (uint64_t)s->new_pages * PAGE_BYTES >> 20,
                 strerror(-s->error));
        return give_up(actor);
    }
    return actor_go(actor, cut_flush);
}

static enum task_result cut_flush(struct actor *actor)
{
    struct resize *r = size_change_of(actor);
    struct shrink *s = shrink_of(actor);
    enum step step = resize_flush(r);
    if (step == STEP_DONE) {
        resize_row(r)->size_pages_issued = s->new_pages;
        relaxed_add(&actor->task.worker->stats.counters.file_shrinks, 1);
        run_log(actor->run, actor->name, EVENT_HERE,
                "%s shrank from %" PRIu64 " MB to %" PRIu64 " MB: %" PRIu64
                " pages were moved, %" PRIu64 " dropped",
                r->file->file.path, (uint64_t)s->old_pages * PAGE_BYTES >> 20,
                (uint64_t)s->new_pages * PAGE_BYTES >> 20, s->moved, s->drop.pages);
    }
    return step == STEP_WAIT ? TASK_PARK : give_up(actor);
}

enum task_result shrink_begin(struct actor *actor)
{
    return actor_go(actor, right);
}
