/*
 * new_extents.c - OP_BULK into new extents: SELECT INTO and BULK INSERT into a table that grows.
 *
 *   the file whose turn it is (proportional fill) -> USE it -> TAKE a run of free extents -> load
 *   (bulk_update.c) -> done
 *   none is free: GROW the database's files by their Increment; they are as large as they may be,
 * or the file system is full: FREE what was loaded before (TRUNCATE TABLE), once nobody uses it
 *
 * Nobody waits for a growth, a freeing or the right to it inside a use of a file.
 */
#include <errno.h>

#include "sim/size_change.h"

#define NOTHING_FREE_REST_NS (100 * NS_PER_MS)

static enum task_result take(struct actor *actor);
static enum task_result free_next(struct actor *actor);

static struct database *database_of(struct actor *actor)
{
    return actor->run->files[actor->op.file]->database;
}

/* ---- load ---- */

static enum task_result loaded(struct actor *actor)
{
    file_use_end(&actor->use);
    return actor->bulk->failed == -ENOSPC ? log_full_begin(actor) : TASK_DONE;
}

static enum task_result load(struct actor *actor, struct extent_run run)
{
    struct bulk_load what = {.extents = run, .full_log = actor->op.full_log, .after = loaded};
    return bulk_load_begin(actor, &what);
}

/* ---- nothing is free ---- */

static enum task_result rest(struct actor *actor)
{
    bool over = clock_now_ns(actor->run->clock) >= actor->think_until_ns;
    if (over || run_stopping(actor->run)) {
        atomic_store(&actor->sleeping, false);
        return TASK_DONE;
    }
    task_sleep_until(&actor->task, actor->think_until_ns);
    return TASK_PARK;
}

/* Others hold all of it. */
static enum task_result rest_begin(struct actor *actor)
{
    actor->think_until_ns = clock_now_ns(actor->run->clock) + NOTHING_FREE_REST_NS;
    atomic_store(&actor->sleeping, true);
    return actor_go(actor, rest);
}

static enum task_result free_end(struct actor *actor)
{
    size_right_end(database_of(actor));
    actor->size_change->freed = true;
    return actor_go(actor, take);
}

static enum task_result free_drop(struct actor *actor)
{
    struct size_change *s = actor->size_change;
    switch (extent_drop_step(&s->shrink.drop)) {
    case STEP_WAIT:
        return TASK_PARK;
    case STEP_FAILED:
        size_right_end(database_of(actor));
        return TASK_DONE;
    case STEP_DONE:
        break;
    }
    return actor_go(actor, free_next);
}

static enum task_result free_drain(struct actor *actor)
{
    struct size_change *s = actor->size_change;
    if (!file_use_drained(s->growth.r.file, s->epoch))
        return TASK_PARK;
    extent_drop_begin(&s->shrink.drop, &s->growth.r);
    return actor_go(actor, free_drop);
}

static enum task_result free_next(struct actor *actor)
{
    struct size_change *s = actor->size_change;
    struct database *database = database_of(actor);
    while (s->next_file < database->file_count) {
        struct data_file *file = &database->files[s->next_file++];
        if (file->sparse || extents_close(file, 0) == 0)
            continue; /* what a sparse file has was no load */
        s->growth.r.file = file;
        s->epoch = file_use_turn(file, &actor->task);
        return actor_go(actor, free_drain);
    }
    return free_end(actor);
}

/* Unless others have freed meanwhile. */
static enum task_result free_right(struct actor *actor)
{
    struct size_change *s = actor->size_change;
    struct database *database = database_of(actor);
    if (size_right_begin(database, false, &actor->task) == SIZE_RIGHT_WAIT)
        return TASK_PARK;
    s->next_file = extents_free(database) ? database->file_count : 0;
    return actor_go(actor, free_next);
}

static enum task_result grow(struct actor *actor)
{
    struct size_change *s = actor->size_change;
    switch (growth_step(&s->growth)) {
    case STEP_WAIT:
        return TASK_PARK;
    case STEP_FAILED:
        return TASK_DONE;
    case STEP_DONE:
        break;
    }
    s->grown = true;
    return actor_go(actor, take);
}

static enum task_result full(struct actor *actor)
{
    struct size_change *s = actor->size_change;
    struct database *database = database_of(actor);
    if (run_stopping(actor->run) || wal_failed(&database->wal))
        return TASK_DONE;
    if (!s->grown && growth_possible(database)) {
        growth_begin(&s->growth, database, 1, true);
        return actor_go(actor, grow);
    }
    return s->freed ? rest_begin(actor) : actor_go(actor, free_right);
}

/* ---- begin ---- */

static enum task_result take(struct actor *actor)
{
    uint32_t wanted = (actor->op.page_count + EXTENT_PAGES - 1) / EXTENT_PAGES;
    struct data_file *file;
    while ((file = extents_file_in_turn(database_of(actor), wanted)) != NULL) {
        file_use_begin(&actor->use, file);
        struct extent_run run = extents_take(file, 0, wanted);
        if (run.count)
            return load(actor, run);
        file_use_end(&actor->use);
    }
    return full(actor);
}

enum task_result new_extents_begin(struct actor *actor)
{
    struct size_change *s = actor->size_change;
    struct resize *r = size_change_of(actor);
    resize_init(r, actor->run, &actor->task, actor->name);
    r->database = database_of(actor);
    s->grown = s->freed = false;
    return actor_go(actor, take);
}
