/*
 * live_state.h - fills the state that people see from a run that goes on.
 *
 * Cheap: numbers come from the sampler's last second; the ledger is walked a slice at a time, so
 * that coverage of big files is as old as one walk of them.  Nothing of it enters the report.
 *
 * Threads: the coordinator.
 */
#ifndef SIM_LIVE_STATE_H
#define SIM_LIVE_STATE_H

#include "sim/live.h"
#include "sim/sampler.h"

/* Pages whose ledger entries are looked at each time: about a millisecond. */
#define LIVE_SCAN_PAGES 65536u

struct live_scan {
    unsigned file;
    uint32_t page_no;
    uint64_t written, seen;
    uint64_t oldest_s; /* time of the write, since the session began; UINT64_MAX none */
    bool known;        /* one walk was completed: what it found */
    unsigned covered_percent;
    uint64_t oldest_write_s; /* UINT64_MAX: everything was read */
};

struct live_state {
    struct live live;
    struct live_scan scan;
    double write_bytes_per_s, read_bytes_per_s; /* assumed until measured */
};

void live_state_init(struct live_state *state);
/* A second has ended: the sampler has its rows. */
void live_state_sample(struct live_state *state, const struct sampler *sampler,
                       const struct run *run);
/* Now: state->live is complete. */
void live_state_now(struct live_state *state, const struct run *run);

#endif
