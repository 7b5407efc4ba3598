/*
 * run_phases.c - what happens in a run: initial update and checkpoint, the rated phase, then for
 * each cycle the main part (both: run_slots.c), final checkpoint and the audit of every page; at
 * the end the log is closed and read, the files are looked at again, and the ends of misdirected
 * writes are paired.
 */
#include <assert.h>
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "sim/actor.h"
#include "sim/final_audit.h"
#include "sim/foreign.h"
#include "sim/logaudit.h"
#include "sim/one_checkpoint.h"
#include "sim/pairing.h"
#include "sim/prepare.h"
#include "sim/run_actors.h"
#include "sim/run_backups.h"
#include "sim/run_errors.h"
#include "sim/run_loop.h"
#include "sim/run_slots.h"

#define PREPARERS_PER_FILE 4

static uint64_t all_pages(const struct run *run)
{
    uint64_t sum = 0;
    for (unsigned i = 0; i < run->file_count; i++)
        sum += run->files[i]->file.size_pages;
    return sum;
}

/* Files that are taken over have their pages, but for tempdb. */
static bool is_prepared_here(const struct run *run, const struct data_file *file)
{
    return !run->config.reuse || file->database->tempdb;
}

static uint64_t pages_to_prepare(const struct run *run)
{
    uint64_t sum = 0;
    for (unsigned i = 0; i < run->file_count; i++)
        sum += is_prepared_here(run, run->files[i]) ? run->files[i]->file.size_pages : 0;
    return sum;
}

/* ---- phases ---- */

static int checkpoint_all(struct run *run)
{
    unsigned first = run->actor_count;
    int error = run_actors_per_database(run, &pattern_one_checkpoint);
    if (!error)
        run_actors_run(run, first);
    return error;
}

static int preparers_make(struct run *run, struct preparer **preparers, _Atomic uint32_t *chunks,
                          uint32_t chunk_limit)
{
    int error = 0;
    for (unsigned i = 0; i < run->file_count * PREPARERS_PER_FILE && !error; i++) {
        unsigned file = i / PREPARERS_PER_FILE;
        if (!is_prepared_here(run, run->files[file]))
            continue;
        error = preparer_create(&preparers[i], run, &run->workers[i % run->worker_count],
                                run->files[file], &chunks[file], chunk_limit);
    }
    return error;
}

/* Format the chunks of every file from chunks[] up to the limit. */
static int prepare_pages(struct run *run, _Atomic uint32_t *chunks, uint32_t chunk_limit)
{
    unsigned count = run->file_count * PREPARERS_PER_FILE;
    struct preparer **preparers = calloc(count, sizeof *preparers);
    unsigned first = run->actor_count;
    int error = preparers ? preparers_make(run, preparers, chunks, chunk_limit) : -ENOMEM;
    if (!error) /* the log may fill up on the way */
        error = run_actors_per_database(run, pattern_by_name("Checkpoint"));
    for (unsigned i = 0; i < count && !error; i++)
        if (preparers[i])
            preparer_start(preparers[i]);
    if (!error)
        run_actors_run(run, first);
    for (unsigned i = 0; i < count && preparers && !run->stuck; i++)
        preparer_free(preparers[i]);
    free(preparers);
    return error;
}

/* The first chunk has the boot page and the first maps: with a checkpoint right after it, the files
 * are a sound database from then on, whenever the run is stopped or killed.  For the same reason
 * the checkpoint at the end is not left out when a signal came.
 * Files that are taken over have their pages, but for tempdb; the boot page must name a checkpoint
 * of the new log.
 */
static int initial_update(struct run *run)
{
    _Atomic uint32_t *chunks = calloc(run->file_count, sizeof *chunks);
    if (!chunks)
        return -ENOMEM;
    bool is_done = pages_to_prepare(run) == 0;
    run_phase_begin(run, PHASE_initial_update, pages_to_prepare(run));
    int error = is_done ? 0 : prepare_pages(run, chunks, 1);
    if (!error)
        error = checkpoint_all(run);
    if (!error && !is_done && !run_stopping(run))
        error = prepare_pages(run, chunks, UINT32_MAX);
    if (!error)
        error = checkpoint_all(run);
    if (!run->stuck)
        free((void *)chunks);
    run_phase_end(run);
    if (!error && !run_stopping(run))
        ledger_header_of(run->ledger)->phase = LEDGER_PHASE_RUNNING;
    return error;
}

