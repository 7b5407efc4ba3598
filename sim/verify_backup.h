/*
 * verify_backup.h - `pagestorm verify` on backup files: every block of every backup in them, and
 * that the log backups beside a full backup carry its log on without a gap.
 */
#ifndef SIM_VERIFY_BACKUP_H
#define SIM_VERIFY_BACKUP_H

#include "sim/verify_files.h"

/* Findings are reported.  0, or -errno when the file could not be checked to its end. */
int verify_backup_check(struct verify_set *set, struct verify_file *file)
    __attribute__((warn_unused_result));

#endif
