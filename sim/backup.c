/* backup.c - from the first database to the last, from the checkpoint to the end; see backup.h. */
#include "sim/backup.h"

#include <assert.h>
#include <errno.h>
#include <inttypes.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include "config/paths.h"
#include "config/units.h"
#include "sim/database_checkpoint.h"
#include "sim/database_use.h"

#define SECONDS_PER_HOUR   3600
#define MEMORY_ALIGN_BYTES 4096
/* SQL Server: devices x 3 + devices + 2 x volumes. */
#define IN_USE_PAUSE_NS   (10 * NS_PER_MS)
#define LOG_ROOM_BYTES    (1u << 20) /* meta pages and what is left free between blocks */
#define BUFFERS_OF_FILE   4
#define BUFFERS_OF_VOLUME 2

static enum task_result database_next(struct actor *actor);
static enum task_result database_begin(struct actor *actor);
static enum task_result wait_checkpoint(struct actor *actor);

/* ---- the end of one ---- */

static void let_go(struct backup *b)
{
    if (b->hold.held)
        wal_hold_move(&b->database->wal, &b->hold, UINT64_MAX);
    if (b->forbidden)
        shrink_allow(b->database);
    b->forbidden = false;
    atomic_store(&b->media->in_use, false);
}

static void tell(struct backup *b, bool complete)
{
    struct run *run = b->actor->run;
    uint64_t ns = clock_now_ns(run->clock) - b->started_ns;
    double mb = (double)b->bytes / (double)UNITS_MIB;
    double seconds = (double)(ns ? ns : 1) / (double)NS_PER_S;
    double mb_per_tb = (double)UNITS_TIB / (double)UNITS_MIB;
    double hours_per_tb = mb > 0 ? mb_per_tb / mb * seconds / SECONDS_PER_HOUR : 0;
    const char *what = b->log_only ? "Log backup" : "Backup";
    if (complete)
        run_say(run,
                "%s %u of database %u: %" PRIu64 " pages and %" PRIu64
                " KB of log in %.3f s, %.1f MB/s (%.1f hours a TB)%s%s",
                what, b->media->number, b->database->index + 1, b->pages, b->log_bytes / 1024,
                seconds, mb / seconds, hours_per_tb, b->to ? " to " : ", written nowhere",
                b->to ? b->to->file.path : "");
    else
        run_warn(run,
                 "%s %u of database %u is incomplete and will not be restored: %s "
                 "(SQL Server: 3013)",
                 what, b->media->number, b->database->index + 1, b->why);
}

static void record(const struct backup *b, bool complete)
{
    struct backup_record record = {
        .number = b->media->number,
        .log = b->log_only,
        .complete = complete,
        .file = b->to,
        .in_file = complete && b->to,
        .pages = b->pages,
        .log_bytes = b->log_bytes,
        .bytes = b->bytes,
        .first_position = b->first_position,
        .end_position = complete ? b->end_position : 0,
        .begun_ns = b->started_ns,
        .took_ns = clock_now_ns(b->actor->run->clock) - b->started_ns,
    };
    if (!complete)
        snprintf(record.why, sizeof record.why, "%s", b->why);
    backup_records_add(&b->media->records, &record);
}

static struct counters *counters_of(struct backup *b)
{
    return &b->actor->task.worker->stats.counters;
}

enum task_result backup_fail(struct actor *actor, const char *why, ...)
{
    struct backup *b = actor->backup;
    char text[sizeof b->why];
    assert(b->busy == 0 && !b->meta_busy);
    va_list arguments;
    va_start(arguments, why);
    vsnprintf(text, sizeof text, why, arguments); /* why may be b->why */
    va_end(arguments);
    memcpy(b->why, text, sizeof text);
    record(b, false);
    let_go(b);
    b->whole = false;
    b->media->failed++;
    relaxed_add(&counters_of(b)->backups_incomplete, 1);
    tell(b, false);
    return actor_go(actor, database_next);
}

/* FULL recovery: the log is backed up to here, and held from here on. */
static void log_backed_up(struct backup *b)
{
    struct backup_media *media = b->media;
    struct wal *wal = &b->database->wal;
    if (b->settings->log_interval_ns == 0)
        return;
    bool first = !media->log_hold.held; /* the first full backup: its own hold is still there */
    if (!first && !b->log_only)
        return; /* a full backup does not break the chain of log backups */
    if (first)
        wal_hold_at(wal, &media->log_hold, b->end_position);
    else
        wal_hold_move(wal, &media->log_hold, b->end_position);
    media->log_crc = b->crc;
    media->log_crc_known = b->crc_known;
}

