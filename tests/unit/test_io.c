/* test_io.c - the wrapper: checks, order, resume, times, statistics; over a scripted engine. */
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>
#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>
#include <cmocka.h>

#include "sim/io.h"
#include "sim/iov.h"

#define PAGE        8192
#define FULL        INT64_MAX /* script: transfer everything */
#define SCRIPT_MAX  16
#define TRANSFER_NS 1000

/* An engine that does what its script says, one transfer a TRANSFER_NS of virtual time. */
struct scripted {
    struct io_engine base;
    int64_t results[SCRIPT_MAX];
    unsigned result_count, next_result;
    uint64_t offsets[SCRIPT_MAX];
    size_t sizes[SCRIPT_MAX];
    void *first_base[SCRIPT_MAX];
    unsigned transfers;
    struct io_req *head, *tail;
    bool inside; /* a call of the engine is running */
};

static int scripted_submit(struct io_engine *engine, struct io_req *req)
{
    struct scripted *s = (struct scripted *)engine;
    if (engine->outstanding >= engine->depth)
        return -EAGAIN;
    s->inside = true;
    engine->outstanding++;
    unsigned i = s->transfers++;
    assert_true(i < SCRIPT_MAX);
    s->offsets[i] = req->engine_offset;
    s->sizes[i] = req->op == IO_FLUSH ? 0 : iov_bytes(req->engine_iov, req->engine_iov_count);
    s->first_base[i] = req->op == IO_FLUSH ? NULL : req->engine_iov[0].iov_base;
    int64_t result = s->next_result < s->result_count ? s->results[s->next_result++] : FULL;
    req->engine_result = result == FULL ? (ssize_t)s->sizes[i] : (ssize_t)result;
    req->next = NULL;
    if (s->tail)
        s->tail->next = req;
    else
        s->head = req;
    s->tail = req;
    s->inside = false;
    return 0;
}

static int scripted_reap(struct io_engine *engine, unsigned min, uint64_t deadline_ns,
                         struct io_req **list)
{
    struct scripted *s = (struct scripted *)engine;
    (void)deadline_ns;
    *list = NULL;
    struct io_req **link = list;
    unsigned count = 0;
    for (; count < min && s->head; count++) {
        clock_advance_to(engine->clock, clock_now_ns(engine->clock) + TRANSFER_NS);
        struct io_req *req = s->head;
        s->head = req->next;
        req->completed_ns = clock_now_ns(engine->clock);
        req->next = NULL;
        *link = req;
        link = &req->next;
    }
    if (s->head == NULL)
        s->tail = NULL;
    engine->outstanding -= count;
    return (int)count;
}

static const struct io_engine_ops scripted_ops = {
    .name = "scripted", .submit = scripted_submit, .reap = scripted_reap};

struct fixture {
    struct clock clock;
    struct scripted engine;
    struct stats *stats;
    enum phase phase;
    struct io io;
    struct io_target target;
    unsigned char *memory;
    struct iovec iov[IO_IOV_MAX];
    unsigned done_count;
    struct io_req *done[SCRIPT_MAX];
};

static int set_up(void **state)
{
    struct fixture *f = calloc(1, sizeof(*f));
    clock_init_virtual(&f->clock);
    f->engine.base = (struct io_engine){.ops = &scripted_ops, .clock = &f->clock, .depth = 4};
    f->stats = calloc(1, sizeof(*f->stats));
    f->phase = PHASE_stress;
    io_init(&f->io, &f->engine.base, &f->clock, f->stats, &f->phase);
    f->target =
        (struct io_target){.fd = 0, .uid = 1, .align_bytes = 512, .memory_align_bytes = 512};
    atomic_init(&f->target.size_bytes, 64 * PAGE);
    f->memory = aligned_alloc(4096, 16 * PAGE);
    for (unsigned i = 0; i < 16; i++)
        f->iov[i] = (struct iovec){f->memory + i * PAGE, PAGE};
    *state = f;
    return 0;
}

static int tear_down(void **state)
{
    struct fixture *f = *state;
    free(f->memory);
    free(f->stats);
    free(f);
    return 0;
}

static void note_done(struct io_req *req)
{
    struct fixture *f = req->context;
    assert_false(f->engine.inside);
    f->done[f->done_count++] = req;
}

static struct io_req request(struct fixture *f, enum io_op op, uint64_t offset, unsigned pages)
{
    return (struct io_req){.op = op,
                           .stream = op == IO_READ ? STREAM_page_read : STREAM_checkpoint_write,
                           .target = &f->target,
                           .offset = offset,
                           .iov = f->iov,
                           .iov_count = pages,
                           .done = note_done,
                           .context = f};
}

