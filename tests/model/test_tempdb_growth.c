/*
 * test_tempdb_growth.c - data files of tempdb that are full grow, all together, by arithmetic, as
 * far as MaxSize; the maps and sizes are right afterwards.
 */
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include "sim/verify_check.h"
#include "tests/model/tempdb_run.h"

#define MIB        (1ull << 20)
#define MIB_EXTENT 16 /* extents of a MiB */

/* One sort, of more than two files of 4 MiB hold. */
static struct sim_options one_sort(const char *sort_size)
{
    static const struct sim_setting wanted[] = {
        {"RandomUser", "UserCount", "0"},     {"AuditUser", "UserCount", "0"},
        {"ReadAheadUser", "UserCount", "0"},  {"BulkUpdateUser", "UserCount", "0"},
        {"TempDbUser", "Sorts", "1"},         {"TempDbUser", "Hashes", "0"},
        {"TempDbUser", "WorktableRate", "0"}, {"TempDbUser", "VersionStoreRate", "0"},
        {"TempDbUser", "SortMemory", "1M"},
    };
    struct sim_options options = tempdb_options(1);
    unsigned end = 0;
    for (; options.settings[end].section; end++) {
        struct sim_setting *s = &options.settings[end];
        for (unsigned w = 0; w < sizeof wanted / sizeof wanted[0]; w++)
            if (strcmp(s->section, wanted[w].section) == 0 && strcmp(s->key, wanted[w].key) == 0)
                *s = wanted[w];
        if (strcmp(s->key, "SortSize") == 0)
            s->value = sort_size;
    }
    options.duration_ns = 400 * NS_PER_MS;
    options.tempdb_max_bytes = 16 * MIB;
    options.tempdb_increment = 2 * MIB;
    return options;
}

static struct stats *stats_of(const struct sim *sim)
{
    struct stats *stats = calloc(1, sizeof *stats);
    assert_non_null(stats);
    run_stats(sim->run, stats);
    return stats;
}

static void assert_clean(const struct sim *sim)
{
    bool clean = sim->result == 0 && sim->run->findings.count == 0 && sim->run->audited;
    if (!clean)
        sim_print_findings(sim);
    assert_true(clean);
}

static const struct database *tempdb_of(const struct sim *sim)
{
    return &sim->run->databases[sim->run->database_count - 1];
}

/* Nothing is lost between the maps in memory and the files: each file has two extents with system
 * pages at its start (0 to 7, and those of the boot and IAM pages), and another with each further
 * PFS page (8088). */
static void assert_space(const struct sim *sim, unsigned system_extents)
{
    struct tempdb_space_count count = tempdb_space_count(sim->run->tempdb);
    uint64_t extents = 0;
    for (unsigned i = 0; i < tempdb_of(sim)->file_count; i++)
        extents += tempdb_of(sim)->files[i].file.size_pages / EXTENT_PAGES;
    assert_int_equal(count.free + count.left, count.total);
    assert_int_equal(count.total, extents - system_extents);
}

/* All of it, as `pagestorm verify`. */
static void assert_verified(const char *folder, uint64_t pages)
{
    struct findings findings;
    struct verify_set set;
    uint64_t seen = 0;
    assert_int_equal(findings_init(&findings, NULL, NULL, NULL, false), 0);
    assert_int_equal(verify_set_open(&set, &folder, 1, true, &findings), 0);
    assert_int_equal(verify_check(&set), 0);
    for (size_t i = 0; i < set.count; i++)
        if (set.files[i].file.mark.database_id == DATABASE_ID_TEMPDB && !set.files[i].is_log)
            seen += set.files[i].counts[VERIFY_COUNT_pages];
    assert_int_equal(findings.count, 0);
    assert_int_equal(seen, pages);
    verify_set_close(&set);
    findings_free(&findings);
}

/* 8 MiB hold no 16 MiB, 12 and 16 MiB (less system pages) neither; 20 MiB hold it and the 12
 * requests of 64 KiB under way: both files grow three times, and never again. */
static void assert_grown_to_20_MiB(const struct sim *sim)
{
    struct stats *stats = stats_of(sim);
    assert_true(stats->counters.tempdb_sorts > 0);
    assert_int_equal(stats->counters.tempdb_full, 0);
    assert_int_equal(stats->counters.file_growths, 2 * 3);
    assert_int_equal(stats->counters.growths_failed, 0);
    for (unsigned i = 0; i < 2; i++)
        assert_int_equal(tempdb_of(sim)->files[i].file.size_pages, 10 * MIB / PAGE_BYTES);
    assert_space(sim, 2 * 2);
    free(stats);
}

static void full_files_grow_together_until_the_sort_fits(void **state)
{
    (void)state;
    for (unsigned stamped = 0; stamped < 2; stamped++) {
        struct sim_options options = one_sort("16M");
        struct sim sim;
        options.settings[0] =
            (struct sim_setting){"CONFIG", "StampFiles", stamped ? "TRUE" : "FALSE"};
        sim_begin(&sim, &options);
        sim_run(&sim);
        assert_clean(&sim);
        assert_grown_to_20_MiB(&sim);
        sim_close(&sim);
        assert_verified(sim.folder, 2 * 10 * MIB / PAGE_BYTES);
        sim_end(&sim);
    }
}

