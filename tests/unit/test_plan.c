/* test_plan.c - plans of finished profiles on made-up machines; figures from the design's rules. */
#include "tests/unit/plan_fixture.h"

#include "config/preset.h"
#include "sim/wal_space.h"

struct made {
    struct profile *profile;
    struct plan plan;
    char message[PLAN_MESSAGE_MAX];
    int exit_code;
    int error;
};

static void make(struct made *made, struct profile *profile, struct fake_machine *fake)
{
    made->profile = profile;
    assert_int_equal(profile_finish(profile), 0);
    made->error =
        plan_make_on(&made->plan, profile, &fake->machine, NULL, made->message, &made->exit_code);
}

static void unmake(struct made *made)
{
    plan_free(&made->plan);
    profile_free(made->profile);
}

/* 1,000 MB of data and 100 MB of log on a file system of 1 TiB. */
static struct profile *plain_profile(void)
{
    struct profile *profile = empty_profile();
    set_file(profile, "File1", "/data/a.mdx", "1000", "FALSE", "1");
    set_file(profile, "File2", "/data/a.ldx", "100", "TRUE", "1");
    return profile;
}

static void big_machine(struct fake_machine *fake)
{
    fake_machine_init(fake, 1024 * GIB, 1024 * GIB);
}

/* ---- files ---- */

static void files_come_data_first_and_databases_dense(void **state)
{
    static const struct {
        const char *path;
        unsigned database;
        bool is_log;
    } expected[] = {{"/data/c.mdx", 0, false},
                    {"/data/d.mdx", 0, false},
                    {"/data/c.ldx", 0, true},
                    {"/data/a.mdx", 1, false},
                    {"/data/a.ldx", 1, true}};
    struct fake_machine fake;
    struct profile *profile = empty_profile();
    struct made made;
    (void)state;
    big_machine(&fake);
    set_file(profile, "File1", "/data/a.ldx", "100", "TRUE", "7");
    set_file(profile, "File2", "/data/a.mdx", "100", "FALSE", "7");
    set_file(profile, "File3", "/data/c.ldx", "100", "TRUE", "3");
    set_file(profile, "File4", "/data/c.mdx", "100", "FALSE", "3");
    set_file(profile, "File5", "/data/d.mdx", "100", "FALSE", "3");
    make(&made, profile, &fake);
    assert_int_equal(made.error, 0);
    assert_int_equal(made.plan.database_count, 2);
    assert_int_equal(made.plan.file_count, 5);
    for (size_t i = 0; i < 5; i++) {
        assert_string_equal(made.plan.files[i].path, expected[i].path);
        assert_int_equal(made.plan.files[i].database, expected[i].database);
        assert_int_equal(made.plan.files[i].is_log, expected[i].is_log);
    }
    unmake(&made);
}

/* 1100 KiB = 17.19 extents of 64 KiB: 17 remain. */
static void sizes_are_whole_extents(void **state)
{
    struct fake_machine fake;
    struct profile *profile = plain_profile();
    struct made made;
    (void)state;
    big_machine(&fake);
    set(profile, "File1", "InitialSize", "1100K");
    make(&made, profile, &fake);
    assert_int_equal(made.error, 0);
    assert_int_equal(made.plan.files[0].size_bytes, 17 * 65536);
    unmake(&made);
}

static void a_data_file_below_1_mb_is_refused(void **state)
{
    struct fake_machine fake;
    struct profile *profile = plain_profile();
    struct made made;
    (void)state;
    big_machine(&fake);
    set(profile, "File1", "InitialSize", "512K");
    make(&made, profile, &fake);
    assert_int_equal(made.error, -EINVAL);
    assert_int_equal(made.exit_code, 2);
    assert_non_null(strstr(made.message, "File1"));
    assert_non_null(strstr(made.message, "/data/a.mdx"));
    unmake(&made);
}

