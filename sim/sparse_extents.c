/* sparse_extents.c - see sparse_extents.h. */
#include "sim/sparse_extents.h"

#include <errno.h>

#include "sim/actor.h"

static struct data_file *file_of(const struct actor *actor)
{
    return actor->run->files[actor->op.file];
}

static bool is_free(const struct data_file *file, uint32_t page_no)
{
    return page_no < file->file.size_pages &&
           extent_state_of(file, page_no / EXTENT_PAGES) == EXTENT_FREE;
}

/* ---- what the op will change ---- */

/* The extent joins the run; false: it does not continue it. */
static bool run_extend(struct extent_run *run, uint32_t extent)
{
    uint32_t end = run->first + run->count;
    if (run->count == 0)
        *run = (struct extent_run){.file = run->file, .first = extent, .count = 1};
    else if (extent == end && run->count < ALLOCATION_EXTENTS)
        run->count++;
    else
        return extent >= run->first && extent < end;
    return true;
}

static struct extent_run next_of_update(struct actor *actor)
{
    const struct op *op = &actor->op;
    struct sparse_extents *s = &actor->sparse;
    struct extent_run run = {.file = file_of(actor)};
    for (; s->next < op->pages_count; s->next++) {
        const struct op_page *page = &op->pages[s->next];
        if (page->update && is_free(run.file, page->page_no) &&
            !run_extend(&run, page->page_no / EXTENT_PAGES))
            break;
    }
    return run;
}

static uint32_t bulk_end(const struct actor *actor)
{
    return (actor->op.first_page + actor->op.page_count + EXTENT_PAGES - 1) / EXTENT_PAGES;
}

static struct extent_run next_of_bulk(struct actor *actor)
{
    struct sparse_extents *s = &actor->sparse;
    struct extent_run run = {.file = file_of(actor)};
    for (; s->next < bulk_end(actor); s->next++)
        if (is_free(run.file, s->next * EXTENT_PAGES) && !run_extend(&run, s->next))
            break;
    return run;
}

/* ---- allocating ---- */

static enum task_result next_run(struct actor *actor);

static enum task_result op_itself(struct actor *actor)
{
    if (actor->op.kind == OP_UPDATE)
        return transaction_begin(actor);
    /* Nothing of it was there before, and so it was done. */
    if (actor->sparse.loaded == bulk_end(actor) - actor->op.first_page / EXTENT_PAGES)
        return TASK_DONE;
    return bulk_update_begin(actor);
}

static enum task_result loaded(struct actor *actor)
{
    const struct bulk_update *b = actor->bulk;
    if (b->failed)
        return b->failed == -ENOSPC ? log_full_begin(actor) : TASK_DONE;
    actor->sparse.loaded += b->load.extents.count;
    return actor_go(actor, next_run);
}

static enum task_result next_run(struct actor *actor)
{
    bool update = actor->op.kind == OP_UPDATE;
    while (!run_stopping(actor->run)) {
        struct extent_run run = update ? next_of_update(actor) : next_of_bulk(actor);
        if (run.count == 0)
            break;
        run = extents_take_at(run.file, run.first, run.count); /* another may have been quicker */
        struct bulk_load what = {.extents = run, .inside = update, .after = loaded};
        if (run.count)
            return bulk_load_begin(actor, &what);
    }
    return op_itself(actor);
}

enum task_result sparse_extents_begin(struct actor *actor)
{
    bool update = actor->op.kind == OP_UPDATE;
    actor->sparse =
        (struct sparse_extents){.next = update ? 0 : actor->op.first_page / EXTENT_PAGES};
    return actor_go(actor, next_run);
}

/* ---- who needs it ---- */

bool sparse_extents_needed(const struct run *run)
{
    for (unsigned i = 0; i < run->user_file_count; i++)
        if (run->files[i]->sparse)
            return true;
    return false;
}

bool sparse_extents_wanted(const struct actor *actor)
{
    const struct op *op = &actor->op;
    bool changes =
        (op->kind == OP_UPDATE && !op->rollback) || (op->kind == OP_BULK && !op->new_extents);
    return changes && file_of(actor)->sparse;
}
