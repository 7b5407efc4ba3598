/*
 * test_page.c - data pages: golden vectors, seal, check, regeneration, body, sector stamps.
 *
 * Golden vectors: printed by tests/golden/page_format.py, an implementation of its own.  They
 * belong to format version 1 and body version 1 and never change.
 */
#include "tests/unit/page_fixture.h"

#include <zlib.h>

#include "tests/scale.h"
#include "verify/checksum.h"

#define CRC_OFFSET     (PAGE_STAMP_OFFSET + 80)
#define XXH3_OFFSET    (PAGE_STAMP_OFFSET + 88)
#define VERSION_OFFSET (PAGE_STAMP_OFFSET + 4)

static const uint8_t run2_id[RUN_ID_BYTES] = {0xF0, 0xE1, 0xD2, 0xC3, 0xB4, 0xA5, 0x96, 0x87,
                                              0x78, 0x69, 0x5A, 0x4B, 0x3C, 0x2D, 0x1E, 0x0F};
static const struct lsn first_lsn = {50, 16, 1};

static void build(void *page, const struct run_identity *run, uint32_t page_no, uint64_t generation)
{
    struct page_identity id = {1, 1, 1, page_no, generation};
    page_fill(page, run, &id, 0);
    page_seal(page, first_lsn, 0);
}

static void build_default(void *page)
{
    struct run_identity run = fixture_run(1, 0);
    build(page, &run, 16, 1);
}

/* --- golden vectors --- */

static void test_golden_first_page(void **state)
{
    uint8_t page[PAGE_BYTES];
    (void)state;
    build_default(page);
    assert_golden(page, "28165ac950018be85a67340085e6efaf6b90d5465690170f724eb98b98b542dd");
}

static void test_golden_page_with_every_field_full(void **state)
{
    uint8_t page[PAGE_BYTES];
    struct run_identity run = run_identity_make(run2_id, 0xFEDCBA9876543210ull, 5000);
    struct page_identity id = {0xFFFF, 0xABCD, 0x7FFF, 0x7FFFFFFF, 0x0123456789ABCDEFull};
    (void)state;
    page_fill(page, &run, &id, 5001);
    page_seal(page, (struct lsn){0xFFFFFFFE, 0x12345678, 0xFEDC}, UINT64_MAX);
    assert_golden(page, "1fe4582d0978cb9d6b3b3c36e916d7aac1ddd1270be15855e05c7bcc6061fb0e");
}

static void test_golden_page_that_compresses_whole(void **state)
{
    uint8_t page[PAGE_BYTES];
    struct run_identity run = fixture_run(1, 10000);
    (void)state;
    build(page, &run, 511234, 7);
    assert_golden(page, "6354e8a772546fa77b9aa579d41f9bba61dff5c3a1de5134f9e99ab110b46976");
}

static void test_golden_page_that_compresses_a_little(void **state)
{
    uint8_t page[PAGE_BYTES];
    struct run_identity run = fixture_run(1, 333);
    struct page_identity id = {1, 1, 1, 10, 2};
    (void)state;
    page_fill(page, &run, &id, 4095);
    page_seal(page, first_lsn, 0);
    assert_golden(page, "aeedc34ba975844fd99b1df597f982389ab407cdb8df1708be71cefe17f01cda");
}

static void test_golden_identity_of_a_run(void **state)
{
    struct run_identity a = fixture_run(1, 0);
    struct run_identity b = run_identity_make(run2_id, 0xFEDCBA9876543210ull, 0);
    (void)state;
    assert_true(a.body_key == 0xe2d1e4053a219356ull && a.run_tag == 0x5f33);
    assert_true(b.body_key == 0xcb85a1ed6ecebdf8ull && b.run_tag == 0xc851);
    assert_int_equal(run_first_fseq(a.run_id), 65090);
    assert_int_equal(run_first_fseq(b.run_id), 61915);
    assert_int_equal(run_chain_start(a.run_id, 2), 0x46f95749);
    assert_int_equal(run_chain_start(b.run_id, 2), 0x1cff5ffd);
}

static void test_first_fseq_stays_in_its_range(void **state)
{
    uint64_t seed = fixture_seed(__func__);
    uint8_t run_id[RUN_ID_BYTES];
    (void)state;
    for (unsigned i = 0; i < 100000; i++) {
        fixture_random_bytes(&seed, run_id, sizeof(run_id));
        assert_in_range(run_first_fseq(run_id), 2, 65537);
    }
}

