/*
 * run_actors.h - the actors of a phase: made, started, waited for, changed, freed.
 *
 * An actor that has ended is freed some time later (actors_reap), so that a wake-up which is still
 * on its way meets no freed memory; its row stays (run_actor_rows.h).
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

/* Users and services of the settings of a profile. */
struct run_load {
    const struct profile *profile;
    const struct config_settings *settings; /* of its actors */
    uint64_t start_ns;                      /* of arrivals */
    double scale;                           /* of their rates */
    bool closed;                            /* no arrivals, whatever the rates say */
    int database;                           /* index: on the files of this one; -1: of all */
    struct share_gate *gate;                /* of the users that have a Share */
};
int run_actors_of_load(struct run *run, const struct run_load *load)
    __attribute__((warn_unused_result));
/* Is it a pattern of users, which come and go with the phases? */
bool run_pattern_is_of_users(const struct pattern *pattern);
/* Users of one pattern, without starting them. */
int run_actors_of_pattern(struct run *run, const struct run_load *load,
                          const struct pattern *pattern) __attribute__((warn_unused_result));
/* The users of a pattern before index end are to leave at their next op boundary. */
void run_actors_retire(struct run *run, const struct pattern *pattern, unsigned end);
/* Page reads and updates a second that the rates of a profile ask for. */
double run_load_ios(const struct profile *profile);
int64_t run_pattern_share(const struct profile *profile, const struct pattern *pattern);
bool run_pattern_has_rate(const struct profile *profile, const struct pattern *pattern);

/* The actors from index first on. */
void run_actors_start(struct run *run, unsigned first);
void run_actors_free(struct run *run, unsigned first);
void run_actors_run(struct run *run, unsigned first); /* start, wait, free */
/* At the end: all that they counted stands in their rows. */
void run_actors_settle(struct run *run);
/* Forget actors and arrivals that ended some time ago. */
void run_actors_reap(struct run *run);
/* All, at the end of the run. */
void run_actors_drop(struct run *run);

#endif
