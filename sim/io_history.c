/*
 * io_history.c - see io_history.h.
 *
 * Invariant: an entry i of a ring of n is whole for a reader that sees a head below i + n after it
 * has read the entry: the writer publishes the head before it touches the next entry.
 */
#include "sim/io_history.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "sim/io.h"

#define OFFSET_BITS 48 /* 256 TB */
#define OFFSET_MASK ((1ull << OFFSET_BITS) - 1)

int io_history_init(struct io_history *history, unsigned rings)
{
    uint32_t count = IO_HISTORY_MAX;
    *history = (struct io_history){.mask = 0};
    while (count > IO_HISTORY_MIN && (uint64_t)count * rings > IO_HISTORY_TOTAL)
        count /= 2;
    history->entries = calloc(count, sizeof *history->entries);
    if (!history->entries)
        return -ENOMEM;
    history->mask = count - 1;
    return 0;
}

void io_history_free(struct io_history *history)
{
    free(history->entries);
    *history = (struct io_history){.mask = 0};
}

/* ---- the I/O path ---- */

static void put(_Atomic uint64_t *field, uint64_t value)
{
    atomic_store_explicit(field, value, memory_order_relaxed);
}

static uint64_t get(const _Atomic uint64_t *field)
{
    return atomic_load_explicit((_Atomic uint64_t *)(uintptr_t)field, memory_order_relaxed);
}

void io_history_add(struct io_history *history, const struct io_req *req, unsigned others)
{
    if (!history->entries)
        return;
    uint64_t head = get(&history->head);
    struct io_history_entry *entry = &history->entries[head & history->mask];
    uint64_t took_ns = req->done_ns > req->submit_ns ? req->done_ns - req->submit_ns : 0;
    uint64_t latency_us = took_ns / 1000;
    uint64_t error = (uint64_t)-req->result & 0xffff;
    put(&entry->submit_ns, req->submit_ns);
    put(&entry->place, (uint64_t)req->target->uid << OFFSET_BITS |
                           (req->op == IO_FLUSH ? 0 : req->offset & OFFSET_MASK));
    put(&entry->length,
        req->total_bytes << 32 | (latency_us < UINT32_MAX ? latency_us : UINT32_MAX));
    put(&entry->kind, (uint64_t)others << 40 | (uint64_t)req->phase << 32 |
                          (uint64_t)req->stream << 24 | (uint64_t)req->op << 16 | error);
    atomic_store_explicit(&history->head, head + 1, memory_order_release);
    atomic_thread_fence(memory_order_release); /* before the next entry is touched */
}

/* ---- looking back ---- */

static struct io_past unpack(const struct io_history_entry *entry, unsigned ring)
{
    uint64_t place = get(&entry->place), length = get(&entry->length), kind = get(&entry->kind);
    return (struct io_past){
        .submit_ns = get(&entry->submit_ns),
        .latency_ns = (length & UINT32_MAX) * 1000,
        .offset = place & OFFSET_MASK,
        .size_bytes = (uint32_t)(length >> 32),
        .file_uid = (uint16_t)(place >> OFFSET_BITS),
        .op = (uint8_t)(kind >> 16),
        .stream = (uint8_t)(kind >> 24),
        .phase = (uint8_t)(kind >> 32),
        .error = (int)(kind & 0xffff),
        .others = (uint32_t)(kind >> 40),
        .ring = ring,
    };
}

static bool concerns(const struct io_past *past, uint16_t file_uid, uint64_t offset,
                     uint64_t size_bytes)
{
    return past->file_uid == file_uid && past->op != IO_FLUSH &&
           past->offset < offset + size_bytes && offset < past->offset + past->size_bytes;
}

static bool is_older(const struct io_past *a, const struct io_past *b)
{
    return a->submit_ns != b->submit_ns ? a->submit_ns < b->submit_ns : a->ring < b->ring;
}

static void insert(struct io_past *out, unsigned *count, unsigned max, const struct io_past *past,
                   uint64_t *left_out)
{
    unsigned at = *count;
    if (*count == max) {
        (*left_out)++;
        if (max == 0 || is_older(past, &out[0]))
            return;
        memmove(out, out + 1, (max - 1) * sizeof *out);
        at = --*count;
    }
    while (at > 0 && is_older(past, &out[at - 1]))
        at--;
    memmove(out + at + 1, out + at, (*count - at) * sizeof *out);
    out[at] = *past;
    (*count)++;
}

unsigned io_history_collect(const struct io_histories *histories, uint16_t file_uid,
                            uint64_t offset, uint64_t size_bytes, struct io_past *out, unsigned max,
                            uint64_t *left_out)
{
    bool flushes = size_bytes == 0;
    unsigned count = 0;
    *left_out = 0;
    for (unsigned r = 0; r < histories->count; r++) {
        struct io_history *ring = histories->rings[r];
        uint64_t head = atomic_load_explicit(&ring->head, memory_order_acquire);
        uint64_t entries = (uint64_t)ring->mask + 1;
        for (uint64_t i = head > entries ? head - entries : 0; i < head; i++) {
            struct io_past past = unpack(&ring->entries[i & ring->mask], r);
            if (flushes ? past.op != IO_FLUSH || past.file_uid != file_uid
                        : !concerns(&past, file_uid, offset, size_bytes))
                continue;
            atomic_thread_fence(memory_order_acquire);
            if (get(&ring->head) < i + entries)
                insert(out, &count, max, &past, left_out);
        }
    }
    return count;
}

uint64_t io_history_since_ns(const struct io_histories *histories)
{
    uint64_t since = 0;
    for (unsigned r = 0; r < histories->count; r++) {
        const struct io_history *ring = histories->rings[r];
        uint64_t head = get(&ring->head), entries = (uint64_t)ring->mask + 1;
        if (head <= entries)
            continue;
        uint64_t oldest = get(&ring->entries[head & ring->mask].submit_ns);
        since = oldest > since ? oldest : since;
    }
    return since;
}
