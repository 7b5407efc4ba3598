/*
 * engine_sync.c - preadv, pwritev, fdatasync: inline at depth 1, with helper threads above.
 *
 * At depth 1 the transfer happens inside submit: the old tools' order of system calls, one thread.
 * Above, min(depth, 64) helpers take requests from a queue.  Under a virtual clock it is inline at
 * any depth, so that a run stays one thread.
 *
 * Invariants: a request is in exactly one of queue, helper, done list.  Everything in struct
 * sync_engine below the mutex is guarded by it; base.outstanding belongs to the owner alone.
 * Short transfers are reported as they come; only EINTR is repeated.
 */
#include <assert.h>
#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <stdlib.h>
#include <unistd.h>

#include "sim/affinity.h"
#include "sim/req_list.h"

#define HELPERS_MAX        64 /* more threads than this only queue in the kernel instead of here */
#define HELPER_STACK_BYTES (512 * 1024) /* system calls, and what a sanitizer adds */

struct sync_engine {
    struct io_engine base;
    bool is_inline;
    struct cpu_list cpus; /* of the helpers; none = any */
    unsigned helper_count;
    pthread_t helpers[HELPERS_MAX];
    pthread_mutex_t lock;
    pthread_cond_t work;      /* for helpers: queue or stop */
    pthread_cond_t completed; /* for reap: done list or woken; monotonic */
    struct req_list queue, done;
    bool woken, stop;
};

static struct sync_engine *sync_of(struct io_engine *engine)
{
    return (struct sync_engine *)engine;
}

static ssize_t transfer_once(const struct io_req *req)
{
    int fd = req->target->fd;
    switch (req->op) {
    case IO_READ:
        return preadv(fd, req->engine_iov, (int)req->engine_iov_count, (off_t)req->engine_offset);
    case IO_WRITE:
        return pwritev(fd, req->engine_iov, (int)req->engine_iov_count, (off_t)req->engine_offset);
    case IO_FLUSH:
        return fdatasync(fd);
    }
    assert(!"unknown operation");
    return 0;
}

static void transfer(const struct sync_engine *sync, struct io_req *req)
{
    ssize_t n;
    do {
        n = transfer_once(req);
    } while (n < 0 && errno == EINTR);
    req->engine_result = n < 0 ? -errno : n;
    req->completed_ns = clock_now_ns(sync->base.clock);
}

static void *helper_main(void *argument)
{
    struct sync_engine *sync = argument;
    /* Checked when the plan was made: a CPU that went offline since leaves the helper anywhere. */
    (void)!affinity_pin(&sync->cpus);
    pthread_mutex_lock(&sync->lock);
    for (;;) {
        while (sync->queue.head == NULL && !sync->stop)
            pthread_cond_wait(&sync->work, &sync->lock);
        if (sync->queue.head == NULL)
            break;
        struct io_req *req = req_list_pop(&sync->queue);
        pthread_mutex_unlock(&sync->lock);
        transfer(sync, req);
        pthread_mutex_lock(&sync->lock);
        req_list_append(&sync->done, req);
        pthread_cond_signal(&sync->completed);
    }
    pthread_mutex_unlock(&sync->lock);
    return NULL;
}

/* Many threads of the usual 8 MiB would not fit where address space is limited (ulimit -v). */
static void attr_init(pthread_attr_t *attr)
{
    pthread_attr_init(attr);
    int error = pthread_attr_setstacksize(attr, HELPER_STACK_BYTES);
    assert(!error);
    (void)error;
}

/* Helpers take no signals: those are the main thread's. */
static int start_helpers(struct sync_engine *sync, unsigned count)
{
    pthread_attr_t attr;
    attr_init(&attr);
    sigset_t all, before;
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before);
    int r = 0;
    while (r == 0 && sync->helper_count < count) {
        r = pthread_create(&sync->helpers[sync->helper_count], &attr, helper_main, sync);
        if (r == 0)
            sync->helper_count++;
    }
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    pthread_attr_destroy(&attr);
    return -r;
}

static void sync_destroy(struct io_engine *engine)
{
    struct sync_engine *sync = sync_of(engine);
    assert(sync->base.outstanding == 0);
    pthread_mutex_lock(&sync->lock);
    sync->stop = true;
    pthread_cond_broadcast(&sync->work);
    pthread_mutex_unlock(&sync->lock);
    for (unsigned i = 0; i < sync->helper_count; i++)
        pthread_join(sync->helpers[i], NULL);
    pthread_cond_destroy(&sync->completed);
    pthread_cond_destroy(&sync->work);
    pthread_mutex_destroy(&sync->lock);
    free(sync);
}

