/*
 * test_page_oracle.c - data files against what was not written by this project: real SQL Server
 * files, and an independent verifier of SQL Server's formats that judges a file of ours.
 *
 * Needs the folder shared/ beside the source tree (data/mdf, tools/mdfcheck.py) and python3;
 * skipped without them.
 */
#include "tests/unit/page_fixture.h"

#include <errno.h>
#include <fcntl.h>
#include <jansson.h>
#include <sys/stat.h>

#include "verify/checksum.h"
#include "verify/syspage.h"
#include "verify/torn.h"

#define SHARED        SOURCE_DIR "/../shared"
#define MDFCHECK      SHARED "/tools/mdfcheck.py"
#define NORTHWIND     SHARED "/data/mdf/northwnd_2008_checksum.mdf"
#define PUBS          SHARED "/data/mdf/pubs_2005_torn.mdf"

#define PFS_ALLOCATED 0x40

static void skip_unless_readable(const char *path)
{
    if (access(path, R_OK) != 0) {
        print_message("SKIP: %s is not here: %s\n", path, strerror(errno));
        skip();
    }
}

/* A whole file; the caller frees it. */
static uint8_t *load(const char *path, uint32_t *pages)
{
    struct stat st;
    int fd = open(path, O_RDONLY);

    assert_true(fd >= 0);
    assert_int_equal(fstat(fd, &st), 0);
    uint8_t *bytes = malloc((size_t)st.st_size);
    assert_non_null(bytes);
    assert_int_equal(read(fd, bytes, (size_t)st.st_size), st.st_size);
    close(fd);
    *pages = (uint32_t)(st.st_size / PAGE_BYTES);
    return bytes;
}

/* --- real files --- */

struct real_count {
    unsigned checksum, torn, unprotected, bad;
};

static bool real_page_allocated(const uint8_t *file, uint32_t page_no)
{
    uint8_t pfs[PAGE_BYTES];

    memcpy(pfs, file + (size_t)syspage_pfs_of(page_no) * PAGE_BYTES, sizeof(pfs));
    if (page_header_of(pfs)->flags & PAGE_FLAG_TORN)
        torn_restore(pfs);
    return pfs_get(pfs, page_no) & PFS_ALLOCATED;
}

static void count_page(struct real_count *count, const uint8_t *page, uint32_t page_no)
{
    const struct page_header *header = page_header_of(page);
    bool right = header->page_no == page_no && header->header_version == 1;

    if (header->flags & PAGE_FLAG_CHECKSUM) {
        right &= header->torn_bits == sector_fold(page, PAGE_BYTES, PAGE_OFFSET_TORN_BITS);
        count->checksum++;
    } else if (header->flags & PAGE_FLAG_TORN) {
        right &= torn_check(page);
        count->torn++;
    } else {
        count->unprotected++;
    }
    count->bad += !right;
}

static struct real_count count_real(const char *path)
{
    struct real_count count = {0};
    uint32_t pages;
    uint8_t *file = load(path, &pages);

    for (uint32_t page_no = 0; page_no < pages; page_no++)
        if (real_page_allocated(file, page_no))
            count_page(&count, file + (size_t)page_no * PAGE_BYTES, page_no);
    free(file);
    return count;
}

/* Counts: printed by mdfcheck.py for these files (alloc_cksum_ok, alloc_torn_ok,
 * alloc_unprotected). */
static void test_every_allocated_page_of_a_checksum_database(void **state)
{
    (void)state;
    skip_unless_readable(NORTHWIND);
    struct real_count count = count_real(NORTHWIND);
    assert_int_equal(count.bad, 0);
    assert_int_equal(count.checksum, 373);
    assert_int_equal(count.torn, 0);
    assert_int_equal(count.unprotected, 2);
}

static void test_every_allocated_page_of_a_torn_bits_database(void **state)
{
    (void)state;
    skip_unless_readable(PUBS);
    struct real_count count = count_real(PUBS);
    assert_int_equal(count.bad, 0);
    assert_int_equal(count.checksum, 0);
    assert_int_equal(count.torn, 223);
    assert_int_equal(count.unprotected, 2);
}

