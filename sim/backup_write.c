/*
 * backup_write.c - blocks and meta pages on their way to the backup file; see verify/backup.h for
 * the format.
 *
 * A block's place is fixed when its content is asked for, so that blocks may complete in any order
 * and still lie one behind the other; a directory follows when the ring is empty.
 */
#include <errno.h>
#include <string.h>

#include "sim/backup.h"
#include "sim/os_errors.h"
#include "verify/checksum.h"

/* What must still fit behind a block: the last directory and the trailer. */
#define TAIL_BYTES (2 * BACKUP_META_BYTES)

static struct counters *counters_of(struct backup *b)
{
    return &b->actor->task.worker->stats.counters;
}

static enum verdict class_of(const struct io_req *req)
{
    if (os_error_is_no_space(req->result))
        return VERDICT_no_space;
    if (os_error_is_device_gone(req->result))
        return VERDICT_device_gone;
    return req->flush_failed || req->op == IO_FLUSH ? VERDICT_flush_error : VERDICT_write_error;
}

/* SQL Server: 3202, and 3013 for the backup.  It is not repeated: the backup is incomplete. */
static void report_error(struct backup *b, const struct io_req *req)
{
    struct run *run = b->actor->run;
    struct finding finding = {.verdict = class_of(req),
                              .offset = req->offset,
                              .size_bytes = req->iov_count ? req->iov->iov_len : 0,
                              .error = -req->result,
                              .file_uid = b->to->file.mark.file_uid};
    snprintf(finding.file, sizeof finding.file, "%s", b->to->file.path);
    snprintf(finding.actor, sizeof finding.actor, "%s", b->actor->name);
    snprintf(finding.detail, sizeof finding.detail,
             "a write of the backup failed, it is incomplete (SQL Server: 3202): the system said: "
             "%s",
             strerror(-req->result));
    relaxed_add(&counters_of(b)->write_errors, 1);
    finding_report(&run->findings, &finding, NULL);
    b->error = b->error ? b->error : req->result;
    if (finding.verdict == VERDICT_device_gone)
        run_stop(run, RUN_STOP_ERROR);
}

/* ---- blocks ---- */

bool backup_place(struct backup *b, struct backup_block *row)
{
    uint64_t next = backup_next_offset(&b->header, b->offset, row->bytes);
    if (b->to && next + TAIL_BYTES > atomic_load(&b->to->file.target.size_bytes))
        return false;
    row->offset = b->offset;
    row->sequence = b->sequence++;
    b->offset = next;
    return true;
}

bool backup_directory_is_full(const struct backup *b)
{
    uint64_t in_it = b->sequence - b->directory.meta.sequence;
    return b->to && in_it == BACKUP_DIRECTORY_BLOCKS;
}

struct backup_buffer *backup_free_buffer(struct backup *b)
{
    for (unsigned i = 0; i < b->buffer_count; i++)
        if (b->buffers[i].state == BACKUP_BUFFER_FREE)
            return &b->buffers[i];
    return NULL;
}

static void release(struct backup_buffer *buffer)
{
    struct backup *b = buffer->backup;
    buffer->state = BACKUP_BUFFER_FREE;
    b->busy--;
    b->bytes += buffer->row.bytes;
    if (buffer->row.kind == BACKUP_BLOCK_PAGES)
        b->pages += buffer->row.count;
    else
        b->log_bytes += buffer->row.bytes;
}

static void block_written(struct io_req *req)
{
    struct backup_buffer *buffer = req->context;
    struct backup *b = buffer->backup;
    if (req->result)
        report_error(b, req);
    release(buffer);
    task_wake(&b->actor->task);
}

static void block_submit(struct backup_buffer *buffer)
{
    struct backup *b = buffer->backup;
    struct io_req *req = &buffer->req;
    uint32_t bytes = buffer->row.bytes;
    uint64_t padded = backup_next_offset(&b->header, 0, bytes);
    memset(buffer->memory + bytes, 0, padded - bytes);
    buffer->iov = (struct iovec){buffer->memory, padded};
    memset(req, 0, offsetof(struct io_req, resume_iov));
    req->op = IO_WRITE;
    req->stream = STREAM_backup_write;
    req->target = &b->to->file.target;
    req->offset = buffer->row.offset;
    req->iov = &buffer->iov;
    req->iov_count = 1;
    req->done = block_written;
    req->context = buffer;
    buffer->state = BACKUP_BUFFER_WRITING;
    io_submit(&b->actor->task.worker->io, req);
}

void backup_block_write(struct backup_buffer *buffer)
{
    struct backup *b = buffer->backup;
    struct backup_block *row = &buffer->row;
    if (!b->to) {
        release(buffer);
        return;
    }
    row->xxh3 = xxh3_64(buffer->memory, row->bytes);
    b->directory.blocks[row->sequence - b->directory.meta.sequence] = *row;
    block_submit(buffer);
}

