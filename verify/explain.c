/*
 * explain.c - is an image what was owed, and if not: which fault is it?
 *
 * Order of proof for a data page (reference "faults", 1.4): poison; all zero; another page of ours;
 * another run's or another incarnation's; bytes that nobody issued; foreign bytes; zeroed ranges;
 * then the generations of what is left.  A mixture gets the name that stands first; the sector map
 * shows the rest.
 *
 *   one older generation throughout    lost_write (replayed_write if the newer one had been read)
 *   several generations                torn_page
 *   the right one, damaged             header_damage if only header and stamp are, bit_flip up to
 *                                      EXPLAIN_FLIP_BITS differing bits, else garbage
 *
 * A generation newer than any issued is garbage: this run never sent it to a device, so no order of
 * its writes can have left it there.
 *
 * Invariants: explain() returns VERDICT_NONE exactly when explain_is_right() holds; what is not
 * judged (freed, quarantined, space that is not ours and was never written) is right. What it does
 * not do: read again, or look for the other end of a misdirection.
 */
#include "verify/explain.h"

#include <string.h>

#include "verify/check.h"
#include "verify/explain_sectors.h"

/* What can be said of any content without looking at it. */
static bool not_judged(const struct expectation *expect)
{
    const struct ledger_view *owed = &expect->owed;

    if (owed->state == LEDGER_FREED || owed->state == LEDGER_QUARANTINED)
        return true;
    /* Space that is not ours may hold anything until a write of ours is durable there. */
    return !expect->created_by_us && owed->state != LEDGER_QUIET && owed->durable == 0;
}

static bool is_own_page(const void *page, const struct expectation *expect)
{
    const struct page_stamp *stamp = page_stamp_of(page);

    return (!CHECKED(own_file) || stamp->file_uid == expect->file_uid) &&
           (!CHECKED(own_incarnation) || stamp->incarnation == expect->incarnation) &&
           (!CHECKED(own_page) || stamp->page_no == expect->page_no) &&
           (!CHECKED(own_run) || memcmp(stamp->run_id, expect->run->run_id, RUN_ID_BYTES) == 0);
}

static bool data_is_right(const void *page, const struct expectation *expect)
{
    enum page_check check = page_check(page);

    if (check == PAGE_OK)
        return is_own_page(page, expect) &&
               explain_allowed(expect, page_stamp_of(page)->generation);
    if (check == PAGE_ALL_ZERO)
        return explain_allowed(expect, 0);
    if (expect->owed.state == LEDGER_QUIET || expect->owed.state == LEDGER_NEVER_WRITTEN)
        return false;
    struct sector_map map;
    sector_map_make(page, NULL, expect, &map);
    return sector_map_allowed(&map, expect);
}

bool explain_is_right(const void *page, const struct expectation *expect)
{
    if (not_judged(expect))
        return true;
    return expect->kind == SYSPAGE_NONE ? data_is_right(page, expect)
                                        : explain_system_is_right(page, expect);
}

/* The sectors of a map, counted. */
struct tally {
    unsigned poison, zero, zero_allowed, other, foreign, damaged;
    unsigned header_damaged, zero_damage;
    unsigned bits;                 /* of DAMAGED sectors */
    unsigned allowed, not_allowed; /* sectors with a generation that is, and is not, allowed */
    uint64_t oldest, newest;       /* of the generations of this page; 0 = none */
    const struct sector_finding *origin;     /* first OTHER */
    const struct sector_finding *run_origin; /* first of another run or incarnation */
    bool run_proven;
};

static void tally_generation(struct tally *t, const struct sector_finding *s,
                             const struct expectation *expect)
{
    if (explain_allowed(expect, s->generation))
        t->allowed++;
    else
        t->not_allowed++;
    if (s->generation == 0)
        return;
    if (t->oldest == 0 || s->generation < t->oldest)
        t->oldest = s->generation;
    if (s->generation > t->newest)
        t->newest = s->generation;
}

static bool same_page(const struct origin *a, const struct origin *b)
{
    return a->page_no == b->page_no && a->file_uid == b->file_uid;
}