/* --- the SQL side; values from DESIGN section 5 and reference section 2.1 --- */

static void test_header_is_sql_server_s(void **state)
{
    uint8_t page[PAGE_BYTES];
    static const uint8_t unused[32];
    (void)state;
    build_default(page);
    const struct page_header *h = page_header_of(page);
    assert_int_equal(h->header_version, 1);
    assert_int_equal(h->type, 1);
    assert_int_equal(h->flags, 0x0200);
    assert_int_equal(h->slot_count, 1);
    assert_int_equal(h->free_count, 34);
    assert_int_equal(h->free_data, 8156);
    assert_int_equal(h->page_no, 16);
    assert_int_equal(h->file_id, 1);
    assert_int_equal(lsn_compare(page_lsn(page), first_lsn), 0);
    assert_memory_equal(h->unused, unused, sizeof(unused));
}

static void test_row_fills_the_page_from_slot_0(void **state)
{
    uint8_t page[PAGE_BYTES];
    /* status 0x10, fixed-length end 8,057 = 0x1F79; one column, nothing null; slot 0 = 0x60 */
    static const uint8_t start[] = {0x10, 0, 0x79, 0x1F};
    static const uint8_t end[39] = {1, 0, 0, [37] = 0x60};
    (void)state;
    build_default(page);
    assert_memory_equal(page + 0x60, start, sizeof(start));
    assert_memory_equal(page + 8153, end, sizeof(end));
}

/* --- seal --- */

static void test_seal_may_be_repeated(void **state)
{
    uint8_t once[PAGE_BYTES];
    uint8_t again[PAGE_BYTES];
    (void)state;
    build_default(once);
    memcpy(again, once, sizeof(again));
    page_seal(again, (struct lsn){51, 99, 7}, 123456789);
    assert_int_equal(page_check(again), PAGE_OK);
    page_seal(again, first_lsn, 0);
    assert_memory_equal(again, once, sizeof(once));
}

static void test_seal_writes_lsn_time_and_checks_only(void **state)
{
    uint8_t before[PAGE_BYTES];
    uint8_t after[PAGE_BYTES];
    (void)state;
    build_default(before);
    memcpy(after, before, sizeof(after));
    page_seal(after, (struct lsn){0x01020304, 0x05060708, 0x090A}, 0x1122334455667788);
    for (unsigned i = 0; i < PAGE_BYTES; i++) {
        /* m_lsn, m_tornBits, stamp: write time, LSN, header CRC, XXH3 */
        bool sealed = (i >= 0x28 && i < 0x32) || (i >= 0x3C && i < 0x40) ||
                      (i >= 0x64 + 40 && i < 0x64 + 48) || (i >= 0x64 + 56 && i < 0x64 + 66) ||
                      (i >= CRC_OFFSET && i < CRC_OFFSET + 4) ||
                      (i >= XXH3_OFFSET && i < XXH3_OFFSET + 8);
        if (!sealed)
            assert_int_equal(after[i], before[i]);
    }
    assert_true(page_stamp_of(after)->write_time_ns == 0x1122334455667788);
    assert_int_equal(page_stamp_of(after)->lsn_fseq, 0x01020304);
    assert_int_equal(page_stamp_of(after)->lsn_block, 0x05060708);
    assert_int_equal(page_stamp_of(after)->lsn_slot, 0x090A);
}

static void test_protect_checksum_swaps_the_flags(void **state)
{
    uint8_t page[PAGE_BYTES] = {0};
    (void)state;
    ((struct page_header *)page)->flags = 0x8100;
    page_protect_checksum(page);
    assert_int_equal(page_header_of(page)->flags, 0x8200);
    /* the only non-zero word: 0x8200 in the low half of word 1 of sector 0 */
    assert_int_equal(page_header_of(page)->torn_bits, 0x8200u << 15);
}

/* --- check --- */

static void test_sealed_page_is_ok(void **state)
{
    uint8_t page[PAGE_BYTES];
    (void)state;
    build_default(page);
    assert_int_equal(page_check(page), PAGE_OK);
    assert_true(page_header_crc_ok(page));
}

static void test_zero_page_is_named(void **state)
{
    static const uint8_t page[PAGE_BYTES];
    (void)state;
    assert_int_equal(page_check(page), PAGE_ALL_ZERO);
    assert_false(page_header_crc_ok(page));
}

static void test_page_of_sql_server_has_no_magic(void **state)
{
    uint8_t page[PAGE_BYTES];
    (void)state;
    build_default(page);
    memset(page + PAGE_STAMP_OFFSET, 'x', 96);
    page_protect_checksum(page);
    assert_int_equal(page_check(page), PAGE_BAD_MAGIC);
}

