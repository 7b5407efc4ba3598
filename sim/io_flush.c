/*
 * io_flush.c - see io_flush.h.
 *
 * Invariants: a write is in one of two lists of its file: waiting (for a flush that has not begun)
 * or covered (by the flush under way, which began after it was transferred).  A write transferred
 * while a flush is under way is never covered by that one.  Of all wrappers one has the file's turn
 * to flush; it keeps it until it knows how its flush ended.
 */
#include "sim/io_flush.h"

#include <assert.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "sim/io.h"

struct held_list {
    struct io_req *first, *last;
};

struct io_flush {
    struct io *io;
    struct io_target *target;
    struct io_req req;
    bool running;
    struct held_list waiting, covered;
    _Atomic bool in_line;       /* for the turn */
    struct io_flush *line_next; /* valid while in_line */
};

static int make_room(struct io_flushes *flushes, unsigned uid)
{
    if (uid < flushes->count)
        return 0;
    struct io_flush **files = realloc(flushes->files, (uid + 1) * sizeof(*files));
    if (!files)
        return -ENOMEM;
    memset(files + flushes->count, 0, (uid + 1 - flushes->count) * sizeof(*files));
    flushes->files = files;
    flushes->count = uid + 1;
    return 0;
}

int io_flush_attach(struct io *io, struct io_target *target)
{
    assert(target->coalesced && target->dsync);
    int error = make_room(&io->flushes, target->uid);
    if (error)
        return error;
    struct io_flush *flush = calloc(1, sizeof *flush);
    if (!flush)
        return -ENOMEM;
    flush->io = io;
    flush->target = target;
    io->flushes.files[target->uid] = flush;
    return 0;
}

void io_flush_free(struct io *io)
{
    for (unsigned i = 0; i < io->flushes.count; i++) {
        assert(!io->flushes.files[i] || !io->flushes.files[i]->running);
        free(io->flushes.files[i]);
    }
    free(io->flushes.files);
    io->flushes = (struct io_flushes){0};
}

/* ---- the file's turn: a line that who wants it joins and who is done empties ---- */

static void call_line(struct io_target *target)
{
    struct io_flush *list = atomic_exchange(&target->flush_line, NULL);
    while (list) {
        struct io_flush *flush = list;
        list = flush->line_next;
        atomic_store(&flush->in_line, false);
        io_wake(flush->io);
    }
}

static void join_line(struct io_flush *flush)
{
    struct io_flush *head = atomic_load(&flush->target->flush_line);
    if (atomic_exchange(&flush->in_line, true))
        return;
    do {
        flush->line_next = head;
    } while (!atomic_compare_exchange_weak(&flush->target->flush_line, &head, flush));
}

/* False: it is another's; this wrapper will be woken. */
static bool take_turn(struct io_flush *flush)
{
    struct io_target *target = flush->target;
    if (!atomic_exchange(&target->flushing, true))
        return true;
    join_line(flush);
    if (!atomic_load(&target->flushing)) /* given back before this one stood in the line */
        call_line(target);
    return false;
}

static void give_turn_back(struct io_target *target)
{
    atomic_store(&target->flushing, false);
    call_line(target);
}

/* ---- writes and their flushes ---- */

bool io_flush_hold(struct io *io, struct io_req *req)
{
    const struct io_target *target = req->target;
    if (!target->coalesced || req->op != IO_WRITE)
        return false;
    struct io_flush *flush = io->flushes.files[target->uid];
    req->flush_failures = atomic_load(&target->flush_failures);
    req->next = NULL;
    if (flush->waiting.last)
        flush->waiting.last->next = req;
    else
        flush->waiting.first = req;
    flush->waiting.last = req;
    io->flushes.due |= !flush->running;
    return true;
}

static void flush_done(struct io_req *req)
{
    struct io_flush *flush = req->context;
    struct io *io = flush->io;
    struct io_req *list = flush->covered.first;
    int error = req->result;
    if (error)
        atomic_fetch_add(&flush->target->flush_failures, 1);
    uint32_t failures = atomic_load(&flush->target->flush_failures);
    uint64_t done_ns = req->done_ns;
    flush->covered = (struct held_list){0};
    flush->running = false;
    give_turn_back(flush->target);
    io->flushes.due |= flush->waiting.first != NULL;
    while (list) {
        struct io_req *held = list;
        list = held->next; /* before done(), which may reuse the request */
        held->next = NULL;
        held->flush_failed = error || held->flush_failures != failures;
        io_finish_held(io, held, error ? error : held->flush_failed ? -EIO : 0, done_ns);
    }
}

static void flush_begin(struct io_flush *flush)
{
    flush->covered = flush->waiting;
    flush->waiting = (struct held_list){0};
    flush->running = true;
    memset(&flush->req, 0, offsetof(struct io_req, resume_iov));
    flush->req.op = IO_FLUSH;
    flush->req.stream = flush->target->is_log ? STREAM_log_flush : STREAM_data_flush;
    flush->req.target = flush->target;
    flush->req.done = flush_done;
    flush->req.context = flush;
    io_submit(flush->io, &flush->req);
}

void io_flush_start(struct io *io)
{
    if (!io->flushes.due)
        return;
    io->flushes.due = false;
    for (unsigned i = 0; i < io->flushes.count; i++) {
        struct io_flush *flush = io->flushes.files[i];
        if (!flush || flush->running || !flush->waiting.first)
            continue;
        if (take_turn(flush))
            flush_begin(flush);
        else
            io->flushes.due = true;
    }
}
