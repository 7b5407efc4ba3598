/*
 * long_no_false_alarm.c [PAGES] - no_false_alarm.h at full size: 10^8 pages at the TEST_SCALE of
 * run.sh --long, which is 10; any number, such as 1000000000, by argument.
 */
#include "tests/detect/no_false_alarm.h"

#define PAGES 10000000

static void no_page_that_is_right_is_called_wrong(void **state)
{
    uint64_t pages = *(const uint64_t *)*state;
    alarm_try("resize", alarm_resize, pages / 3 + 1);
    alarm_try("snapshot", alarm_snapshot, pages / 3 + 1);
    alarm_try("tempdb", alarm_tempdb, pages / 3 + 1);
}

int main(int argc, char **argv)
{
    uint64_t pages = argc > 1 ? strtoull(argv[1], NULL, 10) : test_scaled(PAGES);
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_prestate(no_page_that_is_right_is_called_wrong, &pages)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
