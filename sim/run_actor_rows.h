/*
 * run_actor_rows.h - what stays of actors: number, name and counts, for the report.
 *
 * Actors come and go with the phases and cycles of a run; one of a pattern with the same index is
 * the same row, so a run of days has as many rows as actors at a time.
 *
 * Ownership: struct run has it.  Threads: the coordinator.
 */
#ifndef SIM_RUN_ACTOR_ROWS_H
#define SIM_RUN_ACTOR_ROWS_H

#include <stdint.h>

struct pattern;

#define ACTOR_NAME_MAX 32

struct actor_row {
    char name[ACTOR_NAME_MAX];
    const struct pattern *pattern;
    uint64_t ops; /* of actors that were freed */
};

struct actor_kind; /* the rows of one pattern */

struct run_actor_rows {
    struct actor_row *list; /* the index is the number of the actor */
    unsigned count, capacity;
    struct actor_kind *kinds;
    unsigned kind_count;
};

/* The row's number for the actor of this index of its pattern; -ENOMEM. */
int64_t run_actor_row(struct run_actor_rows *rows, const struct pattern *pattern, const char *name,
                      unsigned kind_index) __attribute__((warn_unused_result));
void run_actor_rows_free(struct run_actor_rows *rows);

#endif
