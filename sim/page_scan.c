/* page_scan.c - see page_scan.h. */
#include "sim/page_scan.h"

#include <assert.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "sim/page_fault.h"
#include "sim/page_use.h"

#define RNG_PURPOSE 0x43484954 /* "CHIT" */

/* ---- life ---- */

int page_scan_init(struct page_scan *scan, struct page_reader *reader,
                   const struct page_scan_how *how)
{
    struct run *run = reader->run;
    memset(scan, 0, sizeof *scan);
    scan->run = run;
    scan->task = reader->task;
    scan->reader = reader;
    scan->cache_hit_ratio = how->cache_hit_ratio;
    scan->serial_base = (uint64_t)(how->number + 1) << 40;
    rng_split(&scan->rng, run->config.plan->seed, RNG_PURPOSE, how->number);
    unsigned outstanding_pages = how->outstanding_pages;
    unsigned most = run->settings->use_scatter_gather ? SCAN_REQUEST_PAGES : 1;
    scan->request_pages = outstanding_pages < most ? outstanding_pages : most;
    scan->request_count = (outstanding_pages + scan->request_pages - 1) / scan->request_pages;
    if (scan->request_count > SCAN_SINGLES)
        scan->request_count = SCAN_SINGLES;
    if (how->outstanding_requests && scan->request_count > how->outstanding_requests)
        scan->request_count = how->outstanding_requests;
    size_t pages = (size_t)scan->request_count * scan->request_pages;
    scan->requests = calloc(scan->request_count, sizeof *scan->requests);
    scan->pages = calloc(pages, sizeof *scan->pages);
    scan->iov = calloc(pages, sizeof *scan->iov);
    if (!scan->requests || !scan->pages || !scan->iov)
        return -ENOMEM;
    for (unsigned i = 0; i < scan->request_count; i++) {
        scan->requests[i].scan = scan;
        scan->requests[i].pages = &scan->pages[(size_t)i * scan->request_pages];
        scan->requests[i].iov = &scan->iov[(size_t)i * scan->request_pages];
    }
    return 0;
}

/* Busy requests are left only where a run gave up one that never ended (run_watch.h). */
void page_scan_free(struct page_scan *scan)
{
    free(scan->requests);
    free(scan->pages);
    free(scan->iov);
    memset(scan, 0, sizeof *scan);
}

/* ---- choosing pages ---- */

enum choice {
    CHOICE_ADD,      /* *page has its frame */
    CHOICE_SKIP,     /* not read */
    CHOICE_NO_FRAME, /* nothing to read it into */
};

static struct counters *counters_of(struct page_scan *scan)
{
    return &scan->task->worker->stats.counters;
}

static uint64_t key_of(const struct page_scan *scan, uint32_t page_no)
{
    return page_key(scan->file->file.mark.file_uid, page_no);
}

static enum choice add_borrowed(struct page_scan *scan, struct page_scan_page *page, bool cached)
{
    *page = (struct page_scan_page){.frame = pool_borrow(&scan->run->pool), .cached = cached};
    return page->frame ? CHOICE_ADD : CHOICE_NO_FRAME;
}

/* The page is in the pool.  first: of its request. */
static enum choice choose_cached(struct page_scan *scan, struct page_scan_page *page, bool first)
{
    if (scan->cached == SCAN_CACHED_TRIM && first)
        return CHOICE_SKIP;
    if (scan->cached == SCAN_CACHED_ROLL && !scan->roll_lost) {
        if (rng_chance(&scan->rng, scan->cache_hit_ratio)) {
            relaxed_add(&counters_of(scan)->page_hits, 1);
            return CHOICE_SKIP;
        }
        scan->roll_lost = true;
    }
    return add_borrowed(scan, page, true);
}

static enum choice choose(struct page_scan *scan, uint32_t page_no, struct page_scan_page *page,
                          bool first)
{
    struct pool *pool = &scan->run->pool;
    if (!page_may_be_used(scan->file, page_no)) {
        bool cached = pool_contains(pool, key_of(scan, page_no));
        if (scan->users_only || (scan->cached == SCAN_CACHED_TRIM && cached && first))
            return CHOICE_SKIP;
        return add_borrowed(scan, page, cached);
    }
    if (scan->cached_only && !pool_contains(pool, key_of(scan, page_no)))
        return CHOICE_SKIP;
    struct frame *frame = NULL;
    switch (pool_claim(pool, key_of(scan, page_no), &frame)) {
    case POOL_MISS:
        *page = (struct page_scan_page){.frame = frame, .kept = true};
        return CHOICE_ADD;
    case POOL_HIT:
        return choose_cached(scan, page, first);
    default:
        return CHOICE_NO_FRAME;
    }
}

