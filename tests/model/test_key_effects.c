/*
 * test_key_effects.c - what each key does to the I/O that is issued.
 *
 * An engine over the modelled device writes down every request; the tests look at that trace, never
 * at what the simulator says of itself.  Keys with tests of their own elsewhere: tests/README.md.
 */
#include "sim/run_actor_rows.h"
#include "tests/model/traced.h"

#define PAGES 2048u /* 16 MiB of data */

/* ---- a run with these settings beside: one user of the kind that is looked at ---- */

static const struct sim_setting quiet[] = {{"RandomUser", "UserCount", "0"},
                                           {"AuditUser", "UserCount", "0"},
                                           {"ReadAheadUser", "UserCount", "0"},
                                           {"BulkUpdateUser", "UserCount", "0"},
                                           {"RandomUser", "RollbackChance", "0"},
                                           {"CpuIdleUser", "UserCount", "0"},
                                           {NULL, NULL, NULL}};

struct asked {
    uint64_t duration_ns, pool_bytes;
    unsigned workers;
    const struct sim_setting *settings;
};

static void traced_run(struct sim *sim, const struct asked *asked)
{
    struct sim_options options = {.seed = 3,
                                  .duration_ns = asked->duration_ns ? asked->duration_ns : NS_PER_S,
                                  .pool_bytes = asked->pool_bytes,
                                  .workers = asked->workers ? asked->workers : 1};
    unsigned n = 0;
    for (const struct sim_setting *s = quiet; s->section; s++)
        options.settings[n++] = *s;
    for (const struct sim_setting *s = asked->settings; s->section; s++)
        options.settings[n++] = *s;
    assert_true(n < SIM_SETTINGS_MAX);
    sim_begin(sim, &options);
    traced_execute(sim);
}

/* ---- looking at the trace ---- */

struct seen {
    unsigned ops;
    uint64_t bytes;
    size_t bytes_min, bytes_max;
    unsigned parts_max, outstanding_max;
    unsigned places; /* distinct offsets */
    uint64_t first_page, last_page;
    uint64_t last_ns;
};

static int compare_u64(const void *a, const void *b)
{
    uint64_t left = *(const uint64_t *)a, right = *(const uint64_t *)b;
    return (left > right) - (left < right);
}

static unsigned distinct(uint64_t *values, unsigned count)
{
    unsigned found = 0;
    qsort(values, count, sizeof *values, compare_u64);
    for (unsigned i = 0; i < count; i++)
        found += i == 0 || values[i] != values[i - 1];
    return found;
}

/* Requests of one stream in the main part. */
static struct seen look(enum phase phase, enum stream stream)
{
    struct seen seen = {.bytes_min = SIZE_MAX, .first_page = UINT64_MAX};
    uint64_t *offsets = calloc(trace.count + 1, sizeof *offsets);
    for (unsigned i = 0; i < trace.count; i++) {
        const struct traced_io *io = &trace.list[i];
        if (io->phase != phase || io->stream != stream)
            continue;
        offsets[seen.ops++] = io->offset;
        uint64_t page = io->offset / PAGE_BYTES;
        seen.bytes += io->bytes;
        seen.bytes_min = io->bytes < seen.bytes_min ? io->bytes : seen.bytes_min;
        seen.bytes_max = io->bytes > seen.bytes_max ? io->bytes : seen.bytes_max;
        seen.parts_max = io->parts > seen.parts_max ? io->parts : seen.parts_max;
        seen.outstanding_max =
            io->outstanding > seen.outstanding_max ? io->outstanding : seen.outstanding_max;
        seen.first_page = page < seen.first_page ? page : seen.first_page;
        seen.last_page = page > seen.last_page ? page : seen.last_page;
        seen.last_ns = io->when_ns;
    }
    seen.places = distinct(offsets, seen.ops);
    free(offsets);
    return seen;
}

