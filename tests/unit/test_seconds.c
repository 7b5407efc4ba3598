/* test_seconds.c - sums per second and the longest plateau; what the machine had to spare. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "sim/clock.h"
#include "sim/machine_load.h"
#include "sim/seconds.h"

#define BOUND_NS 20.0

/* One operation a second with these response times; 0 = none. */
static unsigned plateau_of(const uint64_t *ns, size_t count)
{
    struct second_sum sums[16];
    for (size_t i = 0; i < count; i++)
        sums[i] = (struct second_sum){.ops = ns[i] > 0, .response_ns = ns[i]};
    return seconds_plateau(sums, count, BOUND_NS);
}

#define PLATEAU(...)                                                                               \
    plateau_of((const uint64_t[]){__VA_ARGS__}, sizeof((const uint64_t[]){__VA_ARGS__}) / 8)

static void the_longest_stretch_counts(void **state)
{
    (void)state;
    assert_int_equal(PLATEAU(10, 10, 10), 0);
    assert_int_equal(PLATEAU(30, 10, 30, 30, 30, 10, 30, 30), 3);
    assert_int_equal(PLATEAU(30, 30, 30), 3);
}

static void the_bound_itself_is_allowed(void **state)
{
    (void)state;
    assert_int_equal(PLATEAU(20, 20, 21), 1);
}

/* Nothing completed: what waits shows in the next second, so it does not end a plateau. */
static void a_silent_second_neither_begins_nor_ends_a_stretch(void **state)
{
    (void)state;
    assert_int_equal(PLATEAU(30, 0, 0, 30), 4);
    assert_int_equal(PLATEAU(0, 0, 10, 0, 30), 1);
    assert_int_equal(PLATEAU(30, 0, 0, 10), 1);
}

/* Three reads in second 0 (1 + 2 + 3), one in second 2; before the beginning and after the end
 * nothing is kept, nor of streams without a role. */
static void a_request_counts_in_the_second_of_its_end(void **state)
{
    struct seconds seconds;
    (void)state;
    assert_int_equal(seconds_init(&seconds, 3), 0);
    seconds_add(&seconds, STREAM_page_read, 5 * NS_PER_S, 99); /* not begun */
    seconds_begin(&seconds, 10 * NS_PER_S);
    seconds_add(&seconds, STREAM_page_read, 10 * NS_PER_S - 1, 99);
    seconds_add(&seconds, STREAM_page_read, 10 * NS_PER_S, 1);
    seconds_add(&seconds, STREAM_page_read, 10 * NS_PER_S + 5, 2);
    seconds_add(&seconds, STREAM_page_read, 11 * NS_PER_S - 1, 3);
    seconds_add(&seconds, STREAM_page_read, 12 * NS_PER_S, 7);
    seconds_add(&seconds, STREAM_page_read, 13 * NS_PER_S, 99);
    seconds_add(&seconds, STREAM_audit_read, 10 * NS_PER_S, 99);
    const struct second_sum *reads = seconds_of(&seconds, ROLE_PAGE_READ);
    assert_int_equal(reads[0].ops, 3);
    assert_int_equal(reads[0].response_ns, 6);
    assert_int_equal(reads[1].ops, 0);
    assert_int_equal(reads[2].ops, 1);
    assert_int_equal(reads[2].response_ns, 7);
    assert_int_equal(seconds_of(&seconds, ROLE_LOG_WRITE)[0].ops, 0);
    seconds_free(&seconds);
}

/* Without write-through a log write costs its write and its flush: 4 + 6 for one write. */
static void a_log_flush_is_part_of_the_price_of_its_write(void **state)
{
    struct seconds seconds;
    (void)state;
    assert_int_equal(seconds_init(&seconds, 1), 0);
    seconds_begin(&seconds, NS_PER_S);
    seconds_add(&seconds, STREAM_log_write, NS_PER_S, 4);
    seconds_add(&seconds, STREAM_log_flush, NS_PER_S, 6);
    const struct second_sum *logs = seconds_of(&seconds, ROLE_LOG_WRITE);
    assert_int_equal(logs[0].ops, 1);
    assert_int_equal(logs[0].response_ns, 10);
    seconds_free(&seconds);
}

/* proc(5): user nice system idle iowait irq softirq steal guest guest_nice. 100 ticks, 20 stolen.
 */
static void steal_is_the_eighth_column(void **state)
{
    struct machine_load from, to;
    (void)state;
    machine_load_parse("cpu  10 0 10 70 0 0 0 10 3 0\n", &from);
    machine_load_parse("cpu  30 10 20 100 5 3 2 30 9 0\n", &to);
    assert_int_equal(from.total_ticks, 100);
    assert_int_equal(to.total_ticks, 200);
    assert_int_equal(to.steal_ticks, 30);
    assert_true(machine_load_steal(&from, &to) == 0.2);
}

static void without_a_line_for_all_cpus_nothing_was_stolen(void **state)
{
    struct machine_load from, to;
    (void)state;
    machine_load_parse("cpu0 10 0 10 70 0 0 0 10 0 0\n", &from);
    machine_load_parse("", &to);
    assert_true(machine_load_steal(&from, &to) == 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_longest_stretch_counts),
        cmocka_unit_test(the_bound_itself_is_allowed),
        cmocka_unit_test(a_silent_second_neither_begins_nor_ends_a_stretch),
        cmocka_unit_test(a_request_counts_in_the_second_of_its_end),
        cmocka_unit_test(a_log_flush_is_part_of_the_price_of_its_write),
        cmocka_unit_test(steal_is_the_eighth_column),
        cmocka_unit_test(without_a_line_for_all_cpus_nothing_was_stolen),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