static void script(struct fixture *f, unsigned count, const int64_t *results)
{
    memcpy(f->engine.results, results, count * sizeof(*results));
    f->engine.result_count = count;
}

/* Runs the submission in a child; true if an assertion ended it. */
static bool aborts(struct fixture *f, struct io_req *req)
{
    fflush(NULL);
    pid_t pid = fork();
    assert_true(pid >= 0);
    if (pid == 0) {
        struct rlimit no_core = {0, 0};
        setrlimit(RLIMIT_CORE, &no_core);
        signal(SIGABRT, SIG_DFL);
        close(STDERR_FILENO);
        io_submit(&f->io, req);
        _exit(0);
    }
    int status;
    assert_int_equal(waitpid(pid, &status, 0), pid);
    return WIFSIGNALED(status) && WTERMSIG(status) == SIGABRT;
}

/* ------------------------------------------------------------------------------------- checks */

static void an_aligned_request_inside_the_file_is_accepted(void **state)
{
    struct fixture *f = *state;
    struct io_req req = request(f, IO_READ, 62 * PAGE, 2);
    assert_false(aborts(f, &req));
}

static void a_misaligned_offset_is_a_bug(void **state)
{
    struct fixture *f = *state;
    struct io_req req = request(f, IO_READ, 256, 1);
    assert_true(aborts(f, &req));
}

static void a_misaligned_length_of_any_part_is_a_bug(void **state)
{
    struct fixture *f = *state;
    struct io_req req = request(f, IO_READ, 0, 2);
    f->iov[0].iov_len = 256;
    f->iov[1].iov_len = 256; /* the sum is aligned */
    assert_true(aborts(f, &req));
}

static void misaligned_memory_of_any_part_is_a_bug(void **state)
{
    struct fixture *f = *state;
    struct io_req req = request(f, IO_READ, 0, 2);
    f->iov[1].iov_base = f->memory + PAGE + 8;
    assert_true(aborts(f, &req));
}

static void the_alignment_of_the_target_counts_not_a_constant(void **state)
{
    struct fixture *f = *state;
    struct io_req req = request(f, IO_READ, 512, 1);
    assert_false(aborts(f, &req));
    f->target.align_bytes = 4096;
    assert_true(aborts(f, &req));
}

static void a_transfer_beyond_the_size_of_the_target_is_a_bug(void **state)
{
    struct fixture *f = *state;
    struct io_req req = request(f, IO_READ, 63 * PAGE, 2);
    assert_true(aborts(f, &req));
}

static void an_offset_that_overflows_is_a_bug(void **state)
{
    struct fixture *f = *state;
    struct io_req req = request(f, IO_READ, UINT64_MAX - PAGE + 1, 1);
    assert_true(aborts(f, &req));
}

static void a_page_write_ahead_of_the_durable_log_is_a_bug(void **state)
{
    struct fixture *f = *state;
    _Atomic uint64_t durable = 1000;
    struct io_req req = request(f, IO_WRITE, 0, 1);
    req.log_durable = &durable;
    req.log_position_needed = 1000; /* must be above, not equal */
    assert_true(aborts(f, &req));
}

static void a_page_write_behind_the_durable_log_is_accepted(void **state)
{
    struct fixture *f = *state;
    _Atomic uint64_t durable = 1001;
    struct io_req req = request(f, IO_WRITE, 0, 1);
    req.log_durable = &durable;
    req.log_position_needed = 1000;
    assert_false(aborts(f, &req));
}

/* ------------------------------------------------------------------------------ order and depth */

static void done_never_runs_inside_submit(void **state)
{
    struct fixture *f = *state;
    struct io_req req = request(f, IO_READ, 0, 1);
    io_submit(&f->io, &req);
    assert_int_equal(f->done_count, 0);
    assert_int_equal(f->io.pending, 1);
    assert_int_equal(io_poll(&f->io, 1, UINT64_MAX), 1);
    assert_int_equal(f->done_count, 1);
    assert_int_equal(f->io.pending, 0);
}

static void requests_beyond_the_depth_wait_and_go_first_in_first_out(void **state)
{
    struct fixture *f = *state;
    f->engine.base.depth = 2;
    struct io_req reqs[6];
    for (unsigned i = 0; i < 6; i++) {
        reqs[i] = request(f, IO_READ, i * PAGE, 1);
        io_submit(&f->io, &reqs[i]);
        assert_true(f->engine.base.outstanding <= 2);
    }
    assert_int_equal(f->engine.transfers, 2);
    assert_int_equal(io_poll(&f->io, 6, UINT64_MAX), 6);
    for (unsigned i = 0; i < 6; i++) {
        assert_int_equal(f->engine.offsets[i], i * PAGE);
        assert_ptr_equal(f->done[i], &reqs[i]);
    }
}

