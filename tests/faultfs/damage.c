/* damage.c - see damage.h. */
#include "tests/faultfs/damage.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "tests/faultfs/memory.h"
#include "tests/faultfs/power.h"

static uint64_t end_sector(uint64_t offset, size_t size_bytes)
{
    return (offset + size_bytes + SECTOR_BYTES - 1) / SECTOR_BYTES;
}

bool damage_in(const struct node *node, uint64_t offset, size_t size_bytes)
{
    return table_next(&node->damage, offset / SECTOR_BYTES, end_sector(offset, size_bytes)) !=
           TABLE_NOTHING;
}

static struct sector *sector_of(struct node *node, uint64_t number)
{
    struct sector *sector = table_get(&node->damage, number);
    if (!sector) {
        sector = memory_zeroed(sizeof *sector);
        table_set(&node->damage, number, sector);
    }
    return sector;
}

static void remove_sector(struct node *node, uint64_t number, bool rewritten)
{
    struct sector *sector = table_get(&node->damage, number);
    if (sector->place) {
        sector->place->left--;
        if (rewritten && !sector->place->rewritten_ns)
            sector->place->rewritten_ns = truth_now();
    }
    free(sector->overlay);
    free(sector->armed);
    free(sector);
    table_set(&node->damage, number, NULL);
}

static void mark(const struct patch *patch, struct place *place, size_t from)
{
    size_t size = patch->size_bytes - from < SECTOR_BYTES ? patch->size_bytes - from : SECTOR_BYTES;
    struct sector *sector = sector_of(patch->node, (patch->offset + from) / SECTOR_BYTES);
    sector->place = place;
    sector->unreadable = patch->unreadable;
    if (patch->overlay && !patch->unreadable) {
        sector->overlay = memory_zeroed(SECTOR_BYTES);
        memcpy(sector->overlay, patch->bad + from, size);
        sector->heal_reads = patch->heal_reads;
    }
    place->sectors++;
    place->left++;
}

int damage_patch(struct fs *fs, const struct patch *patch)
{
    char *path = node_path(&fs->nodes, patch->node);
    struct place *place =
        truth_place(patch->event, path, patch->offset, patch->size_bytes, patch->good, patch->bad);
    free(path);
    patch->event->overlay = patch->event->overlay || patch->overlay;
    for (size_t from = 0; from < patch->size_bytes; from += SECTOR_BYTES) {
        size_t size = patch->size_bytes - from;
        size = size < SECTOR_BYTES ? size : SECTOR_BYTES;
        if (patch->unreadable || memcmp(patch->good + from, patch->bad + from, size) != 0)
            mark(patch, place, from);
    }
    if (patch->overlay || patch->unreadable)
        return 0;
    return content_write(fs, patch->node, patch->bad, patch->size_bytes, patch->offset,
                         patch->durable);
}

/* The part of a sector that a request has, as an offset into both. */
struct part {
    size_t in_request, in_sector, size_bytes;
};

static struct part part_of(uint64_t number, uint64_t offset, size_t size_bytes)
{
    uint64_t begin = number * SECTOR_BYTES, end = begin + SECTOR_BYTES;
    uint64_t low = begin > offset ? begin : offset;
    uint64_t high = end < offset + size_bytes ? end : offset + size_bytes;
    return (struct part){(size_t)(low - offset), (size_t)(low - begin), (size_t)(high - low)};
}

int damage_read(struct fs *fs, struct node *node, void *bytes, size_t size_bytes, uint64_t offset,
                uint64_t begin_ns)
{
    int rc = 0;
    const struct place *noted = NULL;
    uint64_t i = offset / SECTOR_BYTES, end = end_sector(offset, size_bytes);
    for (; (i = table_next(&node->damage, i, end)) != TABLE_NOTHING; i++) {
        struct sector *sector = table_get(&node->damage, i);
        struct part part = part_of(i, offset, size_bytes);
        bool laid = sector->overlay || sector->unreadable;
        if (laid && fs->overlays_off)
            continue;
        if (sector->place && sector->place != noted)
            place_read(sector->place, begin_ns);
        noted = sector->place;
        if (sector->unreadable)
            rc = -EIO;
        if (sector->overlay)
            memcpy((char *)bytes + part.in_request, sector->overlay + part.in_sector,
                   part.size_bytes);
        if (sector->heal_reads && --sector->heal_reads == 0)
            remove_sector(node, i, false);
    }
    return rc;
}

void damage_arm(struct node *node, struct event *event, const unsigned char *bytes,
                size_t size_bytes, uint64_t offset)
{
    for (size_t from = 0; from + SECTOR_BYTES <= size_bytes; from += SECTOR_BYTES) {
        struct sector *sector = sector_of(node, (offset + from) / SECTOR_BYTES);
        sector->armed = memory_copy(bytes + from, SECTOR_BYTES);
        sector->armed_event = event;
    }
}

struct event *damage_take_armed(struct node *node, unsigned char *bytes, size_t size_bytes,
                                uint64_t offset)
{
    struct event *event = NULL;
    uint64_t i = (offset + SECTOR_BYTES - 1) / SECTOR_BYTES;
    uint64_t end = (offset + size_bytes) / SECTOR_BYTES;
    for (; (i = table_next(&node->damage, i, end)) != TABLE_NOTHING; i++) {
        const struct sector *sector = table_get(&node->damage, i);
        if (!sector->armed || (event && sector->armed_event != event) ||
            sector->armed_event->place_count == PLACES_MAX)
            continue;
        event = sector->armed_event;
        memcpy(bytes + (i * SECTOR_BYTES - offset), sector->armed, SECTOR_BYTES);
    }
    return event;
}

void damage_rewritten(struct node *node, uint64_t offset, size_t size_bytes)
{
    uint64_t i = (offset + SECTOR_BYTES - 1) / SECTOR_BYTES;
    uint64_t end = (offset + size_bytes) / SECTOR_BYTES;
    for (; (i = table_next(&node->damage, i, end)) != TABLE_NOTHING; i++)
        remove_sector(node, i, true);
}

void damage_gone(struct node *node, uint64_t offset)
{
    uint64_t i = offset / SECTOR_BYTES;
    for (; (i = table_next(&node->damage, i, UINT64_MAX)) != TABLE_NOTHING; i++)
        remove_sector(node, i, true);
}
