/* engine_fixture.h - a scratch file, an engine over it and a wrapper, for the tests of the engines.
 */
#ifndef TESTS_ENGINE_FIXTURE_H
#define TESTS_ENGINE_FIXTURE_H

#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>
#include <cmocka.h>

#include "sim/engine_fault.h"
#include "sim/engine_mem.h"
#include "sim/engine_without.h"
#include "sim/io.h"

#define PAGE       8192u
#define FILE_PAGES 512u

struct rig {
    struct clock clock;
    struct mem_device *device;  /* when a mem engine is in the stack */
    struct fault_config *fault; /* when the fault layer is */
    struct io_engine *engine;
    enum phase phase;
    struct io io;
    struct io_target target;
};

static inline int rig_scratch_fd(void)
{
    const char *directory = getenv("TMPDIR");
    int fd = open(directory ? directory : "/tmp", O_TMPFILE | O_RDWR | O_CLOEXEC, 0600);
    if (fd < 0) /* no O_TMPFILE there */
        fd = (int)memfd_create("pagestorm-test", MFD_CLOEXEC);
    assert_true(fd >= 0);
    assert_int_equal(ftruncate(fd, FILE_PAGES * PAGE), 0);
    return fd;
}

static inline void rig_target(struct rig *rig, int fd, bool dsync)
{
    rig->target.fd = fd;
    rig->target.uid = 1;
    rig->target.dsync = dsync;
    rig->target.align_bytes = 512;
    rig->target.memory_align_bytes = 512;
    atomic_init(&rig->target.size_bytes, FILE_PAGES * PAGE);
}

/* An engine named below ("sync", "mem", ...), with the fault layer over it or without; without:
 * what uring and aio do without, or NULL.  -errno: this machine does not have it. */
static inline int rig_try(struct rig *rig, const char *below, const struct engine_without *without,
                          bool with_fault, bool is_virtual, unsigned depth, uint64_t seed)
{
    memset(rig, 0, sizeof(*rig));
    if (is_virtual)
        clock_init_virtual(&rig->clock);
    else
        clock_init_real(&rig->clock);
    const struct io_engine_ops *ops = io_engine_by_name(below);
    assert_non_null(ops);
    struct io_engine_config config = {
        .clock = &rig->clock, .depth = depth, .device = (void *)(uintptr_t)without};
    if (strcmp(below, "mem") == 0) {
        struct mem_device_config model = {.seed = seed};
        assert_int_equal(mem_device_create(&rig->device, &rig->clock, &model), 0);
        config.device = rig->device;
    }
    if (with_fault) {
        rig->fault = malloc(sizeof(*rig->fault));
        assert_non_null(rig->fault);
        fault_config_init(rig->fault, ops, config.device);
        config.device = rig->fault;
        ops = &engine_fault;
    }
    int error = ops->create(&rig->engine, &config);
    if (error)
        return error;
    rig_target(rig, rig_scratch_fd(), false);
    assert_int_equal(ops->attach(rig->engine, &rig->target), 0);
    io_init(&rig->io, rig->engine, &rig->clock, NULL, &rig->phase);
    return 0;
}

static inline void rig_start(struct rig *rig, const char *below, bool with_fault, bool is_virtual,
                             unsigned depth, uint64_t seed)
{
    assert_int_equal(rig_try(rig, below, NULL, with_fault, is_virtual, depth, seed), 0);
}

static inline void rig_stop(struct rig *rig)
{
    rig->engine->ops->detach(rig->engine, &rig->target);
    rig->engine->ops->destroy(rig->engine);
    if (rig->fault) {
        fault_config_clear(rig->fault);
        free(rig->fault);
    }
    mem_device_free(rig->device);
    close(rig->target.fd);
}

/* A whole page of one byte; tests tell pages apart by it. */
static inline unsigned char *pages_of(unsigned count, unsigned char byte)
{
    unsigned char *pages = aligned_alloc(4096, (size_t)count * PAGE);
    assert_non_null(pages);
    memset(pages, byte, (size_t)count * PAGE);
    return pages;
}

/* One request over contiguous memory, waited for. */
static inline int rig_io(struct rig *rig, enum io_op op, uint64_t offset, void *data,
                         size_t size_bytes)
{
    struct iovec iov = {data, size_bytes};
    struct io_req req = {.op = op,
                         .target = &rig->target,
                         .offset = offset,
                         .iov = &iov,
                         .iov_count = op == IO_FLUSH ? 0 : 1};
    return io_run(&rig->io, &req);
}

/* What the file holds, past every engine. */
static inline void assert_file_bytes(const struct rig *rig, uint64_t offset, size_t size_bytes,
                                     unsigned char byte)
{
    unsigned char *data = malloc(size_bytes);
    assert_int_equal(pread(rig->target.fd, data, size_bytes, (off_t)offset), size_bytes);
    for (size_t i = 0; i < size_bytes; i++) {
        if (data[i] != byte)
            fail_msg("byte %llu of the file is %02x, not %02x", (unsigned long long)(offset + i),
                     data[i], byte);
    }
    free(data);
}

static inline void assert_bytes(const unsigned char *data, size_t size_bytes, unsigned char byte)
{
    for (size_t i = 0; i < size_bytes; i++) {
        if (data[i] != byte)
            fail_msg("byte %zu is %02x, not %02x", i, data[i], byte);
    }
}

#endif
