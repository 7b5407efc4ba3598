/* The write-ahead log over the modelled device: order, group commit, reuse, space, failure. */
#include "tests/core_fixture.h"

#include "patterns/rng.h"
#include "sim/wal_space.h"
#include "tests/scale.h"

#define DELAY_NS    (50 * (int64_t)NS_PER_MS)
#define SHORT_NS    (10 * NS_PER_MS) /* any undelayed write is over by then, no delayed one */
#define SMALL_BYTES 16
#define BIG_BYTES   59000 /* a block of its own */

static void begin(struct core *core)
{
    struct sim_options options = {.log_bytes = 8 * CORE_MIB,
                                  .settings = {{"CONFIG", "SectorSize", "512"}}};
    core_begin(core, &options);
}

static void begin_with_flushes(struct core *core)
{
    struct sim_options options = {
        .settings = {{"CONFIG", "SectorSize", "512"}, {"CONFIG", "WriteThrough", "FALSE"}}};
    core_begin(core, &options);
}

/* Fault rules count from when they are added; the log's first header is behind us then. */
static void header_written(struct core *core)
{
    core_settle(core);
}

static void delay_log_write(struct core *core, unsigned nth)
{
    core_fault(core, (struct fault_rule){.kind = FAULT_DELAY,
                                         .op = IO_WRITE,
                                         .file_uid = CORE_LOG_UID,
                                         .nth = nth,
                                         .a = DELAY_NS});
}

/* Append a system record and wait for it. */
static uint64_t commit(struct core *core, struct probe *probe, size_t payload_bytes)
{
    probe_init(probe, core->worker);
    uint64_t position = core_append(core, NULL, payload_bytes, &probe->task);
    assert_false(wal_wait_durable(core->wal, position, &probe->waiter, &probe->task));
    return position;
}

/* Like commit(), and let the log writer take it as a block of its own. */
static uint64_t commit_block(struct core *core, struct probe *probe)
{
    uint64_t position = commit(core, probe, SMALL_BYTES);
    while (worker_step(core->worker))
        ;
    return position;
}

/* ---- order ---- */

static void a_commit_waits_for_every_earlier_block(void **state)
{
    (void)state;
    struct core core;
    struct probe first, second;
    begin(&core);
    header_written(&core);
    delay_log_write(&core, 1);
    uint64_t first_position = commit_block(&core, &first);
    uint64_t second_position = commit_block(&core, &second);
    assert_true(second_position > first_position); /* two blocks */
    core_pass(&core, SHORT_NS);
    /* the second block's write is over, the first one's is not */
    assert_int_equal(core.wal->outstanding, 1);
    assert_int_equal(core.wal->first->state, LOG_BUFFER_WRITING);
    assert_int_equal(core.wal->first->next->state, LOG_BUFFER_WRITTEN);
    assert_false(wal_is_durable(core.wal, first_position));
    assert_false(wal_is_durable(core.wal, second_position));
    assert_int_equal(first.turns + second.turns, 0);
    core_settle(&core);
    assert_true(wal_is_durable(core.wal, second_position));
    assert_int_equal(first.turns, 1);
    assert_int_equal(second.turns, 1);
    core_end(&core);
}

static void the_ledger_learns_the_durable_end(void **state)
{
    (void)state;
    struct core core;
    struct probe probe;
    begin(&core);
    commit(&core, &probe, SMALL_BYTES);
    core_settle(&core);
    struct ledger_file *row = ledger_file_at(core.run->ledger, CORE_LOG_UID);
    assert_int_equal(atomic_load(&row->log_durable_position), atomic_load(&core.wal->durable_end));
    assert_int_equal(atomic_load(&row->log_durable_crc), core.wal->chain_crc);
    /* one block of one sector behind the VLF header of 16 */
    assert_int_equal(atomic_load(&core.wal->durable_end),
                     (uint64_t)run_first_fseq(core.run->run_id) << 32 | 17);
    core_end(&core);
}

