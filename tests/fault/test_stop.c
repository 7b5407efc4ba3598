/*
 * test_stop.c - a run is told to stop at many moments of every phase, by the flag that a signal
 * handler sets, or stops itself at a finding.
 *
 * Under the virtual clock: a first run shows when each phase begins and ends; then for each of
 * MOMENTS moments of each phase a run sees the flag at the first request from there on.  It must
 * end in order: nothing in flight, no finding, the phase it was in not complete, later ones not
 * begun, and files that `pagestorm verify` finds right.
 */
#include <errno.h>
#include <signal.h>

#include "config/preset.h"
#include "tests/fault/outcome.h"
#include "tests/scale.h"

#define MIB      (1024ull * 1024)
#define MOMENTS  30
#define WHAT_MAX 160

/* ---- an engine that sets the flag when a request comes at or after a time ---- */

static _Atomic int flag;              /* lint: mutable: what a signal handler would set */
static _Atomic uint64_t trip_time_ns; /* lint: mutable: an engine has no context of a test */

static int trip_submit(struct io_engine *engine, struct io_req *req)
{
    if (clock_now_ns(engine->clock) >= atomic_load(&trip_time_ns))
        atomic_store(&flag, SIGTERM);
    return engine_mem.submit(engine, req);
}

static int trip_create(struct io_engine **out, const struct io_engine_config *config);

static const struct io_engine_ops *trip_ops(void)
{
    static struct io_engine_ops ops; /* lint: mutable: engine_mem's table but for two entries */
    ops = engine_mem;
    ops.create = trip_create;
    ops.submit = trip_submit;
    return &ops;
}

static int trip_create(struct io_engine **out, const struct io_engine_config *config)
{
    int error = engine_mem.create(out, config);
    if (!error)
        (*out)->ops = trip_ops();
    return error;
}

/* ---- runs ---- */

/* Small enough for a pool of 48 frames. */
static const struct preset rated_load = {
    .name = "rated",
    .text = "[CONFIG]\nCacheHitRatio=0\n"
            "[RandomUser]\nUserCount=6\nRatePerSecond=500\nReadsPerTransaction=2\n"
            "UpdatesPerTransaction=1\nMaxLogPerBuffer=1024\n"
            "[ReadAheadUser]\nUserCount=0\n[BulkUpdateUser]\nUserCount=0\n"
            "[AuditUser]\nUserCount=1\n",
};

static void sim_small(struct sim *sim, uint64_t seed, bool write_through)
{
    struct sim_options options = {
        .seed = seed,
        .duration_ns = 200 * NS_PER_MS,
        .data_bytes = 2 * MIB,
        .log_bytes = 1 * MIB,
        .pool_bytes = 48 * PAGE_BYTES,
        .workers = 2,
        .with_faults = true,
        .signal = &flag,
        .settings = {{"CONFIG", "WriteThrough", write_through ? "TRUE" : "FALSE"},
                     {"CONFIG", "TargetRecoveryTime", write_through ? "50ms" : "0"},
                     {"CONFIG", "RatedWarmUp", "50ms"},
                     {"CONFIG", "RatedDuration", "100ms"},
                     {"RandomUser", "UserCount", "6"},
                     {"RandomUser", "MaxIOChainLength", "16"},
                     {"RandomUser", "MaxLogPerBuffer", "1024"},
                     {"AuditUser", "UserCount", "1"},
                     {"AuditUser", "AuditDelay", "20"}},
    };
    atomic_store(&flag, 0);
    sim_begin(sim, &options);
    profile_rate_by(sim->profile, &rated_load);
    sim->faults->below = trip_ops();
}

/* Run to the end, undisturbed, and remember the phases. */
static void phases_learn(uint64_t seed, bool write_through, struct run_phase_time out[PHASE_COUNT])
{
    struct sim sim;
    atomic_store(&trip_time_ns, UINT64_MAX);
    sim_small(&sim, seed, write_through);
    sim_run(&sim);
    assert_int_equal(sim.result, 0);
    assert_true(sim.run->audited);
    memcpy(out, sim.run->phases, PHASE_COUNT * sizeof out[0]);
    sim_end(&sim);
}

static void judge_stopped(struct sim *sim, const char *what, enum phase phase)
{
    struct outcome o;
    outcome_take(sim, &o);
    if (phase == PHASE_create && !o.created) { /* the files were removed again */
        OUTCOME_CHECK(sim, what, o.result == -EINTR);
        outcome_judge_not_created(sim, what, &o);
        return;
    }
    OUTCOME_CHECK(sim, what, o.created && o.result == -EINTR && o.stop == RUN_STOP_SIGNAL);
    OUTCOME_CHECK(sim, what, o.integrity == 0 && o.io_errors == 0 && o.warnings == 0);
    OUTCOME_CHECK(sim, what, o.ledger.in_flight == 0 && o.ledger.indeterminate == 0);
    OUTCOME_CHECK(sim, what, !o.audited);
    /* The flag is seen after the request: the phase may have ended with that one. */
    const struct run_phase_time *phases = sim->run->phases;
    for (int i = 0; i < PHASE_COUNT; i++)
        OUTCOME_CHECK(sim, what, i >= (int)phase || phases[i].complete);
    for (int i = (int)phase + 2; i < PHASE_COUNT; i++)
        OUTCOME_CHECK(sim, what, phases[i].start_ns == 0 && !phases[i].complete);
    OUTCOME_CHECK(sim, what, !phases[PHASE_audit].complete);
    outcome_judge_files(sim, what);
}