/* size in pages = bytes / 8192 */
static void real_header_is_foreign(const char *path, uint16_t file_id)
{
    uint32_t pages;
    struct file_mark mark;
    struct file_header_info info;

    skip_unless_readable(path);
    uint8_t *file = load(path, &pages);
    assert_int_equal(file_mark_read(file, &mark), -ENOENT);
    assert_true(file_header_read(file, &info));
    assert_int_equal(info.file_id, file_id);
    assert_int_equal(info.size_pages, pages);
    assert_int_equal(info.sector_bytes, 512);
    free(file);
}

static void test_header_of_a_real_data_file_is_foreign(void **state)
{
    (void)state;
    real_header_is_foreign(NORTHWIND, 1);
}

static void test_header_of_a_real_torn_bits_file_is_foreign(void **state)
{
    (void)state;
    real_header_is_foreign(PUBS, 1);
}

static void test_header_of_a_real_log_file_is_foreign(void **state)
{
    (void)state;
    real_header_is_foreign(SHARED "/data/mdf/northwnd_2008_checksum_log.ldf", 2);
}

/* Every kind of system page that the file has stands where syspage_kind says. */
static void test_system_pages_of_a_real_file_stand_where_ours_do(void **state)
{
    static const uint8_t types[] = {15, 11, 8, 9, 0, 0, 16, 17};
    uint32_t pages;
    (void)state;
    skip_unless_readable(NORTHWIND);
    uint8_t *file = load(NORTHWIND, &pages);
    for (uint32_t page_no = 0; page_no < 8; page_no++)
        assert_int_equal(page_header_of(file + (size_t)page_no * PAGE_BYTES)->type, types[page_no]);
    assert_int_equal(page_header_of(file + (size_t)9 * PAGE_BYTES)->type, 13);
    free(file);
}

/* A page of SQL Server is whole by its own rule and has no stamp of ours. */
static void test_real_pages_have_no_stamp(void **state)
{
    uint32_t pages;
    (void)state;
    skip_unless_readable(NORTHWIND);
    uint8_t *file = load(NORTHWIND, &pages);
    assert_int_equal(page_check(file + (size_t)9 * PAGE_BYTES), PAGE_BAD_MAGIC);
    assert_int_equal(page_check(file + (size_t)50 * PAGE_BYTES), PAGE_BAD_MAGIC);
    free(file);
}

/* --- a file of ours before the independent verifier --- */

struct oracle {
    char path[64];
    uint32_t pages;
    uint8_t *file;
    struct run_identity run;
};

static const struct lsn log_end = {60, 400, 9};

static uint8_t *oracle_page(const struct oracle *o, uint32_t page_no)
{
    return o->file + (size_t)page_no * PAGE_BYTES;
}

static void build_system_page(struct oracle *o, enum syspage_kind kind, uint32_t page_no)
{
    struct file_mark mark = {.file_uid = 1,
                             .incarnation = 1,
                             .file_id = 1,
                             .database_id = 5,
                             .kind = FILE_KIND_DATA,
                             .size_pages = o->pages,
                             .sector_bytes = 512,
                             .seed = 42};
    memcpy(mark.run_id, o->run.run_id, RUN_ID_BYTES);

    if (kind == SYSPAGE_FILE_HEADER)
        syspage_build_file_header(oracle_page(o, page_no), &mark);
    else if (kind == SYSPAGE_BOOT)
        syspage_build_boot(oracle_page(o, page_no), &mark, "oracle");
    else if (kind != SYSPAGE_RESERVED)
        syspage_build_map(oracle_page(o, page_no), kind, page_no, 1);
}

static void build_page(struct oracle *o, uint32_t page_no)
{
    enum syspage_kind kind = syspage_kind(page_no, true);
    struct page_identity id = {1, 1, 1, page_no, page_no % 3 + 1};

    if (kind != SYSPAGE_NONE) {
        build_system_page(o, kind, page_no);
        return;
    }
    page_fill(oracle_page(o, page_no), &o->run, &id, 7);
    page_seal(oracle_page(o, page_no), log_end, 1700000000000000000u);
}

