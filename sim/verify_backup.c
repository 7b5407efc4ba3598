/* verify_backup.c - see verify_backup.h. */
#include "sim/verify_backup.h"

#include <errno.h>
#include <string.h>

#include "sim/backup_check.h"

int verify_backup_check(struct verify_set *set, struct verify_file *file)
{
    struct backup_checker checker = {
        .io = &set->io, .file = &file->file, .findings = set->findings, .actor = "verify"};
    if (file->cut && file->size_bytes < BACKUP_FIRST_OFFSET + BACKUP_META_BYTES)
        return 0; /* reported: nothing of a backup is left */
    int error = backup_checker_init(&checker);
    if (!error)
        error = backup_check_file(&checker);
    file->counts[VERIFY_COUNT_backups] = checker.counts.backups;
    file->counts[VERIFY_COUNT_backups_incomplete] = checker.counts.incomplete;
    file->counts[VERIFY_COUNT_backup_blocks] = checker.counts.blocks;
    file->counts[VERIFY_COUNT_backup_blocks_bad] = checker.counts.damaged;
    file->counts[VERIFY_COUNT_backup_pages] = checker.counts.pages;
    file->counts[VERIFY_COUNT_log_blocks_chained] = checker.counts.log_blocks;
    backup_checker_free(&checker);
    return error;
}
