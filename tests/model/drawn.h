/*
 * drawn.h - a run whose settings are drawn from a seed, and what must be true when it is over.
 *
 * The draw depends on the seed alone.  Logs are as small as the plan would accept for the drawn
 * chains and records in one case of three.  TEST_SEED in the environment repeats one seed.
 */
#ifndef TESTS_MODEL_DRAWN_H
#define TESTS_MODEL_DRAWN_H

#include <stdio.h>
#include <string.h>

#include "sim/wal_space.h"
#include "tests/scale.h"
#include "tests/sim_fixture.h"

#define DRAWN_VALUE_MAX 24
#define DRAWN_MIB       (1024ull * 1024)
#define DRAWN_PURPOSE   0x4D4F444C /* "MODL" */
#define DRAWN_RESERVED  2          /* pages 4 and 5 of a primary file are never written */

struct drawn {
    struct sim_options options;
    char values[SIM_SETTINGS_MAX][DRAWN_VALUE_MAX];
    unsigned count;
};

static inline void drawn_set(struct drawn *d, const char *section, const char *key, int64_t value)
{
    snprintf(d->values[d->count], DRAWN_VALUE_MAX, "%jd", (intmax_t)value);
    d->options.settings[d->count] = (struct sim_setting){section, key, d->values[d->count]};
    d->count++;
}

static inline void drawn_set_bool(struct drawn *d, const char *key, bool value)
{
    d->options.settings[d->count++] = (struct sim_setting){"CONFIG", key, value ? "TRUE" : "FALSE"};
}

/* Whole MB, as in a configuration: the smallest in which the largest transaction of RandomUser
 * fits (sim/plan.c refuses less), or up to 8 more. */
static inline uint64_t drawn_log_bytes(struct rng *rng, int64_t chain, int64_t record,
                                       int64_t bulk_pages, size_t sector_bytes)
{
    uint64_t records = 2 + (uint64_t)chain * (record > 59000 ? 2 : 1);
    uint64_t need = wal_transaction_need((uint64_t)(chain * record), records, sector_bytes);
    /* begin, commit, a record of 32 bytes an extent, one more and 8 to spare */
    uint64_t bulk_records = 2 + (uint64_t)(bulk_pages + 7) / 8 + 1 + 8;
    uint64_t bulk = wal_transaction_need(bulk_records * 32, bulk_records, sector_bytes);
    need = bulk > need ? bulk : need;
    uint64_t mib = 1;
    while (wal_log_transaction_max(mib * DRAWN_MIB) < need)
        mib++;
    return (mib + (rng_below(rng, 3) ? rng_below(rng, 9) : 0)) * DRAWN_MIB;
}

/* Ranges of one request and of several; a quarter of the runs never, a quarter always believe
 * memory. */
static inline void drawn_read_ahead(struct drawn *d, struct rng *rng)
{
    static const int64_t ranges[] = {8, 64, 64, 300}, ratios[] = {0, 1000, 5000, 10000};
    int64_t range = ranges[rng_below(rng, 4)];
    drawn_set(d, "ReadAheadUser", "UserCount", rng_range(rng, 0, 3));
    drawn_set(d, "ReadAheadUser", "BuffersRAMin", rng_range(rng, 0, range));
    drawn_set(d, "ReadAheadUser", "BuffersRAMax", range);
    drawn_set(d, "CONFIG", "CacheHitRatio", ratios[rng_below(rng, 4)]);
    drawn_set_bool(d, "ForceReadAhead", rng_below(rng, 2));
}

/* Loads of one gather write and of several, often over each other: the file has 2,048 pages. */
static inline int64_t drawn_bulk(struct drawn *d, struct rng *rng)
{
    static const int64_t ranges[] = {8, 64, 128, 300};
    int64_t range = ranges[rng_below(rng, 4)];
    drawn_set(d, "BulkUpdateUser", "UserCount", rng_range(rng, 0, 6));
    drawn_set(d, "BulkUpdateUser", "BuffersBUMin", rng_range(rng, 0, range));
    drawn_set(d, "BulkUpdateUser", "BuffersBUMax", range);
    drawn_set(d, "BulkUpdateUser", "BUDelay", rng_range(rng, 5, 100));
    return range;
}

