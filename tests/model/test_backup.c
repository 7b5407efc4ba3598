/*
 * test_backup.c - backups under load are what SQL Server's are, and what is restored from them is
 * the database.
 *
 * The truth is the data file as the run left it: with the tail of the log backed up, every page of
 * the restored file must be that file's page, byte by byte but for what only says who wrote it and
 * when.
 */
#include "tests/model/traced.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <stdio.h>
#include <unistd.h>

#include "sim/backup_media.h"
#include "sim/restore.h"
#include "sim/verify_files.h"
#include "tests/scale.h"
#include "verify/syspage_hash.h"

#define DATA_BYTES  (12 * MIB)
#define FIRST_SEED  900
#define SEEDS       6
#define DEPTH_MAX   6 /* 4 + 2 for one volume: reference, section 1 */
#define RESTORE_DIR "restored"

static struct sim_options options_of(uint64_t seed)
{
    return (struct sim_options){
        .seed = seed,
        .duration_ns = 1500 * NS_PER_MS,
        .data_bytes = DATA_BYTES,
        .log_bytes = 4 * MIB,
        .pool_bytes = 2 * MIB,
        .backup_files = true,
        .settings = {{"BackupUser", "UserCount", "1"},
                     {"BackupUser", "FullInterval", "400ms"},
                     {"BackupUser", "LogInterval", "100ms"},
                     {"RandomUser", "UserCount", "4"},
                     {"RandomUser", "MaxLogPerBuffer", "2048"},
                     {"RandomUser", "SleepAfter", "20"},
                     {"BulkUpdateUser", "UserCount", "1"},
                     {"BulkUpdateUser", "BUDelay", "50"},
                     {"BulkUpdateUser", "BuffersBUMax", "64"},
                     {"ReadAheadUser", "UserCount", "0"},
                     {"AuditUser", "UserCount", "0"}},
    };
}

static uint64_t backups_of(const struct sim *sim, uint64_t *incomplete)
{
    struct stats *stats = calloc(1, sizeof *stats);
    assert_non_null(stats);
    run_stats(sim->run, stats);
    uint64_t count = stats->counters.backups;
    *incomplete = stats->counters.backups_incomplete;
    free(stats);
    return count;
}

/* ---- restored = data file ---- */

static size_t backup_paths(const struct sim *sim, char paths[][SIM_PATH_MAX])
{
    size_t count = 0;
    for (unsigned i = 0; i < sim->plan.backup_count; i++)
        snprintf(paths[count++], SIM_PATH_MAX, "%s", sim->plan.backups[i].path);
    return count;
}

/* `pagestorm restore` of all backup files; what it says of the log in *log_backups. */
static int restore_all(const struct sim *sim, const char *directory, unsigned *log_backups,
                       uint64_t *redone)
{
    static struct verify_set set; /* lint: mutable: scratch, too large for a stack */
    char paths[8][SIM_PATH_MAX];
    const char *list[8];
    struct findings findings;
    size_t count = backup_paths(sim, paths);
    for (size_t i = 0; i < count; i++)
        list[i] = paths[i];
    assert_int_equal(findings_init(&findings, NULL, NULL, NULL, false), 0);
    assert_int_equal(verify_set_open(&set, list, count, false, &findings), 0);
    struct restore r = {.io = &set.io,
                        .directory = directory,
                        .prefix = "",
                        .findings = &findings,
                        .actor = "test",
                        .source_count = count};
    for (size_t i = 0; i < count; i++)
        r.sources[i] = &set.files[i].file;
    int error = restore_run(&r);
    if (error)
        fprintf(stderr, "restore: %d, %s\n", error, r.message);
    *log_backups = r.log_backups;
    *redone = r.redone;
    restore_close(&r, error == 0);
    verify_set_close(&set);
    assert_int_equal(findings.count, 0);
    findings_free(&findings);
    return error;
}

/* Who wrote the page and when, and what follows from that. */
static void forget_writer(uint8_t *page)
{
    struct page_stamp *stamp = (struct page_stamp *)(page + PAGE_STAMP_OFFSET);
    struct page_header *header = (struct page_header *)page;
    stamp->write_time_ns = 0;
    stamp->actor = 0;
    stamp->header_crc = 0;
    stamp->xxh3 = 0;
    header->torn_bits = 0;
}

