/*
 * test_forced_flush.c - the durability modes of SQL Server on Linux over the modelled device, as
 * the engine sees them: who flushes what, when.
 */
#include <errno.h>

#include "tests/model/traced.h"

#define BOOT_OFFSET (9 * PAGE_BYTES)

static void run_with(struct sim *sim, const char *through, const char *alternate,
                     const char *forced)
{
    struct sim_options options = {.duration_ns = NS_PER_S / 2,
                                  .data_bytes = 4 * MIB,
                                  .log_bytes = 2 * MIB,
                                  .pool_bytes = 1 * MIB,
                                  .workers = 1,
                                  .settings = {{"CONFIG", "WriteThrough", through},
                                               {"CONFIG", "AlternateWriteThrough", alternate},
                                               {"RandomUser", "UserCount", "4"},
                                               {"RandomUser", "MaxLogPerBuffer", "512"},
                                               {"BulkUpdateUser", "UserCount", "0"},
                                               {"CONFIG", "ForcedFlush", forced}}};
    if (!forced)
        options.settings[5] = (struct sim_setting){NULL, NULL, NULL};
    sim_begin(sim, &options);
    traced_execute(sim);
}

static unsigned flushes(bool of_log)
{
    unsigned count = 0;
    for (unsigned i = 0; i < trace.count; i++)
        count += trace.list[i].op == IO_FLUSH && trace.list[i].is_log == of_log;
    return count;
}

/* Is the file flushed after this? */
static bool is_flushed_after(unsigned index)
{
    for (unsigned i = index + 1; i < trace.count; i++)
        if (trace.list[i].is_log == trace.list[index].is_log && trace.list[i].op == IO_FLUSH)
            return true;
    return false;
}

/* The last thing that is done to a file that was written. */
static enum io_op last_op(bool of_log)
{
    enum io_op op = IO_READ;
    for (unsigned i = 0; i < trace.count; i++)
        if (trace.list[i].is_log == of_log && trace.list[i].op != IO_READ)
            op = trace.list[i].op;
    return op;
}

/* FUA mode: 3979, writethrough 1, alternatewritethrough 0. */
static void write_through_alone_flushes_nothing(void **state)
{
    (void)state;
    struct sim sim;
    run_with(&sim, "TRUE", "FALSE", "FALSE");
    assert_int_equal(flushes(true), 0);
    assert_int_equal(flushes(false), 0);
    assert_true(sim.run->databases[0].logs[0].target.dsync);
    sim_end(&sim);
}

/* 3982 beside write-through: a flush behind the log writes, one on each side of a boot page. */
static void forced_flush_flushes_the_log_and_each_checkpoint(void **state)
{
    (void)state;
    struct sim sim;
    unsigned boots = 0;
    run_with(&sim, "TRUE", "FALSE", "TRUE");
    assert_true(sim.run->databases[0].logs[0].target.dsync);
    assert_true(flushes(true) > 20);
    assert_int_equal(last_op(true), IO_FLUSH);
    for (unsigned i = 0; i < trace.count; i++) {
        const struct traced_io *io = &trace.list[i];
        if (io->is_log || io->op != IO_WRITE || io->stream != STREAM_checkpoint_write ||
            io->offset != BOOT_OFFSET || io->bytes != PAGE_BYTES)
            continue;
        boots++;
        assert_true(is_flushed_after(i));
    }
    assert_true(boots >= 3);
    assert_int_equal(flushes(false), 2 * boots);
    sim_end(&sim);
}

/* writethrough 0: the same flushes are all there is. */
static void without_write_through_the_flushes_are_the_same(void **state)
{
    (void)state;
    struct sim sim;
    run_with(&sim, "FALSE", "FALSE", NULL);
    assert_false(sim.run->databases[0].logs[0].target.dsync);
    assert_true(flushes(true) > 20 && flushes(false) >= 6);
    assert_int_equal(last_op(true), IO_FLUSH);
    sim_end(&sim);
}

/* The default of SQL Server on Linux: 3982, writethrough 1, alternatewritethrough 1. */
static void alternate_write_through_flushes_every_write_once(void **state)
{
    (void)state;
    struct sim sim;
    run_with(&sim, "TRUE", "TRUE", "FALSE");
    unsigned log = flushes(true), data = flushes(false);
    sim_end(&sim);
    assert_true(log > 20 && data > 20);
    run_with(&sim, "TRUE", "TRUE", "TRUE");
    assert_int_equal(flushes(true), log);
    assert_int_equal(flushes(false), data);
    sim_end(&sim);
}

/* A flush that fails is found, though each write was durable before it. */
static void a_forced_flush_that_fails_is_found(void **state)
{
    (void)state;
    struct sim sim;
    struct sim_options options = {
        .duration_ns = NS_PER_S / 2,
        .with_faults = true,
        .settings = {{"CONFIG", "ForcedFlush", "TRUE"}, {"RandomUser", "UserCount", "4"}}};
    sim_begin(&sim, &options);
    fault_add(sim.faults,
              &(struct fault_rule){.kind = FAULT_ERRNO, .op = IO_FLUSH, .nth = 5, .a = EIO});
    sim_run(&sim);
    assert_int_equal(sim.run->findings.by_verdict[VERDICT_flush_error], 1);
    assert_int_equal(sim.run->findings.count, 1);
    sim_end(&sim);
}

/* Nothing would make a commit durable: refused, with the remedy. */
static void no_durability_at_all_is_refused(void **state)
{
    (void)state;
    struct profile *profile = profile_create(NULL, 0);
    struct opt_where where = {.source = "run.ini", .line = 3};
    assert_int_equal(profile_set(profile, "CONFIG", "WriteThrough", "FALSE", where), 0);
    assert_int_equal(profile_set(profile, "CONFIG", "ForcedFlush", "FALSE", where), 0);
    assert_int_not_equal(profile_finish(profile), 0);
    assert_int_equal(profile_error_count(profile), 1);
    assert_non_null(strstr(profile_diag_at(profile, 0)->text, "set WriteThrough"));
    profile_free(profile);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(write_through_alone_flushes_nothing),
        cmocka_unit_test(forced_flush_flushes_the_log_and_each_checkpoint),
        cmocka_unit_test(without_write_through_the_flushes_are_the_same),
        cmocka_unit_test(alternate_write_through_flushes_every_write_once),
        cmocka_unit_test(a_forced_flush_that_fails_is_found),
        cmocka_unit_test(no_durability_at_all_is_refused),
    };
    return cmocka_run_group_tests(tests, trace_begin, trace_end);
}
