/*
 * engine_mem.c - an engine on the modelled device: submission, waiting, collecting.
 *
 * Invariants: a request is on the device or in the done list; both are guarded by the device's
 * lock. Under a virtual clock reap(0) never moves time, and a wait moves it by one step only: to
 * the next completion of any engine of the device, so that every worker sees its completions in
 * their order.
 */
#include <assert.h>
#include <errno.h>
#include <stdlib.h>

#include "sim/mem_device.h"

static struct mem_engine *mem_of(struct io_engine *engine)
{
    return (struct mem_engine *)engine;
}

void mem_engine_complete(struct mem_engine *engine, struct io_req *req, ssize_t result,
                         uint64_t when_ns)
{
    req->engine_result = result;
    req->completed_ns = when_ns;
    req->next = NULL;
    if (engine->done_tail)
        engine->done_tail->next = req;
    else
        engine->done_head = req;
    engine->done_tail = req;
    engine->done_count++;
}

static int init_slots(struct mem_engine *mem, unsigned depth)
{
    mem->slots = calloc(depth, sizeof(*mem->slots));
    if (mem->slots == NULL)
        return -ENOMEM;
    for (unsigned i = depth; i-- > 0;) {
        mem->slots[i].engine = mem;
        mem->slots[i].next_free = mem->free_slots;
        mem->free_slots = &mem->slots[i];
    }
    return 0;
}

static int join_device(struct mem_engine *mem, unsigned depth)
{
    struct mem_device *device = mem->device;
    pthread_mutex_lock(&device->lock);
    int r = mem_device_reserve_events(device, depth);
    if (r == 0) {
        mem->next = device->engines;
        device->engines = mem;
    }
    pthread_mutex_unlock(&device->lock);
    return r;
}

static int mem_create(struct io_engine **out, const struct io_engine_config *config)
{
    *out = NULL;
    if (config->depth == 0 || config->device == NULL)
        return -EINVAL;
    struct mem_engine *mem = calloc(1, sizeof(*mem));
    if (mem == NULL)
        return -ENOMEM;
    mem->base =
        (struct io_engine){.ops = &engine_mem, .clock = config->clock, .depth = config->depth};
    mem->device = config->device;
    assert(mem->device->clock == config->clock);
    int r = init_slots(mem, config->depth);
    if (r == 0)
        r = join_device(mem, config->depth);
    if (r < 0) {
        free(mem->slots);
        free(mem);
        return r;
    }
    *out = &mem->base;
    return 0;
}

static int mem_attach(struct io_engine *engine, struct io_target *target)
{
    struct mem_engine *mem = mem_of(engine);
    struct mem_attachment *attachment = calloc(1, sizeof(*attachment));
    if (attachment == NULL)
        return -ENOMEM;
    pthread_mutex_lock(&mem->device->lock);
    int r = mem_device_file(mem->device, target->fd, &attachment->file);
    pthread_mutex_unlock(&mem->device->lock);
    if (r < 0) {
        free(attachment);
        return r;
    }
    attachment->target = target;
    attachment->next = mem->attachments;
    mem->attachments = attachment;
    return 0;
}

static void mem_detach(struct io_engine *engine, struct io_target *target)
{
    struct mem_engine *mem = mem_of(engine);
    struct mem_attachment **link = &mem->attachments;
    while (*link && (*link)->target != target)
        link = &(*link)->next;
    assert(*link != NULL);
    struct mem_attachment *attachment = *link;
    *link = attachment->next;
    free(attachment);
}

static struct mem_file *file_of(const struct mem_engine *mem, const struct io_target *target)
{
    const struct mem_attachment *attachment = mem->attachments;
    while (attachment && attachment->target != target)
        attachment = attachment->next;
    assert(attachment != NULL);
    return attachment->file;
}

static void start(struct mem_engine *mem, struct io_req *req)
{
    struct mem_slot *slot = mem->free_slots;
    mem->free_slots = slot->next_free;
    slot->req = req;
    slot->file = file_of(mem, req->target);
    mem_device_start(mem->device, slot);
}

