/* Judging and re-reading: the ladder, what heals, what is final, and that an overlapped read says
 * nothing. */
#include "tests/core_fixture.h"

#include "sim/page_read.h"

#define PAGE_NO    100
#define GENERATION 5
#define ALWAYS     UINT32_MAX
#define BODY_BYTE  1000 /* inside the body */

/* A task that reads one page. */
struct reading {
    struct task task;
    struct page_reader reader;
    struct data_file *file;
    uint32_t page_no;
    uint8_t *target;
    bool started, over, was_cold;
    enum page_read_result result;
    unsigned reads;          /* submissions seen */
    uint64_t submits_ns[64]; /* when each was submitted */
};

static void note_submission(struct reading *r)
{
    uint64_t submit_ns = clock_now_ns(r->task.worker->clock);
    unsigned sectors =
        r->reader.sectors.unit_bytes ? 1 + r->reader.sectors.at / r->reader.sectors.unit_bytes : 0;
    if (!r->reader.in_flight || r->reads == r->reader.attempt + 1 + sectors)
        return;
    r->submits_ns[r->reads++] = submit_ns;
    r->was_cold = r->reader.req.target == &r->reader.cold_target;
}

static enum task_result reading_step(struct task *task)
{
    struct reading *r = (struct reading *)task;
    if (!r->started) {
        r->started = true;
        page_read_start(&r->reader, r->file, r->page_no, r->target, STREAM_page_read);
        note_submission(r);
        return TASK_PARK;
    }
    r->result = page_read_step(&r->reader);
    note_submission(r);
    if (r->result == PAGE_READ_WAIT)
        return TASK_PARK;
    r->over = true;
    return TASK_DONE;
}

struct scene {
    struct core core;
    struct reading reading;
    struct findings *findings;
    struct counters *counters;
};

static void reading_start(struct scene *s, uint32_t page_no)
{
    struct reading *r = &s->reading;
    memset(r, 0, sizeof *r);
    task_init(&r->task, s->core.worker, reading_step);
    assert_int_equal(page_reader_init(&r->reader, s->core.run, &r->task, "test"), 0);
    r->file = s->core.data;
    r->page_no = page_no;
    r->target = aligned_alloc(4096, PAGE_BYTES);
    task_start(&r->task);
}

static void reading_free(struct scene *s)
{
    page_reader_free(&s->reading.reader);
    free(s->reading.target);
}

static enum page_read_result read_page(struct scene *s)
{
    reading_start(s, PAGE_NO);
    core_settle(&s->core);
    assert_true(s->reading.over);
    return s->reading.result;
}

static void sealed_image(struct scene *s, uint64_t generation, uint8_t *page)
{
    struct file *file = &s->core.data->file;
    struct page_identity identity = {file->mark.file_uid, file->mark.incarnation,
                                     file->mark.file_id, PAGE_NO, generation};
    page_fill(page, &s->core.run->identity, &identity, 0);
    page_seal(page, (struct lsn){0}, core_now(&s->core));
}

static void put_on_device(struct scene *s, const uint8_t *page)
{
    int fd = open(s->core.data->file.path, O_WRONLY | O_CLOEXEC);
    assert_int_equal(pwrite(fd, page, PAGE_BYTES, (off_t)PAGE_NO * PAGE_BYTES), PAGE_BYTES);
    close(fd);
}

/* The page is on the device in GENERATION, and the ledger has it acknowledged. */
static void scene_begin(struct scene *s)
{
    uint8_t page[PAGE_BYTES];
    struct sim_options options = {.settings = {{"CONFIG", "StopOnError", "FALSE"}}};
    core_begin(&s->core, &options);
    core_settle(&s->core);
    sealed_image(s, GENERATION, page);
    put_on_device(s, page);
    struct ledger *ledger = s->core.run->ledger;
    ledger_begin(ledger, CORE_DATA_UID, PAGE_NO, GENERATION);
    ledger_ack(ledger, CORE_DATA_UID, PAGE_NO, true, 0, 0);
    s->findings = &s->core.run->findings;
    s->counters = &s->core.worker->stats.counters;
}

static void scene_end(struct scene *s)
{
    reading_free(s);
    core_end(&s->core);
}

