/*
 * nth_io.h - a small run whose n-th transfer fails or moves less than asked, and its judgement.
 *
 * 1 MiB of data, 1 MiB of log, one or two users of each kind that has I/O, lazy writer, checkpoint,
 * the final audit: few transfers, of every stream (test_nth_io.c demands it).  With one rule: the
 * n-th transfer of any kind, once or from there on.  Every outcome is judged by what the fault
 * layer says that it did: reads, writes of data, writes of the log and flushes each have their
 * rule.
 */
#ifndef TESTS_FAULT_NTH_IO_H
#define TESTS_FAULT_NTH_IO_H

#include <errno.h>

#include "tests/fault/outcome.h"

#define MIB         (1024ull * 1024)
#define SHORT_BYTES 4096 /* of a transfer: half a page, whole sectors of any device */
#define WHAT_MAX    160

struct fault_case {
    const char *name;
    enum fault_kind kind;
    int64_t a;
    bool sticky, stop_on_error, write_through;
};

/* engine: NULL for the modelled device. */
static void sim_small(struct sim *sim, const struct fault_case *c,
                      const struct io_engine_ops *engine)
{
    struct sim_options options = {
        .duration_ns = 100 * NS_PER_MS,
        .data_bytes = 1 * MIB,
        .log_bytes = 1 * MIB,
        .pool_bytes = 32 * PAGE_BYTES,
        .workers = 2,
        .with_faults = true,
        .real_clock = engine != NULL,
        .engine = engine,
        .settings = {{"CONFIG", "StopOnError", c->stop_on_error ? "TRUE" : "FALSE"},
                     {"CONFIG", "WriteThrough", c->write_through ? "TRUE" : "FALSE"},
                     {"CONFIG", "TargetRecoveryTime", c->write_through ? "0" : "20ms"},
                     {"RandomUser", "UserCount", "2"},
                     {"RandomUser", "MaxIOChainLength", "12"},
                     {"RandomUser", "MaxLogPerBuffer", "512"},
                     {"RandomUser", "JumpToNewRegionPercentage", "3000"},
                     {"RandomUser", "SleepAfter", "20"},
                     {"AuditUser", "UserCount", "1"},
                     {"AuditUser", "BuffersValidated", "16"},
                     {"AuditUser", "DelayAfterCycles", "1"},
                     {"AuditUser", "AuditDelay", "40"},
                     {"ReadAheadUser", "UserCount", "1"},
                     {"ReadAheadUser", "BuffersRAMin", "8"},
                     {"ReadAheadUser", "BuffersRAMax", "8"},
                     {"ReadAheadUser", "DelayAfterCycles", "1"},
                     {"ReadAheadUser", "RADelay", "40"},
                     {"BulkUpdateUser", "UserCount", "1"},
                     {"BulkUpdateUser", "BuffersBUMin", "16"},
                     {"BulkUpdateUser", "BuffersBUMax", "16"},
                     {"BulkUpdateUser", "DelayAfterCycles", "1"},
                     {"BulkUpdateUser", "BUDelay", "40"},
                     {"CpuIdleUser", "UserCount", "0"}}, /* has no I/O of its own kind */
    };
    sim_begin(sim, &options);
}

/* ---- what the fault layer says it did ---- */

struct applied {
    bool any, read, data_write, log_write, flush;
    bool late; /* the first one came when every page had been audited */
};

static bool is_log(const struct sim *sim, uint16_t file_uid)
{
    return sim->plan.files[file_uid - 1].is_log;
}

static void applied_take(const struct sim *sim, struct applied *out)
{
    *out = (struct applied){0};
    const struct fault_config *faults = sim->faults;
    for (unsigned i = 0; i < faults->truth_count; i++) {
        const struct fault_truth *t = &faults->truth[i];
        out->any = true;
        out->read = out->read || t->op == IO_READ;
        out->flush = out->flush || t->op == IO_FLUSH;
        out->log_write = out->log_write || (t->op == IO_WRITE && is_log(sim, t->file_uid));
        out->data_write = out->data_write || (t->op == IO_WRITE && !is_log(sim, t->file_uid));
    }
    const struct run_phase_time *audit = &sim->run->phases[PHASE_audit];
    if (!out->any || audit->end_ns == 0)
        return;
    const struct fault_truth *first = &faults->truth[0];
    bool log_read = first->op == IO_READ && is_log(sim, first->file_uid); /* behind the pages */
    out->late = log_read || first->time_ns >= audit->end_ns - 1;
}

/* ---- rules ---- */

/* Reads that stay failing make acknowledged data unreadable; nothing else is an integrity event. */
static void judge_integrity(struct sim *sim, const char *what, const struct fault_case *c,
                            const struct outcome *o, const struct applied *applied)
{
    bool allowed = c->sticky && applied->read;
    OUTCOME_CHECK(sim, what, o->integrity == o->by_verdict[VERDICT_unreadable]);
    OUTCOME_CHECK(sim, what, allowed || o->integrity == 0);
    if (c->sticky && applied->read && !applied->data_write && !applied->log_write &&
        !applied->flush && c->kind == FAULT_ERRNO)
        OUTCOME_CHECK(sim, what, o->integrity > 0);
}

