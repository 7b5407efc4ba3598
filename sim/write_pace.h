/*
 * write_pace.h - how many pages a checkpoint keeps outstanding, so that it does not flood.
 *
 * SQL Server's rule: when the pages outstanding reach a target the checkpoint sleeps 5 ms and looks
 * again; the target shrinks while the mean write latency is above 20 ms (50 ms from 2016 on) and
 * grows while the device is well below that.  What SQL Server says of 2005 and later is "adaptive"
 * and no more; the target begins at what 2000 SP4 had (64 pages a scheduler), and the steps here
 * (a quarter, each time a whole target of pages has come back) are ours.
 *
 * Pure arithmetic; belongs to one task.
 */
#ifndef SIM_WRITE_PACE_H
#define SIM_WRITE_PACE_H

#include <stdbool.h>
#include <stdint.h>

#define WRITE_PACE_SLEEP_NS  5000000 /* SQL Server */
#define WRITE_PACE_SCHEDULER 64      /* pages a scheduler at the start: SQL Server 2000 SP4 */
#define WRITE_PACE_PAGES_MIN 16      /* never less: two extents */
#define WRITE_PACE_WEIGHT    8       /* a new latency counts 1/8 of the mean */

struct write_pace {
    unsigned target, pages_max;
    unsigned outstanding; /* pages */
    unsigned returned;    /* since the target was last changed */
    uint64_t mean_ns, slow_ns;
};

void write_pace_init(struct write_pace *pace, unsigned schedulers, unsigned pages_max,
                     uint64_t slow_ns);
void write_pace_sent(struct write_pace *pace, unsigned pages);
void write_pace_returned(struct write_pace *pace, unsigned pages, uint64_t latency_ns);
static inline bool write_pace_is_full(const struct write_pace *pace)
{
    return pace->outstanding >= pace->target;
}

#endif
