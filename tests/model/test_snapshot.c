/*
 * test_snapshot.c - what is in a snapshot is the data file of its moment, byte for byte, however
 * much is written meanwhile.
 *
 * The truth is kept by an engine between the run and the modelled device, which sees every byte
 * that goes by: what the data file holds (writes that completed), and, from the moment when a
 * snapshot begins, what it held then.  It knows nothing of pages, ledger or places.  Rules, for
 * each page of the data file that had been written before that moment:
 *   - no write of it is submitted before its copy is in the snapshot,
 *   - it is copied once, and the copy is the old image,
 *   - what DBCC reads of it, in the one file or in the other, is the old image, unless it was read
 *     in the data file and has been overwritten since the snapshot began.
 */
#include <inttypes.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "sim/snapshot.h"
#include "tests/scale.h"
#include "tests/sim_fixture.h"

#define SEEDS        6
#define DATA_UID     1
#define SNAPSHOT_UID 3
#define DATA_BYTES   (16ull << 20)
#define PAGES        (DATA_BYTES / PAGE_BYTES)
#define DEPTH        4096 /* nothing waits before the engine: what it sees is the order of events */
#define FLIGHTS_MAX  8192

/* A write of the data file that was submitted and has not completed. */
struct flight {
    struct io_req *req;
    uint64_t offset;
    bool before; /* the snapshot began */
};

static struct {
    const struct run *run;
    uint8_t *now, *then; /* the data file, and at the snapshot's moment */
    bool written[PAGES]; /* ever; of page 0 not through an engine */
    bool owed[PAGES];    /* had been written at that moment */
    bool copied[PAGES], copying[PAGES], overwritten[PAGES];
    struct flight flights[FLIGHTS_MAX];
    unsigned flight_count;
    bool active;
    uint64_t passes, copies, read_here, read_source;
    char fault[256]; /* the first broken rule */
} truth;

__attribute__((format(printf, 1, 2))) static void broken(const char *format, ...)
{
    va_list arguments;
    if (truth.fault[0])
        return;
    va_start(arguments, format);
    vsnprintf(truth.fault, sizeof truth.fault, format, arguments);
    va_end(arguments);
}

/* ---- the bytes of a request ---- */

typedef void (*page_visit)(uint32_t page_no, const uint8_t *bytes, bool before);

static void visit(const struct io_req *req, uint64_t offset, bool before, page_visit page)
{
    uint32_t page_no = (uint32_t)(offset / PAGE_BYTES);
    for (unsigned i = 0; i < req->iov_count; i++)
        for (size_t at = 0; at < req->iov[i].iov_len; at += PAGE_BYTES)
            page(page_no++, (const uint8_t *)req->iov[i].iov_base + at, before);
}

static uint8_t *at(uint8_t *image, uint32_t page_no)
{
    return image + (size_t)page_no * PAGE_BYTES;
}

static void data_written(uint32_t page_no, const uint8_t *bytes, bool before)
{
    memcpy(at(truth.now, page_no), bytes, PAGE_BYTES);
    truth.written[page_no] = true;
    if (truth.active && before) {
        memcpy(at(truth.then, page_no), bytes, PAGE_BYTES);
        truth.owed[page_no] = true;
    }
}

static void data_write_submitted(uint32_t page_no, const uint8_t *bytes, bool before)
{
    (void)bytes;
    (void)before;
    if (truth.active && page_no && truth.owed[page_no] && !truth.copied[page_no])
        broken("page %" PRIu32 " is overwritten before it was copied", page_no);
    truth.overwritten[page_no] = true;
}

static void copy_submitted(uint32_t page_no, const uint8_t *bytes, bool before)
{
    (void)before;
    if (!truth.owed[page_no]) /* it may have ended: a gather that was kept back is still served */
        broken("page %" PRIu32 " is copied, which was not owed", page_no);
    if (truth.copying[page_no])
        broken("page %" PRIu32 " is copied twice", page_no);
    if (memcmp(bytes, at(truth.then, page_no), PAGE_BYTES) != 0)
        broken("the copy of page %" PRIu32 " is not the old image", page_no);
    truth.copying[page_no] = true;
    truth.copies++;
}

static void copy_written(uint32_t page_no, const uint8_t *bytes, bool before)
{
    (void)bytes;
    (void)before;
    truth.copied[page_no] = true;
}

static void read_here(uint32_t page_no, const uint8_t *bytes, bool before)
{
    (void)before;
    truth.read_here++;
    if (memcmp(bytes, at(truth.then, page_no), PAGE_BYTES) != 0)
        broken("page %" PRIu32 " of the snapshot is not the old image", page_no);
}

static void read_source(uint32_t page_no, const uint8_t *bytes, bool before)
{
    (void)before;
    truth.read_source++;
    if (page_no && truth.owed[page_no] && !truth.overwritten[page_no] &&
        memcmp(bytes, at(truth.then, page_no), PAGE_BYTES) != 0)
        broken("page %" PRIu32 " of the data file is not the old image", page_no);
}

/* A read of it in the data file may show either image. */
static void in_flight_then(uint32_t page_no, const uint8_t *bytes, bool before)
{
    (void)bytes;
    (void)before;
    truth.overwritten[page_no] = true;
}

/* ---- the moment ---- */