static struct seen run_and_look(const struct asked *asked, enum stream stream)
{
    struct sim sim;
    traced_run(&sim, asked);
    sim_end(&sim);
    return look(PHASE_stress, stream);
}

#define SETTINGS(...)                                                                              \
    (const struct sim_setting[])                                                                   \
    {                                                                                              \
        __VA_ARGS__,                                                                               \
        {                                                                                          \
            NULL, NULL, NULL                                                                       \
        }                                                                                          \
    }
#define RANDOM(key, value)                                                                         \
    {                                                                                              \
        "RandomUser", key, value                                                                   \
    }
#define CONFIG(key, value)                                                                         \
    {                                                                                              \
        "CONFIG", key, value                                                                       \
    }

/* ---- RandomUser ---- */

static void user_count_is_who_reads(void **state)
{
    (void)state;
    struct asked none = {.settings = SETTINGS(RANDOM("SleepAfter", "1"))};
    struct asked two = {.settings = SETTINGS(RANDOM("UserCount", "2"))};
    assert_int_equal(run_and_look(&none, STREAM_page_read).ops, 0);
    assert_true(run_and_look(&two, STREAM_page_read).ops > 0);
}

/* A user that never jumps stays in one region of at most 16 pages; one that always does gets round.
 */
static void jump_to_new_region_is_where_pages_lie(void **state)
{
    (void)state;
    struct asked stays = {
        .settings = SETTINGS(RANDOM("UserCount", "1"), RANDOM("JumpToNewRegionPercentage", "0"),
                             RANDOM("MinIOChainLength", "16"), RANDOM("MaxIOChainLength", "16"),
                             CONFIG("CacheHitRatio", "0"))};
    struct asked jumps = {
        .settings = SETTINGS(RANDOM("UserCount", "1"), RANDOM("JumpToNewRegionPercentage", "10000"),
                             RANDOM("MinIOChainLength", "16"), RANDOM("MaxIOChainLength", "16"))};
    struct seen seen = run_and_look(&stays, STREAM_page_read);
    assert_in_range(seen.last_page - seen.first_page, 0, 15);
    seen = run_and_look(&jumps, STREAM_page_read);
    assert_in_range(seen.last_page - seen.first_page, PAGES / 2, PAGES);
}

/* One page, or exactly so many neighbours: how far a region reaches. */
static void chain_lengths_are_the_size_of_a_region(void **state)
{
    (void)state;
    struct asked one = {
        .settings = SETTINGS(RANDOM("UserCount", "1"), RANDOM("JumpToNewRegionPercentage", "0"),
                             RANDOM("MinIOChainLength", "1"), RANDOM("MaxIOChainLength", "1"),
                             CONFIG("CacheHitRatio", "0"))};
    struct asked forty = {
        .settings = SETTINGS(RANDOM("UserCount", "1"), RANDOM("JumpToNewRegionPercentage", "0"),
                             RANDOM("MinIOChainLength", "40"), RANDOM("MaxIOChainLength", "40"),
                             CONFIG("CacheHitRatio", "0"))};
    assert_int_equal(run_and_look(&one, STREAM_page_read).places, 1);
    struct seen seen = run_and_look(&forty, STREAM_page_read);
    assert_in_range(seen.last_page - seen.first_page, 16, 39); /* of a chain inside the region */
}

/* Nothing changed: no log, no dirty page.  Everything changed: both. */
static void read_write_ratio_is_the_share_that_is_changed(void **state)
{
    (void)state;
    struct asked reads = {
        .settings = SETTINGS(RANDOM("UserCount", "2"), RANDOM("RandomUserReadWriteRatio", "0"))};
    struct asked writes = {.settings = SETTINGS(RANDOM("UserCount", "2"),
                                                RANDOM("RandomUserReadWriteRatio", "10000"))};
    assert_int_equal(run_and_look(&reads, STREAM_log_write).ops, 0);
    assert_true(run_and_look(&writes, STREAM_log_write).ops > 0);
}

