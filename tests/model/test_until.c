/*
 * test_until.c - phases that end when users are done (Until), over the modelled device: when each
 * ends and why, who is waited for, what a phase change does to the log that backups hold.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include <cmocka.h>

#include "sim/backup_media.h"
#include "sim/report.h"
#include "sim/run_slots.h"
#include "tests/scale.h"
#include "tests/sim_fixture.h"

#define MIB ((uint64_t)1 << 20)

#define FEW_USERS                                                                                  \
    {"RandomUser", "UserCount", "4"}, {"RandomUser", "MaxLogPerBuffer", "512"},                    \
        {"ReadAheadUser", "UserCount", "0"}, {"BulkUpdateUser", "UserCount", "0"},                 \
        {"AuditUser", "UserCount", "0"}, {"CpuIdleUser", "UserCount", "0"},                        \
    {                                                                                              \
        "BackupUser", "FullInterval", "86400"                                                      \
    }

static void assert_clean(const struct sim *sim)
{
    if (sim->result || sim->run->findings.count)
        sim_print_findings(sim);
    assert_int_equal(sim->result, 0);
    assert_int_equal(sim->run->findings.count, 0);
    assert_true(sim->run->audited);
}

static const struct slot_facts *facts_of(const struct sim *sim, unsigned index)
{
    const struct run_slots *slots = sim->run->slots;
    assert_true(slots->main_first + index < slots->count);
    return &slots->list[slots->main_first + index].facts;
}

static uint64_t ops_of(const struct slot_facts *facts, enum stream stream)
{
    return facts->streams[stream] ? facts->streams[stream]->ops : 0;
}

/* 16 MiB in transfers of 1 MiB: a full backup is 16 reads, and ends within a second; CHECKDB of 2
 * databases 2 passes.  The phases may take 1,000 s each; the last one has its length. */
static void a_phase_ends_when_its_users_are_done(unsigned workers, uint64_t seed)
{
    struct sim_options options = {
        .seed = seed,
        .databases = 2,
        .workers = workers,
        .backup_files = true,
        .settings = {FEW_USERS,
                     {"BackupUser", "UserCount", "1"},
                     {"Phase1", "Duration", "1000"},
                     {"Phase1", "Until", "BackupUser"},
                     {"Phase2", "Duration", "1000"},
                     {"Phase2", "Until", "DbccUser"},
                     {"Phase2", "DbccUser.UserCount", "3"},
                     {"Phase3", "Duration", "2"}},
    };
    struct sim sim;
    sim_begin(&sim, &options);
    sim_run(&sim);
    assert_clean(&sim);
    const struct slot_facts *backup = facts_of(&sim, 0), *check = facts_of(&sim, 1);
    assert_int_equal(backup->ended, SLOT_END_USERS);
    assert_int_equal(check->ended, SLOT_END_USERS);
    assert_int_equal(facts_of(&sim, 2)->ended, SLOT_END_TIME);
    assert_true(backup->seconds > 0 && backup->seconds < 100);
    assert_true(check->seconds > 0 && check->seconds < 100);
    assert_true(facts_of(&sim, 2)->seconds > 1.99 && facts_of(&sim, 2)->seconds < 2.01);
    assert_int_equal(backup->counters.backups, 2);
    assert_int_equal(backup->counters.dbcc_passes, 0);
    assert_int_equal(check->counters.backups, 0);
    assert_int_equal(check->counters.dbcc_passes, 2);
    assert_int_equal(facts_of(&sim, 2)->counters.dbcc_passes, 0);
    assert_true(ops_of(facts_of(&sim, 2), STREAM_page_read) > 0);
    const struct run_phase_time *main_part = &sim.run->phases[PHASE_stress];
    double seconds = (double)(main_part->end_ns - main_part->start_ns) / 1e9;
    assert_true(seconds < backup->seconds + check->seconds + 2 + 0.5);
    sim_end(&sim);
}

static void it_does_so_from_every_seed(void **state)
{
    (void)state;
    unsigned seeds = test_scaled(6);
    for (uint64_t seed = 1; seed <= seeds; seed++) {
        print_message("  seed %u\n", (unsigned)seed);
        a_phase_ends_when_its_users_are_done(1 + seed % 3, seed);
    }
}

