/*
 * wal_read_back.h - reading part of the log back before it is overwritten.
 *
 * The log writer never reads what it wrote; recovery would.  Of the VLFs that are given back a
 * share is read and every block verified, by its checksums and by the chain, before the VLF may be
 * used again.  What is used again unread is counted.
 *
 * Which ones is decided by the seed and the FSeqNo, so that a run can be repeated.
 *
 * Ownership: the log's.  Threads: the task runs on the log writer's worker, the rest under the
 * log's lock.
 */
#ifndef SIM_WAL_READ_BACK_H
#define SIM_WAL_READ_BACK_H

#include "sim/findings.h"
#include "sim/wal.h"

#define WAL_READ_BYTES  (120 * 1024) /* of one log read: reference 1 */
#define WAL_REREADS_MAX 4            /* SQL Server's */

struct wal_read_back;

struct wal_read_back_how {
    struct findings *findings;
    const struct run_identity *run;
    uint64_t share; /* of the VLFs, 0..10000 */
    uint64_t seed;
    bool fresh_is_zero; /* the log was filled with zeros before its use */
};
/* After wal_init, before a worker runs. */
int wal_read_back_enable(struct wal *wal, const struct wal_read_back_how *how)
    __attribute__((warn_unused_result));
void wal_read_back_free(struct wal_read_back *back); /* NULL is fine */

/* Under the log's lock: nobody needs the VLF any more, the oldest.  True: it is read first, and
 * stays in use until then; then wal_release_locked goes on. */
bool wal_read_back_take(struct wal *wal, struct wal_vlf *vlf);
bool wal_read_back_is_busy(const struct wal *wal);

#endif
