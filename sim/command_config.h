/* command_config.h - `pagestorm config`: list, dump and explain settings. */
#ifndef SIM_COMMAND_CONFIG_H
#define SIM_COMMAND_CONFIG_H

/* argv[0] is the name of the subcommand.  The exit code. */
int command_config(int argc, char **argv);

#endif
