/*
 * read_ahead_user.c - ReadAheadUser: scans that read ahead into the buffer pool.
 *
 * Each cycle reads BuffersRAMin .. BuffersRAMax consecutive pages (sequential.h: on from the last
 * cycle, by page number, which is how SQL Server's scan in allocation order reads); after
 * DelayAfterCycles cycles it sleeps RADelay.  With ScanShare a cycle is a scan: it begins at a
 * random place and runs over that share of all pages.  With RatePerSecond cycles arrive from
 * outside, and no user sleeps.
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
#define SHARE_WHOLE   10000      /* ScanShare */
#define REQUEST_PAGES 64         /* of a read-ahead: 512 KiB, SQL Server's largest */
#define SCAN_PAGES    1024       /* kept outstanding by a scan that says no number */

struct read_ahead_settings {
    int64_t user_count, pages_min, pages_max, delay_after_cycles, delay_ns;
    int64_t rate; /* cycles a second of all users, thousandths */
    int64_t scan_share, first_transfer, outstanding;
    int64_t share;
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
    {.name = "ScanShare",
     .type = OPT_HUNDREDTHS,
     .def = "0",
     .min = "0",
     .max = "10000",
     .unit = "1/100 %",
     FIELD(scan_share),
     .help = "Scans begin at random and run over this share of all pages, then begin anew, in "
             "place of BuffersRAMin and BuffersRAMax; 0 = cycles, one behind the other."},
    {.name = "FirstTransfer",
     .type = OPT_INT,
     .def = "0",
     .min = "0",
     .max = "64",
     .unit = "pages",
     FIELD(first_transfer),
     .help = "The first request of a scan or cycle has so many pages and each further one twice "
             "as many, up to 64; 0 = all are as long as they may be."},
    {.name = "Outstanding",
     .type = OPT_INT,
     .def = "0",
     .min = "0",
     .max = "64",
     .unit = "I/Os",
     FIELD(outstanding),
     .help = "Most requests that one user keeps outstanding; 0 = 1,024 pages, or its part of the "
             "pool."},
    USERS_SHARE_OPT(struct read_ahead_settings),
};

static int read_ahead_check(const void *settings, char text[OPT_TEXT_MAX])
{
    const struct read_ahead_settings *s = settings;

    if (s->pages_min > s->pages_max) {
        snprintf(text, OPT_TEXT_MAX, "BuffersRAMin is above BuffersRAMax");
        return -EINVAL;
    }
    if (s->scan_share > 0 && s->rate > 0) {
        snprintf(text, OPT_TEXT_MAX,
                 "ScanShare and RatePerSecond: a scan of that length cannot arrive by a rate; set "
                 "one of them to 0");
        return -EINVAL;
    }
    return 0;
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

/* Of a new cycle, or of a new scan at another place. */
static uint32_t cycle_pages(struct read_ahead_user *user, const struct pattern_view *view)
{
    const struct read_ahead_settings *s = user->settings;

    if (s->scan_share == 0)
        return sequential_draw_pages(&user->at, s->pages_min, s->pages_max);
    const uint64_t pages = sequential_all_pages(view) * (uint64_t)s->scan_share / SHARE_WHOLE;

    sequential_leave(&user->at);
    return pages > UINT32_MAX ? UINT32_MAX : pages > 0 ? (uint32_t)pages : 1;
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
    const uint32_t pages = between ? cycle_pages(user, view) : 0;

    *out = (struct op){.kind = OP_READ_AHEAD,
                       .first_request_pages = (unsigned)s->first_transfer,
                       .may_be_cut = s->scan_share > 0};
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

    if (s->outstanding > 0)
        return s->outstanding * REQUEST_PAGES;
    if (s->scan_share > 0)
        return SCAN_PAGES;
    return s->pages_max > 1 ? s->pages_max : 1;
}

static int64_t read_ahead_requests(const void *settings)
{
    return ((const struct read_ahead_settings *)settings)->outstanding;
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
    .requests_at_once = read_ahead_requests,
};