/* Transactions of one page each: 512 or 8,192 bytes of payload, a header a block, records of begin
 * and commit (below 512 bytes), up to whole sectors. */
static void log_per_buffer_is_the_size_of_log_writes(void **state)
{
    (void)state;
    struct asked small = {
        .settings = SETTINGS(RANDOM("UserCount", "1"), RANDOM("RandomUserReadWriteRatio", "10000"),
                             RANDOM("MinIOChainLength", "1"), RANDOM("MaxIOChainLength", "1"),
                             RANDOM("MinLogPerBuffer", "512"), RANDOM("MaxLogPerBuffer", "512"))};
    struct asked large = {
        .settings = SETTINGS(RANDOM("UserCount", "1"), RANDOM("RandomUserReadWriteRatio", "10000"),
                             RANDOM("MinIOChainLength", "1"), RANDOM("MaxIOChainLength", "1"),
                             RANDOM("MinLogPerBuffer", "8192"), RANDOM("MaxLogPerBuffer", "8192"))};
    struct seen seen = run_and_look(&small, STREAM_log_write);
    assert_in_range(seen.bytes / seen.ops, 513, 1536);
    seen = run_and_look(&large, STREAM_log_write);
    assert_in_range(seen.bytes / seen.ops, 8193, 9728);
}

static void a_rollback_logs_nothing(void **state)
{
    (void)state;
    struct asked asked = {.settings = SETTINGS(RANDOM("UserCount", "2"),
                                               RANDOM("RandomUserReadWriteRatio", "10000"),
                                               RANDOM("RollbackChance", "10000"))};
    struct sim sim;
    traced_run(&sim, &asked);
    sim_end(&sim);
    assert_true(look(PHASE_stress, STREAM_page_read).ops > 0);
    assert_int_equal(look(PHASE_stress, STREAM_log_write).ops, 0);
}

/* Chains of one page: 10 a second at 100 ms, in 2 s at most 20 and 1 in progress. */
static void sleep_after_is_the_pace(void **state)
{
    (void)state;
    struct asked asked = {
        .duration_ns = 2 * NS_PER_S,
        .settings = SETTINGS(RANDOM("UserCount", "1"), RANDOM("SleepAfter", "100"),
                             RANDOM("MinIOChainLength", "1"), RANDOM("MaxIOChainLength", "1"),
                             RANDOM("JumpToNewRegionPercentage", "10000"),
                             RANDOM("RandomUserReadWriteRatio", "0"))};
    struct seen seen = run_and_look(&asked, STREAM_page_read);
    assert_in_range(seen.ops, 15, 21);
}

/* ---- AuditUser ---- */

static void buffers_validated_is_the_size_of_an_audit(void **state)
{
    (void)state;
    struct asked asked = {.settings = SETTINGS({"AuditUser", "UserCount", "1"},
                                               {"AuditUser", "BuffersValidated", "16"})};
    struct seen seen = run_and_look(&asked, STREAM_audit_read);
    assert_int_equal(seen.bytes_max, 16 * PAGE_BYTES);
}

/* After every 3 audits 250 ms: in 1 s 4 times 3, and a pause has begun. */
static void audit_delay_comes_after_its_cycles(void **state)
{
    (void)state;
    struct asked asked = {.settings = SETTINGS({"AuditUser", "UserCount", "1"},
                                               {"AuditUser", "BuffersValidated", "16"},
                                               {"AuditUser", "DelayAfterCycles", "3"},
                                               {"AuditUser", "AuditDelay", "250"})};
    assert_int_equal(run_and_look(&asked, STREAM_audit_read).ops, 12);
}

/* ---- ReadAheadUser, BulkUpdateUser ---- */

static void read_ahead_reads_so_many_pages_with_one_request(void **state)
{
    (void)state;
    struct asked asked = {.settings = SETTINGS({"ReadAheadUser", "UserCount", "1"},
                                               {"ReadAheadUser", "BuffersRAMin", "24"},
                                               {"ReadAheadUser", "BuffersRAMax", "24"})};
    struct seen seen = run_and_look(&asked, STREAM_read_ahead);
    assert_true(seen.ops > 0);
    assert_int_equal(seen.bytes_max, 24 * PAGE_BYTES);
}

