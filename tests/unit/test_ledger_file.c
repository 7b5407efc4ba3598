/*
 * test_ledger_file.c - the mapped file: layout, survival, validation, clean mark.
 *
 * Offsets used below, by arithmetic: header one page; table 4096 + 576 a file (64 bytes of fields
 * and 512 of path); 3 files end at 5824, so entries start at 8192; 64 entries are 1,024 bytes, one
 * page; 300 entries are 4,800 bytes, two pages: the file has 8192 + 4096 + 8192 = 20480 bytes.
 */
#include "ledger_fixture.h"

#include <errno.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <sys/wait.h>

#include "tests/scale.h"

#define LEDGER_BYTES 20480
#define ROW(n)       (4096 + 576 * (n))
#define ROW_KIND     8
#define ROW_ACKED    12
#define ROW_CAPACITY 20
#define ROW_OFFSET   40
#define ROW_PATH     64

static void read_file(const char *path, uint8_t out[LEDGER_BYTES])
{
    int fd = open(path, O_RDONLY);
    assert_true(fd >= 0);
    assert_int_equal(read(fd, out, LEDGER_BYTES), LEDGER_BYTES);
    close(fd);
}

static void fixture_image(void **state, uint8_t out[LEDGER_BYTES])
{
    read_file(((struct ledger_fixture *)*state)->path, out);
}

static void reopen(struct ledger_fixture *f, bool clean, bool writable)
{
    const char *reason;

    ledger_close(f->ledger, clean);
    f->ledger = NULL;
    assert_int_equal(ledger_open(&f->ledger, f->path, writable, &reason), 0);
}

/* --- creation --- */

static void test_file_has_the_size_that_the_table_makes(void **state)
{
    struct ledger_fixture *f = *state;
    struct stat st;

    assert_int_equal(stat(f->path, &st), 0);
    assert_int_equal(st.st_size, LEDGER_BYTES);
}

static void test_rows_say_what_was_asked_for(void **state)
{
    struct ledger *l = ((struct ledger_fixture *)*state)->ledger;

    assert_string_equal(ledger_file_at(l, 1)->path, "/data/sqliosim.mdx");
    assert_int_equal(ledger_file_at(l, 1)->entries_offset, 8192);
    assert_int_equal(ledger_file_at(l, 2)->kind, FILE_KIND_LOG);
    assert_int_equal(ledger_file_at(l, 2)->entries_offset, 0);
    assert_int_equal(ledger_file_at(l, 3)->uid, 3);
    assert_int_equal(ledger_file_at(l, 3)->entries_offset, 12288);
    assert_int_equal(ledger_file_at(l, 3)->capacity_pages, 300);
}

static void test_no_row_for_uid_zero_or_beyond_the_table(void **state)
{
    struct ledger *l = ((struct ledger_fixture *)*state)->ledger;

    assert_null(ledger_file_at(l, 0));
    assert_null(ledger_file_at(l, 4));
}

static void test_header_says_run_seed_and_session(void **state)
{
    struct ledger_header *h = ledger_header_of(((struct ledger_fixture *)*state)->ledger);
    struct run_identity run = fixture_run(7, 2500);

    assert_memory_equal(h->run_id, run.run_id, RUN_ID_BYTES);
    assert_int_equal(h->seed, 7);
    assert_int_equal(h->session_start_ns, 1000);
    assert_int_equal(h->compressible, 2500);
    assert_int_equal(h->clean, 0);
    assert_int_equal(h->phase, LEDGER_PHASE_CREATING);
}

static void test_existing_file_is_left_alone(void **state)
{
    struct ledger_fixture *f = *state;
    struct ledger *other = NULL;
    uint8_t before[LEDGER_BYTES], after[LEDGER_BYTES];

    fixture_image(state, before);
    assert_int_equal(fixture_create(&other, f->path), -EEXIST);
    fixture_image(state, after);
    assert_memory_equal(before, after, LEDGER_BYTES);
}

static int create_with(const struct ledger_file_spec *specs, size_t count)
{
    struct ledger_fixture f;
    struct run_identity run = fixture_run(7, 0);

    fixture_folder(&f);
    int rc = ledger_create(&f.ledger, f.path, &run, 7, 0, fixture_boot, specs, count);
    if (rc < 0)
        assert_int_equal(access(f.path, F_OK), -1);
    ledger_close(f.ledger, false);
    unlink(f.path);
    rmdir(f.folder);
    return rc;
}

