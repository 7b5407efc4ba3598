/*
 * explain_system.c - judge and name faults of system pages, which carry no stamps.
 *
 * They are compared byte by byte with the images that the run holds.  Space where a system page was
 * never written, and the reserved pages, are compared with zeros.  Without an image only the page's
 * own protection is left.
 *
 * Limits, which the absence of stamps makes: a sector of an older image differs in a few bits from
 * the newest, so a tear against an image that is not held is named bit_flip; and where writes since
 * the last good flush are in doubt (durable < acknowledged) older images than the two that are held
 * may come back, so there only what no image of this page can be is a finding.
 */
#include <string.h>

#include "verify/checksum.h"
#include "verify/check.h"
#include "verify/explain_sectors.h"

static const uint8_t zero_page[PAGE_BYTES];

/* The images that the place may or might show. */
struct images {
    const uint8_t *newest; /* NULL: not known */
    const uint8_t *older;  /* NULL: none */
};

static bool never_written(const struct expectation *expect)
{
    return expect->kind == SYSPAGE_RESERVED || expect->owed.state == LEDGER_NEVER_WRITTEN;
}

static bool in_doubt(const struct expectation *expect)
{
    return expect->owed.state == LEDGER_INDETERMINATE || expect->owed.state == LEDGER_IN_FLIGHT;
}

static struct images images_of(const struct expectation *expect)
{
    if (never_written(expect))
        return (struct images){zero_page, NULL};
    if (in_doubt(expect) && expect->system_issued)
        return (struct images){expect->system_issued, expect->system_image};
    return (struct images){expect->system_image, expect->system_issued};
}

static const uint8_t *sector_of(const uint8_t *image, unsigned sector)
{
    return image + (size_t)sector * PAGE_SECTOR_BYTES;
}

static bool sector_equal(const uint8_t *page, const uint8_t *image, unsigned sector)
{
    return image &&
           memcmp(sector_of(page, sector), sector_of(image, sector), PAGE_SECTOR_BYTES) == 0;
}

/* Sound in itself and saying that it belongs somewhere; all zero is not. */
static bool protection_holds(const uint8_t *page)
{
    const struct page_header *header = page_header_of(page);

    return (header->flags & (PAGE_FLAG_CHECKSUM | PAGE_FLAG_TORN)) == PAGE_FLAG_CHECKSUM &&
           header->torn_bits == sector_fold(page, PAGE_BYTES, PAGE_OFFSET_TORN_BITS);
}

static bool own_check(const uint8_t *page, const struct expectation *expect)
{
    return !CHECKED(system_protection) ||
           syspage_check(page, expect->kind, expect->page_no, expect->file_id);
}

/* A sound page that names another place, or is a data page, cannot be an image of this one. */
static bool cannot_be_ours(const uint8_t *page, const struct expectation *expect)
{
    return protection_holds(page) && !own_check(page, expect);
}

static bool mix_of_known(const uint8_t *page, const struct images *images,
                         const struct expectation *expect)
{
    bool zero_allowed = explain_allowed(expect, 0);

    for (unsigned sector = 0; sector < PAGE_SECTORS; sector++) {
        bool zero = zero_allowed && page_is_zero(sector_of(page, sector), PAGE_SECTOR_BYTES);
        if (!zero && !sector_equal(page, images->newest, sector) &&
            !sector_equal(page, images->older, sector))
            return false;
    }
    return true;
}

static bool doubt_is_right(const uint8_t *page, const struct images *images,
                           const struct expectation *expect)
{
    bool all_known = expect->system_image &&
                     (expect->system_issued || expect->owed.issued == expect->owed.acked);

    if (mix_of_known(page, images, expect))
        return true;
    if (page_is_zero(page, PAGE_BYTES) || cannot_be_ours(page, expect))
        return false;
    return !all_known || expect->owed.durable < expect->owed.acked;
}

bool explain_system_is_right(const void *page, const struct expectation *expect)
{
    struct images images = images_of(expect);

    if (never_written(expect))
        return !CHECKED(system_zero) || !expect->created_by_us || page_is_zero(page, PAGE_BYTES);
    if (in_doubt(expect))
        return doubt_is_right(page, &images, expect);
    if (!images.newest)
        return own_check(page, expect);
    return !CHECKED(system_compare) || memcmp(page, images.newest, PAGE_BYTES) == 0;
}

