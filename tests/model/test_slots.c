/*
 * test_slots.c - whole runs in phases over the modelled device: what each phase issues, who goes on
 * and who is replaced, held shares, stops in every phase, and that nothing of it depends on
 * anything but the seed.
 */
#include <errno.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "patterns/rng.h"
#include "sim/actor.h"
#include "sim/report.h"
#include "sim/run_actor_rows.h"
#include "sim/run_slots.h"
#include "tests/scale.h"
#include "tests/sim_fixture.h"

#define MIB ((uint64_t)1 << 20)

/* Nobody but RandomUser by single pages, and that in closed loop without sleep. */
#define RANDOM_ALONE                                                                               \
    {"CONFIG", "CacheHitRatio", "0"}, {"CONFIG", "Arrivals", "fixed"},                             \
        {"RandomUser", "UserCount", "16"}, {"RandomUser", "SleepAfter", "0"},                      \
        {"RandomUser", "ReadsPerTransaction", "2"}, {"RandomUser", "UpdatesPerTransaction", "1"},  \
        {"RandomUser", "MaxLogPerBuffer", "512"}, {"RandomUser", "RollbackChance", "0"},           \
        {"ReadAheadUser", "UserCount", "0"}, {"BulkUpdateUser", "UserCount", "0"},                 \
        {"AuditUser", "UserCount", "0"},                                                           \
    {                                                                                              \
        "CpuIdleUser", "UserCount", "0"                                                            \
    }

static void assert_clean(const struct sim *sim)
{
    if (sim->result || sim->run->findings.count)
        sim_print_findings(sim);
    assert_int_equal(sim->result, 0);
    assert_int_equal(sim->run->findings.count, 0);
    assert_true(sim->run->audited);
}

static const struct run_slot *slot_of(const struct sim *sim, unsigned index)
{
    const struct run_slots *slots = sim->run->slots;
    assert_true(slots->main_first + index < slots->count);
    return &slots->list[slots->main_first + index];
}

static double ops_of(const struct run_slot *slot, enum stream stream)
{
    return slot->facts.streams[stream] ? (double)slot->facts.streams[stream]->ops : 0;
}

static void assert_near(double value, double expected, double share, const char *what)
{
    if (value < expected * (1 - share) || value > expected * (1 + share))
        fail_msg("%s: %.6g, expected %.6g within %.1f %%", what, value, expected, share * 100);
}

/* ---- rates ---- */

/* 50, 20 and 100 transactions a second of 2 reads for 10 s each: 500, 200 and 1,000. */
static void rates_hold_on(enum config_device model)
{
    struct sim_options options = {
        .seed = 3,
        .data_bytes = 64 * MIB,
        .log_bytes = 16 * MIB,
        .workers = 2,
        .settings = {RANDOM_ALONE,
                     {"RandomUser", "RatePerSecond", "50"},
                     {"Phase1", "Duration", "10"},
                     {"Phase2", "Duration", "10"},
                     {"Phase2", "Load", "40"},
                     {"Phase3", "Duration", "12"},
                     {"Phase3", "WarmUp", "2"},
                     {"Phase3", "Rated", "TRUE"},
                     {"Phase3", "RandomUser.RatePerSecond", "100"}},
    };
    static const double wanted[] = {500, 200, 1000};
    struct sim sim;
    if (model == CONFIG_DEVICE_HDD) {
        options.device.model = MEM_HDD;
        options.settings[12].value = "12.5"; /* a disk carries some 100 I/Os */
        options.settings[19] = (struct sim_setting){"Phase3", "RandomUser.RatePerSecond", "25"};
    }
    sim_begin(&sim, &options);
    sim_run(&sim);
    assert_clean(&sim);
    double of_model = model == CONFIG_DEVICE_HDD ? 0.25 : 1;
    for (unsigned i = 0; i < 3; i++) {
        const struct run_slot *slot = slot_of(&sim, i);
        assert_int_equal(slot->facts.rate_count, 1);
        const struct slot_rate *rate = &slot->facts.rates[0];
        assert_near((double)rate->asked, wanted[i] * of_model, 0.02, "asked");
        assert_near((double)rate->done, wanted[i] * of_model, 0.02, "done");
        assert_near(ops_of(slot, STREAM_transaction), wanted[i] * of_model, 0.02, "transactions");
        assert_near(slot->facts.seconds, 10, 0.001, "seconds");
    }
    sim_end(&sim);
}

