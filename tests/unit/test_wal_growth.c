/* A log that grows: when, how far, what the file looks like meanwhile, and what a failure leaves.
 */
#include "tests/core_fixture.h"

#include <sys/stat.h>

#include "sim/wal_growth.h"

#define BIG_BYTES 59000 /* a block of its own */
#define LOG_MIB   2
#define MAX_MIB   4

static const struct wal_growth_rule rule = {1 * CORE_MIB, MAX_MIB *CORE_MIB};

static void begin(struct core *core, bool write_through)
{
    struct sim_options options = {
        .log_bytes = LOG_MIB * CORE_MIB,
        .settings = {{"CONFIG", "SectorSize", "512"},
                     {"CONFIG", "StopOnError", "FALSE"},
                     {"CONFIG", "WriteThrough", write_through ? "TRUE" : "FALSE"}}};
    core_begin(core, &options);
    struct wal_growth_how how = {.rules = &rule, .vlf_rule = VLF_RULE_2022, .fresh_byte = 0xC0};
    assert_int_equal(wal_growth_enable(core->wal, &how), 0);
    core_settle(core);
}

static uint64_t file_now(const struct core *core)
{
    struct stat st;
    assert_int_equal(stat(core->db->logs[0].path, &st), 0);
    return (uint64_t)st.st_size;
}

/* Every VLF header that the file has room for is there: what recovery walks, at any moment. */
static void assert_row_of_vlfs(const struct core *core)
{
    uint8_t header[VLF_HEADER_BYTES];
    struct vlf_header vlf;
    uint64_t size = file_now(core), at = VLF_HEADER_BYTES;
    int fd = open(core->db->logs[0].path, O_RDONLY | O_CLOEXEC);
    assert_true(fd >= 0);
    while (at + VLF_HEADER_BYTES <= size) {
        assert_int_equal(pread(fd, header, sizeof header, (off_t)at), sizeof header);
        assert_int_equal(vlf_header_parse(header, at, &vlf), 0);
        at += vlf.size_bytes;
    }
    close(fd);
}

/* Use space until a transaction finds none; it waits then. */
static void fill(struct core *core, struct xact *holder, struct probe *probe)
{
    struct xact xact;
    probe_init(probe, core->worker);
    while (wal_reserve(core->wal, &xact, log_record_cost(BIG_BYTES, 512), &probe->task)) {
        core_append(core, &xact, BIG_BYTES, &probe->task);
        wal_end(core->wal, &xact);
        for (unsigned i = 0; i < 20 && worker_step(core->worker); i++)
            ;
        assert_row_of_vlfs(core);
    }
    (void)holder;
}

/* Something that holds the oldest VLF. */
static void hold(struct core *core, struct xact *holder, struct probe *probe)
{
    probe_init(probe, core->worker);
    assert_true(wal_reserve(core->wal, holder, log_record_cost(16, 512), &probe->task));
    core_append(core, holder, 16, &probe->task);
}

static void a_log_grows_when_nobody_gives_space_back(void **state)
{
    (void)state;
    struct core core;
    struct xact holder;
    struct probe first, waiting;
    begin(&core, true);
    hold(&core, &holder, &first);
    fill(&core, &holder, &waiting);
    assert_true(wal_growth_is_busy(core.wal));
    while (core_step(&core, UINT64_MAX))
        assert_row_of_vlfs(&core);
    assert_int_equal(file_now(&core), (LOG_MIB + 1) * CORE_MIB);
    assert_int_equal(core.db->logs[0].size_pages, (LOG_MIB + 1) * CORE_MIB / PAGE_BYTES);
    struct ledger_file *row = ledger_file_at(core.run->ledger, CORE_LOG_UID);
    assert_int_equal(row->size_pages_acked, (LOG_MIB + 1) * CORE_MIB / PAGE_BYTES);
    assert_int_equal(row->size_pages_issued, row->size_pages_acked);
    assert_int_equal(core.wal->vlf_count, 5); /* 4 of the creation, 1 up to 64 MiB (2022) */
    assert_int_equal(core.wal->vlfs[4].header.create_lsn.fseq, core.wal->vlfs[3].header.fseq);
    assert_true(waiting.turns > 0); /* it was told */
    wal_end(core.wal, &holder);
    core_end(&core);
}

