/*
 * command_preflight.h - `pagestorm preflight PATH...`: would SQL Server accept these paths, what
 * is recommended for them, and who else is there.
 */
#ifndef SIM_COMMAND_PREFLIGHT_H
#define SIM_COMMAND_PREFLIGHT_H

/* argv[0] is the name of the command.  Exit: 0 accepted, 4 with advice, 3 refused, 2 wrong path. */
int command_preflight(int argc, char **argv);

#endif
