/* actor.c - see actor.h. */
#include "sim/actor.h"

#include <assert.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "sim/backup.h"
#include "sim/run_errors.h"
#include "sim/tempdb_work.h"

#define CPU_CYCLES_PER_TURN 1000000 /* burn no more than this without giving the turn away */

/* ---- the view ---- */

/* A pattern sees sizes that do not change while it thinks. */
static void view_files(struct actor *actor)
{
    struct run *run = actor->run;
    unsigned now = atomic_load(&run->size_changes);
    if (actor->files_as_of == now)
        return;
    for (unsigned i = 0; i < run->file_count; i++) {
        bool seen = actor->database_only < 0 || actor->database_only == actor->files[i].database;
        actor->files[i].size_pages = seen ? run->files[i]->file.size_pages : 0;
    }
    actor->files_as_of = now;
}

void actor_view(struct actor *actor, struct pattern_view *view)
{
    struct run *run = actor->run;
    view_files(actor);
    struct database *database = actor->database ? actor->database : &run->databases[0];
    bool serves = actor->checkpoint && actor->service;
    *view = (struct pattern_view){
        .now_ns = clock_now_ns(run->clock),
        .files = actor->files,
        /* tempdb is used through its space, and read as a whole by nobody but the last audit. */
        .file_count = actor->pattern->user_count ? run->user_file_count : run->file_count,
        .log_used_permille = wal_used_permille(&database->wal),
        .frames_low = pool_is_low(&run->pool),
        .frames_wanted = atomic_load(&run->pool.waiting) > 0,
        .log_space_wanted = wal_space_wanted(&database->wal),
        .log_held = !wal_checkpoint_frees(&database->wal),
        .checkpoint_indirect = database->indirect,
        .recovery_due = serves && database_recovery_is_due(database, clock_now_ns(run->clock)),
        .checkpoint_asked = checkpoint_is_asked(&database->desk),
        .checkpoint_no_room = atomic_load(&database->desk.no_room),
        .serving = actor->service,
        .through = atomic_load(&actor->through),
        .log_backup_wanted = actor->backup && backup_log_is_wanted(actor),
        .last_checkpoint_ns = atomic_load(&database->last_checkpoint_ns),
        /* tempdb's is due for the sake of its log alone. */
        .checkpoint_interval_ns =
            database->tempdb ? 0 : (uint64_t)run->settings->recovery_interval_ns,
        .log_full_permille = (unsigned)(run->settings->log_used_checkpoint / 10),
    };
}

/* ---- small executors ---- */

/* A service thinks on while the run stops: users may still need it. */
static bool nobody_needs(const struct actor *actor)
{
    struct run *run = actor->run;
    return actor->service ? atomic_load(&run->users_running) == 0 : run_stopping(run);
}

static enum task_result think_step(struct actor *actor)
{
    uint64_t now = clock_now_ns(actor->run->clock);
    uint64_t deadline_ns = actor->service ? UINT64_MAX : actor->run->phase_deadline_ns;
    if (actor->think_until_ns > deadline_ns) /* it may come nearer */
        actor->think_until_ns = deadline_ns;
    bool over = now >= actor->think_until_ns;
    over |= atomic_load(&actor->leaving);
    if (over || nobody_needs(actor)) {
        atomic_store(&actor->sleeping, false);
        return TASK_DONE;
    }
    task_sleep_until(&actor->task, actor->think_until_ns);
    return TASK_PARK;
}

static enum task_result called(struct actor *actor)
{
    atomic_store(&actor->sleeping, false);
    return TASK_DONE;
}

static enum task_result think_begin(struct actor *actor)
{
    actor->think_until_ns = clock_now_ns(actor->run->clock) + (uint64_t)actor->op.think_ns;
    actor->execute = think_step;
    atomic_store(&actor->sleeping, true);
    enum task_result result = think_step(actor);
    if (actor->op.until_called && result == TASK_PARK)
        actor->execute = called; /* whatever wakes it is a call */
    return result;
}

static enum task_result yield_step(struct actor *actor)
{
    (void)actor;
    return TASK_DONE;
}

