/*
 * test_write_check.c - a bad page that is overwritten before anybody reads it: its evidence is
 * gone, unless VerifyBeforeOverwrite or ReadBack looks first.
 *
 * All pages stay in the pool, so that users never read the device; each of 32 pages is damaged by
 * its second write.
 */
#include "tests/model/traced.h"

#define PAGES       512 /* 4 MiB */
#define FIRST_PAGE  200
#define FAULT_PAGES 32
#define DATA_UID    1

static const struct sim_setting load[] = {{"CONFIG", "StopOnError", "FALSE"},
                                          {"CONFIG", "TargetRecoveryTime", "100ms"},
                                          {"CONFIG", "CacheHitRatio", "10000"},
                                          {"AuditUser", "UserCount", "0"},
                                          {"ReadAheadUser", "UserCount", "0"},
                                          {"BulkUpdateUser", "UserCount", "0"},
                                          {"CpuIdleUser", "UserCount", "0"},
                                          {"RandomUser", "UserCount", "32"},
                                          {"RandomUser", "SleepAfter", "0"},
                                          {"RandomUser", "MaxLogPerBuffer", "512"},
                                          {NULL, NULL, NULL}};

static struct sim_options options_with(const char *key, const char *value)
{
    struct sim_options options = {.duration_ns = NS_PER_S / 4,
                                  .data_bytes = PAGES * PAGE_BYTES,
                                  .pool_bytes = 8 * MIB,
                                  .log_bytes = 32 * MIB,
                                  .workers = 1};
    unsigned n = 0;
    for (const struct sim_setting *s = load; s->section; s++)
        options.settings[n++] = *s;
    if (key)
        options.settings[n++] = (struct sim_setting){"CONFIG", key, value};
    return options;
}

/* Findings of 32 damaged pages; every fault fires. */
static unsigned found_with(const char *key, const char *value)
{
    struct sim_options options = options_with(key, value);
    struct sim sim;
    options.with_faults = true;
    sim_begin(&sim, &options);
    for (uint64_t page = FIRST_PAGE; page < FIRST_PAGE + FAULT_PAGES; page++)
        fault_add(sim.faults, &(struct fault_rule){.kind = FAULT_FLIP,
                                                   .op = IO_WRITE,
                                                   .file_uid = DATA_UID,
                                                   .low = page * PAGE_BYTES,
                                                   .high = (page + 1) * PAGE_BYTES,
                                                   .nth = 2,
                                                   .a = 3000,
                                                   .b = 2});
    sim_run(&sim);
    assert_int_equal(sim.faults->truth_count, FAULT_PAGES);
    unsigned found = sim.run->findings.count;
    for (unsigned i = 0; i < found; i++)
        assert_int_equal(sim.run->findings.list[i].verdict, VERDICT_bit_flip);
    sim_end(&sim);
    return found;
}

static void a_bad_page_is_met_before_it_is_overwritten(void **state)
{
    (void)state;
    assert_int_equal(found_with("VerifyBeforeOverwrite", "TRUE"), FAULT_PAGES);
}

static void a_bad_page_is_met_right_after_its_write(void **state)
{
    (void)state;
    assert_int_equal(found_with("ReadBack", "immediate"), FAULT_PAGES);
}

static void without_either_it_is_healed_by_the_next_write(void **state)
{
    (void)state;
    assert_true(found_with(NULL, NULL) < FAULT_PAGES / 2);
}

/* ---- by a trace: which request comes after which ---- */

struct looks {
    unsigned writes;  /* of pages that had been written before */
    unsigned checked; /* of them, with a read since the write before */
};

/* Of pages that were written more than once in the whole run: is there a read between two writes?
 */
static struct looks reads_between_writes(void)
{
    static bool written[PAGES], read[PAGES];
    struct looks looks = {0, 0};
    memset(written, 0, sizeof written);
    memset(read, 0, sizeof read);
    for (unsigned i = 0; i < trace.count; i++) {
        const struct traced_io *io = &trace.list[i];
        if (io->is_log || io->op == IO_FLUSH || io->phase == PHASE_create)
            continue;
        for (uint64_t page = io->offset / PAGE_BYTES;
             page < (io->offset + io->bytes) / PAGE_BYTES && page < PAGES; page++) {
            read[page] |= io->op == IO_READ && io->stream == STREAM_check_read;
            if (io->op != IO_WRITE)
                continue;
            looks.writes += written[page];
            looks.checked += written[page] && read[page];
            written[page] = true;
            read[page] = false;
        }
    }
    return looks;
}

static struct looks looks_with(const char *key, const char *value)
{
    struct sim_options options = options_with(key, value);
    struct sim sim;
    sim_begin(&sim, &options);
    traced_execute(&sim);
    struct looks looks = reads_between_writes();
    assert_true(looks.writes > 1000);
    struct stats *stats = calloc(1, sizeof *stats);
    assert_non_null(stats);
    run_stats(sim.run, stats);
    /* the boot page, which was written when the database was made, and again */
    assert_true((stats->counters.overwritten_unread <= 1) == (key != NULL));
    free(stats);
    sim_end(&sim);
    return looks;
}

static void every_page_is_read_between_two_writes(void **state)
{
    struct looks looks = looks_with("VerifyBeforeOverwrite", "TRUE");
    (void)state;
    assert_int_equal(looks.checked, looks.writes);
    looks = looks_with("ReadBack", "immediate");
    assert_int_equal(looks.checked, looks.writes);
    looks = looks_with(NULL, NULL);
    assert_int_equal(looks.checked, 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_bad_page_is_met_before_it_is_overwritten),
        cmocka_unit_test(a_bad_page_is_met_right_after_its_write),
        cmocka_unit_test(without_either_it_is_healed_by_the_next_write),
        cmocka_unit_test(every_page_is_read_between_two_writes),
    };
    return cmocka_run_group_tests(tests, trace_begin, trace_end);
}
