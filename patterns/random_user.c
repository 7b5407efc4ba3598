/*
 * random_user.c - RandomUser: OLTP-like work, SQLIOSim's random access user.
 *
 * A user lives in a region (a random place of a random file, MinIOChainLength .. MaxIOChainLength
 * pages).  Each transaction takes a chain of consecutive pages of random length inside it, changes
 * the share RandomUserReadWriteRatio of them and logs each change; sometimes it moves to a new
 * region first.  Then, as set: burn CPU, yield, sleep.
 *
 * With ReadsPerTransaction there are no regions: each transaction reads that many single pages of a
 * random file, drawn by Skew, and changes the last UpdatesPerTransaction of them, so that its log
 * records stand together when it commits.  With RatePerSecond transactions arrive from outside, and
 * a user does not sleep after one.
 *
 * Invariants:
 *  1. Pages lie inside the file as the view shows it now, and those of a chain ascend: a region
 *     that a shrink has cut is clipped, one that it has swallowed is left.
 *  2. Whether a transaction rolls back is drawn before anything else of it, and then no page of it
 *     is marked for update: nothing to undo, nothing to log.
 *
 * What it does not do: skip system pages (the executor does), write data pages (the checkpoint
 * does).
 */
#include <errno.h>
#include <stddef.h>

#include "patterns/pattern.h"
#include "patterns/skew.h"
#include "patterns/users.h"

#define CHAIN_MAX_TEXT  "65536" /* pages; 512 MiB, "bounded by memory" in SQLIOSim's words */
#define LOG_MAX_TEXT    "64000" /* bytes; SQLIOSim's limit of a log record */
#define LOG_UNIT_BYTES  512     /* SQLIOSim: Max a multiple of the sector, Min that or a divisor */
#define LOG_ONE_RECORD  59000   /* above: two records; one has 60,000 bytes with its own fields */
#define RNG_PURPOSE     0x52555345 /* "RUSE" */
#define DAY_MS_TEXT     "86400000"
#define CYCLES_MAX_TEXT "1000000000000" /* minutes of one CPU: beyond is a typing error */
#define RATE_MAX_TEXT   "10000000"      /* transactions a second: beyond any storage */
#define PAGES_MAX_TEXT  "1000"          /* single pages of one transaction */
#define THOUSANDTHS     1000

struct random_user_settings {
    int64_t user_count;
    int64_t jump_to_new_region;
    int64_t chain_pages_min;
    int64_t chain_pages_max;
    int64_t update_share;
    int64_t log_bytes_min;
    int64_t log_bytes_max;
    int64_t rollback_chance;
    int64_t logged_rollback_chance;
    int64_t sleep_after_ns;
    int64_t yield_chance;
    bool cpu_simulation;
    int64_t cpu_cycles_min;
    int64_t cpu_cycles_max;
    int64_t rate;                    /* transactions a second of all users, thousandths */
    int64_t reads_per_transaction;   /* thousandths; 0 = chains */
    int64_t updates_per_transaction; /* thousandths */
    char *skew;
    int64_t share;
};

enum step { STEP_TRANSACTION, STEP_COMPUTE, STEP_YIELD, STEP_SLEEP };

struct random_user {
    const struct random_user_settings *settings;
    struct rng rng;
    enum step step;
    struct skew skew;
    bool has_region;
    unsigned region_file;
    uint32_t region_start;
    uint32_t region_pages;
    struct op_page chain[]; /* chain_capacity(settings) */
};

#define FIELD(member) OPT_FIELD(struct random_user_settings, member)

