/*
 * test_resize.c - data files that grow and shrink under load: whole runs over the modelled device.
 *
 * Nothing is found, every page is read back, sizes agree everywhere, and the requests have the
 * sizes that SQL Server's have (growth: 8 MiB of zeros; shrink: 8 KiB, one at a time).
 */
#include <errno.h>
#include <sys/stat.h>

#include "sim/database_extents.h"
#include "sim/database_use.h"
#include "tests/core_fixture.h"
#include "tests/scale.h"

#define MIB CORE_MIB

static struct sim_options resize_options(uint64_t seed)
{
    return (struct sim_options){
        .seed = seed,
        .duration_ns = NS_PER_S,
        .data_bytes = 8 * MIB,
        .log_bytes = 8 * MIB,
        .databases = 2,
        .settings = {{"RandomUser", "UserCount", "3"},
                     {"RandomUser", "MaxIOChainLength", "20"},
                     {"AuditUser", "UserCount", "1"},
                     {"ReadAheadUser", "UserCount", "1"},
                     {"BulkUpdateUser", "UserCount", "2"},
                     {"ShrinkUser", "MinShrinkInterval", "0"},
                     {"ShrinkUser", "MaxShrinkInterval", "0"},
                     {"ShrinkUser", "MaxExtends", "6"}},
    };
}

static void setting(struct sim_options *options, const char *section, const char *key,
                    const char *value)
{
    unsigned i = 0;
    while (options->settings[i].section)
        i++;
    assert_true(i + 1 < SIM_SETTINGS_MAX);
    options->settings[i] = (struct sim_setting){section, key, value};
}

/* May grow to four times its size in steps of 512 KiB. */
static void begin(struct sim *sim, const struct sim_options *options)
{
    sim_begin(sim, options);
    for (unsigned i = 0; i < sim->plan.file_count; i++) {
        struct plan_file *file = &sim->plan.files[i];
        if (file->is_log)
            continue;
        file->max_bytes = 4 * file->size_bytes;
        file->increment_bytes = MIB / 2;
        file->shrinkable = true;
    }
}

static void assert_sizes_agree(const struct sim *sim)
{
    for (unsigned i = 0; i < sim->run->file_count; i++) {
        struct data_file *file = sim->run->files[i];
        const struct ledger_file *row = ledger_file_at(sim->run->ledger, file->file.mark.file_uid);
        struct file_header_info info;
        struct stat st;
        assert_int_equal(stat(file->file.path, &st), 0);
        assert_int_equal((uint64_t)st.st_size, (uint64_t)file->file.size_pages * PAGE_BYTES);
        assert_int_equal(row->size_pages_acked, file->file.size_pages);
        assert_int_equal(row->size_pages_issued, file->file.size_pages);
        assert_true(file_header_read(syspage_frame(file, 0)->bytes, &info));
        assert_int_equal(info.size_pages, file->file.size_pages);
    }
}

/* The caller frees the statistics. */
static struct stats *run_clean(struct sim *sim)
{
    struct stats *stats = calloc(1, sizeof *stats);
    assert_non_null(stats);
    if (!sim->created)
        sim_create(sim);
    if (!sim->result)
        sim->result = run_execute(sim->run);
    if (sim->result || sim->run->findings.count)
        sim_print_findings(sim);
    assert_int_equal(sim->result, 0);
    assert_int_equal(sim->run->findings.count, 0);
    assert_true(sim->run->audited);
    assert_sizes_agree(sim);
    run_stats(sim->run, stats);
    return stats;
}

static void test_files_grow_and_shrink_under_load(void **state)
{
    (void)state;
    for (uint64_t seed = 1; seed <= (uint64_t)test_scaled(2); seed++) {
        struct sim sim;
        struct sim_options options = resize_options(seed);
        printf("seed %llu\n", (unsigned long long)seed);
        begin(&sim, &options);
        struct stats *stats = run_clean(&sim);
        assert_true(stats->counters.file_growths > 0);
        assert_true(stats->counters.file_shrinks > 0);
        assert_true(stats->counters.pages_moved + stats->counters.pages_dropped > 0);
        free(stats);
        sim_end(&sim);
    }
}

