/* syspage_delta.c - see syspage_delta.h. */
#include "verify/syspage_delta.h"

#include <string.h>

#include "verify/page.h"

#define RUN_HEAD_BYTES 4
#define SAME_BYTES     64 /* looked at together: a change leaves nearly all of a page as it was */

static bool is_sealed_field(size_t at)
{
    size_t lsn = offsetof(struct page_header, lsn_fseq);
    return (at >= PAGE_OFFSET_FLAGS && at < PAGE_OFFSET_FLAGS + sizeof(uint16_t)) ||
           (at >= lsn && at < offsetof(struct page_header, xact_reserved)) ||
           (at >= PAGE_OFFSET_TORN_BITS && at < PAGE_OFFSET_TORN_BITS + sizeof(uint32_t));
}

static bool differs(const uint8_t *before, const uint8_t *after, size_t at)
{
    return before[at] != after[at] && !is_sealed_field(at);
}

/* A run ends where what follows is the same for longer than the head of another run. */
static size_t run_end(const uint8_t *before, const uint8_t *after, size_t start)
{
    size_t end = start + 1;
    for (size_t at = end; at < PAGE_BYTES && at <= end + RUN_HEAD_BYTES; at++) {
        if (is_sealed_field(at))
            break;
        if (differs(before, after, at))
            end = at + 1;
    }
    return end;
}

size_t syspage_delta_make(const void *before, const void *after, uint8_t *out, size_t max_bytes)
{
    const uint8_t *old = before, *new = after;
    size_t used = 0;
    for (size_t at = 0; at < PAGE_BYTES; at++) {
        if (at % SAME_BYTES == 0 && memcmp(old + at, new + at, SAME_BYTES) == 0)
            at += SAME_BYTES - 1;
        if (!differs(old, new, at))
            continue;
        size_t end = run_end(old, new, at);
        uint16_t head[2] = {(uint16_t)at, (uint16_t)(end - at)};
        if (max_bytes - used < sizeof head + (end - at))
            return SIZE_MAX;
        memcpy(out + used, head, sizeof head);
        memcpy(out + used + sizeof head, new + at, end - at);
        used += sizeof head + (end - at);
        at = end;
    }
    return used;
}

bool syspage_delta_apply(void *page, const uint8_t *delta, size_t delta_bytes)
{
    uint16_t head[2];
    while (delta_bytes >= sizeof head) {
        memcpy(head, delta, sizeof head);
        delta += sizeof head;
        delta_bytes -= sizeof head;
        if (head[1] == 0)
            return true;
        if (head[1] > delta_bytes || head[0] + head[1] > PAGE_BYTES)
            return false;
        memcpy((uint8_t *)page + head[0], delta, head[1]);
        delta += head[1];
        delta_bytes -= head[1];
    }
    return true;
}
