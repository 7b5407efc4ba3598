/* run_build.c - building a run and taking it apart; see run.h. */
#include "sim/run.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>

#include "sim/actor.h"
#include "sim/backup_media.h"
#include "sim/boot_id.h"
#include "sim/database_use.h"
#include "sim/dbcc_pass.h"
#include "sim/engine_choice.h"
#include "sim/evidence.h"
#include "sim/exonerate.h"
#include "sim/exit_code.h"
#include "sim/io_trace.h"
#include "sim/foreign.h"
#include "sim/finding_hook.h"
#include "sim/run_echo.h"
#include "sim/run_actor_rows.h"
#include "sim/run_actors.h"
#include "sim/run_errors.h"
#include "sim/run_reuse.h"
#include "sim/run_log.h"
#include "sim/run_slots.h"
#include "sim/run_watch.h"
#include "sim/snapshot.h"
#include "sim/tempdb_space.h"
#include "sim/write_check.h"
#include "verify/checksum.h"

static int fail(struct run *run, int exit_code, int error, const char *format, ...)
    __attribute__((format(printf, 4, 5)));
static int fail(struct run *run, int exit_code, int error, const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    if (!run->message[0])
        vsnprintf(run->message, sizeof run->message, format, arguments);
    va_end(arguments);
    run->exit_code = exit_code;
    return error;
}

struct data_file *run_file_by_uid(const struct run *run, uint16_t uid)
{
    for (unsigned i = 0; i < run->file_count; i++)
        if (run->files[i]->file.mark.file_uid == uid)
            return run->files[i];
    for (unsigned i = 0; run->snapshots && i < run->snapshots->count; i++)
        if (run->snapshots->list[i].file.file.mark.file_uid == uid)
            return &run->snapshots->list[i].file;
    return NULL;
}

void run_stats(const struct run *run, struct stats *out)
{
    memset(out, 0, sizeof *out);
    stats_merge(out, &run->main_stats);
    for (unsigned i = 0; i < run->worker_count; i++)
        stats_merge(out, &run->workers[i].stats);
}

/* ---- identity and clock ---- */

/* Under the virtual clock the seed alone decides everything. */
static int identity_make(struct run *run)
{
    uint64_t seed = run->config.plan->seed;
    if (run->config.reuse) {
        run->identity = reuse_identity(run->config.reuse);
        memcpy(run->run_id, ledger_header_of(run->config.reuse->ledger)->run_id,
               sizeof run->run_id);
        return 0;
    }
    if (run->config.virtual_clock) {
        for (unsigned i = 0; i < 2; i++) {
            uint64_t half = xxh3_64_seeded(&i, sizeof i, seed);
            memcpy(run->run_id + 8 * i, &half, sizeof half);
        }
    } else if (getrandom(run->run_id, sizeof run->run_id, 0) != sizeof run->run_id) {
        return fail(run, EXIT_CODE_INCOMPLETE, -EIO,
                    "the system gives no random bytes for the run id");
    }
    uint16_t compressible = (uint16_t)run->settings->compressibility;
    run->identity = run_identity_make(run->run_id, seed, compressible);
    return 0;
}

static void clock_make(struct run *run)
{
    run->clock = run->config.clock ? run->config.clock : &run->own_clock;
    if (run->config.clock)
        return;
    if (run->config.virtual_clock)
        clock_init_virtual(&run->own_clock);
    else
        clock_init_real(&run->own_clock);
}

/* ---- pool, workers and engines ---- */

/* The first data file of a database has pages that the others lack. */
static bool is_primary(const struct plan *plan, unsigned index)
{
    for (unsigned i = 0; i < index; i++)
        if (!plan->files[i].is_log && plan->files[i].database == plan->files[index].database)
            return false;
    return true;
}

/* A worker's node is what the plan deals it.  Under the virtual clock no thread is started, and
 * which frame is taken must not depend on the machine. */
static bool spreads(const struct run *run)
{
    return run->config.plan->numa.count > 0 && !run->config.virtual_clock;
}

/* Before the engines, too: memory that is registered has its place. */
static void nodes_use(struct run *run)
{
    const struct numa *numa = &run->config.plan->numa;
    unsigned dealt[NUMA_NODES_MAX] = {0};
    char text[NUMA_TEXT_MAX];
    if (!spreads(run))
        return;
    for (unsigned i = 0; i < run->config.plan->workers; i++)
        numa_deal(numa, dealt);
    numa_text(numa, dealt, text);
    int error = pool_spread(&run->pool, numa);
    if (error)
        run_say(run, "NUMA: %s; where the buffer pool lies is left to the system (mbind: %s)", text,
                strerror(-error));
    else
        run_say(run, "NUMA: %s; the buffer pool lies on them in equal parts", text);
}

