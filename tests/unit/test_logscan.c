/*
 * test_logscan.c - where a log ends and whether it is whole: real logs, own logs, damaged ones.
 *
 * Own logs are written in memory by log_fixture.h; what the scan must find follows from what was
 * written and from the one thing that each test breaks.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "tests/unit/log_fixture.h"

#define FILE_BYTES (504 * 1024) /* two VLFs of 248 KiB */

static const uint8_t fills[] = {0x00, 0xC0};

/* ---- helpers ---- */

static struct log_image *image_with_blocks(uint64_t file_bytes, size_t sector_bytes, size_t count)
{
    struct log_image *image = log_image_make(file_bytes, sector_bytes, 0xC0);
    for (size_t i = 0; i < count; i++)
        log_image_add_random(image);
    return image;
}

/* Fill VLF after VLF until `switches` of them were begun behind the first, then 20 blocks more,
 * which fit: at most 60 KiB and 20 * 2.5 KiB of 240 KiB. */
static struct log_image *image_with_switches(uint64_t file_bytes, size_t sector_bytes,
                                             unsigned switches)
{
    struct log_image *image = log_image_make(file_bytes, sector_bytes, 0xC0);
    uint32_t last = FIXTURE_FSEQ + switches;
    while (image->next_fseq <= last)
        log_image_add_random(image);
    for (int i = 0; i < 20; i++)
        log_image_add(image, 32 + fixture_random(image) % 1900);
    assert_int_equal(image->next_fseq, last + 1);
    return image;
}

static struct log_scan run(struct log_image *image, bool chained)
{
    struct log_scan scan = log_image_scan_of(image, chained);
    assert_int_equal(log_scan_run(&scan), 0);
    return scan;
}

static void expect_whole(struct log_image *image, const struct log_scan *scan)
{
    uint64_t records;
    uint64_t blocks = log_image_live_count(image, &records);
    const struct placed_block *last = &image->blocks[image->block_count - 1];
    if (scan->damage_count != 0)
        print_message("damage at %llu: %s\n", (unsigned long long)scan->damage[0].offset,
                      log_block_check_text(scan->damage[0].what));
    assert_int_equal(scan->damage_count, 0);
    assert_int_equal(scan->blocks, blocks);
    assert_int_equal(scan->records, records);
    assert_int_equal(scan->blocks_chained, scan->chained ? blocks : 0);
    assert_true(scan->end_position ==
                ((uint64_t)last->fseq << 32 | (last->block + last->size_bytes / 512)));
    assert_int_equal(scan->last_record.slot, last->records);
    if (scan->chained)
        assert_int_equal(scan->end_crc, last->crc);
}

static void expect_one_damage(const struct log_scan *scan, uint64_t offset,
                              enum log_block_check what, bool newer_follows)
{
    assert_int_equal(scan->damage_count, 1);
    assert_int_equal(scan->damage[0].offset, offset);
    assert_string_equal(log_block_check_text(scan->damage[0].what), log_block_check_text(what));
    assert_int_equal(scan->damage[0].newer_follows, newer_follows);
}

/* ---- real logs ---- */

static int read_file(void *context, uint64_t offset, void *buf, size_t size_bytes)
{
    FILE *file = context;
    if (fseeko(file, (off_t)offset, SEEK_SET) != 0 || fread(buf, 1, size_bytes, file) != size_bytes)
        return -EIO;
    return 0;
}

static struct log_scan scan_real(const char *name)
{
    char path[512];
    snprintf(path, sizeof(path), "%s/../shared/data/mdf/%s", SOURCE_DIR, name);
    FILE *file = fopen(path, "rb");
    if (file == NULL) {
        print_message("skipped: %s is not here\n", path);
        skip();
    }
    assert_int_equal(fseeko(file, 0, SEEK_END), 0);
    struct log_scan scan = {.reader = {read_file, file}, .file_bytes = (uint64_t)ftello(file)};
    assert_int_equal(log_scan_run(&scan), 0);
    fclose(file);
    return scan;
}

