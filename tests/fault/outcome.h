/*
 * outcome.h - what a run with faults left behind: taken from the run, then from its files offline.
 *
 * The rules that hold whatever was injected:
 *   - no page is in flight in the ledger when a run has ended, not even one that was stopped;
 *   - no finding of severity integrity that no fault caused: a failed write leaves a page that may
 *     be old, new or torn, and that is no damage;
 *   - `pagestorm verify` on what is left finds nothing, for every fault here was reported to the
 * run;
 *   - a run that could not start says why and leaves no file.
 *
 * For the tests of this folder only.
 */
#ifndef TESTS_FAULT_OUTCOME_H
#define TESTS_FAULT_OUTCOME_H

#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "sim/verify_check.h"
#include "tests/sim_fixture.h"

#define OUTCOME_SECONDS_MAX 600 /* of one run: ends what hangs, judges nothing */

struct outcome {
    int result, exit_code;
    enum run_stop stop;
    bool created, audited, log_failed;
    uint64_t integrity, io_errors, warnings;
    uint64_t by_verdict[VERDICT_COUNT];
    struct ledger_count ledger; /* of all data files */
    struct counters counters;
};

static inline uint64_t outcome_count(const struct findings *findings, enum severity severity)
{
    uint64_t sum = 0;
    for (int i = VERDICT_NONE + 1; i < VERDICT_COUNT; i++)
        if (verdict_info((enum verdict)i)->severity == severity)
            sum += findings->by_verdict[i];
    return sum;
}

static inline void outcome_ledger(const struct run *run, struct ledger_count *sum)
{
    for (unsigned i = 0; i < run->file_count && run->ledger; i++) {
        struct ledger_count count = ledger_count(run->ledger, run->files[i]->file.mark.file_uid);
        sum->written += count.written;
        sum->seen += count.seen;
        sum->indeterminate += count.indeterminate;
        sum->quarantined += count.quarantined;
        sum->in_flight += count.in_flight;
    }
}

/* After sim_run, before sim_close. */
static inline void outcome_take(const struct sim *sim, struct outcome *out)
{
    const struct run *run = sim->run;
    static struct stats stats; /* lint: mutable: scratch, too large for a stack */
    memset(out, 0, sizeof *out);
    out->result = sim->result;
    out->exit_code = run->exit_code;
    out->stop = (enum run_stop)atomic_load(&run->stop);
    out->created = run->phases[PHASE_create].complete;
    out->audited = run->audited;
    for (unsigned i = 0; i < run->database_count; i++)
        out->log_failed = out->log_failed || wal_failed(&run->databases[i].wal);
    out->integrity = outcome_count(&run->findings, SEVERITY_INTEGRITY);
    out->io_errors = outcome_count(&run->findings, SEVERITY_IO_ERROR);
    out->warnings = outcome_count(&run->findings, SEVERITY_WARNING);
    memcpy(out->by_verdict, run->findings.by_verdict, sizeof out->by_verdict);
    outcome_ledger(run, &out->ledger);
    run_stats(run, &stats);
    out->counters = stats.counters;
}

/* A finding of this class and file, or NULL. */
static inline const struct finding *outcome_finding(const struct sim *sim, enum verdict verdict,
                                                    uint16_t file_uid)
{
    const struct findings *findings = &sim->run->findings;
    for (unsigned i = 0; i < findings->count; i++)
        if (findings->list[i].verdict == verdict && findings->list[i].file_uid == file_uid)
            return &findings->list[i];
    return NULL;
}

/* Data and log files that are still there. */
static inline unsigned outcome_files_left(const struct sim *sim)
{
    unsigned left = 0;
    for (unsigned i = 0; i < sim->plan.file_count; i++)
        left += access(sim->plan.files[i].path, F_OK) == 0;
    return left;
}

/* ---- offline ---- */

struct offline {
    int error; /* it could not be checked */
    char message[VERIFY_MESSAGE_MAX];
    unsigned findings;
    char lines[4][512]; /* the first of them */
    uint64_t pages_right, pages_wrong, pages_indeterminate, log_blocks;
};

