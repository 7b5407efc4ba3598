/*
 * run_until.h - phases that end when named users are through ([PhaseN] Until).
 *
 * Each actor of a named pattern that is at work in the phase is waited for; what it began in an
 * earlier phase does not count.  Executors report by actor_came_through().
 *
 * Internal to run_slots.c; the coordinator alone calls these.
 */
#ifndef SIM_RUN_UNTIL_H
#define SIM_RUN_UNTIL_H

#include "sim/run_slots.h"

/* Before a slot begins its actors start: nobody is waited for. */
void run_until_begin(struct run *run, const struct run_slot *slot);
/* The actors of the pattern from index first on are of this slot. */
void run_until_actors(struct run *run, const struct run_slot *slot, const struct pattern *pattern,
                      unsigned first);
/* Until the slot has ended at end_ns, or all are through; why it ended is in its facts. */
void run_until_wait(struct run *run, struct run_slot *slot, uint64_t start_ns);
/* It ended so much earlier than planned: the time of all users does, too. */
void run_until_ended_early(struct run *run, uint64_t early_ns);
/* "BackupUser, DbccUser"; "" when it waits for nobody. */
const char *run_until_names(const struct run_slot *slot);

#endif