/* The first `count` reads of the page from now on have a bit turned over. */
static void flip_reads(struct scene *s, unsigned count)
{
    core_fault(&s->core, (struct fault_rule){.kind = FAULT_FLIP,
                                             .op = IO_READ,
                                             .file_uid = CORE_DATA_UID,
                                             .low = (uint64_t)PAGE_NO * PAGE_BYTES,
                                             .high = (uint64_t)(PAGE_NO + 1) * PAGE_BYTES,
                                             .count = count,
                                             .a = BODY_BYTE,
                                             .b = 3});
}

static void fail_reads(struct scene *s, unsigned count)
{
    core_fault(&s->core, (struct fault_rule){.kind = FAULT_ERRNO,
                                             .op = IO_READ,
                                             .file_uid = CORE_DATA_UID,
                                             .count = count,
                                             .a = EIO});
}

static void damage_device(struct scene *s)
{
    uint8_t page[PAGE_BYTES];
    sealed_image(s, GENERATION, page);
    page[BODY_BYTE] ^= 8;
    put_on_device(s, page);
}

static const struct finding *only_finding(const struct scene *s)
{
    assert_int_equal(s->findings->count, 1);
    return &s->findings->list[0];
}

/* ---- right ---- */

static void a_right_page_needs_one_read(void **state)
{
    (void)state;
    struct scene s;
    scene_begin(&s);
    assert_int_equal(read_page(&s), PAGE_READ_RIGHT);
    assert_int_equal(page_check(s.reading.target), PAGE_OK);
    assert_int_equal(page_stamp_of(s.reading.target)->generation, GENERATION);
    assert_int_equal(s.reading.reads, 1);
    assert_int_equal(s.counters->pages_verified, 1);
    assert_int_equal(s.counters->read_retries, 0);
    assert_true(ledger_view(s.core.run->ledger, CORE_DATA_UID, PAGE_NO).seen);
    assert_int_equal(s.findings->count, 0);
    scene_end(&s);
}

static void a_page_never_written_reads_as_zeros(void **state)
{
    (void)state;
    struct scene s;
    scene_begin(&s);
    reading_start(&s, PAGE_NO + 1);
    core_settle(&s.core);
    assert_int_equal(s.reading.result, PAGE_READ_RIGHT);
    assert_true(page_is_zero(s.reading.target, PAGE_BYTES));
    scene_end(&s);
}

static void an_older_generation_is_a_lost_write(void **state)
{
    (void)state;
    struct scene s;
    uint8_t page[PAGE_BYTES];
    scene_begin(&s);
    sealed_image(&s, GENERATION - 1, page);
    put_on_device(&s, page);
    assert_int_equal(read_page(&s), PAGE_READ_WRONG);
    const struct finding *finding = only_finding(&s);
    assert_int_equal(finding->verdict, VERDICT_lost_write);
    assert_int_equal(finding->why.generation_found, GENERATION - 1);
    assert_int_equal(finding->why.generation_expected, GENERATION);
    scene_end(&s);
}

/* ---- the ladder ---- */

static void one_good_re_read_heals(void **state)
{
    (void)state;
    struct scene s;
    scene_begin(&s);
    flip_reads(&s, 1);
    assert_int_equal(read_page(&s), PAGE_READ_RIGHT);
    assert_int_equal(page_check(s.reading.target), PAGE_OK); /* the good image, in its place */
    assert_int_equal(s.reading.reads, 2);
    assert_int_equal(s.counters->read_retries, 1);
    const struct finding *finding = only_finding(&s);
    assert_int_equal(finding->verdict, VERDICT_transient_damage);
    assert_true(finding->healed);
    assert_int_equal(finding->retries, 1);
    scene_end(&s);
}

/* The first four re-reads follow at once: each starts in the turn that judged the one before, so
 * the time between two submissions is one read of the model.  The fifth waits 1 ms more. */
static void four_re_reads_follow_at_once_then_come_pauses(void **state)
{
    (void)state;
    struct scene s;
    scene_begin(&s);
    flip_reads(&s, ALWAYS);
    read_page(&s);
    for (unsigned i = 1; i <= 4; i++)
        assert_true(s.reading.submits_ns[i] - s.reading.submits_ns[i - 1] < NS_PER_MS);
    for (unsigned i = 5; i <= 14; i++) { /* 1, 2, 4 ... 512 ms */
        uint64_t pause = s.reading.submits_ns[i] - s.reading.submits_ns[i - 1];
        assert_in_range(pause, NS_PER_MS << (i - 5), (NS_PER_MS << (i - 5)) + NS_PER_MS);
    }
    scene_end(&s);
}

