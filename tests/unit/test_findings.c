/* test_findings.c - one event for one fault, quarantine, evidence, counting, stopping, the line. */
#include <dirent.h>
#include <errno.h>
#include <malloc.h>
#include <pthread.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include <cmocka.h>

#include "sim/evidence.h"
#include "sim/findings.h"
#include "tests/scale.h"
#include "verify/ledger.h"

#define DATA_UID 1

struct world {
    char dir[64], evidence[80], ledger_path[80];
    struct clock clock;
    struct run_identity run;
    struct ledger *ledger;
    struct findings findings;
    unsigned announced, stopped;
};

static void on_announce(void *context, const struct finding *finding)
{
    (void)finding;
    ((struct world *)context)->announced++;
}

static void on_stop(void *context, const struct finding *finding)
{
    (void)finding;
    ((struct world *)context)->stopped++;
}

static int world_make(void **state)
{
    struct world *w = calloc(1, sizeof *w);
    static const uint8_t run_id[RUN_ID_BYTES] = "findings test..", boot_id[16] = "boot";
    struct ledger_file_spec spec = {.incarnation = 1,
                                    .file_id = 1,
                                    .database_id = 5,
                                    .capacity_pages = 100000,
                                    .path = "/data/x.mdx"};
    assert_non_null(w);
    snprintf(w->dir, sizeof w->dir, "/tmp/pagestorm-findings-XXXXXX");
    assert_non_null(mkdtemp(w->dir));
    snprintf(w->evidence, sizeof w->evidence, "%s/evidence", w->dir);
    snprintf(w->ledger_path, sizeof w->ledger_path, "%s/ledger", w->dir);
    clock_init_virtual(&w->clock);
    w->run = run_identity_make(run_id, 7, 0);
    assert_int_equal(ledger_create(&w->ledger, w->ledger_path, &w->run, 7, CLOCK_VIRTUAL_EPOCH_NS,
                                   boot_id, &spec, 1),
                     0);
    assert_int_equal(findings_init(&w->findings, &w->clock, w->ledger, w->evidence, true), 0);
    w->findings.announce = on_announce;
    w->findings.stop = on_stop;
    w->findings.context = w;
    *state = w;
    return 0;
}

static void remove_files(const char *folder)
{
    DIR *dir = opendir(folder);
    char path[512];
    for (struct dirent *entry = dir ? readdir(dir) : NULL; entry; entry = readdir(dir)) {
        snprintf(path, sizeof path, "%s/%s", folder, entry->d_name);
        unlink(path);
    }
    if (dir)
        closedir(dir);
    rmdir(folder);
}

static int world_free(void **state)
{
    struct world *w = *state;
    findings_free(&w->findings);
    ledger_close(w->ledger, true);
    remove_files(w->evidence);
    remove_files(w->dir);
    free(w);
    return 0;
}

static struct finding on_page(enum verdict verdict, uint32_t page_no)
{
    struct finding finding = {.verdict = verdict,
                              .file_uid = DATA_UID,
                              .has_page = true,
                              .page_no = page_no,
                              .offset = page_no * 8192ull,
                              .size_bytes = 8192,
                              .file = "/data/x.mdx"};
    return finding;
}

static void report(struct world *w, struct finding finding)
{
    finding_report(&w->findings, &finding, NULL);
}

/* Pages 0 .. are written once, so that they have a state to lose. */
static void write_page(struct world *w, uint32_t page_no)
{
    ledger_begin(w->ledger, DATA_UID, page_no, 1);
    ledger_ack(w->ledger, DATA_UID, page_no, true, 3, 0);
}

static void a_persistent_finding_quarantines_its_page(void **state)
{
    struct world *w = *state;
    write_page(w, 9);
    report(w, on_page(VERDICT_bit_flip, 9));
    assert_int_equal(ledger_view(w->ledger, DATA_UID, 9).state, LEDGER_QUARANTINED);
}