enum task_result backup_ended(struct actor *actor)
{
    struct backup *b = actor->backup;
    struct backup_media *media = b->media;
    if (b->to) {
        b->to->number = media->number;
        b->to->end_offset = b->header.trailer_offset + BACKUP_META_BYTES;
        b->to->end_position = b->end_position;
    }
    if (!b->log_only && b->to)
        media->current = (unsigned)(b->to - media->full);
    if (b->log_only)
        media->log_backups++;
    media->complete++;
    relaxed_add(&counters_of(b)->backups, 1);
    log_backed_up(b);
    record(b, true);
    let_go(b);
    tell(b, true);
    return actor_go(actor, database_next);
}

static void describe_files(struct backup *b)
{
    struct backup_header *header = &b->header;
    unsigned count = b->database->file_count;
    header->meta.count = count < BACKUP_FILES_MAX ? count : BACKUP_FILES_MAX;
    for (unsigned i = 0; i < header->meta.count; i++) {
        const struct data_file *file = &b->database->files[i];
        struct backup_file_row *row = &header->files[i];
        *row = (struct backup_file_row){.uid = file->file.mark.file_uid,
                                        .incarnation = file->file.mark.incarnation,
                                        .file_id = file->file.mark.file_id,
                                        .primary = file->primary,
                                        .size_pages = file->file.size_pages,
                                        .sector_bytes = file->file.mark.sector_bytes,
                                        .sparse = file->sparse};
        snprintf(row->name, sizeof row->name, "%s", path_last_name(file->file.path));
    }
}

static enum task_result finish_header(struct actor *actor)
{
    return backup_write_header(actor, true, backup_ended);
}

static enum task_result finish_flush(struct actor *actor)
{
    return backup_flush(actor, finish_header);
}

static enum task_result finish_trailer(struct actor *actor)
{
    return backup_write_trailer(actor, finish_flush);
}

enum task_result backup_finish(struct actor *actor)
{
    struct backup *b = actor->backup;
    describe_files(b); /* they may have grown */
    b->header.finished_ns = clock_realtime_ns(actor->run->clock);
    b->header.end_crc = b->crc;
    return backup_write_directory(actor, finish_trailer);
}

/* ---- the start of one ---- */

static void describe(struct backup *b, uint64_t offset)
{
    struct run *run = b->actor->run;
    uint32_t align = b->to ? b->to->file.target.align_bytes : LOG_SECTOR_BYTES;
    uint32_t wanted = (uint32_t)b->settings->block_bytes;
    memset(&b->header, 0, sizeof b->header);
    memset(&b->directory, 0, sizeof b->directory);
    b->header.meta.offset = offset;
    b->header.kind = b->log_only ? BACKUP_LOG : BACKUP_FULL;
    b->header.transfer_bytes = (uint32_t)b->settings->transfer_bytes;
    b->header.block_bytes = wanted > align ? wanted : align;
    b->header.seed = run->config.plan->seed;
    b->header.compressible = run->identity.compressible;
    b->header.base =
        b->log_only && b->to ? b->media->full[b->media->current].number : b->media->number;
    b->header.started_ns = clock_realtime_ns(run->clock);
    b->header.log_uid = b->database->logs[0].mark.file_uid;
    snprintf(b->header.database, sizeof b->header.database, "%s", b->database->name);
    describe_files(b);
    b->offset = backup_next_offset(&b->header, offset, BACKUP_META_BYTES);
}

static enum task_result full_begin(struct actor *actor)
{
    struct backup *b = actor->backup;
    b->position = b->first_position = wal_hold(&b->database->wal, &b->hold);
    b->crc_known = false;
    return backup_write_header(actor, false, backup_pages_begin);
}

static bool must_leave(const struct actor *actor)
{
    return backup_stops(actor) ||
           (!actor->service && clock_now_ns(actor->run->clock) >= actor->run->phase_deadline_ns);
}

/* Correctness does not need the checkpoint: it makes what has to be redone small.  Where only a
 * held log keeps it from being served, it would wait for us. */
