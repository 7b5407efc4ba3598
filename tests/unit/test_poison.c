/*
 * test_poison.c - the pattern that shows which bytes a read did not deliver.
 */
#include "page_fixture.h"

#include "tests/scale.h"
#include "verify/explain.h"

#define BUFFER_BYTES (64 * 1024)

static uint8_t buffer[BUFFER_BYTES], second[BUFFER_BYTES];

static void test_every_sector_of_a_filled_buffer_is_poison(void **state)
{
    (void)state;
    poison_fill(buffer, BUFFER_BYTES, 77);
    for (size_t at = 0; at < BUFFER_BYTES; at += PAGE_SECTOR_BYTES)
        assert_true(poison_sector(buffer + at, 77));
}

static void test_poison_of_another_read_is_not_this_ones(void **state)
{
    (void)state;
    for (uint64_t serial = 0; serial < 200; serial++) {
        poison_fill(buffer, PAGE_BYTES, serial);
        for (uint64_t other = 0; other < 200; other++)
            assert_int_equal(poison_sector(buffer, other), other == serial);
    }
}

static void test_each_word_tells_its_place(void **state)
{
    (void)state;
    poison_fill(buffer, BUFFER_BYTES, 3);
    for (size_t a = 0; a < BUFFER_BYTES; a += PAGE_SECTOR_BYTES)
        for (size_t b = 0; b < a; b += PAGE_SECTOR_BYTES)
            assert_memory_not_equal(buffer + a, buffer + b, 8);
}

static void test_any_changed_byte_of_the_first_or_last_word_ends_it(void **state)
{
    (void)state;
    poison_fill(buffer, PAGE_SECTOR_BYTES * 2, 5);
    for (size_t i = 0; i < 16; i++) {
        size_t at = i < 8 ? i : PAGE_SECTOR_BYTES - 16 + i;
        buffer[PAGE_SECTOR_BYTES + at] ^= 0x10;
        assert_false(poison_sector(buffer + PAGE_SECTOR_BYTES, 5));
        buffer[PAGE_SECTOR_BYTES + at] ^= 0x10;
    }
    assert_true(poison_sector(buffer + PAGE_SECTOR_BYTES, 5));
}

static void test_a_transfer_that_stops_anywhere_leaves_poison_behind_it(void **state)
{
    (void)state;
    for (size_t end = 1; end < PAGE_BYTES; end++) {
        poison_fill(buffer, PAGE_BYTES, 9);
        memset(buffer, 0xA5, end);
        for (size_t at = 0; at < PAGE_BYTES; at += PAGE_SECTOR_BYTES)
            assert_int_equal(poison_sector(buffer + at, 9), at >= end);
        assert_int_not_equal(buffer[PAGE_BYTES - 1], 0xA5);
    }
}

static void test_poison_that_moved_by_less_than_a_sector_is_none(void **state)
{
    (void)state;
    poison_fill(buffer, PAGE_BYTES, 5);
    for (size_t shift = 1; shift < PAGE_SECTOR_BYTES; shift++)
        assert_false(poison_sector(buffer + shift, 5));
}

static void test_equal_serials_make_equal_poison(void **state)
{
    (void)state;
    memset(buffer, 0, BUFFER_BYTES);
    memset(second, 0, BUFFER_BYTES);
    poison_fill(buffer, BUFFER_BYTES, 12);
    poison_fill(second, BUFFER_BYTES, 12);
    assert_memory_equal(buffer, second, BUFFER_BYTES);
}

static void test_fill_stays_inside_the_buffer(void **state)
{
    (void)state;
    memset(buffer, 0x55, BUFFER_BYTES);
    poison_fill(buffer + PAGE_SECTOR_BYTES, PAGE_SECTOR_BYTES, 12);
    for (size_t i = 0; i < PAGE_SECTOR_BYTES; i++) {
        assert_int_equal(buffer[i], 0x55);
        assert_int_equal(buffer[2 * PAGE_SECTOR_BYTES + i], 0x55);
    }
}

static void test_zeros_and_pages_and_noise_are_not_poison(void **state)
{
    uint64_t random = fixture_seed("poison");
    struct run_identity run = fixture_run(1, 0);
    (void)state;

    memset(buffer, 0, PAGE_BYTES);
    for (uint64_t serial = 0; serial < test_scaled(20000); serial++) {
        assert_false(poison_sector(buffer + PAGE_BYTES / 2, serial)); /* zeros */
        fixture_random_bytes(&random, second, PAGE_SECTOR_BYTES);
        assert_false(poison_sector(second, serial));
    }
    page_fill(buffer, &run, &(struct page_identity){1, 1, 1, 16, 1}, 0);
    for (size_t at = 0; at < PAGE_BYTES; at += PAGE_SECTOR_BYTES)
        for (uint64_t serial = 0; serial < 1000; serial++)
            assert_false(poison_sector(buffer + at, serial));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_every_sector_of_a_filled_buffer_is_poison),
        cmocka_unit_test(test_poison_of_another_read_is_not_this_ones),
        cmocka_unit_test(test_each_word_tells_its_place),
        cmocka_unit_test(test_any_changed_byte_of_the_first_or_last_word_ends_it),
        cmocka_unit_test(test_a_transfer_that_stops_anywhere_leaves_poison_behind_it),
        cmocka_unit_test(test_poison_that_moved_by_less_than_a_sector_is_none),
        cmocka_unit_test(test_equal_serials_make_equal_poison),
        cmocka_unit_test(test_fill_stays_inside_the_buffer),
        cmocka_unit_test(test_zeros_and_pages_and_noise_are_not_poison),
    };
    return cmocka_run_group_tests_name("poison", tests, NULL, NULL);
}
