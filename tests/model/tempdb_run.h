/*
 * tempdb_run.h - a run in which everything that uses tempdb is at work, small enough for tests:
 * two tempdb files of 4 MiB, two sorts of 1 MiB in 16 runs, a hash join, version store, worktables.
 */
#ifndef TESTS_MODEL_TEMPDB_RUN_H
#define TESTS_MODEL_TEMPDB_RUN_H

#include "sim/tempdb_space.h"
#include "tests/sim_fixture.h"

#define TEMPDB_FILE_FIRST 3 /* uid: data1, log1, then tempdb's */
#define TEMPDB_LOG        5

static inline struct sim_options tempdb_options(uint64_t seed)
{
    return (struct sim_options){
        .seed = seed,
        .duration_ns = NS_PER_S,
        .data_bytes = 4ull << 20,
        .log_bytes = 4ull << 20,
        .pool_bytes = 1ull << 20,
        .tempdb_files = 2,
        .tempdb_bytes = 4ull << 20,
        .tempdb_log_bytes = 2ull << 20,
        .settings = {{"CONFIG", "StopOnError", "FALSE"},
                     {"CpuIdleUser", "UserCount", "0"}, /* idle time of a model is long */
                     {"RandomUser", "UserCount", "2"},
                     {"AuditUser", "UserCount", "1"},
                     {"ReadAheadUser", "UserCount", "1"},
                     {"BulkUpdateUser", "UserCount", "1"},
                     {"TempDbUser", "Sorts", "2"},
                     {"TempDbUser", "SortSize", "1M"},
                     {"TempDbUser", "SortMemory", "64K"},
                     {"TempDbUser", "MergeWays", "4"},
                     {"TempDbUser", "Hashes", "1"},
                     {"TempDbUser", "HashSize", "1M"},
                     {"TempDbUser", "HashPartitions", "4"},
                     {"TempDbUser", "Outstanding", "12"},
                     {"TempDbUser", "VersionStoreRate", "400"},
                     {"TempDbUser", "VersionStoreAge", "1"},
                     {"TempDbUser", "WorktableRate", "50"}},
    };
}

static inline uint64_t stream_ops(const struct stats *stats, enum stream stream)
{
    uint64_t ops = 0;
    for (unsigned phase = 0; phase < PHASE_COUNT; phase++)
        ops += stats->streams[phase][stream].ops;
    return ops;
}

static inline uint64_t stream_bytes(const struct stats *stats, enum stream stream)
{
    uint64_t bytes = 0;
    for (unsigned phase = 0; phase < PHASE_COUNT; phase++)
        bytes += stats->streams[phase][stream].bytes;
    return bytes;
}

#endif
