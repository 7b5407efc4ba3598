/* host_pulse.c - see host_pulse.h. */
#include "sim/host_pulse.h"

#include <errno.h>
#include <signal.h>
#include <string.h>
#include <time.h>

#define SECOND_NS 1000000000ull
#define STEP_NS   10000000
#define STEPS     100

static uint64_t now_ns(void)
{
    struct timespec ts;
    clock_gettime(CLOCK_MONOTONIC, &ts);
    return (uint64_t)ts.tv_sec * SECOND_NS + (uint64_t)ts.tv_nsec;
}

static void beat(struct host_pulse *pulse)
{
    uint64_t due = atomic_load(&pulse->due_ns), now = now_ns();
    if (now >= due + HOST_PAUSE_NS_MIN && pulse->count < HOST_PULSE_PAUSES_MAX)
        pulse->pauses[pulse->count++] = (struct host_pause){due, now - due};
    atomic_store(&pulse->due_ns, now + HOST_PULSE_NS);
}

static void *sleeper(void *context)
{
    struct host_pulse *pulse = context;
    pthread_mutex_lock(&pulse->lock);
    while (!pulse->stop) {
        uint64_t due = atomic_load(&pulse->due_ns);
        const struct timespec until = {.tv_sec = (time_t)(due / SECOND_NS),
                                       .tv_nsec = (long)(due % SECOND_NS)};
        if (now_ns() < due)
            pthread_cond_timedwait(&pulse->ended, &pulse->lock, &until);
        if (now_ns() >= due)
            beat(pulse);
    }
    pthread_mutex_unlock(&pulse->lock);
    return NULL;
}

int host_pulse_start(struct host_pulse *pulse)
{
    pthread_condattr_t attributes;
    sigset_t all, before;
    memset(pulse, 0, sizeof *pulse);
    pthread_mutex_init(&pulse->lock, NULL);
    pthread_condattr_init(&attributes);
    pthread_condattr_setclock(&attributes, CLOCK_MONOTONIC);
    pthread_cond_init(&pulse->ended, &attributes);
    pthread_condattr_destroy(&attributes);
    atomic_store(&pulse->due_ns, now_ns() + HOST_PULSE_NS);
    sigfillset(&all); /* signals are the coordinator's */
    pthread_sigmask(SIG_SETMASK, &all, &before);
    int error = pthread_create(&pulse->thread, NULL, sleeper, pulse);
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    pulse->running = !error;
    return -error;
}

void host_pulse_stop(struct host_pulse *pulse)
{
    if (!pulse->running)
        return;
    pthread_mutex_lock(&pulse->lock);
    pulse->stop = true;
    pthread_cond_signal(&pulse->ended);
    pthread_mutex_unlock(&pulse->lock);
    pthread_join(pulse->thread, NULL);
    pthread_cond_destroy(&pulse->ended);
    pthread_mutex_destroy(&pulse->lock);
    pulse->running = false;
}

static bool is_overdue(struct host_pulse *pulse)
{
    return now_ns() >= atomic_load(&pulse->due_ns) + HOST_PAUSE_NS_MIN;
}

bool host_pulse_take(struct host_pulse *pulse, struct host_pause *out)
{
    static const struct timespec step = {.tv_nsec = STEP_NS};
    bool any;
    if (!pulse->running)
        return false;
    for (unsigned i = 0; i < STEPS && is_overdue(pulse); i++)
        nanosleep(&step, NULL);
    pthread_mutex_lock(&pulse->lock);
    any = pulse->count > 0;
    if (any) {
        *out = pulse->pauses[0];
        pulse->count--;
        memmove(&pulse->pauses[0], &pulse->pauses[1], pulse->count * sizeof pulse->pauses[0]);
    }
    pthread_mutex_unlock(&pulse->lock);
    return any;
}
