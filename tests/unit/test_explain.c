/*
 * test_explain.c - every fault of a data page is named, and a right page never is.
 *
 * Images are made by page_fill and page_seal and damaged by hand; what must be said of them follows
 * from how they were damaged.
 */
#include "explain_fixture.h"

#include "tests/scale.h"

static uint8_t page[PAGE_BYTES], other[PAGE_BYTES];

static struct run_identity other_run(void)
{
    static const uint8_t run_id[RUN_ID_BYTES] = {0xF0, 0xE1, 0xD2};
    return run_identity_make(run_id, 9, 0);
}

/* Acknowledged 7; sectors [first, end) of the image come from `other`. */
static struct explanation mixed(unsigned first, unsigned end)
{
    struct expectation expect = owed(7);
    build_own(page, 7);
    copy_sectors(page, other, first, end);
    return explained(page, &expect);
}

static void assert_map(const struct explanation *e, char outside, char inside, unsigned first,
                       unsigned end)
{
    for (unsigned s = 0; s < PAGE_SECTORS; s++)
        assert_int_equal(e->sectors[s], s >= first && s < end ? inside : outside);
}

/* --- right pages --- */

static void test_owed_page_is_right(void **state)
{
    struct expectation expect = owed(7);
    (void)state;
    build_own(page, 7);
    struct explanation e = explained(page, &expect);
    assert_verdict(&e, VERDICT_NONE);
    assert_string_equal(e.sectors, "nnnnnnnnnnnnnnnn");
    assert_int_equal(e.generation_found, 7);
}

static void test_random_right_pages_raise_no_alarm(void **state)
{
    uint64_t random = fixture_seed("right pages");
    (void)state;
    for (unsigned long i = 0; i < test_scaled(200000); i++) {
        struct run_identity run =
            fixture_run(fixture_random(&random), (uint16_t)(fixture_random(&random) % 10001));
        struct expectation expect = owed(fixture_random(&random) % (1ull << 40) + 1);
        struct page_identity id = {(uint16_t)fixture_random(&random),
                                   (uint16_t)fixture_random(&random), 1,
                                   (uint32_t)fixture_random(&random), expect.owed.acked};
        expect.run = &run;
        expect.file_uid = id.file_uid;
        expect.incarnation = id.incarnation;
        expect.page_no = id.page_no;
        page_fill(page, &run, &id, (uint16_t)i);
        page_seal(page, (struct lsn){(uint32_t)i, 16, 1}, fixture_random(&random));
        assert_true(explain_is_right(page, &expect));
    }
}

static void test_never_written_space_of_ours_is_zero(void **state)
{
    struct expectation expect = owed_never();
    (void)state;
    memset(page, 0, PAGE_BYTES);
    assert_true(explain_is_right(page, &expect));
}

static void test_never_written_space_of_others_is_not_judged(void **state)
{
    struct expectation expect = owed_never();
    (void)state;
    expect.created_by_us = false;
    memset(page, 0xA5, PAGE_BYTES);
    assert_true(explain_is_right(page, &expect));
}

static void test_freed_and_quarantined_pages_are_not_judged(void **state)
{
    struct expectation expect = owed(7);
    (void)state;
    memset(page, 0xA5, PAGE_BYTES);
    expect.owed.state = LEDGER_FREED;
    assert_true(explain_is_right(page, &expect));
    expect.owed.state = LEDGER_QUARANTINED;
    assert_true(explain_is_right(page, &expect));
}

/* --- in doubt --- */

static void test_doubt_allows_every_generation_from_durable_to_issued(void **state)
{
    struct expectation expect = owed_doubt(3, 5, 6);
    (void)state;
    for (uint64_t g = 1; g <= 8; g++) {
        build_own(page, g);
        assert_int_equal(explain_is_right(page, &expect), g >= 3 && g <= 6);
    }
}

static void test_doubt_allows_any_mix_of_its_generations(void **state)
{
    uint64_t random = fixture_seed("mixes");
    struct expectation expect = owed_doubt(3, 5, 6);
    (void)state;
    for (unsigned long round = 0; round < test_scaled(300); round++) {
        for (unsigned s = 0; s < PAGE_SECTORS; s++) {
            build_own(other, 3 + fixture_random(&random) % 4);
            copy_sectors(page, other, s, s + 1);
        }
        struct explanation e = explained(page, &expect);
        assert_verdict(&e, VERDICT_NONE);
    }
}

