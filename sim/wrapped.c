/* wrapped.c - see wrapped.h. */
#include "sim/wrapped.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "sim/finding_group.h"
#include "verify/check.h"

#define BUFFER_ALIGN 4096

struct wrap {
    struct findings *findings;
    const struct page_source *source;
    uint16_t file_uid;
    uint32_t *distances; /* of the sites of the file */
    size_t count;
    uint32_t distance;        /* the commonest */
    uint32_t lowest, highest; /* the lower places of the pairs with it */
    bool *belongs;            /* by site */
    uint8_t *pages;           /* two */
};

/* The content of another place of the same file. */
static bool is_astray(const struct finding_site *site)
{
    return !site->joined && site->verdict == VERDICT_misdirected_write && site->has_origin &&
           site->origin_file_uid == site->file_uid && site->origin_page_no != site->page_no;
}

static uint32_t lower_of(const struct finding_site *site)
{
    return site->page_no < site->origin_page_no ? site->page_no : site->origin_page_no;
}

static uint32_t distance_of(const struct finding_site *site)
{
    return site->page_no < site->origin_page_no ? site->origin_page_no - site->page_no
                                                : site->page_no - site->origin_page_no;
}

static int by_value(const void *left, const void *right)
{
    uint32_t a = *(const uint32_t *)left, b = *(const uint32_t *)right;
    return a < b ? -1 : a > b;
}

/* How often the commonest distance occurs. */
static size_t find_distance(struct wrap *wrap)
{
    const struct finding_sites *sites = &wrap->findings->sites;
    size_t best = 0, run = 0;
    wrap->count = 0;
    for (unsigned i = 0; i < sites->count; i++)
        if (is_astray(&sites->list[i]) && sites->list[i].file_uid == wrap->file_uid)
            wrap->distances[wrap->count++] = distance_of(&sites->list[i]);
    qsort(wrap->distances, wrap->count, sizeof *wrap->distances, by_value);
    for (size_t i = 0; i < wrap->count; i++) {
        run = i > 0 && wrap->distances[i] == wrap->distances[i - 1] ? run + 1 : 1;
        if (run <= best)
            continue;
        best = run;
        wrap->distance = wrap->distances[i];
    }
    return best;
}

static void find_range(struct wrap *wrap)
{
    const struct finding_sites *sites = &wrap->findings->sites;
    wrap->lowest = UINT32_MAX;
    wrap->highest = 0;
    for (unsigned i = 0; i < sites->count; i++) {
        const struct finding_site *site = &sites->list[i];
        if (!is_astray(site) || site->file_uid != wrap->file_uid ||
            distance_of(site) != wrap->distance)
            continue;
        uint32_t lower = lower_of(site);
        wrap->lowest = lower < wrap->lowest ? lower : wrap->lowest;
        wrap->highest = lower > wrap->highest ? lower : wrap->highest;
    }
}

enum alias { ALIAS_UNKNOWN, ALIAS_SAME, ALIAS_DIFFERENT };

static enum alias compare(struct wrap *wrap, uint32_t a, uint32_t b)
{
    uint8_t *one = wrap->pages, *other = wrap->pages + PAGE_BYTES;
    if (wrap->source->read(wrap->source->context, wrap->file_uid, a, one) ||
        wrap->source->read(wrap->source->context, wrap->file_uid, b, other))
        return ALIAS_UNKNOWN;
    if (memcmp(one, other, PAGE_BYTES) != 0)
        return ALIAS_DIFFERENT;
    return page_is_zero(one, PAGE_BYTES) ? ALIAS_UNKNOWN : ALIAS_SAME;
}

/* Anywhere in the range, at both addresses. */
static bool is_alias(struct wrap *wrap)
{
    uint64_t width = wrap->highest - wrap->lowest;
    unsigned same = 0;
    for (unsigned i = 0; i < WRAPPED_SAMPLES; i++) {
        uint32_t page = wrap->lowest + (uint32_t)(width * i / (WRAPPED_SAMPLES - 1));
        enum alias alias = compare(wrap, page, page + wrap->distance);
        if (CHECKED(wrap_alias) && alias == ALIAS_DIFFERENT)
            return false;
        same += alias == ALIAS_SAME;
    }
    return !CHECKED(wrap_alias) || same >= WRAPPED_PAGES_MIN;
}