static void a_healed_finding_leaves_its_page_open(void **state)
{
    struct world *w = *state;
    struct finding healed = on_page(VERDICT_transient_damage, 9);
    healed.healed = true;
    write_page(w, 9);
    report(w, healed);
    assert_int_equal(ledger_view(w->ledger, DATA_UID, 9).state, LEDGER_QUIET);
    report(w, on_page(VERDICT_bit_flip, 9));
    assert_int_equal(w->findings.count, 2);
}

static void an_io_error_does_not_quarantine(void **state)
{
    struct world *w = *state;
    write_page(w, 9);
    report(w, on_page(VERDICT_write_error, 9));
    assert_int_equal(ledger_view(w->ledger, DATA_UID, 9).state, LEDGER_QUIET);
}

static void a_second_finding_of_a_page_is_the_same_event(void **state)
{
    struct world *w = *state;
    report(w, on_page(VERDICT_lost_write, 9));
    report(w, on_page(VERDICT_bit_flip, 9));
    report(w, on_page(VERDICT_bit_flip, 10));
    assert_int_equal(w->findings.count, 2);
    assert_int_equal(w->findings.list[0].verdict, VERDICT_lost_write);
    assert_int_equal(w->announced, 2);
    assert_int_equal(findings_count(&w->findings, SEVERITY_INTEGRITY), 2);
}

static void the_same_page_of_two_files_is_two_events(void **state)
{
    struct world *w = *state;
    struct finding other = on_page(VERDICT_lost_write, 9);
    other.file_uid = 2;
    w->findings.ledger = NULL; /* it knows one file */
    report(w, on_page(VERDICT_lost_write, 9));
    report(w, other);
    assert_int_equal(w->findings.count, 2);
}

static void a_cut_file_is_one_event_wherever_it_ends(void **state)
{
    struct world *w = *state;
    struct finding cut = {.verdict = VERDICT_truncated_file, .file_uid = DATA_UID, .offset = 8192};
    report(w, cut);
    cut.offset = 16384;
    report(w, cut);
    assert_int_equal(w->findings.count, 1);
}

static void zeros_behind_the_cut_belong_to_it_and_zeros_before_it_do_not(void **state)
{
    struct world *w = *state;
    struct finding before = on_page(VERDICT_zeroed, 9), behind = on_page(VERDICT_zeroed, 10);
    before.offset = 9 * 8192;
    behind.offset = 10 * 8192;
    write_page(w, 9);
    write_page(w, 10);
    report(w, (struct finding){
                  .verdict = VERDICT_truncated_file, .file_uid = DATA_UID, .offset = 10 * 8192});
    report(w, behind);
    assert_int_equal(w->findings.count, 1);
    assert_int_equal(ledger_view(w->ledger, DATA_UID, 10).state, LEDGER_QUARANTINED);
    report(w, before);
    assert_int_equal(w->findings.count, 2);
}

static void io_errors_of_a_file_are_one_event_with_a_count(void **state)
{
    struct world *w = *state;
    for (uint32_t page_no = 20; page_no < 30; page_no++)
        report(w, on_page(VERDICT_write_error, page_no));
    report(w, on_page(VERDICT_no_space, 20));
    assert_int_equal(w->findings.count, 2);
    assert_int_equal(w->findings.list[0].page_no, 20);
    assert_int_equal(w->findings.list[0].times, 10);
    assert_int_equal(findings_count(&w->findings, SEVERITY_IO_ERROR), 11);
}

static void read_retries_are_kept_one_by_one_up_to_their_bound(void **state)
{
    struct world *w = *state;
    for (uint32_t page_no = 1; page_no <= FINDINGS_SINGLE_MAX + 5; page_no++)
        report(w, on_page(VERDICT_read_retry, page_no));
    assert_int_equal(w->findings.count, FINDINGS_SINGLE_MAX);
    assert_int_equal(findings_count(&w->findings, SEVERITY_WARNING), FINDINGS_SINGLE_MAX + 5);
}

