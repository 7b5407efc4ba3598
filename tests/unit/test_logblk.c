/*
 * test_logblk.c - log blocks: builder, check, records.
 *
 * Known answers come from tests/golden/log_format.py, which shares nothing with the product, and
 * from the checksum vectors of the reference, section 4.3.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include <cmocka.h>

#include "verify/checksum.h"
#include "verify/logblk.h"
#include "verify/logscan.h"

static _Alignas(4096) uint8_t block_buf[LOG_BLOCK_BYTES_MAX];
static uint8_t image[LOG_BLOCK_BYTES_MAX]; /* unstamped */
static struct log_builder builder;

static const struct log_block_place place_50_16 = {.fseq = 50,
                                                   .block = 16,
                                                   .parity = LOG_PARITY_ODD,
                                                   .sector_bytes = 512,
                                                   .previous_crc = 0x12345678};

static uint64_t next_random(uint64_t *state)
{
    *state ^= *state << 13;
    *state ^= *state >> 7;
    *state ^= *state << 17;
    return *state;
}

static uint64_t printed_seed(const char *test)
{
    const char *given = getenv("TEST_SEED");
    uint64_t seed = given != NULL ? strtoull(given, NULL, 0) : (uint64_t)time(NULL);
    print_message("%s: TEST_SEED=%llu\n", test, (unsigned long long)seed);
    return seed * 2 + 1;
}

static struct log_page_change change_of(uint32_t page_no, uint64_t generation)
{
    return (struct log_page_change){.magic = LOG_CHANGE_MAGIC,
                                    .file_uid = 3,
                                    .incarnation = 1,
                                    .page_no = page_no,
                                    .page_count = 1,
                                    .generation = generation};
}

static unsigned append_change(enum log_op op, uint64_t xact, struct lsn previous,
                              struct log_page_change change, size_t payload_bytes)
{
    struct log_record record = {.op = op,
                                .xact_id = xact,
                                .previous = previous,
                                .head = &change,
                                .head_bytes = sizeof(change),
                                .payload_bytes = payload_bytes};
    return log_builder_append(&builder, &record);
}

static size_t seal(const struct log_block_place *place)
{
    uint32_t crc;
    return log_builder_seal(&builder, place, &crc);
}

/* A block of `records` changes with payload_bytes each at place 50:16. */
static size_t make_block(unsigned records, size_t payload_bytes)
{
    log_builder_begin(&builder, block_buf);
    for (unsigned i = 0; i < records; i++)
        append_change(LOG_OP_MODIFY, 7, (struct lsn){0, 0, 0}, change_of(i, 100 + i),
                      payload_bytes);
    return seal(&place_50_16);
}

static enum log_block_check check(size_t avail, struct log_block_info *info)
{
    return log_block_check(block_buf, avail, LOG_PARITY_ODD, 50, 16, true, 0x12345678, image, info);
}

static void protect_again(size_t size)
{
    uint32_t sum = sector_fold(block_buf, size, 0x18);
    memcpy(block_buf + 0x18, &sum, sizeof(sum));
}

/* ---- reference vectors ---- */

static void block_checksum_gives_the_reference_vectors(void **state)
{
    (void)state;
    static const struct {
        size_t size;
        uint32_t sum;
    } vectors[] = {{512, 0x5CB3B426}, {1024, 0x6D673A4C}, {1536, 0xD53F1298}, {61440, 0x460C8D73}};
    for (size_t i = 0; i < 4; i++) {
        for (uint32_t k = 0; k < vectors[i].size / 4; k++) {
            uint32_t word = k * 2654435761u;
            memcpy(block_buf + k * 4, &word, 4);
        }
        assert_int_equal(sector_fold(block_buf, vectors[i].size, 0x18), vectors[i].sum);
    }
}

static uint64_t fnv1a(const uint8_t *data, size_t size)
{
    uint64_t value = 0xCBF29CE484222325ull;
    for (size_t i = 0; i < size; i++)
        value = (value ^ data[i]) * 0x100000001B3ull;
    return value;
}

