/*
 * plan_snapshots.c - the snapshot files that a DBCC CHECKDB will use: beside each data file, named
 * after it as SQL Server's alternate stream is (`x.mdx:MSSQL_DBCC5`; a colon in a name becomes a
 * dot).
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "config/alloc.h"
#include "patterns/pattern.h"
#include "sim/database.h"
#include "sim/plan.h"
#include "verify/ledger.h"

static bool wanted_by(const struct plan *plan, const struct profile *profile)
{
    for (size_t i = 0; profile && i < patterns_count; i++) {
        const struct pattern *pattern = patterns[i];
        if (!pattern->reads)
            continue;
        const void *settings = profile_section(profile, pattern->section->name);
        if (pattern->user_count(settings, plan->workers) && pattern->reads(settings).snapshots)
            return true;
    }
    return false;
}

static int add(struct plan *plan, unsigned source, char message[PLAN_MESSAGE_MAX])
{
    const struct plan_file *file = &plan->files[source];
    char *path = alloc_printf("%s.MSSQL_DBCC%u", file->path, DATABASE_ID_FIRST + file->database);
    plan->snapshots[plan->snapshot_count++] = (struct plan_snapshot){path, source};
    if (strlen(path) < LEDGER_PATH_BYTES)
        return 0;
    snprintf(message, PLAN_MESSAGE_MAX,
             "%.300s: its DBCC snapshot would have a path of more than %d bytes; give the file a "
             "shorter one, or set [DbccUser] Snapshot=FALSE",
             file->path, LEDGER_PATH_BYTES - 1);
    return -ENAMETOOLONG;
}

/* By anybody, at any time of the run? */
static bool wanted(const struct plan *plan, const struct profile *profile)
{
    bool any = wanted_by(plan, profile) || wanted_by(plan, profile_rated(profile));
    for (size_t i = 0; i < profile_phase_count(profile) && !any; i++)
        any = wanted_by(plan, profile_phase_profile(profile, i));
    return any;
}

int plan_add_snapshots(struct plan *plan, const struct profile *profile,
                       char message[PLAN_MESSAGE_MAX])
{
    int error = 0;
    if (!wanted(plan, profile))
        return 0;
    plan->snapshots = calloc(plan->file_count, sizeof *plan->snapshots);
    if (!plan->snapshots)
        return -ENOMEM;
    for (unsigned i = 0; i < plan->file_count && !error; i++)
        if (!plan->files[i].is_log && !plan->files[i].tempdb)
            error = add(plan, i, message);
    return error;
}