/* Before the engines, which register its memory. */
static int pool_make(struct run *run)
{
    const struct plan *plan = run->config.plan;
    size_t system = 0;
    for (unsigned i = 0; i < plan->file_count; i++)
        if (!plan->files[i].is_log)
            system += syspage_count_of((uint32_t)(plan_file_capacity(&plan->files[i]) / PAGE_BYTES),
                                       is_primary(plan, i));
    size_t frames = plan->pool_bytes / PAGE_BYTES;
    int error = pool_create(&run->pool, frames, system);
    if (error)
        fail(run, EXIT_CODE_INCOMPLETE, error,
             "not enough memory for a buffer pool of %zu MB; set MaxMemoryMB lower",
             frames * PAGE_BYTES >> 20);
    else
        nodes_use(run);
    return error;
}

static int engine_fail(struct run *run, int error)
{
    const struct io_engine_ops *ops = run->config.engine;
    struct engine_system system;
    char why[ENGINE_TEXT_MAX];
    engine_system_read(&system);
    engine_refusal(ops, error, &system, why);
    return fail(run, EXIT_CODE_INCOMPLETE, error,
                "the I/O engine %s cannot be started for %u workers: %s", ops->name,
                run->config.plan->workers, why);
}

/* Once, not for every worker. */
static void memory_tell(const struct run *run)
{
    struct engine_system system;
    char note[ENGINE_TEXT_MAX];
    engine_system_read(&system);
    if (engine_memory_note(run->main_engine, run->pool.memory_bytes, &system, note))
        run_say(run, "%s", note);
}

static uint32_t outstanding_max(const struct run *run)
{
    int64_t max = run->settings->max_outstanding_io;
    return max > 0 ? (uint32_t)max : IO_OUTSTANDING_MAX;
}

static int rows_make(struct run *run)
{
    run->actor_rows = calloc(1, sizeof *run->actor_rows);
    return run->actor_rows ? 0 : -ENOMEM;
}

/* Where each worker keeps its seconds of a rated part. */
static int seconds_make(struct run *run)
{
    unsigned workers = run->config.plan->workers;
    uint64_t longest_ns = run_slots_rated_ns_max(run->slots);
    size_t seconds = (size_t)(longest_ns / NS_PER_S) + 1;
    int error = 0;
    if (longest_ns == 0)
        return 0;
    run->seconds = calloc(workers, sizeof *run->seconds);
    if (!run->seconds)
        return -ENOMEM;
    for (unsigned i = 0; i < workers && !error; i++)
        error = seconds_init(&run->seconds[i], seconds);
    return error;
}

static void seconds_drop(struct run *run)
{
    for (unsigned i = 0; i < run->config.plan->workers && run->seconds; i++)
        seconds_free(&run->seconds[i]);
    free(run->seconds);
}

static void limit_make(struct run *run)
{
    const struct config_settings *settings = run->settings;
    io_limit_init(&run->limit, (uint64_t)settings->max_iops,
                  (uint64_t)settings->max_mb_per_s << 20);
    run->io.limit = run->limit.on ? &run->limit : NULL;
}

static int workers_make(struct run *run)
{
    const struct plan *plan = run->config.plan;
    struct iovec memory = {run->pool.memory, run->pool.memory_bytes};
    struct io_engine_config config = {.clock = run->clock,
                                      .depth = plan->queue_depth,
                                      .cpus = &plan->io_cpus,
                                      .device = run->config.engine_device,
                                      .memory = &memory,
                                      .memory_count = 1,
                                      .memory_engines = plan->workers + 1};
    int error = run->config.engine->create(&run->main_engine, &config);
    if (error)
        return engine_fail(run, error);
    memory_tell(run);
    io_init(&run->io, run->main_engine, run->clock, &run->main_stats, &run->phase);
    io_gate_init(&run->gate, outstanding_max(run));
    io_gate_join(&run->gate, &run->io, false);
    limit_make(run);
    run->io.trace = io_trace_buffer(run->config.trace, -1);
    run->workers = calloc(plan->workers, sizeof *run->workers);
    if (!run->workers)
        return fail(run, EXIT_CODE_INCOMPLETE, -ENOMEM, "not enough memory for %u workers",
                    plan->workers);
    unsigned dealt[NUMA_NODES_MAX] = {0};
    for (unsigned i = 0; i < plan->workers; i++) {
        error = worker_init(&run->workers[i], i, run->config.engine, &config, &run->phase);
        if (error)
            return engine_fail(run, error);
        run->workers[i].cpus =
            spreads(run) ? &plan->numa.nodes[numa_deal(&plan->numa, dealt)].cpus : &plan->cpus;
        io_gate_join(&run->gate, &run->workers[i].io, true);
        run->workers[i].io.limit = run->io.limit;
        run->workers[i].io.trace = io_trace_buffer(run->config.trace, (int)i);
        run->worker_count++;
        if (run->seconds)
            run->workers[i].io.seconds = &run->seconds[i];
    }
    return 0;
}

