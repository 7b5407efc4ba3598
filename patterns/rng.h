/*
 * rng.h - seedable, splittable random numbers (xoshiro256**, seeded by splitmix64).
 *
 * Every random choice of a run comes from one of these, all split from the run's seed, so that a
 * seed repeats the run.  One owner each; not thread-safe.
 */
#ifndef PATTERNS_RNG_H
#define PATTERNS_RNG_H

#include <stdbool.h>
#include <stdint.h>

struct rng {
    uint64_t s[4];
};

void rng_seed(struct rng *rng, uint64_t seed);
/* An independent stream for purpose (a small constant) and index (a user number). */
void rng_split(struct rng *out, uint64_t seed, uint64_t purpose, uint64_t index);
uint64_t rng_next(struct rng *rng);
/* Uniform in 0 .. bound - 1 without modulo bias; bound > 0. */
uint64_t rng_below(struct rng *rng, uint64_t bound);
/* Uniform in low .. high, both included. */
int64_t rng_range(struct rng *rng, int64_t low, int64_t high);
/* True in hundredths of a percent of the cases: 10000 always, 0 never. */
bool rng_chance(struct rng *rng, int64_t hundredths);

#endif
