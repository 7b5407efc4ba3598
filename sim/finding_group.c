/* finding_group.c - see finding_group.h. */
#include "sim/finding_group.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static int by_place(const void *left, const void *right)
{
    const struct finding_site *a = *(struct finding_site *const *)left;
    const struct finding_site *b = *(struct finding_site *const *)right;
    if (a->file_uid != b->file_uid)
        return a->file_uid < b->file_uid ? -1 : 1;
    return a->page_no < b->page_no ? -1 : a->page_no > b->page_no;
}

int finding_group_make(struct finding_group *group, struct finding_sites *sites,
                       bool (*belongs)(const void *context, const struct finding_site *site),
                       const void *context)
{
    group->count = 0;
    group->sites = malloc((sites->count + 1) * sizeof(struct finding_site *));
    if (!group->sites)
        return -ENOMEM;
    for (unsigned i = 0; i < sites->count; i++)
        if (!sites->list[i].joined && belongs(context, &sites->list[i]))
            group->sites[group->count++] = &sites->list[i];
    qsort(group->sites, group->count, sizeof *group->sites, by_place);
    return 0;
}

void finding_group_free(struct finding_group *group)
{
    free(group->sites);
    group->sites = NULL;
    group->count = 0;
}

static bool follows(const struct finding_group *group, size_t i)
{
    return i > 0 && group->sites[i]->file_uid == group->sites[i - 1]->file_uid &&
           group->sites[i]->page_no <= group->sites[i - 1]->page_no + 1;
}

size_t finding_group_ranges(const struct finding_group *group, unsigned pages_max,
                            size_t *writes_min)
{
    size_t ranges = 0, writes = 0, length = 0;
    for (size_t i = 0; i < group->count; i++) {
        bool same = follows(group, i);
        ranges += !same;
        length = same ? length + 1 : 1;
        writes += length % pages_max == 1 || pages_max == 1;
    }
    if (writes_min)
        *writes_min = writes;
    return ranges;
}

/* The ranges of the event's own file. */
static void ranges_put(struct finding *event, const struct finding_group *group)
{
    event->range_count = event->ranges_all = 0;
    for (size_t i = 0; i < group->count; i++) {
        const struct finding_site *site = group->sites[i];
        if (site->file_uid != event->file_uid)
            continue;
        if (follows(group, i) && event->ranges_all <= FINDING_RANGES_MAX) {
            struct finding_range *last = &event->ranges[event->range_count - 1];
            last->count += site->page_no != last->first + last->count - 1;
            continue;
        }
        if (follows(group, i))
            continue;
        event->ranges_all++;
        if (event->range_count < FINDING_RANGES_MAX)
            event->ranges[event->range_count++] = (struct finding_range){site->page_no, 1};
    }
}

static struct finding *first_event(struct findings *findings, const struct finding_group *group)
{
    uint64_t first = 0;
    for (size_t i = 0; i < group->count; i++) {
        uint64_t number = group->sites[i]->number;
        if (number && (!first || number < first))
            first = number;
    }
    return first ? &findings->list[first - 1] : NULL;
}

struct finding *finding_group_join(struct findings *findings, struct finding_group *group,
                                   enum verdict verdict)
{
    struct finding *event = first_event(findings, group);
    if (!event)
        return NULL;
    for (size_t i = 0; i < group->count; i++) {
        struct finding_site *site = group->sites[i];
        site->joined = true;
        if (site->number && &findings->list[site->number - 1] != event)
            finding_drop(findings, &findings->list[site->number - 1]);
        else if (!site->number && site->counted)
            findings->by_verdict[site->verdict]--;
    }
    finding_rename(findings, event, verdict);
    event->has_page = false;
    event->pages = group->count;
    memset(&event->why, 0, sizeof event->why);
    event->why.first_bad_offset = -1;
    ranges_put(event, group);
    event->offset = (uint64_t)event->ranges[0].first * PAGE_BYTES;
    event->size_bytes = event->pages * PAGE_BYTES;
    return event;
}

void finding_group_take_rest(struct findings *findings, struct finding *event, enum verdict of)
{
    uint64_t rest = findings->sites.beyond[of];
    for (unsigned i = 0; i < findings->sites.count; i++)
        if (findings->sites.list[i].verdict == of && !findings->sites.list[i].joined)
            return;
    findings->by_verdict[of] -= rest;
    findings->sites.beyond[of] = 0;
    event->pages += rest;
    event->size_bytes = event->pages * PAGE_BYTES;
}

void finding_group_ranges_text(const struct finding *event, char *out, size_t out_size_bytes)
{
    static const unsigned shown_max = 4;
    int used = snprintf(out, out_size_bytes, "pages ");
    unsigned shown = event->range_count < shown_max ? event->range_count : shown_max;
    for (unsigned i = 0; i < shown && (size_t)used < out_size_bytes; i++) {
        const struct finding_range *range = &event->ranges[i];
        used += snprintf(out + used, out_size_bytes - (size_t)used, "%s%" PRIu32, i ? ", " : "",
                         range->first);
        if (range->count > 1 && (size_t)used < out_size_bytes)
            used += snprintf(out + used, out_size_bytes - (size_t)used, "-%" PRIu32,
                             range->first + range->count - 1);
    }
    if (event->ranges_all > shown && (size_t)used < out_size_bytes)
        snprintf(out + used, out_size_bytes - (size_t)used, " and %" PRIu32 " more ranges",
                 event->ranges_all - shown);
}