static int attach_to(struct io *io, struct io_target *target)
{
    int error = io->engine->ops->attach(io->engine, target);
    return error || !target->coalesced ? error : io_flush_attach(io, target);
}

int run_attach(struct run *run, struct io_target *target)
{
    int error = attach_to(&run->io, target);
    for (unsigned i = 0; i < run->worker_count && !error; i++)
        error = attach_to(&run->workers[i].io, target);
    return error;
}

/* ---- databases and files ---- */

static unsigned count_files(const struct plan *plan, unsigned database, bool is_log)
{
    unsigned count = 0;
    for (unsigned i = 0; i < plan->file_count; i++)
        count += plan->files[i].database == database && plan->files[i].is_log == is_log;
    return count;
}

static bool is_tempdb(const struct plan *plan, unsigned database)
{
    for (unsigned i = 0; i < plan->file_count; i++)
        if (plan->files[i].database == database)
            return plan->files[i].tempdb;
    return false;
}

static int databases_allocate(struct run *run)
{
    const struct plan *plan = run->config.plan;
    run->databases = calloc(plan->database_count, sizeof *run->databases);
    run->files = calloc(plan->file_count, sizeof(struct data_file *));
    run->pattern_files = calloc(plan->file_count, sizeof *run->pattern_files);
    if (!run->databases || !run->files || !run->pattern_files)
        return -ENOMEM;
    for (unsigned i = 0; i < plan->database_count; i++) {
        struct database *database = &run->databases[i];
        database->index = i;
        database->pool = &run->pool;
        database->run = &run->identity;
        checkpoint_desk_init(&database->desk);
        size_rights_init(&database->sizes);
        database->tempdb = is_tempdb(plan, i);
        snprintf(database->name, sizeof database->name, "pagestorm%u", i + 1);
        if (database->tempdb)
            snprintf(database->name, sizeof database->name, "tempdb");
        database->files = calloc(count_files(plan, i, false), sizeof *database->files);
        database->logs = calloc(count_files(plan, i, true), sizeof *database->logs);
        if (!database->files || !database->logs)
            return -ENOMEM;
        run->database_count++;
        run->user_database_count += !database->tempdb;
    }
    return 0;
}

/* A log that is made anew over files that are taken over is not left half: the run stops right
 * behind it. */
static int creation_tick(void *context, uint64_t bytes)
{
    struct run *run = context;
    run_step_done(run, bytes);
    return run_interrupted(run) && !run->config.reuse ? -EINTR : 0;
}

static int fail_interrupted(struct run *run)
{
    return fail(run, EXIT_CODE_INTERRUPTED, -EINTR,
                "interrupted while the files were created; they were removed");
}

/* What creation writes: all logs, and data files that are stamped. */
static uint64_t creation_bytes(const struct run *run)
{
    const struct plan *plan = run->config.plan;
    uint64_t sum = 0;
    for (unsigned i = 0; i < plan->file_count; i++)
        sum += plan->files[i].is_log || (run->settings->stamp_files && !plan->prepared)
                   ? plan->files[i].size_bytes
                   : 0;
    return sum;
}

/* SQL Server's file ids: 1 the primary data file, 2 the log, then the other data files, which the
 * plan names before the logs, and the other logs. */
static uint16_t file_id_of(const struct database *database, bool is_log)
{
    if (is_log)
        return (uint16_t)(database->log_count ? database->file_count + database->log_count + 1 : 2);
    return (uint16_t)(database->file_count ? database->file_count + 2 : 1);
}

