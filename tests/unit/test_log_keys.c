/*
 * LogWrites, LogBytes and FreshLogByte by themselves: what is under way, and what a new log is
 * filled with, beside a version that says otherwise.
 */
#include "tests/core_fixture.h"

#define DELAY_NS  (500 * NS_PER_MS)
#define BIG_BYTES 59000 /* a block of 59,392 bytes, 116 sectors of 512 */
#define RECORDS   40

struct under_way {
    unsigned writes;
    size_t bytes;
};

/* The most that is under way at once while every write takes long. */
static struct under_way most_under_way(const char *key, const char *value)
{
    struct core core;
    struct probe probe;
    struct under_way most = {0};
    struct sim_options options = {.log_bytes = 64 * CORE_MIB,
                                  .settings = {{"CONFIG", "SectorSize", "512"},
                                               {"CONFIG", "SqlServerVersion", "2022"},
                                               {"CONFIG", key, value}}};
    core_begin(&core, &options);
    core_settle(&core);
    core_fault(&core, (struct fault_rule){.kind = FAULT_DELAY,
                                          .op = IO_WRITE,
                                          .file_uid = CORE_LOG_UID,
                                          .count = UINT32_MAX,
                                          .a = DELAY_NS});
    probe_init(&probe, core.worker);
    struct log_record record = core_record(BIG_BYTES);
    struct lsn lsn;
    for (unsigned i = 0; i < RECORDS; i++) {
        assert_int_equal(wal_append(core.wal, NULL, &record, 1, &lsn, &probe.task), 0);
        while (worker_step(core.worker))
            ;
        most.writes = core.wal->outstanding > most.writes ? core.wal->outstanding : most.writes;
        most.bytes =
            core.wal->outstanding_bytes > most.bytes ? core.wal->outstanding_bytes : most.bytes;
    }
    core_end(&core);
    return most;
}

static void log_writes_is_how_many_are_under_way(void **state)
{
    (void)state;
    assert_int_equal(most_under_way("LogWrites", "5").writes, 5);
    assert_int_equal(most_under_way("LogWrites", "1").writes, 1);
}

/* 10 blocks of 59,392 are 593,920 bytes, 11 would be 653,312 and above 640,000. */
static void log_bytes_is_how_many_bytes_are_under_way(void **state)
{
    (void)state;
    struct under_way most = most_under_way("LogBytes", "640000");
    assert_int_equal(most.writes, 10);
    assert_int_equal(most.bytes, 593920);
}

static uint8_t last_byte_of_a_new_log(const char *version, const char *fresh)
{
    struct core core;
    uint8_t byte = 0xEE;
    struct sim_options options = {
        .settings = {{"CONFIG", "SqlServerVersion", version}, {"CONFIG", "FreshLogByte", fresh}}};
    core_begin(&core, &options);
    struct file *log = &core.db->logs[0];
    int fd = open(log->path, O_RDONLY | O_CLOEXEC);
    assert_true(fd >= 0);
    off_t last = (off_t)atomic_load(&log->target.size_bytes) - 1;
    assert_int_equal(pread(fd, &byte, 1, last), 1);
    close(fd);
    core_end(&core);
    return byte;
}

static void fresh_log_byte_is_what_new_space_has(void **state)
{
    (void)state;
    assert_int_equal(last_byte_of_a_new_log("2014", "0xC0"), 0xC0);
    assert_int_equal(last_byte_of_a_new_log("2022", "0x00"), 0x00);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(log_writes_is_how_many_are_under_way),
        cmocka_unit_test(log_bytes_is_how_many_bytes_are_under_way),
        cmocka_unit_test(fresh_log_byte_is_what_new_space_has),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
