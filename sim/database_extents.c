/*
 * database_extents.c - see database_extents.h.
 *
 * Proportional fill keeps a credit a file: each take of n extents gives every file n times its free
 * extents, and the file that is taken from pays n times their sum.  The one with the most credit is
 * next, so over time each gets its share exactly, in the smoothest order.
 */
#include "sim/database_extents.h"

#include <assert.h>
#include <errno.h>
#include <stdlib.h>

#define EXTENTS_AT_ONCE 16 /* ALLOCATION_EXTENTS: what one plan may free */

/* ---- life ---- */

static bool has_system_page(const struct data_file *file, uint32_t extent)
{
    for (uint32_t i = 0; i < EXTENT_PAGES; i++)
        if (syspage_kind(extent * EXTENT_PAGES + i, file->primary) != SYSPAGE_NONE)
            return true;
    return false;
}

int extent_map_init(struct data_file *file)
{
    struct extent_map *map = &file->extents;
    uint32_t capacity = file->capacity_pages / EXTENT_PAGES;
    bool comes_later = file->sparse && !file->database->tempdb; /* all that holds data */
    pthread_mutex_init(&map->lock, NULL);
    map->first = comes_later ? 0 : (file->initial_pages + EXTENT_PAGES - 1) / EXTENT_PAGES;
    map->end = map->hint = map->first;
    if (capacity <= map->first)
        return 0;
    map->states = calloc(capacity - map->first, sizeof *map->states);
    if (!map->states)
        return -ENOMEM;
    for (uint32_t extent = map->first; extent < capacity; extent++)
        if (has_system_page(file, extent))
            atomic_store(&map->states[extent - map->first], EXTENT_SYSTEM);
    if (comes_later)
        extents_set_end(file, file->initial_pages / EXTENT_PAGES);
    return 0;
}

void extent_map_free(struct data_file *file)
{
    if (file->database)
        pthread_mutex_destroy(&file->extents.lock);
    free((void *)file->extents.states);
    file->extents.states = NULL;
}

/* ---- states ---- */

static enum extent_state get(const struct extent_map *map, uint32_t extent)
{
    return (enum extent_state)atomic_load(&map->states[extent - map->first]);
}

static void set(struct extent_map *map, uint32_t extent, enum extent_state state)
{
    bool was_free = get(map, extent) == EXTENT_FREE, is_free = state == EXTENT_FREE;
    atomic_store(&map->states[extent - map->first], (uint8_t)state);
    if (extent >= map->end)
        return;
    if (is_free && extent < map->hint)
        map->hint = extent;
    if (is_free && !was_free)
        atomic_fetch_add(&map->free, 1);
    else if (was_free && !is_free)
        atomic_fetch_sub(&map->free, 1);
}

enum extent_state extent_state_of(const struct data_file *file, uint32_t extent)
{
    return extent < file->extents.first ? EXTENT_USED : get(&file->extents, extent);
}

bool extent_is_used(const struct data_file *file, uint32_t extent)
{
    return extent_state_of(file, extent) == EXTENT_USED;
}

void extents_set(const struct extent_run *run, enum extent_state state)
{
    struct extent_map *map = &run->file->extents;
    pthread_mutex_lock(&map->lock);
    for (uint32_t i = 0; i < run->count; i++)
        set(map, run->first + i, state);
    pthread_mutex_unlock(&map->lock);
}

void extents_set_end(struct data_file *file, uint32_t end)
{
    struct extent_map *map = &file->extents;
    uint32_t count = 0;
    pthread_mutex_lock(&map->lock);
    map->end = end < map->first ? map->first : end;
    map->hint = map->first;
    for (uint32_t extent = map->first; extent < map->end; extent++)
        count += get(map, extent) == EXTENT_FREE;
    atomic_store(&map->free, count);
    pthread_mutex_unlock(&map->lock);
}

/* ---- taking ---- */

