/* The writeback: the merge rule, log before page, what goes out, and what follows a failed write.
 */
#include "tests/core_fixture.h"

#include "sim/writeback.h"

#define GENERATION 7

/* What a caller of the writeback keeps of its gather. */
struct sender {
    struct gather gather;
    unsigned done, errors, final_errors;
};

static void sender_done(struct gather *gather)
{
    ((struct sender *)gather->context)->done++;
}

static void sender_error(struct gather *gather, bool final)
{
    struct sender *sender = gather->context;
    sender->errors++;
    sender->final_errors += final;
}

static void begin(struct core *core)
{
    struct sim_options options = {.settings = {{"CONFIG", "SectorSize", "512"}}};
    core_begin(core, &options);
    core_settle(core); /* the log's header is durable */
}

/* An LSN that the log is durable to. */
static struct lsn durable_lsn(struct core *core)
{
    struct probe probe;
    probe_init(&probe, core->worker);
    uint64_t position = core_append(core, NULL, 16, &probe.task);
    if (!wal_wait_durable(core->wal, position, &probe.waiter, &probe.task))
        core_settle(core);
    assert_true(wal_is_durable(core->wal, position));
    return (struct lsn){(uint32_t)(position >> 32), (uint32_t)position, 2};
}

static struct lsn lsn_not_yet_durable(struct core *core)
{
    struct probe probe;
    probe_init(&probe, core->worker);
    uint64_t position = core_append(core, NULL, 16, &probe.task);
    return (struct lsn){(uint32_t)(position >> 32), (uint32_t)position, 2};
}

static void dirty_range(struct core *core, uint32_t first, uint32_t last)
{
    struct lsn lsn = durable_lsn(core);
    for (uint32_t page_no = first; page_no <= last; page_no++)
        core_dirty_page(core, page_no, GENERATION, lsn);
}

static enum collect collect(struct core *core, uint32_t page_no, unsigned cap,
                            struct gather *gather)
{
    uint64_t position;
    return writeback_collect(core->db, core->data, page_no, cap, gather, &position);
}

/* As the checkpoint does. */
static enum collect collect_all(struct core *core, uint32_t page_no, struct gather *gather,
                                struct task *task)
{
    uint64_t position;
    return writeback_collect_all(core->db, core->data, page_no, 1, gather, &position, task);
}

static void send(struct core *core, struct sender *sender)
{
    struct gather *gather = &sender->gather;
    gather->stream = STREAM_checkpoint_write;
    gather->worker = core->worker;
    gather->retried = false;
    gather->done = sender_done;
    gather->on_error = sender_error;
    gather->run = core->run;
    gather->actor = "test";
    gather->context = sender;
    writeback_submit(gather);
}

static void collect_and_send(struct core *core, uint32_t page_no, unsigned cap,
                             struct sender *sender)
{
    assert_int_equal(collect(core, page_no, cap, &sender->gather), COLLECT_CLAIMED);
    send(core, sender);
    core_settle(core);
    assert_int_equal(sender->done, 1);
}

static struct frame *frame_of(struct core *core, uint32_t page_no)
{
    uint64_t key = page_key(CORE_DATA_UID, page_no);
    pthread_mutex_lock(pool_lock_key(&core->run->pool, key));
    struct frame *frame = pool_find_locked(&core->run->pool, key);
    pthread_mutex_unlock(pool_lock_key(&core->run->pool, key));
    return frame;
}

static void read_file(struct core *core, uint32_t page_no, uint8_t page[PAGE_BYTES])
{
    int fd = open(core->data->file.path, O_RDONLY | O_CLOEXEC);
    off_t offset = (off_t)page_no * PAGE_BYTES;
    assert_int_equal(pread(fd, page, PAGE_BYTES, offset), PAGE_BYTES);
    close(fd);
}