static void the_vlf_header_is_durable_before_its_first_block_is_written(void **state)
{
    (void)state;
    struct core core;
    struct probe probe;
    begin(&core);
    delay_log_write(&core, 1);
    commit(&core, &probe, SMALL_BYTES);
    core_pass(&core, SHORT_NS);
    assert_true(core.wal->first->is_header);
    assert_int_equal(core.wal->first->state, LOG_BUFFER_WRITING);
    assert_int_equal(core.wal->first->next->state, LOG_BUFFER_SEALED);
    assert_int_equal(core.wal->outstanding, 1);
    core_settle(&core);
    assert_int_equal(probe.turns, 1);
    core_end(&core);
}

static void nothing_waits_when_the_log_is_durable_already(void **state)
{
    (void)state;
    struct core core;
    struct probe probe;
    begin(&core);
    uint64_t position = commit(&core, &probe, SMALL_BYTES);
    core_settle(&core);
    assert_true(wal_wait_durable(core.wal, position, &probe.waiter, &probe.task));
    assert_false(probe.waiter.queued);
    core_end(&core);
}

static void a_record_nobody_waits_for_is_not_written(void **state)
{
    (void)state;
    struct core core;
    struct probe probe;
    begin(&core);
    probe_init(&probe, core.worker);
    core_append(&core, NULL, SMALL_BYTES, &probe.task);
    core_settle(&core);
    assert_non_null(core.wal->open);
    assert_int_equal(wal_live_blocks(core.wal), 0);
    core_end(&core);
}

/* ---- flushes, without write-through ---- */

static void without_write_through_a_flush_makes_durable(void **state)
{
    (void)state;
    struct core core;
    struct probe probe;
    begin_with_flushes(&core);
    header_written(&core);
    core_fault(&core,
               (struct fault_rule){
                   .kind = FAULT_DELAY, .op = IO_FLUSH, .file_uid = CORE_LOG_UID, .a = DELAY_NS});
    uint64_t position = commit(&core, &probe, SMALL_BYTES);
    core_pass(&core, SHORT_NS);
    assert_int_equal(core.wal->first->state, LOG_BUFFER_WRITTEN);
    assert_false(wal_is_durable(core.wal, position));
    assert_int_equal(probe.turns, 0);
    core_settle(&core);
    assert_true(wal_is_durable(core.wal, position));
    assert_int_equal(probe.turns, 1);
    core_end(&core);
}

/* A write that completes while a flush is under way may not be covered by it. */
static void a_flush_covers_only_what_was_written_before_it(void **state)
{
    (void)state;
    struct core core;
    struct probe first, second;
    begin_with_flushes(&core);
    header_written(&core);
    core_fault(&core, (struct fault_rule){.kind = FAULT_DELAY,
                                          .op = IO_FLUSH,
                                          .file_uid = CORE_LOG_UID,
                                          .count = 2,
                                          .a = DELAY_NS});
    commit_block(&core, &first);
    core_pass(&core, SHORT_NS); /* its flush runs */
    assert_true(core.wal->flushing);
    uint64_t second_position = commit_block(&core, &second);
    core_pass(&core, (uint64_t)DELAY_NS); /* the first flush is over, the second one runs */
    assert_int_equal(first.turns, 1);
    assert_int_equal(second.turns, 0);
    assert_false(wal_is_durable(core.wal, second_position));
    core_settle(&core);
    assert_int_equal(second.turns, 1);
    core_end(&core);
}

/* ---- group commit ---- */

static void commits_gather_while_two_partial_blocks_are_under_way(void **state)
{
    (void)state;
    struct core core;
    struct probe probes[12];
    begin(&core);
    header_written(&core);
    delay_log_write(&core, 1);
    delay_log_write(&core, 2);
    commit_block(&core, &probes[0]);
    commit_block(&core, &probes[1]);
    for (unsigned i = 2; i < 12; i++)
        commit_block(&core, &probes[i]);
    assert_int_equal(core.wal->outstanding, WAL_PARTIAL_OUTSTANDING_MAX);
    core_settle(&core);
    for (unsigned i = 0; i < 12; i++)
        assert_int_equal(probes[i].turns, 1);
    assert_int_equal(wal_live_blocks(core.wal), 3); /* 1 + 1 + all ten together */
    core_end(&core);
}

