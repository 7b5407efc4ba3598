/*
 * wal_writer.c - the log writer: seals, writes, flushes, and acknowledges in order; see wal.h.
 *
 * Everything here but the completion callbacks runs as the writer's task.  Requests are collected
 * under the lock and submitted outside it.
 */
#include <assert.h>
#include <errno.h>
#include <string.h>

#include "sim/wal_growth.h"
#include "sim/wal_read_back.h"
#include "verify/checksum.h"

#define WAL_BUFFERS_FREE_MIN 4 /* what the largest append may need */

static void wal_fail(struct wal *wal, int error, struct file *file, uint64_t offset, bool was_flush)
{
    if (atomic_load(&wal->failed))
        return;
    wal->error = error;
    wal->error_file = file;
    wal->error_offset = offset;
    wal->error_was_flush = was_flush;
    atomic_store(&wal->failed, true);
    if (wal->on_error)
        wal->on_error(wal);
}

/* ---- completions ---- */

static void buffer_written(struct io_req *req)
{
    struct log_buffer *buffer = req->context;
    struct wal *wal = buffer->wal;
    if (!req->result && wal->on_memory_changed && buffer->sum &&
        buffer->sum != xxh3_64(buffer->bytes, buffer->size_bytes))
        wal->on_memory_changed(wal, buffer);
    pthread_mutex_lock(&wal->lock);
    wal->outstanding--;
    wal->outstanding_bytes -= buffer->size_bytes;
    buffer->state = LOG_BUFFER_WRITTEN;
    int error = req->result;
    pthread_mutex_unlock(&wal->lock);
    if (error)
        wal_fail(wal, error, buffer->file, buffer->file_offset, req->flush_failed);
    task_wake(&wal->writer);
}

static void buffer_retire(struct wal *wal)
{
    struct log_buffer *buffer = wal->first;
    wal->first = buffer->next;
    if (!wal->first)
        wal->last = NULL;
    atomic_store(&wal->durable_end, buffer->end_position);
    if (wal->ledger && !buffer->is_header) {
        struct ledger_file *row = ledger_file_at(wal->ledger, wal_uid(wal));
        /* The CRC first: after a kill between the two the position is that of a block before,
         * and the log, which goes on behind it, is not compared with the CRC (verify_log.c). */
        atomic_store(&row->log_durable_crc, buffer->crc);
        atomic_store(&row->log_durable_position, buffer->end_position);
    }
    buffer->state = LOG_BUFFER_FREE;
    buffer->next = wal->free_buffers;
    wal->free_buffers = buffer;
    wal->free_count++;
}

static void flush_done(struct io_req *req)
{
    struct wal *wal = req->context;
    pthread_mutex_lock(&wal->lock);
    wal->flushing = false;
    if (!req->result) {
        struct log_buffer *last = wal->flush_last, *retired;
        do {
            retired = wal->first;
            buffer_retire(wal);
        } while (retired != last);
    }
    pthread_mutex_unlock(&wal->lock);
    if (req->result)
        wal_fail(wal, req->result, wal->flush_last->file, 0, true);
    task_wake(&wal->writer);
}

/* ---- the writer's round, under the lock ---- */

static bool seal_now(const struct wal *wal)
{
    if (!wal->open || wal->builder.record_count < 2) /* the chain record alone is no block */
        return false;
    if (wal->outstanding >= WAL_PARTIAL_OUTSTANDING_MAX)
        return false;
    return wal->flush_wanted >= wal_open_position(wal) || atomic_load(&wal->closing) ||
           (wal->lazy_due_ns && wal->lazy_due_ns <= clock_now_ns(wal->clock));
}

static void write_prepare(struct wal *wal, struct log_buffer *buffer)
{
    buffer->state = LOG_BUFFER_WRITING;
    buffer->iov = (struct iovec){buffer->bytes, buffer->size_bytes};
    memset(&buffer->req, 0, offsetof(struct io_req, resume_iov));
    buffer->req.op = IO_WRITE;
    buffer->req.stream = wal->write_stream;
    buffer->req.target = &buffer->file->target;
    buffer->req.offset = buffer->file_offset;
    buffer->req.iov = &buffer->iov;
    buffer->req.iov_count = 1;
    buffer->req.due_ns = buffer->due_ns;
    buffer->req.done = buffer_written;
    buffer->req.context = buffer;
    wal->outstanding++;
    wal->outstanding_bytes += buffer->size_bytes;
}