static void test_doubt_allows_no_sector_older_than_durable(void **state)
{
    struct expectation expect = owed_doubt(3, 5, 6);
    (void)state;
    for (unsigned s = 0; s < PAGE_SECTORS; s++) {
        build_own(page, 5);
        build_own(other, 2);
        copy_sectors(page, other, s, s + 1);
        struct explanation e = explained(page, &expect);
        assert_verdict(&e, VERDICT_torn_page);
        assert_int_equal(e.generation_found, 2);
        assert_int_equal(e.first_bad_offset, s * 512);
    }
}

static void test_doubt_of_a_first_write_allows_zeros(void **state)
{
    struct expectation expect = owed_doubt(0, 0, 1);
    (void)state;
    for (unsigned s = 0; s <= PAGE_SECTORS; s++) {
        build_own(page, 1);
        memset(page + (size_t)s * 512, 0, PAGE_BYTES - (size_t)s * 512);
        struct explanation e = explained(page, &expect);
        assert_verdict(&e, VERDICT_NONE);
        assert_map(&e, 'n', 'z', s, PAGE_SECTORS);
    }
}

static void test_doubt_of_a_durable_page_allows_no_zeros(void **state)
{
    struct expectation expect = owed_doubt(1, 1, 2);
    (void)state;
    build_own(page, 2);
    memset(page + 512, 0, 512);
    struct explanation e = explained(page, &expect);
    assert_verdict(&e, VERDICT_zeroed);
}

static void test_doubt_over_foreign_space_is_not_judged(void **state)
{
    struct expectation expect = owed_doubt(0, 0, 1);
    (void)state;
    expect.created_by_us = false;
    memset(page, 0xA5, PAGE_BYTES);
    assert_true(explain_is_right(page, &expect));
}

static void test_damage_is_found_in_doubt_too(void **state)
{
    struct expectation expect = owed_doubt(3, 5, 6);
    (void)state;
    build_own(page, 6);
    build_own(other, 4);
    copy_sectors(page, other, 8, 16);
    fixture_flip(page, 5000, 3);
    struct explanation e = explained(page, &expect);
    assert_verdict(&e, VERDICT_bit_flip);
    assert_string_equal(e.sectors, "nnnnnnnnocoooooo"); /* 5000 / 512 = 9 */
}

/* --- flips --- */

/* Header 0x00-0x5F, row start, stamp to 0xC3: named header damage; everything else is body. */
static void test_one_flipped_bit_anywhere_is_named_counted_and_found(void **state)
{
    struct expectation expect = owed(7);
    (void)state;
    build_own(page, 7);
    for (unsigned at = 0; at < PAGE_BYTES; at++) {
        fixture_flip(page, at, at % 8);
        struct explanation e = explained(page, &expect);
        assert_verdict(&e, at < PAGE_BODY_OFFSET ? VERDICT_header_damage : VERDICT_bit_flip);
        assert_int_equal(e.damaged_bits, 1);
        assert_int_equal(e.first_bad_offset, at);
        assert_int_equal(e.generation_found, 7);
        assert_map(&e, 'n', 'c', at / 512, at / 512 + 1);
        fixture_flip(page, at, at % 8);
    }
}

static void test_flips_are_counted_over_the_page(void **state)
{
    struct expectation expect = owed(7);
    (void)state;
    build_own(page, 7);
    for (unsigned i = 0; i < 32; i++)
        fixture_flip(page, 300 + i * 240, i % 8); /* 300 .. 7740 */
    struct explanation e = explained(page, &expect);
    assert_verdict(&e, VERDICT_bit_flip);
    assert_int_equal(e.damaged_bits, 32);
    assert_int_equal(e.first_bad_offset, 300);
}

static void test_header_and_body_flipped_is_a_flip_of_both(void **state)
{
    struct expectation expect = owed(7);
    (void)state;
    build_own(page, 7);
    fixture_flip(page, PAGE_STAMP_OFFSET + 32, 0); /* generation */
    fixture_flip(page, 4000, 1);
    fixture_flip(page, 400, 1);
    struct explanation e = explained(page, &expect);
    assert_verdict(&e, VERDICT_bit_flip);
    assert_int_equal(e.damaged_bits, 3);
    assert_int_equal(e.first_bad_offset, PAGE_STAMP_OFFSET + 32);
}