/* Output of tests/golden/log_format.py. */
static const struct golden {
    const char *name;
    size_t size;
    uint32_t crc;
    uint64_t digest;
} golden[] = {
    {"empty", 512, 0xB7294299u, 0x3BF748A86140E2ADull},
    {"transaction", 512, 0xB84A3488u, 0x121998CF1B0EFA61ull},
    {"full", 61440, 0x11B673CAu, 0x4D9FA0CAB54A7CDAull},
    {"longest", 60416, 0xA1BE4536u, 0x149C8D0668845F98ull},
    {"transaction_4096", 4096, 0x56D3CFEEu, 0x861584687EAB0090ull},
    {"two_4096", 8192, 0x9D3AA6EFu, 0xA5EF00E7D7727460ull},
    {"full_4096", 61440, 0xAC0130A6u, 0x3E062CE1AAB4A52Eull},
};

static void golden_empty(void)
{
}

static void golden_transaction(void)
{
    const uint64_t xact = 0x123456789ABC;
    struct log_record begin = {.op = LOG_OP_BEGIN_XACT, .xact_id = xact};
    struct log_record commit = {.op = LOG_OP_COMMIT_XACT,
                                .xact_id = xact,
                                .previous = {50, 17, 3},
                                .head = "COMMITTED",
                                .head_bytes = 9,
                                .payload_bytes = 9};
    log_builder_append(&builder, &begin);
    append_change(LOG_OP_MODIFY, xact, (struct lsn){50, 17, 2}, change_of(4711, 99), 101);
    log_builder_append(&builder, &commit);
}

static void golden_full(void)
{
    for (uint32_t i = 0; log_builder_fits(&builder, 32 + i * 977 % 5000); i++)
        append_change(LOG_OP_MODIFY, i, (struct lsn){0, 0, 0}, change_of(i, 1000 + i),
                      32 + i * 977 % 5000);
}

static void golden_longest(void)
{
    append_change(LOG_OP_MODIFY, 7, (struct lsn){1, 2, 3}, change_of(1, 2),
                  LOG_RECORD_BYTES_MAX - LOG_RECORD_START_BYTES);
}

static void golden_two_sectors(void)
{
    append_change(LOG_OP_FORMAT, 7, (struct lsn){0, 0, 0}, change_of(64, 1), 4090);
}

static void builder_gives_the_golden_blocks(void **state)
{
    (void)state;
    static const struct {
        size_t sector_bytes;
        uint8_t parity;
        void (*fill)(void);
    } cases[] = {{512, 0x40, golden_empty},        {512, 0x40, golden_transaction},
                 {512, 0x40, golden_full},         {512, 0x80, golden_longest},
                 {4096, 0x80, golden_transaction}, {4096, 0x80, golden_two_sectors},
                 {4096, 0x80, golden_full}};
    struct log_block_place place = place_50_16;
    for (size_t i = 0; i < sizeof(golden) / sizeof(golden[0]); i++) {
        memset(block_buf, 0xEE, sizeof(block_buf));
        place.sector_bytes = cases[i].sector_bytes;
        place.parity = cases[i].parity;
        log_builder_begin(&builder, block_buf);
        cases[i].fill();
        size_t size = log_builder_seal(&builder, &place, &place.previous_crc);
        print_message("  %s\n", golden[i].name);
        assert_int_equal(size, golden[i].size);
        assert_int_equal(place.previous_crc, golden[i].crc);
        assert_true(fnv1a(block_buf, size) == golden[i].digest);
        place.previous_bytes = (uint16_t)size;
        place.block += (uint32_t)(size / 512);
    }
}

/* ---- builder ---- */

static void sectors_carry_parity_and_position(void **state)
{
    (void)state;
    size_t size = make_block(3, 400); /* 84 + 3 * 424 + 8 = 1364 > 2 * 511: 3 sectors */
    assert_int_equal(size, 1536);
    assert_int_equal(block_buf[0], 0x50);
    assert_int_equal(block_buf[512], 0x40);
    assert_int_equal(block_buf[1024], 0x48);
    size = make_block(1, 32);
    assert_int_equal(size, 512);
    assert_int_equal(block_buf[0], 0x58);
}

static void sealing_overwrites_what_the_buffer_held(void **state)
{
    (void)state;
    static uint8_t first[LOG_BLOCK_BYTES_MAX];
    memset(block_buf, 0, sizeof(block_buf));
    size_t size = make_block(2, 501);
    memcpy(first, block_buf, size);
    memset(block_buf, 0xFF, sizeof(block_buf));
    assert_int_equal(make_block(2, 501), size);
    assert_memory_equal(block_buf, first, size);
}

