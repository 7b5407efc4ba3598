/*
 * test_nth_backup.c - the n-th I/O of a run with backups and a restore fails, once and from there
 * on, for every n until no fault fires any more.
 *
 * Whatever fails: no integrity event from a single failure, a report, and what is left on the disk
 * passes the offline check; a backup that could not be written is incomplete and says so.
 */
#include "tests/fault/outcome.h"
#include "tests/scale.h"

#define MIB          (1024ull * 1024)
#define REQUESTS_MAX 400 /* more take too long: make the run smaller */
#define WHAT_MAX     160

static void small_run(struct sim *sim, bool write_through)
{
    struct sim_options options = {
        .duration_ns = 60 * NS_PER_MS,
        .data_bytes = 1 * MIB,
        .log_bytes = 1 * MIB,
        .pool_bytes = 32 * PAGE_BYTES,
        .with_faults = true,
        .backup_files = true,
        .settings = {{"CONFIG", "StopOnError", "FALSE"},
                     {"CONFIG", "WriteThrough", write_through ? "TRUE" : "FALSE"},
                     {"BackupUser", "UserCount", "1"},
                     {"BackupUser", "Keep", "1"},
                     {"BackupUser", "MaxTransferSize", "512K"},
                     {"BackupUser", "FullInterval", "1h"},
                     {"BackupUser", "LogInterval", "25ms"},
                     {"BackupUser", "Restore", "TRUE"},
                     {"RandomUser", "UserCount", "1"},
                     {"RandomUser", "MaxIOChainLength", "8"},
                     {"RandomUser", "MaxLogPerBuffer", "512"},
                     {"RandomUser", "SleepAfter", "20"},
                     {"AuditUser", "UserCount", "0"},
                     {"ReadAheadUser", "UserCount", "0"},
                     {"BulkUpdateUser", "UserCount", "0"},
                     {"CpuIdleUser", "UserCount", "0"}},
    };
    sim_begin(sim, &options);
}

static unsigned backups_left(const struct sim *sim)
{
    unsigned left = 0;
    for (unsigned i = 0; i < sim->plan.backup_count; i++)
        left += access(sim->plan.backups[i].path, F_OK) == 0;
    return left;
}

static void judge(struct sim *sim, const char *what, const struct outcome *o, bool sticky)
{
    bool read = false, write = false;
    for (unsigned i = 0; i < sim->faults->truth_count; i++) {
        read |= sim->faults->truth[i].op == IO_READ;
        write |= sim->faults->truth[i].op != IO_READ;
    }
    OUTCOME_CHECK(sim, what, o->ledger.in_flight == 0);
    OUTCOME_CHECK(sim, what, o->integrity == o->by_verdict[VERDICT_unreadable]);
    if (!sticky)
        OUTCOME_CHECK(sim, what, o->integrity == 0);
    if (!sticky && read)
        OUTCOME_CHECK(sim, what, o->by_verdict[VERDICT_read_retry] > 0 || o->result != 0);
    if (write)
        OUTCOME_CHECK(sim, what,
                      o->io_errors > 0 || o->result != 0 || o->by_verdict[VERDICT_unreadable]);
    if (!write)
        OUTCOME_CHECK(sim, what, o->io_errors == 0);
}

/* False when no fault fired: n was beyond the last I/O. */
static bool run_with_fault(unsigned n, bool sticky, bool write_through)
{
    struct sim sim;
    struct outcome o;
    char what[WHAT_MAX];
    snprintf(what, sizeof what, "EIO %s, WriteThrough %d, I/O %u",
             sticky ? "from there on" : "once", write_through, n);
    small_run(&sim, write_through);
    struct fault_rule rule = {
        .kind = FAULT_ERRNO, .any_op = true, .nth = n, .count = sticky ? UINT32_MAX : 1, .a = EIO};
    fault_add(sim.faults, &rule);
    alarm(OUTCOME_SECONDS_MAX);
    sim_run(&sim);
    alarm(0);
    outcome_take(&sim, &o);
    bool fired = sim.faults->truth_count > 0;
    if (o.created) {
        judge(&sim, what, &o, sticky);
        outcome_judge_files(&sim, what);
    } else {
        OUTCOME_CHECK(&sim, what, fired);
        outcome_judge_not_created(&sim, what, &o);
        OUTCOME_CHECK(&sim, what, backups_left(&sim) == 0);
    }
    sim_end(&sim);
    return fired;
}

static void every_io(bool sticky, bool write_through)
{
    unsigned n = 1;
    while (run_with_fault(n, sticky, write_through)) {
        n++;
        assert_true(n <= REQUESTS_MAX);
    }
    assert_true(n > 40); /* else it is no run */
}

static void each_io_fails_once(void **state)
{
    (void)state;
    every_io(false, true);
    every_io(false, false);
}

static void each_io_fails_from_there_on(void **state)
{
    (void)state;
    every_io(true, true);
    every_io(true, false);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(each_io_fails_once),
        cmocka_unit_test(each_io_fails_from_there_on),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