static void test_many_wrong_bits_in_the_right_page_are_garbage(void **state)
{
    uint64_t random = fixture_seed("garbage in a sector");
    struct expectation expect = owed(7);
    (void)state;
    build_own(page, 7);
    fixture_random_bytes(&random, page + 2048 + SECTOR_STAMP_BYTES, 400);
    struct explanation e = explained(page, &expect);
    assert_verdict(&e, VERDICT_garbage);
    assert_string_equal(e.sectors, "nnnncnnnnnnnnnnn");
}

static void test_flipped_compressible_page_is_a_flip(void **state)
{
    struct run_identity run = fixture_run(1, PAGE_COMPRESSIBLE_MAX);
    struct expectation expect = owed(7);
    (void)state;
    expect.run = &run;
    for (unsigned at = 196; at < PAGE_BYTES; at += 97) {
        build(page, &run, UID, PAGE, 7);
        fixture_flip(page, at, 6);
        struct explanation e = explained(page, &expect);
        assert_verdict(&e, VERDICT_bit_flip);
    }
}

/* --- header --- */

static void test_damaged_header_under_a_right_body_is_header_damage(void **state)
{
    struct expectation expect = owed(7);
    (void)state;
    build_own(page, 7);
    memset(page, 0xEE, PAGE_HEADER_BYTES);
    struct explanation e = explained(page, &expect);
    assert_verdict(&e, VERDICT_header_damage);
    assert_string_equal(e.sectors, "cnnnnnnnnnnnnnnn");
    assert_int_equal(e.first_bad_offset, -1);
}

static void test_damaged_checksum_fields_are_header_damage(void **state)
{
    struct expectation expect = owed(7);
    (void)state;
    for (int field = 0; field < 2; field++) {
        build_own(page, 7);
        memset(page + (field ? PAGE_STAMP_OFFSET + 88 : PAGE_OFFSET_TORN_BITS), 0xEE, 4);
        struct explanation e = explained(page, &expect);
        assert_verdict(&e, VERDICT_header_damage);
    }
}

static void test_header_fields_are_not_believed_before_their_crc(void **state)
{
    struct expectation expect = owed(7);
    (void)state;
    build_own(page, 7);
    ((struct page_header *)(void *)page)->page_no = PAGE + 1; /* looks misdirected, is not */
    struct explanation e = explained(page, &expect);
    assert_verdict(&e, VERDICT_header_damage);
    assert_false(e.has_origin);
}

/* --- zeros --- */

static void test_zero_page_is_zeroed(void **state)
{
    struct expectation expect = owed(7);
    (void)state;
    memset(page, 0, PAGE_BYTES);
    struct explanation e = explained(page, &expect);
    assert_verdict(&e, VERDICT_zeroed);
    assert_string_equal(e.sectors, "zzzzzzzzzzzzzzzz");
    assert_int_equal(e.generation_found, 0);
    assert_int_equal(e.first_bad_offset, 0);
}

static void test_every_aligned_zero_range_is_zeroed(void **state)
{
    (void)state;
    memset(other, 0, PAGE_BYTES);
    for (unsigned first = 0; first < PAGE_SECTORS; first++) {
        for (unsigned end = first + 1; end <= PAGE_SECTORS; end++) {
            struct explanation e = mixed(first, end);
            assert_verdict(&e, VERDICT_zeroed);
            assert_map(&e, 'n', 'z', first, end);
            assert_int_equal(e.first_bad_offset, first * 512);
        }
    }
}

static void test_zeros_in_an_older_page_are_zeroed(void **state)
{
    struct expectation expect = owed(7);
    (void)state;
    build_own(page, 6);
    memset(page + 4096, 0, 512);
    struct explanation e = explained(page, &expect);
    assert_verdict(&e, VERDICT_zeroed);
    assert_string_equal(e.sectors, "oooooooozooooooo");
}

static void test_unaligned_zero_ranges_are_zeroed(void **state)
{
    struct expectation expect = owed(7);
    (void)state;
    for (size_t at = 200; at + 1400 < PAGE_BYTES; at += 137) {
        build_own(page, 7);
        memset(page + at, 0, 1400);
        struct explanation e = explained(page, &expect);
        assert_verdict(&e, VERDICT_zeroed);
    }
}

