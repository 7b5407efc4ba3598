/* test_arrivals.c - the times of an open loop against arithmetic. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "sim/arrivals.h"
#include "sim/clock.h"

#define DRAWS 100000

static struct arrivals_config config_of(double per_second, bool fixed)
{
    return (struct arrivals_config){.per_second = per_second,
                                    .fixed = fixed,
                                    .seed = 7,
                                    .process = 1,
                                    .start_ns = 5 * NS_PER_S};
}

/* 4 a second from 5 s on: 5.25, 5.50, 5.75, 6.00 s. */
static void fixed_arrivals_are_equal_steps(void **state)
{
    struct arrivals_config config = config_of(4, true);
    struct arrival_times times;
    (void)state;
    arrival_times_init(&times, &config);
    for (uint64_t i = 1; i <= 1000; i++)
        assert_int_equal(arrival_times_next(&times), 5 * NS_PER_S + i * NS_PER_S / 4);
}

/* 3 a second: the 3,000th after exactly 1,000 s, whatever was rounded on the way. */
static void fixed_steps_do_not_drift(void **state)
{
    struct arrivals_config config = config_of(3, true);
    struct arrival_times times;
    uint64_t last = 0;
    (void)state;
    arrival_times_init(&times, &config);
    for (int i = 0; i < 3000; i++)
        last = arrival_times_next(&times);
    assert_int_equal(last, 5 * NS_PER_S + 1000 * NS_PER_S);
}

/* 1,000 a second: gaps of 1 ms on average.  Of 100,000 exponential gaps the mean has a standard
 * error of 1 / sqrt(100,000) = 0.32 %, so 1.6 % is five of them.  Gaps below the mean: 1 - 1/e =
 * 63.2 %, standard error 0.15 %; equal gaps or uniform ones (50 %) are far outside. */
static void poisson_gaps_are_exponential(void **state)
{
    struct arrivals_config config = config_of(1000, false);
    struct arrival_times times;
    uint64_t before = config.start_ns, below_mean = 0, first = before;
    (void)state;
    arrival_times_init(&times, &config);
    for (int i = 0; i < DRAWS; i++) {
        uint64_t now = arrival_times_next(&times);
        assert_true(now >= before);
        below_mean += now - before < NS_PER_MS;
        before = now;
    }
    double mean_ms = (double)(before - first) / DRAWS / (double)NS_PER_MS;
    double share = (double)below_mean / DRAWS;
    assert_true(mean_ms > 0.984 && mean_ms < 1.016);
    assert_true(share > 0.632 - 0.008 && share < 0.632 + 0.008);
}

/* What a window has is what the sequence shows there. */
static void the_arrivals_of_a_window_are_counted(void **state)
{
    struct arrivals_config config = config_of(100, false);
    struct arrival_times times;
    uint64_t from = 7 * NS_PER_S, to = 20 * NS_PER_S, expected = 0, now;
    (void)state;
    arrival_times_init(&times, &config);
    while ((now = arrival_times_next(&times)) < to)
        expected += now >= from;
    assert_int_equal(arrival_times_count(&config, from, to), expected);
    /* 13 s at 100/s: 1,300, standard deviation 36 */
    assert_true(expected > 1300 - 180 && expected < 1300 + 180);
}

static void a_window_of_fixed_arrivals_is_exact(void **state)
{
    struct arrivals_config config = config_of(100, true);
    (void)state;
    /* 6.00, 6.01 ... 6.99: the end does not belong to it */
    assert_int_equal(arrival_times_count(&config, 6 * NS_PER_S, 7 * NS_PER_S), 100);
}

static void a_seed_repeats_and_processes_differ(void **state)
{
    struct arrivals_config one = config_of(50, false), two = one;
    struct arrival_times a, b, c;
    unsigned same = 0;
    (void)state;
    two.process = 2;
    arrival_times_init(&a, &one);
    arrival_times_init(&b, &one);
    arrival_times_init(&c, &two);
    for (int i = 0; i < 1000; i++) {
        uint64_t now = arrival_times_next(&a);
        assert_int_equal(arrival_times_next(&b), now);
        same += arrival_times_next(&c) == now;
    }
    assert_true(same < 10);
}

/* Slots take in order, whoever asks: the queue is what nobody has taken. */
static void slots_take_the_sequence_in_order(void **state)
{
    struct arrivals_config config = config_of(300, false);
    struct arrivals arrivals;
    struct arrival_times times;
    (void)state;
    arrivals_init(&arrivals, "RandomUser", 5, &config);
    arrival_times_init(&times, &config);
    for (int i = 0; i < 1000; i++)
        assert_int_equal(arrivals_take(&arrivals), arrival_times_next(&times));
    arrivals_free(&arrivals);
}

/* Due at 10, begun at 15, done at 18: a free slot that was late is this machine's time, a slot that
 * was busy is not. */
static void only_a_free_slot_that_is_late_is_this_machines_fault(void **state)
{
    struct arrivals_config config = config_of(1, true);
    struct arrivals arrivals;
    (void)state;
    arrivals_init(&arrivals, "RandomUser", 5, &config);
    arrivals_done(&arrivals, PHASE_rated, 10, 15, 18, false);
    assert_int_equal(atomic_load(&arrivals.tool_ns[PHASE_rated]), 0);
    assert_int_equal(atomic_load(&arrivals.queued_ns_max), 5);
    arrivals_done(&arrivals, PHASE_rated, 10, 15, 18, true);
    assert_int_equal(atomic_load(&arrivals.tool_ns[PHASE_rated]), 5);
    assert_int_equal(atomic_load(&arrivals.response_ns[PHASE_rated]), 8 + 8);
    assert_int_equal(atomic_load(&arrivals.done[PHASE_rated]), 2);
    arrivals_free(&arrivals);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(fixed_arrivals_are_equal_steps),
        cmocka_unit_test(fixed_steps_do_not_drift),
        cmocka_unit_test(poisson_gaps_are_exponential),
        cmocka_unit_test(the_arrivals_of_a_window_are_counted),
        cmocka_unit_test(a_window_of_fixed_arrivals_is_exact),
        cmocka_unit_test(a_seed_repeats_and_processes_differ),
        cmocka_unit_test(slots_take_the_sequence_in_order),
        cmocka_unit_test(only_a_free_slot_that_is_late_is_this_machines_fault),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