static void fifteen_re_reads_a_fresh_and_a_cold_one_then_it_is_wrong(void **state)
{
    (void)state;
    struct scene s;
    scene_begin(&s);
    damage_device(&s);
    assert_int_equal(read_page(&s), PAGE_READ_WRONG);
    assert_int_equal(s.reading.reads, 1 + 15 + 1 + 1);
    assert_true(s.reading.was_cold);
    const struct finding *finding = only_finding(&s);
    assert_int_equal(finding->verdict, VERDICT_bit_flip);
    assert_false(finding->healed);
    assert_int_equal(finding->retries, 17);
    assert_int_equal(finding->agreed, 17);
    assert_int_equal(ledger_view(s.core.run->ledger, CORE_DATA_UID, PAGE_NO).state,
                     LEDGER_QUARANTINED);
    scene_end(&s);
}

static void the_cold_read_alone_heals_too(void **state)
{
    (void)state;
    struct scene s;
    scene_begin(&s);
    flip_reads(&s, 17); /* the first, fifteen re-reads and the one through a fresh descriptor */
    assert_int_equal(read_page(&s), PAGE_READ_RIGHT);
    assert_true(s.reading.was_cold);
    assert_int_equal(s.reading.reads, 18);
    assert_int_equal(only_finding(&s)->verdict, VERDICT_transient_damage);
    scene_end(&s);
}

static void only_the_last_two_reads_have_a_descriptor_of_their_own(void **state)
{
    (void)state;
    struct scene s;
    scene_begin(&s);
    flip_reads(&s, 15);
    assert_int_equal(read_page(&s), PAGE_READ_RIGHT);
    assert_int_equal(s.reading.reads, 16);
    assert_false(s.reading.was_cold);
    scene_end(&s);
}

static void a_quarantined_page_is_not_reported_again(void **state)
{
    (void)state;
    struct scene s;
    scene_begin(&s);
    damage_device(&s);
    assert_int_equal(read_page(&s), PAGE_READ_WRONG);
    reading_free(&s);
    uint64_t verified = s.counters->pages_verified;
    assert_int_equal(read_page(&s), PAGE_READ_RIGHT); /* not judged, not counted */
    assert_int_equal(s.counters->pages_verified, verified);
    assert_int_equal(s.findings->count, 1);
    scene_end(&s);
}

/* ---- errors of the system ---- */

static void an_error_that_passes_is_a_read_retry(void **state)
{
    (void)state;
    struct scene s;
    scene_begin(&s);
    fail_reads(&s, 2);
    assert_int_equal(read_page(&s), PAGE_READ_RIGHT);
    assert_int_equal(s.counters->read_retries, 2);
    const struct finding *finding = only_finding(&s);
    assert_int_equal(finding->verdict, VERDICT_read_retry); /* SQL Server's 825 */
    assert_int_equal(finding->error, EIO);
    assert_int_equal(finding->retries, 2);
    scene_end(&s);
}

static void an_error_that_stays_is_unreadable(void **state)
{
    (void)state;
    struct scene s;
    scene_begin(&s);
    fail_reads(&s, ALWAYS);
    assert_int_equal(read_page(&s), PAGE_READ_WRONG);
    assert_int_equal(only_finding(&s)->verdict, VERDICT_unreadable); /* 823 */
    unsigned units = PAGE_BYTES / s.core.data->file.target.align_bytes;
    assert_int_equal(s.reading.reads, 18 + units); /* the ladder, then each sector */
    scene_end(&s);
}