static int mem_submit(struct io_engine *engine, struct io_req *req)
{
    struct mem_engine *mem = mem_of(engine);
    if (engine->outstanding >= engine->depth)
        return -EAGAIN;
    engine->outstanding++;
    pthread_mutex_lock(&mem->device->lock);
    uint64_t now = clock_now_ns(engine->clock);
    mem_device_process(mem->device, now);
    if (mem->power_lost)
        mem_engine_complete(mem, req, -EIO, now);
    else
        start(mem, req);
    pthread_mutex_unlock(&mem->device->lock);
    return 0;
}

static void wait_virtual(struct mem_engine *mem, uint64_t deadline_ns)
{
    for (;;) {
        uint64_t next = mem_device_next_ns(mem->device);
        uint64_t until = next < deadline_ns ? next : deadline_ns;
        if (until == UINT64_MAX)
            return;
        clock_advance_to(mem->base.clock, until);
        if (mem_device_process(mem->device, until) > 0 || until == deadline_ns)
            return;
    }
}

static void wait_real(struct mem_engine *mem, unsigned min, uint64_t deadline_ns)
{
    struct mem_device *device = mem->device;
    for (;;) {
        uint64_t now = clock_now_ns(mem->base.clock);
        mem_device_process(device, now);
        if (mem->done_count >= min || mem->woken || now >= deadline_ns)
            return;
        uint64_t next = mem_device_next_ns(device);
        uint64_t until = next < deadline_ns ? next : deadline_ns;
        struct timespec ts = {(time_t)(until / NS_PER_S), (long)(until % NS_PER_S)};
        if (until == UINT64_MAX)
            pthread_cond_wait(&device->changed, &device->lock);
        else
            pthread_cond_timedwait(&device->changed, &device->lock, &ts);
    }
}

static void wait_for(struct mem_engine *mem, unsigned min, uint64_t deadline_ns)
{
    if (!mem->base.clock->is_virtual)
        wait_real(mem, min, deadline_ns);
    else if (!mem->woken && clock_now_ns(mem->base.clock) < deadline_ns)
        wait_virtual(mem, deadline_ns);
    if (mem->done_count < min)
        mem->woken = false; /* it ended this wait */
}

static int mem_reap(struct io_engine *engine, unsigned min, uint64_t deadline_ns,
                    struct io_req **list)
{
    struct mem_engine *mem = mem_of(engine);
    pthread_mutex_lock(&mem->device->lock);
    mem_device_process(mem->device, clock_now_ns(engine->clock));
    if (mem->done_count < min && deadline_ns != 0)
        wait_for(mem, min, deadline_ns);
    unsigned count = mem->done_count;
    *list = mem->done_head;
    mem->done_head = mem->done_tail = NULL;
    mem->done_count = 0;
    pthread_mutex_unlock(&mem->device->lock);
    engine->outstanding -= count;
    return (int)count;
}

static void mem_wake(struct io_engine *engine)
{
    struct mem_engine *mem = mem_of(engine);
    pthread_mutex_lock(&mem->device->lock);
    mem->woken = true;
    pthread_cond_broadcast(&mem->device->changed);
    pthread_mutex_unlock(&mem->device->lock);
}

static void leave_device(struct mem_engine *mem)
{
    pthread_mutex_lock(&mem->device->lock);
    struct mem_engine **link = &mem->device->engines;
    while (*link != mem)
        link = &(*link)->next;
    *link = mem->next;
    mem_device_release_events(mem->device, mem->base.depth);
    pthread_mutex_unlock(&mem->device->lock);
}

static void mem_destroy(struct io_engine *engine)
{
    struct mem_engine *mem = mem_of(engine);
    assert(engine->outstanding == 0);
    leave_device(mem);
    while (mem->attachments)
        mem_detach(engine, mem->attachments->target);
    free(mem->slots);
    free(mem);
}

const struct io_engine_ops engine_mem = {
    .name = "mem",
    .create = mem_create,
    .attach = mem_attach,
    .submit = mem_submit,
    .reap = mem_reap,
    .wake = mem_wake,
    .detach = mem_detach,
    .destroy = mem_destroy,
};
