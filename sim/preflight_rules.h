/*
 * preflight_rules.h - would SQL Server accept this path, and what is recommended for it: the rules,
 * pure functions of what was seen, listed in tables.
 *
 * A line is one fact with its grade.  REFUSED: SQL Server would not create or open its files there,
 * or Microsoft does not support it there.  ADVICE: it works, and something should be otherwise.
 * NOTE: worth knowing, or could not be found out.
 *
 * Source of the rules: Microsoft's documentation of SQL Server on Linux (supported file systems,
 * performance guidance, FUA settings), the articles on 5178 and 5179 and on trace flag 1800.
 *
 * Threads: pure.
 */
#ifndef SIM_PREFLIGHT_RULES_H
#define SIM_PREFLIGHT_RULES_H

#include "sim/device_facts.h"
#include "sim/host_facts.h"

#define PREFLIGHT_LINES_MAX  40
#define PREFLIGHT_VALUE_MAX  1536
#define PREFLIGHT_ADVICE_MAX 768

enum preflight_grade { PREFLIGHT_OK, PREFLIGHT_NOTE, PREFLIGHT_ADVICE, PREFLIGHT_REFUSED };

struct preflight_line {
    enum preflight_grade grade;
    const char *key;   /* of JSON: "file_system" */
    const char *label; /* for people: "file system" */
    char value[PREFLIGHT_VALUE_MAX];
    char advice[PREFLIGHT_ADVICE_MAX]; /* why, and what to do; "" = nothing */
};

struct preflight_result {
    struct preflight_line lines[PREFLIGHT_LINES_MAX];
    unsigned count;
    enum preflight_grade worst;
};

void preflight_judge_path(struct preflight_result *result, const struct path_facts *facts,
                          const struct host_facts *host);
/* Settings of the machine; paths: what they are judged for (FUA). */
void preflight_judge_host(struct preflight_result *result, const struct host_facts *host,
                          const struct path_facts *paths, unsigned path_count);
/* Does a write-through write need no flush behind it: kernel, file system and device? */
bool preflight_fua_usable(const struct path_facts *facts, const struct host_facts *host);
const char *preflight_grade_text(enum preflight_grade grade); /* "ok", "advice" */
/* enum exit_code: OK, SPEED (advice), INCOMPLETE (refused). */
int preflight_exit_code(enum preflight_grade worst);

#endif
