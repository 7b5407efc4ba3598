/* command_clean.h - `pagestorm clean RUN_DIR [--yes]`: remove what a run left behind. */
#ifndef SIM_COMMAND_CLEAN_H
#define SIM_COMMAND_CLEAN_H

/* argv[0] is the name of the subcommand.  The exit code. */
int command_clean(int argc, char **argv);

#endif
