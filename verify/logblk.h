/*
 * logblk.h - log blocks, bit-exact as SQL Server 2012+ writes them (reference, section 4.3).
 *
 * A block is 1 sector .. 60 KiB.  Its header takes 0x30 bytes; the first record of each block is
 * ours (struct log_chain_record): CRC-32 (zlib) of the previous block and of this one, over the
 * unstamped image with own field, 0x18 and fix-up bytes zero, chained from run_chain_start().  Then
 * records, then the u16 offset array in reverse; byte 0 of every 512-byte sector is replaced by
 * parity and first/last flags, the displaced bytes stand at the very end of the block in reverse;
 * last, the block checksum (sector fold of the stamped image).
 *
 * A record: 0x18 bytes start (+2 u16 fixed length, +4 previous LSN of the transaction, +0x10
 * transaction id, +0x16 operation, +0x17 context), then the payload.  Records start at multiples of
 * 4 bytes, so that a record read back can be up to 3 zero bytes longer than it was appended.
 *
 * Pure; a builder belongs to one thread at a time; nothing is allocated.
 */
#ifndef VERIFY_LOGBLK_H
#define VERIFY_LOGBLK_H

#include <assert.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include "verify/lsn.h"
#include "verify/page.h"

#define LOG_SECTOR_BYTES       512
#define LOG_BLOCK_BYTES_MAX    61440 /* 60 KiB */
#define LOG_BLOCK_HEADER_BYTES 0x30
#define LOG_BLOCK_VERSION      5 /* 2012+ */
#define LOG_RECORD_START_BYTES 0x18
#define LOG_RECORD_BYTES_MAX   60000 /* longer ones become two */
#define LOG_RECORDS_MAX        2400  /* of a block: 61,440 / (0x18 + 2) rounded up */
#define LOG_CHAIN_RECORD_BYTES (LOG_RECORD_START_BYTES + 12)
#define LOG_PARITY_ODD         0x40
#define LOG_PARITY_EVEN        0x80
#define LOG_PARITY_MASK        0xC0
#define LOG_FLAG_FIRST         0x10        /* first sector of a block */
#define LOG_FLAG_LAST          0x08        /* last sector of a block */
#define LOG_CHECKSUM_PRESENT   0x02        /* in check_flags; bit 0 is always set */
#define LOG_CHAIN_MAGIC        0x434C5350u /* "PSLC" */

enum log_op {
    LOG_OP_CHAIN = 0x00, /* LOP_NOOP: our first record */
    LOG_OP_FORMAT = 0x01,
    LOG_OP_MODIFY = 0x04,
    LOG_OP_SET_BITS = 0x07,
    LOG_OP_BEGIN_XACT = 0x80,
    LOG_OP_COMMIT_XACT = 0x81,
    LOG_OP_ABORT_XACT = 0x82,
    LOG_OP_BEGIN_CHECKPOINT = 0x96,
    LOG_OP_CHECKPOINT_XACTS = 0x98,
    LOG_OP_END_CHECKPOINT = 0x99,
};

/* Payload start of every record that changes a page (FORMAT, MODIFY, SET_BITS). */
struct log_page_change {
    uint32_t magic; /* LOG_CHANGE_MAGIC */
    uint16_t file_uid;
    uint16_t incarnation;
    uint32_t page_no;    /* first page */
    uint32_t page_count; /* 1; FORMAT: up to 8 (an extent) */
    uint64_t generation; /* new one (FORMAT: of every page) */
    uint64_t image_xxh3; /* SET_BITS: of the new system page image before sealing; else 0 */
} __attribute__((packed));
#define LOG_CHANGE_MAGIC 0x43505350u /* "PSPC" */
static_assert(sizeof(struct log_page_change) == 32, "change record is 32 bytes");

/* The start of a block as on disk, before stamping. */
struct log_block_header {
    uint8_t version; /* on disk: parity and flags of the first sector */
    uint8_t reserved0;
    uint16_t record_count;
    uint16_t used_bytes; /* to the end of the offset array */
    uint16_t size_bytes; /* on disk */
    uint8_t check_flags;
    uint8_t reserved1;
    uint16_t previous_bytes;
    uint32_t fseq;
    uint32_t block;
    uint16_t slot; /* of the first record: 1 */
    uint16_t reserved2;
    uint32_t checksum;
    uint8_t reserved3[20];
} __attribute__((packed));
static_assert(sizeof(struct log_block_header) == LOG_BLOCK_HEADER_BYTES, "first record at 0x30");
static_assert(offsetof(struct log_block_header, checksum) == 0x18, "block checksum at 0x18");

/* The start of a record as on disk. */
struct log_record_start {
    uint16_t reserved;
    uint16_t fixed_bytes; /* LOG_RECORD_START_BYTES */
    uint32_t previous_fseq;
    uint32_t previous_block;
    uint16_t previous_slot;
    uint16_t flags;
    uint32_t xact_id_low;
    uint16_t xact_id_high;
    uint8_t op;
    uint8_t context;
} __attribute__((packed));
static_assert(sizeof(struct log_record_start) == LOG_RECORD_START_BYTES, "payload at 0x18");
static_assert(offsetof(struct log_record_start, op) == 0x16, "operation at 0x16");

/* Our record 1 of every block. */
struct log_chain_record {
    struct log_record_start start;
    uint32_t magic;
    uint32_t previous_crc;
    uint32_t own_crc;
} __attribute__((packed));
static_assert(sizeof(struct log_chain_record) == LOG_CHAIN_RECORD_BYTES, "chain record");

struct log_builder {
    uint8_t *buf; /* LOG_BLOCK_BYTES_MAX bytes, sector aligned; caller's */
    size_t used_bytes;
    unsigned record_count;
    uint16_t offsets[LOG_RECORDS_MAX];
};

