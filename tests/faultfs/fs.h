/*
 * fs.h - the object that everything in faultfs shares.
 *
 * The gate: a request that meets no rule, no damage and no volatile cache holds it shared and is
 * plain pread() or pwrite(); everything else holds it alone.  Nobody sleeps with it.
 */
#ifndef FAULTFS_FS_H
#define FAULTFS_FS_H

#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

#include "tests/faultfs/node.h"
#include "tests/faultfs/rule.h"
#include "tests/faultfs/truth.h"

struct snapshot;

struct fs {
    struct nodes nodes;
    unsigned align_bytes; /* what O_DIRECT demands of offset and length */
    double attr_timeout_s;

    pthread_rwlock_t gate;
    struct rules rules;
    struct truth truth;
    struct snapshot *snapshots;
    bool powered, volatile_cache, lie, overlays_off;
    uint64_t sequence;  /* of volatile writes */
    uint64_t fua_count; /* writes that had to be durable by themselves; atomic */

    pthread_mutex_t freeze_lock;
    pthread_cond_t thawed;
    char frozen[128]; /* a glob, empty: nothing is frozen */
    unsigned waiting; /* requests */

    pthread_mutex_t trace_lock;
    FILE *trace;
};

#endif