static void submit_again(struct io_req *req)
{
    struct fixture *f = req->context;
    note_done(req);
    if (f->done_count < 3)
        io_submit(&f->io, req);
}

static void done_may_submit_the_same_request_again(void **state)
{
    struct fixture *f = *state;
    struct io_req req = request(f, IO_READ, 0, 1);
    req.done = submit_again;
    io_submit(&f->io, &req);
    assert_int_equal(io_poll(&f->io, 3, UINT64_MAX), 3);
    assert_int_equal(f->done_count, 3);
    assert_int_equal(f->io.pending, 0);
}

static void free_request(struct io_req *req)
{
    struct fixture *f = req->context;
    f->done_count++;
    free(req);
}

static void done_may_free_its_request(void **state)
{
    struct fixture *f = *state;
    for (unsigned i = 0; i < 6; i++) {
        struct io_req *req = malloc(sizeof(*req));
        *req = request(f, IO_READ, 0, 1);
        req->done = free_request;
        io_submit(&f->io, req);
    }
    io_poll(&f->io, 6, UINT64_MAX);
    assert_int_equal(f->done_count, 6);
}

static void io_run_returns_the_result(void **state)
{
    struct fixture *f = *state;
    struct io_req good = request(f, IO_WRITE, 0, 1);
    assert_int_equal(io_run(&f->io, &good), 0);
    script(f, 1, (int64_t[]){-EIO});
    struct io_req bad = request(f, IO_WRITE, 0, 1);
    assert_int_equal(io_run(&f->io, &bad), -EIO);
}

/* ------------------------------------------------------------------------------- short transfers
 */

static void the_rest_of_a_short_transfer_is_requested(void **state)
{
    struct fixture *f = *state;
    script(f, 1, (int64_t[]){3 * PAGE});
    struct io_req req = request(f, IO_WRITE, 8 * PAGE, 8);
    assert_int_equal(io_run(&f->io, &req), 0);
    assert_int_equal(f->engine.transfers, 2);
    assert_int_equal(f->engine.offsets[1], 11 * PAGE);
    assert_int_equal(f->engine.sizes[1], 5 * PAGE);
    assert_ptr_equal(f->engine.first_base[1], f->memory + 3 * PAGE);
    assert_true(req.was_short);
    assert_int_equal(f->stats->counters.short_ios, 1);
}

static void the_rest_begins_in_the_middle_of_a_part_if_need_be(void **state)
{
    struct fixture *f = *state;
    script(f, 1, (int64_t[]){PAGE + 1024});
    struct io_req req = request(f, IO_READ, 0, 3);
    assert_int_equal(io_run(&f->io, &req), 0);
    assert_int_equal(f->engine.offsets[1], PAGE + 1024);
    assert_int_equal(f->engine.sizes[1], 2 * PAGE - 1024);
    assert_ptr_equal(f->engine.first_base[1], f->memory + PAGE + 1024);
}

/* 5000 = 9 * 512 + 392: the rest begins at 4608. */
static void an_unaligned_short_count_resumes_at_the_aligned_position_below(void **state)
{
    struct fixture *f = *state;
    script(f, 1, (int64_t[]){5000});
    struct io_req req = request(f, IO_READ, PAGE, 1);
    assert_int_equal(io_run(&f->io, &req), 0);
    assert_int_equal(f->engine.offsets[1], PAGE + 4608);
    assert_int_equal(f->engine.sizes[1], PAGE - 4608);
}

static void the_rest_is_aligned_in_memory_too(void **state)
{
    struct fixture *f = *state;
    f->target.memory_align_bytes = 4096;
    script(f, 1, (int64_t[]){PAGE + 4608});
    struct io_req req = request(f, IO_READ, 0, 2);
    assert_int_equal(io_run(&f->io, &req), 0);
    assert_int_equal(f->engine.offsets[1], PAGE + 4096);
    assert_ptr_equal(f->engine.first_base[1], f->memory + PAGE + 4096);
}

static void the_rest_goes_before_waiting_requests(void **state)
{
    struct fixture *f = *state;
    f->engine.base.depth = 1;
    script(f, 1, (int64_t[]){512});
    struct io_req first = request(f, IO_READ, 0, 1);
    struct io_req second = request(f, IO_READ, 8 * PAGE, 1);
    io_submit(&f->io, &first);
    io_submit(&f->io, &second);
    io_poll(&f->io, 2, UINT64_MAX);
    assert_int_equal(f->engine.offsets[1], 512);
    assert_int_equal(f->engine.offsets[2], 8 * PAGE);
}