static void fail_writes(struct core *core, unsigned count)
{
    core_fault(core, (struct fault_rule){.kind = FAULT_ERRNO,
                                         .op = IO_WRITE,
                                         .file_uid = CORE_DATA_UID,
                                         .count = count,
                                         .a = EIO});
}

/* ---- the merge rule: forward, then backward ---- */

static void expect_range(struct core *core, uint32_t start, unsigned cap, uint32_t first,
                         unsigned count)
{
    struct sender *sender = calloc(1, sizeof *sender);
    assert_int_equal(collect(core, start, cap, &sender->gather), COLLECT_CLAIMED);
    assert_int_equal(sender->gather.first_page, first);
    assert_int_equal(sender->gather.count, count);
    for (unsigned i = 0; i < count; i++) { /* images in the order of the pages */
        struct frame *frame = frame_of(core, first + i);
        assert_ptr_equal(sender->gather.images[i].frame, frame);
        assert_ptr_equal(sender->gather.images[i].bytes, frame->bytes);
        assert_int_equal(frame->state, FRAME_WRITING);
    }
    send(core, sender);
    core_settle(core);
    assert_int_equal(sender->done, 1);
    free(sender);
}

static void a_gather_takes_neighbours_on_both_sides(void **state)
{
    (void)state;
    struct core core;
    begin(&core);
    dirty_range(&core, 100, 110);
    expect_range(&core, 104, 128, 100, 11);
    core_end(&core);
}

static void a_gather_goes_forward_before_it_goes_backward(void **state)
{
    (void)state;
    struct core core;
    begin(&core);
    dirty_range(&core, 100, 110);
    expect_range(&core, 105, 4, 105, 4); /* 105..108: the cap is reached forward */
    expect_range(&core, 109, 4, 109, 2); /* 109, 110; 108 is clean now */
    expect_range(&core, 103, 4, 101, 4); /* 103, 104, then 102, 101 */
    core_end(&core);
}

static void a_gather_stops_at_a_clean_neighbour(void **state)
{
    (void)state;
    struct core core;
    begin(&core);
    dirty_range(&core, 100, 102);
    pool_unpin(&core.run->pool, core_page(&core, 103, GENERATION)); /* clean */
    dirty_range(&core, 104, 106);
    expect_range(&core, 101, 128, 100, 3);
    expect_range(&core, 106, 128, 104, 3);
    core_end(&core);
}

static void a_gather_stops_at_a_page_that_is_not_in_the_pool(void **state)
{
    (void)state;
    struct core core;
    begin(&core);
    dirty_range(&core, 100, 102);
    dirty_range(&core, 104, 106);
    expect_range(&core, 102, 128, 100, 3);
    core_end(&core);
}

static void a_gather_stops_where_the_log_is_not_durable(void **state)
{
    (void)state;
    struct core core;
    begin(&core);
    dirty_range(&core, 100, 102);
    core_dirty_page(&core, 103, GENERATION, lsn_not_yet_durable(&core));
    expect_range(&core, 101, 128, 100, 3);
    assert_int_equal(frame_of(&core, 103)->state, FRAME_DIRTY);
    core_end(&core);
}

static void the_largest_gather_is_one_mebibyte(void **state)
{
    (void)state;
    struct core core;
    begin(&core);
    dirty_range(&core, 100, 299);
    expect_range(&core, 100, GATHER_PAGES_MAX, 100, 128);
    core_end(&core);
}

static void one_page_alone_with_a_cap_of_one(void **state)
{
    (void)state;
    struct core core;
    begin(&core);
    dirty_range(&core, 100, 102);
    expect_range(&core, 101, 1, 101, 1);
    core_end(&core);
}

static void a_gather_ends_with_the_file(void **state)
{
    (void)state;
    struct core core;
    begin(&core);
    uint32_t last = core.data->file.size_pages - 1;
    dirty_range(&core, last - 1, last);
    expect_range(&core, last, 128, last - 1, 2);
    core_end(&core);
}

/* ---- what is not claimed ---- */