static void read_ahead_delay_comes_after_its_cycles(void **state)
{
    (void)state;
    struct asked asked = {.settings = SETTINGS({"ReadAheadUser", "UserCount", "1"},
                                               {"ReadAheadUser", "BuffersRAMin", "8"},
                                               {"ReadAheadUser", "BuffersRAMax", "8"},
                                               {"ReadAheadUser", "DelayAfterCycles", "3"},
                                               {"ReadAheadUser", "RADelay", "250"})};
    assert_in_range(run_and_look(&asked, STREAM_read_ahead).bytes, 11 * 8 * PAGE_BYTES,
                    12 * 8 * PAGE_BYTES);
}

static void bulk_update_changes_so_many_pages_in_gather_writes(void **state)
{
    (void)state;
    struct asked asked = {.settings = SETTINGS({"BulkUpdateUser", "UserCount", "1"},
                                               {"BulkUpdateUser", "BuffersBUMin", "24"},
                                               {"BulkUpdateUser", "BuffersBUMax", "24"})};
    struct seen seen = run_and_look(&asked, STREAM_eager_write);
    assert_true(seen.ops > 0);
    assert_int_equal(seen.bytes_max, 24 * PAGE_BYTES);
}

/* 3 loads of 8 pages, then 250 ms: 12 loads in a second, and those that reach a file's end or a
 * system page in two pieces. */
static void bulk_update_delay_comes_after_its_cycles(void **state)
{
    (void)state;
    struct asked asked = {.settings = SETTINGS({"BulkUpdateUser", "UserCount", "1"},
                                               {"BulkUpdateUser", "BuffersBUMin", "8"},
                                               {"BulkUpdateUser", "BuffersBUMax", "8"},
                                               {"BulkUpdateUser", "DelayAfterCycles", "3"},
                                               {"BulkUpdateUser", "BUDelay", "250"})};
    assert_in_range(run_and_look(&asked, STREAM_eager_write).bytes, 10 * 8 * PAGE_BYTES,
                    12 * 8 * PAGE_BYTES);
}

/* ---- CONFIG ---- */

static unsigned actors_of(const struct run *run, const char *name)
{
    unsigned count = 0;
    for (unsigned i = 0; i < run->actor_rows->count; i++)
        count += strcmp(run->actor_rows->list[i].pattern->name, name) == 0;
    return count;
}

/* SQLIOSim's rule: two users a CPU, at most eight. */
static void cpu_count_is_how_many_users_there_are(void **state)
{
    (void)state;
    static const unsigned cpus[] = {1, 3, 5}, users[] = {2, 6, 8};
    for (unsigned i = 0; i < 3; i++) {
        struct asked asked = {.duration_ns = 50 * NS_PER_MS,
                              .workers = cpus[i],
                              .settings = SETTINGS(RANDOM("UserCount", "-1"))};
        struct sim sim;
        traced_run(&sim, &asked);
        assert_int_equal(actors_of(sim.run, "RandomUser"), users[i]);
        sim_end(&sim);
    }
}

static void without_scatter_gather_each_request_is_a_page(void **state)
{
    (void)state;
    struct asked asked = {.settings =
                              SETTINGS(RANDOM("UserCount", "2"), {"AuditUser", "UserCount", "1"},
                                       {"ReadAheadUser", "UserCount", "1"},
                                       {"BulkUpdateUser", "UserCount", "1"},
                                       CONFIG("UseScatterGather", "FALSE"))};
    struct sim sim;
    traced_run(&sim, &asked);
    sim_end(&sim);
    unsigned several = 0, of_data = 0;
    for (unsigned i = 0; i < trace.count; i++) {
        const struct traced_io *io = &trace.list[i];
        if (io->is_log || io->op == IO_FLUSH || io->phase != PHASE_stress)
            continue;
        of_data++;
        several += io->parts != 1 || io->bytes > PAGE_BYTES;
    }
    assert_true(of_data > 100);
    assert_int_equal(several, 0);
}

