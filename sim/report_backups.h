/*
 * report_backups.h - the backups of a run in the report on the terminal: a line for each database
 * and kind, and one for each that is not complete or not right.
 */
#ifndef SIM_REPORT_BACKUPS_H
#define SIM_REPORT_BACKUPS_H

#include "sim/backup_record.h"
#include "sim/report.h"

void report_backups_text(const struct report *report, FILE *out);
/* MB a second, of 1,048,576 bytes. */
double report_backup_mb_per_s(const struct backup_record *record);

#endif