/* Refused for what stands there, or for want of something? */
static int file_refused(struct run *run, int error)
{
    bool path_bad = error == -EEXIST || error == -ESTALE || error == -EBUSY || error == -EACCES ||
                    error == -EPERM;
    run->exit_code = path_bad ? EXIT_CODE_USAGE : EXIT_CODE_INCOMPLETE;
    return error;
}

/* What each file of a run gets when it exists. */
static int file_made(struct run *run, struct file *file)
{
    if (run->config.trace)
        io_trace_file(run->config.trace, file->mark.file_uid, file->path);
    io_account_init(&file->target.account,
                    (uint32_t)((uint64_t)run->settings->target_io_duration_ns / NS_PER_MS),
                    outstanding_max(run));
    if (run->message[0])
        run_say(run, "%s", run->message);
    run->message[0] = 0;
    foreign_add(run, file);
    int error = run_attach(run, &file->target);
    return error ? fail(run, EXIT_CODE_INCOMPLETE, error, "%s: the I/O engine refuses the file: %s",
                        file->path, strerror(-error))
                 : 0;
}

static int file_make(struct run *run, unsigned index)
{
    const struct plan_file *planned = &run->config.plan->files[index];
    struct database *database = &run->databases[planned->database];
    struct data_file *data = &database->files[database->file_count];
    struct file *file = planned->is_log ? &database->logs[database->log_count] : &data->file;
    struct file_mark mark = {
        .file_uid = (uint16_t)(index + 1),
        .incarnation = 1,
        .file_id = file_id_of(database, planned->is_log),
        .database_id = (uint16_t)(planned->tempdb ? DATABASE_ID_TEMPDB
                                                  : DATABASE_ID_FIRST + planned->database),
        .kind = planned->is_log ? FILE_KIND_LOG : FILE_KIND_DATA,
        .seed = run->config.plan->seed,
        .compressible = run->identity.compressible,
        .log_count = (uint16_t)count_files(run->config.plan, planned->database, true),
    };
    memcpy(mark.run_id, run->run_id, sizeof mark.run_id);
    struct file_open how = {
        .path = planned->path,
        .direct = run->settings->no_buffering,
        .dsync = run->settings->write_through,
        .coalesced = run->settings->alternate_write_through,
        .stamp = run->settings->stamp_files,
        .sparse = planned->sparse,
        .delete_own = run->settings->delete_files_at_startup,
        .forced_sector_bytes = (uint32_t)run->settings->sector_size_bytes,
    };
    uint32_t pages = (uint32_t)(planned->size_bytes / PAGE_BYTES);
    struct tick tick = {creation_tick, run};
    how.tick = &tick;
    int error = run->config.reuse ? file_take_over(file, &how, &mark, run->message)
                                  : file_create(file, &how, &mark, pages, run->message);
    if (error == -EINTR)
        return fail_interrupted(run);
    if (error)
        return file_refused(run, error);
    run->files_made = index + 1;
    file->target.forced_flush = run->settings->forced_flush;
    if (run->config.reuse && planned->tempdb && !planned->is_log)
        file->size_pages = file->mark.size_pages = pages; /* it is made anew: run_reuse_tempdb */
    if (!planned->is_log) {
        data->sparse = planned->sparse || planned->tempdb;
        data->increment_bytes = planned->increment_bytes;
        data->shrinkable = planned->shrinkable;
        data->coverage.bound_us = run->config.plan->verify_within_ns / 1000;
        data->initial_pages = (uint32_t)(planned->initial_bytes / PAGE_BYTES);
        data->capacity_pages = (uint32_t)(plan_file_capacity(planned) / PAGE_BYTES);
        run->files[run->file_count++] = data;
        run->user_file_count += !planned->tempdb;
    }
    database->file_count += !planned->is_log;
    database->log_count += planned->is_log;
    return file_made(run, file);
}

/* Behind the others: they have the uids that follow. */
static int snapshots_make(struct run *run)
{
    int error = snapshots_create(run, file_made);
    return error && !run->exit_code ? file_refused(run, error) : error;
}

/* A file of the plan that was made: uids are in the order of the plan. */
static const struct file *planned_file(const struct run *run, unsigned index)
{
    const struct plan_file *planned = &run->config.plan->files[index];
    const struct database *database = &run->databases[planned->database];
    if (!planned->is_log)
        return &run_file_by_uid(run, (uint16_t)(index + 1))->file;
    return &database->logs[index + 1 - database->logs[0].mark.file_uid];
}

