/* test_pairing.c - joining the two ends of a misdirected write, on a file written by hand. */
#include <errno.h>
#include <fcntl.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <cmocka.h>

#include "sim/pairing.h"

#define PAGES  512
#define HOME   100
#define VICTIM 400
#define UID    1

/* A run as it is when its actors have stopped: one data file, every page generation 1. */
struct world {
    char path[64], ledger_path[64];
    struct run run;
    struct clock clock;
    struct data_file file;
    struct data_file *files[1];
    struct database database;
};

static void put(struct world *w, uint32_t where, uint32_t page_no, uint64_t generation)
{
    static _Alignas(4096) uint8_t image[PAGE_BYTES];
    struct page_identity id = {UID, 1, 1, page_no, generation};
    page_fill(image, &w->run.identity, &id, 1);
    page_seal(image, (struct lsn){9, 16, 2}, CLOCK_VIRTUAL_EPOCH_NS);
    assert_int_equal(pwrite(w->file.file.target.fd, image, PAGE_BYTES, (off_t)where * PAGE_BYTES),
                     PAGE_BYTES);
}

static void acknowledge(struct world *w, uint32_t page_no, uint64_t generation)
{
    ledger_begin(w->run.ledger, UID, page_no, generation);
    ledger_ack(w->run.ledger, UID, page_no, true, 1, 0);
}

