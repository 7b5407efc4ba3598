/*
 * test_engine_fault.c - the fault layer: each kind does what its line says, and nothing else.
 *
 * Data: page p of the file holds the byte 0x10 + p before each test.  Tests run over the sync
 * engine at depth 1 and, where completion order or time matters, over the modelled device.
 */
#include "engine_fixture.h"

#include <pthread.h>

#define SECTOR 512u

static void lay_out(struct rig *rig)
{
    for (unsigned p = 0; p < 16; p++) {
        unsigned char page[PAGE];
        memset(page, (int)(0x10 + p), PAGE);
        assert_int_equal(pwrite(rig->target.fd, page, PAGE, p * PAGE), PAGE);
    }
}

static int set_up(void **state)
{
    struct rig *rig = malloc(sizeof(*rig));
    rig_start(rig, "sync", true, false, 1, 1);
    lay_out(rig);
    *state = rig;
    return 0;
}

static int set_up_virtual(void **state)
{
    struct rig *rig = malloc(sizeof(*rig));
    rig_start(rig, "mem", true, true, 8, 1);
    lay_out(rig);
    *state = rig;
    return 0;
}

static int tear_down(void **state)
{
    rig_stop(*state);
    free(*state);
    return 0;
}

static unsigned add(struct rig *rig, struct fault_rule rule)
{
    return fault_add(rig->fault, &rule);
}

static void assert_truth(const struct rig *rig, unsigned index, unsigned rule, uint64_t offset,
                         uint64_t size_bytes)
{
    assert_true(index < rig->fault->truth_count);
    const struct fault_truth *truth = &rig->fault->truth[index];
    assert_int_equal(truth->rule, rule);
    assert_int_equal(truth->file_uid, 1);
    assert_int_equal(truth->offset, offset);
    assert_int_equal(truth->size_bytes, size_bytes);
}

/* Write count pages of byte at page_no; the caller's memory must be as it was. */
static int write_pages(struct rig *rig, unsigned page_no, unsigned count, unsigned char byte)
{
    unsigned char *data = pages_of(count, byte);
    int r = rig_io(rig, IO_WRITE, page_no * PAGE, data, count * PAGE);
    assert_bytes(data, count * PAGE, byte);
    free(data);
    return r;
}

static unsigned char *read_pages(struct rig *rig, unsigned page_no, unsigned count, int expected)
{
    unsigned char *data = pages_of(count, 0xee);
    assert_int_equal(rig_io(rig, IO_READ, page_no * PAGE, data, count * PAGE), expected);
    return data;
}

/* -------------------------------------------------------------------------------- errors and time
 */

static void errno_fails_the_request_and_touches_nothing(void **state)
{
    struct rig *rig = *state;
    unsigned rule = add(rig, (struct fault_rule){.kind = FAULT_ERRNO, .op = IO_WRITE, .a = EIO});
    assert_int_equal(write_pages(rig, 0, 1, 0xaa), -EIO);
    assert_file_bytes(rig, 0, PAGE, 0x10);
    assert_truth(rig, 0, rule, 0, PAGE);
    assert_int_equal(write_pages(rig, 0, 1, 0xaa), 0); /* once only */
    assert_file_bytes(rig, 0, PAGE, 0xaa);
}

static void errno_on_a_flush(void **state)
{
    struct rig *rig = *state;
    add(rig, (struct fault_rule){.kind = FAULT_ERRNO, .op = IO_FLUSH, .a = ENOSPC});
    assert_int_equal(rig_io(rig, IO_FLUSH, 0, NULL, 0), -ENOSPC);
    assert_int_equal(rig_io(rig, IO_FLUSH, 0, NULL, 0), 0);
}

static void short_write_moves_a_bytes_and_the_wrapper_does_the_rest(void **state)
{
    struct rig *rig = *state;
    add(rig, (struct fault_rule){.kind = FAULT_SHORT, .op = IO_WRITE, .a = 3 * SECTOR});
    assert_int_equal(write_pages(rig, 0, 1, 0xaa), 0);
    assert_file_bytes(rig, 0, PAGE, 0xaa);
    assert_int_equal(rig->fault->requests, 2);
}