static void two_logs_of_a_database_follow_its_data(void **state)
{
    struct fake_machine fake;
    struct profile *profile = plain_profile();
    struct made made;
    (void)state;
    big_machine(&fake);
    set_file(profile, "File3", "/data/b.ldx", "100", "TRUE", "1");
    make(&made, profile, &fake);
    assert_int_equal(made.error, 0);
    assert_int_equal(made.plan.database_count, 1);
    assert_int_equal(made.plan.file_count, 3);
    assert_true(made.plan.files[1].is_log && made.plan.files[2].is_log);
    assert_string_equal(made.plan.files[2].path, "/data/b.ldx");
    unmake(&made);
}

/* Where it may grow, by SQL Server's 64 MB unless it says otherwise. */
static void a_log_grows_by_64_mb_by_default(void **state)
{
    struct fake_machine fake;
    struct profile *profile = plain_profile();
    struct made made;
    (void)state;
    big_machine(&fake);
    set_file(profile, "File3", "/data/b.ldx", "100", "TRUE", "1");
    set_file(profile, "File4", "/data/c.ldx", "100", "TRUE", "1");
    set(profile, "File4", "MaxSize", "300");
    set(profile, "File4", "Increment", "10");
    make(&made, profile, &fake);
    assert_int_equal(made.error, 0);
    assert_int_equal(made.plan.files[2].increment_bytes, 64 << 20);
    assert_int_equal(made.plan.files[2].max_bytes, 100 << 20);
    assert_int_equal(made.plan.files[3].increment_bytes, 10 << 20);
    assert_int_equal(made.plan.files[3].max_bytes, 300 << 20);
    unmake(&made);
}

static void no_file_at_all_is_refused(void **state)
{
    struct fake_machine fake;
    struct made made;
    (void)state;
    big_machine(&fake);
    make(&made, empty_profile(), &fake);
    assert_int_equal(made.error, -EINVAL);
    assert_int_equal(made.exit_code, 2);
    assert_non_null(strstr(made.message, "--dir"));
    unmake(&made);
}

/* The ledger keeps 512 bytes of a path, its end included. */
static void a_path_of_512_bytes_is_refused(void **state)
{
    struct fake_machine fake;
    struct profile *profile = plain_profile();
    struct made made;
    char path[513];
    (void)state;
    big_machine(&fake);
    memset(path, 'x', sizeof path - 1);
    memcpy(path, "/data/", 6);
    path[512] = '\0';
    set(profile, "File1", "FileName", path);
    make(&made, profile, &fake);
    assert_int_equal(made.exit_code, 2);
    assert_non_null(strstr(made.message, "File1"));
    unmake(&made);
}

/* 1,000 and 100 MB of the plain files, of the sparse one only system pages. */
static void sparse_files_are_not_written_beforehand(void **state)
{
    struct fake_machine fake;
    struct profile *profile = plain_profile();
    struct made made;
    (void)state;
    big_machine(&fake);
    set_file(profile, "File3", "/data/s.mdx", "500", "FALSE", "1");
    set(profile, "File3", "Sparse", "TRUE");
    make(&made, profile, &fake);
    assert_int_equal(made.error, 0);
    assert_true(made.plan.files[1].sparse);
    assert_int_equal(made.plan.bytes_to_write, 1100 * MIB);
    unmake(&made);
}

/* ---- log ---- */

/* 100 pages of 8,192 bytes are 819,200 bytes of payload: half of a 1 MB log cannot hold them. */
static void a_log_too_small_for_the_largest_transaction_is_refused(void **state)
{
    struct fake_machine fake;
    struct profile *profile = plain_profile();
    struct made made;
    (void)state;
    big_machine(&fake);
    set(profile, "RandomUser", "MaxIOChainLength", "100");
    set(profile, "RandomUser", "MinLogPerBuffer", "512");
    set(profile, "RandomUser", "MaxLogPerBuffer", "8192");
    set(profile, "File2", "InitialSize", "1");
    set(profile, "File2", "MaxSize", "1");
    make(&made, profile, &fake);
    assert_int_equal(made.error, -EINVAL);
    assert_int_equal(made.exit_code, 2);
    assert_non_null(strstr(made.message, "/data/a.ldx"));
    assert_non_null(strstr(made.message, "RandomUser"));
    unmake(&made);
}

