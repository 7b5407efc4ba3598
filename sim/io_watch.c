/*
 * io_watch.c - see io_watch.h.
 *
 * Invariants: the fields of a slot are written before its begun; a slot is told of as one request
 * only while its begun stays the same.  A late completion is in the list before its slot is free,
 * and a tick reads the list before the slots, so that no request is told twice as a new one.
 * What it does not do: judge (the run does), or look at the system's clocks.
 */
#include "sim/io_watch.h"

#include <assert.h>
#include <errno.h>
#include <stdlib.h>

#include "sim/io.h"

#define NO_SLOT UINT32_MAX

struct io_watch_seen {
    uint64_t begun;
    uint64_t completed; /* by all wrappers, when it was first seen */
    bool stalled;       /* told */
    unsigned told;
};

void io_watch_init(struct io_watch *watch)
{
    *watch = (struct io_watch){0};
    pthread_mutex_init(&watch->lock, NULL);
}

void io_watch_free(struct io_watch *watch)
{
    for (unsigned i = 0; i < watch->member_count; i++) {
        free(watch->members[i]->slots);
        free(watch->members[i]);
        free(watch->seen[i]);
    }
    if (watch->member_count)
        pthread_mutex_destroy(&watch->lock);
    *watch = (struct io_watch){0};
}

int io_watch_join(struct io_watch *watch, struct io *io)
{
    unsigned count = IO_WATCH_DEPTHS * io->engine->depth;
    struct io_slots *table = calloc(1, sizeof *table);
    struct io_slot *slots = calloc(count, sizeof *slots);
    struct io_watch_seen *seen = calloc(count, sizeof *seen);
    assert(watch->member_count < IO_WATCH_MEMBERS_MAX);
    if (!table || !slots || !seen) {
        free(table);
        free(slots);
        free(seen);
        return -ENOMEM;
    }
    for (uint32_t i = 0; i < count; i++)
        slots[i].next_free = i + 1 < count ? i + 1 : NO_SLOT;
    table->slots = slots;
    table->count = count;
    io->watch = watch;
    io->watch_member = watch->member_count;
    io->slots = table;
    watch->members[watch->member_count] = table;
    watch->seen[watch->member_count++] = seen;
    return 0;
}

/* ---- the I/O path ---- */

static void put(_Atomic uint64_t *field, uint64_t value)
{
    atomic_store_explicit(field, value, memory_order_relaxed);
}

static uint64_t get(_Atomic uint64_t *field)
{
    return atomic_load_explicit(field, memory_order_relaxed);
}

/* Without a free slot (the rest of a short transfer keeps its own) it is not watched. */
void io_watch_begin(struct io *io, struct io_req *req)
{
    struct io_slots *table = io->slots;
    req->slot = NO_SLOT;
    if (!table || table->first_free == NO_SLOT)
        return;
    req->slot = table->first_free;
    struct io_slot *slot = &table->slots[req->slot];
    table->first_free = slot->next_free;
    put(&slot->offset, req->op == IO_FLUSH ? 0 : req->offset);
    put(&slot->size_bytes, req->total_bytes);
    atomic_store_explicit(&slot->file_op, (uint32_t)req->target->uid << 8 | (uint32_t)req->op,
                          memory_order_relaxed);
    atomic_store_explicit(&slot->begun, req->submit_ns + 1, memory_order_release);
}

static void slot_free(struct io_slots *table, struct io_req *req)
{
    struct io_slot *slot = &table->slots[req->slot];
    atomic_store_explicit(&slot->begun, 0, memory_order_release);
    slot->next_free = table->first_free;
    table->first_free = req->slot;
    req->slot = NO_SLOT;
}

void io_watch_cancel(struct io *io, struct io_req *req)
{
    if (io->slots && req->slot != NO_SLOT)
        slot_free(io->slots, req);
}

static void late_add(struct io *io, const struct io_req *req)
{
    struct io_watch *watch = io->watch;
    struct io_slot *slot = &io->slots->slots[req->slot];
    pthread_mutex_lock(&watch->lock);
    if (watch->late_count < IO_WATCH_LATE_MAX)
        watch->late[watch->late_count++] = (struct io_late){
            .member = io->watch_member,
            .slot = req->slot,
            .begun = get(&slot->begun),
            .ended = req->done_ns,
            .file_op = atomic_load_explicit(&slot->file_op, memory_order_relaxed),
            .offset = get(&slot->offset),
            .size_bytes = get(&slot->size_bytes),
        };
    else
        atomic_fetch_add(&watch->late_dropped, 1);
    pthread_mutex_unlock(&watch->lock);
}

void io_watch_end(struct io *io, struct io_req *req)
{
    struct io_slots *table = io->slots;
    if (!table)
        return;
    put(&table->completed, get(&table->completed) + 1);
    if (req->slot == NO_SLOT)
        return;
    if (req->done_ns >= req->submit_ns + IO_STALL_NS)
        late_add(io, req);
    slot_free(table, req);
}

/* ---- pauses ---- */

void io_watch_pause(struct io_watch *watch, uint64_t from_ns, uint64_t length_ns)
{
    watch->pauses[watch->pause_count++ % IO_WATCH_PAUSES_MAX] =
        (struct io_pause){from_ns, length_ns};
}

