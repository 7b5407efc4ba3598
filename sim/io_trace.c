/*
 * io_trace.c - see io_trace.h.
 *
 * What it does not do: wait for the disk (nothing is synced), or keep lines that do not fit.
 */
#include "sim/io_trace.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <unistd.h>

#include "sim/io.h"
#include "verify/page.h"

#define BUFFER_BYTES (128u * 1024)
#define LINE_MAX     (32u * 1024)  /* a backup's transfer of 1,024 pages, each another generation */
#define LOOK_BYTES   (64ull << 20) /* between two looks at the free space */

static int __attribute__((format(printf, 3, 4)))
fail(char message[IO_TRACE_MESSAGE_MAX], int error, const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(message, IO_TRACE_MESSAGE_MAX, format, arguments);
    va_end(arguments);
    return error;
}

/* ---- what goes out ---- */

static void end_early(struct io_trace *trace, int error)
{
    int none = 0;
    atomic_compare_exchange_strong(&trace->error, &none, error);
}

/* Every LOOK_BYTES. */
static bool has_room(struct io_trace *trace, size_t bytes)
{
    struct statvfs fs;
    uint64_t now = atomic_fetch_add(&trace->bytes, bytes) + bytes;
    uint64_t looked = atomic_load(&trace->looked_bytes);
    if (now < looked + LOOK_BYTES && looked > 0)
        return true;
    atomic_store(&trace->looked_bytes, now);
    return fstatvfs(trace->fd, &fs) != 0 ||
           (uint64_t)fs.f_bavail * fs.f_frsize >= IO_TRACE_KEEP_BYTES + bytes;
}

/* O_APPEND: whole lines of one worker stay together. */
static void append(struct io_trace *trace, const char *text, size_t bytes)
{
    if (atomic_load_explicit(&trace->error, memory_order_relaxed) || bytes == 0)
        return;
    if (!has_room(trace, bytes)) {
        end_early(trace, -ENOSPC);
        return;
    }
    while (bytes > 0) {
        ssize_t n = write(trace->fd, text, bytes);
        if (n < 0 && errno == EINTR)
            continue;
        if (n < 0) {
            end_early(trace, -errno);
            return;
        }
        text += n;
        bytes -= (size_t)n;
    }
}

static void buffer_flush(struct io_trace_buffer *buffer)
{
    append(buffer->trace, buffer->text, buffer->used);
    buffer->used = 0;
}

/* ---- a line ---- */

static void __attribute__((format(printf, 2, 3)))
put(struct io_trace_buffer *buffer, const char *format, ...)
{
    va_list arguments;
    size_t left = BUFFER_BYTES - buffer->used;
    va_start(arguments, format);
    int length = vsnprintf(buffer->text + buffer->used, left, format, arguments);
    va_end(arguments);
    if (length > 0)
        buffer->used += (size_t)length < left ? (size_t)length : left - 1;
}

static void put_time(struct io_trace_buffer *buffer, uint64_t ns)
{
    uint64_t at_ns = buffer->trace->realtime_ns + ns;
    uint64_t s = at_ns / NS_PER_S, rest_ns = at_ns % NS_PER_S;
    put(buffer, "%" PRIu64 ".%09" PRIu64 "\t", s, rest_ns);
}

/* Of a page in memory: what its stamp says, if that can be believed. */
static uint64_t generation_of(const uint8_t *page)
{
    return page_header_crc_ok(page) ? page_stamp_of(page)->generation : 0;
}

static void put_run(struct io_trace_buffer *buffer, uint64_t generation, unsigned count, bool first)
{
    if (count == 0)
        return;
    put(buffer, "%s%" PRIu64, first ? "" : ",", generation);
    if (count > 1)
        put(buffer, "*%u", count);
}

static bool has_pages(const struct io_req *req)
{
    return req->op != IO_FLUSH && !req->target->is_log && req->offset % PAGE_BYTES == 0 &&
           req->total_bytes % PAGE_BYTES == 0;
}

static void put_generations(struct io_trace_buffer *buffer, const struct io_req *req)
{
    uint64_t last = 0;
    unsigned count = 0;
    bool first = true;
    for (unsigned i = 0; i < req->iov_count; i++) {
        const uint8_t *bytes = req->iov[i].iov_base;
        for (size_t at = 0; at + PAGE_BYTES <= req->iov[i].iov_len; at += PAGE_BYTES) {
            uint64_t generation = generation_of(bytes + at);
            if (count && generation == last) {
                count++;
                continue;
            }
            put_run(buffer, last, count, first);
            first = first && count == 0;
            last = generation;
            count = 1;
        }
    }
    put_run(buffer, last, count, first);
}