static void test_zeros_inside_one_sector_are_zeroed(void **state)
{
    struct expectation expect = owed(7);
    (void)state;
    build_own(page, 7);
    memset(page + 3000, 0, 64);
    struct explanation e = explained(page, &expect);
    assert_verdict(&e, VERDICT_zeroed);
    assert_string_equal(e.sectors, "nnnnncnnnnnnnnnn");
    assert_int_equal(e.generation_found, 7);
}

/* --- generations --- */

static void test_older_page_is_a_lost_write(void **state)
{
    static const uint64_t found[] = {999999, 999998, 870000, 1};
    struct expectation expect = owed(1000000);
    (void)state;
    for (unsigned i = 0; i < 4; i++) {
        build_own(page, found[i]);
        struct explanation e = explained(page, &expect);
        assert_verdict(&e, VERDICT_lost_write);
        assert_string_equal(e.sectors, "oooooooooooooooo");
        assert_int_equal(e.generation_expected, 1000000);
        assert_int_equal(e.generation_found, found[i]);
    }
}

static void test_older_page_after_the_newer_was_read_is_a_replay(void **state)
{
    struct expectation expect = owed(7);
    (void)state;
    expect.owed.seen = true;
    build_own(page, 6);
    struct explanation e = explained(page, &expect);
    assert_verdict(&e, VERDICT_replayed_write);
}

static void test_older_page_with_damage_is_still_a_lost_write(void **state)
{
    struct expectation expect = owed(7);
    (void)state;
    build_own(page, 6);
    fixture_flip(page, 5000, 2);
    struct explanation e = explained(page, &expect);
    assert_verdict(&e, VERDICT_lost_write);
}

static void test_generation_that_was_never_issued_is_garbage(void **state)
{
    struct expectation expect = owed(7);
    (void)state;
    build_own(page, 8);
    struct explanation e = explained(page, &expect);
    assert_verdict(&e, VERDICT_garbage);
    assert_int_equal(e.generation_found, 8);
}

static void test_tear_after_each_sector_is_torn(void **state)
{
    (void)state;
    for (unsigned s = 1; s < PAGE_SECTORS; s++) {
        build_own(other, 6);
        struct explanation e = mixed(s, PAGE_SECTORS);
        assert_verdict(&e, VERDICT_torn_page);
        assert_map(&e, 'n', 'o', s, PAGE_SECTORS);
        assert_int_equal(e.generation_found, 6);
        assert_int_equal(e.first_bad_offset, s * 512);
    }
}

static void test_tear_before_each_sector_is_torn(void **state)
{
    (void)state;
    for (unsigned s = 1; s < PAGE_SECTORS; s++) {
        build_own(other, 6);
        struct explanation e = mixed(0, s);
        assert_verdict(&e, VERDICT_torn_page);
        assert_map(&e, 'n', 'o', 0, s);
        assert_int_equal(e.first_bad_offset, 0);
    }
}

static void test_tear_at_4096_shows_in_the_map(void **state)
{
    (void)state;
    build_own(other, 6);
    struct explanation e = mixed(8, 16);
    assert_verdict(&e, VERDICT_torn_page);
    assert_string_equal(e.sectors, "nnnnnnnnoooooooo");
}

static void test_scattered_old_sectors_are_torn(void **state)
{
    struct expectation expect = owed(7);
    (void)state;
    build_own(page, 7);
    build_own(other, 6);
    for (unsigned s = 1; s < PAGE_SECTORS; s += 2)
        copy_sectors(page, other, s, s + 1);
    struct explanation e = explained(page, &expect);
    assert_verdict(&e, VERDICT_torn_page);
    assert_string_equal(e.sectors, "nononononononono");
}

static void test_tear_between_two_older_generations_is_torn(void **state)
{
    struct expectation expect = owed(7);
    (void)state;
    build_own(page, 6);
    build_own(other, 2);
    copy_sectors(page, other, 10, 16);
    struct explanation e = explained(page, &expect);
    assert_verdict(&e, VERDICT_torn_page);
    assert_int_equal(e.generation_found, 2);
}

/* --- other places --- */

static void test_other_page_is_misdirected_and_names_it(void **state)
{
    struct expectation expect = owed(7);
    (void)state;
    build(page, own_run(), UID, PAGE + 8, 3);
    struct explanation e = explained(page, &expect);
    assert_verdict(&e, VERDICT_misdirected_write);
    assert_string_equal(e.sectors, "mmmmmmmmmmmmmmmm");
    assert_true(e.has_origin);
    assert_int_equal(e.origin_file_uid, UID);
    assert_int_equal(e.origin_page_no, PAGE + 8);
    assert_int_equal(e.origin_generation, 3);
    assert_false(e.origin_other_run);
}