static void look_at_the_moment(void)
{
    const struct run *run = truth.run;
    bool active =
        run->snapshots && run->snapshots->count && atomic_load(&run->snapshots->list[0].active);
    if (active && !truth.active) {
        memcpy(truth.then, truth.now, DATA_BYTES);
        memcpy(truth.owed, truth.written, sizeof truth.owed);
        memset(truth.copied, 0, sizeof truth.copied);
        memset(truth.copying, 0, sizeof truth.copying);
        memset(truth.overwritten, 0, sizeof truth.overwritten);
        for (unsigned i = 0; i < truth.flight_count; i++) {
            truth.flights[i].before = true;
            visit(truth.flights[i].req, truth.flights[i].offset, false, in_flight_then);
        }
        truth.passes++;
    }
    truth.active = active;
}

static void submitted(struct io_req *req)
{
    if (req->op == IO_WRITE && req->target->uid == SNAPSHOT_UID)
        visit(req, req->offset, false, copy_submitted);
    if (req->op != IO_WRITE || req->target->uid != DATA_UID)
        return;
    visit(req, req->offset, false, data_write_submitted);
    assert_true(truth.flight_count < FLIGHTS_MAX);
    truth.flights[truth.flight_count++] = (struct flight){req, req->offset, false};
}

static void data_write_completed(struct io_req *req)
{
    unsigned i = 0;
    while (i < truth.flight_count && truth.flights[i].req != req)
        i++;
    assert_true(i < truth.flight_count);
    struct flight flight = truth.flights[i];
    truth.flights[i] = truth.flights[--truth.flight_count];
    visit(req, flight.offset, flight.before, data_written);
}

static void completed(struct io_req *req)
{
    uint16_t uid = req->target->uid;
    if (req->op == IO_WRITE && uid == DATA_UID)
        data_write_completed(req);
    else if (req->op == IO_WRITE && uid == SNAPSHOT_UID)
        visit(req, req->offset, false, copy_written);
    else if (req->op == IO_READ && req->stream == STREAM_dbcc_read)
        visit(req, req->offset, false, uid == SNAPSHOT_UID ? read_here : read_source);
}

/* ---- the engine ---- */

static struct io_engine_ops spy; /* the modelled device's, but for these */

static int spy_create(struct io_engine **out, const struct io_engine_config *config)
{
    int error = engine_mem.create(out, config);
    if (!error)
        (*out)->ops = &spy;
    return error;
}

static int spy_submit(struct io_engine *engine, struct io_req *req)
{
    look_at_the_moment();
    int error = engine_mem.submit(engine, req);
    if (!error)
        submitted(req);
    return error;
}

static int spy_reap(struct io_engine *engine, unsigned min, uint64_t deadline_ns,
                    struct io_req **list)
{
    look_at_the_moment();
    int count = engine_mem.reap(engine, min, deadline_ns, list);
    for (struct io_req *req = *list; count > 0 && req; req = req->next)
        completed(req);
    return count;
}

/* ---- runs ---- */

static void truth_begin(void)
{
    memset(&truth, 0, sizeof truth);
    truth.now = calloc(1, DATA_BYTES);
    truth.then = calloc(1, DATA_BYTES);
    assert_true(truth.now && truth.then);
}

static void one_seed(uint64_t seed)
{
    struct sim sim;
    struct sim_options options = {
        .seed = seed,
        .duration_ns = NS_PER_S,
        .data_bytes = DATA_BYTES,
        .pool_bytes = seed % 3 ? 4ull << 20 : 1ull << 20,
        .workers = 1 + (unsigned)(seed % 3),
        .with_faults = true,
        .device = {.channels = 1 + (unsigned)(seed % 4) * 4},
        .settings = {{"CONFIG", "UseScatterGather", seed % 5 ? "TRUE" : "FALSE"},
                     {"CONFIG", "CheckpointInterval", "1"},
                     {"RandomUser", "UserCount", "6"},
                     {"RandomUser", "JumpToNewRegionPercentage", "3000"},
                     {"BulkUpdateUser", "UserCount", seed % 2 ? "2" : "0"},
                     {"DbccUser", "UserCount", "2"},
                     {"DbccUser", "Outstanding", seed % 2 ? "1" : "8"},
                     {"DbccUser", "ReadPages", seed % 4 ? "16" : "64"}},
    };
    spy = engine_mem;
    spy.create = spy_create;
    spy.submit = spy_submit;
    spy.reap = spy_reap;
    truth_begin();
    sim_begin(&sim, &options);
    sim.faults->below = &spy;
    sim.plan.queue_depth = DEPTH;
    struct run run_placeholder = {0};
    truth.run = &run_placeholder;
    sim_create(&sim);
    assert_int_equal(sim.result, 0);
    truth.run = sim.run;
    assert_int_equal(run_execute(sim.run), 0);
    if (truth.fault[0] || sim.run->findings.count)
        sim_print_findings(&sim);
    if (truth.fault[0])
        fail_msg("seed %" PRIu64 ": %s", seed, truth.fault);
    assert_int_equal(sim.run->findings.count, 0);
    assert_true(truth.passes > 0 && truth.read_source > 0);
    truth.run = &run_placeholder;
    sim_end(&sim);
    free(truth.now);
    free(truth.then);
}

static void a_snapshot_is_the_file_of_its_moment(void **state)
{
    (void)state;
    unsigned long seeds = test_scaled(SEEDS);
    uint64_t copies = 0, read_here_sum = 0;
    for (uint64_t seed = 1; seed <= seeds; seed++) {
        one_seed(seed);
        copies += truth.copies;
        read_here_sum += truth.read_here;
    }
    print_message("%lu seeds: %" PRIu64 " pages copied, %" PRIu64 " read in the snapshot\n", seeds,
                  copies, read_here_sum);
    assert_true(seeds < SEEDS || (copies > 0 && read_here_sum > 0));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_snapshot_is_the_file_of_its_moment),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
