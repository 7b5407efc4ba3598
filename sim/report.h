/*
 * report.h - the frozen result of a run; every output is written from it and from nothing else.
 *
 * Writers are listed in reports.def; each is a function of the frozen report.  They iterate
 * streams, phases, counters and verdicts; none names a metric.
 *
 * Ownership: the report owns what it points to but for run, command, label, out_dir and look, which
 * must outlive it.  Threads: made and written by the coordinator after the run ended.
 */
#ifndef SIM_REPORT_H
#define SIM_REPORT_H

#include <stdio.h>

#include "sim/drive_level.h"
#include "config/thresholds.h"
#include "sim/device_look.h"
#include "sim/environment.h"
#include "sim/run_slots.h"
#include "sim/verdict_rules.h"

/* What the requests of one file add up to (io_account.h), over the whole run. */
struct report_io {
    uint32_t target_ms, running_average_ms, request_blocks;
    uint64_t throttled;
    uint64_t reads, scatter_reads, writes, gather_writes;
    uint64_t total_io_ns;
    uint64_t p50_ns, p90_ns, p99_ns, p999_ns, max_ns;
};

struct report_file {
    const char *path;
    uint16_t uid;
    unsigned database;
    bool is_log;
    uint64_t size_bytes;
    struct ledger_count count; /* data files */
    struct coverage_sums coverage;
    uint64_t allocated_pages; /* protected pages that an offline checker must find */
    uint64_t live_log_blocks; /* log files */
    bool direct, dsync;
    bool compressed, encrypted, sparse; /* as the file system says */
    struct report_io io;
    struct drive_level drive; /* below it; all unknown for a modelled device */
    bool has_drive_counters;
    struct drive_counters drive_counters; /* of this run's time */
    uint64_t drive_idle_ms;               /* of this run's time */
};

/* What became of a file of the result folder that has something missing. */
#define REPORT_PROBLEMS_MAX 16
#define REPORT_PROBLEM_MAX  256
struct report_problem {
    const char *name;              /* in the result folder, or a path; it outlives the report */
    char text[REPORT_PROBLEM_MAX]; /* "could not be written: No space left on device" */
};

/* A part under load: a step of the rated phase or a phase of the main part (run_slots.h). */
struct report_slot {
    const struct run_slot *slot;
    bool of_main_part;
    struct speed_facts facts; /* of its measured part */
    struct speed_result result;
};

struct report {
    const struct run *run;          /* after the run ended: const */
    const char *command;            /* the command line */
    const char *label;              /* or NULL */
    const char *out_dir;            /* result folder, or NULL */
    const struct device_look *look; /* who else was there before the load; NULL: nobody looked */
    struct report_problem problems[REPORT_PROBLEMS_MAX]; /* of writing results: the last lines */
    unsigned problem_count;
    const char *version; /* of the program */
    int interrupted;     /* signal number or 0 */
    bool complete;
    struct environment environment;
    struct stats *stats; /* merged */
    double phase_seconds[PHASE_COUNT];
    double total_seconds;
    double cpu_user_seconds, cpu_system_seconds;
    struct report_file *files;
    unsigned file_count;
    struct coverage_sums coverage; /* of all data files */
    uint64_t pages_written, pages_seen, pages_unseen, pages_indeterminate, pages_quarantined;
    struct thresholds thresholds; /* of the rated phase, and what was measured in it */
    struct report_slot *slots;    /* all, also those that were not reached */
    unsigned slot_count;
    const char *speed_slot;         /* name of the worst judged slot, or "" */
    struct speed_facts speed_facts; /* of that slot */
    struct speed_result speed_result;
    struct axis integrity, durability, speed, overall;
    char result[AXIS_REASON_MAX]; /* the verdict in one line */
    int exit_code;
};

int report_freeze(struct report *report, const struct run *run, const char *command, int signal)
    __attribute__((warn_unused_result));
/* A result file is not whole: the text that is printed last says so.  text NULL: it is. */
void report_problem_add(struct report *report, const char *name, const char *text);
void report_free(struct report *report);
const char *report_version(void); /* of the program */

/* One stream in one phase, or (phase PHASE_COUNT) in total; for writers. */
struct report_stream {
    enum stream stream;
    double seconds; /* that it is divided by */
    struct stream_stats stats;
    double iops, mb_per_s; /* MB: 1,048,576 bytes, as SQL Server counts */
    double in_flight;      /* Little: IOPS x mean latency */
};
/* False: no operation of this stream in this phase. */
bool report_stream(const struct report *report, unsigned phase, enum stream stream,
                   struct report_stream *out);
/* The figures of what one stream did in that time. */
void report_stream_of(const struct stream_stats *stats, enum stream stream, double seconds,
                      struct report_stream *out);
/* "stress" ..., or "total" for PHASE_COUNT. */
const char *report_phase_name(unsigned phase);

struct report_writer {
    const char *name;      /* "json" */
    const char *file_name; /* in the result folder; NULL: standard output */
    int (*write)(const struct report *report, FILE *out);
};
extern const struct report_writer *const report_writers[];
extern const size_t report_writers_count;
const struct report_writer *report_writer_by_name(const char *name);
/* The last lines alone: axes, result, where everything is (report_text.c). */
int report_text_verdict(const struct report *report, FILE *out) __attribute__((warn_unused_result));

#endif