/* 64 MB more have a PFS page, 8088, in the new space. */
static void a_growth_brings_its_system_pages(void **state)
{
    (void)state;
    struct sim_options options = one_sort("8M");
    struct sim sim;
    options.tempdb_files = 1;
    options.tempdb_max_bytes = 96 * MIB;
    options.tempdb_increment = 64 * MIB;
    sim_begin(&sim, &options);
    sim_run(&sim);
    assert_clean(&sim);
    assert_int_equal(tempdb_of(&sim)->files[0].file.size_pages, 68 * MIB / PAGE_BYTES);
    assert_space(&sim, 2 + 1);
    sim_close(&sim);
    assert_verified(sim.folder, 68 * MIB / PAGE_BYTES);
    sim_end(&sim);
}

static void at_MaxSize_users_wait(void **state)
{
    (void)state;
    struct sim_options options = one_sort("16M");
    struct sim sim;
    options.tempdb_max_bytes = 7 * MIB; /* an increment, and half of one */
    sim_begin(&sim, &options);
    sim_run(&sim);
    assert_clean(&sim);
    struct stats *stats = stats_of(&sim);
    assert_true(stats->counters.tempdb_full > 0);
    assert_int_equal(stats->counters.tempdb_sorts, 0);
    assert_int_equal(stats->counters.file_growths, 2 * 2);
    for (unsigned i = 0; i < 2; i++)
        assert_int_equal(tempdb_of(&sim)->files[i].file.size_pages, 7 * MIB / PAGE_BYTES);
    assert_space(&sim, 2 * 2);
    free(stats);
    sim_end(&sim);
}

/* 1,000 pages a second for two seconds and more, and the pool writes what it cannot hold. */
static void the_version_store_grows_it(void **state)
{
    (void)state;
    struct sim_options options = one_sort("16M");
    struct sim sim;
    options.duration_ns = 3 * NS_PER_S;
    for (unsigned i = 0; options.settings[i].section; i++) {
        if (strcmp(options.settings[i].key, "Sorts") == 0)
            options.settings[i].value = "0";
        if (strcmp(options.settings[i].key, "VersionStoreRate") == 0)
            options.settings[i].value = "1000";
        if (strcmp(options.settings[i].key, "VersionStoreAge") == 0)
            options.settings[i].value = "2";
    }
    sim_begin(&sim, &options);
    sim_run(&sim);
    assert_clean(&sim);
    struct stats *stats = stats_of(&sim);
    /* 2,000 pages live, 15.6 MiB: 20 MiB as above, or 16 and the system pages */
    assert_int_equal(stats->counters.tempdb_full, 0);
    assert_in_range(stats->counters.file_growths, 2 * 2, 2 * 3);
    assert_space(&sim, 2 * 2);
    free(stats);
    sim_end(&sim);
}

static void a_seed_repeats_the_growth(void **state)
{
    (void)state;
    struct stats *stats[2];
    for (unsigned i = 0; i < 2; i++) {
        struct sim_options options = tempdb_options(7);
        struct sim sim;
        options.duration_ns = 300 * NS_PER_MS;
        options.tempdb_bytes = 2 * MIB;
        options.tempdb_max_bytes = 4 * MIB;
        options.tempdb_increment = MIB / 2;
        sim_begin(&sim, &options);
        sim_run(&sim);
        assert_clean(&sim);
        stats[i] = stats_of(&sim);
        assert_true(stats[i]->counters.file_growths > 0);
        sim_end(&sim);
    }
    assert_memory_equal(stats[0], stats[1], sizeof *stats[0]);
    free(stats[0]);
    free(stats[1]);
}

static void after_a_kill_the_grown_files_are_no_finding(void **state)
{
    (void)state;
    struct sim_options options = one_sort("16M");
    struct sim sim;
    options.leave_like_killed = true;
    sim_begin(&sim, &options);
    sim_run(&sim);
    sim_close(&sim);
    assert_verified(sim.folder, 2 * 10 * MIB / PAGE_BYTES);
    sim_end(&sim);
}

/* SQL Server makes tempdb anew at each start, of its initial size. */
static void the_next_session_begins_small_and_grows_again(void **state)
{
    (void)state;
    struct sim_options options = one_sort("16M");
    struct sim sim;
    char message[PLAN_MESSAGE_MAX] = "";
    sim_begin(&sim, &options);
    sim_run(&sim);
    assert_clean(&sim);
    int error = sim_take_over(&sim, "second", message);
    if (error)
        print_error("%s\n", message);
    assert_int_equal(error, 0);
    sim_create(&sim);
    for (unsigned i = 0; i < 2; i++)
        assert_int_equal(tempdb_of(&sim)->files[i].file.size_pages, 4 * MIB / PAGE_BYTES);
    assert_int_equal(tempdb_space_count(sim.run->tempdb).total, 2 * (4 * MIB_EXTENT - 2));
    sim.result = run_execute(sim.run);
    assert_clean(&sim);
    assert_grown_to_20_MiB(&sim);
    sim_end(&sim);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(full_files_grow_together_until_the_sort_fits),
        cmocka_unit_test(a_growth_brings_its_system_pages),
        cmocka_unit_test(at_MaxSize_users_wait),
        cmocka_unit_test(the_version_store_grows_it),
        cmocka_unit_test(a_seed_repeats_the_growth),
        cmocka_unit_test(after_a_kill_the_grown_files_are_no_finding),
        cmocka_unit_test(the_next_session_begins_small_and_grows_again),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
