/* verify_maps.c - see verify_maps.h. */
#include "sim/verify_maps.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "verify/checksum.h"
#include "verify/torn.h"

int verify_maps_init(struct verify_maps *maps)
{
    memset(maps, 0, sizeof *maps);
    maps->memory = aligned_alloc(4096, 2 * PAGE_BYTES);
    if (!maps->memory)
        return -ENOMEM;
    maps->pfs.page = maps->memory;
    maps->gam.page = maps->memory + PAGE_BYTES;
    return 0;
}

void verify_maps_free(struct verify_maps *maps)
{
    free(maps->memory);
    memset(maps, 0, sizeof *maps);
}

bool verify_protection_holds(const void *page)
{
    const struct page_header *header = page_header_of(page);
    if (header->flags & PAGE_FLAG_CHECKSUM)
        return sector_fold(page, PAGE_BYTES, PAGE_OFFSET_TORN_BITS) == header->torn_bits;
    if (header->flags & PAGE_FLAG_TORN)
        return torn_check(page);
    return true;
}

static uint32_t place_of(enum syspage_kind kind, uint32_t page_no)
{
    return kind == SYSPAGE_PFS ? syspage_pfs_of(page_no) : syspage_interval_page(page_no, kind);
}

static void load(struct verify_set *set, struct verify_file *file, struct verify_map *map,
                 enum syspage_kind kind, uint32_t page_no)
{
    const uint8_t type = kind == SYSPAGE_PFS ? PAGE_TYPE_PFS : PAGE_TYPE_GAM;
    map->kept = true;
    map->page_no = page_no;
    map->usable = map->protected_ok = false;
    if (page_no >= file->page_count ||
        verify_read(set, file, (uint64_t)page_no * PAGE_BYTES, map->page, PAGE_BYTES))
        return;
    const struct page_header *header = page_header_of(map->page);
    map->protected_ok = verify_protection_holds(map->page);
    map->usable = header->type == type && header->page_no == page_no;
    if (header->flags & PAGE_FLAG_TORN)
        torn_restore(map->page);
}

const struct verify_map *verify_map_for(struct verify_set *set, struct verify_file *file,
                                        struct verify_maps *maps, enum syspage_kind kind,
                                        uint32_t page_no)
{
    struct verify_map *map = kind == SYSPAGE_PFS ? &maps->pfs : &maps->gam;
    uint32_t place = place_of(kind, page_no);
    if (place == SYSPAGE_NO_PAGE) {
        map->kept = map->usable = map->protected_ok = false;
        return map;
    }
    if (!map->kept || map->page_no != place)
        load(set, file, map, kind, place);
    return map;
}

int verify_pfs_byte(struct verify_set *set, struct verify_file *file, struct verify_maps *maps,
                    uint32_t page_no)
{
    const struct verify_map *map = verify_map_for(set, file, maps, SYSPAGE_PFS, page_no);
    return map->usable ? pfs_get(map->page, page_no) : -1;
}
