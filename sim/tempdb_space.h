/*
 * tempdb_space.h - which extents of tempdb are free, and who gets them.
 *
 * Proportional fill: the data files of tempdb are equal, so they are asked in turn; a full one is
 * passed over.  In a file the search goes on where the last one ended, so that what is written one
 * after the other stands side by side.  Extents are uniform (SQL Server 2016 and later): each has
 * one owner.  Extents with system pages are nobody's.
 *
 * This is the order of the owners in memory; what PFS and GAM say follows by logged changes
 * (tempdb_change.h), between take and use, and before give.
 *
 * Extents whose owner ended at the end of a phase are left: they stay allocated, the audit of every
 * page reads them, and the next user of tempdb frees them first.
 *
 * The files may grow (grow.h): there is room for their capacity from the start.
 *
 * Ownership: the run.  Threads: any.
 */
#ifndef SIM_TEMPDB_SPACE_H
#define SIM_TEMPDB_SPACE_H

#include "sim/database.h"

#define TEMPDB_STRETCH_EXTENTS (128 / EXTENT_PAGES) /* 1 MiB: one gather write */

/* Consecutive extents of one file. */
struct tempdb_stretch {
    struct data_file *file;
    uint32_t first_page;
    uint32_t pages; /* of them in use; the last extent may have fewer than eight */
};

struct tempdb_space;

int tempdb_space_create(struct tempdb_space **out, struct database *database)
    __attribute__((warn_unused_result));
void tempdb_space_free(struct tempdb_space *space);
struct database *tempdb_space_database(struct tempdb_space *space);

/* Up to `pages` pages in consecutive extents, at least one extent; false: tempdb is full. */
bool tempdb_space_take(struct tempdb_space *space, uint32_t pages, struct tempdb_stretch *out);
void tempdb_space_give(struct tempdb_space *space, const struct tempdb_stretch *stretch);
void tempdb_space_leave(struct tempdb_space *space, const struct tempdb_stretch *stretch);
/* One that was left, now the caller's, or up to pages_max pages (whole extents) of it; false: there
 * is none. */
bool tempdb_space_left(struct tempdb_space *space, uint32_t pages_max, struct tempdb_stretch *out);

/* The file has so many pages from now on, more than before: they may be used. */
void tempdb_space_grown(struct tempdb_space *space, const struct data_file *file, uint32_t pages);
bool tempdb_space_is_full(struct tempdb_space *space);

struct tempdb_space_count {
    uint64_t total, free, left; /* extents; the total without those of system pages */
};
struct tempdb_space_count tempdb_space_count(struct tempdb_space *space);

#endif
