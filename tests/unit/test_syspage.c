/*
 * test_syspage.c - system pages: places, images, maps, boot page, file header and mark.
 *
 * Golden vectors: printed by tests/golden/page_format.py.  Places and offsets: reference "SQL
 * Server storage I/O", sections 2 to 2.4.
 */
#include "tests/unit/page_fixture.h"

#include <errno.h>

#include "tests/scale.h"
#include "verify/syspage.h"
#include "verify/torn.h"

#define PAGES_16_TB 2147483648u /* 2^31: SQL Server's limit for a data file */
#define BITMAP      0xC2
#define PFS_BYTES   100
#define MARK_OFFSET 220
#define MARK_BYTES  79

static const struct lsn first_lsn = {50, 16, 1};
static const enum syspage_kind map_kinds[] = {SYSPAGE_GAM, SYSPAGE_SGAM, SYSPAGE_DIFF, SYSPAGE_ML,
                                              SYSPAGE_IAM};
#define MAP_KINDS (sizeof(map_kinds) / sizeof(map_kinds[0]))

static struct file_mark data_mark(void)
{
    struct file_mark mark = {
        .file_uid = 1,
        .incarnation = 1,
        .file_id = 1,
        .database_id = 5,
        .kind = FILE_KIND_DATA,
        .size_pages = 64,
        .sector_bytes = 512,
        .seed = 1,
    };
    memcpy(mark.run_id, fixture_run(1, 0).run_id, RUN_ID_BYTES);
    return mark;
}

static struct file_mark log_mark(void)
{
    static const uint8_t run_id[RUN_ID_BYTES] = {0xF0, 0xE1, 0xD2, 0xC3, 0xB4, 0xA5, 0x96, 0x87,
                                                 0x78, 0x69, 0x5A, 0x4B, 0x3C, 0x2D, 0x1E, 0x0F};
    struct file_mark mark = {
        .file_uid = 3,
        .incarnation = 2,
        .file_id = 2,
        .database_id = 7,
        .kind = FILE_KIND_LOG,
        .size_pages = 8191,
        .sector_bytes = 4096,
        .seed = 99,
        .compressible = 2500,
    };
    memcpy(mark.run_id, run_id, RUN_ID_BYTES);
    return mark;
}

static void build_header(void *page, const struct file_mark *mark)
{
    syspage_build_file_header(page, mark);
    syspage_seal(page, first_lsn);
}

/* --- golden vectors --- */

static void test_golden_data_file_header(void **state)
{
    uint8_t page[PAGE_BYTES];
    struct file_mark mark = data_mark();
    (void)state;
    build_header(page, &mark);
    assert_golden(page, "dca3858572baf549ba509c049d48504a99bbabb4d2672a918e8fcdd914465ad0");
}

static void test_golden_log_file_header(void **state)
{
    uint8_t page[PAGE_BYTES];
    struct file_mark mark = log_mark();
    (void)state;
    build_header(page, &mark);
    assert_golden(page, "e7163828464fc53dca4f8810da5a51b0a1ccc3c7a986020ec9c3bb75231637f8");
}

static void test_golden_boot_page(void **state)
{
    uint8_t page[PAGE_BYTES];
    struct file_mark mark = data_mark();
    (void)state;
    syspage_build_boot(page, &mark, "d\xC3\xBCrer \xF0\x9F\x92\xBE");
    boot_set_checkpoint(page, (struct lsn){51, 20, 2});
    syspage_seal(page, first_lsn);
    assert_golden(page, "411ba8b928d7dfbd72b6369c3046ac50e6adf800b0fdde2e4fed9131ca4392bc");
}

static void test_golden_pfs_pages(void **state)
{
    uint8_t page[PAGE_BYTES];
    (void)state;
    syspage_build_map(page, SYSPAGE_PFS, 1, 1);
    pfs_set(page, 0, PFS_BYTE_FULL);
    pfs_set(page, 8, PFS_BYTE_IAM);
    pfs_set(page, 8087, PFS_BYTE_FULL);
    syspage_seal(page, first_lsn);
    assert_golden(page, "ed4362f7305f1d8f0180cde7b3583eb5cfa98bc4fa279fd25ce1b6f91411400c");
    syspage_build_map(page, SYSPAGE_PFS, 8088, 1);
    pfs_set(page, 8088, PFS_BYTE_FULL);
    pfs_set(page, 16175, 0x61);
    syspage_seal(page, first_lsn);
    assert_golden(page, "c3246034369cabc3380b9df4722c046036fe872ad09456fe250e3eaa2ff9366b");
}

