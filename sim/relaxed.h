/*
 * relaxed.h - numbers that one thread writes and others read while it does.
 *
 * A plain load, an add and a store: no lock, no read-modify-write; the reader sees an old or a new
 * value, never a torn one.  One writer only.
 */
#ifndef SIM_RELAXED_H
#define SIM_RELAXED_H

#include <stdint.h>

static inline uint64_t relaxed_load(const uint64_t *value)
{
    return __atomic_load_n(value, __ATOMIC_RELAXED);
}

static inline void relaxed_store(uint64_t *value, uint64_t to)
{
    __atomic_store_n(value, to, __ATOMIC_RELAXED);
}

/* By the one writer. */
static inline void relaxed_add(uint64_t *value, uint64_t amount)
{
    __atomic_store_n(value, *value + amount, __ATOMIC_RELAXED);
}

#endif
