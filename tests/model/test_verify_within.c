/*
 * test_verify_within.c - [AuditUser] VerifyWithin over the modelled device: by a trace of all
 * requests, each page is read back within the time after it was written, or written again before.
 */
#include "tests/model/traced.h"

#define DURATION_S 20
#define WITHIN_S   4
#define PAGES      2048 /* 16 MiB */

static const struct sim_setting load[] = {{"ReadAheadUser", "UserCount", "0"},
                                          {"BulkUpdateUser", "UserCount", "0"},
                                          {"CpuIdleUser", "UserCount", "0"},
                                          {"RandomUser", "UserCount", "16"},
                                          {"RandomUser", "RatePerSecond", "100"},
                                          {"RandomUser", "ReadsPerTransaction", "1"},
                                          {"RandomUser", "UpdatesPerTransaction", "1"},
                                          {"RandomUser", "RollbackChance", "0"},
                                          {"CONFIG", "TargetRecoveryTime", "1"},
                                          {NULL, NULL, NULL}};

static struct sim_options options_with(const char *users, const char *within)
{
    struct sim_options options = {.duration_ns = DURATION_S * NS_PER_S,
                                  .data_bytes = PAGES * PAGE_BYTES,
                                  .pool_bytes = 32 * MIB,
                                  .log_bytes = 64 * MIB,
                                  .workers = 1};
    unsigned n = 0;
    for (const struct sim_setting *s = load; s->section; s++)
        options.settings[n++] = *s;
    options.settings[n++] = (struct sim_setting){"AuditUser", "UserCount", users};
    options.settings[n++] = (struct sim_setting){"AuditUser", "VerifyWithin", within};
    return options;
}

static void run_with(struct sim *sim, const char *users, const char *within)
{
    struct sim_options options = options_with(users, within);
    sim_begin(sim, &options);
    traced_execute(sim);
}

/* The longest time for which a page stood on the device unread, of what was written in the main
 * part: until it was read, or the main part ended; one that is written again begins anew. */
static uint64_t longest_unread_ns(const struct sim *sim)
{
    static uint64_t written_ns[PAGES];
    uint64_t longest_ns = 0, end_ns = sim->run->phases[PHASE_stress].end_ns;
    memset(written_ns, 0, sizeof written_ns);
    for (unsigned i = 0; i < trace.count; i++) {
        const struct traced_io *io = &trace.list[i];
        if (io->phase != PHASE_stress || io->is_log || io->op == IO_FLUSH)
            continue;
        for (uint64_t page = io->offset / PAGE_BYTES;
             page < (io->offset + io->bytes) / PAGE_BYTES && page < PAGES; page++) {
            bool read = io->op == IO_READ && written_ns[page] > 0;
            uint64_t age_ns = read ? io->when_ns - written_ns[page] : 0;
            longest_ns = age_ns > longest_ns ? age_ns : longest_ns;
            written_ns[page] = io->op == IO_WRITE ? io->when_ns : 0;
        }
    }
    for (unsigned page = 0; page < PAGES; page++) {
        uint64_t age_ns = written_ns[page] ? end_ns - written_ns[page] : 0;
        longest_ns = age_ns > longest_ns ? age_ns : longest_ns;
    }
    return longest_ns;
}

/* What the run says of it, over all files. */
static uint64_t late_checks(const struct sim *sim)
{
    struct coverage_sums sums = {.late_checks = 0};
    for (unsigned i = 0; i < sim->run->file_count; i++)
        coverage_add(&sim->run->files[i]->coverage, &sums);
    return sums.late_checks;
}

static void every_page_is_read_back_in_time(void **state)
{
    const char *users[] = {"1", "3"};
    (void)state;
    for (unsigned i = 0; i < 2; i++) {
        struct sim sim;
        run_with(&sim, users[i], "4");
        uint64_t longest_ns = longest_unread_ns(&sim);
        assert_true(longest_ns > 0);
        assert_true(longest_ns <= WITHIN_S * NS_PER_S);
        assert_int_equal(late_checks(&sim), 0);
        sim_end(&sim);
    }
}

/* What was read back is left alone: about one audit read for each page written, none of the files
 * over and over (2,048 pages, ten rounds: 20,480). */
static void pages_that_were_read_back_are_not_read_again(void **state)
{
    struct sim sim;
    uint64_t written = 0, read = 0;
    (void)state;
    run_with(&sim, "1", "4");
    for (unsigned i = 0; i < trace.count; i++) {
        const struct traced_io *io = &trace.list[i];
        if (io->phase != PHASE_stress || io->is_log)
            continue;
        written += io->op == IO_WRITE ? io->bytes / PAGE_BYTES : 0;
        read += io->stream == STREAM_audit_read ? io->bytes / PAGE_BYTES : 0;
    }
    /* between two pages of one request are at most 8 others, and 2,048 are unread at the start */
    assert_true(read > 0 && read <= (written + PAGES) * 9);
    sim_end(&sim);
}

/* A device that takes two seconds for a read: 32 of 64 pages take 64 s for what the first write
 * of every page brought. */
static void what_comes_too_late_is_counted(void **state)
{
    struct sim sim;
    struct sim_options options = options_with("1", "4");
    (void)state;
    options.device.read_ns = 2 * NS_PER_S;
    sim_begin(&sim, &options);
    traced_execute(&sim);
    assert_true(longest_unread_ns(&sim) > WITHIN_S * NS_PER_S);
    assert_true(late_checks(&sim) > 0);
    sim_end(&sim);
}

/* The control: without audit users pages stay unread. */
static void without_the_key_pages_wait_longer(void **state)
{
    struct sim sim;
    (void)state;
    run_with(&sim, "0", "0");
    assert_true(longest_unread_ns(&sim) > WITHIN_S * NS_PER_S);
    sim_end(&sim);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_page_is_read_back_in_time),
        cmocka_unit_test(what_comes_too_late_is_counted),
        cmocka_unit_test(pages_that_were_read_back_are_not_read_again),
        cmocka_unit_test(without_the_key_pages_wait_longer),
    };
    return cmocka_run_group_tests(tests, trace_begin, trace_end);
}
