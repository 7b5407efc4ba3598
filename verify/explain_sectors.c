/*
 * explain_sectors.c - the sector map of a data page.
 *
 * A sector is named by proof where there is one: the identity that its stamp (sector 0: the page
 * stamp under a good header CRC) claims is regenerated and compared byte by byte.  Only what no
 * exact comparison explains is compared with the candidates of this page: the generations that the
 * ledger holds and those that other sectors of the image claim.
 *
 * Invariants: no header field is used unless the header CRC is right; NEW, OLD and OTHER mean equal
 * bytes (sector 0: header and checksums too, proven by completing the page from its generation and
 * checking it; OTHER in sector 0: the header CRC).
 * What it does not do: weigh the sectors into a verdict (explain.c).
 */
#include "verify/explain_sectors.h"

#include <string.h>

#include "verify/check.h"
#include "verify/checksum.h"

/* Ledger 3, header 1, one a sector stamp. */
#define CANDIDATES_MAX (4 + PAGE_SECTORS)

struct candidates {
    size_t count;
    uint64_t generation[CANDIDATES_MAX];
};

/* Everything that naming a sector needs. */
struct scene {
    const uint8_t *page;
    const uint64_t *io_serial;
    const struct expectation *expect;
    struct candidates candidates;
};

static struct page_identity own_identity(const struct expectation *expect, uint64_t generation)
{
    return (struct page_identity){
        .file_uid = expect->file_uid,
        .incarnation = expect->incarnation,
        .file_id = expect->file_id,
        .page_no = expect->page_no,
        .generation = generation,
    };
}

static const uint8_t *sector_at(const uint8_t *page, unsigned sector)
{
    return page + (size_t)sector * PAGE_SECTOR_BYTES;
}

struct difference difference_between(const void *image, const void *right, size_t size_bytes)
{
    const uint8_t *a = image, *b = right;
    struct difference d = {.first = -1, .all_zero = true};

    for (size_t i = 0; i < size_bytes; i++) {
        if (a[i] == b[i])
            continue;
        d.bits += (unsigned)__builtin_popcount((unsigned)(a[i] ^ b[i]));
        d.bytes++;
        d.all_zero = d.all_zero && a[i] == 0;
        if (d.first < 0)
            d.first = (int)i;
    }
    return d;
}

static bool zeroed_range(const struct difference *d)
{
    return d->all_zero && d->bytes >= EXPLAIN_ZERO_BYTES;
}

bool difference_near(const struct difference *d)
{
    return d->bits <= EXPLAIN_NEAR_BITS || zeroed_range(d);
}

bool explain_allowed(const struct expectation *expect, uint64_t generation)
{
    const struct ledger_view *owed = &expect->owed;

    switch (owed->state) {
    case LEDGER_QUIET:
        return !CHECKED(generation) || generation == owed->acked;
    case LEDGER_NEVER_WRITTEN:
        return !CHECKED(never_written) || generation == 0;
    default: /* 0, if nothing was durable: the zeros of a new file */
        return generation >= owed->durable && generation <= owed->issued;
    }
}

uint64_t explain_newest(const struct expectation *expect)
{
    return expect->owed.state == LEDGER_QUIET ? expect->owed.acked : expect->owed.issued;
}

static void candidate_add(struct candidates *c, uint64_t generation)
{
    for (size_t i = 0; i < c->count; i++)
        if (c->generation[i] == generation)
            return;
    if (generation > 0 && c->count < CANDIDATES_MAX)
        c->generation[c->count++] = generation;
}

static bool own_run(const struct page_stamp *stamp, const struct run_identity *run)
{
    return memcmp(stamp->run_id, run->run_id, RUN_ID_BYTES) == 0;
}

static bool own_place(const struct page_stamp *stamp, const struct expectation *expect)
{
    return own_run(stamp, expect->run) && stamp->file_uid == expect->file_uid &&
           stamp->incarnation == expect->incarnation && stamp->page_no == expect->page_no;
}

static bool own_stamp(const struct sector_identity *id, unsigned sector,
                      const struct expectation *expect)
{
    return id->run_tag == expect->run->run_tag &&
           (!CHECKED(stamp_place) ||
            (id->file_uid == expect->file_uid && id->page_no == expect->page_no)) &&
           id->sector == sector;
}

