/*
 * ReadAheadUser, BulkUpdateUser and CacheHitRatio in whole runs over the modelled device: the
 * requests that they issue, what they find, what they leave.
 *
 * The trace is the fault layer's list of a delay of nothing on every request of the data file.
 */
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>
#include <stdlib.h>
#include <cmocka.h>

#include "tests/model/drawn.h"

#define DATA_PAGES 2048 /* 16 MiB */

struct result {
    uint64_t largest, smallest; /* pages of a request of the traced kind in the main part */
    uint64_t requests;
    struct counters counters;
    struct stream_stats streams[STREAM_COUNT]; /* of the main part */
};

static struct sim_options options_of(const struct sim_setting *settings, size_t count)
{
    static const struct sim_setting nobody[] = {
        {"RandomUser", "UserCount", "0"},    {"AuditUser", "UserCount", "0"},
        {"ReadAheadUser", "UserCount", "0"}, {"BulkUpdateUser", "UserCount", "0"},
        {"CpuIdleUser", "UserCount", "0"},   {"CONFIG", "CheckpointInterval", "3600"}};
    struct sim_options options = {.with_faults = true, .pool_bytes = 24 * DRAWN_MIB};
    size_t n = 0;
    for (size_t i = 0; i < sizeof nobody / sizeof nobody[0]; i++)
        options.settings[n++] = nobody[i];
    for (size_t i = 0; i < count; i++)
        options.settings[n++] = settings[i];
    return options;
}

static void trace_read(const struct sim *sim, struct result *result)
{
    uint64_t start_ns = sim->run->phases[PHASE_stress].start_ns;
    uint64_t end_ns = sim->run->phases[PHASE_stress].end_ns;
    assert_int_equal(sim->faults->truth_dropped, 0);
    result->smallest = UINT64_MAX;
    for (unsigned i = 0; i < sim->faults->truth_count; i++) {
        const struct fault_truth *seen = &sim->faults->truth[i];
        uint64_t pages = seen->size_bytes / PAGE_BYTES;
        if (seen->time_ns < start_ns || seen->time_ns > end_ns)
            continue;
        result->requests++;
        result->largest = pages > result->largest ? pages : result->largest;
        result->smallest = pages < result->smallest ? pages : result->smallest;
    }
}

/* A clean run; its data file's requests of this kind in the main part. */
static struct result run_of(const struct sim_options *options, enum io_op traced)
{
    struct sim sim;
    struct result result = {0};
    struct stats *stats = malloc(sizeof *stats);
    assert_non_null(stats);
    sim_begin(&sim, options);
    fault_add(sim.faults,
              &(struct fault_rule){
                  .kind = FAULT_DELAY, .op = traced, .file_uid = 1, .count = UINT32_MAX});
    sim_run(&sim);
    if (sim.result || sim.run->findings.count)
        sim_print_findings(&sim);
    assert_int_equal(sim.result, 0);
    assert_int_equal(sim.run->findings.count, 0);
    assert_true(sim.run->audited);
    trace_read(&sim, &result);
    run_stats(sim.run, stats);
    result.counters = stats->counters;
    memcpy(result.streams, stats->streams[PHASE_stress], sizeof result.streams);
    free(stats);
    sim_end(&sim);
    return result;
}

#define RUN(traced, ...)                                                                           \
    ({                                                                                             \
        const struct sim_setting settings[] = {__VA_ARGS__};                                       \
        struct sim_options options = options_of(settings, sizeof settings / sizeof settings[0]);   \
        run_of(&options, traced);                                                                  \
    })

/* ---- ReadAheadUser ---- */

/* 200 pages are requests of 64, 64, 64 and 8. */
static void a_read_ahead_goes_out_in_requests_of_64_pages(void **state)
{
    (void)state;
    struct result r =
        RUN(IO_READ, {"ReadAheadUser", "UserCount", "1"}, {"ReadAheadUser", "BuffersRAMin", "200"},
            {"ReadAheadUser", "BuffersRAMax", "200"}, {"ReadAheadUser", "DelayAfterCycles", "1"});
    assert_int_equal(r.largest, 64);
    assert_int_equal(r.requests, r.streams[STREAM_read_ahead].ops);
    /* 2 s in steps of 200 ms and a little: 9 or 10 cycles of four requests; one may be cut at the
     * end of the file, which makes one request more */
    assert_in_range(r.requests, 9 * 4, 10 * 4 + 1);
}

