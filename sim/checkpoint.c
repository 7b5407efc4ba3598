/*
 * checkpoint.c - OP_CHECKPOINT: write every page that was dirty, then let the log go.
 *
 *   BEGIN record, durable -> what is in doubt becomes dirty -> SWEEP (gather writes, several under
 *   way) -> FLUSH data files (without write-through, or forced) -> END record with the boot page's
 * change, durable -> BOOT page -> MinLSN
 *
 * The order is the promise: only when all pages dirty at the begin are on the device is the begin
 * record's LSN put into the boot page, and only when the boot page is there is the log before it
 * given back.  After a failed write or flush nothing is given back: the next checkpoint tries
 * again.
 *
 * A page dirty at the begin that another is writing or overwriting when the sweep comes to it is
 * waited for: its write may fail, and then the sweep writes it.
 *
 * So that it does not flood the device, the sweep pauses by write_pace.h.
 *
 * With indirect checkpoints the SWEEP does not go over the pool but takes the database's dirty
 * pages from their list, oldest first, and only while there are more than the target recovery time
 * allows: small batches all the time.  It goes to its end at once when the log is needed or
 * somebody asks.
 *
 * When transactions hold the log and the headroom is used up, only the sweep is made, without a
 * record: the log can be given back only when they have ended.
 */
#include <assert.h>
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "sim/actor.h"
#include "sim/page_change.h"
#include "sim/rewrite.h"
#include "sim/run_errors.h"
#include "sim/write_pace.h"

#define CHECKPOINT_RECORDS 3 /* begin, the boot page's change, end */
#define TARGET_LOOK_NS                                                                             \
    (100 * NS_PER_MS)              /* while no more pages are dirty than the target allows         \
                                    */
#define FRAMES_PER_TURN  512       /* of the sweep; then the others have their turns */
#define REWRITE_PAUSE_NS NS_PER_MS /* others give frames back */
/* A page that cannot be written is quarantined before; then the log is never given back, and the
 * database stops. */
#define CHECKPOINT_FAILURES_MAX (POOL_WRITE_FAILURES_MAX + 1)

struct checkpoint {
    struct database *database;
    struct actor *actor;
    struct lsn begin;
    enum checkpoint_kind kind;
    uint64_t ticket;                /* the newest that it serves */
    uint64_t begun_ns;              /* run clock */
    struct checkpoint_account done; /* of this one */
    uint64_t wait_position;
    size_t cursor;        /* in the pool's frames */
    uint64_t listed_max;  /* most that were in the list of dirty pages, for the progress */
    unsigned file_cursor; /* flush */
    unsigned writing;     /* gathers under way */
    int failed;           /* error of a write that stayed failed, or of a flush */
    bool pages_only;      /* no room for its records */
    bool rewriting;       /* pages in doubt are left that found no frame */
    struct rewrite rewrite;
    enum { FLUSH_IDLE, FLUSH_RUNNING, FLUSH_DONE } flush_state;
    uint32_t flush; /* the ledger's handle of the running flush */
    struct io_req flush_req;
    struct write_pace pace;
    struct gather *free_gathers;
    struct gather gathers[CHECKPOINT_GATHERS];
};

static enum task_result begin_record(struct actor *actor);
static enum task_result wait_begin(struct actor *actor);
static enum task_result rewrite_doubtful(struct actor *actor);
static enum task_result rewrite_more(struct actor *actor);
static enum task_result sweep_begin(struct actor *actor);
static enum task_result sweep(struct actor *actor);
static enum collect sweep_page(struct actor *actor, uint64_t key);
static enum task_result wait_sweep_log(struct actor *actor);
static enum task_result drain(struct actor *actor);
static enum task_result flush_files(struct actor *actor);
static enum task_result end_record(struct actor *actor);
static enum task_result wait_end(struct actor *actor);
static enum task_result write_boot(struct actor *actor);
static enum task_result release(struct actor *actor);

static void database_stop(struct checkpoint *c, int error)
{
    run_tell(c->actor->run, EVENT_ERROR, EVENT_HERE,
             "database %u stops: its checkpoints fail (%s), so its log cannot be given back "
             "(SQL Server: 9002)",
             c->database->index + 1, strerror(-error));
    wal_stop(&c->database->wal, error);
    run_stop(c->actor->run, RUN_STOP_ERROR);
}

