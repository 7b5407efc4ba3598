/* test_no_false_alarm_tempdb.c - page verifications without a fault:
 * no_false_alarm.h. */
#include "tests/detect/no_false_alarm.h"

#define PAGES 2000000 /* of 10^7 with the other two */

static void no_page_that_is_right_is_called_wrong(void **state)
{
    (void)state;
    struct alarm_count count = alarm_try("tempdb", alarm_tempdb, test_scaled(PAGES));
    assert_true(count.tempdb_reads > 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(no_page_that_is_right_is_called_wrong)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