static void test_golden_gam_page(void **state)
{
    uint8_t page[PAGE_BYTES];
    (void)state;
    syspage_build_map(page, SYSPAGE_GAM, 2, 1);
    bitmap_set(page, 0, false);
    bitmap_set(page, 1, false);
    bitmap_set(page, 63903, false);
    syspage_seal(page, first_lsn);
    assert_golden(page, "cc9f6c7d4fc4ff49cd8527eae0794bc28e2da8e0f6bf9faa7c46ad4fe626aca3");
}

static void test_golden_sgam_page_of_the_second_interval(void **state)
{
    uint8_t page[PAGE_BYTES];
    (void)state;
    syspage_build_map(page, SYSPAGE_SGAM, 511233, 3);
    bitmap_set(page, 63904, true);
    bitmap_set(page, 63913, true);
    syspage_seal(page, first_lsn);
    assert_golden(page, "30bd9eef9da34fe279dbf836d4663483823b376fbbef796e8d3ff93d059fa0ca");
}

static void test_golden_diff_and_ml_pages(void **state)
{
    uint8_t page[PAGE_BYTES];
    (void)state;
    syspage_build_map(page, SYSPAGE_DIFF, 6, 1);
    bitmap_set(page, 7, true);
    bitmap_set(page, 8, true);
    syspage_seal(page, first_lsn);
    assert_golden(page, "989fe8b1335a649f80f585ea6dfef912f18e2f383395c33180110a2d6ff5715a");
    syspage_build_map(page, SYSPAGE_ML, 7, 1);
    syspage_seal(page, first_lsn);
    assert_golden(page, "efed7008a0e97a417bc6dab948e090307200070a904e53a06757c6d14c2194cb");
}

static void test_golden_iam_page_of_the_second_interval(void **state)
{
    uint8_t page[PAGE_BYTES];
    (void)state;
    syspage_build_map(page, SYSPAGE_IAM, 511240, 3);
    bitmap_set(page, 63904 + 12345, true);
    syspage_seal(page, first_lsn);
    assert_golden(page, "b50e785884cc84999e37ef87e3f7e61ea78b6bb452142f0ef8f70142e8ea822f");
}

/* --- places --- */

static void test_first_pages_of_a_primary_file(void **state)
{
    static const enum syspage_kind expected[] = {
        SYSPAGE_FILE_HEADER, SYSPAGE_PFS,      SYSPAGE_GAM,  SYSPAGE_SGAM,
        SYSPAGE_RESERVED,    SYSPAGE_RESERVED, SYSPAGE_DIFF, SYSPAGE_ML,
        SYSPAGE_IAM,         SYSPAGE_BOOT,     SYSPAGE_NONE,
    };
    (void)state;
    for (uint32_t page_no = 0; page_no < sizeof(expected) / sizeof(expected[0]); page_no++)
        assert_int_equal(syspage_kind(page_no, true), expected[page_no]);
}

static void test_secondary_file_has_no_boot_page(void **state)
{
    (void)state;
    assert_int_equal(syspage_kind(9, false), SYSPAGE_NONE);
    assert_int_equal(syspage_kind(8, false), SYSPAGE_IAM);
}

static void test_second_interval_starts_with_its_gam(void **state)
{
    (void)state;
    assert_int_equal(syspage_kind(511231, true), SYSPAGE_NONE);
    assert_int_equal(syspage_kind(511232, true), SYSPAGE_GAM);
    assert_int_equal(syspage_kind(511233, true), SYSPAGE_SGAM);
    assert_int_equal(syspage_kind(511236, true), SYSPAGE_NONE);
    assert_int_equal(syspage_kind(511238, true), SYSPAGE_DIFF);
    assert_int_equal(syspage_kind(511239, true), SYSPAGE_ML);
    assert_int_equal(syspage_kind(511240, true), SYSPAGE_IAM);
    assert_int_equal(syspage_kind(511241, true), SYSPAGE_NONE);
}

