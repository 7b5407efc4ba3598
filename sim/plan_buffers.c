/*
 * plan_buffers.c - see plan_buffers.h.
 *
 * Pure.  A thread of CHECKDB has Outstanding x ReadPages pages, a backup BufferCount transfers.
 */
#include "sim/plan_buffers.h"

#include "patterns/backup_user.h"
#include "patterns/pattern.h"

/* SQL Server's: 4 for the backup file and 2 a volume (backup.c); which files share a volume is not
 * known yet, so each counts as one. */
#define BUFFERS_OF_FILE   4
#define BUFFERS_OF_VOLUME 2

static uint64_t data_files(const struct plan *plan)
{
    uint64_t count = 0;
    for (unsigned i = 0; i < plan->file_count; i++)
        count += !plan->files[i].is_log && !plan->files[i].tempdb;
    return count;
}

static uint64_t of_backups(const struct plan *plan, const struct profile *profile)
{
    const struct backup_user_settings *s = profile_section(profile, "BackupUser");
    uint64_t buffers = (uint64_t)s->buffer_count;
    if (buffers == 0)
        buffers = BUFFERS_OF_FILE + BUFFERS_OF_VOLUME * data_files(plan);
    return (uint64_t)s->user_count * buffers * (uint64_t)s->transfer_bytes;
}

static uint64_t of_reads(const struct plan *plan, const struct profile *profile,
                         const struct pattern *pattern)
{
    const void *settings = profile_section(profile, pattern->section->name);
    struct pattern_reads reads = pattern->reads(settings);
    return (uint64_t)plan_users(plan, pattern, settings) * reads.outstanding * reads.pages *
           PAGE_BYTES;
}

static uint64_t bytes_of(const struct plan *plan, const struct profile *profile)
{
    uint64_t bytes = of_backups(plan, profile);
    for (size_t i = 0; i < patterns_count; i++)
        if (patterns[i]->reads)
            bytes += of_reads(plan, profile, patterns[i]);
    return bytes;
}

uint64_t plan_buffers_bytes(const struct plan *plan, const struct profile *profile)
{
    uint64_t most = bytes_of(plan, profile);
    const struct profile *rated = profile_rated(profile);
    uint64_t of_rated = rated ? bytes_of(plan, rated) : 0;
    most = of_rated > most ? of_rated : most;
    for (size_t i = 0; i < profile_phase_count(profile); i++) {
        uint64_t own = bytes_of(plan, profile_phase_profile(profile, i));
        most = own > most ? own : most;
    }
    return most;
}
