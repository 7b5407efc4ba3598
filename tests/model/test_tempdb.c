/*
 * test_tempdb.c - tempdb in whole runs on the modelled device: what sorts, hash joins, the version
 * store and worktables do to it, by arithmetic; nothing is found where no fault is.
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
#include "tests/scale.h"

#define SEEDS      6 /* every drawn setting comes up; nearly four seconds of CPU each */
#define SEEDS_LONG 20

static bool is_clean(struct sim *sim)
{
    bool clean = sim->result == 0 && sim->run->findings.count == 0 && sim->run->audited;
    if (!clean)
        sim_print_findings(sim);
    return clean;
}

static struct stats *stats_of(const struct sim *sim)
{
    struct stats *stats = calloc(1, sizeof *stats);
    assert_non_null(stats);
    run_stats(sim->run, stats);
    return stats;
}

/* A setting instead of the one that the options have. */
static void set(struct sim_options *options, const char *section, const char *key,
                const char *value)
{
    unsigned i = 0;
    for (; options->settings[i].section; i++)
        if (strcmp(options->settings[i].section, section) == 0 &&
            strcmp(options->settings[i].key, key) == 0)
            break;
    options->settings[i] = (struct sim_setting){section, key, value};
}

/* Nobody else. */
static struct sim_options alone(const char *key, const char *value)
{
    static const char *const others[] = {"RandomUser", "AuditUser", "ReadAheadUser",
                                         "BulkUpdateUser"};
    static const char *const keys[] = {"Sorts", "Hashes", "VersionStoreRate", "WorktableRate"};
    struct sim_options options = tempdb_options(1);
    for (unsigned i = 0; i < 4; i++) {
        set(&options, others[i], "UserCount", "0");
        set(&options, "TempDbUser", keys[i], "0");
    }
    set(&options, "TempDbUser", key, value);
    return options;
}

/* 16 runs of 64 KiB, 4 ways: three merges make 4 + 1 + 1 + 1 runs of them, another one 3 + 1, the
 * fifth is the last: 1 MiB is written once, 4 x 256 KiB of it twice, so 2 MiB are written, and all
 * that is written is read. */
static void a_sort_is_written_and_merged_as_often_as_its_runs_take(void **state)
{
    (void)state;
    struct sim_options options = alone("Sorts", "1");
    struct sim sim;
    sim_begin(&sim, &options);
    sim_run(&sim);
    assert_true(is_clean(&sim));
    struct stats *stats = stats_of(&sim);
    uint64_t sorts = stats->counters.tempdb_sorts;
    assert_true(sorts > 3);
    assert_in_range(stats->counters.tempdb_merges, 5 * sorts, 5 * sorts + 5);
    assert_in_range(stream_bytes(stats, STREAM_sort_write), sorts * 2048 * 1024,
                    (sorts + 1) * 2048 * 1024);
    assert_in_range(stream_bytes(stats, STREAM_sort_read), sorts * 2048 * 1024,
                    (sorts + 1) * 2048 * 1024);
    /* SpillSize: an extent a request */
    assert_int_equal(stream_bytes(stats, STREAM_sort_write),
                     stream_ops(stats, STREAM_sort_write) * 65536);
    assert_int_equal(stream_bytes(stats, STREAM_sort_read),
                     stream_ops(stats, STREAM_sort_read) * 65536);
    assert_int_equal(stream_ops(stats, STREAM_tempdb_write), 0);
    free(stats);
    sim_end(&sim);
}

static void a_hash_join_is_written_and_read_once(void **state)
{
    (void)state;
    struct sim_options options = alone("Hashes", "1");
    set(&options, "TempDbUser", "SpillSize", "256K");
    struct sim sim;
    sim_begin(&sim, &options);
    sim_run(&sim);
    assert_true(is_clean(&sim));
    struct stats *stats = stats_of(&sim);
    uint64_t hashes = stats->counters.tempdb_hashes;
    assert_true(hashes > 3);
    assert_in_range(stream_bytes(stats, STREAM_tempdb_write), hashes * 1024 * 1024,
                    (hashes + 1) * 1024 * 1024);
    assert_in_range(stream_bytes(stats, STREAM_tempdb_read), hashes * 1024 * 1024,
                    (hashes + 1) * 1024 * 1024);
    /* several extents a request */
    assert_true(stream_bytes(stats, STREAM_tempdb_write) >
                stream_ops(stats, STREAM_tempdb_write) * 65536);
    free(stats);
    sim_end(&sim);
}

