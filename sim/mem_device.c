/*
 * mem_device.c - the modelled device: when a request is served, and what it does to the bytes.
 *
 * With channels a request gets its begin and its end at submission (first come, first served); on a
 * disk when the actuator chooses it.  Either way the device is a heap of dated events.  Whoever
 * holds the lock processes what is due; under a real clock an event may be processed late, but
 * never out of order.
 *
 * Invariants: events are processed in the order (time, submission, begin before end); random
 * numbers are drawn in the order of submission; nothing happens to a file outside of an event or a
 * cut.
 */
#include "sim/mem_device.h"

#include <assert.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "sim/iov.h"

#define CHANNELS_DEFAULT     8
#define CHANNELS_MAX         65536
#define READ_NS_DEFAULT      80000
#define WRITE_NS_DEFAULT     30000
#define FLUSH_NS_DEFAULT     500000
#define BYTES_PER_US_DEFAULT 500
#define OUTLIER_ONE_IN       1000 /* a flash device's garbage collection, a disk's retry */
#define OUTLIER_FACTOR       20

static uint64_t or_default(uint64_t value, uint64_t otherwise)
{
    return value ? value : otherwise;
}

static void init_locks(struct mem_device *device)
{
    pthread_condattr_t attr;
    pthread_condattr_init(&attr);
    pthread_condattr_setclock(&attr, CLOCK_MONOTONIC);
    pthread_cond_init(&device->changed, &attr);
    pthread_condattr_destroy(&attr);
    pthread_mutex_init(&device->lock, NULL);
}

int mem_device_create(struct mem_device **out, struct clock *clock,
                      const struct mem_device_config *config)
{
    *out = NULL;
    if (config->channels > CHANNELS_MAX)
        return -EINVAL;
    struct mem_device *device = calloc(1, sizeof(*device));
    if (device == NULL)
        return -ENOMEM;
    device->clock = clock;
    device->config = *config;
    struct mem_device_config *c = &device->config;
    c->channels = (unsigned)or_default(c->channels, CHANNELS_DEFAULT);
    c->read_ns = or_default(c->read_ns, READ_NS_DEFAULT);
    c->write_ns = or_default(c->write_ns, WRITE_NS_DEFAULT);
    c->flush_ns = or_default(c->flush_ns, FLUSH_NS_DEFAULT);
    c->bytes_per_us = or_default(c->bytes_per_us, BYTES_PER_US_DEFAULT);
    device->channel_free_ns = calloc(c->channels, sizeof(*device->channel_free_ns));
    if (device->channel_free_ns == NULL) {
        free(device);
        return -ENOMEM;
    }
    rng_seed(&device->rng, config->seed);
    init_locks(device);
    *out = device;
    return 0;
}

void mem_device_free(struct mem_device *device)
{
    if (device == NULL)
        return;
    assert(device->engines == NULL);
    while (device->files) {
        struct mem_file *file = device->files;
        device->files = file->next;
        mem_volatile_clear(&file->cache);
        close(file->fd);
        free(file);
    }
    pthread_cond_destroy(&device->changed);
    pthread_mutex_destroy(&device->lock);
    free(device->events);
    free(device->channel_free_ns);
    free(device);
}

int mem_device_reserve_events(struct mem_device *device, size_t requests)
{
    size_t max = device->event_max + 2 * requests;
    struct mem_event *events = realloc(device->events, max * sizeof(*events));
    if (events == NULL)
        return -ENOMEM;
    device->events = events;
    device->event_max = max;
    return 0;
}

void mem_device_release_events(struct mem_device *device, size_t requests)
{
    device->event_max -= 2 * requests;
    assert(device->event_count <= device->event_max);
}

static bool is_before(const struct mem_event *a, const struct mem_event *b)
{
    if (a->time_ns != b->time_ns)
        return a->time_ns < b->time_ns;
    if (a->serial != b->serial)
        return a->serial < b->serial;
    return a->kind < b->kind;
}

static void event_push(struct mem_device *device, struct mem_event event)
{
    assert(device->event_count < device->event_max);
    struct mem_event *heap = device->events;
    size_t i = device->event_count++;
    while (i > 0 && is_before(&event, &heap[(i - 1) / 2])) {
        heap[i] = heap[(i - 1) / 2];
        i = (i - 1) / 2;
    }
    heap[i] = event;
}

