/*
 * command_save.h - -save: the complete configuration in effect, as a file that a run can be given.
 *
 * Overwritten is only what was saved before, an empty file, or the very configuration of this run.
 * Both print what is wrong.  Threads: main.
 */
#ifndef SIM_COMMAND_SAVE_H
#define SIM_COMMAND_SAVE_H

#include "sim/command_settings.h"

/* What command_save() would say, without creating anything: 0 or an exit code. */
int command_save_check(const struct run_setup *setup) __attribute__((warn_unused_result));
/* Write it; the check found the path good.  0, also when nothing is to be saved, or an exit code.
 */
int command_save(const struct run_setup *setup) __attribute__((warn_unused_result));

#endif