static enum task_result yield_begin(struct actor *actor)
{
    actor->execute = yield_step;
    return TASK_AGAIN;
}

static enum task_result compute_begin(struct actor *actor)
{
    if (run_stopping(actor->run) || atomic_load(&actor->leaving) ||
        clock_now_ns(actor->run->clock) >= actor->run->phase_deadline_ns)
        return TASK_DONE;
    int64_t cycles = actor->op.compute_cycles;
    int64_t now = cycles < CPU_CYCLES_PER_TURN ? cycles : CPU_CYCLES_PER_TURN;
    for (volatile int64_t i = 0; i < now; i = i + 1)
        ; /* the work of a user between two accesses */
    actor->op.compute_cycles -= now;
    actor->execute = compute_begin;
    return actor->op.compute_cycles > 0 ? TASK_AGAIN : TASK_DONE;
}

/* Kinds of op that name a data file use it from their begin to their end. */
static void op_use_file(struct actor *actor)
{
    enum op_kind kind = actor->op.kind;
    if (actor->op.new_extents) /* new_extents.c chooses it */
        return;
    if (kind == OP_UPDATE || kind == OP_AUDIT || kind == OP_READ_AHEAD || kind == OP_BULK)
        file_use_begin(&actor->use, actor->run->files[actor->op.file]);
}

static enum task_result op_begin(struct actor *actor)
{
    op_use_file(actor);
    if (sparse_extents_wanted(actor))
        return sparse_extents_begin(actor);
    switch (actor->op.kind) {
    case OP_UPDATE:
        return transaction_begin(actor);
    case OP_AUDIT:
        return page_audit_begin(actor);
    case OP_READ_AHEAD:
        return read_ahead_begin(actor);
    case OP_BULK:
        return actor->op.new_extents ? new_extents_begin(actor) : bulk_update_begin(actor);
    case OP_BACKUP:
        return backup_begin(actor);
    case OP_RESIZE:
        return size_change_begin(actor);
    case OP_CHECKPOINT:
        return checkpoint_begin(actor);
    case OP_CHECKDB:
        return dbcc_check_begin(actor);
    case OP_FRAME_CHECK:
        return frame_check_begin(actor);
    case OP_LAZY_WRITE:
        return lazy_write_begin(actor);
    case OP_SORT:
        return tempdb_sort_begin(actor);
    case OP_HASH:
        return tempdb_hash_begin(actor);
    case OP_STORE:
        return tempdb_store_begin(actor);
    case OP_THINK:
        return think_begin(actor);
    case OP_YIELD:
        return yield_begin(actor);
    case OP_COMPUTE:
        return compute_begin(actor);
    case OP_END:
        break;
    }
    return TASK_DONE;
}

bool actor_is_over(const struct actor *actor)
{
    const struct run *run = actor->run;
    if (actor->service)
        return atomic_load(&((struct run *)(uintptr_t)run)->users_running) == 0;
    if (atomic_load(&((struct actor *)(uintptr_t)actor)->leaving))
        return true;
    if (actor->database && !actor->service) /* a phase's checkpoint: no signal leaves it out */
        return atomic_load(&((struct run *)(uintptr_t)run)->stop) == RUN_STOP_ERROR;
    return run_stopping(run) || clock_now_ns(run->clock) >= run->phase_deadline_ns;
}

void actor_came_through(struct actor *actor)
{
    if (actor->op_until == 0 || actor->op_until != atomic_load(&actor->until))
        return;
    if (!atomic_exchange(&actor->through, true))
        run_came_through(actor->run);
}

/* ---- open loop ---- */

/* Until the arrival is due; at once when it has waited for this slot.  When the phase ends first it
 * was missed. */
static enum task_result arrival_wait(struct actor *actor)
{
    uint64_t now = clock_now_ns(actor->run->clock);
    uint64_t due_ns = actor->op.due_ns, deadline_ns = actor->run->phase_deadline_ns;
    atomic_store(&actor->sleeping, true); /* before the look at the stop: run_stop() wakes us */
    bool over = actor_is_over(actor);
    if (!over && now < due_ns) {
        actor->slot_was_free = true;
        task_sleep_until(&actor->task, due_ns < deadline_ns ? due_ns : deadline_ns);
        return TASK_PARK;
    }
    atomic_store(&actor->sleeping, false);
    if (over)
        return TASK_DONE;
    actor->begun_ns = now;
    actor->reader.lateness_ns = now - due_ns;
    return op_begin(actor);
}