static void without_users_that_log_any_log_will_do(void **state)
{
    struct fake_machine fake;
    struct profile *profile = plain_profile();
    struct made made;
    (void)state;
    big_machine(&fake);
    set(profile, "RandomUser", "UserCount", "0");
    set(profile, "BulkUpdateUser", "UserCount", "0");
    set(profile, "File2", "InitialSize", "1");
    set(profile, "File2", "MaxSize", "1");
    make(&made, profile, &fake);
    assert_int_equal(made.error, 0);
    unmake(&made);
}

/* ---- pool ---- */

/* 25 % of 1,000 MB of data. */
static void the_pool_is_a_quarter_of_the_data(void **state)
{
    struct fake_machine fake;
    struct made made;
    (void)state;
    big_machine(&fake);
    make(&made, plain_profile(), &fake);
    assert_int_equal(made.plan.pool_bytes, 250 * MIB);
    unmake(&made);
}

/* 25 % of 400 MiB of memory. */
static void the_pool_is_at_most_a_quarter_of_the_memory_and_says_so(void **state)
{
    struct fake_machine fake;
    struct made made;
    (void)state;
    big_machine(&fake);
    fake.machine.memory_bytes = 400 * MIB;
    make(&made, plain_profile(), &fake);
    assert_int_equal(made.plan.pool_bytes, 100 * MIB);
    assert_true(made.plan.note_count > 0);
    assert_non_null(strstr(made.plan.notes[0], "100 MiB instead of 250 MiB"));
    unmake(&made);
}

static void the_pool_is_at_least_64_mib(void **state)
{
    struct fake_machine fake;
    struct profile *profile = plain_profile();
    struct made made;
    (void)state;
    big_machine(&fake);
    set(profile, "File1", "InitialSize", "100");
    make(&made, profile, &fake);
    assert_int_equal(made.plan.pool_bytes, 64 * MIB);
    unmake(&made);
}

/* 25 % of 100,000 MB would be 25,000 MB. */
static void the_pool_is_at_most_4_gib(void **state)
{
    struct fake_machine fake;
    struct profile *profile = plain_profile();
    struct made made;
    (void)state;
    big_machine(&fake);
    fake.machine.memory_bytes = 64 * GIB;
    set(profile, "File1", "InitialSize", "100000");
    make(&made, profile, &fake);
    assert_int_equal(made.plan.pool_bytes, 4 * GIB);
    unmake(&made);
}

static void max_memory_wins(void **state)
{
    struct fake_machine fake;
    struct profile *profile = plain_profile();
    struct made made;
    (void)state;
    big_machine(&fake);
    set(profile, "CONFIG", "MaxMemoryMB", "32");
    make(&made, profile, &fake);
    assert_int_equal(made.error, 0);
    assert_int_equal(made.plan.pool_bytes, 32 * MIB);
    unmake(&made);
}

static void a_pool_beyond_the_memory_is_refused_with_exit_3(void **state)
{
    struct fake_machine fake;
    struct profile *profile = plain_profile();
    struct made made;
    (void)state;
    big_machine(&fake);
    fake.machine.memory_bytes = 1 * GIB;
    set(profile, "CONFIG", "MaxMemoryMB", "2048");
    make(&made, profile, &fake);
    assert_int_equal(made.error, -ENOMEM);
    assert_int_equal(made.exit_code, 3);
    assert_non_null(strstr(made.message, "2 GiB"));
    unmake(&made);
}

/* 2 threads x 32 reads x 64 pages are 32 MiB, 2 backups x 7 MiB 14 MiB; a phase needs 10 threads:
 * 160 + 14.  With a pool of 64 MiB that is 238 MiB. */
