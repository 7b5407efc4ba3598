/*
 * wal_full.c - what a full log does: it says why it cannot be used again, grows, or refuses (9002).
 *
 * Space is reserved before a transaction changes anything, and waited for only then.  Whoever waits
 * is given it by the transactions that end, by a checkpoint, by whoever holds the log, or by
 * growth.  When none of them can, and that for as long as LOG_FULL_PATIENCE_NS, the log refuses:
 * who waits, and who comes, is told that it is full, until somebody finds room again.  Transactions
 * that have begun are not touched: what they need to end, or to be undone, is theirs already.
 */
#include "sim/wal_growth.h"
#include "sim/wal_read_back.h"

const char *wal_reuse_wait_name(enum wal_reuse_wait why)
{
    static const char *const names[] = {
        [WAL_REUSE_NOTHING] = "NOTHING",
        [WAL_REUSE_CHECKPOINT] = "CHECKPOINT",
        [WAL_REUSE_LOG_BACKUP] = "LOG_BACKUP",
        [WAL_REUSE_ACTIVE_BACKUP] = "ACTIVE_BACKUP_OR_RESTORE",
        [WAL_REUSE_ACTIVE_TRANSACTION] = "ACTIVE_TRANSACTION",
        [WAL_REUSE_SNAPSHOT] = "DATABASE_SNAPSHOT_CREATION",
        [WAL_REUSE_LOG_SCAN] = "LOG_SCAN",
    };
    return names[why];
}

/* The oldest hold names its reason. */
static enum wal_reuse_wait hold_reason(const struct wal *wal)
{
    const struct wal_hold *oldest = wal->holds;
    for (const struct wal_hold *hold = wal->holds; hold; hold = hold->next)
        if (hold->position < oldest->position)
            oldest = hold;
    return oldest->reason ? oldest->reason : WAL_REUSE_LOG_BACKUP;
}

enum wal_reuse_wait wal_reuse_wait_locked(const struct wal *wal)
{
    uint32_t head = wal->vlfs[wal->head].header.fseq, oldest = wal_oldest_fseq(wal);
    if (oldest == head)
        return WAL_REUSE_NOTHING;
    if (wal_read_back_is_busy(wal))
        return WAL_REUSE_LOG_SCAN; /* what follows is given back after it */
    if (wal_hold_position(wal) >> 32 <= oldest)
        return hold_reason(wal);
    if (wal->oldest && wal->oldest->begin_position >> 32 <= oldest)
        return WAL_REUSE_ACTIVE_TRANSACTION;
    return WAL_REUSE_CHECKPOINT;
}

enum wal_reuse_wait wal_reuse_wait(struct wal *wal)
{
    pthread_mutex_lock(&wal->lock);
    enum wal_reuse_wait why = wal_reuse_wait_locked(wal);
    pthread_mutex_unlock(&wal->lock);
    return why;
}

void wal_space_lacks(struct wal *wal)
{
    if (wal_read_back_is_busy(wal))
        return; /* it will be over, and then we are asked again */
    enum wal_reuse_wait why = wal_reuse_wait_locked(wal);
    if (why == WAL_REUSE_CHECKPOINT || wal_growth_ask(wal) || wal->full_since_ns)
        return;
    for (size_t i = 0; i < wal->vlf_count; i++)
        if (!wal->vlfs[i].in_use)
            return; /* reserved only: transactions that end give back what they do not use */
    wal->full_since_ns = clock_now_ns(wal->clock);
    wal->full_why = why;
    task_wake(&wal->writer); /* keeps the time */
}

void wal_space_found(struct wal *wal)
{
    wal->full_since_ns = 0;
    wal->refusing = false;
}

bool wal_full_look(struct wal *wal, uint64_t *next_ns)
{
    if (!wal->full_since_ns || wal->refusing)
        return false;
    uint64_t due_ns = wal->full_since_ns + LOG_FULL_PATIENCE_NS;
    if (clock_now_ns(wal->clock) < due_ns) {
        *next_ns = due_ns < *next_ns ? due_ns : *next_ns;
        return false;
    }
    if (!wal->space_waiters.head) { /* nobody waits any more */
        wal_space_found(wal);
        return false;
    }
    wal->refusing = true;
    wait_list_wake_all(&wal->space_waiters);
    return true;
}
