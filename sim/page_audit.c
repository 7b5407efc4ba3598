/*
 * page_audit.c - OP_AUDIT: read a range of pages from the device, past the pool, and judge them.
 *
 * One vectored read of up to 64 pages (512 KiB, DBCC's read-ahead), or a page at a time where an
 * AuditUser may not scatter; each page is judged by the ledger alone.  Pages that were being
 * written are read again, one by one, a few times; what stays busy is left to the final audit.
 */
#include <assert.h>
#include <string.h>

#include "sim/actor.h"
#include "sim/page_fault.h"

#define OVERLAP_TRIES    3
#define UNSEEN_GAP_PAGES 8 /* an extent: reading over it costs less than a request of its own */

static enum task_result read_chunk(struct actor *actor);
static enum task_result judge_chunk(struct actor *actor);
static enum task_result reread_page(struct actor *actor);
static enum task_result overlapped_page(struct actor *actor);

static void chunk_done(struct io_req *req)
{
    struct actor *actor = req->context;
    actor->audit.in_flight = false;
    task_wake(&actor->task);
}

static uint8_t *chunk_page(struct actor *actor, unsigned index)
{
    return actor->audit.buffer + (size_t)index * PAGE_BYTES;
}

/* UseScatterGather is about what users do; the final audit would take many times as long. */
static uint32_t request_pages(const struct actor *actor)
{
    bool is_user = actor->pattern->user_count != NULL;
    return is_user && !actor->run->settings->use_scatter_gather ? 1 : AUDIT_PAGES_MAX;
}

/* Nobody has read it back since it was last written, and it is not being written now. */
static bool is_unseen(const struct page_audit *audit, const struct ledger *ledger, uint32_t page_no)
{
    struct ledger_view view = ledger_view(ledger, audit->file->file.mark.file_uid, page_no);
    return view.state == LEDGER_QUIET && !view.seen;
}

/* The pages of the next request, from audit->next on; none: 0.  Of unseen pages alone a request
 * covers those that lie close together. */
static uint32_t chunk_choose(struct page_audit *audit, const struct ledger *ledger, uint32_t most)
{
    if (!audit->unseen_only)
        return audit->end - audit->next < most ? audit->end - audit->next : most;
    while (audit->next < audit->end && !is_unseen(audit, ledger, audit->next))
        audit->next++;
    uint32_t count = 0;
    for (uint32_t i = 0; i < most && audit->next + i < audit->end; i++) {
        if (is_unseen(audit, ledger, audit->next + i))
            count = i + 1;
        else if (i - count >= UNSEEN_GAP_PAGES)
            break;
    }
    return count;
}

static enum task_result read_chunk(struct actor *actor)
{
    struct page_audit *audit = &actor->audit;
    audit->chunk_count = chunk_choose(audit, actor->run->ledger, request_pages(actor));
    if (audit->chunk_count == 0 || run_stopping(actor->run))
        return TASK_DONE;
    struct file *file = &audit->file->file;
    audit->chunk_first = audit->next;
    audit->next += audit->chunk_count;
    audit->index = 0;
    audit->unreadable = false;
    audit->serial = (uint64_t)(actor->serial + 1) << 40 | actor->reader.next_serial;
    actor->reader.next_serial += audit->chunk_count;
    for (unsigned i = 0; i < audit->chunk_count; i++) {
        poison_fill(chunk_page(actor, i), PAGE_BYTES, audit->serial + i);
        audit->before[i] =
            ledger_view(actor->run->ledger, file->mark.file_uid, audit->chunk_first + i);
        audit->iov[i] = (struct iovec){chunk_page(actor, i), PAGE_BYTES};
    }
    struct io_req *req = &audit->req;
    memset(req, 0, offsetof(struct io_req, resume_iov));
    req->op = IO_READ;
    req->stream = STREAM_audit_read;
    req->target = &file->target;
    req->offset = (uint64_t)audit->chunk_first * PAGE_BYTES;
    req->iov = audit->iov;
    req->iov_count = audit->chunk_count;
    req->done = chunk_done;
    req->context = actor;
    audit->in_flight = true;
    actor->execute = judge_chunk;
    io_submit(&actor->task.worker->io, req);
    return TASK_PARK;
}

/* A chunk that could not be read as a whole says nothing about its pages: each is read alone. */
static enum task_result read_alone(struct actor *actor)
{
    struct page_audit *audit = &actor->audit;
    unsigned index = audit->index++;
    audit->again = OVERLAP_TRIES;
    page_read_start(&actor->reader, audit->file, audit->chunk_first + index,
                    chunk_page(actor, index), STREAM_audit_read);
    return actor_go(actor, reread_page);
}

static enum task_result judge_chunk(struct actor *actor)
{
    struct page_audit *audit = &actor->audit;
    if (audit->in_flight)
        return TASK_PARK;
    while (audit->index < audit->chunk_count) {
        if (run_stopping(actor->run)) /* badly broken storage has a fault on every page */
            return TASK_DONE;
        if (audit->req.result)
            return read_alone(actor);
        unsigned i = audit->index++;
        uint32_t page_no = audit->chunk_first + i;
        audit->again = OVERLAP_TRIES;
        switch (page_judge(&actor->reader, audit->file, page_no, chunk_page(actor, i),
                           audit->before[i])) {
        case PAGE_JUDGED_RIGHT:
            break;
        case PAGE_JUDGED_WRONG:
            page_read_continue(&actor->reader, audit->file, page_no, chunk_page(actor, i),
                               STREAM_audit_read, audit->serial + i, audit->before[i], 0);
            return actor_go(actor, reread_page);
        case PAGE_NOT_JUDGED:
            return actor_go(actor, overlapped_page);
        }
    }
    if (audit->req.result && !audit->unreadable)
        page_fault_report_retry(&actor->reader, audit->file, audit->chunk_first, audit->chunk_count,
                                audit->req.result);
    actor->run->progress_done += audit->chunk_count;
    return actor_go(actor, read_chunk);
}

static enum task_result reread_page(struct actor *actor)
{
    switch (page_read_step(&actor->reader)) {
    case PAGE_READ_WAIT:
        return TASK_PARK;
    case PAGE_READ_OVERLAPPED:
        return actor_go(actor, overlapped_page);
    case PAGE_READ_WRONG:
        actor->audit.unreadable = true;
        return actor_go(actor, judge_chunk);
    case PAGE_READ_RIGHT:
        break;
    }
    return actor_go(actor, judge_chunk);
}

/* index already points behind the page. */
static enum task_result overlapped_page(struct actor *actor)
{
    struct page_audit *audit = &actor->audit;
    if (audit->again == 0)
        return actor_go(actor, judge_chunk);
    audit->again--;
    page_read_start(&actor->reader, audit->file, audit->chunk_first + audit->index - 1,
                    chunk_page(actor, audit->index - 1), STREAM_audit_read);
    actor->execute = reread_page;
    return TASK_PARK;
}

enum task_result page_audit_begin(struct actor *actor)
{
    struct page_audit *audit = &actor->audit;
    assert(audit->buffer); /* the pattern said that it audits */
    audit->file = actor->run->files[actor->op.file];
    audit->unseen_only = actor->op.unseen_only;
    uint32_t size = audit->file->file.size_pages;
    audit->next = actor->op.first_page < size ? actor->op.first_page : size;
    audit->end =
        actor->op.page_count < size - audit->next ? audit->next + actor->op.page_count : size;
    return actor_go(actor, read_chunk);
}
