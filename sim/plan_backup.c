/*
 * plan_backup.c - the backup files of a plan: how many, where, how large.
 *
 * A full backup takes the pages of its database, the log that is held meanwhile, and meta pages; a
 * file for log backups takes four whole logs, the last of them for the tail at the end; when no
 * more fits a full backup begins a new file.
 */
#include <errno.h>
#include <stdlib.h>
#include <strings.h>

#include "config/alloc.h"
#include "patterns/backup_user.h"
#include "sim/plan_backup.h"

#include "sim/plan.h"
#include "verify/backup.h"

#define GRAIN_BYTES (64ull * 1024)

static uint64_t bytes_of(const struct plan *plan, unsigned database, bool logs)
{
    uint64_t sum = 0;
    for (unsigned i = 0; i < plan->file_count; i++)
        if (plan->files[i].database == database && plan->files[i].is_log == logs)
            sum += logs ? plan->files[i].size_bytes : plan_file_capacity(&plan->files[i]);
    return sum;
}

static bool is_tempdb(const struct plan *plan, unsigned database)
{
    for (unsigned i = 0; i < plan->file_count; i++)
        if (plan->files[i].database == database && plan->files[i].tempdb)
            return true;
    return false;
}

/* Meta pages, what is left unused between blocks, the last pieces of files and VLFs. */
static uint64_t overhead(uint64_t content, uint64_t transfer_bytes)
{
    uint64_t blocks = content / transfer_bytes + 256;
    return blocks * BACKUP_META_BYTES / 8 + 16ull * BACKUP_META_BYTES;
}

static void add(struct plan *plan, const struct backup_user_settings *s, unsigned database,
                bool log)
{
    uint64_t logs = bytes_of(plan, database, true);
    uint64_t content = log ? 4 * logs : bytes_of(plan, database, false) + logs;
    uint64_t bytes = content + overhead(content, (uint64_t)s->transfer_bytes);
    for (int64_t i = 0; i < s->keep; i++)
        plan->backups[plan->backup_count++] = (struct plan_backup){
            .path = alloc_printf("%s/pagestorm%u-backup%d.%s", s->directory, database + 1,
                                 (int)i + 1, log ? "trn" : "bak"),
            .database = database,
            .log = log,
            .size_bytes = (bytes + GRAIN_BYTES - 1) / GRAIN_BYTES * GRAIN_BYTES};
}

/* Does anybody back up, and the log, at any time of the run?  The media are the run's. */
static bool is_wanted(const struct profile *profile, bool log)
{
    const struct backup_user_settings *s = profile_section(profile, "BackupUser");
    bool any = s->user_count && (!log || s->log_interval_ns);
    for (size_t i = 0; i < profile_phase_count(profile) && !any; i++) {
        s = profile_section(profile_phase_profile(profile, i), "BackupUser");
        any = s->user_count && (!log || s->log_interval_ns);
    }
    return any;
}

bool plan_backups_are_wanted(const struct profile *profile)
{
    return is_wanted(profile, false);
}

int plan_backups(struct plan *plan, const struct profile *profile)
{
    const struct backup_user_settings *s = profile_section(profile, "BackupUser");
    bool nowhere = !s || !s->directory || strcasecmp(s->directory, "NUL") == 0;
    if (nowhere || !is_wanted(profile, false))
        return 0;
    plan->backups = calloc(2 * (size_t)s->keep * plan->database_count, sizeof *plan->backups);
    if (!plan->backups)
        return -ENOMEM;
    for (unsigned i = 0; i < plan->database_count; i++) {
        if (is_tempdb(plan, i))
            continue; /* it is made anew at each start: SQL Server backs it up neither */
        add(plan, s, i, false);
        if (is_wanted(profile, true))
            add(plan, s, i, true);
        uint64_t data = bytes_of(plan, i, false);
        if (s->restore && data > plan->restore_bytes)
            plan->restore_bytes = data;
    }
    return 0;
}

void plan_backups_free(struct plan *plan)
{
    for (unsigned i = 0; i < plan->backup_count; i++)
        free(plan->backups[i].path);
    free(plan->backups);
}
