/* command_run.h - `pagestorm run`, also when called as sqliosim. */
#ifndef SIM_COMMAND_RUN_H
#define SIM_COMMAND_RUN_H

/* argv[0] is the name of the subcommand, or of the program when called as sqliosim.  The exit code.
 */
int command_run(int argc, char **argv);
int command_sqliosim(int argc, char **argv);

#endif
