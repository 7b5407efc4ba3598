/* test_finding_sql.c - findings in the words of SQL Server's ERRORLOG, after published messages. */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <cmocka.h>

#include "sim/finding_sql.h"
#include "verify/checksum.h"

#define PAGE_NO 153

static _Alignas(16) uint8_t image[PAGE_BYTES];

/* Page (3:153) of database 7, as it should be. */
static struct finding sound_page(enum verdict verdict)
{
    struct finding finding = {.verdict = verdict,
                              .file = "/data/x.mdx",
                              .file_uid = 1,
                              .database_id = 7,
                              .file_id = 3,
                              .has_page = true,
                              .page_no = PAGE_NO,
                              .offset = PAGE_NO * 8192,
                              .size_bytes = PAGE_BYTES};
    struct page_header *header = (struct page_header *)image;
    memset(image, 0x5a, sizeof image);
    header->page_no = PAGE_NO;
    header->file_id = 3;
    header->torn_bits = sector_fold(image, PAGE_BYTES, PAGE_OFFSET_TORN_BITS);
    return finding;
}

static const char *text_of(struct finding *finding, bool with_image)
{
    static char text[FINDING_SQL_TEXT_MAX]; /* lint: mutable: the text of one assertion */
    const struct finding_images images = {.read_image = image, .size_bytes = PAGE_BYTES};
    finding_sql_reason(finding, with_image ? &images : NULL);
    finding_sql_text(finding, text);
    return text;
}

static void begins(const char *text, const char *wanted)
{
    if (strncmp(text, wanted, strlen(wanted)) != 0)
        fail_msg("is:\n%s\nshould begin:\n%s", text, wanted);
}

/* 153 * 8,192 = 1,253,376 = 0x132000; the checksum changes by the bit that the flip moves to. */
static void a_damaged_page_is_an_incorrect_checksum(void **state)
{
    (void)state;
    char wanted[512];
    struct finding finding = sound_page(VERDICT_bit_flip);
    uint32_t stored = page_header_of(image)->torn_bits;
    image[5000] ^= 1;
    snprintf(wanted, sizeof wanted,
             "Error: 824, Severity: 24, State: 2.\nSQL Server detected a logical "
             "consistency-based I/O error: incorrect checksum (expected: 0x%08x; actual: 0x%08x). "
             "It occurred during a read of page (3:153) in database ID 7 at offset "
             "0x00000000132000 in file '/data/x.mdx'. ",
             stored, sector_fold(image, PAGE_BYTES, PAGE_OFFSET_TORN_BITS));
    begins(text_of(&finding, true), wanted);
}

static void the_page_id_is_looked_at_first(void **state)
{
    (void)state;
    struct finding finding = sound_page(VERDICT_zeroed);
    memset(image, 0, sizeof image);
    assert_non_null(strstr(text_of(&finding, true),
                           "error: incorrect pageid (expected 3:153; actual 0:0). It occurred"));
}

static void an_older_page_is_a_stale_page_with_its_lsn(void **state)
{
    (void)state;
    struct finding finding = sound_page(VERDICT_lost_write);
    struct page_header *header = (struct page_header *)image;
    finding.why.generation_expected = 5;
    finding.why.generation_found = 4;
    header->lsn_fseq = 40;
    header->lsn_block = 1234;
    header->lsn_slot = 2;
    header->torn_bits = sector_fold(image, PAGE_BYTES, PAGE_OFFSET_TORN_BITS);
    assert_non_null(strstr(text_of(&finding, true),
                           "error: stale page (a page read returned a log sequence number (LSN) "
                           "(40:1234:2) that is older than the last one that was written)."));
}

/* EIO is Windows' 1117, ERROR_IO_DEVICE. */
static void an_error_of_the_system_is_823(void **state)
{
    (void)state;
    struct finding finding = sound_page(VERDICT_unreadable);
    finding.error = EIO;
    begins(text_of(&finding, false),
           "Error: 823, Severity: 24, State: 2.\nThe operating system returned error "
           "1117(Input/output error) to SQL Server during a read at offset 0x00000000132000 in "
           "file '/data/x.mdx'. ");
    finding.verdict = VERDICT_write_error;
    assert_non_null(strstr(text_of(&finding, false), " during a write at offset "));
}

static void a_page_that_a_reread_healed_is_825(void **state)
{
    (void)state;
    struct finding finding = sound_page(VERDICT_transient_damage);
    memset(image, 0, sizeof image);
    finding.healed = true;
    finding.retries = 3;
    begins(text_of(&finding, true),
           "Error: 825, Severity: 10, State: 2.\nA read of the file '/data/x.mdx' at offset "
           "0x00000000132000 succeeded after failing 3 time(s) with error: incorrect pageid "
           "(expected 3:153; actual 0:0). ");
    finding.verdict = VERDICT_stale_read; /* 824 in the list, but SQL Server reads again, too */
    begins(text_of(&finding, true), "Error: 825, ");
}

static void a_stall_is_833_with_its_duration(void **state)
{
    (void)state;
    struct finding finding = sound_page(VERDICT_stalled_io);
    finding.age_ns = 15250 * NS_PER_MS;
    finding.times = 2;
    assert_non_null(
        strstr(text_of(&finding, false),
               "SQL Server has encountered 2 occurrence(s) of I/O requests taking longer than 15 "
               "seconds to complete on file [/data/x.mdx] in database id 7. "));
    assert_non_null(strstr(text_of(&finding, false),
                           "The offset of the latest long I/O is: 0x00000000132000. The duration "
                           "of the long I/O is: 15250 ms."));
}

/* Every class with a number has a sentence, and it fits with the longest names. */
static void each_class_with_a_number_has_its_message(void **state)
{
    (void)state;
    for (int i = VERDICT_NONE + 1; i < VERDICT_COUNT; i++) {
        struct finding finding = sound_page((enum verdict)i);
        char number[32];
        snprintf(number, sizeof number,
                 "Error: %d, Severity: ", verdict_info(finding.verdict)->sql_error);
        const char *text = text_of(&finding, true);
        if (verdict_info(finding.verdict)->sql_error)
            begins(text, number);
        else
            assert_string_equal(text, "");
        memset(finding.file, 'x', sizeof finding.file - 1);
        assert_true(strlen(text_of(&finding, true)) < FINDING_SQL_TEXT_MAX);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_damaged_page_is_an_incorrect_checksum),
        cmocka_unit_test(the_page_id_is_looked_at_first),
        cmocka_unit_test(an_older_page_is_a_stale_page_with_its_lsn),
        cmocka_unit_test(an_error_of_the_system_is_823),
        cmocka_unit_test(a_page_that_a_reread_healed_is_825),
        cmocka_unit_test(a_stall_is_833_with_its_duration),
        cmocka_unit_test(each_class_with_a_number_has_its_message),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
