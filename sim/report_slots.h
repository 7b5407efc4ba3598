/*
 * report_slots.h - the parts under load in the report on the terminal: one line a step of the rated
 * phase, one a phase of the main part.
 */
#ifndef SIM_REPORT_SLOTS_H
#define SIM_REPORT_SLOTS_H

#include "sim/report.h"

/* Nothing for a part that has no others. */
void report_slots_text(const struct report *report, FILE *out);
/* Data I/Os a second that were done: of those that arrived, or counted in a closed loop. */
double report_slot_iops(const struct report_slot *slot);
/* Bytes a second of all its streams, in MB. */
double report_slot_mb_per_s(const struct report_slot *slot);
/* What it was judged: "PASS", "not judged", "not reached". */
const char *report_slot_grade(const struct report_slot *slot);

/* Why it ended: "time", "users" (those that it waits for were through), "stop"; "": not reached. */
const char *report_slot_ended_by(const struct report_slot *slot);

#endif