/* Commits do not wait: the log is written in full blocks, but for the last one of a checkpoint. */
static void the_log_of_tempdb_is_written_when_blocks_are_full(void **state)
{
    (void)state;
    struct sim_options options = alone("Sorts", "2");
    struct sim sim;
    sim_begin(&sim, &options);
    sim_run(&sim);
    assert_true(is_clean(&sim));
    struct stats *stats = stats_of(&sim);
    const struct stream_stats *log = &stats->streams[PHASE_stress][STREAM_tempdb_log_write];
    assert_true(log->ops > 20);
    assert_true(log->bytes / log->ops > 40 * 1024);
    assert_int_equal(stats->streams[PHASE_stress][STREAM_commit].ops, 0);
    assert_int_equal(stats->streams[PHASE_stress][STREAM_log_write].ops, 0);
    free(stats);
    sim_end(&sim);
}

/* Its checkpoint gives log back and writes no page: with a pool for all, nobody writes. */
static void the_version_store_is_written_by_the_lazy_writer_alone(void **state)
{
    (void)state;
    for (unsigned roomy = 0; roomy < 2; roomy++) {
        struct sim_options options = alone("VersionStoreRate", "1500");
        options.duration_ns = 4 * NS_PER_S;
        options.pool_bytes = roomy ? 64ull << 20 : 2ull << 20;
        options.tempdb_bytes = 16ull << 20;
        options.tempdb_log_bytes = 2ull << 20;
        struct sim sim;
        sim_begin(&sim, &options);
        sim_run(&sim);
        assert_true(is_clean(&sim));
        struct stats *stats = stats_of(&sim);
        assert_in_range(stats->counters.tempdb_pages_made, 5900, 6010);
        assert_int_equal(stream_ops(stats, STREAM_sort_write), 0);
        assert_int_equal(stats->streams[PHASE_stress][STREAM_checkpoint_write].ops, 0);
        assert_true((stats->streams[PHASE_stress][STREAM_lazy_write].ops == 0) == (roomy == 1));
        assert_true((stats->streams[PHASE_stress][STREAM_tempdb_read].ops == 0) == (roomy == 1));
        free(stats);
        sim_end(&sim);
    }
}

/* 50 a second, an IAM page and an extent each; all is free again but what the last one has. */
static void worktables_are_made_and_dropped(void **state)
{
    (void)state;
    struct sim_options options = alone("WorktableRate", "50");
    options.duration_ns = 2 * NS_PER_S;
    struct sim sim;
    sim_begin(&sim, &options);
    sim_run(&sim);
    assert_true(is_clean(&sim));
    struct stats *stats = stats_of(&sim);
    assert_in_range(stats->counters.tempdb_pages_made, 9 * 98, 9 * 101);
    struct tempdb_space_count count = tempdb_space_count(sim.run->tempdb);
    assert_true(count.free + 2 >= count.total);
    free(stats);
    sim_end(&sim);
}

static void sims_have_the_same_space(const struct sim *sim)
{
    struct tempdb_space_count count = tempdb_space_count(sim->run->tempdb);
    assert_true(count.free + count.left <= count.total);
    /* what is neither free nor left would be lost for ever */
    assert_int_equal(count.free + count.left, count.total);
}

