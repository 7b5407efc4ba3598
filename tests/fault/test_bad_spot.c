/*
 * test_bad_spot.c - one place that fails for good, in a run that goes on (StopOnError=FALSE).
 *
 * A page that cannot be written is quarantined after three failed checkpoints, alone, although it
 * goes out in gather writes with its neighbours; a page that cannot be read is one finding. Without
 * its boot page a database cannot record a checkpoint and stops.
 */
#include <errno.h>

#include "tests/fault/outcome.h"

#define MIB       (1024ull * 1024)
#define DATA_PAGE 40
#define PFS_PAGE  1
#define WHAT_MAX  96

static void sim_with_rule(struct sim *sim, enum io_op op, uint32_t page_no,
                          const char *write_through, unsigned nth)
{
    struct sim_options options = {
        .duration_ns = 400 * NS_PER_MS,
        .data_bytes = 2 * MIB,
        .log_bytes = 1 * MIB,
        .pool_bytes = 64 * PAGE_BYTES,
        .workers = 2,
        .with_faults = true,
        .settings = {{"CONFIG", "StopOnError", "FALSE"},
                     {"CONFIG", "WriteThrough", write_through},
                     {"RandomUser", "UserCount", "4"},
                     {"RandomUser", "MaxIOChainLength", "16"},
                     {"RandomUser", "MaxLogPerBuffer", "1024"},
                     {"RandomUser", "JumpToNewRegionPercentage", "3000"},
                     {"AuditUser", "UserCount", "1"},
                     {"AuditUser", "AuditDelay", "40"}},
    };
    sim_begin(sim, &options);
    fault_add(sim->faults, &(struct fault_rule){.kind = FAULT_ERRNO,
                                                .op = op,
                                                .file_uid = 1,
                                                .low = (uint64_t)page_no * PAGE_BYTES,
                                                .high = ((uint64_t)page_no + 1) * PAGE_BYTES,
                                                .nth = nth,
                                                .count = UINT32_MAX,
                                                .a = EIO});
    alarm(OUTCOME_SECONDS_MAX);
    sim_run(sim);
    alarm(0);
}

static void judge_quarantined(struct sim *sim, const char *what, uint64_t integrity)
{
    struct outcome o;
    outcome_take(sim, &o);
    OUTCOME_CHECK(sim, what, o.created && o.result == 0 && o.audited && o.stop == RUN_GOING);
    OUTCOME_CHECK(sim, what, o.integrity == integrity);
    OUTCOME_CHECK(sim, what, o.ledger.quarantined == 1 && o.ledger.indeterminate == 0);
    OUTCOME_CHECK(sim, what, o.ledger.in_flight == 0);
    /* Every page but the bad one was read back, and that one may never have been acknowledged. */
    OUTCOME_CHECK(sim, what, o.ledger.seen + 1 >= o.ledger.written);
    outcome_judge_files(sim, what);
}

static void cannot_be_written(uint32_t page_no, unsigned nth)
{
    static const char *const write_through[] = {"TRUE", "FALSE"};
    for (unsigned i = 0; i < 2; i++) {
        struct sim sim;
        char what[WHAT_MAX];
        snprintf(what, sizeof what, "page %u cannot be written from write %u on, WriteThrough %s",
                 page_no, nth, write_through[i]);
        sim_with_rule(&sim, IO_WRITE, page_no, write_through[i], nth);
        OUTCOME_CHECK(&sim, what, outcome_finding(&sim, VERDICT_write_error, 1) != NULL);
        judge_quarantined(&sim, what, 0);
        sim_end(&sim);
    }
}

static void data_page_that_is_never_written_is_quarantined_alone(void **state)
{
    (void)state;
    cannot_be_written(DATA_PAGE, 1);
}

static void data_page_that_goes_bad_later_is_quarantined_alone(void **state)
{
    (void)state;
    cannot_be_written(DATA_PAGE, 2);
}

static void system_page_that_cannot_be_written_is_quarantined_alone(void **state)
{
    (void)state;
    cannot_be_written(PFS_PAGE, 1);
}

static void page_that_cannot_be_read_is_one_finding(void **state)
{
    (void)state;
    struct sim sim;
    const char *what = "a page cannot be read";
    sim_with_rule(&sim, IO_READ, DATA_PAGE, "TRUE", 1);
    const struct finding *finding = outcome_finding(&sim, VERDICT_unreadable, 1);
    OUTCOME_CHECK(&sim, what, finding && finding->page_no == DATA_PAGE && finding->error == EIO);
    judge_quarantined(&sim, what, 1);
    sim_end(&sim);
}

static void without_its_boot_page_the_database_stops(void **state)
{
    (void)state;
    struct sim sim;
    struct outcome o;
    const char *what = "the boot page cannot be written";
    sim_with_rule(&sim, IO_WRITE, BOOT_PAGE, "TRUE", 1);
    outcome_take(&sim, &o);
    OUTCOME_CHECK(&sim, what, o.created && o.stop == RUN_STOP_ERROR && o.log_failed && !o.audited);
    OUTCOME_CHECK(&sim, what, o.by_verdict[VERDICT_write_error] > 0 && o.integrity == 0);
    OUTCOME_CHECK(&sim, what, o.ledger.in_flight == 0);
    outcome_judge_files(&sim, what);
    sim_end(&sim);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(data_page_that_is_never_written_is_quarantined_alone),
        cmocka_unit_test(data_page_that_goes_bad_later_is_quarantined_alone),
        cmocka_unit_test(system_page_that_cannot_be_written_is_quarantined_alone),
        cmocka_unit_test(page_that_cannot_be_read_is_one_finding),
        cmocka_unit_test(without_its_boot_page_the_database_stops),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
