/*
 * lsn.h - the log sequence number: VLF sequence, block number (512-byte units in the VLF), slot.
 *
 * Source: reference "SQL Server storage I/O", sections 2.1 and 4.3.  On disk 4+4+2 bytes.
 */
#ifndef VERIFY_LSN_H
#define VERIFY_LSN_H

#include <stdbool.h>
#include <stdint.h>

struct lsn {
    uint32_t fseq;  /* FSeqNo of the VLF */
    uint32_t block; /* byte offset in the VLF / 512 */
    uint16_t slot;  /* 1-based record number in the block */
};

static inline int lsn_compare(struct lsn a, struct lsn b)
{
    if (a.fseq != b.fseq)
        return a.fseq < b.fseq ? -1 : 1;
    if (a.block != b.block)
        return a.block < b.block ? -1 : 1;
    return a.slot == b.slot ? 0 : a.slot < b.slot ? -1 : 1;
}

static inline bool lsn_is_zero(struct lsn a)
{
    return a.fseq == 0 && a.block == 0 && a.slot == 0;
}

/* Order of blocks as one word: the log is durable to every LSN whose position is below the end
 * position of the durable log. */
static inline uint64_t lsn_position(struct lsn a)
{
    return (uint64_t)a.fseq << 32 | a.block;
}

#endif