static void short_write_that_stays_short_leaves_the_rest_unwritten(void **state)
{
    struct rig *rig = *state;
    add(rig, (struct fault_rule){.kind = FAULT_SHORT, .op = IO_WRITE, .a = 3 * SECTOR});
    add(rig, (struct fault_rule){
                 .kind = FAULT_SHORT, .op = IO_WRITE, .a = 0, .nth = 2, .count = UINT32_MAX});
    assert_int_equal(write_pages(rig, 0, 1, 0xaa), -ENOSPC);
    assert_file_bytes(rig, 0, 3 * SECTOR, 0xaa);
    assert_file_bytes(rig, 3 * SECTOR, PAGE - 3 * SECTOR, 0x10);
}

/* What is reported as moved must be what reached the device. */
static void of_two_short_rules_the_shorter_counts(void **state)
{
    struct rig *rig = *state;
    add(rig, (struct fault_rule){.kind = FAULT_SHORT, .op = IO_WRITE, .a = 0, .count = UINT32_MAX});
    add(rig, (struct fault_rule){
                 .kind = FAULT_SHORT, .op = IO_WRITE, .a = 3 * SECTOR, .count = UINT32_MAX});
    assert_int_equal(write_pages(rig, 0, 1, 0xaa), -ENOSPC);
    assert_file_bytes(rig, 0, PAGE, 0x10);
}

static void short_read_fills_a_bytes_only(void **state)
{
    struct rig *rig = *state;
    add(rig, (struct fault_rule){.kind = FAULT_SHORT, .op = IO_READ, .a = SECTOR});
    add(rig, (struct fault_rule){.kind = FAULT_ERRNO, .op = IO_READ, .a = EIO, .nth = 2});
    unsigned char *data = pages_of(1, 0xee);
    for (unsigned s = 1; s < 16; s++) /* so that a shifted rest would show */
        memset(data + s * SECTOR, (int)(0xe0 + s), SECTOR);
    assert_int_equal(rig_io(rig, IO_READ, 2 * PAGE, data, PAGE), -EIO);
    assert_bytes(data, SECTOR, 0x12);
    for (unsigned s = 1; s < 16; s++)
        assert_bytes(data + s * SECTOR, SECTOR, (unsigned char)(0xe0 + s));
    free(data);
}

static void delay_adds_its_time_to_the_completion(void **state)
{
    struct rig *rig = *state; /* virtual */
    unsigned char *data = pages_of(1, 0);
    struct iovec iov = {data, PAGE};
    struct io_req req = {.op = IO_READ, .target = &rig->target, .iov = &iov, .iov_count = 1};
    add(rig, (struct fault_rule){.kind = FAULT_DELAY, .op = IO_READ, .a = 20 * (int64_t)NS_PER_S});
    assert_int_equal(io_run(&rig->io, &req), 0);
    uint64_t latency = req.done_ns - req.submit_ns;
    /* the model's read: base 80 us, times 0.5 to 1.5, rarely times 20, and 16.384 us */
    assert_true(latency >= 20 * NS_PER_S + 40000 + 16384);
    assert_true(latency <= 20 * NS_PER_S + 20 * 120000 + 16384);
    assert_int_equal(req.done_ns, clock_now_ns(&rig->clock));
    assert_bytes(data, PAGE, 0x10);
    free(data);
}

static void note_order(struct io_req *req)
{
    unsigned *order = req->context;
    order[1 + order[0]++] = (unsigned)(req->offset / PAGE);
}

static void a_delayed_request_does_not_hold_up_others(void **state)
{
    struct rig *rig = *state; /* virtual */
    add(rig, (struct fault_rule){.kind = FAULT_DELAY, .op = IO_READ, .a = (int64_t)NS_PER_S});
    unsigned order[4] = {0};
    struct io_req reqs[3];
    struct iovec iov[3];
    unsigned char *data = pages_of(3, 0);
    for (unsigned i = 0; i < 3; i++) {
        iov[i] = (struct iovec){data + i * PAGE, PAGE};
        reqs[i] = (struct io_req){.op = IO_READ,
                                  .target = &rig->target,
                                  .offset = i * PAGE,
                                  .iov = &iov[i],
                                  .iov_count = 1,
                                  .done = note_order,
                                  .context = order};
        io_submit(&rig->io, &reqs[i]);
    }
    while (order[0] < 3)
        io_poll(&rig->io, 1, UINT64_MAX);
    assert_int_equal(order[3], 0); /* the first, page 0, comes last */
    free(data);
}

/* --------------------------------------------------------------------------- persistent, on writes
 */

