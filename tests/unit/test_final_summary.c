/* test_final_summary.c - SQLIOSim's Final Summary, byte for byte, with the figures of a real log.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <cmocka.h>

#include "sim/final_summary.h"

#define ROWS_MAX 16

struct rows {
    unsigned count;
    char text[ROWS_MAX][FINAL_SUMMARY_ROW_MAX];
};

static void keep(void *context, const char *row)
{
    struct rows *rows = context;
    assert_in_range(rows->count, 0, ROWS_MAX - 1);
    snprintf(rows->text[rows->count++], FINAL_SUMMARY_ROW_MAX, "%s", row);
}

/* The data file of a log of 2025: 793,833 operations, 43,265,879 ms, running average 0.  How the
 * operations divide is ours: 200,000 + 200,000 + 13,833 + 380,000. */
static struct report_file a_file(void)
{
    return (struct report_file){
        .path = "/data/sqliosim.mdx",
        .io = {.target_ms = 100,
               .running_average_ms = 0,
               .throttled = 8124,
               .request_blocks = 63,
               .reads = 200000,
               .scatter_reads = 200000,
               .writes = 13833,
               .gather_writes = 380000,
               .total_io_ns = 43265879ull * NS_PER_MS,
               .p50_ns = 40 * NS_PER_MS,
               .p90_ns = 100 * NS_PER_MS,
               .p99_ns = 300 * NS_PER_MS,
               .p999_ns = 1200500000,
               .max_ns = 2 * NS_PER_S},
        .drive = {.has_geometry = true,
                  .sector_bytes = 512,
                  .cylinders = 31130,
                  .sectors_per_track = 63,
                  .tracks_per_cylinder = 255,
                  .media = DRIVE_MEDIA_FIXED,
                  .read_cache = DRIVE_YES,
                  .write_cache = DRIVE_YES,
                  .storage_number = 3,
                  .name = "sda1"},
        .has_drive_counters = true,
        .drive_counters = {.reads = 1,
                           .read_ms = 2,
                           .writes = 3,
                           .write_ms = 4,
                           .bytes_read = 6,
                           .bytes_written = 7,
                           .busy_ms = 8},
        .drive_idle_ms = 5,
    };
}

static void sqliosims_rows_stand_byte_for_byte_in_its_order(void **state)
{
    static const char *const expected[] = {
        "********** Final Summary for file /data/sqliosim.mdx **********",
        "File Attributes: Compression = No, Encryption = No, Sparse = No",
        "Target IO Duration (ms) = 100, Running Average IO Duration (ms) = 0, Number of times IO "
        "throttled = 8124, IO request blocks = 63",
        "Reads = 200000, Scatter Reads = 200000, Writes = 13833, Gather Writes = 380000, Total IO "
        "Time (ms) = 43265879",
        "DRIVE LEVEL: Sector size = 512, Cylinders = 31130, Media type = 12, Sectors per track = "
        "63, Tracks per Cylinders = 255",
        "DRIVE LEVEL: Read cache enabled = Yes, Write cache enabled = Yes",
        "DRIVE LEVEL: Read count = 1, Read time = 2, Write count = 3, Write time = 4, Idle time = "
        "5, Bytes read = 6, Bytes written = 7, Split IO Count = 0, Storage number = 3, Storage "
        "manager name = sda1",
        "Closing file /data/sqliosim.mdx",
    };
    struct report_file file = a_file();
    struct rows rows = {0};
    unsigned next = 0;
    (void)state;
    final_summary_of(&file, keep, &rows);
    for (unsigned i = 0; i < rows.count; i++)
        if (strncmp(rows.text[i], FINAL_SUMMARY_OURS, strlen(FINAL_SUMMARY_OURS)) != 0)
            assert_string_equal(rows.text[i], expected[next++]);
    assert_int_equal(next, sizeof expected / sizeof expected[0]);
}

static const char *row_with(const struct rows *rows, const char *part)
{
    for (unsigned i = 0; i < rows->count; i++)
        if (strstr(rows->text[i], part))
            return rows->text[i];
    return "";
}

static void the_true_mean_stands_in_a_row_of_ours(void **state)
{
    struct report_file file = a_file();
    struct rows rows = {0};
    (void)state;
    final_summary_of(&file, keep, &rows);
    /* 43265879 / 793833 = 54.50249 ms: SQLIOSim showed 0 */
    const char *mean = row_with(&rows, "true mean");
    assert_non_null(strstr(mean, "pagestorm: IOs = 793833, true mean (ms) = 54.502;"));
    const char *percentiles = row_with(&rows, "p99.9");
    assert_non_null(strstr(percentiles, "pagestorm: p50 (ms) = 40.000, p90 (ms) = 100.000, p99 "
                                        "(ms) = 300.000, p99.9 (ms) = 1200.500, max (ms) = "
                                        "2000.000;"));
}

static void a_disk_that_does_not_answer_gets_no_figures(void **state)
{
    struct report_file file = a_file();
    struct rows rows = {0};
    (void)state;
    file.drive = (struct drive_level){0};
    file.has_drive_counters = false;
    final_summary_of(&file, keep, &rows);
    assert_string_equal(row_with(&rows, "DRIVE LEVEL"), "");
    assert_string_equal(row_with(&rows, "cache"),
                        "Unable to get disk cache info for /data/sqliosim.mdx");
}

static void a_file_without_io_has_no_mean(void **state)
{
    struct report_file file = {.path = "/x"};
    struct rows rows = {0};
    (void)state;
    final_summary_of(&file, keep, &rows);
    assert_string_equal(row_with(&rows, "no I/O"), "pagestorm: no I/O to this file");
    assert_string_equal(row_with(&rows, "mean"), "");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(sqliosims_rows_stand_byte_for_byte_in_its_order),
        cmocka_unit_test(the_true_mean_stands_in_a_row_of_ours),
        cmocka_unit_test(a_disk_that_does_not_answer_gets_no_figures),
        cmocka_unit_test(a_file_without_io_has_no_mean),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