/* Pages at the end that the pool has are not asked for. */
static void trim_end(struct page_scan *scan, struct page_scan_request *r)
{
    while (r->count && r->pages[r->count - 1].cached)
        pool_give_back(&scan->run->pool, r->pages[--r->count].frame);
}

/* The next pages that are to be read; false: none could be had a frame. */
static bool request_fill(struct page_scan *scan, struct page_scan_request *r)
{
    enum choice choice = CHOICE_SKIP;
    r->count = 0;
    while (scan->next < scan->end && r->count < scan->pages_now) {
        choice = choose(scan, scan->next, &r->pages[r->count], r->count == 0);
        if (choice == CHOICE_NO_FRAME || (choice == CHOICE_SKIP && r->count))
            break;
        if (choice == CHOICE_ADD && r->count++ == 0)
            r->first_page = scan->next;
        scan->roll_lost = false;
        scan->next++;
    }
    if (choice == CHOICE_SKIP && scan->next < scan->end) { /* it ends the request */
        scan->roll_lost = false;
        scan->next++;
    }
    if (scan->cached == SCAN_CACHED_TRIM)
        trim_end(scan, r);
    return choice != CHOICE_NO_FRAME || r->count;
}

/* ---- one request ---- */

static void request_done(struct io_req *req)
{
    struct page_scan_request *r = req->context;
    r->in_flight = false;
    task_wake(r->scan->task);
}

static void count_pages(struct page_scan *scan, const struct page_scan_request *r)
{
    struct counters *counters = counters_of(scan);
    for (unsigned i = 0; i < r->count; i++) {
        scan->kept += r->pages[i].kept;
        scan->dropped += !r->pages[i].kept;
        if (scan->cached != SCAN_CACHED_ROLL)
            continue;
        relaxed_add(r->pages[i].kept ? &counters->page_misses : &counters->page_rereads, 1);
    }
}

static void request_send(struct page_scan *scan, struct page_scan_request *r)
{
    struct file *file = &scan->file->file;
    r->busy = r->in_flight = true;
    r->unreadable = false;
    r->index = 0;
    r->serial = scan->serial_base | scan->reader->next_serial;
    scan->reader->next_serial += r->count;
    for (unsigned i = 0; i < r->count; i++) {
        uint8_t *bytes = r->pages[i].frame->bytes;
        poison_fill(bytes, PAGE_BYTES, r->serial + i);
        r->pages[i].before = ledger_view(scan->run->ledger, file->mark.file_uid, r->first_page + i);
        r->iov[i] = (struct iovec){bytes, PAGE_BYTES};
    }
    count_pages(scan, r);
    struct io_req *req = &r->req;
    memset(req, 0, offsetof(struct io_req, resume_iov));
    req->op = IO_READ;
    req->stream = scan->stream;
    req->target = &file->target;
    req->offset = (uint64_t)r->first_page * PAGE_BYTES;
    req->iov = r->iov;
    req->iov_count = r->count;
    if (scan->reader->lateness_ns)
        req->due_ns = clock_now_ns(scan->run->clock) - scan->reader->lateness_ns;
    req->done = request_done;
    req->context = r;
    scan->busy++;
    io_submit(&scan->task->worker->io, req);
}

/* ---- judging ---- */

/* The page at index is settled: right or not. */
static void page_settled(struct page_scan *scan, struct page_scan_request *r, bool right)
{
    struct pool *pool = &scan->run->pool;
    struct page_scan_page *page = &r->pages[r->index];
    uint32_t page_no = r->first_page + r->index;
    r->index++;
    if (!page->kept) {
        pool_give_back(pool, page->frame);
        return;
    }
    uint64_t generation = right ? page_stamp_of(page->frame->bytes)->generation : 0;
    right = right && page_is_newest(scan->file, page_no, generation);
    pool_read_done(pool, page->frame, right, generation);
    if (right)
        pool_unpin(pool, page->frame);
}

static void request_finish(struct page_scan *scan, struct page_scan_request *r)
{
    r->busy = false;
    scan->busy--;
}

/* Go on with the page at index in the ladder. */
static void ladder_begin(struct page_scan *scan, struct page_scan_request *r)
{
    struct page_scan_page *page = &r->pages[r->index];
    uint32_t page_no = r->first_page + r->index;
    scan->judging = r;
    if (r->req.result) /* the request as a whole says nothing about its pages */
        page_read_start(scan->reader, scan->file, page_no, page->frame->bytes, scan->stream);
    else
        page_read_continue(scan->reader, scan->file, page_no, page->frame->bytes, scan->stream,
                           r->serial + r->index, page->before, 0);
}

