/*
 * page_scan.h - reading consecutive pages, several a request, into the pool or past it.
 *
 * A page that the pool does not have gets a frame (READING: users wait for it).  Of a page that the
 * pool has, the copy on the device cannot replace the newer one in memory: it is read into a
 * borrowed frame, judged against the ledger by the overlap rule, and dropped.  Whether such a page
 * is read at all is the caller's policy.  Every page read is judged; one that is not right goes
 * through the ladder of page_read.h alone.
 *
 * Requests: up to 64 pages (512 KiB, SQL Server's largest read-ahead), several outstanding; with
 * UseScatterGather=FALSE one page each.
 *
 * Invariants: frames are held only while a request is under way or being judged, and nobody waits
 * for a frame (or for anything but the device) while holding one, so scans cannot deadlock; too few
 * frames make requests shorter.
 *
 * Ownership and threads: a scan belongs to one task.  No allocation but in page_scan_init.
 */
#ifndef SIM_PAGE_SCAN_H
#define SIM_PAGE_SCAN_H

#include "patterns/rng.h"
#include "sim/page_batch.h"
#include "sim/share_gate.h"

#define SCAN_REQUEST_PAGES 64 /* 512 KiB: SQL Server's read-ahead */
#define SCAN_SINGLES       64 /* outstanding requests without scatter reads: one range of them */

/* What to do with a page that is in the pool. */
enum scan_cached {
    SCAN_CACHED_READ, /* read it (ForceReadAhead) */
    SCAN_CACHED_TRIM, /* not at the ends of a request; inside it is read all the same */
    SCAN_CACHED_ROLL, /* CacheHitRatio: memory is a hit in so many cases, else read it */
};

struct page_scan_page {
    struct frame *frame; /* READING (kept), or borrowed */
    bool kept;           /* its frame is the page's */
    bool cached;         /* the pool has the page */
};

struct page_scan_request {
    struct page_batch batch;
    bool busy;
    uint32_t first_page;
    unsigned count;
    struct page_scan_page *pages;
};

struct page_scan {
    struct run *run;
    struct task *task;
    struct page_reader *reader;
    struct rng rng; /* of the rolls */
    int64_t cache_hit_ratio;
    unsigned request_count, request_pages;
    struct page_scan_request *requests;
    struct page_scan_page *pages;
    struct iovec *iov;
    struct ledger_view *before;
    /* the present scan */
    struct data_file *file;
    uint32_t next, end;
    enum stream stream;
    enum scan_cached cached;
    bool users_only;    /* skip pages that no user may build on */
    bool cached_only;   /* skip pages that the pool does not have */
    bool roll_lost;     /* of the page at next: do not roll again */
    unsigned pages_now; /* most of the next request */
    struct share_user *share;
    bool (*is_over)(const struct task *task);
    unsigned busy;          /* requests */
    uint64_t kept, dropped; /* pages of this scan */
};

struct page_scan_range {
    struct data_file *file;
    uint32_t first_page, page_count;
    enum stream stream;
    enum scan_cached cached;
    bool users_only, cached_only;
    unsigned first_request_pages; /* the first request is so long, each further one doubles; 0: all
                                     are as long as they may be */
    struct share_user *share;     /* asked before each request; NULL: nobody is */
    bool (*is_over)(const struct task *task); /* true: no more requests; NULL: never */
};

struct page_scan_how {
    unsigned number; /* of the actor, for its random numbers */
    unsigned outstanding_pages;
    unsigned outstanding_requests; /* at most; 0: as many as the pages allow */
    int64_t cache_hit_ratio;       /* hundredths of a percent: SCAN_CACHED_ROLL */
};
/* 0 or -ENOMEM; page_scan_free() in any case. */
int page_scan_init(struct page_scan *scan, struct page_reader *reader,
                   const struct page_scan_how *how) __attribute__((warn_unused_result));
void page_scan_free(struct page_scan *scan);

void page_scan_start(struct page_scan *scan, const struct page_scan_range *range);
/* TASK_PARK, or TASK_DONE: all pages of the range were read or left out, or the run stops. */
enum task_result page_scan_step(struct page_scan *scan);

#endif
