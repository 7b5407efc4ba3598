/*
 * run_rated.c - see run_rated.h.
 *
 * Invariants: the same actors and the same sequence of arrivals go through warm-up and rated phase;
 * only the phase changes between them.  Dirty pages are left to the checkpoints that follow.
 */
#include "sim/run_rated.h"

#include "sim/run_actors.h"
#include "sim/run_loop.h"

/* Need: all rates together, so that their data I/Os are what was asked for. */
static double scale_of(const struct run *run)
{
    double ios = run_load_ios(profile_rated(run->config.profile));
    int64_t need = run->settings->need_iops;
    return need > 0 && ios > 0 ? (double)need / ios : 1;
}

/* Before the phase: what is submitted in it completes later. */
static void seconds_begin_all(struct run *run)
{
    for (unsigned i = 0; i < run->worker_count && run->seconds; i++)
        seconds_begin(&run->seconds[i], clock_now_ns(run->clock));
}

/* A model takes no time of this machine. */
static void look_at_machine(const struct run *run, struct machine_load *out)
{
    if (!run->config.virtual_clock)
        machine_load_look(out);
}

static void go_through(struct run *run, uint64_t start_ns)
{
    uint64_t warm_up_ns = (uint64_t)run->settings->rated_warm_up_ns;
    run_wait_until(run, start_ns + warm_up_ns);
    if (run_stopping(run)) {
        run_wait(run);
    } else {
        seconds_begin_all(run);
        look_at_machine(run, &run->rated_from);
        run_phase_follows(run, PHASE_rated);
        run_wait(run);
        look_at_machine(run, &run->rated_to);
    }
    run_phase_end(run);
}

int run_rated(struct run *run)
{
    const struct profile *profile = profile_rated(run->config.profile);
    if (!profile || run->settings->rated_duration_ns == 0)
        return 0;
    unsigned first = run->actor_count;
    uint64_t start_ns = clock_now_ns(run->clock);
    struct run_load load = {
        .profile = profile, .start_ns = start_ns, .scale = scale_of(run), .rated = true};
    int error = run_actors_of_load(run, &load);
    if (error)
        return error;
    run_phase_begin(run, PHASE_rated_warm_up, 0);
    run->phase_deadline_ns = start_ns + (uint64_t)run->settings->rated_warm_up_ns +
                             (uint64_t)run->settings->rated_duration_ns;
    run->rated_end_ns = run->phase_deadline_ns;
    run_actors_start(run, first);
    go_through(run, start_ns);
    run_actors_free(run, first);
    return 0;
}