/* 4096 bytes: what every device can be read in. */
static void the_sectors_that_cannot_be_read_are_named(void **state)
{
    (void)state;
    struct scene s;
    scene_begin(&s);
    uint64_t second_half = (uint64_t)PAGE_NO * PAGE_BYTES + PAGE_BYTES / 2;
    core_fault(&s.core, (struct fault_rule){.kind = FAULT_ERRNO,
                                            .op = IO_READ,
                                            .file_uid = CORE_DATA_UID,
                                            .low = second_half,
                                            .high = second_half + PAGE_BYTES / 2,
                                            .count = ALWAYS,
                                            .a = EIO});
    assert_int_equal(read_page(&s), PAGE_READ_WRONG);
    const struct finding *finding = only_finding(&s);
    assert_int_equal(finding->verdict, VERDICT_unreadable);
    assert_string_equal(finding->why.sectors, "nnnnnnnnuuuuuuuu");
    assert_int_equal(finding->why.generation_found, GENERATION);
    assert_int_equal(finding->why.generation_expected, GENERATION);
    assert_non_null(strstr(finding->detail, "sectors 8-15 of 512 bytes cannot be read"));
    scene_end(&s);
}

static void a_page_whose_sectors_can_be_read_alone_is_unreadable_and_says_so(void **state)
{
    (void)state;
    struct scene s;
    scene_begin(&s);
    fail_reads(&s, 18); /* the ladder */
    assert_int_equal(read_page(&s), PAGE_READ_WRONG);
    const struct finding *finding = only_finding(&s);
    assert_int_equal(finding->verdict, VERDICT_unreadable);
    assert_string_equal(finding->why.sectors, "nnnnnnnnnnnnnnnn");
    assert_non_null(strstr(finding->detail, "each of its sectors can"));
    scene_end(&s);
}

/* ---- what is kept of the reads ---- */

struct kept {
    unsigned times;
    bool has_last, has_good;
    uint8_t first[PAGE_BYTES], last[PAGE_BYTES], good[PAGE_BYTES];
};

static void keep_images(void *context, struct finding *event, const struct finding_images *images)
{
    struct kept *kept = context;
    (void)event;
    kept->times++;
    kept->has_last = images->last_image != NULL;
    kept->has_good = images->good_image != NULL;
    memcpy(kept->first, images->read_image, PAGE_BYTES);
    if (kept->has_last)
        memcpy(kept->last, images->last_image, PAGE_BYTES);
    if (kept->has_good)
        memcpy(kept->good, images->good_image, PAGE_BYTES);
}

static void flip_one_read(struct scene *s, unsigned bit)
{
    core_fault(&s->core, (struct fault_rule){.kind = FAULT_FLIP,
                                             .op = IO_READ,
                                             .file_uid = CORE_DATA_UID,
                                             .low = (uint64_t)PAGE_NO * PAGE_BYTES,
                                             .high = (uint64_t)(PAGE_NO + 1) * PAGE_BYTES,
                                             .nth = bit + 1, /* one after the other */
                                             .a = BODY_BYTE,
                                             .b = bit});
}

/* Reads: bit 0 flipped, bit 1, bit 2, then right. */
static void first_bad_last_bad_and_first_good_image_are_kept(void **state)
{
    (void)state;
    struct scene s;
    struct kept kept = {0};
    uint8_t page[PAGE_BYTES];
    scene_begin(&s);
    sealed_image(&s, GENERATION, page);
    for (unsigned bit = 0; bit < 3; bit++)
        flip_one_read(&s, bit);
    s.findings->announce = NULL;
    s.findings->consider = keep_images;
    s.findings->context = &kept;
    assert_int_equal(read_page(&s), PAGE_READ_RIGHT);
    assert_int_equal(s.reading.reads, 4);
    assert_int_equal(kept.times, 1);
    assert_true(kept.has_last && kept.has_good);
    assert_int_equal(kept.first[BODY_BYTE] ^ page[BODY_BYTE], 1 << 0);
    assert_int_equal(kept.last[BODY_BYTE] ^ page[BODY_BYTE], 1 << 2);
    assert_int_equal(page_check(kept.good), PAGE_OK);
    scene_end(&s);
}

static void the_time_until_a_read_was_right_is_told(void **state)
{
    (void)state;
    struct scene s;
    scene_begin(&s);
    flip_reads(&s,
               7); /* four re-reads at once, pauses of 1 and 2 ms; the one after 4 ms is right */
    assert_int_equal(read_page(&s), PAGE_READ_RIGHT);
    assert_int_equal(only_finding(&s)->retries, 7);
    assert_in_range(only_finding(&s)->heal_ns, 7 * NS_PER_MS, 14 * NS_PER_MS);
    scene_end(&s);
}

