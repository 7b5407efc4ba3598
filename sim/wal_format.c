/* wal_format.c - a new log file is written in full before use: VLF headers, the rest stamped. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "sim/wal.h"

#define FORMAT_CHUNK_BYTES (1024 * 1024)

static int chunk_write(struct io *io, struct file *file, uint64_t offset, uint8_t *buf, size_t size)
{
    struct iovec iov = {buf, size};
    struct io_req req = {.op = IO_WRITE,
                         .stream = STREAM_create_write,
                         .target = &file->target,
                         .offset = offset,
                         .iov = &iov,
                         .iov_count = 1};
    return io_run(io, &req);
}

static int vlf_format(struct io *io, struct file *file, const struct vlf_header *vlf, uint8_t *buf,
                      uint8_t fresh_byte, const struct tick *tick)
{
    uint64_t done = 0;
    int error = 0;
    while (done < vlf->size_bytes && !error) {
        uint64_t left = vlf->size_bytes - done;
        size_t size = left < FORMAT_CHUNK_BYTES ? (size_t)left : FORMAT_CHUNK_BYTES;
        memset(buf, fresh_byte, size);
        if (done == 0)
            vlf_header_build(buf, vlf);
        error = chunk_write(io, file, vlf->offset + done, buf, size);
        if (!error)
            error = tick_done(tick, size);
        done += size;
    }
    return error;
}

int wal_format(struct io *io, struct file *file, uint8_t fresh_byte, const struct tick *tick)
{
    struct vlf_header vlfs[VLF_MAX];
    size_t count = vlf_layout(file->target.size_bytes, vlfs);
    if (count < 2)
        return -EINVAL;
    uint8_t *buf = aligned_alloc(4096, FORMAT_CHUNK_BYTES);
    if (!buf)
        return -ENOMEM;
    int error = 0;
    for (size_t i = 0; i < count && !error; i++)
        error = vlf_format(io, file, &vlfs[i], buf, fresh_byte, tick);
    free(buf);
    return error;
}