/* Counts: mdfcheck.py --json northwnd_2008_checksum_log.ldf ("vlf", "blocks", "records", "stop").
 */
static void real_log_of_2008_is_whole(void **state)
{
    (void)state;
    struct log_scan scan = scan_real("northwnd_2008_checksum_log.ldf");
    assert_int_equal(scan.damage_count, 0);
    assert_int_equal(scan.vlf_count, 2);
    assert_int_equal(scan.blocks, 48);
    assert_int_equal(scan.records, 107);
    assert_int_equal(scan.end, LOG_END_FRESH);
    assert_int_equal(scan.last_record.fseq, 50);
}

/* Counts: mdfcheck.py --json pubs_2005_torn_log.ldf.  Block versions 2 and 3, without checksums. */
static void real_log_of_2005_is_whole(void **state)
{
    (void)state;
    struct log_scan scan = scan_real("pubs_2005_torn_log.ldf");
    assert_int_equal(scan.damage_count, 0);
    assert_int_equal(scan.vlf_count, 14);
    assert_int_equal(scan.blocks, 753);
    assert_int_equal(scan.records, 17849);
    assert_int_equal(scan.end, LOG_END_FRESH);
    assert_int_equal(scan.last_record.fseq, 13);
}

/* ---- sound own logs ---- */

static void log_in_its_first_vlf_is_whole(void **state)
{
    (void)state;
    for (size_t i = 0; i < 2; i++) {
        struct log_image *image = log_image_make(FILE_BYTES, 512, fills[i]);
        for (int k = 0; k < 30; k++)
            log_image_add_random(image);
        struct log_scan scan = run(image, true);
        expect_whole(image, &scan);
        assert_int_equal(scan.end, LOG_END_FRESH);
        assert_int_equal(scan.vlf_count, 2);
        log_image_free(image);
    }
}

static void log_over_all_uses_of_its_vlfs_is_whole(void **state)
{
    (void)state;
    for (unsigned switches = 1; switches <= 9; switches++)
        for (size_t sector = 512; sector <= 4096; sector += 3584) {
            struct log_image *image = image_with_switches(1024 * 1024, sector, switches);
            struct log_scan scan = run(image, true);
            expect_whole(image, &scan);
            scan = run(image, false);
            expect_whole(image, &scan);
            log_image_free(image);
        }
}

static void log_ends_in_the_remains_of_the_previous_use(void **state)
{
    (void)state;
    struct log_image *image = image_with_switches(FILE_BYTES, 512, 4);
    struct log_scan scan = run(image, true);
    assert_true(scan.end == LOG_END_OLD_USE || scan.end == LOG_END_MID_BLOCK);
    expect_whole(image, &scan);
    log_image_free(image);
}

static void log_that_ends_with_a_full_vlf_says_so(void **state)
{
    (void)state;
    struct log_image *image = log_image_make(FILE_BYTES, 512, 0);
    while (log_image_room(image) > 512)
        log_image_add(image, 32); /* 84 + 2 + 56 + 2 = 144 bytes: one sector each */
    assert_int_equal(log_image_room(image), 512);
    log_image_add(image, 32);
    struct log_scan scan = run(image, true);
    expect_whole(image, &scan);
    assert_int_equal(scan.end, LOG_END_NONE);
    assert_int_equal(scan.end_position, (uint64_t)FIXTURE_FSEQ << 32 | 253952 / 512);
    log_image_free(image);
}

static void log_without_a_block_is_empty(void **state)
{
    (void)state;
    struct log_image *image = log_image_make(FILE_BYTES, 512, 0xC0);
    struct log_scan scan = run(image, true);
    assert_int_equal(scan.damage_count, 0);
    assert_int_equal(scan.blocks, 0);
    assert_int_equal(scan.end, LOG_END_FRESH);
    assert_int_equal(scan.end_position, 0);
    assert_int_equal(scan.end_crc, FIXTURE_CHAIN);
    log_image_free(image);
}

