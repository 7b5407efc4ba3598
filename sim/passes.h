/*
 * passes.h - a configuration with [PassN] sections: runs one after the other, and one verdict.
 *
 * Each pass is a `run` (or a `preflight`) of this program in a process of its own, with the user's
 * options on top of the pass's.  Its result is a folder inside the result folder: 01-oltp,
 * 02-bulk-load ...  A pass that fails, could not be done or was interrupted ends the series: what
 * follows would be measured on storage that was found wrong; a pass that was too slow does not.
 *
 * Threads: none.  Signals: SIGINT, SIGTERM and SIGHUP go on to the pass that runs, and no other one
 * begins.
 */
#ifndef SIM_PASSES_H
#define SIM_PASSES_H

#include "sim/command_settings.h"

/* The exit code: 1 beats 3 beats 130 beats 4, 2 ends it at once (exit_code.h).  out_dir: where the
 * folders of the passes go; exists. */
int passes_run(const struct run_setup *setup, const char *out_dir);
/* What would be done, for --dry-run and as the head of the series. */
void passes_print(const struct run_setup *setup, FILE *out);

#endif
