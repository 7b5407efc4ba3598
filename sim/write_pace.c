/* write_pace.c - see write_pace.h. */
#include "sim/write_pace.h"

#include <assert.h>

static unsigned within(const struct write_pace *pace, unsigned pages)
{
    if (pages < WRITE_PACE_PAGES_MIN)
        return WRITE_PACE_PAGES_MIN;
    return pages < pace->pages_max ? pages : pace->pages_max;
}

void write_pace_init(struct write_pace *pace, unsigned schedulers, unsigned pages_max,
                     uint64_t slow_ns)
{
    assert(pages_max >= WRITE_PACE_PAGES_MIN);
    *pace = (struct write_pace){.pages_max = pages_max, .slow_ns = slow_ns};
    pace->target = within(pace, schedulers * WRITE_PACE_SCHEDULER);
}

void write_pace_sent(struct write_pace *pace, unsigned pages)
{
    pace->outstanding += pages;
}

void write_pace_returned(struct write_pace *pace, unsigned pages, uint64_t latency_ns)
{
    assert(pace->outstanding >= pages);
    pace->outstanding -= pages;
    if (pace->mean_ns == 0)
        pace->mean_ns = latency_ns;
    else
        pace->mean_ns = (pace->mean_ns * (WRITE_PACE_WEIGHT - 1) + latency_ns) / WRITE_PACE_WEIGHT;
    pace->returned += pages;
    if (pace->returned < pace->target)
        return;
    pace->returned = 0;
    if (pace->mean_ns > pace->slow_ns)
        pace->target = within(pace, pace->target - pace->target / 4);
    else if (pace->mean_ns < pace->slow_ns / 2)
        pace->target = within(pace, pace->target + pace->target / 4);
}
