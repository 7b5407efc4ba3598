/*
 * tempdb_user.c - TempDbUser: what queries put into tempdb.
 *
 * The actors are, in this order: Sorts sorts and Hashes hash joins, each of which begins again when
 * it is done (closed loop; Outstanding requests are shared out among them); one that fills the
 * version store and one that makes worktables, each by its rate, which does not make up for more
 * than a second.
 *
 * Source: reference "SQL Server storage I/O", sections 1 and 8; presets.md, tempdb-heavy.
 */
#include <errno.h>
#include <string.h>

#include "patterns/pattern.h"
#include "patterns/users.h"

#define PAGE          8192
#define EXTENT_PAGES  8
#define EXTENT        (EXTENT_PAGES * PAGE)
#define NS_PER_SECOND 1000000000ull
#define THOUSANDTHS   1000.0
#define SPARE_PAGES   512 /* of a store: what is under way, or was left by others */
#define ROOM_FOR      8   /* an eighth more than objects have: what is merged stands twice */

struct tempdb_settings {
    int64_t sorts, sort_bytes, sort_memory_bytes, merge_ways;
    int64_t hashes, hash_bytes, hash_partitions;
    int64_t version_rate, worktable_rate; /* thousandths */
    int64_t version_age_ns;
    int64_t spill_bytes, outstanding, size_bytes;
    int64_t share;
};

enum role { ROLE_SORT, ROLE_HASH, ROLE_VERSIONS, ROLE_WORKTABLES };

struct tempdb_user {
    const struct tempdb_settings *settings;
    enum role role;
    unsigned number; /* of those that share Outstanding */
    uint64_t due_ns; /* by the rate: when the next op is; 0 = at once */
};

#define FIELD(member) OPT_FIELD(struct tempdb_settings, member)

static const struct opt tempdb_opts[] = {
    {.name = "Sorts",
     .type = OPT_INT,
     .def = "0",
     .min = "0",
     .max = "1024",
     .unit = "sorts",
     FIELD(sorts),
     .help = "Sorts at a time that spill to tempdb: runs are written in sequence past the buffer "
             "pool, merged, and read back interleaved."},
    {.name = "SortSize",
     .type = OPT_SIZE_MB,
     .def = "256",
     .min = "64K",
     .max = "1048576",
     .unit = "MB",
     FIELD(sort_bytes),
     .help = "What one sort spills."},
    {.name = "SortMemory",
     .type = OPT_SIZE_MB,
     .def = "8",
     .min = "64K",
     .max = "65536",
     .unit = "MB",
     FIELD(sort_memory_bytes),
     .help = "Length of an initial run: what fits in the memory that the sort was granted. "
             "SortSize over this is the number of runs; more than MergeWays take several merges."},
    {.name = "MergeWays",
     .type = OPT_INT,
     .def = "16",
     .min = "2",
     .max = "1024",
     .unit = "runs",
     FIELD(merge_ways),
     .help = "Runs merged at a time."},
    {.name = "Hashes",
     .type = OPT_INT,
     .def = "0",
     .min = "0",
     .max = "1024",
     .unit = "joins",
     FIELD(hashes),
     .help = "Hash joins at a time that spill to tempdb: partitions are appended to past the "
             "buffer pool and read back one by one."},
    {.name = "HashSize",
     .type = OPT_SIZE_MB,
     .def = "256",
     .min = "64K",
     .max = "1048576",
     .unit = "MB",
     FIELD(hash_bytes),
     .help = "What one hash join spills, build and probe input together."},
    {.name = "HashPartitions",
     .type = OPT_INT,
     .def = "32",
     .min = "1",
     .max = "1024",
     .unit = "partitions",
     FIELD(hash_partitions),
     .help = "Partitions of a hash join."},
    {.name = "VersionStoreRate",
     .type = OPT_DECIMAL,
     .def = "0",
     .min = "0",
     .max = "1000000",
     .unit = "pages/s",
     FIELD(version_rate),
     .help = "Pages of row versions made a second: in the buffer pool, read as often by who needs "
             "an old version, written by the lazy writer alone; 0 = no version store."},
    {.name = "VersionStoreAge",
     .type = OPT_SECONDS,
     .def = "60",
     .min = "1",
     .max = "86400",
     .unit = "s",
     FIELD(version_age_ns),
     .help = "How long row versions are kept: the longest transaction that may need them."},
    {.name = "WorktableRate",
     .type = OPT_DECIMAL,
     .def = "0",
     .min = "0",
     .max = "100000",
     .unit = "tables/s",
     FIELD(worktable_rate),
     .help = "Worktables made, used and dropped a second: an IAM page and an extent each, "
             "allocated and freed through PFS and GAM; 0 = none."},
    {.name = "SpillSize",
     .type = OPT_BYTES,
     .def = "64K",
     .min = "64K",
     .max = "1M",
     .unit = "bytes",
     FIELD(spill_bytes),
     .help = "One request of a sort or hash join: whole extents, shorter where tempdb has not as "
             "many side by side."},
    {.name = "Outstanding",
     .type = OPT_INT,
     .def = "32",
     .min = "1",
     .max = "65536",
     .unit = "I/Os",
     FIELD(outstanding),
     .help = "Requests outstanding of all sorts and hash joins together; each has at least one."},
    {.name = "Size",
     .type = OPT_SIZE_MB,
     .def = "0",
     .min = "0",
     .max = "16777216",
     .unit = "MB",
     FIELD(size_bytes),
     .help = "Size of all data files of tempdb together where no [FileN] names them; 0 = a fifth "
             "of the data, or a quarter more than the users of tempdb need. Smaller files grow "
             "to that when they are full."},
    USERS_SHARE_OPT(struct tempdb_settings),
};

