/*
 * io_run.c - submit and wait, for the coordinator.
 *
 * Invariant: where somebody may give up waiting (io->waiting), the system has a request and memory
 * of their own, which are then left to it: the caller's end with the call.
 * What it does not do: decide when to give up (run_loop.c does).
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "sim/io.h"
#include "sim/iov.h"

#define LOOK_NS            500000000ull
#define MEMORY_ALIGN_BYTES 4096

struct loan {
    struct io_req req;
    struct iovec iov;
    bool finished;
};

static void run_done(struct io_req *req)
{
    *(bool *)req->context = true;
}

static int run_plain(struct io *io, struct io_req *req)
{
    bool finished = false;
    req->done = run_done;
    req->context = &finished;
    io_submit(io, req);
    while (!finished)
        io_poll(io, 1, UINT64_MAX);
    return req->result;
}

static void loan_free(struct loan *loan)
{
    free(loan->iov.iov_base);
    free(loan);
}

static struct loan *loan_make(const struct io_req *req)
{
    size_t size_bytes = req->op == IO_FLUSH ? 0 : iov_bytes(req->iov, req->iov_count);
    struct loan *loan = calloc(1, sizeof *loan);
    if (!loan)
        return NULL;
    loan->req = *req;
    loan->req.done = run_done;
    loan->req.context = &loan->finished;
    if (size_bytes == 0)
        return loan;
    loan->iov.iov_len = size_bytes;
    if (posix_memalign(&loan->iov.iov_base, MEMORY_ALIGN_BYTES, size_bytes)) {
        free(loan);
        return NULL;
    }
    loan->req.iov = &loan->iov;
    loan->req.iov_count = 1;
    return loan;
}

/* Between the caller's memory and the loan's. */
static void copy(const struct io_req *req, struct loan *loan, bool back)
{
    uint8_t *at = loan->iov.iov_base;
    for (unsigned i = 0; i < req->iov_count; i++) {
        memcpy(back ? req->iov[i].iov_base : at, back ? at : req->iov[i].iov_base,
               req->iov[i].iov_len);
        at += req->iov[i].iov_len;
    }
}

static int run_watched(struct io *io, struct io_req *req)
{
    struct loan *loan = io->abandoned ? NULL : loan_make(req);
    if (!loan)
        return io->abandoned ? -ETIMEDOUT : -ENOMEM;
    if (req->op != IO_FLUSH) /* of a read, too: the poison must stand where the system writes */
        copy(req, loan, false);
    io_submit(io, &loan->req);
    for (;;) {
        io_poll(io, 1, clock_now_ns(io->clock) + LOOK_NS);
        if (loan->finished)
            break;
        io->abandoned = io->waiting(io->waiting_context);
        if (io->abandoned)
            return -ETIMEDOUT; /* the loan is the system's */
    }
    if (req->op == IO_READ)
        copy(req, loan, true);
    int result = req->result = loan->req.result;
    loan_free(loan);
    return result;
}

int io_run(struct io *io, struct io_req *req)
{
    return io->waiting ? run_watched(io, req) : run_plain(io, req);
}
