/*
 * tempdb_user.c - TempDbUser: what queries put into tempdb.
 *
 * The actors are, in this order: Sorts sorts and Hashes hash joins, each of which begins again when
 * it is done (closed loop; Outstanding requests are shared out among them).
 *
 * Source: reference "SQL Server storage I/O", sections 1 and 8; presets.md, tempdb-heavy.
 */
#include <errno.h>
#include <string.h>

#include "patterns/pattern.h"
#include "patterns/users.h"

#define PAGE   8192
#define EXTENT (8 * PAGE)
#define ROOM_FOR                                                                                   \
    8 /* an eighth more than the objects have: what is merged stands twice for a moment */

struct tempdb_settings {
    int64_t sorts, sort_bytes, sort_memory_bytes, merge_ways;
    int64_t hashes, hash_bytes, hash_partitions;
    int64_t spill_bytes, outstanding, size_bytes;
    int64_t share;
};

enum role { ROLE_SORT, ROLE_HASH };

struct tempdb_user {
    const struct tempdb_settings *settings;
    enum role role;
    unsigned number; /* of those that share Outstanding */
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
             "of the data, or a quarter more than the users of tempdb need."},
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
    .help = "What queries put into tempdb: sorts and hash joins that spill.",
    .check = tempdb_check,
};

static int64_t tempdb_count(const void *settings, int64_t cpu_count)
{
    const struct tempdb_settings *s = settings;

    (void)cpu_count;
    return s->sorts + s->hashes;
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

    user->number = kind_index;
    user->role = kind_index < user->settings->sorts ? ROLE_SORT : ROLE_HASH;
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

static void tempdb_largest(const void *state, struct op *out)
{
    spill_op(state, out);
}

static void tempdb_next(void *state, const struct pattern_view *view, struct op *out)
{
    (void)view;
    spill_op(state, out);
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
    return use;
}

const struct pattern pattern_tempdb_user = {
    .name = "TempDbUser",
    .help = "Queries that spill to tempdb: sorts and hash joins.",
    .section = &tempdb_section,
    .user_count = tempdb_count,
    .state_size = tempdb_state_size,
    .init = tempdb_init,
    .place = tempdb_place,
    .next = tempdb_next,
    .tempdb = tempdb_use,
    .largest = tempdb_largest,
};
