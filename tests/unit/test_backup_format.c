/*
 * test_backup_format.c - meta pages, loading a backup, deltas of system pages, redo.
 *
 * The backup that is loaded was laid out byte by byte from the description (the fuzzer's corpus).
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "verify/backup.h"
#include "verify/redo.h"
#include "verify/syspage_hash.h"

static _Alignas(4096) uint8_t memory[BACKUP_META_BYTES];
static uint8_t page[PAGE_BYTES], other[PAGE_BYTES];

/* ---- meta pages ---- */

static void header_make(uint8_t out[BACKUP_META_BYTES], uint64_t offset)
{
    struct backup_header header = {.meta = {.magic = BACKUP_MAGIC,
                                            .version = BACKUP_VERSION,
                                            .type = BACKUP_HEADER,
                                            .number = 4,
                                            .offset = offset}};
    memcpy(out, &header, sizeof header);
    backup_meta_seal(out);
}

static void each_wrong_meta_page_is_told_apart(void **state)
{
    (void)state;
    header_make(page, 8192);
    assert_int_equal(backup_meta_check(page, BACKUP_HEADER, 8192, NULL), BACKUP_OK);
    assert_int_equal(backup_meta_check(page, BACKUP_HEADER, 16384, NULL), BACKUP_OTHER);
    assert_int_equal(backup_meta_check(page, BACKUP_TRAILER, 8192, NULL), BACKUP_OTHER);
    page[5000] ^= 1;
    assert_int_equal(backup_meta_check(page, BACKUP_HEADER, 8192, NULL), BACKUP_DAMAGED);
    page[0] ^= 1;
    assert_int_equal(backup_meta_check(page, BACKUP_HEADER, 8192, NULL), BACKUP_FOREIGN);
    memset(page, 0, sizeof page);
    assert_int_equal(backup_meta_check(page, BACKUP_HEADER, 8192, NULL), BACKUP_ZERO);
}

/* ---- loading ---- */

/* header 8,192 | block 512 | directory 8,192 | trailer 8,192, behind page 0 */
#define IMAGE_BYTES  (8192 + 512 + 8192 + 8192)
#define DIRECTORY_AT (8192 + 8192 + 512)

/* Of the backup before in the same file, of another database's file, of another run: sound, and
 * still not a part of this backup. */
static void a_meta_page_of_another_backup_is_told_apart(void **state)
{
    struct backup_header of, stranger;
    (void)state;
    header_make(page, 8192);
    memcpy(&of, page, sizeof of);
    assert_int_equal(backup_meta_check(page, BACKUP_HEADER, 8192, &of), BACKUP_OK);
    stranger = of;
    stranger.meta.number++;
    assert_int_equal(backup_meta_check(page, BACKUP_HEADER, 8192, &stranger), BACKUP_OTHER);
    stranger = of;
    stranger.meta.file_uid++;
    assert_int_equal(backup_meta_check(page, BACKUP_HEADER, 8192, &stranger), BACKUP_OTHER);
    stranger = of;
    stranger.meta.run_id[RUN_ID_BYTES - 1]++;
    assert_int_equal(backup_meta_check(page, BACKUP_HEADER, 8192, &stranger), BACKUP_OTHER);
}

static uint8_t image[IMAGE_BYTES];

static int image_read(void *context, uint64_t offset, void *buf, size_t size_bytes)
{
    (void)context;
    assert_true(offset >= BACKUP_FIRST_OFFSET);
    assert_true(offset - BACKUP_FIRST_OFFSET + size_bytes <= IMAGE_BYTES);
    memcpy(buf, image + offset - BACKUP_FIRST_OFFSET, size_bytes);
    backup_meta_seal(buf);
    return 0;
}

static void image_load(void)
{
    FILE *file = fopen(SOURCE_DIR "/tests/fuzz/corpus/backup/one_log_block", "rb");
    assert_non_null(file);
    assert_int_equal(fgetc(file), 1); /* of the fuzzer */
    assert_int_equal(fread(image, 1, IMAGE_BYTES, file), IMAGE_BYTES);
    fclose(file);
}

static int load(struct backup_set *set, uint32_t previous)
{
    struct backup_reader reader = {image_read, NULL, BACKUP_FIRST_OFFSET + IMAGE_BYTES};
    return backup_set_load(set, &reader, BACKUP_FIRST_OFFSET, previous, memory);
}

