/*
 * test_dbcc_new_extents.c - CHECKDB on a snapshot of a file whose free extents are loaded into: a
 * page that a read returned stands nowhere in the snapshot when its turn to be judged comes.
 *
 * Whole runs over the modelled device: nothing is found, every pass ends.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "tests/scale.h"
#include "tests/sim_fixture.h"

#define MIB   (1024ull * 1024)
#define SEEDS 4

/* A small pool and long loads: what is read is overwritten soon. */
static void one_seed(uint64_t seed, uint64_t *passes)
{
    struct sim sim;
    struct sim_options options = {
        .seed = seed,
        .duration_ns = NS_PER_S / 2,
        .data_bytes = 8 * MIB,
        .log_bytes = 4 * MIB,
        .workers = 3,
        .settings = {{"RandomUser", "UserCount", "0"},
                     {"AuditUser", "UserCount", "0"},
                     {"ReadAheadUser", "UserCount", "0"},
                     {"BulkUpdateUser", "UserCount", "3"},
                     {"BulkUpdateUser", "NewExtents", "TRUE"},
                     {"BulkUpdateUser", "BuffersBUMin", "8"},
                     {"BulkUpdateUser", "BuffersBUMax", "300"},
                     {"DbccUser", "UserCount", "2"},
                     {"DbccUser", "Outstanding", "8"},
                     {"DbccUser", "ReadPages", "8"},
                     {"CpuIdleUser", "UserCount", "0"}},
    };
    sim_begin(&sim, &options);
    for (unsigned i = 0; i < sim.plan.file_count; i++) {
        struct plan_file *file = &sim.plan.files[i];
        if (file->is_log)
            continue;
        file->max_bytes = 3 * file->size_bytes;
        file->increment_bytes = MIB;
    }
    sim_run(&sim);
    if (sim.result || sim.run->findings.count)
        sim_print_findings(&sim);
    assert_int_equal(sim.result, 0);
    assert_int_equal(sim.run->findings.count, 0);
    assert_true(sim.run->audited);
    static struct stats stats; /* lint: mutable: scratch, too large for a stack */
    run_stats(sim.run, &stats);
    *passes += stats.counters.dbcc_passes;
    sim_end(&sim);
}

static void pages_that_leave_the_snapshot_are_not_judged(void **state)
{
    uint64_t passes = 0;
    (void)state;
    for (uint64_t seed = 1; seed <= test_scaled(SEEDS); seed++)
        one_seed(seed, &passes);
    assert_true(passes > 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(pages_that_leave_the_snapshot_are_not_judged),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