/* How much of [from, to) the machine stood still. */
static uint64_t paused(const struct io_watch *watch, uint64_t from, uint64_t to)
{
    uint64_t sum = 0;
    for (unsigned i = 0; i < watch->pause_count && i < IO_WATCH_PAUSES_MAX; i++) {
        uint64_t begin = watch->pauses[i].from_ns, end = begin + watch->pauses[i].length_ns;
        begin = begin > from ? begin : from;
        end = end < to ? end : to;
        sum += end > begin ? end - begin : 0;
    }
    return sum;
}

static uint64_t age_of(const struct io_watch *watch, uint64_t begun, uint64_t now_ns)
{
    uint64_t from = begun - 1;
    return now_ns > from ? now_ns - from - paused(watch, from, now_ns) : 0;
}

/* ---- the tick ---- */

static uint64_t completed_by_all(const struct io_watch *watch)
{
    uint64_t sum = 0;
    for (unsigned i = 0; i < watch->member_count; i++)
        sum += get(&watch->members[i]->completed);
    return sum;
}

static void describe(struct io_stall *stall, uint32_t file_op, uint64_t offset, uint64_t size_bytes)
{
    stall->file_uid = (uint16_t)(file_op >> 8);
    stall->op = (int)(file_op & 0xff);
    stall->offset = offset;
    stall->size_bytes = size_bytes;
}

static void late_tell(struct io_watch *watch, const struct io_late *late, uint64_t completed)
{
    struct io_watch_seen *seen = &watch->seen[late->member][late->slot];
    bool known = seen->begun == late->begun;
    struct io_stall stall = {
        .age_ns = age_of(watch, late->begun, late->ended),
        .complete = true,
        .again = known && seen->stalled,
        .told = known ? seen->told : 0,
        .meanwhile = known ? completed - seen->completed - 1 : 0,
    };
    describe(&stall, late->file_op, late->offset, late->size_bytes);
    if (stall.age_ns >= IO_STALL_NS)
        watch->stall(watch->context, &stall);
}

static void late_tell_all(struct io_watch *watch, uint64_t completed)
{
    struct io_late late[IO_WATCH_LATE_MAX];
    pthread_mutex_lock(&watch->lock);
    unsigned count = watch->late_count;
    for (unsigned i = 0; i < count; i++)
        late[i] = watch->late[i];
    watch->late_count = 0;
    pthread_mutex_unlock(&watch->lock);
    for (unsigned i = 0; i < count; i++)
        late_tell(watch, &late[i], completed);
}

/* False if the slot has another request by now. */
static bool slot_read(struct io_slot *slot, uint64_t begun, struct io_stall *stall)
{
    describe(stall, atomic_load_explicit(&slot->file_op, memory_order_relaxed), get(&slot->offset),
             get(&slot->size_bytes));
    atomic_thread_fence(memory_order_acquire);
    return get(&slot->begun) == begun;
}

static bool slot_look(struct io_watch *watch, struct io_slot *slot, struct io_watch_seen *seen,
                      uint64_t now_ns, uint64_t completed)
{
    uint64_t begun = atomic_load_explicit(&slot->begun, memory_order_acquire);
    if (begun != seen->begun)
        *seen = (struct io_watch_seen){.begun = begun, .completed = completed};
    if (!begun)
        return false;
    struct io_stall stall = {.age_ns = age_of(watch, begun, now_ns),
                             .meanwhile = completed - seen->completed};
    if (stall.age_ns > watch->oldest_age_ns)
        watch->oldest_age_ns = stall.age_ns;
    if (stall.age_ns < IO_STALL_NS)
        return false;
    watch->stalled_now++;
    if (seen->stalled || !slot_read(slot, begun, &stall))
        return false;
    seen->stalled = true;
    watch->stall(watch->context, &stall);
    seen->told = stall.told;
    return true;
}

unsigned io_watch_tick(struct io_watch *watch, uint64_t now_ns)
{
    unsigned fresh = 0;
    uint64_t completed = completed_by_all(watch);
    late_tell_all(watch, completed);
    watch->oldest_age_ns = 0;
    watch->stalled_now = 0;
    for (unsigned m = 0; m < watch->member_count; m++)
        for (unsigned i = 0; i < watch->members[m]->count; i++)
            fresh += slot_look(watch, &watch->members[m]->slots[i], &watch->seen[m][i], now_ns,
                               completed);
    return fresh;
}

void io_watch_each(struct io_watch *watch, uint64_t now_ns, uint64_t age_ns,
                   void (*each)(void *context, struct io_stall *stall), void *context)
{
    for (unsigned m = 0; m < watch->member_count; m++) {
        for (unsigned i = 0; i < watch->members[m]->count; i++) {
            struct io_slot *slot = &watch->members[m]->slots[i];
            uint64_t begun = atomic_load_explicit(&slot->begun, memory_order_acquire);
            struct io_stall stall = {.age_ns = begun ? age_of(watch, begun, now_ns) : 0};
            if (begun && stall.age_ns >= age_ns && slot_read(slot, begun, &stall))
                each(context, &stall);
        }
    }
}
