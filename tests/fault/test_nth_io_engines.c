/*
 * test_nth_io_engines.c - the n-th I/O of a run fails, on every engine for real devices.
 *
 * The small run of nth_io.h with threads and real files, for n = 1, 2, 5, 10, 21, ... until no
 * fault fires any more.  TEST_SCALE above 1 takes n in smaller steps.
 */
#include "tests/fault/nth_io.h"
#include "tests/fault/real_engines.h"
#include "tests/scale.h"

#define N_MAX 400

static unsigned next_n(unsigned n)
{
    return n + 1 + n / (unsigned)test_scaled(1);
}

static void cases_start(struct crew *crew, const struct fault_case *c,
                        const struct io_engine_ops *engine)
{
    for (unsigned n = 1; n <= N_MAX; n = next_n(n)) {
        if (!crew_start(crew))
            continue;
        run_with_fault(c, engine, n); /* fails the process where it is not as it must be */
        crew_leave(true);
    }
}

static void on_every_engine(const struct fault_case *c)
{
    struct crew crew = {0};
    for (size_t e = 0; e < REAL_ENGINES; e++) {
        const struct io_engine_ops *engine = real_engine_or_skip(real_engines[e]);
        if (engine)
            cases_start(&crew, c, engine);
    }
    assert_int_equal(crew_end(&crew), 0);
}

static void an_io_fails_once_and_the_run_goes_on(void **state)
{
    (void)state;
    on_every_engine(&(struct fault_case){.name = "EIO", .kind = FAULT_ERRNO, .a = EIO});
}

static void every_io_from_one_on_fails_and_the_run_stops(void **state)
{
    (void)state;
    on_every_engine(&(struct fault_case){.name = "EIO",
                                         .kind = FAULT_ERRNO,
                                         .a = EIO,
                                         .sticky = true,
                                         .stop_on_error = true,
                                         .write_through = true});
}

static void an_io_moves_half_a_page(void **state)
{
    (void)state;
    on_every_engine(
        &(struct fault_case){.name = "half a page", .kind = FAULT_SHORT, .a = SHORT_BYTES});
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(an_io_fails_once_and_the_run_goes_on),
        cmocka_unit_test(every_io_from_one_on_fails_and_the_run_stops),
        cmocka_unit_test(an_io_moves_half_a_page),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
