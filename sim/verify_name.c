/* verify_name.c - see verify_name.h. */
#include "sim/verify_name.h"

#include <inttypes.h>
#include <stdio.h>

#include "verify/checksum.h"
#include "verify/page.h"
#include "verify/torn.h"

/* Each flipped bit changes one bit of the fold; other damage changes so few by chance in 0.4 % of
 * the cases (the sum of C(32, k) for k up to 8, of 2^32). */
#define FLIPS_MAX 8

static bool type_is_known(uint8_t type)
{
    switch (type) {
    case PAGE_TYPE_DATA:
    case PAGE_TYPE_INDEX:
    case PAGE_TYPE_TEXT_MIX:
    case PAGE_TYPE_TEXT_TREE:
    case PAGE_TYPE_SORT:
    case PAGE_TYPE_GAM:
    case PAGE_TYPE_SGAM:
    case PAGE_TYPE_IAM:
    case PAGE_TYPE_PFS:
    case PAGE_TYPE_BOOT:
    case PAGE_TYPE_FILE_HEADER:
    case PAGE_TYPE_DIFF:
    case PAGE_TYPE_ML:
        return true;
    default:
        return false;
    }
}

bool verify_identity_is_right(const void *page, uint32_t page_no)
{
    const struct page_header *header = page_header_of(page);
    return header->header_version == 1 && header->page_no == page_no && type_is_known(header->type);
}

static enum verdict wrong_checksum(const void *page, uint32_t computed, bool identity_ok,
                                   char detail[FINDING_DETAIL_MAX])
{
    uint32_t stored = page_header_of(page)->torn_bits;
    snprintf(detail, FINDING_DETAIL_MAX,
             "page checksum %08" PRIx32 " stored, %08" PRIx32 " computed", stored, computed);
    if (!identity_ok)
        return VERDICT_header_damage;
    return __builtin_popcount(stored ^ computed) <= FLIPS_MAX ? VERDICT_bit_flip : VERDICT_garbage;
}

static enum verdict wrong_identity(const void *page, uint32_t page_no, uint16_t file_id,
                                   char detail[FINDING_DETAIL_MAX])
{
    const struct page_header *header = page_header_of(page);
    bool is_protected = header->flags & (PAGE_FLAG_CHECKSUM | PAGE_FLAG_TORN);
    bool other_page = header->page_no != page_no && type_is_known(header->type) && is_protected;
    snprintf(detail, FINDING_DETAIL_MAX,
             "the page says page %" PRIu32 " of file id %u, type %u; it stands in file id %u",
             header->page_no, header->file_id, header->type, file_id);
    return other_page ? VERDICT_misdirected_write : VERDICT_garbage;
}

enum verdict verify_name_damage(const void *page, uint32_t page_no, uint16_t file_id,
                                char detail[FINDING_DETAIL_MAX])
{
    const struct page_header *header = page_header_of(page);
    bool identity_ok = verify_identity_is_right(page, page_no);
    detail[0] = '\0';
    if (page_is_zero(page, PAGE_BYTES)) {
        snprintf(detail, FINDING_DETAIL_MAX, "the page is allocated and all zero");
        return VERDICT_zeroed;
    }
    uint32_t computed = sector_fold(page, PAGE_BYTES, PAGE_OFFSET_TORN_BITS);
    if (header->flags & PAGE_FLAG_CHECKSUM && computed != header->torn_bits)
        return wrong_checksum(page, computed, identity_ok, detail);
    if (!(header->flags & PAGE_FLAG_CHECKSUM) && header->flags & PAGE_FLAG_TORN &&
        !torn_check(page)) {
        snprintf(detail, FINDING_DETAIL_MAX,
                 "the torn-page bits of its sectors contradict each other");
        return VERDICT_torn_page;
    }
    if (!identity_ok || header->file_id != file_id)
        return wrong_identity(page, page_no, file_id, detail);
    return VERDICT_NONE;
}