static void full_blocks_do_not_wait_for_partial_ones(void **state)
{
    (void)state;
    struct core core;
    struct probe probes[2];
    begin(&core);
    header_written(&core);
    delay_log_write(&core, 1);
    delay_log_write(&core, 2);
    commit_block(&core, &probes[0]);
    commit_block(&core, &probes[1]);
    for (unsigned i = 0; i < 4; i++) /* each seals the one before: three full blocks */
        core_append(&core, NULL, BIG_BYTES, &probes[0].task);
    while (worker_step(core.worker))
        ;
    assert_int_equal(core.wal->outstanding, 2 + 3);
    core_end(&core);
}

/* ---- limits of the version ---- */

struct under_way {
    unsigned writes;
    size_t bytes;
};

/* The most that is under way at once while `count` records of a block each are appended and every
 * write takes long. */
static struct under_way most_under_way(const char *version, unsigned count, size_t payload_bytes)
{
    struct core core;
    struct probe probe;
    struct under_way most = {0};
    struct sim_options options = {
        .log_bytes = 64 * CORE_MIB,
        .settings = {{"CONFIG", "SectorSize", "512"}, {"CONFIG", "SqlServerVersion", version}}};
    core_begin(&core, &options);
    header_written(&core);
    core_fault(&core, (struct fault_rule){.kind = FAULT_DELAY,
                                          .op = IO_WRITE,
                                          .file_uid = CORE_LOG_UID,
                                          .count = UINT32_MAX,
                                          .a = DELAY_NS});
    probe_init(&probe, core.worker);
    struct log_record record = core_record(payload_bytes);
    struct lsn lsn;
    for (unsigned i = 0; i < count; i++) {
        assert_int_equal(wal_append(core.wal, NULL, &record, 1, &lsn, &probe.task), 0);
        while (worker_step(core.worker))
            ;
        most.writes = core.wal->outstanding > most.writes ? core.wal->outstanding : most.writes;
        most.bytes =
            core.wal->outstanding_bytes > most.bytes ? core.wal->outstanding_bytes : most.bytes;
    }
    core_end(&core);
    return most;
}

/* A record of 30,992 bytes: two of them do not fit a block of 61,440, and 112 blocks of 31,232
 * bytes (61 sectors) are 3,497,984 bytes, below the limit of 3,932,160.  The VLFs of a 64 MiB log
 * have 4 MiB: 120 blocks fit. */
#define HALF_BYTES 30992

static void writes_under_way_are_as_many_as_the_version_has(void **state)
{
    (void)state;
    assert_int_equal(most_under_way("2008", 60, HALF_BYTES).writes, 32);
    assert_int_equal(most_under_way("2008R2", 60, HALF_BYTES).writes, 32);
    assert_int_equal(most_under_way("2012", 118, HALF_BYTES).writes, 112);
    assert_int_equal(most_under_way("2022", 118, HALF_BYTES).writes, 112);
}

/* Blocks of a 59,000 byte record: 59,392 bytes (116 sectors).  8 of them are 475,136, 9 would be
 * 534,528 and above 491,520; 66 are 3,919,872, 67 would be 3,979,264 and above 3,932,160. */
static void bytes_under_way_are_as_many_as_the_version_has(void **state)
{
    (void)state;
    struct under_way most = most_under_way("2005", 20, BIG_BYTES);
    assert_int_equal(most.writes, 8);
    assert_int_equal(most.bytes, 475136);
    most = most_under_way("2022", 69, BIG_BYTES);
    assert_int_equal(most.writes, 66);
    assert_int_equal(most.bytes, 3919872);
}

static void a_single_write_is_never_held_back(void **state)
{
    (void)state;
    struct core core;
    struct probe probe;
    begin(&core);
    header_written(&core);
    wal_set_limits(core.wal, 1, 512);
    commit(&core, &probe, BIG_BYTES);
    core_settle(&core);
    assert_int_equal(probe.turns, 1);
    core_end(&core);
}