static void without_scatter_reads_a_request_has_one_page(void **state)
{
    (void)state;
    struct result r =
        RUN(IO_READ, {"ReadAheadUser", "UserCount", "1"}, {"RandomUser", "UserCount", "2"},
            {"RandomUser", "SleepAfter", "200"}, {"CONFIG", "UseScatterGather", "FALSE"});
    assert_int_equal(r.largest, 1);
    assert_true(r.streams[STREAM_read_ahead].ops > 100);
    assert_true(r.streams[STREAM_page_read].ops > 10);
}

/* Adjacent pages of a chain are one request: chains have up to 32 pages, and with ratio 0 all of
 * them are read. */
static void adjacent_pages_of_a_chain_are_read_together(void **state)
{
    (void)state;
    struct result r =
        RUN(IO_READ, {"RandomUser", "UserCount", "1"}, {"RandomUser", "MinIOChainLength", "32"},
            {"RandomUser", "MaxIOChainLength", "32"}, {"CONFIG", "CacheHitRatio", "0"});
    const struct stream_stats *reads = &r.streams[STREAM_page_read];
    assert_int_equal(r.largest, 32);
    /* chains are uniform in 1 .. 32: the mean is 16.5, and few have a system page inside */
    assert_in_range(reads->bytes / PAGE_BYTES / reads->ops, 12, 20);
}

/* The pool holds all data.  Forced, what is read again and again is dropped; else each page is read
 * once, and then there is nothing to do. */
static void force_read_ahead_reads_what_the_pool_has(void **state)
{
    (void)state;
    struct result forced =
        RUN(IO_READ, {"ReadAheadUser", "UserCount", "2"}, {"ReadAheadUser", "RADelay", "10"});
    struct result trimmed =
        RUN(IO_READ, {"ReadAheadUser", "UserCount", "2"}, {"ReadAheadUser", "RADelay", "10"},
            {"CONFIG", "ForceReadAhead", "FALSE"});
    assert_in_range(forced.counters.read_ahead_pages, DATA_PAGES / 2, DATA_PAGES);
    assert_true(forced.counters.read_ahead_dropped > 2 * DATA_PAGES);
    assert_in_range(trimmed.counters.read_ahead_pages, DATA_PAGES / 2, DATA_PAGES);
    assert_true(trimmed.counters.read_ahead_dropped < 64); /* system pages inside a range */
}

static void a_scan_finds_a_lost_write_and_gives_its_own_name(void **state)
{
    (void)state;
    const struct sim_setting settings[] = {{"ReadAheadUser", "UserCount", "1"},
                                           {"ReadAheadUser", "RADelay", "1"}};
    struct sim_options options = options_of(settings, 2);
    struct sim sim;
    sim_begin(&sim, &options);
    fault_add(sim.faults, &(struct fault_rule){.kind = FAULT_LOST,
                                               .op = IO_WRITE,
                                               .file_uid = 1,
                                               .low = 700 * PAGE_BYTES,
                                               .high = 701 * PAGE_BYTES});
    sim_run(&sim);
    assert_int_equal(sim.run->findings.count, 1);
    const struct finding *finding = &sim.run->findings.list[0];
    assert_int_equal(finding->page_no, 700);
    assert_true(findings_count(&sim.run->findings, SEVERITY_INTEGRITY) == 1);
    assert_string_equal(finding->actor, "ReadAheadUser 1");
    assert_true(run_stopping(sim.run)); /* StopOnError */
    sim_end(&sim);
}

/* ---- CacheHitRatio ---- */

static struct counters counters_with_ratio(const char *ratio)
{
    return RUN(IO_READ, {"RandomUser", "UserCount", "4"}, {"RandomUser", "SleepAfter", "20"},
               {"RandomUser", "MaxIOChainLength", "40"}, {"RandomUser", "MaxLogPerBuffer", "512"},
               {"CONFIG", "CacheHitRatio", ratio})
        .counters;
}

static void at_10000_memory_is_always_believed(void **state)
{
    (void)state;
    struct counters c = counters_with_ratio("10000");
    assert_int_equal(c.page_rereads, 0);
    assert_true(c.page_hits > 100);
}

static void at_0_every_page_is_read_again(void **state)
{
    (void)state;
    struct counters c = counters_with_ratio("0");
    assert_int_equal(c.page_hits, 0);
    assert_true(c.page_rereads > 100);
}

/* Of n rolls half are hits, give or take 5 * sqrt(n) / 2: five standard deviations. */
static void at_5000_half_of_the_accesses_read_again(void **state)
{
    (void)state;
    struct counters c = counters_with_ratio("5000");
    uint64_t n = c.page_hits + c.page_rereads;
    uint64_t off = c.page_hits > n / 2 ? c.page_hits - n / 2 : n / 2 - c.page_hits;
    assert_true(n > 1000);
    assert_true(4 * off * off <= 25 * n);
}

