/*
 * run_actors.h - the actors of a phase: made, started, waited for, freed.
 *
 * Internal to run*.c but for run_load_ios().  The coordinator alone calls these.
 */
#ifndef SIM_RUN_ACTORS_H
#define SIM_RUN_ACTORS_H

#include "sim/actor.h"

/* profile: whose settings the pattern's state has; NULL for patterns without any. */
int run_actor_add(struct run *run, const struct profile *profile, const struct pattern *pattern,
                  unsigned kind_index, struct database *database, struct actor **out)
    __attribute__((warn_unused_result));
/* One actor a database, without starting it. */
int run_actors_per_database(struct run *run, const struct pattern *pattern)
    __attribute__((warn_unused_result));

/* All users and services of the settings of a profile. */
struct run_load {
    const struct profile *profile;
    uint64_t start_ns; /* of arrivals */
    double scale;      /* of their rates */
    bool rated;
};
int run_actors_of_load(struct run *run, const struct run_load *load)
    __attribute__((warn_unused_result));
/* Page reads and updates a second that the rates of a profile ask for. */
double run_load_ios(const struct profile *profile);

/* The actors from index first on. */
void run_actors_start(struct run *run, unsigned first);
void run_actors_free(struct run *run, unsigned first);
void run_actors_run(struct run *run, unsigned first); /* start, wait, free */

#endif
