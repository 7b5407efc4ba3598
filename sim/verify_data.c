/*
 * verify_data.c - see verify_data.h.
 *
 * Rules of the reference "SQL Server storage I/O", sections 2 and 3.  Only allocated pages can be
 * wrong: what stands in unallocated space is left from before, or garbage that instant file
 * initialisation exposes.  A page without protection cannot be wrong but in its identity and slots.
 *
 * What it does not do: know what the content should be.
 */
#include "sim/verify_data.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "sim/verify_log.h"
#include "sim/verify_maps.h"
#include "sim/verify_name.h"
#include "sim/verify_owed.h"
#include "verify/checksum.h"
#include "verify/torn.h"

#define PFS_ALLOCATED 0x40
#define SLOTS_MAX     4048 /* (8192 - 96) / 2 */

struct data_check {
    struct verify_set *set;
    struct verify_file *file;
    struct verify_maps maps;
    uint16_t file_id; /* as page 0 says */
};

static void count(struct data_check *check, enum verify_count what)
{
    check->file->counts[what]++;
}

static bool type_has_slots(uint8_t type)
{
    return (type >= PAGE_TYPE_DATA && type <= PAGE_TYPE_TEXT_TREE) || type == PAGE_TYPE_IAM;
}

/* Every row starts behind the header and before the free space. */
static bool slots_are_sane(const uint8_t *page)
{
    const struct page_header *header = page_header_of(page);
    unsigned slots = header->slot_count;
    if (slots == 0)
        return true;
    if (slots > SLOTS_MAX || header->free_data > PAGE_BYTES - 2 * slots)
        return false;
    for (unsigned i = 1; i <= slots; i++) {
        uint16_t offset;
        memcpy(&offset, page + PAGE_BYTES - 2 * i, sizeof offset);
        if (offset && (offset < PAGE_HEADER_BYTES || offset >= header->free_data))
            return false;
    }
    return true;
}

/* ---- protection ---- */

static bool check_checksum(struct data_check *check, const uint8_t *page, bool allocated)
{
    bool ok =
        sector_fold(page, PAGE_BYTES, PAGE_OFFSET_TORN_BITS) == page_header_of(page)->torn_bits;
    if (allocated)
        count(check, ok ? VERIFY_COUNT_allocated_checksum_ok : VERIFY_COUNT_allocated_checksum_bad);
    else
        count(check,
              ok ? VERIFY_COUNT_unallocated_checksum_ok : VERIFY_COUNT_unallocated_checksum_bad);
    return ok;
}

static bool check_torn(struct data_check *check, const uint8_t *page, bool allocated)
{
    bool ok = torn_check(page);
    if (allocated)
        count(check, ok ? VERIFY_COUNT_allocated_torn_ok : VERIFY_COUNT_allocated_torn_bad);
    else
        count(check, ok ? VERIFY_COUNT_unallocated_torn_ok : VERIFY_COUNT_unallocated_torn_bad);
    return ok;
}

static bool check_protection(struct data_check *check, const uint8_t *page, bool allocated)
{
    uint16_t flags = page_header_of(page)->flags;
    if (flags & PAGE_FLAG_CHECKSUM)
        return check_checksum(check, page, allocated);
    if (flags & PAGE_FLAG_TORN)
        return check_torn(check, page, allocated);
    count(check,
          allocated ? VERIFY_COUNT_allocated_unprotected : VERIFY_COUNT_unallocated_unprotected);
    return true;
}

/* ---- one page ---- */

static bool check_slots(struct data_check *check, const uint8_t *page)
{
    uint8_t restored[PAGE_BYTES];
    memcpy(restored, page, sizeof restored);
    if (page_header_of(page)->flags & PAGE_FLAG_TORN)
        torn_restore(restored);
    bool sane = slots_are_sane(restored);
    count(check, sane ? VERIFY_COUNT_slot_arrays_ok : VERIFY_COUNT_slot_arrays_bad);
    return sane;
}