static void test_any_flipped_bit_is_found(void **state)
{
    uint8_t page[PAGE_BYTES];
    (void)state;
    build_default(page);
    for (unsigned bit = 0; bit < PAGE_BYTES * 8; bit++) {
        fixture_flip(page, bit / 8, bit % 8);
        assert_int_equal(page_check(page), PAGE_BAD_SQL_CHECKSUM);
        fixture_flip(page, bit / 8, bit % 8);
    }
    assert_int_equal(page_check(page), PAGE_OK);
}

/* Damage that leaves the SQL checksum right: the same bit in two words of one sector. */
static void test_blind_spot_of_the_sql_checksum_is_found(void **state)
{
    uint8_t page[PAGE_BYTES];
    (void)state;
    build_default(page);
    for (size_t at = 512 + 16; at + 4 < PAGE_BYTES; at += 512) {
        fixture_flip(page, at, 3);
        fixture_flip(page, at + 4, 3);
        assert_int_equal(page_check(page), PAGE_BAD_XXH3);
        fixture_flip(page, at, 3);
        fixture_flip(page, at + 4, 3);
    }
}

static void test_damaged_header_under_a_right_checksum(void **state)
{
    uint8_t page[PAGE_BYTES];
    static const uint16_t covered[] = {0x00, 0x20, 0x3B, 0x64 + 8, 0x64 + 32, 0x64 + 79};
    (void)state;
    build_default(page);
    for (size_t i = 0; i < sizeof(covered) / sizeof(covered[0]); i++) {
        fixture_flip(page, covered[i], 0);
        page_protect_checksum(page);
        assert_int_equal(page_check(page), PAGE_BAD_HEADER_CRC);
        assert_false(page_header_crc_ok(page));
        fixture_flip(page, covered[i], 0);
    }
}

static void test_damaged_body_leaves_the_header_believable(void **state)
{
    uint8_t page[PAGE_BYTES];
    (void)state;
    build_default(page);
    fixture_flip(page, 4000, 5);
    assert_int_equal(page_check(page), PAGE_BAD_SQL_CHECKSUM);
    assert_true(page_header_crc_ok(page));
    page_protect_checksum(page);
    assert_int_equal(page_check(page), PAGE_BAD_XXH3);
}

/* Bytes that only the XXH3 covers besides the SQL checksum: row start, unused header, its reserve.
 */
static void test_bytes_outside_the_header_crc_are_hashed(void **state)
{
    uint8_t page[PAGE_BYTES];
    static const uint16_t offsets[] = {0x40, 0x5F, 0x60, 0x63, 0x64 + 84, 0xC4, 8152, 8160, 8191};
    (void)state;
    build_default(page);
    for (size_t i = 0; i < sizeof(offsets) / sizeof(offsets[0]); i++) {
        fixture_flip(page, offsets[i], 1);
        page_protect_checksum(page);
        assert_int_equal(page_check(page), PAGE_BAD_XXH3);
        fixture_flip(page, offsets[i], 1);
    }
}

/* A page of a later version, whole in itself, is not taken for damage. */
static void unknown_version(size_t version_offset)
{
    uint8_t page[PAGE_BYTES];
    build_default(page);
    page[version_offset] = 2;
    page_seal(page, first_lsn, 0);
    assert_int_equal(page_check(page), PAGE_UNKNOWN_VERSION);
}

static void test_later_format_version_is_unknown_not_damaged(void **state)
{
    (void)state;
    unknown_version(VERSION_OFFSET);
}

static void test_later_body_version_is_unknown_not_damaged(void **state)
{
    (void)state;
    unknown_version(VERSION_OFFSET + 1);
}

static void test_halves_of_two_generations_do_not_pass(void **state)
{
    uint8_t old[PAGE_BYTES];
    uint8_t mix[PAGE_BYTES];
    struct run_identity run = fixture_run(1, 0);
    (void)state;
    build(old, &run, 16, 1);
    for (unsigned sectors = 1; sectors < PAGE_SECTORS; sectors++) {
        build(mix, &run, 16, 2);
        memcpy(mix + (size_t)sectors * 512, old + (size_t)sectors * 512,
               PAGE_BYTES - sectors * 512);
        assert_int_not_equal(page_check(mix), PAGE_OK);
    }
}