/* False: a page went into the ladder. */
static bool request_judge(struct page_scan *scan, struct page_scan_request *r)
{
    while (r->index < r->count) {
        enum page_judgement judged = PAGE_NOT_JUDGED;
        bool stopping = run_stopping(scan->run); /* badly broken storage: a fault on every page */
        if (!stopping && !r->req.result)
            judged = page_judge(scan->reader, scan->file, r->first_page + r->index,
                                r->pages[r->index].frame->bytes, r->pages[r->index].before);
        if (!stopping && (r->req.result || judged == PAGE_JUDGED_WRONG)) {
            ladder_begin(scan, r);
            return false;
        }
        page_settled(scan, r, judged == PAGE_JUDGED_RIGHT);
    }
    if (r->req.result && !r->unreadable && !run_stopping(scan->run))
        page_fault_report_retry(scan->reader, scan->file, r->first_page, r->count, r->req.result);
    request_finish(scan, r);
    return true;
}

/* False: the ladder waits. */
static bool ladder_step(struct page_scan *scan)
{
    struct page_scan_request *r = scan->judging;
    enum page_read_result result = page_read_step(scan->reader);
    if (result == PAGE_READ_WAIT)
        return false;
    r->unreadable |= result == PAGE_READ_WRONG;
    page_settled(scan, r, result == PAGE_READ_RIGHT);
    scan->judging = NULL;
    return true;
}

/* What has completed.  False: a page is in the ladder. */
static bool judge_all(struct page_scan *scan)
{
    if (scan->judging) {
        struct page_scan_request *r = scan->judging;
        if (!ladder_step(scan) || !request_judge(scan, r))
            return false;
    }
    for (unsigned i = 0; i < scan->request_count; i++) {
        struct page_scan_request *r = &scan->requests[i];
        if (r->busy && !r->in_flight && !request_judge(scan, r))
            return false;
    }
    return true;
}

/* ---- the scan ---- */

static bool is_over(struct page_scan *scan)
{
    return scan->next >= scan->end || run_stopping(scan->run) ||
           wal_failed(&scan->file->database->wal) || (scan->is_over && scan->is_over(scan->task));
}

/* SQL Server's scans begin with short read-aheads. */
static void grow(struct page_scan *scan)
{
    scan->pages_now *= 2;
    if (scan->pages_now > scan->request_pages)
        scan->pages_now = scan->request_pages;
}

enum sending {
    SENT_ALL,      /* nothing is left to send, or every request is busy */
    SENT_NO_FRAME, /* no frame could be had */
    SENT_SHARE,    /* the others have to issue requests first */
};

/* While a request is under way its end is what is waited for. */
static bool may_send(struct page_scan *scan)
{
    if (!scan->share || share_may_begin(scan->share, scan->task))
        return true;
    if (scan->busy)
        share_forget(scan->share, scan->task);
    return false;
}

/* Send what there are requests and frames for. */
static enum sending send_more(struct page_scan *scan)
{
    for (unsigned i = 0; i < scan->request_count && !is_over(scan); i++) {
        struct page_scan_request *r = &scan->requests[i];
        if (r->busy)
            continue;
        if (!may_send(scan))
            return SENT_SHARE;
        if (!request_fill(scan, r))
            return SENT_NO_FRAME;
        if (r->count)
            request_send(scan, r);
        grow(scan);
    }
    return SENT_ALL;
}

void page_scan_start(struct page_scan *scan, const struct page_scan_range *range)
{
    assert(scan->busy == 0 && scan->requests);
    uint32_t size = range->file->file.size_pages;
    scan->file = range->file;
    scan->next = range->first_page < size ? range->first_page : size;
    scan->end = range->page_count < size - scan->next ? scan->next + range->page_count : size;
    scan->stream = range->stream;
    scan->cached = range->cached;
    scan->users_only = range->users_only;
    scan->cached_only = range->cached_only;
    scan->roll_lost = false;
    scan->share = range->share;
    scan->is_over = range->is_over;
    scan->pages_now = range->first_request_pages && range->first_request_pages < scan->request_pages
                          ? range->first_request_pages
                          : scan->request_pages;
    scan->kept = scan->dropped = 0;
}

enum task_result page_scan_step(struct page_scan *scan)
{
    if (!judge_all(scan))
        return TASK_PARK;
    if (scan->share)
        share_forget(scan->share, scan->task);
    pool_wait_forget(&scan->run->pool, scan->task); /* the end of the phase may have woken it */
    enum sending sent = send_more(scan);
    if (scan->busy || sent == SENT_SHARE)
        return TASK_PARK;
    if (sent == SENT_ALL)
        return TASK_DONE;
    relaxed_add(&counters_of(scan)->frame_waits, 1);
    pool_wait_for_frame(&scan->run->pool, scan->task);
    return TASK_PARK;
}