/* The table of the reference, section 2, written as it stands there. */
static enum syspage_kind naive_kind(uint32_t page_no)
{
    static const enum syspage_kind first[] = {
        SYSPAGE_FILE_HEADER, SYSPAGE_PFS,  SYSPAGE_GAM, SYSPAGE_SGAM, SYSPAGE_RESERVED,
        SYSPAGE_RESERVED,    SYSPAGE_DIFF, SYSPAGE_ML,  SYSPAGE_IAM,  SYSPAGE_BOOT,
    };
    static const enum syspage_kind later[] = {
        SYSPAGE_GAM,  SYSPAGE_SGAM, SYSPAGE_NONE, SYSPAGE_NONE, SYSPAGE_NONE,
        SYSPAGE_NONE, SYSPAGE_DIFF, SYSPAGE_ML,   SYSPAGE_IAM,
    };
    if (page_no < 10)
        return first[page_no];
    if (page_no % 8088 == 0)
        return SYSPAGE_PFS;
    return page_no >= 511232 && page_no % 511232 < 9 ? later[page_no % 511232] : SYSPAGE_NONE;
}

static void test_kinds_of_the_first_four_intervals(void **state)
{
    (void)state;
    for (uint32_t page_no = 0; page_no < 4 * 511232; page_no++)
        if (syspage_kind(page_no, true) != naive_kind(page_no))
            fail_msg("page %u", page_no);
}

static void test_kinds_of_random_pages_up_to_16_tb(void **state)
{
    uint64_t seed = fixture_seed(__func__);
    (void)state;
    for (unsigned long i = 0; i < test_scaled(1000000); i++) {
        uint32_t page_no = (uint32_t)(fixture_random(&seed) % PAGES_16_TB);
        if (syspage_kind(page_no, true) != naive_kind(page_no))
            fail_msg("page %u", page_no);
    }
}

static void test_every_pfs_page_up_to_16_tb_covers_8088_pages(void **state)
{
    (void)state;
    assert_int_equal(syspage_pfs_of(0), 1);
    assert_int_equal(syspage_pfs_of(8087), 1);
    for (uint32_t page_no = 8088; page_no < PAGES_16_TB; page_no += 8088) {
        bool right = syspage_kind(page_no, true) == SYSPAGE_PFS &&
                     syspage_pfs_of(page_no) == page_no &&
                     syspage_pfs_of(page_no + 8087) == page_no &&
                     syspage_pfs_of(page_no - 1) == (page_no == 8088 ? 1 : page_no - 8088);
        if (!right)
            fail_msg("PFS page %u", page_no);
    }
}

/* 511,232 = 8 x 63,904 and 8,088 = 8 x 1,011, coprime but for the 8: a PFS page falls on interval
 * start + 0 when 63,904 k = 0 (mod 1,011), k = 1,011, 2,022, ...; on start + 8 when 63,904 k = -1,
 * k = 896, 1,907, ...: 63,904 = 211 and 211 x 896 = 189,056 = 187 x 1,011 - 1. */
static bool map_is_missing(uint32_t interval, enum syspage_kind kind)
{
    return (kind == SYSPAGE_GAM && interval > 0 && interval % 1011 == 0) ||
           (kind == SYSPAGE_IAM && interval % 1011 == 896);
}

static void test_interval_pages_agree_with_kinds_in_all_intervals(void **state)
{
    static const uint32_t later[] = {0, 1, 6, 7, 8};
    static const uint32_t first[] = {2, 3, 6, 7, 8};
    (void)state;
    for (uint32_t k = 0; k <= (PAGES_16_TB - 1) / 511232; k++) {
        for (size_t i = 0; i < MAP_KINDS; i++) {
            uint32_t place = k * 511232 + (k == 0 ? first[i] : later[i]);
            uint32_t found = syspage_interval_page(k * 511232 + 511231, map_kinds[i]);
            assert_int_equal(syspage_interval_page(k * 511232, map_kinds[i]), found);
            if (map_is_missing(k, map_kinds[i])) {
                assert_int_equal(found, SYSPAGE_NO_PAGE);
                assert_int_equal(syspage_kind(place, true), SYSPAGE_PFS);
            } else {
                assert_int_equal(found, place);
                assert_int_equal(syspage_kind(place, true), map_kinds[i]);
            }
        }
    }
}