static void test_is_zero_looks_at_every_byte(void **state)
{
    static uint8_t buf[1025];
    (void)state;
    for (size_t i = 0; i < sizeof(buf); i++) {
        buf[i] = 1;
        assert_false(page_is_zero(buf, sizeof(buf)));
        assert_true(page_is_zero(buf, i));
        buf[i] = 0;
    }
    assert_true(page_is_zero(buf, sizeof(buf)));
}

/* --- regeneration --- */

static void regenerates(uint16_t compressible)
{
    uint8_t page[PAGE_BYTES];
    uint8_t sector[PAGE_SECTOR_BYTES];
    struct run_identity run = fixture_run(77, compressible);
    struct page_identity id = {3, 2, 1, 4242, 0x123456789Aull};

    page_fill(page, &run, &id, 9);
    page_seal(page, (struct lsn){60, 17, 4}, 1717171717);
    for (unsigned s = 1; s < PAGE_SECTORS; s++) {
        memset(sector, 0xA5, sizeof(sector));
        page_regenerate_sector(sector, &run, &id, s);
        assert_memory_equal(sector, page + (size_t)s * 512, 512);
    }
    memset(sector, 0xA5, sizeof(sector));
    page_regenerate_sector(sector, &run, &id, 0);
    assert_memory_equal(sector + PAGE_BODY_OFFSET, page + PAGE_BODY_OFFSET, 512 - PAGE_BODY_OFFSET);
    for (unsigned i = 0; i < PAGE_BODY_OFFSET; i++)
        assert_int_equal(sector[i], 0xA5);
}

static void test_every_sector_regenerates_alone(void **state)
{
    (void)state;
    regenerates(0);
}

static void test_compressible_sectors_regenerate_alone(void **state)
{
    (void)state;
    for (unsigned share = 1; share <= 10000; share += 833)
        regenerates((uint16_t)share);
}

static void test_body_depends_on_each_part_of_its_name(void **state)
{
    struct run_identity run = fixture_run(1, 0);
    struct run_identity other_seed = fixture_run(2, 0);
    struct page_identity id = {1, 1, 1, 16, 1};
    struct page_identity others[] = {{2, 1, 1, 16, 1}, {1, 1, 1, 17, 1}, {1, 1, 1, 16, 2}};
    uint8_t a[PAGE_SECTOR_BYTES];
    uint8_t b[PAGE_SECTOR_BYTES];
    (void)state;
    page_regenerate_sector(a, &run, &id, 5);
    for (unsigned i = 0; i < 3; i++) {
        page_regenerate_sector(b, &run, &others[i], 5);
        assert_memory_not_equal(a + 16, b + 16, 8);
    }
    page_regenerate_sector(b, &other_seed, &id, 5);
    assert_memory_not_equal(a + 16, b + 16, 8);
}

static void test_body_does_not_depend_on_incarnation_or_file_id(void **state)
{
    struct run_identity run = fixture_run(1, 0);
    struct page_identity id = {1, 1, 1, 16, 1};
    struct page_identity other = {1, 9, 3, 16, 1};
    uint8_t a[PAGE_SECTOR_BYTES];
    uint8_t b[PAGE_SECTOR_BYTES];
    (void)state;
    page_regenerate_sector(a, &run, &id, 5);
    page_regenerate_sector(b, &run, &other, 5);
    assert_memory_equal(a, b, sizeof(a));
}

/* --- what a storage that compresses or dedupes finds --- */

#define SAMPLE_PAGES 64u
#define SAMPLE_BYTES ((size_t)SAMPLE_PAGES * PAGE_BYTES)

/* Size after zlib -9 of 64 pages, in hundredths of a percent of the original. */
static unsigned zlib_share(uint16_t compressible)
{
    struct run_identity run = fixture_run(1, compressible);
    uint8_t *pages = malloc(SAMPLE_BYTES);
    uLongf packed_bytes = compressBound(SAMPLE_BYTES);
    uint8_t *packed = malloc(packed_bytes);

    assert_non_null(pages);
    assert_non_null(packed);
    for (uint32_t i = 0; i < SAMPLE_PAGES; i++)
        build(pages + (size_t)i * PAGE_BYTES, &run, 16 + i, 1);
    assert_int_equal(compress2(packed, &packed_bytes, pages, SAMPLE_BYTES, 9), Z_OK);
    free(pages);
    free(packed);
    return (unsigned)(packed_bytes * 10000 / (SAMPLE_BYTES));
}

