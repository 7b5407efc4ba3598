/*
 * test_schedules.c - random schedules of several faults: errors, short transfers and delays, at
 * random places, once, a few times or from there on; 500 seeds (TEST_SCALE).
 *
 * The rules are those of test_nth_io.c, as far as they hold for any mixture; what was applied is
 * asked from the fault layer.  A seed that failed becomes a case of its own.
 */
#include <errno.h>

#include "patterns/rng.h"
#include "tests/fault/outcome.h"
#include "tests/scale.h"

#define MIB         (1024ull * 1024)
#define SEEDS       500
#define RULES_MAX   4
#define NTH_MAX     200
#define COUNT_MAX   3
#define SHORT_BYTES 4096
#define WHAT_MAX    400
/* Reads that must fail before one place can be called unreadable: the first one and SQL Server's
 * four repeats, for the log; pages have more. */
#define READS_TO_GIVE_UP 5

static const char *boolean(struct rng *rng)
{
    return rng_below(rng, 2) ? "TRUE" : "FALSE";
}

/* Any setting of these with any of its values: the others of the crowd, and what bounds I/O. */
static void crowd_draw(struct sim_options *options, struct rng *rng, unsigned count)
{
    static const struct {
        const char *section, *key, *values[4];
    } crowd[] = {
        {"CONFIG", "CacheHitRatio", {"0", "1000", "5000", "10000"}},
        {"CONFIG", "ForceReadAhead", {"TRUE", "TRUE", "FALSE", "FALSE"}},
        {"CONFIG", "AlternateWriteThrough", {"TRUE", "FALSE", "FALSE", "FALSE"}},
        {"CONFIG", "MaxOutstandingIO", {"0", "0", "1", "5"}},
        {"CONFIG", "TargetIODuration", {"0", "1", "100", "100"}},
        {"CONFIG", "GatherPages", {"1", "4", "128", "128"}},
        {"CONFIG", "DeviceModel", {"ssd", "ssd", "ssd", "hdd"}},
        {"RandomUser", "RatePerSecond", {"0", "0", "200", "5000"}},
        {"ReadAheadUser", "UserCount", {"0", "1", "2", "3"}},
        {"ReadAheadUser", "BuffersRAMin", {"1", "1", "4", "8"}},
        {"ReadAheadUser", "BuffersRAMax", {"8", "16", "64", "200"}},
        {"ReadAheadUser", "RADelay", {"5", "20", "20", "50"}},
        {"BulkUpdateUser", "UserCount", {"0", "1", "2", "3"}},
        {"BulkUpdateUser", "BuffersBUMin", {"1", "1", "4", "8"}},
        {"BulkUpdateUser", "BuffersBUMax", {"8", "16", "16", "24"}},
        {"BulkUpdateUser", "BUDelay", {"5", "10", "20", "50"}},
    };
    for (size_t i = 0; i < sizeof crowd / sizeof *crowd; i++)
        options->settings[count++] = (struct sim_setting){crowd[i].section, crowd[i].key,
                                                          crowd[i].values[rng_below(rng, 4)]};
}

static void sim_draw(struct sim *sim, struct rng *rng, uint64_t seed)
{
    static const char *const users[] = {"1", "2", "5", "8"};
    struct sim_options options = {
        .seed = seed,
        .duration_ns = (50 + rng_below(rng, 250)) * NS_PER_MS,
        .data_bytes = (1 + rng_below(rng, 3)) * MIB,
        .log_bytes = MIB,
        .pool_bytes = (32 + rng_below(rng, 64)) * PAGE_BYTES,
        .workers = 1 + (unsigned)rng_below(rng, 4),
        .databases = 1 + (unsigned)rng_below(rng, 2),
        .with_faults = true,
        .settings = {{"CONFIG", "StopOnError", boolean(rng)},
                     {"CONFIG", "WriteThrough", boolean(rng)},
                     {"CONFIG", "UseScatterGather", boolean(rng)},
                     {"RandomUser", "UserCount", users[rng_below(rng, 4)]},
                     {"RandomUser", "MaxIOChainLength", "16"},
                     {"RandomUser", "MaxLogPerBuffer", "1024"},
                     {"RandomUser", "JumpToNewRegionPercentage", "3000"},
                     {"AuditUser", "UserCount", "1"},
                     {"AuditUser", "AuditDelay", "30"}},
    };
    options.pool_bytes += 64 * PAGE_BYTES;
    crowd_draw(&options, rng, 9);
    sim_begin(sim, &options);
}

