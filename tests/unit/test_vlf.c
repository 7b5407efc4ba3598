/* test_vlf.c - layout of log files and the VLF header (reference, sections 4.2 and 4.5). */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "verify/logblk.h"
#include "verify/vlf.h"

#define KIB 1024ull
#define MIB (1024 * KIB)
#define GIB (1024 * MIB)

static void expect_layout(uint64_t file_bytes, const unsigned *kib, size_t count)
{
    struct vlf_header vlfs[VLF_MAX];
    uint64_t offset = 8192;
    assert_int_equal(vlf_layout(file_bytes, vlfs), count);
    for (size_t i = 0; i < count; i++) {
        assert_int_equal(vlfs[i].offset, offset);
        assert_int_equal(vlfs[i].size_bytes, kib[i] * KIB);
        assert_int_equal(vlfs[i].fseq, 0);
        assert_int_equal(vlfs[i].use_count, 0);
        offset += vlfs[i].size_bytes;
    }
}

/* The sizes seen in real files: reference, section 4.5. */
static void real_small_files_have_these_layouts(void **state)
{
    (void)state;
    expect_layout(504 * KIB, (const unsigned[]){248, 248}, 2);
    expect_layout(1 * MIB, (const unsigned[]){248, 248, 248, 272}, 4);
    expect_layout(2 * MIB, (const unsigned[]){448, 448, 448, 696}, 4);
}

/* 784 KiB -> 3 (reference, section 4.5, which gives no sizes). */
static void real_file_of_784_kib_has_three(void **state)
{
    (void)state;
    struct vlf_header vlfs[VLF_MAX];
    assert_int_equal(vlf_layout(784 * KIB, vlfs), 3);
}

static void number_of_vlfs_follows_the_size_of_the_file(void **state)
{
    (void)state;
    struct vlf_header vlfs[VLF_MAX];
    assert_int_equal(vlf_layout(64 * MIB, vlfs), 4);
    assert_int_equal(vlf_layout(64 * MIB + 8 * KIB, vlfs), 8);
    assert_int_equal(vlf_layout(1 * GIB, vlfs), 8);
    assert_int_equal(vlf_layout(1 * GIB + 8 * KIB, vlfs), 16);
    assert_int_equal(vlf_layout(2048 * GIB, vlfs), 16);
}

static void file_that_cannot_hold_two_vlfs_is_refused(void **state)
{
    (void)state;
    struct vlf_header vlfs[VLF_MAX];
    assert_int_equal(vlf_layout(0, vlfs), 0);
    assert_int_equal(vlf_layout(8192, vlfs), 0);
    assert_int_equal(vlf_layout(504 * KIB - 1, vlfs), 0);
}

static void vlfs_cover_the_file_back_to_back(void **state)
{
    (void)state;
    struct vlf_header vlfs[VLF_MAX];
    for (uint64_t size = 504 * KIB; size < 3 * GIB; size = size * 9 / 8 + 4096) {
        size_t count = vlf_layout(size, vlfs);
        uint64_t end = 8192;
        assert_in_range(count, 2, 16);
        for (size_t i = 0; i < count; i++) {
            assert_int_equal(vlfs[i].offset, end);
            assert_int_equal(vlfs[i].size_bytes % 8192, 0);
            assert_true(vlfs[i].size_bytes >= 248 * KIB);
            end += vlfs[i].size_bytes;
        }
        assert_int_equal(end, size / 8192 * 8192);
    }
}

static void parity_flips_with_every_use(void **state)
{
    (void)state;
    assert_int_equal(vlf_parity(0), 0);
    assert_int_equal(vlf_parity(1), 0x40);
    assert_int_equal(vlf_parity(2), 0x80);
    assert_int_equal(vlf_parity(3), 0x40);
    assert_int_equal(vlf_parity(UINT32_MAX), 0x40);
}

static struct vlf_header sample(void)
{
    return (struct vlf_header){.offset = 0x40000,
                               .size_bytes = 0x3E000,
                               .fseq = 0x01020304,
                               .use_count = 6,
                               .create_lsn = {0x11121314, 0x21222324, 0x3132}};
}

