/*
 * report_file.h - what SQLIOSim's Final Summary says of a file: its requests, its attributes, the
 * disk below.  Internal to report.c.
 */
#ifndef SIM_REPORT_FILE_H
#define SIM_REPORT_FILE_H

#include "sim/report.h"

/* Fills these fields of out; the others are the caller's. */
void report_file_freeze(const struct report *report, struct report_file *out,
                        const struct file *file);

#endif
