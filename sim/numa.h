/*
 * numa.h - the NUMA nodes of the machine, and what is done by them.
 *
 * Only nodes that have CPUs count.  Where there are fewer than two, nothing is done and nothing
 * said: numa_keep() leaves a count of 0.
 *
 * Threads: pure functions on values, but numa_here(), which asks where the caller runs.
 */
#ifndef SIM_NUMA_H
#define SIM_NUMA_H

#include "config/cpu_list.h"

#define NUMA_FOLDER    "/sys/devices/system/node"
#define NUMA_NODES_MAX 64  /* the kernel's default of x86 servers (CONFIG_NODES_SHIFT 6) */
#define NUMA_TEXT_MAX  400 /* what does not fit ends in "..." */

struct numa_node {
    unsigned id; /* the system's number */
    struct cpu_list cpus;
};

struct numa {
    unsigned count;
    struct numa_node nodes[NUMA_NODES_MAX]; /* by id */
};

/* folder: NUMA_FOLDER, or one that looks like it.  Nodes beyond NUMA_NODES_MAX: count 0. */
void numa_look(struct numa *numa, const char *folder);
/* Keep the nodes that have one of these CPUs (none: any), and of those as many as there are
 * workers; of their CPUs only these. */
void numa_keep(struct numa *numa, const struct cpu_list *cpus, unsigned workers);
/* Index of the node for the next worker, where a CPU has fewest; dealt: workers of each node so
 * far, counted on.  count > 0. */
unsigned numa_deal(const struct numa *numa, unsigned dealt[NUMA_NODES_MAX]);
/* "2 nodes, 4 workers on CPU 0-3 (node 0), 4 on CPU 4-7 (node 1)" */
void numa_text(const struct numa *numa, const unsigned dealt[NUMA_NODES_MAX],
               char out[NUMA_TEXT_MAX]);
/* Index of the node that the calling thread runs on at present; 0 for one that is not kept. */
unsigned numa_here(const struct numa *numa);
/* Take whole pages of memory from this node as long as it has any, then from others.  0 or -errno.
 */
int numa_prefer(void *memory, size_t size_bytes, unsigned id) __attribute__((warn_unused_result));
/* Let the system choose again. */
void numa_prefer_none(void *memory, size_t size_bytes);

#endif
