/*
 * host_pulse.h - did this machine stand still?  A thread that does nothing but sleep for a quarter
 * of a second, again and again: when it wakes up far too late, nothing of this process ran (stopped
 * by a signal, a machine that was halted or far too busy), and requests of that time are not slow.
 *
 * Threads: start and stop by the owner; take by one thread.  Units: ns of CLOCK_MONOTONIC.
 */
#ifndef SIM_HOST_PULSE_H
#define SIM_HOST_PULSE_H

#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

/* Well above what a busy scheduler takes. */
#define HOST_PAUSE_NS_MIN     2000000000ull
#define HOST_PULSE_NS         250000000ull
#define HOST_PULSE_PAUSES_MAX 64

struct host_pause {
    uint64_t from_ns, length_ns;
};

struct host_pulse {
    pthread_t thread;
    pthread_mutex_t lock;
    pthread_cond_t ended;
    bool running, stop;
    _Atomic uint64_t due_ns;                         /* of the next beat */
    struct host_pause pauses[HOST_PULSE_PAUSES_MAX]; /* not taken yet; more at once are dropped */
    unsigned count;
};

/* All zero is a pulse that was not started. */
int host_pulse_start(struct host_pulse *pulse) __attribute__((warn_unused_result));
void host_pulse_stop(struct host_pulse *pulse);
/* The next pause that ended.  When the beat is overdue now, it is waited for, a second at most:
 * whoever asks may have run before it. */
bool host_pulse_take(struct host_pulse *pulse, struct host_pause *out);

#endif
