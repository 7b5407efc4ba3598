/* test_singles.c - RandomUser with single pages: counts, skew, order; the skew by itself. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <stdlib.h>
#include <string.h>

#include "patterns/pattern.h"
#include "patterns/skew.h"

#define DRAWS 20000
#define PAGES 100000

static struct skew parsed(const char *text)
{
    char why[OPT_TEXT_MAX];
    struct skew skew;
    if (skew_parse(text, &skew, why))
        fail_msg("%s: %s", text, why);
    return skew;
}

static void assert_refused(const char *text)
{
    char why[OPT_TEXT_MAX] = "";
    struct skew skew;
    assert_int_not_equal(skew_parse(text, &skew, why), 0);
    assert_non_null(strstr(why, "95/5,4/10")); /* says how it is written */
}

static void skew_refuses_what_makes_no_sense(void **state)
{
    (void)state;
    assert_refused("95");
    assert_refused("95/5;4/10");
    assert_refused("95/x");
    assert_refused("60/5,50/10");  /* 110 % of the accesses */
    assert_refused("50/60,40/50"); /* 110 % of the space */
    assert_refused("50/0");
    assert_refused("50/100"); /* nothing is left for the other half */
    assert_refused("101/5");
    assert_refused("1/1,1/1,1/1,1/1,1/1,1/1,1/1,1/1");
}

/* VM Fleet: of 20,000 draws 95 % below 5 % of the pages, 4 % in the next 10 %, 1 % behind.  Five
 * standard deviations of 95 % are 0.8 points. */
static void skew_gives_each_band_its_share(void **state)
{
    static const char *const spellings[] = {"95/5,4/10", "95/5:4/10", "95/5,4/10,1/85"};
    (void)state;
    for (size_t s = 0; s < 3; s++) {
        struct skew skew = parsed(spellings[s]);
        unsigned hot = 0, warm = 0;
        struct rng rng;
        rng_seed(&rng, 11);
        for (int i = 0; i < DRAWS; i++) {
            uint32_t page = skew_page(&skew, &rng, PAGES);
            assert_true(page < PAGES);
            hot += page < PAGES / 20;
            warm += page >= PAGES / 20 && page < PAGES * 15 / 100;
        }
        assert_true(abs((int)hot - DRAWS * 95 / 100) < DRAWS * 8 / 1000);
        assert_true(abs((int)warm - DRAWS * 4 / 100) < DRAWS * 8 / 1000);
    }
}

/* Half the draws in each half, five standard deviations are 1.8 points. */
static void no_skew_is_everywhere_alike(void **state)
{
    struct skew skew = parsed(NULL);
    struct rng rng;
    unsigned low = 0;
    (void)state;
    rng_seed(&rng, 12);
    for (int i = 0; i < DRAWS; i++)
        low += skew_page(&skew, &rng, PAGES) < PAGES / 2;
    assert_true(abs((int)low - DRAWS / 2) < DRAWS * 18 / 1000);
}

static void the_smallest_file_has_a_page_for_every_band(void **state)
{
    struct skew skew = parsed("95/5,4/10");
    struct rng rng;
    (void)state;
    rng_seed(&rng, 13);
    for (int i = 0; i < 100; i++)
        assert_int_equal(skew_page(&skew, &rng, 1), 0);
}

/* ---- the pattern ---- */

struct user {
    void *settings, *state;
};

static void set(struct user *user, const char *key, const char *value)
{
    char text[OPT_TEXT_MAX];
    const struct opt *opt = opt_find(pattern_random_user.section, key);
    assert_non_null(opt);
    assert_int_equal(opt_set(opt, user->settings, value, text), 0);
}

static struct user user_with(const char *reads, const char *updates, const char *rollback)
{
    struct user user = {.settings = malloc(pattern_random_user.section->size_bytes)};
    opt_section_defaults(pattern_random_user.section, user.settings);
    set(&user, "ReadsPerTransaction", reads);
    set(&user, "UpdatesPerTransaction", updates);
    set(&user, "RollbackChance", rollback);
    set(&user, "Skew", "95/5,4/10");
    user.state = malloc(pattern_random_user.state_size(user.settings));
    pattern_random_user.init(user.state, user.settings, 3, 0);
    return user;
}

static void user_free(struct user *user)
{
    opt_section_free(pattern_random_user.section, user->settings);
    free(user->settings);
    free(user->state);
}

static const struct pattern_file file = {.size_pages = PAGES};
static const struct pattern_view view = {.files = &file, .file_count = 1};

static struct op next_work(struct user *user)
{
    struct op op;
    do
        pattern_random_user.next(user->state, &view, &op);
    while (!op_is_work(op.kind));
    return op;
}

