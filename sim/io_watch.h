/*
 * io_watch.h - requests that take too long: SQL Server's message 833, and requests that never end.
 *
 * Each wrapper keeps a table of the requests that its engine has.  The coordinator looks at all of
 * them in every tick, also at those of a worker that hangs inside the system.  A request of 15 s
 * and longer is told once, and once more when it completes; one that completed between two ticks is
 * told then.  A time during which this machine or process stood still (the coordinator itself did
 * not run) is taken off every request's age.
 *
 * Cost on the I/O path: a handful of relaxed stores into the worker's own table; no lock, but for a
 * request that took 15 s.
 *
 * Threads: begin, end and cancel by the wrapper's thread; all else by the coordinator.  Units: ns
 * of the run's clock.
 */
#ifndef SIM_IO_WATCH_H
#define SIM_IO_WATCH_H

#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

struct io;
struct io_req;

/* SQL Server's and SQLIOSim's fixed threshold (message 833). */
#define IO_STALL_NS 15000000000ull
/* A request that old ends a run that wants to end.  Well above what storage may need to fail over:
 * 30 s of a SCSI command's timeout, 120 s of an iSCSI session's replacement timeout, 180 s of NFS
 * over TCP (three retransmissions of 60 s). */
#define IO_STUCK_NS          300000000000ull

#define IO_WATCH_MEMBERS_MAX 1025 /* workers and the coordinator */
/* Slots, in depths of the engine: writes that wait for a flush have left it. */
#define IO_WATCH_DEPTHS     4
#define IO_WATCH_LATE_MAX   256
#define IO_WATCH_PAUSES_MAX 64

struct io_slot {
    _Atomic uint64_t begun; /* submission + 1; 0 = free */
    _Atomic uint64_t offset, size_bytes;
    _Atomic uint32_t file_op; /* file uid << 8 | enum io_op */
    uint32_t next_free;
};

/* The table of one wrapper. */
struct io_slots {
    struct io_slot *slots;
    unsigned count;
    uint32_t first_free;
    _Atomic uint64_t completed; /* requests, by the wrapper's thread */
};

/* A request that takes, or took, too long. */
struct io_stall {
    uint16_t file_uid;
    int op; /* enum io_op */
    uint64_t offset, size_bytes;
    uint64_t age_ns;    /* pauses of this machine taken off */
    uint64_t meanwhile; /* other requests that completed since it was first seen, at least */
    bool complete;      /* it has ended */
    bool again;         /* it was told before, when it was outstanding */
    unsigned told;      /* then: what the callback left here the first time */
};

struct io_watch_seen; /* what the coordinator knows of a slot */

struct io_watch {
    pthread_mutex_t lock; /* late */
    struct io_slots *members[IO_WATCH_MEMBERS_MAX];
    struct io_watch_seen *seen[IO_WATCH_MEMBERS_MAX];
    unsigned member_count;
    struct io_late {
        unsigned member;
        uint32_t slot;
        uint64_t begun, ended;
        uint32_t file_op;
        uint64_t offset, size_bytes;
    } late[IO_WATCH_LATE_MAX];
    unsigned late_count;
    _Atomic uint64_t late_dropped; /* more at once than are kept */
    struct io_pause {
        uint64_t from_ns, length_ns;
    } pauses[IO_WATCH_PAUSES_MAX]; /* a ring */
    unsigned pause_count;
    uint64_t oldest_age_ns; /* of what is outstanding, at the last tick */
    unsigned stalled_now;   /* outstanding for 15 s and longer at the last tick */
    void (*stall)(void *context, struct io_stall *stall); /* may set told */
    void *context;
};

void io_watch_init(struct io_watch *watch);
void io_watch_free(struct io_watch *watch);
int io_watch_join(struct io_watch *watch, struct io *io) __attribute__((warn_unused_result));
/* Look at all requests; tells through watch->stall.  How many are told to be outstanding for more
 * than 15 s for the first time. */
unsigned io_watch_tick(struct io_watch *watch, uint64_t now_ns);
/* The machine stood still. */
void io_watch_pause(struct io_watch *watch, uint64_t from_ns, uint64_t length_ns);
/* Every outstanding request at least as old, through the callback. */
void io_watch_each(struct io_watch *watch, uint64_t now_ns, uint64_t age_ns,
                   void (*each)(void *context, struct io_stall *stall), void *context);

/* For io.c: the engine gets the request (at req->submit_ns), it has ended (at req->done_ns). */
void io_watch_begin(struct io *io, struct io_req *req);
void io_watch_end(struct io *io, struct io_req *req);
void io_watch_cancel(struct io *io, struct io_req *req); /* the engine did not take it */

#endif
