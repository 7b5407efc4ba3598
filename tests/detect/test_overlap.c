/*
 * test_overlap.c - reads against writes that are under way, on a real file system with threads: no
 * false finding, and none that gets lost.
 *
 * Auditors without a pause read a small file while users without a pause change it, and a pool that
 * is a fraction of it makes checkpoints follow one another.  The files stand in the current folder:
 * in a build that is a disk, while the fixture's usual place is memory.
 */
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>
#include <inttypes.h>
#include <string.h>
#include <cmocka.h>

#include "sim/page_read.h"
#include "tests/scale.h"
#include "tests/sim_fixture.h"

#define MIB          (1024ull * 1024)
#define VERIFIED     100000 /* page verifications, at scale 1; ten times as many with --long */
#define RUNS_MAX     1000   /* ends a test that cannot reach them: the slowest disk verifies more */
#define VICTIM_PAGE  100
#define GARBAGE_BYTE 0xAB

struct tally {
    uint64_t verified, overlapped, findings, runs;
};

/* One run of a second or so; what it counted is added. */
static void run_once(struct tally *tally, const char *write_through)
{
    struct sim_options options = {
        .seed = 1 + tally->runs,
        .duration_ns = NS_PER_S,
        .data_bytes = 8 * MIB,
        .log_bytes = 16 * MIB,
        .pool_bytes = 4 * MIB,
        .real_clock = true,
        .directory = ".",
        .settings =
            {
                {"CONFIG", "WriteThrough", write_through},
                {"CONFIG", "CheckpointInterval", "1"},
                {"CONFIG", "StopOnError", "FALSE"},
                {"RandomUser", "UserCount", "32"},
                {"RandomUser", "SleepAfter", "0"},
                {"RandomUser", "MaxIOChainLength", "32"},
                {"AuditUser", "UserCount", "6"},
                {"AuditUser", "AuditDelay", "0"},
                {"AuditUser", "DelayAfterCycles", "1"},
                {"AuditUser", "BuffersValidated", "64"},
            },
    };
    struct sim sim;
    struct stats *stats = calloc(1, sizeof *stats);
    assert_non_null(stats);
    sim_begin(&sim, &options);
    sim_run(&sim);
    if (sim.result || sim.run->findings.count)
        sim_print_findings(&sim);
    assert_int_equal(sim.result, 0);
    run_stats(sim.run, stats);
    tally->verified += stats->counters.pages_verified;
    tally->overlapped += stats->counters.overlapped_reads;
    tally->findings += sim.run->findings.count;
    tally->runs++;
    sim_end(&sim);
    free(stats);
}

static void overlap_at_full_speed(const char *write_through)
{
    struct tally tally = {0};
    const uint64_t wanted = test_scaled(VERIFIED);
    while (tally.verified < wanted && !tally.findings && tally.runs < RUNS_MAX)
        run_once(&tally, write_through);
    print_message("WriteThrough=%s: %" PRIu64 " runs, %" PRIu64 " pages verified, %" PRIu64
                  " reads overlapped\n",
                  write_through, tally.runs, tally.verified, tally.overlapped);
    assert_int_equal(tally.findings, 0);
    assert_true(tally.verified >= wanted);
    assert_true(tally.overlapped > 0); /* else nothing of this was tested */
}

static void no_false_finding_when_reads_overlap_write_through(void **state)
{
    (void)state;
    overlap_at_full_speed("TRUE");
}

static void no_false_finding_when_reads_overlap_cached_writes(void **state)
{
    (void)state;
    overlap_at_full_speed("FALSE");
}

/* ---- the other way: what a read has proved survives a write that overlaps its repetition ---- */

static enum task_result do_nothing(struct task *task)
{
    (void)task;
    return TASK_PARK;
}

static void settle_read(struct sim *sim, const struct page_reader *reader)
{
    struct worker *worker = &sim->run->workers[0];
    while (reader->in_flight)
        if (!worker_step(worker))
            io_poll(&worker->io, 1, UINT64_MAX);
}

/* A page that was acknowledged as generation 1 was read as garbage while it was quiet. */
static void read_garbage(struct sim *sim, struct page_reader *reader, uint8_t *image)
{
    struct ledger *ledger = sim->run->ledger;
    struct data_file *file = sim->run->files[0];
    uint16_t uid = file->file.mark.file_uid;
    ledger_begin(ledger, uid, VICTIM_PAGE, 1);
    ledger_ack(ledger, uid, VICTIM_PAGE, true, 0, 0);
    memset(image, GARBAGE_BYTE, PAGE_BYTES);
    struct ledger_view before = ledger_view(ledger, uid, VICTIM_PAGE);
    assert_int_equal(page_judge(reader, file, VICTIM_PAGE, image, before), PAGE_JUDGED_WRONG);
    page_read_continue(reader, file, VICTIM_PAGE, image, STREAM_audit_read, 1, before, 0);
}

static void a_wrong_read_is_told_when_a_write_overlaps_its_repetition(void **state)
{
    (void)state;
    struct sim_options options = {.settings = {{"CONFIG", "StopOnError", "FALSE"}}};
    struct sim sim;
    struct task task;
    struct page_reader reader;
    sim_begin(&sim, &options);
    sim_create(&sim);
    assert_int_equal(sim.result, 0);
    uint8_t *image = aligned_alloc(4096, PAGE_BYTES);
    assert_non_null(image);
    task_init(&task, &sim.run->workers[0], do_nothing);
    assert_int_equal(page_reader_init(&reader, sim.run, &task, "test"), 0);
    read_garbage(&sim, &reader, image);
    ledger_begin(sim.run->ledger, sim.run->files[0]->file.mark.file_uid, VICTIM_PAGE, 2);
    settle_read(&sim, &reader);
    assert_int_equal(page_read_step(&reader), PAGE_READ_OVERLAPPED);
    assert_int_equal(findings_count(&sim.run->findings, SEVERITY_INTEGRITY), 1);
    assert_int_equal(sim.run->findings.list[0].page_no, VICTIM_PAGE);
    page_reader_free(&reader);
    free(image);
    sim_end(&sim);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(no_false_finding_when_reads_overlap_write_through),
        cmocka_unit_test(no_false_finding_when_reads_overlap_cached_writes),
        cmocka_unit_test(a_wrong_read_is_told_when_a_write_overlaps_its_repetition),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
