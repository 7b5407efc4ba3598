/*
 * logblk_build.c - assemble a log block in place: records, offset array, chain, stamps, checksum.
 *
 * Invariants: records + slots + one fix-up byte a sector never exceed the block; every byte of the
 * finished block is written here, whatever the buffer held before.
 * It does not decide when a block is cut or where it goes.
 */
#include "verify/logblk.h"

#include <assert.h>
#include <string.h>

#include "verify/checksum.h"

#define RECORD_ALIGN      4
#define FIRST_SLOT        1
#define CHAIN_OWN_CRC_AT  (LOG_BLOCK_HEADER_BYTES + offsetof(struct log_chain_record, own_crc))
#define BLOCK_SECTORS_MAX (LOG_BLOCK_BYTES_MAX / LOG_SECTOR_BYTES)

static size_t align_record(size_t bytes)
{
    return (bytes + RECORD_ALIGN - 1) / RECORD_ALIGN * RECORD_ALIGN;
}

/* Smallest multiple of sector_bytes that holds content and a fix-up byte per 512 bytes. */
static size_t block_size(size_t content_bytes, size_t sector_bytes)
{
    size_t room = sector_bytes - sector_bytes / LOG_SECTOR_BYTES;
    return (content_bytes + room - 1) / room * sector_bytes;
}

static size_t content_bytes(const struct log_builder *b)
{
    return b->used_bytes + b->record_count * sizeof(b->offsets[0]);
}

/* Content after one more record. */
static size_t content_with(size_t content, size_t payload_bytes)
{
    return content + align_record(LOG_RECORD_START_BYTES + payload_bytes) + sizeof(uint16_t);
}

void log_builder_begin(struct log_builder *b, uint8_t *buf)
{
    struct log_chain_record chain = {
        .start = {.fixed_bytes = LOG_RECORD_START_BYTES, .op = LOG_OP_CHAIN},
        .magic = LOG_CHAIN_MAGIC,
    };
    static_assert(sizeof(chain) % RECORD_ALIGN == 0, "the next record starts aligned");
    b->buf = buf;
    b->record_count = 1;
    b->offsets[0] = LOG_BLOCK_HEADER_BYTES;
    b->used_bytes = LOG_BLOCK_HEADER_BYTES + sizeof(chain);
    memset(buf, 0, LOG_BLOCK_HEADER_BYTES);
    memcpy(buf + LOG_BLOCK_HEADER_BYTES, &chain, sizeof(chain));
}

bool log_builder_fits(const struct log_builder *b, size_t payload_bytes)
{
    if (payload_bytes > LOG_BLOCK_BYTES_MAX || b->record_count == LOG_RECORDS_MAX)
        return false;
    return content_with(content_bytes(b), payload_bytes) + BLOCK_SECTORS_MAX <= LOG_BLOCK_BYTES_MAX;
}

size_t log_record_cost(size_t payload_bytes, size_t sector_bytes)
{
    size_t alone = LOG_BLOCK_HEADER_BYTES + LOG_CHAIN_RECORD_BYTES + sizeof(uint16_t);
    return block_size(content_with(alone, payload_bytes), sector_bytes);
}

size_t log_builder_size(const struct log_builder *b, size_t sector_bytes)
{
    return block_size(content_bytes(b), sector_bytes);
}

void log_record_filler(void *buf, size_t size_bytes, uint32_t head_crc)
{
    const uint64_t step = 0x9E3779B97F4A7C15ull;
    uint8_t *out = buf;
    uint64_t x = (uint64_t)head_crc << 32 | head_crc;
    size_t at = 0;
    for (; at + sizeof(x) <= size_bytes; at += sizeof(x)) {
        x += step;
        uint64_t word = x ^ x >> 32;
        memcpy(out + at, &word, sizeof(word));
    }
    x += step;
    uint64_t word = x ^ x >> 32;
    memcpy(out + at, &word, size_bytes - at);
}

static void write_start(uint8_t *at, const struct log_record *record)
{
    struct log_record_start start = {
        .fixed_bytes = LOG_RECORD_START_BYTES,
        .previous_fseq = record->previous.fseq,
        .previous_block = record->previous.block,
        .previous_slot = record->previous.slot,
        .xact_id_low = (uint32_t)record->xact_id,
        .xact_id_high = (uint16_t)(record->xact_id >> 32),
        .op = (uint8_t)record->op,
    };
    memcpy(at, &start, sizeof(start));
}

