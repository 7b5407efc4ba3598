/*
 * fuzz_backup.c - arbitrary bytes as a backup file from its first backup on, and as a delta.
 *
 * Byte 0, bit 0: meta pages are sealed when they are read, so that what their fields say is met,
 * too.  Beyond memory safety: what was loaded lies inside the file, in order, without overlap.
 */
#include <assert.h>
#include <errno.h>
#include <string.h>

#include "verify/backup.h"
#include "verify/syspage_delta.h"

#define IMAGE_BYTES_MAX (1u << 20)

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

struct image {
    const uint8_t *bytes;
    size_t size_bytes;
    bool seal;
};

static int image_read(void *context, uint64_t offset, void *buf, size_t size_bytes)
{
    const struct image *image = context;
    size_t from = (size_t)offset - BACKUP_FIRST_OFFSET;
    if (offset < BACKUP_FIRST_OFFSET || size_bytes > image->size_bytes ||
        from > image->size_bytes - size_bytes)
        return -EIO;
    memcpy(buf, image->bytes + from, size_bytes);
    if (image->seal)
        backup_meta_seal(buf);
    return 0;
}

static void check_set(const struct backup_set *set, uint64_t file_bytes)
{
    uint64_t end = set->header.meta.offset + BACKUP_META_BYTES;
    assert(set->header.meta.count <= BACKUP_FILES_MAX);
    for (size_t i = 0; i < set->count; i++) {
        const struct backup_block *block = &set->blocks[i];
        assert(block->sequence == i && block->offset >= end);
        assert(block->bytes > 0 && block->bytes <= BACKUP_TRANSFER_BYTES_MAX);
        end = block->offset + block->bytes;
        assert(end <= file_bytes);
    }
    assert(backup_set_end(set) <= file_bytes);
}

static void apply_delta(const uint8_t *data, size_t size)
{
    uint8_t page[PAGE_BYTES] = {0};
    (void)!syspage_delta_apply(page, data, size);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static _Alignas(4096) uint8_t memory[BACKUP_META_BYTES]; /* lint: mutable: scratch */
    struct backup_set set;
    if (size < 1 || size > IMAGE_BYTES_MAX)
        return 0;
    struct image image = {data + 1, size - 1, data[0] & 1};
    struct backup_reader reader = {image_read, &image, BACKUP_FIRST_OFFSET + image.size_bytes};
    if (backup_set_load(&set, &reader, BACKUP_FIRST_OFFSET, 0, memory) == 0)
        check_set(&set, reader.file_bytes);
    backup_set_free(&set);
    apply_delta(image.bytes, image.size_bytes);
    return 0;
}