static void put_actor(struct io_trace_buffer *buffer, const struct io_req *req)
{
    if (buffer->worker < 0)
        put(buffer, "-\t");
    else
        put(buffer, "%d\t", buffer->worker);
    put(buffer, "%s\t", req->issuer ? req->issuer : "-");
}

void io_trace_add(struct io_trace_buffer *buffer, const struct io_req *req)
{
    static const char ops[] = {[IO_READ] = 'R', [IO_WRITE] = 'W', [IO_FLUSH] = 'F'};
    if (atomic_load_explicit(&buffer->trace->error, memory_order_relaxed))
        return;
    if (!buffer->text)
        buffer->text = malloc(BUFFER_BYTES);
    if (!buffer->text) {
        end_early(buffer->trace, -ENOMEM);
        return;
    }
    if (buffer->used + LINE_MAX > BUFFER_BYTES)
        buffer_flush(buffer);
    put_time(buffer, req->done_ns);
    put_time(buffer, req->submit_ns);
    put_actor(buffer, req);
    put(buffer, "%s\t%s\t%c\t%u\t%" PRIu64 "\t%" PRIu64 "\t%d\t", phase_name(req->phase),
        stream_name(req->stream), ops[req->op], req->target->uid, req->offset, req->total_bytes,
        req->result);
    if (has_pages(req))
        put_generations(buffer, req);
    else
        put(buffer, "-");
    put(buffer, "\n");
    if (buffer->trace->at_once)
        buffer_flush(buffer);
}

void io_trace_file(struct io_trace *trace, uint16_t uid, const char *path)
{
    char *line;
    int length = asprintf(&line, "# file %u %s\n", uid, path);
    if (length < 0) {
        end_early(trace, -ENOMEM);
        return;
    }
    append(trace, line, (size_t)length);
    free(line);
}

/* ---- life ---- */

int io_trace_check(const char *path, char message[IO_TRACE_MESSAGE_MAX])
{
    struct stat st;
    if (lstat(path, &st) == 0)
        return fail(message, -EEXIST,
                    "--trace %s: it exists, and a trace is never written over a file. Name another "
                    "or remove it.",
                    path);
    return errno == ENOENT ? 0 : fail(message, -errno, "--trace %s: %s", path, strerror(errno));
}

static int buffers_make(struct io_trace *trace, unsigned workers)
{
    trace->buffers = calloc(workers + 1, sizeof *trace->buffers);
    if (!trace->buffers)
        return -ENOMEM;
    trace->buffer_count = workers + 1;
    for (unsigned i = 0; i <= workers; i++)
        trace->buffers[i] = (struct io_trace_buffer){.trace = trace, .worker = (int)i - 1};
    return 0;
}

int io_trace_open(struct io_trace *trace, const char *path, const struct clock *clock,
                  unsigned workers, char message[IO_TRACE_MESSAGE_MAX])
{
    static const char header[] =
        "# pagestorm trace 1\n# "
        "completed\tsubmitted\tworker\tactor\tphase\tstream\top\tfile\toffset\t"
        "bytes\tresult\tgenerations\n";
    *trace = (struct io_trace){.fd = -1};
    trace->fd = open(path, O_WRONLY | O_CREAT | O_EXCL | O_APPEND | O_CLOEXEC, 0640);
    if (trace->fd < 0)
        return fail(message, -errno, "--trace %s: it cannot be created: %s", path, strerror(errno));
    if (buffers_make(trace, workers)) {
        close(trace->fd);
        return fail(message, -ENOMEM, "--trace %s: not enough memory", path);
    }
    trace->at_once = clock->is_virtual;
    trace->realtime_ns = clock_realtime_ns(clock) - clock_now_ns(clock);
    append(trace, header, sizeof header - 1);
    return 0;
}

struct io_trace_buffer *io_trace_buffer(struct io_trace *trace, int worker)
{
    return trace ? &trace->buffers[worker + 1] : NULL;
}

void io_trace_flush(struct io_trace *trace)
{
    for (unsigned i = 0; i < trace->buffer_count; i++)
        buffer_flush(&trace->buffers[i]);
}

const char *io_trace_problem(const struct io_trace *trace, char text[IO_TRACE_MESSAGE_MAX])
{
    int error = atomic_load(&trace->error);
    if (!error)
        return NULL;
    snprintf(text, IO_TRACE_MESSAGE_MAX, "ends early: %s",
             error == -ENOSPC ? "its file system is nearly full" : strerror(-error));
    return text;
}

void io_trace_close(struct io_trace *trace)
{
    for (unsigned i = 0; i < trace->buffer_count; i++)
        free(trace->buffers[i].text);
    free(trace->buffers);
    if (trace->buffers)
        close(trace->fd);
    *trace = (struct io_trace){.fd = -1};
}
