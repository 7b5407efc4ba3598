/*
 * campaign.h - many drawn faults in one run, then every finding is held against the truth list.
 *
 * The rule of counting: a fault counts when its sectors are read before they are written again; the
 * others are masked (fault_fate.c).  Each fault that counts must be found.  Each finding must
 * belong to a fault, and carry a name that the fault allows: reference "faults", 1.4, lists what no
 * observer can tell apart.
 *
 * A run has two databases.  The faults of a run divide their data files into blocks, one fault a
 * block: its home and the page that it may hit besides lie in it, so what is found at a page is
 * some one fault's.
 */
#ifndef TESTS_DETECT_CAMPAIGN_H
#define TESTS_DETECT_CAMPAIGN_H

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "patterns/rng.h"
#include "tests/sim_fixture.h"

#define CAMPAIGN_MIB      (1024ull * 1024)
#define CAMPAIGN_DATA_MIB 12
#define CAMPAIGN_FAULTS   40         /* of a run */
#define CAMPAIGN_REREADS  4          /* SQL Server's; fewer: a write of the page came between */
#define CAMPAIGN_ROOMY    4          /* each so-many-th seed */
#define CAMPAIGN_PURPOSE  0x43414D50 /* "CAMP" */

#define BLOCKS_A_FILE     (CAMPAIGN_FAULTS / 2)
#define FIRST_PAGE        16
#define BLOCK_PAGES       ((CAMPAIGN_DATA_MIB * 128 - FIRST_PAGE) / BLOCKS_A_FILE)
#define HOMES             (BLOCK_PAGES / 3) /* homes, victims, victims of the other file */
#define PAGE_SIZE_BYTES   8192
#define SECTOR            512
#define SECTORS           16
#define ALWAYS            UINT32_MAX
#define STAMP_END         0xC4 /* SQL header, then the page stamp: their damage is the header's */

#define V(name)           (1ull << VERDICT_##name)

enum campaign_kind {
    CAMPAIGN_FLIP,
    CAMPAIGN_ZEROS,
    CAMPAIGN_GARBAGE,
    CAMPAIGN_TORN,
    CAMPAIGN_LOST,
    CAMPAIGN_MISDIRECTED,
    CAMPAIGN_DUPLICATE,
    CAMPAIGN_NEIGHBOUR,
    CAMPAIGN_OTHER_FILE,
    CAMPAIGN_MEMORY,
    CAMPAIGN_STALE,
    CAMPAIGN_REPLAY,
    CAMPAIGN_MISREAD,
    CAMPAIGN_NOT_READ,
    CAMPAIGN_READ_DAMAGE,
    CAMPAIGN_READ_ERROR,
    CAMPAIGN_UNREADABLE,
    CAMPAIGN_KINDS,
};

struct campaign_row {
    const char *name;
    enum fault_kind kind;
    enum io_op op;
    unsigned nth_from, nth_to;  /* the first match that it hits is drawn */
    unsigned always;            /* percent of the faults of this kind that stay */
    uint64_t at_home, at_stray; /* names that are allowed there; 0: the place is not wrong */
    uint64_t cut_short;         /* and at home where a write ended the re-reads */
    uint64_t at_zeros; /* and where the older content was the zeros before the first write */
};

/* Faults of reads hit the first one: later ones may be the search for the other end of something,
 * which judges nothing. */
