/*
 * test_checksum.c - sector fold, CRC-32 and XXH3.
 *
 * Expected values: the known-answer vectors of the reference "SQL Server storage I/O", section 3.1;
 * the check value of CRC-32/ISO-HDLC; the value of the xxHash specification for empty input;
 * arithmetic shown in place.
 */
#include "tests/unit/page_fixture.h"
#include "verify/checksum.h"

#define WORDS (PAGE_BYTES / 4)

static uint32_t rotate_left(uint32_t x, unsigned n)
{
    return n == 0 ? x : x << n | x >> (32 - n);
}

static uint32_t page_fold(const void *page)
{
    return sector_fold(page, PAGE_BYTES, PAGE_OFFSET_TORN_BITS);
}

static void test_multiplicative_page_vector(void **state)
{
    static uint32_t page[WORDS];
    (void)state;
    for (uint32_t k = 0; k < WORDS; k++)
        page[k] = k * 2654435761u;
    assert_int_equal(page_fold(page), 0x352C48AC);
}

static void test_counting_bytes_vector(void **state)
{
    static uint8_t page[PAGE_BYTES];
    (void)state;
    for (unsigned i = 0; i < PAGE_BYTES; i++)
        page[i] = i & 255;
    assert_int_equal(page_fold(page), 0x1E9E1F9F);
}

static void test_counting_words_vector(void **state)
{
    static uint32_t page[WORDS];
    (void)state;
    for (uint32_t k = 0; k < WORDS; k++)
        page[k] = k;
    assert_int_equal(page_fold(page), 0x00078000);
}

static void test_last_byte_vector(void **state)
{
    static uint8_t page[PAGE_BYTES];
    (void)state;
    page[8191] = 1;
    assert_int_equal(page_fold(page), 0x01000000);
}

static void test_first_byte_vector(void **state)
{
    static uint8_t page[PAGE_BYTES];
    (void)state;
    page[0] = 1;
    assert_int_equal(page_fold(page), 0x00008000);
}

static void test_zero_page_folds_to_zero(void **state)
{
    static const uint8_t page[PAGE_BYTES];
    (void)state;
    assert_int_equal(page_fold(page), 0);
}

/* 127 words of ones in sector 0, 128 elsewhere: only the odd one out is left. */
static void test_page_of_ones_folds_to_ones(void **state)
{
    static uint8_t page[PAGE_BYTES];
    (void)state;
    memset(page, 0xFF, sizeof(page));
    assert_int_equal(page_fold(page), 0xFFFFFFFF);
}

static void test_skipped_dword_counts_as_zero(void **state)
{
    static uint32_t page[WORDS];
    (void)state;
    for (uint32_t k = 0; k < WORDS; k++)
        page[k] = k;
    page[PAGE_OFFSET_TORN_BITS / 4] = 0xDEADBEEF;
    assert_int_equal(page_fold(page), 0x00078000);
}

/* Only word 15 (value 15, sector 0) differs: rol(15, 15). */
static void test_skip_beyond_the_end_skips_nothing(void **state)
{
    static uint32_t page[WORDS];
    (void)state;
    for (uint32_t k = 0; k < WORDS; k++)
        page[k] = k;
    assert_int_equal(sector_fold(page, PAGE_BYTES, PAGE_BYTES), 0x00078000 ^ 15u << 15);
}

/* A log block: 3 sectors, checksum at 0x18. 1 in sector s counts as rol(1, 2 - s). */
static void test_log_block_sizes_rotate_by_their_own_sector_count(void **state)
{
    static uint32_t block[3 * 128];
    (void)state;
    block[0] = block[128] = block[256] = 1;
    block[0x18 / 4] = 0x12345678;
    assert_int_equal(sector_fold(block, sizeof(block), 0x18), 4 ^ 2 ^ 1);
}

static void test_fold_needs_no_alignment(void **state)
{
    static uint8_t buf[PAGE_BYTES + 16];
    (void)state;
    for (unsigned shift = 0; shift < 16; shift++) {
        for (unsigned i = 0; i < PAGE_BYTES; i++)
            buf[shift + i] = i & 255;
        assert_int_equal(page_fold(buf + shift), 0x1E9E1F9F);
    }
}