static void flip_on_a_write_is_on_the_device_and_not_in_memory(void **state)
{
    struct rig *rig = *state;
    unsigned rule =
        add(rig, (struct fault_rule){.kind = FAULT_FLIP, .op = IO_WRITE, .a = 1000, .b = 3});
    assert_int_equal(write_pages(rig, 1, 1, 0x20), 0);
    assert_file_bytes(rig, PAGE, 1000, 0x20);
    assert_file_bytes(rig, PAGE + 1000, 1, 0x28); /* 0x20 ^ 1 << 3 */
    assert_file_bytes(rig, PAGE + 1001, PAGE - 1001, 0x20);
    assert_truth(rig, 0, rule, PAGE, PAGE);
}

static void fill_on_a_write(void **state)
{
    struct rig *rig = *state;
    add(rig, (struct fault_rule){
                 .kind = FAULT_FILL, .op = IO_WRITE, .a = SECTOR, .b = 2 * SECTOR, .c = 0});
    assert_int_equal(write_pages(rig, 0, 1, 0xaa), 0);
    assert_file_bytes(rig, 0, SECTOR, 0xaa);
    assert_file_bytes(rig, SECTOR, 2 * SECTOR, 0);
    assert_file_bytes(rig, 3 * SECTOR, PAGE - 3 * SECTOR, 0xaa);
}

static void garbage_on_a_write_is_varied_repeatable_and_bounded(void **state)
{
    struct rig *rig = *state;
    add(rig, (struct fault_rule){.kind = FAULT_GARBAGE,
                                 .op = IO_WRITE,
                                 .a = SECTOR,
                                 .b = SECTOR,
                                 .c = 77,
                                 .count = UINT32_MAX});
    unsigned char first[SECTOR], second[SECTOR];
    assert_int_equal(write_pages(rig, 0, 1, 0xaa), 0);
    assert_file_bytes(rig, 0, SECTOR, 0xaa);
    assert_file_bytes(rig, 2 * SECTOR, PAGE - 2 * SECTOR, 0xaa);
    assert_int_equal(pread(rig->target.fd, first, SECTOR, SECTOR), SECTOR);
    assert_int_equal(write_pages(rig, 0, 1, 0xbb), 0);
    assert_int_equal(pread(rig->target.fd, second, SECTOR, SECTOR), SECTOR);
    assert_memory_equal(first, second, SECTOR);
    unsigned distinct = 0;
    bool seen[256] = {false};
    for (unsigned i = 0; i < SECTOR; i++) {
        distinct += !seen[first[i]];
        seen[first[i]] = true;
    }
    assert_true(distinct > 150); /* 512 draws of 256 leave 256 * e^-2 = 35 unseen on average */
}

static void torn_writes_the_first_a_bytes_of_the_range(void **state)
{
    struct rig *rig = *state;
    unsigned rule =
        add(rig, (struct fault_rule){.kind = FAULT_TORN, .op = IO_WRITE, .a = 5 * SECTOR});
    assert_int_equal(write_pages(rig, 3, 1, 0xaa), 0);
    assert_file_bytes(rig, 3 * PAGE, 5 * SECTOR, 0xaa);
    assert_file_bytes(rig, 3 * PAGE + 5 * SECTOR, PAGE - 5 * SECTOR, 0x13);
    assert_truth(rig, 0, rule, 3 * PAGE, PAGE);
}

/* One page of a gather write of five: the others are written in full. */
static void torn_in_a_gather_write_hits_only_the_touched_page(void **state)
{
    struct rig *rig = *state;
    unsigned rule = add(
        rig, (struct fault_rule){
                 .kind = FAULT_TORN, .op = IO_WRITE, .low = 4 * PAGE, .high = 5 * PAGE, .a = 4096});
    assert_int_equal(write_pages(rig, 2, 5, 0xaa), 0);
    assert_file_bytes(rig, 2 * PAGE, 2 * PAGE + 4096, 0xaa);
    assert_file_bytes(rig, 4 * PAGE + 4096, 4096, 0x14);
    assert_file_bytes(rig, 5 * PAGE, 2 * PAGE, 0xaa);
    assert_truth(rig, 0, rule, 4 * PAGE, PAGE);
}