static void a_page_that_is_not_dirty_is_not_written(void **state)
{
    (void)state;
    struct core core;
    struct gather *gather = calloc(1, sizeof *gather);
    begin(&core);
    assert_int_equal(collect(&core, 100, 128, gather), COLLECT_NOTHING); /* not there */
    pool_unpin(&core.run->pool, core_page(&core, 100, GENERATION));
    assert_int_equal(collect(&core, 100, 128, gather), COLLECT_NOTHING); /* clean */
    free(gather);
    core_end(&core);
}

static void a_page_is_not_written_twice_at_once(void **state)
{
    (void)state;
    struct core core;
    struct sender *sender = calloc(1, sizeof *sender);
    struct gather *second = calloc(1, sizeof *second);
    begin(&core);
    dirty_range(&core, 100, 101);
    assert_int_equal(collect(&core, 100, 128, &sender->gather), COLLECT_CLAIMED);
    send(&core, sender);
    assert_int_equal(collect(&core, 100, 128, second), COLLECT_NOTHING);
    assert_int_equal(collect(&core, 101, 128, second), COLLECT_NOTHING);
    core_settle(&core);
    assert_int_equal(sender->done, 1);
    free(sender);
    free(second);
    core_end(&core);
}

/* A checkpoint must know how another's write of a page ends: it may fail. */
static void the_checkpoint_waits_for_a_page_that_another_writes(void **state)
{
    (void)state;
    struct core core;
    struct probe checkpoint;
    struct sender *sender = calloc(1, sizeof *sender);
    struct gather *gather = calloc(1, sizeof *gather);
    begin(&core);
    probe_init(&checkpoint, core.worker);
    dirty_range(&core, 100, 100);
    assert_int_equal(collect(&core, 100, 1, &sender->gather), COLLECT_CLAIMED);
    send(&core, sender);
    assert_int_equal(collect_all(&core, 100, gather, &checkpoint.task), COLLECT_BUSY);
    core_settle(&core);
    assert_int_equal(checkpoint.turns, 1);
    assert_int_equal(collect_all(&core, 100, gather, &checkpoint.task), COLLECT_NOTHING);
    free(gather);
    free(sender);
    core_end(&core);
}

static void the_checkpoint_does_not_wait_for_its_own_writes(void **state)
{
    (void)state;
    struct core core;
    struct probe checkpoint;
    struct sender *sender = calloc(1, sizeof *sender);
    struct gather *gather = calloc(1, sizeof *gather);
    begin(&core);
    probe_init(&checkpoint, core.worker);
    dirty_range(&core, 100, 100);
    assert_int_equal(collect_all(&core, 100, &sender->gather, &checkpoint.task), COLLECT_CLAIMED);
    send(&core, sender);
    assert_int_equal(collect_all(&core, 100, gather, &checkpoint.task), COLLECT_NOTHING);
    core_settle(&core);
    assert_int_equal(checkpoint.turns, 0);
    free(gather);
    free(sender);
    core_end(&core);
}

static void the_log_must_be_durable_first(void **state)
{
    (void)state;
    struct core core;
    struct gather *gather = calloc(1, sizeof *gather);
    uint64_t position = 0;
    begin(&core);
    struct lsn lsn = lsn_not_yet_durable(&core);
    core_dirty_page(&core, 100, GENERATION, lsn);
    assert_int_equal(writeback_collect(core.db, core.data, 100, 128, gather, &position),
                     COLLECT_LOG);
    assert_int_equal(position, (uint64_t)lsn.fseq << 32 | lsn.block);
    assert_int_equal(frame_of(&core, 100)->state, FRAME_DIRTY);
    free(gather);
    core_end(&core);
}

/* ---- what goes out ---- */

