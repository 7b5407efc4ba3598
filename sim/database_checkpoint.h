/*
 * database_checkpoint.h - asking for a checkpoint of a database and being told of its end, and what
 * its checkpoints did.
 *
 * SQL Server's CHECKPOINT statement, and the checkpoints that it runs itself before a backup or a
 * snapshot and when the database is shut down.  Whoever asks gets a ticket; the ticket is served by
 * a checkpoint that began after it was given, so everything that was dirty at the call is on the
 * device then.  One checkpoint serves all tickets that were given before it began.
 *
 * Use, from an actor that is a user (the service that runs checkpoints lives as long as users do):
 *
 *     mine->ticket = checkpoint_ask(database);               once
 *     switch (checkpoint_wait(database, mine->ticket, &actor->task)) {   in a step, again and again
 *     case CHECKPOINT_PENDING: return TASK_PARK;             the task is woken
 *     case CHECKPOINT_FAILED:  the database has stopped (9001, 9002)
 *     case CHECKPOINT_SERVED:  ...
 *
 * A checkpoint whose write or flush failed serves nobody; the next one is for the same tickets.
 *
 * Threads: any; the account belongs to the checkpoint under way.  Lock: its own, a leaf but for the
 * wake-ups.  Ownership: the database has it.
 */
#ifndef SIM_DATABASE_CHECKPOINT_H
#define SIM_DATABASE_CHECKPOINT_H

#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#include "sim/worker.h"

struct database;

enum checkpoint_kind {
    CHECKPOINT_AUTOMATIC, /* recovery interval, or the log is full to its limit */
    CHECKPOINT_INDIRECT,  /* target recovery time: a background writer */
    CHECKPOINT_MANUAL,    /* asked for */
    CHECKPOINT_SHUTDOWN,  /* ends a phase of the run */
    CHECKPOINT_KINDS,
};
/* "automatic", ... */
const char *checkpoint_kind_name(enum checkpoint_kind kind);

/* Of the complete checkpoints of one kind. */
struct checkpoint_account {
    uint64_t count, pages, writes;
    uint64_t ns, ns_max; /* from begin to end */
};

struct checkpoint_desk {
    pthread_mutex_t lock;
    _Atomic uint64_t asked, served; /* tickets */
    _Atomic bool no_room;           /* the last one found no log for its records */
    struct task *service;           /* what runs checkpoints while users work, or NULL */
    struct wait_list waiters;
    struct checkpoint_account accounts[CHECKPOINT_KINDS];
};

void checkpoint_desk_init(struct checkpoint_desk *desk);
void checkpoint_desk_free(struct checkpoint_desk *desk);

uint64_t checkpoint_ask(struct database *database);
enum checkpoint_answer { CHECKPOINT_PENDING, CHECKPOINT_SERVED, CHECKPOINT_FAILED };
/* Pending: the task is woken when there is an answer, perhaps before. */
enum checkpoint_answer checkpoint_wait(struct database *database, uint64_t ticket,
                                       struct task *task);
/* Wait no longer: the task may wait elsewhere, or end, before there is an answer. */
void checkpoint_wait_forget(struct database *database, struct task *task);
bool checkpoint_is_asked(const struct checkpoint_desk *desk);

/* ---- for the checkpoint ---- */

/* Who is called when a ticket is given; NULL: nobody, between phases. */
void checkpoint_desk_serve(struct checkpoint_desk *desk, struct task *service);
/* It begins: the newest ticket that it will serve. */
uint64_t checkpoint_desk_begin(struct checkpoint_desk *desk);
/* It is complete. */
void checkpoint_desk_end(struct checkpoint_desk *desk, uint64_t ticket);
/* The database has stopped: everybody looks again. */
void checkpoint_desk_wake(struct checkpoint_desk *desk);

#endif
