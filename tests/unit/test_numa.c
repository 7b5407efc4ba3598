/* NUMA nodes: read from a made-up /sys, kept, dealt to workers, told. */
#include <errno.h>
#include <sys/mman.h>

#include "sim/numa.h"
#include "tests/unit/fake_root.h"

static void node(const struct fake_root *root, unsigned id, const char *cpus)
{
    char name[64], text[64];
    snprintf(name, sizeof name, "node/node%u/cpulist", id);
    snprintf(text, sizeof text, "%s\n", cpus);
    fake_put(root, name, text);
}

static void look(struct numa *numa, const struct fake_root *root)
{
    char folder[128];
    snprintf(folder, sizeof folder, "%s/node", root->path);
    memset(numa, 0xee, sizeof *numa);
    numa_look(numa, folder);
}

static struct cpu_list cpus_of(const char *ranges)
{
    struct cpu_list out;
    assert_int_equal(cpu_list_parse_ranges(ranges, &out), 0);
    return out;
}

static void assert_cpus(const struct numa_node *node, const char *ranges)
{
    struct cpu_list wanted = cpus_of(ranges);
    assert_memory_equal(&node->cpus, &wanted, sizeof wanted);
}

static const struct cpu_list any;

/* Node 1 is memory without CPUs, node 3 was taken out, node 0 is written as a number. */
static void nodes_with_cpus_are_read(void **state)
{
    struct fake_root *root = *state;
    struct numa numa;
    fake_put(root, "node/online", "0-2,8\n");
    node(root, 0, "0");
    node(root, 1, "");
    node(root, 2, "64-127,192-255");
    node(root, 3, "4-7");
    node(root, 8, "1-3");
    look(&numa, root);
    assert_int_equal(numa.count, 3);
    assert_int_equal(numa.nodes[0].id, 0);
    assert_cpus(&numa.nodes[0], "0");
    assert_int_equal(numa.nodes[1].id, 2);
    assert_cpus(&numa.nodes[1], "64-127,192-255");
    assert_int_equal(numa.nodes[2].id, 8);
    assert_cpus(&numa.nodes[2], "1-3");
}

static void a_system_that_tells_nothing_has_no_nodes(void **state)
{
    struct fake_root *root = *state;
    struct numa numa;
    look(&numa, root);
    assert_int_equal(numa.count, 0);
    fake_put(root, "node/online", "nonsense\n");
    look(&numa, root);
    assert_int_equal(numa.count, 0);
}

static void more_nodes_than_we_know_are_left_to_the_system(void **state)
{
    struct fake_root *root = *state;
    struct numa numa;
    fake_put(root, "node/online", "0-64\n");
    fake_do(root,
            "for i in $(seq 0 64); do mkdir -p node/node$i; echo $i >node/node$i/cpulist; done");
    look(&numa, root);
    assert_int_equal(numa.count, 0);
    fake_put(root, "node/online", "0-63\n");
    look(&numa, root);
    assert_int_equal(numa.count, NUMA_NODES_MAX);
}

static void two_nodes(struct numa *numa)
{
    memset(numa, 0, sizeof *numa);
    numa->count = 2;
    numa->nodes[0] = (struct numa_node){.id = 0, .cpus = cpus_of("0-3")};
    numa->nodes[1] = (struct numa_node){.id = 1, .cpus = cpus_of("4-7")};
}

static void one_node_is_nothing_to_do(void **state)
{
    struct cpu_list second = cpus_of("4-6");
    struct numa numa;
    (void)state;
    two_nodes(&numa);
    numa.count = 1;
    numa_keep(&numa, &any, 8);
    assert_int_equal(numa.count, 0);
    two_nodes(&numa);
    numa_keep(&numa, &second, 8); /* taskset, or Affinity */
    assert_int_equal(numa.count, 0);
    two_nodes(&numa);
    numa_keep(&numa, &any, 1); /* one worker runs where it likes */
    assert_int_equal(numa.count, 0);
}