static uint8_t last_byte_of_a_new_log(const char *version)
{
    struct core core;
    uint8_t byte = 0xEE;
    struct sim_options options = {.settings = {{"CONFIG", "SqlServerVersion", version}}};
    core_begin(&core, &options);
    off_t last = (off_t)atomic_load(&core.db->logs[0].target.size_bytes) - 1;
    int fd = open(core.db->logs[0].path, O_RDONLY | O_CLOEXEC);
    assert_true(fd >= 0);
    assert_int_equal(pread(fd, &byte, 1, last), 1);
    close(fd);
    core_end(&core);
    return byte;
}

static void a_new_log_is_stamped_as_the_version_does(void **state)
{
    (void)state;
    assert_int_equal(last_byte_of_a_new_log("2014"), 0x00);
    assert_int_equal(last_byte_of_a_new_log("2016"), 0xC0);
}

/* ---- buffers ---- */

static void an_append_without_a_buffer_waits_for_one(void **state)
{
    (void)state;
    struct core core;
    struct probe probe;
    begin(&core);
    core_fault(&core,
               (struct fault_rule){
                   .kind = FAULT_DELAY, .op = IO_WRITE, .file_uid = CORE_LOG_UID, .a = DELAY_NS});
    probe_init(&probe, core.worker);
    struct log_record record = core_record(BIG_BYTES);
    struct lsn lsn;
    unsigned count = 0;
    int error;
    /* the header's write takes long, so no buffer comes back */
    while ((error = wal_append(core.wal, NULL, &record, 1, &lsn, &probe.task)) == 0 && count < 200)
        count++;
    assert_int_equal(error, -EAGAIN);
    assert_true(count > 100); /* of 128 buffers, less headers and what an append may need */
    assert_int_equal(probe.turns, 0);
    core_settle(&core);
    assert_int_equal(probe.turns, 1);
    assert_int_equal(wal_append(core.wal, NULL, &record, 1, &lsn, &probe.task), 0);
    core_end(&core);
}

/* ---- circular use ---- */

static void vlf_header_at(const struct core *core, size_t index, struct vlf_header *out)
{
    uint8_t page[VLF_HEADER_BYTES];
    uint64_t offset = core->wal->vlfs[index].header.offset;
    int fd = open(core->db->logs[0].path, O_RDONLY | O_CLOEXEC);
    assert_int_equal(pread(fd, page, sizeof page, (off_t)offset), sizeof page);
    close(fd);
    assert_int_equal(vlf_header_parse(page, offset, out), 0);
}

static uint8_t first_block_parity(const struct core *core, size_t index)
{
    uint8_t byte;
    uint64_t offset = core->wal->vlfs[index].header.offset + VLF_HEADER_BYTES;
    int fd = open(core->db->logs[0].path, O_RDONLY | O_CLOEXEC);
    assert_int_equal(pread(fd, &byte, 1, (off_t)offset), 1);
    close(fd);
    return byte & LOG_PARITY_MASK;
}

/* Write blocks until the head VLF is `index` in its use number `use`; give everything back. */
static void write_until(struct core *core, size_t index, uint32_t use)
{
    struct probe probe;
    unsigned blocks = 0;
    while (core->wal->head != index || core->wal->vlfs[index].header.use_count < use) {
        assert_true(blocks++ < 1000);
        commit(core, &probe, BIG_BYTES);
        core_settle(core);
        assert_int_equal(probe.turns, 1);
        wal_release(core->wal, atomic_load(&core->wal->durable_end));
    }
}

static void each_use_of_a_vlf_flips_the_parity(void **state)
{
    (void)state;
    struct core core;
    struct vlf_header header;
    static const uint8_t parity[] = {0x40, 0x80, 0x40}; /* reference 4.2: uses 1, 2, 3 */
    begin(&core);
    for (uint32_t use = 1; use <= 3; use++) {
        write_until(&core, 1, use);
        vlf_header_at(&core, 1, &header);
        assert_int_equal(header.use_count, use);
        assert_int_equal(header.parity, parity[use - 1]);
        assert_int_equal(first_block_parity(&core, 1), parity[use - 1]);
        /* four VLFs: the second one's uses are 1, 5, 9 places behind the first FSeqNo */
        assert_int_equal(header.fseq, run_first_fseq(core.run->run_id) + 1 + 4 * (use - 1));
    }
    core_end(&core);
}