static void test_kinds_without_an_interval_have_no_page(void **state)
{
    (void)state;
    assert_int_equal(syspage_interval_page(100, SYSPAGE_BOOT), SYSPAGE_NO_PAGE);
    assert_int_equal(syspage_interval_page(100, SYSPAGE_NONE), SYSPAGE_NO_PAGE);
}

/* --- maps --- */

static void test_fresh_gam_says_everything_is_free(void **state)
{
    uint8_t page[PAGE_BYTES];
    (void)state;
    syspage_build_map(page, SYSPAGE_GAM, 2, 1);
    for (uint32_t extent = 0; extent < 63904; extent++)
        assert_true(bitmap_get(page, extent));
}

static void test_other_fresh_maps_are_clear(void **state)
{
    uint8_t page[PAGE_BYTES];
    (void)state;
    for (size_t i = 1; i < MAP_KINDS; i++) {
        syspage_build_map(page, map_kinds[i], syspage_interval_page(0, map_kinds[i]), 1);
        for (uint32_t extent = 0; extent < 63904; extent++)
            assert_false(bitmap_get(page, extent));
    }
}

static void test_fresh_pfs_says_nothing_is_allocated(void **state)
{
    uint8_t page[PAGE_BYTES];
    (void)state;
    syspage_build_map(page, SYSPAGE_PFS, 8088, 1);
    for (uint32_t page_no = 8088; page_no < 2 * 8088; page_no++)
        assert_int_equal(pfs_get(page, page_no), 0);
}

/* reference, section 2.2: freeData 8182, freeCnt 6, rows at 0x60 and 0xBE; PFS one row */
static void test_shape_of_maps_is_sql_server_s(void **state)
{
    uint8_t page[PAGE_BYTES];
    static const uint8_t pfs_row[] = {0, 0, 0x9C, 0x1F};
    static const uint8_t map_row[] = {0, 0, 0x38, 0x1F};
    (void)state;
    syspage_build_map(page, SYSPAGE_DIFF, 6, 1);
    assert_int_equal(page_header_of(page)->free_data, 8182);
    assert_int_equal(page_header_of(page)->free_count, 6);
    assert_int_equal(page_header_of(page)->slot_count, 2);
    assert_memory_equal(page + 0xBE, map_row, sizeof(map_row));
    syspage_build_map(page, SYSPAGE_PFS, 1, 1);
    assert_memory_equal(page + 0x60, pfs_row, sizeof(pfs_row));
}

/* Extent e of the interval is bit e % 8 of byte 0xC2 + e / 8. */
static void test_bit_of_an_extent_stands_where_sql_server_has_it(void **state)
{
    uint8_t page[PAGE_BYTES];
    uint8_t expected[PAGE_BYTES];
    (void)state;
    syspage_build_map(page, SYSPAGE_IAM, 511240, 1);
    memcpy(expected, page, sizeof(expected));
    for (uint32_t extent = 0; extent < 63904; extent += 311) {
        bitmap_set(page, 63904 + extent, true);
        expected[BITMAP + extent / 8] |= (uint8_t)(1u << extent % 8);
        assert_memory_equal(page, expected, sizeof(expected));
    }
}

static void test_clearing_a_bit_clears_only_it(void **state)
{
    uint8_t page[PAGE_BYTES];
    (void)state;
    syspage_build_map(page, SYSPAGE_GAM, 2, 1);
    bitmap_set(page, 10, false);
    assert_int_equal(page[BITMAP + 1], 0xFB);
    bitmap_set(page, 10, true);
    assert_int_equal(page[BITMAP + 1], 0xFF);
}

static void test_pfs_byte_of_a_page_stands_where_sql_server_has_it(void **state)
{
    uint8_t page[PAGE_BYTES];
    (void)state;
    syspage_build_map(page, SYSPAGE_PFS, 8088, 1);
    pfs_set(page, 8088, 0x44);
    pfs_set(page, 2 * 8088 - 1, 0x61);
    assert_int_equal(page[PFS_BYTES], 0x44);
    assert_int_equal(page[PFS_BYTES + 8087], 0x61);
    assert_int_equal(pfs_get(page, 2 * 8088 - 1), 0x61);
}

