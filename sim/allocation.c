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

void allocation_plan(struct allocation *a, struct data_file *file, uint32_t first_page,
                     uint32_t count)
{
    static const enum syspage_kind maps[] = {SYSPAGE_GAM, SYSPAGE_DIFF, SYSPAGE_ML, SYSPAGE_IAM};
    memset(a, 0, sizeof *a);
    a->file = file;
    a->first_page = first_page;
    a->count = count;
    for (uint32_t page_no = first_page; page_no < first_page + count; page_no++) {
        enum syspage_kind kind = syspage_kind(page_no, file->primary);
        if (kind != SYSPAGE_NONE && kind != SYSPAGE_RESERVED)
            plan_add(a, page_no);
        plan_add(a, syspage_pfs_of(page_no));
        if (page_no % EXTENT_PAGES == 0)
            for (unsigned i = 0; i < sizeof maps / sizeof *maps; i++)
                plan_add_map(a, page_no, maps[i]);
    }
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

static bool is_allocated(const struct data_file *file, uint32_t page_no)
{
    return !file->sparse || syspage_kind(page_no, file->primary) != SYSPAGE_NONE;
}

/* Extents that hold only system pages belong to no allocation unit. */
static bool extent_has_data(const struct data_file *file, uint32_t extent_no)
{
    for (uint32_t i = 0; i < EXTENT_PAGES; i++)
        if (syspage_kind(extent_no * EXTENT_PAGES + i, file->primary) == SYSPAGE_NONE)
            return true;
    return false;
}

static void map_change(const struct allocation *a, enum syspage_kind kind, uint32_t map_page,
                       uint8_t *image)
{
    for (uint32_t page_no = a->first_page; page_no < a->first_page + a->count; page_no++) {
        uint32_t extent = page_no / EXTENT_PAGES;
        if (kind == SYSPAGE_PFS) {
            if (syspage_pfs_of(page_no) == map_page && is_allocated(a->file, page_no))
                pfs_set(image, page_no, pfs_byte(a->file, page_no));
            continue;
        }
        if (page_no % EXTENT_PAGES || syspage_interval_page(page_no, kind) != map_page ||
            !allocation_wanted(a->file, page_no, EXTENT_PAGES))
            continue;
        if (kind == SYSPAGE_GAM)
            bitmap_set(image, extent, false); /* 1 = free */
        else if (kind == SYSPAGE_DIFF || kind == SYSPAGE_ML)
            bitmap_set(image, extent, true);
        else if (kind == SYSPAGE_IAM)
            bitmap_set(image, extent, !a->file->sparse && extent_has_data(a->file, extent));
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