static void assert_same_file(const char *a, const char *b)
{
    static uint8_t left[PAGE_BYTES], right[PAGE_BYTES]; /* lint: mutable: scratch */
    int fd_a = open(a, O_RDONLY), fd_b = open(b, O_RDONLY);
    assert_true(fd_a >= 0 && fd_b >= 0);
    for (uint32_t page_no = 0; page_no < DATA_BYTES / PAGE_BYTES; page_no++) {
        off_t at = (off_t)page_no * PAGE_BYTES;
        assert_int_equal(pread(fd_a, left, PAGE_BYTES, at), PAGE_BYTES);
        assert_int_equal(pread(fd_b, right, PAGE_BYTES, at), PAGE_BYTES);
        if (syspage_kind(page_no, true) == SYSPAGE_BOOT) {
            /* sealed with the LSN of the checkpoint's end, which is logged with its change */
            assert_true(syspage_check(right, SYSPAGE_BOOT, page_no, 1));
            assert_int_equal(syspage_content_xxh3(left), syspage_content_xxh3(right));
            continue;
        }
        if (syspage_kind(page_no, true) == SYSPAGE_NONE) {
            assert_int_equal(page_check(right), PAGE_OK);
            forget_writer(left);
            forget_writer(right);
        }
        if (memcmp(left, right, PAGE_BYTES) != 0)
            fail_msg("page %u of %s differs", page_no, b);
    }
    assert_int_equal(pread(fd_b, right, 1, (off_t)DATA_BYTES), 0);
    close(fd_a);
    close(fd_b);
}

static void what_is_restored_with_the_tail_of_the_log_is_the_data_file(void **state)
{
    (void)state;
    for (uint64_t seed = FIRST_SEED; seed < FIRST_SEED + test_scaled(SEEDS); seed++) {
        char data[SIM_PATH_MAX], directory[SIM_PATH_MAX], restored[2 * SIM_PATH_MAX];
        struct sim_options options = options_of(seed);
        struct sim sim;
        uint64_t incomplete, redone;
        unsigned log_backups;
        printf("seed %llu\n", (unsigned long long)seed);
        sim_begin(&sim, &options);
        sim_run(&sim);
        if (sim.result || sim.run->findings.count)
            sim_print_findings(&sim);
        assert_int_equal(sim.result, 0);
        assert_int_equal(sim.run->findings.count, 0);
        assert_true(backups_of(&sim, &incomplete) > 6);
        sim_close(&sim);
        sim_path(&sim, RESTORE_DIR, directory);
        assert_int_equal(mkdir(directory, 0700), 0);
        assert_int_equal(restore_all(&sim, directory, &log_backups, &redone), 0);
        assert_true(log_backups > 0 && redone > 0);
        sim_path(&sim, "data1.mdx", data);
        snprintf(restored, sizeof restored, "%s/data1.mdx", directory);
        assert_same_file(data, restored);
        sim_end(&sim);
    }
}

/* ---- the run's own proof ---- */

static unsigned restored_events; /* lint: mutable: an event callback has no other place */

static void count_restored(void *context, const struct event *event)
{
    (void)context;
    restored_events += strstr(event->text, "was restored from its backup") != NULL;
}

static void run_restores(struct sim_options *options)
{
    struct sim sim;
    restored_events = 0;
    options->event = count_restored;
    sim_begin(&sim, options);
    sim_run(&sim);
    if (sim.run->findings.count)
        sim_print_findings(&sim);
    assert_int_equal(sim.result, 0);
    assert_int_equal(sim.run->findings.count, 0);
    assert_int_equal(restored_events, options->databases ? options->databases : 1);
    sim_end(&sim);
}

static void set_last(struct sim_options *options, const char *key, const char *value)
{
    unsigned at = 0;
    while (options->settings[at].section && (strcmp(options->settings[at].section, "BackupUser") ||
                                             strcmp(options->settings[at].key, key)))
        at++;
    options->settings[at] = (struct sim_setting){"BackupUser", key, value};
}

static void a_run_restores_with_log_backups(void **state)
{
    struct sim_options options = options_of(31);
    (void)state;
    set_last(&options, "Restore", "TRUE");
    run_restores(&options);
}

/* Its extents are allocated while the backups are taken. */
static void a_run_restores_a_sparse_file(void **state)
{
    struct sim_options options = options_of(34);
    (void)state;
    options.sparse = true;
    set_last(&options, "Restore", "TRUE");
    run_restores(&options);
}