static void each_phase_has_its_rate_on_flash(void **state)
{
    (void)state;
    rates_hold_on(CONFIG_DEVICE_SSD);
}

static void each_phase_has_its_rate_on_a_disk(void **state)
{
    (void)state;
    rates_hold_on(CONFIG_DEVICE_HDD);
}

/* ---- shares ---- */

/* 70 % read-aheads; of the rest two parts reads and one part updates. */
static void shares_hold_on(enum config_device model)
{
    struct sim_options options = {
        .seed = 5,
        .data_bytes = 128 * MIB,
        .log_bytes = 16 * MIB,
        .pool_bytes = 48 * MIB,
        .duration_ns = model == CONFIG_DEVICE_HDD ? 30 * NS_PER_S : NS_PER_S,
        .settings = {RANDOM_ALONE,
                     {"RandomUser", "Share", "30%"},
                     {"ReadAheadUser", "UserCount", "4"},
                     {"ReadAheadUser", "Share", "70%"},
                     {"ReadAheadUser", "ScanShare", "10%"},
                     {"ReadAheadUser", "FirstTransfer", "8"},
                     {"ReadAheadUser", "Outstanding", "8"},
                     {"ReadAheadUser", "DelayAfterCycles", "0"}},
    };
    struct sim sim;
    options.device.model = model == CONFIG_DEVICE_HDD ? MEM_HDD : MEM_SSD;
    sim_begin(&sim, &options);
    sim_run(&sim);
    assert_clean(&sim);
    const struct run_slot *slot = slot_of(&sim, 0);
    double scans = ops_of(slot, STREAM_read_ahead), reads = ops_of(slot, STREAM_page_read);
    double updates = (double)slot->facts.counters.page_updates, all = scans + reads + updates;
    print_message("  %.0f requests: %.2f %% read-aheads, %.2f %% reads, %.2f %% updates\n", all,
                  100 * scans / all, 100 * reads / all, 100 * updates / all);
    assert_true(all > 1000);
    assert_true(scans / all > 0.68 && scans / all < 0.72);
    assert_true(reads / all > 0.18 && reads / all < 0.22);
    assert_true(updates / all > 0.08 && updates / all < 0.12);
    sim_end(&sim);
}

static void shares_hold_on_flash(void **state)
{
    (void)state;
    shares_hold_on(CONFIG_DEVICE_SSD);
}

static void shares_hold_on_a_disk(void **state)
{
    (void)state;
    shares_hold_on(CONFIG_DEVICE_HDD);
}

/* 10 % of 2,048 pages, in transfers of 8, 16, 32 and 64 pages: 8 + 16 + 32 + 64 + 64 + 20. */
static void a_scan_begins_with_short_transfers(void **state)
{
    struct sim_options options = {
        .pool_bytes = 24 * MIB,
        .duration_ns = NS_PER_S,
        .settings = {RANDOM_ALONE,
                     {"RandomUser", "UserCount", "0"},
                     {"ReadAheadUser", "UserCount", "1"},
                     {"ReadAheadUser", "ScanShare", "10%"},
                     {"ReadAheadUser", "FirstTransfer", "8"},
                     {"ReadAheadUser", "Outstanding", "2"},
                     {"ReadAheadUser", "DelayAfterCycles", "0"}},
    };
    struct sim sim;
    (void)state;
    sim_begin(&sim, &options);
    sim_run(&sim);
    assert_clean(&sim);
    const struct stream_stats *scans = slot_of(&sim, 0)->facts.streams[STREAM_read_ahead];
    assert_non_null(scans);
    double pages = (double)scans->bytes / PAGE_BYTES / (double)scans->ops;
    assert_near(pages, 204.0 / 6, 0.05, "pages of a transfer"); /* some scans meet the file's end */
    double in_flight = (double)scans->latency.sum_ns / (double)NS_PER_S;
    assert_true(in_flight > 1.7 && in_flight <= 2.01);
    sim_end(&sim);
}

/* ---- who goes on ---- */