static inline void drawn_users(struct drawn *d, struct rng *rng, size_t sector_bytes)
{
    static const int64_t chains[] = {1, 2, 8, 20, 60, 100};
    static const int64_t records[] = {512, 1024, 8192, 8192, 32256, 61440};
    int64_t chain = chains[rng_below(rng, 6)], record = records[rng_below(rng, 6)];
    if (chain * record > 2000000) /* a log in proportion to 16 MiB of data */
        record = 8192;
    drawn_set(d, "RandomUser", "UserCount", rng_range(rng, 1, 16));
    drawn_set(d, "RandomUser", "MinIOChainLength", rng_range(rng, 1, chain));
    drawn_set(d, "RandomUser", "MaxIOChainLength", chain);
    drawn_set(d, "RandomUser", "MinLogPerBuffer", 1 << rng_below(rng, 10));
    drawn_set(d, "RandomUser", "MaxLogPerBuffer", record);
    drawn_set(d, "RandomUser", "RandomUserReadWriteRatio", rng_range(rng, 1000, 10000));
    drawn_set(d, "RandomUser", "RollbackChance", rng_range(rng, 0, 1000));
    drawn_set(d, "RandomUser", "SleepAfter", rng_range(rng, 5, 60));
    drawn_set(d, "AuditUser", "UserCount", rng_range(rng, 0, 3));
    drawn_read_ahead(d, rng);
    int64_t bulk_pages = drawn_bulk(d, rng);
    d->options.log_bytes = drawn_log_bytes(rng, chain, record, bulk_pages, sector_bytes);
}

/* A flash device as the model has it by default, a slow one, a disk, or disks behind a controller
 * with a write cache, where checkpoints are fast and transactions slow. */
static inline void drawn_device(struct drawn *d, struct rng *rng)
{
    switch (rng_below(rng, 6)) {
    case 0:
        d->options.device = (struct mem_device_config){
            .channels = 2, .read_ns = NS_PER_MS, .write_ns = NS_PER_MS, .flush_ns = 5 * NS_PER_MS};
        break;
    case 1:
        d->options.device = (struct mem_device_config){.channels = 1,
                                                       .read_ns = 8 * NS_PER_MS,
                                                       .write_ns = 8 * NS_PER_MS,
                                                       .flush_ns = 10 * NS_PER_MS,
                                                       .bytes_per_us = 100};
        break;
    case 2:
        d->options.device = (struct mem_device_config){.channels = 64, .read_ns = 20 * NS_PER_MS};
        break;
    default:
        break;
    }
}

static inline void drawn_make(struct drawn *d, uint64_t seed, uint64_t duration_ns)
{
    struct rng rng;
    memset(d, 0, sizeof *d);
    rng_split(&rng, seed, DRAWN_PURPOSE, 0);
    size_t sector_bytes = rng_below(&rng, 2) ? 4096 : 512;
    d->options.seed = seed;
    d->options.duration_ns = duration_ns;
    d->options.data_bytes = 16 * DRAWN_MIB;
    d->options.pool_bytes = (2 + rng_below(&rng, 7)) * DRAWN_MIB;
    d->options.workers = 1 + (unsigned)rng_below(&rng, 4);
    d->options.databases = 1 + (unsigned)rng_below(&rng, 2);
    drawn_device(d, &rng);
    drawn_set(d, "CONFIG", "SectorSize", (int64_t)sector_bytes);
    drawn_set(d, "CONFIG", "GatherPages", rng_range(&rng, 1, 128));
    drawn_set(d, "CONFIG", "CheckpointInterval", rng_range(&rng, 1, 10));
    drawn_set(d, "CONFIG", "Compressibility", rng_range(&rng, 0, 10000));
    drawn_set_bool(d, "WriteThrough", rng_below(&rng, 2));
    drawn_set_bool(d, "UseScatterGather", rng_below(&rng, 4));
    drawn_users(d, &rng, sector_bytes);
    drawn_set(d, "CpuIdleUser", "PagesPerSecond", rng_range(&rng, 100, 3000));
    drawn_set(d, "CpuIdleUser", "DiskShare", rng_range(&rng, 0, 2000));
    drawn_set(d, "CONFIG", "TargetRecoveryTime", (int64_t)rng_below(&rng, 3));
}

