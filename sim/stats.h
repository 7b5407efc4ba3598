/*
 * stats.h - counters and histograms of the streams, one set per worker, merged by the reporter.
 *
 * Streams are declared once in streams.def, plain counters once in counters.def.  A worker writes
 * its own set without locks, every number by relaxed_add(); anybody may read it meanwhile by
 * relaxed loads, as stats_merge() and hist_merge() do: what is read is then a moment old, and the
 * numbers of one request may stand in two readings.
 */
#ifndef SIM_STATS_H
#define SIM_STATS_H

#include <stdint.h>

#include "sim/hist.h"
#include "sim/relaxed.h"

enum stream {
#define STREAM(name, text, role) STREAM_##name,
#include "sim/streams.def"
#undef STREAM
    STREAM_COUNT
};

enum phase {
#define PHASE(name, text, rated) PHASE_##name,
#include "sim/phases.def"
#undef PHASE
    PHASE_COUNT
};

struct stream_stats {
    uint64_t ops;
    uint64_t bytes;
    struct hist latency;  /* from submission */
    struct hist response; /* from the intended start */
};

struct counters {
#define COUNTER(name, text) uint64_t name;
#include "sim/counters.def"
#undef COUNTER
};

struct stats {
    struct stream_stats streams[PHASE_COUNT][STREAM_COUNT];
    struct counters counters;
};

const char *stream_name(enum stream stream);
const char *stream_text(enum stream stream);
const char *phase_name(enum phase phase);
const char *phase_text(enum phase phase);
void stats_add(struct stats *stats, enum phase phase, enum stream stream, uint64_t bytes,
               uint64_t latency_ns, uint64_t response_ns);
void stats_merge(struct stats *into, const struct stats *from);

#endif