static void show_progress(struct checkpoint *c, unsigned permille)
{
    atomic_store_explicit(&c->database->checkpoint_permille, permille, memory_order_relaxed);
}

/* The log has failed: nothing more can be written.  Users that wait for frames are let go. */
static enum task_result give_up(struct actor *actor)
{
    struct checkpoint *c = actor->checkpoint;
    pool_wake_frame_waiters(c->database->pool);
    checkpoint_desk_wake(&c->database->desk);
    if (c->writing || c->flush_state == FLUSH_RUNNING) {
        actor->execute = give_up;
        return TASK_PARK;
    }
    show_progress(c, 0);
    /* The pattern rests as after any checkpoint, else it would ask again at full speed. */
    atomic_store(&c->database->last_checkpoint_ns, clock_now_ns(actor->run->clock));
    return TASK_DONE;
}

/* ---- begin ---- */

static enum wal_room room_for_records(struct checkpoint *c)
{
    struct wal *wal = &c->database->wal;
    size_t largest = log_record_cost(sizeof(struct syspage_change), wal->sector_bytes);
    return wal_checkpoint_room(wal, CHECKPOINT_RECORDS * largest);
}

static enum task_result begin_record(struct actor *actor)
{
    struct checkpoint *c = actor->checkpoint;
    bool no_room = room_for_records(c) == WAL_ROOM_LATER;
    atomic_store(&c->database->desk.no_room, no_room);
    if (no_room) {
        c->pages_only = true;
        return sweep_begin(actor);
    }
    int error = log_mark(&c->database->wal, NULL, LOG_OP_BEGIN_CHECKPOINT, &c->begin, &actor->task);
    if (error == -ENOSPC)
        database_stop(c, error);
    if (error)
        return error == -EAGAIN ? TASK_PARK : give_up(actor);
    return actor_go(actor, wait_begin);
}

/* SQL Server's automatic checkpoint of tempdb, for the sake of its log: nothing is recovered, so no
 * page need be written; one that is asked for, or ends a phase, writes them. */
static bool is_log_only(const struct checkpoint *c)
{
    return c->database->tempdb && c->kind == CHECKPOINT_AUTOMATIC;
}

static enum task_result wait_begin(struct actor *actor)
{
    struct checkpoint *c = actor->checkpoint;
    struct wal *wal = &c->database->wal;
    if (wal_wait_durable(wal, lsn_position(c->begin), &actor->waiter, &actor->task))
        return actor_go(actor, is_log_only(c) ? release : rewrite_doubtful);
    return wal_failed(wal) ? give_up(actor) : TASK_PARK;
}

/* ---- what is in doubt ---- */

/* Not beside the initial update, whose own writes are not in the pool. */
static enum task_result rewrite_doubtful(struct actor *actor)
{
    struct checkpoint *c = actor->checkpoint;
    bool alone = !actor->service || run_phase_now(actor->run) != PHASE_initial_update;
    c->rewrite = (struct rewrite){0};
    c->rewriting = false;
    if (alone && atomic_exchange(&c->database->in_doubt, false))
        c->rewriting = !rewrite_step(c->database, &c->rewrite);
    return sweep_begin(actor);
}

static enum task_result rewrite_more(struct actor *actor)
{
    struct checkpoint *c = actor->checkpoint;
    if (clock_now_ns(actor->run->clock) < actor->think_until_ns) {
        task_sleep_until(&actor->task, actor->think_until_ns);
        return TASK_PARK;
    }
    c->rewriting = !rewrite_step(c->database, &c->rewrite);
    return sweep_begin(actor);
}

/* ---- sweep ---- */

static void gather_finished(struct gather *gather)
{
    struct actor *actor = gather->context;
    struct checkpoint *c = actor->checkpoint;
    c->writing--;
    write_pace_returned(&c->pace, gather->count, gather->req.done_ns - gather->req.submit_ns);
    if (gather->result)
        c->failed = gather->result;
    else
        c->done.pages += gather->count;
    gather_push(&c->free_gathers, gather);
    task_wake(&actor->task);
}

static void gather_send(struct checkpoint *c)
{
    struct gather *gather = gather_pop(&c->free_gathers);
    c->writing++;
    c->done.writes++;
    write_pace_sent(&c->pace, gather->count);
    actor_gather_send(c->actor, gather, STREAM_checkpoint_write, gather_finished);
}

