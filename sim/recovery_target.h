/*
 * recovery_target.h - how many pages of a database may be dirty, so that its recovery keeps to the
 * target recovery time: the threshold of indirect checkpoints.
 *
 * SQL Server's documentation says that the threshold is a number of dirty pages, derived from the
 * target recovery time; administrators see that a page is written about that time after it became
 * dirty.  The formula is not published.  Here: what is made dirty in one target recovery time at
 * the present rate may be dirty, so in a steady load a page is written one target recovery time
 * after its first change, and a load that grows has its pages written sooner than that, not later.
 * The rate is a mean over an eighth of the target time.
 *
 * Pure arithmetic; belongs to one task.
 */
#ifndef SIM_RECOVERY_TARGET_H
#define SIM_RECOVERY_TARGET_H

#include <stdint.h>

#define RECOVERY_TARGET_SHARE 8 /* of the target time: the time constant of the mean */

struct recovery_target {
    uint64_t target_ns;
    uint64_t seen_ns, entered; /* at the last look */
    double per_second;         /* pages that become dirty */
};

void recovery_target_init(struct recovery_target *target, uint64_t target_ns, uint64_t now_ns);
/* entered: pages that ever became dirty.  Returns how many may be dirty now. */
uint64_t recovery_target_look(struct recovery_target *target, uint64_t now_ns, uint64_t entered);

#endif
