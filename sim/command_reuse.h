/*
 * command_reuse.h - `run --reuse RUN_DIR`: may the files of that run be taken over, and are they
 * what it left?
 */
#ifndef SIM_COMMAND_REUSE_H
#define SIM_COMMAND_REUSE_H

#include "sim/command_settings.h"
#include "sim/reuse.h"

/* Everything that can be told without reading the files.  0 or the exit code, with a message
 * printed; nothing to do without --reuse.  The plan is told. */
int command_reuse_open(struct reuse *reuse, struct run_setup *setup);
/* Read every page and the log as `pagestorm verify` does: what is wrong there happened since that
 * run ended, and is printed.  0 or the exit code. */
int command_reuse_verify(const struct reuse *reuse, bool quiet);

#endif
