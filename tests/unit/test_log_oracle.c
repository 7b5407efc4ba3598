/*
 * test_log_oracle.c - our logs and our scan against an independent reader of SQL Server files.
 *
 * The oracle is ../shared/tools/mdfcheck.py beside the repository; without it or python3 the tests
 * are skipped.
 */
#include <fcntl.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>
#include <jansson.h>

#include "tests/unit/log_fixture.h"
#include "verify/syspage.h"

#define ORACLE     SOURCE_DIR "/../shared/tools/mdfcheck.py"
#define REAL_LOGS  SOURCE_DIR "/../shared/data/mdf"
#define FILE_BYTES (2048 * 1024) /* VLFs of 448, 448, 448, 696 KiB */

struct opinion {
    int exit_code;
    json_int_t blocks, records, complaints;
};

static void need_oracle(void)
{
    if (access(ORACLE, R_OK) != 0) {
        print_message("skipped: no %s\n", ORACLE);
        skip();
    }
    if (system("python3 -c '' 2>/dev/null") != 0) {
        print_message("skipped: no python3\n");
        skip();
    }
}

static json_int_t count_of(json_t *report, const char *name)
{
    return json_integer_value(json_object_get(json_object_get(report, "counts"), name));
}

static struct opinion ask_oracle(const char *path)
{
    char command[1200];
    struct opinion opinion;
    snprintf(command, sizeof(command), "python3 '%s' --json '%s'", ORACLE, path);
    FILE *pipe = popen(command, "r");
    assert_non_null(pipe);
    json_t *report = json_loadf(pipe, JSON_DISABLE_EOF_CHECK, NULL);
    assert_non_null(report);
    while (fgetc(pipe) != EOF)
        ;
    int status = pclose(pipe);
    assert_true(WIFEXITED(status));
    opinion.exit_code = WEXITSTATUS(status);
    opinion.blocks = count_of(report, "blocks");
    opinion.records = count_of(report, "records");
    opinion.complaints = (json_int_t)json_array_size(json_object_get(report, "bad"));
    json_decref(report);
    return opinion;
}

static struct opinion ask_oracle_about(const struct log_image *image)
{
    const char *dir = getenv("TMPDIR");
    char path[512];
    snprintf(path, sizeof(path), "%s/pagestorm-oracle-XXXXXX.ldx", dir != NULL ? dir : "/tmp");
    int fd = mkstemps(path, 4);
    assert_true(fd >= 0);
    FILE *file = fdopen(fd, "wb");
    assert_non_null(file);
    assert_int_equal(fwrite(image->bytes, 1, image->size_bytes, file), image->size_bytes);
    assert_int_equal(fclose(file), 0);
    struct opinion opinion = ask_oracle(path);
    unlink(path);
    return opinion;
}

static struct log_image *make_log(size_t sector_bytes, uint8_t fill, unsigned switches)
{
    struct log_image *image = log_image_make(FILE_BYTES, sector_bytes, fill);
    struct file_mark mark = {.file_uid = 2,
                             .incarnation = 1,
                             .file_id = 2,
                             .database_id = 1,
                             .kind = FILE_KIND_LOG,
                             .size_pages = FILE_BYTES / PAGE_BYTES,
                             .sector_bytes = (uint32_t)sector_bytes};
    syspage_build_file_header(image->bytes, &mark);
    syspage_seal(image->bytes, (struct lsn){0, 0, 0});
    while (image->next_fseq <= FIXTURE_FSEQ + switches)
        log_image_add_random(image);
    for (int i = 0; i < 12; i++)
        log_image_add(image, 32 + fixture_random(image) % 6000);
    return image;
}

static struct log_scan scan_log(struct log_image *image)
{
    struct log_scan scan = log_image_scan_of(image, true);
    assert_int_equal(log_scan_run(&scan), 0);
    return scan;
}

static void oracle_accepts_our_logs_and_counts_the_same(void **state)
{
    (void)state;
    static const struct {
        size_t sector_bytes;
        uint8_t fill;
        unsigned switches;
    } cases[] = {{512, 0xC0, 2}, {512, 0x00, 9}, {4096, 0xC0, 1}, {4096, 0xC0, 10}};
    need_oracle();
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        struct log_image *image = make_log(cases[i].sector_bytes, cases[i].fill, cases[i].switches);
        struct opinion opinion = ask_oracle_about(image);
        struct log_scan scan = scan_log(image);
        uint64_t records;
        uint64_t blocks = log_image_live_count(image, &records);
        size_t longest = 0;
        for (size_t k = 0; k < image->block_count; k++)
            longest = image->blocks[k].size_bytes > longest ? image->blocks[k].size_bytes : longest;
        assert_int_equal(longest, LOG_BLOCK_BYTES_MAX);
        assert_int_equal(opinion.exit_code, 0);
        assert_int_equal(opinion.complaints, 0);
        assert_int_equal(opinion.blocks, blocks);
        assert_int_equal(opinion.records, records);
        assert_int_equal(scan.damage_count, 0);
        assert_int_equal(scan.blocks, blocks);
        print_message("  %zu-byte sectors: %d blocks\n", cases[i].sector_bytes, (int)blocks);
        log_image_free(image);
    }
}

