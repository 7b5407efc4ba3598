/*
 * finding_sql.h - what SQL Server would have written into its ERRORLOG about a finding: number,
 * severity and sentence, so that a DBA and a support engineer read what they know.
 *
 * The reason of an 824 follows SQL Server's order of checks: page id, then checksum, then an LSN
 * that is older than the last one written; it is taken from the image while there is one.  Error
 * numbers of the system are Windows', as SQL Server on Linux shows them.
 *
 * Pure.  Source: sys.messages of SQL Server; reference/sqlserver-io.md section 6.
 */
#ifndef SIM_FINDING_SQL_H
#define SIM_FINDING_SQL_H

#include "sim/findings.h"

#define FINDING_SQL_TEXT_MAX 1400

/* Why SQL Server would refuse the image; sets finding->sql_reason ("" when there is no image of a
 * page).  finding->file_id must be set. */
void finding_sql_reason(struct finding *finding, const struct finding_images *images);
/* "Error: 824, Severity: 24, State: 2.\nSQL Server detected ..."; "" for a class that SQL Server
 * has no number for. */
void finding_sql_text(const struct finding *finding, char out[FINDING_SQL_TEXT_MAX]);

#endif