static void a_fault_that_stays_has_no_time_to_heal(void **state)
{
    (void)state;
    struct scene s;
    scene_begin(&s);
    damage_device(&s);
    assert_int_equal(read_page(&s), PAGE_READ_WRONG);
    assert_int_equal(only_finding(&s)->heal_ns, 0);
    scene_end(&s);
}

/* The device returned what it should, and the first judgement of it was wrong. */
static void equal_images_that_are_judged_differently_are_not_the_storages(void **state)
{
    (void)state;
    struct scene s;
    scene_begin(&s);
    reading_start(&s, PAGE_NO);
    s.reading.started = true; /* go on as if the image had been found wrong */
    sealed_image(&s, GENERATION, s.reading.target);
    put_on_device(&s, s.reading.target);
    page_read_continue(&s.reading.reader, s.core.data, PAGE_NO, s.reading.target, STREAM_page_read,
                       1, ledger_view(s.core.run->ledger, CORE_DATA_UID, PAGE_NO), 0);
    core_settle(&s.core);
    assert_int_equal(s.reading.result, PAGE_READ_RIGHT);
    assert_int_equal(only_finding(&s)->verdict, VERDICT_memory_changed);
    scene_end(&s);
}

static void an_error_and_then_a_wrong_page_is_judged_by_its_bytes(void **state)
{
    (void)state;
    struct scene s;
    scene_begin(&s);
    damage_device(&s);
    fail_reads(&s, 1);
    assert_int_equal(read_page(&s), PAGE_READ_WRONG);
    assert_int_equal(only_finding(&s)->verdict, VERDICT_bit_flip);
    scene_end(&s);
}

/* ---- overlapped ---- */

static void let_the_read_go_out(struct scene *s)
{
    reading_start(s, PAGE_NO);
    while (!s->reading.reader.in_flight)
        worker_step(s->core.worker);
}

static void assert_not_judged(struct scene *s)
{
    core_settle(&s->core);
    assert_true(s->reading.over);
    assert_int_equal(s->reading.result, PAGE_READ_OVERLAPPED);
    assert_int_equal(s->counters->overlapped_reads, 1);
    assert_int_equal(s->counters->pages_verified, 0);
    assert_int_equal(s->findings->count, 0);
    assert_false(ledger_view(s->core.run->ledger, CORE_DATA_UID, PAGE_NO).seen);
}

/* In each case the device returns a damaged page: had it been judged, it would be a finding. */
static void a_read_during_a_write_is_not_judged(void **state)
{
    (void)state;
    struct scene s;
    scene_begin(&s);
    damage_device(&s);
    ledger_begin(s.core.run->ledger, CORE_DATA_UID, PAGE_NO, GENERATION + 1);
    let_the_read_go_out(&s);
    assert_not_judged(&s);
    scene_end(&s);
}

static void a_read_is_not_judged_when_a_write_begins_before_its_end(void **state)
{
    (void)state;
    struct scene s;
    scene_begin(&s);
    damage_device(&s);
    let_the_read_go_out(&s);
    ledger_begin(s.core.run->ledger, CORE_DATA_UID, PAGE_NO, GENERATION + 1);
    assert_not_judged(&s);
    scene_end(&s);
}

static void a_read_is_not_judged_when_a_whole_write_falls_into_it(void **state)
{
    (void)state;
    struct scene s;
    scene_begin(&s);
    damage_device(&s);
    let_the_read_go_out(&s);
    ledger_begin(s.core.run->ledger, CORE_DATA_UID, PAGE_NO, GENERATION + 1);
    ledger_ack(s.core.run->ledger, CORE_DATA_UID, PAGE_NO, true, 0, 0);
    assert_not_judged(&s);
    scene_end(&s);
}

