/*
 * test_explain_system.c - faults of system pages, which carry no stamps: compared with images.
 */
#include "explain_fixture.h"

#define GAM_PAGE 2u

static uint8_t page[PAGE_BYTES], image[PAGE_BYTES], older[PAGE_BYTES];

/* A GAM page whose newest image has the first 40,000 extents allocated, the older one none. */
static struct expectation owed_gam(void)
{
    struct expectation e = owed(2);

    syspage_build_map(older, SYSPAGE_GAM, GAM_PAGE, 1);
    memcpy(image, older, PAGE_BYTES);
    for (uint32_t extent = 0; extent < 40000; extent++)
        bitmap_set(image, extent, !bitmap_get(older, extent));
    syspage_seal(older, (struct lsn){50, 16, 1});
    syspage_seal(image, (struct lsn){50, 17, 1});
    e.page_no = GAM_PAGE;
    e.kind = SYSPAGE_GAM;
    e.system_image = image;
    return e;
}

static struct expectation owed_gam_doubt(void)
{
    struct expectation e = owed_gam();
    e.owed =
        (struct ledger_view){.durable = 1, .acked = 1, .issued = 2, .state = LEDGER_INDETERMINATE};
    e.system_image = older;
    e.system_issued = image;
    return e;
}

static void test_acknowledged_image_is_right(void **state)
{
    struct expectation e = owed_gam();
    (void)state;
    struct explanation out = explained(image, &e);
    assert_verdict(&out, VERDICT_NONE);
    assert_string_equal(out.sectors, "nnnnnnnnnnnnnnnn");
}

static void test_older_image_is_a_lost_write(void **state)
{
    struct expectation e = owed_gam();
    (void)state;
    struct explanation out = explained(older, &e);
    assert_verdict(&out, VERDICT_lost_write);
    e.owed.seen = true;
    out = explained(older, &e);
    assert_verdict(&out, VERDICT_replayed_write);
}

static void test_tear_against_a_held_image_is_torn(void **state)
{
    struct expectation e = owed_gam();
    (void)state;
    e.system_issued = older;
    memcpy(page, image, PAGE_BYTES);
    copy_sectors(page, older, 0, 8);
    struct explanation out = explained(page, &e);
    assert_verdict(&out, VERDICT_torn_page);
    assert_memory_equal(out.sectors, "oooooooo", 8);
}

static void test_doubt_allows_both_images_and_their_mixes(void **state)
{
    struct expectation e = owed_gam_doubt();
    (void)state;
    assert_true(explain_is_right(image, &e));
    assert_true(explain_is_right(older, &e));
    for (unsigned s = 1; s < PAGE_SECTORS; s++) {
        memcpy(page, image, PAGE_BYTES);
        copy_sectors(page, older, s, PAGE_SECTORS);
        assert_true(explain_is_right(page, &e));
    }
}

static void test_doubt_does_not_allow_damage_or_zeros(void **state)
{
    struct expectation e = owed_gam_doubt();
    (void)state;
    memcpy(page, image, PAGE_BYTES);
    fixture_flip(page, 7000, 1);
    struct explanation out = explained(page, &e);
    assert_verdict(&out, VERDICT_bit_flip);
    memset(page, 0, PAGE_BYTES);
    out = explained(page, &e);
    assert_verdict(&out, VERDICT_zeroed);
}

static void test_unflushed_doubt_allows_images_that_are_not_held(void **state)
{
    struct expectation e = owed_gam_doubt();
    (void)state;
    e.owed =
        (struct ledger_view){.durable = 1, .acked = 3, .issued = 3, .state = LEDGER_INDETERMINATE};
    e.system_image = image;
    e.system_issued = NULL;
    assert_true(explain_is_right(older, &e));
    memset(page, 0, PAGE_BYTES);
    assert_false(explain_is_right(page, &e));
    build_own(page, 3); /* a sound page, of another place */
    assert_false(explain_is_right(page, &e));
}

