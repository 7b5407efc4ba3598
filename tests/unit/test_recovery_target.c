/*
 * How many pages may be dirty: what becomes dirty in one target recovery time.  Expected values are
 * the arithmetic of a mean whose time constant is an eighth of that time.
 */
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>
#include <math.h>
#include <cmocka.h>

#include "sim/recovery_target.h"

#define S  1000000000ull
#define MS 1000000ull

/* So many pages a second become dirty, looked at every 100 ms. */
static uint64_t load(struct recovery_target *target, uint64_t *now_ns, uint64_t *entered,
                     uint64_t per_second, uint64_t seconds)
{
    uint64_t allowed = 0;
    for (uint64_t i = 0; i < seconds * 10; i++) {
        *now_ns += 100 * MS;
        *entered += per_second / 10;
        allowed = recovery_target_look(target, *now_ns, *entered);
    }
    return allowed;
}

static void a_steady_load_may_have_its_pages_of_the_target_time(void **state)
{
    (void)state;
    struct recovery_target target;
    uint64_t now_ns = 5 * S, entered = 0;
    recovery_target_init(&target, 60 * S, now_ns);
    /* after 60 s, 8 time constants: 1 - e^-8 of 60 s * 450 a second, the oltp preset's updates */
    uint64_t allowed = load(&target, &now_ns, &entered, 450, 60);
    assert_true(allowed > 60 * 450 * 0.999 && allowed <= 60 * 450);
}

/* From the first page on fewer are dirty than are allowed until the target time is over, so nothing
 * is written sooner. */
static void a_load_that_begins_waits_the_target_time(void **state)
{
    (void)state;
    struct recovery_target target;
    uint64_t now_ns = 0, entered = 0;
    recovery_target_init(&target, 10 * S, now_ns);
    for (unsigned second = 1; second <= 9; second++)
        assert_true(load(&target, &now_ns, &entered, 1000, 1) >= entered);
    assert_true(load(&target, &now_ns, &entered, 1000, 2) < entered);
}

/* e^-8 of it is left after one target time without changes. */
static void when_the_load_ends_nothing_may_stay_dirty(void **state)
{
    (void)state;
    struct recovery_target target;
    uint64_t now_ns = 0, entered = 0;
    recovery_target_init(&target, 10 * S, now_ns);
    uint64_t full = load(&target, &now_ns, &entered, 1000, 20);
    assert_true(full > 9900);
    uint64_t after = load(&target, &now_ns, &entered, 0, 10);
    assert_true(after < (uint64_t)(10000 * exp(-8) * 2));
    assert_int_equal(load(&target, &now_ns, &entered, 0, 10), 0);
}

static void a_second_look_at_the_same_time_changes_nothing(void **state)
{
    (void)state;
    struct recovery_target target;
    uint64_t now_ns = 0, entered = 0;
    recovery_target_init(&target, 10 * S, now_ns);
    uint64_t allowed = load(&target, &now_ns, &entered, 1000, 5);
    assert_int_equal(recovery_target_look(&target, now_ns, entered + 77), allowed);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_steady_load_may_have_its_pages_of_the_target_time),
        cmocka_unit_test(a_load_that_begins_waits_the_target_time),
        cmocka_unit_test(when_the_load_ends_nothing_may_stay_dirty),
        cmocka_unit_test(a_second_look_at_the_same_time_changes_nothing),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