static int read_file(void *context, uint64_t offset, void *buf, size_t size_bytes)
{
    return pread(*(int *)context, buf, size_bytes, (off_t)offset) == (ssize_t)size_bytes ? 0 : -EIO;
}

static void oracle_and_scan_agree_on_real_logs(void **state)
{
    (void)state;
    static const char *const names[] = {"northwnd_2008_checksum_log.ldf", "pubs_2005_torn_log.ldf"};
    need_oracle();
    for (size_t i = 0; i < 2; i++) {
        char path[512];
        snprintf(path, sizeof(path), "%s/%s", REAL_LOGS, names[i]);
        int fd = open(path, O_RDONLY | O_CLOEXEC);
        if (fd < 0) {
            print_message("skipped: no %s\n", path);
            skip();
        }
        struct log_scan scan = {.reader = {read_file, &fd},
                                .file_bytes = (uint64_t)lseek(fd, 0, SEEK_END)};
        assert_int_equal(log_scan_run(&scan), 0);
        struct opinion opinion = ask_oracle(path);
        assert_int_equal(scan.damage_count, 0);
        assert_int_equal(scan.blocks, opinion.blocks);
        assert_int_equal(scan.records, opinion.records);
        close(fd);
    }
}

/* A whole block of at least four sectors in the middle of the newest VLF. */
static const struct placed_block *victim_of(const struct log_image *image)
{
    size_t i = image->block_count - 4;
    while (image->blocks[i].size_bytes < 2048)
        i--;
    assert_int_equal(image->blocks[i].fseq, image->next_fseq - 1);
    return &image->blocks[i];
}

static uint64_t place_in(const struct log_image *image, const struct placed_block *block,
                         const char *what)
{
    uint16_t used;
    memcpy(&used, image->bytes + block->offset + 4, sizeof(used));
    if (strcmp(what, "VLF header") == 0)
        return image->vlfs[image->current].offset;
    if (strcmp(what, "sequence") == 0)
        return block->offset + 0x0C;
    if (strcmp(what, "size") == 0)
        return block->offset + 0x07;
    if (strcmp(what, "stamp") == 0)
        return block->offset + 1024;
    if (strcmp(what, "chain") == 0)
        return block->offset + 0x50;
    if (strcmp(what, "body") == 0)
        return block->offset + 700;
    if (strcmp(what, "array") == 0)
        return block->offset + used - 1;
    assert_string_equal(what, "fix-up");
    return block->offset + block->size_bytes - 2;
}

static void damage_in_each_structure_is_reported_by_both(void **state)
{
    (void)state;
    static const char *const structures[] = {"VLF header", "sequence", "size",  "stamp",
                                             "chain",      "body",     "array", "fix-up"};
    need_oracle();
    struct log_image *image = make_log(512, 0xC0, 5);
    const struct placed_block *victim = victim_of(image);
    for (size_t i = 0; i < sizeof(structures) / sizeof(structures[0]); i++) {
        uint8_t *byte = image->bytes + place_in(image, victim, structures[i]);
        *byte ^= 0x40;
        struct opinion opinion = ask_oracle_about(image);
        struct log_scan scan = scan_log(image);
        print_message("  %s: %s\n", structures[i], log_block_check_text(scan.damage[0].what));
        assert_int_equal(opinion.exit_code, 1);
        assert_int_equal(scan.damage_count, 1);
        bool in_vlf_header = i == 0;
        assert_int_equal(scan.damage[0].offset,
                         in_vlf_header ? image->vlfs[image->current].offset : victim->offset);
        *byte ^= 0x40;
    }
    log_image_free(image);
}

static void lost_block_is_reported_by_both(void **state)
{
    (void)state;
    need_oracle();
    for (size_t sector = 512; sector <= 4096; sector += 3584) {
        struct log_image *image = make_log(sector, 0xC0, 5);
        const struct placed_block *victim = victim_of(image);
        memset(image->bytes + victim->offset, 0xC0, victim->size_bytes);
        struct log_scan scan = scan_log(image);
        assert_int_equal(ask_oracle_about(image).exit_code, 1);
        assert_int_equal(scan.damage_count, 1);
        assert_int_equal(scan.damage[0].offset, victim->offset);
        log_image_free(image);
    }
}

static void lost_tail_is_the_end_of_the_log_to_both(void **state)
{
    (void)state;
    need_oracle();
    struct log_image *image = make_log(512, 0xC0, 5);
    struct placed_block last = image->blocks[--image->block_count];
    memset(image->bytes + last.offset, 0xC0, last.size_bytes);
    struct opinion opinion = ask_oracle_about(image);
    struct log_scan scan = scan_log(image);
    uint64_t records;
    assert_int_equal(opinion.exit_code, 0);
    assert_int_equal(opinion.blocks, log_image_live_count(image, &records));
    assert_int_equal(scan.blocks, opinion.blocks);
    assert_int_equal(scan.damage_count, 0);
    log_image_free(image);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(oracle_accepts_our_logs_and_counts_the_same),
        cmocka_unit_test(oracle_and_scan_agree_on_real_logs),
        cmocka_unit_test(damage_in_each_structure_is_reported_by_both),
        cmocka_unit_test(lost_block_is_reported_by_both),
        cmocka_unit_test(lost_tail_is_the_end_of_the_log_to_both),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
