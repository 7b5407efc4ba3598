/*
 * mem_device.h - inside of the modelled device: its clockwork of events and its files.
 *
 * Shared by mem_device.c (the device) and engine_mem.c (the engine on it), by nobody else.  All of
 * it is guarded by device->lock.
 */
#ifndef SIM_MEM_DEVICE_H
#define SIM_MEM_DEVICE_H

#include <pthread.h>

#include "patterns/rng.h"
#include "sim/engine_mem.h"
#include "sim/io.h"
#include "sim/mem_disk.h"
#include "sim/mem_volatile.h"

/* One file on the device, however many targets and engines see it; lives as long as the device. */
struct mem_file {
    struct mem_file *next;
    uint64_t st_dev, st_ino;
    int fd; /* own, buffered */
    bool writable;
    uint64_t disk_position; /* where it begins on a disk: behind the files before it */
    uint64_t written_end;   /* for the capacity */
    struct mem_volatile cache;
};

struct mem_engine;

/* A request on the device. */
struct mem_slot {
    struct mem_slot *next_free;
    struct mem_slot *next_queued; /* disk: waits for the actuator */
    unsigned passed_over;         /* disk: others were served first, so many times */
    struct io_req *req;
    struct mem_engine *engine;
    struct mem_file *file;
    uint64_t serial;        /* of submission */
    uint64_t flush_covers;  /* flush: completions before its submission */
    size_t prefix_bytes;    /* write: part that takes effect when service begins */
    struct mem_write *undo; /* write: its entry in the volatile cache */
    int error;
};

enum mem_event_kind { MEM_SERVICE_BEGINS, MEM_SERVICE_ENDS };

struct mem_event {
    uint64_t time_ns;
    uint64_t serial;
    enum mem_event_kind kind;
    struct mem_slot *slot;
};

struct mem_device {
    pthread_mutex_t lock;
    pthread_cond_t changed; /* something completed, a wake, a cut; monotonic */
    struct clock *clock;
    struct mem_device_config config; /* defaults filled in */
    struct rng rng;
    uint64_t serials;
    uint64_t completions;
    uint64_t *channel_free_ns;
    struct mem_disk disk;
    bool disk_busy;
    struct mem_slot *disk_queue; /* in order of submission */
    uint64_t disk_used;          /* bytes of all files: where the next one begins */
    struct mem_event *events;    /* binary heap, next event first */
    size_t event_count, event_max;
    struct mem_file *files;
    struct mem_engine *engines;
};

struct mem_attachment {
    struct mem_attachment *next;
    struct io_target *target;
    struct mem_file *file;
};

struct mem_engine {
    struct io_engine base;
    struct mem_device *device;
    struct mem_engine *next; /* on the device */
    struct mem_attachment *attachments;
    struct mem_slot *slots, *free_slots;
    struct io_req *done_head, *done_tail;
    unsigned done_count;
    bool woken;
    bool power_lost;
};

int mem_device_reserve_events(struct mem_device *device, size_t requests)
    __attribute__((warn_unused_result));
void mem_device_release_events(struct mem_device *device, size_t requests);
/* The file behind fd, opened again by the device. */
int mem_device_file(struct mem_device *device, int fd, struct mem_file **out)
    __attribute__((warn_unused_result));
/* Take a request: choose its channel and times. */
void mem_device_start(struct mem_device *device, struct mem_slot *slot);
/* Let everything happen that is due by now_ns; returns how many requests completed. */
unsigned mem_device_process(struct mem_device *device, uint64_t now_ns);
uint64_t mem_device_next_ns(const struct mem_device *device); /* UINT64_MAX: nothing to come */
/* Give a request back to its engine. */
void mem_engine_complete(struct mem_engine *engine, struct io_req *req, ssize_t result,
                         uint64_t when_ns);

#endif