static void file_make(struct world *w)
{
    struct file *file = &w->file.file;
    int fd = open(w->path, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
    assert_true(fd >= 0);
    assert_int_equal(ftruncate(fd, (off_t)PAGES * PAGE_BYTES), 0);
    file->path = w->path;
    file->mark.file_uid = UID;
    file->mark.incarnation = 1;
    file->mark.file_id = 1;
    file->size_pages = PAGES;
    file->created_by_us = true;
    file->target.fd = fd;
    file->target.uid = UID;
    file->target.dsync = true;
    file->target.align_bytes = file->target.memory_align_bytes = 512;
    atomic_store(&file->target.size_bytes, (uint64_t)PAGES * PAGE_BYTES);
    w->file.database = &w->database;
    w->file.primary = true;
    w->files[0] = &w->file;
    w->run.files = w->files;
    w->run.file_count = 1;
    w->run.databases = &w->database;
    w->run.database_count = 1;
    w->database.files = &w->file;
    w->database.file_count = 1;
}

static void io_make(struct world *w)
{
    struct io_engine_config config = {.clock = &w->clock, .depth = 1};
    assert_int_equal(engine_sync.create(&w->run.main_engine, &config), 0);
    assert_int_equal(engine_sync.attach(w->run.main_engine, &w->file.file.target), 0);
    io_init(&w->run.io, w->run.main_engine, &w->clock, &w->run.main_stats, &w->run.phase);
}

static int world_make(void **state)
{
    struct world *w = calloc(1, sizeof *w);
    static const uint8_t run_id[RUN_ID_BYTES] = "pairing test...", boot_id[16] = "boot";
    struct ledger_file_spec spec = {
        .incarnation = 1, .file_id = 1, .database_id = 5, .capacity_pages = PAGES, .path = w->path};
    assert_non_null(w);
    snprintf(w->path, sizeof w->path, "/tmp/pagestorm-pairing-%d.mdx", (int)getpid());
    snprintf(w->ledger_path, sizeof w->ledger_path, "/tmp/pagestorm-pairing-%d.ledger",
             (int)getpid());
    clock_init_virtual(&w->clock);
    w->run.clock = &w->clock;
    memcpy(w->run.run_id, run_id, RUN_ID_BYTES);
    w->run.identity = run_identity_make(run_id, 7, 0);
    file_make(w);
    assert_int_equal(ledger_create(&w->run.ledger, w->ledger_path, &w->run.identity, 7,
                                   CLOCK_VIRTUAL_EPOCH_NS, boot_id, &spec, 1),
                     0);
    assert_int_equal(findings_init(&w->run.findings, &w->clock, w->run.ledger, NULL, false), 0);
    io_make(w);
    for (uint32_t page_no = 10; page_no < PAGES; page_no++) {
        acknowledge(w, page_no, 1);
        put(w, page_no, page_no, 1);
    }
    *state = w;
    return 0;
}

static int world_free(void **state)
{
    struct world *w = *state;
    engine_sync.detach(w->run.main_engine, &w->file.file.target);
    engine_sync.destroy(w->run.main_engine);
    findings_free(&w->run.findings);
    ledger_close(w->run.ledger, true);
    close(w->file.file.target.fd);
    unlink(w->path);
    unlink(w->ledger_path);
    free(w);
    return 0;
}

static void report_victim(struct world *w, uint64_t generation)
{
    struct finding finding = {.verdict = VERDICT_misdirected_write,
                              .file_uid = UID,
                              .has_page = true,
                              .page_no = VICTIM,
                              .why = {.verdict = VERDICT_misdirected_write,
                                      .has_origin = true,
                                      .origin_file_uid = UID,
                                      .origin_page_no = HOME,
                                      .origin_generation = generation}};
    finding_report(&w->run.findings, &finding, NULL);
}

static void report_home(struct world *w)
{
    struct finding finding = {
        .verdict = VERDICT_lost_write,
        .file_uid = UID,
        .has_page = true,
        .page_no = HOME,
        .why = {.verdict = VERDICT_lost_write, .generation_expected = 2, .generation_found = 1}};
    finding_report(&w->run.findings, &finding, NULL);
}

/* Generation 2 of HOME was acknowledged and stands at VICTIM. */
static void misdirect(struct world *w)
{
    acknowledge(w, HOME, 2);
    put(w, VICTIM, HOME, 2);
}

static uint64_t reads(const struct world *w)
{
    return w->run.main_stats.streams[w->run.phase][STREAM_pairing_read].ops;
}

/* The one event that is left. */
static const struct finding *only_event(struct world *w)
{
    const struct finding *found = NULL;
    for (unsigned i = 0; i < w->run.findings.count; i++) {
        if (w->run.findings.list[i].amended)
            continue;
        assert_null(found);
        found = &w->run.findings.list[i];
    }
    assert_non_null(found);
    assert_int_equal(findings_count(&w->run.findings, SEVERITY_INTEGRITY), 1);
    return found;
}

static void assert_paired_at_victim(const struct finding *event)
{
    assert_int_equal(event->verdict, VERDICT_misdirected_write);
    assert_int_equal(event->page_no, VICTIM);
    assert_true(event->paired);
    assert_int_equal(event->other_page_no, HOME);
    assert_int_equal(event->other_generation, 2);
}

static void two_known_ends_become_one_event(void **state)
{
    struct world *w = *state;
    misdirect(w);
    report_home(w);
    report_victim(w, 2);
    assert_int_equal(findings_pair(&w->run), 0);
    assert_paired_at_victim(only_event(w));
    assert_string_equal(only_event(w)->other_file, w->path);
    assert_int_equal(reads(w), 0);
}

static void a_stale_home_that_nobody_read_is_found_from_the_victim(void **state)
{
    struct world *w = *state;
    misdirect(w);
    report_victim(w, 2);
    assert_int_equal(findings_pair(&w->run), 0);
    assert_paired_at_victim(only_event(w));
    assert_int_equal(ledger_view(w->run.ledger, UID, HOME).state, LEDGER_QUARANTINED);
    assert_int_equal(reads(w), 1);
}

static void a_victim_that_nobody_read_is_found_from_the_lost_write(void **state)
{
    struct world *w = *state;
    misdirect(w);
    report_home(w);
    assert_int_equal(findings_pair(&w->run), 0);
    assert_paired_at_victim(only_event(w));
    /* 512 pages at 128 a read */
    assert_int_equal(reads(w), 4);
}

static void a_home_that_holds_the_same_generation_makes_it_a_replay(void **state)
{
    struct world *w = *state;
    misdirect(w);
    put(w, HOME, HOME, 2);
    report_victim(w, 2);
    assert_int_equal(findings_pair(&w->run), 0);
    assert_int_equal(only_event(w)->verdict, VERDICT_replayed_write);
    assert_int_equal(only_event(w)->page_no, VICTIM);
    assert_false(only_event(w)->paired);
}

static void a_home_that_was_written_again_leaves_a_misdirected_write_alone(void **state)
{
    struct world *w = *state;
    misdirect(w);
    acknowledge(w, HOME, 3);
    put(w, HOME, HOME, 3);
    report_victim(w, 2);
    assert_int_equal(findings_pair(&w->run), 0);
    assert_int_equal(only_event(w)->verdict, VERDICT_misdirected_write);
    assert_false(only_event(w)->paired);
}

static void a_write_that_went_nowhere_stays_lost(void **state)
{
    struct world *w = *state;
    acknowledge(w, HOME, 2);
    report_home(w);
    assert_int_equal(findings_pair(&w->run), 0);
    assert_int_equal(only_event(w)->verdict, VERDICT_lost_write);
    assert_int_equal(only_event(w)->page_no, HOME);
    assert_int_equal(reads(w), 4);
}

/* Generation 1 is what the home holds: a copy of it elsewhere is not the lost write. */
static void an_older_image_elsewhere_is_not_the_lost_write(void **state)
{
    struct world *w = *state;
    acknowledge(w, HOME, 2);
    put(w, VICTIM, HOME, 1);
    report_home(w);
    assert_int_equal(findings_pair(&w->run), 0);
    assert_int_equal(only_event(w)->verdict, VERDICT_lost_write);
}

static void an_image_of_another_run_is_not_the_lost_write(void **state)
{
    struct world *w = *state;
    static const uint8_t other_id[RUN_ID_BYTES] = "another run....";
    struct run_identity own = w->run.identity;
    acknowledge(w, HOME, 2);
    w->run.identity = run_identity_make(other_id, 7, 0);
    put(w, VICTIM, HOME, 2);
    w->run.identity = own;
    report_home(w);
    assert_int_equal(findings_pair(&w->run), 0);
    assert_int_equal(only_event(w)->verdict, VERDICT_lost_write);
}

static void content_of_another_run_has_no_home_here(void **state)
{
    struct world *w = *state;
    misdirect(w);
    report_victim(w, 2);
    w->run.findings.list[0].why.origin_other_run = true;
    assert_int_equal(findings_pair(&w->run), 0);
    assert_false(only_event(w)->paired);
    assert_int_equal(reads(w), 0);
}

static void an_origin_outside_the_files_is_left_alone(void **state)
{
    struct world *w = *state;
    report_victim(w, 2);
    w->run.findings.list[0].why.origin_page_no = PAGES;
    assert_int_equal(findings_pair(&w->run), 0);
    assert_false(only_event(w)->paired);
}

static void without_such_events_nothing_is_read(void **state)
{
    struct world *w = *state;
    struct finding finding = {
        .verdict = VERDICT_bit_flip, .file_uid = UID, .has_page = true, .page_no = HOME};
    finding_report(&w->run.findings, &finding, NULL);
    assert_int_equal(findings_pair(&w->run), 0);
    assert_int_equal(reads(w), 0);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, world_make, world_free)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(two_known_ends_become_one_event),
        TEST(a_stale_home_that_nobody_read_is_found_from_the_victim),
        TEST(a_victim_that_nobody_read_is_found_from_the_lost_write),
        TEST(a_home_that_holds_the_same_generation_makes_it_a_replay),
        TEST(a_home_that_was_written_again_leaves_a_misdirected_write_alone),
        TEST(a_write_that_went_nowhere_stays_lost),
        TEST(an_older_image_elsewhere_is_not_the_lost_write),
        TEST(an_image_of_another_run_is_not_the_lost_write),
        TEST(content_of_another_run_has_no_home_here),
        TEST(an_origin_outside_the_files_is_left_alone),
        TEST(without_such_events_nothing_is_read),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
