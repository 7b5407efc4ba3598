/* test_sparse.c - a sparse data file: it begins with system pages only, an extent is allocated when
 * a user changes one of its pages, and zeros are demanded of the rest. */
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include <cmocka.h>

#include "tests/model/seeds.h"

#define SEEDS           20
#define SECONDS         2
#define EXTENTS         256 /* of 16 MiB, below the second PFS page */
#define STAT_BLOCK_SIZE 512
#define HOLE            8090 /* beside the second PFS page, 8,088: its extent is of no user */

static void begin(struct sim *sim, const char *users)
{
    struct sim_options options = {
        .seed = 11,
        .data_bytes = 80 << 20, /* a second PFS page: 8,088 pages */
        .duration_ns = NS_PER_S,
        .sparse = true,
        .settings = {{"RandomUser", "UserCount", users}, {"BulkUpdateUser", "UserCount", users}}};
    sim_begin(sim, &options);
}

static bool is_zero(const uint8_t *page)
{
    return page[0] == 0 && memcmp(page, page + 1, PAGE_BYTES - 1) == 0;
}

/* 0 header, 1 PFS, 2 GAM, 3 SGAM, 6 DIFF, 7 ML, 9 boot, IAM, 8088 PFS: SQL Server's places. */
static void the_initial_update_writes_system_pages_only(void **state)
{
    struct sim sim;
    char path[SIM_PATH_MAX];
    uint8_t page[PAGE_BYTES];
    unsigned written = 0;
    (void)state;
    begin(&sim, "0");
    sim.options.duration_ns = sim.plan.test_cycle_ns = 1;
    sim_run(&sim);
    assert_int_equal(sim.result, 0);
    struct data_file *file = sim.run->files[0];
    sim_path(&sim, "data1.mdx", path);
    int fd = open(path, O_RDONLY);
    for (uint32_t i = 0; i < file->file.size_pages; i++) {
        assert_int_equal(pread(fd, page, sizeof page, (off_t)i * PAGE_BYTES), sizeof page);
        enum syspage_kind kind = syspage_kind(i, true);
        bool expected = kind != SYSPAGE_NONE && kind != SYSPAGE_RESERVED;
        assert_int_equal(!is_zero(page), expected);
        written += expected;
    }
    close(fd);
    struct ledger_count count = ledger_count(sim.run->ledger, file->file.mark.file_uid);
    assert_int_equal(count.written, written);
    assert_true(sim.run->audited);
    sim_end(&sim);
}

/* Storage that gives anything else back for a place that was never written is wrong. */
static void what_is_not_zero_in_a_hole_is_found(void **state)
{
    struct sim sim;
    char path[SIM_PATH_MAX];
    uint8_t page[PAGE_BYTES];
    (void)state;
    begin(&sim, "4");
    sim_create(&sim);
    assert_int_equal(sim.result, 0);
    sim_path(&sim, "data1.mdx", path);
    int fd = open(path, O_WRONLY);
    memset(page, 0x5a, sizeof page);
    assert_int_equal(pwrite(fd, page, sizeof page, (off_t)HOLE * PAGE_BYTES), sizeof page);
    close(fd);
    sim.result = run_execute(sim.run);
    assert_true(sim.run->findings.count >= 1);
    assert_int_equal(sim.run->findings.list[0].page_no, HOLE);
    assert_string_equal(sim.run->findings.list[0].file, path);
    sim_end(&sim);
}

/* ---- users change it ---- */

/* Allocated in GAM: each page is there and was written; else: all of it reads as zeros.  Extents 0
 * and 1 have the system pages. */
static bool extent_is_as_the_map_says(const struct data_file *file, int fd, uint32_t extent,
                                      bool allocated)
{
    uint8_t page[PAGE_BYTES];
    for (uint32_t i = extent * EXTENT_PAGES; i < (extent + 1) * EXTENT_PAGES; i++) {
        bool there = allocated;
        if (extent < 2)
            there = syspage_kind(i, true) != SYSPAGE_NONE && i != 4 && i != 5;
        struct ledger_view view = ledger_view(file->database->ledger, file->file.mark.file_uid, i);
        if (pread(fd, page, sizeof page, (off_t)i * PAGE_BYTES) != (ssize_t)sizeof page ||
            is_zero(page) == there || (view.state == LEDGER_QUIET) != there ||
            (there && extent >= 2 && page_stamp_of(page)->generation != view.acked)) {
            fprintf(stderr, "  page %u, %s\n", i, there ? "allocated" : "a hole");
            return false;
        }
    }
    return true;
}

/* Number of allocated extents; 0: something is wrong. */
static unsigned file_is_as_the_map_says(const struct sim *sim)
{
    const struct data_file *file = sim->run->files[0];
    uint8_t gam[PAGE_BYTES];
    unsigned allocated = 0;
    int fd = open(file->file.path, O_RDONLY);
    bool ok = fd >= 0 && pread(fd, gam, sizeof gam, 2 * PAGE_BYTES) == (ssize_t)sizeof gam;
    for (uint32_t extent = 0; extent < EXTENTS && ok; extent++) {
        bool is = !bitmap_get(gam, extent); /* 1 = free */
        ok = extent_is_as_the_map_says(file, fd, extent, is);
        allocated += is;
    }
    close(fd);
    return ok ? allocated : 0;
}