static void gather_pages_is_the_longest_write(void **state)
{
    (void)state;
    struct asked asked = {.settings =
                              SETTINGS(RANDOM("UserCount", "1"), CONFIG("GatherPages", "32"))};
    struct sim sim;
    traced_run(&sim, &asked);
    sim_end(&sim);
    size_t largest = 0;
    for (unsigned i = 0; i < trace.count; i++)
        if (!trace.list[i].is_log && trace.list[i].op == IO_WRITE &&
            trace.list[i].phase != PHASE_initial_update)
            largest = trace.list[i].bytes > largest ? trace.list[i].bytes : largest;
    assert_in_range(largest, PAGE_BYTES, 32 * PAGE_BYTES);
}

/* 16 MiB of data and chains over all of it: a pool that holds everything reads each page once. */
static void max_memory_is_what_need_not_be_read_again(void **state)
{
    (void)state;
    const struct sim_setting *settings =
        SETTINGS(RANDOM("UserCount", "4"), RANDOM("JumpToNewRegionPercentage", "10000"),
                 RANDOM("RandomUserReadWriteRatio", "0"), CONFIG("CacheHitRatio", "10000"));
    struct asked all = {.duration_ns = 4 * NS_PER_S, .pool_bytes = 32 * MIB, .settings = settings};
    struct asked little = {
        .duration_ns = 4 * NS_PER_S, .pool_bytes = 4 * MIB, .settings = settings};
    struct seen seen = run_and_look(&all, STREAM_page_read);
    assert_int_equal(seen.ops, seen.places);
    seen = run_and_look(&little, STREAM_page_read);
    assert_true(seen.ops > seen.places);
}

static void queue_depth_is_the_most_that_an_engine_holds(void **state)
{
    (void)state;
    struct sim sim;
    struct sim_options options = {.seed = 3, .workers = 1};
    options.settings[0] = (struct sim_setting){"RandomUser", "UserCount", "40"};
    options.settings[1] = (struct sim_setting){"RandomUser", "SleepAfter", "0"};
    sim_begin(&sim, &options);
    sim.plan.queue_depth = 5;
    struct run_config config = {.profile = sim.profile,
                                .plan = &sim.plan,
                                .out_dir = sim.folder,
                                .engine = &engine_traced,
                                .engine_device = sim.device,
                                .virtual_clock = true,
                                .clock = &sim.clock};
    trace.count = 0;
    sim.run = calloc(1, sizeof *sim.run);
    sim.created = true;
    assert_int_equal(run_create(sim.run, &config), 0);
    assert_int_equal(run_execute(sim.run), 0);
    sim_end(&sim);
    unsigned most = 0;
    for (unsigned i = 0; i < trace.count; i++)
        most = trace.list[i].outstanding > most ? trace.list[i].outstanding : most;
    assert_int_equal(most, 5);
}

/* The deadline is looked at between operations: one that has begun may end after it. */
static void test_cycle_duration_is_the_length_of_the_main_part(void **state)
{
    (void)state;
    struct asked asked = {.duration_ns = 3 * NS_PER_S,
                          .settings = SETTINGS(RANDOM("UserCount", "4"))};
    struct sim sim;
    traced_run(&sim, &asked);
    uint64_t begun = sim.run->phases[PHASE_stress].start_ns;
    struct seen seen = look(PHASE_stress, STREAM_page_read);
    sim_end(&sim);
    assert_in_range(seen.last_ns - begun, 2900 * NS_PER_MS, 3300 * NS_PER_MS);
}

