/*
 * preflight_report.h - what a preflight found, for people (80 columns) and as JSON.
 */
#ifndef SIM_PREFLIGHT_REPORT_H
#define SIM_PREFLIGHT_REPORT_H

#include <stdio.h>

#include "sim/preflight_rules.h"

struct preflight_report {
    const struct path_facts *paths;
    const struct preflight_result *results; /* of the paths */
    unsigned path_count;
    const struct preflight_result *host;
    const char *kernel;
    enum preflight_grade worst;
    int exit_code;
};

void preflight_print(const struct preflight_report *report, FILE *out);
/* path: "-" is standard output.  0 or -errno. */
int preflight_write_json(const struct preflight_report *report, const char *path)
    __attribute__((warn_unused_result));

#endif