static void judge_errors(struct sim *sim, const char *what, const struct fault_case *c,
                         const struct outcome *o, const struct applied *applied)
{
    bool space = c->kind == FAULT_SHORT || c->a == ENOSPC;
    uint64_t write_errors = o->by_verdict[space ? VERDICT_no_space : VERDICT_write_error];
    uint64_t flush_errors = o->by_verdict[space ? VERDICT_no_space : VERDICT_flush_error];
    if (applied->data_write || applied->log_write)
        OUTCOME_CHECK(sim, what, write_errors > 0);
    if (applied->flush)
        OUTCOME_CHECK(sim, what, flush_errors > 0);
    if (applied->log_write)
        OUTCOME_CHECK(sim, what, o->log_failed);
    if (o->log_failed)
        OUTCOME_CHECK(sim, what, o->stop == RUN_STOP_ERROR);
    if (!applied->data_write && !applied->log_write && !applied->flush)
        OUTCOME_CHECK(sim, what, o->io_errors == 0);
    if (applied->read && !c->sticky)
        OUTCOME_CHECK(sim, what, o->by_verdict[VERDICT_read_retry] > 0);
}

/* Does the run go on, and with what in doubt? */
static void judge_course(struct sim *sim, const char *what, const struct fault_case *c,
                         const struct outcome *o, const struct applied *applied)
{
    bool serious = o->integrity > 0 || o->io_errors > 0;
    if (c->stop_on_error && serious)
        OUTCOME_CHECK(sim, what, o->stop == RUN_STOP_ERROR && (!o->audited || applied->late));
    if (!serious)
        OUTCOME_CHECK(sim, what, o->stop == RUN_GOING && o->audited);
    if (!o->log_failed && !c->stop_on_error)
        OUTCOME_CHECK(sim, what, o->audited);
    if (!c->sticky && !c->stop_on_error && o->audited) {
        OUTCOME_CHECK(sim, what, o->ledger.indeterminate == 0);
        OUTCOME_CHECK(sim, what, o->ledger.quarantined == 0);
        OUTCOME_CHECK(sim, what, o->ledger.seen == o->ledger.written);
    }
}

/* A transfer that moved something is completed by further ones: a warning says so, and that is all.
 */
static void judge_short(struct sim *sim, const char *what, const struct outcome *o)
{
    bool moved_less = false;
    for (unsigned i = 0; i < sim->faults->truth_count; i++)
        moved_less = moved_less || sim->faults->truth[i].size_bytes > SHORT_BYTES;
    OUTCOME_CHECK(sim, what, !moved_less || o->counters.short_ios > 0);
    OUTCOME_CHECK(sim, what, o->created && o->result == 0 && o->audited);
    OUTCOME_CHECK(sim, what, o->integrity == 0 && o->io_errors == 0);
    OUTCOME_CHECK(sim, what, o->warnings == o->by_verdict[VERDICT_short_io]);
    OUTCOME_CHECK(sim, what, !moved_less || o->warnings > 0);
    OUTCOME_CHECK(sim, what, o->ledger.seen == o->ledger.written);
}

/* The rest of a short transfer follows; without progress it must be short twice at one place. */
static bool heals_unnoticed(const struct fault_case *c)
{
    return c->kind == FAULT_SHORT && (c->a > 0 || !c->sticky);
}

static void judge_created(struct sim *sim, const char *what, const struct fault_case *c,
                          const struct outcome *o)
{
    struct applied applied;
    applied_take(sim, &applied);
    OUTCOME_CHECK(sim, what, o->ledger.in_flight == 0);
    if (heals_unnoticed(c)) {
        judge_short(sim, what, o);
        return;
    }
    judge_integrity(sim, what, c, o, &applied);
    judge_errors(sim, what, c, o, &applied);
    judge_course(sim, what, c, o, &applied);
}

/* ---- one run ---- */

/* One run; false when no fault fired: n was beyond its last I/O. */
static bool run_with_fault(const struct fault_case *c, const struct io_engine_ops *engine,
                           unsigned n)
{
    struct sim sim;
    struct outcome o;
    char what[WHAT_MAX];
    snprintf(what, sizeof what, "%s: %s %s, StopOnError %d, WriteThrough %d, I/O %u",
             engine ? engine->name : "mem", c->name, c->sticky ? "from there on" : "once",
             c->stop_on_error, c->write_through, n);
    sim_small(&sim, c, engine);
    struct fault_rule rule = {
        .kind = c->kind, .any_op = true, .nth = n, .count = c->sticky ? UINT32_MAX : 1, .a = c->a};
    fault_add(sim.faults, &rule);
    alarm(OUTCOME_SECONDS_MAX);
    sim_run(&sim);
    alarm(0);
    outcome_take(&sim, &o);
    bool fired = sim.faults->truth_count > 0;
    if (o.created) {
        judge_created(&sim, what, c, &o);
        outcome_judge_files(&sim, what);
    } else {
        OUTCOME_CHECK(&sim, what, fired);
        outcome_judge_not_created(&sim, what, &o);
    }
    sim_end(&sim);
    return fired;
}

#endif
