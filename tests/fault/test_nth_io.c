/*
 * test_nth_io.c - the n-th I/O of a run fails, for every n until no fault fires any more.
 *
 * The small run of nth_io.h on the modelled device.  Under the virtual clock a lost wake-up is an
 * assertion.  TEST_SCALE below 1 takes every so many n.
 */
#include "tests/fault/nth_io.h"
#include "tests/scale.h"

#define REQUESTS_MAX 400

static unsigned step(void)
{
    const char *text = getenv("TEST_SCALE");
    double scale = text ? strtod(text, NULL) : 1;
    return scale > 0 && scale < 1 ? (unsigned)(1 / scale) : 1;
}

static void every_io(struct fault_case c)
{
    for (int flags = 0; flags < 8; flags++) {
        c.sticky = flags & 1;
        c.stop_on_error = flags & 2;
        c.write_through = flags & 4;
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
    every_io((struct fault_case){.name = "EIO", .kind = FAULT_ERRNO, .a = EIO});
}

static void each_io_fails_with_ENOSPC(void **state)
{
    (void)state;
    every_io((struct fault_case){.name = "ENOSPC", .kind = FAULT_ERRNO, .a = ENOSPC});
}

static void each_io_moves_half_a_page(void **state)
{
    (void)state;
    every_io((struct fault_case){.name = "half a page", .kind = FAULT_SHORT, .a = SHORT_BYTES});
}

static void each_io_moves_nothing(void **state)
{
    (void)state;
    every_io((struct fault_case){.name = "nothing moved", .kind = FAULT_SHORT, .a = 0});
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(each_io_fails_with_EIO),
        cmocka_unit_test(each_io_fails_with_ENOSPC),
        cmocka_unit_test(each_io_moves_half_a_page),
        cmocka_unit_test(each_io_moves_nothing),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
