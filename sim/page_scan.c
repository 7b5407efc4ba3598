/* page_scan.c - see page_scan.h. */
#include "sim/page_scan.h"

#include <assert.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

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
    scan->before = calloc(pages, sizeof *scan->before);
    if (!scan->requests || !scan->pages || !scan->iov || !scan->before)
        return -ENOMEM;
    for (unsigned i = 0; i < scan->request_count; i++) {
        struct page_scan_request *r = &scan->requests[i];
        size_t first = (size_t)i * scan->request_pages;
        r->pages = &scan->pages[first];
        r->batch.reader = reader;
        r->batch.iov = &scan->iov[first];
        r->batch.before = &scan->before[first];
        r->batch.context = r;
    }
    return 0;
}

/* Busy requests are left only where a run gave up one that never ended (run_watch.h). */
void page_scan_free(struct page_scan *scan)
{
    free(scan->requests);
    free(scan->pages);
    free(scan->iov);
    free(scan->before);
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
    struct page_batch_pages pages = {
        .file = scan->file, .first_page = r->first_page, .count = r->count, .stream = scan->stream};
    for (unsigned i = 0; i < r->count; i++)
        r->batch.iov[i] = (struct iovec){r->pages[i].frame->bytes, PAGE_BYTES};
    r->batch.iov_count = r->count;
    r->busy = true;
    scan->busy++;
    count_pages(scan, r);
    page_batch_send(&r->batch, &pages);
}

/* ---- judging ---- */

static void page_settled(struct page_scan *scan, struct page_scan_request *r, unsigned index,
                         bool right)
{
    struct pool *pool = &scan->run->pool;
    struct page_scan_page *page = &r->pages[index];
    uint32_t page_no = r->first_page + index;
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

/* What is left of it is not told about: the run stops. */
static void request_finish(struct page_scan *scan, struct page_scan_request *r)
{
    for (unsigned i = r->batch.next; i < r->count; i++)
        page_settled(scan, r, i, false);
    r->busy = false;
    scan->busy--;
}

static void request_judge(struct page_scan *scan, struct page_scan_request *r)
{
    for (;;) {
        enum page_read_result result = page_batch_step(&r->batch);
        if (result == PAGE_READ_WAIT)
            return;
        if (result == PAGE_READ_OVER)
            break;
        page_settled(scan, r, r->batch.at, result == PAGE_READ_RIGHT);
    }
    request_finish(scan, r);
}

/* What has completed.  False: a page is in the ladder. */
static bool judge_all(struct page_scan *scan)
{
    if (scan->reader->batch)
        request_judge(scan, scan->reader->batch->context);
    for (unsigned i = 0; i < scan->request_count && !scan->reader->batch; i++)
        if (scan->requests[i].busy)
            request_judge(scan, &scan->requests[i]);
    return !scan->reader->batch;
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
