/*
 * backup_user.h - settings of [BackupUser], which the executor and the plan need, too.
 */
#ifndef PATTERNS_BACKUP_USER_H
#define PATTERNS_BACKUP_USER_H

#include <stdbool.h>
#include <stdint.h>

struct backup_user_settings {
    int64_t user_count;
    int64_t transfer_bytes;
    int64_t buffer_count; /* 0 = SQL Server's formula */
    int64_t block_bytes;
    int64_t start_ns;
    int64_t full_interval_ns;
    int64_t log_interval_ns; /* 0 = no log backups */
    int64_t keep;
    bool verify, restore;
    char *directory; /* NULL: the backups are read and written nowhere */
};

#endif
