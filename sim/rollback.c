/* rollback.c - see rollback.h. */
#include "sim/rollback.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "sim/actor.h"
#include "sim/log_spot.h"

#define READ_BYTES                                                                                 \
    (LOG_BLOCK_BYTES_MAX + 2 * LOG_READ_ALIGN_BYTES) /* a block, wherever it lies                  \
                                                      */
#define UNDO_REREADS_MAX 4                           /* SQL Server's */

struct undo_change {
    struct lsn lsn; /* zero: nothing to undo */
    uint64_t generation;
};

struct rollback {
    struct actor *actor;
    struct undo_change *changes; /* of each page of the op */
    struct wal_span span;        /* where the block of the record is */
    enum log_block_check first;  /* what the first reading showed */
    unsigned rereads;
    bool in_flight;
    uint64_t start; /* of what is in the buffer */
    uint8_t *buffer, *scratch;
    struct iovec iov;
    struct io_req req;
};

static enum task_result wait_read(struct actor *actor);

static struct undo_change *change_now(struct actor *actor)
{
    return &actor->rollback->changes[actor->transaction.index];
}

/* ---- the record ---- */

static void read_done(struct io_req *req)
{
    struct rollback *r = req->context;
    r->in_flight = false;
    task_wake(&r->actor->task);
}

static void block_read(struct rollback *r)
{
    struct io_target *target = &r->span.file->target;
    uint64_t align =
        target->align_bytes > LOG_SECTOR_BYTES ? target->align_bytes : LOG_SECTOR_BYTES;
    uint64_t bytes = r->span.bytes < LOG_BLOCK_BYTES_MAX ? r->span.bytes : LOG_BLOCK_BYTES_MAX;
    uint64_t end = (r->span.offset + bytes + align - 1) / align * align;
    r->start = r->span.offset / align * align;
    r->iov = (struct iovec){r->buffer, (size_t)(end - r->start)};
    memset(&r->req, 0, offsetof(struct io_req, resume_iov));
    r->req.op = IO_READ;
    r->req.stream = STREAM_log_read;
    r->req.target = target;
    r->req.offset = r->start;
    r->req.iov = &r->iov;
    r->req.iov_count = 1;
    r->req.done = read_done;
    r->req.context = r;
    r->in_flight = true;
    io_submit(&r->actor->task.worker->io, &r->req);
}

/* Does the record at the LSN say what the transaction did? */
static bool record_agrees(struct actor *actor, const struct log_block_info *info)
{
    const struct undo_change *change = change_now(actor);
    struct log_record_view record;
    struct log_page_change logged;
    for (unsigned i = 0; i < info->record_count; i++)
        if (log_record_at(actor->rollback->scratch, info, i, &record) &&
            lsn_compare(record.lsn, change->lsn) == 0)
            return log_record_change(&record, &logged) &&
                   logged.page_no == actor->op.pages[actor->transaction.index].page_no &&
                   logged.generation == change->generation;
    return false;
}

static enum log_block_check block_check(struct actor *actor)
{
    struct rollback *r = actor->rollback;
    const uint8_t *at = r->buffer + (r->span.offset - r->start);
    struct log_block_info info;
    enum log_block_check what =
        log_block_check(at, r->iov.iov_len - (size_t)(r->span.offset - r->start), r->span.parity,
                        (uint32_t)(r->span.position >> 32), (uint32_t)r->span.position, false, 0,
                        r->scratch, &info);
    if (what != LOG_BLOCK_OK)
        return what;
    if (!log_block_own_crc_ok(r->scratch, &info))
        return LOG_BLOCK_BAD_CHAIN;
    return record_agrees(actor, &info) ? LOG_BLOCK_OK : LOG_BLOCK_BAD_RECORDS;
}