static struct mem_event event_pop(struct mem_device *device)
{
    struct mem_event *heap = device->events;
    struct mem_event first = heap[0];
    size_t count = --device->event_count;
    struct mem_event last = heap[count];
    size_t i = 0;
    for (;;) {
        size_t child = 2 * i + 1;
        if (child >= count)
            break;
        if (child + 1 < count && is_before(&heap[child + 1], &heap[child]))
            child++;
        if (!is_before(&heap[child], &last))
            break;
        heap[i] = heap[child];
        i = child;
    }
    heap[i] = last;
    return first;
}

uint64_t mem_device_next_ns(const struct mem_device *device)
{
    return device->event_count ? device->events[0].time_ns : UINT64_MAX;
}

/* Open the file behind fd anew: an own file description has neither lock nor O_DIRECT nor O_DSYNC.
 */
static int reopen(int fd, bool writable)
{
    char path[32];
    snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
    int own = open(path, (writable ? O_RDWR : O_RDONLY) | O_CLOEXEC);
    return own < 0 ? -errno : own;
}

static struct mem_file *find_file(struct mem_device *device, const struct stat *st)
{
    struct mem_file *file = device->files;
    while (file && (file->st_dev != st->st_dev || file->st_ino != st->st_ino))
        file = file->next;
    return file;
}

static int make_writable(struct mem_file *file, int fd)
{
    int own = reopen(fd, true);
    if (own < 0)
        return own;
    close(file->fd);
    file->fd = own;
    file->writable = true;
    return 0;
}

int mem_device_file(struct mem_device *device, int fd, struct mem_file **out)
{
    struct stat st;
    int flags = fcntl(fd, F_GETFL);
    if (flags < 0 || fstat(fd, &st) < 0)
        return -errno;
    bool writable = (flags & O_ACCMODE) != O_RDONLY;
    *out = find_file(device, &st);
    if (*out)
        return writable && !(*out)->writable ? make_writable(*out, fd) : 0;
    int own = reopen(fd, writable);
    if (own < 0)
        return own;
    struct mem_file *file = calloc(1, sizeof(*file));
    if (file == NULL) {
        close(own);
        return -ENOMEM;
    }
    *file = (struct mem_file){.next = device->files,
                              .st_dev = st.st_dev,
                              .st_ino = st.st_ino,
                              .fd = own,
                              .writable = writable,
                              .disk_position = device->disk_used};
    device->disk_used += (uint64_t)st.st_size;
    device->files = *out = file;
    return 0;
}

/* Half to one and a half times the base, rarely much more, and the transfer itself. */
static uint64_t service_ns(struct mem_device *device, const struct io_req *req, size_t size_bytes)
{
    const struct mem_device_config *c = &device->config;
    uint64_t base = req->op == IO_READ    ? c->read_ns
                    : req->op == IO_WRITE ? c->write_ns
                                          : c->flush_ns;
    uint64_t ns = base / 2 + rng_below(&device->rng, base + 1);
    if (rng_below(&device->rng, OUTLIER_ONE_IN) == 0)
        ns *= OUTLIER_FACTOR;
    return ns + size_bytes * 1000 / c->bytes_per_us;
}

static uint64_t *first_free_channel(struct mem_device *device)
{
    uint64_t *best = &device->channel_free_ns[0];
    for (unsigned i = 1; i < device->config.channels; i++) {
        if (device->channel_free_ns[i] < *best)
            best = &device->channel_free_ns[i];
    }
    return best;
}

static size_t size_of(const struct io_req *req)
{
    return req->op == IO_FLUSH ? 0 : iov_bytes(req->engine_iov, req->engine_iov_count);
}

static void schedule(struct mem_device *device, struct mem_slot *slot, uint64_t begin, uint64_t end)
{
    event_push(device, (struct mem_event){begin, slot->serial, MEM_SERVICE_BEGINS, slot});
    event_push(device, (struct mem_event){end, slot->serial, MEM_SERVICE_ENDS, slot});
}

/* ---- one actuator ---- */

static uint64_t disk_position(const struct mem_slot *slot)
{
    return slot->file->disk_position + slot->req->engine_offset;
}

