/*
 * read_ahead_user.c - ReadAheadUser: scans that read ahead into the buffer pool.
 *
 * Each cycle reads BuffersRAMin .. BuffersRAMax consecutive pages (sequential.h: on from the last
 * cycle, by page number, which is how SQL Server's scan in allocation order reads); after
 * DelayAfterCycles cycles it sleeps RADelay.  With RatePerSecond cycles arrive from outside, and no
 * user sleeps.
 *
 * UserCount: as in AuditUser the documented default 2 is taken; -1 works when it is set.
 *
 * What it does not do: say how many pages go into a request or what happens to pages that are in
 * memory (ForceReadAhead, UseScatterGather): the executor does.
 */
#include <errno.h>
#include <stddef.h>

#include "patterns/sequential.h"
#include "patterns/users.h"

#define RNG_PURPOSE   0x52454144 /* "READ" */
#define RATE_MAX_TEXT "10000000" /* cycles a second: beyond any storage */

struct read_ahead_settings {
    int64_t user_count, pages_min, pages_max, delay_after_cycles, delay_ns;
    int64_t rate; /* cycles a second of all users, thousandths */
};

struct read_ahead_user {
    const struct read_ahead_settings *settings;
    struct sequential at;
};

#define FIELD(member) OPT_FIELD(struct read_ahead_settings, member)

static const struct opt read_ahead_opts[] = {
    {.name = "UserCount",
     .type = OPT_INT,
     .def = "2",
     .min = "-1",
     .max = USERS_MAX_TEXT,
     .unit = "users",
     FIELD(user_count),
     .help = "Number of read-ahead users; -1 = two for each CPU, at most 8; 0 = none."},
    {.name = "BuffersRAMin",
     .type = OPT_INT,
     .def = "32",
     .min = "0",
     .max = SEQUENTIAL_PAGES_MAX,
     .unit = "pages",
     FIELD(pages_min),
     .help = "Fewest pages read in a cycle; 0 counts as one."},
    {.name = "BuffersRAMax",
     .type = OPT_INT,
     .def = "64",
     .min = "0",
     .max = SEQUENTIAL_PAGES_MAX,
     .unit = "pages",
     FIELD(pages_max),
     .help = "Most pages read in a cycle, up to 64 in a request and 1,024 outstanding."},
    {.name = "DelayAfterCycles",
     .type = OPT_INT,
     .def = "2",
     .min = "0",
     .max = SEQUENTIAL_CYCLES_MAX,
     .unit = "cycles",
     FIELD(delay_after_cycles),
     .help = "Cycles between two pauses; 0 = no pauses."},
    {.name = "RADelay",
     .type = OPT_MILLIS,
     .def = "200",
     .min = "0",
     .max = SEQUENTIAL_DELAY_MAX,
     .unit = "ms",
     FIELD(delay_ns),
     .help = "Length of the pause."},
    {.name = "RatePerSecond",
     .type = OPT_DECIMAL,
     .def = "0",
     .min = "0",
     .max = RATE_MAX_TEXT,
     .unit = "cycles/s",
     FIELD(rate),
     .help = "Cycles that arrive per second for all users together, whether or not earlier ones "
             "are done; 0 = each user begins one when it has done the last, as SQLIOSim."},
};

static int read_ahead_check(const void *settings, char text[OPT_TEXT_MAX])
{
    const struct read_ahead_settings *s = settings;

    if (s->pages_min <= s->pages_max)
        return 0;
    snprintf(text, OPT_TEXT_MAX, "BuffersRAMin is above BuffersRAMax");
    return -EINVAL;
}

static const struct opt_section read_ahead_section = {
    .name = "ReadAheadUser",
    .opts = read_ahead_opts,
    .count = sizeof(read_ahead_opts) / sizeof(read_ahead_opts[0]),
    .size_bytes = sizeof(struct read_ahead_settings),
    .help = "Users that read ahead: scans of consecutive pages into the buffer pool.",
    .check = read_ahead_check,
};

static int64_t read_ahead_count(const void *settings, int64_t cpu_count)
{
    return users_count(((const struct read_ahead_settings *)settings)->user_count, cpu_count);
}

static size_t read_ahead_state_size(const void *settings)
{
    (void)settings;
    return sizeof(struct read_ahead_user);
}

static void read_ahead_init(void *state, const void *settings, uint64_t seed, unsigned actor_index)
{
    struct read_ahead_user *user = state;

    user->settings = settings;
    sequential_init(&user->at, seed, RNG_PURPOSE, actor_index);
}

static void read_ahead_next(void *state, const struct pattern_view *view, struct op *out)
{
    struct read_ahead_user *user = state;
    const struct read_ahead_settings *s = user->settings;
    const bool between = sequential_is_between(&user->at);

    if (between && s->rate == 0 && sequential_pause_due(&user->at, s->delay_after_cycles) &&
        s->delay_ns > 0) {
        *out = (struct op){.kind = OP_THINK, .think_ns = s->delay_ns};
        return;
    }
    const uint32_t pages =
        between ? sequential_draw_pages(&user->at, s->pages_min, s->pages_max) : 0;

    *out = (struct op){.kind = OP_READ_AHEAD};
    if (!sequential_take(&user->at, view, pages, 1, out))
        *out = (struct op){.kind = OP_THINK, .think_ns = USERS_RETRY_FILES_NS};
}

/* A scan's reads come on top of the data I/Os that are asked for. */
static struct pattern_rate read_ahead_rate(const void *settings)
{
    const struct read_ahead_settings *s = settings;

    return (struct pattern_rate){.per_second = s->rate};
}

static int64_t read_ahead_pages(const void *settings)
{
    const struct read_ahead_settings *s = settings;

    return s->pages_max > 1 ? s->pages_max : 1;
}

const struct pattern pattern_read_ahead_user = {
    .name = "ReadAheadUser",
    .help = "Scans: reads consecutive pages ahead into the buffer pool.",
    .section = &read_ahead_section,
    .user_count = read_ahead_count,
    .state_size = read_ahead_state_size,
    .init = read_ahead_init,
    .next = read_ahead_next,
    .rate = read_ahead_rate,
    .pages_at_once = read_ahead_pages,
};