static void candidates_collect(struct scene *scene)
{
    const struct ledger_view *owed = &scene->expect->owed;
    struct candidates *c = &scene->candidates;

    candidate_add(c, explain_newest(scene->expect));
    candidate_add(c, owed->acked);
    candidate_add(c, owed->durable);
    if (page_header_crc_ok(scene->page) && own_place(page_stamp_of(scene->page), scene->expect))
        candidate_add(c, page_stamp_of(scene->page)->generation);
    for (unsigned sector = 1; sector < PAGE_SECTORS; sector++) {
        struct sector_identity id;
        if (sector_stamp_read(sector_at(scene->page, sector), &id) &&
            own_stamp(&id, sector, scene->expect))
            candidate_add(c, id.generation_low);
    }
}

/* Equal bytes of a generation of this page. */
static void own_sector(struct sector_finding *out, const struct expectation *expect,
                       uint64_t generation)
{
    uint64_t newest = explain_newest(expect);

    out->generation = generation;
    out->never_issued = CHECKED(never_issued) && generation > expect->owed.issued;
    out->state = out->never_issued      ? SECTOR_FOREIGN
                 : generation == newest ? SECTOR_NEW
                                        : SECTOR_OLD;
}

static struct origin stamp_origin(const struct sector_identity *id, bool other_run)
{
    return (struct origin){.file_uid = id->file_uid,
                           .page_no = id->page_no,
                           .generation = id->generation_low,
                           .other_run = other_run,
                           .sector = id->sector};
}

static struct difference stamped_difference(const uint8_t *at, const struct sector_identity *id,
                                            const struct run_identity *run)
{
    uint8_t right[PAGE_SECTOR_BYTES];
    struct page_identity claimed = {
        .file_uid = id->file_uid, .page_no = id->page_no, .generation = id->generation_low};

    if (id->sector == 0) /* sector 0 has no stamp: nothing to regenerate, nothing near */
        return (struct difference){.bits = PAGE_SECTOR_BYTES * 8};
    page_regenerate_sector(right, run, &claimed, id->sector);
    return difference_between(at, right, sizeof(right));
}

/* The first sector of a page of this run, at a place where no page begins, or where none of this
 * kind stands. */
static bool is_first_sector(const uint8_t *at, const struct expectation *expect, struct origin *out)
{
    const struct page_stamp *stamp = page_stamp_of(at);

    if (!page_header_crc_ok(at) || !own_run(stamp, expect->run))
        return false;
    *out = (struct origin){
        .file_uid = stamp->file_uid, .page_no = stamp->page_no, .generation = stamp->generation};
    return true;
}

bool sector_is_other(const void *sector_buf, unsigned sector, const struct expectation *expect,
                     struct origin *out)
{
    struct sector_identity id;

    if (sector > 0 && is_first_sector(sector_buf, expect, out))
        return true;
    if (!sector_stamp_read(sector_buf, &id) || id.run_tag != expect->run->run_tag ||
        own_stamp(&id, sector, expect))
        return false;
    struct difference d = stamped_difference(sector_buf, &id, expect->run);
    *out = stamp_origin(&id, false);
    return d.bits == 0;
}

/* The candidate that the bytes from `from` on are nearest to; with zeros where they are allowed. */
static uint64_t nearest(const struct scene *scene, unsigned sector, size_t from,
                        struct difference *best)
{
    const uint8_t *at = sector_at(scene->page, sector);
    uint8_t right[PAGE_SECTOR_BYTES] = {0};
    uint64_t generation = 0;

    *best = (struct difference){.bits = PAGE_SECTOR_BYTES * 8 + 1, .first = -1};
    if (explain_allowed(scene->expect, 0))
        *best = difference_between(at + from, right + from, PAGE_SECTOR_BYTES - from);
    for (size_t i = 0; i < scene->candidates.count; i++) {
        struct page_identity id = own_identity(scene->expect, scene->candidates.generation[i]);
        page_regenerate_sector(right, scene->expect->run, &id, sector);
        struct difference d = difference_between(at + from, right + from, PAGE_SECTOR_BYTES - from);
        bool better = zeroed_range(&d) ? !zeroed_range(best) || d.bits < best->bits
                                       : d.bits < best->bits && !zeroed_range(best);
        if (better) {
            *best = d;
            generation = id.generation;
        }
    }
    if (best->first >= 0)
        best->first += (int)from;
    return generation;
}

