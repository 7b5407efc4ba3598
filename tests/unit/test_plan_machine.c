/* test_plan_machine.c - memory under cgroup limits, from files as the kernel writes them. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "sim/plan.h"

#define ROOT_MAX 4096

static void make_parents(char *path)
{
    for (char *slash = strchr(path + 1, '/'); slash; slash = strchr(slash + 1, '/')) {
        *slash = '\0';
        if (mkdir(path, 0700) != 0)
            assert_int_equal(errno, EEXIST);
        *slash = '/';
    }
}

static void write_file(const char *root, const char *name, const char *text)
{
    char path[ROOT_MAX];
    snprintf(path, sizeof path, "%s%s", root, name);
    make_parents(path);
    FILE *file = fopen(path, "w");
    assert_non_null(file);
    fputs(text, file);
    fclose(file);
}

static int make_root(void **state)
{
    char *root = strdup("/tmp/pagestorm-machine-XXXXXX");
    assert_non_null(root);
    assert_non_null(mkdtemp(root));
    write_file(root, "/proc/meminfo",
               "MemTotal:       16000000 kB\nMemFree:         1000000 kB\n"
               "MemAvailable:    8000000 kB\nBuffers:          10000 kB\n");
    *state = root;
    return 0;
}

static int remove_root(void **state)
{
    char command[ROOT_MAX];
    snprintf(command, sizeof command, "rm -rf '%s'", (char *)*state);
    assert_int_equal(system(command), 0);
    free(*state);
    return 0;
}

static void without_a_limit_it_is_mem_available(void **state)
{
    write_file(*state, "/proc/self/cgroup", "0::/\n");
    assert_int_equal(plan_memory_available(*state), 8000000ull * 1024);
}

static void version_2_limit_less_its_use(void **state)
{
    write_file(*state, "/proc/self/cgroup", "0::/a\n");
    write_file(*state, "/sys/fs/cgroup/a/memory.max", "1000000000\n");
    write_file(*state, "/sys/fs/cgroup/a/memory.current", "300000000\n");
    assert_int_equal(plan_memory_available(*state), 700000000);
}

/* 300 of which 200 are page cache that can go: 100 are really used. */
static void version_2_page_cache_can_be_given_back(void **state)
{
    write_file(*state, "/proc/self/cgroup", "0::/a\n");
    write_file(*state, "/sys/fs/cgroup/a/memory.max", "1000000000\n");
    write_file(*state, "/sys/fs/cgroup/a/memory.current", "300000000\n");
    write_file(*state, "/sys/fs/cgroup/a/memory.stat",
               "anon 90000000\nactive_file 5\ninactive_file 200000000\n");
    assert_int_equal(plan_memory_available(*state), 900000000);
}

static void version_2_max_is_no_limit(void **state)
{
    write_file(*state, "/proc/self/cgroup", "0::/a\n");
    write_file(*state, "/sys/fs/cgroup/a/memory.max", "max\n");
    assert_int_equal(plan_memory_available(*state), 8000000ull * 1024);
}

static void version_2_parents_limit_too(void **state)
{
    write_file(*state, "/proc/self/cgroup", "0::/a/b/c\n");
    write_file(*state, "/sys/fs/cgroup/a/memory.max", "500000000\n");
    write_file(*state, "/sys/fs/cgroup/a/memory.current", "0\n");
    write_file(*state, "/sys/fs/cgroup/a/b/c/memory.max", "max\n");
    assert_int_equal(plan_memory_available(*state), 500000000);
}

static void version_2_limit_of_a_namespace_root(void **state)
{
    write_file(*state, "/proc/self/cgroup", "0::/\n");
    write_file(*state, "/sys/fs/cgroup/memory.max", "400000000\n");
    write_file(*state, "/sys/fs/cgroup/memory.current", "0\n");
    assert_int_equal(plan_memory_available(*state), 400000000);
}

static void version_1_limit(void **state)
{
    write_file(*state, "/proc/self/cgroup", "5:cpu,cpuacct:/x\n4:memory:/x\n");
    write_file(*state, "/sys/fs/cgroup/memory/x/memory.limit_in_bytes", "600000000\n");
    write_file(*state, "/sys/fs/cgroup/memory/x/memory.usage_in_bytes", "200000000\n");
    write_file(*state, "/sys/fs/cgroup/memory/x/memory.stat", "total_inactive_file 50000000\n");
    assert_int_equal(plan_memory_available(*state), 450000000);
}

/* Version 1 writes this number for "no limit". */
static void version_1_no_limit(void **state)
{
    write_file(*state, "/proc/self/cgroup", "4:memory:/\n");
    write_file(*state, "/sys/fs/cgroup/memory/memory.limit_in_bytes", "9223372036854771712\n");
    assert_int_equal(plan_memory_available(*state), 8000000ull * 1024);
}

static void more_used_than_the_limit_leaves_nothing(void **state)
{
    write_file(*state, "/proc/self/cgroup", "0::/a\n");
    write_file(*state, "/sys/fs/cgroup/a/memory.max", "100\n");
    write_file(*state, "/sys/fs/cgroup/a/memory.current", "200\n");
    assert_int_equal(plan_memory_available(*state), 0);
}

static void this_machine_has_a_cpu_and_memory(void **state)
{
    struct plan_machine machine;
    struct plan_space space;
    (void)state;
    plan_look_at_machine(&machine);
    assert_true(machine.cpus >= 1);
    assert_int_equal(machine.space(machine.context, "/", &space), 0);
    assert_true(space.total_bytes >= space.available_bytes);
    assert_int_equal(machine.space(machine.context, "/no/such/directory", &space), -ENOENT);
    assert_int_equal(machine.reusable_bytes(machine.context, "/etc/passwd"), 0);
}

#define ROOTED(test) cmocka_unit_test_setup_teardown(test, make_root, remove_root)

int main(void)
{
    const struct CMUnitTest tests[] = {
        ROOTED(without_a_limit_it_is_mem_available),
        ROOTED(version_2_limit_less_its_use),
        ROOTED(version_2_page_cache_can_be_given_back),
        ROOTED(version_2_max_is_no_limit),
        ROOTED(version_2_parents_limit_too),
        ROOTED(version_2_limit_of_a_namespace_root),
        ROOTED(version_1_limit),
        ROOTED(version_1_no_limit),
        ROOTED(more_used_than_the_limit_leaves_nothing),
        cmocka_unit_test(this_machine_has_a_cpu_and_memory),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