static void buffers_of_checkdb_and_backups_count_as_memory(void **state)
{
    (void)state;
    for (unsigned missing = 0; missing <= 1; missing++) {
        struct profile *profile = plain_profile();
        struct fake_machine fake;
        struct made made;
        big_machine(&fake);
        fake.machine.memory_bytes = 238 * MIB - missing;
        set(profile, "CONFIG", "MaxMemoryMB", "64");
        set(profile, "DbccUser", "UserCount", "2");
        set(profile, "BackupUser", "UserCount", "2");
        set(profile, "BackupUser", "BufferCount", "7");
        set(profile, "Phase1", "Duration", "9");
        set(profile, "Phase2", "Duration", "9");
        set(profile, "Phase2", "DbccUser.UserCount", "10");
        make(&made, profile, &fake);
        assert_int_equal(made.error, missing ? -ENOMEM : 0);
        assert_int_equal(made.plan.buffer_bytes, 174 * MIB);
        if (missing) {
            assert_int_equal(made.exit_code, 3);
            assert_non_null(strstr(made.message, "need 174 MiB beside a pool of 64 MiB"));
        }
        unmake(&made);
    }
}

/* 10,000 random users pin a page each: 80 MB of frames. */
static void a_pool_with_fewer_frames_than_users_is_refused(void **state)
{
    struct fake_machine fake;
    struct profile *profile = plain_profile();
    struct made made;
    (void)state;
    big_machine(&fake);
    set(profile, "CONFIG", "MaxMemoryMB", "64");
    set(profile, "RandomUser", "UserCount", "10000");
    make(&made, profile, &fake);
    assert_int_equal(made.error, -EINVAL);
    assert_int_equal(made.exit_code, 2);
    assert_non_null(strstr(made.message, "MaxMemoryMB"));
    unmake(&made);
}

/* 2,560 KiB are 320 frames, of which 256 are spare: enough for the 8 + 2 + 2 users of the main
 * part, not for the 64 + 4 + 1 of the oltp preset. */
static void the_pool_must_do_for_the_users_of_the_rated_phase_too(void **state)
{
    (void)state;
    for (int rated = 0; rated <= 1; rated++) {
        struct fake_machine fake;
        struct profile *profile = plain_profile();
        struct made made;
        big_machine(&fake);
        set(profile, "CONFIG", "MaxMemoryMB", "2560K");
        if (rated)
            profile_rate_by(profile, preset_by_name("oltp"));
        make(&made, profile, &fake);
        assert_int_equal(made.error, rated ? -EINVAL : 0);
        unmake(&made);
    }
}

/* A log that does for eight chains of one page, and not for a rated transaction of 1,000 pages of
 * 60 KB each, 60 MB. */
static void the_log_must_do_for_the_rated_transactions_too(void **state)
{
    const struct preset preset = {
        .name = "large",
        .text = "[RandomUser]\nUserCount=1\nReadsPerTransaction=1000\n"
                "UpdatesPerTransaction=1000\nMaxLogPerBuffer=59904\n",
    };
    (void)state;
    for (int rated = 0; rated <= 1; rated++) {
        struct fake_machine fake;
        struct profile *profile = plain_profile();
        struct made made;
        big_machine(&fake);
        if (rated)
            profile_rate_by(profile, &preset);
        make(&made, profile, &fake);
        assert_int_equal(made.error, rated ? -EINVAL : 0);
        unmake(&made);
    }
}

/* ---- space ---- */

/* 2,000 MB wanted; 3,000 MB free, of which max(1 GiB, 5 % of 10 GiB) = 1,024 MB stay: 1,976. */
static void the_sum_of_all_files_must_leave_the_reserve(void **state)
{
    struct fake_machine fake;
    struct profile *profile = plain_profile();
    struct made made;
    (void)state;
    fake_machine_init(&fake, 10 * GIB, 3000 * MIB);
    set(profile, "File1", "InitialSize", "1900");
    make(&made, profile, &fake);
    assert_int_equal(made.error, -ENOSPC);
    assert_int_equal(made.exit_code, 3);
    assert_non_null(strstr(made.message, "/data"));
    assert_non_null(strstr(made.message, "of which 1 GiB must stay free (Reserve)"));
    assert_non_null(strstr(made.message, "--set CONFIG.Reserve=1M lowers it"));
    unmake(&made);
}