/* A record to be appended. */
struct log_record {
    enum log_op op;
    uint64_t xact_id;    /* 48 bits */
    struct lsn previous; /* previous record of the transaction, or zero */
    const void *head;    /* payload start (log_page_change or others) */
    size_t head_bytes;
    size_t payload_bytes; /* >= head_bytes; the rest is filler, see log_record_filler */
};

struct log_block_place {
    uint32_t fseq;
    uint32_t block; /* offset in the VLF / 512 */
    uint8_t parity;
    uint16_t previous_bytes; /* size of the previous block; 0 for the very first of a run */
    size_t sector_bytes;     /* 512 or 4096 */
    uint32_t previous_crc;   /* chain */
};

/* Start a block: header space and the chain record as slot 1. */
void log_builder_begin(struct log_builder *b, uint8_t *buf);
/* Would it fit, its slot and fix-up bytes included? */
bool log_builder_fits(const struct log_builder *b, size_t payload_bytes);
/* Append; returns the 1-based slot. The record must fit. */
unsigned log_builder_append(struct log_builder *b, const struct log_record *record);
/* Fill buf with the filler that follows a record's start and head (head_crc: CRC-32 of both):
 * 64-bit words x ^ x >> 32 with x = head_crc * (2^32 + 1) + (i + 1) * 0x9E3779B97F4A7C15, the last
 * one cut.  It depends on nothing that is known only when the block is sealed. */
void log_record_filler(void *buf, size_t size_bytes, uint32_t head_crc);
/* Upper bound of the log space that one record can cost, if every record got a block of its own.
 * Cutting blocks later never costs more than the sum.  What is lost at the end of a VLF, because
 * the next block does not fit there, is not part of it. */
size_t log_record_cost(size_t payload_bytes, size_t sector_bytes);
/* Size on disk if sealed now. */
size_t log_builder_size(const struct log_builder *b, size_t sector_bytes);
/* Finish the block in place; returns its size on disk, *crc_out the chain value of this block. */
size_t log_builder_seal(struct log_builder *b, const struct log_block_place *place,
                        uint32_t *crc_out);

enum log_block_check {
    LOG_BLOCK_OK,
    LOG_BLOCK_ZERO,        /* never written here */
    LOG_BLOCK_STAMP,       /* 0xC0 initial stamp of 2016+ */
    LOG_BLOCK_NOT_A_BLOCK, /* no block header here */
    LOG_BLOCK_OLD_PARITY,  /* block of the previous use of the VLF */
    LOG_BLOCK_OLD_SEQUENCE,
    LOG_BLOCK_TORN, /* mixed parity or flags: some sectors are older */
    LOG_BLOCK_BAD_CHECKSUM,
    LOG_BLOCK_BAD_RECORDS, /* record array makes no sense */
    LOG_BLOCK_BAD_PLACE,   /* its LSN is another place's */
    LOG_BLOCK_BAD_CHAIN,   /* own CRC, previous CRC (pagestorm logs only) or previous size wrong */
    LOG_BLOCK_BAD_VLF,     /* log_scan_run: the VLF header, not a block, is damaged */
    LOG_BLOCK_GAP,         /* log_scan_run: the VLFs with the FSeqNos before this one are missing */
};

struct log_block_info {
    uint32_t fseq;
    uint32_t block;
    size_t size_bytes;
    size_t used_bytes;
    uint16_t previous_bytes;
    unsigned record_count;
    bool has_checksum;
    uint32_t own_crc, previous_crc; /* chain record, if ours */
    bool has_chain;
    size_t torn_sector; /* first sector that is not of this block, when TORN */
};

/* Size field of the block that starts at sector, 0 if there is none of this parity and sequence.
 * To learn how much to read. */
size_t log_block_peek(const void *sector, uint8_t parity, uint32_t fseq, enum log_block_check *why);
/* Check the block in buf, of any alignment; avail_bytes may be anything, a block longer than that
 * is NOT_A_BLOCK.  scratch: LOG_BLOCK_BYTES_MAX bytes, gets the unstamped image with zero fix-up
 * bytes. chained: demand our chain record with previous_crc.  *info is complete with OK, BAD_CHAIN
 * and BAD_PLACE; otherwise what is not known is zero. */
enum log_block_check log_block_check(const void *buf, size_t avail_bytes, uint8_t parity,
                                     uint32_t fseq, uint32_t block, bool chained,
                                     uint32_t previous_crc, uint8_t *scratch,
                                     struct log_block_info *info);

/* Is the own CRC right for the previous CRC that the block itself names (info->has_chain)?
 * unstamped and info as log_block_check(chained = false) left them. */
bool log_block_own_crc_ok(const uint8_t *unstamped, const struct log_block_info *info);

/* Element `index` of the offset array, which ends at used_bytes with record 0. */
static inline uint16_t log_record_offset(const uint8_t *unstamped, size_t used_bytes,
                                         unsigned index)
{
    uint16_t value;
    memcpy(&value, unstamped + used_bytes - sizeof(value) * (index + 1u), sizeof(value));
    return value;
}

/* Records of a checked block, from its unstamped image. */
struct log_record_view {
    struct lsn lsn;
    uint8_t op;
    uint64_t xact_id;
    struct lsn previous;
    const uint8_t *payload;
    size_t payload_bytes;
};
bool log_record_at(const uint8_t *unstamped, const struct log_block_info *info, unsigned index,
                   struct log_record_view *out);
/* The change a record describes; false if it is none (or not ours). */
bool log_record_change(const struct log_record_view *record, struct log_page_change *out);

#endif
