/* test_tempdb_small_log.c - the least log that a tempdb can have: a run with it once never ended.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include <cmocka.h>

#include "sim/stats.h"
#include "tests/model/tempdb_run.h"
#include "tests/scale.h"

#define TEMPDB_LOG_BYTES (1ull << 20)

static void a_log_of_1_MiB_goes_round_and_the_run_ends(void **state)
{
    (void)state;
    for (uint64_t seed = 1; seed <= test_scaled(3); seed++) {
        struct sim_options options = tempdb_options(seed);
        struct sim sim;
        print_message("  seed %u\n", (unsigned)seed);
        options.tempdb_log_bytes = TEMPDB_LOG_BYTES;
        sim_begin(&sim, &options);
        sim_run(&sim);
        if (sim.result || sim.run->findings.count)
            sim_print_findings(&sim);
        assert_int_equal(sim.result, 0);
        assert_int_equal(sim.run->findings.count, 0);
        assert_true(sim.run->audited);
        struct stats *stats = calloc(1, sizeof *stats);
        assert_non_null(stats);
        run_stats(sim.run, stats);
        assert_true(stream_bytes(stats, STREAM_tempdb_log_write) > TEMPDB_LOG_BYTES);
        free(stats);
        sim_end(&sim);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_log_of_1_MiB_goes_round_and_the_run_ends),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
