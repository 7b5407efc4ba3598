/*
 * seconds.h - the judged roles second by second in the rated phase: is a bad mean a spike or a
 * plateau?
 *
 * One set a worker, of a fixed size, used again by the next rated part; a request counts in the
 * second in which it completed. Threads: the worker adds; the coordinator begins, ends, reads.
 * Units: ns of the run's clock.
 */
#ifndef SIM_SECONDS_H
#define SIM_SECONDS_H

#include <stdatomic.h>
#include <stddef.h>

#include "sim/speed_rules.h"
#include "sim/stats.h"

struct second_sum {
    uint64_t ops, response_ns;
};

struct seconds {
    _Atomic uint64_t begin_ns;   /* of the phase; 0: not begun */
    uint8_t roles[STREAM_COUNT]; /* enum speed_role of each stream */
    size_t count;
    struct second_sum *sums; /* ROLE_COUNT times count */
};

int seconds_init(struct seconds *seconds, size_t count) __attribute__((warn_unused_result));
void seconds_free(struct seconds *seconds);
/* A measured part begins: all are 0 again.  It ends: nothing more is added. */
void seconds_begin(struct seconds *seconds, uint64_t now_ns);
void seconds_end(struct seconds *seconds);
/* Add those of a role to another set of the same length; between end and begin. */
void seconds_merge(struct seconds *into, const struct seconds *from, enum speed_role role);
void seconds_add(struct seconds *seconds, enum stream stream, uint64_t done_ns,
                 uint64_t response_ns);
/* Of a role, with its second in sums[]. */
const struct second_sum *seconds_of(const struct seconds *seconds, enum speed_role role);
/* Seconds of the longest stretch of means above bound_ns.  A second without any completion neither
 * begins nor breaks one: what waits then shows in the mean of the next. */
unsigned seconds_plateau(const struct second_sum *sums, size_t count, double bound_ns);

#endif