/* A header CRC proves another run.  The check of a sector stamp has 12 bits, so a stamp proves it
 * only if it names this page or the same page as one before. */
static void tally_foreign(struct tally *t, const struct sector_finding *s, bool first_sector,
                          const struct expectation *expect)
{
    t->foreign++;
    if (s->never_issued && s->generation > t->newest)
        t->newest = s->generation;
    if (!s->has_origin)
        return;
    if (first_sector || s->origin.page_no == expect->page_no ||
        (t->run_origin && same_page(&s->origin, &t->run_origin->origin)))
        t->run_proven = true;
    if (!t->run_origin)
        t->run_origin = s;
}

static void tally_damaged(struct tally *t, const struct sector_finding *s,
                          const struct expectation *expect)
{
    t->damaged++;
    t->bits += s->damage.bits;
    t->header_damaged += s->header_damaged;
    t->zero_damage += s->damage.all_zero && s->damage.bytes >= EXPLAIN_ZERO_BYTES;
    tally_generation(t, s, expect);
}

static void tally_sector(struct tally *t, const struct sector_finding *s, bool first_sector,
                         const struct expectation *expect)
{
    switch (s->state) {
    case SECTOR_POISON:
        t->poison++;
        break;
    case SECTOR_ZERO:
        t->zero++;
        t->zero_allowed += explain_allowed(expect, 0);
        break;
    case SECTOR_OTHER:
        t->other++;
        if (!t->origin)
            t->origin = s;
        break;
    case SECTOR_FOREIGN:
        tally_foreign(t, s, first_sector, expect);
        break;
    case SECTOR_DAMAGED:
        tally_damaged(t, s, expect);
        break;
    case SECTOR_NEW:
    case SECTOR_OLD:
        tally_generation(t, s, expect);
        break;
    case SECTOR_UNREADABLE: /* the reader's word, not an image's */
        break;
    }
}

static struct tally tally_make(const struct sector_map *map, const struct expectation *expect)
{
    struct tally t = {0};

    for (unsigned sector = 0; sector < PAGE_SECTORS; sector++)
        tally_sector(&t, &map->sector[sector], sector == 0, expect);
    return t;
}

/* Only damaged and whole sectors of this page are left. */
static enum verdict generations_verdict(const struct tally *t, const struct expectation *expect)
{
    if (t->not_allowed > 0) {
        if (t->oldest != t->newest || t->allowed > 0 || t->zero > 0)
            return VERDICT_torn_page;
        bool was_read = expect->owed.state == LEDGER_QUIET && expect->owed.seen;
        return was_read ? VERDICT_replayed_write : VERDICT_lost_write;
    }
    if (t->zero_damage > 0)
        return VERDICT_zeroed;
    if (t->header_damaged == t->damaged && t->bits == 0)
        return VERDICT_header_damage;
    return t->bits <= EXPLAIN_FLIP_BITS ? VERDICT_bit_flip : VERDICT_garbage;
}

static enum verdict data_verdict(const struct tally *t, const struct expectation *expect)
{
    if (t->poison > 0)
        return VERDICT_bytes_not_read;
    if (t->zero == PAGE_SECTORS)
        return VERDICT_zeroed;
    if (t->other > 0)
        return VERDICT_misdirected_write;
    if (t->run_proven)
        return VERDICT_old_data;
    if (t->foreign > 0)
        return VERDICT_garbage;
    if (t->zero > t->zero_allowed)
        return VERDICT_zeroed;
    return generations_verdict(t, expect);
}

static void generation_put(struct explanation *out, const struct tally *t, const void *page)
{
    switch (out->verdict) {
    case VERDICT_misdirected_write:
        explain_origin_put(out, &t->origin->origin);
        break;
    case VERDICT_old_data:
        explain_origin_put(out, &t->run_origin->origin);
        break;
    case VERDICT_lost_write:
    case VERDICT_replayed_write:
        out->found_written_ns = page_stamp_of(page)->write_time_ns;
        out->generation_found = t->oldest;
        break;
    case VERDICT_torn_page:
        out->generation_found = t->oldest;
        break;
    default:
        out->generation_found = t->newest;
        break;
    }
}