static void new_vlf_without_a_block_leaves_the_end_where_it_was(void **state)
{
    (void)state;
    struct log_image *image = image_with_blocks(FILE_BYTES, 512, 10);
    log_image_switch(image);
    struct log_scan scan = run(image, true);
    expect_whole(image, &scan);
    assert_int_equal(scan.end, LOG_END_FRESH);
    log_image_free(image);
}

struct seen {
    struct log_image *image;
    size_t blocks;
    struct lsn last;
    unsigned changes;
};

static void count_block(void *context, const struct log_block_info *info, uint64_t file_offset)
{
    struct seen *seen = context;
    const struct placed_block *block = &seen->image->blocks[seen->blocks++];
    assert_int_equal(file_offset, block->offset);
    assert_int_equal(info->size_bytes, block->size_bytes);
    assert_int_equal(info->own_crc, block->crc);
}

static void count_record(void *context, const struct log_record_view *record)
{
    struct seen *seen = context;
    struct log_page_change change;
    assert_true(lsn_compare(seen->last, record->lsn) < 0);
    seen->last = record->lsn;
    seen->changes += log_record_change(record, &change);
}

static void blocks_and_records_arrive_in_order(void **state)
{
    (void)state;
    struct log_image *image = image_with_switches(1024 * 1024, 512, 3);
    struct seen seen = {.image = image};
    struct log_scan scan = log_image_scan_of(image, true);
    scan.on_block = count_block;
    scan.on_record = count_record;
    scan.context = &seen;
    assert_int_equal(log_scan_run(&scan), 0);
    assert_int_equal(seen.blocks, image->block_count);
    assert_int_equal(seen.changes, scan.records - scan.blocks); /* all but the chain records */
    log_image_free(image);
}

static void scan_can_be_run_again(void **state)
{
    (void)state;
    struct log_image *image = image_with_blocks(FILE_BYTES, 512, 10);
    struct log_scan scan = run(image, true);
    assert_int_equal(log_scan_run(&scan), 0);
    expect_whole(image, &scan);
    log_image_free(image);
}

/* ---- lost and torn blocks ---- */

/* What the place held before the block was written: one use earlier, or the fill. */
static void lose(struct log_image *image, const struct log_image *before,
                 const struct placed_block *block, size_t from)
{
    memcpy(image->bytes + block->offset + from, before->bytes + block->offset + from,
           block->size_bytes - from);
}

/* `image` has `count` blocks more than `before`; both have used every VLF twice. */
static void make_pair(struct log_image **image, struct log_image **before, size_t sector_bytes,
                      size_t count)
{
    *before = image_with_switches(FILE_BYTES, sector_bytes, 4);
    *image = image_with_switches(FILE_BYTES, sector_bytes, 4);
    for (size_t i = 0; i < count; i++)
        log_image_add(*image, 3000 + i);
    assert_int_equal((*image)->next_fseq, (*before)->next_fseq);
}

static void block_lost_in_the_middle_is_damage(void **state)
{
    (void)state;
    struct log_image *image, *before;
    make_pair(&image, &before, 512, 6);
    const struct placed_block *lost = &image->blocks[image->block_count - 4];
    lose(image, before, lost, 0);
    for (int chained = 0; chained < 2; chained++) {
        struct log_scan scan = run(image, chained);
        assert_int_equal(scan.damage_count, 1);
        assert_int_equal(scan.damage[0].offset, lost->offset);
        assert_int_equal(scan.damage[0].fseq, lost->fseq);
        assert_int_equal(scan.damage[0].block, lost->block);
        assert_true(scan.damage[0].newer_follows);
        assert_int_equal(scan.end_crc, chained ? image->crc : 0);
    }
    log_image_free(image);
    log_image_free(before);
}

