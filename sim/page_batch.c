/* page_batch.c - see page_batch.h. */
#include "sim/page_batch.h"

#include <assert.h>
#include <string.h>

#include "sim/page_fault.h"

void page_batch_iov(struct page_batch *batch, uint8_t *buffer, unsigned count)
{
    for (unsigned i = 0; i < count; i++)
        batch->iov[i] = (struct iovec){buffer + (size_t)i * PAGE_BYTES, PAGE_BYTES};
    batch->iov_count = count;
}

static void judge_all(struct page_batch *batch)
{
    for (unsigned i = 0; i < batch->count; i++)
        batch->judged[i] = (uint8_t)page_judge(batch->reader, batch->file, batch->first_page + i,
                                               page_batch_image(batch, i), batch->before[i]);
}

static void batch_done(struct io_req *req)
{
    struct page_batch *batch = req->context;
    batch->in_flight = false;
    if (!req->result)
        judge_all(batch);
    task_wake(batch->reader->task);
}

void page_batch_send(struct page_batch *batch, const struct page_batch_pages *pages)
{
    struct page_reader *reader = batch->reader;
    struct file *file = &pages->file->file;
    struct io_req *req = &batch->req;
    assert(!batch->in_flight && !page_batch_holds_reader(batch));
    assert(pages->count <= PAGE_BATCH_MAX);
    batch->file = pages->file;
    batch->first_page = pages->first_page;
    batch->count = pages->count;
    batch->stream = pages->stream;
    batch->next = batch->at = 0;
    batch->alone = batch->unreadable = false;
    batch->serial = worker_read_serials(reader->task->worker, batch->count);
    for (unsigned i = 0; i < batch->count; i++) {
        poison_fill(page_batch_image(batch, i), PAGE_BYTES, batch->serial + i);
        batch->before[i] =
            ledger_view(reader->run->ledger, file->mark.file_uid, batch->first_page + i);
    }
    memset(req, 0, offsetof(struct io_req, resume_iov));
    req->op = IO_READ;
    req->stream = batch->stream;
    req->target = &file->target;
    req->offset = (uint64_t)batch->first_page * PAGE_BYTES;
    req->iov = batch->iov;
    req->iov_count = batch->iov_count;
    if (reader->lateness_ns)
        req->due_ns = clock_now_ns(reader->run->clock) - reader->lateness_ns;
    req->done = batch_done;
    req->context = batch;
    batch->in_flight = true;
    io_submit(&reader->task->worker->io, req);
}

struct data_file *page_batch_file(const struct page_batch *batch)
{
    return batch->alone ? batch->reader->file : batch->file;
}

struct ledger_view page_batch_before(const struct page_batch *batch)
{
    return batch->alone ? batch->reader->before : batch->before[batch->at];
}

/* ---- judging ---- */

void page_batch_again(struct page_batch *batch, struct data_file *file)
{
    assert(!batch->reader->batch);
    batch->reader->batch = batch;
    batch->alone = true;
    page_read_start(batch->reader, file, batch->first_page + batch->at,
                    page_batch_image(batch, batch->at), batch->stream);
}

static void ladder_begin(struct page_batch *batch)
{
    batch->reader->batch = batch;
    batch->alone = true;
    page_read_continue(batch->reader, batch->file, batch->first_page + batch->at,
                       page_batch_image(batch, batch->at), batch->stream, batch->serial + batch->at,
                       batch->before[batch->at], 0);
}

static enum page_read_result ladder_step(struct page_batch *batch)
{
    enum page_read_result result = page_read_step(batch->reader);
    if (result == PAGE_READ_WAIT)
        return result;
    batch->unreadable |= result == PAGE_READ_WRONG;
    batch->reader->batch = NULL;
    return result;
}

static enum page_read_result batch_over(struct page_batch *batch)
{
    bool all = batch->next == batch->count && !run_stopping(batch->reader->run);
    if (batch->req.result && all && !batch->unreadable)
        page_fault_report_retry(batch->reader, batch->file, batch->first_page, batch->count,
                                batch->req.result);
    batch->req.result = 0; /* told once */
    return PAGE_READ_OVER;
}

enum page_read_result page_batch_step(struct page_batch *batch)
{
    struct page_reader *reader = batch->reader;
    if (batch->in_flight || (reader->batch && !page_batch_holds_reader(batch)))
        return PAGE_READ_WAIT;
    if (reader->batch)
        return ladder_step(batch);
    bool stops = run_stopping(reader->run) && !batch->to_the_end;
    if (batch->next == batch->count || stops)
        return batch_over(batch);
    batch->at = batch->next++;
    batch->alone = false;
    if (batch->req.result) {
        page_batch_again(batch, batch->file);
        return PAGE_READ_WAIT;
    }
    switch ((enum page_judgement)batch->judged[batch->at]) {
    case PAGE_JUDGED_RIGHT:
        return PAGE_READ_RIGHT;
    case PAGE_JUDGED_WRONG:
        ladder_begin(batch);
        return PAGE_READ_WAIT;
    case PAGE_NOT_JUDGED:
        break;
    }
    return PAGE_READ_OVERLAPPED;
}