/* Does the damage of the first sector end before the end of SQL Server's header? */
static bool header_only(const uint8_t *page, unsigned sector, const struct images *images)
{
    return sector == 0 && memcmp(page + PAGE_HEADER_BYTES, images->newest + PAGE_HEADER_BYTES,
                                 PAGE_SECTOR_BYTES - PAGE_HEADER_BYTES) == 0;
}

/* One sector that is neither poison nor equal to an image. */
static enum sector_state strange_sector(const uint8_t *page, unsigned sector,
                                        const struct images *images,
                                        const struct expectation *expect,
                                        struct sector_finding *out)
{
    const uint8_t *at = sector_of(page, sector);

    if (page_is_zero(at, PAGE_SECTOR_BYTES))
        return SECTOR_ZERO;
    if (sector_is_other(at, sector, expect, &out->origin)) {
        out->has_origin = true;
        return SECTOR_OTHER;
    }
    if (!images->newest)
        return SECTOR_FOREIGN;
    out->damage = difference_between(at, sector_of(images->newest, sector), PAGE_SECTOR_BYTES);
    bool near = difference_near(&out->damage) || header_only(page, sector, images);
    return near ? SECTOR_DAMAGED : SECTOR_FOREIGN;
}

static void system_map(const uint8_t *page, uint64_t io_serial, const struct images *images,
                       const struct expectation *expect, struct sector_map *out)
{
    memset(out, 0, sizeof(*out));
    for (unsigned sector = 0; sector < PAGE_SECTORS; sector++) {
        struct sector_finding *s = &out->sector[sector];
        if (poison_sector(sector_of(page, sector), io_serial))
            s->state = SECTOR_POISON;
        else if (sector_equal(page, images->newest, sector))
            s->state = SECTOR_NEW;
        else if (sector_equal(page, images->older, sector))
            s->state = SECTOR_OLD;
        else
            s->state = strange_sector(page, sector, images, expect, s);
    }
    sector_map_find_log(page, out);
}

static unsigned count_state(const struct sector_map *map, enum sector_state state)
{
    unsigned count = 0;
    for (unsigned sector = 0; sector < PAGE_SECTORS; sector++)
        count += map->sector[sector].state == state;
    return count;
}

/* A whole data page of ours, or of a run before. */
static enum verdict data_page_verdict(const uint8_t *page, const struct expectation *expect,
                                      struct explanation *out)
{
    const struct page_stamp *stamp = page_stamp_of(page);
    struct origin origin = {
        .file_uid = stamp->file_uid,
        .page_no = stamp->page_no,
        .generation = stamp->generation,
        .other_run = memcmp(stamp->run_id, expect->run->run_id, RUN_ID_BYTES) != 0,
    };
    bool own = !origin.other_run && origin.file_uid == expect->file_uid &&
               origin.page_no == expect->page_no;

    explain_origin_put(out, &origin);
    return origin.other_run || own ? VERDICT_old_data : VERDICT_misdirected_write;
}

/* This place, sound, but not the image that it owes: what this run wrote here before has an LSN
 * that is not above the newest image's, and page 0 tells its run. */
static enum verdict own_page_verdict(const uint8_t *page, const struct images *images,
                                     const struct expectation *expect, struct explanation *out)
{
    struct origin origin = {.file_uid = expect->file_uid, .page_no = expect->page_no};
    bool was_read = expect->owed.state == LEDGER_QUIET && expect->owed.seen;
    struct file_mark mark;

    if (expect->kind == SYSPAGE_FILE_HEADER && file_mark_read(page, &mark) == 0) {
        origin.other_run = memcmp(mark.run_id, expect->run->run_id, RUN_ID_BYTES) != 0;
        if (origin.other_run || mark.incarnation != expect->incarnation) {
            explain_origin_put(out, &origin);
            return VERDICT_old_data;
        }
    }
    if (images->newest && lsn_compare(page_lsn(page), page_lsn(images->newest)) > 0) {
        origin.other_run = true;
        explain_origin_put(out, &origin);
        return VERDICT_old_data;
    }
    if (!own_check(page, expect)) /* another kind of page */
        return VERDICT_garbage;
    return was_read ? VERDICT_replayed_write : VERDICT_lost_write;
}