static void beyond_the_list_only_the_counts_grow(void **state)
{
    struct world *w = *state;
    w->findings.evidence_dir = NULL;
    for (uint32_t page_no = 1; page_no <= FINDINGS_MAX + 7; page_no++)
        report(w, on_page(VERDICT_zeroed, page_no));
    report(w, on_page(VERDICT_zeroed, FINDINGS_MAX + 7)); /* known: the ledger remembers it */
    assert_int_equal(w->findings.count, FINDINGS_MAX);
    assert_int_equal(findings_count(&w->findings, SEVERITY_INTEGRITY), FINDINGS_MAX + 7);
}

static void integrity_and_io_errors_stop_a_run_that_stops_on_error(void **state)
{
    struct world *w = *state;
    report(w, on_page(VERDICT_read_retry, 1));
    assert_int_equal(w->stopped, 0);
    report(w, on_page(VERDICT_write_error, 1));
    assert_int_equal(w->stopped, 1);
    report(w, on_page(VERDICT_zeroed, 2));
    assert_int_equal(w->stopped, 2);
}

static void nothing_stops_a_run_that_goes_on(void **state)
{
    struct world *w = *state;
    w->findings.stop_on_error = false;
    report(w, on_page(VERDICT_zeroed, 2));
    assert_int_equal(w->stopped, 0);
    assert_int_equal(w->announced, 1);
}

static void a_dropped_event_is_not_counted(void **state)
{
    struct world *w = *state;
    report(w, on_page(VERDICT_lost_write, 2));
    finding_drop(&w->findings, findings_at(&w->findings, DATA_UID, 2));
    assert_int_equal(findings_count(&w->findings, SEVERITY_INTEGRITY), 0);
    assert_null(findings_at(&w->findings, DATA_UID, 2));
}

static void a_renamed_event_is_counted_under_its_new_name(void **state)
{
    struct world *w = *state;
    report(w, on_page(VERDICT_misdirected_write, 2));
    finding_rename(&w->findings, &w->findings.list[0], VERDICT_replayed_write);
    assert_int_equal(w->findings.by_verdict[VERDICT_misdirected_write], 0);
    assert_int_equal(w->findings.by_verdict[VERDICT_replayed_write], 1);
}

static void *report_same_page(void *context)
{
    report(context, on_page(VERDICT_zeroed, 77));
    return NULL;
}

static void eight_threads_that_meet_one_page_make_one_event(void **state)
{
    struct world *w = *state;
    pthread_t threads[8];
    w->findings.announce = NULL; /* this test's counters are not atomic */
    w->findings.stop = NULL;
    for (int i = 0; i < 8; i++)
        assert_int_equal(pthread_create(&threads[i], NULL, report_same_page, w), 0);
    for (int i = 0; i < 8; i++)
        pthread_join(threads[i], NULL);
    assert_int_equal(w->findings.count, 1);
    assert_int_equal(w->findings.by_verdict[VERDICT_zeroed], 1);
}

/* ---- evidence ---- */

static char *read_text(const struct world *w, const char *name, size_t *size_bytes)
{
    char path[512];
    snprintf(path, sizeof path, "%s/%s", w->evidence, name);
    FILE *file = fopen(path, "re");
    assert_non_null(file);
    char *text = calloc(1, 1 << 20);
    assert_non_null(text);
    *size_bytes = fread(text, 1, (1 << 20) - 1, file);
    fclose(file);
    return text;
}

/* Generation 4 of page 33 with byte 5,000 (0x1388) changed by 0x08. */
static void evidence_shows_the_changed_byte_and_keeps_the_image(void **state)
{
    struct world *w = *state;
    static _Alignas(16) uint8_t image[PAGE_BYTES];
    struct page_identity id = {DATA_UID, 1, 1, 33, 4};
    page_fill(image, &w->run, &id, 5);
    page_seal(image, (struct lsn){9, 16, 2}, CLOCK_VIRTUAL_EPOCH_NS);
    image[5000] ^= 0x08;
    struct finding finding = on_page(VERDICT_bit_flip, 33);
    finding.why.generation_expected = finding.why.generation_found = 4;
    finding.why.damaged_bits = 1;
    finding.why.first_bad_offset = 5000;
    memcpy(finding.why.sectors, "nnnnnnnnncnnnnnn", 17);
    struct finding_images images = {.read_image = image, .size_bytes = PAGE_BYTES};
    finding_report(&w->findings, &finding, &images);

    assert_string_equal(w->findings.list[0].evidence, "00001-bit_flip-x.mdx-33.txt");
    size_t size;
    char *text = read_text(w, "00001-bit_flip-x.mdx-33.txt", &size);
    assert_non_null(strstr(text, "expected XOR read: 1 bytes differ\n"
                                 "1380  .. .. .. .. .. .. .. .. 08 .."));
    assert_non_null(strstr(text, "nnnnnnnnncnnnnnn"));
    assert_non_null(strstr(text, "4 expected, 4 found"));
    assert_non_null(strstr(text, "2026-01-01 00:00:00 UTC"));
    free(text);
    char *bin = read_text(w, "00001-bit_flip-x.mdx-33.bin", &size);
    assert_int_equal(size, PAGE_BYTES);
    assert_memory_equal(bin, image, PAGE_BYTES);
    free(bin);
}

