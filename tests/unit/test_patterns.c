/*
 * test_patterns.c - the pattern contract for every pattern of the list, then each pattern's own
 * rules.
 *
 * Expected numbers are SQLIOSim's documentation and arithmetic shown here.  State is allocated with
 * exactly state_size() bytes, so that the address sanitizer sees a chain that does not fit.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <stdlib.h>
#include <string.h>

#include "patterns/pattern.h"

#define FILES_MAX 3
#define MS        1000000ll

struct actor {
    const struct pattern *pattern;
    void *settings;
    void *state;
};

static void set(struct actor *actor, const char *key, const char *value)
{
    const struct opt *opt = opt_find(actor->pattern->section, key);
    char text[OPT_TEXT_MAX];

    assert_non_null(opt);
    assert_int_equal(opt_set(opt, actor->settings, value, text), 0);
}

static struct actor actor_settings(const char *name)
{
    struct actor actor = {.pattern = pattern_by_name(name)};

    assert_non_null(actor.pattern);
    if (actor.pattern->section) {
        actor.settings = malloc(actor.pattern->section->size_bytes);
        assert_non_null(actor.settings);
        opt_section_defaults(actor.pattern->section, actor.settings);
    }
    return actor;
}

static void actor_start(struct actor *actor, uint64_t seed, unsigned index)
{
    actor->state = malloc(actor->pattern->state_size(actor->settings));
    assert_non_null(actor->state);
    actor->pattern->init(actor->state, actor->settings, seed, index);
    if (actor->pattern->place)
        actor->pattern->place(actor->state, index);
}

static void actor_free(struct actor *actor)
{
    if (actor->settings)
        opt_section_free(actor->pattern->section, actor->settings);
    free(actor->settings);
    free(actor->state);
}

static struct op next(struct actor *actor, const struct pattern_view *view)
{
    struct op op;

    memset(&op, 0xA5, sizeof(op)); /* what next() leaves out shows */
    actor->pattern->next(actor->state, view, &op);
    return op;
}

static struct op next_of_kind(struct actor *actor, const struct pattern_view *view,
                              enum op_kind kind)
{
    for (int i = 0; i < 100; i++) {
        const struct op op = next(actor, view);

        if (op.kind == kind)
            return op;
    }
    fail_msg("no intent of kind %d among 100", (int)kind);
    return (struct op){.kind = kind};
}

static const struct pattern_file three_files[FILES_MAX] = {{.size_pages = 1000, .database = 0},
                                                           {.size_pages = 1, .database = 0},
                                                           {.size_pages = 64, .database = 1}};
static const struct pattern_file one_file[] = {{.size_pages = 100000, .database = 0}};

static struct pattern_view view_of(const struct pattern_file *files, unsigned count)
{
    return (struct pattern_view){.now_ns = 1000 * MS,
                                 .last_checkpoint_ns = 900 * MS,
                                 .checkpoint_interval_ns = 60000 * MS,
                                 .log_full_permille = 700,
                                 .files = files,
                                 .file_count = count};
}

static void assert_op_fits(const struct op *op, const struct pattern_view *view)
{
    uint32_t below = 0;

    switch (op->kind) {
    case OP_UPDATE:
        assert_true(op->file < view->file_count);
        assert_true(op->pages_count > 0);
        for (unsigned i = 0; i < op->pages_count; i++) {
            assert_true(i == 0 || op->pages[i].page_no > below);
            below = op->pages[i].page_no;
            assert_true(below < view->files[op->file].size_pages);
        }
        break;
    case OP_AUDIT:
    case OP_READ_AHEAD:
    case OP_BULK:
        assert_true(op->file < view->file_count);
        assert_true(op->page_count > 0);
        assert_true((uint64_t)op->first_page + op->page_count <= view->files[op->file].size_pages);
        break;
    case OP_STORE:
        assert_true(op->store.pages > 0 && op->store.pages % 8 == 0); /* whole extents */
        break;
    case OP_SORT:
        assert_true(op->spill.run_pages > 0 && op->spill.run_pages <= op->spill.pages);
        assert_true(op->spill.ways >= 2);
        __attribute__((fallthrough));
    case OP_HASH:
        assert_true(op->spill.pages > 0 && op->spill.ways > 0 && op->spill.outstanding > 0);
        assert_true(op->spill.chunk_pages % 8 == 0); /* whole extents */
        assert_true(op->spill.chunk_pages > 0 && op->spill.chunk_pages <= 128);
        break;
    case OP_THINK:
        assert_true(op->think_ns > 0);
        break;
    case OP_COMPUTE:
        assert_true(op->compute_cycles > 0);
        break;
    case OP_YIELD:
    case OP_CHECKDB:
    case OP_BACKUP:
    case OP_CHECKPOINT:
    case OP_LAZY_WRITE:
    case OP_FRAME_CHECK:
        break;
    default:
        fail_msg("unknown kind %d", (int)op->kind);
    }
}

/* ---- every pattern of the list ---- */

/* Named as it begins: the last one named before a failure is the one that failed. */
static const struct pattern *pattern_at(size_t index)
{
    print_message("  %s\n", patterns[index]->name);
    return patterns[index];
}

static void the_list_has_the_users_and_the_checkpoint(void **state)
{
    (void)state;
    assert_ptr_equal(pattern_by_name("RandomUser"), &pattern_random_user);
    assert_ptr_equal(pattern_by_name("audituser"), &pattern_audit_user);
    assert_ptr_equal(pattern_by_name("CHECKPOINT"), &pattern_checkpoint);
    assert_null(pattern_by_name("RandomUsers"));
}

static void names_are_unique(void **state)
{
    (void)state;
    for (size_t i = 0; i < patterns_count; i++)
        assert_ptr_equal(pattern_by_name(pattern_at(i)->name), patterns[i]);
}

static void sections_leave_out_patterns_without_options(void **state)
{
    const struct opt_section *sections[64];
    const size_t count = pattern_sections(sections, 64);
    size_t with_options = 0;

    (void)state;
    for (size_t i = 0; i < patterns_count; i++) {
        if (!patterns[i]->section)
            continue;
        assert_true(with_options < count);
        assert_ptr_equal(sections[with_options], patterns[i]->section);
        with_options++;
    }
    assert_int_equal(count, with_options);
    assert_true(with_options < patterns_count); /* the checkpoint has none */
    assert_int_equal(pattern_sections(sections, 1), 1);
}

static void every_table_is_sound_and_its_defaults_are_accepted(void **state)
{
    char text[OPT_TEXT_MAX];

    (void)state;
    for (size_t i = 0; i < patterns_count; i++) {
        const struct pattern *pattern = pattern_at(i);
        const struct opt_section *section = pattern->section;
        struct actor actor = actor_settings(pattern->name);

        if (section) {
            assert_string_equal(section->name, pattern->name);
            if (opt_section_check(section, text))
                fail_msg("[%s] %s", section->name, text);
            if (section->check && section->check(actor.settings, text))
                fail_msg("[%s] %s", section->name, text);
        }
        assert_int_equal(pattern->per_database, pattern->user_count == NULL);
        actor_free(&actor);
    }
}

