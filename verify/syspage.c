/*
 * syspage.c - where system pages stand, and what all of them have in common.
 *
 * Invariants: the place of a system page follows from its number alone; syspage_kind and
 * syspage_interval_page agree on every page number up to 2^31 (16 TB).  What it does not do: hold
 * images (the run does) or decide which extents are used.
 */
#include "verify/syspage.h"

#include <string.h>

#include "verify/checksum.h"
#include "verify/syspage_build.h"

#define BOOT_PAGE 9u

/* Offsets from the start of an interval; GAM and SGAM of interval 0 make room for the file header
 * and the first PFS page. */
static const struct {
    enum syspage_kind kind;
    uint8_t first;  /* page in interval 0 */
    uint8_t offset; /* in later intervals */
} interval_places[] = {
    {SYSPAGE_GAM, 2, 0}, {SYSPAGE_SGAM, 3, 1}, {SYSPAGE_DIFF, 6, 6},
    {SYSPAGE_ML, 7, 7},  {SYSPAGE_IAM, 8, 8},
};
#define INTERVAL_PLACES (sizeof(interval_places) / sizeof(interval_places[0]))

static enum syspage_kind fixed_kind(uint32_t page_no, bool primary)
{
    switch (page_no) {
    case 0:
        return SYSPAGE_FILE_HEADER;
    case 1:
        return SYSPAGE_PFS;
    case 4:
    case 5:
        return SYSPAGE_RESERVED;
    case BOOT_PAGE:
        return primary ? SYSPAGE_BOOT : SYSPAGE_NONE;
    default:
        return SYSPAGE_NONE;
    }
}

enum syspage_kind syspage_kind(uint32_t page_no, bool primary)
{
    uint32_t in_interval = page_no % GAM_INTERVAL_PAGES;
    bool later = page_no >= GAM_INTERVAL_PAGES;

    if (page_no != 0 && page_no % PFS_INTERVAL_PAGES == 0)
        return SYSPAGE_PFS;
    for (size_t i = 0; i < INTERVAL_PLACES; i++)
        if (in_interval == (later ? interval_places[i].offset : interval_places[i].first))
            return interval_places[i].kind;
    return fixed_kind(page_no, primary);
}

uint32_t syspage_pfs_of(uint32_t page_no)
{
    uint32_t base = page_no / PFS_INTERVAL_PAGES * PFS_INTERVAL_PAGES;
    return base == 0 ? 1 : base;
}

uint32_t syspage_interval_page(uint32_t page_no, enum syspage_kind kind)
{
    uint32_t start = page_no / GAM_INTERVAL_PAGES * GAM_INTERVAL_PAGES;

    for (size_t i = 0; i < INTERVAL_PLACES; i++) {
        if (interval_places[i].kind != kind)
            continue;
        uint32_t place =
            start + (start == 0 ? interval_places[i].first : interval_places[i].offset);
        return syspage_kind(place, false) == kind ? place : SYSPAGE_NO_PAGE;
    }
    return SYSPAGE_NO_PAGE;
}

void syspage_put_u16(uint8_t *at, uint16_t value)
{
    memcpy(at, &value, sizeof(value));
}

void syspage_put_u32(uint8_t *at, uint32_t value)
{
    memcpy(at, &value, sizeof(value));
}

void syspage_begin(void *page, enum page_type type, uint32_t page_no, uint16_t file_id)
{
    struct page_header *header = page;

    memset(page, 0, PAGE_BYTES);
    header->header_version = 1;
    header->type = (uint8_t)type;
    header->flags = PAGE_FLAG_CHECKSUM;
    header->object_id = SYSPAGE_OBJECT_ID;
    header->free_count = PAGE_BYTES - PAGE_HEADER_BYTES;
    header->free_data = PAGE_HEADER_BYTES;
    header->page_no = page_no;
    header->file_id = file_id;
}

uint8_t *syspage_add_row(void *page, size_t row_bytes)
{
    struct page_header *header = page;
    uint8_t *bytes = page;
    uint16_t at = header->free_data;

    assert(header->free_count >= row_bytes + SLOT_BYTES);
    header->slot_count++;
    syspage_put_u16(bytes + PAGE_BYTES - (size_t)header->slot_count * SLOT_BYTES, at);
    header->free_data = (uint16_t)(at + row_bytes);
    header->free_count = (uint16_t)(header->free_count - row_bytes - SLOT_BYTES);
    return bytes + at;
}

void syspage_seal(void *page, struct lsn lsn)
{
    struct page_header *header = page;

    header->lsn_fseq = lsn.fseq;
    header->lsn_block = lsn.block;
    header->lsn_slot = lsn.slot;
    page_protect_checksum(page);
}

enum page_type syspage_type(enum syspage_kind kind)
{
    static const enum page_type types[] = {
        [SYSPAGE_NONE] = PAGE_TYPE_DATA, [SYSPAGE_FILE_HEADER] = PAGE_TYPE_FILE_HEADER,
        [SYSPAGE_PFS] = PAGE_TYPE_PFS,   [SYSPAGE_GAM] = PAGE_TYPE_GAM,
        [SYSPAGE_SGAM] = PAGE_TYPE_SGAM, [SYSPAGE_DIFF] = PAGE_TYPE_DIFF,
        [SYSPAGE_ML] = PAGE_TYPE_ML,     [SYSPAGE_IAM] = PAGE_TYPE_IAM,
        [SYSPAGE_BOOT] = PAGE_TYPE_BOOT,
    };
    assert((size_t)kind < sizeof(types) / sizeof(types[0]));
    return types[kind];
}

bool syspage_check(const void *page, enum syspage_kind kind, uint32_t page_no, uint16_t file_id)
{
    const struct page_header *header = page_header_of(page);
    unsigned protection = header->flags & (PAGE_FLAG_CHECKSUM | PAGE_FLAG_TORN);

    if (kind == SYSPAGE_RESERVED)
        return page_is_zero(page, PAGE_BYTES);
    return protection == PAGE_FLAG_CHECKSUM &&
           header->torn_bits == sector_fold(page, PAGE_BYTES, PAGE_OFFSET_TORN_BITS) &&
           header->header_version == 1 && header->type == syspage_type(kind) &&
           header->page_no == page_no && header->file_id == file_id;
}
