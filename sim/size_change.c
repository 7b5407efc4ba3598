/*
 * size_change.c - OP_RESIZE: grow the data files of a database, or shrink one file.
 *
 * After a growth half of the new space is filled, half a megabyte of each: as inserts and deletes
 * would leave it.  So the other users have pages there, and a later shrink has pages to move and
 * room to move them to.
 */
#include "sim/size_change.h"

#include <errno.h>
#include <stdlib.h>

#define FILL_EXTENTS 8 /* used, and as many left free behind them */

static enum task_result fill_next(struct actor *actor);

/* ---- what a growth brought is filled ---- */

static enum task_result filled(struct actor *actor)
{
    file_use_end(&actor->use);
    if (actor->bulk->failed)
        return TASK_DONE;
    return actor_go(actor, fill_next);
}

/* Half of the next free run from s->from on. */
static enum task_result fill_run(struct actor *actor, struct data_file *file)
{
    struct size_change *s = actor->size_change;
    file_use_begin(&actor->use, file); /* before the run is taken: a shrink waits for it */
    struct extent_run run = extents_take(file, s->from, FILL_EXTENTS);
    if (run.count == 0) {
        file_use_end(&actor->use);
        s->file++;
        s->from = 0;
        return actor_go(actor, fill_next);
    }
    s->from = run.first + 2 * run.count;
    struct bulk_load load = {.extents = run, .after = filled};
    return bulk_load_begin(actor, &load);
}

static enum task_result fill_next(struct actor *actor)
{
    struct size_change *s = actor->size_change;
    struct database *database = s->growth.r.database;
    for (; s->file < database->file_count && !run_stopping(actor->run); s->file++, s->from = 0) {
        struct data_file *file = &database->files[s->file];
        uint32_t before = s->sizes_before[s->file] / EXTENT_PAGES;
        if (!file->sparse && file->file.size_pages / EXTENT_PAGES > before) {
            s->from = s->from > before ? s->from : before;
            return fill_run(actor, file);
        }
    }
    return TASK_DONE;
}

/* ---- growth ---- */

static enum task_result grow(struct actor *actor)
{
    struct size_change *s = actor->size_change;
    actor->execute = grow;
    switch (growth_step(&s->growth)) {
    case STEP_WAIT:
        return TASK_PARK;
    case STEP_FAILED:
        return TASK_DONE;
    case STEP_DONE:
        break;
    }
    s->file = 0;
    s->from = 0;
    return actor_go(actor, fill_next);
}

static enum task_result grow_begin(struct actor *actor)
{
    struct size_change *s = actor->size_change;
    struct database *database = s->growth.r.file->database;
    for (unsigned i = 0; i < database->file_count; i++)
        s->sizes_before[i] = database->files[i].file.size_pages;
    growth_begin(&s->growth, database, (unsigned)actor->op.increments, false);
    return actor_go(actor, grow);
}

/* ---- life ---- */

enum task_result size_change_begin(struct actor *actor)
{
    struct resize *r = size_change_of(actor);
    resize_init(r, actor->run, &actor->task, actor->name);
    r->file = actor->run->files[actor->op.file];
    r->database = r->file->database;
    return actor->op.increments > 0 ? grow_begin(actor) : shrink_begin(actor);
}

int size_change_create(struct actor *actor)
{
    struct size_change *s = calloc(1, sizeof *s);
    if (!s)
        return -ENOMEM;
    actor->size_change = s;
    s->zeros = growth_zeros();
    s->growth.zeros = s->zeros;
    s->page = aligned_alloc(4096, PAGE_BYTES);
    s->sizes_before = calloc(actor->run->file_count, sizeof *s->sizes_before);
    return s->zeros && s->page && s->sizes_before ? 0 : -ENOMEM;
}

void size_change_free(struct actor *actor)
{
    struct size_change *s = actor->size_change;
    if (!s)
        return;
    free(s->zeros);
    free(s->page);
    free(s->sizes_before);
    free(s);
    actor->size_change = NULL;
}