static inline void offline_take(const struct verify_set *set, struct offline *out)
{
    snprintf(out->message, sizeof out->message, "%s", set->message);
    out->findings = set->findings->count;
    for (unsigned i = 0; i < out->findings && i < 4; i++)
        finding_line(&set->findings->list[i], out->lines[i], sizeof out->lines[i]);
    for (size_t i = 0; i < set->count; i++) {
        const uint64_t *counts = set->files[i].counts;
        out->pages_right += counts[VERIFY_COUNT_pages_right];
        out->pages_wrong += counts[VERIFY_COUNT_pages_wrong];
        out->pages_indeterminate += counts[VERIFY_COUNT_pages_indeterminate];
        out->log_blocks += counts[VERIFY_COUNT_log_blocks];
    }
}

/* What `pagestorm verify FOLDER` finds.  After sim_close. */
static inline void offline_check(const struct sim *sim, struct offline *out)
{
    static struct verify_set set; /* lint: mutable: scratch, too large for a stack */
    struct findings findings;
    const char *paths[1] = {sim->folder};
    memset(out, 0, sizeof *out);
    assert_int_equal(findings_init(&findings, NULL, NULL, NULL, false), 0);
    out->error = verify_set_open(&set, paths, 1, true, &findings);
    if (!out->error)
        out->error = verify_check(&set);
    offline_take(&set, out);
    verify_set_close(&set);
    findings_free(&findings);
}

/* ---- rules ---- */

/* A condition that failed tells the case, the findings and what was looked for, then the test
 * fails.  `what` is the text of the case (kind, n, settings). */
#define OUTCOME_CHECK(sim, what, condition)                                                        \
    outcome_check(sim, what, condition, #condition, __FILE__, __LINE__)

static inline void outcome_check(const struct sim *sim, const char *what, bool condition,
                                 const char *text, const char *file, int line)
{
    if (condition)
        return;
    fprintf(stderr, "%s: not true: %s\n", what, text);
    if (sim->run)
        sim_print_findings(sim);
    for (unsigned i = 0; sim->faults && i < sim->faults->truth_count && i < 8; i++) {
        const struct fault_truth *t = &sim->faults->truth[i];
        fprintf(stderr, "  fault: %s file %u offset %llu size %llu at %llu ns\n",
                t->op == IO_READ    ? "read"
                : t->op == IO_WRITE ? "write"
                                    : "flush",
                t->file_uid, (unsigned long long)t->offset, (unsigned long long)t->size_bytes,
                (unsigned long long)t->time_ns);
    }
    _fail(file, line);
}

/* The rules that hold for every run that was created; closes the run. */
static inline void outcome_judge_files(struct sim *sim, const char *what)
{
    struct offline offline;
    sim_close(sim);
    offline_check(sim, &offline);
    for (unsigned i = 0; i < offline.findings && i < 4; i++)
        fprintf(stderr, "%s: offline: %s\n", what, offline.lines[i]);
    if (offline.error)
        fprintf(stderr, "%s: offline: %s\n", what, offline.message);
    OUTCOME_CHECK(sim, what, offline.error == 0);
    OUTCOME_CHECK(sim, what, offline.findings == 0);
    OUTCOME_CHECK(sim, what, offline.pages_wrong == 0);
}

/* A run that was not created: a reason, the exit code, nothing left; closes the run. */
static inline void outcome_judge_not_created(struct sim *sim, const char *what,
                                             const struct outcome *o)
{
    int exit_code = o->result == -EINTR ? 130 : 3; /* DESIGN section 8 */
    OUTCOME_CHECK(sim, what, o->result < 0);
    OUTCOME_CHECK(sim, what, o->exit_code == exit_code);
    OUTCOME_CHECK(sim, what, strlen(sim->run->message) > 10);
    sim_close(sim);
    OUTCOME_CHECK(sim, what, outcome_files_left(sim) == 0);
}

#endif