static void test_impossible_specs_leave_no_file(void **state)
{
    char longest[LEDGER_PATH_BYTES + 1];
    struct ledger_file_spec spec = {1, 1, 1, FILE_KIND_DATA, 8, longest};
    (void)state;

    memset(longest, 'p', sizeof(longest) - 1);
    longest[LEDGER_PATH_BYTES] = '\0';
    assert_int_equal(create_with(&spec, 1), -ENAMETOOLONG);
    longest[LEDGER_PATH_BYTES - 1] = '\0';
    assert_int_equal(create_with(&spec, 1), 0);
    spec.capacity_pages = 0;
    assert_int_equal(create_with(&spec, 1), -EINVAL);
    spec = (struct ledger_file_spec){1, 1, 1, FILE_KIND_SNAPSHOT + 1, 8, "x"};
    assert_int_equal(create_with(&spec, 1), -EINVAL);
    spec = (struct ledger_file_spec){1, 1, 1, FILE_KIND_DATA, 8, ""};
    assert_int_equal(create_with(&spec, 1), -EINVAL);
    assert_int_equal(create_with(&spec, 0), -EINVAL);
}

static void test_largest_file_costs_no_space_until_it_is_used(void **state)
{
    struct ledger_file_spec spec = {1, 1, 1, FILE_KIND_DATA, 2147483648u, "/data/16tb.mdx"};
    (void)state;
    assert_int_equal(create_with(&spec, 1), 0); /* 32 GiB of entries */
}

/* --- survival --- */

static void history(struct ledger *l)
{
    for (uint32_t page = 0; page < 10; page++) {
        ledger_begin(l, DATA_UID, page, page + 1);
        ledger_ack(l, DATA_UID, page, page % 2 == 0, 3, 16);
    }
    ledger_flush_end(l, DATA_UID, ledger_flush_begin(l, DATA_UID), true);
    ledger_begin(l, 3, 299, 1);
}

static void test_equal_histories_make_equal_bytes(void **state)
{
    struct ledger_fixture *f = *state, second;
    uint8_t a[LEDGER_BYTES], b[LEDGER_BYTES];

    fixture_folder(&second);
    assert_int_equal(fixture_create(&second.ledger, second.path), 0);
    history(f->ledger);
    history(second.ledger);
    fixture_image(state, a);
    read_file(second.path, b);
    assert_memory_equal(a, b, LEDGER_BYTES);
    ledger_close(second.ledger, false);
    unlink(second.path);
    rmdir(second.folder);
}

static void test_entries_survive_close_and_open(void **state)
{
    struct ledger_fixture *f = *state;

    history(f->ledger);
    reopen(f, true, false);
    struct ledger_view v = ledger_view(f->ledger, DATA_UID, 9);
    assert_int_equal(v.acked, 10);
    assert_int_equal(v.durable, 10);
    assert_int_equal(ledger_view(f->ledger, 3, 299).state, LEDGER_IN_FLIGHT);
    assert_int_equal(ledger_count(f->ledger, DATA_UID).written, 10);
}

static void test_entries_survive_sigkill(void **state)
{
    struct ledger_fixture *f = *state;
    int status;

    pid_t child = fork();
    if (child == 0) {
        history(f->ledger);
        raise(SIGKILL);
    }
    assert_true(child > 0);
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_true(WIFSIGNALED(status));
    reopen(f, false, true);
    assert_int_equal(ledger_view(f->ledger, DATA_UID, 9).acked, 10);
    ledger_settle_in_flight(f->ledger);
    assert_int_equal(ledger_view(f->ledger, 3, 299).state, LEDGER_INDETERMINATE);
}

static void test_flush_after_open_covers_pages_of_the_session_before(void **state)
{
    struct ledger_fixture *f = *state;

    ledger_begin(f->ledger, 3, 250, 4);
    ledger_ack(f->ledger, 3, 250, false, 0, 0);
    reopen(f, false, true);
    ledger_flush_end(f->ledger, 3, ledger_flush_begin(f->ledger, 3), true);
    assert_int_equal(ledger_view(f->ledger, 3, 250).durable, 4);
}

/* --- belief --- */

static const uint8_t other_boot[16] = {9};

static void test_clean_ledger_is_believed_after_a_reboot(void **state)
{
    struct ledger_fixture *f = *state;

    reopen(f, true, false);
    assert_true(ledger_believed(f->ledger, other_boot));
}