static struct ledger_file_spec snapshot_spec(const struct data_file *snapshot)
{
    return (struct ledger_file_spec){
        .incarnation = snapshot->file.mark.incarnation,
        .file_id = snapshot->file.mark.file_id,
        .database_id = snapshot->file.mark.database_id,
        .kind = FILE_KIND_SNAPSHOT,
        .capacity_pages = snapshot->capacity_pages,
        .path = snapshot->file.path,
    };
}

static int ledger_make(struct run *run)
{
    const struct plan *plan = run->config.plan;
    unsigned others = plan->file_count + plan->backup_count;
    unsigned count = others + plan->snapshot_count;
    struct ledger_file_spec *specs = calloc(count, sizeof *specs);
    char *path;
    if (!specs || asprintf(&path, "%s/" LEDGER_FILE_NAME, run->config.out_dir) < 0) {
        free(specs);
        return -ENOMEM;
    }
    for (unsigned i = 0; i < plan->file_count; i++) {
        const struct plan_file *planned = &plan->files[i];
        const struct file *file = planned_file(run, i);
        struct data_file *data = planned->is_log ? NULL : run_file_by_uid(run, (uint16_t)(i + 1));
        specs[i] = (struct ledger_file_spec){
            .incarnation = file->mark.incarnation,
            .file_id = file->mark.file_id,
            .database_id = file->mark.database_id,
            .kind = planned->is_log ? FILE_KIND_LOG : FILE_KIND_DATA,
            .capacity_pages = data ? data->capacity_pages : 0,
            .path = file->path,
        };
    }
    for (unsigned i = 0; i < plan->backup_count; i++)
        specs[plan->file_count + i] = backup_media_spec(run, i);
    for (unsigned i = 0; i < plan->snapshot_count; i++)
        specs[others + i] = snapshot_spec(&run->snapshots->list[i].file);
    uint8_t boot_id[16] = {0};
    if (!run->config.virtual_clock)
        boot_id_read(boot_id);
    const struct reuse *reuse = run->config.reuse;
    uint64_t seed = reuse ? ledger_header_of(reuse->ledger)->seed : plan->seed;
    int error = ledger_create(&run->ledger, path, &run->identity, seed, run->session_start_ns,
                              boot_id, specs, count);
    if (error)
        fail(run, EXIT_CODE_INCOMPLETE, error, "%s: the ledger cannot be created: %s", path,
             strerror(-error));
    else if (reuse)
        run_reuse_ledger(run);
    free(specs);
    free(path);
    return error;
}

static void ledger_describe(struct run *run, const struct file *file)
{
    struct ledger_file *row = ledger_file_at(run->ledger, file->mark.file_uid);
    row->size_pages_acked = row->size_pages_issued = file->size_pages;
    row->device = run->config.virtual_clock ? 0 : file->device;
    row->inode = run->config.virtual_clock ? 0 : file->inode;
}

/* Page 0 was written when the file was created: the ledger and the pool learn of it. */
static void file_header_adopt(struct data_file *file, uint64_t now_s)
{
    struct database *database = file->database;
    uint16_t uid = file->file.mark.file_uid;
    struct frame *frame = syspage_frame(file, 0);
    syspage_seal(frame->bytes, (struct lsn){0});
    frame->generation = 1;
    ledger_begin(database->ledger, uid, 0, 1);
    syspage_issued(file, 0, frame->bytes);
    syspage_acked(file, 0);
    ledger_ack(database->ledger, uid, 0, true, 0, now_s);
}