/* Offsets of the reference, section 4.2. */
static void header_has_its_fields_where_sql_server_has_them(void **state)
{
    (void)state;
    static const uint8_t expected[0x2A] = {
        0xAB, 0x80, 5, 0,    0x04, 0x03, 0x02, 0x01, 0,    0,    0,    0,    6,    0,
        0,    0,    0, 0xE0, 3,    0,    0,    0,    0,    0,    0,    0,    4,    0,
        0,    0,    0, 0,    0x14, 0x13, 0x12, 0x11, 0x24, 0x23, 0x22, 0x21, 0x32, 0x31};
    uint8_t buf[VLF_HEADER_BYTES];
    struct vlf_header vlf = sample();
    memset(buf, 0xFF, sizeof(buf));
    vlf_header_build(buf, &vlf);
    assert_memory_equal(buf, expected, sizeof(expected));
    for (size_t i = sizeof(expected); i < sizeof(buf); i++)
        assert_int_equal(buf[i], 0);
}

static void header_reads_back_as_it_was_built(void **state)
{
    (void)state;
    uint8_t buf[VLF_HEADER_BYTES];
    struct vlf_header vlf = sample(), got;
    vlf_header_build(buf, &vlf);
    assert_int_equal(vlf_header_parse(buf, vlf.offset, &got), 0);
    assert_int_equal(got.offset, vlf.offset);
    assert_int_equal(got.size_bytes, vlf.size_bytes);
    assert_int_equal(got.fseq, vlf.fseq);
    assert_int_equal(got.use_count, vlf.use_count);
    assert_int_equal(lsn_compare(got.create_lsn, vlf.create_lsn), 0);
    assert_int_equal(got.parity, 0x80);
    assert_int_equal(got.format, 5);
}

static int parse_with_byte(size_t at, uint8_t value)
{
    uint8_t buf[VLF_HEADER_BYTES];
    struct vlf_header vlf = sample(), got;
    vlf_header_build(buf, &vlf);
    buf[at] = value;
    return vlf_header_parse(buf, vlf.offset, &got);
}

static void header_without_signature_is_none(void **state)
{
    (void)state;
    assert_int_equal(parse_with_byte(0, 0xAA), -EINVAL);
    assert_int_equal(parse_with_byte(0, 0), -EINVAL);
}

static void header_that_contradicts_itself_is_refused(void **state)
{
    (void)state;
    assert_int_equal(parse_with_byte(0x01, 0x40), -EBADMSG); /* parity of an odd use */
    assert_int_equal(parse_with_byte(0x01, 0xC0), -EBADMSG);
    assert_int_equal(parse_with_byte(0x0C, 7), -EBADMSG); /* use counter against parity */
    assert_int_equal(parse_with_byte(0x02, 0), -EBADMSG); /* format 0 */
    assert_int_equal(parse_with_byte(0x10, 1), -EBADMSG); /* size no multiple of 8 KiB */
    assert_int_equal(parse_with_byte(0x1A, 5), -EBADMSG); /* offset of another VLF */
}

static void vlf_that_ends_behind_the_largest_offset_is_refused(void **state)
{
    (void)state;
    uint8_t buf[VLF_HEADER_BYTES];
    struct vlf_header vlf = sample(), got;
    vlf.size_bytes = UINT64_MAX - 8191;
    vlf_header_build(buf, &vlf);
    assert_int_equal(vlf_header_parse(buf, vlf.offset, &got), -EBADMSG);
}

static void vlf_without_room_for_a_block_is_refused(void **state)
{
    (void)state;
    uint8_t buf[VLF_HEADER_BYTES];
    struct vlf_header vlf = sample(), got;
    vlf.size_bytes = 8192;
    vlf_header_build(buf, &vlf);
    assert_int_equal(vlf_header_parse(buf, vlf.offset, &got), -EBADMSG);
    vlf.size_bytes = 0;
    vlf_header_build(buf, &vlf);
    assert_int_equal(vlf_header_parse(buf, vlf.offset, &got), -EBADMSG);
}

/* Real files have used VLFs whose use counter is 0 (reference, 4.2: 145 of 145 "with a nonzero
 * counter"); then the stored parity counts. */
static void use_that_was_not_counted_keeps_its_stored_parity(void **state)
{
    (void)state;
    uint8_t buf[VLF_HEADER_BYTES];
    struct vlf_header vlf = sample(), got;
    vlf.use_count = 0;
    vlf_header_build(buf, &vlf);
    assert_int_equal(vlf_header_parse(buf, vlf.offset, &got), -EBADMSG);
    buf[1] = LOG_PARITY_ODD;
    assert_int_equal(vlf_header_parse(buf, vlf.offset, &got), 0);
    assert_int_equal(got.parity, LOG_PARITY_ODD);
}

/* ---- growth: reference, section 4.5 ---- */