/* ---- BulkUpdateUser ---- */

/* No other writer is at work, the pool holds all: each page changed is written once, eagerly,
 * before its transaction ends; nothing is read. */
static void a_load_writes_each_page_it_changed_before_it_commits(void **state)
{
    (void)state;
    struct result r =
        RUN(IO_WRITE, {"BulkUpdateUser", "UserCount", "1"}, {"BulkUpdateUser", "BUDelay", "50"},
            {"CONFIG", "CacheHitRatio", "10000"});
    const struct stream_stats *eager = &r.streams[STREAM_eager_write];
    assert_true(r.counters.transactions > 10);
    assert_int_equal(eager->bytes / PAGE_BYTES, r.counters.page_updates);
    assert_int_equal(r.requests, eager->ops);
    assert_int_equal(r.streams[STREAM_page_read].ops, 0);
    assert_true(eager->bytes / PAGE_BYTES / eager->ops > 32); /* 64 .. 128 pages a cycle */
}

static void gather_pages_bounds_the_eager_writes(void **state)
{
    (void)state;
    struct result r = RUN(IO_WRITE, {"BulkUpdateUser", "UserCount", "1"},
                          {"BulkUpdateUser", "BUDelay", "50"}, {"CONFIG", "GatherPages", "16"});
    assert_int_equal(r.largest, 16);
    struct result single =
        RUN(IO_WRITE, {"BulkUpdateUser", "UserCount", "1"}, {"BulkUpdateUser", "BUDelay", "100"},
            {"CONFIG", "UseScatterGather", "FALSE"});
    assert_int_equal(single.largest, 1);
    assert_true(single.requests > 100);
}

/* One record of 32 bytes an extent, begin and commit: 128 pages are 16 or 17 extents. */
static void a_load_is_minimally_logged(void **state)
{
    (void)state;
    struct result r =
        RUN(IO_WRITE, {"BulkUpdateUser", "UserCount", "1"}, {"BulkUpdateUser", "BUDelay", "50"},
            {"BulkUpdateUser", "BuffersBUMin", "128"});
    const struct stream_stats *log = &r.streams[STREAM_log_write];
    assert_true(r.counters.transactions > 10);
    /* less than a sector of log a page, where RandomUser's is 64 bytes to 8 KiB */
    assert_true(log->bytes < r.counters.page_updates * 512);
}

/* Eight users over 128 extents and a pool of an eighth of the data: they meet all the time. */
static void loads_over_each_other_with_few_frames_end_clean(void **state)
{
    (void)state;
    for (uint64_t seed = 1; seed <= 3; seed++) {
        const struct sim_setting settings[] = {
            {"BulkUpdateUser", "UserCount", "8"}, {"BulkUpdateUser", "BuffersBUMax", "300"},
            {"RandomUser", "UserCount", "4"},     {"RandomUser", "MaxLogPerBuffer", "512"},
            {"ReadAheadUser", "UserCount", "2"},  {"BulkUpdateUser", "BUDelay", "20"},
            {"CONFIG", "CheckpointInterval", "1"}};
        struct sim_options options = options_of(settings, sizeof settings / sizeof settings[0]);
        options.with_faults = false;
        options.seed = seed;
        options.duration_ns = NS_PER_S / 2;
        options.data_bytes = 8 * DRAWN_MIB;
        options.pool_bytes = DRAWN_MIB;
        struct sim sim;
        sim_begin(&sim, &options);
        sim_run(&sim);
        bool clean = drawn_run_is_clean(&sim);
        sim_end(&sim);
        assert_true(clean);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_read_ahead_goes_out_in_requests_of_64_pages),
        cmocka_unit_test(without_scatter_reads_a_request_has_one_page),
        cmocka_unit_test(adjacent_pages_of_a_chain_are_read_together),
        cmocka_unit_test(force_read_ahead_reads_what_the_pool_has),
        cmocka_unit_test(a_scan_finds_a_lost_write_and_gives_its_own_name),
        cmocka_unit_test(at_10000_memory_is_always_believed),
        cmocka_unit_test(at_0_every_page_is_read_again),
        cmocka_unit_test(at_5000_half_of_the_accesses_read_again),
        cmocka_unit_test(a_load_writes_each_page_it_changed_before_it_commits),
        cmocka_unit_test(gather_pages_bounds_the_eager_writes),
        cmocka_unit_test(a_load_is_minimally_logged),
        cmocka_unit_test(loads_over_each_other_with_few_frames_end_clean),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
