/*
 * wal_growth.h - growth of a log whose files may grow, by a task of its own.
 *
 * When space is waited for (what is free is reserved) and no checkpoint would give any back, a file
 * of the log grows by its increment, as far as its largest size allows: the file in which the log
 * stands, else the next.  The log and its writers go on meanwhile.
 *
 *   SPACE (VLF headers and fresh bytes, in full, in order) -> flush -> PAGE 0 -> flush -> VLFs used
 *
 * Invariants:
 *  1. New space is written in order, each VLF beginning with its header, so that at every moment
 *     the file is a row of VLFs of which only the last may be cut: a killed growth leaves a file
 *     that recovery accepts.
 *  2. Page 0, which says how large the file is, is durable after the space and before its first
 *     use; the ledger has the size as issued while the file grows, as acknowledged after that.
 *  3. A growth that fails leaves the file as it was, or (page 0 in doubt) with VLFs that are never
 *     used; that file does not grow again.
 *
 * SQL Server 2022 writes no fresh bytes in growths up to 64 MiB; here they always are, so that
 * every byte of a log file is known.
 *
 * Ownership: the log's.  Threads: the task runs on the log writer's worker; the rest under the
 * log's lock.
 */
#ifndef SIM_WAL_GROWTH_H
#define SIM_WAL_GROWTH_H

#include "sim/wal.h"

#define WAL_GROWTH_BYTES_MIN (256 * 1024) /* the smallest VLF is 248 KiB */
#define WAL_GROWTH_GRAIN     65536        /* increments are rounded up to this: reference 4.5 */

/* How one file of the log grows. */
struct wal_growth_rule {
    uint64_t increment_bytes; /* 0: it does not grow */
    uint64_t max_bytes;
};

enum wal_growth_event { WAL_GROWTH_BEGINS, WAL_GROWTH_ENDS, WAL_GROWTH_FAILED };

struct wal_growth_how {
    const struct wal_growth_rule *rules; /* of each file; copied */
    enum vlf_rule vlf_rule;
    uint8_t fresh_byte;
    /* Told outside the lock, by the task; BEGINS and then one of the others.  May be NULL. */
    void (*on_growth)(struct wal *wal, enum wal_growth_event event);
};

/* The growth under way, or the last one. */
struct wal_growth_now {
    unsigned file;
    uint64_t from_bytes, to_bytes;
    int error;
    uint64_t error_offset;
};

/* Let the log grow.  After wal_init, before a worker runs. */
int wal_growth_enable(struct wal *wal, const struct wal_growth_how *how)
    __attribute__((warn_unused_result));
void wal_growth_free(struct wal_growth *growth);                    /* NULL is fine */
const struct wal_growth_now *wal_growth_now(const struct wal *wal); /* for on_growth */

/* Under the log's lock: */
/* Begin a growth, unless one is under way; false if the log cannot grow any more. */
bool wal_growth_ask(struct wal *wal);
bool wal_growth_is_busy(const struct wal *wal);

#endif