static void lost_is_acknowledged_and_not_done(void **state)
{
    struct rig *rig = *state;
    add(rig,
        (struct fault_rule){.kind = FAULT_LOST, .op = IO_WRITE, .low = 4 * PAGE, .high = 5 * PAGE});
    assert_int_equal(write_pages(rig, 3, 3, 0xaa), 0);
    assert_file_bytes(rig, 3 * PAGE, PAGE, 0xaa);
    assert_file_bytes(rig, 4 * PAGE, PAGE, 0x14);
    assert_file_bytes(rig, 5 * PAGE, PAGE, 0xaa);
}

static void a_lost_flush_makes_nothing_durable(void **state)
{
    struct rig *rig = *state; /* virtual, modelled device */
    add(rig, (struct fault_rule){.kind = FAULT_LOST, .op = IO_FLUSH});
    assert_int_equal(write_pages(rig, 0, 1, 0xaa), 0);
    assert_int_equal(rig_io(rig, IO_FLUSH, 0, NULL, 0), 0);
    mem_device_cut(rig->device, MEM_CUT_DROP_ALL);
    assert_file_bytes(rig, 0, PAGE, 0x10);
}

static void misdirected_write_lands_elsewhere_and_leaves_home_old(void **state)
{
    struct rig *rig = *state;
    add(rig, (struct fault_rule){.kind = FAULT_MISDIRECT_WRITE,
                                 .op = IO_WRITE,
                                 .low = 5 * PAGE,
                                 .high = 6 * PAGE,
                                 .a = -3 * (int64_t)PAGE});
    assert_int_equal(write_pages(rig, 4, 3, 0xaa), 0);
    assert_file_bytes(rig, 2 * PAGE, PAGE, 0xaa); /* 5 - 3 */
    assert_file_bytes(rig, 4 * PAGE, PAGE, 0xaa);
    assert_file_bytes(rig, 5 * PAGE, PAGE, 0x15);
    assert_file_bytes(rig, 6 * PAGE, PAGE, 0xaa);
    assert_file_bytes(rig, 3 * PAGE, PAGE, 0x13);
}

static void a_duplicate_lands_at_both_places(void **state)
{
    struct rig *rig = *state;
    add(rig, (struct fault_rule){.kind = FAULT_DUPLICATE, .op = IO_WRITE, .a = 6 * (int64_t)PAGE});
    assert_int_equal(write_pages(rig, 2, 1, 0xaa), 0);
    assert_file_bytes(rig, 2 * PAGE, PAGE, 0xaa);
    assert_file_bytes(rig, 8 * PAGE, PAGE, 0xaa);
    assert_file_bytes(rig, 3 * PAGE, PAGE, 0x13);
}

static void a_neighbour_is_damaged_for_b_bytes(void **state)
{
    struct rig *rig = *state;
    add(rig, (struct fault_rule){
                 .kind = FAULT_NEIGHBOUR, .op = IO_WRITE, .a = (int64_t)PAGE, .b = SECTOR, .c = 9});
    unsigned char before[SECTOR], after[SECTOR];
    memset(before, 0x13, sizeof before);
    assert_int_equal(write_pages(rig, 2, 1, 0xaa), 0);
    assert_file_bytes(rig, 2 * PAGE, PAGE, 0xaa);
    assert_int_equal(pread(rig->target.fd, after, SECTOR, 3 * PAGE), SECTOR);
    assert_memory_not_equal(before, after, SECTOR);
    assert_file_bytes(rig, 3 * PAGE + SECTOR, PAGE - SECTOR, 0x13);
}

static void a_write_to_another_file_goes_to_the_one_with_that_uid(void **state)
{
    struct rig *rig = *state;
    /* the only file there is stands for the other one */
    add(rig, (struct fault_rule){
                 .kind = FAULT_OTHER_FILE, .op = IO_WRITE, .a = 4 * (int64_t)PAGE, .c = 1});
    add(rig, (struct fault_rule){.kind = FAULT_OTHER_FILE, .op = IO_WRITE, .nth = 2, .c = 77});
    assert_int_equal(write_pages(rig, 2, 1, 0xaa), 0);
    assert_file_bytes(rig, 2 * PAGE, PAGE, 0x12);
    assert_file_bytes(rig, 6 * PAGE, PAGE, 0xaa);
    assert_int_equal(write_pages(rig, 3, 1, 0xbb), 0); /* nobody has that uid: it is lost */
    assert_file_bytes(rig, 3 * PAGE, PAGE, 0x13);
}