static void submit_three_more(struct io_req *req)
{
    struct fixture *f = req->context;
    note_done(req);
    for (unsigned i = 1; i <= 3; i++)
        io_submit(&f->io, &req[i]);
}

/* Depth 2. The first completes and its done() takes both places; the second was short: its rest
 * goes before the one that had to queue. */
static void the_rest_goes_first_although_done_filled_the_engine(void **state)
{
    struct fixture *f = *state;
    f->engine.base.depth = 2;
    script(f, 2, (int64_t[]){FULL, 512});
    struct io_req reqs[4];
    for (unsigned i = 0; i < 4; i++)
        reqs[i] = request(f, IO_READ, i * 8 * PAGE, 1);
    reqs[0].done = submit_three_more;
    struct io_req is_short = request(f, IO_READ, 50 * PAGE, 1);
    io_submit(&f->io, &reqs[0]);
    io_submit(&f->io, &is_short);
    while (f->io.pending > 0)
        io_poll(&f->io, f->io.pending, UINT64_MAX);
    assert_int_equal(f->engine.transfers, 6);
    assert_int_equal(f->engine.offsets[2], 8 * PAGE);
    assert_int_equal(f->engine.offsets[3], 16 * PAGE);
    assert_int_equal(f->engine.offsets[4], 50 * PAGE + 512);
    assert_int_equal(f->engine.offsets[5], 24 * PAGE);
}

static void a_read_at_the_end_of_file_ends_as_enodata_after_two_attempts(void **state)
{
    struct fixture *f = *state;
    script(f, 2, (int64_t[]){0, 0});
    struct io_req req = request(f, IO_READ, 0, 1);
    assert_int_equal(io_run(&f->io, &req), -ENODATA);
    assert_int_equal(f->engine.transfers, 2);
}

/* The file ends at 4708: 4608 whole-sector bytes, then 100 bytes that never fill a sector. */
static void a_read_across_an_unaligned_end_of_file_ends_as_enodata(void **state)
{
    struct fixture *f = *state;
    script(f, 3, (int64_t[]){4708, 100, 100});
    struct io_req req = request(f, IO_READ, 0, 1);
    assert_int_equal(io_run(&f->io, &req), -ENODATA);
    assert_int_equal(f->engine.transfers, 3);
    assert_int_equal(f->engine.offsets[2], 4608);
}

static void a_write_without_progress_ends_as_enospc(void **state)
{
    struct fixture *f = *state;
    script(f, 3, (int64_t[]){4096, 0, 0});
    struct io_req req = request(f, IO_WRITE, 0, 1);
    assert_int_equal(io_run(&f->io, &req), -ENOSPC);
}

static void progress_between_short_transfers_keeps_a_request_alive(void **state)
{
    struct fixture *f = *state;
    script(f, 6, (int64_t[]){0, 512, 0, 512, 0, 512});
    struct io_req req = request(f, IO_READ, 0, 1);
    assert_int_equal(io_run(&f->io, &req), 0);
    assert_int_equal(f->engine.transfers, 7);
    assert_int_equal(f->stats->counters.short_ios, 6);
}

static void an_error_after_a_short_transfer_is_the_result(void **state)
{
    struct fixture *f = *state;
    script(f, 2, (int64_t[]){512, -EIO});
    struct io_req req = request(f, IO_WRITE, 0, 1);
    assert_int_equal(io_run(&f->io, &req), -EIO);
}

/* -------------------------------------------------------------------------- times and statistics
 */

static void latency_runs_from_submission_and_response_from_the_intended_start(void **state)
{
    struct fixture *f = *state;
    clock_advance_to(&f->clock, 50000);
    struct io_req req = request(f, IO_READ, 0, 1);
    req.due_ns = 20000;
    assert_int_equal(io_run(&f->io, &req), 0);
    assert_int_equal(req.submit_ns, 50000);
    assert_int_equal(req.done_ns, 50000 + TRANSFER_NS);
    const struct stream_stats *s = &f->stats->streams[PHASE_stress][STREAM_page_read];
    assert_int_equal(s->ops, 1);
    assert_int_equal(s->bytes, PAGE);
    assert_int_equal(s->latency.max_ns, TRANSFER_NS);
    assert_int_equal(s->response.max_ns, 30000 + TRANSFER_NS);
}

