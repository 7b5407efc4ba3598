/*
 * io_history.h - the last requests of each worker, so that a finding can say what was done to its
 * sectors and when.
 *
 * A ring of 32 bytes a request, written by the wrapper's thread when the request ends: no lock, no
 * allocation, four relaxed stores and one of the head.  Whoever has a finding reads all rings while
 * they go on; an entry that may have been overwritten while it was read is left out.
 *
 * The ring is allocated, not touched, until requests come: memory grows with what was done, up to
 * IO_HISTORY_TOTAL entries (32 MiB) over all workers.
 *
 * Ownership: a ring belongs to its wrapper's owner.  Threads: io_history_add by the wrapper's
 * thread; io_history_collect by any.  Units: ns of the run's clock, bytes.
 */
#ifndef SIM_IO_HISTORY_H
#define SIM_IO_HISTORY_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct io_req;

#define IO_HISTORY_TOTAL     (1u << 20) /* entries of all rings together */
#define IO_HISTORY_MAX       (1u << 16) /* of one; a power of two */
#define IO_HISTORY_MIN       (1u << 10)
#define IO_HISTORY_RINGS_MAX 1025 /* workers and the coordinator */

/* Packed: submission; length | file uid in the upper 16 bits over the offset; what it was. */
struct io_history_entry {
    _Atomic uint64_t submit_ns;
    _Atomic uint64_t place;  /* uid << 48 | offset */
    _Atomic uint64_t length; /* bytes << 32 | latency in us, as far as it fits */
    _Atomic uint64_t kind;   /* outstanding << 40 | phase << 32 | stream << 24 | op << 16 | errno */
};
_Static_assert(sizeof(struct io_history_entry) == 32, "half a cache line");

struct io_history {
    struct io_history_entry *entries;
    uint32_t mask;         /* entries less one */
    _Atomic uint64_t head; /* requests entered so far */
};

/* A request as it is told. */
struct io_past {
    uint64_t submit_ns, latency_ns; /* the latency to 1 us */
    uint64_t offset;
    uint32_t size_bytes; /* 0: a flush */
    uint16_t file_uid;
    uint8_t op;      /* enum io_op */
    uint8_t stream;  /* enum stream */
    uint8_t phase;   /* enum phase */
    int error;       /* errno, or 0 */
    uint32_t others; /* requests that the worker had outstanding besides, when it ended */
    unsigned ring;   /* worker number; the coordinator's is the last */
};

/* All rings of a run; filled before the workers start. */
struct io_histories {
    struct io_history *rings[IO_HISTORY_RINGS_MAX];
    unsigned count;
};

/* rings: how many share IO_HISTORY_TOTAL.  0 or -ENOMEM. */
int io_history_init(struct io_history *history, unsigned rings) __attribute__((warn_unused_result));
void io_history_free(struct io_history *history); /* zeroed is fine */
void io_history_add(struct io_history *history, const struct io_req *req, unsigned others);
/* The latest `max` requests that overlap the range of the file, by time of submission; with
 * size_bytes 0 the flushes of the file.  *left_out: how many more there were.  Returns how many. */
unsigned io_history_collect(const struct io_histories *histories, uint16_t file_uid,
                            uint64_t offset, uint64_t size_bytes, struct io_past *out, unsigned max,
                            uint64_t *left_out);
/* Since when every request is still there: the youngest of the rings' oldest entries; 0: all. */
uint64_t io_history_since_ns(const struct io_histories *histories);

#endif
