/* plan_backup.h - who asks for backup files, before there is a plan. */
#ifndef SIM_PLAN_BACKUP_H
#define SIM_PLAN_BACKUP_H

#include "config/profile.h"

/* Does anybody back up at any time of the run? */
bool plan_backups_are_wanted(const struct profile *profile);

#endif
