/* test_io_gate.c - who waits at the gate, who goes next, and what waiting counts as: two wrappers
 * over one modelled device under a virtual clock. */
#include "tests/unit/engine_fixture.h"

#define MS        1000000ull
#define REQUESTS  8
#define DEPTH     32
#define SERVICE   (10 * MS) /* of a single channel, before the seeded variation */
#define UNLIMITED 140000

struct pair {
    struct clock clock;
    struct mem_device *device;
    struct io_engine *engines[2];
    struct io io[2];
    struct io_gate gate;
    struct stats *stats;
    enum phase phase;
    struct io_target target;
    unsigned char *memory;
    struct iovec iov;
    struct io_req requests[2][REQUESTS];
    unsigned done;
};

static void pair_begin(struct pair *p, uint32_t outstanding_max)
{
    memset(p, 0, sizeof *p);
    clock_init_virtual(&p->clock);
    p->phase = PHASE_stress;
    p->stats = calloc(1, sizeof *p->stats);
    struct mem_device_config model = {.seed = 1, .channels = 1, .read_ns = SERVICE};
    assert_int_equal(mem_device_create(&p->device, &p->clock, &model), 0);
    p->target = (struct io_target){
        .fd = rig_scratch_fd(), .uid = 1, .align_bytes = 512, .memory_align_bytes = 512};
    atomic_init(&p->target.size_bytes, FILE_PAGES * PAGE);
    io_account_init(&p->target.account, 100, UNLIMITED);
    io_gate_init(&p->gate, outstanding_max);
    struct io_engine_config config = {.clock = &p->clock, .depth = DEPTH, .device = p->device};
    for (unsigned i = 0; i < 2; i++) {
        assert_int_equal(engine_mem.create(&p->engines[i], &config), 0);
        assert_int_equal(engine_mem.attach(p->engines[i], &p->target), 0);
        io_init(&p->io[i], p->engines[i], &p->clock, p->stats, &p->phase);
        io_gate_join(&p->gate, &p->io[i], true);
    }
    io_gate_throttle(&p->gate, true);
    p->memory = pages_of(1, 0);
    p->iov = (struct iovec){p->memory, PAGE};
}

/* As the throttle would on a file that has had 100 outstanding; from there it rises by one a
 * window, since no average is above this target. */
static void limit_to(struct pair *p, uint32_t limit)
{
    atomic_store(&p->target.account.limit, limit);
    atomic_store(&p->target.account.outstanding_high, 100);
    p->target.account.target_ms = UINT32_MAX;
}

static void note_done(struct io_req *req)
{
    struct pair *p = req->context;
    assert_int_equal(req->result, 0);
    p->done++;
}

static struct io_req *post(struct pair *p, unsigned worker, unsigned index)
{
    struct io_req *req = &p->requests[worker][index];
    *req = (struct io_req){.op = IO_READ,
                           .stream = STREAM_page_read,
                           .target = &p->target,
                           .offset = index * PAGE,
                           .iov = &p->iov,
                           .iov_count = 1,
                           .done = note_done,
                           .context = p};
    io_submit(&p->io[worker], req);
    return req;
}

static unsigned on_the_device(const struct pair *p)
{
    return p->engines[0]->outstanding + p->engines[1]->outstanding;
}

/* Both workers take turns until so many are done; the most that was on the device meanwhile. */
static unsigned run_until(struct pair *p, unsigned done)
{
    unsigned most = on_the_device(p);
    while (p->done < done) {
        for (unsigned i = 0; i < 2; i++) {
            io_poll(&p->io[i], 0, 0);
            most = on_the_device(p) > most ? on_the_device(p) : most;
        }
        unsigned waiting = p->engines[0]->outstanding ? 0 : 1;
        assert_true(p->done >= done || on_the_device(p) > 0); /* else nobody ever goes on */
        if (p->done < done)
            io_poll(&p->io[waiting], 1, UINT64_MAX);
    }
    return most;
}

static void pair_end(struct pair *p)
{
    assert_int_equal(p->target.account.outstanding, 0);
    assert_int_equal(p->target.account.waiting, 0);
    assert_int_equal(p->gate.outstanding, 0);
    assert_int_equal(p->gate.waiting, 0);
    for (unsigned i = 0; i < 2; i++) {
        assert_int_equal(p->io[i].pending, 0);
        engine_mem.detach(p->engines[i], &p->target);
        engine_mem.destroy(p->engines[i]);
    }
    io_gate_destroy(&p->gate);
    mem_device_free(p->device);
    close(p->target.fd);
    free(p->memory);
    free(p->stats);
}

static void a_lowered_limit_holds_for_all_workers_together(void **state)
{
    (void)state;
    struct pair p;
    pair_begin(&p, UNLIMITED);
    limit_to(&p, 3);
    for (unsigned i = 0; i < REQUESTS; i++) {
        post(&p, 0, i);
        post(&p, 1, i);
    }
    assert_int_equal(on_the_device(&p), 3);
    assert_int_equal(p.target.account.waiting, 2 * REQUESTS - 3);
    run_until(&p, 2 * REQUESTS);
    pair_end(&p);
}