static void test_open_ledger_is_believed_in_its_own_boot_only(void **state)
{
    struct ledger_fixture *f = *state;

    reopen(f, false, false);
    assert_true(ledger_believed(f->ledger, fixture_boot));
    assert_false(ledger_believed(f->ledger, other_boot));
}

static void test_opening_to_write_takes_the_clean_mark_away(void **state)
{
    struct ledger_fixture *f = *state;

    reopen(f, true, true);
    assert_true(ledger_believed(f->ledger, other_boot)); /* it was clean */
    assert_int_equal(ledger_header_of(f->ledger)->clean, 0);
    reopen(f, false, false);
    assert_false(ledger_believed(f->ledger, other_boot));
}

/* --- the hash of a clean ledger --- */

static void flip_in(const char *path, off_t offset)
{
    uint8_t byte;
    int fd = open(path, O_RDWR);

    assert_int_equal(pread(fd, &byte, 1, offset), 1);
    byte ^= 0x10;
    assert_int_equal(pwrite(fd, &byte, 1, offset), 1);
    close(fd);
}

/* Run id, seed, file size, path, the first and the last entry, the padding at the end. */
static const off_t anywhere[] = {16, 48, ROW(0) + 24, ROW(2) + ROW_PATH + 3, 8192, 17087, 20479};

static void test_a_flipped_bit_anywhere_in_a_clean_ledger_is_refused(void **state)
{
    struct ledger_fixture *f = *state;
    struct ledger *l = NULL;
    const char *reason;

    history(f->ledger);
    reopen(f, true, false);
    for (size_t i = 0; i < sizeof(anywhere) / sizeof(anywhere[0]); i++) {
        flip_in(f->path, anywhere[i]);
        assert_int_equal(ledger_open(&l, f->path, false, &reason), -EBADMSG);
        assert_string_equal(reason, "its entries are damaged");
        flip_in(f->path, anywhere[i]);
    }
    reopen(f, false, false);
    assert_int_equal(ledger_view(f->ledger, DATA_UID, 9).acked, 10);
}

static void test_an_open_ledger_has_no_hash_to_be_judged_by(void **state)
{
    struct ledger_fixture *f = *state;

    reopen(f, false, false);
    flip_in(f->path, 8192 + 4);
    reopen(f, false, false);
    assert_int_equal(ledger_header_of(f->ledger)->clean, 0);
}

/* --- validation --- */

struct damage {
    size_t offset;
    uint64_t value;
    size_t bytes;
    const char *reason;
};

static const struct damage damages[] = {
    {0, 1, 1, "not a ledger (magic)"},
    {8, 2, 4, "unknown ledger version"},
    {12, 2, 4, "clean mark is neither 0 nor 1"},
    {72, 0, 4, "impossible number of files"},
    {72, 1025, 4, "impossible number of files"},
    {72, 1024, 4, "the file table does not fit into the file"},
    {76, 10001, 2, "compressible share above 100 %"},
    {78, 4, 2, "unknown phase"},
    {72, 2, 4, "file size is not what the table makes it"},
    {ROW(0), 2, 2, "file uid is not its place in the table"},
    {ROW(1), 1, 2, "file uid is not its place in the table"},
    {ROW(0) + ROW_KIND, 7, 4, "unknown kind of file"},
    {ROW(0) + ROW_PATH, 0, 1, "file path is empty or has no end"},
    {ROW(2) + ROW_OFFSET, 8192, 8, "entries do not stand where the table puts them"},
    {ROW(1) + ROW_OFFSET, 8192, 8, "entries do not stand where the table puts them"},
    {ROW(0) + ROW_OFFSET, 8200, 8, "entries do not stand where the table puts them"},
    {ROW(0) + ROW_OFFSET, UINT64_MAX - 15, 8, "entries do not stand where the table puts them"},
    {ROW(2) + ROW_CAPACITY, UINT32_MAX, 4, "file size is not what the table makes it"},
    {ROW(2) + ROW_CAPACITY, 0, 4, "data file without entries"},
    {ROW(0) + ROW_CAPACITY, 257, 4, "entries do not stand where the table puts them"},
    {ROW(0) + ROW_ACKED, 65, 4, "data file is larger than its entries"},
    {ROW(0) + ROW_ACKED + 4, 65, 4, "data file is larger than its entries"},
};

static void test_each_contradiction_is_named(void **state)
{
    _Alignas(8) uint8_t image[LEDGER_BYTES];
    const char *reason;

    for (size_t i = 0; i < sizeof(damages) / sizeof(damages[0]); i++) {
        const struct damage *d = &damages[i];
        fixture_image(state, image);
        memcpy(image + d->offset, &d->value, d->bytes);
        assert_int_equal(ledger_validate(image, sizeof(image), &reason), -EBADMSG);
        assert_string_equal(reason, d->reason);
    }
}

