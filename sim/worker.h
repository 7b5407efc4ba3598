/*
 * worker.h - a worker: one thread, one engine, the tasks that take turns on it.
 *
 * A task is a resumable state machine: its step() runs until it must wait, and says why it stops. A
 * task never blocks its thread.  Whoever fulfils what a parked task waits for calls task_wake(),
 * from any thread; the task is then queued on its own worker.  Wake-ups may be spurious: a task
 * looks at its condition again.
 *
 * An idle task (task_set_idle) has a turn only when a round found nothing else to do: no task, no
 * timer, no completion.  One turn a round, so it delays others by no more than that turn.
 *
 * worker_step() does one round and can be called by tests and by the virtual run loop, which drives
 * all workers in one thread under a virtual clock: same seed, same run.
 *
 * Threads: everything but task_wake() and worker_stop() belongs to the worker's thread (or to the
 * thread that sets up while no worker runs).
 */
#ifndef SIM_WORKER_H
#define SIM_WORKER_H

#include <pthread.h>
#include <stdatomic.h>

#include "sim/io.h"

struct cpu_list;
struct worker;
struct task;
struct wait_list;

enum task_result {
    TASK_AGAIN, /* give the turn away, run again */
    TASK_PARK,  /* wait for task_wake */
    TASK_DONE,
};

struct task {
    enum task_result (*step)(struct task *task);
    void (*finished)(struct task *task); /* after TASK_DONE, may free the task; may be NULL */
    struct worker *worker;
    const char *name;        /* for the trace of its requests; NULL: none */
    _Atomic int state;       /* private: enum task_state in worker.c */
    bool idle;               /* only when nothing else is to be done */
    struct task *queue_next; /* run queue or inbox */
    struct task *wait_next;  /* in the one waiter list it stands in */
    _Atomic(struct wait_list *) wait_list;
    uint64_t timer_ns;  /* 0 = none */
    size_t timer_index; /* in the worker's heap */
    uint64_t timer_serial;
};

/* A list of parked tasks, protected by the lock of what they wait for. */
struct wait_list {
    struct task *head, *tail;
};

#define WORKER_MAX          1024 /* CPUCount */
#define WORKERS_UNASKED_MAX 64   /* SQLIOSim's limit of logical CPUs */
#define WORKER_TASKS_MAX    65536

struct task_queue {
    struct task *head, *tail;
};

struct worker {
    unsigned index;
    struct io io;
    struct clock *clock;
    struct stats stats;
    _Atomic uintptr_t owner;     /* thread that may touch the run queue and timers */
    struct task_queue run, idle; /* idle: of idle tasks */
    pthread_mutex_t inbox_lock;
    struct task *inbox_head, *inbox_tail; /* woken by other threads, in order */
    struct task **timers;                 /* heap by (timer_ns, timer_serial) */
    size_t timer_count, timer_capacity;
    uint64_t timer_serial;
    uint64_t read_serial;        /* of the poison of its tasks' reads */
    const struct cpu_list *cpus; /* of its thread, set before worker_start; NULL = any */
    _Atomic bool stop;
    pthread_t thread;
    bool running;
};

int worker_init(struct worker *worker, unsigned index, const struct io_engine_ops *engine,
                const struct io_engine_config *config, enum phase *phase)
    __attribute__((warn_unused_result));
void worker_free(struct worker *worker);
/* The first of so many numbers for poison_fill() that no other read of the run has. */
uint64_t worker_read_serials(struct worker *worker, unsigned count);
int worker_start(struct worker *worker) __attribute__((warn_unused_result)); /* its thread */
void worker_stop(struct worker *worker); /* ends and joins the thread */

/* The same; false if it did not end in that time.  It then goes on running and must be left alone.
 */
bool worker_stop_within(struct worker *worker, unsigned seconds);

/* One round without waiting: inbox, due timers, queued tasks, completions. True if anything ran. */
bool worker_step(struct worker *worker);
/* Of a task, or of a request that a limit holds back; UINT64_MAX = none. */
uint64_t worker_next_timer_ns(const struct worker *worker);

void task_init(struct task *task, struct worker *worker, enum task_result (*step)(struct task *));
void task_set_idle(struct task *task); /* before task_start */
void task_start(struct task *task);    /* queue it for the first time (any thread) */
void task_wake(struct task *task);     /* any thread */
/* Wake me at ns at the latest; the task then returns TASK_PARK. */
void task_sleep_until(struct task *task, uint64_t ns);
void wait_list_add(struct wait_list *list, struct task *task);
/* No effect when it does not stand in this list. */
void wait_list_remove(struct wait_list *list, struct task *task);
void wait_list_wake_all(struct wait_list *list);
/* The first of them; false if there is none. */
bool wait_list_wake_one(struct wait_list *list);

#endif