static void the_image_on_disk_carries_generation_lsn_and_checksums(void **state)
{
    (void)state;
    struct core core;
    struct sender *sender = calloc(1, sizeof *sender);
    uint8_t page[PAGE_BYTES];
    begin(&core);
    struct lsn lsn = durable_lsn(&core);
    core_dirty_page(&core, 100, GENERATION, lsn);
    collect_and_send(&core, 100, 128, sender);
    read_file(&core, 100, page);
    assert_int_equal(page_check(page), PAGE_OK);
    assert_int_equal(page_stamp_of(page)->generation, GENERATION);
    assert_int_equal(page_header_of(page)->page_no, 100);
    assert_int_equal(lsn_compare(page_lsn(page), lsn), 0);
    free(sender);
    core_end(&core);
}

static void the_ledger_follows_a_write_through_write(void **state)
{
    (void)state;
    struct core core;
    struct sender *sender = calloc(1, sizeof *sender);
    begin(&core);
    dirty_range(&core, 100, 100);
    assert_int_equal(collect(&core, 100, 1, &sender->gather), COLLECT_CLAIMED);
    send(&core, sender);
    struct ledger_view view = ledger_view(core.run->ledger, CORE_DATA_UID, 100);
    assert_int_equal(view.state, LEDGER_IN_FLIGHT);
    assert_int_equal(view.issued, GENERATION);
    assert_int_equal(view.acked, 0);
    core_settle(&core);
    view = ledger_view(core.run->ledger, CORE_DATA_UID, 100);
    assert_int_equal(view.state, LEDGER_QUIET);
    assert_int_equal(view.acked, GENERATION);
    assert_int_equal(view.durable, GENERATION);
    assert_int_equal(frame_of(&core, 100)->state, FRAME_CLEAN);
    free(sender);
    core_end(&core);
}

static void a_write_that_is_not_through_is_not_durable(void **state)
{
    (void)state;
    struct core core;
    struct sender *sender = calloc(1, sizeof *sender);
    struct sim_options options = {.settings = {{"CONFIG", "WriteThrough", "FALSE"}}};
    core_begin(&core, &options);
    dirty_range(&core, 100, 100);
    collect_and_send(&core, 100, 1, sender);
    struct ledger_view view = ledger_view(core.run->ledger, CORE_DATA_UID, 100);
    assert_int_equal(view.acked, GENERATION);
    assert_int_equal(view.durable, 0);
    free(sender);
    core_end(&core);
}

static void the_image_of_a_system_page_is_kept_as_acknowledged(void **state)
{
    (void)state;
    struct core core;
    struct sender *sender = calloc(1, sizeof *sender);
    uint8_t page[PAGE_BYTES], acked[PAGE_BYTES], issued[PAGE_BYTES];
    struct syspage_images images = {.acked = acked, .issued = issued};
    begin(&core);
    struct frame *pfs = syspage_frame(core.data, 1);
    pfs_set(pfs->bytes, 100, PFS_BYTE_FULL);
    pfs->generation = 1;
    pthread_mutex_lock(frame_lock(&core.run->pool, pfs));
    frame_mark_dirty(&core.run->pool, pfs, durable_lsn(&core));
    pthread_mutex_unlock(frame_lock(&core.run->pool, pfs));
    assert_int_equal(collect(&core, 1, 1, &sender->gather), COLLECT_NOTHING); /* not for others */
    assert_int_equal(collect_all(&core, 1, &sender->gather, NULL), COLLECT_CLAIMED);
    send(&core, sender);
    core_settle(&core);
    syspage_images_copy(core.data, 1, &images);
    assert_true(images.has_acked);
    read_file(&core, 1, page);
    assert_memory_equal(page, acked, PAGE_BYTES);
    assert_int_equal(pfs_get(page, 100), PFS_BYTE_FULL);
    assert_true(syspage_check(page, SYSPAGE_PFS, 1, core.data->file.mark.file_id));
    free(sender);
    core_end(&core);
}

