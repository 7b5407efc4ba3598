/*
 * The lazy writer over the modelled device: it alone supplies frames, whatever the pool's size and
 * whoever holds what, and a run with it is as clean as any.
 */
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>
#include <stdlib.h>
#include <cmocka.h>

#include "tests/model/drawn.h"

#define TINY_POOL_BYTES (64 * PAGE_BYTES)

struct result {
    bool clean;
    uint64_t lazy_pages, checkpoint_pages; /* written in the main part */
    struct counters counters;
};

static uint64_t pages_of(const struct stats *stats, enum stream stream)
{
    return stats->streams[PHASE_stress][stream].bytes / PAGE_BYTES;
}

static struct result run_of(const struct sim_options *options)
{
    struct sim sim;
    struct result result;
    struct stats *stats = malloc(sizeof *stats);
    assert_non_null(stats);
    sim_begin(&sim, options);
    sim_run(&sim);
    result.clean = drawn_run_is_clean(&sim);
    run_stats(sim.run, stats);
    result.lazy_pages = pages_of(stats, STREAM_lazy_write);
    result.checkpoint_pages = pages_of(stats, STREAM_checkpoint_write);
    result.counters = stats->counters;
    free(stats);
    sim_end(&sim);
    return result;
}

/* The log is never full and the interval never over, so no checkpoint begins in the main part. */
static void without_checkpoints_the_lazy_writer_keeps_users_going(void **state)
{
    (void)state;
    struct sim_options options = {.seed = 3,
                                  .duration_ns = 4 * NS_PER_S,
                                  .log_bytes = 64 * DRAWN_MIB,
                                  .pool_bytes = 2 * DRAWN_MIB,
                                  .settings = {{"CONFIG", "CheckpointInterval", "3600"},
                                               {"RandomUser", "UserCount", "8"},
                                               {"RandomUser", "MaxLogPerBuffer", "512"},
                                               {"RandomUser", "SleepAfter", "20"}}};
    struct result result = run_of(&options);
    assert_true(result.clean);
    assert_int_equal(result.checkpoint_pages, 0);
    /* the pool has 256 frames, the data 2,048 pages: what is changed beyond them went out */
    assert_true(result.counters.page_updates > 1000);
    assert_true(result.lazy_pages > 256);
    assert_true(result.counters.frames_freed >= result.lazy_pages / 2);
}

static void two_hundred_users_share_64_frames(void **state)
{
    (void)state;
    for (uint64_t seed = 1; seed <= 3; seed++) {
        struct sim_options options = {.seed = seed,
                                      .duration_ns = NS_PER_S,
                                      .log_bytes = 64 * DRAWN_MIB,
                                      .pool_bytes = TINY_POOL_BYTES,
                                      .workers = (unsigned)seed,
                                      .settings = {{"RandomUser", "UserCount", "200"},
                                                   {"RandomUser", "MaxLogPerBuffer", "512"},
                                                   {"RandomUser", "SleepAfter", "5"}}};
        struct result result = run_of(&options);
        assert_true(result.clean);
        assert_true(result.counters.frame_waits > 0);
        assert_true(result.counters.transactions > 200);
        assert_true(result.lazy_pages > 64);
    }
}

/* Transactions that hold half the log, a pool that holds few of their pages: what they wait for
 * comes from the lazy writer, since a checkpoint could give no log back. */
static void a_small_log_and_a_small_pool_together_are_no_deadlock(void **state)
{
    (void)state;
    for (uint64_t seed = 1; seed <= 2; seed++) {
        struct sim_options options = {.seed = seed,
                                      .duration_ns = NS_PER_S,
                                      .log_bytes = 4 * DRAWN_MIB,
                                      .pool_bytes = TINY_POOL_BYTES,
                                      .databases = 2,
                                      .settings = {{"RandomUser", "UserCount", "40"},
                                                   {"RandomUser", "MaxIOChainLength", "60"},
                                                   {"RandomUser", "MaxLogPerBuffer", "8192"},
                                                   {"RandomUser", "SleepAfter", "5"}}};
        struct result result = run_of(&options);
        assert_true(result.clean);
        assert_true(result.counters.log_space_waits > 0 && result.counters.frame_waits > 0);
    }
}

/* All of it fits: nobody is short of frames, so nothing is written before the checkpoint. */
static void a_pool_that_holds_everything_leaves_it_idle(void **state)
{
    (void)state;
    struct sim_options options = {.seed = 5,
                                  .duration_ns = 2 * NS_PER_S,
                                  .pool_bytes = 32 * DRAWN_MIB,
                                  .log_bytes = 64 * DRAWN_MIB,
                                  .settings = {{"CONFIG", "CheckpointInterval", "1"},
                                               {"RandomUser", "MaxLogPerBuffer", "512"}}};
    struct result result = run_of(&options);
    assert_true(result.clean);
    assert_int_equal(result.lazy_pages, 0);
    assert_int_equal(result.counters.frames_freed, 0);
    assert_true(result.checkpoint_pages > 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(without_checkpoints_the_lazy_writer_keeps_users_going),
        cmocka_unit_test(two_hundred_users_share_64_frames),
        cmocka_unit_test(a_small_log_and_a_small_pool_together_are_no_deadlock),
        cmocka_unit_test(a_pool_that_holds_everything_leaves_it_idle),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