static void only_the_cpus_allowed_are_kept(void **state)
{
    struct cpu_list allowed = cpus_of("1,3-4,200");
    struct numa numa;
    (void)state;
    two_nodes(&numa);
    numa_keep(&numa, &allowed, 8);
    assert_int_equal(numa.count, 2);
    assert_cpus(&numa.nodes[0], "1,3");
    assert_cpus(&numa.nodes[1], "4");
    two_nodes(&numa);
    numa_keep(&numa, &any, 2);
    assert_int_equal(numa.count, 2);
    assert_cpus(&numa.nodes[1], "4-7");
}

static void workers_are_spread_evenly(void **state)
{
    unsigned dealt[NUMA_NODES_MAX] = {0};
    struct numa numa;
    (void)state;
    two_nodes(&numa);
    for (unsigned i = 0; i < 7; i++)
        assert_int_equal(numa_deal(&numa, dealt), i % 2);
    assert_int_equal(dealt[0], 4);
    assert_int_equal(dealt[1], 3);
}

/* CPU 0 alone beside four: one worker in five. */
static void a_node_with_fewer_cpus_gets_fewer_workers(void **state)
{
    unsigned dealt[NUMA_NODES_MAX] = {0};
    struct numa numa;
    (void)state;
    two_nodes(&numa);
    numa.nodes[0].cpus = cpus_of("0");
    for (unsigned i = 0; i < 10; i++)
        numa_deal(&numa, dealt);
    assert_int_equal(dealt[0], 2);
    assert_int_equal(dealt[1], 8);
}

static void what_is_done_is_told(void **state)
{
    unsigned dealt[NUMA_NODES_MAX] = {4, 3};
    char text[NUMA_TEXT_MAX];
    struct numa numa;
    (void)state;
    two_nodes(&numa);
    numa.nodes[1].id = 7;
    numa_text(&numa, dealt, text);
    assert_string_equal(text, "2 nodes, 4 workers on CPU 0-3 (node 0), 3 on CPU 4-7 (node 7)");
    numa.count = NUMA_NODES_MAX;
    for (unsigned i = 0; i < NUMA_NODES_MAX; i++)
        numa.nodes[i].cpus = cpus_of("0,2,4,6,8,10,12,14,16,18,20,22,24,26,28,30,32,34,36,38,40");
    numa_text(&numa, dealt, text);
    assert_string_equal(text + strlen(text) - strlen(", ..."), ", ...");
}

/* Node 0 exists wherever there is memory; a node 1023 nowhere that tests run. */
static void memory_is_preferred_from_a_node_that_exists(void **state)
{
    size_t bytes = 1 << 16;
    void *memory = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    (void)state;
    assert_true(memory != MAP_FAILED);
    int error = numa_prefer(memory, bytes, 0);
    if (error == -ENOSYS || error == -EPERM) {
        munmap(memory, bytes);
        print_message("SKIP: no mbind here: %s\n", strerror(-error));
        skip();
    }
    assert_int_equal(error, 0);
    memset(memory, 1, bytes);
    assert_int_equal(numa_prefer(memory, bytes, 1023), -EINVAL);
    assert_int_equal(numa_prefer(memory, bytes, 1024), -EINVAL);
    munmap(memory, bytes);
}

static void here_is_one_of_the_nodes(void **state)
{
    struct numa numa;
    (void)state;
    two_nodes(&numa);
    numa.nodes[1].id = 0; /* where a machine of one node runs */
    numa.nodes[0].id = 1;
    assert_true(numa_here(&numa) < 2);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        IN_FAKE_ROOT(nodes_with_cpus_are_read),
        IN_FAKE_ROOT(a_system_that_tells_nothing_has_no_nodes),
        IN_FAKE_ROOT(more_nodes_than_we_know_are_left_to_the_system),
        cmocka_unit_test(one_node_is_nothing_to_do),
        cmocka_unit_test(only_the_cpus_allowed_are_kept),
        cmocka_unit_test(workers_are_spread_evenly),
        cmocka_unit_test(a_node_with_fewer_cpus_gets_fewer_workers),
        cmocka_unit_test(what_is_done_is_told),
        cmocka_unit_test(memory_is_preferred_from_a_node_that_exists),
        cmocka_unit_test(here_is_one_of_the_nodes),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