/* --- boot page --- */

static void test_boot_page_says_2017(void **state)
{
    uint8_t page[PAGE_BYTES];
    struct file_mark mark = data_mark();
    static const uint8_t versions[] = {0x65, 0x03, 0x65, 0x03}; /* 869 twice */
    (void)state;
    syspage_build_boot(page, &mark, "db");
    assert_memory_equal(page + 0x64, versions, sizeof(versions));
    assert_int_equal(page[0x198], 5);
}

static void test_boot_checkpoint_is_at_0x1bc(void **state)
{
    uint8_t page[PAGE_BYTES];
    struct file_mark mark = data_mark();
    static const uint8_t bytes[] = {4, 3, 2, 1, 8, 7, 6, 5, 10, 9};
    struct lsn lsn = {0x01020304, 0x05060708, 0x090A};
    (void)state;
    syspage_build_boot(page, &mark, "db");
    assert_true(lsn_is_zero(boot_get_checkpoint(page)));
    boot_set_checkpoint(page, lsn);
    assert_memory_equal(page + 0x1BC, bytes, sizeof(bytes));
    assert_int_equal(lsn_compare(boot_get_checkpoint(page), lsn), 0);
}

static void name_is(const char *name, const void *utf16, size_t utf16_bytes)
{
    uint8_t page[PAGE_BYTES];
    struct file_mark mark = data_mark();
    syspage_build_boot(page, &mark, name);
    assert_memory_equal(page + 0x94, utf16, utf16_bytes);
    for (size_t at = utf16_bytes; at < 256; at++)
        assert_int_equal(page[0x94 + at], 0x20);
}

static void test_boot_name_is_utf16(void **state)
{
    (void)state;
    name_is("ab", "a\0b", 4);
    name_is("\xC3\xBC", "\xFC\x00", 2);                 /* U+00FC */
    name_is("\xE2\x82\xAC", "\xAC\x20", 2);             /* U+20AC */
    name_is("\xF0\x9F\x92\xBE", "\x3D\xD8\xBE\xDC", 4); /* U+1F4BE */
    name_is("", "", 0);
}

static void test_boot_name_that_is_not_utf8_is_replaced(void **state)
{
    (void)state;
    name_is("\xFF"
            "a",
            "\xFD\xFF"
            "a",
            4);
    name_is("\xC3", "\xFD\xFF", 2);                                     /* cut short */
    name_is("\xC0\x80", "\xFD\xFF\xFD\xFF", 4);                         /* overlong */
    name_is("\xED\xA0\x80", "\xFD\xFF\xFD\xFF\xFD\xFF", 6);             /* a surrogate */
    name_is("\xF4\x90\x80\x80", "\xFD\xFF\xFD\xFF\xFD\xFF\xFD\xFF", 8); /* beyond U+10FFFF */
}

static void test_boot_name_is_cut_at_a_whole_character(void **state)
{
    char name[127 + 4 + 1] = {0};
    uint8_t expected[254];
    (void)state;
    memset(name, 'x', 127);
    memcpy(name + 127, "\xF0\x9F\x92\xBE", 5); /* needs 4 bytes, 2 are left */
    for (unsigned i = 0; i < sizeof(expected); i++)
        expected[i] = i % 2 == 0 ? 'x' : 0;
    name_is(name, expected, sizeof(expected));
}

/* --- syspage_check --- */

static void test_system_page_passes_at_its_own_place_only(void **state)
{
    uint8_t page[PAGE_BYTES];
    (void)state;
    syspage_build_map(page, SYSPAGE_GAM, 2, 1);
    syspage_seal(page, first_lsn);
    assert_true(syspage_check(page, SYSPAGE_GAM, 2, 1));
    assert_false(syspage_check(page, SYSPAGE_SGAM, 2, 1));
    assert_false(syspage_check(page, SYSPAGE_GAM, 511232, 1));
    assert_false(syspage_check(page, SYSPAGE_GAM, 2, 3));
}