static void block_of_zeros_in_the_middle_is_damage(void **state)
{
    (void)state;
    struct log_image *image = image_with_blocks(FILE_BYTES, 512, 40);
    const struct placed_block *lost = &image->blocks[17];
    memset(image->bytes + lost->offset, 0, lost->size_bytes);
    struct log_scan scan = run(image, true);
    expect_one_damage(&scan, lost->offset, LOG_BLOCK_ZERO, true);
    assert_int_equal(scan.blocks, 39);
    log_image_free(image);
}

static void lost_tail_ends_the_log_before_it(void **state)
{
    (void)state;
    struct log_image *image, *before;
    make_pair(&image, &before, 512, 6);
    for (size_t i = image->block_count - 2; i < image->block_count; i++)
        lose(image, before, &image->blocks[i], 0);
    struct log_scan scan = run(image, true);
    image->block_count -= 2;
    expect_whole(image, &scan);
    assert_true(scan.end == LOG_END_OLD_USE || scan.end == LOG_END_MID_BLOCK);
    log_image_free(image);
    log_image_free(before);
}

static void expect_torn_tail(size_t sector_bytes, size_t from)
{
    struct log_image *image, *before;
    make_pair(&image, &before, sector_bytes, 6);
    lose(image, before, &image->blocks[image->block_count - 1], from);
    struct log_scan scan = run(image, true);
    image->block_count--;
    expect_whole(image, &scan);
    assert_int_equal(scan.end, LOG_END_TORN_TAIL);
    log_image_free(image);
    log_image_free(before);
}

static void torn_last_block_ends_the_log_and_is_no_damage(void **state)
{
    (void)state;
    expect_torn_tail(512, 512);
    expect_torn_tail(512, 2560);
    for (size_t fill = 0; fill < 2; fill++) { /* in fresh space, 4,096-byte sectors */
        struct log_image *image = log_image_make(FILE_BYTES, 4096, fills[fill]);
        log_image_add_random(image);
        const struct placed_block *torn = log_image_add(image, 9000);
        memset(image->bytes + torn->offset + 4096, fills[fill], torn->size_bytes - 4096);
        struct log_scan scan = run(image, true);
        image->block_count--;
        expect_whole(image, &scan);
        assert_int_equal(scan.end, LOG_END_TORN_TAIL);
        log_image_free(image);
    }
}

static void torn_block_before_a_newer_one_is_damage(void **state)
{
    (void)state;
    for (size_t sector = 512; sector <= 4096; sector += 3584) {
        struct log_image *image = log_image_make(FILE_BYTES, sector, 0);
        log_image_add_random(image);
        struct placed_block torn = *log_image_add(image, 9000);
        log_image_add_random(image);
        memset(image->bytes + torn.offset + sector, 0, torn.size_bytes - sector);
        struct log_scan scan = run(image, true);
        expect_one_damage(&scan, torn.offset, LOG_BLOCK_TORN, true);
        log_image_free(image);
    }
}

/* The block of two uses before has the same parity and stands in the same place. */
static void block_of_an_older_use_in_the_middle_is_damage(void **state)
{
    (void)state;
    struct log_image *image = log_image_make(FILE_BYTES, 512, 0);
    static uint8_t old[512];
    struct placed_block lost = {0};
    for (unsigned use = 0; use < 3; use++) {
        if (use != 0) {
            log_image_switch(image); /* the other VLF */
            log_image_add(image, 32);
            log_image_switch(image);
        }
        log_image_add(image, 32);
        lost = *log_image_add(image, 32);
        log_image_add(image, 32);
        if (use == 0)
            memcpy(old, image->bytes + lost.offset, sizeof(old));
    }
    assert_int_equal(lost.size_bytes, sizeof(old));
    memcpy(image->bytes + lost.offset, old, sizeof(old));
    struct log_scan scan = run(image, true);
    expect_one_damage(&scan, lost.offset, LOG_BLOCK_OLD_SEQUENCE, true);
    log_image_free(image);
}

/* ---- VLF borders ---- */

static size_t last_block_of(const struct log_image *image, uint32_t fseq)
{
    size_t i = image->block_count;
    while (image->blocks[i - 1].fseq != fseq)
        i--;
    return i - 1;
}