static void a_reverted_file_is_as_it_was_when_it_was_kept(void **state)
{
    struct rig *rig = *state;
    add(rig, (struct fault_rule){.kind = FAULT_KEEP, .op = IO_WRITE, .nth = 2});
    add(rig, (struct fault_rule){.kind = FAULT_REVERT, .op = IO_WRITE, .nth = 4});
    assert_int_equal(write_pages(rig, 1, 1, 0xa1), 0);
    assert_int_equal(write_pages(rig, 2, 1, 0xa2), 0); /* kept before it */
    assert_int_equal(write_pages(rig, 3, 1, 0xa3), 0);
    assert_int_equal(write_pages(rig, 4, 1, 0xa4), 0); /* reverted before it */
    assert_file_bytes(rig, 1 * PAGE, PAGE, 0xa1);
    assert_file_bytes(rig, 2 * PAGE, PAGE, 0x12);
    assert_file_bytes(rig, 3 * PAGE, PAGE, 0x13);
    assert_file_bytes(rig, 4 * PAGE, PAGE, 0xa4);
    assert_truth(rig, 1, 1, 4 * PAGE, PAGE);
}

static void a_write_misdirected_out_of_the_file_is_lost(void **state)
{
    struct rig *rig = *state;
    add(rig, (struct fault_rule){
                 .kind = FAULT_MISDIRECT_WRITE, .op = IO_WRITE, .a = FILE_PAGES * (int64_t)PAGE});
    assert_int_equal(write_pages(rig, 4, 1, 0xaa), 0);
    assert_file_bytes(rig, 4 * PAGE, PAGE, 0x14);
    assert_int_equal(lseek(rig->target.fd, 0, SEEK_END), FILE_PAGES * PAGE);
}

static void change_memory_flips_the_buffer_after_the_write(void **state)
{
    struct rig *rig = *state;
    add(rig, (struct fault_rule){.kind = FAULT_CHANGE_MEMORY, .op = IO_WRITE, .a = 10, .b = 0});
    unsigned char *data = pages_of(1, 0x40);
    assert_int_equal(rig_io(rig, IO_WRITE, 0, data, PAGE), 0);
    assert_file_bytes(rig, 0, PAGE, 0x40);
    assert_int_equal(data[10], 0x41);
    data[10] = 0x40;
    assert_bytes(data, PAGE, 0x40);
    free(data);
}

static void truncate_cuts_the_file_after_the_request(void **state)
{
    struct rig *rig = *state;
    add(rig, (struct fault_rule){.kind = FAULT_TRUNCATE, .op = IO_WRITE, .a = 3 * PAGE});
    assert_int_equal(write_pages(rig, 8, 1, 0xaa), 0);
    assert_int_equal(lseek(rig->target.fd, 0, SEEK_END), 3 * PAGE);
}

/* ------------------------------------------------------------------------------ transient, on
 * reads */

static void flip_on_a_read_is_gone_with_the_next_read(void **state)
{
    struct rig *rig = *state;
    add(rig, (struct fault_rule){.kind = FAULT_FLIP, .op = IO_READ, .a = 100, .b = 7});
    unsigned char *data = read_pages(rig, 0, 1, 0);
    assert_int_equal(data[100], 0x90); /* 0x10 ^ 1 << 7 */
    data[100] = 0x10;
    assert_bytes(data, PAGE, 0x10);
    free(data);
    data = read_pages(rig, 0, 1, 0);
    assert_bytes(data, PAGE, 0x10);
    free(data);
    assert_file_bytes(rig, 0, PAGE, 0x10);
}

static void fill_on_a_read_hits_the_touched_page_of_a_scatter_read(void **state)
{
    struct rig *rig = *state;
    add(rig, (struct fault_rule){.kind = FAULT_FILL,
                                 .op = IO_READ,
                                 .low = PAGE,
                                 .high = 2 * PAGE,
                                 .a = 0,
                                 .b = PAGE,
                                 .c = 0xff});
    unsigned char *data = pages_of(3, 0xee);
    struct iovec iov[3] = {{data + 2 * PAGE, PAGE}, {data, PAGE}, {data + PAGE, PAGE}};
    struct io_req req = {.op = IO_READ, .target = &rig->target, .iov = iov, .iov_count = 3};
    assert_int_equal(io_run(&rig->io, &req), 0);
    assert_bytes(data + 2 * PAGE, PAGE, 0x10);
    assert_bytes(data, PAGE, 0xff);
    assert_bytes(data + PAGE, PAGE, 0x12);
    free(data);
}

