/*
 * engine_aio.c - Linux native AIO, what SQL Server on Linux uses: one io_submit and one
 * io_getevents for all that a worker has to do.
 *
 * By system calls, without libaio: that library is these calls and no more, and its io_submit and
 * io_poll are the names of the wrapper here.
 *
 * Invariants: a slot is free, pending (filled, not yet submitted) or in the kernel; there are as
 * many as requests may be outstanding.  An event without a slot is the one that waits for wake().
 * Only woken, waiting and wake_fd are touched by other threads.
 *
 * What it does not do: keep submission from blocking where the file system blocks it: buffered
 * files, and writes that allocate space.  That is native AIO.
 */
#include <assert.h>
#include <errno.h>
#include <linux/aio_abi.h>
#include <poll.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "sim/engine_without.h"
#include "sim/req_list.h"

#define EVENTS_AT_ONCE 64
#define RETRY_NS       NS_PER_MS  /* when the kernel has no room for a request */
#define RING_MAGIC     0xa10a10a1 /* fs/aio.c: the completions can be seen without a call */

struct aio_slot {
    struct iocb iocb; /* its aio_data is this slot */
    struct io_req *req;
    struct aio_slot *next_free;
};

struct aio_engine {
    struct io_engine base;
    struct engine_without without;
    aio_context_t context;
    struct aio_slot *slots, *free_slots;
    struct iocb **pending; /* one more than slots: the wake */
    unsigned pending_count;
    unsigned in_kernel; /* requests, without the wake */
    bool wakes_by_poll; /* else every completion counts up wake_fd, too */
    int wake_fd;
    struct iocb wake_iocb;
    bool wake_armed;
    _Atomic bool woken;   /* somebody called wake() since the last wait ended for it */
    _Atomic bool waiting; /* the owner may be asleep: woken must be followed by wake_fd */
};

/* The beginning of what the kernel maps at the context's address. */
struct aio_ring {
    unsigned id, size;
    unsigned head, tail;
    unsigned magic;
};

static struct aio_engine *aio_of(struct io_engine *engine)
{
    return (struct aio_engine *)engine;
}

/* ---- the system calls: results as 0 or more, or -errno ---- */

static int result_of(long r)
{
    return r < 0 ? -errno : (int)r;
}

static int call_submit(struct aio_engine *aio, struct iocb **list, unsigned count)
{
    return result_of(syscall(SYS_io_submit, aio->context, (long)count, list));
}

static int call_getevents(struct aio_engine *aio, unsigned min, struct io_event *events,
                          struct timespec *timeout)
{
    return result_of(
        syscall(SYS_io_getevents, aio->context, (long)min, (long)EVENTS_AT_ONCE, events, timeout));
}

/* ---- waking ---- */

static void wake_prepare(struct aio_engine *aio)
{
    aio->wake_iocb = (struct iocb){
        .aio_lio_opcode = IOCB_CMD_POLL, .aio_fildes = (uint32_t)aio->wake_fd, .aio_buf = POLLIN};
}

/* Before 4.19 there are no poll requests. */
static void wake_choose(struct aio_engine *aio)
{
    struct iocb *list[] = {&aio->wake_iocb};
    wake_prepare(aio);
    aio->wakes_by_poll = !aio->without.poll && call_submit(aio, list, 1) == 1;
    aio->wake_armed = aio->wakes_by_poll;
}

static void wake_drain(struct aio_engine *aio)
{
    uint64_t count;
    (void)!read(aio->wake_fd, &count, sizeof count); /* nothing to read is well, too */
}

/* Who finds woken set knows that somebody else is waking, or that the owner will look. */
static void aio_wake(struct io_engine *engine)
{
    struct aio_engine *aio = aio_of(engine);
    static const uint64_t one = 1;
    if (atomic_exchange(&aio->woken, true) || !atomic_load(&aio->waiting))
        return;
    ssize_t n = write(aio->wake_fd, &one, sizeof one);
    assert(n == sizeof one || errno == EAGAIN); /* full: then it is readable */
}