/* ---- meta pages ---- */

static enum task_result meta_step(struct actor *actor)
{
    struct backup *b = actor->backup;
    if (b->meta_busy)
        return TASK_PARK;
    if (b->error)
        return backup_fail(actor, "a write failed: %s", strerror(-b->error));
    return actor_go(actor, b->after_meta);
}

static void meta_done(struct io_req *req)
{
    struct backup *b = req->context;
    if (req->result)
        report_error(b, req);
    b->meta_busy = false;
    task_wake(&b->actor->task);
}

static enum task_result meta_submit(struct actor *actor, enum io_op op, uint64_t offset,
                                    executor_step then)
{
    struct backup *b = actor->backup;
    struct io_req *req = &b->meta_req;
    memset(req, 0, offsetof(struct io_req, resume_iov));
    req->op = op;
    req->stream = op == IO_FLUSH ? STREAM_data_flush : STREAM_backup_write;
    req->target = &b->to->file.target;
    req->done = meta_done;
    req->context = b;
    if (op == IO_WRITE) {
        b->meta_iov = (struct iovec){b->meta, BACKUP_META_BYTES};
        req->offset = offset;
        req->iov = &b->meta_iov;
        req->iov_count = 1;
    }
    b->after_meta = then;
    b->meta_busy = true;
    actor->execute = meta_step;
    io_submit(&actor->task.worker->io, req);
    return TASK_PARK;
}

static struct backup_meta meta_of(const struct backup *b, enum backup_meta_type type,
                                  uint64_t offset)
{
    struct backup_meta meta = {
        .magic = BACKUP_MAGIC,
        .version = BACKUP_VERSION,
        .type = (uint16_t)type,
        .number = b->media->number,
        .offset = offset,
        .sequence = b->sequence,
        .file_uid = b->to ? b->to->file.mark.file_uid : 0,
        .database_id = b->database->files[0].file.mark.database_id,
    };
    memcpy(meta.run_id, b->actor->run->run_id, sizeof meta.run_id);
    return meta;
}

static enum task_result meta_write(struct actor *actor, uint64_t offset, const void *page,
                                   executor_step then)
{
    struct backup *b = actor->backup;
    memcpy(b->meta, page, BACKUP_META_BYTES);
    backup_meta_seal(b->meta);
    return meta_submit(actor, IO_WRITE, offset, then);
}

enum task_result backup_write_header(struct actor *actor, bool complete, executor_step then)
{
    struct backup *b = actor->backup;
    uint64_t offset = b->header.meta.offset;
    if (!b->to)
        return actor_go(actor, then);
    uint32_t count = b->header.meta.count;
    b->header.meta = meta_of(b, BACKUP_HEADER, offset);
    b->header.meta.count = count;
    b->header.meta.sequence = 0;
    b->header.complete = complete;
    return meta_write(actor, offset, &b->header, then);
}

enum task_result backup_write_directory(struct actor *actor, executor_step then)
{
    struct backup *b = actor->backup;
    uint64_t first = b->directory.meta.sequence, offset = b->offset;
    if (!b->to || b->sequence == first)
        return actor_go(actor, then);
    uint32_t count = (uint32_t)(b->sequence - first);
    b->directory.meta = meta_of(b, BACKUP_DIRECTORY, offset);
    b->directory.meta.count = count;
    b->directory.previous = b->last_directory;
    memset(&b->directory.blocks[count], 0,
           (BACKUP_DIRECTORY_BLOCKS - count) * sizeof b->directory.blocks[0]);
    b->last_directory = offset;
    b->offset = backup_next_offset(&b->header, offset, BACKUP_META_BYTES);
    return meta_write(actor, offset, &b->directory, then);
}

enum task_result backup_write_trailer(struct actor *actor, executor_step then)
{
    struct backup *b = actor->backup;
    struct backup_trailer trailer = {
        .last_directory = b->last_directory,
        .blocks = b->sequence,
        .pages = b->pages,
        .log_bytes = b->log_bytes,
        .end_position = b->end_position,
    };
    if (!b->to)
        return actor_go(actor, then);
    trailer.meta = meta_of(b, BACKUP_TRAILER, b->offset);
    b->header.trailer_offset = b->offset;
    return meta_write(actor, b->offset, &trailer, then);
}

enum task_result backup_flush(struct actor *actor, executor_step then)
{
    struct backup *b = actor->backup;
    if (!b->to || b->to->file.target.dsync)
        return actor_go(actor, then);
    return meta_submit(actor, IO_FLUSH, 0, then);
}
