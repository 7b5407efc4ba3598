/*
 * page.c - seal a page image before I/O, and check one after I/O.
 *
 * Invariants: page_seal writes nothing but m_lsn, the seal fields of the stamp and m_tornBits, so
 * an image may be sealed again and again; page_check believes no field before the checksum that
 * covers it is right, and reads nothing but the 8 KiB it is given. What it does not do: build the
 * image (page_fill.c), compare it with what was expected (explain.c).
 */
#include "verify/page.h"

#include <string.h>

#include "verify/check.h"
#include "verify/checksum.h"

static_assert(__BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__, "structs are the on-disk form");

/* The part of the page that holds every field which counts as zero in the XXH3.  256 bytes is
 * xxHash's internal buffer: the rest is hashed where it lies. */
#define HASH_HEAD_BYTES 256
static_assert(PAGE_STAMP_OFFSET + sizeof(struct page_stamp) <= HASH_HEAD_BYTES,
              "fields in the head");

#define HASH_OFFSET (PAGE_STAMP_OFFSET + offsetof(struct page_stamp, xxh3))

static struct page_stamp *stamp_of(void *page)
{
    return (struct page_stamp *)((char *)page + PAGE_STAMP_OFFSET);
}

/* In one piece: zlib's fast path starts anew, and slowly, with each call. */
static uint32_t header_crc(const void *page)
{
    uint8_t covered[PAGE_OFFSET_TORN_BITS + offsetof(struct page_stamp, header_crc)];

    memcpy(covered, page, PAGE_OFFSET_TORN_BITS);
    memcpy(covered + PAGE_OFFSET_TORN_BITS, page_stamp_of(page),
           sizeof(covered) - PAGE_OFFSET_TORN_BITS);
    return crc32_zlib(0, covered, sizeof(covered));
}

static uint32_t sql_checksum(const void *page)
{
    return sector_fold(page, PAGE_BYTES, PAGE_OFFSET_TORN_BITS);
}

static uint64_t image_hash(const void *page)
{
    uint8_t head[HASH_HEAD_BYTES];

    memcpy(head, page, sizeof(head));
    memset(head + PAGE_OFFSET_TORN_BITS, 0, sizeof(uint32_t));
    memset(head + HASH_OFFSET, 0, sizeof(uint64_t));
    return xxh3_64_joined(head, sizeof(head), (const uint8_t *)page + HASH_HEAD_BYTES,
                          PAGE_BYTES - HASH_HEAD_BYTES);
}

void page_protect_checksum(void *page)
{
    struct page_header *header = page;

    /* The flag is covered by the checksum, so it comes first. */
    header->flags = (uint16_t)((header->flags & ~PAGE_FLAG_TORN) | PAGE_FLAG_CHECKSUM);
    header->torn_bits = sql_checksum(page);
}

void page_seal(void *page, struct lsn lsn, uint64_t write_time_ns)
{
    struct page_header *header = page;
    struct page_stamp *stamp = stamp_of(page);

    assert(stamp->magic == PAGE_STAMP_MAGIC && header->flags == PAGE_FLAG_CHECKSUM);
    header->lsn_fseq = lsn.fseq;
    header->lsn_block = lsn.block;
    header->lsn_slot = lsn.slot;
    header->torn_bits = 0;
    stamp->lsn_fseq = lsn.fseq;
    stamp->lsn_block = lsn.block;
    stamp->lsn_slot = lsn.slot;
    stamp->write_time_ns = write_time_ns;
    stamp->header_crc = header_crc(page);
    stamp->xxh3 = 0;
    stamp->xxh3 = xxh3_64(page, PAGE_BYTES);
    page_protect_checksum(page);
}

void page_mark_built(void *page)
{
    struct page_stamp *stamp = stamp_of(page);

    assert(page_header_of(page)->torn_bits == 0);
    stamp->xxh3 = 0;
    stamp->xxh3 = xxh3_64(page, PAGE_BYTES);
}

bool page_is_as_built(const void *page)
{
    return page_stamp_of(page)->xxh3 == image_hash(page);
}

bool page_header_crc_ok(const void *page)
{
    const struct page_stamp *stamp = page_stamp_of(page);
    return stamp->magic == PAGE_STAMP_MAGIC &&
           (!CHECKED(header_belief) || stamp->header_crc == header_crc(page));
}

/* The reverse of the build; the header CRC stands before the XXH3 because only it tells a damaged
 * header from a damaged body, and because the version that it covers says where the XXH3 is. */
enum page_check page_check(const void *page)
{
    const struct page_header *header = page_header_of(page);
    const struct page_stamp *stamp = page_stamp_of(page);

    if (header->header_version == 0 && page_is_zero(page, PAGE_BYTES))
        return PAGE_ALL_ZERO;
    if (CHECKED(page_sql_checksum) && header->torn_bits != sql_checksum(page))
        return PAGE_BAD_SQL_CHECKSUM;
    if (stamp->magic != PAGE_STAMP_MAGIC)
        return PAGE_BAD_MAGIC;
    if (CHECKED(page_header_crc) && stamp->header_crc != header_crc(page))
        return PAGE_BAD_HEADER_CRC;
    if (CHECKED(page_version) &&
        (stamp->format_version != PAGE_FORMAT_VERSION || stamp->body_version != PAGE_BODY_VERSION))
        return PAGE_UNKNOWN_VERSION;
    return !CHECKED(page_xxh3) || stamp->xxh3 == image_hash(page) ? PAGE_OK : PAGE_BAD_XXH3;
}

bool page_is_zero(const void *buf, size_t size_bytes)
{
    const uint8_t *bytes = buf;

    /* All bytes equal their neighbour and the first is zero: memcmp does it at full speed. */
    return size_bytes == 0 || (bytes[0] == 0 && memcmp(bytes, bytes + 1, size_bytes - 1) == 0);
}