static void lost_last_block_of_an_older_vlf_breaks_the_chain(void **state)
{
    (void)state;
    struct log_image *image = image_with_switches(1024 * 1024, 512, 2);
    const struct placed_block *lost = &image->blocks[last_block_of(image, FIXTURE_FSEQ + 1)];
    memset(image->bytes + lost->offset, 0xC0, lost->size_bytes);
    struct log_scan scan = run(image, true);
    expect_one_damage(&scan, lost->offset, LOG_BLOCK_STAMP, true);
    assert_int_equal(scan.blocks, image->block_count - 1);
    assert_int_equal(scan.end_crc, image->crc);
    log_image_free(image);
}

static void torn_last_block_of_an_older_vlf_is_damage_without_a_chain(void **state)
{
    (void)state;
    struct log_image *image = image_with_switches(1024 * 1024, 512, 1);
    struct placed_block *torn = &image->blocks[last_block_of(image, FIXTURE_FSEQ)];
    torn->size_bytes -= torn->size_bytes == 512 ? 0 : 512;
    image->bytes[torn->offset + torn->size_bytes - 1] ^= 1;
    struct log_scan scan = run(image, false);
    assert_int_equal(scan.damage_count, 1);
    assert_int_equal(scan.damage[0].offset, torn->offset);
    assert_true(scan.damage[0].newer_follows);
    log_image_free(image);
}

/* A writer that found a torn tail after a crash goes on in the next VLF: the chain proves that the
 * torn block never belonged to the log. */
static void torn_tail_that_the_chain_passes_over_is_no_damage(void **state)
{
    (void)state;
    struct log_image *image = image_with_blocks(FILE_BYTES, 512, 10);
    uint32_t crc = image->crc;
    uint16_t previous_bytes = image->previous_bytes;
    const struct placed_block *torn = log_image_add(image, 3000);
    memset(image->bytes + torn->offset + 1024, 0xC0, torn->size_bytes - 1024);
    image->block_count--;
    image->crc = crc;
    image->previous_bytes = previous_bytes;
    log_image_switch(image);
    log_image_add_random(image);
    struct log_scan scan = run(image, true);
    expect_whole(image, &scan);
    log_image_free(image);
}

static void torn_tail_before_an_empty_vlf_is_the_end_of_the_log(void **state)
{
    (void)state;
    struct log_image *image = image_with_blocks(FILE_BYTES, 512, 10);
    const struct placed_block *torn = log_image_add(image, 3000);
    memset(image->bytes + torn->offset + 1024, 0xC0, torn->size_bytes - 1024);
    image->block_count--;
    image->crc = image->blocks[image->block_count - 1].crc;
    log_image_switch(image);
    struct log_scan scan = run(image, true);
    expect_whole(image, &scan);
    assert_int_equal(scan.end, LOG_END_TORN_TAIL);
    log_image_free(image);
}

/* ---- chain ---- */

static void log_of_another_run_does_not_start_the_chain(void **state)
{
    (void)state;
    struct log_image *image = image_with_blocks(FILE_BYTES, 512, 10);
    struct log_scan scan = log_image_scan_of(image, true);
    scan.chain_start ^= 1;
    assert_int_equal(log_scan_run(&scan), 0);
    expect_one_damage(&scan, image->blocks[0].offset, LOG_BLOCK_BAD_CHAIN, true);
    log_image_free(image);
}

static void chain_of_a_log_whose_start_was_overwritten_is_taken_as_given(void **state)
{
    (void)state;
    struct log_image *image = image_with_switches(FILE_BYTES, 512, 4);
    struct log_scan scan = log_image_scan_of(image, true);
    scan.chain_start ^= 1;
    assert_int_equal(log_scan_run(&scan), 0);
    expect_whole(image, &scan);
    log_image_free(image);
}

