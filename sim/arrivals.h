/*
 * arrivals.h - when work arrives in an open loop: one seeded process for all actors of a pattern.
 *
 * The times are a sequence that depends on seed, rate and start alone, never on completions.  The
 * actors are slots: each takes the next arrival and begins it at its time, or at once when that has
 * passed, so arrivals are served in order and wait when every slot is busy.  The queue is the part
 * of the sequence that nobody has taken: it needs no memory, however long it gets.  What is not
 * begun when the phase ends was missed.
 *
 * Threads: arrivals_take() and arrivals_done() from any; the rest by the coordinator, which may
 * read while the slots run.
 * Units: ns of the run's clock.
 */
#ifndef SIM_ARRIVALS_H
#define SIM_ARRIVALS_H

#include <pthread.h>
#include <stdatomic.h>

#include "patterns/rng.h"
#include "sim/stats.h"

struct arrivals_config {
    double per_second; /* > 0 */
    bool fixed;        /* equal gaps; else Poisson: exponential gaps */
    uint64_t seed, process;
    uint64_t start_ns; /* the first arrival is one gap later */
};

/* The sequence alone. */
struct arrival_times {
    struct arrivals_config config;
    struct rng rng;
    uint64_t count;
    double offset_ns; /* Poisson: of the newest one from the start */
};

void arrival_times_init(struct arrival_times *times, const struct arrivals_config *config);
uint64_t arrival_times_next(struct arrival_times *times);
/* How many there are from from_ns on and before to_ns. */
uint64_t arrival_times_count(const struct arrivals_config *config, uint64_t from_ns,
                             uint64_t to_ns);

struct arrivals_sum {
    uint64_t done;
    uint64_t response_ns, tool_ns;
};

struct arrivals {
    const char *name; /* the pattern's */
    bool rated;       /* of the rated phase */
    double ios;       /* data I/Os of one arrival, on average */
    pthread_mutex_t lock;
    struct arrival_times times;
    _Atomic uint64_t done[PHASE_COUNT];
    /* sum over those done: arrival to end */
    _Atomic uint64_t response_ns[PHASE_COUNT];
    /* sum: a free slot began late, for which no storage is to blame */
    _Atomic uint64_t tool_ns[PHASE_COUNT];
    _Atomic uint64_t queued_ns_max; /* longest wait for a slot */
    bool retired;                   /* its actors are told to end; the coordinator's */
    /* Of the measured part at work; the coordinator's. */
    struct arrival_times counted; /* as far as arrivals_asked() has gone */
    uint64_t counted_due_ns;      /* the newest of them: not asked for yet */
    struct arrivals_sum marks[PHASE_COUNT];
};

void arrivals_init(struct arrivals *arrivals, const char *name, double ios,
                   const struct arrivals_config *config);
void arrivals_free(struct arrivals *arrivals);
uint64_t arrivals_take(struct arrivals *arrivals);
/* An arrival is done in this phase.  slot_was_free: it waited for its time, not for a slot. */
void arrivals_done(struct arrivals *arrivals, enum phase phase, uint64_t due_ns, uint64_t begun_ns,
                   uint64_t done_ns, bool slot_was_free);
/* A measured part begins: what follows is counted from here. */
void arrivals_mark(struct arrivals *arrivals);
struct arrivals_sum arrivals_since_mark(const struct arrivals *arrivals, enum phase phase);
/* How many there are from from_ns on and before to_ns; each call asks for a later time. */
uint64_t arrivals_asked(struct arrivals *arrivals, uint64_t from_ns, uint64_t to_ns);

#endif