/* As statvfs says of /proc. */
static void a_file_system_without_space_is_a_wrong_path(void **state)
{
    struct fake_machine fake;
    struct profile *profile = plain_profile();
    struct made made;
    (void)state;
    fake_machine_init(&fake, 0, 0);
    make(&made, profile, &fake);
    assert_int_equal(made.error, -EINVAL);
    assert_int_equal(made.exit_code, 2);
    assert_non_null(strstr(made.message, "/data: a file system without any space"));
    unmake(&made);
}

/* 3,000 MB do not fit in 3,000 less the smallest reserve of 1. */
static void a_lower_reserve_is_proposed_only_where_it_helps(void **state)
{
    struct fake_machine fake;
    struct profile *profile = plain_profile();
    struct made made;
    (void)state;
    fake_machine_init(&fake, 10 * GIB, 3000 * MIB);
    set(profile, "File1", "InitialSize", "2900");
    make(&made, profile, &fake);
    assert_int_equal(made.error, -ENOSPC);
    assert_null(strstr(made.message, "lowers it"));
    unmake(&made);
}

/* One extent less than the usable 1,976 MB fits. */
static void what_just_fits_is_accepted(void **state)
{
    struct fake_machine fake;
    struct profile *profile = plain_profile();
    struct made made;
    (void)state;
    fake_machine_init(&fake, 10 * GIB, 3000 * MIB);
    set(profile, "File1", "InitialSize", "1876");
    make(&made, profile, &fake);
    assert_int_equal(made.error, 0);
    unmake(&made);
}

static void a_reserve_that_was_set_counts(void **state)
{
    struct fake_machine fake;
    struct profile *profile = plain_profile();
    struct made made;
    (void)state;
    fake_machine_init(&fake, 10 * GIB, 3000 * MIB);
    set(profile, "File1", "InitialSize", "1900");
    set(profile, "CONFIG", "Reserve", "1000");
    make(&made, profile, &fake);
    assert_int_equal(made.error, 0);
    unmake(&made);
}

static void file_systems_are_counted_apart(void **state)
{
    struct fake_machine fake;
    struct profile *profile = plain_profile();
    struct made made;
    (void)state;
    fake_machine_init(&fake, 10 * GIB, 3000 * MIB);
    fake.volumes[1] = (struct fake_volume){"/log", {2, 3000 * MIB, 10 * GIB}};
    set(profile, "File1", "InitialSize", "1976");
    set(profile, "File2", "FileName", "/log/a.ldx");
    make(&made, profile, &fake);
    assert_int_equal(made.error, 0);
    unmake(&made);
}

/* 3,000 MB free are too few, but the earlier run's file gives 100 MB back. */
static void a_file_of_ours_that_is_replaced_gives_its_space(void **state)
{
    struct fake_machine fake;
    struct profile *profile = plain_profile();
    struct made made;
    (void)state;
    fake_machine_init(&fake, 10 * GIB, 3000 * MIB);
    fake.own_path = "/data/a.mdx";
    fake.own_bytes = 100 * MIB;
    set(profile, "File1", "InitialSize", "1900");
    make(&made, profile, &fake);
    assert_int_equal(made.error, 0);
    unmake(&made);
}

static void a_directory_that_is_missing_is_exit_2(void **state)
{
    struct fake_machine fake;
    struct profile *profile = plain_profile();
    struct made made;
    (void)state;
    big_machine(&fake);
    set(profile, "File1", "FileName", "/nowhere/a.mdx");
    make(&made, profile, &fake);
    assert_int_equal(made.exit_code, 2);
    assert_non_null(strstr(made.message, "/nowhere"));
    unmake(&made);
}

/* ---- workers, seed ---- */

static void workers_are_the_cpus_allowed(void **state)
{
    struct fake_machine fake;
    struct made made;
    (void)state;
    big_machine(&fake);
    make(&made, plain_profile(), &fake);
    assert_int_equal(made.plan.workers, 4);
    unmake(&made);
}

static void cpu_count_sets_the_workers(void **state)
{
    struct fake_machine fake;
    struct profile *profile = plain_profile();
    struct made made;
    (void)state;
    big_machine(&fake);
    set(profile, "CONFIG", "CPUCount", "3");
    make(&made, profile, &fake);
    assert_int_equal(made.plan.workers, 3);
    unmake(&made);
}

