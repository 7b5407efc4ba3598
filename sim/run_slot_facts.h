/*
 * run_slot_facts.h - what a slot measured: its streams, what arrived and what was done, plateaus,
 * this machine's share.
 *
 * Streams are differences between two readings of the workers' sums: where a slot's measured part
 * begins, and where the next one of its kind (judged or not) does, so that what was submitted in a
 * judged part counts in it although it ends in the warm-up of the next.  Further cycles add to what
 * a slot has.
 *
 * Threads: the coordinator, while workers go on (relaxed readings).
 */
#ifndef SIM_RUN_SLOT_FACTS_H
#define SIM_RUN_SLOT_FACTS_H

#include "sim/arrivals.h"
#include "sim/machine_load.h"
#include "sim/speed_rules.h"

struct run;
struct run_slot;
struct slot_meter;

#define SLOT_RATES_MAX 16 /* patterns with a rate */

/* One pattern with a rate: over all cycles. */
struct slot_rate {
    const char *pattern;
    double per_second, ios; /* ios: data I/Os of one arrival */
    uint64_t asked, done;
    uint64_t response_ns, tool_ns;
};

enum slot_end {
    SLOT_END_NONE,  /* not reached */
    SLOT_END_TIME,  /* its Duration was over */
    SLOT_END_USERS, /* those that it waits for were through */
    SLOT_END_STOP,  /* the run was stopped, or could not go on */
};

struct slot_facts {
    unsigned times;      /* that it was begun */
    bool complete;       /* the last time */
    enum slot_end ended; /* the same */
    double seconds;      /* measured, without warm-ups */
    double length_s;     /* with them */
    struct slot_rate rates[SLOT_RATES_MAX];
    unsigned rate_count;
    struct stream_stats *streams[STREAM_COUNT]; /* of the measured part; NULL: none */
    struct counters counters;                   /* the same */
    unsigned plateau_s[ROLE_COUNT];
    double cpu_s, steal_share;
    uint64_t host_pauses;
};

int slot_meter_make(struct run *run, struct slot_meter **out) __attribute__((warn_unused_result));
void slot_meter_free(struct slot_meter *meter);
void slot_facts_free(struct slot_facts *facts);
/* The measured part of the slot begins, and ends; then nothing more follows in this part of the
 * run.  -ENOMEM: what it measured is lost. */
int slot_measure_begin(struct run *run, struct run_slot *slot) __attribute__((warn_unused_result));
void slot_measure_end(struct run *run, struct run_slot *slot);
int slot_measure_finish(struct run *run) __attribute__((warn_unused_result));
/* For speed_rules.h.  cpus: that this process may use. */
void slot_speed_facts(const struct run_slot *slot, unsigned cpus, struct speed_facts *out);

#endif