static void a_backup_is_loaded_as_it_is_described(void **state)
{
    struct backup_set set;
    (void)state;
    image_load();
    assert_int_equal(load(&set, 0), 0);
    assert_int_equal(set.count, 1);
    assert_string_equal(set.header.files[0].name, "data.mdx");
    assert_string_equal(set.header.database, "pagestorm1");
    assert_int_equal(set.blocks[0].offset, 16384);
    assert_int_equal(set.blocks[0].first, 9);
    assert_int_equal(set.blocks[0].parity, 0x40);
    assert_int_equal(backup_set_end(&set), BACKUP_FIRST_OFFSET + IMAGE_BYTES);
    backup_set_free(&set);
    assert_int_equal(load(&set, 1), -ENOENT); /* not newer than the one before it */
    image[68] = 0;                            /* `complete` */
    assert_int_equal(load(&set, 0), -EINPROGRESS);
    image[68] = 1;
    image[DIRECTORY_AT - 8192 + 128] = 1; /* the block's offset: 16,385 */
    assert_int_equal(load(&set, 0), -EBADMSG);
}

/* ---- deltas ---- */

static uint64_t next_random(uint64_t *state)
{
    *state ^= *state << 13;
    *state ^= *state >> 7;
    *state ^= *state << 17;
    return *state;
}

static void a_delta_makes_the_page_after_from_the_page_before(void **state)
{
    uint8_t delta[PAGE_BYTES];
    (void)state;
    uint64_t seed = 17;
    for (unsigned round = 0; round < 300; round++) {
        for (size_t i = 0; i < PAGE_BYTES; i++)
            page[i] = other[i] = (uint8_t)next_random(&seed);
        for (uint64_t i = next_random(&seed) % 40; i > 0; i--)
            other[next_random(&seed) % PAGE_BYTES] = (uint8_t)next_random(&seed);
        size_t bytes = syspage_delta_make(page, other, delta, sizeof delta);
        assert_true(bytes <= sizeof delta);
        memset(delta + bytes, 0, 3); /* as a record may be padded */
        assert_true(syspage_delta_apply(page, delta, bytes + 3));
        assert_int_equal(syspage_content_xxh3(page), syspage_content_xxh3(other));
    }
    assert_int_equal(syspage_delta_make(page, other, delta, 0), 0);
    other[4000] ^= 1;
    assert_true(syspage_delta_make(page, other, delta, 4) == SIZE_MAX);
}

/* ---- redo ---- */

static const uint8_t run_id[RUN_ID_BYTES] = {1, 2, 3};

static struct redo_file *redo_make(struct redo *redo)
{
    struct run_identity run = run_identity_make(run_id, 5, 0);
    struct file_mark mark = {
        .file_uid = 1, .incarnation = 1, .file_id = 1, .size_pages = 100, .sector_bytes = 512};
    memcpy(mark.run_id, run_id, sizeof run_id);
    redo_init(redo, &run, "db");
    return redo_add_file(redo, &mark, true);
}

static int note(struct redo *redo, uint32_t page_no, uint64_t generation, uint32_t block)
{
    struct log_page_change change = {.magic = LOG_CHANGE_MAGIC,
                                     .file_uid = 1,
                                     .incarnation = 1,
                                     .page_no = page_no,
                                     .page_count = 1,
                                     .generation = generation};
    struct log_record_view record = {.lsn = {9, block, 2},
                                     .op = LOG_OP_MODIFY,
                                     .payload = (const uint8_t *)&change,
                                     .payload_bytes = sizeof change};
    return redo_note(redo, &record);
}

static void a_page_gets_its_newest_logged_generation_and_no_older_one(void **state)
{
    static struct redo redo;
    struct redo_file *file = redo_make(&redo);
    struct page_identity newest = {1, 1, 1, 50, 8};
    (void)state;
    assert_int_equal(note(&redo, 50, 7, 20), 0);
    assert_int_equal(note(&redo, 50, 8, 30), 0);
    assert_int_equal(note(&redo, UINT32_MAX, 8, 30), -EBADMSG);
    redo_prepare(&redo);
    memset(page, 0, sizeof page);
    assert_int_equal(redo_page(&redo, file, 50, page, 99), REDO_CHANGED);
    page_fill(other, &redo.run, &newest, 0);
    page_seal(other, (struct lsn){9, 30, 2}, 99);
    assert_memory_equal(page, other, PAGE_BYTES);
    assert_int_equal(redo_page(&redo, file, 50, page, 99), REDO_KEPT);
    newest.generation = 9; /* written after the end of the log that was noted */
    page_fill(page, &redo.run, &newest, 0);
    page_seal(page, (struct lsn){9, 40, 2}, 99);
    assert_int_equal(redo_page(&redo, file, 50, page, 99), REDO_KEPT);
    assert_int_equal(redo_page(&redo, file, 51, page, 99), REDO_KEPT);
    redo_free(&redo);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(each_wrong_meta_page_is_told_apart),
        cmocka_unit_test(a_meta_page_of_another_backup_is_told_apart),
        cmocka_unit_test(a_backup_is_loaded_as_it_is_described),
        cmocka_unit_test(a_delta_makes_the_page_after_from_the_page_before),
        cmocka_unit_test(a_page_gets_its_newest_logged_generation_and_no_older_one),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
