/*
 * log_full.c - what a user does whose transaction finds the log full: wait, or give up (9002).
 *
 * Nothing was changed yet, so there is nothing to undo: the transaction is over, and the user tries
 * another one after a rest, as an application would that was told so.
 */
#include "sim/actor.h"

#define LOG_FULL_REST_NS (100 * NS_PER_MS)

void log_wait_count(struct actor *actor, struct wal *wal)
{
    struct counters *counters = &actor->task.worker->stats.counters;
    relaxed_add(&counters->log_space_waits, 1);
    switch (wal_reuse_wait(wal)) {
    case WAL_REUSE_CHECKPOINT:
        relaxed_add(&counters->log_waits_checkpoint, 1);
        break;
    case WAL_REUSE_ACTIVE_TRANSACTION:
        relaxed_add(&counters->log_waits_active_transaction, 1);
        break;
    case WAL_REUSE_LOG_SCAN:
        relaxed_add(&counters->log_waits_read_back, 1);
        break;
    case WAL_REUSE_NOTHING:
        break; /* reserved by others only */
    default:
        relaxed_add(&counters->log_waits_held, 1);
    }
}

static enum task_result rest(struct actor *actor)
{
    bool over = clock_now_ns(actor->run->clock) >= actor->think_until_ns;
    if (over || run_stopping(actor->run)) {
        atomic_store(&actor->sleeping, false);
        return TASK_DONE;
    }
    task_sleep_until(&actor->task, actor->think_until_ns);
    return TASK_PARK;
}

enum task_result log_full_begin(struct actor *actor)
{
    relaxed_add(&actor->task.worker->stats.counters.log_full_errors, 1);
    actor->think_until_ns = clock_now_ns(actor->run->clock) + LOG_FULL_REST_NS;
    atomic_store(&actor->sleeping, true);
    return actor_go(actor, rest);
}
