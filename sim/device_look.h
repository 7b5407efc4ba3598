/*
 * device_look.h - the look before the load: who else has files on the devices of a run, and how
 * busy they are.
 *
 * A SQL Server there stops the run before its first byte, unless the user says otherwise; all else
 * becomes notes of the plan and lines of the report.  A fifth of a second, most of it the sample.
 *
 * Ownership: device_look_free().  Threads: the coordinator, before the workers.
 */
#ifndef SIM_DEVICE_LOOK_H
#define SIM_DEVICE_LOOK_H

#include "sim/device_facts.h"
#include "sim/plan.h"

/* A file system of the run, as it was before the load. */
struct device_before {
    struct device_place place;
    struct environment_volume volume;
    bool has_level;
    struct drive_level level; /* at the begin of the sample */
    struct device_busy busy;
};

struct device_look {
    struct device_before *volumes;
    unsigned volume_count;
    struct device_users users;
};

/* paths: where the run's files will be, or their directories. 0 or -ENOMEM. */
int device_look(struct device_look *look, const struct device_roots *roots,
                const char *const *paths, unsigned path_count) __attribute__((warn_unused_result));
void device_look_free(struct device_look *look); /* zeroed is fine */
/* May a run begin?  False with a message when a SQL Server is there. */
bool device_look_allows(const struct device_look *look, char message[PLAN_MESSAGE_MAX]);
/* What the user should know, at most count notes; how many. */
unsigned device_look_notes(const struct device_look *look, char (*notes)[PLAN_NOTE_MAX],
                           unsigned count);

#endif
