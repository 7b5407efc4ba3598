/*
 * test_engine_conformance.c - what every engine owes the wrapper.
 *
 * Each test runs over each engine of engines.def: sync and mem alone and under the fault layer,
 * with a real and a virtual clock, at depths 1, 3 and 16; uring and aio, whose end takes the kernel
 * long, at depth 3 and under the fault layer at 16, and in the ways that they take on older
 * kernels.  What this machine's kernel refuses is told and left out.
 */
#include "engine_fixture.h"

#include <pthread.h>
#include <sys/mman.h>

#include "patterns/rng.h"

static const unsigned depths[] = {1, 3, 16};

struct variant {
    const char *name;
    bool with_fault, is_virtual;
    unsigned depth;
};

/* An engine, and what it does without. */
struct way {
    const char *engine;
    struct engine_without without;
};

static const struct way ways[] = {
    {"uring", {0}},
    {"uring", {.single_issuer = true, .files = true}},
    {"uring", {.single_issuer = true, .coop_taskrun = true, .buffers = true}},
    {"aio", {0}},
    {"aio", {.poll = true}},
    {"aio", {.fdsync = true}},
    {"sync", {0}},
    {"mem", {0}},
};
#define WAYS (sizeof(ways) / sizeof(ways[0]))

static bool is_modelled(const struct way *way)
{
    return strcmp(way->engine, "mem") == 0;
}

static bool runs_virtual(const struct way *way)
{
    return is_modelled(way) || strcmp(way->engine, "sync") == 0;
}

static int try_way(struct rig *rig, const struct way *way, const struct variant *v)
{
    return rig_try(rig, way->engine, is_modelled(way) ? NULL : &way->without, v->with_fault,
                   v->is_virtual, v->depth, 1);
}

static bool is_wanted(const struct way *way, const struct variant *v)
{
    static const struct engine_without nothing;
    if (runs_virtual(way))
        return true;
    if (v->is_virtual || v->with_fault != (v->depth == 16) || v->depth == 1)
        return false;
    return v->depth == 3 || memcmp(&way->without, &nothing, sizeof(nothing)) == 0;
}

typedef void variant_test(struct rig *rig, const struct variant *variant);

static void for_every_variant(variant_test *test)
{
    for (unsigned i = 0; i < WAYS * 4 * sizeof(depths) / sizeof(depths[0]); i++) {
        const struct way *way = &ways[i % WAYS];
        unsigned rest = i / WAYS;
        struct variant v = {way->engine, rest & 1, rest & 2, depths[rest / 4]};
        struct rig rig;
        if (!is_wanted(way, &v))
            continue;
        int error = try_way(&rig, way, &v);
        if (error && runs_virtual(way))
            fail_msg("%s: %s", way->engine, strerror(-error));
        if (error) {
            print_message("SKIP %s: this kernel refuses it: %s\n", way->engine, strerror(-error));
            continue;
        }
        test(&rig, &v);
        rig_stop(&rig);
    }
}

static void every_engine_of_the_list_is_tried(void **state)
{
    (void)state;
    for (size_t e = 0; e < io_engines_count; e++) {
        bool tried = false;
        for (size_t i = 0; i < WAYS; i++)
            tried = tried || strcmp(ways[i].engine, io_engines[e]->name) == 0;
        assert_true(tried);
    }
}

/* -------------------------------------------------- every request completes exactly once, in depth
 */

#define REQUESTS 200

struct tally {
    struct rig *rig;
    unsigned completions[REQUESTS];
    unsigned total;
};

struct counted {
    struct io_req req;
    struct iovec iov;
    unsigned index;
};

static void count_completion(struct io_req *req)
{
    struct tally *tally = req->context;
    const struct counted *counted = (const struct counted *)req;
    assert_int_equal(req->result, 0);
    tally->completions[counted->index]++;
    tally->total++;
}

static void run_requests(struct rig *rig, const struct variant *v)
{
    struct tally tally = {.rig = rig};
    struct counted *all = calloc(REQUESTS, sizeof(*all));
    unsigned char *data = pages_of(REQUESTS, 0x5a);
    for (unsigned i = 0; i < REQUESTS; i++) {
        all[i].index = i;
        all[i].iov = (struct iovec){data + i * PAGE, PAGE};
        all[i].req = (struct io_req){.op = i % 10 == 9  ? IO_FLUSH
                                           : i % 2 == 0 ? IO_WRITE
                                                        : IO_READ,
                                     .target = &rig->target,
                                     .offset = i * PAGE,
                                     .iov = &all[i].iov,
                                     .iov_count = i % 10 == 9 ? 0 : 1,
                                     .done = count_completion,
                                     .context = &tally};
        io_submit(&rig->io, &all[i].req);
        assert_true(rig->engine->outstanding <= v->depth);
    }
    while (tally.total < REQUESTS)
        io_poll(&rig->io, 1, UINT64_MAX);
    assert_int_equal(io_poll(&rig->io, 0, 0), 0);
    assert_int_equal(rig->io.pending, 0);
    assert_int_equal(rig->engine->outstanding, 0);
    for (unsigned i = 0; i < REQUESTS; i++)
        assert_int_equal(tally.completions[i], 1);
    free(data);
    free(all);
}