/* ---- life ---- */

static void aio_free(struct aio_engine *aio)
{
    if (aio->context)
        syscall(SYS_io_destroy, aio->context); /* takes back the wake */
    if (aio->wake_fd >= 0)
        close(aio->wake_fd);
    free(aio->slots);
    free(aio->pending);
    free(aio);
}

static int aio_make(struct aio_engine *aio)
{
    unsigned depth = aio->base.depth;
    aio->slots = calloc(depth, sizeof *aio->slots);
    aio->pending = calloc(depth + 1, sizeof(struct iocb *));
    if (!aio->slots || !aio->pending)
        return -ENOMEM;
    for (unsigned i = depth; i-- > 0;) {
        aio->slots[i].next_free = aio->free_slots;
        aio->free_slots = &aio->slots[i];
    }
    aio->wake_fd = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
    if (aio->wake_fd < 0)
        return -errno;
    int r = result_of(syscall(SYS_io_setup, depth + 1, &aio->context));
    if (r == 0)
        wake_choose(aio);
    return r;
}

static int aio_create(struct io_engine **out, const struct io_engine_config *config)
{
    *out = NULL;
    if (config->depth == 0 || config->clock->is_virtual) /* real devices have real time */
        return -EINVAL;
    struct aio_engine *aio = calloc(1, sizeof *aio);
    if (!aio)
        return -ENOMEM;
    aio->base =
        (struct io_engine){.ops = &engine_aio, .clock = config->clock, .depth = config->depth};
    aio->wake_fd = -1;
    if (config->device)
        aio->without = *(const struct engine_without *)config->device;
    int r = aio_make(aio);
    if (r) {
        aio_free(aio);
        return r;
    }
    *out = &aio->base;
    return 0;
}

static void aio_destroy(struct io_engine *engine)
{
    assert(engine->outstanding == 0);
    aio_free(aio_of(engine));
}

static int aio_attach(struct io_engine *engine, struct io_target *target)
{
    (void)engine;
    return target->fd >= 0 ? 0 : -EBADF;
}

static void aio_detach(struct io_engine *engine, struct io_target *target)
{
    (void)engine;
    (void)target;
}

/* ---- requests ---- */

static void fill(struct aio_engine *aio, struct aio_slot *slot, const struct io_req *req)
{
    bool is_read = req->op == IO_READ, single = req->engine_iov_count == 1;
    struct iocb *iocb = &slot->iocb;
    *iocb = (struct iocb){.aio_data = (uintptr_t)slot, .aio_fildes = (uint32_t)req->target->fd};
    if (!aio->wakes_by_poll) {
        iocb->aio_flags = IOCB_FLAG_RESFD;
        iocb->aio_resfd = (uint32_t)aio->wake_fd;
    }
    if (req->op == IO_FLUSH) {
        iocb->aio_lio_opcode = IOCB_CMD_FDSYNC;
        return;
    }
    iocb->aio_offset = (int64_t)req->engine_offset;
    if (single) {
        iocb->aio_lio_opcode = is_read ? IOCB_CMD_PREAD : IOCB_CMD_PWRITE;
        iocb->aio_buf = (uintptr_t)req->engine_iov->iov_base;
        iocb->aio_nbytes = req->engine_iov->iov_len;
    } else {
        iocb->aio_lio_opcode = is_read ? IOCB_CMD_PREADV : IOCB_CMD_PWRITEV;
        iocb->aio_buf = (uintptr_t)req->engine_iov;
        iocb->aio_nbytes = req->engine_iov_count;
    }
}