static enum task_result arrival_begin(struct actor *actor)
{
    actor->op.due_ns = arrivals_take(actor->arrivals);
    actor->slot_was_free = false;
    return actor_go(actor, arrival_wait);
}

static void arrival_end(struct actor *actor)
{
    uint64_t now = clock_now_ns(actor->run->clock);
    enum phase phase = run_phase_now(actor->run);
    uint64_t due_ns = actor->op.due_ns;
    if (now < actor->run->phase_deadline_ns) /* what is done later was not carried in its time */
        arrivals_done(actor->arrivals, phase, due_ns, actor->begun_ns, now, actor->slot_was_free);
    if (actor->op.kind == OP_UPDATE)
        stats_add(&actor->task.worker->stats, phase, STREAM_transaction, 0, now - actor->begun_ns,
                  now - due_ns);
    actor->begun_ns = 0;
    actor->reader.lateness_ns = 0;
}

/* ---- held shares ---- */

/* A scan waits before each of its requests (read_ahead.c), any other op before it begins. */
static bool has_to_wait_for_share(const struct actor *actor)
{
    return actor->share.gate && op_is_work(actor->op.kind) && actor->op.kind != OP_READ_AHEAD;
}

static enum task_result share_wait(struct actor *actor)
{
    atomic_store(&actor->sleeping, true); /* before the look at the stop: run_stop() wakes us */
    bool over = actor_is_over(actor);
    if (!over && !share_may_begin(&actor->share, &actor->task))
        return TASK_PARK;
    atomic_store(&actor->sleeping, false);
    share_forget(&actor->share, &actor->task);
    return over ? TASK_DONE : op_begin(actor);
}

/* A spill is one long op, and its requests are written and read from memory of its own: it may wait
 * for its share between two turns, while what is under way completes. */
static bool turn_has_to_wait(struct actor *actor)
{
    bool spills = actor->op.kind == OP_SORT || actor->op.kind == OP_HASH;
    struct wait_list *stands_in = atomic_load(&actor->task.wait_list);
    if (!actor->share.gate || !actor->execute || !spills || actor->execute == share_wait)
        return false;
    if (stands_in && !share_is_waiting(&actor->share, &actor->task))
        return false;
    atomic_store(&actor->sleeping, true); /* before the look at the stop: run_stop() wakes us */
    bool over = actor_is_over(actor);
    if (!over && !share_may_begin(&actor->share, &actor->task))
        return true;
    atomic_store(&actor->sleeping, false);
    share_forget(&actor->share, &actor->task);
    return false;
}

/* Requests of this turn, and changes of pages, each of which is written some time. */
struct turn {
    uint64_t submitted, updates;
};

static struct turn turn_begin(const struct actor *actor)
{
    const struct worker *worker = actor->task.worker;
    return (struct turn){worker->io.submitted, worker->stats.counters.page_updates};
}

static void turn_end(struct actor *actor, struct turn begin)
{
    struct turn now = turn_begin(actor);
    uint64_t updates = actor->op.kind == OP_UPDATE ? now.updates - begin.updates : 0;
    share_issued(&actor->share, now.submitted - begin.submitted + updates);
}

/* ---- the actor's turn ---- */

static void op_end(struct actor *actor)
{
    actor->execute = NULL;
    file_use_end(&actor->use);
    if (actor->begun_ns)
        arrival_end(actor);
}

