/* neighbour.c - see neighbour.h. */
#include "sim/neighbour.h"

#include "verify/check.h"

#define BLOCK_PAGES (NEIGHBOUR_BLOCK_BYTES / PAGE_BYTES)

/* What a write next door can leave. A sector of an older image counts: the page was whole since. */
static bool is_damage(enum verdict verdict)
{
    return verdict == VERDICT_zeroed || verdict == VERDICT_garbage ||
           verdict == VERDICT_header_damage || verdict == VERDICT_torn_page;
}

bool neighbour_written(const struct ledger *ledger, uint16_t uid, uint32_t page_no,
                       uint32_t size_pages, enum verdict verdict, uint32_t *neighbour)
{
    struct page_order own = ledger_order(ledger, uid, page_no);
    uint32_t first = page_no / BLOCK_PAGES * BLOCK_PAGES;
    uint64_t newest = own.verified;
    if (!CHECKED(neighbour) || !is_damage(verdict) || own.verified == 0 ||
        own.verified < own.written || !ledger_view(ledger, uid, page_no).seen)
        return false;
    for (uint32_t page = first; page < first + BLOCK_PAGES && page < size_pages; page++) {
        if (page == page_no)
            continue;
        bool under_way = ledger_view(ledger, uid, page).state == LEDGER_IN_FLIGHT;
        uint64_t written = ledger_order(ledger, uid, page).written;
        if (!under_way && written <= newest)
            continue;
        *neighbour = page;
        if (under_way)
            return true;
        newest = written;
    }
    return newest > own.verified;
}