/* The generation says nothing here: only the page number tells the two apart. */
static void test_other_page_of_the_same_generation_is_misdirected(void **state)
{
    struct expectation expect = owed(7);
    (void)state;
    build(page, own_run(), UID, PAGE + 8, 7);
    struct explanation e = explained(page, &expect);
    assert_verdict(&e, VERDICT_misdirected_write);
    assert_int_equal(e.origin_page_no, PAGE + 8);
}

static void test_other_file_is_misdirected_and_names_it(void **state)
{
    struct expectation expect = owed(7);
    (void)state;
    build(page, own_run(), UID + 1, PAGE, 7);
    struct explanation e = explained(page, &expect);
    assert_verdict(&e, VERDICT_misdirected_write);
    assert_int_equal(e.origin_file_uid, UID + 1);
    assert_int_equal(e.origin_page_no, PAGE);
}

static void test_part_of_another_page_is_misdirected(void **state)
{
    (void)state;
    for (unsigned s = 0; s < PAGE_SECTORS; s++) {
        build(other, own_run(), UID, PAGE + 1, 9);
        struct explanation e = mixed(s, s + 1);
        assert_verdict(&e, VERDICT_misdirected_write);
        assert_map(&e, 'n', 'm', s, s + 1);
        assert_int_equal(e.origin_page_no, PAGE + 1);
        assert_int_equal(e.origin_generation, 9);
    }
}

static void test_sectors_shifted_inside_the_page_are_misdirected(void **state)
{
    struct expectation expect = owed(7);
    (void)state;
    build_own(page, 7);
    memmove(page + 1024, page + 512, 4096);
    struct explanation e = explained(page, &expect);
    assert_verdict(&e, VERDICT_misdirected_write);
    assert_string_equal(e.sectors, "nnmmmmmmmmnnnnnn");
    assert_int_equal(e.origin_page_no, PAGE);
}

static void test_other_page_where_nothing_was_written_is_misdirected(void **state)
{
    struct expectation expect = owed_never();
    (void)state;
    build(page, own_run(), UID, PAGE + 8, 3);
    struct explanation e = explained(page, &expect);
    assert_verdict(&e, VERDICT_misdirected_write);
}

/* --- other runs and times --- */

static void test_page_of_another_run_is_old_data(void **state)
{
    struct run_identity run = other_run();
    struct expectation expect = owed(7);
    (void)state;
    build(page, &run, UID, PAGE, 7);
    struct explanation e = explained(page, &expect);
    assert_verdict(&e, VERDICT_old_data);
    assert_true(e.origin_other_run);
    assert_int_equal(e.origin_page_no, PAGE);
    assert_string_equal(e.sectors, "????????????????");
}

static void test_half_a_page_of_another_run_is_old_data(void **state)
{
    struct run_identity run = other_run();
    (void)state;
    build(other, &run, UID, PAGE, 7);
    struct explanation e = mixed(8, 16);
    assert_verdict(&e, VERDICT_old_data);
    assert_true(e.origin_other_run);
    assert_map(&e, 'n', '?', 8, 16);
}

static void test_page_of_an_older_incarnation_is_old_data_of_this_run(void **state)
{
    struct page_identity id = {UID, 0, 1, PAGE, 7}; /* only the incarnation differs */
    struct expectation expect = owed(7);
    (void)state;
    page_fill(page, own_run(), &id, 0);
    page_seal(page, fixture_lsn, 0);
    struct explanation e = explained(page, &expect);
    assert_verdict(&e, VERDICT_old_data);
    assert_false(e.origin_other_run);
}

static void test_noise_is_garbage(void **state)
{
    uint64_t random = fixture_seed("noise");
    struct expectation expect = owed(7);
    (void)state;
    for (unsigned long i = 0; i < test_scaled(2000); i++) {
        fixture_random_bytes(&random, page, PAGE_BYTES);
        struct explanation e = explained(page, &expect);
        assert_verdict(&e, VERDICT_garbage);
        assert_string_equal(e.sectors, "????????????????");
        assert_false(e.has_origin);
    }
}

