/*
 * host_facts.h - what of this machine's settings bears on SQL Server's I/O: kernel version, virtual
 * memory, schedulers of memory and CPU, asynchronous I/O contexts, mssql.conf.
 *
 * Read from /proc, /sys and /var/opt/mssql below a root, which is "" or (tests) a folder that looks
 * like it.  What could not be read is unknown, never a default.
 *
 * Ownership: values.  Threads: any.  Source of the list: Microsoft's performance guidance for SQL
 * Server on Linux.
 */
#ifndef SIM_HOST_FACTS_H
#define SIM_HOST_FACTS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define HOST_TEXT_MAX    64
#define HOST_TRACES_MAX  32
#define HOST_NUMBER_NONE INT64_MIN /* not known */

/* Numbers of /proc/sys and /sys, in the order of host_numbers[] of host_facts.c. */
enum host_number {
    HOST_SWAPPINESS,
    HOST_DIRTY_BACKGROUND_RATIO,
    HOST_DIRTY_RATIO,
    HOST_DIRTY_EXPIRE_CENTISECS,
    HOST_DIRTY_WRITEBACK_CENTISECS,
    HOST_MAX_MAP_COUNT,
    HOST_NUMA_BALANCING,
    HOST_AIO_MAX_NR,
    HOST_AIO_NR,
    HOST_NUMBER_COUNT
};

struct host_facts {
    int64_t numbers[HOST_NUMBER_COUNT]; /* HOST_NUMBER_NONE: unknown */
    char kernel[HOST_TEXT_MAX];         /* "6.1.0-18-amd64"; "" = unknown */
    unsigned kernel_major, kernel_minor;
    char huge_pages[HOST_TEXT_MAX]; /* "always", "madvise", "never"; "" = unknown */
    char governor[HOST_TEXT_MAX];   /* of the first CPU; "" = none (a virtual machine) */
    bool has_mssql_conf;            /* and it may be read */
    int64_t write_through, alternate_write_through; /* [control]; HOST_NUMBER_NONE: not set */
    unsigned traces[HOST_TRACES_MAX];               /* trace flags of [traceflag] */
    unsigned trace_count;
};

void host_facts_look(struct host_facts *facts, const char *root);
/* The parts, for tests. */
void host_facts_mssql_conf(struct host_facts *facts, const char *text);
bool host_facts_has_trace(const struct host_facts *facts, unsigned flag);
bool host_facts_kernel_is(const struct host_facts *facts, unsigned major, unsigned minor);

#endif
