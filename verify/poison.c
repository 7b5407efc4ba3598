/*
 * poison.c - what a read buffer holds before the read.
 *
 * The first and the last word of each sector are start(io_serial) + n * POISON_STEP, n being their
 * place in the buffer, so they tell which I/O and which place they were made for: bytes that a
 * device returns, also poison that an earlier bug wrote to it, cannot be the poison of this read.
 * The words between stay as they were: filling them costs more than everything else that is done
 * for a read, and a transfer that stops anywhere leaves the end of its sector and all later ones.
 * What it does not do: tell a sector of which only a part was transferred.
 */
#include "verify/explain.h"

#include <assert.h>
#include <string.h>

#include "verify/check.h"

#define WORD_BYTES   sizeof(uint64_t)
#define SECTOR_WORDS (PAGE_SECTOR_BYTES / WORD_BYTES)

/* Odd, so that a word gives its index back: the inverse modulo 2^64 stands below. */
#define POISON_STEP     0x9E3779B97F4A7C15ull
#define POISON_INVERSE  0xF1DE83E19937733Dull
#define POISON_WORD_MAX (1ull << 32) /* far above the largest read */
#define SECTOR_STEP     (SECTOR_WORDS * POISON_STEP)
#define LAST_STEP       ((SECTOR_WORDS - 1) * POISON_STEP)
#define LAST_AT         (PAGE_SECTOR_BYTES - WORD_BYTES)
static_assert(POISON_STEP * POISON_INVERSE == 1, "inverse modulo 2^64");

/* The finalizer of splitmix64: a bijection, so every serial has a start of its own. */
static uint64_t poison_start(uint64_t io_serial)
{
    uint64_t x = io_serial + POISON_STEP;
    x = (x ^ x >> 30) * 0xBF58476D1CE4E5B9ull;
    x = (x ^ x >> 27) * 0x94D049BB133111EBull;
    return x ^ x >> 31;
}

void poison_fill(void *buf, size_t size_bytes, uint64_t io_serial)
{
    uint8_t *at = buf;
    uint64_t first = poison_start(io_serial);

    assert(size_bytes % PAGE_SECTOR_BYTES == 0);
    for (size_t n = 0; n < size_bytes; n += PAGE_SECTOR_BYTES, first += SECTOR_STEP) {
        uint64_t last = first + LAST_STEP;
        memcpy(at + n, &first, WORD_BYTES);
        memcpy(at + n + LAST_AT, &last, WORD_BYTES);
    }
}

bool poison_sector(const void *sector_buf, uint64_t io_serial)
{
    const uint8_t *at = sector_buf;
    uint64_t first, last;

    memcpy(&first, at, WORD_BYTES);
    memcpy(&last, at + LAST_AT, WORD_BYTES);
    uint64_t index = (first - poison_start(io_serial)) * POISON_INVERSE;
    return CHECKED(poison) && index < POISON_WORD_MAX && index % SECTOR_WORDS == 0 &&
           (!CHECKED(poison_end) || last == first + LAST_STEP);
}
