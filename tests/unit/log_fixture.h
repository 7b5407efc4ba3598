/*
 * log_fixture.h - a log file in memory, written block by block as a log writer would.
 *
 * VLFs are used round and round; when the next block does not fit the rest of a VLF, the next VLF
 * gets its header (next FSeqNo, next use) and the chain goes on there.
 */
#ifndef TESTS_UNIT_LOG_FIXTURE_H
#define TESTS_UNIT_LOG_FIXTURE_H

#include <assert.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "verify/logscan.h"

#define FIXTURE_FSEQ   50u
#define FIXTURE_CHAIN  0xC0FFEE11u
#define FIXTURE_BLOCKS 8192

struct placed_block {
    uint64_t offset;
    size_t size_bytes;
    uint32_t fseq, block, crc;
    unsigned records; /* the chain record included */
};

struct log_image {
    uint8_t *bytes;
    uint64_t size_bytes;
    size_t sector_bytes;
    struct vlf_header vlfs[VLF_MAX];
    size_t vlf_count, current;
    uint64_t at;
    uint32_t next_fseq, crc;
    uint16_t previous_bytes;
    uint8_t *buf;
    struct log_builder builder;
    struct placed_block blocks[FIXTURE_BLOCKS];
    size_t block_count; /* those that were overwritten included */
    uint64_t random;
};

static inline uint64_t fixture_random(struct log_image *image)
{
    image->random ^= image->random << 13;
    image->random ^= image->random >> 7;
    image->random ^= image->random << 17;
    return image->random;
}

static inline void log_image_switch(struct log_image *image)
{
    image->current = image->at == 0 ? 0 : (image->current + 1) % image->vlf_count;
    struct vlf_header *vlf = &image->vlfs[image->current];
    vlf->fseq = image->next_fseq++;
    vlf->use_count++;
    vlf_header_build(image->bytes + vlf->offset, vlf);
    image->at = vlf->offset + VLF_HEADER_BYTES;
}

/* Headers for these VLFs; everything else is fill; page 0 is left to the caller. */
static inline struct log_image *log_image_make_vlfs(const struct vlf_header *vlfs, size_t count,
                                                    size_t sector_bytes, uint8_t fill)
{
    struct log_image *image = calloc(1, sizeof(*image));
    assert(image != NULL);
    image->size_bytes = vlfs[count - 1].offset + vlfs[count - 1].size_bytes;
    image->sector_bytes = sector_bytes;
    image->vlf_count = count;
    image->next_fseq = FIXTURE_FSEQ;
    image->crc = FIXTURE_CHAIN;
    image->random = 88172645463325252ull;
    image->bytes = malloc(image->size_bytes);
    image->buf = aligned_alloc(4096, LOG_BLOCK_BYTES_MAX);
    assert(image->bytes != NULL && image->buf != NULL);
    memset(image->bytes, fill, image->size_bytes);
    for (size_t i = 0; i < count; i++) {
        image->vlfs[i] = vlfs[i];
        vlf_header_build(image->bytes + vlfs[i].offset, &vlfs[i]);
    }
    log_image_switch(image);
    return image;
}

static inline struct log_image *log_image_make(uint64_t file_bytes, size_t sector_bytes,
                                               uint8_t fill)
{
    struct vlf_header vlfs[VLF_MAX];
    size_t count = vlf_layout(file_bytes, vlfs);
    assert(count != 0);
    return log_image_make_vlfs(vlfs, count, sector_bytes, fill);
}

static inline void log_image_free(struct log_image *image)
{
    free(image->bytes);
    free(image->buf);
    free(image);
}

static inline uint64_t log_image_room(const struct log_image *image)
{
    const struct vlf_header *vlf = &image->vlfs[image->current];
    return vlf->offset + vlf->size_bytes - image->at;
}