/* Where the first byte is wrong; -1 where that cannot be told. */
static int first_bad(const struct sector_map *map, const struct expectation *expect)
{
    for (unsigned sector = 0; sector < PAGE_SECTORS; sector++) {
        const struct sector_finding *s = &map->sector[sector];
        int at = (int)(sector * PAGE_SECTOR_BYTES);

        if (s->state == SECTOR_DAMAGED && explain_allowed(expect, s->generation))
            return s->header_damaged || s->damage.first < 0 ? -1 : at + s->damage.first;
        bool whole = s->state == SECTOR_NEW || s->state == SECTOR_OLD || s->state == SECTOR_ZERO;
        if (!whole || !explain_allowed(expect, s->generation))
            return at;
    }
    return -1;
}

/* Header and stamp cannot be built again, but one flipped bit in them can be found. */
static void header_flip_put(struct explanation *out, const struct tally *t,
                            const struct sector_map *map, const void *page,
                            const struct expectation *expect)
{
    int at = explain_header_flip(page, expect, map->sector[0].generation);

    out->damaged_bits = at < 0 ? 0 : t->bits + 1;
    out->first_bad_offset = at;
}

static void damage_put(struct explanation *out, const struct tally *t, const struct sector_map *map,
                       const void *page, const struct expectation *expect)
{
    bool counted = out->verdict == VERDICT_bit_flip || out->verdict == VERDICT_header_damage;

    if (counted && map->sector[0].header_damaged)
        header_flip_put(out, t, map, page, expect);
    else if (counted)
        out->damaged_bits = t->bits;
}

static void explain_data(const void *page, uint64_t io_serial, const struct expectation *expect,
                         struct explanation *out)
{
    struct sector_map map;

    sector_map_make(page, &io_serial, expect, &map);
    sector_map_find_log(page, &map);
    sector_map_text(&map, out->sectors);
    struct tally t = tally_make(&map, expect);
    if (explain_is_right(page, expect)) {
        out->generation_found = t.newest;
        return;
    }
    out->verdict = data_verdict(&t, expect);
    out->first_bad_offset = first_bad(&map, expect);
    generation_put(out, &t, page);
    explain_shift_put(out, &map, expect);
    damage_put(out, &t, &map, page, expect);
}

void explain(const void *page, uint64_t io_serial, const struct expectation *expect,
             struct explanation *out)
{
    *out = (struct explanation){
        .verdict = VERDICT_NONE,
        .generation_expected = explain_newest(expect),
        .first_bad_offset = -1,
    };
    if (expect->kind == SYSPAGE_NONE)
        explain_data(page, io_serial, expect, out);
    else
        explain_system(page, io_serial, expect, out);
}

enum verdict explain_after_rereads(const struct explanation *first, bool healed)
{
    if (!healed)
        return first->verdict;
    switch (first->verdict) {
    case VERDICT_lost_write:
    case VERDICT_replayed_write:
    case VERDICT_old_data:
        return VERDICT_stale_read;
    case VERDICT_misdirected_write:
        return VERDICT_misdirected_read;
    case VERDICT_bit_flip:
    case VERDICT_header_damage:
    case VERDICT_zeroed:
    case VERDICT_garbage:
    case VERDICT_torn_page:
        return VERDICT_transient_damage;
    default:
        return first->verdict;
    }
}

const char *sector_state_text(enum sector_state state)
{
    switch (state) {
    case SECTOR_NEW:
        return "newest generation";
    case SECTOR_OLD:
        return "older generation";
    case SECTOR_ZERO:
        return "zeros";
    case SECTOR_OTHER:
        return "another page of this run";
    case SECTOR_DAMAGED:
        return "damaged";
    case SECTOR_FOREIGN:
        return "not written by this run";
    case SECTOR_POISON:
        return "not filled by the read";
    case SECTOR_UNREADABLE:
        return "cannot be read";
    }
    return "unknown";
}