static struct fault_rule rule_draw(struct rng *rng, unsigned files)
{
    static const enum fault_kind kinds[] = {FAULT_ERRNO, FAULT_ERRNO, FAULT_SHORT, FAULT_DELAY};
    static const int errors[] = {EIO, EIO, ENOSPC, EDQUOT};
    struct fault_rule rule = {
        .kind = kinds[rng_below(rng, 4)],
        .op = (enum io_op)rng_below(rng, 3),
        .any_op = rng_below(rng, 3) == 0,
        .file_uid = (uint16_t)rng_below(rng, files + 1),
        .nth = 1 + (unsigned)rng_below(rng, 1 + rng_below(rng, NTH_MAX)),
        .count = 1 + (unsigned)rng_below(rng, COUNT_MAX),
    };
    if (rng_below(rng, 4) == 0)
        rule.count = UINT32_MAX;
    if (rng_below(rng, 4) == 0) { /* a bad spot: pages 0 to 63, one to sixteen of them */
        rule.low = rng_below(rng, 64) * PAGE_BYTES;
        rule.high = rule.low + (1 + rng_below(rng, 16)) * PAGE_BYTES;
    }
    if (rule.kind == FAULT_ERRNO)
        rule.a = errors[rng_below(rng, 4)];
    else if (rule.kind == FAULT_SHORT)
        rule.a = rng_below(rng, 2) ? SHORT_BYTES : 0;
    else
        rule.a = (int64_t)((1 + rng_below(rng, 1000)) * (rng_below(rng, 2) ? 1000 : NS_PER_MS));
    return rule;
}

static void rules_draw(struct sim *sim, struct rng *rng, char *what, size_t size)
{
    unsigned count = 1 + (unsigned)rng_below(rng, RULES_MAX);
    for (unsigned i = 0; i < count; i++) {
        struct fault_rule rule = rule_draw(rng, sim->plan.file_count);
        fault_add(sim->faults, &rule);
        size_t used = strlen(what);
        snprintf(what + used, size - used,
                 "; kind %d op %d file %u nth %u count %u a %lld low %llu", rule.kind,
                 rule.any_op ? -1 : (int)rule.op, rule.file_uid, rule.nth, rule.count,
                 (long long)rule.a, (unsigned long long)rule.low);
    }
}

/* ---- what was applied ---- */

struct applied {
    unsigned reads, writes, flushes; /* that can have ended in an error */
};

static struct applied applied_take(const struct fault_config *faults)
{
    struct applied out = {0};
    for (unsigned i = 0; i < faults->truth_count; i++) {
        const struct fault_truth *t = &faults->truth[i];
        const struct fault_rule *rule = &faults->rules[t->rule];
        bool stuck = rule->kind == FAULT_SHORT && rule->a == 0;
        if (rule->kind != FAULT_ERRNO && !stuck)
            continue;
        out.reads += t->op == IO_READ;
        out.writes += t->op == IO_WRITE;
        out.flushes += t->op == IO_FLUSH;
    }
    return out;
}

static void judge(struct sim *sim, const char *what, const struct outcome *o)
{
    struct applied applied = applied_take(sim->faults);
    bool dropped = sim->faults->truth_dropped > 0;
    OUTCOME_CHECK(sim, what, o->ledger.in_flight == 0);
    OUTCOME_CHECK(sim, what, o->integrity == o->by_verdict[VERDICT_unreadable]);
    if (applied.reads < READS_TO_GIVE_UP && !dropped)
        OUTCOME_CHECK(sim, what, o->integrity == 0);
    if (applied.writes + applied.flushes == 0 && !dropped)
        OUTCOME_CHECK(sim, what, o->io_errors == 0 && o->ledger.indeterminate == 0);
    if (o->log_failed)
        OUTCOME_CHECK(sim, what, o->stop == RUN_STOP_ERROR);
    OUTCOME_CHECK(sim, what, o->audited || o->stop != RUN_GOING);
    if (applied.reads + applied.writes + applied.flushes == 0 && !dropped) {
        OUTCOME_CHECK(sim, what, o->result == 0 && o->audited);
        OUTCOME_CHECK(sim, what, o->warnings == o->by_verdict[VERDICT_short_io]);
        OUTCOME_CHECK(sim, what, o->ledger.seen == o->ledger.written);
    }
    if (o->ledger.quarantined > 0)
        OUTCOME_CHECK(sim, what, o->integrity + o->io_errors > 0);
}

/* True when the run was created and a fault fired. */
static bool run_seed(uint64_t seed)
{
    struct sim sim;
    struct outcome o;
    struct rng rng;
    char what[WHAT_MAX];
    rng_seed(&rng, seed);
    snprintf(what, sizeof what, "seed %llu", (unsigned long long)seed);
    sim_draw(&sim, &rng, seed);
    rules_draw(&sim, &rng, what, sizeof what);
    alarm(OUTCOME_SECONDS_MAX);
    sim_run(&sim);
    alarm(0);
    outcome_take(&sim, &o);
    bool fired = o.created && sim.faults->truth_count > 0;
    if (o.created) {
        judge(&sim, what, &o);
        outcome_judge_files(&sim, what);
    } else {
        outcome_judge_not_created(&sim, what, &o);
    }
    sim_end(&sim);
    return fired;
}

static void random_schedules(void **state)
{
    (void)state;
    unsigned long seeds = test_scaled(SEEDS), fired = 0;
    const char *first = getenv("TEST_SEED");
    uint64_t seed = first ? strtoull(first, NULL, 0) : 1;
    printf("seeds %llu to %llu\n", (unsigned long long)seed, (unsigned long long)seed + seeds - 1);
    for (unsigned long i = 0; i < seeds; i++)
        fired += run_seed(seed + i);
    assert_true(fired * 3 > seeds);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(random_schedules),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