static const struct opt random_user_opts[] = {
    {.name = "UserCount",
     .type = OPT_INT,
     .def = "-1",
     .min = "-1",
     .max = USERS_MAX_TEXT,
     .unit = "users",
     FIELD(user_count),
     .help = "Number of random users; -1 = two for each CPU, at most 8; 0 = none."},
    {.name = "JumpToNewRegionPercentage",
     .type = OPT_HUNDREDTHS,
     .def = "500",
     .min = "0",
     .max = "10000",
     .unit = "1/100 %",
     FIELD(jump_to_new_region),
     .help = "Chance that a user moves to a new region before a transaction."},
    {.name = "MinIOChainLength",
     .type = OPT_INT,
     .def = "1",
     .min = "0",
     .max = CHAIN_MAX_TEXT,
     .unit = "pages",
     FIELD(chain_pages_min),
     .help = "Smallest region; 0 counts as one page."},
    {.name = "MaxIOChainLength",
     .type = OPT_INT,
     .def = "100",
     .min = "0",
     .max = CHAIN_MAX_TEXT,
     .unit = "pages",
     FIELD(chain_pages_max),
     .help = "Largest region, and so the longest chain of pages of one transaction."},
    {.name = "RandomUserReadWriteRatio",
     .type = OPT_HUNDREDTHS,
     .def = "9000",
     .min = "0",
     .max = "10000",
     .unit = "1/100 %",
     FIELD(update_share),
     .help = "Share of the pages of a chain that are UPDATED, in spite of the name."},
    {.name = "MinLogPerBuffer",
     .type = OPT_BYTES,
     .def = "64",
     .min = "1",
     .max = LOG_MAX_TEXT,
     .unit = "bytes",
     FIELD(log_bytes_min),
     .help = "Smallest log record of a changed page; a multiple or a divisor of 512."},
    {.name = "MaxLogPerBuffer",
     .type = OPT_BYTES,
     .def = "8192",
     .min = "1",
     .max = LOG_MAX_TEXT,
     .unit = "bytes",
     FIELD(log_bytes_max),
     .help = "Largest log record of a changed page; a multiple of 512."},
    {.name = "RollbackChance",
     .type = OPT_HUNDREDTHS,
     .def = "100",
     .min = "0",
     .max = "10000",
     .unit = "1/100 %",
     FIELD(rollback_chance),
     .help = "Chance that a transaction is rolled back in memory: its pages are read, nothing is "
             "changed or logged."},
    {.name = "LoggedRollbackChance",
     .type = OPT_HUNDREDTHS,
     .def = "0",
     .min = "0",
     .max = "10000",
     .unit = "1/100 %",
     FIELD(logged_rollback_chance),
     .help = "Chance that a transaction is rolled back after its changes: each is undone with a "
             "compensation record, read from the log where it has left the log buffers."},
    {.name = "SleepAfter",
     .type = OPT_MILLIS,
     .def = "5",
     .min = "0",
     .max = DAY_MS_TEXT,
     .unit = "ms",
     FIELD(sleep_after_ns),
     .help = "Sleep of a user after each transaction."},
    {.name = "YieldPercentage",
     .type = OPT_HUNDREDTHS,
     .def = "0",
     .min = "0",
     .max = "10000",
     .unit = "1/100 %",
     FIELD(yield_chance),
     .flags = OPT_UNDOCUMENTED,
     .help = "Chance that a user gives its turn away after a transaction."},
    {.name = "CPUSimulation",
     .type = OPT_BOOL,
     .def = "FALSE",
     FIELD(cpu_simulation),
     .flags = OPT_UNDOCUMENTED,
     .help = "Burn CPUCyclesMin to CPUCyclesMax cycles after each transaction."},
    {.name = "CPUCyclesMin",
     .type = OPT_INT,
     .def = "0",
     .min = "0",
     .max = CYCLES_MAX_TEXT,
     .unit = "cycles",
     FIELD(cpu_cycles_min),
     .flags = OPT_UNDOCUMENTED,
     .help = "Smallest number of CPU cycles that CPUSimulation burns."},
    {.name = "CPUCyclesMax",
     .type = OPT_INT,
     .def = "0",
     .min = "0",
     .max = CYCLES_MAX_TEXT,
     .unit = "cycles",
     FIELD(cpu_cycles_max),
     .flags = OPT_UNDOCUMENTED,
     .help = "Largest number of CPU cycles that CPUSimulation burns."},
    {.name = "RatePerSecond",
     .type = OPT_DECIMAL,
     .def = "0",
     .min = "0",
     .max = RATE_MAX_TEXT,
     .unit = "transactions/s",
     FIELD(rate),
     .help = "Transactions that arrive per second for all users together, whether or not earlier "
             "ones are done; 0 = each user begins one when it has done the last, as SQLIOSim."},
    {.name = "ReadsPerTransaction",
     .type = OPT_DECIMAL,
     .def = "0",
     .min = "0",
     .max = PAGES_MAX_TEXT,
     .unit = "pages",
     FIELD(reads_per_transaction),
     .help = "Single random pages that a transaction reads on average, e.g. 3.5; 0 = a chain of "
             "pages, as SQLIOSim."},
    {.name = "UpdatesPerTransaction",
     .type = OPT_DECIMAL,
     .def = "0",
     .min = "0",
     .max = PAGES_MAX_TEXT,
     .unit = "pages",
     FIELD(updates_per_transaction),
     .help = "How many of the pages of ReadsPerTransaction are changed on average."},
    {.name = "Skew",
     .type = OPT_STRING,
     .def = "",
     FIELD(skew),
     .help = "Where the pages of ReadsPerTransaction lie, as pairs ACCESSES/PAGES in percent: "
             "95/5,4/10 = 95 % in the first 5 % of a file, 4 % in the next 10 %, what is left in "
             "the rest; empty = anywhere."},
    USERS_SHARE_OPT(struct random_user_settings),
};