#undef FIELD

static int tempdb_check(const void *settings, char text[OPT_TEXT_MAX])
{
    const struct tempdb_settings *s = settings;

    if (s->spill_bytes % EXTENT) {
        snprintf(text, OPT_TEXT_MAX, "SpillSize must be a multiple of 64 KiB, an extent");
        return -EINVAL;
    }
    if (s->sort_memory_bytes > s->sort_bytes && s->sorts) {
        snprintf(text, OPT_TEXT_MAX,
                 "SortMemory is above SortSize: such a sort would not spill to tempdb");
        return -EINVAL;
    }
    return 0;
}

static const struct opt_section tempdb_section = {
    .name = "TempDbUser",
    .opts = tempdb_opts,
    .count = sizeof(tempdb_opts) / sizeof(tempdb_opts[0]),
    .size_bytes = sizeof(struct tempdb_settings),
    .help =
        "What queries put into tempdb: sorts and hash joins that spill, row versions, worktables.",
    .check = tempdb_check,
};

static int64_t tempdb_count(const void *settings, int64_t cpu_count)
{
    const struct tempdb_settings *s = settings;

    (void)cpu_count;
    return s->sorts + s->hashes + (s->version_rate > 0) + (s->worktable_rate > 0);
}

static size_t tempdb_state_size(const void *settings)
{
    (void)settings;
    return sizeof(struct tempdb_user);
}

static void tempdb_init(void *state, const void *settings, uint64_t seed, unsigned actor_index)
{
    (void)seed; /* what is random, the rows decide: the executors draw it */
    (void)actor_index;
    *(struct tempdb_user *)state = (struct tempdb_user){.settings = settings};
}

static void tempdb_place(void *state, unsigned kind_index)
{
    struct tempdb_user *user = state;

    const struct tempdb_settings *s = user->settings;
    const bool is_first_store = kind_index == s->sorts + s->hashes;

    user->number = kind_index;
    if (kind_index < s->sorts)
        user->role = ROLE_SORT;
    else if (kind_index < s->sorts + s->hashes)
        user->role = ROLE_HASH;
    else
        user->role = is_first_store && s->version_rate > 0 ? ROLE_VERSIONS : ROLE_WORKTABLES;
}

/* ---- sizes ---- */

static uint32_t pages_of(int64_t bytes)
{
    return (uint32_t)(bytes / PAGE);
}

/* Each its share; the first ones one more where it does not come out even. */
static uint32_t outstanding_of(const struct tempdb_user *user)
{
    const struct tempdb_settings *s = user->settings;
    const int64_t users = s->sorts + s->hashes > 0 ? s->sorts + s->hashes : 1;
    const int64_t share = s->outstanding / users + (user->number < s->outstanding % users ? 1 : 0);

    return share > 1 ? (uint32_t)share : 1;
}

