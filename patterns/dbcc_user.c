/*
 * dbcc_user.c - DbccUser: DBCC CHECKDB, all its threads together on one database after another.
 *
 * An intent is one pass over a database: the executor gives each thread its own page sets in
 * allocation order, so threads differ in what they read, never in what they ask for.  After a pass
 * the threads rest for Interval.
 *
 * UserCount: unlike the other users this one is 0 when missing, since SQLIOSim has none; -1 is one
 * thread for each CPU, at most 8, as SQL Server's degree of parallelism usually is.
 */
#include <stddef.h>

#include "patterns/pattern.h"
#include "patterns/users.h"

#define THREADS_BY_CPU_MAX 8

struct dbcc_user_settings {
    int64_t user_count, outstanding, read_pages, interval_ns;
    bool snapshot;
};

struct dbcc_user {
    const struct dbcc_user_settings *settings;
    bool passed; /* since the last rest */
};

#define FIELD(member) OPT_FIELD(struct dbcc_user_settings, member)

static const struct opt dbcc_user_opts[] = {
    {.name = "UserCount",
     .type = OPT_INT,
     .def = "0",
     .min = "-1",
     .max = "64",
     .unit = "threads",
     FIELD(user_count),
     .help = "Number of threads of one CHECKDB; -1 = one for each CPU, at most 8; 0 = none."},
    {.name = "Outstanding",
     .type = OPT_INT,
     .def = "32",
     .min = "1",
     .max = "1024",
     .unit = "requests",
     FIELD(outstanding),
     .help = "Reads that each thread keeps under way; CHECKDB means to saturate the disk."},
    {.name = "ReadPages",
     .type = OPT_INT,
     .def = "64",
     .min = "1",
     .max = "64",
     .unit = "pages",
     FIELD(read_pages),
     .help = "Most pages of one read; 64 are 512 KiB, SQL Server's largest."},
    {.name = "Snapshot",
     .type = OPT_BOOL,
     .def = "TRUE",
     FIELD(snapshot),
     .help = "A pass begins with a checkpoint and a sparse snapshot beside each data file, which "
             "gets the old image of each page before it is overwritten; what is checked is the "
             "snapshot. FALSE: the files as they are (WITH TABLOCK)."},
    {.name = "Interval",
     .type = OPT_SECONDS,
     .def = "0",
     .min = "0",
     .max = "31536000",
     .unit = "s",
     FIELD(interval_ns),
     .help = "Rest between two passes; 0 = again at once."},
};

static const struct opt_section dbcc_user_section = {
    .name = "DbccUser",
    .opts = dbcc_user_opts,
    .count = sizeof(dbcc_user_opts) / sizeof(dbcc_user_opts[0]),
    .size_bytes = sizeof(struct dbcc_user_settings),
    .help = "DBCC CHECKDB: threads that read a whole database past the pool, deep and in large "
            "reads, and verify every page. SQLIOSim has none.",
    .through = "CHECKDB of each database",
};

static int64_t dbcc_user_count(const void *settings, int64_t cpu_count)
{
    const int64_t count = ((const struct dbcc_user_settings *)settings)->user_count;

    if (count != USERS_BY_CPU)
        return count;
    return cpu_count < THREADS_BY_CPU_MAX ? cpu_count : THREADS_BY_CPU_MAX;
}

static size_t dbcc_user_state_size(const void *settings)
{
    (void)settings;
    return sizeof(struct dbcc_user);
}

static void dbcc_user_init(void *state, const void *settings, uint64_t seed, unsigned actor_index)
{
    (void)seed;
    (void)actor_index;
    *(struct dbcc_user *)state = (struct dbcc_user){.settings = settings};
}

static bool has_pages(const struct pattern_view *view)
{
    for (unsigned i = 0; i < view->file_count; i++)
        if (view->files[i].size_pages > 0)
            return true;
    return false;
}

static void dbcc_user_next(void *state, const struct pattern_view *view, struct op *out)
{
    struct dbcc_user *user = state;
    const struct dbcc_user_settings *s = user->settings;

    if (!has_pages(view)) {
        *out = (struct op){.kind = OP_THINK, .think_ns = USERS_RETRY_FILES_NS};
        return;
    }
    if (view->through) {
        *out = (struct op){.kind = OP_THINK, .think_ns = USERS_THROUGH_NS, .until_called = true};
        return;
    }
    if (user->passed && s->interval_ns > 0) {
        user->passed = false;
        *out = (struct op){.kind = OP_THINK, .think_ns = s->interval_ns};
        return;
    }
    user->passed = true;
    *out = (struct op){.kind = OP_CHECKDB, .snapshot = s->snapshot};
}

static struct pattern_reads dbcc_user_reads(const void *settings)
{
    const struct dbcc_user_settings *s = settings;

    return (struct pattern_reads){.outstanding = (unsigned)s->outstanding,
                                  .pages = (unsigned)s->read_pages,
                                  .snapshots = s->snapshot};
}

const struct pattern pattern_dbcc_user = {
    .name = "DbccUser",
    .help = "DBCC CHECKDB: reads whole databases past the pool, deep, and verifies every page.",
    .section = &dbcc_user_section,
    .user_count = dbcc_user_count,
    .state_size = dbcc_user_state_size,
    .init = dbcc_user_init,
    .next = dbcc_user_next,
    .reads = dbcc_user_reads,
};