static void who_waits_for_a_frame_is_woken(void **state)
{
    (void)state;
    struct core core;
    struct sender *sender = calloc(1, sizeof *sender);
    struct sim_options options = {.pool_bytes = 4 * PAGE_BYTES};
    struct probe probe;
    struct frame *frame;
    core_begin(&core, &options);
    dirty_range(&core, 100, 103);
    probe_init(&probe, core.worker);
    assert_int_equal(pool_get(&core.run->pool, page_key(CORE_DATA_UID, 200), &probe.task, &frame),
                     POOL_NO_FRAME);
    collect_and_send(&core, 100, 128, sender);
    assert_int_equal(probe.turns, 1);
    free(sender);
    core_end(&core);
}

/* ---- failure ---- */

static void a_failed_write_is_repeated_at_once(void **state)
{
    (void)state;
    struct core core;
    struct sender *sender = calloc(1, sizeof *sender);
    begin(&core);
    dirty_range(&core, 100, 102);
    fail_writes(&core, 1);
    collect_and_send(&core, 100, 128, sender);
    assert_int_equal(sender->errors, 1);
    assert_int_equal(sender->final_errors, 0);
    assert_int_equal(sender->gather.result, 0);
    for (uint32_t page_no = 100; page_no <= 102; page_no++) {
        assert_int_equal(frame_of(&core, page_no)->state, FRAME_CLEAN);
        struct ledger_view view = ledger_view(core.run->ledger, CORE_DATA_UID, page_no);
        assert_int_equal(view.state, LEDGER_QUIET);
        assert_int_equal(view.acked, GENERATION);
    }
    assert_int_equal(core.worker->stats.counters.write_errors, 1);
    assert_int_equal(core.worker->stats.counters.pages_written, 3);
    free(sender);
    core_end(&core);
}

static void two_failures_leave_the_pages_dirty_and_in_doubt(void **state)
{
    (void)state;
    struct core core;
    struct sender *sender = calloc(1, sizeof *sender);
    begin(&core);
    dirty_range(&core, 100, 101);
    fail_writes(&core, 2);
    collect_and_send(&core, 100, 128, sender);
    assert_int_equal(sender->errors, 2);
    assert_int_equal(sender->final_errors, 1);
    assert_int_equal(sender->gather.result, -EIO);
    for (uint32_t page_no = 100; page_no <= 101; page_no++) {
        assert_int_equal(frame_of(&core, page_no)->state, FRAME_DIRTY);
        struct ledger_view view = ledger_view(core.run->ledger, CORE_DATA_UID, page_no);
        assert_int_equal(view.state, LEDGER_INDETERMINATE);
        assert_int_equal(view.issued, GENERATION);
        assert_int_equal(view.durable, 0);
    }
    assert_int_equal(core.worker->stats.counters.pages_written, 0);
    free(sender);
    core_end(&core);
}

/* So that one bad page does not take the others of its gather into quarantine. */
static void a_page_whose_write_failed_goes_alone_the_next_time(void **state)
{
    (void)state;
    struct core core;
    begin(&core);
    dirty_range(&core, 100, 101);
    fail_writes(&core, 2);
    struct sender *sender = calloc(1, sizeof *sender);
    collect_and_send(&core, 100, 128, sender);
    free(sender);
    dirty_range(&core, 102, 103);
    expect_range(&core, 102, 128, 102, 2); /* 101 is dirty, too */
    expect_range(&core, 101, 128, 101, 1);
    expect_range(&core, 100, 128, 100, 1);
    for (uint32_t page_no = 100; page_no <= 103; page_no++)
        assert_int_equal(ledger_view(core.run->ledger, CORE_DATA_UID, page_no).state, LEDGER_QUIET);
    core_end(&core);
}

