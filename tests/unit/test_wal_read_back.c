/* Reading the log back before it is used again: what is read, what is counted, what is found. */
#include "tests/core_fixture.h"

#include "sim/wal_read_back.h"

#define BIG_BYTES 59000 /* a block of its own */

static void begin(struct core *core, const char *share)
{
    struct sim_options options = {.log_bytes = 2 * CORE_MIB,
                                  .settings = {{"CONFIG", "SectorSize", "512"},
                                               {"CONFIG", "StopOnError", "FALSE"},
                                               {"CONFIG", "LogReadBack", share}}};
    core_begin(core, &options);
    core_settle(core);
}

/* Fill VLFs until the head is in the count-th after this one. */
static void fill_vlfs(struct core *core, unsigned count)
{
    struct probe probe;
    uint32_t from = core->wal->vlfs[core->wal->head].header.fseq;
    probe_init(&probe, core->worker);
    while (core->wal->vlfs[core->wal->head].header.fseq < from + count) {
        core_append(core, NULL, BIG_BYTES, &probe.task);
        core_settle(core);
    }
}

static void release_all(struct core *core)
{
    wal_release(core->wal, atomic_load(&core->wal->durable_end));
    core_settle(core);
}

static struct counters counters_of(const struct core *core)
{
    struct stats *stats = calloc(1, sizeof *stats);
    assert_non_null(stats);
    run_stats(core->run, stats);
    struct counters counters = stats->counters;
    free(stats);
    return counters;
}

static void every_block_of_a_drawn_vlf_is_verified(void **state)
{
    (void)state;
    struct core core;
    begin(&core, "10000");
    fill_vlfs(&core, 3);
    uint64_t blocks = 0;
    for (unsigned i = 0; i < core.wal->vlf_count; i++)
        blocks += i != core.wal->head ? core.wal->vlfs[i].blocks : 0;
    release_all(&core);
    struct counters counters = counters_of(&core);
    assert_int_equal(counters.log_vlfs_read_back, 3);
    assert_int_equal(counters.log_blocks_read_back, blocks);
    fill_vlfs(&core, 3);
    assert_int_equal(counters_of(&core).log_blocks_overwritten_unread, 0);
    core_end(&core);
}

static void what_is_used_again_unread_is_counted(void **state)
{
    (void)state;
    struct core core;
    begin(&core, "0");
    fill_vlfs(&core, 3);
    uint64_t blocks = core.wal->vlfs[0].blocks;
    release_all(&core);
    assert_int_equal(counters_of(&core).log_vlfs_read_back, 0);
    fill_vlfs(&core, 1); /* the first one again */
    assert_int_equal(counters_of(&core).log_blocks_overwritten_unread, blocks);
    core_end(&core);
}

/* A VLF that is being read is not used again meanwhile, nor are later ones before it. */
static void vlfs_are_given_back_in_order_when_they_are_read(void **state)
{
    (void)state;
    struct core core;
    begin(&core, "10000");
    fill_vlfs(&core, 3);
    wal_release(core.wal, atomic_load(&core.wal->durable_end));
    assert_true(wal_read_back_is_busy(core.wal));
    for (unsigned i = 0; i < 3; i++)
        assert_true(core.wal->vlfs[i].in_use);
    while (core.wal->vlfs[0].in_use && core_step(&core, UINT64_MAX))
        ;
    assert_true(core.wal->vlfs[2].in_use);
    core_settle(&core);
    assert_false(core.wal->vlfs[2].in_use);
    core_end(&core);
}

/* A block that the device lost, or damaged, is found and named before it is overwritten. */
static void find(struct fault_rule rule, enum verdict expected)
{
    struct core core;
    begin(&core, "10000");
    rule.op = IO_WRITE;
    rule.file_uid = CORE_LOG_UID;
    rule.nth = 2;
    core_fault(&core, rule);
    fill_vlfs(&core, 1);
    assert_int_equal(core.run->findings.count, 0);
    release_all(&core);
    assert_int_equal(core.run->findings.by_verdict[expected], 1);
    assert_false(wal_read_back_is_busy(core.wal));
    core_end(&core);
}

static void a_lost_block_is_found(void **state)
{
    (void)state;
    find((struct fault_rule){.kind = FAULT_LOST}, VERDICT_log_lost);
}

static void a_flipped_bit_is_found(void **state)
{
    (void)state;
    find((struct fault_rule){.kind = FAULT_FLIP, .a = 700, .b = 3}, VERDICT_log_torn);
}

/* ---- what stands where a block should ---- */

static void zeros_are_named(void **state)
{
    (void)state; /* the log is filled with 0xC0 before its use */
    find((struct fault_rule){.kind = FAULT_FILL, .b = INT32_MAX}, VERDICT_zeroed);
}

static void garbage_is_named(void **state)
{
    (void)state;
    find((struct fault_rule){.kind = FAULT_GARBAGE, .b = LOG_SECTOR_BYTES, .c = 7},
         VERDICT_garbage);
}

static void a_buffer_that_is_not_filled_is_named(void **state)
{
    (void)state;
    struct core core;
    begin(&core, "10000");
    fill_vlfs(&core, 1);
    core_fault(&core, (struct fault_rule){.kind = FAULT_NOT_READ,
                                          .op = IO_READ,
                                          .file_uid = CORE_LOG_UID,
                                          .count = UINT32_MAX});
    release_all(&core);
    assert_int_equal(core.run->findings.count, 1);
    assert_int_equal(core.run->findings.list[0].verdict, VERDICT_bytes_not_read);
    core_end(&core);
}