static void test_one_flipped_bit_anywhere_is_named(void **state)
{
    struct expectation e = owed_gam();
    (void)state;
    memcpy(page, image, PAGE_BYTES);
    for (unsigned at = 0; at < PAGE_BYTES; at++) {
        fixture_flip(page, at, at % 8);
        struct explanation out = explained(page, &e);
        assert_verdict(&out, at < PAGE_HEADER_BYTES ? VERDICT_header_damage : VERDICT_bit_flip);
        assert_int_equal(out.damaged_bits, 1);
        assert_int_equal(out.first_bad_offset, at);
        fixture_flip(page, at, at % 8);
    }
}

static void test_damaged_header_is_header_damage(void **state)
{
    struct expectation e = owed_gam();
    (void)state;
    memcpy(page, image, PAGE_BYTES);
    memset(page, 0xEE, 64);
    struct explanation out = explained(page, &e);
    assert_verdict(&out, VERDICT_header_damage);
}

static void test_zero_page_and_zero_sectors_are_zeroed(void **state)
{
    struct expectation e = owed_gam();
    (void)state;
    memset(page, 0, PAGE_BYTES);
    struct explanation out = explained(page, &e);
    assert_verdict(&out, VERDICT_zeroed);
    memcpy(page, image, PAGE_BYTES);
    memset(page, 0, 512);
    out = explained(page, &e);
    assert_verdict(&out, VERDICT_zeroed);
    assert_int_equal(out.sectors[0], 'z');
}

static void test_noise_is_garbage(void **state)
{
    uint64_t random = fixture_seed("system noise");
    struct expectation e = owed_gam();
    (void)state;
    fixture_random_bytes(&random, page, PAGE_BYTES);
    struct explanation out = explained(page, &e);
    assert_verdict(&out, VERDICT_garbage);
}

static void test_data_page_is_misdirected_and_named(void **state)
{
    struct expectation e = owed_gam();
    (void)state;
    build(page, own_run(), UID, 99, 4);
    struct explanation out = explained(page, &e);
    assert_verdict(&out, VERDICT_misdirected_write);
    assert_int_equal(out.origin_page_no, 99);
    assert_int_equal(out.origin_file_uid, UID);
    assert_int_equal(out.origin_generation, 4);
}

static void test_data_sectors_are_misdirected_and_named(void **state)
{
    struct expectation e = owed_gam();
    (void)state;
    build(page, own_run(), UID, 99, 4);
    memcpy(page, image, 4096);
    struct explanation out = explained(page, &e);
    assert_verdict(&out, VERDICT_misdirected_write);
    assert_string_equal(out.sectors, "nnnnnnnnmmmmmmmm");
    assert_int_equal(out.origin_page_no, 99);
}

static void test_other_system_page_is_misdirected_and_named(void **state)
{
    struct expectation e = owed_gam();
    (void)state;
    syspage_build_map(page, SYSPAGE_SGAM, 3, 1);
    syspage_seal(page, (struct lsn){50, 16, 1});
    struct explanation out = explained(page, &e);
    assert_verdict(&out, VERDICT_misdirected_write);
    assert_int_equal(out.origin_page_no, 3);
    assert_int_equal(out.origin_file_uid, UID);
}

static void test_data_page_of_another_run_is_old_data(void **state)
{
    static const uint8_t run_id[RUN_ID_BYTES] = {0xF0};
    struct run_identity run = run_identity_make(run_id, 9, 0);
    struct expectation e = owed_gam();
    (void)state;
    build(page, &run, UID, GAM_PAGE, 4);
    struct explanation out = explained(page, &e);
    assert_verdict(&out, VERDICT_old_data);
    assert_true(out.origin_other_run);
}

static void test_image_with_an_lsn_above_the_newest_is_old_data(void **state)
{
    struct expectation e = owed_gam();
    (void)state;
    syspage_seal(older, (struct lsn){51, 16, 1});
    struct explanation out = explained(older, &e);
    assert_verdict(&out, VERDICT_old_data);
}

