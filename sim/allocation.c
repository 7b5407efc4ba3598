/* allocation.c - see allocation.h. */
#include "sim/allocation.h"

#include <assert.h>
#include <errno.h>
#include <string.h>

#include "sim/database_syspage.h"
#include "sim/page_change.h"

static void plan_add(struct allocation *a, uint32_t page_no)
{
    for (unsigned i = 0; i < a->page_count; i++)
        if (a->pages[i] == page_no)
            return;
    assert(a->page_count < ALLOCATION_PAGES_MAX);
    a->pages[a->page_count++] = page_no;
}

/* The interval's map page, unless a PFS page stands in its place (4.2 TB, syspage.h). */
static void plan_add_map(struct allocation *a, uint32_t page_no, enum syspage_kind kind)
{
    uint32_t map = syspage_interval_page(page_no, kind);
    if (syspage_kind(map, a->file->primary) == kind)
        plan_add(a, map);
}

static bool is_chosen(const struct allocation *a, uint32_t page_no)
{
    return a->extents >> (page_no - a->first_page) / EXTENT_PAGES & 1;
}

/* The system pages that say of the chosen extents what they are, and those that stand in them. */
static void plan_pages(struct allocation *a)
{
    static const enum syspage_kind maps[] = {SYSPAGE_GAM, SYSPAGE_DIFF, SYSPAGE_ML, SYSPAGE_IAM};
    for (uint32_t page_no = a->first_page; page_no < a->first_page + a->count; page_no++) {
        enum syspage_kind kind = syspage_kind(page_no, a->file->primary);
        if (!is_chosen(a, page_no))
            continue;
        if (a->what != ALLOCATION_FREE && kind != SYSPAGE_NONE && kind != SYSPAGE_RESERVED)
            plan_add(a, page_no);
        plan_add(a, syspage_pfs_of(page_no));
        if (page_no % EXTENT_PAGES == 0)
            for (unsigned i = 0; i < sizeof maps / sizeof *maps; i++)
                plan_add_map(a, page_no, maps[i]);
    }
}

void allocation_plan(struct allocation *a, struct data_file *file, uint32_t first_page,
                     uint32_t count)
{
    *a = (struct allocation){
        .file = file, .extents = UINT32_MAX, .first_page = first_page, .count = count};
    plan_pages(a);
}

static uint32_t extents_with_system_pages(const struct data_file *file, uint32_t first_page)
{
    uint32_t extents = 0;
    for (uint32_t i = 0; i < ALLOCATION_CHUNK_PAGES; i++)
        if (syspage_kind(first_page + i, file->primary) != SYSPAGE_NONE)
            extents |= 1u << i / EXTENT_PAGES;
    return extents;
}

void allocation_plan_extents(struct allocation *a, struct data_file *file, uint32_t first_page,
                             enum allocation_what what, uint32_t extents)
{
    assert(first_page % EXTENT_PAGES == 0);
    *a = (struct allocation){.file = file,
                             .what = what,
                             .extents = extents,
                             .first_page = first_page,
                             .count = ALLOCATION_CHUNK_PAGES};
    if (what == ALLOCATION_SYSTEM)
        a->extents &= extents_with_system_pages(file, first_page);
    plan_pages(a);
}

bool allocation_wanted(const struct data_file *file, uint32_t first_page, uint32_t count)
{
    for (uint32_t i = 0; i < count; i++)
        if (!file->sparse || syspage_kind(first_page + i, file->primary) != SYSPAGE_NONE)
            return true;
    return false;
}

uint64_t allocation_log_need(size_t sector_bytes)
{
    uint64_t records = ALLOCATION_PAGES_MAX + ALLOCATION_EXTENTS + 2;
    return records * log_record_cost(sizeof(struct syspage_change), sector_bytes);
}

uint64_t allocation_changes_need(size_t sector_bytes)
{
    return ALLOCATION_MAPS_MAX * log_record_cost(sizeof(struct syspage_change), sector_bytes);
}

/* ---- changing one system page ---- */

static uint8_t pfs_byte(const struct data_file *file, uint32_t page_no)
{
    switch (syspage_kind(page_no, file->primary)) {
    case SYSPAGE_RESERVED:
        return 0;
    case SYSPAGE_IAM:
        return PFS_BYTE_IAM;
    default:
        return PFS_BYTE_FULL;
    }
}

/* Extents that hold only system pages belong to no allocation unit. */
static bool extent_has_data(const struct data_file *file, uint32_t extent_no)
{
    for (uint32_t i = 0; i < EXTENT_PAGES; i++)
        if (syspage_kind(extent_no * EXTENT_PAGES + i, file->primary) == SYSPAGE_NONE)
            return true;
    return false;
}

static bool is_allocated(const struct allocation *a, uint32_t page_no)
{
    bool system_only =
        a->what == ALLOCATION_SYSTEM || (a->what == ALLOCATION_ALL && a->file->sparse);
    return !system_only || syspage_kind(page_no, a->file->primary) != SYSPAGE_NONE;
}

/* Is the extent of an allocation unit? */
static bool is_of_unit(const struct allocation *a, uint32_t extent)
{
    if (a->what == ALLOCATION_ALL)
        return !a->file->sparse && extent_has_data(a->file, extent);
    return a->what == ALLOCATION_TAKE;
}

static void pfs_change(const struct allocation *a, uint32_t page_no, uint8_t *image)
{
    if (a->what == ALLOCATION_FREE)
        pfs_set(image, page_no, 0);
    else if (is_allocated(a, page_no))
        pfs_set(image, page_no, pfs_byte(a->file, page_no));
}

/* The bit of one extent. */
static void bit_change(const struct allocation *a, enum syspage_kind kind, uint32_t extent,
                       uint8_t *image)
{
    bool freed = a->what == ALLOCATION_FREE;
    if (kind == SYSPAGE_GAM)
        bitmap_set(image, extent, freed); /* 1 = free */
    else if (kind == SYSPAGE_DIFF || kind == SYSPAGE_ML)
        bitmap_set(image, extent, !freed);
    else if (kind == SYSPAGE_IAM)
        bitmap_set(image, extent, is_of_unit(a, extent));
}

static void map_change(const struct allocation *a, enum syspage_kind kind, uint32_t map_page,
                       uint8_t *image)
{
    for (uint32_t page_no = a->first_page; page_no < a->first_page + a->count; page_no++) {
        if (!is_chosen(a, page_no))
            continue;
        if (kind == SYSPAGE_PFS) {
            if (syspage_pfs_of(page_no) == map_page)
                pfs_change(a, page_no, image);
            continue;
        }
        if (page_no % EXTENT_PAGES || syspage_interval_page(page_no, kind) != map_page ||
            (a->what == ALLOCATION_ALL && !allocation_wanted(a->file, page_no, EXTENT_PAGES)))
            continue;
        bit_change(a, kind, page_no / EXTENT_PAGES, image);
    }
}

static void edit_map(void *context, uint8_t *image)
{
    const struct allocation *a = context;
    uint32_t page_no = a->pages[a->done];
    map_change(a, syspage_kind(page_no, a->file->primary), page_no, image);
}

int allocation_step(struct allocation *a, struct xact *xact, struct task *task)
{
    for (; a->done < a->page_count; a->done++) {
        int error = syspage_edit(a->file, a->pages[a->done], edit_map, a, xact, task);
        if (error)
            return error;
    }
    return 0;
}
