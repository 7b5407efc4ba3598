/*
 * logblk_check.c - is this a log block, of which use of which place, and is it whole?
 *
 * Invariants: nothing beyond avail_bytes is read, no alignment is assumed, nothing in a block is
 * believed before what protects it was checked, except the size, which is bounded first.
 * Blocks of every version (2000 to 2022) are judged; the chain is pagestorm's own.
 * It does not know what stands before or behind the block: logscan.c does.
 */
#include "verify/logblk.h"

#include <string.h>

#include "verify/check.h"
#include "verify/checksum.h"

#define CHECKSUM_AT       offsetof(struct log_block_header, checksum)
#define CHAIN_OWN_CRC_AT  (LOG_BLOCK_HEADER_BYTES + offsetof(struct log_chain_record, own_crc))
#define CHAIN_END         (LOG_BLOCK_HEADER_BYTES + LOG_CHAIN_RECORD_BYTES)
#define RECORD_OFFSET_MIN 0x18 /* of SQL Server 2000, the shortest block header */

static bool filled_with(const uint8_t *sector, uint8_t value)
{
    return sector[0] == value && memcmp(sector, sector + 1, LOG_SECTOR_BYTES - 1) == 0;
}

static enum log_block_check peek(const uint8_t *sector, uint8_t parity, uint32_t fseq,
                                 struct log_block_header *header)
{
    memcpy(header, sector, sizeof(*header));
    if (filled_with(sector, 0))
        return LOG_BLOCK_ZERO;
    if (filled_with(sector, LOG_PARITY_MASK))
        return LOG_BLOCK_STAMP;
    size_t size = header->size_bytes;
    if (!(sector[0] & LOG_FLAG_FIRST) || size == 0 || size % LOG_SECTOR_BYTES != 0 ||
        size > LOG_BLOCK_BYTES_MAX || header->used_bytes > size)
        return LOG_BLOCK_NOT_A_BLOCK;
    if (CHECKED(log_parity) && (sector[0] & LOG_PARITY_MASK) != parity)
        return LOG_BLOCK_OLD_PARITY;
    return !CHECKED(log_sequence) || header->fseq == fseq ? LOG_BLOCK_OK : LOG_BLOCK_OLD_SEQUENCE;
}

size_t log_block_peek(const void *sector, uint8_t parity, uint32_t fseq, enum log_block_check *why)
{
    struct log_block_header header;
    enum log_block_check what = peek(sector, parity, fseq, &header);
    if (why != NULL)
        *why = what;
    return what == LOG_BLOCK_OK ? header.size_bytes : 0;
}

static bool sectors_agree(const uint8_t *block, size_t size, uint8_t parity, size_t *wrong)
{
    size_t sectors = size / LOG_SECTOR_BYTES;
    for (size_t i = 0; i < sectors; i++) {
        unsigned expected = parity;
        expected |= i == 0 ? LOG_FLAG_FIRST : 0;
        expected |= i + 1 == sectors ? LOG_FLAG_LAST : 0;
        unsigned mask = LOG_PARITY_MASK | LOG_FLAG_FIRST | LOG_FLAG_LAST;
        if ((block[i * LOG_SECTOR_BYTES] & mask) != expected) {
            *wrong = i;
            return false;
        }
    }
    return true;
}

static bool checksum_ok(const uint8_t *block, size_t size)
{
    uint32_t stored;
    memcpy(&stored, block + CHECKSUM_AT, sizeof(stored));
    return sector_fold(block, size, CHECKSUM_AT) == stored;
}

/* Put the displaced first bytes back; the fix-up bytes become zero. */
static void unstamp(uint8_t *out, const uint8_t *block, size_t size)
{
    size_t sectors = size / LOG_SECTOR_BYTES;
    memcpy(out, block, size);
    for (size_t i = 0; i < sectors; i++) {
        out[i * LOG_SECTOR_BYTES] = block[size - 1 - i];
        out[size - 1 - i] = 0;
    }
}

