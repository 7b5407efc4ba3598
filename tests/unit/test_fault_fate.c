/*
 * test_fault_fate.c - the truth list says what became of a fault; the kinds that wrap, replay and
 * change the caller's memory.
 *
 * Data: page p of the file holds the byte 0x10 + p before each test.
 */
#include "engine_fixture.h"

#define SECTOR 512u

static int set_up_over(void **state, const char *engine, bool is_virtual)
{
    struct rig *rig = malloc(sizeof(*rig));
    assert_non_null(rig);
    rig_start(rig, engine, true, is_virtual, 8, 1);
    for (unsigned p = 0; p < 16; p++) {
        unsigned char page[PAGE];
        memset(page, (int)(0x10 + p), PAGE);
        assert_int_equal(pwrite(rig->target.fd, page, PAGE, p * PAGE), PAGE);
    }
    *state = rig;
    return 0;
}

static int set_up(void **state)
{
    return set_up_over(state, "sync", false);
}

static int set_up_virtual(void **state)
{
    return set_up_over(state, "mem", true);
}

static int tear_down(void **state)
{
    rig_stop(*state);
    free(*state);
    return 0;
}

static void add(struct rig *rig, struct fault_rule rule)
{
    fault_add(rig->fault, &rule);
}

static void write_page(struct rig *rig, unsigned page_no, unsigned char byte)
{
    unsigned char *data = pages_of(1, byte);
    assert_int_equal(rig_io(rig, IO_WRITE, page_no * PAGE, data, PAGE), 0);
    free(data);
}

static void read_page(struct rig *rig, unsigned page_no)
{
    unsigned char *data = pages_of(1, 0xee);
    assert_int_equal(rig_io(rig, IO_READ, page_no * PAGE, data, PAGE), 0);
    free(data);
}

static enum fault_fate fate_of(const struct rig *rig, unsigned index)
{
    assert_true(index < rig->fault->truth_count);
    return rig->fault->truth[index].fate;
}

/* ---- fates ---- */

static void a_damaged_write_waits_until_it_is_read(void **state)
{
    struct rig *rig = *state;
    add(rig, (struct fault_rule){.kind = FAULT_FLIP, .op = IO_WRITE, .a = 9});
    write_page(rig, 2, 0xaa);
    assert_int_equal(fate_of(rig, 0), FAULT_PENDING);
    read_page(rig, 3);
    assert_int_equal(fate_of(rig, 0), FAULT_PENDING);
    read_page(rig, 2);
    assert_int_equal(fate_of(rig, 0), FAULT_MET);
    write_page(rig, 2, 0xbb);
    assert_int_equal(fate_of(rig, 0), FAULT_MET); /* it was met before */
}

static void a_damage_written_over_before_it_is_read_is_masked(void **state)
{
    struct rig *rig = *state;
    add(rig, (struct fault_rule){.kind = FAULT_FLIP, .op = IO_WRITE, .a = 9});
    write_page(rig, 2, 0xaa);
    write_page(rig, 3, 0xbb);
    assert_int_equal(fate_of(rig, 0), FAULT_PENDING);
    write_page(rig, 2, 0xbb);
    assert_int_equal(fate_of(rig, 0), FAULT_MASKED);
    read_page(rig, 2);
    assert_int_equal(fate_of(rig, 0), FAULT_MASKED);
}

static void what_is_done_to_a_read_and_errors_are_met_at_once(void **state)
{
    struct rig *rig = *state;
    add(rig, (struct fault_rule){.kind = FAULT_FLIP, .op = IO_READ, .a = 9});
    add(rig, (struct fault_rule){.kind = FAULT_ERRNO, .op = IO_FLUSH, .a = EIO});
    read_page(rig, 2);
    assert_int_equal(rig_io(rig, IO_FLUSH, 0, NULL, 0), -EIO);
    assert_int_equal(fate_of(rig, 0), FAULT_MET);
    assert_int_equal(fate_of(rig, 1), FAULT_MET);
}

static void both_ends_of_a_misdirected_write_have_fates_of_their_own(void **state)
{
    struct rig *rig = *state;
    add(rig,
        (struct fault_rule){.kind = FAULT_MISDIRECT_WRITE, .op = IO_WRITE, .a = 5 * (int64_t)PAGE});
    write_page(rig, 2, 0xaa);
    const struct fault_truth *truth = &rig->fault->truth[0];
    assert_int_equal(rig->fault->truth_count, 1);
    assert_int_equal(truth->offset, 2 * PAGE);
    assert_int_equal(truth->size_bytes, PAGE);
    assert_int_equal(truth->stray.file_uid, 1);
    assert_int_equal(truth->stray.offset, 7 * PAGE);
    assert_int_equal(truth->stray.size_bytes, PAGE);
    write_page(rig, 7, 0xbb);
    assert_int_equal(truth->stray.fate, FAULT_MASKED);
    assert_int_equal(truth->fate, FAULT_PENDING);
    read_page(rig, 2);
    assert_int_equal(truth->fate, FAULT_MET);
}

static void count_done(struct io_req *req)
{
    ++*(unsigned *)req->context;
}