static void test_flipped_bit_of_a_system_page_is_found(void **state)
{
    uint8_t page[PAGE_BYTES];
    (void)state;
    syspage_build_map(page, SYSPAGE_PFS, 1, 1);
    syspage_seal(page, first_lsn);
    for (unsigned at = 0; at < PAGE_BYTES; at++) {
        fixture_flip(page, at, at % 8);
        assert_false(syspage_check(page, SYSPAGE_PFS, 1, 1));
        fixture_flip(page, at, at % 8);
    }
    assert_true(syspage_check(page, SYSPAGE_PFS, 1, 1));
}

static void test_seal_sets_the_lsn(void **state)
{
    uint8_t page[PAGE_BYTES];
    (void)state;
    syspage_build_map(page, SYSPAGE_ML, 7, 1);
    syspage_seal(page, (struct lsn){7, 8, 9});
    assert_int_equal(lsn_compare(page_lsn(page), (struct lsn){7, 8, 9}), 0);
}

static void test_reserved_page_must_be_zero(void **state)
{
    uint8_t page[PAGE_BYTES] = {0};
    (void)state;
    assert_true(syspage_check(page, SYSPAGE_RESERVED, 4, 1));
    page[8191] = 1;
    assert_false(syspage_check(page, SYSPAGE_RESERVED, 4, 1));
}

/* --- file header and mark --- */

static void mark_survives(const struct file_mark *mark)
{
    uint8_t page[PAGE_BYTES];
    struct file_mark got;

    build_header(page, mark);
    assert_int_equal(file_mark_read(page, &got), 0);
    assert_memory_equal(got.run_id, mark->run_id, RUN_ID_BYTES);
    assert_int_equal(got.file_uid, mark->file_uid);
    assert_int_equal(got.incarnation, mark->incarnation);
    assert_int_equal(got.file_id, mark->file_id);
    assert_int_equal(got.database_id, mark->database_id);
    assert_int_equal(got.kind, mark->kind);
    assert_int_equal(got.size_pages, mark->size_pages);
    assert_int_equal(got.sector_bytes, mark->sector_bytes);
    assert_true(got.seed == mark->seed);
    assert_int_equal(got.compressible, mark->compressible);
}

static void test_mark_of_a_data_file_is_read_back(void **state)
{
    struct file_mark mark = data_mark();
    (void)state;
    mark_survives(&mark);
}

static void test_mark_of_a_log_file_is_read_back(void **state)
{
    struct file_mark mark = log_mark();
    (void)state;
    mark_survives(&mark);
}

static void test_header_of_a_file_says_size_and_sector(void **state)
{
    uint8_t page[PAGE_BYTES];
    struct file_mark mark = log_mark();
    struct file_header_info info;
    (void)state;
    build_header(page, &mark);
    assert_true(file_header_read(page, &info));
    assert_int_equal(info.file_id, 2);
    assert_int_equal(info.size_pages, 8191);
    assert_int_equal(info.sector_bytes, 4096);
}

/* A header as SQL Server leaves it: ours without the second row. */
static void foreign_header(void *page)
{
    struct file_mark mark = data_mark();
    struct page_header *header = page;

    syspage_build_file_header(page, &mark);
    memset((uint8_t *)page + MARK_OFFSET, 0, MARK_BYTES);
    memset((uint8_t *)page + PAGE_BYTES - 4, 0, 2);
    header->slot_count = 1;
    page_protect_checksum(page);
}

static void test_sound_header_without_mark_is_foreign(void **state)
{
    uint8_t page[PAGE_BYTES];
    struct file_mark got;
    (void)state;
    foreign_header(page);
    assert_int_equal(file_mark_read(page, &got), -ENOENT);
}

static void test_foreign_header_with_torn_bits_is_foreign(void **state)
{
    uint8_t page[PAGE_BYTES];
    struct file_mark got;
    struct file_header_info info;
    (void)state;
    foreign_header(page);
    torn_protect(page, 2);
    assert_int_equal(file_mark_read(page, &got), -ENOENT);
    assert_true(file_header_read(page, &info));
    assert_int_equal(info.size_pages, 64);
}

static void test_unprotected_foreign_header_is_foreign(void **state)
{
    uint8_t page[PAGE_BYTES];
    struct file_mark got;
    (void)state;
    foreign_header(page);
    ((struct page_header *)page)->flags = 0;
    assert_int_equal(file_mark_read(page, &got), -ENOENT);
}