static int aio_submit(struct io_engine *engine, struct io_req *req)
{
    struct aio_engine *aio = aio_of(engine);
    if (engine->outstanding >= engine->depth)
        return -EAGAIN;
    engine->outstanding++;
    struct aio_slot *slot = aio->free_slots;
    aio->free_slots = slot->next_free;
    slot->req = req;
    fill(aio, slot, req);
    aio->pending[aio->pending_count++] = &slot->iocb;
    return 0;
}

/* ---- completions ---- */

static void complete(struct aio_engine *aio, struct req_list *done, struct aio_slot *slot,
                     ssize_t result, uint64_t now_ns)
{
    struct io_req *req = slot->req;
    slot->next_free = aio->free_slots;
    aio->free_slots = slot;
    req->engine_result = result;
    req->completed_ns = now_ns;
    req_list_append(done, req);
}

static void take_events(struct aio_engine *aio, struct req_list *done,
                        const struct io_event *events, int count)
{
    uint64_t now = count > 0 ? clock_now_ns(aio->base.clock) : 0;
    for (int i = 0; i < count; i++) {
        struct aio_slot *slot = (struct aio_slot *)(uintptr_t)events[i].data; /* NOLINT */
        if (!slot) {
            aio->wake_armed = false;
            wake_drain(aio);
            continue;
        }
        assert(aio->in_kernel > 0);
        aio->in_kernel--;
        complete(aio, done, slot, (ssize_t)events[i].res, now);
    }
}

static bool ring_is_empty(const struct aio_engine *aio)
{
    const struct aio_ring *ring = (const struct aio_ring *)aio->context; /* NOLINT */
    return ring->magic == RING_MAGIC && __atomic_load_n(&ring->head, __ATOMIC_RELAXED) ==
                                            __atomic_load_n(&ring->tail, __ATOMIC_ACQUIRE);
}

/* What is there, without waiting. */
static void collect(struct aio_engine *aio, struct req_list *done)
{
    struct io_event events[EVENTS_AT_ONCE];
    struct timespec at_once = {0};
    int got = EVENTS_AT_ONCE;
    while (got == EVENTS_AT_ONCE && !ring_is_empty(aio)) {
        do {
            got = call_getevents(aio, 0, events, &at_once);
        } while (got == -EINTR);
        assert(got >= 0);
        take_events(aio, done, events, got);
    }
}

/* ---- submission ---- */

/* The kernel did not take this one.  Only kernels before 4.18 refuse a flush: there it is done here
 * and now, and the worker waits for it. */
static void refused(struct aio_engine *aio, struct req_list *done, struct iocb *iocb, int error)
{
    struct aio_slot *slot = (struct aio_slot *)(uintptr_t)iocb->aio_data; /* NOLINT */
    ssize_t result = error;
    assert(slot); /* the wake was tried in create */
    if (error == -EINVAL && slot->req->op == IO_FLUSH)
        result = fdatasync(slot->req->target->fd) ? -errno : 0;
    complete(aio, done, slot, result, clock_now_ns(aio->base.clock));
}

/* How many of the pending ones are dealt with. */
static unsigned submit_some(struct aio_engine *aio, struct req_list *done, struct iocb **list,
                            unsigned count)
{
    bool own_flush = aio->without.fdsync && (*list)->aio_lio_opcode == IOCB_CMD_FDSYNC;
    int r = own_flush ? -EINVAL : call_submit(aio, list, count);
    if (r == -EAGAIN || r == -EINTR)
        return 0;
    if (r < 0) {
        refused(aio, done, *list, r);
        return 1;
    }
    for (int i = 0; i < r; i++)
        aio->in_kernel += list[i] != &aio->wake_iocb;
    return (unsigned)r;
}

static unsigned before_flush(const struct aio_engine *aio, unsigned from)
{
    unsigned end = from;
    while (end < aio->pending_count && aio->pending[end]->aio_lio_opcode != IOCB_CMD_FDSYNC)
        end++;
    return end > from ? end - from : 1;
}

