/*
 * finding_hook.h - commands of the user that are started when a fault is seen: --on-finding and
 * --on-stall.  A lab freezes the trace of its array with them.
 *
 * Who sees a fault only posts it: a copy under a mutex, never a wait.  A thread of its own starts
 * `/bin/sh -c COMMAND`, within milliseconds of the first bad read and before the page is read
 * again; what is known stands in the environment (hook_variables in finding_hook.c).  Standard
 * output and error go to HOOK_LOG_NAME in the result folder, standard input is empty.
 *
 * Each command is started once per class, or with `every` once per event; at most HOOK_RUNNING_MAX
 * run at a time and HOOK_QUEUE_MAX wait, what is more is counted in the log.  A command cannot
 * delay or fail the run.  At the end of the run it has HOOK_GRACE_S to end by itself, then its
 * process group gets SIGTERM, and HOOK_KILL_S later SIGKILL.
 *
 * Ownership: texts of the configuration are the caller's and outlive it.
 * Threads: hook_post and hook_begun by any; begin and end by the coordinator.
 */
#ifndef SIM_FINDING_HOOK_H
#define SIM_FINDING_HOOK_H

#include "sim/disk_map.h"
#include "sim/findings.h"

#define HOOK_LOG_NAME    "hooks.log" /* in the result folder */
#define HOOK_QUEUE_MAX   64
#define HOOK_RUNNING_MAX 16
#define HOOK_GRACE_S     10
#define HOOK_KILL_S      5

struct hook_config {
    const char *on_finding, *on_stall; /* NULL: none */
    bool every;
    const char *result_dir;
    uint8_t run_id[RUN_ID_BYTES];
    const char *sysfs;          /* NULL: devices are not looked for */
    const struct disk_map *map; /* of requests that hang; may be NULL */
};

/* Something was seen. */
struct hook_event {
    enum verdict verdict; /* of a first sight: the first guess */
    bool first_sight;     /* nothing was read again yet */
    bool stall;           /* --on-stall */
    char file[FINDING_FILE_MAX];
    uint16_t file_uid;
    bool has_page;
    uint32_t page_no;
    uint64_t offset, size_bytes;
    uint64_t seen_ns; /* realtime */
    uint64_t age_ns;  /* of a stall: outstanding for */
    char detail[FINDING_DETAIL_MAX];
};

struct hook;

/* 0 or -errno; *out NULL when there is no command. */
int hook_begin(struct hook **out, const struct hook_config *config)
    __attribute__((warn_unused_result));
void hook_end(struct hook *hook); /* NULL is fine */
/* A number to ask hook_begun with; 0: no command is started for it. */
unsigned hook_post(struct hook *hook, const struct hook_event *event);
/* Was the command of this number started (or given up)? */
bool hook_begun(const struct hook *hook, unsigned number);

#endif
