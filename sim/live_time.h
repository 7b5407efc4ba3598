/*
 * live_time.h - how long a run will take: before it begins from assumed speeds, then from measured.
 *
 * Pure.  Units: ns, bytes.
 */
#ifndef SIM_LIVE_TIME_H
#define SIM_LIVE_TIME_H

#include "sim/plan.h"
#include "sim/stats.h"

/* A single hard disk writes and reads that much in sequence; what is faster ends earlier. */
#define LIVE_TIME_ASSUMED_BYTES_PER_S 150e6

struct work_speed {
    double write_bytes_per_s, read_bytes_per_s;
};

/* Bytes that a phase moves (estimate); 0 for one that goes by time. */
uint64_t live_time_bytes(const struct plan *plan, enum phase phase,
                         const struct config_settings *settings);
/* Length of a phase; a further cycle repeats those from the main part on. */
uint64_t live_time_ns(const struct plan *plan, enum phase phase,
                      const struct config_settings *settings, const struct work_speed *speed);
/* All phases behind this one, cycles_left further cycles included. */
uint64_t live_time_behind_ns(const struct plan *plan, enum phase phase,
                             const struct config_settings *settings, const struct work_speed *speed,
                             uint64_t cycles_left);

#endif