static void a_reused_log_reads_back_whole(void **state)
{
    (void)state;
    struct core core;
    begin(&core);
    write_until(&core, 2, 3);
    struct log_scan scan = {0};
    core_scan(&core, &scan);
    assert_int_equal(scan.damage_count, 0);
    assert_int_equal(scan.blocks, wal_live_blocks(core.wal));
    assert_int_equal(scan.blocks_chained, scan.blocks);
    assert_int_equal(scan.end_position, atomic_load(&core.wal->durable_end));
    assert_int_equal(scan.end_crc, core.wal->chain_crc);
    core_end(&core);
}

static void the_vlf_of_an_active_transaction_is_not_given_back(void **state)
{
    (void)state;
    struct core core;
    struct probe probe;
    struct xact xact;
    begin(&core);
    probe_init(&probe, core.worker);
    assert_true(wal_reserve(core.wal, &xact, 4096, &probe.task));
    uint64_t began = core_append(&core, &xact, SMALL_BYTES, &probe.task);
    assert_int_equal(wal_oldest_active(core.wal), began);
    for (unsigned i = 0; i < 40; i++) { /* into the second VLF */
        commit(&core, &probe, BIG_BYTES);
        core_settle(&core);
    }
    assert_int_equal(core.wal->head, 1);
    wal_release(core.wal, atomic_load(&core.wal->durable_end));
    assert_true(core.wal->vlfs[0].in_use);
    wal_end(core.wal, &xact);
    assert_int_equal(wal_oldest_active(core.wal), UINT64_MAX);
    wal_release(core.wal, atomic_load(&core.wal->durable_end));
    assert_false(core.wal->vlfs[0].in_use);
    core_end(&core);
}

/* ---- space ---- */

static void a_transaction_without_space_waits_for_it(void **state)
{
    (void)state;
    struct core core;
    struct probe probe;
    struct xact xacts[3];
    begin(&core);
    probe_init(&probe, core.worker);
    uint64_t most = wal_transaction_max(core.wal);
    assert_true(wal_reserve(core.wal, &xacts[0], most, &probe.task));
    assert_true(wal_reserve(core.wal, &xacts[1], most, &probe.task));
    assert_false(wal_space_wanted(core.wal));
    assert_false(wal_reserve(core.wal, &xacts[2], most, &probe.task));
    assert_true(wal_space_wanted(core.wal));
    core_settle(&core);
    assert_int_equal(probe.turns, 0);
    struct xact small;
    assert_true(wal_reserve(core.wal, &small, 512, &probe.task)); /* it asks for less: and goes */
    assert_null(atomic_load(&probe.task.wait_list));
    wal_end(core.wal, &small);
    assert_false(wal_reserve(core.wal, &xacts[2], most, &probe.task));
    wal_end(core.wal, &xacts[0]);
    core_settle(&core);
    assert_int_equal(probe.turns, 1);
    assert_true(wal_reserve(core.wal, &xacts[2], most, &probe.task));
    wal_end(core.wal, &xacts[1]);
    wal_end(core.wal, &xacts[2]);
    assert_int_equal(core.wal->reserved_bytes, 0);
    core_end(&core);
}

/* Worst case for reservations: every record a block of its own, so that it costs all that was
 * reserved for it; many transactions at once; the log given back as late as possible.  That an
 * append finds no space would be an assertion in wal.c. */
struct spender {
    struct xact xact;
    unsigned left;
    bool active;
};

#define SPENDERS 6

static void spend(struct core *core, struct spender *s, struct probe *probe, struct rng *rng)
{
    size_t cost = log_record_cost(SMALL_BYTES, core->wal->sector_bytes);
    if (!s->active) {
        unsigned most = (unsigned)(wal_transaction_max(core->wal) / cost);
        s->left = 1 + (unsigned)rng_below(rng, most);
        s->active = wal_reserve(core->wal, &s->xact, s->left * cost, &probe->task);
        return;
    }
    if (s->left == 0) {
        wal_end(core->wal, &s->xact);
        s->active = false;
        return;
    }
    uint64_t position = core_append(core, &s->xact, SMALL_BYTES, &probe->task);
    s->left--;
    if (!wal_wait_durable(core->wal, position, &probe->waiter, &probe->task))
        core_settle(core); /* forced out: a block of its own */
}