static enum task_result wait_checkpoint(struct actor *actor)
{
    struct backup *b = actor->backup;
    actor->execute = wait_checkpoint;
    enum checkpoint_answer answer = checkpoint_wait(b->database, b->ticket, &actor->task);
    bool over = must_leave(actor) || wal_failed(&b->database->wal);
    if (answer == CHECKPOINT_PENDING && !over && !wal_is_held_back(&b->database->wal)) {
        /* nobody tells that the log is held, or that the phase is over */
        task_sleep_until(&actor->task, clock_now_ns(actor->run->clock) + IN_USE_PAUSE_NS);
        return TASK_PARK;
    }
    checkpoint_wait_forget(b->database, &actor->task);
    return over ? backup_fail(actor, "%s", "the run ends") : full_begin(actor);
}

static enum task_result forbid_shrink(struct actor *actor)
{
    struct backup *b = actor->backup;
    actor->execute = forbid_shrink;
    if (!shrink_forbid(b->database, &actor->task))
        return TASK_PARK;
    b->forbidden = true;
    b->ticket = checkpoint_ask(b->database);
    return wait_checkpoint(actor);
}

/* Where the log backups since the newest full backup stand; false: there is no room for another. */
static bool log_file_choose(struct backup *b, uint64_t *offset)
{
    struct backup_media *media = b->media;
    *offset = BACKUP_FIRST_OFFSET;
    b->to = NULL;
    if (!media->log)
        return media->log_hold.held;
    if (!media->log_hold.held || !media->full[media->current].number)
        return false;
    struct backup_file *file = &media->log[media->current];
    bool is_first = file->number < media->full[media->current].number;
    *offset = is_first ? BACKUP_FIRST_OFFSET : file->end_offset;
    b->to = file;
    uint64_t wanted = wal_bytes_from(&b->database->wal, media->log_hold.position);
    for (unsigned i = 0; i < b->database->log_count && b->actor->pattern->user_count; i++)
        wanted += atomic_load(&b->database->logs[i].target.size_bytes); /* the tail's room */
    return *offset + wanted + LOG_ROOM_BYTES < atomic_load(&file->file.target.size_bytes);
}

static void reset(struct backup *b)
{
    b->error = 0;
    b->failed = false;
    b->first_position = 0;
    b->sequence = b->pages = b->log_bytes = b->bytes = b->last_directory = 0;
    b->busy = 0;
    b->judging = NULL;
    b->started_ns = clock_now_ns(b->actor->run->clock);
    b->media->number++;
}

static enum task_result log_only_begin(struct actor *actor, uint64_t offset)
{
    struct backup *b = actor->backup;
    describe(b, offset);
    if (b->to && offset == BACKUP_FIRST_OFFSET)
        backup_records_overwritten(&b->media->records, b->to);
    b->position = b->first_position = b->media->log_hold.position;
    b->crc = b->header.first_crc = b->media->log_crc;
    b->crc_known = b->media->log_crc_known;
    return backup_write_header(actor, false, backup_log_begin);
}

static enum task_result database_begin(struct actor *actor)
{
    struct backup *b = actor->backup;
    uint64_t offset = BACKUP_FIRST_OFFSET;
    b->database = &actor->run->databases[b->database_index];
    b->media = &actor->run->backups[b->database_index];
    if (atomic_exchange(&b->media->in_use, true)) { /* that of the part before this one goes on */
        actor->execute = database_begin;
        task_sleep_until(&actor->task, clock_now_ns(actor->run->clock) + IN_USE_PAUSE_NS);
        return must_leave(actor) ? TASK_DONE : TASK_PARK;
    }
    b->log_only = actor->op.log_only && log_file_choose(b, &offset);
    reset(b);
    if (b->log_only)
        return log_only_begin(actor, offset);
    if (!actor->pattern->user_count || actor->service) { /* the tail: no full backup in its place */
        run_say(actor->run, "Database %u: there is no room for a backup of the tail of the log",
                b->database_index + 1);
        let_go(b);
        return actor_go(actor, database_next);
    }
    b->to = NULL;
    if (b->media->full) {
        b->to = &b->media->full[(b->media->current + 1) % b->media->keep];
        b->to->number = 0; /* it is overwritten from now on */
        backup_records_overwritten(&b->media->records, b->to);
    }
    describe(b, BACKUP_FIRST_OFFSET);
    return forbid_shrink(actor);
}

static enum task_result all_done(struct actor *actor)
{
    if (actor->backup->whole)
        actor_came_through(actor);
    return TASK_DONE;
}

static enum task_result database_next(struct actor *actor)
{
    struct backup *b = actor->backup;
    b->database_index += b->shares;
    if (b->database_index >= actor->run->user_database_count)
        return all_done(actor);
    return backup_stops(actor) ? TASK_DONE : database_begin(actor);
}