static const struct campaign_row campaign_rows[CAMPAIGN_KINDS] = {
    [CAMPAIGN_FLIP] = {"flip", FAULT_FLIP, IO_WRITE, 1, 3, 50, V(bit_flip), 0},
    [CAMPAIGN_ZEROS] = {"zeros", FAULT_FILL, IO_WRITE, 1, 3, 50, V(zeroed), 0},
    [CAMPAIGN_GARBAGE] = {"garbage", FAULT_GARBAGE, IO_WRITE, 1, 3, 50, V(garbage), 0},
    [CAMPAIGN_TORN] = {"torn", FAULT_TORN, IO_WRITE, 2, 4, 50, V(torn_page), 0},
    [CAMPAIGN_LOST] = {"lost", FAULT_LOST, IO_WRITE, 2, 4, 50, V(lost_write), 0},
    /* The other end may be healed before it is read. */
    [CAMPAIGN_MISDIRECTED] = {"misdirected", FAULT_MISDIRECT_WRITE, IO_WRITE, 2, 4, 0,
                              V(misdirected_write) | V(lost_write),
                              V(misdirected_write) | V(replayed_write)},
    [CAMPAIGN_DUPLICATE] = {"duplicate", FAULT_DUPLICATE, IO_WRITE, 2, 4, 0, 0,
                            V(replayed_write) | V(misdirected_write)},
    [CAMPAIGN_NEIGHBOUR] = {"neighbour", FAULT_NEIGHBOUR, IO_WRITE, 2, 4, 0, 0,
                            V(neighbour_damage) | V(garbage)},
    [CAMPAIGN_OTHER_FILE] = {"other file", FAULT_OTHER_FILE, IO_WRITE, 2, 4, 0,
                             V(misdirected_write) | V(lost_write),
                             V(misdirected_write) | V(replayed_write)},
    [CAMPAIGN_MEMORY] = {"memory", FAULT_CHANGE_MEMORY, IO_WRITE, 2, 2, 100, V(memory_changed), 0},
    [CAMPAIGN_STALE] = {"stale", FAULT_STALE, IO_READ, 1, 1, 0, V(stale_read), 0,
                        V(lost_write) | V(replayed_write), V(transient_damage)},
    /* An older write again, over one that nobody had read: no observer can tell it from lost. */
    [CAMPAIGN_REPLAY] = {"replay", FAULT_REPLAY, IO_READ, 1, 1, 0,
                         V(replayed_write) | V(lost_write), 0, 0, V(zeroed)},
    [CAMPAIGN_MISREAD] = {"misread", FAULT_MISDIRECT_READ, IO_READ, 1, 1, 0, V(misdirected_read), 0,
                          V(misdirected_write) | V(replayed_write)},
    [CAMPAIGN_NOT_READ] = {"not read", FAULT_NOT_READ, IO_READ, 1, 1, 0, V(bytes_not_read), 0},
    [CAMPAIGN_READ_DAMAGE] = {"read damage", FAULT_GARBAGE, IO_READ, 1, 1, 0, V(transient_damage),
                              0, V(garbage)},
    [CAMPAIGN_READ_ERROR] = {"read error", FAULT_ERRNO, IO_READ, 1, 1, 0, V(read_retry), 0},
    [CAMPAIGN_UNREADABLE] = {"unreadable", FAULT_ERRNO, IO_READ, 1, 1, 100, V(unreadable), 0},
};

/* One drawn fault: rule i of the run is fault i. */
struct campaign_fault {
    enum campaign_kind kind;
    uint64_t at_home; /* allowed names; the row's, and what the drawn offset adds */
    uint16_t uid, stray_uid;
    uint32_t home, stray;
    bool counts, counts_stray; /* it was met */
    bool found, found_stray;
};

struct campaign_tally {
    uint64_t runs, injected, masked, counted, missed, named, misnamed, others, pages_verified;
    uint64_t by_kind[CAMPAIGN_KINDS]; /* counted */
};

struct campaign_run {
    struct sim sim;
    uint64_t seed;
    bool roomy; /* the pool holds everything: what is changed in memory stays there to be seen */
    struct campaign_fault faults[CAMPAIGN_FAULTS];
    struct campaign_tally *tally;
};

/* ---- drawing ---- */

static inline uint32_t campaign_page(struct rng *rng, unsigned block, unsigned part)
{
    return (uint32_t)(FIRST_PAGE + block * BLOCK_PAGES + part * HOMES + rng_below(rng, HOMES));
}

