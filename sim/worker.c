/*
 * worker.c - turns, timers and wake-ups; see worker.h.
 *
 * State of a task: PARKED -> QUEUED -> RUNNING -> PARKED, with NOTIFIED for a wake-up that arrives
 * while it runs, so that no wake-up is lost between "I must wait" and "I wait".
 */
#include "sim/worker.h"

#include <assert.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "sim/affinity.h"

#define WORKER_STACK_BYTES (1u << 20) /* whatever the shell's limit is (ulimit -s) */

enum task_state { TASK_PARKED, TASK_QUEUED, TASK_RUNNING, TASK_NOTIFIED };

/* The thread that may touch the run queue.  Under a virtual clock and during set-up that is the one
 * thread there is; 0 while a started thread has not yet taken over. */
static uintptr_t thread_self(void)
{
    return (uintptr_t)pthread_self();
}

int worker_init(struct worker *worker, unsigned index, const struct io_engine_ops *engine,
                const struct io_engine_config *config, enum phase *phase)
{
    memset(worker, 0, sizeof *worker);
    worker->index = index;
    worker->clock = config->clock;
    atomic_init(&worker->owner, thread_self());
    struct io_engine *instance;
    int error = engine->create(&instance, config);
    if (error)
        return error;
    pthread_mutex_init(&worker->inbox_lock, NULL);
    io_init(&worker->io, instance, config->clock, &worker->stats, phase);
    return 0;
}

void worker_free(struct worker *worker)
{
    if (!worker->io.engine)
        return;
    assert(!worker->running);
    worker->io.engine->ops->destroy(worker->io.engine);
    worker->io.engine = NULL;
    pthread_mutex_destroy(&worker->inbox_lock);
    free(worker->timers);
    worker->timers = NULL;
}

/* ---- timers: a binary heap; equal times keep their order by serial ---- */

static bool timer_before(const struct task *a, const struct task *b)
{
    if (a->timer_ns != b->timer_ns)
        return a->timer_ns < b->timer_ns;
    return a->timer_serial < b->timer_serial;
}

static void timer_place(struct worker *worker, size_t index, struct task *task)
{
    worker->timers[index] = task;
    task->timer_index = index;
}

static void timer_up(struct worker *worker, size_t index)
{
    struct task *task = worker->timers[index];
    while (index > 0 && timer_before(task, worker->timers[(index - 1) / 2])) {
        timer_place(worker, index, worker->timers[(index - 1) / 2]);
        index = (index - 1) / 2;
    }
    timer_place(worker, index, task);
}

static void timer_down(struct worker *worker, size_t index)
{
    struct task *task = worker->timers[index];
    for (;;) {
        size_t child = 2 * index + 1;
        if (child >= worker->timer_count)
            break;
        if (child + 1 < worker->timer_count &&
            timer_before(worker->timers[child + 1], worker->timers[child]))
            child++;
        if (timer_before(task, worker->timers[child]))
            break;
        timer_place(worker, index, worker->timers[child]);
        index = child;
    }
    timer_place(worker, index, task);
}

static void timer_remove(struct worker *worker, struct task *task)
{
    if (!task->timer_ns)
        return;
    size_t index = task->timer_index;
    struct task *last = worker->timers[--worker->timer_count];
    task->timer_ns = 0;
    if (last == task)
        return;
    timer_place(worker, index, last);
    timer_up(worker, index);
    timer_down(worker, last->timer_index);
}

void task_sleep_until(struct task *task, uint64_t ns)
{
    struct worker *worker = task->worker;
    timer_remove(worker, task);
    assert(worker->timer_count < worker->timer_capacity); /* room for every task: task_init */
    task->timer_ns = ns ? ns : 1;
    task->timer_serial = ++worker->timer_serial;
    timer_place(worker, worker->timer_count++, task);
    timer_up(worker, worker->timer_count - 1);
}

uint64_t worker_next_timer_ns(const struct worker *worker)
{
    uint64_t timer_ns = worker->timer_count ? worker->timers[0]->timer_ns : UINT64_MAX;
    uint64_t start_ns = io_next_start_ns(&worker->io);
    return timer_ns < start_ns ? timer_ns : start_ns;
}

/* ---- queues ---- */

static void run_queue_push(struct worker *worker, struct task *task)
{
    struct task_queue *queue = task->idle ? &worker->idle : &worker->run;
    task->queue_next = NULL;
    if (queue->tail)
        queue->tail->queue_next = task;
    else
        queue->head = task;
    queue->tail = task;
}