static void test_sound_image_has_no_reason(void **state)
{
    _Alignas(8) uint8_t image[LEDGER_BYTES];
    const char *reason = "?";

    fixture_image(state, image);
    assert_int_equal(ledger_validate(image, sizeof(image), &reason), 0);
    assert_null(reason);
}

static void test_path_without_end_is_refused(void **state)
{
    _Alignas(8) uint8_t image[LEDGER_BYTES];
    const char *reason;

    fixture_image(state, image);
    memset(image + ROW(2) + ROW_PATH, 'x', LEDGER_PATH_BYTES);
    assert_int_equal(ledger_validate(image, sizeof(image), &reason), -EBADMSG);
    assert_string_equal(reason, "file path is empty or has no end");
}

static void test_every_other_size_is_refused(void **state)
{
    _Alignas(8) uint8_t image[LEDGER_BYTES];
    const char *reason;

    fixture_image(state, image);
    for (size_t size = 0; size < sizeof(image); size++)
        assert_int_equal(ledger_validate(image, size, &reason), -EBADMSG);
}

static void test_open_of_what_is_no_ledger_fails_with_a_reason(void **state)
{
    struct ledger_fixture *f = *state;
    struct ledger *l = NULL;
    const char *reason;

    assert_int_equal(ledger_open(&l, f->folder, false, &reason), -EBADMSG);
    assert_string_equal(reason, "not a regular file");
    assert_int_equal(truncate(f->path, 100), 0);
    assert_int_equal(ledger_open(&l, f->path, false, &reason), -EBADMSG);
    assert_string_equal(reason, "shorter than its header");
    unlink(f->path);
    assert_int_equal(ledger_open(&l, f->path, false, &reason), -ENOENT);
    assert_null(l);
}

static void test_any_words_make_an_ordered_view(void **state)
{
    struct ledger_fixture *f = *state;
    uint64_t random = fixture_seed("ledger entries");
    uint8_t words[1024];

    for (unsigned long round = 0; round < test_scaled(500); round++) {
        int fd = open(f->path, O_WRONLY);
        fixture_random_bytes(&random, words, sizeof(words));
        if (round % 4 == 0) /* small acknowledged generations */
            for (size_t i = 0; i < sizeof(words); i += 16)
                memset(words + i + 4, 0, 4);
        assert_int_equal(pwrite(fd, words, sizeof(words), 8192), sizeof(words));
        close(fd);
        for (uint32_t page = 0; page < FIXTURE_PAGES; page++) {
            struct ledger_view v = ledger_view(f->ledger, DATA_UID, page);
            assert_true(v.durable <= v.acked && v.acked <= v.issued);
            assert_true(v.state <= LEDGER_QUARANTINED);
        }
    }
}

#define T(name) cmocka_unit_test_setup_teardown(name, fixture_setup, fixture_teardown)

int main(void)
{
    const struct CMUnitTest tests[] = {
        T(test_file_has_the_size_that_the_table_makes),
        T(test_rows_say_what_was_asked_for),
        T(test_no_row_for_uid_zero_or_beyond_the_table),
        T(test_header_says_run_seed_and_session),
        T(test_existing_file_is_left_alone),
        T(test_impossible_specs_leave_no_file),
        T(test_largest_file_costs_no_space_until_it_is_used),
        T(test_equal_histories_make_equal_bytes),
        T(test_entries_survive_close_and_open),
        T(test_entries_survive_sigkill),
        T(test_flush_after_open_covers_pages_of_the_session_before),
        T(test_clean_ledger_is_believed_after_a_reboot),
        T(test_open_ledger_is_believed_in_its_own_boot_only),
        T(test_opening_to_write_takes_the_clean_mark_away),
        T(test_a_flipped_bit_anywhere_in_a_clean_ledger_is_refused),
        T(test_an_open_ledger_has_no_hash_to_be_judged_by),
        T(test_each_contradiction_is_named),
        T(test_sound_image_has_no_reason),
        T(test_path_without_end_is_refused),
        T(test_every_other_size_is_refused),
        T(test_open_of_what_is_no_ledger_fails_with_a_reason),
        T(test_any_words_make_an_ordered_view),
    };
    return cmocka_run_group_tests_name("ledger file", tests, NULL, NULL);
}