static int database_make(struct run *run, struct database *database)
{
    struct tick tick = {creation_tick, run};
    database->ledger = run->ledger;
    const struct config_settings *settings = run->settings;
    uint8_t fresh = settings->fresh_log_byte == CONFIG_FRESH_LOG_C0 ? 0xC0 : 0x00;
    int error = 0;
    for (unsigned i = 0; i < database->log_count && !error; i++) {
        error = wal_format(&run->io, &database->logs[i], fresh, &tick);
        if (error && error != -EINTR)
            return fail(run, EXIT_CODE_INCOMPLETE, error, "%s: writing the log file failed: %s",
                        database->logs[i].path, strerror(-error));
    }
    if (error)
        return fail_interrupted(run);
    struct worker *worker = &run->workers[database->index % run->worker_count];
    uint32_t fseq = run->config.reuse
                        ? reuse_first_fseq(run->config.reuse, database->logs[0].mark.file_uid)
                        : run_first_fseq(run->run_id);
    error = wal_init_from(&database->wal, run->clock, run->ledger, database->logs,
                          database->log_count, &run->identity, worker, fseq);
    if (error)
        return fail(run, EXIT_CODE_INCOMPLETE, error, "%s: the log cannot be opened: %s",
                    database->logs[0].path, strerror(-error));
    wal_set_limits(&database->wal, (unsigned)settings->log_writes_max,
                   (size_t)settings->log_bytes_max);
    if (database->tempdb)
        database->wal.write_stream = STREAM_tempdb_log_write;
    database->wal.on_error = run_log_error;
    database->wal.context = run;
    if (settings->buffer_sums) {
        database->on_memory_changed = run_memory_changed;
        database->wal.on_memory_changed = run_log_memory_changed;
    }
    error = run_log_prepare(run, database);
    uint64_t now_ns = clock_now_ns(run->clock);
    atomic_store(&database->last_checkpoint_ns, now_ns);
    if (error || settings->target_recovery_ns == 0 || database->tempdb) /* it is not recovered */
        return error;
    return database_target_recovery(database, (uint64_t)settings->target_recovery_ns, now_ns);
}

/* For the difference at the end. */
static int drives_look(struct run *run)
{
    const struct plan *plan = run->config.plan;
    if (run->config.virtual_clock)
        return 0;
    run->drives = calloc(plan->file_count, sizeof *run->drives);
    if (!run->drives)
        return -ENOMEM;
    run->drives_ns = clock_now_ns(run->clock);
    for (unsigned i = 0; i < run->file_count; i++) {
        const struct file *file = &run->files[i]->file;
        drive_level_look(&run->drives[file->mark.file_uid - 1], DRIVE_SYSFS, file->device);
    }
    for (unsigned i = 0; i < run->database_count; i++)
        for (unsigned j = 0; j < run->databases[i].log_count; j++) {
            const struct file *log = &run->databases[i].logs[j];
            drive_level_look(&run->drives[log->mark.file_uid - 1], DRIVE_SYSFS, log->device);
        }
    return 0;
}

static int files_make(struct run *run)
{
    int error = 0;
    for (unsigned i = 0; i < run->config.plan->file_count && !error; i++)
        error = file_make(run, i);
    for (unsigned i = 0; i < run->database_count && !error; i++)
        for (unsigned j = 0; j < run->databases[i].file_count && !error; j++)
            error = data_file_init(&run->databases[i].files[j], &run->databases[i], 0, j == 0);
    for (unsigned i = 0; i < run->file_count && !error; i++) {
        run->files[i]->index = i;
        run->pattern_files[i] = (struct pattern_file){
            .size_pages = run->files[i]->file.size_pages,
            .sparse = run->files[i]->sparse,
            .initial_pages = run->files[i]->initial_pages,
            .max_pages = run->files[i]->capacity_pages,
            .increment_pages = (uint32_t)(run->files[i]->increment_bytes / PAGE_BYTES),
            .shrinkable = run->files[i]->shrinkable,
            .database = (uint16_t)run->files[i]->database->index,
        };
    }
    struct database *last = &run->databases[run->database_count - 1];
    if (!error && last->tempdb)
        error = tempdb_space_create(&run->tempdb, last);
    return error;
}

static int describe_all(struct run *run)
{
    int error = 0;
    uint64_t now_s = (clock_realtime_ns(run->clock) - run->session_start_ns) / NS_PER_S;
    for (unsigned i = 0; i < run->database_count; i++)
        for (unsigned j = 0; j < run->databases[i].log_count; j++)
            ledger_describe(run, &run->databases[i].logs[j]);
    for (unsigned i = 0; i < run->config.plan->backup_count; i++)
        ledger_describe(run, &backup_media_file(run, i)->file);
    for (unsigned i = 0; i < run->file_count; i++) {
        ledger_describe(run, &run->files[i]->file);
        run->files[i]->database->ledger = run->ledger;
        if (!run->config.reuse)
            file_header_adopt(run->files[i], now_s);
        else if (!error)
            error = run_reuse_system_pages(run, run->files[i]);
    }
    return error;
}