static void every_seed_runs_clean_with_everybody(void **state)
{
    (void)state;
    unsigned long seeds = test_scaled(SEEDS);
    for (uint64_t seed = 1; seed <= (seeds < SEEDS_LONG ? seeds : SEEDS_LONG); seed++) {
        struct sim_options options = tempdb_options(seed);
        options.duration_ns = 400 * NS_PER_MS;
        set(&options, "CONFIG", "TestCycles", seed % 4 ? "1" : "2");
        set(&options, "CONFIG", "WriteThrough", seed % 3 ? "TRUE" : "FALSE");
        set(&options, "CONFIG", "UseScatterGather", seed % 5 ? "TRUE" : "FALSE");
        struct sim sim;
        sim_begin(&sim, &options);
        sim_run(&sim);
        bool clean = is_clean(&sim);
        if (!clean)
            print_error("seed %llu\n", (unsigned long long)seed);
        assert_true(clean);
        sims_have_the_same_space(&sim);
        sim_end(&sim);
    }
}

static void a_seed_repeats_the_run(void **state)
{
    (void)state;
    struct stats *stats[2];
    for (unsigned i = 0; i < 2; i++) {
        struct sim_options options = tempdb_options(7);
        options.duration_ns = 400 * NS_PER_MS;
        struct sim sim;
        sim_begin(&sim, &options);
        sim_run(&sim);
        stats[i] = stats_of(&sim);
        sim_end(&sim);
    }
    assert_memory_equal(stats[0], stats[1], sizeof *stats[0]);
    free(stats[0]);
    free(stats[1]);
}

/* ---- afterwards ---- */

struct looked {
    uint64_t findings, pages, not_judged;
};

static struct looked look_at(const char *folder)
{
    struct looked looked = {0};
    struct findings findings;
    struct verify_set set;
    assert_int_equal(findings_init(&findings, NULL, NULL, NULL, false), 0);
    assert_int_equal(verify_set_open(&set, &folder, 1, true, &findings), 0);
    assert_int_equal(verify_check(&set), 0);
    looked.findings = findings.count;
    for (size_t i = 0; i < set.count; i++) {
        if (set.files[i].file.mark.database_id != DATABASE_ID_TEMPDB || set.files[i].is_log)
            continue;
        looked.pages += set.files[i].counts[VERIFY_COUNT_pages];
        looked.not_judged += set.files[i].counts[VERIFY_COUNT_pages_not_judged];
    }
    verify_set_close(&set);
    findings_free(&findings);
    return looked;
}

static void after_a_kill_its_pages_are_not_judged(void **state)
{
    (void)state;
    for (uint64_t seed = 1; seed <= 5; seed++) {
        struct sim_options options = tempdb_options(seed);
        options.duration_ns = 400 * NS_PER_MS;
        options.leave_like_killed = true;
        struct sim sim;
        sim_begin(&sim, &options);
        sim_run(&sim);
        sim_close(&sim);
        struct looked looked = look_at(sim.folder);
        assert_int_equal(looked.findings, 0);
        assert_true(looked.pages == 2 * 512 && looked.not_judged == looked.pages);
        sim_end(&sim);
    }
}

static void after_a_clean_end_what_lives_is_judged(void **state)
{
    (void)state;
    struct sim_options options = tempdb_options(3);
    struct sim sim;
    sim_begin(&sim, &options);
    sim_run(&sim);
    sim_close(&sim);
    struct looked looked = look_at(sim.folder);
    assert_int_equal(looked.findings, 0);
    assert_true(looked.not_judged < looked.pages);
    sim_end(&sim);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_sort_is_written_and_merged_as_often_as_its_runs_take),
        cmocka_unit_test(a_hash_join_is_written_and_read_once),
        cmocka_unit_test(the_log_of_tempdb_is_written_when_blocks_are_full),
        cmocka_unit_test(the_version_store_is_written_by_the_lazy_writer_alone),
        cmocka_unit_test(worktables_are_made_and_dropped),
        cmocka_unit_test(every_seed_runs_clean_with_everybody),
        cmocka_unit_test(a_seed_repeats_the_run),
        cmocka_unit_test(after_a_kill_its_pages_are_not_judged),
        cmocka_unit_test(after_a_clean_end_what_lives_is_judged),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