static void a_run_restores_a_full_backup_alone(void **state)
{
    struct sim_options options = options_of(32);
    (void)state;
    set_last(&options, "Restore", "TRUE");
    set_last(&options, "LogInterval", "0");
    run_restores(&options);
}

static void a_run_restores_each_of_two_databases(void **state)
{
    struct sim_options options = options_of(33);
    (void)state;
    options.databases = 2;
    options.data_bytes = 4 * MIB;
    set_last(&options, "Restore", "TRUE");
    set_last(&options, "UserCount", "2");
    set_last(&options, "Keep", "1");
    run_restores(&options);
}

static void a_run_restores_from_small_transfers_without_write_through(void **state)
{
    struct sim_options options = options_of(34);
    (void)state;
    set_last(&options, "Restore", "TRUE");
    set_last(&options, "MaxTransferSize", "64K");
    set_last(&options, "BlockSize", "64K");
    set_last(&options, "BufferCount", "1");
    options.settings[14] = (struct sim_setting){"CONFIG", "WriteThrough", "FALSE"};
    for (unsigned i = 0; i < 14; i++)
        if (!options.settings[i].section)
            options.settings[i] = (struct sim_setting){"CONFIG", "StopOnError", "TRUE"};
    run_restores(&options);
}

/* ---- transfers ---- */

/* The pages of one full backup: whole, in order, 1 MiB each, at most six under way. */
static void a_full_backup_reads_in_sequence_1_MiB_at_a_time(void **state)
{
    struct sim_options options = options_of(41);
    struct sim sim;
    uint64_t next = 0, writes = 0;
    unsigned reads = 0, deepest = 0;
    (void)state;
    for (unsigned i = 0; options.settings[i].section; i++) /* nothing but the backup */
        if (strcmp(options.settings[i].key, "UserCount") == 0 &&
            strcmp(options.settings[i].section, "BackupUser") != 0)
            options.settings[i].value = "0";
    options.workers = 1;
    set_last(&options, "FullInterval", "1h");
    set_last(&options, "LogInterval", "0");
    set_last(&options, "Verify", "FALSE");
    set_last(&options, "Keep", "1");
    sim_begin(&sim, &options);
    traced_execute(&sim);
    for (unsigned i = 0; i < trace.count; i++) {
        const struct traced_io *io = &trace.list[i];
        if (io->stream == STREAM_backup_write)
            writes += io->bytes == MIB;
        if (io->stream != STREAM_backup_read)
            continue;
        assert_int_equal(io->offset, next);
        assert_int_equal(io->bytes, MIB);
        next += io->bytes;
        deepest = io->outstanding > deepest ? io->outstanding : deepest;
        reads++;
    }
    assert_int_equal(next, DATA_BYTES);
    assert_int_equal(writes, reads);
    assert_int_equal(deepest, DEPTH_MAX);
    sim_end(&sim);
}

/* ---- a log that only log backups give back ---- */

/* Full backups one after the other: one is always due, and the log backup must come before it.  The
 * log is small, so that it is full again and again, perhaps at the deadline; who waits for it then,
 * and DBCC's checkpoint, need another log backup. */
static void log_backups_go_on_until_the_last_that_waits_for_the_log(void **state)
{
    (void)state;
    for (unsigned i = 0; i < test_scaled(2); i++) {
        struct sim_options options = options_of(1 + i);
        options.duration_ns = 800 * NS_PER_MS;
        options.log_bytes = 2 * MIB;
        struct sim sim;
        uint64_t incomplete;
        printf("seed %u\n", 1 + i);
        set_last(&options, "FullInterval", "0");
        set_last(&options, "LogInterval", i % 2 ? "100ms" : "1h");
        set_last(&options, "Restore", "TRUE");
        unsigned at = 0;
        while (options.settings[at].section)
            at++;
        options.settings[at] = (struct sim_setting){"DbccUser", "UserCount", "1"};
        sim_begin(&sim, &options);
        sim_run(&sim);
        if (sim.result || sim.run->findings.count)
            sim_print_findings(&sim);
        assert_int_equal(sim.result, 0);
        assert_int_equal(sim.run->findings.count, 0);
        assert_true(backups_of(&sim, &incomplete) > 0);
        printf("%llu log backups\n", (unsigned long long)sim.run->backups[0].log_backups);
        assert_true(sim.run->backups[0].log_backups > 1); /* not the tail alone */
        sim_end(&sim);
    }
}

/* ---- a database that grows ---- */

