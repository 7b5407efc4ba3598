/*
 * plan_tempdb.h - the files of tempdb: planned by themselves where somebody uses tempdb and no
 * [FileN] is tempdb's, and checked against what their users need.
 *
 * Source of the numbers: reference "SQL Server storage I/O", section 8 (a file a CPU up to eight,
 * all equal, a log of 8 MB at least).
 */
#ifndef SIM_PLAN_TEMPDB_H
#define SIM_PLAN_TEMPDB_H

#include "sim/plan.h"

/* --tempdb-dir, or else --dir; with neither the directory of the first data file. */
struct plan_tempdb_dirs {
    const char *const *dirs;
    size_t count;
};
/* Does any actor of the profile, or of its rated phase, use tempdb? */
bool plan_tempdb_is_used(const struct profile *profile, const struct plan_machine *machine);
/* Add its files to the profile, which has the files of the other databases already; nothing where
 * it is not used or has files.  -EINVAL with message. */
int plan_add_tempdb(struct profile *profile, const struct plan_tempdb_dirs *dirs,
                    const struct plan_machine *machine, struct plan_notes *notes,
                    char message[PLAN_MESSAGE_MAX]) __attribute__((warn_unused_result));
/* Has who uses tempdb one, and room in it?  -EINVAL with message. */
int plan_check_tempdb(const struct plan *plan, const struct profile *profile,
                      const struct plan_machine *machine, char message[PLAN_MESSAGE_MAX])
    __attribute__((warn_unused_result));

#endif