/* 60 KiB less 120 fix-up bytes, header and chain record (84 + 2), start and slot (24 + 2). */
static void largest_record_that_fits_fills_the_block(void **state)
{
    (void)state;
    const size_t most = 61440 - 120 - 84 - 2 - 24 - 2;
    log_builder_begin(&builder, block_buf);
    assert_true(log_builder_fits(&builder, most));
    assert_false(log_builder_fits(&builder, most + 1));
    assert_false(log_builder_fits(&builder, SIZE_MAX));
    append_change(LOG_OP_MODIFY, 1, (struct lsn){0, 0, 0}, change_of(1, 1), most);
    assert_int_equal(log_builder_size(&builder, 512), 61440);
    assert_int_equal(log_builder_size(&builder, 4096), 61440);
    assert_false(log_builder_fits(&builder, 0));
}

static void longest_record_of_the_design_fits_an_empty_block(void **state)
{
    (void)state;
    log_builder_begin(&builder, block_buf);
    assert_true(log_builder_fits(&builder, LOG_RECORD_BYTES_MAX));
}

/* 84 + 2 bytes before, 24 + 2 a record: (61320 - 86) / 26 = 2355 records without payload. */
static void block_of_empty_records_holds_as_many_as_there_is_room_for(void **state)
{
    (void)state;
    struct log_record record = {.op = LOG_OP_COMMIT_XACT};
    struct log_block_info info;
    unsigned count = 0;
    log_builder_begin(&builder, block_buf);
    while (log_builder_fits(&builder, 0)) {
        assert_int_equal(log_builder_append(&builder, &record), count + 2);
        count++;
    }
    assert_int_equal(count, 2355);
    size_t size = seal(&place_50_16);
    assert_int_equal(size, 61440);
    assert_int_equal(check(size, &info), LOG_BLOCK_OK);
    assert_int_equal(info.record_count, 2356);
}

static void used_bytes_and_fix_up_bytes_never_overlap(void **state)
{
    (void)state;
    struct log_block_info info;
    for (size_t payload = 32; payload < 9000; payload += 7)
        for (size_t sector = 512; sector <= 4096; sector += 3584) {
            struct log_block_place place = place_50_16;
            place.sector_bytes = sector;
            log_builder_begin(&builder, block_buf);
            append_change(LOG_OP_MODIFY, 1, (struct lsn){0, 0, 0}, change_of(1, 1), payload);
            size_t size = seal(&place);
            assert_int_equal(size % sector, 0);
            assert_int_equal(check(size, &info), LOG_BLOCK_OK);
            assert_true(info.used_bytes + size / 512 <= size);
            bool smaller_would_do =
                size > sector && info.used_bytes + (size - sector) / 512 <= size - sector;
            assert_false(smaller_would_do);
        }
}

static void sum_of_costs_covers_the_blocks_however_they_are_cut(void **state)
{
    (void)state;
    uint64_t seed = printed_seed("sum_of_costs");
    for (int round = 0; round < 60; round++) {
        size_t sector = round & 1 ? 512 : 4096;
        uint64_t range = 1 + next_random(&seed) % 9000;
        uint64_t cut = 1 + next_random(&seed) % 40;
        uint64_t cost = 0, size = 0;
        log_builder_begin(&builder, block_buf);
        for (int i = 0; i < 300; i++) {
            struct log_record record = {.op = LOG_OP_MODIFY,
                                        .payload_bytes = next_random(&seed) % range};
            cost += log_record_cost(record.payload_bytes, sector);
            bool full = !log_builder_fits(&builder, record.payload_bytes);
            if (full || next_random(&seed) % cut == 0) {
                size += builder.record_count > 1 ? log_builder_size(&builder, sector) : 0;
                log_builder_begin(&builder, block_buf);
            }
            log_builder_append(&builder, &record);
        }
        size += log_builder_size(&builder, sector);
        assert_true(cost >= size);
    }
}