/* To 24 MiB, and the backup files with it. */
static void let_it_grow(struct sim *sim)
{
    for (unsigned i = 0; i < sim->plan.file_count; i++) {
        struct plan_file *file = &sim->plan.files[i];
        file->max_bytes = file->is_log ? file->max_bytes : 24 * MIB;
        file->increment_bytes = file->is_log ? file->increment_bytes : MIB;
    }
    for (unsigned i = 0; i < sim->plan.backup_count; i++)
        sim->plan.backups[i].size_bytes += 24 * MIB;
}

/* Loads fill new extents of a file that begins with 4 MiB: it grows while backups read it, and the
 * newest one, of the grown file, is restored and compared. */
static void what_was_restored_of_a_grown_database_is_right(void **state)
{
    (void)state;
    for (uint64_t seed = 61; seed < 61 + test_scaled(2); seed++) {
        struct sim_options options = options_of(seed);
        struct sim sim;
        printf("seed %llu\n", (unsigned long long)seed);
        options.data_bytes = 4 * MIB;
        unsigned at = 0;
        while (options.settings[at].section)
            at++;
        options.settings[at++] = (struct sim_setting){"BulkUpdateUser", "NewExtents", "TRUE"};
        options.settings[at++] = (struct sim_setting){"BackupUser", "Restore", "TRUE"};
        sim_begin(&sim, &options);
        let_it_grow(&sim);
        sim_run(&sim);
        if (sim.result || sim.run->findings.count)
            sim_print_findings(&sim);
        assert_int_equal(sim.result, 0);
        assert_int_equal(sim.run->findings.count, 0);
        const struct backup_records *records = &sim.run->backups[0].records;
        uint64_t most_pages = 0, fulls = 0, compared = 0;
        for (size_t i = 0; i < backup_records_count(records); i++) {
            const struct backup_record *record = backup_record_at(records, i);
            assert_true(record->complete);
            most_pages = record->pages > most_pages ? record->pages : most_pages;
            fulls += !record->log;
            if (!record->log && record->restored == BACKUP_LOOK_RIGHT)
                compared = record->pages_compared;
        }
        assert_true(fulls > 1);
        assert_true(sim.run->files[0]->file.size_pages > 4 * MIB / PAGE_BYTES);
        assert_true(most_pages > 4 * MIB / PAGE_BYTES);
        assert_true(compared > 4 * MIB / PAGE_BYTES);
        sim_end(&sim);
    }
}

/* ---- a sparse file ---- */

static void only_allocated_extents_are_read(void **state)
{
    struct sim_options options = options_of(51);
    struct sim sim;
    uint64_t bytes = 0;
    (void)state;
    set_last(&options, "FullInterval", "1h");
    set_last(&options, "LogInterval", "0");
    set_last(&options, "Restore", "TRUE");
    set_last(&options, "Keep", "1");
    /* nobody allocates more */
    options.settings[3] = (struct sim_setting){"RandomUser", "UserCount", "0"};
    options.settings[7] = (struct sim_setting){"BulkUpdateUser", "UserCount", "0"};
    options.sparse = true;
    sim_begin(&sim, &options);
    traced_execute(&sim);
    for (unsigned i = 0; i < trace.count; i++)
        if (trace.list[i].stream == STREAM_backup_read && trace.list[i].phase == PHASE_stress)
            bytes += trace.list[i].bytes;
    /* the extents of the system pages: 0 to 15; 12 MiB end before the second PFS page, 8,088 */
    assert_int_equal(bytes, 2 * EXTENT_PAGES * PAGE_BYTES);
    sim_end(&sim);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(what_is_restored_with_the_tail_of_the_log_is_the_data_file),
        cmocka_unit_test(a_run_restores_with_log_backups),
        cmocka_unit_test(a_run_restores_a_sparse_file),
        cmocka_unit_test(a_run_restores_a_full_backup_alone),
        cmocka_unit_test(a_run_restores_each_of_two_databases),
        cmocka_unit_test(a_run_restores_from_small_transfers_without_write_through),
        cmocka_unit_test(a_full_backup_reads_in_sequence_1_MiB_at_a_time),
        cmocka_unit_test(log_backups_go_on_until_the_last_that_waits_for_the_log),
        cmocka_unit_test(what_was_restored_of_a_grown_database_is_right),
        cmocka_unit_test(only_allocated_extents_are_read),
    };
    return cmocka_run_group_tests(tests, trace_begin, trace_end);
}