static void test_noise_in_any_sector_is_garbage(void **state)
{
    uint64_t random = fixture_seed("noise in a sector");
    (void)state;
    for (unsigned s = 0; s < PAGE_SECTORS; s++) {
        fixture_random_bytes(&random, other, PAGE_BYTES);
        struct explanation e = mixed(s, s + 1);
        assert_verdict(&e, VERDICT_garbage);
        assert_map(&e, 'n', '?', s, s + 1);
        assert_int_equal(e.generation_found, 7);
    }
}

static void test_fill_bytes_are_garbage(void **state)
{
    struct expectation expect = owed(7);
    (void)state;
    memset(page, 0xFF, PAGE_BYTES);
    struct explanation e = explained(page, &expect);
    assert_verdict(&e, VERDICT_garbage);
}

static void test_flipped_bit_in_never_written_space_is_a_flip(void **state)
{
    struct expectation expect = owed_never();
    (void)state;
    for (unsigned at = 0; at < PAGE_BYTES; at += 61) {
        memset(page, 0, PAGE_BYTES);
        page[at] = 0x20;
        struct explanation e = explained(page, &expect);
        assert_verdict(&e, VERDICT_bit_flip);
        assert_int_equal(e.damaged_bits, 1);
        assert_int_equal(e.first_bad_offset, at);
    }
}

static void test_page_of_ours_where_it_was_never_issued_is_garbage(void **state)
{
    struct expectation expect = owed_never();
    (void)state;
    build_own(page, 1);
    struct explanation e = explained(page, &expect);
    assert_verdict(&e, VERDICT_garbage);
}

/* --- not read --- */

static void test_untouched_buffer_is_bytes_not_read(void **state)
{
    struct expectation expect = owed(7);
    (void)state;
    poison_fill(page, PAGE_BYTES, SERIAL);
    struct explanation e = explained(page, &expect);
    assert_verdict(&e, VERDICT_bytes_not_read);
    assert_string_equal(e.sectors, "pppppppppppppppp");
}

static void test_any_untouched_sector_is_bytes_not_read(void **state)
{
    (void)state;
    for (unsigned s = 0; s < PAGE_SECTORS; s++) {
        poison_fill(other, PAGE_BYTES, SERIAL);
        struct explanation e = mixed(s, s + 1);
        assert_verdict(&e, VERDICT_bytes_not_read);
        assert_map(&e, 'n', 'p', s, s + 1);
        assert_int_equal(e.first_bad_offset, s * 512);
    }
}

static void test_poison_of_another_read_is_garbage(void **state)
{
    struct expectation expect = owed(7);
    (void)state;
    poison_fill(page, PAGE_BYTES, SERIAL + 1);
    struct explanation e = explained(page, &expect);
    assert_verdict(&e, VERDICT_garbage);
}

/* --- random damage never passes --- */

static void test_random_damage_is_never_right(void **state)
{
    uint64_t random = fixture_seed("damage");
    struct expectation expect = owed(7), doubt = owed_doubt(3, 5, 7);
    (void)state;
    for (unsigned long i = 0; i < test_scaled(3000); i++) {
        build_own(page, 7);
        size_t bytes = fixture_random(&random) % 600 + 1;
        size_t at = fixture_random(&random) % (PAGE_BYTES - bytes);
        memcpy(other, page, PAGE_BYTES);
        fixture_random_bytes(&random, page + at, bytes);
        if (memcmp(other, page, PAGE_BYTES) == 0)
            continue;
        struct explanation e = explained(page, &expect);
        assert_int_not_equal(e.verdict, VERDICT_NONE);
        e = explained(page, &doubt);
        assert_int_not_equal(e.verdict, VERDICT_NONE);
    }
}

/* --- re-reads --- */

static void test_rereads_decide_between_persistent_and_transient(void **state)
{
    static const struct {
        enum verdict first, healed;
    } cases[] = {
        {VERDICT_lost_write, VERDICT_stale_read},
        {VERDICT_replayed_write, VERDICT_stale_read},
        {VERDICT_old_data, VERDICT_stale_read},
        {VERDICT_misdirected_write, VERDICT_misdirected_read},
        {VERDICT_bit_flip, VERDICT_transient_damage},
        {VERDICT_header_damage, VERDICT_transient_damage},
        {VERDICT_zeroed, VERDICT_transient_damage},
        {VERDICT_garbage, VERDICT_transient_damage},
        {VERDICT_torn_page, VERDICT_transient_damage},
        {VERDICT_bytes_not_read, VERDICT_bytes_not_read},
        {VERDICT_NONE, VERDICT_NONE},
    };
    (void)state;
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        struct explanation first = {.verdict = cases[i].first};
        assert_int_equal(explain_after_rereads(&first, false), cases[i].first);
        assert_int_equal(explain_after_rereads(&first, true), cases[i].healed);
    }
}