static void spill_op(const struct tempdb_user *user, struct op *out)
{
    const struct tempdb_settings *s = user->settings;
    const bool sort = user->role == ROLE_SORT;

    *out = (struct op){.kind = sort ? OP_SORT : OP_HASH};
    out->spill.pages = pages_of(sort ? s->sort_bytes : s->hash_bytes);
    out->spill.chunk_pages = pages_of(s->spill_bytes);
    out->spill.run_pages = sort ? pages_of(s->sort_memory_bytes) : 0;
    out->spill.ways = (uint32_t)(sort ? s->merge_ways : s->hash_partitions);
    out->spill.outstanding = outstanding_of(user);
}

/* What is made in the longest time that a version may be needed. */
static uint64_t version_pages(const struct tempdb_settings *s)
{
    const double pages =
        (double)s->version_rate / THOUSANDTHS * ((double)s->version_age_ns / NS_PER_SECOND);

    return (uint64_t)pages / EXTENT_PAGES * EXTENT_PAGES + EXTENT_PAGES;
}

static void store_op(const struct tempdb_user *user, struct op *out)
{
    const bool versions = user->role == ROLE_VERSIONS;

    *out = (struct op){.kind = OP_STORE};
    out->store.pages = EXTENT_PAGES;
    out->store.reads = EXTENT_PAGES;
    out->store.iam = !versions;
    out->store.keep_pages = versions ? version_pages(user->settings) : 0;
}

static bool is_spill(const struct tempdb_user *user)
{
    return user->role == ROLE_SORT || user->role == ROLE_HASH;
}

static void tempdb_largest(const void *state, struct op *out)
{
    if (is_spill(state))
        spill_op(state, out);
    else
        store_op(state, out);
}

/* Between two ops by the rate. */
static uint64_t interval_ns(const struct tempdb_user *user)
{
    const struct tempdb_settings *s = user->settings;
    const double per_second = user->role == ROLE_VERSIONS ? (double)s->version_rate / EXTENT_PAGES
                                                          : (double)s->worktable_rate;

    return per_second > 0 ? (uint64_t)(NS_PER_SECOND * THOUSANDTHS / per_second) : NS_PER_SECOND;
}

static void tempdb_next(void *state, const struct pattern_view *view, struct op *out)
{
    struct tempdb_user *user = state;

    if (is_spill(user)) {
        spill_op(user, out);
        return;
    }
    if (user->due_ns == 0 || user->due_ns + NS_PER_SECOND < view->now_ns)
        user->due_ns = view->now_ns;
    if (view->now_ns < user->due_ns) {
        *out = (struct op){.kind = OP_THINK, .think_ns = (int64_t)(user->due_ns - view->now_ns)};
        return;
    }
    store_op(user, out);
    user->due_ns += interval_ns(user);
}

/* Objects, what a merge has read and not freed yet, and the last extent of each run or partition.
 */
static struct pattern_tempdb tempdb_use(const void *settings)
{
    const struct tempdb_settings *s = settings;
    const int64_t objects = s->sorts * s->sort_bytes + s->hashes * s->hash_bytes;
    const int64_t under_way = (s->outstanding + s->sorts + s->hashes) * s->spill_bytes;
    struct pattern_tempdb use = {.size_bytes = (uint64_t)s->size_bytes};

    if (s->sorts + s->hashes > 0)
        use.need_bytes = (uint64_t)(objects + objects / ROOM_FOR + under_way);
    if (s->version_rate > 0)
        use.need_bytes += (version_pages(s) + SPARE_PAGES) * PAGE;
    if (s->worktable_rate > 0)
        use.need_bytes += SPARE_PAGES * PAGE;
    return use;
}

const struct pattern pattern_tempdb_user = {
    .name = "TempDbUser",
    .help =
        "What queries put into tempdb: spills of sorts and hash joins, row versions, worktables.",
    .section = &tempdb_section,
    .user_count = tempdb_count,
    .state_size = tempdb_state_size,
    .init = tempdb_init,
    .place = tempdb_place,
    .next = tempdb_next,
    .tempdb = tempdb_use,
    .largest = tempdb_largest,
};
