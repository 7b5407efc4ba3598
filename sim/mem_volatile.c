/*
 * mem_volatile.c - the writes that a power cut may undo.
 *
 * Invariant: walking the list from the newest write to the oldest and restoring each pre-image
 * gives the durable content.  A cut that keeps some writes needs no copies of the new bytes: going
 * back in time, a sector is settled at the first kept write that covers it.
 */
#include "sim/mem_volatile.h"

#include <assert.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

void mem_read_all(int fd, void *data, size_t size_bytes, uint64_t offset)
{
    char *at = data;
    while (size_bytes > 0) {
        ssize_t n = pread(fd, at, size_bytes, (off_t)offset);
        if (n < 0 && errno == EINTR)
            continue;
        if (n <= 0)
            break;
        at += n;
        offset += (uint64_t)n;
        size_bytes -= (size_t)n;
    }
    memset(at, 0, size_bytes);
}

int mem_write_all(int fd, const void *data, size_t size_bytes, uint64_t offset)
{
    const char *at = data;
    while (size_bytes > 0) {
        ssize_t n = pwrite(fd, at, size_bytes, (off_t)offset);
        if (n < 0 && errno == EINTR)
            continue;
        if (n <= 0)
            return n < 0 ? -errno : -ENOSPC;
        at += n;
        offset += (uint64_t)n;
        size_bytes -= (size_t)n;
    }
    return 0;
}

struct mem_write *mem_volatile_add(struct mem_volatile *list, int fd, uint64_t offset,
                                   size_t size_bytes)
{
    struct mem_write *write = malloc(sizeof(*write) + size_bytes);
    if (write == NULL)
        return NULL;
    *write = (struct mem_write){.prev = list->newest, .offset = offset, .size_bytes = size_bytes};
    mem_read_all(fd, write->before, size_bytes, offset);
    if (list->newest)
        list->newest->next = write;
    else
        list->oldest = write;
    list->newest = write;
    return write;
}

static void drop(struct mem_volatile *list, struct mem_write *write)
{
    if (write->prev)
        write->prev->next = write->next;
    else
        list->oldest = write->next;
    if (write->next)
        write->next->prev = write->prev;
    else
        list->newest = write->prev;
    free(write);
}

void mem_volatile_clear(struct mem_volatile *list)
{
    while (list->oldest)
        drop(list, list->oldest);
}

void mem_volatile_flushed(struct mem_volatile *list, uint64_t completed)
{
    struct mem_write *next;
    for (struct mem_write *write = list->oldest; write; write = next) {
        next = write->next;
        if (write->completed != 0 && write->completed <= completed)
            drop(list, write);
    }
}

void mem_volatile_overwritten(struct mem_volatile *list, int fd, uint64_t offset, size_t size_bytes)
{
    uint64_t end = offset + size_bytes;
    for (struct mem_write *write = list->oldest; write; write = write->next) {
        uint64_t low = write->offset > offset ? write->offset : offset;
        uint64_t write_end = write->offset + write->size_bytes;
        uint64_t high = write_end < end ? write_end : end;
        if (low < high)
            mem_read_all(fd, write->before + (low - write->offset), high - low, low);
    }
}

static bool coin(struct rng *rng)
{
    return rng_below(rng, 2) == 1;
}

/* One bit a sector of the file: settled by a newer write that is kept. */
static bool is_settled(const uint8_t *settled, uint64_t sector)
{
    return settled[sector / 8] >> (sector % 8) & 1;
}

/* Decide about one sector (or the part of it that the write covers). */
static void cut_piece(int fd, const struct mem_write *write, uint64_t at, size_t size_bytes,
                      bool keep, uint8_t *settled)
{
    uint64_t sector = at / MEM_SECTOR_BYTES;
    if (is_settled(settled, sector))
        return;
    if (keep) {
        settled[sector / 8] |= (uint8_t)(1u << (sector % 8));
        return;
    }
    int r = mem_write_all(fd, write->before + (at - write->offset), size_bytes, at);
    assert(r == 0); /* overwrites what was just written there */
}

static void cut_write(int fd, const struct mem_write *write, enum mem_cut mode, struct rng *rng,
                      uint8_t *settled)
{
    bool keep_whole = mode == MEM_CUT_RANDOM && coin(rng);
    uint64_t end = write->offset + write->size_bytes;
    uint64_t next;
    for (uint64_t at = write->offset; at < end; at = next) {
        next = (at / MEM_SECTOR_BYTES + 1) * MEM_SECTOR_BYTES;
        if (next > end)
            next = end;
        bool keep = mode == MEM_CUT_TORN ? coin(rng) : keep_whole;
        cut_piece(fd, write, at, next - at, keep, settled);
    }
}

static uint64_t end_of_all(const struct mem_volatile *list)
{
    uint64_t end = 0;
    for (const struct mem_write *write = list->oldest; write; write = write->next) {
        if (write->offset + write->size_bytes > end)
            end = write->offset + write->size_bytes;
    }
    return end;
}

void mem_volatile_cut(struct mem_volatile *list, int fd, enum mem_cut mode, struct rng *rng)
{
    if (list->oldest && mode != MEM_CUT_KEEP_ALL) {
        uint8_t *settled = calloc(end_of_all(list) / MEM_SECTOR_BYTES / 8 + 1, 1);
        assert(settled != NULL);
        for (const struct mem_write *write = list->newest; write; write = write->prev)
            cut_write(fd, write, mode, rng, settled);
        free(settled);
    }
    mem_volatile_clear(list);
}