/* What the last requests were, for evidence: workers by number, then the coordinator. */
static int histories_make(struct run *run)
{
    unsigned rings = run->worker_count + 1;
    int error = 0;
    for (unsigned i = 0; i < rings && !error; i++) {
        struct io *io = i < run->worker_count ? &run->workers[i].io : &run->io;
        error = io_history_init(&io->history, rings);
        run->histories.rings[i] = &io->history;
        run->histories.count = error ? i : i + 1;
    }
    return error;
}

static void histories_free(struct run *run)
{
    for (unsigned i = 0; i < run->histories.count; i++)
        io_history_free(run->histories.rings[i]);
    run->histories.count = 0;
}

static void stop_on_finding(void *context, const struct finding *finding)
{
    (void)finding;
    run_stop(context, RUN_STOP_ERROR);
}

/* A model has no disk. */
static int disk_map_make(struct run *run)
{
    int error = 0;
    for (unsigned i = 0; i < run->file_count && !error && !run->config.virtual_clock; i++)
        error = disk_map_add(&run->disk_map, run->files[i]->file.mark.file_uid,
                             run->files[i]->file.path);
    for (unsigned i = 0; i < run->database_count && !run->config.virtual_clock; i++)
        for (unsigned j = 0; j < run->databases[i].log_count && !error; j++)
            error = disk_map_add(&run->disk_map, run->databases[i].logs[j].mark.file_uid,
                                 run->databases[i].logs[j].path);
    return error;
}

static int hook_make(struct run *run)
{
    struct hook_config config = {.on_finding = run->config.on_finding,
                                 .on_stall = run->config.on_stall,
                                 .every = run->config.on_every,
                                 .result_dir = run->config.out_dir,
                                 .sysfs = run->findings.sysfs,
                                 .map = run->findings.map};
    memcpy(config.run_id, run->run_id, sizeof config.run_id);
    return hook_begin(&run->findings.hook, &config);
}

static int findings_make(struct run *run)
{
    char *directory;
    if (asprintf(&directory, "%s/" EVIDENCE_FOLDER, run->config.out_dir) < 0)
        return -ENOMEM;
    run->evidence_dir = directory;
    int error = findings_init(&run->findings, run->clock, run->ledger, run->evidence_dir,
                              run->settings->stop_on_error);
    run->findings.dump_dir = run->config.out_dir;
    run->findings.histories = &run->histories;
    run->findings.sysfs = run->config.virtual_clock ? NULL : DRIVE_SYSFS;
    run->findings.stop = stop_on_finding;
    run->findings.announce = run_announce_finding;
    run->findings.consider = exonerate;
    run->findings.context = run;
    if (!error)
        error = disk_map_make(run);
    run->findings.map = &run->disk_map;
    return error ? error : hook_make(run);
}

static void durability_tell(const struct run *run)
{
    if (!run->settings->write_through)
        run_say(run, "Writes are not durable when they complete (WriteThrough=FALSE): the log is "
                     "flushed for each commit, data files by the checkpoint.");
    else if (run->settings->alternate_write_through)
        run_say(run, "A write is complete when a flush (fdatasync) that it shares with others has "
                     "made it durable (AlternateWriteThrough).");
    else
        run_say(run, "Each write is durable when it completes (O_DSYNC)%s.",
                run->settings->forced_flush
                    ? "; the log is flushed after its writes besides, data files by the checkpoint "
                      "(ForcedFlush)"
                    : "");
}

/* --reuse: what the earlier run left. */
static int reuse_take(struct run *run)
{
    if (!run->config.reuse)
        return 0;
    int error = run_reuse_taken(run);
    return error ? error : run_reuse_tempdb(run);
}

static int databases_make(struct run *run)
{
    int error = 0;
    durability_tell(run);
    for (unsigned i = 0; i < run->database_count && !error; i++)
        error = database_make(run, &run->databases[i]);
    return error;
}

/* A run is made in this order. */
static int (*const parts[])(struct run *run) = {
    pool_make,           rows_make,      run_slots_make, seconds_make,        workers_make,
    histories_make,      run_watch_make, foreign_make,   databases_allocate,  files_make,
    backup_media_create, snapshots_make, drives_look,    ledger_make,         findings_make,
    describe_all,        reuse_take,     databases_make, write_checks_create,
};