static void more_than_64_cpus_are_64_workers_and_a_note(void **state)
{
    struct fake_machine fake;
    struct made made;
    (void)state;
    big_machine(&fake);
    fake.machine.cpus = 96;
    make(&made, plain_profile(), &fake);
    assert_int_equal(made.plan.workers, 64);
    assert_non_null(strstr(made.plan.notes[0], "64 for 96 CPUs"));
    unmake(&made);
}

/* What is asked for is had, however few CPUs there are. */
static void cpu_count_goes_up_to_1024(void **state)
{
    struct fake_machine fake;
    struct profile *profile = plain_profile();
    struct made made;
    (void)state;
    big_machine(&fake);
    set(profile, "CONFIG", "CPUCount", "1024");
    make(&made, profile, &fake);
    assert_int_equal(made.plan.workers, 1024);
    for (unsigned i = 0; i < made.plan.note_count; i++)
        assert_null(strstr(made.plan.notes[i], "workers:"));
    unmake(&made);
}

static struct cpu_list cpus_of(const char *ranges)
{
    struct cpu_list out;
    assert_int_equal(cpu_list_parse_ranges(ranges, &out), 0);
    return out;
}

static void an_affinity_list_names_cpus_beyond_64(void **state)
{
    struct fake_machine fake;
    struct profile *profile = plain_profile();
    struct made made;
    (void)state;
    big_machine(&fake);
    fake.machine.allowed = cpus_of("0-255");
    set(profile, "CONFIG", "Affinity", "0-9,120-127,200");
    set(profile, "CONFIG", "IOAffinity", "201-201");
    make(&made, profile, &fake);
    assert_int_equal(made.plan.workers, 19); /* 10 + 8 + 1 */
    assert_true(cpu_list_has(&made.plan.cpus, 200));
    assert_int_equal(cpu_list_count(&made.plan.io_cpus), 1);
    assert_true(cpu_list_has(&made.plan.io_cpus, 201));
    unmake(&made);
}

static void two_nodes(struct fake_machine *fake)
{
    fake->machine.allowed = cpus_of("0-7");
    fake->machine.cpus = 8;
    fake->machine.numa =
        (struct numa){.count = 2, .nodes = {{0, cpus_of("0-3")}, {1, cpus_of("4-7")}}};
}

static void workers_are_spread_over_the_nodes(void **state)
{
    struct fake_machine fake;
    struct made made;
    (void)state;
    big_machine(&fake);
    two_nodes(&fake);
    make(&made, plain_profile(), &fake);
    assert_int_equal(made.plan.workers, 8);
    assert_int_equal(made.plan.numa.count, 2);
    assert_true(cpu_list_has(&made.plan.numa.nodes[1].cpus, 7));
    unmake(&made);
}

static void affinity_to_one_node_spreads_nothing(void **state)
{
    struct fake_machine fake;
    struct profile *profile = plain_profile();
    struct made made;
    (void)state;
    big_machine(&fake);
    two_nodes(&fake);
    set(profile, "CONFIG", "Affinity", "0xf0");
    make(&made, profile, &fake);
    assert_int_equal(made.plan.workers, 4);
    assert_int_equal(made.plan.numa.count, 0);
    unmake(&made);
}

static void an_affinity_mask_sets_the_workers_and_is_kept(void **state)
{
    struct fake_machine fake;
    struct profile *profile = plain_profile();
    struct made made;
    (void)state;
    big_machine(&fake);
    fake.machine.allowed = cpus_of("0-3");
    set(profile, "CONFIG", "Affinity", "0xa");
    set(profile, "CONFIG", "IOAffinity", "1");
    make(&made, profile, &fake);
    assert_int_equal(made.plan.workers, 2); /* CPU 1 and CPU 3 */
    assert_int_equal(made.plan.cpus.words[0], 0xa);
    assert_int_equal(made.plan.io_cpus.words[0], 1);
    unmake(&made);
}