static void cost_of_a_record_is_the_size_of_its_own_block(void **state)
{
    (void)state;
    for (size_t payload = 0; payload < 60000; payload += 331) {
        struct log_record record = {.op = LOG_OP_MODIFY, .payload_bytes = payload};
        log_builder_begin(&builder, block_buf);
        log_builder_append(&builder, &record);
        assert_int_equal(log_record_cost(payload, 512), log_builder_size(&builder, 512));
        assert_int_equal(log_record_cost(payload, 4096), log_builder_size(&builder, 4096));
    }
}

/* ---- records ---- */

static void records_read_back_as_they_were_appended(void **state)
{
    (void)state;
    struct log_block_info info;
    struct log_record_view view;
    struct log_page_change got, change = change_of(4711, 0x0123456789ABCDEFull);
    log_builder_begin(&builder, block_buf);
    append_change(LOG_OP_SET_BITS, 0xFEDCBA987654ull, (struct lsn){49, 0x11223344, 5}, change, 600);
    size_t size = seal(&place_50_16);
    assert_int_equal(check(size, &info), LOG_BLOCK_OK);
    assert_int_equal(info.record_count, 2);
    assert_true(log_record_at(image, &info, 1, &view));
    assert_int_equal(view.op, 0x07);
    assert_true(view.xact_id == 0xFEDCBA987654ull);
    assert_int_equal(lsn_compare(view.lsn, (struct lsn){50, 16, 2}), 0);
    assert_int_equal(lsn_compare(view.previous, (struct lsn){49, 0x11223344, 5}), 0);
    assert_int_equal(view.payload_bytes, 600);
    assert_true(log_record_change(&view, &got));
    assert_memory_equal(&got, &change, sizeof(got));
    assert_false(log_record_at(image, &info, 2, &view));
}

/* The filler crosses a sector border, whose first byte is displaced on disk. */
static void filler_reads_back_from_the_head_alone(void **state)
{
    (void)state;
    struct log_block_info info;
    struct log_record_view view;
    uint8_t expected[2000];
    size_t size = make_block(1, 32 + sizeof(expected));
    assert_int_equal(check(size, &info), LOG_BLOCK_OK);
    assert_true(log_record_at(image, &info, 1, &view));
    const uint8_t *start = view.payload - LOG_RECORD_START_BYTES;
    log_record_filler(expected, sizeof(expected), crc32_zlib(0, start, 24 + 32));
    assert_memory_equal(view.payload + 32, expected, sizeof(expected));
}

static void filler_differs_between_generations_of_a_page(void **state)
{
    (void)state;
    uint8_t first[256];
    struct log_block_info info;
    struct log_record_view view;
    for (uint64_t generation = 1; generation <= 2; generation++) {
        log_builder_begin(&builder, block_buf);
        append_change(LOG_OP_MODIFY, 7, (struct lsn){0, 0, 0}, change_of(1, generation), 32 + 256);
        assert_int_equal(check(seal(&place_50_16), &info), LOG_BLOCK_OK);
        assert_true(log_record_at(image, &info, 1, &view));
        if (generation == 1)
            memcpy(first, view.payload + 32, sizeof(first));
    }
    assert_memory_not_equal(view.payload + 32, first, sizeof(first));
}

static void first_record_is_the_chain(void **state)
{
    (void)state;
    struct log_block_info info;
    struct log_record_view view;
    uint32_t crc;
    log_builder_begin(&builder, block_buf);
    size_t size = log_builder_seal(&builder, &place_50_16, &crc);
    assert_int_equal(check(size, &info), LOG_BLOCK_OK);
    assert_true(info.has_chain);
    assert_int_equal(info.previous_crc, 0x12345678);
    assert_int_equal(info.own_crc, crc);
    assert_true(log_record_at(image, &info, 0, &view));
    assert_int_equal(view.op, LOG_OP_CHAIN);
    assert_memory_equal(view.payload, "PSLC\x78\x56\x34\x12", 8);
}

static void only_page_records_of_ours_describe_a_change(void **state)
{
    (void)state;
    struct log_page_change change = change_of(1, 2), got;
    struct log_record_view view = {
        .op = LOG_OP_MODIFY, .payload = (const uint8_t *)&change, .payload_bytes = sizeof(change)};
    assert_true(log_record_change(&view, &got));
    view.payload_bytes = sizeof(change) - 1;
    assert_false(log_record_change(&view, &got));
    view.payload_bytes = sizeof(change);
    view.op = LOG_OP_COMMIT_XACT;
    assert_false(log_record_change(&view, &got));
    view.op = LOG_OP_FORMAT;
    change.magic ^= 1;
    assert_false(log_record_change(&view, &got));
}