/* Two requests for a page each, under way together. */
static void two_at_once(struct rig *rig, const enum io_op op[2], const unsigned page_no[2])
{
    unsigned char *data = pages_of(2, 0xaa);
    unsigned done = 0;
    struct iovec iov[2];
    struct io_req reqs[2];
    for (unsigned i = 0; i < 2; i++) {
        iov[i] = (struct iovec){data + i * PAGE, PAGE};
        reqs[i] = (struct io_req){.op = op[i],
                                  .target = &rig->target,
                                  .offset = page_no[i] * PAGE,
                                  .iov = &iov[i],
                                  .iov_count = 1,
                                  .done = count_done,
                                  .context = &done};
        io_submit(&rig->io, &reqs[i]);
    }
    while (done < 2)
        io_poll(&rig->io, 1, UINT64_MAX);
    free(data);
}

/* Such a read may show either content. */
static void a_read_that_a_write_crosses_meets_nothing(void **state)
{
    struct rig *rig = *state;
    add(rig, (struct fault_rule){.kind = FAULT_FLIP, .op = IO_READ, .a = 9});
    two_at_once(rig, (enum io_op[]){IO_WRITE, IO_READ}, (unsigned[]){2, 2});
    assert_int_equal(fate_of(rig, 0), FAULT_MASKED);
}

static void a_stray_write_beside_one_under_way_cannot_be_counted_on(void **state)
{
    struct rig *rig = *state;
    add(rig, (struct fault_rule){.kind = FAULT_DUPLICATE,
                                 .op = IO_WRITE,
                                 .low = 2 * PAGE,
                                 .high = 3 * PAGE,
                                 .a = (int64_t)PAGE});
    two_at_once(rig, (enum io_op[]){IO_WRITE, IO_WRITE}, (unsigned[]){3, 2});
    assert_int_equal(rig->fault->truth_count, 1);
    assert_int_equal(rig->fault->truth[0].stray.fate, FAULT_MASKED);
}

/* ---- kinds ---- */

static void beyond_its_true_capacity_a_device_wraps(void **state)
{
    struct rig *rig = *state;
    add(rig, (struct fault_rule){
                 .kind = FAULT_WRAP, .any_op = true, .count = UINT32_MAX, .a = 8 * (int64_t)PAGE});
    write_page(rig, 3, 0xcc);
    assert_int_equal(rig->fault->truth_count, 0); /* below the capacity nothing happens */
    write_page(rig, 10, 0xaa);
    assert_file_bytes(rig, 2 * PAGE, PAGE, 0xaa);
    assert_file_bytes(rig, 10 * PAGE, PAGE, 0x1a);
    unsigned char *data = pages_of(1, 0xee);
    assert_int_equal(rig_io(rig, IO_READ, 10 * PAGE, data, PAGE), 0);
    assert_bytes(data, PAGE, 0xaa);
    free(data);
}

static void a_replayed_write_is_on_the_device_again(void **state)
{
    struct rig *rig = *state;
    add(rig, (struct fault_rule){.kind = FAULT_REPLAY, .op = IO_READ, .nth = 2});
    write_page(rig, 2, 0xaa); /* before it the page held 0x12 */
    write_page(rig, 2, 0xbb); /* before it 0xaa */
    read_page(rig, 2);
    assert_file_bytes(rig, 2 * PAGE, PAGE, 0xbb);
    read_page(rig, 2);
    assert_file_bytes(rig, 2 * PAGE, PAGE, 0xaa);
    assert_int_equal(rig->fault->truth_count, 1);
    assert_int_equal(fate_of(rig, 0), FAULT_MET);
}

static void memory_that_changes_under_a_write_reaches_the_device(void **state)
{
    struct rig *rig = *state;
    add(rig, (struct fault_rule){.kind = FAULT_CHANGE_BEFORE, .op = IO_WRITE, .a = 9, .b = 0});
    unsigned char *data = pages_of(1, 0xaa);
    assert_int_equal(rig_io(rig, IO_WRITE, 2 * PAGE, data, PAGE), 0);
    assert_int_equal(data[9], 0xab);
    assert_file_bytes(rig, 2 * PAGE + 9, 1, 0xab);
    assert_file_bytes(rig, 2 * PAGE + 10, PAGE - 10, 0xaa);
    free(data);
}

/* Content that comes k sectors late: a misdirected write of less than a page. */
static void a_write_shifted_by_sectors(void **state)
{
    struct rig *rig = *state;
    add(rig, (struct fault_rule){.kind = FAULT_MISDIRECT_WRITE, .op = IO_WRITE, .a = 3 * SECTOR});
    write_page(rig, 2, 0xaa);
    assert_file_bytes(rig, 2 * PAGE, 3 * SECTOR, 0x12);
    assert_file_bytes(rig, 2 * PAGE + 3 * SECTOR, PAGE, 0xaa);
    assert_file_bytes(rig, 3 * PAGE + 3 * SECTOR, PAGE - 3 * SECTOR, 0x13);
}

#define T(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)
#define V(name) cmocka_unit_test_setup_teardown(name, set_up_virtual, tear_down)

int main(void)
{
    const struct CMUnitTest tests[] = {
        T(a_damaged_write_waits_until_it_is_read),
        T(a_damage_written_over_before_it_is_read_is_masked),
        T(what_is_done_to_a_read_and_errors_are_met_at_once),
        T(both_ends_of_a_misdirected_write_have_fates_of_their_own),
        V(a_read_that_a_write_crosses_meets_nothing),
        V(a_stray_write_beside_one_under_way_cannot_be_counted_on),
        T(beyond_its_true_capacity_a_device_wraps),
        T(a_replayed_write_is_on_the_device_again),
        T(memory_that_changes_under_a_write_reaches_the_device),
        T(a_write_shifted_by_sectors),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