static void stop_at(uint64_t seed, bool write_through, enum phase phase, uint64_t time_ns)
{
    struct sim sim;
    char what[WHAT_MAX];
    snprintf(what, sizeof what, "seed %llu, WriteThrough %d, flag in '%s' at %llu ns",
             (unsigned long long)seed, write_through, phase_name(phase),
             (unsigned long long)time_ns);
    atomic_store(&trip_time_ns, time_ns);
    sim_small(&sim, seed, write_through);
    alarm(OUTCOME_SECONDS_MAX);
    sim_run(&sim);
    alarm(0);
    /* A moment after the last request of the audit is too late for anybody. */
    if (phase == PHASE_audit && sim.run->audited)
        OUTCOME_CHECK(&sim, what, sim.result == 0 || sim.result == -EINTR);
    else
        judge_stopped(&sim, what, phase);
    sim_end(&sim);
}

static void stop_in(enum phase phase)
{
    struct run_phase_time phases[PHASE_COUNT];
    unsigned long moments = test_scaled(MOMENTS);
    for (unsigned long i = 0; i < moments; i++) {
        uint64_t seed = 1 + i % 5;
        bool write_through = i % 2;
        phases_learn(seed, write_through, phases);
        uint64_t length = phases[phase].end_ns - phases[phase].start_ns;
        assert_true(length > 0);
        stop_at(seed, write_through, phase, phases[phase].start_ns + length * i / moments);
    }
}

static void flag_during_creation(void **state)
{
    (void)state;
    stop_in(PHASE_create);
}

static void flag_during_initial_update(void **state)
{
    (void)state;
    stop_in(PHASE_initial_update);
}

static void flag_during_the_rated_warm_up(void **state)
{
    (void)state;
    stop_in(PHASE_rated_warm_up);
}

static void flag_during_the_rated_phase(void **state)
{
    (void)state;
    stop_in(PHASE_rated);
}

static void flag_during_stress(void **state)
{
    (void)state;
    stop_in(PHASE_stress);
}

static void flag_during_final_checkpoint(void **state)
{
    (void)state;
    stop_in(PHASE_final_checkpoint);
}

static void flag_during_audit(void **state)
{
    (void)state;
    stop_in(PHASE_audit);
}

/* ---- a finding stops the run ---- */

static void stop_on_error_ends_the_run_in_order(void **state)
{
    (void)state;
    unsigned long seeds = test_scaled(MOMENTS);
    unsigned stopped = 0, named_offline = 0;
    atomic_store(&trip_time_ns, UINT64_MAX);
    for (uint64_t seed = 1; seed <= seeds; seed++) {
        struct sim sim;
        struct outcome o;
        char what[WHAT_MAX];
        snprintf(what, sizeof what, "seed %llu, a bit flips in a page", (unsigned long long)seed);
        sim_small(&sim, seed, seed % 2);
        /* Bit 3 of byte 2000 of a page in a write behind the initial update's. */
        fault_add(sim.faults, &(struct fault_rule){.kind = FAULT_FLIP,
                                                   .op = IO_WRITE,
                                                   .file_uid = 1,
                                                   .nth = 6 + (unsigned)(seed % 10),
                                                   .a = 2000,
                                                   .b = 3});
        sim_run(&sim);
        outcome_take(&sim, &o);
        OUTCOME_CHECK(&sim, what, o.io_errors == 0);
        OUTCOME_CHECK(&sim, what, o.ledger.in_flight == 0 && o.ledger.indeterminate == 0);
        OUTCOME_CHECK(&sim, what, o.integrity <= 1);
        OUTCOME_CHECK(&sim, what, (o.integrity == 1) == (o.stop == RUN_STOP_ERROR));
        OUTCOME_CHECK(&sim, what, o.integrity == 0 || !o.audited);
        OUTCOME_CHECK(&sim, what, o.integrity == o.ledger.quarantined);
        stopped += o.integrity == 1;
        sim_close(&sim);
        struct offline offline; /* it names the page, too, unless that was written again */
        offline_check(&sim, &offline);
        OUTCOME_CHECK(&sim, what, offline.error == 0);
        OUTCOME_CHECK(&sim, what, offline.findings <= o.integrity);
        named_offline += offline.findings;
        sim_end(&sim);
    }
    assert_true(named_offline * 2 > stopped);
    assert_true(stopped * 2 > seeds); /* a flipped page may be written again before it is read */
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(flag_during_creation),
        cmocka_unit_test(flag_during_initial_update),
        cmocka_unit_test(flag_during_the_rated_warm_up),
        cmocka_unit_test(flag_during_the_rated_phase),
        cmocka_unit_test(flag_during_stress),
        cmocka_unit_test(flag_during_final_checkpoint),
        cmocka_unit_test(flag_during_audit),
        cmocka_unit_test(stop_on_error_ends_the_run_in_order),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
