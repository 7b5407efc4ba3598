/* run_slot_facts.c - see run_slot_facts.h. */
#include "sim/run_slot_facts.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "config/thresholds.h"
#include "sim/run_slots.h"
#include "verify/verdict.h"

/* Sums of one phase, of all workers. */
struct reading {
    struct stream_stats streams[STREAM_COUNT];
    struct counters counters;
};

/* Of one kind of measured part: PHASE_rated or PHASE_stress. */
struct kind_meter {
    enum phase phase;
    struct run_slot *open; /* whose streams are still being added to */
    struct reading *from;
};

struct slot_meter {
    struct kind_meter kinds[2];
    struct reading *now;
    struct hist *difference;
    uint64_t begun_ns;
    struct machine_load machine;
    uint64_t host_pauses;
    struct thresholds limits;
};

int slot_meter_make(struct run *run, struct slot_meter **out)
{
    struct slot_meter *meter = calloc(1, sizeof *meter);
    *out = meter;
    if (!meter)
        return -ENOMEM;
    meter->kinds[0].phase = PHASE_rated;
    meter->kinds[1].phase = PHASE_stress;
    meter->kinds[0].from = calloc(1, sizeof *meter->now);
    meter->kinds[1].from = calloc(1, sizeof *meter->now);
    meter->now = calloc(1, sizeof *meter->now);
    meter->difference = calloc(1, sizeof *meter->difference);
    thresholds_read(profile_section(run->config.profile, thresholds_section.name), &meter->limits);
    bool all = meter->kinds[0].from && meter->kinds[1].from && meter->now && meter->difference;
    return all ? 0 : -ENOMEM;
}

void slot_meter_free(struct slot_meter *meter)
{
    if (!meter)
        return;
    free(meter->kinds[0].from);
    free(meter->kinds[1].from);
    free(meter->now);
    free(meter->difference);
    free(meter);
}

void slot_facts_free(struct slot_facts *facts)
{
    for (unsigned s = 0; s < STREAM_COUNT; s++)
        free(facts->streams[s]);
    memset(facts, 0, sizeof *facts);
}

/* ---- streams ---- */

static const struct stats *set_at(const struct run *run, unsigned i)
{
    return i == 0 ? &run->main_stats : &run->workers[i - 1].stats;
}

static void read_stream(const struct run *run, enum phase phase, unsigned s, struct reading *out)
{
    struct stream_stats *sum = &out->streams[s];
    memset(sum, 0, sizeof *sum);
    for (unsigned i = 0; i <= run->worker_count; i++) {
        const struct stream_stats *part = &set_at(run, i)->streams[phase][s];
        if (relaxed_load(&part->ops) == 0)
            continue;
        sum->ops += relaxed_load(&part->ops);
        sum->bytes += relaxed_load(&part->bytes);
        hist_merge(&sum->latency, &part->latency);
        hist_merge(&sum->response, &part->response);
    }
}

static void read_all(const struct run *run, enum phase phase, struct reading *out)
{
    for (unsigned s = 0; s < STREAM_COUNT; s++)
        read_stream(run, phase, s, out);
    memset(&out->counters, 0, sizeof out->counters);
    for (unsigned i = 0; i <= run->worker_count; i++) {
        const struct counters *part = &set_at(run, i)->counters;
#define COUNTER(name, text) out->counters.name += relaxed_load(&part->name);
#include "sim/counters.def"
#undef COUNTER
    }
}

static int add_stream(struct slot_meter *meter, const struct stream_stats *now,
                      const struct stream_stats *from, struct stream_stats **to)
{
    if (now->ops == from->ops)
        return 0;
    if (!*to)
        *to = calloc(1, sizeof **to);
    if (!*to)
        return -ENOMEM;
    (*to)->ops += now->ops - from->ops;
    (*to)->bytes += now->bytes - from->bytes;
    hist_difference(&now->latency, &from->latency, meter->difference);
    hist_merge(&(*to)->latency, meter->difference);
    hist_difference(&now->response, &from->response, meter->difference);
    hist_merge(&(*to)->response, meter->difference);
    return 0;
}

/* What was open of this kind gets what there is by now. */
static int kind_close(struct run *run, struct kind_meter *kind)
{
    struct slot_meter *meter = run->slots->meter;
    struct run_slot *slot = kind->open;
    int error = 0;
    if (!slot)
        return 0;
    read_all(run, kind->phase, meter->now);
    for (unsigned s = 0; s < STREAM_COUNT && !error; s++)
        error = add_stream(meter, &meter->now->streams[s], &kind->from->streams[s],
                           &slot->facts.streams[s]);
    kind->open = NULL;
    return error;
}