/* Offsets rise and lie between the header and the array, which ends before the fix-up bytes. */
static bool records_ok(const uint8_t *unstamped, const struct log_block_info *info)
{
    size_t array = info->record_count * sizeof(uint16_t);
    if (info->used_bytes + info->size_bytes / LOG_SECTOR_BYTES > info->size_bytes ||
        info->used_bytes < RECORD_OFFSET_MIN + array)
        return false;
    size_t low = RECORD_OFFSET_MIN;
    for (unsigned i = 0; i < info->record_count; i++) {
        size_t offset = log_record_offset(unstamped, info->used_bytes, i);
        if (offset < low || offset >= info->used_bytes - array)
            return false;
        low = offset + 1;
    }
    return true;
}

static void read_chain(const uint8_t *unstamped, struct log_block_info *info)
{
    struct log_chain_record chain;
    size_t array = info->record_count * sizeof(uint16_t);
    if (unstamped[0] != LOG_BLOCK_VERSION || info->record_count == 0 ||
        info->used_bytes < CHAIN_END + array ||
        log_record_offset(unstamped, info->used_bytes, 0) != LOG_BLOCK_HEADER_BYTES)
        return;
    memcpy(&chain, unstamped + LOG_BLOCK_HEADER_BYTES, sizeof(chain));
    if (chain.start.op != LOG_OP_CHAIN || chain.magic != LOG_CHAIN_MAGIC)
        return;
    info->has_chain = true;
    info->own_crc = chain.own_crc;
    info->previous_crc = chain.previous_crc;
}

bool log_block_own_crc_ok(const uint8_t *unstamped, const struct log_block_info *info)
{
    static const uint8_t zero[4];
    if (!info->has_chain)
        return false;
    uint32_t crc = crc32_zlib(info->previous_crc, unstamped, CHECKSUM_AT);
    crc = crc32_zlib(crc, zero, sizeof(zero));
    size_t at = CHECKSUM_AT + sizeof(zero);
    crc = crc32_zlib(crc, unstamped + at, CHAIN_OWN_CRC_AT - at);
    crc = crc32_zlib(crc, zero, sizeof(zero));
    at = CHAIN_OWN_CRC_AT + sizeof(zero);
    crc = crc32_zlib(crc, unstamped + at, info->size_bytes - at);
    return !CHECKED(log_own_crc) || crc == info->own_crc;
}

static void fill_info(struct log_block_info *info, const struct log_block_header *header)
{
    info->fseq = header->fseq;
    info->block = header->block;
    info->size_bytes = header->size_bytes;
    info->used_bytes = header->used_bytes;
    info->previous_bytes = header->previous_bytes;
    info->record_count = header->record_count;
    info->has_checksum = header->check_flags & LOG_CHECKSUM_PRESENT;
}

enum log_block_check log_block_check(const void *buf, size_t avail_bytes, uint8_t parity,
                                     uint32_t fseq, uint32_t block, bool chained,
                                     uint32_t previous_crc, uint8_t *scratch,
                                     struct log_block_info *info)
{
    struct log_block_header header;
    *info = (struct log_block_info){0};
    if (avail_bytes < LOG_SECTOR_BYTES)
        return LOG_BLOCK_NOT_A_BLOCK;
    enum log_block_check what = peek(buf, parity, fseq, &header);
    if (what != LOG_BLOCK_OK)
        return what;
    if (header.size_bytes > avail_bytes)
        return LOG_BLOCK_NOT_A_BLOCK;
    fill_info(info, &header);
    if (CHECKED(log_sectors) && !sectors_agree(buf, info->size_bytes, parity, &info->torn_sector))
        return LOG_BLOCK_TORN;
    if (CHECKED(log_checksum) && info->has_checksum && !checksum_ok(buf, info->size_bytes))
        return LOG_BLOCK_BAD_CHECKSUM;
    unstamp(scratch, buf, info->size_bytes);
    if (!records_ok(scratch, info))
        return LOG_BLOCK_BAD_RECORDS;
    read_chain(scratch, info);
    if (CHECKED(log_place) && info->block != block)
        return LOG_BLOCK_BAD_PLACE;
    bool follows = !CHECKED(log_previous_crc) || info->previous_crc == previous_crc;
    if (chained && (!info->has_chain || !follows || !log_block_own_crc_ok(scratch, info)))
        return LOG_BLOCK_BAD_CHAIN;
    return LOG_BLOCK_OK;
}
