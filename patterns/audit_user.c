/*
 * audit_user.c - AuditUser: DBCC-like checking, past the buffer pool.
 *
 * Each user reads BuffersValidated pages a cycle in allocation order, which is how DBCC CHECKDB
 * reads, from its own random place, over all files in turn and again from the first; after
 * DelayAfterCycles cycles it sleeps AuditDelay.
 *
 * UserCount: SQLIOSim's documentation gives the default 2, its author says that a missing key
 * counts as -1 (two for each CPU, at most 8).  The documented default is taken; -1 works when it is
 * set.
 *
 * What it does not do: the audit of every page at the end of a run, which obeys none of these keys.
 */
#include <stddef.h>

#include "patterns/pattern.h"
#include "patterns/users.h"

#define RNG_PURPOSE      0x41554449 /* "AUDI" */
#define BUFFERS_MAX_TEXT "1048576"  /* pages; 8 GiB a cycle, beyond is a typing error */
#define CYCLES_MAX_TEXT  "1000000"
#define DAY_MS_TEXT      "86400000"

struct audit_user_settings {
    int64_t user_count;
    int64_t buffers_validated;
    int64_t delay_after_cycles;
    int64_t audit_delay_ns;
};

struct audit_user {
    const struct audit_user_settings *settings;
    struct rng rng;
    bool placed;
    unsigned file;
    uint32_t page;
    uint32_t cycle_left; /* pages of this cycle not yet read; 0: between cycles */
    int64_t cycles;      /* completed since the last pause */
};

#define FIELD(member) OPT_FIELD(struct audit_user_settings, member)

static const struct opt audit_user_opts[] = {
    {.name = "UserCount",
     .type = OPT_INT,
     .def = "2",
     .min = "-1",
     .max = USERS_MAX_TEXT,
     .unit = "users",
     FIELD(user_count),
     .help = "Number of audit users; -1 = two for each CPU, at most 8; 0 = none. The audit at the "
             "end of a cycle takes place in any case."},
    {.name = "BuffersValidated",
     .type = OPT_INT,
     .def = "64",
     .min = "1",
     .max = BUFFERS_MAX_TEXT,
     .unit = "pages",
     FIELD(buffers_validated),
     .help = "Pages that a user reads from the device and verifies in one cycle."},
    {.name = "DelayAfterCycles",
     .type = OPT_INT,
     .def = "2",
     .min = "0",
     .max = CYCLES_MAX_TEXT,
     .unit = "cycles",
     FIELD(delay_after_cycles),
     .help = "Cycles between two pauses; 0 = no pauses."},
    {.name = "AuditDelay",
     .type = OPT_MILLIS,
     .def = "200",
     .min = "0",
     .max = DAY_MS_TEXT,
     .unit = "ms",
     FIELD(audit_delay_ns),
     .help = "Length of the pause."},
};

static const struct opt_section audit_user_section = {
    .name = "AuditUser",
    .opts = audit_user_opts,
    .count = sizeof(audit_user_opts) / sizeof(audit_user_opts[0]),
    .size_bytes = sizeof(struct audit_user_settings),
    .help = "DBCC-like users: read pages in allocation order from the device and verify them.",
};

static int64_t audit_user_count(const void *settings, int64_t cpu_count)
{
    return users_count(((const struct audit_user_settings *)settings)->user_count, cpu_count);
}

static size_t audit_user_state_size(const void *settings)
{
    (void)settings;
    return sizeof(struct audit_user);
}

static void audit_user_init(void *state, const void *settings, uint64_t seed, unsigned actor_index)
{
    struct audit_user *user = state;

    *user = (struct audit_user){.settings = settings};
    rng_split(&user->rng, seed, RNG_PURPOSE, actor_index);
}

/* Its own random place of all pages, so that users do not follow each other. */
static void place(struct audit_user *user, const struct pattern_view *view)
{
    uint64_t total_pages = 0;

    for (unsigned i = 0; i < view->file_count; i++)
        total_pages += view->files[i].size_pages;
    if (total_pages == 0)
        return;
    uint64_t at = rng_below(&user->rng, total_pages);

    user->file = 0;
    while (at >= view->files[user->file].size_pages)
        at -= view->files[user->file++].size_pages;
    user->page = (uint32_t)at;
    user->placed = true;
}

/* Make (file, page) a page that exists, going on to the next file at the end of one, or where one
 * has shrunk; false if no file has pages. */
static bool step_into_file(struct audit_user *user, const struct pattern_view *view)
{
    for (unsigned i = 0; i <= view->file_count; i++) {
        if (user->file < view->file_count && user->page < view->files[user->file].size_pages)
            return true;
        user->file = user->file + 1 < view->file_count ? user->file + 1 : 0;
        user->page = 0;
    }
    return false;
}

static bool pause_due(struct audit_user *user)
{
    const struct audit_user_settings *s = user->settings;

    if (s->delay_after_cycles == 0 || user->cycles < s->delay_after_cycles)
        return false;
    user->cycles = 0;
    return s->audit_delay_ns > 0;
}

static void audit_user_next(void *state, const struct pattern_view *view, struct op *out)
{
    struct audit_user *user = state;

    if (user->cycle_left == 0 && pause_due(user)) {
        *out = (struct op){.kind = OP_THINK, .think_ns = user->settings->audit_delay_ns};
        return;
    }
    if (!user->placed)
        place(user, view);
    if (!step_into_file(user, view)) {
        *out = (struct op){.kind = OP_THINK, .think_ns = USERS_RETRY_FILES_NS};
        return;
    }
    if (user->cycle_left == 0)
        user->cycle_left = (uint32_t)user->settings->buffers_validated;

    const uint32_t room = view->files[user->file].size_pages - user->page;
    const uint32_t count = user->cycle_left < room ? user->cycle_left : room;

    *out = (struct op){
        .kind = OP_AUDIT, .file = user->file, .first_page = user->page, .page_count = count};
    user->page += count;
    user->cycle_left -= count;
    if (user->cycle_left == 0)
        user->cycles++;
}

const struct pattern pattern_audit_user = {
    .name = "AuditUser",
    .help = "DBCC CHECKDB: reads pages in allocation order from the device and verifies them.",
    .section = &audit_user_section,
    .audits = true,
    .user_count = audit_user_count,
    .state_size = audit_user_state_size,
    .init = audit_user_init,
    .next = audit_user_next,
};