struct extent_run extents_take(struct data_file *file, uint32_t from, uint32_t wanted)
{
    struct extent_map *map = &file->extents;
    struct extent_run run = {.file = file};
    pthread_mutex_lock(&map->lock);
    while (map->hint < map->end && get(map, map->hint) != EXTENT_FREE)
        map->hint++;
    run.first = from > map->hint ? from : map->hint;
    while (run.first < map->end && get(map, run.first) != EXTENT_FREE)
        run.first++;
    while (run.count < wanted && run.first + run.count < map->end &&
           get(map, run.first + run.count) == EXTENT_FREE)
        set(map, run.first + run.count++, EXTENT_BUSY);
    pthread_mutex_unlock(&map->lock);
    return run;
}

struct extent_run extents_take_at(struct data_file *file, uint32_t first, uint32_t wanted)
{
    struct extent_map *map = &file->extents;
    struct extent_run run = {.file = file, .first = first};
    pthread_mutex_lock(&map->lock);
    while (run.count < wanted && first + run.count < map->end &&
           get(map, first + run.count) == EXTENT_FREE)
        set(map, first + run.count++, EXTENT_BUSY);
    pthread_mutex_unlock(&map->lock);
    return run;
}

uint32_t extents_free(const struct database *database)
{
    uint64_t sum = 0;
    for (unsigned i = 0; i < database->file_count; i++)
        sum += database->files[i].sparse ? 0 : atomic_load(&database->files[i].extents.free);
    return sum > UINT32_MAX ? UINT32_MAX : (uint32_t)sum;
}

/* Under the lock of the rights: credits change together. */
static struct data_file *in_turn_locked(struct database *database, uint32_t wanted)
{
    struct data_file *best = NULL;
    int64_t sum = 0;
    for (unsigned i = 0; i < database->file_count; i++) {
        struct data_file *file = &database->files[i];
        int64_t share = file->sparse ? 0 : (int64_t)wanted * atomic_load(&file->extents.free);
        sum += share;
        file->extents.credit = share ? file->extents.credit + share : 0;
        if (share && (!best || file->extents.credit > best->extents.credit))
            best = file;
    }
    if (best)
        best->extents.credit -= sum;
    return best;
}

struct data_file *extents_file_in_turn(struct database *database, uint32_t wanted)
{
    pthread_mutex_lock(&database->sizes.lock);
    struct data_file *file = in_turn_locked(database, wanted);
    pthread_mutex_unlock(&database->sizes.lock);
    return file;
}

/* ---- closing ---- */

static bool is_closable(enum extent_state state)
{
    return state == EXTENT_USED || state == EXTENT_FAILED;
}

bool extents_close_highest(struct data_file *file, uint32_t from, uint32_t *extent)
{
    struct extent_map *map = &file->extents;
    uint32_t at = *extent;
    bool found = false;
    pthread_mutex_lock(&map->lock);
    while (!found && at > from && at > map->first) {
        at--;
        found = is_closable(get(map, at));
    }
    if (found)
        set(map, at, EXTENT_CLOSING);
    pthread_mutex_unlock(&map->lock);
    *extent = at;
    return found;
}

uint32_t extents_close(struct data_file *file, uint32_t from)
{
    struct extent_map *map = &file->extents;
    uint32_t capacity = file->capacity_pages / EXTENT_PAGES, count = 0;
    pthread_mutex_lock(&map->lock);
    for (uint32_t at = from > map->first ? from : map->first; at < capacity; at++) {
        if (!is_closable(get(map, at)))
            continue;
        set(map, at, EXTENT_CLOSING);
        count++;
    }
    pthread_mutex_unlock(&map->lock);
    return count;
}

uint32_t extents_closing(struct data_file *file, uint32_t *first)
{
    struct extent_map *map = &file->extents;
    uint32_t at = *first, chosen = 0;
    pthread_mutex_lock(&map->lock);
    while (at > map->first && get(map, at - 1) != EXTENT_CLOSING)
        at--;
    *first = at > map->first ? (at - 1) / EXTENTS_AT_ONCE * EXTENTS_AT_ONCE : 0;
    for (uint32_t i = at; i > map->first && i > *first; i--)
        if (get(map, i - 1) == EXTENT_CLOSING)
            chosen |= 1u << (i - 1 - *first);
    pthread_mutex_unlock(&map->lock);
    return chosen;
}
