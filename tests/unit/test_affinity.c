/* CPU masks: what they say, and that a thread is bound to them. */
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

static void a_mask_is_written_as_ranges(void **state)
{
    static const struct {
        uint64_t mask;
        const char *text;
    } cases[] = {
        {0, "none"},          {1, "0"},     {0xf, "0-3"},
        {0x8f, "0-3,7"},      {0xa, "1,3"}, {UINT64_C(1) << 63, "63"},
        {UINT64_MAX, "0-63"},
    };
    char text[AFFINITY_TEXT_MAX];
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        affinity_text(cases[i].mask, text, sizeof text);
        assert_string_equal(text, cases[i].text);
    }
}

static void the_longest_text_fits(void **state)
{
    char text[AFFINITY_TEXT_MAX];
    (void)state;
    affinity_text(UINT64_C(0x5555555555555555), text, sizeof text);
    assert_string_equal(text + strlen(text) - 9, ",58,60,62");
}

/* The highest CPU of this process's own mask, so that it is one CPU and not a default. */
static uint64_t last_allowed(void)
{
    uint64_t allowed = affinity_allowed();
    return allowed ? UINT64_C(1) << (63 - __builtin_clzll(allowed)) : 0;
}

static void allowed_is_what_the_kernel_says(void **state)
{
    cpu_set_t set;
    (void)state;
    assert_int_equal(sched_getaffinity(0, sizeof set, &set), 0);
    for (unsigned i = 0; i < 64; i++)
        assert_int_equal(affinity_allowed() >> i & 1, CPU_ISSET(i, &set) ? 1 : 0);
    assert_int_equal(affinity_allowed_count(), CPU_COUNT(&set));
}

struct observer {
    struct task task;
    _Atomic uint64_t seen;
    _Atomic bool done;
};

static enum task_result observe(struct task *task)
{
    struct observer *observer = (struct observer *)task;
    atomic_store(&observer->seen, affinity_allowed());
    atomic_store(&observer->done, true);
    return TASK_DONE;
}

static uint64_t mask_inside_worker(uint64_t cpu_mask)
{
    struct clock clock;
    struct worker worker;
    struct observer observer = {0};
    enum phase phase = 0;
    clock_init_real(&clock);
    struct io_engine_config config = {.clock = &clock, .depth = 1};
    assert_int_equal(worker_init(&worker, 0, &engine_sync, &config, &phase), 0);
    worker.cpu_mask = cpu_mask;
    task_init(&observer.task, &worker, observe);
    task_start(&observer.task);
    assert_int_equal(worker_start(&worker), 0);
    while (!atomic_load(&observer.done))
        usleep(100);
    worker_stop(&worker);
    worker_free(&worker);
    return atomic_load(&observer.seen);
}

static void a_worker_runs_on_the_cpus_of_its_mask(void **state)
{
    (void)state;
    if (affinity_allowed_count() < 2) {
        print_message("SKIP: this process may use one CPU only\n");
        skip();
    }
    assert_int_equal(mask_inside_worker(last_allowed()), last_allowed());
}

static void a_worker_without_a_mask_runs_anywhere(void **state)
{
    (void)state;
    assert_int_equal(mask_inside_worker(0), affinity_allowed());
}

static void no_cpu_of_the_mask_is_an_error(void **state)
{
    (void)state;
    if (affinity_allowed() >> 63) {
        print_message("SKIP: this machine has a CPU 63\n");
        skip();
    }
    assert_int_equal(affinity_pin(UINT64_C(1) << 63), -EINVAL);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_mask_is_written_as_ranges),
        cmocka_unit_test(the_longest_text_fits),
        cmocka_unit_test(allowed_is_what_the_kernel_says),
        cmocka_unit_test(a_worker_runs_on_the_cpus_of_its_mask),
        cmocka_unit_test(a_worker_without_a_mask_runs_anywhere),
        cmocka_unit_test(no_cpu_of_the_mask_is_an_error),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
