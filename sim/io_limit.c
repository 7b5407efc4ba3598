/* io_limit.c - see io_limit.h. */
#include "sim/io_limit.h"

#include <assert.h>

#define PS_PER_NS 1000ull
#define PS_PER_S  1000000000000ull
#define BURST_PS  (IO_LIMIT_BURST_NS * PS_PER_NS)

void io_limit_init(struct io_limit *limit, uint64_t per_second, uint64_t bytes_per_second)
{
    *limit = (struct io_limit){.on = per_second || bytes_per_second,
                               .per_second = per_second,
                               .bytes_per_second = bytes_per_second};
    pthread_mutex_init(&limit->lock, NULL);
}

void io_limit_free(struct io_limit *limit)
{
    pthread_mutex_destroy(&limit->lock);
}

/* Take `units` of a rate: when that may happen; *next is moved on. */
static uint64_t take(uint64_t *next_ps, uint64_t now_ps, uint64_t units, uint64_t per_second)
{
    if (per_second == 0)
        return now_ps;
    uint64_t start_ps = *next_ps > now_ps + BURST_PS ? *next_ps - BURST_PS : now_ps;
    uint64_t cost_ps = (uint64_t)((unsigned __int128)units * PS_PER_S / per_second);
    *next_ps = (*next_ps > now_ps ? *next_ps : now_ps) + cost_ps;
    return start_ps;
}

uint64_t io_limit_take(struct io_limit *limit, uint64_t now_ns, uint64_t bytes)
{
    assert(limit->on);
    uint64_t now_ps = now_ns * PS_PER_NS;
    pthread_mutex_lock(&limit->lock);
    uint64_t transfer_ps = take(&limit->transfers_ps, now_ps, 1, limit->per_second);
    uint64_t bytes_ps = take(&limit->bytes_ps, now_ps, bytes, limit->bytes_per_second);
    pthread_mutex_unlock(&limit->lock);
    uint64_t start_ps = transfer_ps > bytes_ps ? transfer_ps : bytes_ps;
    uint64_t start_ns = (start_ps + PS_PER_NS - 1) / PS_PER_NS;
    if (start_ns > now_ns) {
        atomic_fetch_add_explicit(&limit->held, 1, memory_order_relaxed);
        atomic_fetch_add_explicit(&limit->held_ns, start_ns - now_ns, memory_order_relaxed);
    }
    return start_ns;
}