/* Offsets and lengths in the page: a whole number of sectors, garbage any bytes. */
static inline void campaign_extent(struct rng *rng, struct campaign_fault *fault,
                                   struct fault_rule *rule)
{
    uint64_t sector = rng_below(rng, SECTORS);
    switch (fault->kind) {
    case CAMPAIGN_FLIP:
    case CAMPAIGN_MEMORY:
        rule->a = (int64_t)rng_below(rng, PAGE_SIZE_BYTES);
        rule->b = (int64_t)rng_below(rng, 8);
        if (rule->a < STAMP_END && fault->kind == CAMPAIGN_FLIP)
            fault->at_home |= V(header_damage);
        break;
    case CAMPAIGN_ZEROS:
    case CAMPAIGN_GARBAGE:
    case CAMPAIGN_READ_DAMAGE:
        rule->a = (int64_t)(sector * SECTOR);
        rule->b = (int64_t)(SECTOR * (1 + rng_below(rng, SECTORS - sector)));
        rule->c = fault->kind == CAMPAIGN_ZEROS ? 0 : (int64_t)rng_next(rng);
        break;
    case CAMPAIGN_TORN:
        rule->a = (int64_t)(SECTOR * (1 + rng_below(rng, SECTORS - 1)));
        break;
    case CAMPAIGN_NEIGHBOUR:
        rule->b = (int64_t)(SECTOR * (1 + rng_below(rng, SECTORS)));
        rule->c = (int64_t)rng_next(rng);
        break;
    case CAMPAIGN_READ_ERROR:
    case CAMPAIGN_UNREADABLE:
        rule->a = EIO;
        break;
    default:
        break;
    }
}

static inline bool campaign_moves(enum campaign_kind kind)
{
    return kind == CAMPAIGN_MISDIRECTED || kind == CAMPAIGN_DUPLICATE ||
           kind == CAMPAIGN_NEIGHBOUR || kind == CAMPAIGN_OTHER_FILE || kind == CAMPAIGN_MISREAD;
}

static inline void campaign_draw(struct campaign_run *run, struct rng *rng, unsigned index)
{
    static const uint16_t uids[2] = {1, 3}; /* data files; 2 and 4 are their logs */
    struct campaign_fault *fault = &run->faults[index];
    unsigned block = index / 2;
    fault->kind = (enum campaign_kind)rng_below(rng, CAMPAIGN_KINDS);
    if (fault->kind == CAMPAIGN_MEMORY && !run->roomy)
        fault->kind = CAMPAIGN_FLIP;
    const struct campaign_row *row = &campaign_rows[fault->kind];
    bool other_file = fault->kind == CAMPAIGN_OTHER_FILE;
    fault->uid = uids[index % 2];
    fault->stray_uid = uids[(index + other_file) % 2];
    fault->home = campaign_page(rng, block, 0);
    fault->stray = campaign_page(rng, block, other_file ? 2 : 1);
    fault->at_home = row->at_home;
    struct fault_rule rule = {
        .kind = row->kind,
        .op = row->op,
        .file_uid = fault->uid,
        .low = fault->home * (uint64_t)PAGE_SIZE_BYTES,
        .high = (fault->home + 1) * (uint64_t)PAGE_SIZE_BYTES,
        .nth = row->nth_from + (unsigned)rng_below(rng, row->nth_to - row->nth_from + 1),
        .count = rng_below(rng, 100) < row->always ? ALWAYS : 1,
    };
    campaign_extent(rng, fault, &rule);
    if (campaign_moves(fault->kind))
        rule.a = ((int64_t)fault->stray - (int64_t)fault->home) * PAGE_SIZE_BYTES;
    if (other_file)
        rule.c = fault->stray_uid;
    fault_add(run->sim.faults, &rule);
}

/* ---- counting ---- */