static void every_request_completes_exactly_once(void **state)
{
    (void)state;
    for_every_variant(run_requests);
}

static void refuse_beyond_depth(struct rig *rig, const struct variant *v)
{
    struct io_req reqs[17];
    struct iovec iov[17];
    unsigned char *data = pages_of(17, 0);
    for (unsigned i = 0; i <= v->depth; i++) {
        iov[i] = (struct iovec){data + i * PAGE, PAGE};
        reqs[i] = (struct io_req){.op = IO_READ,
                                  .target = &rig->target,
                                  .engine_offset = i * PAGE,
                                  .engine_iov = &iov[i],
                                  .engine_iov_count = 1};
        int expected = i < v->depth ? 0 : -EAGAIN;
        assert_int_equal(rig->engine->ops->submit(rig->engine, &reqs[i]), expected);
    }
    unsigned reaped = 0;
    while (reaped < v->depth) {
        struct io_req *list;
        int n = rig->engine->ops->reap(rig->engine, 1, UINT64_MAX, &list);
        assert_true(n >= 0);
        reaped += (unsigned)n;
    }
    assert_int_equal(reaped, v->depth);
    assert_int_equal(rig->engine->ops->submit(rig->engine, &reqs[v->depth]), 0);
    struct io_req *list = NULL;
    while (list == NULL)
        rig->engine->ops->reap(rig->engine, 1, UINT64_MAX, &list);
    assert_ptr_equal(list, &reqs[v->depth]);
    free(data);
}

static void a_full_engine_says_eagain_until_something_was_reaped(void **state)
{
    (void)state;
    for_every_variant(refuse_beyond_depth);
}

/* ------------------------------------------------------------------------------------ the bytes */

static void round_trip(struct rig *rig, const struct variant *v)
{
    (void)v;
    struct rng rng;
    rng_seed(&rng, 42);
    unsigned char *written = pages_of(4, 0);
    unsigned char *found = pages_of(4, 0xee);
    for (size_t i = 0; i < 4 * PAGE; i += 8) {
        uint64_t x = rng_next(&rng);
        memcpy(written + i, &x, 8);
    }
    assert_int_equal(rig_io(rig, IO_WRITE, 5 * PAGE, written, 4 * PAGE), 0);
    assert_int_equal(pread(rig->target.fd, found, 4 * PAGE, 5 * PAGE), 4 * PAGE);
    assert_memory_equal(found, written, 4 * PAGE);
    memset(found, 0xee, 4 * PAGE);
    assert_int_equal(rig_io(rig, IO_READ, 5 * PAGE, found, 4 * PAGE), 0);
    assert_memory_equal(found, written, 4 * PAGE);
    assert_file_bytes(rig, 4 * PAGE, PAGE, 0);
    assert_file_bytes(rig, 9 * PAGE, PAGE, 0);
    free(written);
    free(found);
}

static void data_round_trips_and_neighbours_stay(void **state)
{
    (void)state;
    for_every_variant(round_trip);
}

/* Gather from and scatter to memory in another order than the file's. */
static void vectored(struct rig *rig, const struct variant *v)
{
    (void)v;
    unsigned char *pages = pages_of(128, 0);
    unsigned char *found = pages_of(128, 0xee);
    struct iovec gather[128], scatter[128];
    for (unsigned i = 0; i < 128; i++) {
        memset(pages + i * PAGE, (int)i + 1, PAGE);
        gather[i] = (struct iovec){pages + i * PAGE, PAGE};
        scatter[i] = (struct iovec){found + (127 - i) * PAGE, PAGE};
    }
    struct io_req req = {.op = IO_WRITE,
                         .target = &rig->target,
                         .offset = 3 * PAGE,
                         .iov = gather,
                         .iov_count = 128};
    assert_int_equal(io_run(&rig->io, &req), 0);
    req.op = IO_READ;
    req.iov = scatter;
    assert_int_equal(io_run(&rig->io, &req), 0);
    for (unsigned i = 0; i < 128; i++) {
        assert_file_bytes(rig, (3 + i) * PAGE, PAGE, (unsigned char)(i + 1));
        assert_bytes(found + (127 - i) * PAGE, PAGE, (unsigned char)(i + 1));
    }
    free(pages);
    free(found);
}