static void spend_at_random(const char *sector_bytes, uint64_t log_bytes, uint64_t seed)
{
    struct core core;
    struct sim_options options = {.log_bytes = log_bytes,
                                  .settings = {{"CONFIG", "SectorSize", sector_bytes}}};
    struct spender spenders[SPENDERS] = {0};
    struct probe probe;
    struct rng rng;
    rng_seed(&rng, seed);
    core_begin(&core, &options);
    probe_init(&probe, core.worker);
    unsigned long steps = test_scaled(4000);
    for (unsigned long i = 0; i < steps; i++) {
        struct spender *s = &spenders[rng_below(&rng, SPENDERS)];
        bool was_active = s->active;
        spend(&core, s, &probe, &rng);
        bool refused = !was_active && !s->active;
        if (refused)
            wal_release(core.wal, atomic_load(&core.wal->durable_end));
    }
    for (unsigned i = 0; i < SPENDERS; i++)
        if (spenders[i].active)
            wal_end(core.wal, &spenders[i].xact);
    assert_int_equal(core.wal->reserved_bytes, 0);
    struct log_scan scan = {0};
    core_scan(&core, &scan);
    assert_int_equal(scan.damage_count, 0);
    assert_int_equal(scan.blocks, wal_live_blocks(core.wal));
    core_end(&core);
}

static void reservations_are_never_overrun(void **state)
{
    (void)state;
    uint64_t seed = (uint64_t)getpid();
    print_message("seed %llu\n", (unsigned long long)seed);
    spend_at_random("512", CORE_MIB, seed);
    spend_at_random("4096", CORE_MIB, seed + 1);
    spend_at_random("4096", 3 * CORE_MIB, seed + 2);
}

/* A checkpoint that gives nothing back must leave room for the one that will: three records of a
 * page change, each at most a sector of 512. */
static void checkpoints_that_give_nothing_back_leave_room_for_one_that_will(void **state)
{
    (void)state;
    struct core core;
    struct probe probe;
    struct xact holder;
    struct sim_options options = {.log_bytes = CORE_MIB,
                                  .settings = {{"CONFIG", "SectorSize", "512"}}};
    const uint64_t checkpoint_bytes = 3 * 512;
    core_begin(&core, &options);
    probe_init(&probe, core.worker);
    assert_true(wal_reserve(core.wal, &holder, wal_transaction_max(core.wal), &probe.task));
    core_append(&core, &holder, SMALL_BYTES, &probe.task);
    unsigned checkpoints = 0;
    while (wal_checkpoint_room(core.wal, checkpoint_bytes) == WAL_ROOM && checkpoints < 10000) {
        for (unsigned i = 0; i < 3; i++) {
            commit(&core, &probe, SMALL_BYTES);
            core_settle(&core);
        }
        wal_release(core.wal, atomic_load(&core.wal->durable_end)); /* in vain */
        checkpoints++;
    }
    assert_int_equal(wal_checkpoint_room(core.wal, checkpoint_bytes), WAL_ROOM_LATER);
    wal_end(core.wal, &holder);
    assert_int_equal(wal_checkpoint_room(core.wal, checkpoint_bytes), WAL_ROOM);
    core_end(&core);
}

/* ---- failure ---- */

static void count_error(struct wal *wal)
{
    ++*(unsigned *)wal->context;
}

static void watch_errors(struct core *core, unsigned *errors)
{
    *errors = 0;
    core->wal->on_error = count_error;
    core->wal->context = errors;
}