/* Every page of 16 MiB is audited once a cycle, in reads of 64. */
static void test_cycles_is_how_often_all_is_read_back(void **state)
{
    (void)state;
    for (unsigned cycles = 1; cycles <= 3; cycles++) {
        char text[8];
        snprintf(text, sizeof text, "%u", cycles);
        struct asked asked = {.duration_ns = 100 * NS_PER_MS,
                              .settings =
                                  SETTINGS(RANDOM("UserCount", "1"), CONFIG("TestCycles", text))};
        struct sim sim;
        traced_run(&sim, &asked);
        sim_end(&sim);
        assert_int_equal(look(PHASE_audit, STREAM_audit_read).bytes,
                         (uint64_t)cycles * PAGES * PAGE_BYTES);
    }
}

static void sector_size_is_the_grain_of_the_log(void **state)
{
    (void)state;
    struct asked asked = {.settings =
                              SETTINGS(RANDOM("UserCount", "2"), CONFIG("SectorSize", "4096"))};
    struct sim sim;
    traced_run(&sim, &asked);
    sim_end(&sim);
    unsigned writes = 0;
    for (unsigned i = 0; i < trace.count; i++) {
        const struct traced_io *io = &trace.list[i];
        if (!io->is_log || io->op != IO_WRITE)
            continue;
        writes++;
        assert_int_equal(io->offset % 4096, 0);
        assert_int_equal(io->bytes % 4096, 0);
    }
    assert_true(writes > 10);
}

/* 300 ms of work between checkpoints of 100 ms: more than without, where one comes at the end. */
static void checkpoint_interval_is_how_often_pages_are_written(void **state)
{
    (void)state;
    struct asked often = {
        .duration_ns = 5 * NS_PER_S,
        .settings = SETTINGS(RANDOM("UserCount", "1"), CONFIG("CheckpointInterval", "1"))};
    struct asked never = {.duration_ns = 5 * NS_PER_S,
                          .pool_bytes = 32 * MIB,
                          .settings =
                              SETTINGS(RANDOM("UserCount", "1"), RANDOM("SleepAfter", "200"),
                                       CONFIG("CheckpointInterval", "3600"))};
    assert_true(run_and_look(&often, STREAM_checkpoint_write).ops > 3);
    assert_int_equal(run_and_look(&never, STREAM_checkpoint_write).ops, 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(user_count_is_who_reads),
        cmocka_unit_test(jump_to_new_region_is_where_pages_lie),
        cmocka_unit_test(chain_lengths_are_the_size_of_a_region),
        cmocka_unit_test(read_write_ratio_is_the_share_that_is_changed),
        cmocka_unit_test(log_per_buffer_is_the_size_of_log_writes),
        cmocka_unit_test(a_rollback_logs_nothing),
        cmocka_unit_test(sleep_after_is_the_pace),
        cmocka_unit_test(buffers_validated_is_the_size_of_an_audit),
        cmocka_unit_test(audit_delay_comes_after_its_cycles),
        cmocka_unit_test(read_ahead_reads_so_many_pages_with_one_request),
        cmocka_unit_test(read_ahead_delay_comes_after_its_cycles),
        cmocka_unit_test(bulk_update_changes_so_many_pages_in_gather_writes),
        cmocka_unit_test(bulk_update_delay_comes_after_its_cycles),
        cmocka_unit_test(cpu_count_is_how_many_users_there_are),
        cmocka_unit_test(without_scatter_gather_each_request_is_a_page),
        cmocka_unit_test(gather_pages_is_the_longest_write),
        cmocka_unit_test(max_memory_is_what_need_not_be_read_again),
        cmocka_unit_test(queue_depth_is_the_most_that_an_engine_holds),
        cmocka_unit_test(test_cycle_duration_is_the_length_of_the_main_part),
        cmocka_unit_test(test_cycles_is_how_often_all_is_read_back),
        cmocka_unit_test(sector_size_is_the_grain_of_the_log),
        cmocka_unit_test(checkpoint_interval_is_how_often_pages_are_written),
    };
    return cmocka_run_group_tests(tests, trace_begin, trace_end);
}
