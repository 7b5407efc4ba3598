/*
 * engine_mem.h - the modelled device: channels with seeded service times or the actuator of a disk,
 * a volatile cache with flush and FUA, capacity, power cut.
 *
 * The bytes live in the attached files themselves (ordinary descriptors, buffered); the model
 * decides when a request completes and what survives a power cut.  A write takes effect in two
 * steps, a seeded prefix of its sectors when service begins and the rest at completion, so that
 * reads that race with it see mixed sectors as on a real device.  A write-through (dsync) write is
 * durable at completion; others at the next completed flush of the file (which covers the writes
 * completed before its submission); a cut undoes the rest.  A read sees the bytes of the moment it
 * completes. The model opens each attached file once more, buffered, so neither O_DIRECT nor
 * O_DSYNC nor a lock of the attached descriptor is involved; undone bytes beyond the former end of
 * file become zeros.
 *
 * Order: events happen in the order of their times, equal times in the order of submission, so that
 * equal seeds and equal requests give equal results.
 *
 * Threads: under a virtual clock, one thread; under a real clock any number of engines may share a
 * device (internal mutex).
 */
#ifndef SIM_ENGINE_MEM_H
#define SIM_ENGINE_MEM_H

#include <stdbool.h>
#include <stdint.h>

#include "sim/clock.h"

enum mem_model {
    MEM_SSD, /* channels that serve requests in their order of arrival */
    MEM_HDD, /* one actuator that chooses among what is queued: mem_disk.h has the figures */
};

struct mem_device_config {
    uint64_t seed;
    enum mem_model model; /* MEM_HDD takes no notice of channels and service times below */
    unsigned channels;    /* requests in service at once; 0 = 8 */
    uint64_t read_ns, write_ns, flush_ns; /* mean base service times; 0 = 80 us, 30 us, 500 us */
    uint64_t bytes_per_us;                /* transfer rate of a channel; 0 = 500 */
    uint64_t capacity_bytes; /* a write that takes the sum over all files of the highest written
                                offset beyond this fails with ENOSPC, nothing written; 0 = none */
};

enum mem_cut { MEM_CUT_DROP_ALL, MEM_CUT_RANDOM, MEM_CUT_TORN, MEM_CUT_KEEP_ALL };

struct mem_device;

int mem_device_create(struct mem_device **out, struct clock *clock,
                      const struct mem_device_config *config) __attribute__((warn_unused_result));
void mem_device_free(struct mem_device *device);
/* The power fails: requests in service end as -EIO (a write may have been applied in part); of the
 * writes that are not durable drop all, keep each with probability 1/2, or keep each sector with
 * probability 1/2. Restores pre-images in the files.  Engines that exist at the cut answer -EIO to
 * everything from then on, as their machine is off; an engine created later works (the reboot). */
void mem_device_cut(struct mem_device *device, enum mem_cut mode);

#endif