static void a_failed_write_wakes_everybody_and_stops_the_log(void **state)
{
    (void)state;
    struct core core;
    unsigned errors;
    struct probe committer, spacer;
    struct xact xacts[2], refused;
    begin(&core);
    header_written(&core);
    watch_errors(&core, &errors);
    core_fault(&core, (struct fault_rule){.kind = FAULT_ERRNO,
                                          .op = IO_WRITE,
                                          .file_uid = CORE_LOG_UID,
                                          .count = UINT32_MAX,
                                          .a = EIO});
    probe_init(&spacer, core.worker);
    uint64_t most = wal_transaction_max(core.wal);
    assert_true(wal_reserve(core.wal, &xacts[0], most, &spacer.task));
    assert_true(wal_reserve(core.wal, &xacts[1], most, &spacer.task));
    assert_false(wal_reserve(core.wal, &refused, most, &spacer.task));
    uint64_t end_before = atomic_load(&core.wal->durable_end);
    uint64_t position = commit(&core, &committer, SMALL_BYTES);
    core_settle(&core);
    assert_true(wal_failed(core.wal));
    assert_int_equal(core.wal->error, -EIO);
    assert_int_equal(committer.turns, 1);
    assert_int_equal(spacer.turns, 1);
    assert_int_equal(errors, 1);
    assert_int_equal(atomic_load(&core.wal->durable_end), end_before);
    /* and nobody waits any more */
    assert_false(wal_wait_durable(core.wal, position, &committer.waiter, &committer.task));
    assert_false(committer.waiter.queued);
    struct log_record record = core_record(SMALL_BYTES);
    struct lsn lsn;
    assert_int_equal(wal_append(core.wal, NULL, &record, 1, &lsn, &committer.task), -EIO);
    core_end(&core);
}

static void a_later_good_write_does_not_pass_a_failed_one(void **state)
{
    (void)state;
    struct core core;
    unsigned errors;
    struct probe first, second;
    begin(&core);
    header_written(&core);
    watch_errors(&core, &errors);
    delay_log_write(&core, 1);
    core_fault(&core, (struct fault_rule){
                          .kind = FAULT_ERRNO, .op = IO_WRITE, .file_uid = CORE_LOG_UID, .a = EIO});
    uint64_t end_before = atomic_load(&core.wal->durable_end);
    commit_block(&core, &first);
    commit_block(&core, &second);
    core_pass(&core, SHORT_NS);
    assert_int_equal(core.wal->first->next->state, LOG_BUFFER_WRITTEN);
    core_settle(&core);
    assert_int_equal(errors, 1);
    assert_int_equal(first.turns, 1);
    assert_int_equal(second.turns, 1);
    assert_int_equal(atomic_load(&core.wal->durable_end), end_before);
    core_end(&core);
}

static void a_failed_flush_stops_the_log(void **state)
{
    (void)state;
    struct core core;
    unsigned errors;
    struct probe probe;
    begin_with_flushes(&core);
    header_written(&core);
    watch_errors(&core, &errors);
    core_fault(&core, (struct fault_rule){
                          .kind = FAULT_ERRNO, .op = IO_FLUSH, .file_uid = CORE_LOG_UID, .a = EIO});
    uint64_t position = commit(&core, &probe, SMALL_BYTES);
    core_settle(&core);
    assert_true(wal_failed(core.wal));
    assert_true(core.wal->error_was_flush);
    assert_false(wal_is_durable(core.wal, position));
    assert_int_equal(probe.turns, 1);
    assert_int_equal(errors, 1);
    core_end(&core);
}

static void append_waiters_are_woken_by_a_failure(void **state)
{
    (void)state;
    struct core core;
    unsigned errors;
    struct probe probe;
    begin(&core);
    watch_errors(&core, &errors);
    core_fault(&core, (struct fault_rule){
                          .kind = FAULT_ERRNO, .op = IO_WRITE, .file_uid = CORE_LOG_UID, .a = EIO});
    probe_init(&probe, core.worker);
    struct log_record record = core_record(BIG_BYTES);
    struct lsn lsn;
    int error = 0;
    for (unsigned i = 0; i < 200 && !error; i++)
        error = wal_append(core.wal, NULL, &record, 1, &lsn, &probe.task);
    assert_int_equal(error, -EAGAIN);
    core_settle(&core);
    assert_true(wal_failed(core.wal));
    assert_int_equal(probe.turns, 1);
    core_end(&core);
}

/* ---- contents ---- */

struct reading {
    uint64_t bytes;
    unsigned records;
    struct lsn last;
    bool ordered;
};

