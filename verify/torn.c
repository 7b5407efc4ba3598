/*
 * torn.c - TORN_PAGE_DETECTION: two bits a sector, all equal when one write wrote them all.
 *
 * Invariants: torn_restore undoes torn_protect except for m_tornBits and m_flagBits; sector 0 has
 * no bits of its own, its witness is m_tornBits.  What it does not do: say anything about content;
 * the bits only tell two consecutive writes apart.
 */
#include "verify/torn.h"

#include <string.h>

#include "verify/check.h"

#define TORN_PATTERN_MASK 3u

static size_t witness_offset(unsigned sector)
{
    return (size_t)sector * PAGE_SECTOR_BYTES + PAGE_SECTOR_BYTES - 1;
}

static uint8_t replace_pair(uint8_t byte, uint32_t pair)
{
    return (uint8_t)((byte & ~TORN_PATTERN_MASK) | (pair & TORN_PATTERN_MASK));
}

bool torn_check(const void *page)
{
    const uint8_t *bytes = page;
    uint32_t pattern = page_header_of(page)->torn_bits & TORN_PATTERN_MASK;

    if (pattern != 1 && pattern != 2)
        return false;
    for (unsigned sector = 1; sector < PAGE_SECTORS; sector++)
        if (CHECKED(torn_bits) && (bytes[witness_offset(sector)] & TORN_PATTERN_MASK) != pattern)
            return false;
    return true;
}

void torn_restore(void *page)
{
    uint8_t *bytes = page;
    uint32_t saved = page_header_of(page)->torn_bits;

    for (unsigned sector = 1; sector < PAGE_SECTORS; sector++) {
        size_t at = witness_offset(sector);
        bytes[at] = replace_pair(bytes[at], saved >> (2 * sector));
    }
}

void torn_protect(void *page, unsigned previous_pattern)
{
    struct page_header *header = page;
    uint8_t *bytes = page;
    uint32_t pattern = previous_pattern == 2 ? 1 : 2;
    uint32_t saved = pattern;

    assert(previous_pattern == 1 || previous_pattern == 2);
    for (unsigned sector = 1; sector < PAGE_SECTORS; sector++) {
        size_t at = witness_offset(sector);
        saved |= (bytes[at] & TORN_PATTERN_MASK) << (2 * sector);
        bytes[at] = replace_pair(bytes[at], pattern);
    }
    header->torn_bits = saved;
    header->flags = (uint16_t)((header->flags & ~PAGE_FLAG_CHECKSUM) | PAGE_FLAG_TORN);
}