static void test_file_header_of_another_run_is_old_data(void **state)
{
    struct expectation e = owed(2);
    struct file_mark mark = {.file_uid = UID,
                             .incarnation = 1,
                             .file_id = 1,
                             .database_id = 1,
                             .size_pages = 512,
                             .sector_bytes = 512};
    (void)state;
    memcpy(mark.run_id, own_run()->run_id, RUN_ID_BYTES);
    syspage_build_file_header(image, &mark);
    syspage_seal(image, (struct lsn){50, 17, 1});
    mark.run_id[0] ^= 0xFF;
    syspage_build_file_header(page, &mark);
    syspage_seal(page, (struct lsn){50, 16, 1}); /* older: only the mark tells */
    e.page_no = 0;
    e.kind = SYSPAGE_FILE_HEADER;
    e.system_image = image;
    struct explanation out = explained(page, &e);
    assert_verdict(&out, VERDICT_old_data);
    assert_true(out.origin_other_run);
}

static void test_untouched_buffer_is_bytes_not_read(void **state)
{
    struct expectation e = owed_gam();
    (void)state;
    memcpy(page, image, PAGE_BYTES);
    poison_fill(page + 4096, 4096, SERIAL);
    struct explanation out = explained(page, &e);
    assert_verdict(&out, VERDICT_bytes_not_read);
    assert_string_equal(out.sectors, "nnnnnnnnpppppppp");
}

static void test_reserved_page_must_be_zero(void **state)
{
    struct expectation e = owed_never();
    (void)state;
    e.kind = SYSPAGE_RESERVED;
    e.page_no = 4;
    memset(page, 0, PAGE_BYTES);
    assert_true(explain_is_right(page, &e));
    page[100] = 1;
    struct explanation out = explained(page, &e);
    assert_verdict(&out, VERDICT_bit_flip);
    e.created_by_us = false;
    assert_true(explain_is_right(page, &e));
}

static void test_without_an_image_the_protection_decides(void **state)
{
    struct expectation e = owed_gam();
    (void)state;
    e.system_image = NULL;
    assert_true(explain_is_right(image, &e));
    assert_true(explain_is_right(older, &e));
    memcpy(page, image, PAGE_BYTES);
    fixture_flip(page, 5000, 4);
    struct explanation out = explained(page, &e);
    assert_verdict(&out, VERDICT_bit_flip);
    memset(page + 5000, 0xEE, 300);
    out = explained(page, &e);
    assert_verdict(&out, VERDICT_garbage);
}

#define T(name) cmocka_unit_test(name)

int main(void)
{
    const struct CMUnitTest tests[] = {
        T(test_acknowledged_image_is_right),
        T(test_older_image_is_a_lost_write),
        T(test_tear_against_a_held_image_is_torn),
        T(test_doubt_allows_both_images_and_their_mixes),
        T(test_doubt_does_not_allow_damage_or_zeros),
        T(test_unflushed_doubt_allows_images_that_are_not_held),
        T(test_one_flipped_bit_anywhere_is_named),
        T(test_damaged_header_is_header_damage),
        T(test_zero_page_and_zero_sectors_are_zeroed),
        T(test_noise_is_garbage),
        T(test_data_page_is_misdirected_and_named),
        T(test_data_sectors_are_misdirected_and_named),
        T(test_other_system_page_is_misdirected_and_named),
        T(test_data_page_of_another_run_is_old_data),
        T(test_image_with_an_lsn_above_the_newest_is_old_data),
        T(test_file_header_of_another_run_is_old_data),
        T(test_untouched_buffer_is_bytes_not_read),
        T(test_reserved_page_must_be_zero),
        T(test_without_an_image_the_protection_decides),
    };
    return cmocka_run_group_tests_name("explain system", tests, NULL, NULL);
}
