/*
 * The check of clean pages: what changed in memory is found, proven and given up; what may change
 * is left alone.  Over frames that were really written (so they are sealed), each bent by hand.
 */
#include "tests/core_fixture.h"

#include "sim/actor.h"

#define PAGE_NO    100
#define GENERATION 5

struct checker {
    struct core core;
    struct actor actor;
    struct gather gather;
};

static void written(struct gather *gather)
{
    assert_int_equal(gather->result, 0);
}

static void not_written(struct gather *gather, bool final)
{
    (void)gather;
    (void) final;
    fail();
}

static void write_page(struct checker *c, uint32_t page_no)
{
    uint64_t position;
    assert_int_equal(writeback_collect_all(c->core.db, c->core.data, page_no, 1, &c->gather,
                                           &position, &c->actor.task),
                     COLLECT_CLAIMED);
    c->gather.stream = STREAM_checkpoint_write;
    c->gather.worker = c->core.worker;
    c->gather.done = written;
    c->gather.on_error = not_written;
    c->gather.run = c->core.run;
    c->gather.actor = "test";
    writeback_submit(&c->gather);
    core_settle(&c->core);
}

static struct checker *begin(void)
{
    struct checker *c = calloc(1, sizeof *c);
    struct sim_options options = {.pool_bytes = 16 * PAGE_BYTES};
    core_begin(&c->core, &options);
    core_settle(&c->core);
    assert_int_equal(actor_init(&c->actor, c->core.run, c->core.sim.profile,
                                pattern_by_name("CpuIdleUser"), c->core.worker, 1, 0, NULL),
                     0);
    return c;
}

static void end(struct checker *c)
{
    core_settle(&c->core); /* a page may still be read into the actor's buffers */
    actor_free(&c->actor);
    core_end(&c->core);
    free(c);
}

/* A page that is clean because it was written, without an LSN. */
static struct frame *clean_page(struct checker *c)
{
    struct frame *frame = core_dirty_page(&c->core, PAGE_NO, GENERATION, (struct lsn){0});
    write_page(c, PAGE_NO);
    assert_int_equal(frame->state, FRAME_CLEAN);
    return frame;
}

/* So often that every frame had its look. */
static void check_all(struct checker *c, bool on_disk)
{
    size_t frames = c->core.run->pool.frame_count + c->core.run->pool.system_count;
    for (size_t i = 0; i < frames; i++) {
        c->actor.op = (struct op){.kind = OP_FRAME_CHECK, .on_disk = on_disk};
        enum task_result result = frame_check_begin(&c->actor);
        while (result != TASK_DONE) {
            core_step(&c->core, UINT64_MAX);
            result = c->actor.execute(&c->actor);
        }
        file_use_end(&c->actor.use); /* as the actor does after every op */
    }
}

static uint64_t found(const struct checker *c)
{
    return c->core.run->findings.by_verdict[VERDICT_memory_changed];
}

static void a_clean_page_as_it_was_written_is_right(void **state)
{
    (void)state;
    struct checker *c = begin();
    clean_page(c);
    check_all(c, false);
    assert_int_equal(c->core.run->findings.count, 0);
    assert_true(c->core.worker->stats.counters.frames_checked > 0);
    end(c);
}

/* Bytes of the header, the stamp, the body, the slot array: the checksum covers them all. */
static void a_flipped_bit_anywhere_in_a_clean_page_is_found(void **state)
{
    static const unsigned offsets[] = {0, 0x20, 0x3C, 0x64, 0xA0, 512, 5000, 8191};
    (void)state;
    for (size_t i = 0; i < sizeof offsets / sizeof *offsets; i++) {
        struct checker *c = begin();
        struct frame *frame = clean_page(c);
        frame->bytes[offsets[i]] ^= 0x10;
        check_all(c, false);
        assert_int_equal(found(c), 1);
        const struct finding *finding = &c->core.run->findings.list[0];
        assert_int_equal(finding->page_no, PAGE_NO);
        assert_int_equal(finding->file_uid, CORE_DATA_UID);
        assert_int_equal(finding->size_bytes, PAGE_BYTES);
        assert_true(finding->evidence[0] != '\0');
        end(c);
    }
}