static void allocate_page(struct oracle *o, uint32_t page_no)
{
    enum syspage_kind kind = syspage_kind(page_no, true);
    uint8_t value = kind == SYSPAGE_RESERVED ? 0
                    : kind == SYSPAGE_IAM    ? PFS_BYTE_IAM
                                             : PFS_BYTE_FULL;

    pfs_set(oracle_page(o, syspage_pfs_of(page_no)), page_no, value);
    bitmap_set(oracle_page(o, 2), page_no / EXTENT_PAGES, false);
    bitmap_set(oracle_page(o, 6), page_no / EXTENT_PAGES, true);
    bitmap_set(oracle_page(o, 8), page_no / EXTENT_PAGES, true);
}

static void save(const struct oracle *o)
{
    int fd = open(o->path, O_WRONLY | O_TRUNC);
    size_t size_bytes = (size_t)o->pages * PAGE_BYTES;

    assert_true(fd >= 0);
    assert_int_equal(write(fd, o->file, size_bytes), (ssize_t)size_bytes);
    close(fd);
}

/* All extents allocated, pages 4 and 5 not. */
static struct oracle oracle_make(uint32_t pages)
{
    struct oracle o = {
        .path = "/tmp/pagestorm-oracle-XXXXXX.mdx", .pages = pages, .run = fixture_run(42, 0)};
    int fd = mkstemps(o.path, 4);

    assert_true(fd >= 0);
    close(fd);
    o.file = calloc(pages, PAGE_BYTES);
    assert_non_null(o.file);
    for (uint32_t page_no = 0; page_no < pages; page_no++)
        build_page(&o, page_no);
    boot_set_checkpoint(oracle_page(&o, 9), log_end);
    for (uint32_t page_no = 0; page_no < pages; page_no++)
        allocate_page(&o, page_no);
    for (uint32_t page_no = 0; page_no < pages; page_no++) {
        enum syspage_kind kind = syspage_kind(page_no, true);
        if (kind != SYSPAGE_NONE && kind != SYSPAGE_RESERVED)
            syspage_seal(oracle_page(&o, page_no), log_end);
    }
    save(&o);
    return o;
}

static void oracle_free(struct oracle *o)
{
    unlink(o->path);
    free(o->file);
}

static void skip_without_oracle(void)
{
    skip_unless_readable(MDFCHECK);
    if (system("python3 -c pass >/dev/null 2>&1") != 0) {
        print_message("SKIP: there is no python3\n");
        skip();
    }
}

/* Run mdfcheck.py; *verified gets its count of allocated pages whose checksum is right. */
static int oracle_verdict(const struct oracle *o, json_int_t *verified)
{
    char command[512];
    static char line[1 << 20];
    json_t *report = NULL;

    snprintf(command, sizeof(command), "python3 '%s' --json '%s'", MDFCHECK, o->path);
    FILE *pipe = popen(command, "r");
    assert_non_null(pipe);
    assert_non_null(fgets(line, sizeof(line), pipe));
    report = json_loads(line, 0, NULL);
    assert_non_null(report); /* it judged the file: exit code 1 is not a crash of the oracle */
    while (fgets(line, sizeof(line), pipe) != NULL)
        ;
    int status = pclose(pipe);
    if (verified != NULL) {
        json_t *count = json_object_get(json_object_get(report, "counts"), "alloc_cksum_ok");
        assert_true(json_is_integer(count));
        *verified = json_integer_value(count);
    }
    json_decref(report);
    assert_true(WIFEXITED(status));
    return WEXITSTATUS(status);
}

static void oracle_accepts(uint32_t pages)
{
    json_int_t verified;

    skip_without_oracle();
    struct oracle o = oracle_make(pages);
    assert_int_equal(oracle_verdict(&o, &verified), 0);
    assert_int_equal(verified, pages - 2); /* all but 4 and 5 */
    oracle_free(&o);
}

static void test_oracle_accepts_64_pages(void **state)
{
    (void)state;
    oracle_accepts(64);
}

/* Two PFS pages: 1 and 8,088. */
static void test_oracle_accepts_a_second_pfs_interval(void **state)
{
    (void)state;
    oracle_accepts(8104);
}

/* The bytes differ from what the page's protection says: one bit in the middle of each structure.
 */