static void damaged(struct sector_finding *out, uint64_t generation, const struct difference *d)
{
    out->state = SECTOR_DAMAGED;
    out->generation = generation;
    out->damage = *d;
}

static void foreign(struct sector_finding *out, const struct origin *origin)
{
    out->state = SECTOR_FOREIGN;
    if (origin) {
        out->has_origin = true;
        out->origin = *origin;
    }
}

/* Poison and zeros say nothing else. */
static bool empty_sector(const struct scene *scene, unsigned sector, struct sector_finding *out)
{
    const uint8_t *at = sector_at(scene->page, sector);

    if (scene->io_serial && poison_sector(at, *scene->io_serial)) {
        out->state = SECTOR_POISON;
        return true;
    }
    out->state = SECTOR_ZERO;
    return page_is_zero(at, PAGE_SECTOR_BYTES);
}

/* A stamp whose bytes are not what it claims: damage of this page if near to it or if it names it.
 */
static void stamped_sector(const struct scene *scene, unsigned sector,
                           const struct sector_identity *id, struct sector_finding *out)
{
    const uint8_t *at = sector_at(scene->page, sector);
    bool other_run = CHECKED(stamp_run) && id->run_tag != scene->expect->run->run_tag;
    struct origin origin = stamp_origin(id, other_run);
    struct difference d;
    uint64_t generation = nearest(scene, sector, 0, &d);

    if (difference_near(&d)) {
        damaged(out, generation, &d);
        return;
    }
    if (own_stamp(id, sector, scene->expect)) {
        d = stamped_difference(at, id, scene->expect->run);
        damaged(out, id->generation_low, &d);
        return;
    }
    d = stamped_difference(at, id, scene->expect->run);
    foreign(out, other_run && id->sector == sector ? &origin : NULL);
    if (!other_run && difference_near(&d)) {
        out->state = SECTOR_OTHER;
        out->has_origin = true;
        out->origin = origin;
    }
}

static void body_sector(const struct scene *scene, unsigned sector, struct sector_finding *out)
{
    const struct expectation *expect = scene->expect;
    const uint8_t *at = sector_at(scene->page, sector);
    struct sector_identity id;
    struct difference d;

    if (is_first_sector(at, expect, &out->origin)) {
        out->state = SECTOR_OTHER;
        out->has_origin = true;
        return;
    }
    if (!sector_stamp_read(at, &id)) {
        uint64_t generation = nearest(scene, sector, 0, &d);
        if (difference_near(&d))
            damaged(out, generation, &d);
        else
            foreign(out, NULL);
        return;
    }
    if (id.run_tag == expect->run->run_tag) {
        d = stamped_difference(at, &id, expect->run);
        if ((!CHECKED(body_compare) || d.bits == 0) && own_stamp(&id, sector, expect)) {
            own_sector(out, expect, id.generation_low);
            return;
        }
        if (d.bits == 0) {
            out->state = SECTOR_OTHER;
            out->has_origin = true;
            out->origin = stamp_origin(&id, false);
            return;
        }
    }
    stamped_sector(scene, sector, &id, out);
}

/* Header and stamp of the image, body of its own or regenerated; the rest of generation. */
static void complete_page(uint8_t *whole, const uint8_t *page, const struct expectation *expect,
                          uint64_t generation, bool own_body)
{
    struct page_identity id = own_identity(expect, generation);

    memcpy(whole, page, own_body ? PAGE_SECTOR_BYTES : PAGE_BODY_OFFSET);
    for (unsigned sector = own_body ? 1 : 0; sector < PAGE_SECTORS; sector++)
        page_regenerate_sector(whole + (size_t)sector * PAGE_SECTOR_BYTES, expect->run, &id,
                               sector);
}