static uint64_t first_block(const struct core *core)
{
    return core->wal->vlfs[0].header.offset + VLF_HEADER_BYTES;
}

static void device_write(const struct core *core, uint64_t offset, const void *data, size_t size)
{
    int fd = open(core->wal->files[0].path, O_WRONLY | O_CLOEXEC);
    assert_int_equal(pwrite(fd, data, size, (off_t)offset), size);
    close(fd);
}

static const struct finding *only_finding_after_reading(struct core *core)
{
    release_all(core);
    assert_int_equal(core->run->findings.count, 1);
    return &core->run->findings.list[0];
}

static void a_data_page_over_a_block_is_named_with_its_page(void **state)
{
    (void)state;
    struct core core;
    uint8_t page[PAGE_BYTES];
    begin(&core, "10000");
    fill_vlfs(&core, 1);
    struct page_identity identity = {CORE_DATA_UID, 1, 1, 77, 5};
    page_fill(page, &core.run->identity, &identity, 0);
    page_seal(page, (struct lsn){0}, 0);
    device_write(&core, first_block(&core), page, sizeof page);
    const struct finding *finding = only_finding_after_reading(&core);
    assert_int_equal(finding->verdict, VERDICT_misdirected_write);
    assert_int_equal(finding->offset, first_block(&core));
    assert_true(finding->why.has_origin);
    assert_int_equal(finding->why.origin_file_uid, CORE_DATA_UID);
    assert_int_equal(finding->why.origin_page_no, 77);
    assert_int_equal(finding->why.origin_generation, 5);
    core_end(&core);
}

static void a_page_of_another_run_is_garbage(void **state)
{
    (void)state;
    struct core core;
    uint8_t page[PAGE_BYTES], run_id[RUN_ID_BYTES] = {9};
    begin(&core, "10000");
    fill_vlfs(&core, 1);
    struct run_identity other = run_identity_make(run_id, 1, 0);
    struct page_identity identity = {CORE_DATA_UID, 1, 1, 77, 5};
    page_fill(page, &other, &identity, 0);
    page_seal(page, (struct lsn){0}, 0);
    device_write(&core, first_block(&core), page, sizeof page);
    assert_int_equal(only_finding_after_reading(&core)->verdict, VERDICT_garbage);
    core_end(&core);
}

static void a_block_of_another_place_is_named_with_it(void **state)
{
    (void)state;
    struct core core;
    uint8_t blocks[2 * LOG_BLOCK_BYTES_MAX];
    begin(&core, "10000");
    fill_vlfs(&core, 1);
    const struct vlf_header *vlf = &core.wal->vlfs[0].header;
    int fd = open(core.wal->files[0].path, O_RDONLY | O_CLOEXEC);
    assert_int_equal(pread(fd, blocks, sizeof blocks, (off_t)first_block(&core)), sizeof blocks);
    close(fd);
    uint8_t parity = vlf_parity(vlf->use_count);
    size_t first = log_block_peek(blocks, parity, vlf->fseq, NULL);
    size_t second = log_block_peek(blocks + first, parity, vlf->fseq, NULL);
    assert_true(first > 0 && second > 0);
    device_write(&core, first_block(&core), blocks + first, second);
    const struct finding *finding = only_finding_after_reading(&core);
    assert_int_equal(finding->verdict, VERDICT_misdirected_write);
    char text[64];
    snprintf(text, sizeof text, "block %zu of VLF sequence %u stands there",
             (VLF_HEADER_BYTES + first) / LOG_SECTOR_BYTES, vlf->fseq);
    assert_non_null(strstr(finding->detail, text));
    core_end(&core);
}

static void damage_that_a_second_read_does_not_show_is_transient(void **state)
{
    (void)state;
    struct core core;
    begin(&core, "10000");
    fill_vlfs(&core, 1);
    core_fault(&core, (struct fault_rule){.kind = FAULT_FLIP,
                                          .op = IO_READ,
                                          .file_uid = CORE_LOG_UID,
                                          .low = 100 * 1024,
                                          .high = 101 * 1024,
                                          .a = 7,
                                          .b = 3});
    release_all(&core);
    assert_int_equal(core.run->findings.by_verdict[VERDICT_transient_damage], 1);
    assert_int_equal(core.run->findings.count, 1);
    core_end(&core);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_block_of_a_drawn_vlf_is_verified),
        cmocka_unit_test(what_is_used_again_unread_is_counted),
        cmocka_unit_test(vlfs_are_given_back_in_order_when_they_are_read),
        cmocka_unit_test(a_lost_block_is_found),
        cmocka_unit_test(a_flipped_bit_is_found),
        cmocka_unit_test(zeros_are_named),
        cmocka_unit_test(garbage_is_named),
        cmocka_unit_test(a_buffer_that_is_not_filled_is_named),
        cmocka_unit_test(a_data_page_over_a_block_is_named_with_its_page),
        cmocka_unit_test(a_page_of_another_run_is_garbage),
        cmocka_unit_test(a_block_of_another_place_is_named_with_it),
        cmocka_unit_test(damage_that_a_second_read_does_not_show_is_transient),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