/* No more space than those pages take, and what a file system adds (a tenth). */
static bool holes_take_no_space(const struct sim *sim, unsigned extents)
{
    const struct data_file *file = sim->run->files[0];
    struct stat st;
    uint64_t pages = (uint64_t)extents * EXTENT_PAGES;
    return stat(file->file.path, &st) == 0 &&
           drawn_demand((uint64_t)st.st_blocks * STAT_BLOCK_SIZE <= pages * PAGE_BYTES * 11 / 10,
                        "bytes of the file", (uint64_t)st.st_blocks * STAT_BLOCK_SIZE,
                        pages * PAGE_BYTES);
}

/* Drawn users, and in every other run the threads of a DBCC CHECKDB, with snapshots. */
static bool seed_fills_a_sparse_file(uint64_t seed, const char *directory)
{
    struct drawn drawn;
    struct sim sim;
    drawn_make(&drawn, seed, SECONDS * NS_PER_S);
    drawn.options.directory = directory;
    drawn.options.databases = 1; /* the others are no subject here */
    drawn.options.sparse = true;
    drawn_set(&drawn, "DbccUser", "UserCount", seed % 2 ? 2 : 0);
    sim_begin(&sim, &drawn.options);
    sim_run(&sim);
    bool clean = drawn_run_is_clean(&sim);
    unsigned allocated = clean ? file_is_as_the_map_says(&sim) : 0;
    /* at least the extents of the system pages and one more */
    clean &= drawn_demand(allocated > 2, "extents allocated", allocated, 3);
    clean &= allocated == 0 || holes_take_no_space(&sim, allocated);
    if (clean)
        fprintf(stderr, "seed %ju: %u extents of %u\n", (uintmax_t)seed, allocated, EXTENTS);
    else
        drawn_print(&drawn);
    sim_end(&sim);
    return clean;
}

static void what_users_change_is_allocated_and_the_rest_is_holes(void **state)
{
    (void)state;
    unsigned long scaled = test_scaled(SEEDS);
    seeds_try(seed_fills_a_sparse_file, scaled < SEEDS ? scaled : SEEDS);
}

/* Every page that is read was changed first, and memory holds them all. */
static void the_first_change_of_a_page_reads_nothing(void **state)
{
    struct sim sim;
    struct stats *stats = malloc(sizeof *stats);
    struct sim_options options = {.seed = 5,
                                  .pool_bytes = 24 << 20,
                                  .sparse = true,
                                  .settings = {{"CONFIG", "CacheHitRatio", "10000"},
                                               {"RandomUser", "UserCount", "4"},
                                               {"RandomUser", "RandomUserReadWriteRatio", "10000"},
                                               {"RandomUser", "MaxIOChainLength", "20"},
                                               {"RandomUser", "SleepAfter", "20"},
                                               {"BulkUpdateUser", "UserCount", "1"},
                                               {"ReadAheadUser", "UserCount", "0"},
                                               {"AuditUser", "UserCount", "0"}}};
    (void)state;
    sim_begin(&sim, &options);
    sim_run(&sim);
    assert_true(drawn_run_is_clean(&sim));
    assert_true(file_is_as_the_map_says(&sim) > 2);
    run_stats(sim.run, stats);
    assert_true(stats->counters.page_updates > 100);
    assert_int_equal(stats->streams[PHASE_stress][STREAM_page_read].ops, 0);
    free(stats);
    sim_end(&sim);
}

/* Whose allocations are on the device: a later session goes on with them. */
static void a_later_session_goes_on(void **state)
{
    struct sim sim;
    struct sim_options options = {
        .seed = 6,
        .sparse = true,
        .duration_ns = NS_PER_S / 4,
        .settings = {{"RandomUser", "UserCount", "2"}, {"BulkUpdateUser", "UserCount", "0"}}};
    char message[PLAN_MESSAGE_MAX] = "";
    (void)state;
    sim_begin(&sim, &options);
    sim_run(&sim);
    assert_true(drawn_run_is_clean(&sim));
    unsigned before = file_is_as_the_map_says(&sim);
    int error = sim_take_over(&sim, "later", message);
    assert_string_equal(message, "");
    assert_int_equal(error, 0);
    sim_run(&sim);
    assert_true(drawn_run_is_clean(&sim));
    unsigned after = file_is_as_the_map_says(&sim);
    assert_true(before > 2 && after > before && after < EXTENTS);
    sim_end(&sim);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_initial_update_writes_system_pages_only),
        cmocka_unit_test(what_is_not_zero_in_a_hole_is_found),
        cmocka_unit_test(what_users_change_is_allocated_and_the_rest_is_holes),
        cmocka_unit_test(the_first_change_of_a_page_reads_nothing),
        cmocka_unit_test(a_later_session_goes_on),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
