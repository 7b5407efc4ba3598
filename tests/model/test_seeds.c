/* 40 short runs with drawn settings, fewer under sanitizers; long_seeds.c has more and longer. */
#include "tests/model/seeds.h"

#define SEEDS      40
#define SHORT_S    3
#define LONG_EVERY 10

/* A run costs half a second, half of that for creating and auditing its files.  Each tenth is long
 * enough for checkpoints by time and a log that goes round. */
static bool seed_is_clean_soon(uint64_t seed, const char *directory)
{
    return seed_is_clean_for(seed, directory, seed % LONG_EVERY ? SHORT_S : SEED_VIRTUAL_S);
}

static void every_seed_runs_clean(void **state)
{
    (void)state;
    unsigned long scaled = test_scaled(SEEDS);
    seeds_try(seed_is_clean_soon, scaled < SEEDS ? scaled : SEEDS);
}

/* Reads of 50 ms and writes of 30 us: 20 or more checkpoints pass during one transaction, and their
 * records together exceed the headroom of the log.  The database once stopped for want of it. */
static void long_transactions_do_not_starve_the_checkpoint(void **state)
{
    (void)state;
    struct sim sim;
    struct sim_options options = {
        .duration_ns = 20 * NS_PER_S,
        .log_bytes = DRAWN_MIB,
        .pool_bytes = 3 * DRAWN_MIB,
        .device = {.channels = 64, .read_ns = 50 * NS_PER_MS},
        .settings = {{"CONFIG", "SectorSize", "4096"},
                     {"RandomUser", "UserCount", "16"},
                     {"RandomUser", "MinIOChainLength", "20"},
                     {"RandomUser", "MaxIOChainLength", "20"},
                     {"RandomUser", "MinLogPerBuffer", "512"},
                     {"RandomUser", "MaxLogPerBuffer", "512"},
                     {"RandomUser", "JumpToNewRegionPercentage", "10000"},
                     {"RandomUser", "SleepAfter", "1"}},
    };
    sim_begin(&sim, &options);
    sim_run(&sim);
    bool clean = drawn_run_is_clean(&sim);
    sim_end(&sim);
    assert_true(clean);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_seed_runs_clean),
        cmocka_unit_test(long_transactions_do_not_starve_the_checkpoint),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