/* ---- check ---- */

static void unwritten_space_is_told_from_blocks(void **state)
{
    (void)state;
    struct log_block_info info;
    memset(block_buf, 0, 4096);
    assert_int_equal(check(4096, &info), LOG_BLOCK_ZERO);
    memset(block_buf, 0xC0, 4096);
    assert_int_equal(check(4096, &info), LOG_BLOCK_STAMP);
    memset(block_buf, 0x5A, 4096);
    assert_int_equal(check(4096, &info), LOG_BLOCK_NOT_A_BLOCK);
}

static void middle_of_a_block_is_no_block(void **state)
{
    (void)state;
    struct log_block_info info;
    size_t size = make_block(3, 400);
    memmove(block_buf, block_buf + 512, size - 512);
    assert_int_equal(check(size - 512, &info), LOG_BLOCK_NOT_A_BLOCK);
}

static void earlier_uses_are_told_by_parity_and_by_sequence(void **state)
{
    (void)state;
    struct log_block_info info;
    size_t size = make_block(3, 400);
    assert_int_equal(
        log_block_check(block_buf, size, LOG_PARITY_EVEN, 51, 16, true, 0, image, &info),
        LOG_BLOCK_OLD_PARITY);
    assert_int_equal(
        log_block_check(block_buf, size, LOG_PARITY_ODD, 54, 16, true, 0, image, &info),
        LOG_BLOCK_OLD_SEQUENCE);
}

static void peek_gives_the_size_of_a_live_block_only(void **state)
{
    (void)state;
    enum log_block_check why;
    size_t size = make_block(3, 400);
    assert_int_equal(log_block_peek(block_buf, LOG_PARITY_ODD, 50, &why), size);
    assert_int_equal(why, LOG_BLOCK_OK);
    assert_int_equal(log_block_peek(block_buf, LOG_PARITY_ODD, 49, &why), 0);
    assert_int_equal(why, LOG_BLOCK_OLD_SEQUENCE);
    assert_int_equal(log_block_peek(block_buf, LOG_PARITY_EVEN, 50, NULL), 0);
    assert_int_equal(log_block_peek(block_buf + 512, LOG_PARITY_ODD, 50, &why), 0);
    assert_int_equal(why, LOG_BLOCK_NOT_A_BLOCK);
}

/* Sectors from `from` on are those of the block that stood here one use before. */
static void expect_torn_at(size_t from, size_t sector_bytes)
{
    static uint8_t old[LOG_BLOCK_BYTES_MAX];
    struct log_block_place place = place_50_16;
    struct log_block_info info;
    place.sector_bytes = sector_bytes;
    for (int use = 0; use < 2; use++) {
        place.fseq = use ? 50 : 46;
        place.parity = use ? LOG_PARITY_ODD : LOG_PARITY_EVEN;
        memcpy(old, block_buf, sizeof(old));
        log_builder_begin(&builder, block_buf);
        append_change(LOG_OP_MODIFY, 1, (struct lsn){0, 0, 0}, change_of(1, 1), 20000);
        seal(&place);
    }
    size_t size = log_builder_size(&builder, sector_bytes);
    memcpy(block_buf + from, old + from, size - from);
    assert_int_equal(check(size, &info), LOG_BLOCK_TORN);
    assert_int_equal(info.torn_sector, from / 512);
}

static void torn_block_names_its_first_wrong_sector(void **state)
{
    (void)state;
    expect_torn_at(512, 512);
    expect_torn_at(5 * 512, 512);
    expect_torn_at(4096, 4096);
    expect_torn_at(3 * 4096, 4096);
}

static void block_with_zeros_behind_its_first_sectors_is_torn(void **state)
{
    (void)state;
    struct log_block_info info;
    size_t size = make_block(3, 400);
    memset(block_buf + 1024, 0, 512);
    assert_int_equal(check(size, &info), LOG_BLOCK_TORN);
    assert_int_equal(info.torn_sector, 2);
}

