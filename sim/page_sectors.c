/* page_sectors.c - see page_sectors.h. */
#include "sim/page_sectors.h"

#include <stdio.h>

#include "verify/explain.h"

void page_sectors_begin(struct page_sectors *sectors, const struct io_target *target,
                        uint8_t *image, uint64_t serial)
{
    uint32_t unit = target->align_bytes;
    if (unit < target->memory_align_bytes)
        unit = target->memory_align_bytes;
    if (unit < PAGE_SECTOR_BYTES)
        unit = PAGE_SECTOR_BYTES;
    *sectors = (struct page_sectors){.unit_bytes = unit, .serial = serial, .image = image};
    poison_fill(image, PAGE_BYTES, serial);
}

bool page_sectors_next(struct page_sectors *sectors, struct io_req *req, uint32_t page_no)
{
    if (sectors->at >= PAGE_BYTES)
        return false;
    sectors->iov = (struct iovec){sectors->image + sectors->at, sectors->unit_bytes};
    req->offset = (uint64_t)page_no * PAGE_BYTES + sectors->at;
    req->iov = &sectors->iov;
    req->iov_count = 1;
    return true;
}

void page_sectors_done(struct page_sectors *sectors, int result)
{
    unsigned count = sectors->unit_bytes / PAGE_SECTOR_BYTES;
    unsigned first = sectors->at / PAGE_SECTOR_BYTES;
    if (result) /* what a failed read left there is nobody's */
        poison_fill(sectors->image + sectors->at, sectors->unit_bytes, sectors->serial);
    for (unsigned i = first; result && i < first + count && i < PAGE_SECTORS; i++)
        sectors->bad |= 1u << i;
    sectors->at += sectors->unit_bytes;
}

void page_sectors_text(const struct page_sectors *sectors, char *out, size_t out_size_bytes)
{
    size_t used = 0;
    out[0] = 0;
    for (unsigned i = 0; i < PAGE_SECTORS && used < out_size_bytes; i++) {
        unsigned first = i;
        if (!(sectors->bad >> i & 1))
            continue;
        while (i + 1 < PAGE_SECTORS && sectors->bad >> (i + 1) & 1)
            i++;
        int n = snprintf(out + used, out_size_bytes - used, i > first ? "%s%u-%u" : "%s%u",
                         used ? ", " : "", first, i);
        used += n > 0 ? (size_t)n : 0;
    }
}

void page_sectors_mark(const struct page_sectors *sectors, char map[PAGE_SECTORS + 1])
{
    for (unsigned i = 0; i < PAGE_SECTORS; i++)
        if (sectors->bad >> i & 1)
            map[i] = SECTOR_UNREADABLE;
}