unsigned log_builder_append(struct log_builder *b, const struct log_record *record)
{
    assert(record->payload_bytes >= record->head_bytes);
    assert(record->xact_id >> 48 == 0);
    assert(log_builder_fits(b, record->payload_bytes));
    uint8_t *at = b->buf + b->used_bytes;
    size_t fixed = LOG_RECORD_START_BYTES + record->head_bytes;
    size_t bytes = LOG_RECORD_START_BYTES + record->payload_bytes;
    write_start(at, record);
    if (record->head_bytes != 0)
        memcpy(at + LOG_RECORD_START_BYTES, record->head, record->head_bytes);
    if (bytes > fixed)
        log_record_filler(at + fixed, bytes - fixed, crc32_zlib(0, at, fixed));
    memset(at + bytes, 0, align_record(bytes) - bytes);
    b->offsets[b->record_count++] = (uint16_t)b->used_bytes;
    b->used_bytes += align_record(bytes);
    return b->record_count - 1 + FIRST_SLOT;
}

static void write_header(const struct log_builder *b, const struct log_block_place *place,
                         size_t size)
{
    struct log_block_header header = {
        .version = LOG_BLOCK_VERSION,
        .record_count = (uint16_t)b->record_count,
        .used_bytes = (uint16_t)content_bytes(b),
        .size_bytes = (uint16_t)size,
        .check_flags = 1 | LOG_CHECKSUM_PRESENT,
        .previous_bytes = place->previous_bytes,
        .fseq = place->fseq,
        .block = place->block,
        .slot = FIRST_SLOT,
    };
    memcpy(b->buf, &header, sizeof(header));
}

/* Offset array in reverse, then zeros to the end of the block. */
static void write_array(const struct log_builder *b, size_t size)
{
    uint8_t *at = b->buf + b->used_bytes;
    for (unsigned i = b->record_count; i-- > 0; at += sizeof(b->offsets[0]))
        memcpy(at, &b->offsets[i], sizeof(b->offsets[0]));
    memset(at, 0, (size_t)(b->buf + size - at));
}

static uint32_t write_chain(uint8_t *block, size_t size, uint32_t previous_crc)
{
    memcpy(block + LOG_BLOCK_HEADER_BYTES + offsetof(struct log_chain_record, previous_crc),
           &previous_crc, sizeof(previous_crc));
    memset(block + CHAIN_OWN_CRC_AT, 0, sizeof(uint32_t));
    uint32_t crc = crc32_zlib(previous_crc, block, size);
    memcpy(block + CHAIN_OWN_CRC_AT, &crc, sizeof(crc));
    return crc;
}

static void stamp_sectors(uint8_t *block, size_t size, uint8_t parity)
{
    size_t sectors = size / LOG_SECTOR_BYTES;
    for (size_t i = 0; i < sectors; i++) {
        uint8_t *first = block + i * LOG_SECTOR_BYTES;
        block[size - 1 - i] = *first;
        *first = parity;
    }
    block[0] |= LOG_FLAG_FIRST;
    block[(sectors - 1) * LOG_SECTOR_BYTES] |= LOG_FLAG_LAST;
}

size_t log_builder_seal(struct log_builder *b, const struct log_block_place *place,
                        uint32_t *crc_out)
{
    assert(place->sector_bytes == 512 || place->sector_bytes == 4096);
    assert(place->parity == LOG_PARITY_ODD || place->parity == LOG_PARITY_EVEN);
    size_t size = log_builder_size(b, place->sector_bytes);
    assert(size <= LOG_BLOCK_BYTES_MAX);
    write_header(b, place, size);
    write_array(b, size);
    *crc_out = write_chain(b->buf, size, place->previous_crc);
    stamp_sectors(b->buf, size, place->parity);
    uint32_t sum = sector_fold(b->buf, size, offsetof(struct log_block_header, checksum));
    memcpy(b->buf + offsetof(struct log_block_header, checksum), &sum, sizeof(sum));
    return size;
}