static void init_monotonic_cond(pthread_cond_t *cond)
{
    pthread_condattr_t attr;
    pthread_condattr_init(&attr);
    pthread_condattr_setclock(&attr, CLOCK_MONOTONIC);
    pthread_cond_init(cond, &attr);
    pthread_condattr_destroy(&attr);
}

static int sync_create(struct io_engine **out, const struct io_engine_config *config)
{
    *out = NULL;
    if (config->depth == 0)
        return -EINVAL;
    struct sync_engine *sync = calloc(1, sizeof(*sync));
    if (sync == NULL)
        return -ENOMEM;
    sync->base =
        (struct io_engine){.ops = &engine_sync, .clock = config->clock, .depth = config->depth};
    sync->is_inline = config->depth == 1 || config->clock->is_virtual;
    if (config->cpus)
        sync->cpus = *config->cpus;
    pthread_mutex_init(&sync->lock, NULL);
    pthread_cond_init(&sync->work, NULL);
    init_monotonic_cond(&sync->completed);
    unsigned helpers = config->depth < HELPERS_MAX ? config->depth : HELPERS_MAX;
    int r = sync->is_inline ? 0 : start_helpers(sync, helpers);
    if (r < 0) {
        sync_destroy(&sync->base);
        return r;
    }
    *out = &sync->base;
    return 0;
}

static int sync_attach(struct io_engine *engine, struct io_target *target)
{
    (void)engine;
    return target->fd >= 0 ? 0 : -EBADF;
}

static void sync_detach(struct io_engine *engine, struct io_target *target)
{
    (void)engine;
    (void)target;
}

static int sync_submit(struct io_engine *engine, struct io_req *req)
{
    struct sync_engine *sync = sync_of(engine);
    if (engine->outstanding >= engine->depth)
        return -EAGAIN;
    engine->outstanding++;
    if (sync->is_inline)
        transfer(sync, req);
    pthread_mutex_lock(&sync->lock);
    req_list_append(sync->is_inline ? &sync->done : &sync->queue, req);
    if (!sync->is_inline)
        pthread_cond_signal(&sync->work);
    pthread_mutex_unlock(&sync->lock);
    return 0;
}

/* Nothing can complete while the owner waits on a virtual clock: only time passes. */
static void wait_virtual(struct sync_engine *sync, uint64_t deadline_ns)
{
    if (!sync->woken && deadline_ns != UINT64_MAX)
        clock_advance_to(sync->base.clock, deadline_ns);
}

static void wait_real(struct sync_engine *sync, unsigned min, uint64_t deadline_ns)
{
    struct timespec until = {(time_t)(deadline_ns / NS_PER_S), (long)(deadline_ns % NS_PER_S)};
    int r = 0;
    while (sync->done.count < min && !sync->woken && r != ETIMEDOUT) {
        if (deadline_ns == UINT64_MAX)
            pthread_cond_wait(&sync->completed, &sync->lock);
        else
            r = pthread_cond_timedwait(&sync->completed, &sync->lock, &until);
    }
}

static int sync_reap(struct io_engine *engine, unsigned min, uint64_t deadline_ns,
                     struct io_req **list)
{
    struct sync_engine *sync = sync_of(engine);
    pthread_mutex_lock(&sync->lock);
    if (sync->done.count < min && deadline_ns != 0) {
        if (engine->clock->is_virtual)
            wait_virtual(sync, deadline_ns);
        else
            wait_real(sync, min, deadline_ns);
        if (sync->done.count < min)
            sync->woken = false; /* it ended this wait */
    }
    unsigned count = sync->done.count;
    *list = sync->done.head;
    sync->done = (struct req_list){0};
    pthread_mutex_unlock(&sync->lock);
    engine->outstanding -= count;
    return (int)count;
}

static void sync_wake(struct io_engine *engine)
{
    struct sync_engine *sync = sync_of(engine);
    pthread_mutex_lock(&sync->lock);
    sync->woken = true;
    pthread_cond_signal(&sync->completed);
    pthread_mutex_unlock(&sync->lock);
}

const struct io_engine_ops engine_sync = {
    .name = "sync",
    .create = sync_create,
    .attach = sync_attach,
    .submit = sync_submit,
    .reap = sync_reap,
    .wake = sync_wake,
    .detach = sync_detach,
    .destroy = sync_destroy,
};