static int min_above_max(char text[OPT_TEXT_MAX], const char *min_key, int64_t min,
                         const char *max_key, int64_t max)
{
    if (min <= max)
        return 0;
    snprintf(text, OPT_TEXT_MAX, "%s=%jd is above %s=%jd; set %s to at most %s", min_key,
             (intmax_t)min, max_key, (intmax_t)max, min_key, max_key);
    return -EINVAL;
}

static int log_size_odd(char text[OPT_TEXT_MAX], const char *key, int64_t bytes, bool divisor_too)
{
    if (bytes % LOG_UNIT_BYTES == 0 || (divisor_too && LOG_UNIT_BYTES % bytes == 0))
        return 0;
    snprintf(text, OPT_TEXT_MAX, "%s=%jd is not a multiple%s of %d; the next one is %jd", key,
             (intmax_t)bytes, divisor_too ? " or a divisor" : "", LOG_UNIT_BYTES,
             (intmax_t)((bytes / LOG_UNIT_BYTES + 1) * LOG_UNIT_BYTES));
    return -EINVAL;
}

static int random_user_check(const void *settings, char text[OPT_TEXT_MAX])
{
    const struct random_user_settings *s = settings;

    if (min_above_max(text, "MinIOChainLength", s->chain_pages_min, "MaxIOChainLength",
                      s->chain_pages_max) ||
        min_above_max(text, "MinLogPerBuffer", s->log_bytes_min, "MaxLogPerBuffer",
                      s->log_bytes_max) ||
        min_above_max(text, "CPUCyclesMin", s->cpu_cycles_min, "CPUCyclesMax", s->cpu_cycles_max) ||
        log_size_odd(text, "MinLogPerBuffer", s->log_bytes_min, true) ||
        log_size_odd(text, "MaxLogPerBuffer", s->log_bytes_max, false))
        return -EINVAL;
    if (s->updates_per_transaction > s->reads_per_transaction) {
        snprintf(text, OPT_TEXT_MAX,
                 "UpdatesPerTransaction is above ReadsPerTransaction: a page is read before it is "
                 "changed");
        return -EINVAL;
    }
    if (s->rate > 0 && s->user_count == 0) {
        snprintf(text, OPT_TEXT_MAX,
                 "RatePerSecond needs users that do the work: UserCount is 0; 64 is a good number");
        return -EINVAL;
    }
    return skew_parse(s->skew, &(struct skew){.count = 0}, text);
}

static const struct opt_section random_user_section = {
    .name = "RandomUser",
    .opts = random_user_opts,
    .count = sizeof(random_user_opts) / sizeof(random_user_opts[0]),
    .size_bytes = sizeof(struct random_user_settings),
    .help = "OLTP-like users: short transactions on pages that lie near each other.",
    .check = random_user_check,
};

static int64_t random_user_count(const void *settings, int64_t cpu_count)
{
    return users_count(((const struct random_user_settings *)settings)->user_count, cpu_count);
}

static int64_t pages_ceiling(int64_t thousandths)
{
    return (thousandths + THOUSANDTHS - 1) / THOUSANDTHS;
}

static uint32_t chain_capacity(const struct random_user_settings *s)
{
    const int64_t pages =
        s->reads_per_transaction ? pages_ceiling(s->reads_per_transaction) : s->chain_pages_max;

    return pages > 1 ? (uint32_t)pages : 1;
}

static size_t random_user_state_size(const void *settings)
{
    return sizeof(struct random_user) + chain_capacity(settings) * sizeof(struct op_page);
}

