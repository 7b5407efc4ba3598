/*
 * rng.c - xoshiro256** (Blackman, Vigna), seeded through splitmix64 as its authors advise.
 *
 * Invariant: the number of draws of a call does not depend on the settings of the caller but for
 * the rejections of rng_below, so that a changed probability does not reshuffle the whole run.
 */
#include "patterns/rng.h"

#include <assert.h>

#define SPLITMIX_STEP 0x9E3779B97F4A7C15ull /* 2^64 / golden ratio, made odd */

static uint64_t rotate_left(uint64_t x, unsigned bits)
{
    return x << bits | x >> (64 - bits);
}

/* splitmix64's output function: a bijection in which every input bit reaches every output bit. */
static uint64_t mix(uint64_t x)
{
    x = (x ^ x >> 30) * 0xBF58476D1CE4E5B9ull;
    x = (x ^ x >> 27) * 0x94D049BB133111EBull;
    return x ^ x >> 31;
}

void rng_seed(struct rng *rng, uint64_t seed)
{
    for (unsigned i = 0; i < 4; i++) {
        seed += SPLITMIX_STEP;
        rng->s[i] = mix(seed);
    }
}

void rng_split(struct rng *out, uint64_t seed, uint64_t purpose, uint64_t index)
{
    uint64_t hash = mix(seed + SPLITMIX_STEP);

    hash = mix((hash ^ purpose) + SPLITMIX_STEP);
    hash = mix((hash ^ index) + SPLITMIX_STEP);
    rng_seed(out, hash);
}

uint64_t rng_next(struct rng *rng)
{
    uint64_t *s = rng->s;
    const uint64_t result = rotate_left(s[1] * 5, 7) * 9;
    const uint64_t t = s[1] << 17;

    s[2] ^= s[0];
    s[3] ^= s[1];
    s[1] ^= s[2];
    s[0] ^= s[3];
    s[2] ^= t;
    s[3] = rotate_left(s[3], 45);
    return result;
}

/* Lemire's method: the high word of a 128-bit product; low words below 2^64 mod bound are the ones
 * that would make some results more frequent, and are drawn again. */
uint64_t rng_below(struct rng *rng, uint64_t bound)
{
    assert(bound > 0);
    unsigned __int128 product = (unsigned __int128)rng_next(rng) * bound;

    if ((uint64_t)product < bound) {
        const uint64_t unfair = -bound % bound;

        while ((uint64_t)product < unfair)
            product = (unsigned __int128)rng_next(rng) * bound;
    }
    return (uint64_t)(product >> 64);
}

int64_t rng_range(struct rng *rng, int64_t low, int64_t high)
{
    assert(low <= high);
    const uint64_t span = (uint64_t)high - (uint64_t)low + 1;

    /* A span of 0 is all of 2^64. */
    return (int64_t)((uint64_t)low + (span ? rng_below(rng, span) : rng_next(rng)));
}

bool rng_chance(struct rng *rng, int64_t hundredths)
{
    return (int64_t)rng_below(rng, 10000) < hundredths;
}