static void count_record(void *context, const struct log_record_view *record)
{
    struct reading *r = context;
    if (record->op != LOG_OP_MODIFY)
        return;
    r->ordered = r->ordered && lsn_compare(record->lsn, r->last) > 0;
    r->last = record->lsn;
    r->bytes += record->payload_bytes;
    r->records++;
}

static void every_record_is_in_the_log_in_order(void **state)
{
    (void)state;
    struct core core;
    struct probe probe;
    struct rng rng;
    struct reading reading = {.ordered = true};
    uint64_t bytes = 0;
    begin(&core);
    rng_seed(&rng, 5);
    probe_init(&probe, core.worker);
    for (unsigned i = 0; i < 300; i++) {
        size_t payload = 16 + 4 * rng_below(&rng, 1000); /* records end at multiples of 4 */
        bytes += payload;
        uint64_t position = core_append(&core, NULL, payload, &probe.task);
        if (rng_below(&rng, 8) == 0 || i == 299)
            if (!wal_wait_durable(core.wal, position, &probe.waiter, &probe.task))
                core_settle(&core);
    }
    struct log_scan scan = {.on_record = count_record, .context = &reading};
    core_scan(&core, &scan);
    assert_int_equal(scan.damage_count, 0);
    assert_int_equal(reading.records, 300);
    assert_int_equal(reading.bytes, bytes);
    assert_true(reading.ordered);
    core_end(&core);
}

static void closing_writes_what_is_left(void **state)
{
    (void)state;
    struct core core;
    struct probe probe;
    struct reading reading = {.ordered = true};
    begin(&core);
    probe_init(&probe, core.worker);
    for (unsigned i = 0; i < 5; i++)
        core_append(&core, NULL, SMALL_BYTES, &probe.task);
    wal_close(core.wal);
    core_settle(&core);
    assert_null(core.wal->open);
    assert_null(core.wal->first);
    struct log_scan scan = {.on_record = count_record, .context = &reading};
    core_scan(&core, &scan);
    assert_int_equal(reading.records, 5);
    core_end(&core);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_commit_waits_for_every_earlier_block),
        cmocka_unit_test(the_ledger_learns_the_durable_end),
        cmocka_unit_test(the_vlf_header_is_durable_before_its_first_block_is_written),
        cmocka_unit_test(nothing_waits_when_the_log_is_durable_already),
        cmocka_unit_test(a_record_nobody_waits_for_is_not_written),
        cmocka_unit_test(without_write_through_a_flush_makes_durable),
        cmocka_unit_test(a_flush_covers_only_what_was_written_before_it),
        cmocka_unit_test(commits_gather_while_two_partial_blocks_are_under_way),
        cmocka_unit_test(full_blocks_do_not_wait_for_partial_ones),
        cmocka_unit_test(writes_under_way_are_as_many_as_the_version_has),
        cmocka_unit_test(bytes_under_way_are_as_many_as_the_version_has),
        cmocka_unit_test(a_single_write_is_never_held_back),
        cmocka_unit_test(a_new_log_is_stamped_as_the_version_does),
        cmocka_unit_test(an_append_without_a_buffer_waits_for_one),
        cmocka_unit_test(each_use_of_a_vlf_flips_the_parity),
        cmocka_unit_test(a_reused_log_reads_back_whole),
        cmocka_unit_test(the_vlf_of_an_active_transaction_is_not_given_back),
        cmocka_unit_test(a_transaction_without_space_waits_for_it),
        cmocka_unit_test(reservations_are_never_overrun),
        cmocka_unit_test(checkpoints_that_give_nothing_back_leave_room_for_one_that_will),
        cmocka_unit_test(a_failed_write_wakes_everybody_and_stops_the_log),
        cmocka_unit_test(a_later_good_write_does_not_pass_a_failed_one),
        cmocka_unit_test(a_failed_flush_stops_the_log),
        cmocka_unit_test(append_waiters_are_woken_by_a_failure),
        cmocka_unit_test(every_record_is_in_the_log_in_order),
        cmocka_unit_test(closing_writes_what_is_left),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