static void each_post_that_waits_is_counted_once(void **state)
{
    (void)state;
    struct pair p;
    pair_begin(&p, UNLIMITED);
    limit_to(&p, 2);
    for (unsigned i = 0; i < 6; i++)
        post(&p, i % 2, i);
    assert_int_equal(p.target.account.throttled, 4);
    run_until(&p, 6);
    assert_int_equal(p.target.account.throttled, 4);
    pair_end(&p);
}

static void whoever_came_first_goes_first(void **state)
{
    (void)state;
    /* worker of each post in order: bursts of one and of the other */
    static const unsigned workers[] = {0, 0, 0, 1, 0, 1, 1, 0, 0, 1};
    enum { POSTS = sizeof workers / sizeof workers[0] };
    struct io_req *posted[POSTS];
    unsigned next[2] = {0, 0};
    struct pair p;
    pair_begin(&p, UNLIMITED);
    limit_to(&p, 1);
    for (unsigned i = 0; i < POSTS; i++)
        posted[i] = post(&p, workers[i], next[workers[i]]++);
    run_until(&p, POSTS);
    for (unsigned i = 1; i < POSTS; i++)
        assert_true(posted[i]->submit_ns >= posted[i - 1]->submit_ns);
    assert_true(posted[POSTS - 1]->submit_ns >= posted[1]->submit_ns + SERVICE);
    pair_end(&p);
}

static void waiting_counts_in_the_response_and_not_in_the_latency(void **state)
{
    (void)state;
    struct pair p;
    pair_begin(&p, UNLIMITED);
    limit_to(&p, 1);
    struct io_req *first = post(&p, 0, 0), *second = post(&p, 0, 1);
    run_until(&p, 2);
    assert_true(second->submit_ns >= first->done_ns);
    const struct stream_stats *stats = &p.stats->streams[PHASE_stress][STREAM_page_read];
    assert_int_equal(stats->response.max_ns, second->done_ns); /* posted at 0 */
    assert_true(stats->latency.max_ns < second->done_ns);
    pair_end(&p);
}

static void another_worker_s_completion_lets_the_next_one_through(void **state)
{
    (void)state;
    struct pair p;
    pair_begin(&p, UNLIMITED);
    limit_to(&p, 1);
    post(&p, 0, 0);
    post(&p, 1, 0);
    assert_int_equal(p.engines[1]->outstanding, 0);
    while (p.done == 0)
        io_poll(&p.io[0], 1, UINT64_MAX);
    io_poll(&p.io[1], 0, 0);
    assert_int_equal(p.engines[1]->outstanding, 1);
    run_until(&p, 2);
    pair_end(&p);
}

static void the_process_bound_holds_without_a_throttle(void **state)
{
    (void)state;
    struct pair p;
    pair_begin(&p, 3);
    io_gate_throttle(&p.gate, false);
    for (unsigned i = 0; i < REQUESTS; i++) {
        post(&p, 0, i);
        post(&p, 1, i);
    }
    assert_int_equal(run_until(&p, 2 * REQUESTS), 3);
    assert_int_equal(p.target.account.throttled, 0);
    pair_end(&p);
}

static void a_flush_never_waits(void **state)
{
    (void)state;
    struct pair p;
    pair_begin(&p, 1);
    limit_to(&p, 1);
    post(&p, 0, 0);
    post(&p, 0, 1);
    p.requests[1][0] = (struct io_req){.op = IO_FLUSH,
                                       .stream = STREAM_data_flush,
                                       .target = &p.target,
                                       .done = note_done,
                                       .context = &p};
    io_submit(&p.io[1], &p.requests[1][0]);
    assert_int_equal(p.engines[1]->outstanding, 1);
    run_until(&p, 3);
    pair_end(&p);
}

static void when_a_burst_begins_all_go(void **state)
{
    (void)state;
    struct pair p;
    pair_begin(&p, UNLIMITED);
    limit_to(&p, 1);
    for (unsigned i = 0; i < 4; i++)
        post(&p, 0, i);
    io_gate_throttle(&p.gate, false);
    io_poll(&p.io[0], 0, 0);
    assert_int_equal(p.engines[0]->outstanding, 4);
    run_until(&p, 4);
    pair_end(&p);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_lowered_limit_holds_for_all_workers_together),
        cmocka_unit_test(each_post_that_waits_is_counted_once),
        cmocka_unit_test(whoever_came_first_goes_first),
        cmocka_unit_test(waiting_counts_in_the_response_and_not_in_the_latency),
        cmocka_unit_test(another_worker_s_completion_lets_the_next_one_through),
        cmocka_unit_test(the_process_bound_holds_without_a_throttle),
        cmocka_unit_test(a_flush_never_waits),
        cmocka_unit_test(when_a_burst_begins_all_go),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