static void random_user_init(void *state, const void *settings, uint64_t seed, unsigned actor_index)
{
    struct random_user *user = state;

    *user = (struct random_user){.settings = settings, .step = STEP_TRANSACTION};
    rng_split(&user->rng, seed, RNG_PURPOSE, actor_index);
    if (skew_parse(user->settings->skew, &user->skew, (char[OPT_TEXT_MAX]){0}))
        user->skew.count = 0; /* random_user_check() has refused it */
}

/* A file with pages, the drawn one first; false if there is none. */
static bool choose_file(struct random_user *user, const struct pattern_view *view, unsigned *file)
{
    if (view->file_count == 0)
        return false;
    const unsigned drawn = (unsigned)rng_below(&user->rng, view->file_count);

    for (unsigned i = 0; i < view->file_count; i++) {
        *file = (drawn + i) % view->file_count;
        if (view->files[*file].size_pages > 0)
            return true;
    }
    return false;
}

static bool new_region(struct random_user *user, const struct pattern_view *view)
{
    const struct random_user_settings *s = user->settings;
    unsigned file;

    if (!choose_file(user, view, &file))
        return false;
    const int64_t length = rng_range(&user->rng, s->chain_pages_min, s->chain_pages_max);

    user->region_file = file;
    user->region_start = (uint32_t)rng_below(&user->rng, view->files[file].size_pages);
    user->region_pages = length > 1 ? (uint32_t)length : 1;
    user->has_region = true;
    return true;
}

/* Pages of the region that the file still has. */
static uint32_t region_pages_now(const struct random_user *user, const struct pattern_view *view)
{
    if (!user->has_region || user->region_file >= view->file_count)
        return 0;
    const uint32_t size_pages = view->files[user->region_file].size_pages;

    if (user->region_start >= size_pages)
        return 0;
    const uint32_t room = size_pages - user->region_start;

    return user->region_pages < room ? user->region_pages : room;
}

static void draw_chain(struct random_user *user, uint32_t region_pages, struct op *out)
{
    const struct random_user_settings *s = user->settings;
    const uint32_t count = 1 + (uint32_t)rng_below(&user->rng, region_pages);
    const uint32_t skip = (uint32_t)rng_below(&user->rng, region_pages - count + 1);

    for (uint32_t i = 0; i < count; i++) {
        struct op_page *page = &user->chain[i];
        const bool update = rng_chance(&user->rng, s->update_share);
        const int64_t bytes = rng_range(&user->rng, s->log_bytes_min, s->log_bytes_max);

        page->page_no = user->region_start + skip + i;
        page->update = update && !out->rollback;
        page->log_bytes = page->update ? (uint32_t)bytes : 0;
    }
    out->pages = user->chain;
    out->pages_count = count;
}

/* 3.5 -> 3 or 4, each in half of the cases. */
static uint32_t draw_count(struct random_user *user, int64_t thousandths)
{
    const bool one_more = (int64_t)rng_below(&user->rng, THOUSANDTHS) < thousandths % THOUSANDTHS;

    return (uint32_t)(thousandths / THOUSANDTHS) + one_more;
}

/* Drawn only where it is asked for: other runs keep their numbers. */
static bool draw_undo(struct random_user *user, bool rollback)
{
    const int64_t chance = user->settings->logged_rollback_chance;

    return chance > 0 && rng_chance(&user->rng, chance) && !rollback;
}

/* The pages that are changed come last. */
static void draw_singles(struct random_user *user, uint32_t size_pages, struct op *out)
{
    const struct random_user_settings *s = user->settings;
    uint32_t count = draw_count(user, s->reads_per_transaction);
    uint32_t updates = draw_count(user, s->updates_per_transaction);

    count = count > 0 ? count : 1;
    updates = updates < count ? updates : count;
    for (uint32_t i = 0; i < count; i++) {
        const bool update = i >= count - updates && !out->rollback;
        const int64_t bytes = rng_range(&user->rng, s->log_bytes_min, s->log_bytes_max);

        user->chain[i] = (struct op_page){.page_no = skew_page(&user->skew, &user->rng, size_pages),
                                          .log_bytes = update ? (uint32_t)bytes : 0,
                                          .update = update};
    }
    out->pages = user->chain;
    out->pages_count = count;
}