static inline void drawn_print(const struct drawn *d)
{
    const struct sim_options *o = &d->options;
    fprintf(stderr, "seed %ju: read %ju us, %u workers, %u databases, pool %ju MiB, log %ju MiB",
            (uintmax_t)o->seed, (uintmax_t)(o->device.read_ns / 1000), o->workers, o->databases,
            (uintmax_t)(o->pool_bytes / DRAWN_MIB), (uintmax_t)(o->log_bytes / DRAWN_MIB));
    for (unsigned i = 0; i < d->count; i++)
        fprintf(stderr, ", %s=%s", o->settings[i].key, o->settings[i].value);
    fprintf(stderr, "\n");
}

/* One line to stderr for each thing that is not so; true if all is. */
static inline bool drawn_demand(bool ok, const char *what, uint64_t is, uint64_t wanted)
{
    if (!ok)
        fprintf(stderr, "  %s: %ju, not %ju\n", what, (uintmax_t)is, (uintmax_t)wanted);
    return ok;
}

static inline bool drawn_equal(const char *what, uint64_t is, uint64_t wanted)
{
    return drawn_demand(is == wanted, what, is, wanted);
}

/* Every page but the reserved ones, of a sparse file those that users changed, was written, and
 * read back right since its last write. */
static inline bool drawn_file_covered(const struct run *run, const struct data_file *file)
{
    struct ledger_count c = ledger_count(run->ledger, file->file.mark.file_uid);
    bool ok = file->sparse ||
              drawn_equal("pages written", c.written, file->file.size_pages - DRAWN_RESERVED);
    ok &= drawn_equal("pages seen", c.seen, c.written);
    ok &= drawn_equal("pages indeterminate", c.indeterminate, 0);
    ok &= drawn_equal("pages in flight", c.in_flight, 0);
    ok &= drawn_equal("pages quarantined", c.quarantined, 0);
    return ok;
}

/* A clean run: at its end, nothing found, everything covered, the logs read back in full. */
static inline bool drawn_run_is_clean(const struct sim *sim)
{
    const struct run *run = sim->run;
    bool ok = drawn_demand(sim->result == 0, "result", (uint64_t)-sim->result, 0);
    ok &= drawn_equal("findings", run->findings.count, 0);
    ok &= drawn_equal("audited", run->audited, 1);
    ok &= drawn_equal("stopped", run_stopping(run), 0);
    if (!ok)
        sim_print_findings(sim);
    if (sim->result)
        return false;
    for (unsigned i = 0; i < run->file_count; i++)
        ok &= drawn_file_covered(run, run->files[i]);
    uint64_t live = 0;
    for (unsigned i = 0; i < run->database_count; i++)
        live += wal_live_blocks(&run->databases[i].wal);
    struct stats *stats = malloc(sizeof *stats);
    run_stats(run, stats);
    ok &= drawn_equal("log blocks verified", stats->counters.log_blocks_verified, live);
    ok &= drawn_demand(stats->counters.transactions > 0, "transactions", 0, 1);
    ok &= drawn_equal("pages left dirty", run->pool.dirty_count, 0);
    free(stats);
    return ok;
}

#endif
