/*
 * test_max_iops.c - MaxIops and MaxMBps over the modelled device, as the engine sees it: what is
 * started in the whole run and in any 100 ms of it.
 */
#include "tests/model/traced.h"

#define WINDOW_NS (100 * NS_PER_MS)

static void run_with(struct sim *sim, const char *iops, const char *mb_per_s,
                     const char *outstanding)
{
    struct sim_options options = {.duration_ns = 5 * NS_PER_S,
                                  .data_bytes = 8 * MIB,
                                  .log_bytes = 2 * MIB,
                                  .pool_bytes = 1 * MIB,
                                  .workers = 2,
                                  .settings = {{"CONFIG", "MaxIops", iops},
                                               {"CONFIG", "MaxMBps", mb_per_s},
                                               {"CONFIG", "MaxOutstandingIO", outstanding},
                                               {"RandomUser", "UserCount", "16"},
                                               {"RandomUser", "SleepAfter", "0"},
                                               {"RandomUser", "MaxLogPerBuffer", "512"}}};
    sim_begin(sim, &options);
    traced_execute(sim);
}

/* Most units that start within any 100 ms; flushes and time before the workers are not asked. */
static double most_in_a_window(bool bytes)
{
    double most = 0, sum = 0;
    for (unsigned first = 0, next = 0; first < trace.count; first++) {
        for (;
             next < trace.count && trace.list[next].when_ns < trace.list[first].when_ns + WINDOW_NS;
             next++)
            sum += bytes ? (double)trace.list[next].bytes : trace.list[next].op != IO_FLUSH;
        most = sum > most ? sum : most;
        sum -= bytes ? (double)trace.list[first].bytes : trace.list[first].op != IO_FLUSH;
    }
    return most;
}

/* Mean a second of the main part. */
static double rate_in_main_part(const struct sim *sim, bool bytes)
{
    const struct run_phase_time *stress = &sim->run->phases[PHASE_stress];
    uint64_t start_ns = stress->start_ns, end_ns = start_ns + 5 * NS_PER_S;
    double sum = 0;
    for (unsigned i = 0; i < trace.count; i++) {
        const struct traced_io *io = &trace.list[i];
        if (io->when_ns >= start_ns && io->when_ns < end_ns)
            sum += bytes ? (double)io->bytes : io->op != IO_FLUSH;
    }
    return sum / 5;
}

/* 500 a second: within 2 %, and in 100 ms no more than 50, the burst of 20 ms and one. */
static void the_run_makes_as_many_transfers_as_it_may(void **state)
{
    (void)state;
    struct sim sim;
    run_with(&sim, "500", "0", "0");
    double rate = rate_in_main_part(&sim, false);
    assert_true(rate > 490 && rate < 510);
    assert_true(most_in_a_window(false) <= 50 + 10 + 1);
    assert_true(sim.run->limit.held > 1000);
    sim_end(&sim);
}

/* 4 MB/s; one request may be 1 MiB and is paid for by those behind it. */
static void the_run_moves_as_many_bytes_as_it_may(void **state)
{
    (void)state;
    struct sim sim;
    run_with(&sim, "0", "4", "0");
    double rate = rate_in_main_part(&sim, true) / MIB;
    assert_true(rate > 3.92 && rate < 4.08);
    assert_true(most_in_a_window(true) <= 0.4 * MIB + 0.08 * MIB + MIB);
    sim_end(&sim);
}

/* The device has 80 us a request: one at a time is far more than 500 a second. */
static void it_holds_with_one_request_outstanding(void **state)
{
    (void)state;
    struct sim sim;
    run_with(&sim, "500", "0", "1");
    double rate = rate_in_main_part(&sim, false);
    assert_true(rate > 490 && rate < 510);
    sim_end(&sim);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_run_makes_as_many_transfers_as_it_may),
        cmocka_unit_test(the_run_moves_as_many_bytes_as_it_may),
        cmocka_unit_test(it_holds_with_one_request_outstanding),
    };
    return cmocka_run_group_tests(tests, trace_begin, trace_end);
}
