/*
 * report_speed.h - the rated phase in the report: facts from a run, and its table for people.
 */
#ifndef SIM_REPORT_SPEED_H
#define SIM_REPORT_SPEED_H

#include <stdio.h>

#include "sim/report.h"

/* Fills report->speed_facts and report->speed_result; after statistics, times and environment. */
int report_speed_freeze(struct report *report) __attribute__((warn_unused_result));
/* The table of the rated phase; nothing when there was none. */
void report_speed_text(const struct report *report, FILE *out);

#endif
