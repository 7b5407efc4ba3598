/*
 * test_indirect.c - indirect checkpoints over the modelled device: when pages are written, how many
 * are dirty, and that everything else is as with automatic ones.
 *
 * 200 transactions a second in equal steps, each changing one page of 16 MiB in a pool that holds
 * them all, so that only checkpoints write; the log is never full.
 */
#include "tests/model/traced.h"

#define TARGET_S   2
#define RATE       200
#define DURATION_S 10

static const struct sim_setting load[] = {{"AuditUser", "UserCount", "0"},
                                          {"ReadAheadUser", "UserCount", "0"},
                                          {"BulkUpdateUser", "UserCount", "0"},
                                          {"CpuIdleUser", "UserCount", "0"},
                                          {"RandomUser", "UserCount", "16"},
                                          {"RandomUser", "RatePerSecond", "200"},
                                          {"RandomUser", "ReadsPerTransaction", "1"},
                                          {"RandomUser", "UpdatesPerTransaction", "1"},
                                          {"RandomUser", "MaxLogPerBuffer", "512"},
                                          {"RandomUser", "RollbackChance", "0"},
                                          {"CONFIG", "Arrivals", "fixed"},
                                          {NULL, NULL, NULL}};

static void run_with(struct sim *sim, const char *key, const char *value)
{
    struct sim_options options = {.duration_ns = DURATION_S * NS_PER_S,
                                  .pool_bytes = 32 * MIB,
                                  .log_bytes = 64 * MIB,
                                  .workers = 1};
    unsigned n = 0;
    for (const struct sim_setting *s = load; s->section; s++)
        options.settings[n++] = *s;
    options.settings[n++] = (struct sim_setting){"CONFIG", key, value};
    sim_begin(sim, &options);
    traced_execute(sim);
}

/* Pages that checkpoints wrote in each 200 ms of the main part. */
#define SLOTS   (DURATION_S * 5)
#define SLOT_NS (NS_PER_S / 5)

static void pages_of_slots(const struct sim *sim, unsigned pages[SLOTS])
{
    uint64_t start_ns = sim->run->phases[PHASE_stress].start_ns;
    memset(pages, 0, SLOTS * sizeof *pages);
    for (unsigned i = 0; i < trace.count; i++) {
        const struct traced_io *io = &trace.list[i];
        if (io->phase != PHASE_stress || io->stream != STREAM_checkpoint_write)
            continue;
        uint64_t slot = (io->when_ns - start_ns) / SLOT_NS;
        if (slot < SLOTS)
            pages[slot] += (unsigned)(io->bytes / PAGE_BYTES);
    }
}

static const struct checkpoint_account *account_of(const struct sim *sim, enum checkpoint_kind kind)
{
    return &sim->run->databases[0].desk.accounts[kind];
}

/* The first page is dirty 2 s before more may be dirty; from then on some are written all the time.
 * 40 pages become dirty in 200 ms at most; a batch takes the neighbours of its pages with it. */
static void pages_are_written_all_the_time_after_the_target_time(void **state)
{
    (void)state;
    struct sim sim;
    unsigned pages[SLOTS], most = 0, sum = 0;
    run_with(&sim, "TargetRecoveryTime", "2");
    pages_of_slots(&sim, pages);
    for (unsigned i = 0; i < SLOTS; i++) {
        if (i < TARGET_S * 5 - 2)
            assert_int_equal(pages[i], 0);
        else if (i > TARGET_S * 5 + 2)
            assert_true(pages[i] > 0);
        most = pages[i] > most ? pages[i] : most;
        sum += pages[i];
    }
    assert_true(sum > 0 && most <= 4 * RATE / 5);
    assert_true(account_of(&sim, CHECKPOINT_INDIRECT)->count > 0);
    assert_int_equal(account_of(&sim, CHECKPOINT_AUTOMATIC)->count, 0);
    sim_end(&sim);
}

/* The same load: an automatic checkpoint writes in one go what an indirect one spreads. */
static void an_automatic_checkpoint_is_a_spike_in_the_same_load(void **state)
{
    (void)state;
    struct sim sim;
    unsigned pages[SLOTS], most = 0, empty = 0;
    run_with(&sim, "RecoveryInterval", "2");
    pages_of_slots(&sim, pages);
    for (unsigned i = 0; i < SLOTS; i++) {
        most = pages[i] > most ? pages[i] : most;
        empty += pages[i] == 0;
    }
    assert_true(most > RATE);
    assert_true(empty > SLOTS / 2);
    assert_int_equal(account_of(&sim, CHECKPOINT_INDIRECT)->count, 0);
    assert_true(account_of(&sim, CHECKPOINT_AUTOMATIC)->count >= 3);
    sim_end(&sim);
}

/* A log that fills in less than the target time: its checkpoints are automatic, as in SQL Server.
 */
static void a_log_that_fills_up_does_not_wait_for_the_target(void **state)
{
    (void)state;
    struct sim sim;
    struct sim_options options = {.duration_ns = 2 * NS_PER_S,
                                  .log_bytes = 2 * MIB,
                                  .settings = {{"CONFIG", "TargetRecoveryTime", "3600"},
                                               {"RandomUser", "UserCount", "8"},
                                               {"RandomUser", "MaxIOChainLength", "10"},
                                               {"RandomUser", "SleepAfter", "5"}}};
    sim_begin(&sim, &options);
    traced_execute(&sim);
    assert_true(account_of(&sim, CHECKPOINT_AUTOMATIC)->count > 3);
    assert_int_equal(account_of(&sim, CHECKPOINT_INDIRECT)->count, 0);
    sim_end(&sim);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(pages_are_written_all_the_time_after_the_target_time),
        cmocka_unit_test(an_automatic_checkpoint_is_a_spike_in_the_same_load),
        cmocka_unit_test(a_log_that_fills_up_does_not_wait_for_the_target),
    };
    return cmocka_run_group_tests(tests, trace_begin, trace_end);
}