/* The page of a frame of this database, or 0. */
static uint64_t frame_place(const struct checkpoint *c, size_t index)
{
    uint64_t key = atomic_load(&c->database->pool->frames[index].key);
    if (!key)
        return 0;
    struct data_file *file = run_file_by_uid(c->actor->run, (uint16_t)(key >> 32));
    return file && file->database == c->database ? key : 0;
}

/* Not in the bursts at both ends of a cycle; nor while users wait for the log that we will give
 * back. */
static bool must_pause(const struct checkpoint *c)
{
    bool paced = c->actor->service || !c->actor->run->settings->allow_io_bursts;
    return paced && write_pace_is_full(&c->pace) && !wal_space_wanted(&c->database->wal);
}

static enum task_result pause_step(struct actor *actor)
{
    if (clock_now_ns(actor->run->clock) >= actor->think_until_ns)
        return actor_go(actor, sweep);
    actor->execute = pause_step;
    task_sleep_until(&actor->task, actor->think_until_ns);
    return TASK_PARK;
}

static enum task_result pause_begin(struct actor *actor)
{
    relaxed_add(&actor->task.worker->stats.counters.checkpoint_pauses, 1);
    actor->think_until_ns = clock_now_ns(actor->run->clock) + WRITE_PACE_SLEEP_NS;
    return pause_step(actor);
}

/* ---- the sweep of an indirect checkpoint ---- */

/* As the pattern sees it. */
static bool log_is_wanted(const struct actor *actor)
{
    struct wal *wal = &actor->database->wal;
    unsigned full_permille = (unsigned)(actor->run->settings->log_used_checkpoint / 10);
    return wal_used_permille(wal) >= full_permille || wal_space_wanted(wal);
}

/* It need not end at once: nobody wants the log or an answer. */
static bool has_time(const struct actor *actor)
{
    const struct checkpoint *c = actor->checkpoint;
    return c->kind == CHECKPOINT_INDIRECT && !checkpoint_is_asked(&c->database->desk) &&
           !log_is_wanted(actor);
}

/* The phase is over: what is dirty is left to the checkpoint that ends it. */
static enum task_result leave(struct actor *actor)
{
    struct checkpoint *c = actor->checkpoint;
    if (c->writing) {
        actor->execute = leave;
        return TASK_PARK;
    }
    show_progress(c, 0);
    return TASK_DONE;
}

/* Whatever wakes it, it looks again. */
static enum task_result rest(struct actor *actor)
{
    if (atomic_load(&actor->run->users_running) == 0)
        return leave(actor);
    actor->execute = sweep;
    task_sleep_until(&actor->task, clock_now_ns(actor->run->clock) + TARGET_LOOK_NS);
    return TASK_PARK;
}

static void show_listed(struct checkpoint *c)
{
    uint64_t left = dirty_list_count(&c->database->dirty);
    c->listed_max = left > c->listed_max ? left : c->listed_max;
    if (c->kind != CHECKPOINT_INDIRECT && c->listed_max)
        show_progress(c, (unsigned)(1 + 999 - left * 999 / c->listed_max));
}

static enum task_result sweep_listed(struct actor *actor)
{
    struct checkpoint *c = actor->checkpoint;
    struct database *database = c->database;
    show_listed(c);
    for (unsigned i = 0; i < FRAMES_PER_TURN; i++) {
        uint64_t key;
        if (c->failed || !dirty_list_oldest(&database->dirty, &key))
            return actor_go(actor, drain);
        if (!c->free_gathers)
            return TASK_PARK;
        if (must_pause(c))
            return pause_begin(actor);
        if (!database_recovery_is_due(database, clock_now_ns(actor->run->clock)) && has_time(actor))
            return rest(actor);
        switch (sweep_page(actor, key)) {
        case COLLECT_CLAIMED:
            gather_send(c);
            break;
        case COLLECT_LOG:
            return actor_go(actor, wait_sweep_log);
        case COLLECT_BUSY:
            return TASK_PARK;
        case COLLECT_NOTHING:
            break;
        }
    }
    return TASK_AGAIN;
}

