/*
 * io_limit.h - a ceiling for the I/O of a whole run: so many transfers and so many bytes a second
 * (MaxIops, MaxMBps).
 *
 * A token bucket in the form of a theoretical start time: each request moves it on by its share of
 * a second, and may start no earlier than IO_LIMIT_BURST_NS before it.  So a request knows at once
 * when it may go, first come first served over all workers; whoever was idle may be at most that
 * much ahead of the rate; and a worker that is that late loses nothing of it.  Exact under any
 * clock.  Flushes transfer nothing and pass.
 *
 * Threads: any; one short lock.  A limit of 0 is none.
 */
#ifndef SIM_IO_LIMIT_H
#define SIM_IO_LIMIT_H

#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#define IO_LIMIT_BURST_NS 20000000ull /* 20 ms: far below the 100 ms that a burst may last */

struct io_limit {
    pthread_mutex_t lock;
    bool on;
    uint64_t per_second, bytes_per_second;
    uint64_t transfers_ps, bytes_ps; /* theoretical start of the next: ps of the run's clock */
    _Atomic uint64_t held, held_ns;  /* requests that had to wait, and how long in all */
};

void io_limit_init(struct io_limit *limit, uint64_t per_second, uint64_t bytes_per_second);
void io_limit_free(struct io_limit *limit);
/* When a request of so many bytes that comes now may start: now, or later. */
uint64_t io_limit_take(struct io_limit *limit, uint64_t now_ns, uint64_t bytes);

#endif