static void next_singles(struct random_user *user, const struct pattern_view *view, struct op *out)
{
    const bool rollback = rng_chance(&user->rng, user->settings->rollback_chance);
    unsigned file;

    if (!choose_file(user, view, &file)) {
        *out = (struct op){.kind = OP_THINK, .think_ns = USERS_RETRY_FILES_NS};
        return;
    }
    *out = (struct op){.kind = OP_UPDATE, .file = file, .rollback = rollback};
    out->undo = draw_undo(user, rollback);
    draw_singles(user, view->files[file].size_pages, out);
    user->step = STEP_COMPUTE;
}

static void next_chain(struct random_user *user, const struct pattern_view *view, struct op *out)
{
    const bool rollback = rng_chance(&user->rng, user->settings->rollback_chance);
    const bool jump = rng_chance(&user->rng, user->settings->jump_to_new_region);
    uint32_t region_pages = jump ? 0 : region_pages_now(user, view);

    if (region_pages == 0) {
        if (!new_region(user, view)) {
            *out = (struct op){.kind = OP_THINK, .think_ns = USERS_RETRY_FILES_NS};
            return;
        }
        region_pages = region_pages_now(user, view);
    }
    *out = (struct op){.kind = OP_UPDATE, .file = user->region_file, .rollback = rollback};
    out->undo = draw_undo(user, rollback);
    draw_chain(user, region_pages, out);
    user->step = STEP_COMPUTE;
}

/* What follows the transaction; false: nothing is set for this step. */
static bool next_pause(struct random_user *user, enum step step, struct op *out)
{
    const struct random_user_settings *s = user->settings;

    switch (step) {
    case STEP_COMPUTE:
        *out = (struct op){.kind = OP_COMPUTE};
        if (s->cpu_simulation)
            out->compute_cycles = rng_range(&user->rng, s->cpu_cycles_min, s->cpu_cycles_max);
        return out->compute_cycles > 0;
    case STEP_YIELD:
        *out = (struct op){.kind = OP_YIELD};
        return rng_chance(&user->rng, s->yield_chance);
    case STEP_SLEEP:
        *out = (struct op){.kind = OP_THINK, .think_ns = s->sleep_after_ns};
        return s->sleep_after_ns > 0 && s->rate == 0;
    case STEP_TRANSACTION:
        break;
    }
    return false;
}

static void random_user_next(void *state, const struct pattern_view *view, struct op *out)
{
    struct random_user *user = state;

    while (user->step != STEP_TRANSACTION) {
        const enum step step = user->step;

        user->step = step == STEP_SLEEP ? STEP_TRANSACTION : step + 1;
        if (next_pause(user, step, out))
            return;
    }
    if (user->settings->reads_per_transaction)
        next_singles(user, view, out);
    else
        next_chain(user, view, out);
}

/* Of chains nobody can say how many pages they have: they are not counted in the I/Os asked for. */
static struct pattern_rate random_user_rate(const void *settings)
{
    const struct random_user_settings *s = settings;

    return (struct pattern_rate){.per_second = s->rate,
                                 .data_ios = s->reads_per_transaction + s->updates_per_transaction};
}

static int64_t random_user_pages(const void *settings)
{
    return chain_capacity(settings);
}

static int64_t random_user_undo_pages(const void *settings)
{
    const struct random_user_settings *s = settings;

    return s->logged_rollback_chance > 0 ? (int64_t)chain_capacity(s) : 0;
}

/* Every page of the longest chain changed with the largest record, begin and commit around them; a
 * rollback doubles it. */
static void random_user_log_need(const void *settings, uint64_t *payload_bytes, uint64_t *records)
{
    const struct random_user_settings *s = settings;
    const uint64_t pages = chain_capacity(s) * (s->logged_rollback_chance > 0 ? 2 : 1);

    *payload_bytes = pages * (uint64_t)s->log_bytes_max;
    *records = 2 + pages * (s->log_bytes_max > LOG_ONE_RECORD ? 2 : 1);
}

const struct pattern pattern_random_user = {
    .name = "RandomUser",
    .help = "OLTP: reads and changes chains of pages in regions that it leaves now and then.",
    .section = &random_user_section,
    .user_count = random_user_count,
    .state_size = random_user_state_size,
    .init = random_user_init,
    .next = random_user_next,
    .rate = random_user_rate,
    .pages_at_once = random_user_pages,
    .undo_pages = random_user_undo_pages,
    .log_need = random_user_log_need,
};
