/*
 * run_echo.h - the settings in effect, told to the logs when a run starts; SQLIOSim's first row
 * byte for byte, then a row a section, a row a file, warnings and notes.
 *
 * Internal to run*.c.
 */
#ifndef SIM_RUN_ECHO_H
#define SIM_RUN_ECHO_H

struct run;

void run_echo(const struct run *run);

#endif