static void every_intent_lies_inside_the_files(void **state)
{
    const struct pattern_view view = view_of(three_files, FILES_MAX);

    (void)state;
    for (size_t i = 0; i < patterns_count; i++) {
        struct actor actor = actor_settings(pattern_at(i)->name);

        actor_start(&actor, 11, 0);
        for (int n = 0; n < 5000; n++) {
            const struct op op = next(&actor, &view);

            assert_op_fits(&op, &view);
        }
        actor_free(&actor);
    }
}

/* The files are cut and grown under a running actor, as a shrink user does. */
static void every_intent_follows_files_that_shrink_and_grow(void **state)
{
    struct pattern_file files[FILES_MAX] = {{.size_pages = 1000, .database = 0},
                                            {.size_pages = 1000, .database = 0},
                                            {.size_pages = 1000, .database = 0}};
    const struct pattern_view view = view_of(files, FILES_MAX);
    struct rng rng;

    (void)state;
    rng_seed(&rng, 12);
    for (size_t i = 0; i < patterns_count; i++) {
        struct actor actor = actor_settings(pattern_at(i)->name);

        actor_start(&actor, 12, 0);
        for (int n = 0; n < 5000; n++) {
            files[rng_below(&rng, FILES_MAX)].size_pages = (uint32_t)rng_below(&rng, 300);
            const struct op op = next(&actor, &view);

            assert_op_fits(&op, &view);
        }
        actor_free(&actor);
    }
}

static void every_pattern_waits_while_no_file_has_a_page(void **state)
{
    static const struct pattern_file empty[] = {{.size_pages = 0, .database = 0},
                                                {.size_pages = 0, .database = 0}};

    (void)state;
    for (unsigned count = 0; count <= 2; count += 2) {
        const struct pattern_view view = view_of(empty, count);

        for (size_t i = 0; i < patterns_count; i++) {
            struct actor actor = actor_settings(pattern_at(i)->name);

            actor_start(&actor, 13, 0);
            /* they ask the pool, and tempdb, not the files */
            if (patterns[i]->checks || patterns[i]->tempdb) {
                actor_free(&actor);
                continue;
            }
            for (int n = 0; n < 10; n++)
                assert_int_equal(next(&actor, &view).kind, OP_THINK);
            actor_free(&actor);
        }
    }
}

static bool ops_equal(const struct op *a, const struct op *b)
{
    if (a->kind != b->kind || a->file != b->file || a->first_page != b->first_page ||
        a->page_count != b->page_count || a->pages_count != b->pages_count ||
        a->rollback != b->rollback || a->think_ns != b->think_ns ||
        a->compute_cycles != b->compute_cycles)
        return false;
    for (unsigned i = 0; i < a->pages_count; i++)
        if (a->pages[i].page_no != b->pages[i].page_no ||
            a->pages[i].log_bytes != b->pages[i].log_bytes ||
            a->pages[i].update != b->pages[i].update)
            return false;
    return true;
}

static unsigned equal_ops(const char *name, uint64_t seed_b, unsigned index_b)
{
    const struct pattern_view view = view_of(one_file, 1);
    struct actor a = actor_settings(name), b = actor_settings(name);
    unsigned equal = 0;

    actor_start(&a, 14, 0);
    actor_start(&b, seed_b, index_b);
    for (int n = 0; n < 300; n++) {
        const struct op op_a = next(&a, &view), op_b = next(&b, &view);

        equal += ops_equal(&op_a, &op_b);
    }
    actor_free(&a);
    actor_free(&b);
    return equal;
}

static void the_same_seed_and_number_repeat_every_intent(void **state)
{
    (void)state;
    for (size_t i = 0; i < patterns_count; i++)
        assert_int_equal(equal_ops(pattern_at(i)->name, 14, 0), 300);
}

static void users_with_other_seed_or_number_act_differently(void **state)
{
    (void)state;
    for (size_t i = 0; i < patterns_count; i++) {
        const struct pattern *pattern = pattern_at(i);

        if (pattern->service || pattern->reads || pattern->backs_up || pattern->tempdb)
            continue; /* draws nothing; all threads of a DBCC ask for the same pass, sorts for
                         the same sort */
        assert_true(equal_ops(pattern->name, 15, 0) < 300);
        assert_true(equal_ops(pattern->name, 14, 1) < 300);
    }
}

/* ---- UserCount ---- */

static int64_t count_for(const char *name, const char *user_count, int64_t cpus)
{
    struct actor actor = actor_settings(name);
    int64_t count;

    if (user_count)
        set(&actor, "UserCount", user_count);
    count = actor.pattern->user_count(actor.settings, cpus);
    actor_free(&actor);
    return count;
}

/* -1 = min(CPUCount * 2, 8) */
static void user_count_minus_one_is_two_a_cpu_at_most_eight(void **state)
{
    static const int64_t expected[][2] = {{1, 2}, {3, 6}, {4, 8}, {5, 8}, {64, 8}};

    (void)state;
    for (size_t i = 0; i < sizeof(expected) / sizeof(expected[0]); i++) {
        assert_int_equal(count_for("RandomUser", "-1", expected[i][0]), expected[i][1]);
        assert_int_equal(count_for("AuditUser", "-1", expected[i][0]), expected[i][1]);
    }
}

static void user_count_zero_is_none(void **state)
{
    (void)state;
    assert_int_equal(count_for("RandomUser", "0", 4), 0);
    assert_int_equal(count_for("AuditUser", "0", 4), 0);
}

static void user_count_above_zero_is_taken(void **state)
{
    (void)state;
    assert_int_equal(count_for("RandomUser", "100", 2), 100);
    assert_int_equal(count_for("AuditUser", "65372", 64), 65372); /* 64 * 1023 - 100 */
}

static void user_count_defaults_are_the_documented_ones(void **state)
{
    (void)state;
    assert_int_equal(count_for("RandomUser", NULL, 4), 8);
    assert_int_equal(count_for("AuditUser", NULL, 4), 2);
}

static void user_count_above_the_limit_is_refused(void **state)
{
    struct actor actor = actor_settings("RandomUser");
    char text[OPT_TEXT_MAX];
    const struct opt *opt = opt_find(actor.pattern->section, "UserCount");

    (void)state;
    assert_int_not_equal(opt_set(opt, actor.settings, "65373", text), 0);
    assert_int_not_equal(opt_set(opt, actor.settings, "-2", text), 0);
    actor_free(&actor);
}

/* ---- RandomUser ---- */