/* The weight of a bit is rol(bit << 8 * (offset % 4), 15 - sector): never zero. */
static void test_every_single_bit_has_its_weight(void **state)
{
    static uint8_t page[PAGE_BYTES];
    uint64_t seed = fixture_seed(__func__);
    (void)state;
    fixture_random_bytes(&seed, page, sizeof(page));
    uint32_t before = page_fold(page);
    for (unsigned i = 0; i < 4000; i++) {
        unsigned offset = fixture_random(&seed) % PAGE_BYTES;
        unsigned bit = fixture_random(&seed) % 8;
        uint32_t weight = rotate_left(1u << (8 * (offset % 4) + bit), 15 - offset / 512);
        if (offset / 4 == PAGE_OFFSET_TORN_BITS / 4)
            weight = 0;
        fixture_flip(page, offset, bit);
        assert_int_equal(page_fold(page), before ^ weight);
        fixture_flip(page, offset, bit);
    }
}

/* The known weakness that the XXH3 of a page stamp covers. */
static void test_equal_flips_in_one_sector_are_invisible(void **state)
{
    static uint8_t page[PAGE_BYTES];
    (void)state;
    page[600] ^= 0x10;
    page[604] ^= 0x10;
    assert_int_equal(page_fold(page), 0);
}

static void test_crc32_has_the_standard_check_value(void **state)
{
    (void)state;
    assert_int_equal(crc32_zlib(0, "123456789", 9), 0xCBF43926);
}

static void test_crc32_continues_where_it_stopped(void **state)
{
    (void)state;
    assert_int_equal(crc32_zlib(crc32_zlib(0, "1234", 4), "56789", 5), 0xCBF43926);
}

static void test_xxh3_of_nothing_is_the_specified_value(void **state)
{
    (void)state;
    assert_true(xxh3_64("", 0) == 0x2D06800538D394C2ull);
}

static void test_seed_zero_is_the_unseeded_hash(void **state)
{
    (void)state;
    assert_true(xxh3_64_seeded("", 0, 0) == 0x2D06800538D394C2ull);
    assert_true(xxh3_64_seeded("", 0, 1) != 0x2D06800538D394C2ull);
}

/* The one-shot function of the library is the oracle of the streaming one. */
static void test_joined_hash_equals_the_whole_at_every_split(void **state)
{
    static uint8_t page[PAGE_BYTES];
    uint64_t seed = fixture_seed(__func__);
    (void)state;
    fixture_random_bytes(&seed, page, sizeof(page));
    uint64_t whole = xxh3_64(page, sizeof(page));
    for (size_t split = 0; split <= PAGE_BYTES; split += 64)
        assert_true(xxh3_64_joined(page, split, page + split, PAGE_BYTES - split) == whole);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_multiplicative_page_vector),
        cmocka_unit_test(test_counting_bytes_vector),
        cmocka_unit_test(test_counting_words_vector),
        cmocka_unit_test(test_last_byte_vector),
        cmocka_unit_test(test_first_byte_vector),
        cmocka_unit_test(test_zero_page_folds_to_zero),
        cmocka_unit_test(test_page_of_ones_folds_to_ones),
        cmocka_unit_test(test_skipped_dword_counts_as_zero),
        cmocka_unit_test(test_skip_beyond_the_end_skips_nothing),
        cmocka_unit_test(test_log_block_sizes_rotate_by_their_own_sector_count),
        cmocka_unit_test(test_fold_needs_no_alignment),
        cmocka_unit_test(test_every_single_bit_has_its_weight),
        cmocka_unit_test(test_equal_flips_in_one_sector_are_invisible),
        cmocka_unit_test(test_crc32_has_the_standard_check_value),
        cmocka_unit_test(test_crc32_continues_where_it_stopped),
        cmocka_unit_test(test_xxh3_of_nothing_is_the_specified_value),
        cmocka_unit_test(test_seed_zero_is_the_unseeded_hash),
        cmocka_unit_test(test_joined_hash_equals_the_whole_at_every_split),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