/* 5.3 % of a page are header, stamps and end of row, which zlib packs well. */
static void test_default_body_does_not_compress(void **state)
{
    (void)state;
    assert_in_range(zlib_share(0), 9400, 10100);
}

static void test_share_5000_compresses_to_about_half(void **state)
{
    (void)state;
    assert_in_range(zlib_share(5000), 4700, 5300);
}

static void test_share_10000_leaves_little(void **state)
{
    (void)state;
    assert_in_range(zlib_share(10000), 0, 800);
}

/* Words of the body that equal the word before them: all but the first of each sector's share. */
static unsigned repeated_words(uint16_t compressible)
{
    struct run_identity run = fixture_run(1, compressible);
    uint8_t page[PAGE_BYTES];
    unsigned count = 0;

    build(page, &run, 16, 1);
    for (size_t at = PAGE_BODY_OFFSET + 12; at < 8152; at += 8)
        count += at % 512 >= 24 && memcmp(page + at, page + at - 8, 8) == 0;
    return count;
}

/* The body is 40 + 14 x 62 + 58 = 966 words in 16 sectors: share c makes 966 c / 10000 of them
 * equal, 16 of those first ones.  Half of the first word of sector 0 belongs to the stamp, so its
 * second one is not counted; at 10000 neither is the last word of sector 15, which the end of the
 * row cuts. */
static void test_share_is_exact_to_a_word_a_page(void **state)
{
    (void)state;
    assert_int_equal(repeated_words(0), 0);
    assert_int_equal(repeated_words(5000), 966 / 2 - 17);
    assert_int_equal(repeated_words(10000), 966 - 18);
}

static int by_word(const void *a, const void *b)
{
    return memcmp(a, b, 8);
}

/* 128 images x 960 words: by chance two would be equal once in 2.4 billion runs. */
static void test_no_word_of_a_body_ever_repeats(void **state)
{
    enum { IMAGES = 128, WORDS = 16 * 60 };
    struct run_identity run = fixture_run(1, 0);
    uint8_t(*words)[8] = calloc((size_t)IMAGES * WORDS, 8);
    uint8_t sector[PAGE_SECTOR_BYTES];
    size_t count = 0;
    (void)state;
    assert_non_null(words);
    for (uint32_t image = 0; image < IMAGES; image++) {
        struct page_identity id = {1, 1, 1, 16 + image % 8, 1 + image / 8};
        for (unsigned s = 1; s < 15; s++) {
            page_regenerate_sector(sector, &run, &id, s);
            memcpy(words[count], sector + 32, 480);
            count += 60;
        }
    }
    qsort(words, count, 8, by_word);
    for (size_t i = 1; i < count; i++)
        assert_memory_not_equal(words[i - 1], words[i], 8);
    free(words);
}

/* --- sector stamps --- */

static void test_stamp_says_whose_the_sector_is(void **state)
{
    uint8_t page[PAGE_BYTES];
    struct run_identity run = fixture_run(1, 0);
    struct page_identity id = {0xBEEF, 1, 1, 0x7FFFFFFF, 0xAABB112233445566ull};
    struct sector_identity got;
    (void)state;
    page_fill(page, &run, &id, 0);
    for (unsigned s = 1; s < PAGE_SECTORS; s++) {
        assert_true(sector_stamp_read(page + (size_t)s * 512, &got));
        assert_int_equal(got.page_no, 0x7FFFFFFF);
        assert_int_equal(got.file_uid, 0xBEEF);
        assert_int_equal(got.run_tag, 0x5f33); /* golden, see above */
        assert_true(got.generation_low == 0x112233445566ull);
        assert_int_equal(got.sector, s);
    }
}

static void test_zero_sector_is_no_stamp(void **state)
{
    static const uint8_t sector[PAGE_SECTOR_BYTES];
    struct sector_identity got;
    (void)state;
    assert_false(sector_stamp_read(sector, &got));
}

static void test_any_flipped_bit_of_a_stamp_is_found(void **state)
{
    uint8_t page[PAGE_BYTES];
    struct sector_identity got;
    (void)state;
    build_default(page);
    for (unsigned bit = 0; bit < SECTOR_STAMP_BYTES * 8; bit++) {
        fixture_flip(page + 512, bit / 8, bit % 8);
        assert_false(sector_stamp_read(page + 512, &got));
        fixture_flip(page + 512, bit / 8, bit % 8);
    }
    assert_true(sector_stamp_read(page + 512, &got));
}

