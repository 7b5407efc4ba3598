/* test_explain_origin.c - content that belongs elsewhere: shifted by sectors, or of a log. */
#include "explain_fixture.h"

#include "verify/logblk.h"

/* Three places in a row, of which the middle one is PAGE; old and new generations of each. */
static void lay_out(uint8_t disk[3 * PAGE_BYTES], uint64_t generation)
{
    for (uint32_t i = 0; i < 3; i++)
        build(disk + (size_t)i * PAGE_BYTES, own_run(), UID, PAGE - 1 + i, generation);
}

static struct expectation owed_at(uint32_t page_no, uint64_t generation)
{
    struct expectation expect = owed(generation);
    expect.page_no = page_no;
    return expect;
}

static void assert_shifted(const struct explanation *why, int64_t shift_bytes)
{
    assert_verdict(why, VERDICT_misdirected_write);
    assert_true(why->has_origin);
    assert_int_equal(why->origin_page_no, PAGE);
    assert_int_equal(why->origin_file_uid, UID);
    assert_int_equal(why->origin_generation, 9);
    assert_true(why->has_shift);
    assert_int_equal(why->shift_bytes, shift_bytes);
}

/* Generation 9 of PAGE is written shift_bytes from where it belongs: both pages that it touches
 * tell that, and the sectors in which. */
static void check_shift(int64_t shift_bytes)
{
    uint8_t disk[3 * PAGE_BYTES];
    uint8_t image[PAGE_BYTES];
    lay_out(disk, 8);
    build(image, own_run(), UID, PAGE, 9);
    memcpy(disk + PAGE_BYTES + shift_bytes, image, sizeof(image));
    struct expectation at_home = owed_at(PAGE, 9);
    struct explanation home = explained(disk + PAGE_BYTES, &at_home);
    assert_shifted(&home, shift_bytes);
    uint32_t beside = shift_bytes > 0 ? PAGE + 1 : PAGE - 1;
    struct expectation at_neighbour = owed_at(beside, 8);
    struct explanation neighbour =
        explained(shift_bytes > 0 ? disk + 2 * PAGE_BYTES : disk, &at_neighbour);
    assert_shifted(&neighbour, shift_bytes);
    int sectors = (int)(shift_bytes / PAGE_SECTOR_BYTES);
    for (int s = 0; s < PAGE_SECTORS; s++) {
        bool moved = s - sectors >= 0 && s - sectors < PAGE_SECTORS;
        bool beyond = shift_bytes > 0 ? s < sectors : s >= PAGE_SECTORS + sectors;
        assert_int_equal(home.sectors[s], moved ? 'm' : 'o');
        assert_int_equal(neighbour.sectors[s], beyond ? 'm' : 'n');
    }
}

static void a_page_shifted_by_any_number_of_sectors_tells_the_distance(void **state)
{
    (void)state;
    for (int sectors = 1; sectors < PAGE_SECTORS; sectors++) {
        check_shift(sectors * PAGE_SECTOR_BYTES);
        check_shift(-sectors * PAGE_SECTOR_BYTES);
    }
}

static void a_whole_page_elsewhere_is_shifted_by_pages(void **state)
{
    (void)state;
    uint8_t image[PAGE_BYTES];
    build(image, own_run(), UID, PAGE, 9);
    struct expectation expect = owed_at(PAGE + 5, 8);
    struct explanation why = explained(image, &expect);
    assert_shifted(&why, 5 * PAGE_BYTES);
}

static void sectors_of_two_distances_tell_none(void **state)
{
    (void)state;
    uint8_t image[PAGE_BYTES], one[PAGE_BYTES];
    build_own(image, 8);
    build(one, own_run(), UID, PAGE + 7, 9);
    copy_sectors(image, one, 4, 5);
    memcpy(image + 9 * PAGE_SECTOR_BYTES, one + 8 * PAGE_SECTOR_BYTES, PAGE_SECTOR_BYTES);
    struct expectation expect = owed(8);
    struct explanation why = explained(image, &expect);
    assert_verdict(&why, VERDICT_misdirected_write);
    assert_false(why.has_shift);
}

static void another_file_has_no_distance(void **state)
{
    (void)state;
    uint8_t image[PAGE_BYTES];
    build(image, own_run(), UID + 1, PAGE, 9);
    struct expectation expect = owed(8);
    struct explanation why = explained(image, &expect);
    assert_verdict(&why, VERDICT_misdirected_write);
    assert_false(why.has_shift);
}

/* ---- log blocks ---- */

static uint8_t log_block[LOG_BLOCK_BYTES_MAX];

/* A block with one record of filler; its size on disk. */
static size_t block_make(size_t payload_bytes)
{
    static struct log_builder builder;
    struct log_record record = {.op = LOG_OP_MODIFY, .payload_bytes = payload_bytes};
    struct log_block_place place = {
        .fseq = 77, .block = 1234, .parity = LOG_PARITY_EVEN, .sector_bytes = 512};
    uint32_t crc;
    log_builder_begin(&builder, log_block);
    log_builder_append(&builder, &record);
    return log_builder_seal(&builder, &place, &crc);
}

static void a_log_block_at_any_sector_of_a_page_is_misdirected(void **state)
{
    (void)state;
    static const size_t payloads[] = {10, 1000, 30000}; /* one sector, some, beyond the page */
    for (size_t p = 0; p < 3; p++) {
        size_t size_bytes = block_make(payloads[p]);
        for (unsigned sector = 0; sector < PAGE_SECTORS; sector++) {
            uint8_t image[PAGE_BYTES];
            size_t room = (size_t)(PAGE_SECTORS - sector) * PAGE_SECTOR_BYTES;
            build_own(image, 8);
            memcpy(image + (size_t)sector * PAGE_SECTOR_BYTES, log_block,
                   size_bytes < room ? size_bytes : room);
            struct expectation expect = owed(8);
            struct explanation why = explained(image, &expect);
            assert_verdict(&why, VERDICT_misdirected_write);
            assert_true(why.origin_is_log);
            assert_false(why.has_origin);
            assert_int_equal(why.origin_fseq, 77);
            assert_int_equal(why.origin_block, 1234);
            assert_int_equal(why.sectors[sector], 'm');
        }
    }
}

/* Without the magic of its first record it is no block of ours. */
static void what_only_looks_like_a_log_block_is_garbage(void **state)
{
    (void)state;
    uint8_t image[PAGE_BYTES];
    size_t size_bytes = block_make(1000);
    build_own(image, 8);
    memcpy(image, log_block, size_bytes);
    image[LOG_BLOCK_HEADER_BYTES + LOG_RECORD_START_BYTES] ^= 1;
    struct expectation expect = owed(8);
    struct explanation why = explained(image, &expect);
    assert_verdict(&why, VERDICT_garbage);
    assert_false(why.origin_is_log);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_page_shifted_by_any_number_of_sectors_tells_the_distance),
        cmocka_unit_test(a_whole_page_elsewhere_is_shifted_by_pages),
        cmocka_unit_test(sectors_of_two_distances_tell_none),
        cmocka_unit_test(another_file_has_no_distance),
        cmocka_unit_test(a_log_block_at_any_sector_of_a_page_is_misdirected),
        cmocka_unit_test(what_only_looks_like_a_log_block_is_garbage),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
