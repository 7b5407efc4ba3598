/*
 * backup_log.c - the log part of a backup: read behind the writer, verified block by block, handed
 * on in whole blocks.
 *
 * The log is durable to the end position and held from the first on: every byte read must be right.
 * One read at a time, since where the next piece begins is known only when the blocks of this one
 * are; the writes go on beside it.
 */
#include <string.h>

#include "sim/backup.h"
#include "sim/log_spot.h"

#define LOG_REREADS_MAX 4 /* SQL Server's */

static enum task_result log_step(struct actor *actor);
static enum task_result log_read(struct actor *actor);

static uint32_t sectors_of(uint64_t position)
{
    return (uint32_t)position;
}

/* Bytes of the span before the end of this backup. */
static uint64_t bytes_wanted(const struct backup *b)
{
    const struct wal_span *span = &b->span;
    uint64_t bytes = span->bytes;
    if (span->position >> 32 == b->end_position >> 32) {
        uint64_t left =
            (uint64_t)(sectors_of(b->end_position) - sectors_of(span->position)) * LOG_SECTOR_BYTES;
        bytes = bytes < left ? bytes : left;
    }
    uint64_t most = (uint64_t)b->settings->transfer_bytes;
    return bytes < most ? bytes : most;
}

/* ---- verifying ---- */

/* The block at `at`: its size, or 0 and what is wrong. */
static size_t check_block(struct backup *b, const uint8_t *at, size_t left, uint64_t position,
                          enum log_block_check *what)
{
    struct log_block_info info;
    uint32_t fseq = (uint32_t)(position >> 32);
    *what = log_block_check(at, left, b->span.parity, fseq, sectors_of(position), b->crc_known,
                            b->crc, b->scratch, &info);
    if (*what == LOG_BLOCK_OK && !b->crc_known && !log_block_own_crc_ok(b->scratch, &info))
        *what = LOG_BLOCK_BAD_CHAIN;
    if (*what != LOG_BLOCK_OK)
        return 0;
    if (!b->crc_known) /* the first of the backup says where its chain begins */
        b->header.first_crc = info.previous_crc;
    b->crc_known = true;
    b->crc = info.own_crc;
    return info.size_bytes;
}

/* Is only the beginning of a block here? */
static bool is_cut(const struct backup *b, const uint8_t *at, size_t left, uint64_t position)
{
    enum log_block_check what;
    return log_block_peek(at, b->span.parity, (uint32_t)(position >> 32), &what) > left;
}

static void report_damage(struct actor *actor, const struct backup_buffer *buffer,
                          const struct log_damage *damage)
{
    struct backup *b = actor->backup;
    struct finding finding = log_spot_finding(damage, true);
    const struct file *file = b->span.file;
    size_t at = (size_t)(damage->offset - b->span.offset);
    struct log_spot_content content = {
        .bytes = buffer->memory + at,
        .size_bytes = buffer->row.bytes - at,
        .parity = b->span.parity,
        .run = &actor->run->identity,
        .fresh_is_zero = actor->run->settings->fresh_log_byte != CONFIG_FRESH_LOG_C0,
        .serial = b->log_serial,
        .scratch = b->scratch,
    };
    struct finding_images images = {.read_image = content.bytes, .size_bytes = finding.size_bytes};
    log_spot_look(&finding, damage, true, &content);
    finding.retries = finding.agreed = LOG_REREADS_MAX;
    finding.file_uid = file->mark.file_uid;
    snprintf(finding.file, sizeof finding.file, "%s", file->path);
    snprintf(finding.actor, sizeof finding.actor, "%s", actor->name);
    finding_report(&actor->run->findings, &finding, &images);
}

static void report_read(struct actor *actor, int error, bool healed)
{
    struct backup *b = actor->backup;
    const struct file *file = b->span.file;
    struct finding finding = {.verdict = error ? (healed ? VERDICT_read_retry : VERDICT_unreadable)
                                               : VERDICT_transient_damage,
                              .offset = b->span.offset,
                              .size_bytes = bytes_wanted(b),
                              .retries = b->log_tries,
                              .healed = healed,
                              .error = -error,
                              .file_uid = file->mark.file_uid};
    snprintf(finding.file, sizeof finding.file, "%s", file->path);
    snprintf(finding.actor, sizeof finding.actor, "%s", actor->name);
    finding_report(&actor->run->findings, &finding, NULL);
}

/* ---- reading ---- */

static void read_done(struct io_req *req)
{
    struct backup_buffer *buffer = req->context;
    buffer->state = BACKUP_BUFFER_READ;
    task_wake(&buffer->backup->actor->task);
}

static void read_submit(struct backup *b, struct backup_buffer *buffer)
{
    struct io_req *req = &buffer->req;
    buffer->row.bytes = (uint32_t)bytes_wanted(b);
    b->log_serial = worker_read_serials(b->actor->task.worker, 1);
    poison_fill(buffer->memory, buffer->row.bytes, b->log_serial);
    buffer->iov = (struct iovec){buffer->memory, buffer->row.bytes};
    memset(req, 0, offsetof(struct io_req, resume_iov));
    req->op = IO_READ;
    req->stream = STREAM_log_read;
    req->target = &b->span.file->target;
    req->offset = b->span.offset;
    req->iov = &buffer->iov;
    req->iov_count = 1;
    req->done = read_done;
    req->context = buffer;
    buffer->state = BACKUP_BUFFER_READING;
    io_submit(&b->actor->task.worker->io, req);
}

