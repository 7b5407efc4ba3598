/* test_error_dump.c - SqlSimErrorDumpNNNNN.txt of a page that was damaged on purpose. */
#include <dirent.h>
#include <errno.h>
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

#include "sim/error_dump.h"
#include "tests/sim_fixture.h"

#define PAGE_NO 4711
#define SEED    7
/* 2026-03-04 17:21:48 UTC (date -u -d @1772644908) */
#define FOUND_NS 1772644908000000000ull

struct world {
    char dir[64], name[FINDING_DUMP_MAX];
    uint8_t written[PAGE_BYTES], read[PAGE_BYTES];
    struct finding finding;
    struct finding_images images;
    char *text; /* of the dump */
};

static int world_make(void **state)
{
    struct world *w = calloc(1, sizeof *w);
    struct run_identity run = run_identity_make((const uint8_t[RUN_ID_BYTES]){1}, SEED, 0);
    struct page_identity id = {
        .file_uid = 1, .incarnation = 1, .file_id = 1, .page_no = PAGE_NO, .generation = 9};
    assert_non_null(w);
    snprintf(w->dir, sizeof w->dir, "/tmp/pagestorm-dump-XXXXXX");
    assert_non_null(mkdtemp(w->dir));
    page_fill(w->written, &run, &id, 3);
    page_seal(w->written, (struct lsn){40, 100, 1}, CLOCK_VIRTUAL_EPOCH_NS);
    memcpy(w->read, w->written, PAGE_BYTES);
    w->finding = (struct finding){.number = 12,
                                  .verdict = VERDICT_bit_flip,
                                  .file = "/data/x.mdx",
                                  .file_uid = 1,
                                  .has_page = true,
                                  .page_no = PAGE_NO,
                                  .offset = PAGE_NO * 8192ull,
                                  .size_bytes = PAGE_BYTES,
                                  .retries = 15,
                                  .agreed = 15,
                                  .actor = "AuditUser 1",
                                  .found_ns = FOUND_NS};
    w->finding.why.generation_expected = 9;
    w->images = (struct finding_images){
        .read_image = w->read, .expected_image = w->written, .size_bytes = PAGE_BYTES};
    *state = w;
    return 0;
}

static char *file_text(const char *directory, const char *name)
{
    char path[512];
    char *text = calloc(1, 1 << 20);
    snprintf(path, sizeof path, "%s/%s", directory, name);
    FILE *in = fopen(path, "re");
    assert_non_null(in);
    assert_non_null(text);
    (void)!fread(text, 1, (1 << 20) - 1, in);
    fclose(in);
    return text;
}

static void dump(struct world *w)
{
    assert_int_equal(error_dump_write(w->dir, 6, NULL, &w->finding, &w->images, w->name), 0);
    w->text = file_text(w->dir, w->name);
}

static int world_free(void **state)
{
    struct world *w = *state;
    char path[160];
    snprintf(path, sizeof path, "%s/%s", w->dir, w->name);
    unlink(path);
    rmdir(w->dir);
    free(w->text);
    free(w);
    return 0;
}

static void has(const struct world *w, const char *part)
{
    if (!strstr(w->text, part))
        fail_msg("'%s' is not in:\n%.3000s", part, w->text);
}

static void has_not(const struct world *w, const char *part)
{
    if (strstr(w->text, part))
        fail_msg("'%s' is in:\n%.3000s", part, w->text);
}

/* SQL Server's page checksum, written down again from its description: sector by sector rotate left
 * by one, XOR the dwords, the field itself counting as zero. */
static uint32_t checksum_of(const uint8_t *page)
{
    uint32_t sum = 0;
    for (unsigned at = 0; at < PAGE_BYTES; at += 4) {
        uint32_t word = page[at] | (uint32_t)page[at + 1] << 8 | (uint32_t)page[at + 2] << 16 |
                        (uint32_t)page[at + 3] << 24;
        if (at % 512 == 0)
            sum = sum << 1 | sum >> 31;
        sum ^= at == 0x3C ? 0 : word;
    }
    return sum;
}