static void three_failed_gathers_quarantine_the_page(void **state)
{
    (void)state;
    struct core core;
    struct probe probe;
    struct frame *frame;
    begin(&core);
    dirty_range(&core, 100, 100);
    fail_writes(&core, UINT32_MAX);
    for (unsigned i = 1; i <= 3; i++) {
        struct sender *sender = calloc(1, sizeof *sender);
        assert_int_not_equal(ledger_view(core.run->ledger, CORE_DATA_UID, 100).state,
                             LEDGER_QUARANTINED);
        collect_and_send(&core, 100, 128, sender);
        free(sender);
    }
    assert_int_equal(ledger_view(core.run->ledger, CORE_DATA_UID, 100).state, LEDGER_QUARANTINED);
    probe_init(&probe, core.worker);
    assert_int_equal(pool_get(&core.run->pool, page_key(CORE_DATA_UID, 100), &probe.task, &frame),
                     POOL_QUARANTINED);
    struct gather *gather = calloc(1, sizeof *gather);
    assert_int_equal(collect(&core, 100, 128, gather), COLLECT_NOTHING);
    free(gather);
    core_end(&core);
}

/* A generation is counted as overwritten unread when its page was not read back since. */
static void overwritten_generations_are_counted_unless_they_were_seen(void **state)
{
    (void)state;
    struct core core;
    begin(&core);
    struct frame *frame = core_dirty_page(&core, 100, 1, durable_lsn(&core));
    for (uint64_t generation = 1; generation <= 4; generation++) {
        struct sender *sender = calloc(1, sizeof *sender);
        collect_and_send(&core, 100, 1, sender);
        free(sender);
        struct ledger_view view = ledger_view(core.run->ledger, CORE_DATA_UID, 100);
        if (generation == 2)
            ledger_seen(core.run->ledger, CORE_DATA_UID, 100, view.epoch);
        pthread_mutex_t *lock = frame_lock(&core.run->pool, frame);
        pthread_mutex_lock(lock);
        frame->generation = generation + 1;
        frame_mark_dirty(&core.run->pool, frame, frame->lsn);
        pthread_mutex_unlock(lock);
    }
    /* four writes: 2 over 1 unread, 3 over 2 that was read, 4 over 3 unread */
    assert_int_equal(core.worker->stats.counters.overwritten_unread, 2);
    core_end(&core);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_gather_takes_neighbours_on_both_sides),
        cmocka_unit_test(a_gather_goes_forward_before_it_goes_backward),
        cmocka_unit_test(a_gather_stops_at_a_clean_neighbour),
        cmocka_unit_test(a_gather_stops_at_a_page_that_is_not_in_the_pool),
        cmocka_unit_test(a_gather_stops_where_the_log_is_not_durable),
        cmocka_unit_test(the_largest_gather_is_one_mebibyte),
        cmocka_unit_test(one_page_alone_with_a_cap_of_one),
        cmocka_unit_test(a_gather_ends_with_the_file),
        cmocka_unit_test(a_page_that_is_not_dirty_is_not_written),
        cmocka_unit_test(a_page_is_not_written_twice_at_once),
        cmocka_unit_test(the_checkpoint_waits_for_a_page_that_another_writes),
        cmocka_unit_test(the_checkpoint_does_not_wait_for_its_own_writes),
        cmocka_unit_test(the_log_must_be_durable_first),
        cmocka_unit_test(the_image_on_disk_carries_generation_lsn_and_checksums),
        cmocka_unit_test(the_ledger_follows_a_write_through_write),
        cmocka_unit_test(a_write_that_is_not_through_is_not_durable),
        cmocka_unit_test(the_image_of_a_system_page_is_kept_as_acknowledged),
        cmocka_unit_test(who_waits_for_a_frame_is_woken),
        cmocka_unit_test(a_failed_write_is_repeated_at_once),
        cmocka_unit_test(two_failures_leave_the_pages_dirty_and_in_doubt),
        cmocka_unit_test(a_page_whose_write_failed_goes_alone_the_next_time),
        cmocka_unit_test(three_failed_gathers_quarantine_the_page),
        cmocka_unit_test(overwritten_generations_are_counted_unless_they_were_seen),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