/* Two blocks, whole and in place, but made for another history: only the chain sees it. */
static void block_of_another_history_breaks_the_chain(void **state)
{
    (void)state;
    struct log_image *image = log_image_make(FILE_BYTES, 512, 0);
    struct log_image *other = log_image_make(FILE_BYTES, 512, 0);
    other->random ^= 0x5555;
    for (int i = 0; i < 10; i++) {
        log_image_add(image, 200);
        log_image_add(other, 200);
    }
    const struct placed_block *swapped = &image->blocks[5];
    memcpy(image->bytes + swapped->offset, other->bytes + swapped->offset, swapped->size_bytes);
    struct log_scan scan = run(image, true);
    expect_one_damage(&scan, swapped->offset, LOG_BLOCK_BAD_CHAIN, true);
    scan = run(image, false);
    assert_int_equal(scan.damage_count, 0);
    log_image_free(image);
    log_image_free(other);
}

/* The same bit in two dwords of a sector: SQL Server's checksum cannot see it. */
static void damage_that_only_the_chain_sees_is_damage(void **state)
{
    (void)state;
    struct log_image *image = log_image_make(FILE_BYTES, 512, 0);
    for (int i = 0; i < 10; i++)
        log_image_add(image, 200);
    uint64_t offset = image->blocks[5].offset;
    image->bytes[offset + 200] ^= 0x10;
    image->bytes[offset + 204] ^= 0x10;
    struct log_scan scan = run(image, false);
    assert_int_equal(scan.damage_count, 0);
    scan = run(image, true);
    expect_one_damage(&scan, offset, LOG_BLOCK_BAD_CHAIN, true);
    log_image_free(image);
}

static void wrong_size_of_the_previous_block_is_damage_without_a_chain(void **state)
{
    (void)state;
    struct log_image *image = log_image_make(FILE_BYTES, 512, 0);
    for (int i = 0; i < 5; i++)
        log_image_add(image, 200);
    image->previous_bytes = 1024;
    const struct placed_block *wrong = log_image_add(image, 200);
    log_image_add(image, 200);
    struct log_scan scan = run(image, false);
    expect_one_damage(&scan, wrong->offset, LOG_BLOCK_BAD_CHAIN, true);
    log_image_free(image);
}

/* A block written to the place of another one of the same use: never the mark of a crash. */
static void misplaced_last_block_is_damage(void **state)
{
    (void)state;
    struct log_image *image = log_image_make(FILE_BYTES, 512, 0);
    for (int i = 0; i < 5; i++)
        log_image_add(image, 200);
    memcpy(image->bytes + image->at, image->bytes + image->blocks[2].offset, 512);
    struct log_scan scan = run(image, true);
    expect_one_damage(&scan, image->at, LOG_BLOCK_BAD_PLACE, false);
    assert_int_equal(scan.blocks, 5);
    log_image_free(image);
}

/* ---- VLF headers ---- */

static void damaged_vlf_header_is_found_and_the_next_one_too(void **state)
{
    (void)state;
    struct log_image *image = image_with_switches(1024 * 1024, 512, 3);
    uint64_t wrong = image->vlfs[1].offset;
    image->bytes[wrong] ^= 0x01;
    struct log_scan scan = run(image, true);
    expect_one_damage(&scan, wrong, LOG_BLOCK_BAD_VLF, false);
    assert_int_equal(scan.vlf_count, 3);
    assert_int_equal(scan.end_crc, image->crc);
    log_image_free(image);
}

static void every_flipped_bit_of_a_used_vlf_header_is_seen(void **state)
{
    (void)state;
    struct log_image *image = log_image_make(1024 * 1024, 512, 0);
    for (int i = 0; i < 4; i++) {
        if (i != 0)
            log_image_switch(image);
        log_image_add(image, 100);
    }
    uint8_t *header = image->bytes + image->vlfs[1].offset;
    for (size_t byte = 0; byte < VLF_HEADER_BYTES; byte += byte < 64 ? 1 : 331) {
        bool free_field = (byte >= 0x0C && byte < 0x10) || /* use count: only its parity counts */
                          (byte >= 0x20 && byte < 0x2A);   /* create LSN: any is possible */
        if (free_field)
            continue;
        header[byte] ^= 0x08;
        struct log_scan scan = run(image, true);
        if (scan.damage_count == 0)
            fail_msg("byte %zu", byte);
        header[byte] ^= 0x08;
    }
    log_image_free(image);
}