/* A system page at the place of a data page has no stamp: it is known by its other address. */
static bool has_twin(struct wrap *wrap, const struct finding_site *site)
{
    uint32_t page = site->page_no;
    bool above = page >= wrap->distance && page - wrap->distance >= wrap->lowest &&
                 page - wrap->distance <= wrap->highest;
    bool below = page >= wrap->lowest && page <= wrap->highest;
    return (above && compare(wrap, page, page - wrap->distance) == ALIAS_SAME) ||
           (below && compare(wrap, page, page + wrap->distance) == ALIAS_SAME);
}

static void choose(struct wrap *wrap)
{
    const struct finding_sites *sites = &wrap->findings->sites;
    unsigned looks = 0;
    for (unsigned i = 0; i < sites->count; i++) {
        const struct finding_site *site = &sites->list[i];
        if (site->joined || site->file_uid != wrap->file_uid)
            continue;
        bool astray = is_astray(site) && distance_of(site) % wrap->distance == 0;
        wrap->belongs[i] =
            astray || (!is_astray(site) && looks++ < WRAPPED_LOOKS_MAX && has_twin(wrap, site));
    }
}

static bool chosen(const void *context, const struct finding_site *site)
{
    const struct wrap *wrap = context;
    return wrap->belongs[site - wrap->findings->sites.list];
}

static int tell(struct wrap *wrap)
{
    struct finding_group group;
    char ranges[120];
    choose(wrap);
    int error = finding_group_make(&group, &wrap->findings->sites, chosen, wrap);
    if (error)
        return error;
    uint64_t bytes = (uint64_t)wrap->distance * PAGE_BYTES;
    struct finding *event = finding_group_join(wrap->findings, &group, VERDICT_capacity_wrap);
    finding_group_free(&group);
    if (!event)
        return 0;
    finding_group_take_rest(wrap->findings, event, VERDICT_misdirected_write);
    finding_group_ranges_text(event, ranges, sizeof ranges);
    snprintf(event->detail, sizeof event->detail,
             "what is written %" PRIu64 " bytes (%.1f MiB) further on comes back here, and the "
             "other way round: the storage holds only that much; %" PRIu64 " pages, %s",
             bytes, (double)bytes / (1 << 20), event->pages, ranges);
    return 0;
}

static int look_at_file(struct wrap *wrap)
{
    if (!CHECKED(wrap) || find_distance(wrap) < WRAPPED_PAGES_MIN)
        return 0;
    find_range(wrap);
    if (wrap->highest - wrap->lowest < WRAPPED_RANGE_MIN || !is_alias(wrap))
        return 0;
    return tell(wrap);
}

static int wrap_make(struct wrap *wrap)
{
    size_t count = wrap->findings->sites.count;
    wrap->distances = malloc(count * sizeof *wrap->distances);
    wrap->belongs = calloc(count, sizeof *wrap->belongs);
    wrap->pages = aligned_alloc(BUFFER_ALIGN, 2 * (size_t)PAGE_BYTES);
    return wrap->distances && wrap->belongs && wrap->pages ? 0 : -ENOMEM;
}

int wrapped_find(struct findings *findings, const struct page_source *source)
{
    struct wrap wrap = {.findings = findings, .source = source};
    bool tried[LEDGER_FILES_MAX + 1] = {false};
    if (findings->by_verdict[VERDICT_misdirected_write] == 0 || findings->sites.count == 0)
        return 0;
    int error = wrap_make(&wrap);
    for (unsigned i = 0; i < findings->sites.count && !error; i++) {
        const struct finding_site *site = &findings->sites.list[i];
        if (!is_astray(site) || site->file_uid > LEDGER_FILES_MAX || tried[site->file_uid])
            continue;
        tried[site->file_uid] = true;
        wrap.file_uid = site->file_uid;
        error = look_at_file(&wrap);
    }
    free(wrap.distances);
    free(wrap.belongs);
    free(wrap.pages);
    return error;
}