/* SQL Server's limits; a single write is never held back by them. */
static bool may_write(const struct wal *wal, const struct log_buffer *buffer)
{
    return wal->outstanding == 0 ||
           (wal->outstanding < wal->outstanding_max &&
            wal->outstanding_bytes + buffer->size_bytes <= wal->outstanding_bytes_max);
}

/* The next buffers to submit; a VLF header holds back everything behind it until it is durable. */
static unsigned writes_collect(struct wal *wal, struct log_buffer *out[WAL_OUTSTANDING_MAX])
{
    unsigned count = 0;
    for (struct log_buffer *b = wal->first; b; b = b->next) {
        if (b->state == LOG_BUFFER_SEALED) {
            if (!may_write(wal, b))
                break;
            write_prepare(wal, b);
            out[count++] = b;
        }
        if (b->is_header)
            break;
    }
    return count;
}

static bool is_written(const struct log_buffer *buffer)
{
    return buffer && buffer->state == LOG_BUFFER_WRITTEN;
}

/* Acknowledge in order.  Without write-through, or with forced flushes, a flush must cover the
 * written prefix first, as far as it stands in one file: true if one is to be submitted. */
static bool acknowledge(struct wal *wal)
{
    if (wal->flushing)
        return false;
    while (is_written(wal->first) && !io_target_is_flushed(&wal->first->file->target))
        buffer_retire(wal);
    if (!is_written(wal->first))
        return false;
    const struct file *file = wal->first->file;
    for (struct log_buffer *b = wal->first; is_written(b) && b->file == file; b = b->next)
        wal->flush_last = b;
    wal->flushing = true;
    return true;
}

static void waiters_wake(struct wal *wal)
{
    bool failed = atomic_load(&wal->failed);
    struct wal_waiter **link = &wal->waiters;
    while (*link) {
        struct wal_waiter *waiter = *link;
        if (failed || wal_is_durable(wal, waiter->position)) {
            *link = waiter->next;
            waiter->queued = false;
            task_wake(waiter->task);
        } else {
            link = &waiter->next;
        }
    }
    if (failed || wal->free_count >= WAL_BUFFERS_FREE_MIN)
        wait_list_wake_all(&wal->buffer_waiters);
    if (failed)
        wait_list_wake_all(&wal->space_waiters);
}

static void flush_submit(struct wal *wal)
{
    memset(&wal->flush_req, 0, offsetof(struct io_req, resume_iov));
    wal->flush_req.op = IO_FLUSH;
    wal->flush_req.stream = STREAM_log_flush;
    wal->flush_req.target = &wal->flush_last->file->target;
    wal->flush_req.done = flush_done;
    wal->flush_req.context = wal;
    io_submit(&wal->writer.worker->io, &wal->flush_req);
}

enum task_result wal_writer_step(struct task *task)
{
    struct wal *wal = (struct wal *)((char *)task - offsetof(struct wal, writer));
    struct log_buffer *writes[WAL_OUTSTANDING_MAX];
    unsigned count = 0;
    bool flush = false;

    pthread_mutex_lock(&wal->lock);
    bool failed = atomic_load(&wal->failed);
    if (!failed) {
        flush = acknowledge(wal);
        if (seal_now(wal))
            wal_seal_open(wal);
        count = writes_collect(wal, writes);
    }
    waiters_wake(wal);
    bool idle = wal->outstanding == 0 && !wal->flushing && !wal_growth_is_busy(wal) &&
                !wal_read_back_is_busy(wal);
    uint64_t next_ns = wal->lazy_due_ns ? wal->lazy_due_ns : UINT64_MAX;
    bool full = !failed && wal_full_look(wal, &next_ns);
    bool finished = atomic_load(&wal->closing) && idle && (failed || (!wal->first && !wal->open));
    uint64_t overwritten = wal->overwritten_unread - wal->overwritten_counted;
    wal->overwritten_counted = wal->overwritten_unread;
    pthread_mutex_unlock(&wal->lock);

    struct counters *counters = &task->worker->stats.counters;
    relaxed_add(&counters->log_blocks_overwritten_unread, overwritten);
    for (unsigned i = 0; i < count; i++) {
        relaxed_add(&counters->log_blocks_written, !writes[i]->is_header);
        relaxed_add(&counters->log_records, writes[i]->records);
        io_submit(&task->worker->io, &writes[i]->req);
    }
    if (flush)
        flush_submit(wal);
    if (full && wal->on_full)
        wal->on_full(wal);
    if (!failed && next_ns != UINT64_MAX && next_ns > clock_now_ns(wal->clock))
        task_sleep_until(task, next_ns); /* else a completion comes first */
    return finished ? TASK_DONE : TASK_PARK;
}