static void
the_expected_image_of_an_older_page_is_compared_without_what_only_its_writer_knew(void **state)
{
    struct world *w = *state;
    static _Alignas(16) uint8_t image[PAGE_BYTES];
    struct page_identity id = {DATA_UID, 1, 1, 33, 4};
    page_fill(image, &w->run, &id, 5);
    page_seal(image, (struct lsn){9, 16, 2}, CLOCK_VIRTUAL_EPOCH_NS);
    struct finding finding = on_page(VERDICT_lost_write, 33);
    finding.why.generation_expected = 5;
    finding.why.generation_found = 4;
    struct finding_images images = {.read_image = image, .size_bytes = PAGE_BYTES};
    finding_report(&w->findings, &finding, &images);
    size_t size;
    char *text = read_text(w, "00001-lost_write-x.mdx-33.txt", &size);
    assert_non_null(strstr(text, "are not compared"));
    assert_non_null(strstr(text, "expected XOR read"));
    assert_null(strstr(text, "\n0020  "
                             ".. .. .. .. .. .. .. .. 09"));
    free(text);
}

static void evidence_is_written_for_a_bounded_number_of_events(void **state)
{
    struct world *w = *state;
    for (uint32_t page_no = 1; page_no <= EVIDENCE_EVENTS_MAX + 1; page_no++)
        report(w, on_page(VERDICT_zeroed, page_no));
    assert_string_not_equal(w->findings.list[EVIDENCE_EVENTS_MAX - 1].evidence, "");
    assert_string_equal(w->findings.list[EVIDENCE_EVENTS_MAX].evidence, "");
}

/* Twice each page of 100,000: one event a page, 1,000 of them kept, nothing more allocated.  Fewer
 * pages under a sanitizer: each finding is compared with the 1,000. */
static void a_hundred_thousand_findings_take_the_memory_of_a_thousand(void **state)
{
    struct world *w = *state;
    const unsigned long scaled = test_scaled(100000);
    const uint32_t pages = FINDINGS_MAX + (scaled < 99000 ? (uint32_t)scaled : 99000);
    w->findings.evidence_dir = NULL;
    for (uint32_t page_no = 0; page_no < FINDINGS_MAX; page_no++)
        report(w, on_page(VERDICT_zeroed, page_no));
    size_t heap_bytes = mallinfo2().uordblks;
    for (unsigned time = 0; time < 2; time++)
        for (uint32_t page_no = FINDINGS_MAX; page_no < pages; page_no++)
            report(w, on_page(VERDICT_zeroed, page_no));
    assert_int_equal(mallinfo2().uordblks, heap_bytes);
    assert_int_equal(w->findings.count, FINDINGS_MAX);
    assert_int_equal(w->announced, FINDINGS_MAX);
    assert_int_equal(findings_count(&w->findings, SEVERITY_INTEGRITY), pages);
}

static void evidence_that_cannot_be_written_is_said_in_the_event(void **state)
{
    struct world *w = *state;
    w->findings.evidence_dir = "/proc/pagestorm-no-such-folder";
    report(w, on_page(VERDICT_zeroed, 5));
    assert_string_equal(w->findings.list[0].evidence, "");
    assert_non_null(strstr(w->findings.list[0].detail, "evidence could not be written"));
}