static void misdirected_read_comes_from_elsewhere_once(void **state)
{
    struct rig *rig = *state;
    add(rig, (struct fault_rule){.kind = FAULT_MISDIRECT_READ, .op = IO_READ, .a = 3 * PAGE});
    unsigned char *data = read_pages(rig, 1, 1, 0);
    assert_bytes(data, PAGE, 0x14);
    free(data);
    data = read_pages(rig, 1, 1, 0);
    assert_bytes(data, PAGE, 0x11);
    free(data);
}

static void not_read_leaves_the_buffer_as_it_was(void **state)
{
    struct rig *rig = *state;
    add(rig, (struct fault_rule){
                 .kind = FAULT_NOT_READ, .op = IO_READ, .low = PAGE + SECTOR, .high = 2 * PAGE});
    unsigned char *data = read_pages(rig, 0, 3, 0);
    assert_bytes(data, PAGE, 0x10);
    assert_bytes(data + PAGE, SECTOR, 0x11);
    assert_bytes(data + PAGE + SECTOR, PAGE - SECTOR, 0xee);
    assert_bytes(data + 2 * PAGE, PAGE, 0x12);
    free(data);
}

static void stale_returns_what_was_there_before_the_last_write(void **state)
{
    struct rig *rig = *state;
    unsigned rule = add(rig, (struct fault_rule){.kind = FAULT_STALE, .op = IO_READ});
    assert_int_equal(write_pages(rig, 1, 1, 0x50), 0);
    assert_int_equal(write_pages(rig, 1, 1, 0x51), 0);
    unsigned char *data = read_pages(rig, 1, 1, 0);
    assert_bytes(data, PAGE, 0x50);
    free(data);
    assert_truth(rig, 0, rule, PAGE, PAGE);
    data = read_pages(rig, 1, 1, 0); /* heals */
    assert_bytes(data, PAGE, 0x51);
    free(data);
    assert_file_bytes(rig, PAGE, PAGE, 0x51);
}

static void stale_does_not_fire_without_a_write_before(void **state)
{
    struct rig *rig = *state;
    assert_int_equal(write_pages(rig, 1, 1, 0x50), 0); /* before the rule exists */
    add(rig, (struct fault_rule){.kind = FAULT_STALE, .op = IO_READ});
    assert_int_equal(write_pages(rig, 2, 1, 0x60), 0);
    unsigned char *data = read_pages(rig, 1, 1, 0);
    assert_bytes(data, PAGE, 0x50);
    free(data);
    assert_int_equal(rig->fault->truth_count, 0);
    data = read_pages(rig, 2, 1, 0); /* and it is still to come */
    assert_bytes(data, PAGE, 0x12);
    free(data);
}

/* Pages 1..3 written by one request, then page 2 alone: each page's own last write counts. */
static void stale_knows_the_last_write_of_each_byte(void **state)
{
    struct rig *rig = *state;
    add(rig, (struct fault_rule){.kind = FAULT_STALE, .op = IO_READ});
    assert_int_equal(write_pages(rig, 1, 3, 0x50), 0);
    assert_int_equal(write_pages(rig, 2, 1, 0x51), 0);
    unsigned char *data = read_pages(rig, 1, 3, 0);
    assert_bytes(data, PAGE, 0x11);
    assert_bytes(data + PAGE, PAGE, 0x50);
    assert_bytes(data + 2 * PAGE, PAGE, 0x13);
    free(data);
}

/* -------------------------------------------------------------------------------------- matching
 */

static void the_nth_match_fires_count_times(void **state)
{
    struct rig *rig = *state;
    add(rig,
        (struct fault_rule){.kind = FAULT_ERRNO, .op = IO_READ, .a = EIO, .nth = 3, .count = 2});
    const int expected[] = {0, 0, -EIO, -EIO, 0, 0};
    for (unsigned i = 0; i < 6; i++)
        free(read_pages(rig, 0, 1, expected[i]));
    assert_int_equal(rig->fault->truth_count, 2);
}

static void count_max_fires_for_ever(void **state)
{
    struct rig *rig = *state;
    add(rig,
        (struct fault_rule){.kind = FAULT_ERRNO, .op = IO_READ, .a = EIO, .count = UINT32_MAX});
    for (unsigned i = 0; i < 10; i++)
        free(read_pages(rig, 0, 1, -EIO));
}

