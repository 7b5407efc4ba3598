/* Sets of CPUs: masks and lists, read and written. */
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>
#include <errno.h>
#include <string.h>
#include <stdio.h>
#include <cmocka.h>

#include "config/cpu_list.h"

static struct cpu_list parsed(const char *text)
{
    struct cpu_list list;
    assert_int_equal(cpu_list_parse(text, &list), 0);
    return list;
}

/* 5 = 101b, 200 = 11001000b: without comma and minus it is a mask, as SQLIOSim's. */
static void a_number_is_a_mask_and_ranges_are_a_list(void **state)
{
    static const struct {
        const char *value, *people, *canonical;
        unsigned count;
    } cases[] = {
        {"0", "none", "0", 0},
        {"5", "0,2", "0x5", 2},
        {"0xFf", "0-7", "0xff", 8},
        {"200", "3,6-7", "0xc8", 3},
        {"200-200", "200", "200-200", 1},
        {"0-0", "0", "0x1", 1},
        {"0xffffffffffffffff", "0-63", "0xffffffffffffffff", 64},
        {"9223372036854775808", "63", "0x8000000000000000", 1},
        {"0-127,200", "0-127,200", "0-127,200", 129},
        {"200,3,2,1,64", "1-3,64,200", "1-3,64,200", 5},
        {"62-66", "62-66", "62-66", 5},
        {"5,5,4-6", "4-6", "0x70", 3},
        {"0-8191", "0-8191", "0-8191", 8192},
    };
    char text[CPU_LIST_TEXT_MAX];
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct cpu_list list = parsed(cases[i].value), again;
        cpu_list_text(&list, text, sizeof text);
        assert_string_equal(text, cases[i].people);
        cpu_list_write(&list, text, sizeof text);
        assert_string_equal(text, cases[i].canonical);
        again = parsed(text);
        assert_memory_equal(&list, &again, sizeof list);
        assert_int_equal(cpu_list_count(&list), cases[i].count);
    }
}

static void what_is_no_list_is_refused_and_changes_nothing(void **state)
{
    static const struct {
        const char *text;
        int error;
    } cases[] = {
        {"", -EINVAL},
        {"-1", -EINVAL},
        {",1", -EINVAL},
        {"1,", -EINVAL},
        {"1,,2", -EINVAL},
        {"1-", -EINVAL},
        {"1-2-3", -EINVAL},
        {"0x1,2", -EINVAL},
        {"1, 2", -EINVAL},
        {"a-b", -EINVAL},
        {"7-3", -EINVAL},
        {"0-8192", -ERANGE},
        {"1,", -EINVAL},
        {"1,99999999999", -ERANGE},
        {"18446744073709551616", -ERANGE},
    };
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct cpu_list list = {{7}};
        assert_int_equal(cpu_list_parse(cases[i].text, &list), cases[i].error);
        assert_int_equal(list.words[0], 7);
    }
}

/* The kernel's own lists (nodeN/cpulist) have no masks. */
static void a_number_among_ranges_is_a_cpu(void **state)
{
    struct cpu_list list;
    (void)state;
    assert_int_equal(cpu_list_parse_ranges("5", &list), 0);
    assert_int_equal(list.words[0], 1 << 5);
    assert_int_equal(cpu_list_parse_ranges("0x5", &list), -EINVAL);
}

/* Every second CPU, as many as fit: what is written is no longer than what was read. */
static void the_longest_value_is_written_and_read_back(void **state)
{
    char value[CPU_LIST_VALUE_MAX + 2] = "0", text[CPU_LIST_VALUE_MAX + 5];
    size_t used = 1;
    (void)state;
    for (unsigned cpu = 2; used + strlen(",9999") <= CPU_LIST_VALUE_MAX; cpu += 2)
        used += (size_t)snprintf(value + used, sizeof value - used, ",%u", cpu);
    struct cpu_list list = parsed(value), again;
    cpu_list_write(&list, text, sizeof text);
    assert_string_equal(text, value);
    again = parsed(text);
    assert_memory_equal(&list, &again, sizeof list);
    memset(value, '0', sizeof value - 1);
    assert_int_equal(cpu_list_parse(value, &again), -ERANGE);
}

static void a_text_that_does_not_fit_ends_in_dots(void **state)
{
    struct cpu_list list = parsed("100,200,300");
    char text[12]; /* "100,200," would leave no room for the dots */
    (void)state;
    cpu_list_text(&list, text, sizeof text);
    assert_string_equal(text, "100,200...");
    cpu_list_text(&list, text, 8);
    assert_string_equal(text, "100...");
}

static void sets_are_cut_and_subtracted(void **state)
{
    struct cpu_list a = parsed("0-3,100-101"), b = parsed("2-100"), out;
    char text[CPU_LIST_TEXT_MAX];
    uint64_t mask;
    (void)state;
    out = cpu_list_and(&a, &b);
    cpu_list_text(&out, text, sizeof text);
    assert_string_equal(text, "2-3,100");
    assert_false(cpu_list_is_mask(&out, &mask));
    out = cpu_list_without(&a, &b);
    cpu_list_text(&out, text, sizeof text);
    assert_string_equal(text, "0-1,101");
    out = parsed("1-2,63");
    assert_true(cpu_list_is_mask(&out, &mask));
    assert_true(mask == (UINT64_C(1) << 63 | 6));
    assert_false(cpu_list_has(&out, 64));
    assert_false(cpu_list_has(&out, CPU_LIST_MAX));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_number_is_a_mask_and_ranges_are_a_list),
        cmocka_unit_test(what_is_no_list_is_refused_and_changes_nothing),
        cmocka_unit_test(a_number_among_ranges_is_a_cpu),
        cmocka_unit_test(the_longest_value_is_written_and_read_back),
        cmocka_unit_test(a_text_that_does_not_fit_ends_in_dots),
        cmocka_unit_test(sets_are_cut_and_subtracted),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
