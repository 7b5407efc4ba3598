/*
 * verdict_rules.h - from the facts of a run to its grades and its exit code.
 *
 * Three axes, by the rules of the project's thresholds: integrity (is the data right), durability
 * (does it survive a power cut), speed (rated phases only).  Overall is the worst axis that was
 * tested; INCOMPLETE when the run did not reach its end, moved nothing, or became void.
 *
 * Pure: facts in, grades out; the caller owns both.
 */
#ifndef SIM_VERDICT_RULES_H
#define SIM_VERDICT_RULES_H

#include "sim/exit_code.h"
#include "sim/speed_rules.h"

struct verdict_facts {
    uint64_t pages_written;       /* pages that hold something we wrote */
    uint64_t pages_unseen;        /* of them not, although nothing is in doubt about them */
    uint64_t pages_seen;          /* of them read back and found right after their last write */
    uint64_t pages_indeterminate; /* of them left between two states by a failed write */
    uint64_t pages_quarantined;   /* of them not used any more (a finding, or writes that failed) */
    uint64_t pages_verified;      /* reads that were judged */
    uint64_t log_blocks_verified;
    uint64_t integrity_findings; /* severity integrity, healed or not */
    uint64_t io_errors;          /* severity io_error, blame not another process */
    uint64_t foreign_writes;     /* severity io_error, blame another process: the run is void */
    bool loaded;                 /* users read, changed or audited pages in the main part */
    bool complete;               /* every phase reached its end, the final audit included */
    bool direct;                 /* O_DIRECT in effect on every file */
    bool interrupted;            /* by a signal */
    bool fail_on_warn;           /* exit code 4 for WARN, too */
    bool modelled;               /* a modelled device was tested, no storage of this machine */
    const struct speed_result *speed; /* NULL: no rated phase */
};

struct verdict_grades {
    struct axis integrity, durability, speed, overall;
    char result[AXIS_REASON_MAX]; /* "PASS (integrity); durability and speed not tested" */
    int exit_code;                /* enum exit_code */
};

void verdict_grades_make(const struct verdict_facts *facts, struct verdict_grades *out);

#endif