/* RandomUser changes twice, AuditUser never: 3 x 4 + 2 of them are made, and the services once. */
static void users_that_do_not_change_go_on(void **state)
{
    struct sim_options options = {
        .settings = {RANDOM_ALONE,
                     {"RandomUser", "UserCount", "4"},
                     {"AuditUser", "UserCount", "2"},
                     {"Phase1", "Duration", "1"},
                     {"Phase2", "Duration", "1"},
                     {"Phase2", "RandomUser.SleepAfter", "1"},
                     {"Phase3", "Duration", "1"},
                     {"Phase3", "RandomUser.SleepAfter", "2"}},
    };
    struct sim sim, other;
    (void)state;
    sim_begin(&sim, &options);
    sim_run(&sim);
    assert_clean(&sim);
    for (size_t i = 0; options.settings[i].section; i++)
        if (strcmp(options.settings[i].section, "Phase1") == 0)
            options.settings[i] = (struct sim_setting){NULL, NULL, NULL};
    sim_begin(&other, &options);
    sim_run(&other);
    assert_clean(&other);
    assert_int_equal(sim.run->actors_made - other.run->actors_made, 2 * 4);
    assert_int_equal(sim.run->actor_rows->count, other.run->actor_rows->count);
    sim_end(&sim);
    sim_end(&other);
}

/* A phase of one database leaves the files of the other alone. */
static void a_phase_may_be_for_one_database(void **state)
{
    struct sim_options options = {
        .databases = 2,
        .with_faults = true,
        .settings = {RANDOM_ALONE, {"Phase1", "Duration", "1"}, {"Phase1", "Databases", "2"}},
    };
    struct sim sim;
    unsigned seen[2] = {0, 0};
    (void)state;
    sim_begin(&sim, &options);
    for (uint16_t i = 0; i < 2; i++)
        fault_add(sim.faults, &(struct fault_rule){.kind = FAULT_DELAY,
                                                   .op = IO_READ,
                                                   .file_uid = (uint16_t)(2 * i + 1),
                                                   .count = UINT32_MAX});
    sim_run(&sim);
    assert_clean(&sim);
    const struct run_phase_time *main_part = &sim.run->phases[PHASE_stress];
    for (unsigned i = 0; i < sim.faults->truth_count; i++) {
        const struct fault_truth *truth = &sim.faults->truth[i];
        if (truth->time_ns >= main_part->start_ns && truth->time_ns < main_part->end_ns)
            seen[truth->file_uid == 3]++;
    }
    assert_int_equal(seen[0], 0);
    assert_true(seen[1] > 0);
    sim_end(&sim);
}

static void a_phase_for_each_database_is_repeated(void **state)
{
    struct sim_options options = {
        .databases = 2,
        .settings = {RANDOM_ALONE,
                     {"Phase1", "Name", "path"},
                     {"Phase1", "Duration", "1"},
                     {"Phase1", "Databases", "each"},
                     {"Phase2", "Duration", "1"}},
    };
    struct sim sim;
    (void)state;
    sim_begin(&sim, &options);
    sim_run(&sim);
    assert_clean(&sim);
    assert_int_equal(sim.run->slots->count, 3);
    assert_string_equal(slot_of(&sim, 0)->name, "path, database 1");
    assert_string_equal(slot_of(&sim, 1)->name, "path, database 2");
    assert_string_equal(slot_of(&sim, 2)->name, "Phase2");
    for (unsigned i = 0; i < 3; i++)
        assert_true(ops_of(slot_of(&sim, i), STREAM_page_read) > 0);
    sim_end(&sim);
}

/* A run of many cycles keeps no more actors than are at work, and each phase adds up. */
static void cycles_do_not_pile_up_actors(void **state)
{
    struct sim_options options = {
        .data_bytes = 4 * MIB,
        .settings = {RANDOM_ALONE,
                     {"CONFIG", "TestCycles", "12"},
                     {"Phase1", "Duration", "1200ms"},
                     {"Phase2", "Duration", "1200ms"},
                     {"Phase2", "RandomUser.RatePerSecond", "50"}},
    };
    struct sim sim;
    (void)state;
    sim_begin(&sim, &options);
    sim_run(&sim);
    assert_clean(&sim);
    assert_int_equal(sim.run->cycles_done, 12);
    assert_int_equal(slot_of(&sim, 1)->facts.times, 12);
    assert_near(slot_of(&sim, 1)->facts.seconds, 12 * 1.2, 0.001, "seconds");
    assert_near((double)slot_of(&sim, 1)->facts.rates[0].asked, 12 * 1.2 * 50, 0.02, "asked");
    assert_near((double)slot_of(&sim, 1)->facts.rates[0].done, 12 * 1.2 * 50, 0.02, "done");
    assert_true(sim.run->actors_made > 12 * 2 * 16);
    assert_true(sim.run->actor_count < 4 * 16);
    assert_true(sim.run->actor_rows->count < 3 * 16);
    sim_end(&sim);
}

