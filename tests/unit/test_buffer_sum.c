/*
 * Memory that changes between the building of a page and the end of its write: found, named 832,
 * and mended; a page that was sealed before, and one that nobody touched, are not suspected.
 */
#include "tests/core_fixture.h"

#include "sim/buffer_sum.h"
#include "sim/run_errors.h"

#define PAGE_NO    100
#define GENERATION 5

struct bench {
    struct core core;
    struct gather gather;
};

static void written(struct gather *gather)
{
    (void)gather;
}

static struct bench *begin(const char *sums)
{
    struct bench *b = calloc(1, sizeof *b);
    struct sim_options options = {
        .pool_bytes = 16 * PAGE_BYTES,
        .settings = {{"CONFIG", "BufferSums", sums}, {"CONFIG", "StopOnError", "FALSE"}}};
    core_begin(&b->core, &options);
    core_settle(&b->core);
    return b;
}

static void end(struct bench *b)
{
    core_settle(&b->core);
    core_end(&b->core);
    free(b);
}

static struct frame *dirty_page(struct bench *b)
{
    struct frame *frame = core_dirty_page(&b->core, PAGE_NO, GENERATION, (struct lsn){0});
    buffer_built(b->core.db, frame->bytes);
    return frame;
}

static void write_page(struct bench *b, uint32_t page_no)
{
    struct probe probe;
    uint64_t position;
    probe_init(&probe, b->core.worker);
    assert_int_equal(writeback_collect_all(b->core.db, b->core.data, page_no, 1, &b->gather,
                                           &position, &probe.task),
                     COLLECT_CLAIMED);
    b->gather.stream = STREAM_checkpoint_write;
    b->gather.worker = b->core.worker;
    b->gather.done = written;
    b->gather.retried = false;
    b->gather.on_error = run_write_error;
    b->gather.run = b->core.run;
    b->gather.actor = "test";
    writeback_submit(&b->gather);
    core_settle(&b->core);
}

static uint64_t found(const struct bench *b)
{
    return b->core.run->findings.by_verdict[VERDICT_memory_changed];
}

/* What the page must be, built by nobody that the writer uses: seal fields from the page itself. */
static bool is_right(struct bench *b, const uint8_t *page)
{
    uint8_t right[PAGE_BYTES];
    const struct file_mark *mark = &b->core.data->file.mark;
    struct page_identity identity = {mark->file_uid, mark->incarnation, mark->file_id, PAGE_NO,
                                     GENERATION};
    page_fill(right, &b->core.run->identity, &identity, 0);
    page_seal(right, (struct lsn){0}, page_stamp_of(page)->write_time_ns);
    return memcmp(page, right, PAGE_BYTES) == 0;
}

static bool disk_is_right(struct bench *b)
{
    uint8_t page[PAGE_BYTES];
    int fd = open(b->core.data->file.path, O_RDONLY | O_CLOEXEC);
    assert_int_equal(pread(fd, page, PAGE_BYTES, (off_t)PAGE_NO * PAGE_BYTES), PAGE_BYTES);
    close(fd);
    return is_right(b, page);
}

static enum ledger_state state_of(struct bench *b)
{
    return ledger_view(b->core.run->ledger, CORE_DATA_UID, PAGE_NO).state;
}

static void untouched_memory_is_not_suspected(void **state)
{
    (void)state;
    struct bench *b = begin("TRUE");
    struct frame *frame = dirty_page(b);
    write_page(b, PAGE_NO);
    assert_int_equal(b->core.run->findings.count, 0);
    assert_true(is_right(b, frame->bytes) && disk_is_right(b));
    end(b);
}

/* Header, stamp, reserved bytes, body, slot array. */
static void a_bit_that_flips_before_the_write_is_found_and_the_right_page_written(void **state)
{
    static const unsigned offsets[] = {0, 0x20, 0x40, 0x64, 0x8C, 0xB8, 512, 5000, 8191};
    (void)state;
    for (size_t i = 0; i < sizeof offsets / sizeof *offsets; i++) {
        struct bench *b = begin("TRUE");
        struct frame *frame = dirty_page(b);
        frame->bytes[offsets[i]] ^= 0x10;
        write_page(b, PAGE_NO);
        assert_int_equal(found(b), 1);
        assert_int_equal(b->core.run->findings.count, 1);
        assert_int_equal(b->core.run->findings.list[0].page_no, PAGE_NO);
        assert_true(is_right(b, frame->bytes) && disk_is_right(b));
        assert_int_equal(state_of(b), LEDGER_QUIET);
        end(b);
    }
}