/* The command that the head reaches first, of the oldest that the drive knows; a flush and what was
 * passed over too often when it is the oldest. */
static struct mem_slot **disk_choose(struct mem_device *device, uint64_t now_ns)
{
    struct mem_slot **best = &device->disk_queue;
    uint64_t best_ns = UINT64_MAX;
    unsigned seen = 0;
    if ((*best)->req->op == IO_FLUSH || (*best)->passed_over >= MEM_DISK_PASSED_MAX)
        return best;
    for (struct mem_slot **link = best; *link && seen < MEM_DISK_QUEUE;
         link = &(*link)->next_queued, seen++) {
        if ((*link)->req->op == IO_FLUSH)
            continue;
        uint64_t ns = mem_disk_position_ns(&device->disk, now_ns, disk_position(*link),
                                           (*link)->req->op == IO_READ);
        if (ns < best_ns) {
            best_ns = ns;
            best = link;
        }
    }
    return best;
}

static void disk_next(struct mem_device *device, uint64_t now_ns)
{
    device->disk_busy = device->disk_queue != NULL;
    if (!device->disk_busy)
        return;
    struct mem_slot **link = disk_choose(device, now_ns);
    struct mem_slot *slot = *link;
    if (link != &device->disk_queue)
        device->disk_queue->passed_over++;
    *link = slot->next_queued;
    uint64_t end = now_ns + MEM_DISK_REVOLUTION_NS; /* of a flush */
    if (slot->req->op != IO_FLUSH)
        end = mem_disk_serve(&device->disk, now_ns, disk_position(slot), size_of(slot->req),
                             slot->req->op == IO_READ);
    schedule(device, slot, now_ns, end);
}

static void disk_queue(struct mem_device *device, struct mem_slot *slot)
{
    struct mem_slot **link = &device->disk_queue;
    while (*link)
        link = &(*link)->next_queued;
    slot->next_queued = NULL;
    slot->passed_over = 0;
    *link = slot;
    if (!device->disk_busy)
        disk_next(device, clock_now_ns(device->clock));
}

/* ---- a request's way ---- */

void mem_device_start(struct mem_device *device, struct mem_slot *slot)
{
    const struct io_req *req = slot->req;
    size_t size = size_of(req);
    slot->serial = ++device->serials;
    slot->flush_covers = device->completions;
    slot->undo = NULL;
    slot->error = 0;
    slot->prefix_bytes = rng_below(&device->rng, size / MEM_SECTOR_BYTES + 1) * MEM_SECTOR_BYTES;
    if (device->config.model == MEM_HDD) {
        disk_queue(device, slot);
        return;
    }
    uint64_t *channel = first_free_channel(device);
    uint64_t now = clock_now_ns(device->clock);
    uint64_t begin = *channel > now ? *channel : now;
    *channel = begin + service_ns(device, req, size);
    schedule(device, slot, begin, *channel);
}

static ssize_t move_once(const struct io_req *req, int fd, const struct iovec *iov, unsigned count,
                         uint64_t offset)
{
    ssize_t n;
    do {
        n = req->op == IO_READ ? preadv(fd, iov, (int)count, (off_t)offset)
                               : pwritev(fd, iov, (int)count, (off_t)offset);
    } while (n < 0 && errno == EINTR);
    return n < 0 ? -errno : n;
}

/* Bytes [from, to) of the request; how many moved, or -errno if none did. */
static ssize_t move_part(const struct mem_slot *slot, size_t from, size_t to)
{
    const struct io_req *req = slot->req;
    struct iovec part[IO_IOV_MAX];
    size_t at = from;
    while (at < to) {
        unsigned n = iov_slice(part, req->engine_iov, req->engine_iov_count, at, to - at);
        ssize_t moved = move_once(req, slot->file->fd, part, n, req->engine_offset + at);
        if (moved < 0 && at == from)
            return moved;
        if (moved <= 0)
            break;
        at += (size_t)moved;
    }
    return (ssize_t)(at - from);
}

static uint64_t written_total(const struct mem_device *device)
{
    uint64_t sum = 0;
    for (const struct mem_file *file = device->files; file; file = file->next)
        sum += file->written_end;
    return sum;
}