/* ---- judged phases ---- */

/* One channel of 10 ms carries under 100 reads a second: 20 pass, 300 do not, 30 s each. */
static void the_worst_phase_leads_and_is_named(void **state)
{
    struct sim_options options = {
        .device = {.channels = 1, .read_ns = 10 * NS_PER_MS},
        .settings = {RANDOM_ALONE,
                     {"RandomUser", "ReadsPerTransaction", "1"},
                     {"RandomUser", "UpdatesPerTransaction", "0"},
                     {"RandomUser", "RatePerSecond", "40"},
                     {"Phase1", "Name", "easy"},
                     {"Phase1", "Duration", "35"},
                     {"Phase1", "Rated", "TRUE"},
                     {"Phase2", "Name", "hard"},
                     {"Phase2", "Duration", "35"},
                     {"Phase2", "Rated", "TRUE"},
                     {"Phase2", "Load", "750"},
                     {"Phase3", "Name", "easy again"},
                     {"Phase3", "Duration", "40"},
                     {"Phase3", "WarmUp", "10"},
                     {"Phase3", "Rated", "TRUE"}},
    };
    struct report report;
    struct sim sim;
    (void)state;
    sim_begin(&sim, &options);
    sim_run(&sim);
    assert_clean(&sim);
    assert_int_equal(report_freeze(&report, sim.run, "test", 0), 0);
    print_message("  %s\n", report.speed.reason);
    assert_int_equal(report.speed.grade, GRADE_FAIL);
    assert_int_equal(strncmp(report.speed.reason, "hard", 4), 0);
    assert_int_equal(report.slot_count, 3);
    assert_true(report.slots[0].result.axis.grade != GRADE_FAIL);
    assert_int_equal(report.slots[1].result.axis.grade, GRADE_FAIL);
    assert_true(report.slots[2].result.axis.grade != GRADE_FAIL);
    assert_near(report.slots[1].facts.held, 98.0 / 300, 0.03, "held");
    assert_near(report.slots[0].facts.held, 1, 0.02, "held before");
    assert_near(report.slots[2].facts.held, 1, 0.02, "held afterwards");
    report_free(&report);
    sim_end(&sim);
}

/* Steps of the rated phase: 25 and 50 of 50 transactions a second, then as much as there is. */
static void steps_scale_the_rates_and_max_has_none(void **state)
{
    struct sim_options options = {
        .duration_ns = 1,
        .settings = {RANDOM_ALONE,
                     {"RandomUser", "RatePerSecond", "50"},
                     {"CONFIG", "RatedDuration", "10"},
                     {"CONFIG", "RatedWarmUp", "3"},
                     {"CONFIG", "Load", "50%,100%,max"}},
    };
    struct sim sim;
    (void)state;
    sim_begin(&sim, &options);
    profile_rate_by_itself(sim.profile);
    sim_run(&sim);
    assert_clean(&sim);
    const struct run_slots *slots = sim.run->slots;
    assert_int_equal(slots->main_first, 3);
    assert_near(slots->list[0].facts.rates[0].asked, 250, 0.01, "asked at 50 %");
    assert_near(slots->list[1].facts.rates[0].asked, 500, 0.01, "asked at 100 %");
    assert_near(slots->list[0].facts.seconds, 10, 0.001, "seconds");
    assert_true(slots->list[0].warm_up_ns == NS_PER_S);
    assert_int_equal(slots->list[2].facts.rate_count, 0);
    assert_false(slots->list[2].rated);
    assert_true(ops_of(&slots->list[2], STREAM_page_read) > 10 * 2 * 500);
    sim_end(&sim);
}

/* ---- changes under load ---- */

