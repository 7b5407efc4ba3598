/* skew.c - see skew.h. */
#include "patterns/skew.h"

#include <errno.h>

#define ALL_PERCENT 100

/* One or more digits, at most 100; false otherwise. */
static bool read_percent(const char **cursor, uint32_t *out)
{
    const char *start = *cursor;

    for (*out = 0; **cursor >= '0' && **cursor <= '9'; (*cursor)++) {
        *out = *out * 10 + (uint32_t)(**cursor - '0');
        if (*out > ALL_PERCENT)
            return false;
    }
    return *cursor > start;
}

static int refuse(char why[OPT_TEXT_MAX], const char *reason)
{
    snprintf(why, OPT_TEXT_MAX,
             "Skew: %s; e.g. 95/5,4/10: 95 %% of the accesses in 5 %% of the "
             "pages, 4 %% in the next 10 %%, what is left in the rest",
             reason);
    return -EINVAL;
}

int skew_parse(const char *text, struct skew *out, char why[OPT_TEXT_MAX])
{
    uint32_t access = 0, space = 0;
    const char *cursor = text ? text : "";

    out->count = 0;
    while (*cursor) {
        uint32_t more_access, more_space;

        if (out->count == SKEW_BANDS_MAX - 1)
            return refuse(why, "more than 7 pairs");
        if (!read_percent(&cursor, &more_access) || *cursor++ != '/' ||
            !read_percent(&cursor, &more_space))
            return refuse(why, "not pairs of whole percentages ACCESSES/PAGES");
        access += more_access;
        space += more_space;
        if (access > ALL_PERCENT || space > ALL_PERCENT || more_space == 0)
            return refuse(why, "the pairs go beyond 100 %, or one has no pages");
        out->bands[out->count++] = (struct skew_band){access, space};
        cursor += (*cursor == ',' || *cursor == ':') && cursor[1] ? 1 : 0;
    }
    if (access < ALL_PERCENT && space == ALL_PERCENT)
        return refuse(why, "no pages are left for the accesses that are left");
    if (space < ALL_PERCENT)
        out->bands[out->count++] = (struct skew_band){ALL_PERCENT, ALL_PERCENT};
    return 0;
}

static uint32_t page_at(uint32_t percent, uint32_t size_pages)
{
    return (uint32_t)((uint64_t)size_pages * percent / ALL_PERCENT);
}

uint32_t skew_page(const struct skew *skew, struct rng *rng, uint32_t size_pages)
{
    const uint32_t drawn = (uint32_t)rng_below(rng, ALL_PERCENT);
    unsigned i = 0;

    while (i + 1 < skew->count && drawn >= skew->bands[i].access_end)
        i++;
    const uint32_t first = i ? page_at(skew->bands[i - 1].space_end, size_pages) : 0;
    const uint32_t end = page_at(skew->bands[i].space_end, size_pages);

    if (end <= first) { /* a file so small that the band has no page of its own */
        const uint32_t page = (uint32_t)rng_below(rng, size_pages);
        return page;
    }
    return first + (uint32_t)rng_below(rng, end - first);
}
