/*
 * tempdb_change.h - allocating and deallocating a stretch of tempdb: its bits in PFS and GAM, in a
 * transaction of tempdb's log for whose commit nobody waits.
 *
 * The extents are the caller's already (tempdb_space.h), and still are after a deallocation, when
 * the ledger has its pages as freed: generations are kept, nothing is judged until they are written
 * again.  SGAM says "uniform" (0) before and after, so it does not change.
 *
 * Ownership: the caller's, one change at a time.  Threads: any.
 */
#ifndef SIM_TEMPDB_CHANGE_H
#define SIM_TEMPDB_CHANGE_H

#include "sim/tempdb_space.h"

struct tempdb_change {
    struct tempdb_stretch stretch;
    bool allocate;
    bool first_is_iam; /* its first page is the IAM page of an object */
    enum { TEMPDB_RESERVE, TEMPDB_PFS, TEMPDB_GAM, TEMPDB_COMMIT } step;
    struct xact xact;
};

void tempdb_change_start(struct tempdb_change *change, const struct tempdb_stretch *stretch,
                         bool allocate);
/* 0: done; -EAGAIN: the task stands in a list and is woken; -EIO: the log has failed. */
int tempdb_change_step(struct tempdb_change *change, struct task *task)
    __attribute__((warn_unused_result));

#endif