static void assert_default(const char *section, const char *key, const char *expected)
{
    struct actor actor = actor_settings(section), given = actor_settings(section);
    const struct opt *opt = opt_find(actor.pattern->section, key);
    char by_default[64], by_hand[64];

    assert_non_null(opt);
    set(&given, key, expected);
    opt_get(opt, actor.settings, by_default, sizeof(by_default));
    opt_get(opt, given.settings, by_hand, sizeof(by_hand));
    assert_string_equal(by_default, by_hand);
    actor_free(&actor);
    actor_free(&given);
}

static void random_user_defaults_are_the_documented_ones(void **state)
{
    static const char *const expected[][2] = {
        {"JumpToNewRegionPercentage", "500"},
        {"MinIOChainLength", "1"},
        {"MaxIOChainLength", "100"},
        {"RandomUserReadWriteRatio", "9000"},
        {"MinLogPerBuffer", "64"},
        {"MaxLogPerBuffer", "8192"},
        {"RollbackChance", "100"},
        {"SleepAfter", "5"},
        {"YieldPercentage", "0"},
        {"CPUSimulation", "FALSE"},
        {"CPUCyclesMin", "0"},
        {"CPUCyclesMax", "0"},
    };

    (void)state;
    for (size_t i = 0; i < sizeof(expected) / sizeof(expected[0]); i++)
        assert_default("RandomUser", expected[i][0], expected[i][1]);
}

static void undocumented_keys_are_flagged(void **state)
{
    static const char *const keys[] = {"YieldPercentage", "CPUSimulation", "CPUCyclesMin",
                                       "CPUCyclesMax"};

    (void)state;
    for (size_t i = 0; i < 4; i++)
        assert_true(opt_find(pattern_random_user.section, keys[i])->flags & OPT_UNDOCUMENTED);
    assert_false(opt_find(pattern_random_user.section, "SleepAfter")->flags & OPT_UNDOCUMENTED);
}

static int check_with(const char *const pairs[][2], size_t count, char text[OPT_TEXT_MAX])
{
    struct actor actor = actor_settings("RandomUser");
    int result;

    for (size_t i = 0; i < count; i++)
        set(&actor, pairs[i][0], pairs[i][1]);
    result = actor.pattern->section->check(actor.settings, text);
    actor_free(&actor);
    return result;
}

static void min_above_max_is_refused_by_name(void **state)
{
    static const char *const bad[][2][2] = {
        {{"MinIOChainLength", "101"}, {"MaxIOChainLength", "100"}},
        {{"MinLogPerBuffer", "1024"}, {"MaxLogPerBuffer", "512"}},
        {{"CPUCyclesMin", "2"}, {"CPUCyclesMax", "1"}},
    };
    char text[OPT_TEXT_MAX];

    (void)state;
    for (size_t i = 0; i < 3; i++) {
        assert_true(check_with(bad[i], 2, text) < 0);
        assert_non_null(strstr(text, bad[i][0][0]));
        assert_non_null(strstr(text, bad[i][1][0]));
    }
}

static void log_sizes_are_multiples_or_for_min_divisors_of_a_sector(void **state)
{
    static const struct {
        const char *pair[1][2];
        bool accepted;
    } cases[] = {
        {{{"MinLogPerBuffer", "1"}}, true},     {{{"MinLogPerBuffer", "256"}}, true},
        {{{"MinLogPerBuffer", "512"}}, true},   {{{"MinLogPerBuffer", "1536"}}, true},
        {{{"MinLogPerBuffer", "100"}}, false},  {{{"MinLogPerBuffer", "513"}}, false},
        {{{"MaxLogPerBuffer", "64000"}}, true}, {{{"MaxLogPerBuffer", "256"}}, false},
        {{{"MaxLogPerBuffer", "1000"}}, false},
    };
    char text[OPT_TEXT_MAX];

    (void)state;
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++)
        assert_int_equal(check_with(cases[i].pair, 1, text) == 0, cases[i].accepted);
}

/* A user without jumps stays within its first region: its pages span at most the region. */
static void without_jumps_a_user_stays_in_its_region(void **state)
{
    const struct pattern_view view = view_of(one_file, 1);
    struct actor actor = actor_settings("RandomUser");
    uint32_t low = UINT32_MAX, high = 0, longest = 0;

    (void)state;
    set(&actor, "JumpToNewRegionPercentage", "0");
    set(&actor, "MinIOChainLength", "40");
    set(&actor, "MaxIOChainLength", "40");
    actor_start(&actor, 21, 0);
    for (int n = 0; n < 2000; n++) {
        const struct op op = next_of_kind(&actor, &view, OP_UPDATE);
        const uint32_t last = op.pages[op.pages_count - 1].page_no;

        low = op.pages[0].page_no < low ? op.pages[0].page_no : low;
        high = last > high ? last : high;
        longest = op.pages_count > longest ? op.pages_count : longest;
    }
    /* All 40 pages are used, and chains of all 40: the chance of less is below (39/40)^2000. */
    assert_int_equal(high - low + 1, 40);
    assert_int_equal(longest, 40);
    actor_free(&actor);
}

/* Jump always: the first pages of 4,000 transactions with one-page regions are uniform, so each
 * quarter of the file has 1,000 +- 6 sigma (27.4). */
static void regions_start_anywhere_in_the_file(void **state)
{
    const struct pattern_view view = view_of(one_file, 1);
    struct actor actor = actor_settings("RandomUser");
    unsigned quarters[4] = {0};

    (void)state;
    set(&actor, "JumpToNewRegionPercentage", "10000");
    set(&actor, "MaxIOChainLength", "1");
    actor_start(&actor, 22, 0);
    for (int n = 0; n < 4000; n++)
        quarters[next_of_kind(&actor, &view, OP_UPDATE).pages[0].page_no / 25000]++;
    for (int i = 0; i < 4; i++)
        assert_in_range(quarters[i], 1000 - 165, 1000 + 165);
    actor_free(&actor);
}

/* 5 % of 4,000 steps start a new region: 200 +- 6 sigma (13.8); one-page regions in 100,000 pages
 * hardly ever start at the same page again. */
static void jumps_come_as_often_as_set(void **state)
{
    const struct pattern_view view = view_of(one_file, 1);
    struct actor actor = actor_settings("RandomUser");
    uint32_t before = UINT32_MAX;
    unsigned jumps = 0;

    (void)state;
    set(&actor, "MaxIOChainLength", "1");
    actor_start(&actor, 23, 0);
    for (int n = 0; n < 4000; n++) {
        const uint32_t page = next_of_kind(&actor, &view, OP_UPDATE).pages[0].page_no;

        jumps += page != before;
        before = page;
    }
    assert_in_range(jumps, 200 - 83, 200 + 84);
    actor_free(&actor);
}