static void check_allocated(struct data_check *check, uint32_t page_no, const uint8_t *page)
{
    const struct page_header *header = page_header_of(page);
    char detail[FINDING_DETAIL_MAX];
    check_protection(check, page, true);
    bool slots_ok = !type_has_slots(header->type) || check_slots(check, page);
    if (check->file->ours) /* verify_owed.c knows more, and reports */
        return;
    enum verdict verdict = verify_name_damage(page, page_no, check->file_id, detail);
    if (verdict != VERDICT_NONE)
        verify_report_page(check->set, check->file, page_no, verdict, detail);
    else if (!slots_ok)
        verify_report_page(check->set, check->file, page_no, VERDICT_garbage,
                           "the slot array makes no sense");
}

static void check_page(struct data_check *check, uint32_t page_no, const uint8_t *page)
{
    int byte = verify_pfs_byte(check->set, check->file, &check->maps, page_no);
    bool allocated = byte >= 0 && (byte & PFS_ALLOCATED);
    count(check, VERIFY_COUNT_pages);
    if (page_is_zero(page, PAGE_BYTES)) {
        count(check, allocated ? VERIFY_COUNT_allocated_zero : VERIFY_COUNT_unallocated_zero);
        if (allocated && !check->file->ours)
            verify_report_page(check->set, check->file, page_no, VERDICT_zeroed,
                               "the page is allocated and all zero");
    } else {
        if (allocated)
            check_allocated(check, page_no, page);
        else if (!verify_identity_is_right(page, page_no))
            count(check, VERIFY_COUNT_unallocated_garbage);
        else
            check_protection(check, page, false);
    }
    if (check->file->ours)
        verify_owed_page(check->set, check->file, page_no, page, byte < 0 ? -1 : allocated);
}

/* ---- GAM against PFS ---- */

/* A change of the map that the named checkpoint need not have written? */
static bool map_may_be_behind(const struct verify_log *log, const struct data_check *check,
                              uint32_t map_page)
{
    static const struct lsn newest = {UINT32_MAX, UINT32_MAX, UINT16_MAX};
    const struct logged_image *image =
        verify_log_image(log, check->file->file.mark.file_uid, map_page, newest);
    return image && lsn_compare(image->lsn, log->boot_checkpoint) >= 0;
}

/* Its write failed, or was under way at the end, or a finding stands on it? */
static bool map_in_doubt(const struct data_check *check, uint32_t map_page)
{
    const struct ledger_file *row = check->file->row;
    return check->set->believed && row && map_page < row->capacity_pages &&
           ledger_view(check->set->ledger, row->uid, map_page).state != LEDGER_QUIET;
}

/* After a run that was stopped, by a signal, an error or a kill, the maps may differ: recovery
 * would set that right. */
static bool maps_are_settled(const struct data_check *check, uint32_t gam_page, uint32_t pfs_page)
{
    if (!check->file->ours)
        return true;
    if (map_in_doubt(check, gam_page) || map_in_doubt(check, pfs_page))
        return false;
    const struct verify_file *log = verify_log_of(check->set, check->file);
    if (!log || !log->log.whole)
        return check->set->ledger && check->set->clean;
    return !map_may_be_behind(&log->log, check, gam_page) &&
           !map_may_be_behind(&log->log, check, pfs_page);
}

static void report_contradiction(struct data_check *check, const struct verify_map *gam,
                                 uint32_t page_no, bool is_free)
{
    char detail[FINDING_DETAIL_MAX];
    snprintf(detail, sizeof detail,
             "GAM page %" PRIu32 " says that the extent of page %" PRIu32
             " is %s, PFS page %" PRIu32 " says the opposite: one of them is old",
             gam->page_no, page_no, is_free ? "free" : "used", syspage_pfs_of(page_no));
    verify_report_page(check->set, check->file, gam->page_no, VERDICT_lost_write, detail);
}