static void cpu_count_goes_before_the_mask(void **state)
{
    struct fake_machine fake;
    struct profile *profile = plain_profile();
    struct made made;
    (void)state;
    big_machine(&fake);
    fake.machine.allowed = cpus_of("0-3");
    set(profile, "CONFIG", "Affinity", "1");
    set(profile, "CONFIG", "CPUCount", "3");
    make(&made, profile, &fake);
    assert_int_equal(made.plan.workers, 3);
    unmake(&made);
}

static void a_mask_beyond_the_cpus_allowed_is_refused(void **state)
{
    static const char *const keys[] = {"Affinity", "IOAffinity"};
    (void)state;
    for (size_t i = 0; i < 2; i++) {
        struct fake_machine fake;
        struct profile *profile = plain_profile();
        struct made made;
        big_machine(&fake);
        fake.machine.allowed = cpus_of("0,2-3"); /* a container */
        set(profile, "CONFIG", keys[i], "0x13");
        make(&made, profile, &fake);
        assert_int_equal(made.exit_code, 2);
        assert_non_null(strstr(made.message, keys[i]));
        assert_non_null(strstr(made.message, "CPU 1,4,"));
        assert_non_null(strstr(made.message, "allowed are CPU 0,2-3;"));
        unmake(&made);
    }
}

static void no_buffering_false_is_a_note(void **state)
{
    struct fake_machine fake;
    struct profile *profile = plain_profile();
    struct made made;
    (void)state;
    big_machine(&fake);
    set(profile, "CONFIG", "NoBuffering", "FALSE");
    make(&made, profile, &fake);
    bool said = false;
    for (unsigned i = 0; i < made.plan.note_count; i++)
        said = said || (strstr(made.plan.notes[i], "NoBuffering=FALSE") &&
                        strstr(made.plan.notes[i], "page cache"));
    assert_true(said);
    unmake(&made);
}

static bool has_note(const struct made *made, const char *a, const char *b)
{
    for (unsigned i = 0; i < made->plan.note_count; i++)
        if (strstr(made->plan.notes[i], a) && strstr(made->plan.notes[i], b))
            return true;
    return false;
}

/* 64 MB are 8,192 frames, a quarter of them 2,048: 1,024 for each of two users, who want no more;
 * for four 512. */
static void pages_read_at_once_are_a_share_of_the_pool_and_a_note(void **state)
{
    (void)state;
    for (int users = 2; users <= 4; users += 2) {
        struct fake_machine fake;
        struct profile *profile = plain_profile();
        struct made made;
        big_machine(&fake);
        set(profile, "CONFIG", "MaxMemoryMB", "64");
        set(profile, "ReadAheadUser", "UserCount", users == 2 ? "2" : "4");
        set(profile, "ReadAheadUser", "BuffersRAMax", "2000");
        make(&made, profile, &fake);
        assert_int_equal(made.error, 0);
        bool noted = has_note(&made, "ReadAheadUser", "512 pages at once instead of 1024");
        assert_int_equal(noted, users == 4);
        unmake(&made);
    }
}

/* 8 users with 1,000 pages fit in 8,192 frames, with 1,100 they do not. */
static void loads_larger_than_the_pool_are_a_note(void **state)
{
    (void)state;
    for (int large = 0; large <= 1; large++) {
        struct fake_machine fake;
        struct profile *profile = plain_profile();
        struct made made;
        big_machine(&fake);
        set(profile, "CONFIG", "MaxMemoryMB", "64");
        set(profile, "BulkUpdateUser", "UserCount", "8");
        set(profile, "BulkUpdateUser", "BuffersBUMax", large ? "1100" : "1000");
        make(&made, profile, &fake);
        assert_int_equal(made.error, 0);
        assert_int_equal(has_note(&made, "BulkUpdateUser", "8 users"), large);
        unmake(&made);
    }
}