static void chain_pages_are_consecutive(void **state)
{
    const struct pattern_view view = view_of(one_file, 1);
    struct actor actor = actor_settings("RandomUser");

    (void)state;
    actor_start(&actor, 24, 0);
    for (int n = 0; n < 500; n++) {
        const struct op op = next_of_kind(&actor, &view, OP_UPDATE);

        for (unsigned i = 1; i < op.pages_count; i++)
            assert_int_equal(op.pages[i].page_no, op.pages[0].page_no + i);
    }
    actor_free(&actor);
}

static unsigned files_used(const struct pattern_file *files, unsigned count)
{
    const struct pattern_view view = view_of(files, count);
    struct actor actor = actor_settings("RandomUser");
    unsigned used = 0;

    set(&actor, "JumpToNewRegionPercentage", "10000");
    actor_start(&actor, 25, 0);
    for (int n = 0; n < 200; n++)
        used |= 1u << next_of_kind(&actor, &view, OP_UPDATE).file;
    actor_free(&actor);
    return used;
}

static void regions_are_drawn_from_all_files(void **state)
{
    (void)state;
    assert_int_equal(files_used(three_files, FILES_MAX), 7);
}

static void files_without_pages_are_left_out(void **state)
{
    static const struct pattern_file files[] = {{.size_pages = 0, .database = 0},
                                                {.size_pages = 50, .database = 0},
                                                {.size_pages = 0, .database = 0}};

    (void)state;
    assert_int_equal(files_used(files, 3), 2);
}

/* Its pages come when they are changed. */
static void random_users_use_sparse_files_like_others(void **state)
{
    static const struct pattern_file files[] = {{.size_pages = 50, .sparse = true},
                                                {.size_pages = 50}};
    (void)state;
    assert_int_equal(files_used(files, 2), 3); /* bits 0 and 1 */
}

struct sums {
    unsigned pages, updates, rollbacks, transactions;
    uint32_t log_min, log_max;
};

static struct sums transactions_with(const char *key, const char *value, int count)
{
    const struct pattern_view view = view_of(one_file, 1);
    struct actor actor = actor_settings("RandomUser");
    struct sums sums = {.log_min = UINT32_MAX};

    set(&actor, key, value);
    actor_start(&actor, 26, 0);
    for (int n = 0; n < count; n++) {
        const struct op op = next_of_kind(&actor, &view, OP_UPDATE);

        sums.transactions++;
        sums.rollbacks += op.rollback;
        for (unsigned i = 0; i < op.pages_count; i++) {
            const struct op_page *page = &op.pages[i];

            assert_false(op.rollback && page->update);
            assert_int_equal(page->log_bytes != 0, page->update);
            sums.pages++;
            sums.updates += page->update;
            if (page->update && page->log_bytes < sums.log_min)
                sums.log_min = page->log_bytes;
            if (page->log_bytes > sums.log_max)
                sums.log_max = page->log_bytes;
        }
    }
    actor_free(&actor);
    return sums;
}

/* RollbackChance 0, so that the share is of all pages. 2,500 = 25 %. */
static void the_ratio_is_the_share_of_pages_updated(void **state)
{
    struct sums sums;

    (void)state;
    sums = transactions_with("RandomUserReadWriteRatio", "10000", 200);
    assert_true(sums.updates > 0 && sums.rollbacks < 20);
    sums = transactions_with("RandomUserReadWriteRatio", "0", 200);
    assert_int_equal(sums.updates, 0);
    /* 99 % of transactions are not rolled back: 24.75 % of the pages, +- 2 points. */
    sums = transactions_with("RandomUserReadWriteRatio", "2500", 2000);
    assert_in_range(sums.updates * 10000ull / sums.pages, 2275, 2675);
}

/* 1 % of 20,000: 200 +- 6 sigma (14.1) */
static void rollbacks_come_as_often_as_set(void **state)
{
    (void)state;
    assert_in_range(transactions_with("RollbackChance", "100", 20000).rollbacks, 116, 284);
    assert_int_equal(transactions_with("RollbackChance", "0", 500).rollbacks, 0);
}

static void a_rolled_back_transaction_reads_and_changes_nothing(void **state)
{
    struct sums sums;

    (void)state;
    sums = transactions_with("RollbackChance", "10000", 500);
    assert_int_equal(sums.rollbacks, 500);
    assert_int_equal(sums.updates, 0);
    assert_int_equal(sums.log_max, 0);
    assert_true(sums.pages >= 500);
}

/* 64 values between Min 64 and Max 512 in many thousand draws reach the outer sixteenths. */
static void log_bytes_lie_between_min_and_max(void **state)
{
    const struct sums sums = transactions_with("MaxLogPerBuffer", "512", 2000);

    (void)state;
    assert_in_range(sums.log_min, 64, 64 + 28);
    assert_in_range(sums.log_max, 512 - 28, 512);
}

static void a_transaction_is_followed_by_compute_yield_and_sleep(void **state)
{
    static const enum op_kind expected[] = {OP_UPDATE, OP_COMPUTE, OP_YIELD, OP_THINK};
    const struct pattern_view view = view_of(one_file, 1);
    struct actor actor = actor_settings("RandomUser");

    (void)state;
    set(&actor, "YieldPercentage", "10000");
    set(&actor, "CPUSimulation", "TRUE");
    set(&actor, "CPUCyclesMax", "3000");
    set(&actor, "CPUCyclesMin", "1000");
    actor_start(&actor, 27, 0);
    for (int n = 0; n < 400; n++) {
        const struct op op = next(&actor, &view);

        assert_int_equal(op.kind, expected[n % 4]);
        if (op.kind == OP_THINK)
            assert_true(op.think_ns == 5 * MS); /* SleepAfter's default */
        if (op.kind == OP_COMPUTE)
            assert_in_range(op.compute_cycles, 1000, 3000);
    }
    actor_free(&actor);
}

static void steps_that_are_not_set_are_left_out(void **state)
{
    const struct pattern_view view = view_of(one_file, 1);
    struct actor actor = actor_settings("RandomUser");

    (void)state;
    set(&actor, "SleepAfter", "0");
    set(&actor, "CPUCyclesMax", "3000"); /* without effect: CPUSimulation is FALSE */
    actor_start(&actor, 28, 0);
    for (int n = 0; n < 100; n++)
        assert_int_equal(next(&actor, &view).kind, OP_UPDATE);
    actor_free(&actor);
}

static void a_chain_length_of_zero_is_one_page(void **state)
{
    const struct pattern_view view = view_of(one_file, 1);
    struct actor actor = actor_settings("RandomUser");

    (void)state;
    set(&actor, "MinIOChainLength", "0");
    set(&actor, "MaxIOChainLength", "0");
    actor_start(&actor, 29, 0);
    for (int n = 0; n < 100; n++)
        assert_int_equal(next_of_kind(&actor, &view, OP_UPDATE).pages_count, 1);
    actor_free(&actor);
}

