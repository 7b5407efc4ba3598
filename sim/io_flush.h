/*
 * io_flush.h - AlternateWriteThrough: writes made durable by shared flushes, as SQL Server on Linux
 * does it.
 *
 * The file is open without O_DSYNC.  A write of such a file is complete only after a flush
 * (fdatasync) of the file that began after the write had been transferred.  One flush a file is
 * under way; what a wrapper transfers meanwhile shares its next one.  To everybody above the file
 * looks like one with write-through: completion = durable.  A write's latency contains its flush;
 * the flushes are counted by themselves (log_flush, data_flush).
 *
 * A failed flush fails every write that waits for it (req->flush_failed).  The system reports such
 * an error once for an open file, to whoever asks first, so it fails as well the writes of other
 * wrappers that were transferred before it failed and are not yet complete; and since only one
 * flush of a file is under way, none of them can have been acknowledged meanwhile.
 *
 * Threads: the wrapper's.  Ownership: attach allocates, io_flush_free frees.
 */
#ifndef SIM_IO_FLUSH_H
#define SIM_IO_FLUSH_H

#include <stdbool.h>
#include <stdint.h>

struct io;
struct io_flush;
struct io_req;
struct io_target;

/* The files of one wrapper, by file uid. */
struct io_flushes {
    struct io_flush **files;
    unsigned count;
    bool due; /* a file has writes that wait and no flush under way */
};

/* target->coalesced is set. */
int io_flush_attach(struct io *io, struct io_target *target) __attribute__((warn_unused_result));
void io_flush_free(struct io *io);

/* For io.c: the write was transferred; true if its end now waits for a flush. */
bool io_flush_hold(struct io *io, struct io_req *req);
/* Begin the flushes that are due. */
void io_flush_start(struct io *io);
/* io.c: a held write ends. */
void io_finish_held(struct io *io, struct io_req *req, int result, uint64_t done_ns);

#endif