static void missing_sequence_number_is_damage_unless_allowed(void **state)
{
    (void)state;
    struct log_image *image = image_with_blocks(1024 * 1024, 512, 10);
    log_image_switch(image);
    image->next_fseq++;
    log_image_switch(image);
    log_image_add_random(image);
    struct log_scan scan = run(image, true);
    expect_one_damage(&scan, image->vlfs[2].offset, LOG_BLOCK_GAP, false);
    scan.gaps_allowed = true;
    assert_int_equal(log_scan_run(&scan), 0);
    assert_int_equal(scan.damage_count, 0);
    log_image_free(image);
}

static void sequence_number_used_twice_is_damage(void **state)
{
    (void)state;
    struct log_image *image = image_with_blocks(1024 * 1024, 512, 10);
    image->next_fseq--;
    log_image_switch(image);
    struct log_scan scan = run(image, true);
    expect_one_damage(&scan, image->vlfs[1].offset, LOG_BLOCK_BAD_VLF, false);
    log_image_free(image);
}

/* The write of the header of the newest VLF was lost, its blocks are there.  On reuse, what is left
 * of the old use behind them is a second thing to report. */
static void lost_vlf_header_write_is_damage(void **state)
{
    (void)state;
    for (unsigned switches = 1; switches <= 4; switches += 3) {
        struct log_image *image = image_with_switches(FILE_BYTES, 512, switches);
        struct vlf_header vlf = image->vlfs[image->current];
        uint32_t lost_fseq = vlf.fseq;
        vlf.fseq = vlf.use_count == 1 ? 0 : vlf.fseq - 2;
        vlf.use_count--;
        vlf_header_build(image->bytes + vlf.offset, &vlf);
        struct log_scan scan = run(image, true);
        assert_in_range(scan.damage_count, 1, switches == 1 ? 1 : 2);
        const struct log_damage *damage = &scan.damage[scan.damage_count - 1];
        assert_int_equal(damage->what, LOG_BLOCK_BAD_VLF);
        assert_int_equal(damage->offset, vlf.offset);
        assert_int_equal(damage->fseq, lost_fseq);
        log_image_free(image);
    }
}

static void truncated_file_is_damage(void **state)
{
    (void)state;
    struct log_image *image = image_with_switches(FILE_BYTES, 512, 1);
    struct log_scan scan = log_image_scan_of(image, true);
    image->size_bytes -= 8192;
    scan.file_bytes = image->size_bytes;
    assert_int_equal(log_scan_run(&scan), 0);
    expect_one_damage(&scan, image->vlfs[1].offset, LOG_BLOCK_BAD_VLF, false);
    log_image_free(image);
}

/* ---- errors ---- */

static void file_that_is_no_log_is_refused(void **state)
{
    (void)state;
    struct log_image *image = log_image_make(FILE_BYTES, 512, 0);
    memset(image->bytes, 0, image->size_bytes);
    struct log_scan scan = log_image_scan_of(image, true);
    assert_int_equal(log_scan_run(&scan), -EINVAL);
    scan.file_bytes = 8192;
    assert_int_equal(log_scan_run(&scan), -EINVAL);
    scan.file_bytes = 0;
    assert_int_equal(log_scan_run(&scan), -EINVAL);
    log_image_free(image);
}

struct failing {
    struct log_image *image;
    int calls_left;
};

static int fail_later(void *context, uint64_t offset, void *buf, size_t size_bytes)
{
    struct failing *failing = context;
    if (failing->calls_left-- == 0)
        return -EIO;
    return log_image_read(failing->image, offset, buf, size_bytes);
}

