/*
 * sim_fixture.h - a whole run for a test: profile, plan, device, run, in a folder of its own.
 *
 * Default: 16 MiB of data, 8 MiB of log, 4 MiB of pool, 2 workers, the modelled device under a
 * virtual clock.  The folder lies in TMPDIR (else /dev/shm, else /tmp) and is removed by sim_end().
 */
#ifndef TESTS_SIM_FIXTURE_H
#define TESTS_SIM_FIXTURE_H

#include "sim/engine_fault.h"
#include "sim/engine_mem.h"
#include "sim/run.h"

#define SIM_SETTINGS_MAX 32
#define SIM_PATH_MAX     256

struct sim_setting {
    const char *section, *key, *value;
};

struct sim_options {
    uint64_t seed;                              /* 0 = 1 */
    uint64_t duration_ns;                       /* of the stress phase; 0 = 2 s */
    uint64_t data_bytes, log_bytes, pool_bytes; /* 0 = 16, 8, 4 MiB */
    unsigned tempdb_files;                      /* data files of tempdb; 0 = no tempdb */
    uint64_t tempdb_bytes, tempdb_log_bytes;    /* of each, and of its log */
    uint64_t tempdb_max_bytes;                  /* of each data file; 0 = it does not grow */
    uint64_t tempdb_increment;
    unsigned workers;                      /* 0 = 2 */
    unsigned databases;                    /* 0 = 1 */
    bool sparse;                           /* the last database's data file */
    unsigned logs;                         /* log files of each database; 0 = 1 */
    uint64_t log_max_bytes, log_increment; /* of each log file; 0 = it does not grow */
    bool real_clock;                       /* threads and an engine for real devices instead */
    const struct io_engine_ops *engine;    /* that one; NULL = sync */
    bool with_faults;                      /* the fault layer over the engine */
    bool leave_like_killed;
    const char *on_finding, *on_stall; /* the user's commands, or NULL */
    bool on_every;
    bool backup_files; /* BackupUser writes into the folder of the run */
    void (*event)(void *context, const struct event *event); /* of struct run_config, or NULL */
    void *context;
    const _Atomic int *signal;       /* the flag that a signal handler would set, or NULL */
    struct mem_device_config device; /* of the modelled device; its seed is the run's */
    const char *directory;           /* where to make the folder; NULL as above */
    const char *folder; /* its exact path, for runs that are compared; must not exist */
    struct sim_setting settings[SIM_SETTINGS_MAX]; /* ends with a NULL section */
};

struct sim {
    struct sim_options options;
    char folder[SIM_PATH_MAX];
    char out[SIM_PATH_MAX]; /* result folder: the same, but in a later session */
    struct reuse reuse;     /* of a later session */
    struct profile *profile;
    struct plan plan;
    struct clock clock;
    struct mem_device *device;
    struct fault_config *faults;
    struct run *run;
    bool created;
    int result; /* of run_create or run_execute */
};

/* Build up to, not including, run_create, so that fault rules can be added. Aborts the test on
 * error. */
void sim_begin(struct sim *sim, const struct sim_options *options);
/* run_create alone: the files, pool, logs and workers, for a test that drives them itself. */
void sim_create(struct sim *sim);
/* run_create and run_execute; the result is in sim->result. */
void sim_run(struct sim *sim);
/* Path of a file of the run ("data1.mdx", "log1.ldx", "ledger"). */
void sim_path(const struct sim *sim, const char *name, char out[SIM_PATH_MAX]);
/* A later session over the files of the one that ended (--reuse): the run is taken apart, clock,
 * device and faults are new, the result folder is "<name>" in the folder.  sim_create or sim_run is
 * next.  0 or -errno of reuse_open, with its message. */
int sim_take_over(struct sim *sim, const char *name, char message[PLAN_MESSAGE_MAX]);
/* Take the run apart; the folder stays until sim_end. */
void sim_close(struct sim *sim);
void sim_end(struct sim *sim);
/* Print every finding, for a test that is about to fail. */
void sim_print_findings(const struct sim *sim);

#endif
