/* Which CPUs a thread may run on: asked for, and bound to. */
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>
#include <errno.h>
#include <pthread.h>
#include <sched.h>
#include <string.h>
#include <stdlib.h>
#include <unistd.h>
#include <cmocka.h>

#include "sim/affinity.h"
#include "sim/worker.h"

extern const struct io_engine_ops engine_sync;

/* The highest CPU of this process's own, so that it is one CPU and not a default. */
static struct cpu_list last_allowed(void)
{
    struct cpu_list allowed = affinity_allowed(), last = {{0}};
    for (unsigned cpu = CPU_LIST_MAX; cpu-- > 0 && cpu_list_is_empty(&last);)
        if (cpu_list_has(&allowed, cpu))
            cpu_list_add(&last, cpu);
    return last;
}

static void assert_same(struct cpu_list a, struct cpu_list b)
{
    assert_memory_equal(&a, &b, sizeof a);
}

static void allowed_is_what_the_kernel_says(void **state)
{
    cpu_set_t set;
    struct cpu_list allowed = affinity_allowed();
    (void)state;
    assert_int_equal(sched_getaffinity(0, sizeof set, &set), 0);
    for (unsigned i = 0; i < CPU_SETSIZE; i++)
        assert_int_equal(cpu_list_has(&allowed, i), CPU_ISSET(i, &set) ? 1 : 0);
    assert_int_equal(cpu_list_count(&allowed), CPU_COUNT(&set));
}

struct observer {
    struct task task;
    struct cpu_list seen;
    _Atomic bool done;
};

static enum task_result observe(struct task *task)
{
    struct observer *observer = (struct observer *)task;
    observer->seen = affinity_allowed();
    atomic_store(&observer->done, true);
    return TASK_DONE;
}

static struct cpu_list cpus_inside_worker(const struct cpu_list *cpus)
{
    struct clock clock;
    struct worker worker;
    struct observer observer = {0};
    enum phase phase = 0;
    clock_init_real(&clock);
    struct io_engine_config config = {.clock = &clock, .depth = 1};
    assert_int_equal(worker_init(&worker, 0, &engine_sync, &config, &phase), 0);
    worker.cpus = cpus;
    task_init(&observer.task, &worker, observe);
    task_start(&observer.task);
    assert_int_equal(worker_start(&worker), 0);
    while (!atomic_load(&observer.done))
        usleep(100);
    worker_stop(&worker);
    worker_free(&worker);
    return observer.seen;
}

static void a_worker_runs_on_the_cpus_of_its_list(void **state)
{
    (void)state;
    struct cpu_list last = last_allowed(), allowed = affinity_allowed();
    if (cpu_list_count(&allowed) < 2) {
        print_message("SKIP: this process may use one CPU only\n");
        skip();
    }
    assert_same(cpus_inside_worker(&last), last);
}

static void a_worker_without_a_list_runs_anywhere(void **state)
{
    (void)state;
    struct cpu_list none = {{0}};
    assert_same(cpus_inside_worker(NULL), affinity_allowed());
    assert_same(cpus_inside_worker(&none), affinity_allowed());
}

static void no_cpu_of_the_list_is_an_error(void **state)
{
    (void)state;
    struct cpu_list beyond = {{0}};
    cpu_list_add(&beyond, CPU_LIST_MAX - 1); /* no machine has as many */
    assert_int_equal(affinity_pin(&beyond), -EINVAL);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(allowed_is_what_the_kernel_says),
        cmocka_unit_test(a_worker_runs_on_the_cpus_of_its_list),
        cmocka_unit_test(a_worker_without_a_list_runs_anywhere),
        cmocka_unit_test(no_cpu_of_the_list_is_an_error),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