static void a_seed_is_kept(void **state)
{
    struct fake_machine fake;
    struct profile *profile = plain_profile();
    struct made made;
    (void)state;
    big_machine(&fake);
    set(profile, "CONFIG", "Seed", "7");
    make(&made, profile, &fake);
    assert_int_equal(made.plan.seed, 7);
    assert_false(made.plan.seed_drawn);
    unmake(&made);
}

/* Two equal draws of 63 bits: a chance of 2^-63. */
static void a_missing_seed_is_drawn(void **state)
{
    struct fake_machine fake;
    struct made first, second;
    (void)state;
    big_machine(&fake);
    make(&first, plain_profile(), &fake);
    make(&second, plain_profile(), &fake);
    assert_true(first.plan.seed_drawn);
    assert_true(first.plan.seed > 0 && first.plan.seed <= INT64_MAX);
    assert_true(first.plan.seed != second.plan.seed);
    unmake(&first);
    unmake(&second);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(files_come_data_first_and_databases_dense),
        cmocka_unit_test(sizes_are_whole_extents),
        cmocka_unit_test(a_data_file_below_1_mb_is_refused),
        cmocka_unit_test(two_logs_of_a_database_follow_its_data),
        cmocka_unit_test(a_log_grows_by_64_mb_by_default),
        cmocka_unit_test(no_file_at_all_is_refused),
        cmocka_unit_test(a_path_of_512_bytes_is_refused),
        cmocka_unit_test(sparse_files_are_not_written_beforehand),
        cmocka_unit_test(a_log_too_small_for_the_largest_transaction_is_refused),
        cmocka_unit_test(without_users_that_log_any_log_will_do),
        cmocka_unit_test(the_pool_must_do_for_the_users_of_the_rated_phase_too),
        cmocka_unit_test(the_log_must_do_for_the_rated_transactions_too),
        cmocka_unit_test(buffers_of_checkdb_and_backups_count_as_memory),
        cmocka_unit_test(the_pool_is_a_quarter_of_the_data),
        cmocka_unit_test(the_pool_is_at_most_a_quarter_of_the_memory_and_says_so),
        cmocka_unit_test(the_pool_is_at_least_64_mib),
        cmocka_unit_test(the_pool_is_at_most_4_gib),
        cmocka_unit_test(max_memory_wins),
        cmocka_unit_test(a_pool_beyond_the_memory_is_refused_with_exit_3),
        cmocka_unit_test(a_pool_with_fewer_frames_than_users_is_refused),
        cmocka_unit_test(the_sum_of_all_files_must_leave_the_reserve),
        cmocka_unit_test(a_file_system_without_space_is_a_wrong_path),
        cmocka_unit_test(a_lower_reserve_is_proposed_only_where_it_helps),
        cmocka_unit_test(what_just_fits_is_accepted),
        cmocka_unit_test(a_reserve_that_was_set_counts),
        cmocka_unit_test(file_systems_are_counted_apart),
        cmocka_unit_test(a_file_of_ours_that_is_replaced_gives_its_space),
        cmocka_unit_test(a_directory_that_is_missing_is_exit_2),
        cmocka_unit_test(workers_are_the_cpus_allowed),
        cmocka_unit_test(cpu_count_sets_the_workers),
        cmocka_unit_test(more_than_64_cpus_are_64_workers_and_a_note),
        cmocka_unit_test(cpu_count_goes_up_to_1024),
        cmocka_unit_test(an_affinity_list_names_cpus_beyond_64),
        cmocka_unit_test(workers_are_spread_over_the_nodes),
        cmocka_unit_test(affinity_to_one_node_spreads_nothing),
        cmocka_unit_test(an_affinity_mask_sets_the_workers_and_is_kept),
        cmocka_unit_test(cpu_count_goes_before_the_mask),
        cmocka_unit_test(a_mask_beyond_the_cpus_allowed_is_refused),
        cmocka_unit_test(no_buffering_false_is_a_note),
        cmocka_unit_test(pages_read_at_once_are_a_share_of_the_pool_and_a_note),
        cmocka_unit_test(loads_larger_than_the_pool_are_a_note),
        cmocka_unit_test(a_seed_is_kept),
        cmocka_unit_test(a_missing_seed_is_drawn),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
