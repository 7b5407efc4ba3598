/*
 * plan_growth.h - a step of the plan: the increments of data files.
 *
 * Pure but for the notes.  Use: after the files and the pool are planned.
 */
#ifndef SIM_PLAN_GROWTH_H
#define SIM_PLAN_GROWTH_H

#include "sim/plan.h"

/* steps_max: most increments of one change of size (MaxExtends). */
void plan_growth(struct plan *plan, int64_t steps_max, struct plan_notes *notes);

#endif
