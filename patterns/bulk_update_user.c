/*
 * bulk_update_user.c - BulkUpdateUser: loads in bulk, as SELECT INTO and BULK INSERT.
 *
 * Each cycle overwrites BuffersBUMin .. BuffersBUMax consecutive pages (sequential.h: on from the
 * last cycle, the first place at the start of an extent) and writes them at once; after
 * DelayAfterCycles cycles it sleeps BUDelay.
 *
 * Log: SQLIOSim's record for this user is not known; the load is minimally logged, one record an
 * extent (SQL Server's rule for what these statements do).
 *
 * With NewExtents a cycle loads so many pages into new extents of a database, in turn.
 *
 * What it does not do: say how pages go into gather writes; the executor does.
 */
#include <errno.h>
#include <stddef.h>

#include "patterns/sequential.h"
#include "patterns/users.h"

#define RNG_PURPOSE   0x42554C4B /* "BULK" */
#define EXTENT        8          /* pages of an extent */
#define SPARE_RECORDS 8
#define RECORD_BYTES  32 /* payload of a format record */
/* New extents: of 128 pages at a time at most ten maps change (PFS, GAM, DIFF, ML, IAM, two each).
 */
#define CHUNK        128
#define MAPS_A_CHUNK 10
#define MAP_BYTES    256  /* payload of the change of a map */
#define ROW_BYTES    8060 /* of a page logged in full */

struct bulk_update_settings {
    int64_t user_count, pages_min, pages_max, delay_after_cycles, delay_ns;
    int64_t share;
    bool new_extents;
    int64_t fully_logged;
};

struct bulk_update_user {
    const struct bulk_update_settings *settings;
    struct sequential at;
    unsigned index; /* of the actor */
    unsigned file;  /* NewExtents: whose database is next */
};

#define FIELD(member) OPT_FIELD(struct bulk_update_settings, member)

static const struct opt bulk_update_opts[] = {
    {.name = "UserCount",
     .type = OPT_INT,
     .def = "-1",
     .min = "-1",
     .max = USERS_MAX_TEXT,
     .unit = "users",
     FIELD(user_count),
     .help = "Number of bulk users; -1 = two for each CPU, at most 8; 0 = none."},
    {.name = "BuffersBUMin",
     .type = OPT_INT,
     .def = "64",
     .min = "0",
     .max = SEQUENTIAL_PAGES_MAX,
     .unit = "pages",
     FIELD(pages_min),
     .help = "Fewest pages changed in a cycle; 0 counts as one."},
    {.name = "BuffersBUMax",
     .type = OPT_INT,
     .def = "128",
     .min = "0",
     .max = SEQUENTIAL_PAGES_MAX,
     .unit = "pages",
     FIELD(pages_max),
     .help = "Most pages changed in a cycle; they are written at once, up to GatherPages in a "
             "request."},
    {.name = "DelayAfterCycles",
     .type = OPT_INT,
     .def = "2",
     .min = "0",
     .max = SEQUENTIAL_CYCLES_MAX,
     .unit = "cycles",
     FIELD(delay_after_cycles),
     .help = "Cycles between two pauses; 0 = no pauses."},
    {.name = "BUDelay",
     .type = OPT_MILLIS,
     .def = "10",
     .min = "0",
     .max = SEQUENTIAL_DELAY_MAX,
     .unit = "ms",
     FIELD(delay_ns),
     .help = "Length of the pause."},
    {.name = "NewExtents",
     .type = OPT_BOOL,
     .def = "FALSE",
     FIELD(new_extents),
     .help = "Load into newly allocated extents, by proportional fill, instead of overwriting: the "
             "files of a database grow by their Increment when they are full, up to MaxSize; then "
             "what was loaded is freed and loading starts over."},
    {.name = "FullyLogged",
     .type = OPT_INT,
     .def = "0",
     .min = "0",
     .max = USERS_MAX_TEXT,
     .unit = "users",
     FIELD(fully_logged),
     .help = "With NewExtents: so many of the users log each page in full; the others log one "
             "record an extent."},
    USERS_SHARE_OPT(struct bulk_update_settings),
};

static int bulk_update_check(const void *settings, char text[OPT_TEXT_MAX])
{
    const struct bulk_update_settings *s = settings;

    if (s->pages_min <= s->pages_max)
        return 0;
    snprintf(text, OPT_TEXT_MAX, "BuffersBUMin is above BuffersBUMax");
    return -EINVAL;
}

static const struct opt_section bulk_update_section = {
    .name = "BulkUpdateUser",
    .opts = bulk_update_opts,
    .count = sizeof(bulk_update_opts) / sizeof(bulk_update_opts[0]),
    .size_bytes = sizeof(struct bulk_update_settings),
    .help = "Users that load in bulk: consecutive pages overwritten whole and written at once.",
    .check = bulk_update_check,
};