static void assert_log_need(const char *chain, const char *log_bytes, uint64_t expected_bytes,
                            uint64_t expected_records)
{
    struct actor actor = actor_settings("RandomUser");
    uint64_t bytes, records;

    set(&actor, "MaxIOChainLength", chain);
    set(&actor, "MaxLogPerBuffer", log_bytes);
    actor.pattern->log_need(actor.settings, &bytes, &records);
    assert_true(bytes == expected_bytes);
    assert_true(records == expected_records);
    actor_free(&actor);
}

/* Every page of the longest chain changed, begin and commit; above 60,000 bytes two records. */
static void log_need_covers_the_largest_transaction(void **state)
{
    (void)state;
    assert_log_need("100", "8192", 100 * 8192, 102);
    assert_log_need("1", "512", 512, 3);
    assert_log_need("10", "64000", 10 * 64000, 22);
}

static void no_transaction_exceeds_log_need(void **state)
{
    const struct pattern_view view = view_of(one_file, 1);
    struct actor actor = actor_settings("RandomUser");
    uint64_t bytes, records;

    (void)state;
    actor.pattern->log_need(actor.settings, &bytes, &records);
    actor_start(&actor, 30, 0);
    for (int n = 0; n < 2000; n++) {
        const struct op op = next_of_kind(&actor, &view, OP_UPDATE);
        uint64_t sum = 0, count = 2;

        for (unsigned i = 0; i < op.pages_count; i++) {
            sum += op.pages[i].log_bytes;
            count += op.pages[i].update;
        }
        assert_true(sum <= bytes && count <= records);
    }
    actor_free(&actor);
}

/* ---- AuditUser ---- */

static void audit_user_defaults_are_the_documented_ones(void **state)
{
    (void)state;
    assert_default("AuditUser", "BuffersValidated", "64");
    assert_default("AuditUser", "DelayAfterCycles", "2");
    assert_default("AuditUser", "AuditDelay", "200");
}

static void audit_pauses_after_the_cycles_that_are_set(void **state)
{
    const struct pattern_view view = view_of(one_file, 1);
    struct actor actor = actor_settings("AuditUser");
    unsigned pages = 0;

    (void)state;
    actor_start(&actor, 41, 0);
    for (int pauses = 0; pauses < 50;) {
        const struct op op = next(&actor, &view);

        if (op.kind == OP_AUDIT) {
            pages += op.page_count;
            continue;
        }
        assert_int_equal(op.kind, OP_THINK);
        assert_true(op.think_ns == 200 * MS);
        assert_int_equal(pages, 2 * 64); /* DelayAfterCycles * BuffersValidated */
        pages = 0;
        pauses++;
    }
    actor_free(&actor);
}

/* ---- ReadAheadUser ---- */

static void read_ahead_defaults_are_the_documented_ones(void **state)
{
    (void)state;
    assert_default("ReadAheadUser", "UserCount", "2");
    assert_default("ReadAheadUser", "BuffersRAMin", "32");
    assert_default("ReadAheadUser", "BuffersRAMax", "64");
    assert_default("ReadAheadUser", "DelayAfterCycles", "2");
    assert_default("ReadAheadUser", "RADelay", "200");
}

/* Each cycle goes on where the last one ended; every length of 32 .. 64 comes: the chance that one
 * of 33 is missing after 2,000 cycles is below 33 * (32/33)^2000 = 6e-26. */
static void read_ahead_cycles_are_contiguous_and_of_every_length(void **state)
{
    const struct pattern_view view = view_of(one_file, 1);
    struct actor actor = actor_settings("ReadAheadUser");
    bool came[65] = {false};
    uint32_t next_page = UINT32_MAX;

    (void)state;
    actor_start(&actor, 51, 0);
    for (int n = 0; n < 2000; n++) {
        struct op op = next_of_kind(&actor, &view, OP_READ_AHEAD);
        uint32_t pages = op.page_count;

        assert_true(next_page == UINT32_MAX || op.first_page == next_page % 100000);
        next_page = op.first_page + op.page_count;
        if (next_page == 100000) { /* the end of the file: the cycle may go on at its start */
            next_page = 0;
            continue;
        }
        assert_true(pages >= 32 || op.first_page == 0);
        assert_true(pages <= 64);
        came[pages] = true;
    }
    for (int length = 32; length <= 64; length++)
        assert_true(came[length]);
    actor_free(&actor);
}

static void read_ahead_pauses_after_the_cycles_that_are_set(void **state)
{
    const struct pattern_view view = view_of(one_file, 1);
    struct actor actor = actor_settings("ReadAheadUser");

    (void)state;
    set(&actor, "DelayAfterCycles", "3");
    set(&actor, "RADelay", "70");
    set(&actor, "BuffersRAMin", "1");
    set(&actor, "BuffersRAMax", "1"); /* no cycle is cut by the end of the file */
    actor_start(&actor, 52, 0);
    for (int n = 0; n < 400; n++) {
        const struct op op = next(&actor, &view);

        assert_int_equal(op.kind, n % 4 == 3 ? OP_THINK : OP_READ_AHEAD);
        assert_true(op.kind == OP_READ_AHEAD || op.think_ns == 70 * MS);
    }
    actor_free(&actor);
}

/* ---- BulkUpdateUser ---- */

static void bulk_defaults_are_the_documented_ones(void **state)
{
    (void)state;
    assert_default("BulkUpdateUser", "UserCount", "-1");
    assert_default("BulkUpdateUser", "BuffersBUMin", "64");
    assert_default("BulkUpdateUser", "BuffersBUMax", "128");
    assert_default("BulkUpdateUser", "DelayAfterCycles", "2");
    assert_default("BulkUpdateUser", "BUDelay", "10");
}

/* 100,000 pages are 12,500 extents; the first of many users' places. */
static void bulk_loads_begin_at_an_extent_and_go_on(void **state)
{
    const struct pattern_view view = view_of(one_file, 1);

    (void)state;
    for (unsigned user = 0; user < 50; user++) {
        struct actor actor = actor_settings("BulkUpdateUser");

        actor_start(&actor, 61, user);
        const struct op first = next_of_kind(&actor, &view, OP_BULK);
        const struct op second = next_of_kind(&actor, &view, OP_BULK);
        assert_int_equal(first.first_page % 8, 0);
        assert_int_equal(second.first_page, (first.first_page + first.page_count) % 100000);
        actor_free(&actor);
    }
}

/* Pages of an op from any page on touch at most (n + 6) / 8 + 1 extents; the plan's figure covers
 * the records of every op, begin and commit. */
static void bulk_log_records_cover_every_extent_and_the_plan_covers_them(void **state)
{
    const struct pattern_view view = view_of(one_file, 1);
    struct actor actor = actor_settings("BulkUpdateUser");
    uint64_t payload, records;

    (void)state;
    actor_start(&actor, 62, 0);
    actor.pattern->log_need(actor.settings, &payload, &records);
    for (int n = 0; n < 500; n++) {
        const struct op op = next_of_kind(&actor, &view, OP_BULK);
        const uint32_t first = op.first_page / 8, last = (op.first_page + op.page_count - 1) / 8;

        assert_true(op.log_records >= last - first + 1);
        assert_true(records >= op.log_records + 2u);
    }
    actor_free(&actor);
}

