/*
 * command_plan.h - the start echo: what will be done, on what, for how long, and what the machine
 * reduced; the same for a dry run.
 *
 * It looks at the volumes (file system, space, does O_DIRECT work) and leaves nothing behind.
 */
#ifndef SIM_COMMAND_PLAN_H
#define SIM_COMMAND_PLAN_H

#include "sim/command_settings.h"

/* engine: which and why. */
void command_plan_print(const struct run_setup *setup, const char *engine, FILE *out);

#endif