static void a_vector_of_128_pages_is_one_request(void **state)
{
    (void)state;
    for_every_variant(vectored);
}

static void beyond_end(struct rig *rig, const struct variant *v)
{
    (void)v;
    unsigned char *page = pages_of(2, 0x11);
    assert_int_equal(ftruncate(rig->target.fd, 10 * PAGE), 0);
    assert_int_equal(rig_io(rig, IO_READ, 10 * PAGE, page, PAGE), -ENODATA);
    assert_int_equal(rig_io(rig, IO_READ, 9 * PAGE, page, 2 * PAGE), -ENODATA);
    assert_int_equal(rig_io(rig, IO_READ, 9 * PAGE, page, PAGE), 0);
    free(page);
}

static void a_read_beyond_the_end_of_the_file_is_enodata(void **state)
{
    (void)state;
    for_every_variant(beyond_end);
}

static void flush(struct rig *rig, const struct variant *v)
{
    (void)v;
    unsigned char *page = pages_of(1, 0x77);
    assert_int_equal(rig_io(rig, IO_WRITE, 0, page, PAGE), 0);
    assert_int_equal(rig_io(rig, IO_FLUSH, 0, NULL, 0), 0);
    assert_file_bytes(rig, 0, PAGE, 0x77);
    free(page);
}

static void a_flush_completes_with_0(void **state)
{
    (void)state;
    for_every_variant(flush);
}

/* --------------------------------------------------------------------------------------- errors */

/* A second target, open for reading only: the kernel's own error must arrive in done(). */
static void read_only(struct rig *rig, const struct variant *v)
{
    (void)v;
    int memfd = memfd_create("pagestorm-read-only", MFD_CLOEXEC);
    char path[64];
    snprintf(path, sizeof(path), "/proc/self/fd/%d", memfd);
    assert_int_equal(ftruncate(memfd, 4 * PAGE), 0);
    struct io_target target = {.fd = open(path, O_RDONLY | O_CLOEXEC),
                               .uid = 2,
                               .align_bytes = 512,
                               .memory_align_bytes = 512};
    assert_true(target.fd >= 0);
    atomic_init(&target.size_bytes, 4 * PAGE);
    assert_int_equal(rig->engine->ops->attach(rig->engine, &target), 0);
    unsigned char *page = pages_of(1, 1);
    struct iovec iov = {page, PAGE};
    struct io_req req = {.op = IO_WRITE, .target = &target, .iov = &iov, .iov_count = 1};
    assert_int_equal(io_run(&rig->io, &req), -EBADF);
    req.op = IO_READ;
    assert_int_equal(io_run(&rig->io, &req), 0);
    rig->engine->ops->detach(rig->engine, &target);
    free(page);
    close(target.fd);
    close(memfd);
}

static void an_error_of_the_system_arrives_as_the_result(void **state)
{
    (void)state;
    for_every_variant(read_only);
}

/* ---------------------------------------------------------------------------- waiting and waking
 */

static void *wake_from_thread(void *argument)
{
    io_wake(argument);
    return NULL;
}

static void wake(struct rig *rig, const struct variant *v)
{
    struct io_req *list = NULL;
    if (v->is_virtual) { /* one thread only */
        rig->engine->ops->wake(rig->engine);
        assert_int_equal(rig->engine->ops->reap(rig->engine, 1, 1000, &list), 0);
        assert_int_equal(clock_now_ns(&rig->clock), 0);
        return;
    }
    for (unsigned i = 0; i < 10; i++) { /* without a wake each of these would wait for ever */
        pthread_t thread;
        assert_int_equal(pthread_create(&thread, NULL, wake_from_thread, &rig->io), 0);
        assert_int_equal(rig->engine->ops->reap(rig->engine, 1, UINT64_MAX, &list), 0);
        assert_null(list);
        pthread_join(thread, NULL);
    }
}

static void a_wake_from_another_thread_ends_a_wait(void **state)
{
    (void)state;
    for_every_variant(wake);
}

/* ---- waking while the engine works ---- */

#define STORM_WRITES 100

struct storm {
    struct io *io;
    _Atomic bool over;
};

static void *wake_all_the_time(void *argument)
{
    struct storm *storm = argument;
    while (!atomic_load(&storm->over))
        io_wake(storm->io);
    return NULL;
}

