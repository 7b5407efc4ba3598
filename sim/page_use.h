/*
 * page_use.h - may a user build on this page, and is this image its newest?
 *
 * Threads: any.
 */
#ifndef SIM_PAGE_USE_H
#define SIM_PAGE_USE_H

#include "sim/database.h"

/* A data page of the file that was written and is not in doubt: an indeterminate one may be old,
 * new or torn, and nobody builds on it. */
bool page_may_be_used(const struct data_file *file, uint32_t page_no);
/* The ledger may have changed its mind while the page was read: a failed flush puts it in doubt, a
 * finding of another actor quarantines it, and then its read counts as right. */
bool page_is_newest(const struct data_file *file, uint32_t page_no, uint64_t generation);

#endif
