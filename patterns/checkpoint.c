/*
 * checkpoint.c - the checkpoints of one database: automatic or indirect, and those asked for.
 *
 * SQL Server runs one when the recovery interval has passed and, in the simple recovery model, when
 * the log is full to a limit (70 %); and whenever one is asked for (CHECKPOINT, a backup, a
 * snapshot).  Frames are the lazy writer's business.
 *
 * With a target recovery time (indirect checkpoints) there is no interval: one begins when more
 * pages are dirty than the target allows.
 *
 * Invariant: it has no state and draws nothing, so the view alone decides.  For the sake of the log
 * it runs only where that can give some back: while a long transaction holds the oldest part, it
 * looks again and again, and begins when the transaction has ended.
 */
#include "patterns/pattern.h"

#define LOG_NEAR_PERMILLE 100 /* below what is full */
#define LOOK_NS           50000000
#define LOOK_NEAR_NS      10000000
#define LOOK_WANTED_NS    1000000 /* somebody waits for log space that a transaction holds */
/* After any checkpoint: one that freed too little is not repeated at full speed. */
#define REST_NS 1000000
/* After one that only wrote pages, for want of log that somebody holds: there are few new ones. */
#define REST_HELD_NS 10000000

static size_t checkpoint_state_size(const void *settings)
{
    (void)settings;
    return 1; /* nothing is kept; every actor has an address of its own */
}

static void checkpoint_init(void *state, const void *settings, uint64_t seed, unsigned actor_index)
{
    (void)state;
    (void)settings;
    (void)seed;
    (void)actor_index;
}

/* Time until the recovery interval has passed; UINT64_MAX when there is none. */
static uint64_t interval_left_ns(const struct pattern_view *view, uint64_t since_ns)
{
    if (view->checkpoint_interval_ns == 0 || view->checkpoint_indirect)
        return UINT64_MAX;
    return since_ns < view->checkpoint_interval_ns ? view->checkpoint_interval_ns - since_ns : 0;
}

static bool log_pressure(const struct pattern_view *view)
{
    return view->log_used_permille >= view->log_full_permille || view->log_space_wanted;
}

static uint64_t look_again_ns(const struct pattern_view *view)
{
    if (view->log_space_wanted)
        return LOOK_WANTED_NS;
    return view->log_used_permille + LOG_NEAR_PERMILLE >= view->log_full_permille ? LOOK_NEAR_NS
                                                                                  : LOOK_NS;
}

static void checkpoint_next(void *state, const struct pattern_view *view, struct op *out)
{
    const uint64_t since_ns =
        view->now_ns > view->last_checkpoint_ns ? view->now_ns - view->last_checkpoint_ns : 0;
    const uint64_t left_ns = interval_left_ns(view, since_ns);
    const uint64_t rest_ns = view->log_held && view->checkpoint_no_room ? REST_HELD_NS : REST_NS;
    uint64_t think_ns = look_again_ns(view);

    (void)state;
    if (since_ns < rest_ns) {
        *out = (struct op){.kind = OP_THINK, .think_ns = (int64_t)(rest_ns - since_ns)};
        return;
    }
    if ((log_pressure(view) && !view->log_held) || left_ns == 0 || view->checkpoint_asked ||
        view->recovery_due) {
        *out = (struct op){.kind = OP_CHECKPOINT};
        return;
    }
    if (left_ns < think_ns)
        think_ns = left_ns;
    *out = (struct op){.kind = OP_THINK, .think_ns = (int64_t)think_ns, .until_called = true};
}

const struct pattern pattern_checkpoint = {
    .name = "Checkpoint",
    .help =
        "Checkpoint, automatic or indirect: writes all dirty pages of a database in gather writes.",
    .per_database = true,
    .service = true,
    .state_size = checkpoint_state_size,
    .init = checkpoint_init,
    .next = checkpoint_next,
};
