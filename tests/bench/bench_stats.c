/* bench_stats.c - what it costs to enter one request into the statistics, by hand:
 * build/tests/bench_stats; instructions: valgrind --tool=callgrind --toggle-collect=stats_add ...
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#include "sim/stats.h"

#define ROUNDS 20000000u

static double seconds(void)
{
    struct timespec ts;
    clock_gettime(CLOCK_MONOTONIC, &ts);
    return (double)ts.tv_sec + (double)ts.tv_nsec / 1e9;
}

int main(void)
{
    struct stats *stats = calloc(1, sizeof *stats);
    if (!stats)
        return 1;
    double start = seconds();
    uint64_t ns = 88172645463325252u;
    for (unsigned i = 0; i < ROUNDS; i++) { /* xorshift: latencies that spread over the buckets */
        ns ^= ns << 13;
        ns ^= ns >> 7;
        ns ^= ns << 17;
        stats_add(stats, PHASE_stress, STREAM_page_read, 8192, ns >> 44, ns >> 43);
    }
    printf("%.2f ns a request, %" PRIu64 " requests\n", (seconds() - start) / ROUNDS * 1e9,
           stats->streams[PHASE_stress][STREAM_page_read].ops);
    free(stats);
    return 0;
}
