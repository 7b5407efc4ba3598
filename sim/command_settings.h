/*
 * command_settings.h - from the arguments of `run` to a finished profile and a plan; nothing is
 * created, and every mistake is printed at once.
 */
#ifndef SIM_COMMAND_SETTINGS_H
#define SIM_COMMAND_SETTINGS_H

#include <stdio.h>

#include "config/source_cli.h"
#include "sim/plan.h"

#define RATED_PRESET "oltp" /* the rated phase of a run without --preset */

struct run_setup {
    struct run_options options;
    struct profile *profile;
    struct plan_machine machine;
    struct plan_notes notes;
    struct plan plan;
    bool planned;
};

/* A profile with the sections of all patterns. */
struct profile *profile_create_with_patterns(void);
/* RatedDuration where nobody set it: none with a configuration, which is SQLIOSim's main part
 * alone, and none beside a main part of less than a minute: who wants that wants a short run. */
void profile_settle_rated_phase(struct profile *profile, bool with_configuration);
/* All diagnostics, "error: run.ini:12: ..." and "warning: ...". */
void profile_print_diags(const struct profile *profile, FILE *out);

/* 0, or the exit code with everything printed to standard error.  run_setup_free() in any case.
 * With options.help set nothing was looked at. */
int run_setup_make(struct run_setup *setup, int argc, char **argv, bool sqliosim_mode);
void run_setup_free(struct run_setup *setup);
/* Is every path free to use?  0, or the exit code with every problem printed. */
int run_setup_check_paths(const struct run_setup *setup);
/* Do two names lead to one file, whether it exists or not? */
bool run_setup_same_file(const char *a, const char *b);

#endif