/* Everybody at work, other numbers of them in each phase. */
static struct sim_options busy(uint64_t seed)
{
    return (struct sim_options){
        .seed = seed,
        .data_bytes = 4 * MIB,
        .log_bytes = 2 * MIB,
        .pool_bytes = MIB,
        .workers = 1 + (unsigned)(seed % 3),
        .settings = {{"RandomUser", "UserCount", "6"},
                     {"RandomUser", "MaxIOChainLength", "16"},
                     {"RandomUser", "MaxLogPerBuffer", "1024"},
                     {"AuditUser", "AuditDelay", "20"},
                     {"BulkUpdateUser", "UserCount", "1"},
                     {"BulkUpdateUser", "BUDelay", "5"},
                     {"Phase1", "Duration", "100ms"},
                     {"Phase2", "Duration", "70ms"},
                     {"Phase2", "RandomUser.UserCount", "9"},
                     {"Phase2", "CONFIG.CacheHitRatio", "0"},
                     {"Phase3", "Duration", "130ms"},
                     {"Phase3", "WarmUp", "30ms"},
                     {"Phase3", "Rated", "TRUE"},
                     {"Phase3", "RandomUser.RatePerSecond", "300"},
                     {"Phase3", "BulkUpdateUser.UserCount", "0"},
                     {"Phase4", "Duration", "50ms"},
                     {"Phase4", "RandomUser.UserCount", "0"},
                     {"Phase4", "ReadAheadUser.UserCount", "0"},
                     {"Phase4", "BulkUpdateUser.UserCount", "0"},
                     {"Phase4", "AuditUser.UserCount", "0"},
                     {"Phase5", "Duration", "90ms"},
                     {"Phase5", "RandomUser.Share", "40%"},
                     {"Phase5", "ReadAheadUser.Share", "60%"}},
    };
}

static void changes_under_load_leave_no_finding_and_repeat(void **state)
{
    unsigned long seeds = test_scaled(20);
    struct stats *one = malloc(sizeof *one), *two = malloc(sizeof *two);
    (void)state;
    assert_true(one && two);
    for (uint64_t seed = 1; seed <= seeds; seed++) {
        struct sim_options options = busy(seed);
        struct sim a, b;
        print_message("  seed %llu\n", (unsigned long long)seed);
        sim_begin(&a, &options);
        sim_run(&a);
        assert_clean(&a);
        for (unsigned i = 0; i < 5; i++)
            assert_true(slot_of(&a, i)->facts.complete);
        if (seed % 5 == 0) {
            sim_begin(&b, &options);
            sim_run(&b);
            run_stats(a.run, one);
            run_stats(b.run, two);
            assert_memory_equal(one, two, sizeof *one);
            sim_end(&b);
        }
        sim_end(&a);
    }
    free(one);
    free(two);
}

static _Atomic int flag; /* lint: mutable: what a signal handler would set */

struct alarm {
    unsigned phase;
};

/* The flag is set when the phase of this number is told of. */
static void on_event(void *context, const struct event *event)
{
    const struct alarm *alarm = context;
    char begins[32];
    snprintf(begins, sizeof begins, "Phase %u of 5 begins", alarm->phase + 1);
    if (strncmp(event->text, begins, strlen(begins)) == 0)
        atomic_store(&flag, SIGINT);
}

static void a_stop_in_any_phase_leaves_a_complete_report(void **state)
{
    (void)state;
    for (unsigned phase = 0; phase < 5; phase++) {
        struct sim_options options = busy(7 + phase);
        struct alarm alarm = {.phase = phase};
        struct report report;
        struct sim sim;
        options.signal = &flag;
        options.event = on_event;
        options.context = &alarm;
        atomic_store(&flag, 0);
        sim_begin(&sim, &options);
        sim_run(&sim);
        assert_int_equal(sim.result, -EINTR);
        assert_int_equal(sim.run->findings.count, 0);
        assert_int_equal(report_freeze(&report, sim.run, "test", SIGINT), 0);
        for (unsigned i = 0; i < report.slot_count; i++) {
            const struct slot_facts *facts = &report.slots[i].slot->facts;
            assert_int_equal(facts->complete, i < phase);
            assert_true(i <= phase || facts->times == 0);
        }
        assert_int_equal(report.overall.grade, GRADE_INCOMPLETE);
        report_free(&report);
        sim_end(&sim);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(each_phase_has_its_rate_on_flash),
        cmocka_unit_test(each_phase_has_its_rate_on_a_disk),
        cmocka_unit_test(shares_hold_on_flash),
        cmocka_unit_test(shares_hold_on_a_disk),
        cmocka_unit_test(a_scan_begins_with_short_transfers),
        cmocka_unit_test(users_that_do_not_change_go_on),
        cmocka_unit_test(a_phase_may_be_for_one_database),
        cmocka_unit_test(a_phase_for_each_database_is_repeated),
        cmocka_unit_test(cycles_do_not_pile_up_actors),
        cmocka_unit_test(the_worst_phase_leads_and_is_named),
        cmocka_unit_test(steps_scale_the_rates_and_max_has_none),
        cmocka_unit_test(changes_under_load_leave_no_finding_and_repeat),
        cmocka_unit_test(a_stop_in_any_phase_leaves_a_complete_report),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