static struct kind_meter *kind_of(struct slot_meter *meter, const struct run_slot *slot)
{
    return &meter->kinds[slot->rated ? 0 : 1];
}

/* ---- what arrives ---- */

static uint64_t host_pauses_of(struct run *run)
{
    uint64_t counts[VERDICT_COUNT];
    findings_counts(&run->findings, counts);
    return counts[VERDICT_host_pause];
}

/* A process that serves the slot, and has since before its measured part. */
static bool is_at_work(const struct arrivals *arrivals)
{
    return !arrivals->retired;
}

static void arrivals_begin(struct run *run)
{
    for (unsigned i = 0; i < run->arrivals_count; i++)
        if (is_at_work(run->arrivals[i]))
            arrivals_mark(run->arrivals[i]);
}

static struct slot_rate *rate_of(struct slot_facts *facts, const struct arrivals *arrivals)
{
    for (unsigned i = 0; i < facts->rate_count; i++)
        if (strcmp(facts->rates[i].pattern, arrivals->name) == 0)
            return &facts->rates[i];
    if (facts->rate_count == SLOT_RATES_MAX)
        return NULL;
    struct slot_rate *rate = &facts->rates[facts->rate_count++];
    *rate = (struct slot_rate){.pattern = arrivals->name,
                               .per_second = arrivals->times.config.per_second,
                               .ios = arrivals->ios};
    return rate;
}

static void arrivals_end(struct run *run, struct run_slot *slot, uint64_t from_ns, uint64_t to_ns)
{
    enum phase phase = slot->rated ? PHASE_rated : PHASE_stress;
    for (unsigned i = 0; i < run->arrivals_count; i++) {
        struct arrivals *arrivals = run->arrivals[i];
        struct slot_rate *rate = is_at_work(arrivals) ? rate_of(&slot->facts, arrivals) : NULL;
        if (!rate)
            continue;
        struct arrivals_sum sum = arrivals_since_mark(arrivals, phase);
        rate->asked += arrivals_asked(arrivals, from_ns, to_ns);
        rate->done += sum.done;
        rate->response_ns += sum.response_ns;
        rate->tool_ns += sum.tool_ns;
    }
}

/* ---- plateaus ---- */

/* The seconds of all workers together. */
static unsigned plateau_of(const struct run *run, enum speed_role role, double bound_ns,
                           double seconds)
{
    struct seconds *all = run->seconds;
    size_t count = (size_t)seconds + 1 < all[0].count ? (size_t)seconds + 1 : all[0].count;
    for (unsigned w = 1; w < run->worker_count; w++)
        seconds_merge(&all[0], &all[w], role);
    return bound_ns > 0 ? seconds_plateau(seconds_of(&all[0], role), count, bound_ns) : 0;
}

static void plateaus_add(struct run *run, struct slot_facts *facts, double seconds)
{
    for (unsigned w = 0; w < run->worker_count; w++)
        seconds_end(&run->seconds[w]);
    for (unsigned r = 0; r < ROLE_COUNT; r++) {
        double bound_ns = speed_fail_bound_ns(&run->slots->meter->limits, r);
        unsigned plateau_s = plateau_of(run, r, bound_ns, seconds);
        if (plateau_s > facts->plateau_s[r])
            facts->plateau_s[r] = plateau_s;
    }
}

/* ---- begin and end ---- */

int slot_measure_begin(struct run *run, struct run_slot *slot)
{
    struct slot_meter *meter = run->slots->meter;
    struct kind_meter *kind = kind_of(meter, slot);
    int error = kind_close(run, kind);
    read_all(run, kind->phase, kind->from);
    kind->open = slot;
    meter->begun_ns = clock_now_ns(run->clock);
    meter->host_pauses = host_pauses_of(run);
    if (!run->config.virtual_clock) /* a model takes no time of this machine */
        machine_load_look(&meter->machine);
    for (unsigned w = 0; w < run->worker_count && slot->rated && run->seconds; w++)
        seconds_begin(&run->seconds[w], meter->begun_ns);
    arrivals_begin(run);
    slot->facts.times++;
    slot->facts.complete = false;
    return error;
}

static void counters_add(struct run *run, struct run_slot *slot)
{
    struct slot_meter *meter = run->slots->meter;
    const struct counters *from = &kind_of(meter, slot)->from->counters;
    struct counters *to = &slot->facts.counters;
    for (unsigned i = 0; i <= run->worker_count; i++) {
        const struct counters *part = &set_at(run, i)->counters;
#define COUNTER(name, text) to->name += relaxed_load(&part->name);
#include "sim/counters.def"
#undef COUNTER
    }
#define COUNTER(name, text) to->name -= from->name;
#include "sim/counters.def"
#undef COUNTER
}