static void other_operations_files_and_ranges_do_not_match(void **state)
{
    struct rig *rig = *state;
    add(rig, (struct fault_rule){.kind = FAULT_ERRNO, .op = IO_WRITE, .a = EIO});
    add(rig, (struct fault_rule){.kind = FAULT_ERRNO, .op = IO_READ, .a = EIO, .file_uid = 2});
    add(rig, (struct fault_rule){
                 .kind = FAULT_ERRNO, .op = IO_READ, .a = EIO, .low = PAGE, .high = 2 * PAGE});
    free(read_pages(rig, 0, 1, 0)); /* ends where the range begins */
    free(read_pages(rig, 2, 1, 0)); /* begins where it ends */
    free(read_pages(rig, 0, 3, -EIO));
}

static void a_kind_that_cannot_act_on_an_operation_does_not_match_it(void **state)
{
    struct rig *rig = *state;
    unsigned rule = add(rig, (struct fault_rule){.kind = FAULT_TORN, .any_op = true, .a = 512});
    free(read_pages(rig, 0, 1, 0));
    assert_int_equal(rig_io(rig, IO_FLUSH, 0, NULL, 0), 0);
    assert_int_equal(rig->fault->rules[rule].matches, 0);
    assert_int_equal(write_pages(rig, 0, 1, 0xaa), 0);
    assert_file_bytes(rig, 512, PAGE - 512, 0x10);
}

/* The loop of the fault suite: fail the k-th request of any kind, for each k, until none fails. */
static void any_operation_can_be_the_one_that_fails(void **state)
{
    (void)state;
    unsigned k = 0;
    for (bool fired = true; fired; fired = fired && k < 10) {
        struct rig rig;
        rig_start(&rig, "sync", true, false, 1, 1);
        add(&rig, (struct fault_rule){.kind = FAULT_ERRNO, .any_op = true, .a = EIO, .nth = ++k});
        unsigned char *page = pages_of(1, 1);
        int results[3] = {rig_io(&rig, IO_WRITE, 0, page, PAGE), rig_io(&rig, IO_FLUSH, 0, NULL, 0),
                          rig_io(&rig, IO_READ, 0, page, PAGE)};
        for (unsigned i = 0; i < 3; i++)
            assert_int_equal(results[i], i + 1 == k ? -EIO : 0);
        fired = rig.fault->truth_count > 0;
        assert_int_equal(rig.fault->requests, 3);
        free(page);
        rig_stop(&rig);
    }
    assert_int_equal(k, 4);
}

static void several_rules_act_on_one_request_in_their_order(void **state)
{
    struct rig *rig = *state;
    add(rig, (struct fault_rule){.kind = FAULT_FILL, .op = IO_WRITE, .a = 0, .b = 100, .c = 0x00});
    add(rig, (struct fault_rule){.kind = FAULT_FLIP, .op = IO_WRITE, .a = 50, .b = 0});
    assert_int_equal(write_pages(rig, 0, 1, 0xaa), 0);
    assert_file_bytes(rig, 0, 50, 0);
    assert_file_bytes(rig, 50, 1, 1);
    assert_file_bytes(rig, 51, 49, 0);
    assert_file_bytes(rig, 100, PAGE - 100, 0xaa);
    assert_int_equal(rig->fault->truth_count, 2);
}

/* A fault on a transfer that failed below took no effect: it is no truth. */
static void what_was_not_transferred_is_not_in_the_truth_list(void **state)
{
    struct rig *rig = *state;
    add(rig, (struct fault_rule){.kind = FAULT_FLIP, .op = IO_READ, .a = 0, .b = 0});
    assert_int_equal(ftruncate(rig->target.fd, 0), 0);
    free(read_pages(rig, 0, 1, -ENODATA));
    assert_int_equal(rig->fault->truth_count, 0);
}

struct sharer {
    struct clock *clock;
    struct fault_config *config;
    struct io_target *target;
    unsigned errors;
};

static void *share(void *argument)
{
    struct sharer *sharer = argument;
    struct io_engine *engine;
    struct io_engine_config config = {.clock = sharer->clock, .depth = 2, .device = sharer->config};
    if (engine_fault.create(&engine, &config) < 0)
        return NULL;
    struct io io;
    io_init(&io, engine, sharer->clock, NULL, NULL);
    unsigned char *page = aligned_alloc(4096, PAGE);
    struct iovec iov = {page, PAGE};
    for (unsigned i = 0; i < 50; i++) {
        struct io_req req = {.op = IO_READ, .target = sharer->target, .iov = &iov, .iov_count = 1};
        sharer->errors += io_run(&io, &req) == -EIO;
    }
    free(page);
    engine_fault.destroy(engine);
    return NULL;
}

