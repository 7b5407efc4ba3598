/*
 * verify_report.h - what `pagestorm verify` prints and writes.
 *
 * Both iterate files, counts and findings; neither names a count or a class.
 */
#ifndef SIM_VERIFY_REPORT_H
#define SIM_VERIFY_REPORT_H

#include <stdio.h>

#include "sim/verify_files.h"

/* The files of one set with their counts. */
void verify_print_set(const struct verify_set *set, FILE *out);
/* Findings and the result. */
void verify_print_findings(const struct findings *findings, FILE *out);

/* A JSON report is built set by set. */
struct verify_json;
struct verify_json *verify_json_begin(void); /* NULL: no memory */
void verify_json_add(struct verify_json *json, const struct verify_set *set);
/* Write it to path ("-": standard output) and free it.  0 or -errno. */
int verify_json_end(struct verify_json *json, const char *path, int exit_code)
    __attribute__((warn_unused_result));
void verify_json_free(struct verify_json *json);

#endif
