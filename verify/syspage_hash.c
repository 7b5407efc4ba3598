/* syspage_hash.c - see syspage_hash.h. */
#include "verify/syspage_hash.h"

#include <string.h>

#include "verify/checksum.h"
#include "verify/page.h"

uint64_t syspage_content_xxh3(const void *page)
{
    struct page_header header;
    memcpy(&header, page, sizeof header);
    header.flags = 0;
    header.lsn_fseq = header.lsn_block = header.lsn_slot = 0;
    header.torn_bits = 0;
    return xxh3_64_joined(&header, sizeof header, (const uint8_t *)page + sizeof header,
                          PAGE_BYTES - sizeof header);
}
