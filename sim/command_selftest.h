/*
 * command_selftest.h - `pagestorm selftest [--dir D] [--seed N]`: prove on this machine that every
 * fault class is caught and named.
 *
 * Each case of selftest_cases.def is a small run over an engine that lies in one known way; what
 * the run reports is compared with what was done to it.  Without --dir the device is modelled and
 * the clock virtual (seconds in all, the same every time for a seed); with it the files stand in D.
 * Exit: 0 every fault was caught, named and placed, and nothing else was reported; 1 otherwise; 2
 * wrong command line; 3 it could not be done.
 */
#ifndef SIM_COMMAND_SELFTEST_H
#define SIM_COMMAND_SELFTEST_H

/* argv[0] is "selftest". Returns the exit code. */
int command_selftest(int argc, char **argv);

#endif