static enum task_result read_again(struct actor *actor, struct backup_buffer *buffer)
{
    struct backup *b = actor->backup;
    if (b->log_tries++ == 0)
        b->log_error = buffer->req.result;
    relaxed_add(&actor->task.worker->stats.counters.read_retries, 1);
    read_submit(b, buffer);
    return TASK_PARK;
}

static enum task_result give_up(struct actor *actor, struct backup_buffer *buffer,
                                const struct log_damage *damage)
{
    struct backup *b = actor->backup;
    if (buffer->req.result)
        report_read(actor, buffer->req.result, false);
    else
        report_damage(actor, buffer, damage);
    buffer->state = BACKUP_BUFFER_FREE;
    b->judging = NULL;
    b->busy--;
    b->failed = true;
    snprintf(b->why, sizeof b->why, "its log cannot be read");
    return actor_go(actor, log_step);
}

/* The piece in the buffer: verified, and handed on as far as its blocks are whole. */
static enum task_result log_judge(struct actor *actor, struct backup_buffer *buffer)
{
    struct backup *b = actor->backup;
    uint32_t crc = b->crc, blocks = 0;
    bool crc_known = b->crc_known;
    size_t used = 0, size = 1, got = buffer->req.result ? 0 : buffer->row.bytes;
    struct log_damage damage = {.fseq = (uint32_t)(b->span.position >> 32)};
    while (used < got && size) {
        uint64_t position = b->span.position + used / LOG_SECTOR_BYTES;
        if (used && is_cut(b, buffer->memory + used, got - used, position))
            break;
        size = check_block(b, buffer->memory + used, got - used, position, &damage.what);
        damage.offset = b->span.offset + used;
        damage.block = sectors_of(position);
        used += size;
        blocks += size > 0;
    }
    if (buffer->req.result || size == 0) {
        b->crc = crc;
        b->crc_known = crc_known;
        if (b->log_tries < LOG_REREADS_MAX && !backup_stops(actor))
            return read_again(actor, buffer);
        return give_up(actor, buffer, &damage);
    }
    relaxed_add(&actor->task.worker->stats.counters.log_blocks_verified, blocks);
    if (b->log_tries)
        report_read(actor, b->log_error, true);
    buffer->row = (struct backup_block){.kind = BACKUP_BLOCK_LOG,
                                        .file_uid = b->span.file->mark.file_uid,
                                        .first = (uint32_t)(b->span.position >> 32),
                                        .count = sectors_of(b->span.position),
                                        .bytes = (uint32_t)used,
                                        .crc = crc_known ? crc : b->header.first_crc,
                                        .parity = b->span.parity};
    b->position = b->span.position + used / LOG_SECTOR_BYTES;
    b->judging = NULL;
    if (backup_place(b, &buffer->row)) {
        backup_block_write(buffer);
    } else {
        buffer->state = BACKUP_BUFFER_FREE;
        b->busy--;
        b->failed = true;
        snprintf(b->why, sizeof b->why, "its backup file is full (SQL Server: 3202)");
    }
    return actor_go(actor, log_step);
}

/* `judging` is the buffer that is read into. */
static enum task_result log_read(struct actor *actor)
{
    struct backup *b = actor->backup;
    if (b->judging->state != BACKUP_BUFFER_READ) {
        actor->execute = log_read;
        return TASK_PARK;
    }
    actor->execute = log_read;
    return log_judge(actor, b->judging);
}

/* ---- the step ---- */

static bool log_left(struct backup *b)
{
    return b->position < b->end_position && !b->failed && !b->error && !backup_stops(b->actor) &&
           wal_durable_span(&b->database->wal, b->position, &b->span) &&
           b->span.position < b->end_position;
}

static enum task_result log_step(struct actor *actor)
{
    struct backup *b = actor->backup;
    actor->execute = log_step;
    bool left = log_left(b);
    if (left && !backup_directory_is_full(b)) {
        struct backup_buffer *buffer = backup_free_buffer(b);
        if (!buffer)
            return TASK_PARK;
        b->judging = buffer;
        b->log_tries = 0;
        b->busy++;
        read_submit(b, buffer);
        return actor_go(actor, log_read);
    }
    if (b->busy)
        return TASK_PARK;
    if (b->error)
        return backup_fail(actor, "a write failed: %s", strerror(-b->error));
    if (b->failed || backup_stops(actor))
        return backup_fail(actor, "%s", b->failed ? b->why : "the run ends");
    return left ? backup_write_directory(actor, log_step) : backup_finish(actor);
}

enum task_result backup_log_begin(struct actor *actor)
{
    struct backup *b = actor->backup;
    b->end_position = atomic_load(&b->database->wal.durable_end);
    b->header.first_position = b->position;
    b->header.end_position = b->end_position;
    b->judging = NULL;
    return actor_go(actor, log_step);
}
