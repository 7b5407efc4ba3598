/*
 * run.h - one run: it owns every object, builds them, drives the phases, and stops in order.
 *
 * Invariants of the whole simulator, asserted where named:
 *  1. A data page on disk is never written (ledger) or carries a stamp naming run, file and page.
 *  2. No page image with LSN L is submitted before the log is durable through L (writeback_submit
 * and again io_submit; offline: no page is newer than the end of the log).
 *  3. At most one write per page is in flight; frame bytes do not change while WRITING (pool.h).
 *  4. No user sees bytes that were not verified; the only edge READING -> CLEAN goes through it.
 *  5. Ledger acknowledgement moves forward only, on a full-length success.
 *  6. Every submitted request completes exactly once (io.h).
 *  7. Every choice comes from the seed, every time from the clock: under a virtual clock a seed
 * repeats the run.
 *  8. A finding is on disk before the actor that found it goes on.
 *
 * Lock order: data_file.lock -> pool free list, pool partition -> list of dirty pages, wal (wait
 * lists are inside the lock of what is waited for); findings last.  Nothing else is locked under
 * the locks of size rights, extent maps, checkpoint desks, snapshots, passes, share gates, tempdb's
 * space and the I/O limit; a task may be woken under any.
 *
 * Threads: the coordinator (the caller of run_execute) and the workers; the coordinator's own I/O
 * goes through run->io while no actor is running.
 */
#ifndef SIM_RUN_H
#define SIM_RUN_H

#include "config/profile.h"
#include "patterns/pattern.h"
#include "sim/database.h"
#include "sim/disk_map.h"
#include "sim/drive_level.h"
#include "sim/event.h"
#include "sim/findings.h"
#include "sim/host_pulse.h"
#include "sim/plan.h"
#include "sim/reuse.h"
#include "sim/seconds.h"
#include "sim/worker.h"

enum run_stop {
    RUN_GOING,
    RUN_STOP_ERROR, /* StopOnError, or the run cannot go on */
    RUN_STOP_SIGNAL,
};

struct run_phase_time {
    uint64_t start_ns, end_ns; /* run clock, of the present cycle; end 0 = not reached */
    uint64_t earlier_ns;       /* spent in earlier cycles */
    bool complete;
};

struct run;
struct foreign;
struct io_trace;
struct run_actor_rows;
struct run_slots;

/* What run_create is given. */
struct run_config {
    const struct profile *profile;
    const struct plan *plan;
    const char *out_dir; /* ledger, evidence/ ; must exist */
    const struct io_engine_ops *engine;
    void *engine_device; /* mem_device or fault_config, or NULL */
    bool virtual_clock;  /* then the run id comes from the seed and one thread drives all */
    struct clock *clock; /* NULL: the run's own (a mem_device needs it before the run) */
    void (*progress)(void *context, const struct run *run); /* about twice a second; may be NULL */
    /* Everything that is told while it happens (event.h); several threads at a time; may be NULL */
    void (*event)(void *context, const struct event *event);
    void *context;
    const _Atomic int *signal; /* set by a signal handler, or NULL */
    const struct reuse *reuse; /* the run whose files are taken over, or NULL: they are created */
    struct io_trace *trace;    /* or NULL */
    const char *on_finding, *on_stall; /* the user's commands (finding_hook.h), or NULL */
    bool on_every;                     /* for each event, not only the first of a class */
    bool leave_like_killed;            /* tests: stop dead after the main part, as a kill would */
};

struct backup_media;