/* From here on what becomes dirty is the next one's. */
static enum task_result sweep_begin(struct actor *actor)
{
    struct checkpoint *c = actor->checkpoint;
    c->cursor = 0;
    c->listed_max = 0;
    if (c->database->indirect) {
        pool_changes_end(c->database->pool);
        dirty_list_limit(&c->database->dirty, &actor->task);
    }
    return actor_go(actor, sweep);
}

/* ---- the sweep of the others ---- */

static enum collect sweep_page(struct actor *actor, uint64_t key)
{
    struct checkpoint *c = actor->checkpoint;
    struct data_file *file = run_file_by_uid(actor->run, (uint16_t)(key >> 32));
    return writeback_collect_all(c->database, file, (uint32_t)key, actor_gather_cap(actor),
                                 c->free_gathers, &c->wait_position, &actor->task);
}

/* The frame at the cursor. COLLECT_NOTHING: go on with the next. */
static enum collect sweep_frame(struct actor *actor)
{
    struct checkpoint *c = actor->checkpoint;
    uint64_t key = frame_place(c, c->cursor);
    return key ? sweep_page(actor, key) : COLLECT_NOTHING;
}

static enum task_result sweep(struct actor *actor)
{
    struct checkpoint *c = actor->checkpoint;
    struct pool *pool = c->database->pool;
    size_t total = pool->frame_count + pool->system_count;
    actor->execute = sweep;
    if (c->database->indirect)
        return sweep_listed(actor);
    show_progress(c, (unsigned)(1 + c->cursor * 999 / total));
    for (unsigned i = 0; i < FRAMES_PER_TURN && c->cursor < total; i++) {
        if (!c->free_gathers)
            return TASK_PARK;
        if (must_pause(c))
            return pause_begin(actor);
        switch (sweep_frame(actor)) {
        case COLLECT_CLAIMED:
            gather_send(c);
            break;
        case COLLECT_LOG:
            return actor_go(actor, wait_sweep_log);
        case COLLECT_BUSY:
            return TASK_PARK;
        case COLLECT_NOTHING:
            break;
        }
        c->cursor++;
    }
    return c->cursor < total ? TASK_AGAIN : actor_go(actor, drain);
}

static enum task_result wait_sweep_log(struct actor *actor)
{
    struct checkpoint *c = actor->checkpoint;
    struct wal *wal = &c->database->wal;
    if (wal_wait_durable(wal, c->wait_position, &actor->waiter, &actor->task))
        return actor_go(actor, sweep);
    return wal_failed(wal) ? give_up(actor) : TASK_PARK;
}

static enum task_result drain(struct actor *actor)
{
    struct checkpoint *c = actor->checkpoint;
    if (c->writing)
        return TASK_PARK;
    if (c->database->indirect && !c->failed && !dirty_list_is_past(&c->database->dirty)) {
        uint64_t key; /* another's write under way, or one that failed */
        return dirty_list_oldest(&c->database->dirty, &key) ? actor_go(actor, sweep) : TASK_PARK;
    }
    if (c->pages_only)
        return actor_go(actor, release);
    if (!c->rewriting || c->failed)
        return actor_go(actor, flush_files);
    actor->think_until_ns = clock_now_ns(actor->run->clock) + REWRITE_PAUSE_NS;
    return actor_go(actor, rewrite_more);
}

/* ---- flush of data files without write-through, or forced ---- */

static void flush_finished(struct io_req *req)
{
    struct actor *actor = req->context;
    actor->checkpoint->flush_state = FLUSH_DONE;
    task_wake(&actor->task);
}

static void flush_send(struct checkpoint *c, struct data_file *file)
{
    struct io_req *req = &c->flush_req;
    memset(req, 0, offsetof(struct io_req, resume_iov));
    req->op = IO_FLUSH;
    req->stream = STREAM_data_flush;
    req->target = &file->file.target;
    req->done = flush_finished;
    req->context = c->actor;
    c->flush_state = FLUSH_RUNNING;
    c->flush = ledger_flush_begin(c->database->ledger, file->file.mark.file_uid);
    io_submit(&c->actor->task.worker->io, req);
}