static void test_damaged_foreign_header_is_not_taken_for_ours(void **state)
{
    uint8_t page[PAGE_BYTES];
    struct file_mark got;
    (void)state;
    foreign_header(page);
    fixture_flip(page, 5000, 0);
    assert_int_equal(file_mark_read(page, &got), -EINVAL);
}

static void test_mark_of_a_later_version_is_foreign(void **state)
{
    uint8_t page[PAGE_BYTES];
    struct file_mark mark = data_mark();
    struct file_mark got;
    (void)state;
    syspage_build_file_header(page, &mark);
    memcpy(page + MARK_OFFSET + 4, "PAGESTORM/2", 11);
    fixture_flip(page, MARK_OFFSET + 30, 0); /* what it holds is not for version 1 to know */
    page_protect_checksum(page);
    assert_int_equal(file_mark_read(page, &got), -ENOENT);
}

static void test_zero_page_is_no_file_header(void **state)
{
    static const uint8_t page[PAGE_BYTES];
    struct file_mark got;
    struct file_header_info info;
    (void)state;
    assert_int_equal(file_mark_read(page, &got), -EINVAL);
    assert_false(file_header_read(page, &info));
}

static void test_data_page_is_no_file_header(void **state)
{
    uint8_t page[PAGE_BYTES];
    struct run_identity run = fixture_run(1, 0);
    struct page_identity id = {1, 1, 1, 0, 1};
    struct file_mark got;
    (void)state;
    page_fill(page, &run, &id, 0);
    page_seal(page, first_lsn, 0);
    assert_int_equal(file_mark_read(page, &got), -EINVAL);
}

static void test_random_bytes_are_no_file_header(void **state)
{
    uint64_t seed = fixture_seed(__func__);
    uint8_t page[PAGE_BYTES];
    struct file_mark got;
    (void)state;
    for (unsigned long i = 0; i < test_scaled(500); i++) {
        fixture_random_bytes(&seed, page, sizeof(page));
        assert_int_equal(file_mark_read(page, &got), -EINVAL);
    }
}

static void test_any_flipped_bit_of_an_own_header_is_damage(void **state)
{
    uint8_t page[PAGE_BYTES];
    struct file_mark mark = data_mark();
    struct file_mark got;
    (void)state;
    build_header(page, &mark);
    for (unsigned bit = 0; bit < 400 * 8; bit++) {
        fixture_flip(page, bit / 8, bit % 8);
        assert_int_equal(file_mark_read(page, &got), -EBADMSG);
        fixture_flip(page, bit / 8, bit % 8);
    }
    for (unsigned at = 400; at < PAGE_BYTES; at++) {
        fixture_flip(page, at, at % 8);
        assert_int_equal(file_mark_read(page, &got), -EBADMSG);
        fixture_flip(page, at, at % 8);
    }
    assert_int_equal(file_mark_read(page, &got), 0);
}

/* The hash of the mark finds what a page checksum that happens to be right does not. */
static void test_damaged_mark_under_a_right_checksum_is_damage(void **state)
{
    uint8_t page[PAGE_BYTES];
    struct file_mark mark = data_mark();
    struct file_mark got;
    (void)state;
    build_header(page, &mark);
    for (unsigned at = MARK_OFFSET; at < MARK_OFFSET + 76; at++) {
        fixture_flip(page, at, 2);
        page_protect_checksum(page);
        assert_int_equal(file_mark_read(page, &got), -EBADMSG);
        fixture_flip(page, at, 2);
    }
}

static void test_mark_that_contradicts_the_header_is_damage(void **state)
{
    uint8_t page[PAGE_BYTES];
    uint8_t other[PAGE_BYTES];
    struct file_mark mark = data_mark();
    struct file_mark got;
    (void)state;
    build_header(page, &mark);
    mark.size_pages++;
    build_header(other, &mark);
    memcpy(page + MARK_OFFSET, other + MARK_OFFSET, MARK_BYTES);
    page_protect_checksum(page);
    assert_int_equal(file_mark_read(page, &got), -EBADMSG);
}

