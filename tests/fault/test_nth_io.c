/*
 * test_nth_io.c - the n-th I/O of a run fails, for every n until no fault fires any more.
 *
 * The small run of nth_io.h on the modelled device.  Under the virtual clock a lost wake-up is an
 * assertion.  TEST_SCALE below 1 takes every so many n.
 */
#include "tests/fault/nth_io.h"
#include "tests/scale.h"

#define REQUESTS_MAX 150 /* more take too long: make the run smaller */

static unsigned step(void)
{
    const char *text = getenv("TEST_SCALE");
    double scale = text ? strtod(text, NULL) : 1;
    return scale > 0 && scale < 1 ? (unsigned)(1 / scale) : 1;
}

static void the_run_reads_ahead_and_writes_in_every_way(void **state)
{
    static const enum stream needed[] = {
        STREAM_page_read,  STREAM_read_ahead,       STREAM_audit_read,  STREAM_prepare_write,
        STREAM_lazy_write, STREAM_checkpoint_write, STREAM_eager_write, STREAM_log_write,
        STREAM_log_read,   STREAM_create_write,
    };
    const struct fault_case none = {.name = "none"};
    struct stats *stats = calloc(1, sizeof *stats);
    struct sim sim;
    (void)state;
    assert_non_null(stats);
    sim_small(&sim, &none, NULL);
    sim_run(&sim);
    run_stats(sim.run, stats);
    for (size_t i = 0; i < sizeof needed / sizeof needed[0]; i++) {
        uint64_t ops = 0;
        for (unsigned phase = 0; phase < PHASE_COUNT; phase++)
            ops += stats->streams[phase][needed[i]].ops;
        if (ops == 0)
            fail_msg("no %s", stream_name(needed[i]));
    }
    free(stats);
    sim_end(&sim);
}

enum { STICKY = 1, STOP_ON_ERROR = 2, WRITE_THROUGH = 4 };

/* flags_end: with all combinations of the flags below. */
static void every_io(struct fault_case c, int flags_end)
{
    for (int flags = 0; flags < flags_end; flags++) {
        c.sticky = flags & STICKY;
        c.stop_on_error = flags & STOP_ON_ERROR;
        c.write_through = flags & WRITE_THROUGH;
        if (c.stop_on_error && heals_unnoticed(&c))
            continue; /* there is no error to stop at */
        unsigned n = 1;
        while (run_with_fault(&c, NULL, n)) {
            n += step();
            assert_true(n <= REQUESTS_MAX);
        }
        assert_true(n > 50); /* else it is no run */
    }
}

static void each_io_fails_with_EIO(void **state)
{
    (void)state;
    every_io((struct fault_case){.name = "EIO", .kind = FAULT_ERRNO, .a = EIO}, 2 * WRITE_THROUGH);
}

/* What the system says decides what it is called, not where it strikes: the others without
 * WriteThrough, when there are flushes, too. */
static void each_io_fails_with_ENOSPC(void **state)
{
    (void)state;
    every_io((struct fault_case){.name = "ENOSPC", .kind = FAULT_ERRNO, .a = ENOSPC},
             WRITE_THROUGH);
}

static void each_io_moves_half_a_page(void **state)
{
    (void)state;
    every_io((struct fault_case){.name = "half a page", .kind = FAULT_SHORT, .a = SHORT_BYTES},
             WRITE_THROUGH);
}

static void each_io_moves_nothing(void **state)
{
    (void)state;
    every_io((struct fault_case){.name = "nothing moved", .kind = FAULT_SHORT, .a = 0},
             WRITE_THROUGH);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_run_reads_ahead_and_writes_in_every_way),
        cmocka_unit_test(each_io_fails_with_EIO),
        cmocka_unit_test(each_io_fails_with_ENOSPC),
        cmocka_unit_test(each_io_moves_half_a_page),
        cmocka_unit_test(each_io_moves_nothing),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
