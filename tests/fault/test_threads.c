/*
 * test_threads.c - whole runs with real threads: 4 workers, the sync engine with its helpers, a
 * file on disk; without faults, with errors and delays, and stopped in the middle.
 *
 * What it is for is the thread sanitizer; the rules are those of any run: audited, nothing in
 * flight, no finding that no fault caused, files that verify.  TEST_SCALE makes the runs longer.
 */
#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <time.h>

#include "tests/fault/outcome.h"
#include "tests/scale.h"

#define MIB         (1024ull * 1024)
#define RUN_MS      4000
#define RUN_MS_MIN  300
#define STOPS       4
#define STOP_MS     150 /* between the moments of the stops */
#define EIO_FIRST   20  /* data writes that fail: this one and every so many from there */
#define EIO_RULES   5
#define DELAY_EVERY 7
#define DELAY_RULES 8

static const char *disk_directory(void)
{
    const char *directory = getenv("TMPDIR");
    return directory ? directory : "/var/tmp";
}

static uint64_t run_ns(unsigned part)
{
    uint64_t ms = test_scaled(RUN_MS) / part;
    return (ms > RUN_MS_MIN ? ms : RUN_MS_MIN) * NS_PER_MS;
}

static struct sim_options options_make(const char *write_through, uint64_t duration_ns)
{
    return (struct sim_options){
        .duration_ns = duration_ns,
        .data_bytes = 64 * MIB,
        .log_bytes = 8 * MIB,
        .pool_bytes = 8 * MIB,
        .workers = 4,
        .real_clock = true,
        .directory = disk_directory(),
        .settings = {{"CONFIG", "StopOnError", "FALSE"},
                     {"CONFIG", "WriteThrough", write_through},
                     {"RandomUser", "UserCount", "8"},
                     {"RandomUser", "MaxLogPerBuffer", "2048"},
                     {"RandomUser", "SleepAfter", "0"},
                     {"AuditUser", "UserCount", "4"},
                     {"AuditUser", "AuditDelay", "5"}},
    };
}

static void judge_clean(struct sim *sim, const char *what)
{
    struct outcome o;
    outcome_take(sim, &o);
    OUTCOME_CHECK(sim, what, o.created && o.result == 0 && o.audited);
    OUTCOME_CHECK(sim, what, o.integrity == 0 && o.io_errors == 0);
    OUTCOME_CHECK(sim, what, o.by_verdict[VERDICT_read_retry] == 0);
    OUTCOME_CHECK(sim, what, o.ledger.in_flight == 0 && o.ledger.indeterminate == 0);
    OUTCOME_CHECK(sim, what, o.ledger.seen == o.ledger.written);
    OUTCOME_CHECK(sim, what, o.counters.transactions > 0 && o.counters.checkpoints > 1);
    outcome_judge_files(sim, what);
}

static void run_write_through_is_clean(void **state)
{
    (void)state;
    struct sim sim;
    struct sim_options options = options_make("TRUE", run_ns(1));
    sim_begin(&sim, &options);
    sim_run(&sim);
    judge_clean(&sim, "WriteThrough");
    sim_end(&sim);
}

static void run_with_flushes_is_clean(void **state)
{
    (void)state;
    struct sim sim;
    struct sim_options options = options_make("FALSE", run_ns(2));
    sim_begin(&sim, &options);
    sim_run(&sim);
    judge_clean(&sim, "flushes");
    sim_end(&sim);
}

/* ---- errors and delays ---- */

static void rules_add(struct fault_config *faults)
{
    for (unsigned i = 0; i < EIO_RULES; i++) /* each one once */
        fault_add(faults, &(struct fault_rule){.kind = FAULT_ERRNO,
                                               .op = IO_WRITE,
                                               .file_uid = 1,
                                               .nth = EIO_FIRST * (1 + i * i),
                                               .a = EIO});
    for (unsigned i = 1; i <= DELAY_RULES; i++)
        fault_add(faults, &(struct fault_rule){.kind = FAULT_DELAY,
                                               .any_op = true,
                                               .nth = DELAY_EVERY * i * i,
                                               .count = 3,
                                               .a = (int64_t)(i * NS_PER_MS)});
}

