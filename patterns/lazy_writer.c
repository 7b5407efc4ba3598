/*
 * lazy_writer.c - the lazy writer: keeps the buffer pool supplied with free frames.
 *
 * SQL Server's wakes about once a second and under memory pressure, walks the buffers clock-like,
 * writes old dirty pages in gather writes and frees what is clean.  One for the whole run, as SQL
 * Server has one a NUMA node: it serves the pool, so it writes pages of every database.
 *
 * Invariant: after a sweep that left the supply low it rests a moment, so that a pool in which
 * everything is in use does not cost a CPU.
 *
 * What it does not do: choose pages (sim/lazy_write.c walks the pool), or make room in the log.
 */
#include "patterns/pattern.h"

#define WAKE_NS 1000000000 /* SQL Server: about once a second */
#define REST_NS 1000000

struct lazy_writer {
    bool swept; /* the last intent was a sweep */
};

static int64_t lazy_writer_count(const void *settings, int64_t cpu_count)
{
    (void)settings;
    (void)cpu_count;
    return 1;
}

static size_t lazy_writer_state_size(const void *settings)
{
    (void)settings;
    return sizeof(struct lazy_writer);
}

static void lazy_writer_init(void *state, const void *settings, uint64_t seed, unsigned actor_index)
{
    (void)settings;
    (void)seed;
    (void)actor_index;
    *(struct lazy_writer *)state = (struct lazy_writer){.swept = false};
}

static void lazy_writer_next(void *state, const struct pattern_view *view, struct op *out)
{
    struct lazy_writer *lazy = state;
    const bool low = view->frames_low || view->frames_wanted;

    if (low && !lazy->swept) {
        lazy->swept = true;
        *out = (struct op){.kind = OP_LAZY_WRITE};
        return;
    }
    lazy->swept = false;
    if (low)
        *out = (struct op){.kind = OP_THINK, .think_ns = REST_NS};
    else
        *out = (struct op){.kind = OP_THINK, .think_ns = WAKE_NS, .until_called = true};
}

const struct pattern pattern_lazy_writer = {
    .name = "LazyWriter",
    .help = "Lazy writer: writes cold dirty pages in gather writes and frees frames.",
    .service = true,
    .cleans = true,
    .user_count = lazy_writer_count,
    .state_size = lazy_writer_state_size,
    .init = lazy_writer_init,
    .next = lazy_writer_next,
};
