/*
 * write_order.c - see write_order.h.
 *
 * A word is tag << 40 | number; number 0 says that nothing is known.  2^40 writes are out of reach
 * (35 years at 1,000 a second).
 */
#include "verify/write_order.h"

#include <assert.h>
#include <stdatomic.h>
#include <stdlib.h>

#include "verify/check.h"

#define NUMBER_BITS (64 - WRITE_ORDER_TAG_BITS)
#define NUMBER_MASK ((1ull << NUMBER_BITS) - 1)
#define SLOT_BITS   16
static_assert(WRITE_ORDER_SLOTS == 1u << SLOT_BITS, "the slot is the upper bits of the hash");

struct write_order {
    _Atomic uint64_t writes;
    _Atomic uint64_t written[WRITE_ORDER_SLOTS];
    _Atomic uint64_t verified[WRITE_ORDER_SLOTS];
};

/* Fibonacci hashing (Knuth, volume 3, 6.4), folded once so that the tag depends on all bits. */
static uint64_t hash_of(uint16_t uid, uint32_t page_no)
{
    uint64_t x = ((uint64_t)uid << 32 | page_no) * 0x9E3779B97F4A7C15ull;
    return (x ^ x >> 32) * 0x9E3779B97F4A7C15ull;
}

static uint32_t slot_of(uint64_t hash)
{
    return (uint32_t)(hash >> (64 - SLOT_BITS));
}

static uint64_t tag_of(uint64_t hash)
{
    return hash << SLOT_BITS >> (64 - WRITE_ORDER_TAG_BITS);
}

static void put(_Atomic uint64_t *table, uint64_t hash, uint64_t number)
{
    uint64_t word = tag_of(hash) << NUMBER_BITS | (number & NUMBER_MASK);
    atomic_store_explicit(&table[slot_of(hash)], word, memory_order_relaxed);
}

static uint64_t get(const _Atomic uint64_t *table, uint64_t hash)
{
    uint64_t word = atomic_load_explicit(&table[slot_of(hash)], memory_order_relaxed);
    bool own = !CHECKED(write_order_tag) || word >> NUMBER_BITS == tag_of(hash);
    return own ? word & NUMBER_MASK : 0;
}

struct write_order *write_order_create(void)
{
    return calloc(1, sizeof(struct write_order));
}

void write_order_free(struct write_order *order)
{
    free(order);
}

void write_order_written(struct write_order *order, uint16_t uid, uint32_t page_no)
{
    uint64_t number = 1 + atomic_fetch_add_explicit(&order->writes, 1, memory_order_relaxed);
    put(order->written, hash_of(uid, page_no), number);
}

void write_order_verified(struct write_order *order, uint16_t uid, uint32_t page_no)
{
    put(order->verified, hash_of(uid, page_no), write_order_now(order));
}

struct page_order write_order_of(const struct write_order *order, uint16_t uid, uint32_t page_no)
{
    uint64_t hash = hash_of(uid, page_no);
    return (struct page_order){get(order->written, hash), get(order->verified, hash)};
}

uint64_t write_order_now(const struct write_order *order)
{
    return atomic_load_explicit(&order->writes, memory_order_relaxed);
}
