/* sampler.c - see sampler.h. */
#include "sim/sampler.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

int sampler_init(struct sampler *sampler)
{
    memset(sampler, 0, sizeof *sampler);
    sampler->seen = calloc(1, sizeof *sampler->seen);
    sampler->now = calloc(1, sizeof *sampler->now);
    sampler->interval = calloc(1, sizeof *sampler->interval);
    return sampler->seen && sampler->now && sampler->interval ? 0 : -ENOMEM;
}

void sampler_free(struct sampler *sampler)
{
    free(sampler->seen);
    free(sampler->now);
    free(sampler->interval);
    memset(sampler, 0, sizeof *sampler);
}

uint64_t sampler_run_start_ns(const struct run *run)
{
    uint64_t start = run->phases[PHASE_create].start_ns;
    return start ? start - 1 : 0; /* stored 1 too high: 0 means not begun */
}

const struct stats *sampler_sums(const struct sampler *sampler)
{
    return sampler->seen;
}

/* Set i of the run: the coordinator's, then each worker's. */
static const struct stats *set_at(const struct run *run, unsigned i)
{
    return i == 0 ? &run->main_stats : &run->workers[i - 1].stats;
}

static void row_of_interval(struct sampler *sampler, struct sample_row *row)
{
    const struct hist *latency = sampler->interval;
    row->latency_sum_ns = latency->sum_ns;
    row->mean_ns = hist_mean_ns(latency);
    row->p99_ns = hist_quantile_ns(latency, 0.99);
    row->max_ns = latency->max_ns;
}

static void look_at_stream(struct sampler *sampler, const struct run *run, enum phase phase,
                           enum stream stream)
{
    struct stream_stats *seen = &sampler->seen->streams[phase][stream];
    uint64_t ops = 0, bytes = 0;
    for (unsigned i = 0; i <= run->worker_count; i++) {
        const struct stream_stats *part = &set_at(run, i)->streams[phase][stream];
        ops += relaxed_load(&part->ops);
        bytes += relaxed_load(&part->bytes);
    }
    if (ops == seen->ops && bytes == seen->bytes)
        return;
    memset(sampler->now, 0, sizeof *sampler->now);
    for (unsigned i = 0; i <= run->worker_count; i++)
        hist_merge(sampler->now, &set_at(run, i)->streams[phase][stream].latency);
    hist_difference(sampler->now, &seen->latency, sampler->interval);
    struct sample_row *row = &sampler->rows[sampler->row_count++];
    *row = (struct sample_row){
        .phase = phase, .stream = stream, .ops = ops - seen->ops, .bytes = bytes - seen->bytes};
    row_of_interval(sampler, row);
    seen->ops = ops;
    seen->bytes = bytes;
    seen->latency = *sampler->now;
}

static void look_at_counters(struct sampler *sampler, const struct run *run)
{
    struct counters *sum = &sampler->seen->counters;
    memset(sum, 0, sizeof *sum);
    for (unsigned i = 0; i <= run->worker_count; i++) {
        const struct counters *part = &set_at(run, i)->counters;
#define COUNTER(name, text) sum->name += relaxed_load(&part->name);
#include "sim/counters.def"
#undef COUNTER
    }
}

static void waits_add(struct sampler *sampler, const struct file *file)
{
    const struct io_account *account = &file->target.account;
    sampler->throttled += atomic_load_explicit((_Atomic uint64_t *)(uintptr_t)&account->throttled,
                                               memory_order_relaxed);
    sampler->stalled += atomic_load_explicit((_Atomic uint64_t *)(uintptr_t)&account->stalled,
                                             memory_order_relaxed);
}

static void look_at_waits(struct sampler *sampler, const struct run *run)
{
    uint64_t throttled = sampler->throttled_in_all, stalled = sampler->stalled_in_all;
    sampler->throttled = sampler->stalled = 0;
    for (unsigned i = 0; i < run->file_count; i++)
        waits_add(sampler, &run->files[i]->file);
    for (unsigned i = 0; i < run->database_count; i++)
        for (unsigned j = 0; j < run->databases[i].log_count; j++)
            waits_add(sampler, &run->databases[i].logs[j]);
    sampler->throttled_in_all = sampler->throttled;
    sampler->stalled_in_all = sampler->stalled;
    sampler->throttled -= throttled;
    sampler->stalled -= stalled;
}

static bool is_due(const struct sampler *sampler, uint64_t start_ns, uint64_t now_ns)
{
    return (now_ns - start_ns) / SAMPLER_INTERVAL_NS >
           (sampler->end_ns - start_ns) / SAMPLER_INTERVAL_NS;
}

bool sampler_look(struct sampler *sampler, const struct run *run, bool force)
{
    uint64_t start = sampler_run_start_ns(run), now = clock_now_ns(run->clock);
    if (sampler->end_ns < start)
        sampler->end_ns = start;
    if (!force && !is_due(sampler, start, now))
        return false;
    sampler->row_count = 0;
    for (unsigned p = 0; p < PHASE_COUNT; p++)
        for (unsigned s = 0; s < STREAM_COUNT; s++)
            look_at_stream(sampler, run, (enum phase)p, (enum stream)s);
    if (now == sampler->end_ns && sampler->row_count == 0)
        return false;
    look_at_counters(sampler, run);
    look_at_waits(sampler, run);
    sampler->start_ns = sampler->end_ns;
    sampler->end_ns = now;
    sampler->looks++;
    return true;
}