static int final_checkpoint(struct run *run)
{
    run_phase_begin(run, PHASE_final_checkpoint, atomic_load(&run->pool.dirty_count));
    int error = checkpoint_all(run);
    run_phase_end(run);
    return error;
}

/* The live logs, while nobody appends: the coordinator's own reads. */
static int logs_audit(struct run *run)
{
    int error = 0;
    uint64_t blocks = 0;
    for (unsigned i = 0; i < run->database_count; i++)
        blocks += wal_live_blocks(&run->databases[i].wal);
    run_step(run, "reading the log back", blocks);
    for (unsigned i = 0; i < run->database_count && !error; i++)
        error = log_audit(run, &run->databases[i]);
    run_step(run, NULL, 0);
    return error;
}

static int audit(struct run *run)
{
    unsigned first = run->actor_count;
    struct audit_cursor cursor = {.frames =
                                      (uint32_t)(run->pool.frame_count + run->pool.system_count)};
    int error = 0;
    for (unsigned i = 0; i < run->worker_count && !error; i++) {
        struct actor *actor;
        error = run_actor_add(run, NULL, &pattern_final_audit, i, NULL, &actor);
        if (!error)
            final_audit_share(actor, &cursor);
    }
    if (error)
        return error;
    run_phase_begin(run, PHASE_audit, all_pages(run));
    run_actors_run(run, first);
    bool pages_done = !run_stopping(run);
    if (pages_done)
        error = logs_audit(run);
    if (pages_done && !error)
        error = run_backups_look(run);
    run_phase_end(run);
    run->audited = pages_done && !error;
    return error;
}

/* ---- the end ---- */

static void writer_finished(struct task *task)
{
    struct wal *wal = (struct wal *)((char *)task - offsetof(struct wal, writer));
    run_task_ended(wal->context, false);
}

static void logs_close(struct run *run)
{
    for (unsigned i = 0; i < run->database_count; i++) {
        struct wal *wal = &run->databases[i].wal;
        wal->writer.finished = writer_finished;
        run_task_started(run, false);
        wal_close(wal);
    }
    run_wait(run);
}

/* A ledger that is closed in order owes nothing to a flush that never came. */
static void files_flush(struct run *run)
{
    for (unsigned i = 0; i < run->file_count; i++) {
        struct file *file = &run->files[i]->file;
        if (file->target.dsync)
            continue;
        struct io_req req = {.op = IO_FLUSH, .stream = STREAM_data_flush, .target = &file->target};
        uint32_t flush = ledger_flush_begin(run->ledger, file->mark.file_uid);
        int error = io_run(&run->io, &req);
        ledger_flush_end(run->ledger, file->mark.file_uid, flush, error == 0);
        if (error && !run->stuck)
            run_flush_error(run, file, error);
    }
}

/* Replaced, cut or grown while we worked? */
static enum verdict identity_verdict(int error)
{
    switch (error) {
    case -ENOENT:
    case -ESTALE:
        return VERDICT_file_replaced;
    case -ENODATA:
        return VERDICT_truncated_file;
    case -EFBIG:
        return VERDICT_foreign_write;
    default: /* it could not be asked: the reads have told, or will */
        return VERDICT_NONE;
    }
}

