/*
 * stats.c - names of streams and phases, and the sums of a worker.
 *
 * Invariant: every number is stored relaxed by its one writer and read relaxed by everybody else,
 * so that sums can be taken while the workers go on.
 */
#include "sim/stats.h"

#include <assert.h>
#include <stddef.h>

struct label {
    const char *name;
    const char *text;
};

static const struct label streams[STREAM_COUNT] = {
#define STREAM(name, text, role) {#name, text},
#include "sim/streams.def"
#undef STREAM
};

static const struct label phases[PHASE_COUNT] = {
#define PHASE(name, text, rated) {#name, text},
#include "sim/phases.def"
#undef PHASE
};

const char *stream_name(enum stream stream)
{
    assert(stream < STREAM_COUNT);
    return streams[stream].name;
}

const char *stream_text(enum stream stream)
{
    assert(stream < STREAM_COUNT);
    return streams[stream].text;
}

const char *phase_name(enum phase phase)
{
    assert(phase < PHASE_COUNT);
    return phases[phase].name;
}

const char *phase_text(enum phase phase)
{
    assert(phase < PHASE_COUNT);
    return phases[phase].text;
}

void stats_add(struct stats *stats, enum phase phase, enum stream stream, uint64_t bytes,
               uint64_t latency_ns, uint64_t response_ns)
{
    assert(phase < PHASE_COUNT && stream < STREAM_COUNT);
    struct stream_stats *s = &stats->streams[phase][stream];
    relaxed_add(&s->ops, 1);
    relaxed_add(&s->bytes, bytes);
    hist_add(&s->latency, latency_ns);
    hist_add(&s->response, response_ns);
}

void stats_merge(struct stats *into, const struct stats *from)
{
    for (size_t p = 0; p < PHASE_COUNT; p++) {
        for (size_t s = 0; s < STREAM_COUNT; s++) {
            struct stream_stats *sum = &into->streams[p][s];
            const struct stream_stats *part = &from->streams[p][s];
            sum->ops += relaxed_load(&part->ops);
            sum->bytes += relaxed_load(&part->bytes);
            hist_merge(&sum->latency, &part->latency);
            hist_merge(&sum->response, &part->response);
        }
    }
#define COUNTER(name, text) into->counters.name += relaxed_load(&from->counters.name);
#include "sim/counters.def"
#undef COUNTER
}
