/*
 * report_system.h - what the simulated server did by itself, in the report on the terminal: its
 * checkpoints by kind, and the ceiling of the run.
 */
#ifndef SIM_REPORT_SYSTEM_H
#define SIM_REPORT_SYSTEM_H

#include "sim/report.h"

void report_system_text(const struct report *report, FILE *out);

#endif