/* Two files of 1,000 pages: 200 loads of 10 to 640 pages go through both. */
static unsigned bulk_files_used(const char *new_extents)
{
    static const struct pattern_file files[] = {{.size_pages = 1000, .sparse = true},
                                                {.size_pages = 1000}};
    const struct pattern_view view = view_of(files, 2);
    struct actor actor = actor_settings("BulkUpdateUser");
    unsigned used = 0;

    set(&actor, "NewExtents", new_extents);
    actor_start(&actor, 63, 0);
    for (int n = 0; n < 200; n++)
        used |= 1u << next_of_kind(&actor, &view, OP_BULK).file;
    actor_free(&actor);
    return used;
}

static void new_extents_are_none_of_sparse_files(void **state)
{
    (void)state;
    assert_int_equal(bulk_files_used("FALSE"), 3); /* bits 0 and 1 */
    assert_int_equal(bulk_files_used("TRUE"), 2);
}

static void audit_with_zero_delay_cycles_never_pauses(void **state)
{
    const struct pattern_view view = view_of(one_file, 1);
    struct actor actor = actor_settings("AuditUser");

    (void)state;
    set(&actor, "DelayAfterCycles", "0");
    actor_start(&actor, 42, 0);
    for (int n = 0; n < 100; n++)
        assert_int_equal(next(&actor, &view).kind, OP_AUDIT);
    actor_free(&actor);
}

/* 1000 + 1 + 64 pages: in 10 rounds every page comes 10 times, in allocation order, whatever the
 * start; ops end at file ends and after 64 pages of a cycle. */
static void audit_reads_all_files_in_turn_and_wraps(void **state)
{
    const struct pattern_view view = view_of(three_files, FILES_MAX);
    struct actor actor = actor_settings("AuditUser");
    unsigned file = 0, read = 0;
    uint32_t page = 0;

    (void)state;
    actor_start(&actor, 43, 0);
    for (bool first = true; read < 10 * 1065; first = false) {
        const struct op op = next_of_kind(&actor, &view, OP_AUDIT);

        assert_true(op.page_count <= 64);
        if (!first) {
            if (page == three_files[file].size_pages) {
                file = (file + 1) % FILES_MAX;
                page = 0;
            }
            assert_int_equal(op.file, file);
            assert_int_equal(op.first_page, page);
        }
        file = op.file;
        page = op.first_page + op.page_count;
        read += op.page_count;
    }
    actor_free(&actor);
}

/* 400 users over 100,000 pages: 100 in each quarter +- 6 sigma (8.7). */
static void audit_users_start_at_random_places(void **state)
{
    const struct pattern_view view = view_of(one_file, 1);
    unsigned quarters[4] = {0};

    (void)state;
    for (unsigned i = 0; i < 400; i++) {
        struct actor actor = actor_settings("AuditUser");

        actor_start(&actor, 44, i);
        quarters[next(&actor, &view).first_page / 25000]++;
        actor_free(&actor);
    }
    for (int i = 0; i < 4; i++)
        assert_in_range(quarters[i], 100 - 52, 100 + 52);
}

/* ---- Checkpoint ---- */

static struct op checkpoint_in(const struct pattern_view *view)
{
    struct actor actor = actor_settings("Checkpoint");
    struct op op;

    actor_start(&actor, 51, 0);
    op = next(&actor, view);
    actor_free(&actor);
    return op;
}

static void checkpoint_runs_when_the_log_is_70_percent_full(void **state)
{
    struct pattern_view view = view_of(one_file, 1);

    (void)state;
    view.log_used_permille = 699;
    assert_int_equal(checkpoint_in(&view).kind, OP_THINK);
    view.log_used_permille = 700;
    assert_int_equal(checkpoint_in(&view).kind, OP_CHECKPOINT);
}

static void checkpoint_runs_when_log_space_is_wanted(void **state)
{
    struct pattern_view view = view_of(one_file, 1);

    (void)state;
    view.log_space_wanted = true;
    assert_int_equal(checkpoint_in(&view).kind, OP_CHECKPOINT);
}

static void frames_are_not_the_checkpoints_business(void **state)
{
    struct pattern_view view = view_of(one_file, 1);

    (void)state;
    view.frames_wanted = view.frames_low = true;
    assert_int_equal(checkpoint_in(&view).kind, OP_THINK);
}

/* A long transaction in the oldest part of the log: a checkpoint would give nothing back. */
static void checkpoint_for_the_log_waits_until_it_can_give_some_back(void **state)
{
    struct pattern_view view = view_of(one_file, 1);

    (void)state;
    view.log_space_wanted = true;
    view.log_used_permille = 1000;
    view.log_held = true;
    assert_int_equal(checkpoint_in(&view).kind, OP_THINK);
    assert_true(checkpoint_in(&view).think_ns == MS);
    view.log_held = false;
    assert_int_equal(checkpoint_in(&view).kind, OP_CHECKPOINT);
}

/* A checkpoint that is asked for and finds no log for its records is not repeated at full speed. */
static void checkpoint_without_room_in_a_held_log_rests(void **state)
{
    struct pattern_view view = view_of(one_file, 1);

    (void)state;
    view.checkpoint_asked = view.log_held = view.checkpoint_no_room = true;
    view.last_checkpoint_ns = view.now_ns - 2 * MS;
    assert_int_equal(checkpoint_in(&view).kind, OP_THINK);
    assert_true(checkpoint_in(&view).think_ns == 8 * MS);
    view.log_held = false; /* it is given back: at once */
    assert_int_equal(checkpoint_in(&view).kind, OP_CHECKPOINT);
}

static void checkpoint_of_the_interval_does_not_ask_for_the_log(void **state)
{
    struct pattern_view view = view_of(one_file, 1);

    (void)state;
    view.log_held = true;
    view.now_ns = view.last_checkpoint_ns + view.checkpoint_interval_ns;
    assert_int_equal(checkpoint_in(&view).kind, OP_CHECKPOINT);
}

static void checkpoint_runs_when_the_interval_has_passed(void **state)
{
    struct pattern_view view = view_of(one_file, 1);

    (void)state;
    view.now_ns = view.last_checkpoint_ns + view.checkpoint_interval_ns - 1;
    assert_int_equal(checkpoint_in(&view).kind, OP_THINK);
    assert_true(checkpoint_in(&view).think_ns == 1); /* exactly until then */
    view.now_ns++;
    assert_int_equal(checkpoint_in(&view).kind, OP_CHECKPOINT);
}