/* What the reads before the write proved is not taken back by it. */
static void a_write_during_the_re_reads_ends_them_and_the_fault_is_told(void **state)
{
    (void)state;
    struct scene s;
    scene_begin(&s);
    damage_device(&s);
    let_the_read_go_out(&s);
    core_pass(&s.core, 100 * NS_PER_MS); /* in the pauses */
    assert_false(s.reading.over);
    assert_true(s.reading.reads > 5);
    assert_int_equal(s.findings->count, 0);
    ledger_begin(s.core.run->ledger, CORE_DATA_UID, PAGE_NO, GENERATION + 1);
    core_settle(&s.core);
    assert_int_equal(s.reading.result, PAGE_READ_OVERLAPPED);
    assert_int_equal(s.counters->pages_verified, 0);
    const struct finding *finding = only_finding(&s);
    assert_int_equal(finding->verdict, VERDICT_bit_flip);
    assert_int_equal(finding->why.generation_expected, GENERATION);
    scene_end(&s);
}

static void a_page_written_again_meanwhile_does_not_heal_the_fault_before(void **state)
{
    (void)state;
    struct scene s;
    uint8_t page[PAGE_BYTES];
    scene_begin(&s);
    damage_device(&s);
    let_the_read_go_out(&s);
    core_pass(&s.core, 100 * NS_PER_MS);
    ledger_begin(s.core.run->ledger, CORE_DATA_UID, PAGE_NO, GENERATION + 1);
    sealed_image(&s, GENERATION + 1, page);
    put_on_device(&s, page);
    ledger_ack(s.core.run->ledger, CORE_DATA_UID, PAGE_NO, true, 0, 0);
    core_settle(&s.core);
    assert_int_equal(s.reading.result, PAGE_READ_RIGHT);
    const struct finding *finding = only_finding(&s);
    assert_int_equal(finding->verdict, VERDICT_bit_flip);
    assert_false(finding->healed);
    scene_end(&s);
}

/* After a failed write both generations are right. */
static void a_page_in_doubt_may_be_old_or_new(void **state)
{
    (void)state;
    for (uint64_t generation = GENERATION; generation <= GENERATION + 1; generation++) {
        struct scene s;
        uint8_t page[PAGE_BYTES];
        scene_begin(&s);
        ledger_begin(s.core.run->ledger, CORE_DATA_UID, PAGE_NO, GENERATION + 1);
        ledger_fail(s.core.run->ledger, CORE_DATA_UID, PAGE_NO);
        sealed_image(&s, generation, page);
        put_on_device(&s, page);
        assert_int_equal(read_page(&s), PAGE_READ_RIGHT);
        assert_int_equal(s.findings->count, 0);
        scene_end(&s);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_right_page_needs_one_read),
        cmocka_unit_test(a_page_never_written_reads_as_zeros),
        cmocka_unit_test(an_older_generation_is_a_lost_write),
        cmocka_unit_test(one_good_re_read_heals),
        cmocka_unit_test(four_re_reads_follow_at_once_then_come_pauses),
        cmocka_unit_test(fifteen_re_reads_a_fresh_and_a_cold_one_then_it_is_wrong),
        cmocka_unit_test(the_cold_read_alone_heals_too),
        cmocka_unit_test(only_the_last_two_reads_have_a_descriptor_of_their_own),
        cmocka_unit_test(a_quarantined_page_is_not_reported_again),
        cmocka_unit_test(an_error_that_passes_is_a_read_retry),
        cmocka_unit_test(an_error_that_stays_is_unreadable),
        cmocka_unit_test(the_sectors_that_cannot_be_read_are_named),
        cmocka_unit_test(a_page_whose_sectors_can_be_read_alone_is_unreadable_and_says_so),
        cmocka_unit_test(first_bad_last_bad_and_first_good_image_are_kept),
        cmocka_unit_test(the_time_until_a_read_was_right_is_told),
        cmocka_unit_test(a_fault_that_stays_has_no_time_to_heal),
        cmocka_unit_test(equal_images_that_are_judged_differently_are_not_the_storages),
        cmocka_unit_test(an_error_and_then_a_wrong_page_is_judged_by_its_bytes),
        cmocka_unit_test(a_read_during_a_write_is_not_judged),
        cmocka_unit_test(a_read_is_not_judged_when_a_write_begins_before_its_end),
        cmocka_unit_test(a_read_is_not_judged_when_a_whole_write_falls_into_it),
        cmocka_unit_test(a_write_during_the_re_reads_ends_them_and_the_fault_is_told),
        cmocka_unit_test(a_page_written_again_meanwhile_does_not_heal_the_fault_before),
        cmocka_unit_test(a_page_in_doubt_may_be_old_or_new),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