/* A page that is sound in itself: another one, or this one at another time. */
static enum verdict sound_page_verdict(const uint8_t *page, const struct images *images,
                                       const struct expectation *expect, struct explanation *out)
{
    const struct page_header *header = page_header_of(page);
    struct origin origin = {.page_no = header->page_no};

    if (page_check(page) == PAGE_OK)
        return data_page_verdict(page, expect, out);
    if (header->page_no == expect->page_no && header->file_id == expect->file_id)
        return own_page_verdict(page, images, expect, out);
    if (header->file_id == expect->file_id)
        origin.file_uid = expect->file_uid;
    explain_origin_put(out, &origin);
    return VERDICT_misdirected_write;
}

static enum verdict damage_verdict(const uint8_t *page, const struct sector_map *map,
                                   const struct images *images, struct explanation *out)
{
    unsigned bits = 0;
    bool zeroed = false;

    for (unsigned sector = 0; sector < PAGE_SECTORS; sector++) {
        const struct sector_finding *s = &map->sector[sector];
        if (s->state != SECTOR_DAMAGED)
            continue;
        if (bits == 0)
            out->first_bad_offset = (int)(sector * PAGE_SECTOR_BYTES) + s->damage.first;
        bits += s->damage.bits;
        zeroed = zeroed || (s->damage.all_zero && s->damage.bytes >= EXPLAIN_ZERO_BYTES);
    }
    if (map->sector[0].state == SECTOR_DAMAGED && count_state(map, SECTOR_DAMAGED) == 1 &&
        header_only(page, 0, images)) {
        out->damaged_bits = bits;
        return VERDICT_header_damage;
    }
    if (zeroed)
        return VERDICT_zeroed;
    if (bits > EXPLAIN_FLIP_BITS)
        return VERDICT_garbage;
    out->damaged_bits = bits;
    return VERDICT_bit_flip;
}

/* Without an image: the fold is linear, so one flipped bit of the page is one bit of its
 * difference; garbage looks like that once in 2^27. */
static enum verdict unknown_verdict(const uint8_t *page, struct explanation *out)
{
    uint32_t fold = sector_fold(page, PAGE_BYTES, PAGE_OFFSET_TORN_BITS);

    if (__builtin_popcount(fold ^ page_header_of(page)->torn_bits) != 1)
        return VERDICT_garbage;
    out->damaged_bits = 1;
    return VERDICT_bit_flip;
}

static const struct origin *first_origin(const struct sector_map *map)
{
    for (unsigned sector = 0; sector < PAGE_SECTORS; sector++)
        if (map->sector[sector].has_origin)
            return &map->sector[sector].origin;
    return NULL;
}

static enum verdict system_verdict(const uint8_t *page, const struct sector_map *map,
                                   const struct images *images, const struct expectation *expect,
                                   struct explanation *out)
{
    if (count_state(map, SECTOR_POISON) > 0)
        return VERDICT_bytes_not_read;
    if (page_is_zero(page, PAGE_BYTES))
        return VERDICT_zeroed;
    if (protection_holds(page))
        return sound_page_verdict(page, images, expect, out);
    if (first_origin(map)) {
        explain_origin_put(out, first_origin(map));
        return VERDICT_misdirected_write;
    }
    if (!images->newest)
        return unknown_verdict(page, out);
    if (count_state(map, SECTOR_ZERO) > 0)
        return VERDICT_zeroed;
    if (count_state(map, SECTOR_FOREIGN) > 0)
        return VERDICT_garbage;
    if (count_state(map, SECTOR_OLD) > 0 && !in_doubt(expect))
        return VERDICT_torn_page;
    return damage_verdict(page, map, images, out);
}

static int first_strange(const struct sector_map *map)
{
    for (unsigned sector = 0; sector < PAGE_SECTORS; sector++)
        if (map->sector[sector].state != SECTOR_NEW)
            return (int)(sector * PAGE_SECTOR_BYTES);
    return -1;
}

void explain_system(const void *page, uint64_t io_serial, const struct expectation *expect,
                    struct explanation *out)
{
    struct images images = images_of(expect);
    struct sector_map map;

    if (!images.newest && own_check(page, expect))
        images.newest = page; /* sound, and nothing to compare with: what there is counts as new */
    system_map(page, io_serial, &images, expect, &map);
    sector_map_text(&map, out->sectors);
    if (explain_is_right(page, expect))
        return;
    if (images.newest)
        out->first_bad_offset = first_strange(&map);
    explain_shift_put(out, &map, expect);
    out->verdict = system_verdict(page, &map, &images, expect, out);
}
