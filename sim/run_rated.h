/*
 * run_rated.h - the rated phase: work arrives at a stated rate, whatever the storage does, and its
 * response times are judged.  Internal to run*.c.
 */
#ifndef SIM_RUN_RATED_H
#define SIM_RUN_RATED_H

#include "sim/run.h"

/* Warm-up and rated phase, with the actors of profile_rated(); nothing when there is none. */
int run_rated(struct run *run) __attribute__((warn_unused_result));

#endif