static int64_t bulk_update_count(const void *settings, int64_t cpu_count)
{
    return users_count(((const struct bulk_update_settings *)settings)->user_count, cpu_count);
}

static size_t bulk_update_state_size(const void *settings)
{
    (void)settings;
    return sizeof(struct bulk_update_user);
}

static void bulk_update_init(void *state, const void *settings, uint64_t seed, unsigned actor_index)
{
    struct bulk_update_user *user = state;

    user->settings = settings;
    user->index = actor_index;
    user->file = actor_index;
    sequential_init(&user->at, seed, RNG_PURPOSE, actor_index);
}

/* One record an extent, one more where the first page is not the first of its extent, some for
 * extents that busy pages cut into pieces. */
static unsigned records_of(int64_t pages)
{
    return (unsigned)((pages + EXTENT - 1) / EXTENT) + 1 + SPARE_RECORDS;
}

/* The next database that has room for pages. */
static bool draw_load(struct bulk_update_user *user, const struct pattern_view *view,
                      struct op *out)
{
    const struct bulk_update_settings *s = user->settings;

    for (unsigned i = 0; i < view->file_count; i++) {
        const unsigned file = user->file++ % view->file_count;
        if (view->files[file].sparse)
            continue;
        *out =
            (struct op){.kind = OP_BULK,
                        .new_extents = true,
                        .file = file,
                        .page_count = sequential_draw_pages(&user->at, s->pages_min, s->pages_max),
                        .full_log = user->index < s->fully_logged};
        user->at.cycles++;
        return true;
    }
    return false;
}

static void bulk_update_next(void *state, const struct pattern_view *view, struct op *out)
{
    struct bulk_update_user *user = state;
    const struct bulk_update_settings *s = user->settings;
    const bool between = sequential_is_between(&user->at);

    if (between && sequential_pause_due(&user->at, s->delay_after_cycles) && s->delay_ns > 0) {
        *out = (struct op){.kind = OP_THINK, .think_ns = s->delay_ns};
        return;
    }
    if (s->new_extents) {
        if (!draw_load(user, view, out))
            *out = (struct op){.kind = OP_THINK, .think_ns = USERS_RETRY_FILES_NS};
        return;
    }
    const uint32_t pages =
        between ? sequential_draw_pages(&user->at, s->pages_min, s->pages_max) : 0;

    *out = (struct op){.kind = OP_BULK};
    if (sequential_take(&user->at, view, pages, EXTENT, out))
        out->log_records = records_of(out->page_count);
    else
        *out = (struct op){.kind = OP_THINK, .think_ns = USERS_RETRY_FILES_NS};
}

static int64_t bulk_update_pages(const void *settings)
{
    const struct bulk_update_settings *s = settings;

    return s->pages_max > 1 ? s->pages_max : 1;
}

static bool bulk_update_new_extents(const void *settings)
{
    return ((const struct bulk_update_settings *)settings)->new_extents;
}

/* A load into new extents: its records, those of the allocation maps, begin and commit. */
static void load_log_need(const struct bulk_update_settings *s, uint64_t *payload_bytes,
                          uint64_t *records)
{
    const uint64_t pages = (uint64_t)bulk_update_pages(s);
    const uint64_t extents = pages / EXTENT + 1, maps = MAPS_A_CHUNK * (pages / CHUNK + 1);
    const uint64_t formats = s->fully_logged ? extents * EXTENT : extents;

    *records = 2 + formats + maps;
    *payload_bytes = maps * MAP_BYTES + 2 * RECORD_BYTES +
                     formats * (s->fully_logged ? ROW_BYTES : RECORD_BYTES);
}

/* Format records, begin and commit. */
static void bulk_update_log_need(const void *settings, uint64_t *payload_bytes, uint64_t *records)
{
    if (bulk_update_new_extents(settings)) {
        load_log_need(settings, payload_bytes, records);
        return;
    }
    *records = 2 + (uint64_t)records_of(bulk_update_pages(settings));
    *payload_bytes = *records * RECORD_BYTES;
}

const struct pattern pattern_bulk_update_user = {
    .name = "BulkUpdateUser",
    .help = "SELECT INTO, BULK INSERT: overwrites consecutive pages and writes them at once.",
    .section = &bulk_update_section,
    .user_count = bulk_update_count,
    .state_size = bulk_update_state_size,
    .init = bulk_update_init,
    .next = bulk_update_next,
    .loads = true,
    .new_extents = bulk_update_new_extents,
    .pages_at_once = bulk_update_pages,
    .log_need = bulk_update_log_need,
};