/* Lengths and offsets of the row that point anywhere: no crash (sanitizers), no wrong answer. */
static void test_scrambled_row_lengths_are_survived(void **state)
{
    uint64_t seed = fixture_seed(__func__);
    uint8_t page[PAGE_BYTES];
    struct file_mark got;
    struct file_header_info info;
    (void)state;
    for (unsigned long i = 0; i < test_scaled(20000); i++) {
        foreign_header(page);
        for (unsigned n = 0; n < 3; n++) {
            unsigned at = 96 + fixture_random(&seed) % 66;
            if (fixture_random(&seed) % 4 == 0)
                at = PAGE_BYTES - 2 + fixture_random(&seed) % 2;
            page[at] = (uint8_t)fixture_random(&seed);
        }
        page_protect_checksum(page);
        bool header = file_header_read(page, &info);
        assert_int_equal(file_mark_read(page, &got), header ? -ENOENT : -EINVAL);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_golden_data_file_header),
        cmocka_unit_test(test_golden_log_file_header),
        cmocka_unit_test(test_golden_boot_page),
        cmocka_unit_test(test_golden_pfs_pages),
        cmocka_unit_test(test_golden_gam_page),
        cmocka_unit_test(test_golden_sgam_page_of_the_second_interval),
        cmocka_unit_test(test_golden_diff_and_ml_pages),
        cmocka_unit_test(test_golden_iam_page_of_the_second_interval),
        cmocka_unit_test(test_first_pages_of_a_primary_file),
        cmocka_unit_test(test_secondary_file_has_no_boot_page),
        cmocka_unit_test(test_second_interval_starts_with_its_gam),
        cmocka_unit_test(test_kinds_of_the_first_four_intervals),
        cmocka_unit_test(test_kinds_of_random_pages_up_to_16_tb),
        cmocka_unit_test(test_every_pfs_page_up_to_16_tb_covers_8088_pages),
        cmocka_unit_test(test_interval_pages_agree_with_kinds_in_all_intervals),
        cmocka_unit_test(test_kinds_without_an_interval_have_no_page),
        cmocka_unit_test(test_fresh_gam_says_everything_is_free),
        cmocka_unit_test(test_other_fresh_maps_are_clear),
        cmocka_unit_test(test_fresh_pfs_says_nothing_is_allocated),
        cmocka_unit_test(test_shape_of_maps_is_sql_server_s),
        cmocka_unit_test(test_bit_of_an_extent_stands_where_sql_server_has_it),
        cmocka_unit_test(test_clearing_a_bit_clears_only_it),
        cmocka_unit_test(test_pfs_byte_of_a_page_stands_where_sql_server_has_it),
        cmocka_unit_test(test_boot_page_says_2017),
        cmocka_unit_test(test_boot_checkpoint_is_at_0x1bc),
        cmocka_unit_test(test_boot_name_is_utf16),
        cmocka_unit_test(test_boot_name_that_is_not_utf8_is_replaced),
        cmocka_unit_test(test_boot_name_is_cut_at_a_whole_character),
        cmocka_unit_test(test_system_page_passes_at_its_own_place_only),
        cmocka_unit_test(test_flipped_bit_of_a_system_page_is_found),
        cmocka_unit_test(test_seal_sets_the_lsn),
        cmocka_unit_test(test_reserved_page_must_be_zero),
        cmocka_unit_test(test_mark_of_a_data_file_is_read_back),
        cmocka_unit_test(test_mark_of_a_log_file_is_read_back),
        cmocka_unit_test(test_header_of_a_file_says_size_and_sector),
        cmocka_unit_test(test_sound_header_without_mark_is_foreign),
        cmocka_unit_test(test_foreign_header_with_torn_bits_is_foreign),
        cmocka_unit_test(test_unprotected_foreign_header_is_foreign),
        cmocka_unit_test(test_damaged_foreign_header_is_not_taken_for_ours),
        cmocka_unit_test(test_mark_of_a_later_version_is_foreign),
        cmocka_unit_test(test_zero_page_is_no_file_header),
        cmocka_unit_test(test_data_page_is_no_file_header),
        cmocka_unit_test(test_random_bytes_are_no_file_header),
        cmocka_unit_test(test_any_flipped_bit_of_an_own_header_is_damage),
        cmocka_unit_test(test_damaged_mark_under_a_right_checksum_is_damage),
        cmocka_unit_test(test_mark_that_contradicts_the_header_is_damage),
        cmocka_unit_test(test_scrambled_row_lengths_are_survived),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
