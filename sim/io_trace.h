/*
 * io_trace.h - --trace: a line for each request at its completion.
 *
 * For storage engineers, who lay it beside the trace of their array, and for the search of what led
 * to a finding.  Columns, separated by tabs (header lines begin with #):
 *   completed submitted   seconds since 1970 UTC, by the clock of the run: steps of the system's do
 *                         not show; submitted is when the engine was given it
 *   worker                - is the coordinator
 *   actor                 who asked, "RandomUser 3"; - where no actor did
 *   phase stream op       names of result.json; R, W or F (flush)
 *   file                  run-wide number; a line "# file N PATH" says which it is
 *   offset bytes          of the whole request
 *   result                0 or -errno
 *   generations           of the pages in the buffer, as they were written or came from the device:
 *                         "17,4*3" is 17 and three times 4; 0: no page of ours (system pages,
 * zeros, damage); - where there are no pages
 *
 * Each worker has a buffer of whole lines that it appends to the file when it is full, so lines are
 * in order by worker alone: sort -n.  Under a virtual clock each line is written at once: all are
 * in order, and a run that ends in an assertion leaves the last.
 *
 * Errors: what cannot be written, or would fill the file system (less than IO_TRACE_KEEP_BYTES
 * free), ends the trace and nothing else; io_trace_problem() says so.
 *
 * Ownership: io_trace_open .. io_trace_close, which follows the engines.  Threads: a buffer belongs
 * to its worker; no lock.
 */
#ifndef SIM_IO_TRACE_H
#define SIM_IO_TRACE_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define IO_TRACE_MESSAGE_MAX 512
#define IO_TRACE_KEEP_BYTES  (256ull << 20)
#define IO_TRACE_LINE_BYTES  110 /* about; for people */

struct clock;
struct io_req;

struct io_trace_buffer {
    struct io_trace *trace;
    char *text; /* NULL until it is first used */
    size_t used;
    int worker; /* -1: the coordinator */
};

struct io_trace {
    int fd;
    bool at_once;         /* each line */
    uint64_t realtime_ns; /* of the run clock's 0 */
    _Atomic int error;    /* 0 or -errno: it has ended early */
    _Atomic uint64_t bytes, looked_bytes;
    struct io_trace_buffer *buffers; /* coordinator, then workers */
    unsigned buffer_count;
};

/* May it be created there?  An existing file is never written over.  0 or -errno with a message. */
int io_trace_check(const char *path, char message[IO_TRACE_MESSAGE_MAX])
    __attribute__((warn_unused_result));
int io_trace_open(struct io_trace *trace, const char *path, const struct clock *clock,
                  unsigned workers, char message[IO_TRACE_MESSAGE_MAX])
    __attribute__((warn_unused_result));
/* worker: -1 for the coordinator. */
struct io_trace_buffer *io_trace_buffer(struct io_trace *trace, int worker);
/* Before its first request. */
void io_trace_file(struct io_trace *trace, uint16_t uid, const char *path);
/* A request has ended; before done(). */
void io_trace_add(struct io_trace_buffer *buffer, const struct io_req *req);
/* What is in the buffers goes out: nobody works any more. */
void io_trace_flush(struct io_trace *trace);
/* NULL, or why lines are missing (a text of text[]). */
const char *io_trace_problem(const struct io_trace *trace, char text[IO_TRACE_MESSAGE_MAX]);
void io_trace_close(struct io_trace *trace); /* also when it was not opened */

#endif
