/*
 * test_tempdb_nth_io.c - every so many-th transfer of a run with all users of tempdb fails, once
 * and from there on: the run comes to an end, says what failed, and finds nothing that is not so.
 */
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>
#include <errno.h>
#include <string.h>
#include <cmocka.h>

#include "tests/model/tempdb_run.h"
#include "tests/scale.h"

#define POINTS 60 /* of a run of some thousand transfers */
#define STRIDE 37

static void run_with(unsigned nth, bool sticky, bool write_through)
{
    struct sim_options options = tempdb_options(5);
    options.duration_ns = 100 * NS_PER_MS;
    options.with_faults = true;
    for (unsigned i = 0; options.settings[i].section; i++)
        if (strcmp(options.settings[i].key, "VersionStoreRate") == 0)
            options.settings[i].value = "4000";
    if (!write_through)
        options.settings[17] = (struct sim_setting){"CONFIG", "WriteThrough", "FALSE"};
    struct sim sim;
    sim_begin(&sim, &options);
    struct fault_rule rule = {FAULT_ERRNO, .any_op = true, .nth = nth,
                              .count = sticky ? UINT32_MAX : 1, .a = EIO};
    fault_add(sim.faults, &rule);
    sim_run(&sim);
    const struct findings *findings = &sim.run->findings;
    uint64_t wrong = 0;
    for (int v = 0; v < VERDICT_COUNT; v++)
        if (verdict_info((enum verdict)v)->severity == SEVERITY_INTEGRITY)
            wrong += findings->by_verdict[v];
    /* what cannot be read is lost; nothing else may be said to be wrong */
    bool ok = wrong == findings->by_verdict[VERDICT_unreadable] && (sticky || wrong == 0);
    if (sim.faults->truth_count && sim.result != -EIO) /* else it ended while it was created */
        ok = ok && (findings->count > 0 || sim.run->message[0]);
    if (!ok) {
        print_error("transfer %u%s\n", nth, sticky ? " and all behind it" : "");
        sim_print_findings(&sim);
    }
    assert_true(ok);
    sim_end(&sim);
}

static void each_fails_once(void **state)
{
    (void)state;
    for (unsigned i = 0; i < POINTS; i++)
        run_with(1 + i * STRIDE, false, i % 2);
}

static void all_fail_from_one_on(void **state)
{
    (void)state;
    for (unsigned i = 0; i < POINTS / 2; i++)
        run_with(1 + i * 2 * STRIDE, true, i % 2);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(each_fails_once),
        cmocka_unit_test(all_fail_from_one_on),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