static void a_file_name_cannot_lead_out_of_the_evidence_folder(void **state)
{
    struct world *w = *state;
    struct finding finding = on_page(VERDICT_zeroed, 5);
    snprintf(finding.file, sizeof finding.file, "/data/a b;$(c)\n.mdx");
    report(w, finding);
    assert_string_equal(w->findings.list[0].evidence, "00001-zeroed-a_b___c__.mdx-5.txt");
}

/* ---- the line ---- */

static void the_line_of_a_lost_write(void **state)
{
    (void)state;
    char line[1024];
    struct finding finding = on_page(VERDICT_lost_write, 4711);
    snprintf(finding.file, sizeof finding.file, "sqliosim.mdx");
    finding.why.generation_expected = 9;
    finding.why.generation_found = 8;
    finding.retries = 16;
    finding_line(&finding, line, sizeof line);
    /* 4711 * 8192 = 38592512 */
    assert_string_equal(line,
                        "LOST WRITE sqliosim.mdx page 4711 (byte offset 38592512): generation "
                        "8 read, 9 was acknowledged; 16 re-reads, none right (SQL Server: "
                        "824)");
}

static void the_line_of_every_class_names_it_and_says_something(void **state)
{
    (void)state;
    for (int i = VERDICT_NONE + 1; i < VERDICT_COUNT; i++) {
        char line[1024], number[32];
        const struct verdict_info *info = verdict_info((enum verdict)i);
        struct finding finding = on_page((enum verdict)i, 1);
        finding_line(&finding, line, sizeof line);
        assert_non_null(strstr(line, info->sentence));
        if (info->sql_error) {
            snprintf(number, sizeof number, "(SQL Server: %d)", info->sql_error);
            assert_non_null(strstr(line, number));
        }
    }
}

static void a_line_never_exceeds_its_buffer(void **state)
{
    (void)state;
    struct finding finding = on_page(VERDICT_misdirected_write, 1);
    memset(finding.file, 'f', sizeof finding.file - 1);
    memset(finding.detail, 'd', sizeof finding.detail - 1);
    for (size_t size = 1; size < 700; size++) {
        char *line = malloc(size);
        assert_non_null(line);
        finding_line(&finding, line, size);
        assert_true(strlen(line) < size);
        free(line);
    }
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, world_make, world_free)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(a_persistent_finding_quarantines_its_page),
        TEST(a_healed_finding_leaves_its_page_open),
        TEST(an_io_error_does_not_quarantine),
        TEST(a_second_finding_of_a_page_is_the_same_event),
        TEST(the_same_page_of_two_files_is_two_events),
        TEST(a_cut_file_is_one_event_wherever_it_ends),
        TEST(zeros_behind_the_cut_belong_to_it_and_zeros_before_it_do_not),
        TEST(io_errors_of_a_file_are_one_event_with_a_count),
        TEST(read_retries_are_kept_one_by_one_up_to_their_bound),
        TEST(beyond_the_list_only_the_counts_grow),
        TEST(integrity_and_io_errors_stop_a_run_that_stops_on_error),
        TEST(nothing_stops_a_run_that_goes_on),
        TEST(a_dropped_event_is_not_counted),
        TEST(a_renamed_event_is_counted_under_its_new_name),
        TEST(eight_threads_that_meet_one_page_make_one_event),
        TEST(evidence_shows_the_changed_byte_and_keeps_the_image),
        TEST(the_expected_image_of_an_older_page_is_compared_without_what_only_its_writer_knew),
        TEST(evidence_is_written_for_a_bounded_number_of_events),
        TEST(a_hundred_thousand_findings_take_the_memory_of_a_thousand),
        TEST(evidence_that_cannot_be_written_is_said_in_the_event),
        TEST(a_file_name_cannot_lead_out_of_the_evidence_folder),
        cmocka_unit_test(the_line_of_a_lost_write),
        cmocka_unit_test(the_line_of_every_class_names_it_and_says_something),
        cmocka_unit_test(a_line_never_exceeds_its_buffer),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