static struct task *queue_take(struct task_queue *queue)
{
    struct task *task = queue->head;
    if (!task)
        return NULL;
    queue->head = task->queue_next;
    if (!queue->head)
        queue->tail = NULL;
    return task;
}

static void inbox_push(struct worker *worker, struct task *task)
{
    pthread_mutex_lock(&worker->inbox_lock);
    task->queue_next = NULL;
    if (worker->inbox_tail)
        worker->inbox_tail->queue_next = task;
    else
        __atomic_store_n(&worker->inbox_head, task, __ATOMIC_RELAXED);
    worker->inbox_tail = task;
    pthread_mutex_unlock(&worker->inbox_lock);
    io_wake(&worker->io);
}

static void task_queue(struct task *task)
{
    if (atomic_load(&task->worker->owner) == thread_self())
        run_queue_push(task->worker, task);
    else
        inbox_push(task->worker, task);
}

/* Whoever puts a task in wakes the engine afterwards: one that is not seen yet ends the wait. */
static bool inbox_drain(struct worker *worker)
{
    if (!__atomic_load_n(&worker->inbox_head, __ATOMIC_RELAXED))
        return false;
    pthread_mutex_lock(&worker->inbox_lock);
    struct task *task = worker->inbox_head;
    __atomic_store_n(&worker->inbox_head, NULL, __ATOMIC_RELAXED);
    worker->inbox_tail = NULL;
    pthread_mutex_unlock(&worker->inbox_lock);
    bool any = task != NULL;
    while (task) {
        struct task *next = task->queue_next;
        run_queue_push(worker, task);
        task = next;
    }
    return any;
}

void task_init(struct task *task, struct worker *worker, enum task_result (*step)(struct task *))
{
    memset(task, 0, sizeof *task);
    task->worker = worker;
    task->step = step;
    atomic_init(&task->state, TASK_PARKED);
    if (!worker->timers) {
        worker->timer_capacity = WORKER_TASKS_MAX;
        worker->timers = calloc(worker->timer_capacity, sizeof *worker->timers);
        assert(worker->timers);
    }
}

void task_set_idle(struct task *task)
{
    task->idle = true;
}

void task_start(struct task *task)
{
    task_wake(task);
}

void task_wake(struct task *task)
{
    int state = atomic_load(&task->state);
    for (;;) {
        if (state == TASK_QUEUED || state == TASK_NOTIFIED)
            return;
        int wanted = state == TASK_PARKED ? TASK_QUEUED : TASK_NOTIFIED;
        if (!atomic_compare_exchange_weak(&task->state, &state, wanted))
            continue;
        if (wanted == TASK_QUEUED)
            task_queue(task);
        return;
    }
}

/* A task that was woken by something else may come back to the list it still stands in. */
void wait_list_add(struct wait_list *list, struct task *task)
{
    if (atomic_load(&task->wait_list) == list)
        return;
    assert(!atomic_load(&task->wait_list));
    atomic_store(&task->wait_list, list);
    task->wait_next = NULL;
    if (list->tail)
        list->tail->wait_next = task;
    else
        list->head = task;
    list->tail = task;
}

void wait_list_remove(struct wait_list *list, struct task *task)
{
    struct task *before = NULL;
    if (atomic_load(&task->wait_list) != list)
        return;
    for (struct task *t = list->head; t != task; t = t->wait_next)
        before = t;
    if (before)
        before->wait_next = task->wait_next;
    else
        list->head = task->wait_next;
    if (list->tail == task)
        list->tail = before;
    atomic_store(&task->wait_list, NULL);
}

void wait_list_wake_all(struct wait_list *list)
{
    struct task *task = list->head;
    list->head = list->tail = NULL;
    while (task) {
        struct task *next =
            task->wait_next; /* read first: a woken task may stand in a list again */
        atomic_store(&task->wait_list, NULL);
        task_wake(task);
        task = next;
    }
}

bool wait_list_wake_one(struct wait_list *list)
{
    struct task *task = list->head;
    if (!task)
        return false;
    list->head = task->wait_next;
    if (!list->head)
        list->tail = NULL;
    atomic_store(&task->wait_list, NULL);
    task_wake(task);
    return true;
}

/* ---- turns ---- */

