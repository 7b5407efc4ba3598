/*
 * test_verdict.c - the table of fault classes against DESIGN section 9 (names never change).
 */
#include "tests/unit/page_fixture.h"
#include "verify/verdict.h"

/* Severity, blame and SQL Server error as the design's table has them; 0 = the table leaves it
 * open. */
static const struct {
    const char *name;
    enum severity severity;
    enum blame blame;
    int sql_error;
} design[] = {
    {"bit_flip", SEVERITY_INTEGRITY, BLAME_STORAGE, 824},
    {"header_damage", SEVERITY_INTEGRITY, BLAME_STORAGE, 824},
    {"zeroed", SEVERITY_INTEGRITY, BLAME_STORAGE, 824},
    {"garbage", SEVERITY_INTEGRITY, BLAME_STORAGE, 824},
    {"torn_page", SEVERITY_INTEGRITY, BLAME_STORAGE, 824},
    {"lost_write", SEVERITY_INTEGRITY, BLAME_STORAGE, 824},
    {"stale_read", SEVERITY_INTEGRITY, BLAME_STORAGE, 824},
    {"misdirected_write", SEVERITY_INTEGRITY, BLAME_STORAGE, 824},
    {"misdirected_read", SEVERITY_INTEGRITY, BLAME_STORAGE, 824},
    {"replayed_write", SEVERITY_INTEGRITY, BLAME_STORAGE, 824},
    {"old_data", SEVERITY_INTEGRITY, BLAME_STORAGE, 824},
    {"neighbour_damage", SEVERITY_INTEGRITY, BLAME_STORAGE, 824},
    {"reverted_volume", SEVERITY_INTEGRITY, BLAME_STORAGE, 824},
    {"truncated_file", SEVERITY_INTEGRITY, BLAME_STORAGE, 0},
    {"capacity_wrap", SEVERITY_INTEGRITY, BLAME_STORAGE, 824},
    {"transient_damage", SEVERITY_INTEGRITY, BLAME_STORAGE, 825},
    {"bytes_not_read", SEVERITY_INTEGRITY, BLAME_STORAGE, 824},
    {"unreadable", SEVERITY_INTEGRITY, BLAME_STORAGE, 823},
    {"flush_ignored", SEVERITY_INTEGRITY, BLAME_STORAGE, 0},
    {"reordered_write", SEVERITY_INTEGRITY, BLAME_STORAGE, 0},
    {"page_ahead_of_log", SEVERITY_INTEGRITY, BLAME_STORAGE, 0},
    {"log_torn", SEVERITY_INTEGRITY, BLAME_STORAGE, 0},
    {"log_lost", SEVERITY_INTEGRITY, BLAME_STORAGE, 0},
    {"log_old_use", SEVERITY_INTEGRITY, BLAME_STORAGE, 0},
    {"memory_changed", SEVERITY_INTEGRITY, BLAME_MEMORY, 832},
    {"write_error", SEVERITY_IO_ERROR, BLAME_STORAGE, 823},
    {"flush_error", SEVERITY_IO_ERROR, BLAME_STORAGE, 9001},
    {"no_space", SEVERITY_IO_ERROR, BLAME_STORAGE, 1105},
    {"device_gone", SEVERITY_IO_ERROR, BLAME_STORAGE, 0},
    {"stuck_io", SEVERITY_IO_ERROR, BLAME_STORAGE, 17053},
    {"foreign_write", SEVERITY_IO_ERROR, BLAME_OTHER_PROCESS, 0},
    {"file_replaced", SEVERITY_IO_ERROR, BLAME_OTHER_PROCESS, 0},
    {"read_retry", SEVERITY_WARNING, BLAME_STORAGE, 825},
    {"stalled_io", SEVERITY_WARNING, BLAME_STORAGE, 833},
    {"short_io", SEVERITY_WARNING, BLAME_STORAGE, 0},
    {"torn_in_flight", SEVERITY_INFORMATION, BLAME_STORAGE, 0},
    {"unwitnessed", SEVERITY_INFORMATION, BLAME_STORAGE, 0},
    {"host_pause", SEVERITY_INFORMATION, BLAME_HOST, 0},
};
#define DESIGN_CLASSES (sizeof(design) / sizeof(design[0]))

static void test_the_list_is_the_design_s_list(void **state)
{
    (void)state;
    assert_int_equal(VERDICT_COUNT - 1, DESIGN_CLASSES);
    for (size_t i = 0; i < DESIGN_CLASSES; i++)
        assert_int_not_equal(verdict_by_name(design[i].name), VERDICT_NONE);
}

static void test_properties_are_the_design_s(void **state)
{
    (void)state;
    for (size_t i = 0; i < DESIGN_CLASSES; i++) {
        const struct verdict_info *info = verdict_info(verdict_by_name(design[i].name));
        assert_string_equal(info->name, design[i].name);
        assert_int_equal(info->severity, design[i].severity);
        assert_int_equal(info->blame, design[i].blame);
        if (design[i].sql_error != 0)
            assert_int_equal(info->sql_error, design[i].sql_error);
    }
}

static void test_every_class_has_a_sentence(void **state)
{
    (void)state;
    for (int v = VERDICT_NONE + 1; v < VERDICT_COUNT; v++) {
        const char *sentence = verdict_info((enum verdict)v)->sentence;
        assert_true(strlen(sentence) > 20 && sentence[strlen(sentence) - 1] == '.');
    }
}

static void test_none_is_named_and_not_found_by_name(void **state)
{
    (void)state;
    assert_string_equal(verdict_info(VERDICT_NONE)->name, "none");
    assert_int_equal(verdict_by_name("none"), VERDICT_NONE);
    assert_int_equal(verdict_by_name("no_such_class"), VERDICT_NONE);
}

static void test_names_of_severity_and_blame(void **state)
{
    (void)state;
    assert_string_equal(severity_name(SEVERITY_INTEGRITY), "integrity");
    assert_string_equal(severity_name(SEVERITY_IO_ERROR), "io_error");
    assert_string_equal(severity_name(SEVERITY_WARNING), "warning");
    assert_string_equal(severity_name(SEVERITY_INFORMATION), "information");
    assert_string_equal(blame_name(BLAME_STORAGE), "storage");
    assert_string_equal(blame_name(BLAME_MEMORY), "memory");
    assert_string_equal(blame_name(BLAME_OTHER_PROCESS), "other_process");
    assert_string_equal(blame_name(BLAME_HOST), "host");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_the_list_is_the_design_s_list),
        cmocka_unit_test(test_properties_are_the_design_s),
        cmocka_unit_test(test_every_class_has_a_sentence),
        cmocka_unit_test(test_none_is_named_and_not_found_by_name),
        cmocka_unit_test(test_names_of_severity_and_blame),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