/* The new space is used, read back whole, and the log goes on around all of it. */
static void the_new_space_is_used_and_sound(void **state)
{
    (void)state;
    struct core core;
    struct xact holder;
    struct probe first, waiting;
    struct log_scan scan = {0};
    begin(&core, false);
    hold(&core, &holder, &first);
    for (unsigned i = 0; i < MAX_MIB - LOG_MIB; i++) {
        fill(&core, &holder, &waiting);
        core_settle(&core);
    }
    assert_int_equal(file_now(&core), MAX_MIB * CORE_MIB);
    fill(&core, &holder, &waiting);
    assert_false(wal_growth_ask(core.wal)); /* MaxSize */
    core_settle(&core);
    core_scan(&core, &scan);
    assert_int_equal(scan.damage_count, 0);
    assert_int_equal(scan.blocks, wal_live_blocks(core.wal));
    assert_int_equal(scan.vlf_count, 6);
    wal_end(core.wal, &holder);
    core_end(&core);
}

/* While a checkpoint can give space back the log does not grow. */
static void a_checkpoint_comes_first(void **state)
{
    (void)state;
    struct core core;
    struct probe waiting;
    begin(&core, true);
    fill(&core, NULL, &waiting);
    assert_int_equal(wal_reuse_wait(core.wal), WAL_REUSE_CHECKPOINT);
    core_settle(&core);
    assert_int_equal(file_now(&core), LOG_MIB * CORE_MIB);
    core_end(&core);
}

static void fail_growth_write(struct core *core, int error)
{
    core_fault(core, (struct fault_rule){.kind = FAULT_ERRNO,
                                         .op = IO_WRITE,
                                         .file_uid = CORE_LOG_UID,
                                         .low = LOG_MIB * CORE_MIB,
                                         .high = MAX_MIB * CORE_MIB,
                                         .a = error});
}

/* A growth in the middle of the log's order: no FSeqNo is overwritten out of turn, which would look
 * like lost VLFs (the scan demands that none is missing). */
static void the_oldest_vlf_is_used_next_whatever_its_place(void **state)
{
    (void)state;
    struct core core;
    struct xact holder;
    struct probe first, waiting;
    begin(&core, true);
    for (unsigned i = 0; i < 3 * core.wal->vlf_count; i++) {
        struct log_scan scan = {0};
        if (i % 4 == 1)
            hold(&core, &holder, &first);
        fill(&core, &holder, &waiting);
        core_settle(&core);
        if (i % 4 == 3)
            wal_end(core.wal, &holder);
        wal_release(core.wal, atomic_load(&core.wal->durable_end));
        core_settle(&core);
        core_scan(&core, &scan);
        assert_int_equal(scan.damage_count, 0);
    }
    assert_true(core.wal->vlf_count > 4);
    core_end(&core);
}

/* No space: the file has its old size again, is sound, and does not grow any more. */
static void a_growth_without_space_leaves_the_file_as_it_was(void **state)
{
    (void)state;
    struct core core;
    struct xact holder;
    struct probe first, waiting;
    begin(&core, true);
    hold(&core, &holder, &first);
    fail_growth_write(&core, ENOSPC);
    fill(&core, &holder, &waiting);
    core_settle(&core);
    assert_int_equal(file_now(&core), LOG_MIB * CORE_MIB);
    assert_int_equal(core.wal->vlf_count, 4);
    assert_false(wal_growth_ask(core.wal));
    assert_row_of_vlfs(&core);
    struct ledger_file *row = ledger_file_at(core.run->ledger, CORE_LOG_UID);
    assert_int_equal(row->size_pages_issued, row->size_pages_acked);
    assert_false(wal_failed(core.wal));
    wal_end(core.wal, &holder);
    core_end(&core);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_log_grows_when_nobody_gives_space_back),
        cmocka_unit_test(the_new_space_is_used_and_sound),
        cmocka_unit_test(a_checkpoint_comes_first),
        cmocka_unit_test(the_oldest_vlf_is_used_next_whatever_its_place),
        cmocka_unit_test(a_growth_without_space_leaves_the_file_as_it_was),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