/* True when everything acknowledged of the file is durable, or its flush failed (c->failed). */
static bool file_is_flushed(struct checkpoint *c, struct data_file *file)
{
    if (!io_target_is_flushed(&file->file.target))
        return true;
    if (c->flush_state == FLUSH_IDLE)
        flush_send(c, file);
    if (c->flush_state == FLUSH_RUNNING)
        return false;
    c->flush_state = FLUSH_IDLE;
    uint16_t uid = file->file.mark.file_uid;
    ledger_flush_end(c->database->ledger, uid, c->flush, c->flush_req.result == 0);
    if (c->flush_req.result) {
        c->failed = c->flush_req.result;
        run_flush_error(c->actor->run, &file->file, c->failed);
    }
    return true;
}

static enum task_result flush_files(struct actor *actor)
{
    struct checkpoint *c = actor->checkpoint;
    while (!c->failed && c->file_cursor < c->database->file_count) {
        if (!file_is_flushed(c, &c->database->files[c->file_cursor]))
            return TASK_PARK;
        c->file_cursor++;
    }
    return actor_go(actor, c->failed ? release : end_record);
}

/* ---- end ---- */

static struct frame *boot_frame(struct checkpoint *c)
{
    return syspage_frame(&c->database->files[0], BOOT_PAGE);
}

/* Change the boot page and log it together with the end record, under the frame's lock. */
static int end_append(struct checkpoint *c, struct frame *boot, struct task *task)
{
    if (boot->state == FRAME_BAD)
        return -EIO; /* quarantined: no checkpoint can be recorded any more */
    assert(boot->state == FRAME_CLEAN || boot->state == FRAME_DIRTY); /* only we write it */
    struct file *file = &c->database->files[0].file;
    uint8_t image[PAGE_BYTES];
    memcpy(image, boot->bytes, PAGE_BYTES);
    boot_set_checkpoint(image, c->begin);
    struct page_identity identity = {.file_uid = file->mark.file_uid,
                                     .incarnation = file->mark.incarnation,
                                     .page_no = BOOT_PAGE,
                                     .generation = boot->generation + 1};
    struct syspage_change change;
    uint8_t payload[LOG_MARK_BYTES] = "PSCE";
    struct log_record records[2] = {
        syspage_change_record(&change, &identity, boot->bytes, image),
        {.op = LOG_OP_END_CHECKPOINT,
         .head = payload,
         .head_bytes = sizeof payload,
         .payload_bytes = sizeof payload},
    };
    struct lsn lsn;
    int error = wal_append(&c->database->wal, NULL, records, 2, &lsn, task);
    if (error)
        return error;
    memcpy(boot->bytes, image, PAGE_BYTES);
    boot->generation++;
    frame_mark_dirty(c->database->pool, boot, lsn);
    c->wait_position = lsn_position(lsn);
    return 0;
}

static enum task_result end_record(struct actor *actor)
{
    struct checkpoint *c = actor->checkpoint;
    struct frame *boot = boot_frame(c);
    pthread_mutex_t *lock = frame_lock(c->database->pool, boot);
    pthread_mutex_lock(lock);
    int error = end_append(c, boot, &actor->task);
    pthread_mutex_unlock(lock);
    if (error && error != -EAGAIN && !wal_failed(&c->database->wal))
        database_stop(c, error);
    if (error)
        return error == -EAGAIN ? TASK_PARK : give_up(actor);
    return actor_go(actor, wait_end);
}

static enum task_result wait_end(struct actor *actor)
{
    struct checkpoint *c = actor->checkpoint;
    struct wal *wal = &c->database->wal;
    if (!wal_wait_durable(wal, c->wait_position, &actor->waiter, &actor->task))
        return wal_failed(wal) ? give_up(actor) : TASK_PARK;
    enum collect got = writeback_collect_all(c->database, &c->database->files[0], BOOT_PAGE, 1,
                                             c->free_gathers, &c->wait_position, &actor->task);
    assert(got == COLLECT_CLAIMED); /* nobody else writes the boot page */
    gather_send(c);
    return actor_go(actor, write_boot);
}

static enum task_result write_boot(struct actor *actor)
{
    struct checkpoint *c = actor->checkpoint;
    if (c->writing)
        return TASK_PARK;
    if (!c->failed && !file_is_flushed(c, &c->database->files[0]))
        return TASK_PARK;
    return actor_go(actor, release);
}

/* The service comes back by itself; the one at the end of a phase is the last of its phase. */
static enum task_result try_again(struct actor *actor)
{
    struct checkpoint *c = actor->checkpoint;
    atomic_store(&c->database->in_doubt, true);
    if (++c->database->failed_checkpoints == CHECKPOINT_FAILURES_MAX)
        database_stop(c, c->failed);
    bool over = actor->service || run_stopping(actor->run);
    return over ? TASK_DONE : checkpoint_begin(actor);
}