/* truncated: known already. */
static void file_check(struct run *run, const struct file *file, bool truncated)
{
    uint64_t now_bytes = 0;
    enum verdict verdict = identity_verdict(file_check_identity(file, &now_bytes));
    if (verdict == VERDICT_file_replaced && foreign_unmounted(run, file))
        verdict = VERDICT_device_gone;
    if (verdict == VERDICT_NONE || (verdict == VERDICT_truncated_file && truncated))
        return;
    bool is_elsewhere = verdict == VERDICT_file_replaced || verdict == VERDICT_device_gone;
    struct finding finding = {
        .verdict = verdict,
        .file_uid = file->mark.file_uid,
        .offset = is_elsewhere ? 0 : now_bytes,
    };
    snprintf(finding.file, sizeof finding.file, "%s", file->path);
    if (!is_elsewhere)
        snprintf(finding.detail, sizeof finding.detail,
                 "the file has %" PRIu64 " bytes, this run gave it %" PRIu64, now_bytes,
                 (uint64_t)file->target.size_bytes);
    finding_report(&run->findings, &finding, NULL);
}

static void files_check(struct run *run)
{
    for (unsigned i = 0; i < run->file_count; i++)
        file_check(run, &run->files[i]->file, atomic_load(&run->files[i]->truncated));
    for (unsigned i = 0; i < run->database_count; i++)
        for (unsigned j = 0; j < run->databases[i].log_count; j++)
            file_check(run, &run->databases[i].logs[j], false);
}

/* A stop that was asked for leaves nothing in the log alone, as SHUTDOWN does: the files can be
 * taken over (reuse.h).  Its I/O counts as a last checkpoint's; the phase of that name was not
 * reached, or was over. */
static bool is_shut_down(struct run *run)
{
    if (run->audited)
        return true;
    bool filled = ledger_header_of(run->ledger)->phase == LEDGER_PHASE_RUNNING;
    if (!filled || run->stuck || atomic_load(&run->stop) == RUN_STOP_ERROR)
        return false;
    __atomic_store_n(&run->phase, PHASE_final_checkpoint, __ATOMIC_RELAXED);
    return checkpoint_all(run) == 0 && atomic_load(&run->pool.dirty_count) == 0;
}

static int cycle(struct run *run)
{
    run->audited = false;
    run->main_part_done = true;
    int error = run_slots_main(run);
    if (run->config.leave_like_killed)
        return error;
    if (!error && !run_stopping(run))
        error = final_checkpoint(run);
    if (!error && !run_stopping(run))
        error = run_backups_tail(run);
    if (!error && !run_stopping(run))
        error = audit(run);
    run->cycles_done += run->audited;
    return error;
}

static bool another_cycle(const struct run *run)
{
    if (run_stopping(run))
        return false;
    if (run->config.leave_like_killed)
        return !run->main_part_done;
    int64_t wanted = run->settings->test_cycles;
    return wanted == 0 || run->cycles_done < (uint64_t)wanted;
}

/* With the workers stopped: the coordinator's own reads. */
static int last_looks(struct run *run)
{
    bool gone = run->findings.by_verdict[VERDICT_device_gone] > 0;
    int error = 0;
    if (!gone)
        files_flush(run);
    if (!gone && !run->audited) /* else it was done with the pages */
        error = logs_audit(run);
    files_check(run);
    int paired = run->stuck ? 0 : findings_pair(run);
    return error ? error : paired;
}

int run_execute(struct run *run)
{
    int error = run_workers_start(run);
    if (error)
        return error;
    error = initial_update(run);
    if (!error && !run_stopping(run))
        error = run_slots_rated(run);
    while (!error && another_cycle(run))
        error = cycle(run);
    bool shut_down = !error && !run->config.leave_like_killed && is_shut_down(run);
    if (!run->config.leave_like_killed && !run->stuck)
        logs_close(run);
    bool killed = run->config.leave_like_killed || run->stuck;
    run_workers_stop(run);
    if (!killed) {
        int look = last_looks(run);
        error = error ? error : look;
    }
    run_actors_settle(run);
    if (!killed && !run->stuck) {
        ledger_header_of(run->ledger)->phase = shut_down ? LEDGER_PHASE_SETTLED : LEDGER_PHASE_DONE;
    }
    if (!error && atomic_load(&run->stop) == RUN_STOP_SIGNAL)
        error = -EINTR;
    return error;
}