static void failed_data_writes_are_repeated(const char *write_through)
{
    struct sim sim;
    struct outcome o;
    struct sim_options options = options_make(write_through, run_ns(2));
    options.with_faults = true;
    sim_begin(&sim, &options);
    rules_add(sim.faults);
    sim_run(&sim);
    outcome_take(&sim, &o);
    const char *what = "EIO once and delays";
    OUTCOME_CHECK(&sim, what, o.created && o.result == 0 && o.audited);
    OUTCOME_CHECK(&sim, what, o.integrity == 0 && o.io_errors == o.by_verdict[VERDICT_write_error]);
    OUTCOME_CHECK(&sim, what, o.io_errors > 0);
    OUTCOME_CHECK(&sim, what, o.ledger.in_flight == 0 && o.ledger.indeterminate == 0);
    OUTCOME_CHECK(&sim, what, o.ledger.quarantined == 0);
    OUTCOME_CHECK(&sim, what, o.ledger.seen == o.ledger.written);
    outcome_judge_files(&sim, what);
    sim_end(&sim);
}

static void failed_data_writes_are_repeated_write_through(void **state)
{
    (void)state;
    failed_data_writes_are_repeated("TRUE");
}

static void failed_data_writes_are_repeated_with_flushes(void **state)
{
    (void)state;
    failed_data_writes_are_repeated("FALSE");
}

static void a_failed_log_write_stops_the_database(void **state)
{
    (void)state;
    struct sim sim;
    struct outcome o;
    struct sim_options options = options_make("TRUE", run_ns(2));
    options.with_faults = true;
    sim_begin(&sim, &options);
    fault_add(sim.faults,
              &(struct fault_rule){
                  .kind = FAULT_ERRNO, .op = IO_WRITE, .file_uid = 2, .nth = 40, .a = EIO});
    sim_run(&sim);
    outcome_take(&sim, &o);
    const char *what = "EIO of a log write";
    OUTCOME_CHECK(&sim, what, o.created && o.log_failed && o.stop == RUN_STOP_ERROR);
    OUTCOME_CHECK(&sim, what, o.integrity == 0 && o.by_verdict[VERDICT_write_error] == 1);
    OUTCOME_CHECK(&sim, what, o.ledger.in_flight == 0 && !o.audited);
    outcome_judge_files(&sim, what);
    sim_end(&sim);
}

/* ---- stopped ---- */

struct stopper {
    _Atomic int flag;
    unsigned ms;
};

static void *stop_later(void *argument)
{
    struct stopper *stopper = argument;
    struct timespec pause = {stopper->ms / 1000, (long)(stopper->ms % 1000 * NS_PER_MS)};
    nanosleep(&pause, NULL);
    atomic_store(&stopper->flag, SIGTERM);
    return NULL;
}

static void stopped_run_ends_in_order(void **state)
{
    (void)state;
    for (unsigned i = 1; i <= STOPS; i++) {
        struct sim sim;
        struct outcome o;
        pthread_t thread;
        char what[64];
        struct stopper stopper = {.ms = STOP_MS * i};
        snprintf(what, sizeof what, "flag after %u ms", stopper.ms);
        struct sim_options options = options_make(i % 2 ? "TRUE" : "FALSE", 60 * NS_PER_S);
        options.signal = &stopper.flag;
        sim_begin(&sim, &options);
        assert_int_equal(pthread_create(&thread, NULL, stop_later, &stopper), 0);
        sim_run(&sim);
        pthread_join(thread, NULL);
        outcome_take(&sim, &o);
        OUTCOME_CHECK(&sim, what, o.result == -EINTR && !o.audited);
        OUTCOME_CHECK(&sim, what, o.integrity == 0 && o.io_errors == 0);
        OUTCOME_CHECK(&sim, what, o.ledger.in_flight == 0 && o.ledger.indeterminate == 0);
        if (o.created)
            outcome_judge_files(&sim, what);
        else
            outcome_judge_not_created(&sim, what, &o);
        sim_end(&sim);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(run_write_through_is_clean),
        cmocka_unit_test(run_with_flushes_is_clean),
        cmocka_unit_test(failed_data_writes_are_repeated_write_through),
        cmocka_unit_test(failed_data_writes_are_repeated_with_flushes),
        cmocka_unit_test(a_failed_log_write_stops_the_database),
        cmocka_unit_test(stopped_run_ends_in_order),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
