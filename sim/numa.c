/* numa.c - see numa.h. */
#include "sim/numa.h"

#include <errno.h>
#include <linux/mempolicy.h>
#include <sched.h>
#include <stdio.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "sim/small_file.h"

#define LONG_BITS     (8 * sizeof(unsigned long))
#define NODE_IDS_MAX  1024 /* the kernel's largest MAX_NUMNODES (CONFIG_NODES_SHIFT 10) */
#define LIST_TEXT_MAX 4096 /* the kernel gives a page */
#define WHERE_MAX     64   /* "CPU 0-3 (node 0)" */

void numa_look(struct numa *numa, const char *folder)
{
    char text[LIST_TEXT_MAX], name[64];
    struct cpu_list online, cpus;
    numa->count = 0;
    /* Numbers of nodes are written as those of CPUs are. */
    if (!small_file_text(folder, "online", text, sizeof text) ||
        cpu_list_parse_ranges(text, &online))
        return;
    for (unsigned id = 0; id < NODE_IDS_MAX; id++) {
        snprintf(name, sizeof name, "node%u/cpulist", id);
        if (!cpu_list_has(&online, id) || !small_file_text(folder, name, text, sizeof text) ||
            cpu_list_parse_ranges(text, &cpus))
            continue; /* memory alone has an empty list */
        if (numa->count == NUMA_NODES_MAX) {
            numa->count = 0;
            return;
        }
        numa->nodes[numa->count++] = (struct numa_node){.id = id, .cpus = cpus};
    }
}

void numa_keep(struct numa *numa, const struct cpu_list *cpus, unsigned workers)
{
    unsigned kept = 0;
    for (unsigned i = 0; i < numa->count && kept < workers; i++) {
        struct numa_node node = numa->nodes[i];
        if (!cpu_list_is_empty(cpus))
            node.cpus = cpu_list_and(&node.cpus, cpus);
        if (!cpu_list_is_empty(&node.cpus))
            numa->nodes[kept++] = node;
    }
    numa->count = kept > 1 ? kept : 0;
}

unsigned numa_deal(const struct numa *numa, unsigned dealt[NUMA_NODES_MAX])
{
    unsigned best = 0;
    for (unsigned i = 1; i < numa->count; i++) {
        uint64_t left = (uint64_t)dealt[i] * cpu_list_count(&numa->nodes[best].cpus);
        uint64_t right = (uint64_t)dealt[best] * cpu_list_count(&numa->nodes[i].cpus);
        if (left < right)
            best = i;
    }
    dealt[best]++;
    return best;
}

void numa_text(const struct numa *numa, const unsigned dealt[NUMA_NODES_MAX],
               char out[NUMA_TEXT_MAX])
{
    size_t used = (size_t)snprintf(out, NUMA_TEXT_MAX, "%u nodes", numa->count);
    for (unsigned i = 0; i < numa->count; i++) {
        char cpus[WHERE_MAX], part[2 * WHERE_MAX];
        cpu_list_text(&numa->nodes[i].cpus, cpus, sizeof cpus);
        int n = snprintf(part, sizeof part, ", %u%s on CPU %s (node %u)", dealt[i],
                         i ? "" : " workers", cpus, numa->nodes[i].id);
        if (used + (size_t)n + sizeof ", ..." > NUMA_TEXT_MAX) {
            snprintf(out + used, NUMA_TEXT_MAX - used, ", ...");
            return;
        }
        memcpy(out + used, part, (size_t)n + 1);
        used += (size_t)n;
    }
}

unsigned numa_here(const struct numa *numa)
{
    unsigned cpu, id;
    if (getcpu(&cpu, &id) != 0)
        return 0;
    for (unsigned i = 0; i < numa->count; i++)
        if (numa->nodes[i].id == id)
            return i;
    return 0;
}

int numa_prefer(void *memory, size_t size_bytes, unsigned id)
{
    unsigned long nodes[NODE_IDS_MAX / LONG_BITS] = {0};
    if (id >= NODE_IDS_MAX)
        return -EINVAL;
    nodes[id / LONG_BITS] = 1ul << id % LONG_BITS;
    /* The kernel looks at one bit less than it is told. */
    long rc = syscall(SYS_mbind, memory, size_bytes, MPOL_PREFERRED, nodes, NODE_IDS_MAX + 1ul, 0);
    return rc == 0 ? 0 : -errno;
}

void numa_prefer_none(void *memory, size_t size_bytes)
{
    (void)!syscall(SYS_mbind, memory, size_bytes, MPOL_DEFAULT, NULL, 0, 0);
}