static inline void campaign_take_truths(struct campaign_run *run)
{
    const struct fault_config *config = run->sim.faults;
    bool applied[CAMPAIGN_FAULTS] = {false};
    for (unsigned i = 0; i < config->truth_count; i++) {
        const struct fault_truth *truth = &config->truth[i];
        struct campaign_fault *fault = &run->faults[truth->rule];
        applied[truth->rule] = true;
        /* What is done to memory waits for the next look at the frame, not for a read. */
        if ((fault->at_home && truth->fate == FAULT_MET) || fault->kind == CAMPAIGN_MEMORY)
            fault->counts = true;
        if (truth->stray.size_bytes > 0 && truth->stray.fate == FAULT_MET)
            fault->counts_stray = true;
    }
    for (unsigned i = 0; i < CAMPAIGN_FAULTS; i++) {
        bool counts = run->faults[i].counts || run->faults[i].counts_stray;
        run->tally->injected += applied[i];
        run->tally->masked += applied[i] && !counts;
        run->tally->counted += counts;
        run->tally->by_kind[run->faults[i].kind] += counts;
    }
}

static inline bool campaign_is_at(uint16_t uid, uint32_t page, const struct finding *finding)
{
    return finding->has_page && finding->file_uid == uid && finding->page_no == page;
}

static inline void campaign_tell(const struct campaign_run *run, const char *what,
                                 const struct campaign_fault *fault, const struct finding *finding)
{
    char line[1024] = "";
    if (finding)
        finding_line(finding, line, sizeof line);
    fprintf(stderr, "seed %" PRIu64 ": %s %s, home %u:%u, stray %u:%u: %s\n", run->seed, what,
            fault ? campaign_rows[fault->kind].name : "", fault ? fault->uid : 0,
            fault ? fault->home : 0, fault ? fault->stray_uid : 0, fault ? fault->stray : 0, line);
}

static inline uint64_t campaign_allowed(const struct campaign_fault *fault,
                                        const struct finding *finding)
{
    const struct campaign_row *row = &campaign_rows[fault->kind];
    bool cut_short = !finding->healed && finding->retries < CAMPAIGN_REREADS;
    bool zeros = finding->why.generation_found == 0;
    uint64_t of_zeros = row->at_zeros | (cut_short && row->cut_short ? V(zeroed) : 0);
    return fault->at_home | (cut_short ? row->cut_short : 0) | (zeros ? of_zeros : 0);
}

/* An event at one end that names the other stands for both. */
static inline void campaign_take(struct campaign_run *run, struct campaign_fault *fault,
                                 const struct finding *finding, bool at_home)
{
    const struct campaign_row *row = &campaign_rows[fault->kind];
    uint64_t allowed = at_home ? campaign_allowed(fault, finding) : row->at_stray;
    uint32_t other = at_home ? fault->stray : fault->home;
    bool both = finding->paired && finding->other_page_no == other;
    bool named = allowed >> finding->verdict & 1;
    fault->found = fault->found || at_home || both;
    fault->found_stray = fault->found_stray || !at_home || both;
    run->tally->named += named;
    run->tally->misnamed += !named;
    if (!named)
        campaign_tell(run, "misnamed", fault, finding);
}

/* A read of many pages that failed is one event, whatever failed in it. */
static inline bool campaign_take_range(struct campaign_run *run, const struct finding *finding)
{
    bool taken = false;
    for (unsigned i = 0; i < CAMPAIGN_FAULTS; i++) {
        struct campaign_fault *fault = &run->faults[i];
        uint64_t offset = fault->home * (uint64_t)PAGE_SIZE_BYTES;
        bool errors = campaign_rows[fault->kind].kind == FAULT_ERRNO;
        if (!errors || finding->file_uid != fault->uid || offset < finding->offset ||
            offset >= finding->offset + finding->size_bytes)
            continue;
        fault->found = fault->found || fault->kind == CAMPAIGN_READ_ERROR;
        taken = true;
    }
    run->tally->named += taken && finding->verdict == VERDICT_read_retry;
    return taken && finding->verdict == VERDICT_read_retry;
}

static inline void campaign_take_finding(struct campaign_run *run, const struct finding *finding)
{
    for (unsigned i = 0; i < CAMPAIGN_FAULTS; i++) {
        struct campaign_fault *fault = &run->faults[i];
        bool at_home = campaign_is_at(fault->uid, fault->home, finding);
        bool at_stray = campaign_rows[fault->kind].at_stray &&
                        campaign_is_at(fault->stray_uid, fault->stray, finding);
        if (at_home || at_stray) {
            campaign_take(run, fault, finding, at_home);
            return;
        }
    }
    if (!finding->has_page && campaign_take_range(run, finding))
        return;
    run->tally->others++;
    campaign_tell(run, "no fault of ours", NULL, finding);
}

