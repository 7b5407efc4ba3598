/* series.c - see series.h. */
#include "sim/series.h"

#include <assert.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "sim/run_slots.h"

#define FILE_MODE     0644
#define ROW_BYTES_MAX 512
#define BUFFER_BYTES  ((PHASE_COUNT * STREAM_COUNT + 1) * ROW_BYTES_MAX)
#define US_NS         1000.0

static const char header[] = "t_s,utc,seconds,phase,stream,ops,bytes,mean_us,p99_us,max_us,in_"
                             "flight,throttled,stalled,part\n";

/* All of it, or nothing: a part of a row would be read as a row. */
static void append(struct series *series, const char *text, size_t length)
{
    size_t done = 0;
    while (done < length && !series->error) {
        ssize_t n = write(series->fd, text + done, length - done);
        if (n < 0 && errno != EINTR)
            series->error = -errno;
        done += n > 0 ? (size_t)n : 0;
    }
    if (series->error)
        (void)!ftruncate(series->fd, (off_t)series->size_bytes);
    else
        series->size_bytes += length;
}

void series_open(struct series *series, const char *directory)
{
    *series = (struct series){.fd = -1};
    series->buffer = malloc(BUFFER_BYTES);
    if (!series->buffer || asprintf(&series->path, "%s/" SERIES_FILE_NAME, directory) < 0) {
        series->error = -ENOMEM;
        series->path = NULL;
        return;
    }
    series->fd = open(series->path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC | O_APPEND, FILE_MODE);
    if (series->fd < 0)
        series->error = -errno;
    else
        append(series, header, sizeof header - 1);
}

void series_close(struct series *series)
{
    if (series->fd >= 0 && close(series->fd) != 0 && !series->error)
        series->error = -errno;
    series->fd = -1;
    free(series->buffer);
    free(series->path);
    series->buffer = series->path = NULL;
}

const char *series_problem(const struct series *series, char message[SERIES_MESSAGE_MAX])
{
    if (!series->error)
        return NULL;
    if (series->size_bytes == 0)
        snprintf(message, SERIES_MESSAGE_MAX, "could not be written: %s", strerror(-series->error));
    else
        snprintf(message, SERIES_MESSAGE_MAX, "ends after %" PRIu64 " of the run's seconds: %s",
                 series->intervals, strerror(-series->error));
    return message;
}

/* ---- rows ---- */

struct text {
    char *out;
    size_t used;
};

static void __attribute__((format(printf, 2, 3))) add(struct text *text, const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    int length = vsnprintf(text->out + text->used, ROW_BYTES_MAX, format, arguments);
    va_end(arguments);
    assert(length >= 0 && length < ROW_BYTES_MAX);
    text->used += (size_t)length;
}

static double interval_seconds(const struct sampler *sampler)
{
    return (double)(sampler->end_ns - sampler->start_ns) / (double)NS_PER_S;
}

/* "12.000,2026-01-01T00:00:12.000Z,1.000,stress,page_read," */
static void add_place(struct text *text, const struct sampler *sampler, const struct run *run,
                      enum phase phase, const char *stream)
{
    char date[32];
    struct tm tm;
    uint64_t since_ns = sampler->end_ns - sampler_run_start_ns(run), since_s = since_ns / NS_PER_S;
    uint64_t utc_ms = (run->session_start_ns + since_ns) / NS_PER_MS;
    time_t seconds = (time_t)(utc_ms / 1000);
    gmtime_r(&seconds, &tm);
    strftime(date, sizeof date, "%Y-%m-%dT%H:%M:%S", &tm);
    add(text, "%" PRIu64 ".%03u,%s.%03uZ,%.3f,%s,%s,", since_s,
        (unsigned)(since_ns / NS_PER_MS % 1000), date, (unsigned)(utc_ms % 1000),
        interval_seconds(sampler), phase_name(phase), stream);
}

static void add_row(struct text *text, const struct sample_row *row, double in_flight)
{
    add(text, "%" PRIu64 ",%" PRIu64 ",%.1f,%.1f,%.1f,%.2f,,,", row->ops, row->bytes,
        row->mean_ns / US_NS, (double)row->p99_ns / US_NS, (double)row->max_ns / US_NS, in_flight);
}

/* The step or phase at work; quoted, since it is the user's text. */
static void add_part(struct text *text, const struct run *run)
{
    const struct run_slot *slot = run_slot_now(run);
    if (slot)
        add(text, "\"");
    for (const char *c = slot ? slot->name : ""; *c; c++)
        add(text, "%s%c", *c == '"' ? "\"" : "", *c);
    add(text, slot ? "\"\n" : "\n");
}

/* Not the waits that consist of others. */
static bool is_io(enum stream stream)
{
    return speed_role_of(stream) != ROLE_WAIT;
}

void series_write(struct series *series, const struct sampler *sampler, const struct run *run)
{
    struct text text = {.out = series->buffer};
    double interval_ns = (double)(sampler->end_ns - sampler->start_ns), all_in_flight = 0;
    if (series->error)
        return;
    for (unsigned i = 0; i < sampler->row_count; i++) {
        const struct sample_row *row = &sampler->rows[i];
        double in_flight = interval_ns > 0 ? (double)row->latency_sum_ns / interval_ns : 0;
        all_in_flight += is_io(row->stream) ? in_flight : 0;
        add_place(&text, sampler, run, row->phase, stream_name(row->stream));
        add_row(&text, row, in_flight);
        add_part(&text, run);
    }
    add_place(&text, sampler, run, run->phase, "all");
    add(&text, ",,,,,%.2f,%" PRIu64 ",%" PRIu64 ",", all_in_flight, sampler->throttled,
        sampler->stalled);
    add_part(&text, run);
    append(series, text.out, text.used);
    series->intervals += !series->error;
}
