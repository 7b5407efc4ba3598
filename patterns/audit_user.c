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
 * With VerifyWithin the users go by the clock instead: each comes by every page twice in that time
 * and reads what nobody has read back since it was last written.  Where several users run, whoever
 * comes first reads it.  A page that is being written when one comes by is met by the next.
 *
 * What it does not do: the audit of every page at the end of a run, which obeys none of these keys.
 */
#include <errno.h>
#include <stddef.h>
#include <stdio.h>

#include "patterns/sequential.h"
#include "patterns/sweep.h"
#include "patterns/users.h"

#define VISITS      2    /* of each page in VerifyWithin */
#define SLICE_PAGES 8192 /* looked at between two looks at the clock: 64 MiB, 128 KiB of ledger */

#define RNG_PURPOSE 0x41554449 /* "AUDI" */

struct audit_user_settings {
    int64_t user_count;
    int64_t buffers_validated;
    int64_t delay_after_cycles;
    int64_t audit_delay_ns;
    int64_t verify_within_ns;
    int64_t share;
};

struct audit_user {
    const struct audit_user_settings *settings;
    struct sequential at;
    struct sweep sweep; /* VerifyWithin */
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
     .max = SEQUENTIAL_PAGES_MAX,
     .unit = "pages",
     FIELD(buffers_validated),
     .help = "Pages that a user reads from the device and verifies in one cycle."},
    {.name = "DelayAfterCycles",
     .type = OPT_INT,
     .def = "2",
     .min = "0",
     .max = SEQUENTIAL_CYCLES_MAX,
     .unit = "cycles",
     FIELD(delay_after_cycles),
     .help = "Cycles between two pauses; 0 = no pauses."},
    {.name = "AuditDelay",
     .type = OPT_MILLIS,
     .def = "200",
     .min = "0",
     .max = SEQUENTIAL_DELAY_MAX,
     .unit = "ms",
     FIELD(audit_delay_ns),
     .help = "Length of the pause."},
    {.name = "VerifyWithin",
     .type = OPT_SECONDS,
     .def = "0",
     .min = "0",
     .max = "604800",
     .unit = "s",
     FIELD(verify_within_ns),
     .help = "Every page is read back from the device within this time after it was written: the "
             "users read what was not read back since, instead of BuffersValidated pages a cycle. "
             "The report says by how much it was missed. 0 = no such bound."},
    USERS_SHARE_OPT(struct audit_user_settings),
};

static int audit_user_check(const void *settings, char text[OPT_TEXT_MAX])
{
    const struct audit_user_settings *s = settings;

    if (s->verify_within_ns == 0 || s->user_count != 0)
        return 0;
    snprintf(
        text, OPT_TEXT_MAX,
        "VerifyWithin is set and UserCount is 0: nobody would read; set UserCount to 1 or more");
    return -EINVAL;
}

static const struct opt_section audit_user_section = {
    .name = "AuditUser",
    .opts = audit_user_opts,
    .count = sizeof(audit_user_opts) / sizeof(audit_user_opts[0]),
    .size_bytes = sizeof(struct audit_user_settings),
    .check = audit_user_check,
    .help = "DBCC-like users: read pages in allocation order from the device and verify them.",
};

static int64_t audit_user_count(const void *settings, int64_t cpu_count)
{
    return users_count(((const struct audit_user_settings *)settings)->user_count, cpu_count);
}

static int64_t audit_user_verify_within(const void *settings)
{
    return ((const struct audit_user_settings *)settings)->verify_within_ns;
}

static size_t audit_user_state_size(const void *settings)
{
    (void)settings;
    return sizeof(struct audit_user);
}

static void audit_user_init(void *state, const void *settings, uint64_t seed, unsigned actor_index)
{
    struct audit_user *user = state;

    user->settings = settings;
    sequential_init(&user->at, seed, RNG_PURPOSE, actor_index);
    sweep_init(&user->sweep, seed, RNG_PURPOSE, actor_index);
}

static void sweep_next(struct audit_user *user, const struct pattern_view *view, struct op *out)
{
    const uint64_t round_ns = (uint64_t)user->settings->verify_within_ns / VISITS;

    *out = (struct op){.kind = OP_AUDIT, .unseen_only = true};
    if (!sweep_take(&user->sweep, view, round_ns, SLICE_PAGES, out))
        *out = (struct op){.kind = OP_THINK, .think_ns = USERS_RETRY_FILES_NS};
}

static void audit_user_next(void *state, const struct pattern_view *view, struct op *out)
{
    struct audit_user *user = state;
    const struct audit_user_settings *s = user->settings;

    if (s->verify_within_ns > 0) {
        sweep_next(user, view, out);
        return;
    }
    if (sequential_is_between(&user->at) &&
        sequential_pause_due(&user->at, s->delay_after_cycles) && s->audit_delay_ns > 0) {
        *out = (struct op){.kind = OP_THINK, .think_ns = s->audit_delay_ns};
        return;
    }
    *out = (struct op){.kind = OP_AUDIT};
    if (!sequential_take(&user->at, view, (uint32_t)s->buffers_validated, 1, out))
        *out = (struct op){.kind = OP_THINK, .think_ns = USERS_RETRY_FILES_NS};
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
    .verify_within = audit_user_verify_within,
};
