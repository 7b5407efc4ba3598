/*
 * test_nth_actors.c - the n-th I/O of a run in which files grow and shrink, a CHECKDB keeps its
 * snapshots, an index is rebuilt and the log grows, fails once or from there on.
 *
 * Whatever fails: no integrity event from a single failure, an ending in order, and what is left on
 * the disk passes the offline check.  Every n below HEAD, where files and snapshots are made, then
 * every STRIDE-th, from a phase that the seed draws, until no fault fires any more.
 */
#include <sys/random.h>

#include "tests/fault/outcome.h"
#include "tests/scale.h"

#define MIB          (1024ull * 1024)
#define HEAD         30
#define STRIDE       61
#define REQUESTS_MAX 20000 /* more take too long: make the run smaller */
#define WHAT_MAX     160

struct nth_case {
    const char *name;
    enum fault_kind kind;
    int64_t a;
    bool sticky, write_through;
};

static void small_run(struct sim *sim, const struct nth_case *c)
{
    struct sim_options options = {
        .duration_ns = 60 * NS_PER_MS,
        .data_bytes = 1 * MIB,
        .log_bytes = 4 * MIB,
        .log_max_bytes = 6 * MIB,
        .log_increment = MIB / 2,
        .pool_bytes = 64 * PAGE_BYTES,
        .with_faults = true,
        .settings = {{"CONFIG", "StopOnError", "FALSE"},
                     {"CONFIG", "WriteThrough", c->write_through ? "TRUE" : "FALSE"},
                     {"CONFIG", "StampFiles", c->write_through ? "TRUE" : "FALSE"},
                     {"ShrinkUser", "MinShrinkInterval", "0"},
                     {"ShrinkUser", "MaxShrinkInterval", "5ms"},
                     {"ShrinkUser", "MaxExtends", "4"},
                     {"DbccUser", "UserCount", "1"},
                     {"DbccUser", "ReadPages", "16"},
                     {"DbccUser", "Outstanding", "2"},
                     {"DbccUser", "Interval", "10ms"},
                     {"IndexRebuildUser", "UserCount", "1"},
                     {"IndexRebuildUser", "Pages", "16"},
                     {"IndexRebuildUser", "MinimallyLogged", c->write_through ? "FALSE" : "TRUE"},
                     {"IndexRebuildUser", "Interval", "10ms"},
                     {"BulkUpdateUser", "UserCount", "1"},
                     {"BulkUpdateUser", "NewExtents", "TRUE"},
                     {"BulkUpdateUser", "BuffersBUMin", "16"},
                     {"BulkUpdateUser", "BuffersBUMax", "16"},
                     {"RandomUser", "UserCount", "2"},
                     {"RandomUser", "MaxIOChainLength", "8"},
                     {"RandomUser", "MaxLogPerBuffer", "1024"},
                     {"RandomUser", "LoggedRollbackChance", "3000"},
                     {"RandomUser", "SleepAfter", "2"},
                     {"AuditUser", "UserCount", "0"},
                     {"ReadAheadUser", "UserCount", "0"},
                     {"CpuIdleUser", "UserCount", "0"}},
    };
    sim_begin(sim, &options);
    for (unsigned i = 0; i < sim->plan.file_count; i++) {
        struct plan_file *file = &sim->plan.files[i];
        if (file->is_log)
            continue;
        file->max_bytes = 3 * file->size_bytes;
        file->increment_bytes = MIB / 4;
        file->shrinkable = true;
    }
}

/* Reads that stay failing make acknowledged data unreadable; nothing else is an integrity event. */
static void judge(struct sim *sim, const char *what, const struct outcome *o, bool sticky)
{
    OUTCOME_CHECK(sim, what, o->ledger.in_flight == 0);
    OUTCOME_CHECK(sim, what, o->integrity == o->by_verdict[VERDICT_unreadable]);
    if (!sticky)
        OUTCOME_CHECK(sim, what, o->integrity == 0);
}

/* False when no fault fired: n was beyond the last I/O. */
static bool run_with_fault(const struct nth_case *c, unsigned n)
{
    struct sim sim;
    struct outcome o;
    char what[WHAT_MAX];
    snprintf(what, sizeof what, "%s, WriteThrough %d, I/O %u", c->name, c->write_through, n);
    small_run(&sim, c);
    struct fault_rule rule = {
        .kind = c->kind, .any_op = true, .nth = n, .count = c->sticky ? UINT32_MAX : 1, .a = c->a};
    fault_add(sim.faults, &rule);
    alarm(OUTCOME_SECONDS_MAX);
    sim_run(&sim);
    alarm(0);
    outcome_take(&sim, &o);
    bool fired = sim.faults->truth_count > 0;
    if (o.created) {
        judge(&sim, what, &o, c->sticky);
        if (!fired)
            OUTCOME_CHECK(&sim, what, o.audited && sim.run->findings.count == 0);
        outcome_judge_files(&sim, what);
    } else {
        OUTCOME_CHECK(&sim, what, fired);
        outcome_judge_not_created(&sim, what, &o);
    }
    sim_end(&sim);
    return fired;
}

static void sweep(const struct nth_case *c)
{
    const char *only = getenv("TEST_NTH");
    unsigned phase, n;
    if (only) {
        run_with_fault(c, (unsigned)strtoul(only, NULL, 10));
        return;
    }
    assert_int_equal(getrandom(&phase, sizeof phase, 0), sizeof phase);
    phase %= STRIDE;
    print_message("%s, WriteThrough %d: from I/O %u\n", c->name, c->write_through, HEAD + phase);
    for (n = 1; n < HEAD; n++)
        assert_true(run_with_fault(c, n));
    for (n = HEAD + phase; run_with_fault(c, n); n += STRIDE)
        assert_true(n <= REQUESTS_MAX);
    assert_true(n > 5 * STRIDE); /* else it is no run */
}

static void each_io_fails_once(void **state)
{
    (void)state;
    sweep(&(struct nth_case){"EIO once", FAULT_ERRNO, EIO, false, true});
    sweep(&(struct nth_case){"EIO once", FAULT_ERRNO, EIO, false, false});
}

static void each_io_fails_from_there_on(void **state)
{
    (void)state;
    sweep(&(struct nth_case){"EIO from there on", FAULT_ERRNO, EIO, true, true});
    sweep(&(struct nth_case){"EIO from there on", FAULT_ERRNO, EIO, true, false});
}

static void the_disk_is_full_from_an_io_on(void **state)
{
    (void)state;
    sweep(&(struct nth_case){"ENOSPC from there on", FAULT_ERRNO, ENOSPC, true, true});
    sweep(&(struct nth_case){"ENOSPC once", FAULT_ERRNO, ENOSPC, false, false});
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(each_io_fails_once),
        cmocka_unit_test(each_io_fails_from_there_on),
        cmocka_unit_test(the_disk_is_full_from_an_io_on),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
