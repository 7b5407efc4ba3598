/*
 * grow.h - growth of a database's data files while they are used.
 *
 *   RIGHT -> for each file: SPACE -> (ZEROS) -> FLUSH -> system pages and size LOGGED, durable
 *   -> page 0 and the new system pages WRITTEN -> LIMIT raised
 *
 * All files that may grow do so together (AUTOGROW_ALL_FILES, the rule of tempdb and the default of
 * new databases), each by a number of its own increments, up to its MaxSize, and never into the
 * reserve of its file system.  A file that finds no space stays as it was: SQL Server's 1105, told
 * and counted, and no reason to stop.
 *
 * StampFiles=TRUE writes the new space with zeros, in 8 MiB chunks, one at a time; FALSE reserves
 * it, as instant file initialisation does.  A sparse file gets its size alone.
 *
 * What a kill leaves: the file has its old or its new size, or one between (ledger: size issued);
 * page 0 never says more than the file has.
 *
 * Ownership: a growth belongs to one task.  Nobody may wait for it inside a use of a file
 * (database_use.h).
 */
#ifndef SIM_GROW_H
#define SIM_GROW_H

#include "sim/resize.h"

#define GROW_CHUNK_BYTES (8u << 20) /* SQL Server's zeroing writes */
#define GROW_ZERO_BYTES  (64u << 10)
#define GROW_ZERO_PARTS  (GROW_CHUNK_BYTES / GROW_ZERO_BYTES)

struct growth {
    struct resize r;
    enum step (*state)(struct growth *growth);
    unsigned increments;
    bool only_when_full;    /* nothing, when others have grown it meanwhile */
    unsigned next_file;     /* of the database */
    unsigned grown, failed; /* files */
    uint32_t old_pages, new_pages;
    uint64_t zeroed_bytes; /* up to here */
    uint32_t chunk_page;   /* the next chunk to look at for system pages */
    const uint8_t *zeros;  /* GROW_ZERO_BYTES, aligned; the caller's, and may be shared */
    struct iovec iov[GROW_ZERO_PARTS];
};

/* May a file of the database grow, or is it as large as it may be? */
bool growth_possible(const struct database *database);
/* A page of zeros for all growths of a task; NULL: no memory.  free() it. */
uint8_t *growth_zeros(void);
/* growth->r is initialised and growth->zeros set.  Then growth_step until it is no longer
 * STEP_WAIT; STEP_DONE: growth->grown tells of how many files; STEP_FAILED: the database has
 * stopped. */
void growth_begin(struct growth *growth, struct database *database, unsigned increments,
                  bool only_when_full);
enum step growth_step(struct growth *growth);

#endif
