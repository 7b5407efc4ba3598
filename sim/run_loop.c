/* run_loop.c - see run_loop.h. */
#include "sim/run_loop.h"

#include <assert.h>
#include <errno.h>
#include <stdio.h>
#include <time.h>

#include "sim/actor.h"
#include "sim/exit_code.h"
#include "sim/run_watch.h"

#define TICK_NS           (500 * NS_PER_MS) /* progress: at whole multiples since the run began */
#define VIRTUAL_TURNS_MAX 10000 /* rounds of all workers at one moment of a virtual clock */
#define VIRTUAL_TURN_NS   10000 /* what each round takes from then on */
#define WORKER_STOP_S     2     /* for a worker that may hang */

/* ---- tasks of a phase ---- */

void run_task_started(struct run *run, bool user)
{
    atomic_fetch_add(&run->tasks_running, 1);
    if (user)
        atomic_fetch_add(&run->users_running, 1);
}

void run_wake_sleepers(struct run *run)
{
    pthread_mutex_lock(&run->actors_lock);
    for (unsigned i = 0; i < run->actor_count; i++)
        if (atomic_load(&run->actors[i]->sleeping))
            task_wake(&run->actors[i]->task);
    pthread_mutex_unlock(&run->actors_lock);
}

void run_user_serves(struct run *run)
{
    if (atomic_fetch_sub(&run->users_running, 1) == 1)
        run_wake_sleepers(run); /* the services end with the last user */
}

void run_task_ended(struct run *run, bool user)
{
    if (user)
        run_user_serves(run);
    pthread_mutex_lock(&run->idle_lock);
    if (atomic_fetch_sub(&run->tasks_running, 1) == 1)
        pthread_cond_signal(&run->idle);
    pthread_mutex_unlock(&run->idle_lock);
}

void run_came_through(struct run *run)
{
    pthread_mutex_lock(&run->idle_lock);
    if (atomic_fetch_sub(&run->awaited, 1) == 1)
        pthread_cond_signal(&run->idle);
    pthread_mutex_unlock(&run->idle_lock);
}

/* ---- stopping ---- */

void run_stop(struct run *run, enum run_stop why)
{
    int going = RUN_GOING;
    if (!atomic_compare_exchange_strong(&run->stop, &going, why))
        return;
    run_wake_sleepers(run);
}

bool run_interrupted(const struct run *run)
{
    return run->config.signal && atomic_load(run->config.signal);
}

static void look_at_signal(struct run *run)
{
    if (run_interrupted(run))
        run_stop(run, RUN_STOP_SIGNAL);
}

/* ---- progress ---- */

static void progress(struct run *run)
{
    if (run->config.progress)
        run->config.progress(run->config.context, run);
}

static void tick(struct run *run)
{
    uint64_t now = clock_now_ns(run->clock), start = run->phases[PHASE_create].start_ns;
    look_at_signal(run);
    run_watch_tick(run);
    if (now < run->tick_ns)
        return;
    run->tick_ns = now + TICK_NS - (now + 1 - start) % TICK_NS; /* start_ns is 1 too high */
    progress(run);
}

bool run_io_waits(void *context)
{
    struct run *run = context;
    tick(run);
    return run->stuck;
}

void run_step(struct run *run, const char *what, uint64_t total)
{
    run->step = what;
    atomic_store(&run->progress_done, 0);
    atomic_store(&run->progress_total, total);
    tick(run);
}

void run_step_done(struct run *run, uint64_t units)
{
    atomic_fetch_add(&run->progress_done, units);
    tick(run);
}

/* ---- waiting ---- */

static bool all_ended(struct run *run)
{
    return atomic_load(&run->tasks_running) == 0;
}

/* Nothing more to wait for.  Between slots the services would never end. */
static bool is_over(struct run *run)
{
    bool through = run->awaits && atomic_load(&run->awaited) == 0;
    return all_ended(run) || run->stuck || (run->held && run_stopping(run)) || through;
}

/* The run clock is CLOCK_MONOTONIC here. */
static void wait_threads(struct run *run, uint64_t until_ns)
{
    pthread_mutex_lock(&run->idle_lock);
    while (!is_over(run)) {
        uint64_t now = clock_now_ns(run->clock);
        if (now >= until_ns)
            break;
        uint64_t ns = run->tick_ns > now ? run->tick_ns : now + TICK_NS;
        ns = ns < until_ns ? ns : until_ns;
        struct timespec until = {.tv_sec = (time_t)(ns / NS_PER_S),
                                 .tv_nsec = (long)(ns % NS_PER_S)};
        pthread_cond_timedwait(&run->idle, &run->idle_lock, &until);
        pthread_mutex_unlock(&run->idle_lock);
        tick(run);
        pthread_mutex_lock(&run->idle_lock);
    }
    pthread_mutex_unlock(&run->idle_lock);
}

