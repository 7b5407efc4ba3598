/*
 * index_rebuild_user.c - IndexRebuildUser: ALTER INDEX ... REBUILD.
 *
 * A rebuild scans Pages consecutive pages (the old index) with read-ahead, then writes as many
 * pages elsewhere in the same file (the new one) in bulk: eagerly, in gather writes, and fully
 * logged, whole pages in full log blocks, unless it is minimally logged.  After that it rests for
 * Interval. The old pages stay: where the next rebuild begins is drawn.
 *
 * A rebuild goes in steps of STEP_PAGES, each a transaction of its own where it writes, so that the
 * log need not hold a whole index (SQL Server's offline rebuild is one transaction).
 *
 * Between the two it sorts: in memory, which is no I/O, or with SortInTempdb by runs in tempdb
 * (SORT_IN_TEMPDB = ON), an eighth of the index each, merged once.
 */
#include <stddef.h>

#include "patterns/pattern.h"
#include "patterns/users.h"

#define RNG_PURPOSE  0x494E4458 /* "INDX" */
#define STEP_PAGES   512        /* SQL Server's read-ahead keeps about 500 pages ahead of a scan */
#define EXTENT       8          /* pages of an extent */
#define PAGE_BYTES   8192       /* payload of a record that has a whole page */
#define RECORD_BYTES 32         /* ... of one that names an extent */
#define SPARE        8          /* records for extents that busy pages cut into pieces */
#define SORT_RUNS    8          /* what fits in the memory of the sort: an eighth */
#define SORT_WAYS    16
#define SORT_DEPTH   8
#define SORT_ROOM    8 /* of the object: what a merge has read and not freed */

struct index_rebuild_settings {
    int64_t user_count, pages, interval_ns;
    bool minimally_logged, sort_in_tempdb;
};

enum index_step { INDEX_PLACE, INDEX_SCAN, INDEX_SORT, INDEX_WRITE, INDEX_REST };

/* A range that goes on at the start of the file when it meets its end. */
struct index_range {
    uint32_t next, left;
};

struct index_rebuild {
    const struct index_rebuild_settings *settings;
    struct rng rng;
    enum index_step step;
    unsigned file;
    struct index_range old_index, new_index;
};

#define FIELD(member) OPT_FIELD(struct index_rebuild_settings, member)

static const struct opt index_rebuild_opts[] = {
    {.name = "UserCount",
     .type = OPT_INT,
     .def = "0",
     .min = "0",
     .max = USERS_MAX_TEXT,
     .unit = "users",
     FIELD(user_count),
     .help = "Number of indexes that are rebuilt at a time; 0 = none."},
    {.name = "Pages",
     .type = OPT_INT,
     .def = "8192",
     .min = "8",
     .max = "2147483647",
     .unit = "pages",
     FIELD(pages),
     .help = "Size of an index; at most half its file is taken."},
    {.name = "MinimallyLogged",
     .type = OPT_BOOL,
     .def = "FALSE",
     FIELD(minimally_logged),
     .help = "TRUE: a log record for each extent, and the pages are on the disk before the commit "
             "(simple and bulk-logged recovery); FALSE: every page is logged whole."},
    {.name = "SortInTempdb",
     .type = OPT_BOOL,
     .def = "FALSE",
     FIELD(sort_in_tempdb),
     .help = "TRUE: the rows are sorted in tempdb (SORT_IN_TEMPDB = ON), between the scan and the "
             "write; FALSE: in memory."},
    {.name = "Interval",
     .type = OPT_SECONDS,
     .def = "0",
     .min = "0",
     .max = "31536000",
     .unit = "s",
     FIELD(interval_ns),
     .help = "Rest between two rebuilds; 0 = again at once."},
};

static const struct opt_section index_rebuild_section = {
    .name = "IndexRebuildUser",
    .opts = index_rebuild_opts,
    .count = sizeof(index_rebuild_opts) / sizeof(index_rebuild_opts[0]),
    .size_bytes = sizeof(struct index_rebuild_settings),
    .help = "Index rebuilds: a range is scanned with read-ahead, as much is written elsewhere in "
            "bulk. SQLIOSim has none.",
};

static int64_t index_rebuild_count(const void *settings, int64_t cpu_count)
{
    (void)cpu_count;
    return ((const struct index_rebuild_settings *)settings)->user_count;
}

static size_t index_rebuild_state_size(const void *settings)
{
    (void)settings;
    return sizeof(struct index_rebuild);
}

static void index_rebuild_init(void *state, const void *settings, uint64_t seed,
                               unsigned actor_index)
{
    struct index_rebuild *user = state;

    *user = (struct index_rebuild){.settings = settings};
    rng_split(&user->rng, seed, RNG_PURPOSE, actor_index);
}

/* ---- places ---- */

static uint32_t pages_of(const struct pattern_file *file)
{
    return file->size_pages / EXTENT * EXTENT;
}

/* A file by its share of all pages; false if none has any. */
static bool draw_file(struct index_rebuild *user, const struct pattern_view *view)
{
    uint64_t total = 0;

    for (unsigned i = 0; i < view->file_count; i++)
        total += pages_of(&view->files[i]);
    if (total == 0)
        return false;
    uint64_t at = rng_below(&user->rng, total);

    user->file = 0;
    while (at >= pages_of(&view->files[user->file]))
        at -= pages_of(&view->files[user->file++]);
    return true;
}

