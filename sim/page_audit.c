/*
 * page_audit.c - OP_AUDIT: read a range of pages from the device, past the pool, and judge them.
 *
 * One vectored read of up to 64 pages (512 KiB, DBCC's read-ahead), or a page at a time where an
 * AuditUser may not scatter; each page is judged by the ledger alone.  Pages that were being
 * written are read again, one by one, a few times; what stays busy is left to the final audit.
 */
#include <assert.h>

#include "sim/actor.h"

#define OVERLAP_TRIES    3
#define UNSEEN_GAP_PAGES 8 /* an extent: reading over it costs less than a request of its own */

static enum task_result read_chunk(struct actor *actor);
static enum task_result judge_chunk(struct actor *actor);

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
    struct page_batch_pages pages = {.file = audit->file, .stream = STREAM_audit_read};
    pages.count = chunk_choose(audit, actor->run->ledger, request_pages(actor));
    pages.first_page = audit->next;
    if (pages.count == 0 || run_stopping(actor->run))
        return TASK_DONE;
    audit->next += pages.count;
    audit->again = OVERLAP_TRIES;
    audit->batch.reader = &actor->reader;
    audit->batch.iov = audit->iov;
    audit->batch.before = audit->before;
    page_batch_iov(&audit->batch, audit->buffer, pages.count);
    actor->execute = judge_chunk;
    page_batch_send(&audit->batch, &pages);
    return TASK_PARK;
}

static enum task_result judge_chunk(struct actor *actor)
{
    struct page_audit *audit = &actor->audit;
    for (;;) {
        switch (page_batch_step(&audit->batch)) {
        case PAGE_READ_WAIT:
            return TASK_PARK;
        case PAGE_READ_OVERLAPPED:
            if (audit->again == 0)
                break;
            audit->again--;
            page_batch_again(&audit->batch, audit->file);
            return TASK_PARK;
        case PAGE_READ_OVER:
            actor->run->progress_done += audit->batch.count;
            return actor_go(actor, read_chunk);
        case PAGE_READ_RIGHT:
        case PAGE_READ_WRONG:
            break;
        }
        audit->again = OVERLAP_TRIES;
    }
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