int run_create(struct run *run, const struct run_config *config)
{
    memset(run, 0, sizeof *run);
    run->config = *config;
    run->settings = profile_config(config->profile);
    pthread_mutex_init(&run->idle_lock, NULL);
    pthread_mutex_init(&run->actors_lock, NULL);
    pthread_condattr_t attributes;
    pthread_condattr_init(&attributes);
    pthread_condattr_setclock(&attributes, CLOCK_MONOTONIC);
    pthread_cond_init(&run->idle, &attributes);
    pthread_condattr_destroy(&attributes);
    clock_make(run);
    run->session_start_ns = clock_realtime_ns(run->clock);
    run->phase = PHASE_create;
    run->phases[PHASE_create].start_ns = clock_now_ns(run->clock) + 1;

    int error = identity_make(run);
    if (!error) {
        run_echo(run);
        run_log(run, "System", EVENT_HERE, "Phase begins: %s", phase_text(PHASE_create));
        run_step(run, NULL, creation_bytes(run));
    }
    for (size_t i = 0; i < sizeof(parts) / sizeof(parts[0]) && !error; i++)
        error = parts[i](run);
    run->phases[PHASE_create].end_ns = clock_now_ns(run->clock) + 1;
    run->phases[PHASE_create].complete = !error;
    if (error)
        return fail(run, run->exit_code ? run->exit_code : EXIT_CODE_INCOMPLETE, error,
                    "cannot start: %s", strerror(-error));
    return 0;
}

/* ---- the end ---- */

/* A run that could not start leaves no files; DeleteFilesAtShutdown asks for the same. */
static void files_remove(struct run *run)
{
    char message[FILE_MESSAGE_MAX];
    bool started = run->phases[PHASE_create].complete;
    if (!started && run->config.reuse)
        backup_media_remove(run); /* what was there before the run began stays */
    if (started ? !run->settings->delete_files_at_shutdown : run->config.reuse != NULL)
        return;
    for (unsigned i = 0; i < run->files_made; i++)
        if (file_delete_own(run->config.plan->files[i].path, run->run_id, message))
            run_warn(run, "%s", message);
    backup_media_remove(run);
}

static void engines_free(struct run *run)
{
    io_flush_free(&run->io);
    for (unsigned i = 0; i < run->worker_count; i++) {
        io_flush_free(&run->workers[i].io);
        worker_free(&run->workers[i]);
    }
    if (run->main_engine)
        run->main_engine->ops->destroy(run->main_engine);
    free(run->workers);
}

/* A request that never ended may still use its engine, its buffer, its file and its task. */
static bool is_held_by_the_system(const struct run *run)
{
    bool held = run->main_engine && run->main_engine->outstanding > 0;
    for (unsigned i = 0; i < run->worker_count; i++)
        held |= run->workers[i].running || run->workers[i].io.engine->outstanding > 0;
    return held;
}

void run_destroy(struct run *run)
{
    hook_end(run->findings.hook);
    run->findings.hook = NULL;
    if (run->stuck && is_held_by_the_system(run))
        return;
    run_actors_drop(run);
    run_slots_free(run);
    seconds_drop(run);
    histories_free(run);
    engines_free(run);
    foreign_free(run);
    dbcc_pass_free(run->dbcc);
    snapshots_free(run);
    write_checks_free(run);
    run_watch_free(run);
    if (run->main_engine)
        io_limit_free(&run->limit);
    io_gate_destroy(&run->gate);
    for (unsigned i = 0; i < run->database_count; i++) {
        struct database *database = &run->databases[i];
        wal_free(&database->wal);
        checkpoint_desk_free(&database->desk);
        if (database->indirect)
            dirty_list_free(&database->dirty);
        for (unsigned j = 0; j < database->file_count; j++)
            data_file_free(&database->files[j]);
        free(database->files);
        size_rights_free(&database->sizes);
        for (unsigned j = 0; j < database->log_count; j++)
            file_close(&database->logs[j]);
        free(database->logs);
    }
    tempdb_space_free(run->tempdb);
    backup_media_free(run);
    files_remove(run);
    pool_destroy(&run->pool);
    findings_free(&run->findings);
    disk_map_free(&run->disk_map);
    ledger_close(run->ledger, !run->config.leave_like_killed && !run->stuck);
    free(run->databases);
    free(run->files);
    free(run->pattern_files);
    free(run->drives);
    free(run->evidence_dir);
    pthread_mutex_destroy(&run->actors_lock);
    pthread_mutex_destroy(&run->idle_lock);
    pthread_cond_destroy(&run->idle);
}