static void test_every_sector_state_has_a_text_of_its_own(void **state)
{
    static const char states[] = "nozmc?pu";
    (void)state;
    for (size_t a = 0; states[a]; a++)
        for (size_t b = 0; b < a; b++)
            assert_string_not_equal(sector_state_text((enum sector_state)states[a]),
                                    sector_state_text((enum sector_state)states[b]));
}

#define T(name) cmocka_unit_test(name)

int main(void)
{
    const struct CMUnitTest tests[] = {
        T(test_owed_page_is_right),
        T(test_random_right_pages_raise_no_alarm),
        T(test_never_written_space_of_ours_is_zero),
        T(test_never_written_space_of_others_is_not_judged),
        T(test_freed_and_quarantined_pages_are_not_judged),
        T(test_doubt_allows_every_generation_from_durable_to_issued),
        T(test_doubt_allows_any_mix_of_its_generations),
        T(test_doubt_allows_no_sector_older_than_durable),
        T(test_doubt_of_a_first_write_allows_zeros),
        T(test_doubt_of_a_durable_page_allows_no_zeros),
        T(test_doubt_over_foreign_space_is_not_judged),
        T(test_damage_is_found_in_doubt_too),
        T(test_one_flipped_bit_anywhere_is_named_counted_and_found),
        T(test_flips_are_counted_over_the_page),
        T(test_header_and_body_flipped_is_a_flip_of_both),
        T(test_many_wrong_bits_in_the_right_page_are_garbage),
        T(test_flipped_compressible_page_is_a_flip),
        T(test_damaged_header_under_a_right_body_is_header_damage),
        T(test_damaged_checksum_fields_are_header_damage),
        T(test_header_fields_are_not_believed_before_their_crc),
        T(test_zero_page_is_zeroed),
        T(test_every_aligned_zero_range_is_zeroed),
        T(test_zeros_in_an_older_page_are_zeroed),
        T(test_unaligned_zero_ranges_are_zeroed),
        T(test_zeros_inside_one_sector_are_zeroed),
        T(test_older_page_is_a_lost_write),
        T(test_older_page_after_the_newer_was_read_is_a_replay),
        T(test_older_page_with_damage_is_still_a_lost_write),
        T(test_generation_that_was_never_issued_is_garbage),
        T(test_tear_after_each_sector_is_torn),
        T(test_tear_before_each_sector_is_torn),
        T(test_tear_at_4096_shows_in_the_map),
        T(test_scattered_old_sectors_are_torn),
        T(test_tear_between_two_older_generations_is_torn),
        T(test_other_page_is_misdirected_and_names_it),
        T(test_other_page_of_the_same_generation_is_misdirected),
        T(test_other_file_is_misdirected_and_names_it),
        T(test_part_of_another_page_is_misdirected),
        T(test_sectors_shifted_inside_the_page_are_misdirected),
        T(test_other_page_where_nothing_was_written_is_misdirected),
        T(test_page_of_another_run_is_old_data),
        T(test_half_a_page_of_another_run_is_old_data),
        T(test_page_of_an_older_incarnation_is_old_data_of_this_run),
        T(test_noise_is_garbage),
        T(test_noise_in_any_sector_is_garbage),
        T(test_fill_bytes_are_garbage),
        T(test_flipped_bit_in_never_written_space_is_a_flip),
        T(test_page_of_ours_where_it_was_never_issued_is_garbage),
        T(test_untouched_buffer_is_bytes_not_read),
        T(test_any_untouched_sector_is_bytes_not_read),
        T(test_poison_of_another_read_is_garbage),
        T(test_random_damage_is_never_right),
        T(test_rereads_decide_between_persistent_and_transient),
        T(test_every_sector_state_has_a_text_of_its_own),
    };
    return cmocka_run_group_tests_name("explain", tests, NULL, NULL);
}
