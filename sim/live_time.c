/* live_time.c - see live_time.h. */
#include "sim/live_time.h"

#include "config/load_steps.h"

static uint64_t bytes_of(const struct plan *plan, bool logs)
{
    uint64_t sum = 0;
    for (unsigned i = 0; i < plan->file_count; i++)
        sum += plan->files[i].is_log == logs ? plan->files[i].size_bytes : 0;
    return sum;
}

/* A sparse file, or one of tempdb, gets system pages only, which weigh nothing. */
static uint64_t bytes_written_first(const struct plan *plan)
{
    uint64_t sum = 0;
    for (unsigned i = 0; i < plan->file_count; i++)
        if (!plan->files[i].is_log && !plan->files[i].sparse && !plan->files[i].tempdb)
            sum += plan->files[i].size_bytes;
    return sum;
}

static uint64_t least(uint64_t a, uint64_t b)
{
    return a < b ? a : b;
}

uint64_t live_time_bytes(const struct plan *plan, enum phase phase,
                         const struct config_settings *settings)
{
    uint64_t data = bytes_of(plan, false), logs = bytes_of(plan, true);
    switch (phase) {
    case PHASE_create:
        return logs + (settings->stamp_files && !plan->prepared ? data : 0);
    case PHASE_initial_update:
        return plan->prepared ? 0 : bytes_written_first(plan);
    case PHASE_final_checkpoint:
        return least(plan->pool_bytes, data);
    case PHASE_audit:
        return data + logs;
    default:
        return 0;
    }
}

/* Of the rated phase; the warm-up is shared among them. */
static unsigned steps_of(const struct config_settings *settings)
{
    struct load_steps steps;
    char why[OPT_TEXT_MAX];
    if (load_steps_parse(settings->load, &steps, why) || steps.count == 0)
        return 1;
    return steps.count;
}

uint64_t live_time_ns(const struct plan *plan, enum phase phase,
                      const struct config_settings *settings, const struct work_speed *speed)
{
    if (phase == PHASE_stress)
        return plan->test_cycle_ns;
    if (phase == PHASE_rated)
        return (uint64_t)settings->rated_duration_ns * steps_of(settings);
    if (phase == PHASE_rated_warm_up)
        return settings->rated_duration_ns ? (uint64_t)settings->rated_warm_up_ns : 0;
    double rate = phase == PHASE_audit ? speed->read_bytes_per_s : speed->write_bytes_per_s;
    double bytes = (double)live_time_bytes(plan, phase, settings);
    return rate > 0 ? (uint64_t)(bytes / rate * (double)NS_PER_S) : 0;
}

uint64_t live_time_behind_ns(const struct plan *plan, enum phase phase,
                             const struct config_settings *settings, const struct work_speed *speed,
                             uint64_t cycles_left)
{
    uint64_t sum = 0;
    for (unsigned p = 0; p < PHASE_COUNT; p++) {
        uint64_t one = live_time_ns(plan, (enum phase)p, settings, speed);
        sum += p > (unsigned)phase ? one : 0;
        sum += p >= PHASE_stress ? one * cycles_left : 0;
    }
    return sum;
}
