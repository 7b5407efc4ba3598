/* test_io_keys.c - what TargetIODuration, AllowIOBursts, MaxOutstandingIO, WriteThrough and
 * AlternateWriteThrough do to the requests of a whole run over a modelled device. */
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include "tests/sim_fixture.h"

#define MS 1000000ull

struct watched {
    struct sim sim;
    uint64_t throttled[PHASE_COUNT]; /* of the data file, in each phase */
};

static struct io_account *account_of(const struct sim *sim)
{
    return &sim->run->files[0]->file.target.account;
}

/* At the begin and end of each phase. */
static void look(void *context, const struct run *run)
{
    struct watched *w = context;
    uint64_t earlier = 0;
    for (unsigned p = 0; p < (unsigned)run->phase; p++)
        earlier += w->throttled[p];
    w->throttled[run->phase] = atomic_load(&run->files[0]->file.target.account.throttled) - earlier;
}

/* A device on which every request takes 150 ms or longer, one at a time. */
static void run_on_slow_device(struct watched *w, const char *target, const char *bursts,
                               const char *outstanding)
{
    memset(w, 0, sizeof *w);
    const struct sim_options options = {
        .duration_ns = 20 * NS_PER_S,
        .device = {.channels = 1, .read_ns = 150 * MS, .write_ns = 150 * MS},
        /* who leaves dirty pages to the final checkpoint, and nobody beside them */
        .settings = {{"CONFIG", "TargetIODuration", target},
                     {"CONFIG", "AllowIOBursts", bursts},
                     {"CONFIG", "MaxOutstandingIO", outstanding},
                     {"ReadAheadUser", "UserCount", "0"},
                     {"BulkUpdateUser", "UserCount", "0"},
                     {"CpuIdleUser", "UserCount", "0"}},
    };
    sim_begin(&w->sim, &options);
    sim_create(&w->sim);
    assert_int_equal(w->sim.result, 0);
    w->sim.run->config.progress = look;
    w->sim.run->config.context = w;
    assert_int_equal(run_execute(w->sim.run), 0);
}

static void above_the_target_posts_wait(void **state)
{
    (void)state;
    struct watched w;
    run_on_slow_device(&w, "50", "TRUE", "0");
    assert_true(w.throttled[PHASE_stress] > 0);
    assert_true(account_of(&w.sim)->running_average_ms > 50);
    assert_true(account_of(&w.sim)->limit < account_of(&w.sim)->outstanding_high);
    sim_end(&w.sim);
}

static void a_target_of_1000000_never_throttles(void **state)
{
    (void)state;
    struct watched w;
    run_on_slow_device(&w, "1000000", "TRUE", "0");
    assert_int_equal(account_of(&w.sim)->throttled, 0);
    assert_int_equal(account_of(&w.sim)->limit, account_of(&w.sim)->limit_max);
    sim_end(&w.sim);
}

static void bursts_are_not_throttled_in_three_phases(void **state)
{
    (void)state;
    struct watched w;
    run_on_slow_device(&w, "50", "TRUE", "0");
    assert_int_equal(w.throttled[PHASE_initial_update], 0);
    assert_int_equal(w.throttled[PHASE_final_checkpoint], 0);
    sim_end(&w.sim);
}

static void without_bursts_those_phases_are_throttled_too(void **state)
{
    (void)state;
    struct watched w;
    run_on_slow_device(&w, "50", "FALSE", "0");
    assert_true(w.throttled[PHASE_initial_update] > 0);
    assert_true(w.throttled[PHASE_final_checkpoint] > 0);
    sim_end(&w.sim);
}

static void the_process_bound_holds_in_bursts(void **state)
{
    (void)state;
    struct watched w;
    run_on_slow_device(&w, "1000000", "TRUE", "0");
    uint32_t free_high = account_of(&w.sim)->outstanding_high;
    sim_end(&w.sim);
    run_on_slow_device(&w, "1000000", "TRUE", "2");
    assert_true(free_high > 2);
    assert_int_equal(account_of(&w.sim)->outstanding_high, 2);
    assert_int_equal(account_of(&w.sim)->throttled, 0);
    sim_end(&w.sim);
}

/* ---- WriteThrough, AlternateWriteThrough ---- */

struct durability {
    bool dsync_flag; /* of the open data file */
    uint64_t data_writes, log_writes, data_flushes, log_flushes;
};

static uint64_t ops_of(const struct stats *stats, enum stream stream)
{
    uint64_t sum = 0;
    for (unsigned p = 0; p < PHASE_COUNT; p++)
        sum += stats->streams[p][stream].ops;
    return sum;
}

static struct durability run_durable(const char *write_through, const char *alternate)
{
    struct sim sim;
    struct stats *stats = calloc(1, sizeof *stats);
    const struct sim_options options = {
        .settings = {{"CONFIG", "WriteThrough", write_through},
                     {"CONFIG", "AlternateWriteThrough", alternate}},
    };
    sim_begin(&sim, &options);
    sim_run(&sim);
    assert_int_equal(sim.result, 0);
    assert_int_equal(sim.run->findings.count, 0);
    run_stats(sim.run, stats);
    struct durability out = {
        .dsync_flag = (fcntl(sim.run->files[0]->file.target.fd, F_GETFL) & O_DSYNC) == O_DSYNC,
        .data_writes = ops_of(stats, STREAM_checkpoint_write) +
                       ops_of(stats, STREAM_prepare_write) + ops_of(stats, STREAM_eager_write) +
                       ops_of(stats, STREAM_lazy_write),
        .log_writes = ops_of(stats, STREAM_log_write),
        .data_flushes = ops_of(stats, STREAM_data_flush),
        .log_flushes = ops_of(stats, STREAM_log_flush),
    };
    sim_end(&sim);
    free(stats);
    assert_true(out.data_writes > 0 && out.log_writes > 0);
    return out;
}

static void write_through_opens_for_durable_writes_and_flushes_nothing(void **state)
{
    (void)state;
    struct durability got = run_durable("TRUE", "FALSE");
    assert_true(got.dsync_flag);
    assert_int_equal(got.data_flushes, 0);
    assert_int_equal(got.log_flushes, 0);
}

static void alternate_write_through_shares_flushes_instead(void **state)
{
    (void)state;
    struct durability got = run_durable("TRUE", "TRUE");
    assert_false(got.dsync_flag);
    assert_true(got.data_flushes > 0 && got.data_flushes < got.data_writes);
    assert_true(got.log_flushes > 0 && got.log_flushes <= got.log_writes);
}

/* The checkpoints and the end flush, not the writes. */
static void without_write_through_the_alternate_has_no_effect(void **state)
{
    (void)state;
    struct durability plain = run_durable("FALSE", "FALSE");
    struct durability alternate = run_durable("FALSE", "TRUE");
    assert_false(plain.dsync_flag);
    assert_true(plain.data_flushes > 0);
    assert_false(alternate.dsync_flag);
    assert_int_equal(alternate.data_flushes, plain.data_flushes);
    assert_int_equal(alternate.log_flushes, plain.log_flushes);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(above_the_target_posts_wait),
        cmocka_unit_test(a_target_of_1000000_never_throttles),
        cmocka_unit_test(bursts_are_not_throttled_in_three_phases),
        cmocka_unit_test(without_bursts_those_phases_are_throttled_too),
        cmocka_unit_test(the_process_bound_holds_in_bursts),
        cmocka_unit_test(write_through_opens_for_durable_writes_and_flushes_nothing),
        cmocka_unit_test(alternate_write_through_shares_flushes_instead),
        cmocka_unit_test(without_write_through_the_alternate_has_no_effect),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