/* Nobody can run: let the time pass to the next completion or timer. */
static void virtual_advance(struct run *run, uint64_t until_ns)
{
    uint64_t timer = until_ns;
    unsigned pending = 0, polled = 0;
    for (unsigned i = 0; i < run->worker_count; i++) {
        uint64_t next = worker_next_timer_ns(&run->workers[i]);
        timer = next < timer ? next : timer;
        pending += run->workers[i].io.pending;
        if (run->workers[i].io.pending)
            polled = i;
    }
    assert(pending || timer != UINT64_MAX); /* else the simulation is stuck: a lost wake-up */
    run->virtual_thread = pending ? polled + 1 : 0;
    timer = run->watch_next_ns < timer ? run->watch_next_ns : timer;
    if (pending)
        io_poll(&run->workers[polled].io, 1, timer);
    else
        clock_advance_to(run->clock, timer);
}

/* Users that find everything in memory and never sleep would stop the clock: turns take time, too.
 */
static void turns_take_time(struct run *run, unsigned *turns, uint64_t *since_ns)
{
    uint64_t now = clock_now_ns(run->clock);
    *turns = now == *since_ns ? *turns + 1 : 0;
    *since_ns = now;
    if (*turns < VIRTUAL_TURNS_MAX)
        return;
    *since_ns = now + VIRTUAL_TURN_NS;
    clock_advance_to(run->clock, *since_ns);
}

static void wait_virtual(struct run *run, uint64_t until_ns)
{
    unsigned turns = 0;
    uint64_t since_ns = 0;
    while (!is_over(run) && clock_now_ns(run->clock) < until_ns) {
        bool any = false;
        turns_take_time(run, &turns, &since_ns);
        for (unsigned i = 0; i < run->worker_count; i++) {
            run->virtual_thread = i + 1;
            any |= worker_step(&run->workers[i]);
        }
        if (!any && !is_over(run))
            virtual_advance(run, until_ns);
        run->virtual_thread = 0;
        tick(run);
    }
}

bool run_wait_until(struct run *run, uint64_t ns)
{
    if (run->config.virtual_clock)
        wait_virtual(run, ns);
    else
        wait_threads(run, ns);
    return all_ended(run);
}

bool run_wait_through(struct run *run, uint64_t least_ns, uint64_t ns)
{
    run_wait_until(run, least_ns);
    run->awaits = true;
    run_wait_until(run, ns);
    run->awaits = false;
    return atomic_load(&run->awaited) == 0;
}

void run_wait(struct run *run)
{
    run_wait_until(run, UINT64_MAX);
    run_watch_look(run);
}

/* ---- workers and phases ---- */

int run_workers_start(struct run *run)
{
    for (unsigned i = 0; i < run->worker_count && !run->config.virtual_clock; i++) {
        int error = worker_start(&run->workers[i]);
        if (error) {
            run_workers_stop(run);
            snprintf(run->message, sizeof run->message,
                     "cannot start worker %u of %u: the system's limit of threads is reached "
                     "(ulimit -u, pids.max); set CPUCount lower",
                     i + 1, run->worker_count);
            run->exit_code = EXIT_CODE_INCOMPLETE;
            return error;
        }
    }
    return 0;
}

void run_workers_stop(struct run *run)
{
    for (unsigned i = 0; i < run->worker_count; i++) {
        if (run->stuck) /* it may hang inside the system */
            worker_stop_within(&run->workers[i], WORKER_STOP_S);
        else
            worker_stop(&run->workers[i]);
    }
}

/* SQLIOSim's rule: bursts in the initial update with its checkpoint, and in the final checkpoint.
 */
static bool is_throttled(const struct run *run, enum phase phase)
{
    bool burst = phase == PHASE_initial_update || phase == PHASE_final_checkpoint;
    return phase == PHASE_stress || phase == PHASE_audit ||
           (burst && !run->settings->allow_io_bursts);
}

static void phase_enter(struct run *run, enum phase phase, uint64_t total_pages)
{
    io_gate_throttle(&run->gate, is_throttled(run, phase));
    __atomic_store_n(&run->phase, phase, __ATOMIC_RELAXED); /* the log writer reads it: io.c */
    struct run_phase_time *time = &run->phases[phase];
    if (time->end_ns) /* a further cycle */
        time->earlier_ns += time->end_ns - time->start_ns;
    time->start_ns = clock_now_ns(run->clock) + 1; /* 0 = not begun */
    time->end_ns = 0;
    time->complete = false;
    run->step = NULL;
    atomic_store(&run->progress_done, 0);
    atomic_store(&run->progress_total, total_pages);
    run_log(run, "System", EVENT_HERE, "Phase begins: %s", phase_text(phase));
}

void run_phase_begin(struct run *run, enum phase phase, uint64_t total_pages)
{
    phase_enter(run, phase, total_pages);
    run->phase_deadline_ns = UINT64_MAX;
    progress(run);
}

void run_phase_follows(struct run *run, enum phase phase)
{
    run_phase_end(run);
    phase_enter(run, phase, 0);
    progress(run);
}

void run_phase_end(struct run *run)
{
    struct run_phase_time *time = &run->phases[run->phase];
    time->end_ns = clock_now_ns(run->clock) + 1;
    time->complete = !run_stopping(run);
    run_log(run, "System", EVENT_HERE, "Phase %s after %.1f s: %s",
            time->complete ? "complete" : "ended early",
            (double)(time->end_ns - time->start_ns) / (double)NS_PER_S, phase_text(run->phase));
    progress(run);
}