/* SQL Server's own words (trace flag 3504), in the log. */
static void tell(const struct checkpoint *c)
{
    const struct checkpoint_account *done = &c->done;
    double seconds = (double)done->ns / NS_PER_S;
    double per_second = seconds > 0 ? 1 / seconds : 0;
    run_log(c->actor->run, c->actor->name, EVENT_HERE,
            "FlushCache: cleaned up %" PRIu64 " bufs with %" PRIu64 " writes in %" PRIu64
            " ms for db %u:0 (%s); average writes per second: %.2f, average throughput: %.2f "
            "MB/sec, last target outstanding: %u, avgWriteLatency %" PRIu64,
            done->pages, done->writes, (uint64_t)(done->ns / NS_PER_MS),
            c->database->files[0].file.mark.database_id, checkpoint_kind_name(c->kind),
            (double)done->writes * per_second,
            (double)(done->pages * PAGE_BYTES) / (1 << 20) * per_second, c->pace.target,
            (uint64_t)(c->pace.mean_ns / NS_PER_MS));
}

static void account(struct checkpoint *c)
{
    struct checkpoint_account *sum = &c->database->desk.accounts[c->kind];
    c->done.ns = clock_now_ns(c->actor->run->clock) - c->begun_ns;
    sum->count++;
    sum->pages += c->done.pages;
    sum->writes += c->done.writes;
    sum->ns += c->done.ns;
    if (c->done.ns > sum->ns_max)
        sum->ns_max = c->done.ns;
    tell(c);
}

static enum task_result release(struct actor *actor)
{
    struct checkpoint *c = actor->checkpoint;
    struct database *database = c->database;
    show_progress(c, 0);
    atomic_store(&database->last_checkpoint_ns, clock_now_ns(actor->run->clock));
    if (c->failed)
        return try_again(actor);
    if (c->pages_only)
        return TASK_DONE;
    database->failed_checkpoints = 0;
    database->checkpoint_lsn = c->begin;
    wal_release(&database->wal, lsn_position(c->begin));
    atomic_fetch_add(&database->checkpoints, 1);
    relaxed_add(&actor->task.worker->stats.counters.checkpoints, 1);
    account(c);
    checkpoint_desk_end(&database->desk, c->ticket);
    return TASK_DONE;
}

/* ---- life ---- */

int checkpoint_create(struct actor *actor)
{
    struct checkpoint *c = calloc(1, sizeof *c);
    if (!c)
        return -ENOMEM;
    c->actor = actor;
    c->database = actor->database;
    for (unsigned i = 0; i < CHECKPOINT_GATHERS; i++)
        gather_push(&c->free_gathers, &c->gathers[i]);
    const struct run *run = actor->run;
    write_pace_init(&c->pace, run->worker_count, CHECKPOINT_GATHERS * GATHER_PAGES_MAX,
                    (uint64_t)run->settings->checkpoint_slow_ns);
    actor->checkpoint = c;
    if (actor->service)
        checkpoint_desk_serve(&c->database->desk, &actor->task);
    return 0;
}

static enum checkpoint_kind kind_of(const struct actor *actor)
{
    if (!actor->service)
        return CHECKPOINT_SHUTDOWN;
    bool asked = checkpoint_is_asked(&actor->database->desk);
    if (asked)
        return CHECKPOINT_MANUAL;
    bool by_target = actor->database->indirect && !log_is_wanted(actor);
    return by_target ? CHECKPOINT_INDIRECT : CHECKPOINT_AUTOMATIC;
}

enum task_result checkpoint_begin(struct actor *actor)
{
    struct checkpoint *c = actor->checkpoint;
    assert(c->writing == 0 && c->flush_state == FLUSH_IDLE);
    c->cursor = 0;
    c->file_cursor = 0;
    c->failed = 0;
    c->pages_only = false;
    c->rewriting = false;
    c->done = (struct checkpoint_account){.count = 1};
    c->begun_ns = clock_now_ns(actor->run->clock);
    c->kind = kind_of(actor);
    c->ticket = checkpoint_desk_begin(&c->database->desk);
    return actor_go(actor, begin_record);
}
