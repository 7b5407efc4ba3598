/*
 * syspage_map.c - PFS pages and the extent bitmaps GAM, SGAM, DIFF, ML, IAM.
 *
 * Invariants: a fresh map says that nothing is allocated (GAM all ones, everything else zero), also
 * for extents beyond the end of the file, as SQL Server leaves them; a bit or byte is only touched
 * in the page that covers it.  What it does not do: keep the maps consistent with each other, which
 * is the owner of the space.
 */
#include "verify/syspage.h"

#include <string.h>

#include "verify/syspage_build.h"

#define ROW_HEADER_BYTES    4
#define PFS_ROW_BYTES       (ROW_HEADER_BYTES + PFS_INTERVAL_PAGES)
#define PFS_BYTES_OFFSET    (PAGE_HEADER_BYTES + ROW_HEADER_BYTES)
#define MAP_HEAD_ROW_BYTES  94
#define MAP_BITMAP_BYTES    (GAM_INTERVAL_EXTENTS / 8)
#define MAP_ROW_BYTES       (ROW_HEADER_BYTES + MAP_BITMAP_BYTES)
#define MAP_BITMAP_OFFSET   (PAGE_HEADER_BYTES + MAP_HEAD_ROW_BYTES + ROW_HEADER_BYTES)
#define MAP_PMINLEN         90
#define IAM_SEQUENCE_OFFSET (PAGE_HEADER_BYTES + ROW_HEADER_BYTES)
#define IAM_START_OFFSET    (IAM_SEQUENCE_OFFSET + 36)

/* reference, section 2.2 */
static_assert(MAP_BITMAP_OFFSET == 0xC2, "bitmap of GAM, SGAM, DIFF, ML, IAM");
static_assert(MAP_BITMAP_BYTES == 7988, "63,904 extents");
static_assert(PFS_BYTES_OFFSET + PFS_INTERVAL_PAGES == 8188, "PFS bytes end at 8187");

/* A row of fixed-length data only: status bytes zero, its length. */
static uint8_t *add_plain_row(void *page, size_t row_bytes)
{
    uint8_t *row = syspage_add_row(page, row_bytes);

    syspage_put_u16(row + 2, (uint16_t)row_bytes);
    return row;
}

static void build_bitmap(void *page, enum page_type type, uint32_t page_no, uint16_t file_id)
{
    struct page_header *header = page;

    syspage_begin(page, type, page_no, file_id);
    header->pminlen = MAP_PMINLEN;
    add_plain_row(page, MAP_HEAD_ROW_BYTES);
    uint8_t *row = add_plain_row(page, MAP_ROW_BYTES);
    if (type == PAGE_TYPE_GAM)
        memset(row + ROW_HEADER_BYTES, 0xFF, MAP_BITMAP_BYTES);
}

static void build_iam(void *page, uint32_t page_no, uint16_t file_id)
{
    uint8_t *bytes = page;
    uint32_t interval = page_no / GAM_INTERVAL_PAGES;

    build_bitmap(page, PAGE_TYPE_IAM, page_no, file_id);
    syspage_put_u32(bytes + IAM_SEQUENCE_OFFSET, interval);
    syspage_put_u32(bytes + IAM_START_OFFSET, interval * GAM_INTERVAL_PAGES);
    syspage_put_u16(bytes + IAM_START_OFFSET + sizeof(uint32_t), file_id);
}

void syspage_build_map(void *page, enum syspage_kind kind, uint32_t page_no, uint16_t file_id)
{
    enum page_type type = syspage_type(kind);

    assert(syspage_kind(page_no, false) == kind && kind >= SYSPAGE_PFS && kind <= SYSPAGE_IAM);
    switch (kind) {
    case SYSPAGE_PFS:
        syspage_begin(page, type, page_no, file_id);
        add_plain_row(page, PFS_ROW_BYTES);
        break;
    case SYSPAGE_IAM:
        build_iam(page, page_no, file_id);
        break;
    default:
        build_bitmap(page, type, page_no, file_id);
    }
}

static size_t pfs_offset(const void *pfs_page, uint32_t page_no)
{
    const struct page_header *header = page_header_of(pfs_page);

    assert(header->type == PAGE_TYPE_PFS && header->page_no == syspage_pfs_of(page_no));
    return PFS_BYTES_OFFSET + page_no % PFS_INTERVAL_PAGES;
}

void pfs_set(void *pfs_page, uint32_t page_no, uint8_t value)
{
    ((uint8_t *)pfs_page)[pfs_offset(pfs_page, page_no)] = value;
}

uint8_t pfs_get(const void *pfs_page, uint32_t page_no)
{
    return ((const uint8_t *)pfs_page)[pfs_offset(pfs_page, page_no)];
}

static size_t bitmap_offset(const void *map_page, uint32_t extent_no)
{
    const struct page_header *header = page_header_of(map_page);

    assert(header->type == PAGE_TYPE_GAM || header->type == PAGE_TYPE_SGAM ||
           header->type == PAGE_TYPE_DIFF || header->type == PAGE_TYPE_ML ||
           header->type == PAGE_TYPE_IAM);
    assert(header->page_no / GAM_INTERVAL_PAGES == extent_no / GAM_INTERVAL_EXTENTS);
    return MAP_BITMAP_OFFSET + extent_no % GAM_INTERVAL_EXTENTS / 8;
}

void bitmap_set(void *map_page, uint32_t extent_no, bool value)
{
    uint8_t *byte = (uint8_t *)map_page + bitmap_offset(map_page, extent_no);
    unsigned mask = 1u << extent_no % 8; /* an interval starts at a multiple of 8 extents */

    *byte = (uint8_t)(value ? *byte | mask : *byte & ~mask);
}

bool bitmap_get(const void *map_page, uint32_t extent_no)
{
    const uint8_t *byte = (const uint8_t *)map_page + bitmap_offset(map_page, extent_no);
    return *byte >> extent_no % 8 & 1;
}
