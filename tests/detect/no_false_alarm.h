/*
 * no_false_alarm.h - runs without any fault, seed after seed, until so many pages were verified:
 * not one finding.
 *
 * Most are verified by AuditUser, which is the cheapest way; beside it pages are updated, written
 * by checkpoints, bulk loaded, the file grows and shrinks, tempdb spills, DBCC reads snapshots.
 */
#ifndef TESTS_DETECT_NO_FALSE_ALARM_H
#define TESTS_DETECT_NO_FALSE_ALARM_H

#include <inttypes.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include <cmocka.h>

#include "tests/scale.h"
#include "tests/sim_fixture.h"

#define ALARM_AUDIT                                                                                \
    {"AuditUser", "UserCount", "4"}, {"AuditUser", "BuffersValidated", "1024"},                    \
        {"AuditUser", "DelayAfterCycles", "0"}, {"CONFIG", "UseScatterGather", "TRUE"},            \
        {"CONFIG", "CheckpointInterval", "1"},                                                     \
    {                                                                                              \
        "CpuIdleUser", "UserCount", "0"                                                            \
    }

/* What a way of verifying pages is, by its options for a seed. */
typedef struct sim_options alarm_options(uint64_t seed);

/* Everything that the seeds shall have met, counted over all runs. */
struct alarm_count {
    uint64_t pages, page_writes, growths, shrinks, snapshot_writes, dbcc_reads, tempdb_reads;
};

static inline uint64_t alarm_ops(const struct stats *stats, enum stream stream)
{
    uint64_t ops = 0;
    for (unsigned phase = 0; phase < PHASE_COUNT; phase++)
        ops += stats->streams[phase][stream].ops;
    return ops;
}

/* The data file, to three times its size in steps of 512 KiB; ShrinkUser does it. */
static inline void alarm_may_grow(struct sim *sim)
{
    struct plan_file *file = &sim->plan.files[0];
    assert_false(file->is_log);
    file->max_bytes = 3 * file->size_bytes;
    file->increment_bytes = 512 << 10;
    file->shrinkable = true;
}

/* One run that must be without a finding. */
static inline void alarm_run(const struct sim_options *options, struct alarm_count *count)
{
    struct stats *stats = calloc(1, sizeof *stats);
    struct sim sim;
    assert_non_null(stats);
    sim_begin(&sim, options);
    alarm_may_grow(&sim);
    sim_run(&sim);
    if (sim.result || sim.run->findings.count)
        sim_print_findings(&sim);
    assert_int_equal(sim.result, 0);
    assert_int_equal(sim.run->findings.count, 0);
    run_stats(sim.run, stats);
    assert_true(stats->counters.pages_verified > 0);
    count->pages += stats->counters.pages_verified;
    count->page_writes += alarm_ops(stats, STREAM_checkpoint_write);
    count->growths += stats->counters.file_growths;
    count->shrinks += stats->counters.file_shrinks;
    count->snapshot_writes += alarm_ops(stats, STREAM_snapshot_write);
    count->dbcc_reads += alarm_ops(stats, STREAM_dbcc_read);
    count->tempdb_reads += alarm_ops(stats, STREAM_sort_read);
    sim_end(&sim);
    free(stats);
}

static inline struct alarm_count alarm_try(const char *name, alarm_options *options_of,
                                           uint64_t pages)
{
    struct alarm_count count = {0};
    uint64_t seed = 0;
    while (count.pages < pages) {
        struct sim_options options = options_of(++seed);
        alarm_run(&options, &count);
    }
    print_message("%s: %" PRIu64 " pages verified in %" PRIu64 " runs, no finding\n", name,
                  count.pages, seed);
    print_message("  %" PRIu64 " checkpoint writes, %" PRIu64 " growths, %" PRIu64
                  " shrinks, %" PRIu64 " snapshot writes, %" PRIu64 " DBCC reads, %" PRIu64
                  " reads of tempdb\n",
                  count.page_writes, count.growths, count.shrinks, count.snapshot_writes,
                  count.dbcc_reads, count.tempdb_reads);
    assert_true(count.page_writes > 0);
    return count;
}

/* Updates, bulk loads, growth and shrinking under the audit. */
static inline struct sim_options alarm_resize(uint64_t seed)
{
    return (struct sim_options){
        .seed = seed,
        .duration_ns = 4 * NS_PER_S,
        .data_bytes = 8ull << 20,
        .log_bytes = 4ull << 20,
        .pool_bytes = 1ull << 20,
        .settings = {ALARM_AUDIT,
                     {"RandomUser", "UserCount", "1"},
                     {"ReadAheadUser", "UserCount", "0"},
                     {"BulkUpdateUser", "UserCount", "1"},
                     {"BulkUpdateUser", "NewExtents", seed % 2 ? "TRUE" : "FALSE"},
                     {"BulkUpdateUser", "BuffersBUMax", "64"},
                     {"ShrinkUser", "MinShrinkInterval", "0"},
                     {"ShrinkUser", "MaxShrinkInterval", "1"},
                     {"ShrinkUser", "MaxExtends", "6"}},
    };
}

/* DBCC over snapshots beside it. */
static inline struct sim_options alarm_snapshot(uint64_t seed)
{
    return (struct sim_options){
        .seed = seed,
        .duration_ns = 4 * NS_PER_S,
        .data_bytes = 8ull << 20,
        .log_bytes = 4ull << 20,
        .pool_bytes = 1ull << 20,
        .settings = {ALARM_AUDIT,
                     {"RandomUser", "UserCount", "2"},
                     {"ReadAheadUser", "UserCount", "0"},
                     {"BulkUpdateUser", "UserCount", "0"},
                     {"DbccUser", "UserCount", "2"},
                     {"DbccUser", "Outstanding", "8"},
                     {"DbccUser", "ReadPages", "64"}},
    };
}

/* Sorts, hash joins, version store and worktables of tempdb, all read back. */
static inline struct sim_options alarm_tempdb(uint64_t seed)
{
    return (struct sim_options){
        .seed = seed,
        .duration_ns = 4 * NS_PER_S,
        .data_bytes = 4ull << 20,
        .log_bytes = 4ull << 20,
        .pool_bytes = 1ull << 20,
        .tempdb_files = 2,
        .tempdb_bytes = 4ull << 20,
        .tempdb_log_bytes = 2ull << 20,
        .settings = {ALARM_AUDIT,
                     {"RandomUser", "UserCount", "1"},
                     {"ReadAheadUser", "UserCount", "0"},
                     {"BulkUpdateUser", "UserCount", "0"},
                     {"TempDbUser", "Sorts", "1"},
                     {"TempDbUser", "SortSize", "1M"},
                     {"TempDbUser", "SortMemory", "64K"},
                     {"TempDbUser", "Hashes", "1"},
                     {"TempDbUser", "HashSize", "1M"},
                     {"TempDbUser", "VersionStoreRate", "100"},
                     {"TempDbUser", "WorktableRate", "20"}},
    };
}

#endif
