/*
 * run_slots.h - the parts of a run under load, one after the other: the steps of the rated phase,
 * then the phases of the main part ([PhaseN]; without any it is one slot without a name).
 *
 * At a change from one slot to the next nothing is drained: users whose settings change end at
 * their next op boundary while the new ones begin, the others and all services go on.
 *
 * Ownership: struct run owns the slots.  Threads: the coordinator makes and changes them; `now` is
 * read by others relaxed.  Units: ns of the run's clock.
 */
#ifndef SIM_RUN_SLOTS_H
#define SIM_RUN_SLOTS_H

#include "sim/run.h"
#include "sim/run_slot_facts.h"

#define SLOT_NAME_MAX       96
#define SLOT_EVERY_DATABASE (-1)

struct run_slot {
    char name[SLOT_NAME_MAX]; /* "" : its part has no others */
    const struct profile *profile;
    const struct config_settings *settings; /* of its users, where they may differ */
    uint64_t length_ns, warm_up_ns;         /* warm-up: the first of the length, if rated */
    const struct phase_settings *phase;     /* of the main part; or NULL */
    size_t phase_index;
    bool awaits;       /* it ends when users are through (run_until.h); its length is the most */
    uint64_t least_ns; /* with awaits */
    double scale;      /* of all rates */
    bool rated;
    bool closed;  /* rates are left out: each user asks for more when it is done */
    int database; /* index, or SLOT_EVERY_DATABASE */
    struct slot_facts facts;
};

struct run_slots {
    struct run_slot *list;
    unsigned count, main_first; /* before: the rated phase */
    _Atomic unsigned now;
    bool going;
    uint64_t begun_ns, end_ns; /* of the present one; end: as planned, or where it ended early */
    unsigned until,
        until_last; /* number of the present one if it awaits users, else 0; of the last */
    struct slot_meter *meter;
    struct share_gate **gates; /* of the part at work: of its slots that had shares */
    unsigned gate_count;
};

/* From the profile and the plan.  0 or -errno. */
int run_slots_make(struct run *run) __attribute__((warn_unused_result));
void run_slots_free(struct run *run);
/* All slots of a part; nothing when it has none. */
int run_slots_rated(struct run *run) __attribute__((warn_unused_result));
int run_slots_main(struct run *run) __attribute__((warn_unused_result));
/* The slot at work; NULL: none, or one without a name. */
const struct run_slot *run_slot_now(const struct run *run);
/* Length of the slots from index first to before end. */
/* The longest judged part; 0: none. */
uint64_t run_slots_rated_ns_max(const struct run_slots *slots);
uint64_t run_slots_length_ns(const struct run_slots *slots, unsigned first, unsigned end);

#endif
