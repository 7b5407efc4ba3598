/*
 * dbcc_check.c - OP_CHECKDB: one thread's part of a pass of DBCC CHECKDB.
 *
 *   JOIN (the first one opens the pass) -> READ page sets, many requests under way, each page
 *   judged by the ledger -> LEAVE (the last one closes the pass) -> wait for the others -> done
 *
 * Reads go past the pool, up to 64 pages each, as many under way as the settings say, across the
 * ends of page sets: DBCC means to saturate the disk.  A page that was being written is read again
 * alone, a few times; what stays busy is left to the final audit.
 *
 * What it does not do: look into the pool, or check what pages say of each other.
 */
#include "sim/dbcc_check.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "sim/actor.h"
#include "sim/page_fault.h"

#define OVERLAP_TRIES 3
#define BUFFER_ALIGN  4096

static enum task_result join(struct actor *actor);
static enum task_result open_pass(struct actor *actor);
static enum task_result begin(struct actor *actor);
static enum task_result read_sets(struct actor *actor);
static enum task_result leave(struct actor *actor);
static enum task_result wait_for_others(struct actor *actor);

static bool is_over(const struct actor *actor)
{
    const struct run *run = actor->run;
    return run_stopping(run) || clock_now_ns(run->clock) >= run->phase_deadline_ns;
}

/* ---- one request ---- */

static void request_done(struct io_req *req)
{
    struct dbcc_request *r = req->context;
    r->in_flight = false;
    task_wake(&r->check->actor->task);
}

static uint8_t *page_bytes(const struct dbcc_request *r, unsigned index)
{
    return r->buffer + (size_t)index * PAGE_BYTES;
}

/* Of the pages of the set as many as go into a request. */
static void request_fill(struct dbcc_check *check, struct dbcc_request *r)
{
    struct dbcc_set *set = &check->set;
    unsigned most = check->request_pages;
    r->file = set->file;
    r->first_page = set->first_page;
    r->count = set->page_count < most ? set->page_count : most;
    set->first_page += r->count;
    set->page_count -= r->count;
}

static void request_send(struct dbcc_check *check, struct dbcc_request *r)
{
    struct actor *actor = check->actor;
    struct file *file = &r->file->file;
    r->busy = r->in_flight = true;
    r->unreadable = false;
    r->index = 0;
    r->serial = (uint64_t)(actor->number + 1) << 40 | actor->reader.next_serial;
    actor->reader.next_serial += r->count;
    for (unsigned i = 0; i < r->count; i++) {
        poison_fill(page_bytes(r, i), PAGE_BYTES, r->serial + i);
        r->before[i] = ledger_view(actor->run->ledger, file->mark.file_uid, r->first_page + i);
        r->iov[i] = (struct iovec){page_bytes(r, i), PAGE_BYTES};
    }
    struct io_req *req = &r->req;
    memset(req, 0, offsetof(struct io_req, resume_iov));
    req->op = IO_READ;
    req->stream = STREAM_dbcc_read;
    req->target = &file->target;
    req->offset = (uint64_t)r->first_page * PAGE_BYTES;
    req->iov = r->iov;
    req->iov_count = r->count;
    req->done = request_done;
    req->context = r;
    check->busy++;
    io_submit(&actor->task.worker->io, req);
}

/* ---- judging ---- */

static void page_right(struct dbcc_check *check)
{
    relaxed_add(&check->actor->task.worker->stats.counters.dbcc_pages, 1);
}

static void page_alone(struct dbcc_check *check, struct dbcc_request *r)
{
    check->judging = r;
    page_read_start(&check->actor->reader, r->file, r->first_page + r->index,
                    page_bytes(r, r->index), STREAM_dbcc_read);
}

/* The page at index.  False: it is with the reader now. */
static bool page_step(struct dbcc_check *check, struct dbcc_request *r)
{
    struct page_reader *reader = &check->actor->reader;
    uint32_t page_no = r->first_page + r->index;
    uint8_t *image = page_bytes(r, r->index);
    check->again = OVERLAP_TRIES;
    if (r->req.result) { /* the request as a whole says nothing about its pages */
        page_alone(check, r);
        return false;
    }
    switch (page_judge(reader, r->file, page_no, image, r->before[r->index])) {
    case PAGE_JUDGED_RIGHT:
        page_right(check);
        return true;
    case PAGE_JUDGED_WRONG:
        check->judging = r;
        page_read_continue(reader, r->file, page_no, image, STREAM_dbcc_read, r->serial + r->index,
                           r->before[r->index], 0);
        return false;
    case PAGE_NOT_JUDGED:
        page_alone(check, r);
        break;
    }
    return false;
}

static void request_finish(struct dbcc_check *check, struct dbcc_request *r)
{
    if (r->req.result && !r->unreadable && !run_stopping(check->actor->run))
        page_fault_report_retry(&check->actor->reader, r->file, r->first_page, r->count,
                                r->req.result);
    r->busy = false;
    check->busy--;
}

/* False: a page is with the reader.  Badly broken storage has a fault on every page: a run that
 * stops judges no more. */
static bool request_judge(struct dbcc_check *check, struct dbcc_request *r)
{
    while (r->index < r->count && !run_stopping(check->actor->run)) {
        if (!page_step(check, r))
            return false;
        r->index++;
    }
    request_finish(check, r);
    return true;
}