static void checkpoint_without_interval_waits_for_pressure(void **state)
{
    struct pattern_view view = view_of(one_file, 1);

    (void)state;
    view.checkpoint_interval_ns = 0;
    view.now_ns = 1000000 * MS;
    assert_int_equal(checkpoint_in(&view).kind, OP_THINK);
}

static void checkpoint_looks_more_often_near_a_threshold(void **state)
{
    struct pattern_view view = view_of(one_file, 1);

    (void)state;
    assert_true(checkpoint_in(&view).think_ns == 50 * MS);
    view.log_used_permille = 650;
    assert_true(checkpoint_in(&view).think_ns == 10 * MS);
}

/* A checkpoint that could not free the log must not be repeated at full speed. */
static void checkpoint_rests_after_a_checkpoint(void **state)
{
    struct pattern_view view = view_of(one_file, 1);

    (void)state;
    view.log_space_wanted = true;
    view.log_used_permille = 1000;
    view.last_checkpoint_ns = view.now_ns;
    assert_int_equal(checkpoint_in(&view).kind, OP_THINK);
}

/* ---- LazyWriter ---- */

static void lazy_writer_sleeps_a_second_until_it_is_called(void **state)
{
    struct pattern_view view = view_of(one_file, 1);
    struct actor actor = actor_settings("LazyWriter");

    (void)state;
    actor_start(&actor, 51, 0);
    for (int i = 0; i < 3; i++) {
        struct op op = next(&actor, &view);
        assert_int_equal(op.kind, OP_THINK);
        assert_true(op.think_ns == 1000 * MS);
        assert_true(op.until_called);
    }
    actor_free(&actor);
}

static enum op_kind first_intent_of_lazy_writer(const struct pattern_view *view)
{
    struct actor actor = actor_settings("LazyWriter");

    actor_start(&actor, 51, 0);
    const enum op_kind kind = next(&actor, view).kind;
    actor_free(&actor);
    return kind;
}

static void lazy_writer_sweeps_when_frames_are_short(void **state)
{
    struct pattern_view view = view_of(one_file, 1);

    (void)state;
    view.frames_low = true;
    assert_int_equal(first_intent_of_lazy_writer(&view), OP_LAZY_WRITE);
    view.frames_low = false;
    view.frames_wanted = true;
    assert_int_equal(first_intent_of_lazy_writer(&view), OP_LAZY_WRITE);
}

static void lazy_writer_rests_after_a_sweep_that_did_not_help(void **state)
{
    struct pattern_view view = view_of(one_file, 1);
    struct actor actor = actor_settings("LazyWriter");

    (void)state;
    view.frames_wanted = true;
    actor_start(&actor, 51, 0);
    assert_int_equal(next(&actor, &view).kind, OP_LAZY_WRITE);
    const struct op rest = next(&actor, &view);
    assert_int_equal(rest.kind, OP_THINK);
    assert_true(rest.think_ns == MS);
    assert_false(rest.until_called); /* calls come all the time */
    assert_int_equal(next(&actor, &view).kind, OP_LAZY_WRITE);
    actor_free(&actor);
}

/* ---- CpuIdleUser ---- */

struct idle_work {
    unsigned pages, on_disk;
    int64_t think_ns;
};

/* What an idle user does in so many intents. */
static struct idle_work idle_work_of(const char *pages_per_second, const char *disk_share,
                                     int intents)
{
    struct pattern_view view = view_of(one_file, 1);
    struct actor actor = actor_settings("CpuIdleUser");
    struct idle_work work = {0};

    set(&actor, "PagesPerSecond", pages_per_second);
    set(&actor, "DiskShare", disk_share);
    actor_start(&actor, 51, 0);
    for (int i = 0; i < intents; i++) {
        struct op op = next(&actor, &view);
        if (op.kind == OP_THINK) {
            work.think_ns += op.think_ns;
            continue;
        }
        assert_int_equal(op.kind, OP_FRAME_CHECK);
        work.pages++;
        work.on_disk += op.on_disk;
    }
    actor_free(&actor);
    return work;
}

/* At most so many pages a second of its own pauses: 1,000 in 100 bursts of 10, each after 10 ms. */
static void cpu_idle_user_keeps_to_its_pace(void **state)
{
    static const struct {
        const char *text;
        double pages_per_second;
    } rates[] = {{"1", 1}, {"7", 7}, {"99", 99}, {"100", 100}, {"1000", 1000}, {"20000", 20000}};

    (void)state;
    for (size_t i = 0; i < sizeof rates / sizeof *rates; i++) {
        struct idle_work work = idle_work_of(rates[i].text, "0", 1100);
        assert_true(work.pages > 0);
        double rate = (double)work.pages * 1e9 / (double)work.think_ns;
        assert_true(rate <= rates[i].pages_per_second * 1.001);
    }
    struct idle_work work = idle_work_of("1000", "0", 1100);
    assert_int_equal(work.pages, 1000);
    assert_true(work.think_ns == 1000 * MS);
}

static void cpu_idle_user_reads_its_share_from_the_disk(void **state)
{
    (void)state;
    assert_int_equal(idle_work_of("1000", "0", 11000).on_disk, 0);
    struct idle_work all = idle_work_of("1000", "10000", 11000);
    assert_int_equal(all.on_disk, all.pages);
    /* 10 % of 10,000: 1,000, with a standard deviation of 30 */
    unsigned tenth = idle_work_of("1000", "1000", 11000).on_disk;
    assert_true(tenth > 850 && tenth < 1150);
}

static void cpu_idle_users_are_one_a_cpu(void **state)
{
    (void)state;
    assert_int_equal(count_for("CpuIdleUser", NULL, 12), 12);
    assert_int_equal(count_for("CpuIdleUser", "-1", 3), 3);
    assert_int_equal(count_for("CpuIdleUser", "0", 3), 0);
    assert_int_equal(count_for("CpuIdleUser", "5", 3), 5);
}

/* ---- IndexRebuildUser ---- */

/* 5003 of 100,000 pages: whole extents, 625 of them. */
static void an_index_is_scanned_whole_and_as_much_is_written_elsewhere(void **state)
{
    (void)state;
    struct actor actor = actor_settings("IndexRebuildUser");
    const struct pattern_view view = view_of(one_file, 1);
    static uint8_t used[100000];

    set(&actor, "Pages", "5003");
    set(&actor, "Interval", "7");
    actor_start(&actor, 3, 0);
    for (int round = 0; round < 20; round++) {
        uint32_t pages[2] = {0};
        struct op op;

        memset(used, 0, sizeof(used));
        for (op = next(&actor, &view); op.kind != OP_THINK; op = next(&actor, &view)) {
            const bool writes = op.kind == OP_BULK;

            assert_true(writes || (op.kind == OP_READ_AHEAD && pages[1] == 0));
            assert_true(!writes || (op.full_log && op.log_records * 8 >= op.page_count));
            for (uint32_t i = 0; i < op.page_count; i++)
                assert_int_equal(used[op.first_page + i]++, 0);
            pages[writes] += op.page_count;
        }
        assert_int_equal(op.think_ns, 7000 * MS);
        assert_int_equal(pages[0], 5000);
        assert_int_equal(pages[1], 5000);
    }
    actor_free(&actor);
}