static enum task_result op_next(struct actor *actor)
{
    struct pattern_view view;
    actor->op_until = atomic_load(&actor->until);
    actor_view(actor, &view);
    actor->pattern->next(actor->state, &view, &actor->op);
    actor->op.due_ns = 0;
    if (actor->op.kind == OP_END)
        return TASK_DONE;
    actor->ops++;
    bool arrives = actor->arrivals && op_is_work(actor->op.kind);
    enum task_result result = arrives                        ? arrival_begin(actor)
                              : has_to_wait_for_share(actor) ? actor_go(actor, share_wait)
                                                             : op_begin(actor);
    if (result != TASK_DONE)
        return result;
    op_end(actor);
    return TASK_AGAIN; /* one op a turn: the others have theirs */
}

/* Who backs the log up goes on for users that wait for log, or for a checkpoint that lacks it: from
 * now on as a service. */
static bool serves_on(struct actor *actor)
{
    if (actor->service || atomic_load(&actor->leaving) || !backup_serves_on(actor))
        return false;
    actor->service = true;
    run_user_serves(actor->run);
    return !actor_is_over(actor);
}

static enum task_result turn_of(struct actor *actor)
{
    enum task_result result = TASK_DONE;
    if (actor->execute)
        result = actor->execute(actor);
    if (result != TASK_DONE)
        return result;
    op_end(actor);
    bool over = actor_is_over(actor) && !serves_on(actor);
    return over ? TASK_DONE : op_next(actor);
}

static enum task_result actor_step(struct task *task)
{
    struct actor *actor = (struct actor *)task; /* first member */
    if (turn_has_to_wait(actor))
        return TASK_PARK;
    struct turn begin = turn_begin(actor);
    enum task_result result = turn_of(actor);
    if (actor->share.gate)
        turn_end(actor, begin);
    return result;
}

static void actor_finished(struct task *task)
{
    struct actor *actor = (struct actor *)task;
    if (actor->pattern->cleans)
        pool_set_cleaner(&actor->run->pool, NULL);
    tempdb_work_finish(actor);
    if (actor->checkpoint && actor->service)
        checkpoint_desk_serve(&actor->database->desk, NULL);
    share_leave(&actor->share);
    if (actor->backup && actor->pattern->user_count)
        backup_left(actor);
    run_task_ended(actor->run, !actor->service);
    atomic_store(&actor->ended, true); /* the last that is done to it here */
}

unsigned actor_gather_cap(const struct actor *actor)
{
    const struct config_settings *settings = actor->run->settings;
    if (!settings->use_scatter_gather)
        return 1;
    int64_t cap = settings->gather_pages_max;
    return cap < GATHER_PAGES_MAX ? (unsigned)cap : GATHER_PAGES_MAX;
}

void actor_gather_send(struct actor *actor, struct gather *gather, enum stream stream,
                       void (*done)(struct gather *gather))
{
    gather->stream = stream;
    gather->worker = actor->task.worker;
    gather->retried = false;
    gather->done = done;
    gather->on_error = run_write_error;
    gather->run = actor->run;
    gather->actor = actor->name;
    gather->context = actor;
    writeback_submit(gather);
}

/* ---- life ---- */

/* The buffers of scans are frames of the pool: all scans of a pattern share a part of it. */
static int scan_init(struct actor *actor, const struct profile *profile, const void *settings)
{
    const struct pattern *pattern = actor->pattern;
    struct run *run = actor->run;
    if (!pattern->pages_at_once)
        return 0;
    uint64_t scans = (uint64_t)pattern->user_count(settings, run->worker_count);
    uint64_t wanted = (uint64_t)pattern->pages_at_once(settings);
    unsigned share = pool_scan_share(run->pool.frame_count, scans, wanted);
    struct page_scan_how how = {
        .number = actor->number,
        .outstanding_pages = share,
        .outstanding_requests =
            pattern->requests_at_once ? (unsigned)pattern->requests_at_once(settings) : 0,
        .cache_hit_ratio = profile_config(profile)->cache_hit_ratio};
    return page_scan_init(&actor->scan, &actor->reader, &how);
}

/* Also of who changes pages of a sparse file, whose extents come by loads. */
static int bulk_init(struct actor *actor, const void *settings)
{
    const struct pattern *pattern = actor->pattern;
    int64_t pages = pattern->loads ? pattern->pages_at_once(settings) : 0;
    if (pattern->log_need && sparse_extents_needed(actor->run) && pages < ALLOCATION_CHUNK_PAGES)
        pages = ALLOCATION_CHUNK_PAGES;
    if (pages == 0)
        return 0;
    actor->bulk = bulk_update_create(actor, (uint32_t)pages);
    return actor->bulk ? 0 : -ENOMEM;
}

