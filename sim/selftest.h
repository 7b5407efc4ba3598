/*
 * selftest.h - one case of the self-test: a fault that is put in, and what must come out.
 *
 * The table (selftest_cases.c) is used by `pagestorm selftest` and by the detect tests alike; a new
 * case is a new row.  A case is a small run over the fault layer; afterwards every finding of the
 * run is compared with the layer's truth list: the fault must have happened, be found, be named
 * right, be put at the right place, and be the only event.
 *
 * The rows use rules whose outcome is certain: they stay on a page, so that it is still wrong at
 * the final audit whatever was written meanwhile, or they hit one read that must heal.
 */
#ifndef SIM_SELFTEST_H
#define SIM_SELFTEST_H

#include <stdio.h>

#include "sim/engine_fault.h"
#include "sim/findings.h"

/* The world of a case: one data file, one log. */
#define SELFTEST_DATA_UID     1
#define SELFTEST_LOG_UID      2
#define SELFTEST_HOME         200  /* the page that faults aim at */
#define SELFTEST_VICTIM       1900 /* and another one */
#define SELFTEST_DATA_MIB     16
#define SELFTEST_LOG_MIB      64 /* not reused within a run */

#define SELFTEST_SECONDS      3
#define SELFTEST_RULES_MAX    3
#define SELFTEST_SETTINGS_MAX 8

enum selftest_place {
    SELFTEST_NOWHERE, /* nothing may be reported */
    SELFTEST_AT_HOME,
    SELFTEST_AT_VICTIM,
    SELFTEST_IN_LOG,  /* inside what the first fault touched */
    SELFTEST_IN_DATA, /* anywhere in the data file */
};

/* How the run ends. */
enum selftest_end {
    SELFTEST_COMPLETE,  /* final checkpoint, audit */
    SELFTEST_KILLED,    /* dead after the main part; verified offline with its ledger */
    SELFTEST_RESTARTED, /* the same after another boot: the ledger is not believed */
};

struct selftest_case {
    const char *name;
    enum verdict expected;
    enum selftest_place place;
    unsigned rule_count;
    struct fault_rule rules[SELFTEST_RULES_MAX];
    const char
        *settings[SELFTEST_SETTINGS_MAX]; /* "Section.Key=value", beyond those of all cases */
    unsigned log_mib;                     /* 0 = SELFTEST_LOG_MIB */
    enum selftest_end end;
    bool pairs; /* both ends must be named */
};

extern const struct selftest_case selftest_cases[];
extern const size_t selftest_case_count;

struct selftest_config {
    const char *dir; /* an existing folder; a case makes and removes one of its own in it */
    uint64_t seed;
    bool real;                          /* files and clock are real; else the device is modelled */
    const struct io_engine_ops *engine; /* of a real one; NULL = sync */
    unsigned seconds;                   /* of stress; 0 = SELFTEST_SECONDS */
};

struct selftest_result {
    uint64_t injected; /* faults that took effect */
    bool caught;       /* something was reported at the right place */
    bool named;        /* by the right name, once, and both ends where there are two */
    unsigned others;   /* further events: false ones */
    char first_other[1024];
    char message[1024]; /* it could not be run */
};

/* 0, or -errno with result->message. */
int selftest_run(const struct selftest_case *test, const struct selftest_config *config,
                 struct selftest_result *result) __attribute__((warn_unused_result));
/* Did everything come out as it must? */
bool selftest_passed(const struct selftest_case *test, const struct selftest_result *result);
/* Compare findings with the case (selftest_run does). */
void selftest_judge(const struct selftest_case *test, const struct fault_config *faults,
                    const struct findings *findings, struct selftest_result *result);

#endif
