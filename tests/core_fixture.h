/*
 * core_fixture.h - a run that was created and is not executed: pool, logs, files, ledger and
 * workers of a real run over the modelled device, for tests that drive them step by step.
 */
#ifndef TESTS_CORE_FIXTURE_H
#define TESTS_CORE_FIXTURE_H

#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <cmocka.h>

#include "tests/sim_fixture.h"
#include "verify/logscan.h"

#define CORE_MIB      (1024ull * 1024)
#define CORE_DATA_UID 1 /* files of the first database, in the order of the plan */
#define CORE_LOG_UID  2

struct core {
    struct sim sim;
    struct run *run;
    struct database *db;
    struct data_file *data;
    struct wal *wal;
    struct worker *worker;
};

/* A task that does nothing but count its turns. */
struct probe {
    struct task task;
    struct wal_waiter waiter;
    unsigned turns;
};

static inline enum task_result probe_step(struct task *task)
{
    ((struct probe *)task)->turns++;
    return TASK_PARK;
}

static inline void probe_init(struct probe *probe, struct worker *worker)
{
    memset(probe, 0, sizeof *probe);
    task_init(&probe->task, worker, probe_step);
}

static inline void core_begin(struct core *core, const struct sim_options *options)
{
    struct sim_options here = *options;
    here.workers = here.workers ? here.workers : 1;
    here.with_faults = true;
    sim_begin(&core->sim, &here);
    sim_create(&core->sim);
    assert_int_equal(core->sim.result, 0);
    core->run = core->sim.run;
    core->db = &core->run->databases[0];
    core->data = core->run->files[0];
    core->wal = &core->db->wal;
    core->worker = &core->run->workers[0];
}

static inline unsigned core_fault(struct core *core, struct fault_rule rule)
{
    return fault_add(core->sim.faults, &rule);
}

static inline uint64_t core_now(const struct core *core)
{
    return clock_now_ns(core->run->clock);
}

/* One round of all workers; when nobody has anything to do the time passes to the next event.
 * False when nothing can happen any more, or not before until_ns. */
static inline bool core_step(struct core *core, uint64_t until_ns)
{
    bool any = false;
    uint64_t timer = UINT64_MAX;
    struct io *io = NULL;
    for (unsigned i = 0; i < core->run->worker_count; i++) {
        struct worker *worker = &core->run->workers[i];
        any |= worker_step(worker);
        uint64_t next = worker_next_timer_ns(worker);
        timer = next < timer ? next : timer;
        if (worker->io.pending)
            io = &worker->io;
    }
    if (any)
        return true;
    uint64_t deadline = timer < until_ns ? timer : until_ns;
    if (io)
        io_poll(io, 1, deadline);
    else if (deadline != UINT64_MAX)
        clock_advance_to(core->run->clock, deadline);
    else
        return false;
    return core_now(core) < until_ns;
}

/* Until nothing is left to happen. */
static inline void core_settle(struct core *core)
{
    while (core_step(core, UINT64_MAX))
        ;
}

/* Let so much time pass. */
static inline void core_pass(struct core *core, uint64_t ns)
{
    uint64_t until = core_now(core) + ns;
    while (core_step(core, until))
        ;
    clock_advance_to(core->run->clock, until);
}

static inline void core_end(struct core *core)
{
    core_settle(core);
    sim_end(&core->sim);
}

/* ---- log ---- */

static inline struct log_record core_record(size_t payload_bytes)
{
    static const uint8_t head[16] = "test";
    return (struct log_record){.op = LOG_OP_MODIFY,
                               .head = head,
                               .head_bytes = sizeof head,
                               .payload_bytes = payload_bytes};
}

/* Append one record; the position of its block. */
static inline uint64_t core_append(struct core *core, struct xact *xact, size_t payload_bytes,
                                   struct task *task)
{
    struct log_record record = core_record(payload_bytes);
    struct lsn lsn;
    assert_int_equal(wal_append(core->wal, xact, &record, 1, &lsn, task), 0);
    return lsn_position(lsn);
}

static inline int core_log_read(void *context, uint64_t offset, void *buf, size_t size_bytes)
{
    int fd = *(const int *)context;
    ssize_t got = pread(fd, buf, size_bytes, (off_t)offset);
    return got == (ssize_t)size_bytes ? 0 : -EIO;
}

/* Scan the log file of the database as it stands in the file system. */
static inline void core_scan(struct core *core, struct log_scan *scan)
{
    int fd = open(core->db->logs[0].path, O_RDONLY | O_CLOEXEC);
    assert_true(fd >= 0);
    scan->reader = (struct log_reader){core_log_read, &fd};
    scan->file_bytes = atomic_load(&core->db->logs[0].target.size_bytes);
    scan->chained = true;
    scan->chain_start = run_chain_start(core->run->run_id, core->db->logs[0].mark.file_uid);
    scan->first_fseq = run_first_fseq(core->run->run_id);
    assert_int_equal(log_scan_run(scan), 0);
    close(fd);
}

/* ---- pages ---- */

/* The page in the pool, pinned and CLEAN with this generation, without a read. */
static inline struct frame *core_page(struct core *core, uint32_t page_no, uint64_t generation)
{
    struct probe probe;
    struct frame *frame;
    struct file *file = &core->data->file;
    struct page_identity identity = {file->mark.file_uid, file->mark.incarnation,
                                     file->mark.file_id, page_no, generation};
    probe_init(&probe, core->worker);
    uint64_t key = page_key(file->mark.file_uid, page_no);
    assert_int_equal(pool_get(&core->run->pool, key, &probe.task, &frame), POOL_MISS);
    page_fill(frame->bytes, &core->run->identity, &identity, 0);
    pool_read_done(&core->run->pool, frame, true, generation);
    return frame;
}

/* The same, DIRTY with this last change, not pinned. */
static inline struct frame *core_dirty_page(struct core *core, uint32_t page_no,
                                            uint64_t generation, struct lsn lsn)
{
    struct frame *frame = core_page(core, page_no, generation);
    pthread_mutex_t *lock = frame_lock(&core->run->pool, frame);
    pthread_mutex_lock(lock);
    frame_mark_dirty(&core->run->pool, frame, lsn);
    pthread_mutex_unlock(lock);
    pool_unpin(&core->run->pool, frame);
    return frame;
}

#endif