static void rules_are_shared_by_the_engines_of_all_threads(void **state)
{
    struct rig *rig = *state;
    add(rig,
        (struct fault_rule){.kind = FAULT_ERRNO, .op = IO_READ, .a = EIO, .nth = 20, .count = 30});
    struct sharer sharers[4];
    pthread_t threads[4];
    unsigned errors = 0;
    for (unsigned i = 0; i < 4; i++) {
        sharers[i] = (struct sharer){&rig->clock, rig->fault, &rig->target, 0};
        assert_int_equal(pthread_create(&threads[i], NULL, share, &sharers[i]), 0);
    }
    for (unsigned i = 0; i < 4; i++) {
        pthread_join(threads[i], NULL);
        errors += sharers[i].errors;
    }
    assert_int_equal(errors, 30);
    assert_int_equal(rig->fault->requests, 4 * 50);
    assert_int_equal(rig->fault->truth_count, 30);
}

static void without_rules_nothing_is_changed_or_recorded(void **state)
{
    struct rig *rig = *state;
    assert_int_equal(write_pages(rig, 0, 16, 0x33), 0);
    assert_file_bytes(rig, 0, 16 * PAGE, 0x33);
    unsigned char *data = read_pages(rig, 0, 16, 0);
    assert_bytes(data, 16 * PAGE, 0x33);
    free(data);
    assert_int_equal(rig->fault->truth_count, 0);
    assert_int_equal(rig->fault->requests, 2);
}

#define T(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)
#define V(name) cmocka_unit_test_setup_teardown(name, set_up_virtual, tear_down)

int main(void)
{
    const struct CMUnitTest tests[] = {
        T(errno_fails_the_request_and_touches_nothing),
        T(errno_on_a_flush),
        T(short_write_moves_a_bytes_and_the_wrapper_does_the_rest),
        T(short_write_that_stays_short_leaves_the_rest_unwritten),
        T(of_two_short_rules_the_shorter_counts),
        T(short_read_fills_a_bytes_only),
        V(delay_adds_its_time_to_the_completion),
        V(a_delayed_request_does_not_hold_up_others),
        T(flip_on_a_write_is_on_the_device_and_not_in_memory),
        T(fill_on_a_write),
        T(garbage_on_a_write_is_varied_repeatable_and_bounded),
        T(torn_writes_the_first_a_bytes_of_the_range),
        T(torn_in_a_gather_write_hits_only_the_touched_page),
        T(lost_is_acknowledged_and_not_done),
        V(a_lost_flush_makes_nothing_durable),
        T(misdirected_write_lands_elsewhere_and_leaves_home_old),
        T(a_write_misdirected_out_of_the_file_is_lost),
        T(a_duplicate_lands_at_both_places),
        T(a_neighbour_is_damaged_for_b_bytes),
        T(a_write_to_another_file_goes_to_the_one_with_that_uid),
        T(a_reverted_file_is_as_it_was_when_it_was_kept),
        T(change_memory_flips_the_buffer_after_the_write),
        T(truncate_cuts_the_file_after_the_request),
        T(flip_on_a_read_is_gone_with_the_next_read),
        T(fill_on_a_read_hits_the_touched_page_of_a_scatter_read),
        T(misdirected_read_comes_from_elsewhere_once),
        T(not_read_leaves_the_buffer_as_it_was),
        T(stale_returns_what_was_there_before_the_last_write),
        T(stale_does_not_fire_without_a_write_before),
        T(stale_knows_the_last_write_of_each_byte),
        T(the_nth_match_fires_count_times),
        T(count_max_fires_for_ever),
        T(other_operations_files_and_ranges_do_not_match),
        T(a_kind_that_cannot_act_on_an_operation_does_not_match_it),
        cmocka_unit_test(any_operation_can_be_the_one_that_fails),
        T(several_rules_act_on_one_request_in_their_order),
        T(what_was_not_transferred_is_not_in_the_truth_list),
        T(rules_are_shared_by_the_engines_of_all_threads),
        T(without_rules_nothing_is_changed_or_recorded),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