static void header_sector_own(const struct scene *scene, struct sector_finding *out)
{
    uint64_t generation = page_stamp_of(scene->page)->generation;
    uint8_t whole[PAGE_BYTES];

    complete_page(whole, scene->page, scene->expect, generation, true);
    if (!CHECKED(header_compare) || page_check(whole) == PAGE_OK) {
        own_sector(out, scene->expect, generation);
        return;
    }
    complete_page(whole, scene->page, scene->expect, generation, false);
    struct difference d = difference_between(scene->page, whole, PAGE_SECTOR_BYTES);
    damaged(out, generation, &d);
    out->header_damaged = page_check(whole) != PAGE_OK;
}

/* Nothing in front of the body tells whose it is. */
static void unbelieved_header_sector(const struct scene *scene, struct sector_finding *out)
{
    static const uint8_t zeros[PAGE_SECTOR_BYTES];
    struct difference d = difference_between(scene->page, zeros, sizeof(zeros));

    if (explain_allowed(scene->expect, 0) && difference_near(&d)) {
        damaged(out, 0, &d);
        return;
    }
    uint64_t generation = nearest(scene, 0, PAGE_BODY_OFFSET, &d);
    if (!difference_near(&d)) {
        foreign(out, NULL);
        return;
    }
    damaged(out, generation, &d);
    out->header_damaged = true;
}

static void header_sector(const struct scene *scene, struct sector_finding *out)
{
    const struct page_stamp *stamp = page_stamp_of(scene->page);

    if (!page_header_crc_ok(scene->page)) {
        if (sector_is_other(scene->page, 0, scene->expect, &out->origin)) {
            out->state = SECTOR_OTHER;
            out->has_origin = true;
        } else {
            unbelieved_header_sector(scene, out);
        }
        return;
    }
    if (own_place(stamp, scene->expect)) {
        header_sector_own(scene, out);
        return;
    }
    bool other_run = !own_run(stamp, scene->expect->run);
    bool other_page =
        stamp->file_uid != scene->expect->file_uid || stamp->page_no != scene->expect->page_no;
    out->has_origin = true;
    out->origin = (struct origin){.file_uid = stamp->file_uid,
                                  .page_no = stamp->page_no,
                                  .generation = stamp->generation,
                                  .other_run = other_run};
    out->state = !other_run && other_page ? SECTOR_OTHER : SECTOR_FOREIGN;
}

void sector_map_make(const void *page, const uint64_t *io_serial, const struct expectation *expect,
                     struct sector_map *out)
{
    struct scene scene = {.page = page, .io_serial = io_serial, .expect = expect};

    memset(out, 0, sizeof(*out));
    candidates_collect(&scene);
    for (unsigned sector = 0; sector < PAGE_SECTORS; sector++) {
        struct sector_finding *finding = &out->sector[sector];
        if (empty_sector(&scene, sector, finding))
            continue;
        if (sector == 0)
            header_sector(&scene, finding);
        else
            body_sector(&scene, sector, finding);
    }
}

bool sector_map_allowed(const struct sector_map *map, const struct expectation *expect)
{
    for (unsigned sector = 0; sector < PAGE_SECTORS; sector++) {
        const struct sector_finding *s = &map->sector[sector];
        bool whole = s->state == SECTOR_NEW || s->state == SECTOR_OLD || s->state == SECTOR_ZERO;
        if (!whole || !explain_allowed(expect, s->generation))
            return false;
    }
    return true;
}

void sector_map_text(const struct sector_map *map, char out[PAGE_SECTORS + 1])
{
    for (unsigned sector = 0; sector < PAGE_SECTORS; sector++)
        out[sector] = (char)map->sector[sector].state;
    out[PAGE_SECTORS] = '\0';
}

int explain_header_flip(const void *page, const struct expectation *expect, uint64_t generation)
{
    uint8_t whole[PAGE_BYTES];

    complete_page(whole, page, expect, generation, false);
    for (int at = 0; at < PAGE_BODY_OFFSET; at++) {
        for (unsigned bit = 0; bit < 8; bit++) {
            whole[at] ^= (uint8_t)(1u << bit);
            bool whole_again = page_check(whole) == PAGE_OK &&
                               own_place(page_stamp_of(whole), expect) &&
                               page_stamp_of(whole)->generation == generation;
            whole[at] ^= (uint8_t)(1u << bit);
            if (whole_again)
                return at;
        }
    }
    return -1;
}