/* Two ranges of as many pages, which do not overlap, at starts of extents. */
static bool place(struct index_rebuild *user, const struct pattern_view *view)
{
    if (!draw_file(user, view))
        return false;
    const uint32_t size = pages_of(&view->files[user->file]);
    const uint64_t half = size / 2 < EXTENT ? size : size / 2 / EXTENT * EXTENT;
    const uint64_t wanted = (uint64_t)user->settings->pages / EXTENT * EXTENT;
    const uint64_t pages = wanted < half ? wanted : half;
    const uint64_t start = rng_below(&user->rng, size / EXTENT) * EXTENT;
    const uint64_t room = size > 2 * pages ? size - 2 * pages : 0;
    const uint64_t gap = rng_below(&user->rng, room / EXTENT + 1) * EXTENT;

    user->old_index = (struct index_range){(uint32_t)start, (uint32_t)pages};
    user->new_index =
        (struct index_range){(uint32_t)((start + pages + gap) % size), (uint32_t)pages};
    return true;
}

/* ---- steps ---- */

/* The next pages of the range, as far as the file has them at this moment; false: none are left. */
static bool range_take(struct index_range *range, uint32_t size, struct op *out)
{
    if (range->left == 0 || size == 0)
        return false;
    if (range->next >= size)
        range->next = 0;
    const uint32_t most = range->left < STEP_PAGES ? range->left : STEP_PAGES;
    const uint32_t room = size - range->next;

    out->first_page = range->next;
    out->page_count = most < room ? most : room;
    range->next += out->page_count;
    range->left -= out->page_count;
    return true;
}

/* One an extent, or one for each page of it. */
static unsigned records_of(uint32_t pages)
{
    return pages / EXTENT + 2 + SPARE;
}

/* A sort of so many pages. */
static void sort_op(uint64_t pages, struct op *out)
{
    const uint64_t run = pages / SORT_RUNS / EXTENT * EXTENT;

    *out = (struct op){.kind = OP_SORT};
    out->spill.pages = pages;
    out->spill.chunk_pages = EXTENT;
    out->spill.run_pages = (uint32_t)(run > EXTENT ? run : EXTENT);
    out->spill.ways = SORT_WAYS;
    out->spill.outstanding = SORT_DEPTH;
}

static bool step_next(struct index_rebuild *user, const struct pattern_view *view, struct op *out)
{
    const struct index_rebuild_settings *s = user->settings;
    const bool there = user->file < view->file_count;
    const uint32_t size = there ? view->files[user->file].size_pages : 0;

    *out = (struct op){.file = user->file};
    if (user->step == INDEX_SCAN) {
        out->kind = OP_READ_AHEAD;
        if (range_take(&user->old_index, size, out))
            return true;
        user->step = INDEX_SORT;
    }
    if (user->step == INDEX_SORT) {
        user->step = INDEX_WRITE;
        if (s->sort_in_tempdb && user->new_index.left > EXTENT) {
            sort_op(user->new_index.left, out);
            return true;
        }
    }
    out->kind = OP_BULK;
    out->unread = true; /* as pages that are newly allocated are */
    out->full_log = !s->minimally_logged;
    if (!range_take(&user->new_index, size, out))
        return false;
    out->log_records = records_of(out->page_count);
    return true;
}

static void index_rebuild_next(void *state, const struct pattern_view *view, struct op *out)
{
    struct index_rebuild *user = state;
    const int64_t interval_ns = user->settings->interval_ns;

    if (user->step == INDEX_REST)
        user->step = INDEX_PLACE;
    if (user->step == INDEX_PLACE) {
        if (!place(user, view)) {
            *out = (struct op){.kind = OP_THINK, .think_ns = USERS_RETRY_FILES_NS};
            return;
        }
        user->step = INDEX_SCAN;
    }
    if (step_next(user, view, out))
        return;
    user->step = INDEX_REST;
    if (interval_ns > 0)
        *out = (struct op){.kind = OP_THINK, .think_ns = interval_ns};
    else
        *out = (struct op){.kind = OP_YIELD};
}

static int64_t index_rebuild_pages(const void *settings)
{
    (void)settings;
    return STEP_PAGES;
}

/* Of a step that writes: its records, begin and commit. */
static void index_rebuild_log_need(const void *settings, uint64_t *payload_bytes, uint64_t *records)
{
    const struct index_rebuild_settings *s = settings;
    const uint64_t extents = records_of(STEP_PAGES);

    *records = 2 + (s->minimally_logged ? extents : extents * EXTENT);
    *payload_bytes = *records * (s->minimally_logged ? RECORD_BYTES : PAGE_BYTES);
}

static void index_rebuild_largest(const void *state, struct op *out)
{
    const struct index_rebuild_settings *s = ((const struct index_rebuild *)state)->settings;

    *out = (struct op){.kind = OP_END};
    if (s->sort_in_tempdb)
        sort_op((uint64_t)s->pages, out);
}

static struct pattern_tempdb index_rebuild_tempdb(const void *settings)
{
    const struct index_rebuild_settings *s = settings;
    const uint64_t pages = (uint64_t)s->pages;
    const uint64_t one = pages + pages / SORT_ROOM + (SORT_DEPTH + SORT_RUNS) * EXTENT;

    return (struct pattern_tempdb){
        .need_bytes = s->sort_in_tempdb ? (uint64_t)s->user_count * one * PAGE_BYTES : 0};
}

const struct pattern pattern_index_rebuild_user = {
    .name = "IndexRebuildUser",
    .help = "ALTER INDEX REBUILD: scans a range with read-ahead and writes as much elsewhere.",
    .section = &index_rebuild_section,
    .user_count = index_rebuild_count,
    .state_size = index_rebuild_state_size,
    .init = index_rebuild_init,
    .next = index_rebuild_next,
    .loads = true,
    .pages_at_once = index_rebuild_pages,
    .tempdb = index_rebuild_tempdb,
    .largest = index_rebuild_largest,
    .log_need = index_rebuild_log_need,
};
