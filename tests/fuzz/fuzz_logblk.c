/*
 * fuzz_logblk.c - arbitrary bytes as a log block, as VLF headers and as a whole log file.
 *
 * Input: one byte of choices, then the bytes.  Bit 0: the log is chained; bit 1: gaps are allowed;
 * bit 2: even parity.  The bytes are tried as a block, as a VLF header and as the part of a log
 * file behind page 0.  Beyond memory safety: what the checks accept must keep their promises.
 */
#include <assert.h>
#include <errno.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "verify/logscan.h"

#define FUZZ_FSEQ  50u
#define FUZZ_BLOCK 16u
#define FUZZ_CRC   0x12345678u
#define PAGE_0     8192u

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

struct memory {
    const uint8_t *bytes; /* behind page 0 */
    size_t size_bytes;
};

static void walk_records(const uint8_t *unstamped, const struct log_block_info *info)
{
    struct log_record_view record;
    struct log_page_change change;
    uint32_t sum = 0;
    for (unsigned i = 0; i < info->record_count; i++) {
        if (!log_record_at(unstamped, info, i, &record))
            continue;
        assert(record.payload >= unstamped);
        assert(record.payload + record.payload_bytes <= unstamped + info->used_bytes);
        for (size_t k = 0; k < record.payload_bytes; k++)
            sum += record.payload[k];
        if (log_record_change(&record, &change))
            sum += change.page_no;
    }
    assert(!log_record_at(unstamped, info, info->record_count, &record));
    /* Touch the sum so that the reads above stay. */
    __asm__ volatile("" : : "r"(sum));
}

static void fuzz_block(const uint8_t *data, size_t size, uint8_t parity, bool chained)
{
    uint8_t *scratch = malloc(LOG_BLOCK_BYTES_MAX);
    struct log_block_info info;
    enum log_block_check why;
    assert(scratch != NULL);
    enum log_block_check what = log_block_check(data, size, parity, FUZZ_FSEQ, FUZZ_BLOCK, chained,
                                                FUZZ_CRC, scratch, &info);
    if (size >= LOG_SECTOR_BYTES) {
        size_t peeked = log_block_peek(data, parity, FUZZ_FSEQ, &why);
        assert((peeked != 0) == (why == LOG_BLOCK_OK));
        assert(peeked <= LOG_BLOCK_BYTES_MAX);
    }
    if (what == LOG_BLOCK_OK) {
        assert(info.size_bytes <= size && info.fseq == FUZZ_FSEQ && info.block == FUZZ_BLOCK);
        assert(!chained || (info.has_chain && info.previous_crc == FUZZ_CRC));
        walk_records(scratch, &info);
    }
    free(scratch);
}

static void fuzz_vlf(const uint8_t *data, size_t size)
{
    uint8_t buf[VLF_HEADER_BYTES] = {0};
    struct vlf_header vlf;
    memcpy(buf, data, size < sizeof(buf) ? size : sizeof(buf));
    if (vlf_header_parse(buf, PAGE_0, &vlf) != 0)
        return;
    assert(vlf.offset == PAGE_0 && vlf.size_bytes > VLF_HEADER_BYTES);
    assert(vlf.fseq == 0 || vlf.parity == LOG_PARITY_ODD || vlf.parity == LOG_PARITY_EVEN);
}

static int read_memory(void *context, uint64_t offset, void *buf, size_t size_bytes)
{
    const struct memory *memory = context;
    uint8_t *out = buf;
    if (offset > PAGE_0 + memory->size_bytes || size_bytes > PAGE_0 + memory->size_bytes - offset)
        abort();
    for (; size_bytes > 0 && offset < PAGE_0; size_bytes--, offset++)
        *out++ = 0;
    memcpy(out, memory->bytes + (offset - PAGE_0), size_bytes);
    return 0;
}

static void fuzz_scan(const uint8_t *data, size_t size, uint8_t choices)
{
    struct memory memory = {data, size};
    struct log_scan *scan = calloc(1, sizeof(*scan));
    assert(scan != NULL);
    scan->reader = (struct log_reader){read_memory, &memory};
    scan->file_bytes = PAGE_0 + size;
    scan->chained = choices & 1;
    scan->gaps_allowed = choices & 2;
    scan->chain_start = FUZZ_CRC;
    scan->first_fseq = FUZZ_FSEQ;
    int rc = log_scan_run(scan);
    assert(rc == 0 || rc == -EINVAL);
    assert(scan->blocks <= size / LOG_SECTOR_BYTES);
    assert(scan->blocks_chained == (scan->chained ? scan->blocks : 0));
    free(scan);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    if (size == 0 || size > 1u << 18)
        return 0;
    uint8_t choices = data[0];
    /* An exact copy, not aligned, so that the sanitizer sees the first byte read behind it. */
    uint8_t *bytes = malloc(size);
    assert(bytes != NULL);
    memcpy(bytes, data, size);
    fuzz_block(bytes + 1, size - 1, choices & 4 ? LOG_PARITY_EVEN : LOG_PARITY_ODD, choices & 1);
    fuzz_vlf(bytes + 1, size - 1);
    fuzz_scan(bytes + 1, size - 1, choices);
    free(bytes);
    return 0;
}