struct run {
    struct run_config config;
    const struct config_settings *settings;
    struct clock own_clock, *clock;
    uint8_t run_id[RUN_ID_BYTES];
    struct run_identity identity;
    uint64_t session_start_ns; /* realtime */
    struct stats main_stats;   /* the coordinator's I/O */
    struct io_engine *main_engine;
    struct io io;
    struct io_histories histories; /* the last requests of workers and coordinator */
    struct io_watch watch;         /* requests that take too long */
    uint64_t watch_next_ns;        /* the next look */
    uint64_t suspended_ns;         /* the system, since it was started */
    struct host_pulse pulse;       /* did this machine stand still? */
    struct foreign *foreign;       /* other processes at our files; NULL: not watched */
    bool stuck_told;
    bool stuck;              /* a request never ended: nothing that it may use is freed */
    struct io_gate gate;     /* throttle and MaxOutstandingIO, for all workers */
    struct io_limit limit;   /* MaxIops and MaxMBps, for them and the coordinator */
    unsigned virtual_thread; /* virtual clock: 1 + number of the worker at work; 0 coordinator */
    struct worker *workers;
    unsigned worker_count;
    struct pool pool;
    struct database *databases;
    unsigned database_count;
    struct data_file **files; /* all data files; uid order is files of database 0, its log, ... */
    unsigned file_count;
    unsigned user_file_count;           /* of files: those before tempdb's */
    unsigned user_database_count;       /* of databases: tempdb is the last, if there is one */
    struct tempdb_space *tempdb;        /* what is free in it; NULL: there is none */
    struct pattern_file *pattern_files; /* their sizes at the start; actors have their own copies */
    _Atomic unsigned size_changes;      /* data files that grew or shrank so far */
    unsigned files_made;                /* of the plan's files, in order */
    struct drive_level *drives;   /* below the plan's files when they were made; NULL: a model */
    uint64_t drives_ns;           /* run clock */
    struct backup_media *backups; /* of each database */
    unsigned backup_files_made;   /* of the plan's backups, in order */
    char *evidence_dir;
    struct ledger *ledger;
    struct disk_map disk_map; /* of the files; empty under a virtual clock */
    struct findings findings;
    enum phase phase;
    struct run_phase_time phases[PHASE_COUNT];
    unsigned cycles_done;
    bool main_part_done;            /* or begun */
    _Atomic int stop;               /* enum run_stop */
    _Atomic unsigned tasks_running; /* actors of the present phase, services included */
    _Atomic unsigned users_running; /* without the services */
    pthread_mutex_t idle_lock;
    pthread_cond_t idle;         /* tasks_running fell to 0 */
    pthread_mutex_t actors_lock; /* the list: who stops the run wakes those that sleep; a leaf */
    struct actor **actors;       /* those that are not freed yet */
    unsigned actor_count, actor_capacity;
    unsigned actors_made;              /* serial number of the next one */
    struct run_actor_rows *actor_rows; /* of all: what is reported of them */
    /* Users work until then; earlier than planned when those that it waits for are through. */
    _Atomic uint64_t phase_deadline_ns;
    _Atomic unsigned awaited;                       /* actors that are not through (Until) */
    bool awaits;                                    /* the coordinator waits for none of them */
    _Atomic bool logs_backed_up;                    /* somebody takes log backups in this phase */
    _Atomic uint64_t progress_done, progress_total; /* of the present phase or step: units */
    const char *step;        /* what the coordinator does by itself at present, or NULL; its own */
    uint64_t tick_ns;        /* run clock: the progress is due again */
    struct run_slots *slots; /* the parts of the rated phase and of the main part */
    bool held;               /* between slots: services go on although nobody works */
    struct seconds *seconds; /* of each worker; NULL without a rated part */
    struct arrivals **arrivals; /* of actors that are not freed yet */
    unsigned arrivals_count, arrivals_made;
    struct snapshots *snapshots;       /* of data files, for DBCC; NULL: none */
    struct write_checks *write_checks; /* VerifyBeforeOverwrite, ReadBack; NULL: neither */
    struct dbcc_pass *dbcc;            /* of all DbccUsers; NULL: there is none */
    bool audited;                      /* the final audit was complete */
    char message[FILE_MESSAGE_MAX];    /* why it could not start or go on */
    int exit_code;                     /* enum exit_code, of a failed start */
};

/* Build everything and create the files. On error run->message and run->exit_code say why;
 * run_destroy must still be called. */
int run_create(struct run *run, const struct run_config *config)
    __attribute__((warn_unused_result));
/* All phases. Returns 0 when it reached the end (whatever it found), -EINTR or -EIO. */
int run_execute(struct run *run) __attribute__((warn_unused_result));
void run_destroy(struct run *run);

void run_stop(struct run *run, enum run_stop why);
/* Did a signal ask for the end?  Also true for what comes after a stop for another reason. */
bool run_interrupted(const struct run *run);
/* The coordinator works by itself: what (a constant) and of how many units, pages or bytes.  NULL:
 * no more.  Then units more are done: the signal is looked at and progress shown when it is due. */
void run_step(struct run *run, const char *what, uint64_t total);
void run_step_done(struct run *run, uint64_t units);
void run_task_started(struct run *run, bool user);
void run_task_ended(struct run *run, bool user);
/* One of those that the phase waits for is through. */
void run_came_through(struct run *run);
/* A user of the present phase goes on as a service. */
void run_user_serves(struct run *run);
static inline bool run_stopping(const struct run *run)
{
    return atomic_load(&((struct run *)(uintptr_t)run)->stop) != RUN_GOING;
}
/* The coordinator begins the next phase while workers are at work. */
static inline enum phase run_phase_now(const struct run *run)
{
    return __atomic_load_n(&run->phase, __ATOMIC_RELAXED);
}
/* Complete an event with time and thread, and hand it to the callback.  Any thread; event.h. */
void run_event(const struct run *run, const struct event *event);
/* For people and logs, by "System". */
#define run_say(run, ...)  run_tell(run, EVENT_INFO, EVENT_HERE, __VA_ARGS__)
#define run_warn(run, ...) run_tell(run, EVENT_WARNING, EVENT_HERE, __VA_ARGS__)
void run_tell(const struct run *run, enum event_type type, struct event_place place,
              const char *format, ...) __attribute__((format(printf, 4, 5)));
/* Information for the logs alone. */
void run_log(const struct run *run, const char *user, struct event_place place, const char *format,
             ...) __attribute__((format(printf, 4, 5)));
void run_announce_finding(void *run, const struct finding *finding); /* struct findings.announce */
/* Each engine learns of the file. */
int run_attach(struct run *run, struct io_target *target) __attribute__((warn_unused_result));
struct data_file *run_file_by_uid(const struct run *run, uint16_t uid);
/* All workers' and the coordinator's statistics together. */
void run_stats(const struct run *run, struct stats *out);

#endif
