/*
 * database_extents.h - which extents of the data files are free, for what comes and goes.
 *
 * The initial update fills a file to its initial size, and those extents stay used.  Beyond it a
 * growth adds free extents, and a sparse file begins with free ones alone (sparse_extents.h); loads
 * take runs of them (BUSY), use them when their pages are on the device (USED), and a shrink or a
 * new load frees them.  The maps on disk follow: a logged change of PFS, GAM, DIFF, ML and IAM
 * (allocation.h) is made while the extent is BUSY or CLOSING, so that an extent is FREE here only
 * when the newest maps say so.
 *
 * Proportional fill: files of a database are taken from in turn, weighted by their free space, SQL
 * Server's rule (reference, section 8): twice the free space gives twice the extents.
 *
 * Threads: any.  One lock a file; states are read without it.
 */
#ifndef SIM_DATABASE_EXTENTS_H
#define SIM_DATABASE_EXTENTS_H

#include "sim/database.h"

enum extent_state {
    EXTENT_FREE,
    EXTENT_BUSY,    /* being loaded: nobody else uses its pages */
    EXTENT_USED,    /* of an allocation unit: users may read and change its pages */
    EXTENT_CLOSING, /* is being freed: users stay away */
    EXTENT_SYSTEM,  /* holds system pages, and nothing else */
    EXTENT_FAILED,  /* its load failed: what stands there is in doubt until it is freed */
};

struct extent_run {
    struct data_file *file;
    uint32_t first, count; /* extents */
};

int extent_map_init(struct data_file *file) __attribute__((warn_unused_result));
void extent_map_free(struct data_file *file);

/* May users touch its pages?  True of the initial ones, but of a sparse file. */
bool extent_is_used(const struct data_file *file, uint32_t extent);
enum extent_state extent_state_of(const struct data_file *file, uint32_t extent);
void extents_set(const struct extent_run *run, enum extent_state state);

/* Give out extents below end from now on: after a growth more, for a shrink fewer. */
void extents_set_end(struct data_file *file, uint32_t end);
/* The lowest free run, not below `from`, of at most wanted extents becomes BUSY; count 0: there is
 * none. */
struct extent_run extents_take(struct data_file *file, uint32_t from, uint32_t wanted);
/* Of those from `first` on (not below the map's first) as many as are free one after another, at
 * most wanted, become BUSY; count 0: that one is not. */
struct extent_run extents_take_at(struct data_file *file, uint32_t first, uint32_t wanted);
/* The file whose turn it is to give so many extents; NULL: none has any.  Begin a use of it before
 * taking from it. */
struct data_file *extents_file_in_turn(struct database *database, uint32_t wanted);
uint32_t extents_free(const struct database *database);
/* The highest extent below *extent, not below `from`, that is USED or FAILED becomes CLOSING;
 * false: there is none. */
bool extents_close_highest(struct data_file *file, uint32_t from, uint32_t *extent);
/* All USED and FAILED extents from `from` on become CLOSING; returns their number. */
uint32_t extents_close(struct data_file *file, uint32_t from);
/* The highest CLOSING extents below *first, of one aligned chunk of 16 at most: a bit each from the
 * new *first on; 0: there are none. */
uint32_t extents_closing(struct data_file *file, uint32_t *first);

#endif
