/*
 * test_torn.c - torn-page bits.  Vectors and rules: reference "SQL Server storage I/O",
 * section 3.2.
 */
#include "tests/unit/page_fixture.h"
#include "verify/torn.h"

static uint8_t page[PAGE_BYTES];

static void multiplicative_page(uint8_t *at)
{
    for (uint32_t k = 0; k < PAGE_BYTES / 4; k++) {
        uint32_t word = k * 2654435761u;
        memcpy(at + (size_t)4 * k, &word, 4);
    }
}

static int fresh_page(void **state)
{
    (void)state;
    multiplicative_page(page);
    return 0;
}

static void test_vector_after_pattern_10(void **state)
{
    (void)state;
    torn_protect(page, 2);
    assert_int_equal(page_header_of(page)->torn_bits, 0x5AAFF005);
}

static void test_vector_after_pattern_01(void **state)
{
    (void)state;
    torn_protect(page, 1);
    assert_int_equal(page_header_of(page)->torn_bits, 0x5AAFF006);
}

static void test_protected_page_passes_the_check(void **state)
{
    (void)state;
    torn_protect(page, 1);
    assert_true(torn_check(page));
}

static void test_protect_sets_0x0100_and_clears_0x0200(void **state)
{
    (void)state;
    ((struct page_header *)page)->flags = 0x8200;
    torn_protect(page, 1);
    assert_int_equal(page_header_of(page)->flags, 0x8100);
}

static void test_restore_gives_back_every_byte(void **state)
{
    uint8_t original[PAGE_BYTES];
    (void)state;
    memcpy(original, page, sizeof(original));
    torn_protect(page, 2);
    assert_memory_not_equal(page + 0x40, original + 0x40, PAGE_BYTES - 0x40);
    torn_restore(page);
    /* m_flagBits and m_tornBits were changed by protecting; everything else must be back. */
    assert_memory_equal(page, original, 4);
    assert_memory_equal(page + 6, original + 6, 0x3C - 6);
    assert_memory_equal(page + 0x40, original + 0x40, PAGE_BYTES - 0x40);
}

static void test_only_last_bytes_of_sectors_1_to_15_change(void **state)
{
    uint8_t original[PAGE_BYTES];
    (void)state;
    memcpy(original, page, sizeof(original));
    torn_protect(page, 2);
    for (unsigned i = 0x40; i < PAGE_BYTES; i++)
        if (i < 512 || i % 512 != 511)
            assert_int_equal(page[i], original[i]);
        else
            assert_int_equal(page[i] & 0xFC, original[i] & 0xFC);
}

static void test_mix_of_two_writes_fails_at_every_sector_boundary(void **state)
{
    uint8_t newer[PAGE_BYTES];
    uint8_t mix[PAGE_BYTES];
    (void)state;
    torn_protect(page, 2);
    memcpy(newer, page, sizeof(newer));
    torn_restore(newer);
    torn_protect(newer, 1);
    for (unsigned sectors = 1; sectors < PAGE_SECTORS; sectors++) {
        memcpy(mix, newer, sizeof(mix));
        memcpy(mix + sectors * 512, page + sectors * 512, PAGE_BYTES - sectors * 512);
        assert_false(torn_check(mix));
    }
}

static void test_each_witness_counts(void **state)
{
    (void)state;
    torn_protect(page, 2);
    for (unsigned sector = 1; sector < PAGE_SECTORS; sector++) {
        fixture_flip(page, sector * 512 + 511, 1);
        assert_false(torn_check(page));
        fixture_flip(page, sector * 512 + 511, 1);
    }
    assert_true(torn_check(page));
}

static void test_patterns_00_and_11_are_no_patterns(void **state)
{
    (void)state;
    memset(page, 0, sizeof(page));
    assert_false(torn_check(page));
    memset(page, 0xFF, sizeof(page));
    assert_false(torn_check(page));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup(test_vector_after_pattern_10, fresh_page),
        cmocka_unit_test_setup(test_vector_after_pattern_01, fresh_page),
        cmocka_unit_test_setup(test_protected_page_passes_the_check, fresh_page),
        cmocka_unit_test_setup(test_protect_sets_0x0100_and_clears_0x0200, fresh_page),
        cmocka_unit_test_setup(test_restore_gives_back_every_byte, fresh_page),
        cmocka_unit_test_setup(test_only_last_bytes_of_sectors_1_to_15_change, fresh_page),
        cmocka_unit_test_setup(test_mix_of_two_writes_fails_at_every_sector_boundary, fresh_page),
        cmocka_unit_test_setup(test_each_witness_counts, fresh_page),
        cmocka_unit_test_setup(test_patterns_00_and_11_are_no_patterns, fresh_page),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