static void test_loads_fill_new_extents_and_start_over(void **state)
{
    (void)state;
    for (uint64_t seed = 11; seed < 11 + (uint64_t)test_scaled(1); seed++) {
        struct sim sim;
        struct sim_options options = resize_options(seed);
        printf("seed %llu\n", (unsigned long long)seed);
        setting(&options, "BulkUpdateUser", "NewExtents", "TRUE");
        setting(&options, "BulkUpdateUser", "FullyLogged", "1");
        setting(&options, "BulkUpdateUser", "BUDelay", "1");
        begin(&sim, &options);
        struct stats *stats = run_clean(&sim);
        assert_true(stats->counters.file_growths > 0);
        assert_true(stats->counters.pages_dropped > 0);
        free(stats);
        sim_end(&sim);
    }
}

/* --reuse: a later session plans the size that the files began with, and takes them as they are. */
static void take_over(struct sim *sim, const char *name)
{
    char message[PLAN_MESSAGE_MAX] = "";
    for (unsigned i = 0; i < sim->plan.file_count; i++)
        if (!sim->plan.files[i].is_log)
            sim->plan.files[i].size_bytes = sim->options.data_bytes;
    if (sim_take_over(sim, name, message))
        fail_msg("%s", message);
}

static uint64_t sizes_of(const struct sim *sim)
{
    uint64_t sum = 0;
    for (unsigned i = 0; i < sim->run->file_count; i++)
        sum += sim->run->files[i]->file.size_pages;
    return sum;
}

static uint32_t used_beyond(const struct data_file *file)
{
    uint32_t used = 0;
    for (uint32_t extent = file->extents.first; extent < file->extents.end; extent++)
        used += extent_state_of(file, extent) == EXTENT_USED;
    return used;
}

static void sessions_over_changed_sizes(uint64_t seed, bool loads)
{
    struct sim sim;
    struct sim_options options = resize_options(seed);
    uint64_t grown = 0, shrunk = 0, generation = 0;
    printf("seed %llu\n", (unsigned long long)seed);
    options.duration_ns = NS_PER_S / 2;
    if (loads) {
        setting(&options, "BulkUpdateUser", "NewExtents", "TRUE");
        setting(&options, "BulkUpdateUser", "BUDelay", "1");
    }
    begin(&sim, &options);
    for (unsigned session = 1; session <= 3; session++) {
        char name[16];
        uint64_t left = session > 1 ? sizes_of(&sim) : 0;
        uint32_t used = session > 1 ? used_beyond(sim.run->files[0]) : 0;
        snprintf(name, sizeof name, "session%u", session);
        if (session > 1) {
            take_over(&sim, name);
            sim_create(&sim);
            assert_int_equal(sim.result, 0);
            assert_int_equal(sizes_of(&sim), left);
            assert_true(used_beyond(sim.run->files[0]) <= used);
        }
        struct stats *stats = run_clean(&sim);
        grown += stats->counters.file_growths;
        shrunk += stats->counters.file_shrinks;
        free(stats);
        uint64_t newest = ledger_view(sim.run->ledger, 1, 100).issued;
        assert_true(newest >= generation);
        generation = newest;
    }
    assert_true(grown > 0);
    assert_true(loads || shrunk > 0);
    sim_end(&sim);
}

static void test_later_sessions_take_files_at_their_size(void **state)
{
    (void)state;
    sessions_over_changed_sizes(31, false);
    sessions_over_changed_sizes(32, true);
}

/* A page that was not owed when the snapshot began may be written for the first time while the read
 * that has it is under way: then it stands nowhere, and the request goes on with the next page. */
static void test_a_snapshot_is_checked_while_new_extents_fill(void **state)
{
    (void)state;
    struct sim sim;
    struct sim_options options = resize_options(61);
    setting(&options, "BulkUpdateUser", "NewExtents", "TRUE");
    setting(&options, "BulkUpdateUser", "BUDelay", "1");
    setting(&options, "DbccUser", "UserCount", "3");
    setting(&options, "DbccUser", "Outstanding", "4");
    begin(&sim, &options);
    struct stats *stats = run_clean(&sim);
    assert_true(stats->counters.dbcc_passes > 0);
    free(stats);
    sim_end(&sim);
}

