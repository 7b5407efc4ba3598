/*
 * poison.c - what a read buffer holds before the read.
 *
 * Word n of the buffer is start(io_serial) + n * POISON_STEP, so it tells which I/O and which place
 * in the buffer it was made for: bytes that a device returns, also poison that an earlier bug wrote
 * to it, cannot be the poison of this read at the start of a sector. What it does not do: tell a
 * sector of which only a part was transferred.
 */
#include "verify/explain.h"

#include <assert.h>
#include <string.h>

#define WORD_BYTES   sizeof(uint64_t)
#define SECTOR_WORDS (PAGE_SECTOR_BYTES / WORD_BYTES)

/* Odd, so that a word gives its index back: the inverse modulo 2^64 stands below. */
#define POISON_STEP     0x9E3779B97F4A7C15ull
#define POISON_INVERSE  0xF1DE83E19937733Dull
#define POISON_WORD_MAX (1ull << 32) /* far above the largest read */
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
    uint64_t word = poison_start(io_serial);

    assert(size_bytes % PAGE_SECTOR_BYTES == 0);
    for (size_t n = 0; n < size_bytes; n += WORD_BYTES, word += POISON_STEP)
        memcpy(at + n, &word, WORD_BYTES);
}

bool poison_sector(const void *sector_buf, uint64_t io_serial)
{
    const uint8_t *at = sector_buf;
    uint64_t word;

    memcpy(&word, at, WORD_BYTES);
    uint64_t index = (word - poison_start(io_serial)) * POISON_INVERSE;
    if (index >= POISON_WORD_MAX || index % SECTOR_WORDS != 0)
        return false;
    for (size_t n = 0; n < PAGE_SECTOR_BYTES; n += WORD_BYTES, word += POISON_STEP)
        if (memcmp(at + n, &word, WORD_BYTES) != 0)
            return false;
    return true;
}