/* Seal what is in the builder and write it. */
static inline struct placed_block *log_image_flush(struct log_image *image)
{
    uint64_t size = log_builder_size(&image->builder, image->sector_bytes);
    if (size > log_image_room(image))
        log_image_switch(image);
    const struct vlf_header *vlf = &image->vlfs[image->current];
    struct log_block_place place = {
        .fseq = vlf->fseq,
        .block = (uint32_t)((image->at - vlf->offset) / LOG_SECTOR_BYTES),
        .parity = vlf_parity(vlf->use_count),
        .previous_bytes = image->previous_bytes,
        .sector_bytes = image->sector_bytes,
        .previous_crc = image->crc,
    };
    size = log_builder_seal(&image->builder, &place, &image->crc);
    memcpy(image->bytes + image->at, image->buf, size);
    assert(image->block_count < FIXTURE_BLOCKS);
    struct placed_block *block = &image->blocks[image->block_count++];
    *block = (struct placed_block){image->at,   size,       place.fseq,
                                   place.block, image->crc, image->builder.record_count};
    image->previous_bytes = (uint16_t)size;
    image->at += size;
    return block;
}

static inline void log_image_record(struct log_image *image, size_t payload_bytes)
{
    struct log_page_change change = {.magic = LOG_CHANGE_MAGIC,
                                     .file_uid = 1,
                                     .incarnation = 1,
                                     .page_no = (uint32_t)fixture_random(image),
                                     .page_count = 1,
                                     .generation = fixture_random(image)};
    struct log_record record = {.op = LOG_OP_MODIFY,
                                .xact_id = image->block_count,
                                .head = &change,
                                .head_bytes = sizeof(change),
                                .payload_bytes = payload_bytes};
    log_builder_append(&image->builder, &record);
}

/* One block with one record of this payload (at least a page change). */
static inline struct placed_block *log_image_add(struct log_image *image, size_t payload_bytes)
{
    log_builder_begin(&image->builder, image->buf);
    log_image_record(image, payload_bytes);
    return log_image_flush(image);
}

/* A block of random length: mostly one to eight sectors, one in sixteen filled to 60 KiB. */
static inline struct placed_block *log_image_add_random(struct log_image *image)
{
    log_builder_begin(&image->builder, image->buf);
    bool full = fixture_random(image) % 16 == 0;
    unsigned want = full ? LOG_RECORDS_MAX : 1 + (unsigned)(fixture_random(image) % 6);
    for (unsigned i = 0; i < want; i++) {
        size_t payload = sizeof(struct log_page_change) + fixture_random(image) % 700;
        if (!log_builder_fits(&image->builder, payload))
            break;
        log_image_record(image, payload);
    }
    return log_image_flush(image);
}

/* Is the block still there: not overwritten by a later use of its VLF? */
static inline bool log_image_live(const struct log_image *image, const struct placed_block *block)
{
    for (size_t i = 0; i < image->vlf_count; i++)
        if (image->vlfs[i].fseq == block->fseq)
            return true;
    return false;
}

static inline uint64_t log_image_live_count(const struct log_image *image, uint64_t *records)
{
    uint64_t blocks = 0;
    *records = 0;
    for (size_t i = 0; i < image->block_count; i++) {
        bool live = log_image_live(image, &image->blocks[i]);
        blocks += live;
        *records += live ? image->blocks[i].records : 0;
    }
    return blocks;
}

/* struct log_reader over memory; demands what the scanner promises. */
static inline int log_image_read(void *context, uint64_t offset, void *buf, size_t size_bytes)
{
    const struct log_image *image = context;
    if (offset > image->size_bytes || size_bytes > image->size_bytes - offset)
        return -EINVAL;
    bool to_end = offset + size_bytes == image->size_bytes;
    if (offset % LOG_READ_ALIGN_BYTES != 0 || (uintptr_t)buf % LOG_READ_ALIGN_BYTES != 0 ||
        (size_bytes % LOG_READ_ALIGN_BYTES != 0 && !to_end))
        return -EINVAL;
    memcpy(buf, image->bytes + offset, size_bytes);
    return 0;
}

static inline struct log_scan log_image_scan_of(struct log_image *image, bool chained)
{
    return (struct log_scan){
        .reader = {log_image_read, image},
        .file_bytes = image->size_bytes,
        .chained = chained,
        .chain_start = FIXTURE_CHAIN,
        .first_fseq = FIXTURE_FSEQ,
    };
}

#endif