static void oracle_finds_damage_in(uint32_t page_no)
{
    skip_without_oracle();
    struct oracle o = oracle_make(64);
    oracle_page(&o, page_no)[4321] ^= 0x20;
    save(&o);
    int exit_code = oracle_verdict(&o, NULL);
    oracle_free(&o);
    assert_int_equal(exit_code, 1);
}

static void test_oracle_finds_damage_in_the_file_header(void **state)
{
    (void)state;
    oracle_finds_damage_in(0);
}

static void test_oracle_finds_damage_in_the_pfs_page(void **state)
{
    (void)state;
    oracle_finds_damage_in(1);
}

static void test_oracle_finds_damage_in_the_gam(void **state)
{
    (void)state;
    oracle_finds_damage_in(2);
}

static void test_oracle_finds_damage_in_the_sgam(void **state)
{
    (void)state;
    oracle_finds_damage_in(3);
}

static void test_oracle_finds_damage_in_the_diff_map(void **state)
{
    (void)state;
    oracle_finds_damage_in(6);
}

static void test_oracle_finds_damage_in_the_ml_map(void **state)
{
    (void)state;
    oracle_finds_damage_in(7);
}

static void test_oracle_finds_damage_in_the_iam(void **state)
{
    (void)state;
    oracle_finds_damage_in(8);
}

static void test_oracle_finds_damage_in_the_boot_page(void **state)
{
    (void)state;
    oracle_finds_damage_in(9);
}

static void test_oracle_finds_damage_in_a_data_page(void **state)
{
    (void)state;
    oracle_finds_damage_in(63);
}

/* Sealed and whole, but GAM and PFS disagree: the maps mean something, they are not only checksums.
 */
static void test_oracle_finds_an_extent_that_the_gam_calls_free(void **state)
{
    (void)state;
    skip_without_oracle();
    struct oracle o = oracle_make(64);
    bitmap_set(oracle_page(&o, 2), 3, true);
    syspage_seal(oracle_page(&o, 2), log_end);
    save(&o);
    int exit_code = oracle_verdict(&o, NULL);
    oracle_free(&o);
    assert_int_equal(exit_code, 1);
}

static void test_oracle_finds_a_page_in_another_place(void **state)
{
    (void)state;
    skip_without_oracle();
    struct oracle o = oracle_make(64);
    memcpy(oracle_page(&o, 20), oracle_page(&o, 21), PAGE_BYTES);
    save(&o);
    int exit_code = oracle_verdict(&o, NULL);
    oracle_free(&o);
    assert_int_equal(exit_code, 1);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_every_allocated_page_of_a_checksum_database),
        cmocka_unit_test(test_every_allocated_page_of_a_torn_bits_database),
        cmocka_unit_test(test_header_of_a_real_data_file_is_foreign),
        cmocka_unit_test(test_header_of_a_real_torn_bits_file_is_foreign),
        cmocka_unit_test(test_header_of_a_real_log_file_is_foreign),
        cmocka_unit_test(test_system_pages_of_a_real_file_stand_where_ours_do),
        cmocka_unit_test(test_real_pages_have_no_stamp),
        cmocka_unit_test(test_oracle_accepts_64_pages),
        cmocka_unit_test(test_oracle_accepts_a_second_pfs_interval),
        cmocka_unit_test(test_oracle_finds_damage_in_the_file_header),
        cmocka_unit_test(test_oracle_finds_damage_in_the_pfs_page),
        cmocka_unit_test(test_oracle_finds_damage_in_the_gam),
        cmocka_unit_test(test_oracle_finds_damage_in_the_sgam),
        cmocka_unit_test(test_oracle_finds_damage_in_the_diff_map),
        cmocka_unit_test(test_oracle_finds_damage_in_the_ml_map),
        cmocka_unit_test(test_oracle_finds_damage_in_the_iam),
        cmocka_unit_test(test_oracle_finds_damage_in_the_boot_page),
        cmocka_unit_test(test_oracle_finds_damage_in_a_data_page),
        cmocka_unit_test(test_oracle_finds_an_extent_that_the_gam_calls_free),
        cmocka_unit_test(test_oracle_finds_a_page_in_another_place),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