static void a_page_that_was_sealed_before_is_not_suspected(void **state)
{
    (void)state;
    struct bench *b = begin("TRUE");
    struct frame *frame = dirty_page(b);
    core_fault(&b->core, (struct fault_rule){.kind = FAULT_ERRNO,
                                             .op = IO_WRITE,
                                             .file_uid = CORE_DATA_UID,
                                             .count = 2, /* and its one retry */
                                             .a = EIO});
    write_page(b, PAGE_NO);
    assert_int_equal(frame->state, FRAME_DIRTY);
    write_page(b, PAGE_NO);
    assert_int_equal(frame->state, FRAME_CLEAN);
    assert_int_equal(found(b), 0);
    assert_true(disk_is_right(b));
    end(b);
}

/* Nobody summed it: only the comparison with the page built anew speaks. */
static void a_page_without_a_sum_is_compared(void **state)
{
    (void)state;
    struct bench *b = begin("TRUE");
    core_dirty_page(&b->core, PAGE_NO, GENERATION, (struct lsn){0});
    write_page(b, PAGE_NO);
    assert_int_equal(b->core.run->findings.count, 0);
    end(b);
}

static void memory_that_changes_during_the_write_puts_the_page_in_quarantine(void **state)
{
    (void)state;
    /* header, m_tornBits (in no XXH3), stamp, its XXH3, body, slot array */
    static const unsigned offsets[] = {0x20, 0x3C, 0x64, 0xBC, 512, 5000, 8191};
    for (size_t i = 0; i < sizeof offsets / sizeof *offsets; i++) {
        struct bench *b = begin("TRUE");
        struct frame *frame = dirty_page(b);
        core_fault(&b->core, (struct fault_rule){.kind = FAULT_CHANGE_MEMORY,
                                                 .op = IO_WRITE,
                                                 .file_uid = CORE_DATA_UID,
                                                 .a = (int64_t)offsets[i],
                                                 .b = 3});
        write_page(b, PAGE_NO);
        assert_int_equal(found(b), 1);
        assert_int_equal(b->core.run->findings.count, 1);
        assert_int_equal(state_of(b), LEDGER_QUARANTINED);
        assert_true(is_right(b, frame->bytes)); /* nobody goes on with the damage */
        end(b);
    }
}

static void without_sums_nothing_is_looked_at(void **state)
{
    (void)state;
    struct bench *b = begin("FALSE");
    struct frame *frame = dirty_page(b);
    frame->bytes[5000] ^= 0x10;
    write_page(b, PAGE_NO);
    assert_int_equal(b->core.run->findings.count, 0);
    assert_false(disk_is_right(b));
    end(b);
}

static void a_system_page_gets_back_the_image_that_went_out(void **state)
{
    (void)state;
    struct bench *b = begin("TRUE");
    struct frame *pfs = syspage_frame(b->core.data, 1);
    pthread_mutex_t *lock = frame_lock(&b->core.run->pool, pfs);
    pthread_mutex_lock(lock);
    pfs_set(pfs->bytes, PAGE_NO, PFS_BYTE_FULL);
    pfs->generation++;
    frame_mark_dirty(&b->core.run->pool, pfs, (struct lsn){0});
    pthread_mutex_unlock(lock);
    core_fault(&b->core, (struct fault_rule){.kind = FAULT_CHANGE_MEMORY,
                                             .op = IO_WRITE,
                                             .file_uid = CORE_DATA_UID,
                                             .a = 5000,
                                             .b = 3});
    write_page(b, 1);
    assert_int_equal(found(b), 1);
    assert_true(syspage_check(pfs->bytes, SYSPAGE_PFS, 1, b->core.data->file.mark.file_id));
    end(b);
}

static void a_log_block_that_changes_is_found(void **state)
{
    (void)state;
    struct bench *b = begin("TRUE");
    struct probe probe;
    core_fault(&b->core, (struct fault_rule){.kind = FAULT_CHANGE_MEMORY,
                                             .op = IO_WRITE,
                                             .file_uid = CORE_LOG_UID,
                                             .a = 100,
                                             .b = 3});
    probe_init(&probe, b->core.worker);
    struct log_record record = core_record(400);
    struct lsn lsn;
    assert_int_equal(wal_append(b->core.wal, NULL, &record, 1, &lsn, &probe.task), 0);
    assert_false(wal_wait_durable(b->core.wal, lsn_position(lsn), &probe.waiter, &probe.task));
    core_settle(&b->core);
    assert_int_equal(found(b), 1);
    assert_int_equal(b->core.run->findings.list[0].file_uid, CORE_LOG_UID);
    end(b);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(untouched_memory_is_not_suspected),
        cmocka_unit_test(a_bit_that_flips_before_the_write_is_found_and_the_right_page_written),
        cmocka_unit_test(a_page_that_was_sealed_before_is_not_suspected),
        cmocka_unit_test(a_page_without_a_sum_is_compared),
        cmocka_unit_test(memory_that_changes_during_the_write_puts_the_page_in_quarantine),
        cmocka_unit_test(without_sums_nothing_is_looked_at),
        cmocka_unit_test(a_system_page_gets_back_the_image_that_went_out),
        cmocka_unit_test(a_log_block_that_changes_is_found),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
