/*
 * snapshot.h - a snapshot of a data file: a sparse file that receives each page's old image before
 * the page is overwritten for the first time (copy on write).
 *
 * SQL Server makes one for each data file when DBCC CHECKDB begins (<file>:MSSQL_DBCC<dbid>, here
 * <file>.MSSQL_DBCC<dbid>) and deletes it at the end.  Ours is made once, empty, when the files of
 * the run are made, so that every engine knows it; between two uses it holds no space.
 *
 * The moment of a snapshot is snapshot_begin().  Its page is what the last write submitted before
 * that left on the device.  A page stands in one of two places:
 *   SNAPSHOT_SOURCE  in the data file: nobody has begun to overwrite it
 *   SNAPSHOT_HERE    in the snapshot file, at the same offset: copied there and acknowledged
 * or nowhere (SNAPSHOT_NONE): page 0, whose place holds the snapshot's own header; pages that were
 * not owed at that moment (never written, freed); pages whose old image could not be had, for which
 * a finding stands.  It moves from SOURCE once, and never back.
 *
 * What the device owes: in the snapshot's own ledger rows stands the generation that was copied;
 * the image carries the identity of the source (data_file_identity).  So a copy that was lost,
 * damaged or written elsewhere is judged and named like any page.
 *
 * Who reads through a snapshot takes the page from the source, judges it, and then asks where the
 * page stands: only if it is SOURCE still, the image was the snapshot's; otherwise it is read again
 * from the snapshot.
 *
 * Copying: writeback_submit() asks snapshot_before_write(), which gives the gather to a copier of
 * the same worker: a task that reads the old images from the device, verifies them, writes them
 * into the snapshot and lets the gather go.  The gather's frames stay WRITING meanwhile; copiers
 * wait for the device and for nothing else, so nobody can wait for himself.  One write of a page at
 * a time (run.h, 3) makes it one copy of a page.
 *
 * A failed write into the snapshot makes it suspect (SQL Server: 17053, and 5120-family errors):
 * from then on nothing is copied, its pages are worth nothing, and the run goes on.  No space is an
 * event; any other error a finding, too.
 *
 * What it does not do: run recovery in the snapshot, so pages are of one moment and not of one set
 * of transactions; survive the run.  SQL Server has the old image in memory when the page is
 * changed; here it is read from the disk when the page is written, so snapshot_read is ours.
 *
 * Threads: begin and end by one task at a time; everything else any.  Lock: of one snapshot, a leaf
 * but for the wake-ups.  Ownership: the run's.
 */
#ifndef SIM_SNAPSHOT_H
#define SIM_SNAPSHOT_H

#include "sim/run.h"
#include "sim/writeback.h"

enum snapshot_place {
    SNAPSHOT_SOURCE,
    SNAPSHOT_HERE,
    SNAPSHOT_NONE,
};

struct snapshot {
    struct run *run;
    struct data_file *source;
    struct data_file file;    /* the sparse file */
    _Atomic bool active;      /* between begin and end */
    _Atomic bool suspect;     /* since begin */
    uint32_t size_pages;      /* of the source at that moment */
    _Atomic uint8_t *places;  /* enum snapshot_place, of capacity pages */
    pthread_mutex_t lock;     /* of what follows */
    unsigned kept_back;       /* gathers with copiers */
    struct wait_list waiters; /* for there to be none */
};

/* All of a run. */
struct snapshots {
    struct snapshot *list;
    unsigned count;
    struct snapshot_copiers *copiers; /* of each worker */
    unsigned worker_count;
};

/* ---- use, by one task ---- */

/* Now.  0 or -errno: the file could not be given its size. */
int snapshot_begin(struct snapshot *snapshot) __attribute__((warn_unused_result));
/* Over: nothing more is copied.  False: a gather is still with a copier, and the task is woken;
 * call again.  True: the file is empty and its space returned. */
bool snapshot_end(struct snapshot *snapshot, struct task *task);

/* Where a page below size_pages stands. */
static inline enum snapshot_place snapshot_place_of(const struct snapshot *snapshot,
                                                    uint32_t page_no)
{
    return (enum snapshot_place)atomic_load(&snapshot->places[page_no]);
}
static inline bool snapshot_is_suspect(const struct snapshot *snapshot)
{
    return atomic_load(&snapshot->suspect);
}

/* ---- for the copiers ---- */

/* Is there a page of the gather that must be copied first? */
bool snapshot_wants(const struct snapshot *snapshot, const struct gather *gather);
void snapshot_place_set(struct snapshot *snapshot, uint32_t page_no, enum snapshot_place place);
void snapshot_fail(struct snapshot *snapshot, int error);
/* A gather that was kept back goes. */
void snapshot_let_go(struct snapshot *snapshot);

/* ---- life ---- */

/* Files, as planned (plan.h), and copiers; after the data files were made.  0 or -errno with
 * run->message; snapshots_free() in any case.  `made` does with each file what run_build does with
 * those it makes. */
int snapshots_create(struct run *run, int (*made)(struct run *run, struct file *file))
    __attribute__((warn_unused_result));
/* The files are removed. */
void snapshots_free(struct run *run);

#endif