static void storm(struct rig *rig, const struct variant *v)
{
    struct storm storm = {.io = &rig->io};
    pthread_t threads[2];
    if (v->is_virtual) /* one thread only */
        return;
    unsigned char *page = pages_of(1, 0x39);
    for (unsigned i = 0; i < 2; i++)
        assert_int_equal(pthread_create(&threads[i], NULL, wake_all_the_time, &storm), 0);
    for (unsigned i = 0; i < STORM_WRITES; i++)
        assert_int_equal(rig_io(rig, IO_WRITE, i * PAGE, page, PAGE), 0);
    atomic_store(&storm.over, true);
    for (unsigned i = 0; i < 2; i++)
        pthread_join(threads[i], NULL);
    struct io_req *list = NULL;
    uint64_t soon = clock_now_ns(&rig->clock) + 2 * NS_PER_MS;
    rig->engine->ops->reap(rig->engine, 1, soon, &list); /* takes the last wake */
    assert_null(list);
    assert_file_bytes(rig, 0, STORM_WRITES * PAGE, 0x39);
    free(page);
}

static void wakes_at_any_moment_lose_and_repeat_nothing(void **state)
{
    (void)state;
    for_every_variant(storm);
}

static void deadline(struct rig *rig, const struct variant *v)
{
    (void)v;
    struct io_req *list = NULL;
    uint64_t until = clock_now_ns(&rig->clock) + 2 * NS_PER_MS;
    assert_int_equal(rig->engine->ops->reap(rig->engine, 1, until, &list), 0);
    assert_true(clock_now_ns(&rig->clock) >= until);
    assert_int_equal(rig->engine->ops->reap(rig->engine, 1, 0, &list), 0); /* 0 = do not wait */
}

static void wake_before(struct rig *rig, const struct variant *v)
{
    struct io_req *list = NULL;
    rig->engine->ops->wake(rig->engine);
    assert_int_equal(rig->engine->ops->reap(rig->engine, 0, 0, &list), 0); /* no wait: keeps it */
    uint64_t far = v->is_virtual ? 1000 : UINT64_MAX;
    assert_int_equal(rig->engine->ops->reap(rig->engine, 1, far, &list), 0);
    deadline(rig, v); /* one wake ends one wait */
}

static void a_wake_that_comes_before_the_wait_ends_it(void **state)
{
    (void)state;
    for_every_variant(wake_before);
}

static void an_idle_wait_ends_at_its_deadline_and_not_before(void **state)
{
    (void)state;
    for_every_variant(deadline);
}

/* ---------------------------------------------------------------------------------- life and end
 */

static void reattach(struct rig *rig, const struct variant *v)
{
    (void)v;
    unsigned char *page = pages_of(1, 0x21);
    for (unsigned i = 0; i < 3; i++) {
        rig->engine->ops->detach(rig->engine, &rig->target);
        assert_int_equal(rig->engine->ops->attach(rig->engine, &rig->target), 0);
        assert_int_equal(rig_io(rig, IO_WRITE, i * PAGE, page, PAGE), 0);
    }
    assert_file_bytes(rig, 0, 3 * PAGE, 0x21);
    free(page);
}

static void a_target_can_be_detached_and_attached_again(void **state)
{
    (void)state;
    for_every_variant(reattach);
}

static void a_depth_of_0_is_refused(void **state)
{
    (void)state;
    struct clock clock;
    clock_init_real(&clock);
    for (size_t e = 0; e < io_engines_count; e++) {
        struct io_engine *engine = (struct io_engine *)&clock;
        struct io_engine_config config = {.clock = &clock, .depth = 0};
        assert_int_equal(io_engines[e]->create(&engine, &config), -EINVAL);
        assert_null(engine);
    }
}

static void an_engine_is_found_by_its_name(void **state)
{
    (void)state;
    for (size_t e = 0; e < io_engines_count; e++)
        assert_ptr_equal(io_engine_by_name(io_engines[e]->name), io_engines[e]);
    assert_null(io_engine_by_name("no such engine"));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_engine_of_the_list_is_tried),
        cmocka_unit_test(every_request_completes_exactly_once),
        cmocka_unit_test(a_full_engine_says_eagain_until_something_was_reaped),
        cmocka_unit_test(data_round_trips_and_neighbours_stay),
        cmocka_unit_test(a_vector_of_128_pages_is_one_request),
        cmocka_unit_test(a_read_beyond_the_end_of_the_file_is_enodata),
        cmocka_unit_test(a_flush_completes_with_0),
        cmocka_unit_test(an_error_of_the_system_arrives_as_the_result),
        cmocka_unit_test(a_wake_from_another_thread_ends_a_wait),
        cmocka_unit_test(wakes_at_any_moment_lose_and_repeat_nothing),
        cmocka_unit_test(a_wake_that_comes_before_the_wait_ends_it),
        cmocka_unit_test(an_idle_wait_ends_at_its_deadline_and_not_before),
        cmocka_unit_test(a_target_can_be_detached_and_attached_again),
        cmocka_unit_test(a_depth_of_0_is_refused),
        cmocka_unit_test(an_engine_is_found_by_its_name),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
