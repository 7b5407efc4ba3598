/*
 * command_verify.h - `pagestorm verify PATH... [--json FILE]`: check files offline, read-only.
 *
 * PATH is a run directory (with a ledger), a data or log file of a run, or a real .mdf, .ndf, .ldf.
 * Exit: 1 an integrity finding; else 3 not everything could be checked, 2 wrong command line or
 * path, 0 nothing found.
 */
#ifndef SIM_COMMAND_VERIFY_H
#define SIM_COMMAND_VERIFY_H

/* argv[0] is "verify". Returns the exit code. */
int command_verify(int argc, char **argv);

#endif
