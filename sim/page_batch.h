/*
 * page_batch.h - consecutive pages read with one request, then judged one by one.
 *
 * What every reader of many pages does: each page's place in the buffers is poisoned, the ledger is
 * looked at, one request reads them all, and when it completes each page is judged (page_read.h),
 * so that none waits unjudged, and may be written again, while another one is read over and over.
 * One that is wrong climbs the ladder of the reader alone.  A request that fails as a whole says
 * nothing about its pages: each is read alone, and if all of them can be read it is SQL Server's
 * 825.  A run that stops reads no more (badly broken storage has a fault on every page), unless
 * to_the_end is set.
 *
 * Several batches may share a reader; one page at a time is in its ladder, the others wait.
 *
 * Ownership: batch, iov, before and the buffers belong to the issuer's task.  No allocation.
 */
#ifndef SIM_PAGE_BATCH_H
#define SIM_PAGE_BATCH_H

#include "sim/page_read.h"

#define PAGE_BATCH_MAX 512 /* pages: a backup's largest transfer, 4 MiB */

struct page_batch {
    /* set by the issuer */
    struct page_reader *reader;
    struct iovec *iov; /* one for each page, or (iov_count 1) one for all */
    unsigned iov_count;
    struct ledger_view *before; /* one for each page */
    void *context;              /* the issuer's */
    bool to_the_end;
    /* of the present read */
    struct data_file *file;
    uint32_t first_page;
    unsigned count;
    unsigned next; /* index of the page that is told about next */
    unsigned at;   /* ... and of the one that a step told about last */
    bool alone;    /* that page was with the reader */
    enum stream stream;
    bool in_flight;
    bool unreadable; /* a page of a request that failed as a whole failed alone, too */
    uint64_t serial;
    uint8_t judged[PAGE_BATCH_MAX]; /* enum page_judgement */
    struct io_req req;
};

struct page_batch_pages {
    struct data_file *file;
    uint32_t first_page;
    unsigned count;
    enum stream stream;
};

/* iov for the pages of one buffer, a vector each. */
void page_batch_iov(struct page_batch *batch, uint8_t *buffer, unsigned count);
void page_batch_send(struct page_batch *batch, const struct page_batch_pages *pages);
/* What became of the page at `at`; PAGE_READ_WAIT: of none yet, PAGE_READ_OVER: there are no more
 * (of a run that stops some are left untold, from `next` on). */
enum page_read_result page_batch_step(struct page_batch *batch);
/* Read the page at `at` again, by itself, from a file that has it; the next step tells of it. */
void page_batch_again(struct page_batch *batch, struct data_file *file);
/* Is a page of this batch with the reader? */
static inline bool page_batch_holds_reader(const struct page_batch *batch)
{
    return batch->reader->batch == batch;
}
static inline uint8_t *page_batch_image(const struct page_batch *batch, unsigned index)
{
    if (batch->iov_count > 1)
        return batch->iov[index].iov_base;
    return (uint8_t *)batch->iov[0].iov_base + (size_t)index * PAGE_BYTES;
}
/* The file that the page at `at` was read from last, and what the ledger said of it. */
struct data_file *page_batch_file(const struct page_batch *batch);
struct ledger_view page_batch_before(const struct page_batch *batch);

#endif