void slot_measure_end(struct run *run, struct run_slot *slot)
{
    struct slot_meter *meter = run->slots->meter;
    struct slot_facts *facts = &slot->facts;
    struct machine_load machine = {0};
    uint64_t now_ns = clock_now_ns(run->clock), end_ns = run->slots->end_ns;
    uint64_t to_ns = now_ns < end_ns ? now_ns : end_ns;
    double seconds = (double)(to_ns - meter->begun_ns) / (double)NS_PER_S;
    arrivals_end(run, slot, meter->begun_ns, to_ns);
    counters_add(run, slot);
    facts->seconds += seconds;
    facts->complete = !run_stopping(run);
    facts->host_pauses += host_pauses_of(run) - meter->host_pauses;
    if (slot->rated && run->seconds)
        plateaus_add(run, facts, seconds);
    if (run->config.virtual_clock)
        return;
    machine_load_look(&machine);
    double steal = machine_load_steal(&meter->machine, &machine);
    facts->steal_share = steal > facts->steal_share ? steal : facts->steal_share;
    facts->cpu_s += machine.cpu_s - meter->machine.cpu_s;
}

int slot_measure_finish(struct run *run)
{
    struct slot_meter *meter = run->slots->meter;
    int error = kind_close(run, &meter->kinds[0]);
    int other = kind_close(run, &meter->kinds[1]);
    return error ? error : other;
}

/* ---- for the rules ---- */

static uint64_t stalls_of(const struct hist *hist)
{
    uint64_t stalls = 0;
    for (unsigned i = 0; i < HIST_BUCKETS; i++)
        stalls += hist_bucket_low_ns(i) >= IO_STALL_NS ? hist->buckets[i] : 0;
    return stalls;
}

/* Where log files are flushed apart from their writes, what a log write costs is both: their means
 * and percentiles are added. */
static void add_log_flushes(const struct slot_facts *facts, struct role_facts *role)
{
    const struct stream_stats *stream = facts->streams[STREAM_log_flush];
    if (!stream || stream->response.count == 0)
        return;
    role->mean_ns += hist_mean_ns(&stream->response);
    role->p99_ns += (double)hist_quantile_ns(&stream->response, 0.99);
    role->max_ns += (double)stream->response.max_ns;
}

/* All streams of the role but the flushes of logs. */
static void add_role(const struct slot_facts *facts, enum speed_role role, struct speed_facts *out)
{
    struct role_facts *to = &out->roles[role];
    struct hist sum = {.count = 0};
    for (unsigned s = 0; s < STREAM_COUNT; s++) {
        const struct stream_stats *stream = facts->streams[s];
        if (!stream || speed_role_of((enum stream)s) != role)
            continue;
        out->stalls += stalls_of(&stream->latency);
        if (s != STREAM_log_flush)
            hist_merge(&sum, &stream->response);
    }
    to->ops = sum.count;
    to->mean_ns = hist_mean_ns(&sum);
    to->p99_ns = (double)hist_quantile_ns(&sum, 0.99);
    to->max_ns = (double)sum.max_ns;
    to->plateau_s = facts->plateau_s[role];
    if (role == ROLE_LOG_WRITE)
        add_log_flushes(facts, to);
}

static void add_rates(const struct slot_facts *facts, struct speed_facts *out)
{
    uint64_t response_ns = 0, tool_ns = 0;
    out->held = 1;
    for (unsigned i = 0; i < facts->rate_count; i++) {
        const struct slot_rate *rate = &facts->rates[i];
        double held = rate->asked ? (double)rate->done / (double)rate->asked : 1;
        out->arrivals = true;
        out->held = held < out->held ? held : out->held;
        out->asked_ios += rate->per_second * rate->ios;
        out->asked_logs += rate->ios > 0 ? rate->per_second : 0;
        response_ns += rate->response_ns;
        tool_ns += rate->tool_ns;
    }
    if (response_ns)
        out->tool_share = (double)tool_ns / (double)response_ns;
}

void slot_speed_facts(const struct run_slot *slot, unsigned cpus, struct speed_facts *out)
{
    const struct slot_facts *facts = &slot->facts;
    *out = (struct speed_facts){.rated = slot->rated && facts->times > 0,
                                .seconds = facts->seconds,
                                .steal_share = facts->steal_share,
                                .host_pauses = facts->host_pauses,
                                .limit_waits = facts->counters.limit_waits};
    add_rates(facts, out);
    for (unsigned r = 0; r < ROLE_COUNT; r++)
        add_role(facts, r, out);
    if (cpus && facts->seconds > 0)
        out->cpu_share = facts->cpu_s / facts->seconds / cpus;
}
