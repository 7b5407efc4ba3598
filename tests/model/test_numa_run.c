/* A run on a machine with two NUMA nodes, which are made up: CPU by CPU, memory of node 0. */
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>
#include <stdio.h>
#include <string.h>
#include <cmocka.h>

#include "sim/affinity.h"
#include "tests/sim_fixture.h"

static void keep_text(void *context, const struct event *event)
{
    if (strncmp(event->text, "NUMA: ", strlen("NUMA: ")) == 0)
        snprintf(context, EVENT_TEXT_MAX, "%s", event->text);
}

/* The first and the last CPU that there is: the same one where there is only one. */
static void two_nodes(struct numa *numa)
{
    struct cpu_list allowed = affinity_allowed();
    unsigned first = 0, last = CPU_LIST_MAX - 1;
    while (!cpu_list_has(&allowed, first))
        first++;
    while (!cpu_list_has(&allowed, last))
        last--;
    memset(numa, 0, sizeof *numa);
    numa->count = 2;
    cpu_list_add(&numa->nodes[0].cpus, first);
    cpu_list_add(&numa->nodes[1].cpus, last);
}

static void workers_and_pool_are_spread_and_that_is_told(void **state)
{
    char text[EVENT_TEXT_MAX] = "";
    struct sim_options options = {.real_clock = true,
                                  .workers = 3,
                                  .duration_ns = NS_PER_S,
                                  .event = keep_text,
                                  .context = text};
    struct sim sim;
    (void)state;
    sim_begin(&sim, &options);
    two_nodes(&sim.plan.numa);
    sim_create(&sim);
    assert_int_equal(sim.result, 0);
    const struct numa *numa = &sim.plan.numa;
    for (unsigned i = 0; i < 3; i++)
        assert_ptr_equal(sim.run->workers[i].cpus, &numa->nodes[i % 2].cpus);
    assert_non_null(strstr(text, "NUMA: 2 nodes, 2 workers on CPU "));
    assert_non_null(strstr(text, " (node 0), 1 on CPU "));
    /* where mbind is forbidden (a container), that is said */
    if (sim.run->pool.numa)
        assert_non_null(strstr(text, "the buffer pool lies on them in equal parts"));
    else
        assert_non_null(strstr(text, "left to the system (mbind: "));
    assert_int_equal(run_execute(sim.run), 0);
    assert_int_equal(findings_count(&sim.run->findings, SEVERITY_INTEGRITY), 0);
    assert_int_equal(findings_count(&sim.run->findings, SEVERITY_IO_ERROR), 0);
    sim_end(&sim);
}

static void run_once(bool nodes, char text[EVENT_TEXT_MAX], struct stats *out)
{
    struct sim_options options = {
        .seed = 7, .duration_ns = NS_PER_S, .event = keep_text, .context = text};
    struct sim sim;
    sim_begin(&sim, &options);
    if (nodes)
        two_nodes(&sim.plan.numa);
    sim_run(&sim);
    assert_int_equal(sim.result, 0);
    assert_null(sim.run->pool.numa);
    run_stats(sim.run, out);
    sim_end(&sim);
}

/* Same seed, same run, whatever the machine. */
static void under_the_virtual_clock_nodes_make_no_difference(void **state)
{
    static struct stats without, with; /* lint: mutable: large */
    char text[EVENT_TEXT_MAX] = "";
    (void)state;
    run_once(false, text, &without);
    run_once(true, text, &with);
    assert_string_equal(text, "");
    assert_memory_equal(&with, &without, sizeof with);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(workers_and_pool_are_spread_and_that_is_told),
        cmocka_unit_test(under_the_virtual_clock_nodes_make_no_difference),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