/* The only phase: its users are done at once, it goes on to its least length, and no longer. */
static void a_phase_has_a_least_length(void **state)
{
    struct sim_options options = {
        .backup_files = true,
        .settings = {FEW_USERS,
                     {"BackupUser", "UserCount", "1"},
                     {"DbccUser", "UserCount", "2"},
                     {"Phase1", "Duration", "1000"},
                     {"Phase1", "DurationMin", "5"},
                     {"Phase1", "Until", "BackupUser,DbccUser"}},
    };
    struct sim sim;
    (void)state;
    sim_begin(&sim, &options);
    sim_run(&sim);
    assert_clean(&sim);
    const struct slot_facts *facts = facts_of(&sim, 0);
    assert_int_equal(facts->ended, SLOT_END_USERS);
    assert_true(facts->seconds > 4.999 && facts->seconds < 5.001);
    assert_int_equal(facts->counters.backups, 1); /* who is done rests */
    assert_int_equal(facts->counters.dbcc_passes, 1);
    sim_end(&sim);
}

/* The first full backup begins only after the phase's longest time. */
static void a_phase_ends_at_its_duration_when_they_are_not(void **state)
{
    struct sim_options options = {
        .backup_files = true,
        .settings = {FEW_USERS,
                     {"BackupUser", "UserCount", "1"},
                     {"BackupUser", "Start", "50"},
                     {"Phase1", "Duration", "2"},
                     {"Phase1", "Until", "BackupUser"}},
    };
    struct sim sim;
    (void)state;
    sim_begin(&sim, &options);
    sim_run(&sim);
    assert_clean(&sim);
    assert_int_equal(facts_of(&sim, 0)->ended, SLOT_END_TIME);
    assert_true(facts_of(&sim, 0)->seconds > 1.999 && facts_of(&sim, 0)->seconds < 2.001);
    sim_end(&sim);
}

/* DbccUser goes on unchanged: who has rested since the end of its pass is at work again, and a
 * phase that waits for it again gets a pass of its own. */
static void who_rested_goes_on_in_the_next_phase(void **state)
{
    struct sim_options options = {
        .settings = {FEW_USERS,
                     {"DbccUser", "UserCount", "2"},
                     {"Phase1", "Duration", "1000"},
                     {"Phase1", "DurationMin", "2"},
                     {"Phase1", "Until", "DbccUser"},
                     {"Phase2", "Duration", "2"},
                     {"Phase3", "Duration", "1000"},
                     {"Phase3", "DurationMin", "2"},
                     {"Phase3", "Until", "DbccUser"}},
    };
    struct sim sim;
    (void)state;
    sim_begin(&sim, &options);
    sim_run(&sim);
    assert_clean(&sim);
    assert_int_equal(facts_of(&sim, 0)->counters.dbcc_passes, 1);
    assert_true(facts_of(&sim, 1)->counters.dbcc_passes > 2);
    assert_int_equal(facts_of(&sim, 2)->ended, SLOT_END_USERS);
    assert_true(facts_of(&sim, 2)->counters.dbcc_passes <= 2); /* one was under way */
    assert_true(facts_of(&sim, 2)->counters.dbcc_passes >= 1);
    sim_end(&sim);
}

/* In FULL recovery the log waits for its backup.  A phase without BackupUser has nobody who takes
 * one: five times the log of 8 MiB are written in it, and none of it waits. */
static void a_backup_user_that_ends_lets_the_log_go(void **state)
{
    struct sim_options options = {
        .backup_files = true,
        .settings = {FEW_USERS,
                     {"RandomUser", "SleepAfter", "0"},
                     {"BackupUser", "UserCount", "1"},
                     {"BackupUser", "LogInterval", "1"},
                     {"Phase1", "Duration", "100"},
                     {"Phase1", "Until", "BackupUser"},
                     {"Phase2", "Duration", "6"},
                     {"Phase2", "BackupUser.UserCount", "0"}},
    };
    struct sim sim;
    (void)state;
    sim_begin(&sim, &options);
    sim_run(&sim);
    assert_clean(&sim);
    const struct slot_facts *facts = facts_of(&sim, 1);
    assert_non_null(facts->streams[STREAM_log_write]);
    assert_true(facts->streams[STREAM_log_write]->bytes > 5 * 8 * MIB);
    assert_int_equal(facts->counters.log_full_errors, 0);
    assert_false(sim.run->backups[0].log_hold.held);
    sim_end(&sim);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(it_does_so_from_every_seed),
        cmocka_unit_test(a_phase_has_a_least_length),
        cmocka_unit_test(a_phase_ends_at_its_duration_when_they_are_not),
        cmocka_unit_test(who_rested_goes_on_in_the_next_phase),
        cmocka_unit_test(a_backup_user_that_ends_lets_the_log_go),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