static void check_extent(struct data_check *check, uint32_t extent)
{
    uint32_t first = extent * EXTENT_PAGES;
    const struct verify_map *gam =
        verify_map_for(check->set, check->file, &check->maps, SYSPAGE_GAM, first);
    if (!gam->usable)
        return;
    bool used = false;
    for (uint32_t i = 0; i < EXTENT_PAGES; i++) {
        int byte = verify_pfs_byte(check->set, check->file, &check->maps, first + i);
        used = used || (byte > 0 && (byte & PFS_ALLOCATED));
    }
    bool is_free = bitmap_get(gam->page, extent);
    count(check, is_free != used ? VERIFY_COUNT_gam_pfs_ok : VERIFY_COUNT_gam_pfs_bad);
    if (is_free == used && gam->protected_ok && check->maps.pfs.protected_ok &&
        maps_are_settled(check, gam->page_no, check->maps.pfs.page_no))
        report_contradiction(check, gam, first, is_free);
}

/* ---- the file ---- */

static void page_unreadable(struct data_check *check, uint32_t page_no, int error)
{
    struct finding finding = {.verdict = VERDICT_unreadable,
                              .has_page = true,
                              .page_no = page_no,
                              .offset = (uint64_t)page_no * PAGE_BYTES,
                              .size_bytes = PAGE_BYTES,
                              .retries = VERIFY_RETRIES_MAX,
                              .error = -error};
    snprintf(finding.detail, sizeof finding.detail, "the system said: %s", strerror(-error));
    verify_report(check->set, check->file, &finding);
}

/* A chunk that cannot be read as a whole is read page by page. */
static void check_singly(struct data_check *check, uint32_t first, uint32_t count_pages)
{
    for (uint32_t i = 0; i < count_pages; i++) {
        uint8_t *page = check->set->buffer;
        int error = verify_read(check->set, check->file, (uint64_t)(first + i) * PAGE_BYTES, page,
                                PAGE_BYTES);
        if (error)
            page_unreadable(check, first + i, error);
        else
            check_page(check, first + i, page);
    }
}

static void check_chunk(struct data_check *check, uint32_t first, uint32_t count_pages)
{
    uint8_t *buffer = check->set->buffer;
    struct iovec iov = {buffer, (size_t)count_pages * PAGE_BYTES};
    struct io_req req = {.op = IO_READ,
                         .stream = STREAM_audit_read,
                         .target = &check->file->file.target,
                         .offset = (uint64_t)first * PAGE_BYTES,
                         .iov = &iov,
                         .iov_count = 1};
    if (io_run(&check->set->io, &req)) {
        check_singly(check, first, count_pages);
        return;
    }
    for (uint32_t i = 0; i < count_pages; i++)
        check_page(check, first + i, buffer + (size_t)i * PAGE_BYTES);
}

static bool has_protected_page(const struct verify_file *file)
{
    return file->counts[VERIFY_COUNT_allocated_checksum_ok] > 0 ||
           file->counts[VERIFY_COUNT_allocated_torn_ok] > 0;
}

int verify_data_check(struct verify_set *set, struct verify_file *file)
{
    struct data_check check = {.set = set, .file = file, .file_id = file->file_id};
    if (verify_is_unspecified(set, file)) {
        file->counts[VERIFY_COUNT_pages] = file->counts[VERIFY_COUNT_pages_not_judged] =
            file->page_count;
        return 0;
    }
    int error = verify_maps_init(&check.maps);
    if (error)
        return error;
    for (uint32_t first = 0; first < file->page_count; first += VERIFY_CHUNK_PAGES) {
        uint32_t left = file->page_count - first;
        check_chunk(&check, first, left < VERIFY_CHUNK_PAGES ? left : VERIFY_CHUNK_PAGES);
    }
    for (uint32_t extent = 0; extent < file->page_count / EXTENT_PAGES; extent++)
        check_extent(&check, extent);
    if (file->ours)
        verify_owed_end(set, file);
    else if (!has_protected_page(file))
        set->incomplete = true;
    verify_maps_free(&check.maps);
    return 0;
}