static void submit_pending(struct aio_engine *aio, struct req_list *done)
{
    unsigned at = 0;
    while (at < aio->pending_count) {
        unsigned count = aio->without.fdsync ? before_flush(aio, at) : aio->pending_count - at;
        unsigned dealt = submit_some(aio, done, aio->pending + at, count);
        if (dealt == 0)
            break;
        at += dealt;
    }
    aio->pending_count -= at;
    memmove(aio->pending, aio->pending + at, aio->pending_count * sizeof *aio->pending);
    if (aio->pending_count > 0 && aio->in_kernel == 0) { /* nothing will make room by itself */
        struct timespec pause = {0, RETRY_NS};
        nanosleep(&pause, NULL);
    }
}

/* ---- waiting ---- */

static struct timespec time_left(const struct aio_engine *aio, uint64_t deadline_ns)
{
    uint64_t now = clock_now_ns(aio->base.clock);
    uint64_t left = deadline_ns > now ? deadline_ns - now : 0;
    return (struct timespec){(time_t)(left / NS_PER_S), (long)(left % NS_PER_S)};
}

static void wait_by_events(struct aio_engine *aio, uint64_t deadline_ns, struct req_list *done)
{
    struct io_event events[EVENTS_AT_ONCE];
    struct timespec left = time_left(aio, deadline_ns);
    int got = call_getevents(aio, 1, events, deadline_ns == UINT64_MAX ? NULL : &left);
    assert(got >= 0 || got == -EINTR);
    take_events(aio, done, events, got);
}

static void wait_by_counter(struct aio_engine *aio, uint64_t deadline_ns, struct req_list *done)
{
    struct pollfd fd = {.fd = aio->wake_fd, .events = POLLIN};
    struct timespec left = time_left(aio, deadline_ns);
    if (ppoll(&fd, 1, deadline_ns == UINT64_MAX ? NULL : &left, NULL) > 0)
        wake_drain(aio);
    collect(aio, done);
}

static void arm_wake(struct aio_engine *aio)
{
    if (!aio->wakes_by_poll || aio->wake_armed)
        return;
    aio->pending[aio->pending_count++] = &aio->wake_iocb;
    aio->wake_armed = true;
}

static void wait_for(struct aio_engine *aio, unsigned min, uint64_t deadline_ns,
                     struct req_list *done)
{
    bool late = false;
    atomic_store(&aio->waiting, true);
    while (done->count < min && !late && !atomic_load(&aio->woken)) {
        arm_wake(aio);
        submit_pending(aio, done);
        if (done->count >= min)
            break;
        if (aio->wakes_by_poll && !(aio->pending_count > 0 && aio->in_kernel == 0))
            wait_by_events(aio, deadline_ns, done);
        else if (!aio->wakes_by_poll)
            wait_by_counter(aio, deadline_ns, done);
        late = deadline_ns != UINT64_MAX && done->count < min &&
               clock_now_ns(aio->base.clock) >= deadline_ns;
    }
    atomic_store(&aio->waiting, false);
    if (done->count < min)
        atomic_store(&aio->woken, false); /* it ended this wait */
}

static int aio_reap(struct io_engine *engine, unsigned min, uint64_t deadline_ns,
                    struct io_req **list)
{
    struct aio_engine *aio = aio_of(engine);
    struct req_list done = {0};
    collect(aio, &done);
    if (done.count < min && deadline_ns != 0)
        wait_for(aio, min, deadline_ns, &done);
    if (aio->pending_count > 0) {
        submit_pending(aio, &done);
        collect(aio, &done);
    }
    *list = done.head;
    engine->outstanding -= done.count;
    return (int)done.count;
}

const struct io_engine_ops engine_aio = {
    .name = "aio",
    .create = aio_create,
    .attach = aio_attach,
    .submit = aio_submit,
    .reap = aio_reap,
    .wake = aio_wake,
    .detach = aio_detach,
    .destroy = aio_destroy,
};
