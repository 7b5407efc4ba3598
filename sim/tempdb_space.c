/* tempdb_space.c - see tempdb_space.h. */
#include "sim/tempdb_space.h"

#include <assert.h>
#include <errno.h>
#include <stdlib.h>

struct space_file {
    struct data_file *file;
    uint8_t *taken; /* a byte an extent, for those of a growth, too */
    uint32_t extents, free, hand;
};

struct tempdb_space {
    pthread_mutex_t lock;
    struct database *database;
    struct space_file *files;
    unsigned file_count, turn;
    uint64_t total;
    struct tempdb_stretch *left; /* one an extent at most */
    size_t left_count;
};

static bool has_system_page(const struct data_file *file, uint32_t extent)
{
    for (uint32_t i = 0; i < EXTENT_PAGES; i++)
        if (syspage_kind(extent * EXTENT_PAGES + i, file->primary) != SYSPAGE_NONE)
            return true;
    return false;
}

/* Extents up to `end` come in; returns how many of them are for use. */
static uint32_t extents_add(struct space_file *f, uint32_t end)
{
    uint32_t added = 0;
    for (; f->extents < end; f->extents++) {
        f->taken[f->extents] = has_system_page(f->file, f->extents);
        added += !f->taken[f->extents];
    }
    f->free += added;
    return added;
}

static int file_init(struct space_file *f, struct data_file *file)
{
    f->file = file;
    f->taken = calloc(file->capacity_pages / EXTENT_PAGES + 1, sizeof *f->taken);
    return f->taken ? 0 : -ENOMEM;
}

int tempdb_space_create(struct tempdb_space **out, struct database *database)
{
    struct tempdb_space *space = calloc(1, sizeof *space);
    *out = space;
    if (!space)
        return -ENOMEM;
    pthread_mutex_init(&space->lock, NULL);
    space->database = database;
    space->files = calloc(database->file_count, sizeof *space->files);
    if (!space->files)
        return -ENOMEM;
    size_t extents_max = 0;
    for (unsigned i = 0; i < database->file_count; i++) {
        struct data_file *file = &database->files[i];
        space->file_count = i + 1;
        int error = file_init(&space->files[i], file);
        if (error)
            return error;
        space->total += extents_add(&space->files[i], file->file.size_pages / EXTENT_PAGES);
        extents_max += file->capacity_pages / EXTENT_PAGES;
    }
    space->left = calloc(extents_max + 1, sizeof *space->left);
    return space->left ? 0 : -ENOMEM;
}

void tempdb_space_free(struct tempdb_space *space)
{
    if (!space)
        return;
    for (unsigned i = 0; i < space->file_count; i++)
        free(space->files[i].taken);
    free(space->files);
    free(space->left);
    pthread_mutex_destroy(&space->lock);
    free(space);
}

struct database *tempdb_space_database(struct tempdb_space *space)
{
    return space->database;
}

/* ---- taking ---- */

/* One PFS page covers a stretch: its change is one record. */
static bool joins(const struct space_file *f, uint32_t first, uint32_t extent)
{
    return extent < f->extents && !f->taken[extent] &&
           syspage_pfs_of(extent * EXTENT_PAGES) == syspage_pfs_of(first * EXTENT_PAGES);
}

static uint32_t extents_of(uint32_t pages)
{
    return (pages + EXTENT_PAGES - 1) / EXTENT_PAGES;
}

/* The next free extent from the hand on; the file has one. */
static uint32_t find_free(const struct space_file *f)
{
    uint32_t extent = f->hand < f->extents ? f->hand : 0;
    while (f->taken[extent])
        extent = extent + 1 < f->extents ? extent + 1 : 0;
    return extent;
}

static void take_from(struct space_file *f, uint32_t pages, struct tempdb_stretch *out)
{
    uint32_t wanted = extents_of(pages), first = find_free(f), count = 0;
    while (count < wanted && joins(f, first, first + count))
        f->taken[first + count++] = 1;
    assert(count > 0 && f->free >= count);
    f->free -= count;
    f->hand = first + count;
    *out = (struct tempdb_stretch){.file = f->file,
                                   .first_page = first * EXTENT_PAGES,
                                   .pages = count < wanted ? count * EXTENT_PAGES : pages};
}

bool tempdb_space_take(struct tempdb_space *space, uint32_t pages, struct tempdb_stretch *out)
{
    bool found = false;
    pthread_mutex_lock(&space->lock);
    for (unsigned i = 0; i < space->file_count && !found; i++) {
        struct space_file *f = &space->files[space->turn];
        space->turn = (space->turn + 1) % space->file_count;
        found = f->free > 0;
        if (found)
            take_from(f, pages, out);
    }
    pthread_mutex_unlock(&space->lock);
    return found;
}

/* ---- giving back ---- */

static struct space_file *file_of(struct tempdb_space *space, const struct data_file *file)
{
    unsigned i = 0;
    while (space->files[i].file != file)
        i++;
    assert(i < space->file_count);
    return &space->files[i];
}

void tempdb_space_give(struct tempdb_space *space, const struct tempdb_stretch *stretch)
{
    pthread_mutex_lock(&space->lock);
    struct space_file *f = file_of(space, stretch->file);
    uint32_t first = stretch->first_page / EXTENT_PAGES;
    for (uint32_t i = 0; i < extents_of(stretch->pages); i++) {
        assert(f->taken[first + i]);
        f->taken[first + i] = 0;
        f->free++;
    }
    pthread_mutex_unlock(&space->lock);
}

void tempdb_space_leave(struct tempdb_space *space, const struct tempdb_stretch *stretch)
{
    pthread_mutex_lock(&space->lock);
    assert(space->left_count < space->total);
    space->left[space->left_count++] = *stretch;
    pthread_mutex_unlock(&space->lock);
}

bool tempdb_space_left(struct tempdb_space *space, uint32_t pages_max, struct tempdb_stretch *out)
{
    assert(pages_max >= EXTENT_PAGES && pages_max % EXTENT_PAGES == 0);
    pthread_mutex_lock(&space->lock);
    bool found = space->left_count > 0;
    if (found) {
        struct tempdb_stretch *last = &space->left[space->left_count - 1];
        *out = *last;
        out->pages = last->pages < pages_max ? last->pages : pages_max;
        last->first_page += out->pages;
        last->pages -= out->pages;
        space->left_count -= last->pages == 0;
    }
    pthread_mutex_unlock(&space->lock);
    return found;
}

/* ---- growth ---- */

void tempdb_space_grown(struct tempdb_space *space, const struct data_file *file, uint32_t pages)
{
    assert(pages <= file->capacity_pages);
    pthread_mutex_lock(&space->lock);
    space->total += extents_add(file_of(space, file), pages / EXTENT_PAGES);
    pthread_mutex_unlock(&space->lock);
}

bool tempdb_space_is_full(struct tempdb_space *space)
{
    return tempdb_space_count(space).free == 0;
}

struct tempdb_space_count tempdb_space_count(struct tempdb_space *space)
{
    pthread_mutex_lock(&space->lock);
    struct tempdb_space_count count = {.total = space->total};
    for (unsigned i = 0; i < space->file_count; i++)
        count.free += space->files[i].free;
    for (size_t i = 0; i < space->left_count; i++)
        count.left += extents_of(space->left[i].pages);
    pthread_mutex_unlock(&space->lock);
    return count;
}