/* False: the reader waits. */
static bool reader_step(struct dbcc_check *check)
{
    struct dbcc_request *r = check->judging;
    switch (page_read_step(&check->actor->reader)) {
    case PAGE_READ_WAIT:
        return false;
    case PAGE_READ_OVERLAPPED:
        if (check->again-- > 0) {
            page_alone(check, r);
            return false;
        }
        break;
    case PAGE_READ_WRONG:
        r->unreadable = true;
        break;
    case PAGE_READ_RIGHT:
        page_right(check);
        break;
    }
    r->index++;
    check->judging = NULL;
    return true;
}

/* What has completed. */
static void judge_all(struct dbcc_check *check)
{
    if (check->judging) {
        struct dbcc_request *r = check->judging;
        if (!reader_step(check) || !request_judge(check, r))
            return;
    }
    for (unsigned i = 0; i < check->request_count; i++) {
        struct dbcc_request *r = &check->requests[i];
        if (r->busy && !r->in_flight && !request_judge(check, r))
            return;
    }
}

/* ---- a pass ---- */

static enum task_result join(struct actor *actor)
{
    struct dbcc_check *check = actor->dbcc;
    actor->execute = join;
    if (is_over(actor))
        return TASK_DONE;
    switch (dbcc_pass_join(check->pass, check->request_pages, &actor->task)) {
    case DBCC_JOIN_WAIT:
        return TASK_PARK;
    case DBCC_JOIN_OPEN:
        return actor_go(actor, open_pass);
    case DBCC_JOIN_IN:
        break;
    }
    return actor_go(actor, begin);
}

/* No file of it shrinks while the pass lasts, so what a page set names exists. */
static enum task_result open_pass(struct actor *actor)
{
    struct dbcc_check *check = actor->dbcc;
    actor->execute = open_pass;
    if (!shrink_forbid(check->pass->database, &actor->task))
        return TASK_PARK;
    dbcc_pass_opened(check->pass);
    return actor_go(actor, begin);
}

static enum task_result begin(struct actor *actor)
{
    struct dbcc_check *check = actor->dbcc;
    check->number = check->pass->number; /* stays while this thread is in it */
    check->set = (struct dbcc_set){0};
    check->early = false;
    return actor_go(actor, read_sets);
}

/* Are there pages to read? */
static bool set_ready(struct dbcc_check *check)
{
    if (check->set.page_count == 0 && !dbcc_pass_take(check->pass, &check->set))
        return false;
    if (!is_over(check->actor))
        return true;
    check->early = true;
    return false;
}

static void send_more(struct dbcc_check *check)
{
    for (unsigned i = 0; i < check->request_count && !check->early; i++) {
        struct dbcc_request *r = &check->requests[i];
        if (r->busy)
            continue;
        if (!set_ready(check))
            return;
        request_fill(check, r);
        request_send(check, r);
    }
}

static enum task_result read_sets(struct actor *actor)
{
    struct dbcc_check *check = actor->dbcc;
    actor->execute = read_sets;
    judge_all(check);
    send_more(check);
    return check->busy ? TASK_PARK : actor_go(actor, leave);
}

static enum task_result leave(struct actor *actor)
{
    struct dbcc_check *check = actor->dbcc;
    if (!dbcc_pass_leave(check->pass, check->early))
        return actor_go(actor, wait_for_others);
    shrink_allow(check->pass->database);
    if (dbcc_pass_closed(check->pass))
        relaxed_add(&actor->task.worker->stats.counters.dbcc_passes, 1);
    return TASK_DONE;
}

static enum task_result wait_for_others(struct actor *actor)
{
    struct dbcc_check *check = actor->dbcc;
    actor->execute = wait_for_others;
    return dbcc_pass_is_over(check->pass, check->number, &actor->task) ? TASK_DONE : TASK_PARK;
}

enum task_result dbcc_check_begin(struct actor *actor)
{
    assert(actor->dbcc && actor->dbcc->busy == 0); /* the pattern said that it reads */
    return actor_go(actor, join);
}

/* ---- life ---- */

static void request_init(struct dbcc_check *check, unsigned index)
{
    struct dbcc_request *r = &check->requests[index];
    size_t first = (size_t)index * check->request_pages;
    r->check = check;
    r->buffer = check->buffer + first * PAGE_BYTES;
    r->iov = &check->iov[first];
    r->before = &check->before[first];
}

struct dbcc_check *dbcc_check_create(struct actor *actor, struct pattern_reads reads)
{
    struct run *run = actor->run;
    if (!run->dbcc)
        run->dbcc = dbcc_pass_create(run);
    struct dbcc_check *check = calloc(1, sizeof *check);
    if (!run->dbcc || !check) {
        free(check);
        return NULL;
    }
    size_t pages = (size_t)reads.outstanding * reads.pages;
    check->actor = actor;
    check->pass = run->dbcc;
    check->pass->actors++;
    check->request_count = reads.outstanding;
    check->request_pages = reads.pages;
    check->requests = calloc(reads.outstanding, sizeof *check->requests);
    check->buffer = aligned_alloc(BUFFER_ALIGN, pages * PAGE_BYTES);
    check->iov = calloc(pages, sizeof *check->iov);
    check->before = calloc(pages, sizeof *check->before);
    if (!check->requests || !check->buffer || !check->iov || !check->before) {
        dbcc_check_free(check);
        return NULL;
    }
    for (unsigned i = 0; i < reads.outstanding; i++)
        request_init(check, i);
    return check;
}

/* Busy requests are left only where a run gave up one that never ended (run_watch.h). */
void dbcc_check_free(struct dbcc_check *check)
{
    if (!check)
        return;
    check->pass->actors--;
    free(check->requests);
    free(check->buffer);
    free(check->iov);
    free(check->before);
    free(check);
}