static inline void campaign_count(struct campaign_run *run)
{
    const struct findings *findings = &run->sim.run->findings;
    campaign_take_truths(run);
    for (unsigned i = 0; i < findings->count; i++) {
        const struct finding *finding = &findings->list[i];
        if (!finding->amended && verdict_info(finding->verdict)->severity != SEVERITY_INFORMATION)
            campaign_take_finding(run, finding);
    }
    for (unsigned i = 0; i < CAMPAIGN_FAULTS; i++) {
        struct campaign_fault *fault = &run->faults[i];
        bool missed =
            (fault->counts && !fault->found) || (fault->counts_stray && !fault->found_stray);
        run->tally->missed += missed;
        if (missed)
            campaign_tell(run, "missed", fault, NULL);
    }
}

/* ---- a run ---- */

static inline struct sim_options campaign_options(uint64_t seed, bool roomy)
{
    return (struct sim_options){
        .seed = seed,
        .duration_ns = 2 * NS_PER_S,
        .data_bytes = CAMPAIGN_DATA_MIB * CAMPAIGN_MIB,
        .log_bytes = 16 * CAMPAIGN_MIB,
        .pool_bytes = (roomy ? 64 : 4) * CAMPAIGN_MIB,
        .databases = 2,
        .with_faults = true,
        .settings = {{"CONFIG", "StopOnError", "FALSE"},
                     {"CONFIG", "CheckpointInterval", "1"},
                     {"RandomUser", "UserCount", "12"},
                     {"RandomUser", "JumpToNewRegionPercentage", "10000"},
                     {"RandomUser", "MaxIOChainLength", "16"},
                     {"RandomUser", "MinLogPerBuffer", "64"},
                     {"RandomUser", "MaxLogPerBuffer", "512"},
                     {"RandomUser", "SleepAfter", "1"},
                     {"AuditUser", "UserCount", "1"}},
    };
}

/* 0, or what the run ended with when it could not go on. */
static inline int campaign_run(uint64_t seed, struct campaign_tally *tally)
{
    struct campaign_run *run = calloc(1, sizeof *run);
    struct stats *stats = calloc(1, sizeof *stats);
    struct rng rng;
    if (!run || !stats)
        abort();
    run->seed = seed;
    run->roomy = seed % CAMPAIGN_ROOMY == 0;
    run->tally = tally;
    struct sim_options options = campaign_options(seed, run->roomy);
    sim_begin(&run->sim, &options);
    rng_split(&rng, seed, CAMPAIGN_PURPOSE, 0);
    for (unsigned i = 0; i < CAMPAIGN_FAULTS; i++)
        campaign_draw(run, &rng, i);
    sim_run(&run->sim);
    int result = run->sim.result;
    campaign_count(run);
    run_stats(run->sim.run, stats);
    tally->pages_verified += stats->counters.pages_verified;
    tally->runs++;
    sim_end(&run->sim);
    free(stats);
    free(run);
    return result;
}

static inline void campaign_print(const struct campaign_tally *tally)
{
    printf("%" PRIu64 " runs: %" PRIu64 " faults injected, %" PRIu64 " masked, %" PRIu64
           " counted, %" PRIu64 " missed; findings: %" PRIu64 " named right, %" PRIu64
           " misnamed, %" PRIu64 " of no fault; %" PRIu64 " pages verified\n",
           tally->runs, tally->injected, tally->masked, tally->counted, tally->missed, tally->named,
           tally->misnamed, tally->others, tally->pages_verified);
    for (unsigned kind = 0; kind < CAMPAIGN_KINDS; kind++)
        printf("  %-12s %" PRIu64 "\n", campaign_rows[kind].name, tally->by_kind[kind]);
    fflush(stdout);
}

#endif