static void task_run(struct worker *worker, struct task *task)
{
    timer_remove(worker, task);
    atomic_store(&task->state, TASK_RUNNING);
    worker->io.issuer = task->name;
    enum task_result result = task->step(task);
    worker->io.issuer = NULL; /* what follows a completion is asked for by nobody */
    if (result == TASK_DONE) {
        timer_remove(worker, task);
        if (task->finished)
            task->finished(task);
        return;
    }
    int running = TASK_RUNNING;
    if (result == TASK_PARK && atomic_compare_exchange_strong(&task->state, &running, TASK_PARKED))
        return;
    atomic_store(&task->state, TASK_QUEUED);
    run_queue_push(worker, task);
}

static bool timers_fire(struct worker *worker)
{
    if (!worker->timer_count)
        return false;
    uint64_t now = clock_now_ns(worker->clock);
    bool any = false;
    while (worker->timer_count && worker->timers[0]->timer_ns <= now) {
        struct task *task = worker->timers[0];
        timer_remove(worker, task);
        task_wake(task);
        any = true;
    }
    return any;
}

static bool run_tasks(struct worker *worker)
{
    struct task *last = worker->run.tail; /* tasks queued from now on have their turn next time */
    bool any = last != NULL;
    struct task *task;
    do {
        task = queue_take(&worker->run);
        if (task)
            task_run(worker, task);
    } while (task && task != last);
    return any;
}

static bool run_idle_task(struct worker *worker)
{
    struct task *task = queue_take(&worker->idle);
    if (task)
        task_run(worker, task);
    return task != NULL;
}

/* Inbox, due timers and queued tasks, without I/O. True if anything ran. */
static bool tasks_step(struct worker *worker)
{
    bool any = inbox_drain(worker);
    any |= timers_fire(worker);
    any |= run_tasks(worker);
    return any;
}

bool worker_step(struct worker *worker)
{
    bool any = tasks_step(worker);
    any |= io_poll(&worker->io, 0, 0) > 0;
    return any || run_idle_task(worker);
}

/* As worker_step(), and where no task is left to run, wait for what makes one: an engine hands over
 * what it was given in the same system call. */
static void worker_round(struct worker *worker)
{
    bool any = tasks_step(worker);
    if (!worker->run.head && !worker->idle.head)
        io_poll(&worker->io, 1, worker_next_timer_ns(worker));
    else if (io_poll(&worker->io, 0, 0) == 0 && !any)
        run_idle_task(worker);
}

static void *worker_main(void *argument)
{
    struct worker *worker = argument;
    /* Checked when the plan was made: a CPU that went offline since leaves the worker anywhere. */
    (void)!affinity_pin(worker->cpus);
    atomic_store(&worker->owner, thread_self());
    while (!atomic_load(&worker->stop))
        worker_round(worker);
    return NULL;
}

uint64_t worker_read_serials(struct worker *worker, unsigned count)
{
    uint64_t first = (uint64_t)(worker->index + 1) << 48 | (worker->read_serial + 1);
    worker->read_serial += count;
    return first;
}

int worker_start(struct worker *worker)
{
    atomic_store(&worker->stop, false);
    atomic_store(&worker->owner, 0);
    pthread_attr_t attr;
    pthread_attr_init(&attr);
    int error = pthread_attr_setstacksize(&attr, WORKER_STACK_BYTES);
    if (!error)
        error = pthread_create(&worker->thread, &attr, worker_main, worker);
    pthread_attr_destroy(&attr);
    if (error) {
        atomic_store(&worker->owner, thread_self());
        return -error;
    }
    worker->running = true;
    return 0;
}

static void worker_joined(struct worker *worker)
{
    atomic_store(&worker->owner, thread_self());
    worker->running = false;
}

void worker_stop(struct worker *worker)
{
    if (!worker->running)
        return;
    atomic_store(&worker->stop, true);
    io_wake(&worker->io);
    pthread_join(worker->thread, NULL);
    worker_joined(worker);
}

bool worker_stop_within(struct worker *worker, unsigned seconds)
{
    if (!worker->running)
        return true;
    struct timespec until;
    clock_gettime(CLOCK_MONOTONIC, &until);
    until.tv_sec += seconds;
    atomic_store(&worker->stop, true);
    io_wake(&worker->io);
    if (pthread_clockjoin_np(worker->thread, NULL, CLOCK_MONOTONIC, &until))
        return false;
    worker_joined(worker);
    return true;
}
