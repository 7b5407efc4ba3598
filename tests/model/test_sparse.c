/* test_sparse.c - a sparse data file: system pages only, and zeros are demanded of the rest. */
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>
#include <fcntl.h>
#include <string.h>
#include <unistd.h>
#include <cmocka.h>

#include "tests/sim_fixture.h"

/* Two databases, so that a plain file has load beside the sparse one. */
static void begin(struct sim *sim)
{
    struct sim_options options = {.seed = 11,
                                  .databases = 2,
                                  .data_bytes = 80 << 20, /* a second PFS page: 8,088 pages */
                                  .duration_ns = NS_PER_S,
                                  .settings = {{NULL, NULL, NULL}}};
    sim_begin(sim, &options);
    sim->plan.files[2].sparse = true; /* the second database's data file */
    assert_false(sim->plan.files[2].is_log);
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
    begin(&sim);
    sim.options.duration_ns = sim.plan.test_cycle_ns = 1;
    sim_run(&sim);
    assert_int_equal(sim.result, 0);
    struct data_file *file = &sim.run->databases[1].files[0];
    sim_path(&sim, "data2.mdx", path);
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
    begin(&sim);
    sim_create(&sim);
    assert_int_equal(sim.result, 0);
    sim_path(&sim, "data2.mdx", path);
    int fd = open(path, O_WRONLY);
    memset(page, 0x5a, sizeof page);
    assert_int_equal(pwrite(fd, page, sizeof page, (off_t)5000 * PAGE_BYTES), sizeof page);
    close(fd);
    sim.result = run_execute(sim.run);
    assert_true(sim.run->findings.count >= 1);
    assert_int_equal(sim.run->findings.list[0].page_no, 5000);
    assert_string_equal(sim.run->findings.list[0].file, path);
    sim_end(&sim);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_initial_update_writes_system_pages_only),
        cmocka_unit_test(what_is_not_zero_in_a_hole_is_found),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