static void block_of_another_place_is_told(void **state)
{
    (void)state;
    struct log_block_info info;
    size_t size = make_block(3, 400);
    assert_int_equal(
        log_block_check(block_buf, size, LOG_PARITY_ODD, 50, 17, false, 0, image, &info),
        LOG_BLOCK_BAD_PLACE);
    assert_int_equal(info.block, 16);
}

static void damaged_block_of_another_place_is_not_believed(void **state)
{
    (void)state;
    struct log_block_info info;
    size_t size = make_block(3, 400);
    block_buf[700] ^= 1;
    assert_int_equal(
        log_block_check(block_buf, size, LOG_PARITY_ODD, 50, 17, false, 0, image, &info),
        LOG_BLOCK_BAD_CHECKSUM);
}

static void wrong_predecessor_breaks_the_chain(void **state)
{
    (void)state;
    struct log_block_info info;
    size_t size = make_block(3, 400);
    assert_int_equal(
        log_block_check(block_buf, size, LOG_PARITY_ODD, 50, 16, true, 0x12345679, image, &info),
        LOG_BLOCK_BAD_CHAIN);
    assert_int_equal(
        log_block_check(block_buf, size, LOG_PARITY_ODD, 50, 16, false, 0x12345679, image, &info),
        LOG_BLOCK_OK);
    assert_true(log_block_own_crc_ok(image, &info));
}

/* The sector fold is blind to the same bit in two dwords of a sector; the CRC is not. */
static void damage_that_the_checksum_cannot_see_breaks_the_chain(void **state)
{
    (void)state;
    struct log_block_info info;
    size_t size = make_block(3, 400);
    block_buf[600] ^= 0x10;
    block_buf[604] ^= 0x10;
    assert_int_equal(
        log_block_check(block_buf, size, LOG_PARITY_ODD, 50, 16, false, 0, image, &info),
        LOG_BLOCK_OK);
    assert_false(log_block_own_crc_ok(image, &info));
    assert_int_equal(check(size, &info), LOG_BLOCK_BAD_CHAIN);
}

static void block_without_our_record_breaks_the_chain(void **state)
{
    (void)state;
    struct log_block_info info;
    size_t size = make_block(1, 32);
    block_buf[0x30 + 0x18] ^= 0xFF; /* the magic */
    protect_again(size);
    assert_int_equal(check(size, &info), LOG_BLOCK_BAD_CHAIN);
    assert_false(info.has_chain);
}

static void record_offsets_outside_the_block_are_told(void **state)
{
    (void)state;
    struct log_block_info info;
    size_t size = make_block(2, 32);
    uint16_t used;
    memcpy(&used, block_buf + 4, sizeof(used));
    static const uint16_t wrong[] = {0, 0x17, 0x30, 0xFFFF}; /* of record 1, behind record 0 */
    for (size_t i = 0; i < 4; i++) {
        memcpy(block_buf + used - 4, &wrong[i], 2);
        protect_again(size);
        assert_int_equal(check(size, &info), LOG_BLOCK_BAD_RECORDS);
    }
}

static void record_that_starts_in_the_array_is_told(void **state)
{
    (void)state;
    struct log_block_info info;
    size_t size = make_block(2, 32);
    uint16_t used;
    memcpy(&used, block_buf + 4, sizeof(used));
    uint16_t array = (uint16_t)(used - 3 * 2); /* of three records; first in it stands the last */
    memcpy(block_buf + array, &array, 2);
    protect_again(size);
    assert_int_equal(check(size, &info), LOG_BLOCK_BAD_RECORDS);
}

/* The array is moved to the very end of the one-sector block: the high byte of its last offset,
 * which is 0, is then the fix-up byte. */
static void array_over_the_fix_up_bytes_is_told(void **state)
{
    (void)state;
    struct log_block_info info;
    size_t size = make_block(2, 32);
    uint16_t used, moved = 512;
    assert_int_equal(size, 512);
    memcpy(&used, block_buf + 4, sizeof(used));
    memmove(block_buf + moved - 6, block_buf + used - 6, 5);
    memcpy(block_buf + 4, &moved, sizeof(moved));
    protect_again(size);
    assert_int_equal(check(size, &info), LOG_BLOCK_BAD_RECORDS);
}