static void report(struct actor *actor, enum log_block_check what, bool healed)
{
    struct rollback *r = actor->rollback;
    struct log_damage damage = {.offset = r->span.offset,
                                .fseq = (uint32_t)(r->span.position >> 32),
                                .block = (uint32_t)r->span.position,
                                .what = what};
    struct finding finding = log_spot_finding(&damage, false);
    if (r->req.result) {
        finding.verdict = VERDICT_unreadable;
        finding.error = -r->req.result;
        snprintf(finding.detail, sizeof finding.detail, "the log cannot be read for a rollback: %s",
                 strerror(-r->req.result));
    }
    if (healed)
        finding.verdict = what == LOG_BLOCK_OK ? VERDICT_read_retry : VERDICT_transient_damage;
    finding.healed = healed;
    finding.retries = r->rereads;
    finding.agreed = healed ? 0 : r->rereads;
    finding.file_uid = r->span.file->mark.file_uid;
    snprintf(finding.file, sizeof finding.file, "%s", r->span.file->path);
    snprintf(finding.actor, sizeof finding.actor, "%s", actor->name);
    finding_report(&actor->run->findings, &finding, NULL);
}

static enum task_result undo_page(struct actor *actor)
{
    change_now(actor)->lsn = (struct lsn){0};
    return transaction_page(actor);
}

/* What has to be undone is known here, too: damage is told, and the rollback goes on. */
static enum task_result wait_read(struct actor *actor)
{
    struct rollback *r = actor->rollback;
    struct counters *counters = &actor->task.worker->stats.counters;
    if (r->in_flight)
        return TASK_PARK;
    enum log_block_check what = r->req.result ? LOG_BLOCK_OK : block_check(actor);
    bool wrong = r->req.result || what != LOG_BLOCK_OK;
    if (wrong && r->rereads < UNDO_REREADS_MAX) {
        if (r->rereads++ == 0)
            r->first = what;
        relaxed_add(&counters->read_retries, 1);
        block_read(r);
        return TASK_PARK;
    }
    if (wrong || r->rereads)
        report(actor, wrong ? what : r->first, !wrong);
    relaxed_add(&counters->log_blocks_read_back, !wrong);
    return undo_page(actor);
}

/* ---- in order ---- */

enum task_result rollback_next(struct actor *actor)
{
    struct transaction *t = &actor->transaction;
    struct rollback *r = actor->rollback;
    struct wal *wal = &t->file->database->wal;
    do {
        if (t->index == 0)
            return transaction_over(actor);
        t->index--;
    } while (lsn_is_zero(change_now(actor)->lsn));
    uint64_t position = lsn_position(change_now(actor)->lsn);
    if (wal_in_buffers(wal, position) || !wal_durable_span(wal, position, &r->span))
        return undo_page(actor);
    r->rereads = 0;
    actor->execute = wait_read;
    block_read(r);
    return wait_read(actor);
}

void rollback_forget(struct rollback *rollback, unsigned pages_count)
{
    memset(rollback->changes, 0, pages_count * sizeof *rollback->changes);
}

void rollback_note(struct rollback *rollback, unsigned index, struct lsn lsn, uint64_t generation)
{
    rollback->changes[index] = (struct undo_change){lsn, generation};
}

/* ---- life ---- */

struct rollback *rollback_create(struct actor *actor, int64_t pages_max)
{
    struct rollback *r = calloc(1, sizeof *r);
    if (!r)
        return NULL;
    r->actor = actor;
    r->changes = calloc((size_t)pages_max, sizeof *r->changes);
    r->buffer = aligned_alloc(LOG_READ_ALIGN_BYTES, READ_BYTES);
    r->scratch = malloc(LOG_BLOCK_BYTES_MAX);
    if (r->changes && r->buffer && r->scratch)
        return r;
    rollback_free(r);
    return NULL;
}

void rollback_free(struct rollback *rollback)
{
    if (!rollback)
        return;
    free(rollback->changes);
    free(rollback->buffer);
    free(rollback->scratch);
    free(rollback);
}