/* 3.5 and 1.5: 3 or 4 pages, 1 or 2 of them changed, each half of the time.  The mean of 20,000
 * such draws has a standard deviation of 0.5 / sqrt(20,000) = 0.0035: 0.02 is more than five. */
static void pages_and_updates_have_the_means_that_are_set(void **state)
{
    struct user user = user_with("3.5", "1.5", "0");
    uint64_t pages = 0, updates = 0;
    (void)state;
    for (int i = 0; i < DRAWS; i++) {
        struct op op = next_work(&user);
        assert_true(op.pages_count == 3 || op.pages_count == 4);
        pages += op.pages_count;
        for (unsigned p = 0; p < op.pages_count; p++) {
            assert_true(op.pages[p].page_no < PAGES);
            updates += op.pages[p].update;
        }
    }
    assert_true((double)pages / DRAWS > 3.48 && (double)pages / DRAWS < 3.52);
    assert_true((double)updates / DRAWS > 1.48 && (double)updates / DRAWS < 1.52);
    user_free(&user);
}

/* So that the log records of a transaction stand together when it commits. */
static void the_pages_that_change_come_last(void **state)
{
    struct user user = user_with("8", "3", "0");
    (void)state;
    for (int i = 0; i < 100; i++) {
        struct op op = next_work(&user);
        for (unsigned p = 0; p < 8; p++)
            assert_int_equal(op.pages[p].update, p >= 5);
    }
    user_free(&user);
}

static void a_rolled_back_one_changes_nothing(void **state)
{
    struct user user = user_with("4", "4", "100%");
    (void)state;
    struct op op = next_work(&user);
    assert_true(op.rollback);
    for (unsigned p = 0; p < op.pages_count; p++)
        assert_false(op.pages[p].update || op.pages[p].log_bytes);
    user_free(&user);
}

/* SleepAfter is 5 ms by default; what arrives by a rate finds no sleeping user. */
static void a_rate_takes_the_place_of_the_sleep(void **state)
{
    struct user user = user_with("1", "0", "0");
    struct op op;
    unsigned sleeps = 0;
    (void)state;
    for (int i = 0; i < 10; i++) {
        pattern_random_user.next(user.state, &view, &op);
        sleeps += op.kind == OP_THINK;
    }
    assert_int_equal(sleeps, 5);
    set(&user, "RatePerSecond", "0.5");
    next_work(&user);
    for (int i = 0; i < 10; i++) {
        pattern_random_user.next(user.state, &view, &op);
        assert_int_equal(op.kind, OP_UPDATE);
    }
    user_free(&user);
}

/* 300/s of 3.5 + 1.5 pages, in thousandths. */
static void the_rate_says_how_many_data_ios_it_brings(void **state)
{
    struct user user = user_with("3.5", "1.5", "0");
    (void)state;
    assert_int_equal(pattern_random_user.rate(user.settings).per_second, 0);
    set(&user, "RatePerSecond", "300");
    assert_int_equal(pattern_random_user.rate(user.settings).per_second, 300000);
    assert_int_equal(pattern_random_user.rate(user.settings).data_ios, 5000);
    user_free(&user);
}

static void a_rate_without_users_is_refused(void **state)
{
    struct user user = user_with("1", "0", "0");
    char text[OPT_TEXT_MAX];
    (void)state;
    set(&user, "RatePerSecond", "300");
    set(&user, "UserCount", "0");
    assert_int_not_equal(pattern_random_user.section->check(user.settings, text), 0);
    assert_non_null(strstr(text, "UserCount"));
    user_free(&user);
}

static void more_updates_than_reads_are_refused(void **state)
{
    struct user user = user_with("1.5", "1.6", "0");
    char text[OPT_TEXT_MAX];
    (void)state;
    assert_int_not_equal(pattern_random_user.section->check(user.settings, text), 0);
    assert_non_null(strstr(text, "UpdatesPerTransaction"));
    set(&user, "UpdatesPerTransaction", "1.5");
    assert_int_equal(pattern_random_user.section->check(user.settings, text), 0);
    user_free(&user);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(skew_refuses_what_makes_no_sense),
        cmocka_unit_test(skew_gives_each_band_its_share),
        cmocka_unit_test(no_skew_is_everywhere_alike),
        cmocka_unit_test(the_smallest_file_has_a_page_for_every_band),
        cmocka_unit_test(pages_and_updates_have_the_means_that_are_set),
        cmocka_unit_test(the_pages_that_change_come_last),
        cmocka_unit_test(a_rolled_back_one_changes_nothing),
        cmocka_unit_test(a_rate_takes_the_place_of_the_sleep),
        cmocka_unit_test(the_rate_says_how_many_data_ios_it_brings),
        cmocka_unit_test(a_rate_without_users_is_refused),
        cmocka_unit_test(more_updates_than_reads_are_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