/* ---- DbccUser ---- */

static void dbcc_has_a_thread_a_cpu_at_most_eight_and_none_by_default(void **state)
{
    (void)state;
    assert_int_equal(count_for("DbccUser", NULL, 12), 0);
    assert_int_equal(count_for("DbccUser", "-1", 12), 8);
    assert_int_equal(count_for("DbccUser", "-1", 3), 3);
    assert_int_equal(count_for("DbccUser", "16", 2), 16);
}

static void dbcc_begins_with_a_pass_and_rests_after_each_if_it_is_to(void **state)
{
    (void)state;
    struct actor actor = actor_settings("DbccUser");
    const struct pattern_view view = view_of(one_file, 1);

    set(&actor, "Interval", "3");
    actor_start(&actor, 1, 0);
    for (int i = 0; i < 5; i++) {
        assert_int_equal(next(&actor, &view).kind, OP_CHECKDB);
        const struct op rest = next(&actor, &view);
        assert_int_equal(rest.kind, OP_THINK);
        assert_int_equal(rest.think_ns, 3000 * MS);
    }
    set(&actor, "Interval", "0");
    for (int i = 0; i < 5; i++)
        assert_int_equal(next(&actor, &view).kind, OP_CHECKDB);
    actor_free(&actor);
}

/* Of maintenance: SQLIOSim has no such users. */
static int maintenance(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(an_index_is_scanned_whole_and_as_much_is_written_elsewhere),
        cmocka_unit_test(dbcc_has_a_thread_a_cpu_at_most_eight_and_none_by_default),
        cmocka_unit_test(dbcc_begins_with_a_pass_and_rests_after_each_if_it_is_to),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_list_has_the_users_and_the_checkpoint),
        cmocka_unit_test(names_are_unique),
        cmocka_unit_test(sections_leave_out_patterns_without_options),
        cmocka_unit_test(every_table_is_sound_and_its_defaults_are_accepted),
        cmocka_unit_test(every_intent_lies_inside_the_files),
        cmocka_unit_test(every_intent_follows_files_that_shrink_and_grow),
        cmocka_unit_test(every_pattern_waits_while_no_file_has_a_page),
        cmocka_unit_test(the_same_seed_and_number_repeat_every_intent),
        cmocka_unit_test(users_with_other_seed_or_number_act_differently),
        cmocka_unit_test(user_count_minus_one_is_two_a_cpu_at_most_eight),
        cmocka_unit_test(user_count_zero_is_none),
        cmocka_unit_test(user_count_above_zero_is_taken),
        cmocka_unit_test(user_count_defaults_are_the_documented_ones),
        cmocka_unit_test(user_count_above_the_limit_is_refused),
        cmocka_unit_test(random_user_defaults_are_the_documented_ones),
        cmocka_unit_test(undocumented_keys_are_flagged),
        cmocka_unit_test(min_above_max_is_refused_by_name),
        cmocka_unit_test(log_sizes_are_multiples_or_for_min_divisors_of_a_sector),
        cmocka_unit_test(without_jumps_a_user_stays_in_its_region),
        cmocka_unit_test(regions_start_anywhere_in_the_file),
        cmocka_unit_test(jumps_come_as_often_as_set),
        cmocka_unit_test(chain_pages_are_consecutive),
        cmocka_unit_test(regions_are_drawn_from_all_files),
        cmocka_unit_test(files_without_pages_are_left_out),
        cmocka_unit_test(random_users_use_sparse_files_like_others),
        cmocka_unit_test(the_ratio_is_the_share_of_pages_updated),
        cmocka_unit_test(rollbacks_come_as_often_as_set),
        cmocka_unit_test(a_rolled_back_transaction_reads_and_changes_nothing),
        cmocka_unit_test(log_bytes_lie_between_min_and_max),
        cmocka_unit_test(a_transaction_is_followed_by_compute_yield_and_sleep),
        cmocka_unit_test(steps_that_are_not_set_are_left_out),
        cmocka_unit_test(a_chain_length_of_zero_is_one_page),
        cmocka_unit_test(log_need_covers_the_largest_transaction),
        cmocka_unit_test(no_transaction_exceeds_log_need),
        cmocka_unit_test(audit_user_defaults_are_the_documented_ones),
        cmocka_unit_test(read_ahead_defaults_are_the_documented_ones),
        cmocka_unit_test(read_ahead_cycles_are_contiguous_and_of_every_length),
        cmocka_unit_test(read_ahead_pauses_after_the_cycles_that_are_set),
        cmocka_unit_test(bulk_defaults_are_the_documented_ones),
        cmocka_unit_test(bulk_loads_begin_at_an_extent_and_go_on),
        cmocka_unit_test(bulk_log_records_cover_every_extent_and_the_plan_covers_them),
        cmocka_unit_test(new_extents_are_none_of_sparse_files),
        cmocka_unit_test(audit_pauses_after_the_cycles_that_are_set),
        cmocka_unit_test(audit_with_zero_delay_cycles_never_pauses),
        cmocka_unit_test(audit_reads_all_files_in_turn_and_wraps),
        cmocka_unit_test(audit_users_start_at_random_places),
        cmocka_unit_test(checkpoint_runs_when_the_log_is_70_percent_full),
        cmocka_unit_test(checkpoint_runs_when_log_space_is_wanted),
        cmocka_unit_test(frames_are_not_the_checkpoints_business),
        cmocka_unit_test(checkpoint_for_the_log_waits_until_it_can_give_some_back),
        cmocka_unit_test(checkpoint_without_room_in_a_held_log_rests),
        cmocka_unit_test(checkpoint_of_the_interval_does_not_ask_for_the_log),
        cmocka_unit_test(checkpoint_runs_when_the_interval_has_passed),
        cmocka_unit_test(checkpoint_without_interval_waits_for_pressure),
        cmocka_unit_test(checkpoint_looks_more_often_near_a_threshold),
        cmocka_unit_test(checkpoint_rests_after_a_checkpoint),
        cmocka_unit_test(lazy_writer_sleeps_a_second_until_it_is_called),
        cmocka_unit_test(lazy_writer_sweeps_when_frames_are_short),
        cmocka_unit_test(lazy_writer_rests_after_a_sweep_that_did_not_help),
        cmocka_unit_test(cpu_idle_user_keeps_to_its_pace),
        cmocka_unit_test(cpu_idle_user_reads_its_share_from_the_disk),
        cmocka_unit_test(cpu_idle_users_are_one_a_cpu),
    };

    return cmocka_run_group_tests(tests, NULL, NULL) + maintenance();
}
