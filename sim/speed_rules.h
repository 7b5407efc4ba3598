/*
 * speed_rules.h - is this storage fast enough: what a rated phase measured, against the limits.
 *
 * Only a rated phase is judged, on the response time from the intended start: there the load does
 * not depend on the storage.  A line is judged with at least 1,000 operations in at least 30 s.
 * What passes has passed although this machine's own time is in it; what does not is NOT TESTED
 * when this machine was the limit, or the ceiling that the user set for the run.
 *
 * Pure: facts in, grades out; the caller owns both.  Units: ns; shares are 0 to 1.
 */
#ifndef SIM_SPEED_RULES_H
#define SIM_SPEED_RULES_H

#include "config/thresholds.h"
#include "sim/grades.h"
#include "sim/stats.h"

#define SPEED_OPS_MIN     1000
#define SPEED_SECONDS_MIN 30

enum speed_role {
    ROLE_LOG_WRITE,
    ROLE_PAGE_READ,
    ROLE_READ_AHEAD,
    ROLE_PAGE_WRITE,
    ROLE_COUNT,
    ROLE_NONE = ROLE_COUNT, /* I/O that is not judged */
    ROLE_WAIT,              /* no I/O: a wait that consists of others */
};

struct role_facts {
    uint64_t ops;
    double mean_ns, p99_ns, max_ns;
    unsigned plateau_s; /* longest stretch of one-second means above the role's FAIL bound */
};

struct speed_facts {
    bool rated;        /* there was a rated phase */
    bool arrivals;     /* with a stated rate; else a closed loop, which says nothing */
    double seconds;    /* that it lasted */
    double asked_ios;  /* page reads and updates a second, over the phase */
    double asked_logs; /* transactions a second, each with a log write when it changes a page */
    double held;       /* work done / work that arrived */
    struct role_facts roles[ROLE_COUNT];
    uint64_t stalls;      /* requests of 15 s and more (message 833) */
    double tool_share;    /* of the response time of the work, spent by this program */
    double cpu_share;     /* of the CPUs, used by this program */
    double steal_share;   /* of the CPUs, taken by the hypervisor */
    uint64_t host_pauses; /* times this machine stood still */
    uint64_t limit_waits; /* requests that the ceiling of the run held back (MaxIops, MaxMBps) */
};

#define SPEED_LINES_MAX 16

/* One figure against its limit. */
struct speed_line {
    const char *key;    /* of [Thresholds] */
    const char *what;   /* "log writes" */
    const char *figure; /* "mean", "p99", "held", "longest plateau", "stalls" */
    enum grade grade;   /* GRADE_NOT_TESTED: too few operations, or no limit */
    double value;       /* ns, share or number */
    struct limit limit;
    bool is_time;
};

struct speed_result {
    struct axis axis;
    struct speed_line lines[SPEED_LINES_MAX];
    unsigned count;
    char held[96]; /* "115 of 1,500 IOPS", or "" */
};

void speed_grades_make(const struct speed_facts *facts, const struct thresholds *limits,
                       struct speed_result *out);
/* What the user needs of a saturating load, in MB (1,048,576 bytes) a second; in out, which holds
 * what a rated phase gave, the worse of both counts. */
void speed_need_judge(double mb_per_s, double seconds, int64_t need_mbps, struct speed_result *out);
/* Microsoft's word for a mean: excellent, very good, good, poor, bad, deplorable. */
const char *speed_word(double mean_ns);
const char *speed_role_name(enum speed_role role); /* "page reads" */
enum speed_role speed_role_of(enum stream stream); /* streams.def */
/* The bound of the mean above which the role is FAIL; 0 = none. */
double speed_fail_bound_ns(const struct thresholds *limits, enum speed_role role);

#endif