static bool claim_capacity(struct mem_device *device, struct mem_file *file, uint64_t end)
{
    if (end <= file->written_end)
        return true;
    uint64_t capacity = device->config.capacity_bytes;
    if (capacity && written_total(device) - file->written_end + end > capacity)
        return false;
    file->written_end = end;
    return true;
}

static int begin_write(struct mem_device *device, struct mem_slot *slot)
{
    const struct io_req *req = slot->req;
    size_t size = iov_bytes(req->engine_iov, req->engine_iov_count);
    if (!claim_capacity(device, slot->file, req->engine_offset + size))
        return -ENOSPC;
    if (!req->target->dsync || req->target->coalesced) {
        slot->undo = mem_volatile_add(&slot->file->cache, slot->file->fd, req->engine_offset, size);
        if (slot->undo == NULL)
            return -ENOMEM;
    }
    ssize_t moved = move_part(slot, 0, slot->prefix_bytes);
    return moved < 0 ? (int)moved : 0;
}

static ssize_t end_write(struct mem_device *device, struct mem_slot *slot)
{
    const struct io_req *req = slot->req;
    size_t size = iov_bytes(req->engine_iov, req->engine_iov_count);
    ssize_t moved = move_part(slot, slot->prefix_bytes, size);
    if (moved < 0 && slot->prefix_bytes == 0)
        return moved;
    ssize_t total = (ssize_t)slot->prefix_bytes + (moved > 0 ? moved : 0);
    if (slot->undo)
        slot->undo->completed = device->completions;
    else
        mem_volatile_overwritten(&slot->file->cache, slot->file->fd, req->engine_offset,
                                 (size_t)total);
    return total;
}

static ssize_t end_service(struct mem_device *device, struct mem_slot *slot)
{
    const struct io_req *req = slot->req;
    if (slot->error)
        return slot->error;
    switch (req->op) {
    case IO_READ:
        return move_part(slot, 0, iov_bytes(req->engine_iov, req->engine_iov_count));
    case IO_WRITE:
        return end_write(device, slot);
    case IO_FLUSH:
        mem_volatile_flushed(&slot->file->cache, slot->flush_covers);
        return 0;
    }
    assert(!"unknown operation");
    return 0;
}

static void give_back(struct mem_slot *slot, ssize_t result, uint64_t when_ns)
{
    struct mem_engine *engine = slot->engine;
    mem_engine_complete(engine, slot->req, result, when_ns);
    slot->req = NULL;
    slot->next_free = engine->free_slots;
    engine->free_slots = slot;
}

unsigned mem_device_process(struct mem_device *device, uint64_t now_ns)
{
    unsigned completed = 0;
    while (mem_device_next_ns(device) <= now_ns && device->event_count) {
        struct mem_event event = event_pop(device);
        struct mem_slot *slot = event.slot;
        if (event.kind == MEM_SERVICE_BEGINS) {
            if (slot->req->op == IO_WRITE)
                slot->error = begin_write(device, slot);
            continue;
        }
        device->completions++;
        give_back(slot, end_service(device, slot), event.time_ns);
        if (device->config.model == MEM_HDD)
            disk_next(device, event.time_ns);
        completed++;
    }
    if (completed)
        pthread_cond_broadcast(&device->changed);
    return completed;
}

void mem_device_cut(struct mem_device *device, enum mem_cut mode)
{
    pthread_mutex_lock(&device->lock);
    uint64_t now = clock_now_ns(device->clock);
    mem_device_process(device, now);
    while (device->event_count) {
        struct mem_event event = event_pop(device);
        if (event.kind == MEM_SERVICE_ENDS)
            give_back(event.slot, -EIO, now);
    }
    for (struct mem_slot *slot = device->disk_queue, *next; slot; slot = next) {
        next = slot->next_queued;
        give_back(slot, -EIO, now);
    }
    device->disk_queue = NULL;
    device->disk_busy = false;
    for (unsigned i = 0; i < device->config.channels; i++)
        device->channel_free_ns[i] = 0;
    for (struct mem_file *file = device->files; file; file = file->next)
        mem_volatile_cut(&file->cache, file->fd, mode, &device->rng);
    for (struct mem_engine *engine = device->engines; engine; engine = engine->next)
        engine->power_lost = true;
    pthread_cond_broadcast(&device->changed);
    pthread_mutex_unlock(&device->lock);
}
