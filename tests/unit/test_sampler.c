/* test_sampler.c - what happened since the last look, also while a worker goes on. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <pthread.h>
#include <stdlib.h>

#include "sim/sampler.h"

#define START_NS (5 * NS_PER_S) /* the run does not begin at 0 of its clock */

struct fixture {
    struct run *run;
    struct clock clock;
    struct sampler sampler;
};

static int setup(void **state)
{
    struct fixture *f = calloc(1, sizeof *f);
    assert_non_null(f);
    clock_init_virtual(&f->clock);
    clock_advance_to(&f->clock, START_NS);
    f->run = calloc(1, sizeof *f->run);
    assert_non_null(f->run);
    f->run->clock = &f->clock;
    f->run->phases[PHASE_create].start_ns = START_NS + 1;
    f->run->workers = calloc(2, sizeof *f->run->workers);
    assert_non_null(f->run->workers);
    f->run->worker_count = 2;
    assert_int_equal(sampler_init(&f->sampler), 0);
    *state = f;
    return 0;
}

static int teardown(void **state)
{
    struct fixture *f = *state;
    sampler_free(&f->sampler);
    free(f->run->workers);
    free(f->run);
    free(f);
    return 0;
}

static void page_read(struct fixture *f, unsigned worker, uint64_t latency_ns)
{
    stats_add(&f->run->workers[worker].stats, PHASE_stress, STREAM_page_read, 8192, latency_ns,
              latency_ns);
}

static void a_look_within_the_same_second_brings_nothing(void **state)
{
    struct fixture *f = *state;
    page_read(f, 0, 100);
    clock_advance_to(&f->clock, START_NS + NS_PER_S - 1);
    assert_false(sampler_look(&f->sampler, f->run, false));
}

static void a_row_is_the_sum_of_all_workers(void **state)
{
    struct fixture *f = *state;
    page_read(f, 0, 100 * NS_PER_MS);
    page_read(f, 1, 300 * NS_PER_MS);
    clock_advance_to(&f->clock, START_NS + NS_PER_S);
    assert_true(sampler_look(&f->sampler, f->run, false));
    assert_int_equal(f->sampler.row_count, 1);
    const struct sample_row *row = &f->sampler.rows[0];
    assert_int_equal(row->phase, PHASE_stress);
    assert_int_equal(row->stream, STREAM_page_read);
    assert_int_equal(row->ops, 2);
    assert_int_equal(row->bytes, 2 * 8192);
    assert_true(row->mean_ns == 200.0 * NS_PER_MS);
    assert_int_equal(row->max_ns, 300 * NS_PER_MS);
    assert_int_equal(f->sampler.start_ns, START_NS);
    assert_int_equal(f->sampler.end_ns, START_NS + NS_PER_S);
}

static void the_next_look_has_only_what_is_new(void **state)
{
    struct fixture *f = *state;
    page_read(f, 0, 100 * NS_PER_MS);
    clock_advance_to(&f->clock, START_NS + NS_PER_S);
    assert_true(sampler_look(&f->sampler, f->run, false));
    page_read(f, 0, 2 * NS_PER_MS);
    clock_advance_to(&f->clock, START_NS + 2 * NS_PER_S);
    assert_true(sampler_look(&f->sampler, f->run, false));
    assert_int_equal(f->sampler.row_count, 1);
    assert_int_equal(f->sampler.rows[0].ops, 1);
    assert_true(f->sampler.rows[0].mean_ns == 2.0 * NS_PER_MS);
}

static void a_second_without_requests_has_no_rows_and_is_an_interval(void **state)
{
    struct fixture *f = *state;
    clock_advance_to(&f->clock, START_NS + NS_PER_S);
    assert_true(sampler_look(&f->sampler, f->run, false));
    assert_int_equal(f->sampler.row_count, 0);
}

static void a_forced_look_takes_the_rest_of_the_moment(void **state)
{
    struct fixture *f = *state;
    assert_false(sampler_look(&f->sampler, f->run, true)); /* nothing, and no time passed */
    page_read(f, 1, 1);
    assert_true(sampler_look(&f->sampler, f->run, true));
    assert_int_equal(f->sampler.rows[0].ops, 1);
}

/* ---- while a worker goes on ---- */

#define REQUESTS 200000u

static void *worker_thread(void *context)
{
    struct fixture *f = context;
    for (unsigned i = 0; i < REQUESTS; i++) {
        page_read(f, 0, i);
        relaxed_add(&f->run->workers[0].stats.counters.pages_verified, 1);
    }
    return NULL;
}

/* Whatever each look happens to see, together they have every request once (ThreadSanitizer's
 * suite runs this, too). */
static void looks_beside_a_writer_miss_nothing_and_count_nothing_twice(void **state)
{
    struct fixture *f = *state;
    pthread_t thread;
    uint64_t ops = 0, bytes = 0;
    assert_int_equal(pthread_create(&thread, NULL, worker_thread, f), 0);
    for (unsigned look = 0; look < 200; look++) {
        sampler_look(&f->sampler, f->run, true);
        for (unsigned i = 0; i < f->sampler.row_count; i++) {
            ops += f->sampler.rows[i].ops;
            bytes += f->sampler.rows[i].bytes;
        }
        f->sampler.row_count = 0;
    }
    assert_int_equal(pthread_join(thread, NULL), 0);
    if (sampler_look(&f->sampler, f->run, true)) {
        ops += f->sampler.rows[0].ops;
        bytes += f->sampler.rows[0].bytes;
    }
    assert_int_equal(ops, REQUESTS);
    assert_int_equal(bytes, REQUESTS * 8192ull);
    assert_int_equal(sampler_sums(&f->sampler)->counters.pages_verified, REQUESTS);
    /* 0 + 1 + ... + 199,999 */
    assert_int_equal(
        sampler_sums(&f->sampler)->streams[PHASE_stress][STREAM_page_read].latency.sum_ns,
        REQUESTS * (REQUESTS - 1ull) / 2);
}

#define CASE(test) cmocka_unit_test_setup_teardown(test, setup, teardown)

int main(void)
{
    const struct CMUnitTest tests[] = {
        CASE(a_look_within_the_same_second_brings_nothing),
        CASE(a_row_is_the_sum_of_all_workers),
        CASE(the_next_look_has_only_what_is_new),
        CASE(a_second_without_requests_has_no_rows_and_is_an_interval),
        CASE(a_forced_look_takes_the_rest_of_the_moment),
        CASE(looks_beside_a_writer_miss_nothing_and_count_nothing_twice),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