/* A 12-bit check lets one in 4,096 pass: 24.4 of 100,000 expected, 6 sigma = 30 more. */
static void test_random_bytes_rarely_look_like_a_stamp(void **state)
{
    uint64_t seed = fixture_seed(__func__);
    uint8_t sector[SECTOR_STAMP_BYTES];
    struct sector_identity got;
    unsigned passed = 0;
    (void)state;
    for (unsigned i = 0; i < 100000; i++) {
        fixture_random_bytes(&seed, sector, sizeof(sector));
        passed += sector_stamp_read(sector, &got);
    }
    assert_in_range(passed, 1, 55);
}

/* Random identities: what was written is read, whole, and by its own sectors. */
static void test_random_pages_pass_their_own_check(void **state)
{
    uint64_t seed = fixture_seed(__func__);
    uint8_t page[PAGE_BYTES];
    (void)state;
    for (unsigned long i = 0; i < test_scaled(2000); i++) {
        struct run_identity run = run_identity_make(run2_id, fixture_random(&seed),
                                                    (uint16_t)(fixture_random(&seed) % 10001));
        struct page_identity id = {(uint16_t)fixture_random(&seed), (uint16_t)fixture_random(&seed),
                                   (uint16_t)fixture_random(&seed), (uint32_t)fixture_random(&seed),
                                   fixture_random(&seed)};
        page_fill(page, &run, &id, (uint16_t)fixture_random(&seed));
        page_seal(page, (struct lsn){(uint32_t)fixture_random(&seed), 16, 1}, seed);
        assert_int_equal(page_check(page), PAGE_OK);
        const struct page_stamp *stamp = page_stamp_of(page);
        assert_true(stamp->generation == id.generation && stamp->page_no == id.page_no &&
                    stamp->file_uid == id.file_uid && stamp->incarnation == id.incarnation &&
                    stamp->compressible == run.compressible && stamp->body_seed == run.body_key);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_golden_first_page),
        cmocka_unit_test(test_golden_page_with_every_field_full),
        cmocka_unit_test(test_golden_page_that_compresses_whole),
        cmocka_unit_test(test_golden_page_that_compresses_a_little),
        cmocka_unit_test(test_golden_identity_of_a_run),
        cmocka_unit_test(test_first_fseq_stays_in_its_range),
        cmocka_unit_test(test_header_is_sql_server_s),
        cmocka_unit_test(test_row_fills_the_page_from_slot_0),
        cmocka_unit_test(test_seal_may_be_repeated),
        cmocka_unit_test(test_seal_writes_lsn_time_and_checks_only),
        cmocka_unit_test(test_protect_checksum_swaps_the_flags),
        cmocka_unit_test(test_sealed_page_is_ok),
        cmocka_unit_test(test_zero_page_is_named),
        cmocka_unit_test(test_page_of_sql_server_has_no_magic),
        cmocka_unit_test(test_any_flipped_bit_is_found),
        cmocka_unit_test(test_blind_spot_of_the_sql_checksum_is_found),
        cmocka_unit_test(test_damaged_header_under_a_right_checksum),
        cmocka_unit_test(test_damaged_body_leaves_the_header_believable),
        cmocka_unit_test(test_bytes_outside_the_header_crc_are_hashed),
        cmocka_unit_test(test_later_format_version_is_unknown_not_damaged),
        cmocka_unit_test(test_later_body_version_is_unknown_not_damaged),
        cmocka_unit_test(test_halves_of_two_generations_do_not_pass),
        cmocka_unit_test(test_is_zero_looks_at_every_byte),
        cmocka_unit_test(test_every_sector_regenerates_alone),
        cmocka_unit_test(test_compressible_sectors_regenerate_alone),
        cmocka_unit_test(test_body_depends_on_each_part_of_its_name),
        cmocka_unit_test(test_body_does_not_depend_on_incarnation_or_file_id),
        cmocka_unit_test(test_default_body_does_not_compress),
        cmocka_unit_test(test_share_5000_compresses_to_about_half),
        cmocka_unit_test(test_share_10000_leaves_little),
        cmocka_unit_test(test_share_is_exact_to_a_word_a_page),
        cmocka_unit_test(test_no_word_of_a_body_ever_repeats),
        cmocka_unit_test(test_stamp_says_whose_the_sector_is),
        cmocka_unit_test(test_zero_sector_is_no_stamp),
        cmocka_unit_test(test_any_flipped_bit_of_a_stamp_is_found),
        cmocka_unit_test(test_random_bytes_rarely_look_like_a_stamp),
        cmocka_unit_test(test_random_pages_pass_their_own_check),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
