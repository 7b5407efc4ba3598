/*
 * explain_origin.c - content that belongs elsewhere: log blocks in data pages, and how far it
 * moved.
 *
 * A log block is recognised at any sector by its first one: flags, sizes that fit, and the magic of
 * the chain record that begins every block of ours.  (By chance: 2^-32 for a sector that is
 * already foreign.)  Its other sectors follow with the same parity.
 */
#include <string.h>

#include "verify/explain_sectors.h"
#include "verify/logblk.h"

#define CHAIN_MAGIC_AT (LOG_BLOCK_HEADER_BYTES + offsetof(struct log_chain_record, magic))

/* Sectors of the block that begins here; 0 if none does. */
static unsigned log_block_at(const uint8_t *at, struct origin *origin)
{
    struct log_block_header header;
    uint32_t magic;

    memcpy(&header, at, sizeof(header));
    memcpy(&magic, at + CHAIN_MAGIC_AT, sizeof(magic));
    if (magic != LOG_CHAIN_MAGIC || !(at[0] & LOG_FLAG_FIRST) || header.size_bytes == 0 ||
        header.size_bytes % LOG_SECTOR_BYTES != 0 || header.size_bytes > LOG_BLOCK_BYTES_MAX ||
        header.used_bytes > header.size_bytes)
        return 0;
    *origin = (struct origin){.is_log = true, .fseq = header.fseq, .block = header.block};
    return header.size_bytes / LOG_SECTOR_BYTES;
}

static void mark(struct sector_finding *s, const struct origin *origin)
{
    s->state = SECTOR_OTHER;
    s->has_origin = true;
    s->origin = *origin;
}

void sector_map_find_log(const void *page, struct sector_map *map)
{
    for (unsigned sector = 0; sector < PAGE_SECTORS; sector++) {
        const uint8_t *at = (const uint8_t *)page + (size_t)sector * PAGE_SECTOR_BYTES;
        struct origin origin;
        if (map->sector[sector].state != SECTOR_FOREIGN)
            continue;
        unsigned sectors = log_block_at(at, &origin);
        uint8_t parity = at[0] & LOG_PARITY_MASK;
        for (unsigned i = 0; i < sectors && sector + i < PAGE_SECTORS; i++) {
            struct sector_finding *s = &map->sector[sector + i];
            uint8_t first = at[(size_t)i * PAGE_SECTOR_BYTES];
            if (s->state == SECTOR_FOREIGN && (first & LOG_PARITY_MASK) == parity)
                mark(s, &origin);
        }
    }
}

void explain_origin_put(struct explanation *out, const struct origin *origin)
{
    if (origin->is_log) {
        out->origin_is_log = true;
        out->origin_fseq = origin->fseq;
        out->origin_block = origin->block;
        return;
    }
    out->has_origin = true;
    out->origin_file_uid = origin->file_uid;
    out->origin_page_no = origin->page_no;
    out->origin_generation = origin->generation;
    out->origin_other_run = origin->other_run;
    out->generation_found = origin->generation;
}

void explain_shift_put(struct explanation *out, const struct sector_map *map,
                       const struct expectation *expect)
{
    bool has_shift = false;
    int64_t shift = 0;

    for (unsigned sector = 0; sector < PAGE_SECTORS; sector++) {
        const struct sector_finding *s = &map->sector[sector];
        if (s->state != SECTOR_OTHER)
            continue;
        if (s->origin.is_log || s->origin.file_uid != expect->file_uid)
            return;
        int64_t here = (int64_t)expect->page_no * PAGE_SECTORS + sector;
        int64_t home = (int64_t)s->origin.page_no * PAGE_SECTORS + s->origin.sector;
        if (has_shift && here - home != shift)
            return;
        has_shift = true;
        shift = here - home;
    }
    out->has_shift = has_shift;
    out->shift_bytes = shift * PAGE_SECTOR_BYTES;
}
