/*
 * vlf.c - layout of a log file and the VLF header.
 *
 * Sizes are multiples of 8 KiB and lie back to back; the last VLF takes what rounding left over.
 * It does not decide when a VLF may be reused, and it does no I/O.
 */
#include "verify/vlf.h"

#include <assert.h>
#include <errno.h>
#include <string.h>

#include "verify/logblk.h"

#define VLF_SIGNATURE    0xAB
#define VLF_GRAIN_BYTES  65536 /* reference 4.5: range / n is rounded down to 64 KiB */
#define VLF_FORMAT_FIRST 2     /* SQL Server 2000 */
#define LAYOUT_4_MAX     (64ull << 20)
#define LAYOUT_8_MAX     (1ull << 30)
#define GROWTH_ONE_PART  8              /* below 1/8 of the log a growth is one VLF (2014+) */
#define GROWTH_ONE_BYTES (512ull << 10) /* so is every growth below this: reference 4.5 */

struct vlf_disk {
    uint8_t signature;
    uint8_t parity;
    uint16_t format;
    uint32_t fseq;
    uint32_t reserved0;
    uint32_t use_count;
    uint64_t size_bytes;
    uint64_t offset;
    uint32_t create_fseq;
    uint32_t create_block;
    uint16_t create_slot;
} __attribute__((packed));
static_assert(sizeof(struct vlf_disk) == 0x2A, "VLF header ends with the create LSN");
static_assert(offsetof(struct vlf_disk, size_bytes) == 0x10, "VLF size at 0x10");
static_assert(offsetof(struct vlf_disk, create_fseq) == 0x20, "create LSN at 0x20");

/* How many VLFs a range is cut into: reference 4.5. */
static uint64_t layout_count(uint64_t bytes)
{
    if (bytes <= LAYOUT_4_MAX)
        return 4;
    return bytes <= LAYOUT_8_MAX ? 8 : 16;
}

static uint64_t grown_count(enum vlf_rule rule, uint64_t log_bytes, uint64_t growth_bytes)
{
    if (rule != VLF_RULE_CLASSIC && growth_bytes < log_bytes / GROWTH_ONE_PART)
        return 1;
    if (rule == VLF_RULE_2022 && growth_bytes <= LAYOUT_4_MAX)
        return 1;
    return growth_bytes < GROWTH_ONE_BYTES ? 1 : layout_count(growth_bytes);
}

/* Cut a range into at most count VLFs, back to back. */
static size_t cut(uint64_t offset, uint64_t range, uint64_t count, struct lsn create,
                  struct vlf_header *out)
{
    uint64_t size = range / count / VLF_GRAIN_BYTES * VLF_GRAIN_BYTES;
    if (size < VLF_BYTES_MIN) {
        size = VLF_BYTES_MIN;
        if (count > range / size)
            count = range / size;
    }
    for (uint64_t i = 0; i < count; i++) {
        uint64_t start = i * size;
        out[i] = (struct vlf_header){
            .offset = offset + start,
            .size_bytes = i + 1 < count ? size : range - start,
            .create_lsn = create,
            .format = VLF_FORMAT,
        };
    }
    return count;
}

size_t vlf_layout(uint64_t file_bytes, struct vlf_header out[VLF_MAX])
{
    if (file_bytes < LOG_FILE_BYTES_MIN)
        return 0;
    uint64_t range = (file_bytes - VLF_HEADER_BYTES) / VLF_HEADER_BYTES * VLF_HEADER_BYTES;
    return cut(VLF_HEADER_BYTES, range, layout_count(file_bytes), (struct lsn){0}, out);
}

size_t vlf_layout_growth(const struct vlf_growth *growth, struct vlf_header out[VLF_MAX])
{
    uint64_t range = growth->growth_bytes / VLF_HEADER_BYTES * VLF_HEADER_BYTES;
    assert(growth->file_bytes % VLF_HEADER_BYTES == 0);
    if (range < VLF_BYTES_MIN)
        return 0;
    uint64_t count = grown_count(growth->rule, growth->log_bytes, range);
    return cut(growth->file_bytes, range, count, growth->create_lsn, out);
}

uint8_t vlf_parity(uint32_t use_count)
{
    if (use_count == 0)
        return 0;
    return use_count & 1 ? LOG_PARITY_ODD : LOG_PARITY_EVEN;
}

void vlf_header_build(void *buf, const struct vlf_header *vlf)
{
    struct vlf_disk disk = {
        .signature = VLF_SIGNATURE,
        .parity = vlf_parity(vlf->use_count),
        .format = VLF_FORMAT,
        .fseq = vlf->fseq,
        .use_count = vlf->use_count,
        .size_bytes = vlf->size_bytes,
        .offset = vlf->offset,
        .create_fseq = vlf->create_lsn.fseq,
        .create_block = vlf->create_lsn.block,
        .create_slot = vlf->create_lsn.slot,
    };
    memset(buf, 0, VLF_HEADER_BYTES);
    memcpy(buf, &disk, sizeof(disk));
}

/* Old files have used VLFs whose use counter is 0: there the stored parity alone counts. */
static bool parity_sane(const struct vlf_disk *disk)
{
    if (disk->fseq == 0)
        return disk->parity == vlf_parity(disk->use_count);
    if (disk->use_count != 0)
        return disk->parity == vlf_parity(disk->use_count);
    return disk->parity == LOG_PARITY_ODD || disk->parity == LOG_PARITY_EVEN;
}

static bool place_sane(const struct vlf_disk *disk, uint64_t expected_offset)
{
    return disk->offset == expected_offset && disk->size_bytes > VLF_HEADER_BYTES &&
           disk->size_bytes % VLF_HEADER_BYTES == 0 &&
           disk->size_bytes <= UINT64_MAX - expected_offset;
}

int vlf_header_parse(const void *buf, uint64_t expected_offset, struct vlf_header *out)
{
    struct vlf_disk disk;
    memcpy(&disk, buf, sizeof(disk));
    if (disk.signature != VLF_SIGNATURE)
        return -EINVAL;
    if (disk.format < VLF_FORMAT_FIRST || !parity_sane(&disk) ||
        !place_sane(&disk, expected_offset))
        return -EBADMSG;
    *out = (struct vlf_header){
        .offset = disk.offset,
        .size_bytes = disk.size_bytes,
        .fseq = disk.fseq,
        .use_count = disk.use_count,
        .create_lsn = {disk.create_fseq, disk.create_block, disk.create_slot},
        .format = disk.format,
        .parity = disk.parity,
    };
    return 0;
}
