/*
 * sector_stamp.c - the 16 bytes by which every 512-byte sector says whose it is.
 *
 * Invariants: the check covers the 14 bytes before it and the sector number, so neither an all-zero
 * sector nor a stamp that moved inside its page passes.  Twelve bits of CRC let one garbage sector
 * in 4,096 pass: a reader also compares the run tag.  What it does not do: look at the body.
 */
#include "verify/page.h"

#include <string.h>

#include "verify/check.h"
#include "verify/checksum.h"

#define STAMP_CHECKED_BYTES offsetof(struct sector_stamp, sector_check)
#define STAMP_CRC_BITS      12
#define STAMP_CRC_MASK      0xFFFu
static_assert(STAMP_CHECKED_BYTES == 14, "the CRC covers 14 bytes and the sector number");

static uint16_t sector_check(uint32_t prefix_crc, unsigned sector)
{
    uint8_t byte = (uint8_t)sector;
    uint32_t crc = crc32_zlib(prefix_crc, &byte, sizeof(byte));
    return (uint16_t)(sector << STAMP_CRC_BITS | (crc & STAMP_CRC_MASK));
}

struct sector_stamper sector_stamper_make(uint32_t page_no, uint16_t file_uid, uint16_t run_tag,
                                          uint64_t generation)
{
    struct sector_stamper stamper = {
        .stamp = {.page_no = page_no, .file_uid = file_uid, .run_tag = run_tag},
    };

    memcpy(stamper.stamp.generation_low, &generation, sizeof(stamper.stamp.generation_low));
    stamper.prefix_crc = crc32_zlib(0, &stamper.stamp, STAMP_CHECKED_BYTES);
    return stamper;
}

void sector_stamper_write(const struct sector_stamper *stamper, void *sector_buf, unsigned sector)
{
    struct sector_stamp stamp = stamper->stamp;

    assert(sector < PAGE_SECTORS);
    stamp.sector_check = sector_check(stamper->prefix_crc, sector);
    memcpy(sector_buf, &stamp, sizeof(stamp));
}

bool sector_stamp_read(const void *sector_buf, struct sector_identity *out)
{
    struct sector_stamp stamp;

    memcpy(&stamp, sector_buf, sizeof(stamp));
    unsigned sector = stamp.sector_check >> STAMP_CRC_BITS;
    if (CHECKED(sector_check) &&
        stamp.sector_check != sector_check(crc32_zlib(0, &stamp, STAMP_CHECKED_BYTES), sector))
        return false;
    *out = (struct sector_identity){
        .page_no = stamp.page_no,
        .file_uid = stamp.file_uid,
        .run_tag = stamp.run_tag,
        .sector = sector,
    };
    memcpy(&out->generation_low, stamp.generation_low, sizeof(stamp.generation_low));
    return true;
}