enum task_result backup_begin(struct actor *actor)
{
    struct backup *b = actor->backup;
    b->database_index = b->share;
    b->whole = !actor->op.log_only;
    if (b->share >= actor->run->user_database_count)
        return all_done(actor);
    return database_begin(actor);
}

/* Else the log that they have not backed up would be held for ever, and fill up (9002). */
void backup_left(struct actor *actor)
{
    struct backup *b = actor->backup;
    struct run *run = actor->run;
    bool phase_changed = atomic_load(&actor->leaving);
    if (!phase_changed || atomic_load(&run->logs_backed_up) || run_stopping(run))
        return;
    for (unsigned i = b->share; i < run->user_database_count; i += b->shares) {
        struct backup_media *media = &run->backups[i];
        if (atomic_exchange(&media->in_use, true)) /* by another one, which leaves, too */
            continue;
        if (media->log_hold.held)
            wal_hold_move(&run->databases[i].wal, &media->log_hold, UINT64_MAX);
        atomic_store(&media->in_use, false);
    }
}

bool backup_log_is_wanted(const struct actor *actor)
{
    const struct backup *b = actor->backup;
    struct run *run = actor->run;
    for (unsigned i = b->share; i < run->user_database_count; i += b->shares) {
        struct database *database = &run->databases[i];
        bool wanted = wal_space_wanted(&database->wal) || atomic_load(&database->desk.no_room);
        if (wanted && run->backups[i].log_hold.held && wal_is_held_back(&database->wal))
            return true;
    }
    return false;
}

bool backup_serves_on(const struct actor *actor)
{
    const struct backup *b = actor->backup;
    return b && actor->pattern->user_count && b->settings->log_interval_ns;
}

bool backup_stops(const struct actor *actor)
{
    return !actor->service && run_stopping(actor->run);
}

/* ---- life ---- */

static unsigned volumes_of(const struct run *run)
{
    unsigned count = 0;
    for (unsigned i = 0; i < run->user_file_count; i++) {
        unsigned j = 0;
        while (j < i && run->files[j]->file.device != run->files[i]->file.device)
            j++;
        count += j == i;
    }
    return count;
}

static int buffers_create(struct backup *b)
{
    size_t transfer = (size_t)b->settings->transfer_bytes;
    b->buffers = calloc(b->buffer_count, sizeof *b->buffers);
    if (!b->buffers)
        return -ENOMEM;
    for (unsigned i = 0; i < b->buffer_count; i++) {
        struct backup_buffer *buffer = &b->buffers[i];
        buffer->backup = b;
        buffer->memory = aligned_alloc(MEMORY_ALIGN_BYTES, transfer);
        buffer->batch.reader = &b->reader;
        buffer->batch.context = buffer;
        buffer->batch.iov = &buffer->batch_iov;
        buffer->batch.iov_count = 1;
        buffer->batch.before = calloc(transfer / PAGE_BYTES, sizeof *buffer->batch.before);
        if (!buffer->memory || !buffer->batch.before)
            return -ENOMEM;
    }
    return 0;
}

int backup_create(struct actor *actor, const struct backup_user_settings *settings, unsigned share)
{
    struct backup *b = calloc(1, sizeof *b);
    if (!b)
        return -ENOMEM;
    actor->backup = b;
    b->actor = actor;
    b->settings = settings;
    b->share = share;
    bool users = actor->pattern->user_count && settings->user_count > 0;
    b->shares = users ? (unsigned)settings->user_count : 1;
    b->buffer_count = (unsigned)settings->buffer_count;
    if (b->buffer_count == 0)
        b->buffer_count = BUFFERS_OF_FILE + BUFFERS_OF_VOLUME * volumes_of(actor->run);
    b->meta = aligned_alloc(MEMORY_ALIGN_BYTES, BACKUP_META_BYTES);
    b->scratch = malloc(LOG_BLOCK_BYTES_MAX);
    if (!b->meta || !b->scratch)
        return -ENOMEM;
    int error = page_reader_init(&b->reader, actor->run, &actor->task, actor->name);
    return error ? error : buffers_create(b);
}

void backup_free(struct actor *actor)
{
    struct backup *b = actor->backup;
    if (!b)
        return;
    for (unsigned i = 0; i < b->buffer_count && b->buffers; i++) {
        free(b->buffers[i].memory);
        free(b->buffers[i].batch.before);
    }
    free(b->buffers);
    free(b->meta);
    free(b->scratch);
    page_reader_free(&b->reader);
    free(b);
    actor->backup = NULL;
}