static uint32_t stored(const uint8_t *page)
{
    return page[0x3C] | (uint32_t)page[0x3D] << 8 | (uint32_t)page[0x3E] << 16 |
           (uint32_t)page[0x3F] << 24;
}

static void has_checksums(const struct world *w)
{
    char line[80];
    snprintf(line, sizeof line, "  Expected       0x%08x  in the page", stored(w->written));
    has(w, line);
    snprintf(line, sizeof line, "  Received       0x%08x  in the page", stored(w->read));
    has(w, line);
    snprintf(line, sizeof line, "  Calculated     0x%08x  over the page", checksum_of(w->read));
    has(w, line);
}

static void the_name_has_five_digits(void **state)
{
    struct world *w = *state;
    dump(w);
    assert_string_equal(w->name, "SqlSimErrorDump00006.txt");
    assert_true(error_dump_is_name(w->name));
    assert_false(error_dump_is_name("SqlSimErrorDump6.txt"));
    assert_false(error_dump_is_name("SqlSimErrorDump00006.txt.old"));
    assert_false(error_dump_is_name("SqlSimErrorDump0000a.txt"));
}

static void a_damaged_body_shows_in_checksums_and_differences(void **state)
{
    struct world *w = *state;
    char range[160];
    const uint8_t *good = w->written + 0x1000;
    for (unsigned i = 0; i < 4; i++)
        w->read[0x1000 + i] = good[i] ^ 0xff;
    w->read[0x1500] = (uint8_t)~w->written[0x1500];
    dump(w);
    has_checksums(w);
    has(w, "the header is the expected one and the content is damaged");
    snprintf(range, sizeof range,
             "  0x1000-0x1003 (4 bytes)\n    expected %02x %02x %02x %02x\n    received %02x %02x "
             "%02x %02x\n",
             good[0], good[1], good[2], good[3], good[0] ^ 0xff, good[1] ^ 0xff, good[2] ^ 0xff,
             good[3] ^ 0xff);
    has(w, range);
    has(w, "  0x1500-0x1500 (1 bytes)\n");
    has(w, "  5 bytes differ, in 2 ranges\n");
}

static void a_whole_page_that_is_another_one_is_told(void **state)
{
    struct world *w = *state;
    struct run_identity run = run_identity_make((const uint8_t[RUN_ID_BYTES]){1}, SEED, 0);
    struct page_identity id = {
        .file_uid = 1, .incarnation = 1, .file_id = 1, .page_no = PAGE_NO + 1, .generation = 9};
    page_fill(w->read, &run, &id, 3);
    page_seal(w->read, (struct lsn){40, 100, 1}, CLOCK_VIRTUAL_EPOCH_NS);
    w->finding.verdict = VERDICT_misdirected_read;
    dump(w);
    has_checksums(w);
    has(w, "the page is whole, and not the one that was expected");
    has(w, "  PageId         0x1267 (4711)"); /* 0x1267 = 4711 */
    has(w, "0x1268 (4712)  differs\n");
}

static void the_header_is_taken_apart_in_hex_and_decimal(void **state)
{
    struct world *w = *state;
    w->read[5000] ^= 1;
    dump(w);
    has(w, "  LSN block      0x64 (100)");
    has(w, "  Generation     0x9 (9)");
    has(w, "  Actor          0x3 (3)");
    has(w, "  Read: written  2026-01-01 00:00:00 UTC (local time ");
}

static void it_says_where_when_and_what_it_means(void **state)
{
    struct world *w = *state;
    w->read[5000] ^= 1;
    dump(w);
    has(w, "File             /data/x.mdx (file uid 1)\n");
    has(w, "Page             4711 (0x00001267)\n");
    has(w, "Offset           38592512 (0x24ce000), 8192 bytes\n"); /* 4711 x 8192 */
    has(w, "Found            2026-03-04 17:21:48 UTC (local time ");
    has(w, "Re-reads         15, 15 of them with the same wrong content, none was right\n");
    has(w, verdict_info(VERDICT_bit_flip)->sentence);
    has(w, "Write image");
    has(w, "Read image");
}