int actor_init(struct actor *actor, struct run *run, const struct profile *profile,
               const struct pattern *pattern, struct worker *worker, unsigned number,
               unsigned kind_index, struct database *database)
{
    memset(actor, 0, sizeof *actor);
    task_init(&actor->task, worker, actor_step);
    actor->task.finished = actor_finished;
    actor->run = run;
    actor->pattern = pattern;
    actor->number = actor->serial = number;
    actor->settings = profile ? profile_config(profile) : run->settings;
    actor->database_only = -1;
    actor->files_as_of = ~0u;
    actor->database = database;
    actor->service = pattern->service;
    snprintf(actor->name, sizeof actor->name, "%s %u", pattern->name, kind_index + 1);
    actor->task.name = actor->name;
    const void *settings =
        pattern->section ? profile_section(profile, pattern->section->name) : NULL;
    actor->state = calloc(1, pattern->state_size(settings));
    actor->files = calloc(run->file_count, sizeof *actor->files);
    if (pattern->audits)
        actor->audit.buffer = aligned_alloc(4096, AUDIT_PAGES_MAX * PAGE_BYTES);
    if (!actor->state || !actor->files || (pattern->audits && !actor->audit.buffer))
        return -ENOMEM;
    memcpy(actor->files, run->pattern_files, run->file_count * sizeof *actor->files);
    pattern->init(actor->state, settings, run->config.plan->seed, number);
    if (pattern->place)
        pattern->place(actor->state, kind_index);
    int error = page_reader_init(&actor->reader, run, &actor->task, actor->name);
    if (!error)
        error = scan_init(actor, profile, settings);
    if (!error)
        error = bulk_init(actor, settings);
    if (!error && pattern->reads) {
        actor->dbcc = dbcc_check_create(actor, pattern->reads(settings));
        error = actor->dbcc ? 0 : -ENOMEM;
    }
    if (!error && pattern->backs_up)
        error = backup_create(actor, profile_section(profile, "BackupUser"), kind_index);
    if (!error && pattern->tempdb)
        error = tempdb_work_create(actor);
    if (!error && (pattern->resizes || (pattern->new_extents && pattern->new_extents(settings))))
        error = size_change_create(actor);
    if (!error && pattern->undo_pages && pattern->undo_pages(settings) > 0) {
        actor->rollback = rollback_create(actor, pattern->undo_pages(settings));
        error = actor->rollback ? 0 : -ENOMEM;
    }
    if (!error && pattern->per_database)
        error = checkpoint_create(actor);
    if (!error && pattern->checks)
        error = frame_check_create(actor, kind_index, run->worker_count);
    if (pattern->idle)
        task_set_idle(&actor->task);
    if (!error && pattern->cleans) {
        error = lazy_write_create(actor);
        pool_set_cleaner(&run->pool, &actor->task);
    }
    return error;
}

void actor_free(struct actor *actor)
{
    bulk_update_free(actor->bulk);
    actor->bulk = NULL;
    dbcc_check_free(actor->dbcc);
    actor->dbcc = NULL;
    tempdb_work_free(actor->tempdb);
    actor->tempdb = NULL;
    size_change_free(actor);
    rollback_free(actor->rollback);
    actor->rollback = NULL;
    page_scan_free(&actor->scan);
    page_reader_free(&actor->reader);
    free(actor->audit.buffer);
    free(actor->state);
    free(actor->files);
    free(actor->checkpoint);
    free(actor->lazy);
    backup_free(actor);
    frame_check_free(actor);
    actor->audit.buffer = NULL;
    actor->state = NULL;
    actor->files = NULL;
    actor->checkpoint = NULL;
    actor->lazy = NULL;
}

void actor_start(struct actor *actor)
{
    run_task_started(actor->run, !actor->service);
    task_start(&actor->task);
}