/* An older image of the same page with right checksums is not what the frame must hold. */
static void another_generation_in_the_frame_is_found(void **state)
{
    (void)state;
    struct checker *c = begin();
    struct frame *frame = clean_page(c);
    struct file_mark *mark = &c->core.data->file.mark;
    struct page_identity older = {mark->file_uid, mark->incarnation, mark->file_id, PAGE_NO,
                                  GENERATION - 1};
    page_fill(frame->bytes, &c->core.run->identity, &older, 0);
    page_seal(frame->bytes, (struct lsn){0}, 0);
    check_all(c, false);
    assert_int_equal(found(c), 1);
    end(c);
}

static void the_damaged_frame_is_given_up_and_the_page_quarantined(void **state)
{
    (void)state;
    struct checker *c = begin();
    struct frame *frame = clean_page(c);
    size_t free_frames = pool_free_count(&c->core.run->pool);
    frame->bytes[5000] ^= 1;
    check_all(c, false);
    check_all(c, false);
    assert_int_equal(found(c), 1); /* one event */
    assert_int_equal(pool_free_count(&c->core.run->pool), free_frames + 1);
    assert_int_equal(ledger_view(c->core.run->ledger, CORE_DATA_UID, PAGE_NO).state,
                     LEDGER_QUARANTINED);
    end(c);
}

static void a_dirty_page_is_not_checked(void **state)
{
    (void)state;
    struct checker *c = begin();
    struct frame *frame =
        core_dirty_page(&c->core, PAGE_NO, GENERATION, (struct lsn){0}); /* not sealed */
    frame->bytes[5000] ^= 1;
    check_all(c, false);
    assert_int_equal(c->core.run->findings.count, 0);
    end(c);
}

/* Who has pinned a clean page may be making it. */
static void a_pinned_page_is_not_checked(void **state)
{
    (void)state;
    struct checker *c = begin();
    struct frame *frame = core_page(&c->core, PAGE_NO, GENERATION); /* not sealed */
    check_all(c, false);
    assert_int_equal(c->core.run->findings.count, 0);
    pool_unpin(&c->core.run->pool, frame);
    check_all(c, false);
    assert_int_equal(found(c), 1); /* and the test can see it */
    end(c);
}

static void a_system_page_gets_its_acknowledged_image_back(void **state)
{
    (void)state;
    struct checker *c = begin();
    struct frame *pfs = syspage_frame(c->core.data, 1);
    pthread_mutex_lock(frame_lock(&c->core.run->pool, pfs));
    pfs_set(pfs->bytes, PAGE_NO, PFS_BYTE_FULL);
    pfs->generation = 1;
    frame_mark_dirty(&c->core.run->pool, pfs, (struct lsn){0});
    pthread_mutex_unlock(frame_lock(&c->core.run->pool, pfs));
    write_page(c, 1);
    check_all(c, false);
    assert_int_equal(c->core.run->findings.count, 0);
    pfs_set(pfs->bytes, PAGE_NO, 0);
    check_all(c, false);
    assert_int_equal(found(c), 1);
    assert_int_equal(pfs_get(pfs->bytes, PAGE_NO), PFS_BYTE_FULL);
    end(c);
}

/* The disk is read, and nothing else: damage there has a name of the storage. */
static void a_check_on_the_disk_reads_and_judges_the_page(void **state)
{
    (void)state;
    struct checker *c = begin();
    clean_page(c);
    check_all(c, true);
    assert_int_equal(c->core.run->findings.count, 0);
    assert_true(ledger_view(c->core.run->ledger, CORE_DATA_UID, PAGE_NO).seen);
    int fd = open(c->core.data->file.path, O_WRONLY | O_CLOEXEC);
    assert_int_equal(pwrite(fd, "xxxx", 4, (off_t)PAGE_NO * PAGE_BYTES + 5000), 4);
    close(fd);
    check_all(c, true);
    assert_int_equal(c->core.run->findings.count, 1);
    assert_int_equal(found(c), 0);
    end(c);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_clean_page_as_it_was_written_is_right),
        cmocka_unit_test(a_flipped_bit_anywhere_in_a_clean_page_is_found),
        cmocka_unit_test(another_generation_in_the_frame_is_found),
        cmocka_unit_test(the_damaged_frame_is_given_up_and_the_page_quarantined),
        cmocka_unit_test(a_dirty_page_is_not_checked),
        cmocka_unit_test(a_pinned_page_is_not_checked),
        cmocka_unit_test(a_system_page_gets_its_acknowledged_image_back),
        cmocka_unit_test(a_check_on_the_disk_reads_and_judges_the_page),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