static void expect_growth(enum vlf_rule rule, uint64_t log_bytes, uint64_t growth_bytes,
                          size_t count, uint64_t first_bytes)
{
    struct vlf_header vlfs[VLF_MAX];
    struct vlf_growth growth = {.rule = rule,
                                .file_bytes = log_bytes,
                                .log_bytes = log_bytes,
                                .growth_bytes = growth_bytes,
                                .create_lsn = {77, 16, 1}};
    uint64_t offset = log_bytes;
    assert_int_equal(vlf_layout_growth(&growth, vlfs), count);
    assert_int_equal(vlfs[0].size_bytes, first_bytes);
    for (size_t i = 0; i < count; i++) {
        assert_int_equal(vlfs[i].offset, offset);
        assert_int_equal(vlfs[i].create_lsn.fseq, 77);
        assert_int_equal(vlfs[i].fseq, 0);
        offset += vlfs[i].size_bytes;
    }
    assert_int_equal(offset, log_bytes + growth_bytes);
}

static void to_2012_a_growth_is_cut_by_its_size(void **state)
{
    (void)state;
    expect_growth(VLF_RULE_CLASSIC, 1 * GIB, 64 * MIB, 4, 16 * MIB);
    expect_growth(VLF_RULE_CLASSIC, 1 * GIB, 64 * MIB + 64 * KIB, 8, 8 * MIB);
    expect_growth(VLF_RULE_CLASSIC, 64 * GIB, 1 * GIB, 8, 128 * MIB);
    expect_growth(VLF_RULE_CLASSIC, 64 * GIB, 1 * GIB + 64 * KIB, 16, 64 * MIB);
}

static void from_2014_less_than_an_eighth_of_the_log_is_one(void **state)
{
    (void)state;
    expect_growth(VLF_RULE_2014, 1 * GIB, 128 * MIB - 64 * KIB, 1, 128 * MIB - 64 * KIB);
    expect_growth(VLF_RULE_2014, 1 * GIB, 128 * MIB, 8, 16 * MIB);
    expect_growth(VLF_RULE_2014, 64 * MIB, 64 * MIB, 4, 16 * MIB);
    expect_growth(VLF_RULE_2014, 1 * GIB, 2 * GIB, 16, 128 * MIB);
}

static void in_2022_up_to_64_mib_are_one(void **state)
{
    (void)state;
    expect_growth(VLF_RULE_2022, 8 * MIB, 64 * MIB, 1, 64 * MIB);
    expect_growth(VLF_RULE_2022, 8 * MIB, 64 * MIB + 64 * KIB, 8, 8 * MIB);
    expect_growth(VLF_RULE_2022, 1 * GIB, 100 * MIB, 1, 100 * MIB);
}

/* Growths under 512 KiB made one VLF; a VLF is at least 248 KiB. */
static void small_growths_make_few(void **state)
{
    (void)state;
    struct vlf_header vlfs[VLF_MAX];
    struct vlf_growth none = {.file_bytes = MIB, .log_bytes = MIB, .growth_bytes = 240 * KIB};
    expect_growth(VLF_RULE_CLASSIC, 1 * MIB, 448 * KIB, 1, 448 * KIB);
    expect_growth(VLF_RULE_CLASSIC, 1 * MIB, 512 * KIB, 2, 248 * KIB);
    expect_growth(VLF_RULE_CLASSIC, 1 * MIB, 1 * MIB, 4, 256 * KIB);
    assert_int_equal(vlf_layout_growth(&none, vlfs), 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(real_small_files_have_these_layouts),
        cmocka_unit_test(real_file_of_784_kib_has_three),
        cmocka_unit_test(number_of_vlfs_follows_the_size_of_the_file),
        cmocka_unit_test(file_that_cannot_hold_two_vlfs_is_refused),
        cmocka_unit_test(vlfs_cover_the_file_back_to_back),
        cmocka_unit_test(to_2012_a_growth_is_cut_by_its_size),
        cmocka_unit_test(from_2014_less_than_an_eighth_of_the_log_is_one),
        cmocka_unit_test(in_2022_up_to_64_mib_are_one),
        cmocka_unit_test(small_growths_make_few),
        cmocka_unit_test(parity_flips_with_every_use),
        cmocka_unit_test(header_has_its_fields_where_sql_server_has_them),
        cmocka_unit_test(header_reads_back_as_it_was_built),
        cmocka_unit_test(header_without_signature_is_none),
        cmocka_unit_test(header_that_contradicts_itself_is_refused),
        cmocka_unit_test(vlf_that_ends_behind_the_largest_offset_is_refused),
        cmocka_unit_test(vlf_without_room_for_a_block_is_refused),
        cmocka_unit_test(use_that_was_not_counted_keeps_its_stored_parity),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