static void without_images_the_facts_stand_alone(void **state)
{
    struct world *w = *state;
    w->images = (struct finding_images){.size_bytes = 0};
    dump(w);
    has(w, "Page             4711");
    has(w, "Read image (the first read)\n  there is none\n");
    has_not(w, "Checksums");
    has_not(w, "Differences");
}

static void many_differences_are_bounded(void **state)
{
    struct world *w = *state;
    for (unsigned at = 300; at < 8100; at += 2)
        w->read[at] ^= 0xff;
    dump(w);
    has(w, "3900 bytes differ, in 3900 ranges\n"); /* (8100 - 300) / 2 */
    has(w, "  ... and 3836 ranges more\n");        /* less the 64 that are shown */
    assert_true(strlen(w->text) < 100000);
}

static void a_dump_never_replaces_a_file(void **state)
{
    struct world *w = *state;
    dump(w);
    assert_int_equal(error_dump_write(w->dir, 6, NULL, &w->finding, &w->images, w->name), -EEXIST);
}

/* ---- in a run ---- */

struct told {
    unsigned dumps;
    char text[EVENT_TEXT_MAX];
};

static void on_event(void *context, const struct event *event)
{
    struct told *told = context;
    static const char begin[] = "Dump file successfully written: ";
    if (strncmp(event->text, begin, strlen(begin)) != 0)
        return;
    assert_int_equal(event->type, EVENT_INFO);
    told->dumps++;
    snprintf(told->text, sizeof told->text, "%s", event->text + strlen(begin));
}

static void a_run_dumps_each_integrity_finding_and_tells_where(void **state)
{
    struct told told = {0};
    struct sim_options options = {
        .with_faults = true,
        .event = on_event,
        .context = &told,
        .settings = {{"CONFIG", "StopOnError", "FALSE"},
                     {"RandomUser", "UserCount", "0"},
                     {"BulkUpdateUser", "UserCount", "0"}}}; /* nobody overwrites the pages */
    struct sim sim;
    char expected[SIM_PATH_MAX];
    (void)state;
    sim_begin(&sim, &options);
    for (unsigned page = 40; page < 42; page++)
        fault_add(sim.faults, &(struct fault_rule){.kind = FAULT_FLIP,
                                                   .op = IO_WRITE,
                                                   .file_uid = 1,
                                                   .low = page * 8192ull,
                                                   .high = (page + 1) * 8192ull,
                                                   .a = 5000,
                                                   .b = 1});
    sim_run(&sim);
    assert_int_equal(told.dumps, 2);
    sim_path(&sim, "SqlSimErrorDump00002.txt", expected);
    assert_string_equal(told.text, expected);
    char *text = file_text(sim.folder, "SqlSimErrorDump00001.txt");
    assert_non_null(strstr(text, "  Expected       0x"));
    assert_non_null(strstr(text, "  1 bytes differ, in 1 ranges\n"));
    free(text);
    sim_end(&sim);
}

int main(void)
{
#define IN_WORLD(test) cmocka_unit_test_setup_teardown(test, world_make, world_free)
    const struct CMUnitTest tests[] = {
        IN_WORLD(the_name_has_five_digits),
        IN_WORLD(a_damaged_body_shows_in_checksums_and_differences),
        IN_WORLD(a_whole_page_that_is_another_one_is_told),
        IN_WORLD(the_header_is_taken_apart_in_hex_and_decimal),
        IN_WORLD(it_says_where_when_and_what_it_means),
        IN_WORLD(without_images_the_facts_stand_alone),
        IN_WORLD(many_differences_are_bounded),
        IN_WORLD(a_dump_never_replaces_a_file),
        cmocka_unit_test(a_run_dumps_each_integrity_finding_and_tells_where),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