/* StampFiles: zeros in chunks of 8 MiB, one at a time; else no write but page 0. */
static void test_growth_writes_zeros_when_files_are_stamped(void **state)
{
    (void)state;
    for (int stamped = 0; stamped <= 1; stamped++) {
        struct sim sim;
        struct sim_options options = resize_options(21);
        setting(&options, "CONFIG", "StampFiles", stamped ? "TRUE" : "FALSE");
        setting(&options, "ShrinkUser", "MinExtends", "100");
        setting(&options, "ShrinkUser", "MaxExtends", "100");
        begin(&sim, &options);
        struct stats *stats = run_clean(&sim);
        const struct stream_stats *grown = &stats->streams[PHASE_stress][STREAM_growth_write];
        uint64_t zeros = 24 * MIB * stats->counters.file_growths; /* from 8 to 32 MiB at once */
        assert_true(stats->counters.file_growths > 0);
        assert_true(grown->bytes >= (stamped ? zeros : 0));
        assert_true(grown->bytes < (stamped ? zeros : 0) + 64 * MIB / 100 * (grown->ops + 1));
        free(stats);
        sim_end(&sim);
    }
}

/* An error that is no want of space is a finding, the file keeps its size, and a later growth may
 * succeed. */
static void test_an_error_in_new_space_is_a_finding(void **state)
{
    (void)state;
    struct sim sim;
    struct sim_options options = resize_options(51);
    options.with_faults = true;
    setting(&options, "CONFIG", "StampFiles", "TRUE");
    setting(&options, "CONFIG", "StopOnError", "FALSE");
    begin(&sim, &options);
    fault_add(sim.faults, &(struct fault_rule){.kind = FAULT_ERRNO,
                                               .op = IO_WRITE,
                                               .file_uid = 1,
                                               .low = options.data_bytes,
                                               .high = UINT64_MAX,
                                               .a = EIO});
    sim_run(&sim);
    assert_int_equal(sim.run->findings.count, 1);
    assert_int_equal(sim.run->findings.by_verdict[VERDICT_write_error], 1);
    assert_true(sim.run->audited);
    assert_sizes_agree(&sim);
    sim_end(&sim);
}

/* What was grown and shrunk is there after a kill, as the ledger says. */
static void test_a_kill_leaves_sizes_that_agree(void **state)
{
    (void)state;
    for (uint64_t seed = 31; seed < 31 + (uint64_t)test_scaled(1); seed++) {
        struct sim sim;
        struct sim_options options = resize_options(seed);
        options.leave_like_killed = true;
        printf("seed %llu\n", (unsigned long long)seed);
        begin(&sim, &options);
        sim_run(&sim);
        assert_int_equal(sim.run->findings.count, 0);
        for (unsigned i = 0; i < sim.run->file_count; i++) {
            const struct file *file = &sim.run->files[i]->file;
            const struct ledger_file *row = ledger_file_at(sim.run->ledger, file->mark.file_uid);
            struct stat st;
            assert_int_equal(stat(file->path, &st), 0);
            uint64_t pages = (uint64_t)st.st_size / PAGE_BYTES;
            uint64_t most = row->size_pages_issued > row->size_pages_acked ? row->size_pages_issued
                                                                           : row->size_pages_acked;
            assert_true(pages >= row->size_pages_acked && pages <= most);
        }
        sim_end(&sim);
    }
}

/* Free extents 3 : 1 give turns 3 : 1, exactly and evenly. */
static void test_fill_is_proportional(void **state)
{
    (void)state;
    struct data_file files[2] = {{.capacity_pages = 6000}, {.capacity_pages = 2000}};
    struct database database = {.files = files, .file_count = 2};
    size_rights_init(&database.sizes);
    for (unsigned i = 0; i < 2; i++) {
        files[i].database = &database;
        assert_int_equal(extent_map_init(&files[i]), 0);
    }
    atomic_store(&files[0].extents.free, 300);
    atomic_store(&files[1].extents.free, 100);
    unsigned turns[2] = {0};
    for (unsigned i = 0; i < 400; i++)
        turns[extents_file_in_turn(&database, 8) == &files[1]]++;
    assert_int_equal(turns[0], 300);
    assert_int_equal(turns[1], 100);
    for (unsigned i = 0; i < 2; i++)
        extent_map_free(&files[i]);
    size_rights_free(&database.sizes);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_files_grow_and_shrink_under_load),
        cmocka_unit_test(test_loads_fill_new_extents_and_start_over),
        cmocka_unit_test(test_later_sessions_take_files_at_their_size),
        cmocka_unit_test(test_a_snapshot_is_checked_while_new_extents_fill),
        cmocka_unit_test(test_growth_writes_zeros_when_files_are_stamped),
        cmocka_unit_test(test_an_error_in_new_space_is_a_finding),
        cmocka_unit_test(test_a_kill_leaves_sizes_that_agree),
        cmocka_unit_test(test_fill_is_proportional),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