static void read_error_ends_the_scan_wherever_it_comes(void **state)
{
    (void)state;
    struct log_image *image = image_with_switches(2048 * 1024, 512, 2);
    struct failing failing = {.image = image};
    struct log_scan scan = log_image_scan_of(image, true);
    scan.reader = (struct log_reader){fail_later, &failing};
    int calls = 0;
    do {
        failing.calls_left = calls++;
    } while (log_scan_run(&scan) == -EIO);
    assert_true(calls > 5); /* four headers and at least one window of blocks */
    expect_whole(image, &scan);
    log_image_free(image);
}

static void more_damage_than_there_is_room_for_is_counted(void **state)
{
    (void)state;
    struct log_image *image = log_image_make(FILE_BYTES, 512, 0);
    for (int i = 0; i < 201; i++)
        log_image_add(image, 200);
    for (int i = 0; i < 200; i += 2)
        image->bytes[image->blocks[i].offset + 100] ^= 1;
    struct log_scan scan = run(image, true);
    assert_int_equal(scan.damage_count, 100);
    assert_int_equal(scan.blocks, 101);
    log_image_free(image);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(real_log_of_2008_is_whole),
        cmocka_unit_test(real_log_of_2005_is_whole),
        cmocka_unit_test(log_in_its_first_vlf_is_whole),
        cmocka_unit_test(log_over_all_uses_of_its_vlfs_is_whole),
        cmocka_unit_test(log_ends_in_the_remains_of_the_previous_use),
        cmocka_unit_test(log_that_ends_with_a_full_vlf_says_so),
        cmocka_unit_test(log_without_a_block_is_empty),
        cmocka_unit_test(new_vlf_without_a_block_leaves_the_end_where_it_was),
        cmocka_unit_test(blocks_and_records_arrive_in_order),
        cmocka_unit_test(scan_can_be_run_again),
        cmocka_unit_test(block_lost_in_the_middle_is_damage),
        cmocka_unit_test(block_of_zeros_in_the_middle_is_damage),
        cmocka_unit_test(lost_tail_ends_the_log_before_it),
        cmocka_unit_test(torn_last_block_ends_the_log_and_is_no_damage),
        cmocka_unit_test(torn_block_before_a_newer_one_is_damage),
        cmocka_unit_test(block_of_an_older_use_in_the_middle_is_damage),
        cmocka_unit_test(lost_last_block_of_an_older_vlf_breaks_the_chain),
        cmocka_unit_test(torn_last_block_of_an_older_vlf_is_damage_without_a_chain),
        cmocka_unit_test(torn_tail_that_the_chain_passes_over_is_no_damage),
        cmocka_unit_test(torn_tail_before_an_empty_vlf_is_the_end_of_the_log),
        cmocka_unit_test(log_of_another_run_does_not_start_the_chain),
        cmocka_unit_test(chain_of_a_log_whose_start_was_overwritten_is_taken_as_given),
        cmocka_unit_test(block_of_another_history_breaks_the_chain),
        cmocka_unit_test(damage_that_only_the_chain_sees_is_damage),
        cmocka_unit_test(wrong_size_of_the_previous_block_is_damage_without_a_chain),
        cmocka_unit_test(misplaced_last_block_is_damage),
        cmocka_unit_test(damaged_vlf_header_is_found_and_the_next_one_too),
        cmocka_unit_test(every_flipped_bit_of_a_used_vlf_header_is_seen),
        cmocka_unit_test(missing_sequence_number_is_damage_unless_allowed),
        cmocka_unit_test(sequence_number_used_twice_is_damage),
        cmocka_unit_test(lost_vlf_header_write_is_damage),
        cmocka_unit_test(truncated_file_is_damage),
        cmocka_unit_test(file_that_is_no_log_is_refused),
        cmocka_unit_test(read_error_ends_the_scan_wherever_it_comes),
        cmocka_unit_test(more_damage_than_there_is_room_for_is_counted),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
