/*
 * mem_volatile.h - the volatile cache of the modelled device: what a power cut undoes.
 *
 * Per file a list of the writes that are not durable, oldest first, each with what its range held
 * before.  Part of engine_mem; guarded by the device's mutex.
 */
#ifndef SIM_MEM_VOLATILE_H
#define SIM_MEM_VOLATILE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "patterns/rng.h"
#include "sim/engine_mem.h"

#define MEM_SECTOR_BYTES 512

struct mem_write {
    struct mem_write *prev, *next;
    uint64_t offset;
    size_t size_bytes;
    uint64_t completed; /* completion number, 0 while in service */
    unsigned char before[];
};

struct mem_volatile {
    struct mem_write *oldest, *newest;
};

/* Remember what [offset, offset + size_bytes) of fd holds now; NULL when memory is short. */
struct mem_write *mem_volatile_add(struct mem_volatile *list, int fd, uint64_t offset,
                                   size_t size_bytes);
/* A flush took effect: writes with a completion number up to this one are durable. */
void mem_volatile_flushed(struct mem_volatile *list, uint64_t completed);
/* [offset, ...) now holds these bytes durably, whatever happens to older writes. */
void mem_volatile_overwritten(struct mem_volatile *list, int fd, uint64_t offset,
                              size_t size_bytes);
/* Power cut: undo what the mode drops; the list is empty afterwards. */
void mem_volatile_cut(struct mem_volatile *list, int fd, enum mem_cut mode, struct rng *rng);
void mem_volatile_clear(struct mem_volatile *list);

/* pread and pwrite of everything; a read beyond the end of file gives zeros. */
void mem_read_all(int fd, void *data, size_t size_bytes, uint64_t offset);
int mem_write_all(int fd, const void *data, size_t size_bytes, uint64_t offset)
    __attribute__((warn_unused_result));

#endif