static void every_flipped_bit_of_a_block_is_seen(void **state)
{
    (void)state;
    struct log_block_info info;
    size_t size = make_block(2, 400);
    for (size_t bit = 0; bit < size * 8; bit++) {
        block_buf[bit / 8] ^= (uint8_t)(1u << bit % 8);
        if (check(size, &info) == LOG_BLOCK_OK)
            fail_msg("bit %zu of byte %zu", bit % 8, bit / 8);
        block_buf[bit / 8] ^= (uint8_t)(1u << bit % 8);
    }
    assert_int_equal(check(size, &info), LOG_BLOCK_OK);
}

/* An exact allocation: the address sanitizer sees any byte read behind it. */
static void nothing_is_read_beyond_what_is_there(void **state)
{
    (void)state;
    struct log_block_info info;
    size_t size = make_block(3, 400);
    for (size_t avail = 0; avail <= size; avail += 128) {
        uint8_t *exact = malloc(avail + 1);
        assert_non_null(exact);
        memcpy(exact + 1, block_buf, avail); /* and unaligned */
        enum log_block_check what = log_block_check(exact + 1, avail, LOG_PARITY_ODD, 50, 16, true,
                                                    0x12345678, image, &info);
        assert_int_equal(what, avail == size ? LOG_BLOCK_OK : LOG_BLOCK_NOT_A_BLOCK);
        free(exact);
    }
}

static void every_reason_has_its_own_words(void **state)
{
    (void)state;
    for (int i = LOG_BLOCK_OK; i <= LOG_BLOCK_GAP; i++) {
        const char *text = log_block_check_text((enum log_block_check)i);
        assert_non_null(text);
        for (int k = LOG_BLOCK_OK; k < i; k++)
            assert_string_not_equal(text, log_block_check_text((enum log_block_check)k));
    }
    assert_string_equal(log_block_check_text((enum log_block_check)99), "unknown");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(block_checksum_gives_the_reference_vectors),
        cmocka_unit_test(builder_gives_the_golden_blocks),
        cmocka_unit_test(sectors_carry_parity_and_position),
        cmocka_unit_test(sealing_overwrites_what_the_buffer_held),
        cmocka_unit_test(largest_record_that_fits_fills_the_block),
        cmocka_unit_test(longest_record_of_the_design_fits_an_empty_block),
        cmocka_unit_test(block_of_empty_records_holds_as_many_as_there_is_room_for),
        cmocka_unit_test(used_bytes_and_fix_up_bytes_never_overlap),
        cmocka_unit_test(sum_of_costs_covers_the_blocks_however_they_are_cut),
        cmocka_unit_test(cost_of_a_record_is_the_size_of_its_own_block),
        cmocka_unit_test(records_read_back_as_they_were_appended),
        cmocka_unit_test(filler_reads_back_from_the_head_alone),
        cmocka_unit_test(filler_differs_between_generations_of_a_page),
        cmocka_unit_test(first_record_is_the_chain),
        cmocka_unit_test(only_page_records_of_ours_describe_a_change),
        cmocka_unit_test(unwritten_space_is_told_from_blocks),
        cmocka_unit_test(middle_of_a_block_is_no_block),
        cmocka_unit_test(earlier_uses_are_told_by_parity_and_by_sequence),
        cmocka_unit_test(peek_gives_the_size_of_a_live_block_only),
        cmocka_unit_test(torn_block_names_its_first_wrong_sector),
        cmocka_unit_test(block_with_zeros_behind_its_first_sectors_is_torn),
        cmocka_unit_test(block_of_another_place_is_told),
        cmocka_unit_test(damaged_block_of_another_place_is_not_believed),
        cmocka_unit_test(wrong_predecessor_breaks_the_chain),
        cmocka_unit_test(damage_that_the_checksum_cannot_see_breaks_the_chain),
        cmocka_unit_test(block_without_our_record_breaks_the_chain),
        cmocka_unit_test(record_offsets_outside_the_block_are_told),
        cmocka_unit_test(record_that_starts_in_the_array_is_told),
        cmocka_unit_test(array_over_the_fix_up_bytes_is_told),
        cmocka_unit_test(every_flipped_bit_of_a_block_is_seen),
        cmocka_unit_test(nothing_is_read_beyond_what_is_there),
        cmocka_unit_test(every_reason_has_its_own_words),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
