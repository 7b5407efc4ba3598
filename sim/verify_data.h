/*
 * verify_data.h - the offline check of one data file, real or ours.
 *
 * Every page is read once.  All files are checked as SQL Server's are: page number, file id, type,
 * protection, slot array of allocated pages, GAM against PFS.  Pages of ours are judged further by
 * verify_owed.h.  One thread.
 */
#ifndef SIM_VERIFY_DATA_H
#define SIM_VERIFY_DATA_H

#include "sim/verify_files.h"

/* 0 (whatever was found) or -errno: it could not be checked; set->message says why. */
int verify_data_check(struct verify_set *set, struct verify_file *file)
    __attribute__((warn_unused_result));

#endif