static void time_in_the_queue_counts_in_response_only(void **state)
{
    struct fixture *f = *state;
    f->engine.base.depth = 1;
    struct io_req first = request(f, IO_READ, 0, 1);
    struct io_req second = request(f, IO_READ, PAGE, 1);
    io_submit(&f->io, &first);
    io_submit(&f->io, &second);
    io_poll(&f->io, 2, UINT64_MAX);
    const struct stream_stats *s = &f->stats->streams[PHASE_stress][STREAM_page_read];
    assert_int_equal(s->latency.max_ns, TRANSFER_NS);
    assert_int_equal(s->response.max_ns, 2 * TRANSFER_NS);
}

static void latency_of_a_resumed_request_covers_all_its_transfers(void **state)
{
    struct fixture *f = *state;
    script(f, 1, (int64_t[]){512});
    struct io_req req = request(f, IO_READ, 0, 1);
    assert_int_equal(io_run(&f->io, &req), 0);
    const struct stream_stats *s = &f->stats->streams[PHASE_stress][STREAM_page_read];
    assert_int_equal(s->ops, 1);
    assert_int_equal(s->latency.max_ns, 2 * TRANSFER_NS);
}

static void a_request_counts_in_the_phase_of_its_submission(void **state)
{
    struct fixture *f = *state;
    struct io_req req = request(f, IO_READ, 0, 1);
    io_submit(&f->io, &req);
    f->phase = PHASE_audit;
    io_poll(&f->io, 1, UINT64_MAX);
    assert_int_equal(f->stats->streams[PHASE_stress][STREAM_page_read].ops, 1);
    assert_int_equal(f->stats->streams[PHASE_audit][STREAM_page_read].ops, 0);
}

static void a_failed_request_is_not_in_the_statistics(void **state)
{
    struct fixture *f = *state;
    script(f, 1, (int64_t[]){-EIO});
    struct io_req req = request(f, IO_READ, 0, 1);
    assert_int_equal(io_run(&f->io, &req), -EIO);
    assert_int_equal(f->stats->streams[PHASE_stress][STREAM_page_read].ops, 0);
}

static void a_flush_moves_no_bytes_and_counts_as_one_operation(void **state)
{
    struct fixture *f = *state;
    struct io_req req = {.op = IO_FLUSH, .stream = STREAM_log_flush, .target = &f->target};
    assert_int_equal(io_run(&f->io, &req), 0);
    const struct stream_stats *s = &f->stats->streams[PHASE_stress][STREAM_log_flush];
    assert_int_equal(s->ops, 1);
    assert_int_equal(s->bytes, 0);
}

#define T(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)

int main(void)
{
    const struct CMUnitTest tests[] = {
        T(an_aligned_request_inside_the_file_is_accepted),
        T(a_misaligned_offset_is_a_bug),
        T(a_misaligned_length_of_any_part_is_a_bug),
        T(misaligned_memory_of_any_part_is_a_bug),
        T(the_alignment_of_the_target_counts_not_a_constant),
        T(a_transfer_beyond_the_size_of_the_target_is_a_bug),
        T(an_offset_that_overflows_is_a_bug),
        T(a_page_write_ahead_of_the_durable_log_is_a_bug),
        T(a_page_write_behind_the_durable_log_is_accepted),
        T(done_never_runs_inside_submit),
        T(requests_beyond_the_depth_wait_and_go_first_in_first_out),
        T(done_may_submit_the_same_request_again),
        T(done_may_free_its_request),
        T(io_run_returns_the_result),
        T(the_rest_of_a_short_transfer_is_requested),
        T(the_rest_begins_in_the_middle_of_a_part_if_need_be),
        T(an_unaligned_short_count_resumes_at_the_aligned_position_below),
        T(the_rest_is_aligned_in_memory_too),
        T(the_rest_goes_before_waiting_requests),
        T(the_rest_goes_first_although_done_filled_the_engine),
        T(a_read_at_the_end_of_file_ends_as_enodata_after_two_attempts),
        T(a_read_across_an_unaligned_end_of_file_ends_as_enodata),
        T(a_write_without_progress_ends_as_enospc),
        T(progress_between_short_transfers_keeps_a_request_alive),
        T(an_error_after_a_short_transfer_is_the_result),
        T(latency_runs_from_submission_and_response_from_the_intended_start),
        T(time_in_the_queue_counts_in_response_only),
        T(latency_of_a_resumed_request_covers_all_its_transfers),
        T(a_request_counts_in_the_phase_of_its_submission),
        T(a_failed_request_is_not_in_the_statistics),
        T(a_flush_moves_no_bytes_and_counts_as_one_operation),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
