/*
 * test_phases.c - [PhaseN] sections: what a phase has, what it may set, what is complained of, what
 * is dumped; the steps of Load, the sum of Shares.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "config/load_steps.h"
#include "config/profile.h"
#include "config/source.h"
#include "patterns/pattern.h"

#define SECTIONS_MAX 64
#define S_NS         INT64_C(1000000000)

static struct profile *make(void)
{
    const struct opt_section *sections[SECTIONS_MAX];
    size_t count = pattern_sections(sections, SECTIONS_MAX);
    return profile_create(sections, count);
}

static struct profile *loaded(const char *text)
{
    struct profile *profile = make();
    assert_int_equal(source_ini_text(profile, "run.ini", text, strlen(text)), 0);
    return profile;
}

/* The value of a key of a phase's profile, as text. */
static const char *value_of(const struct profile *profile, const char *section, const char *key)
{
    static char text[OPT_STRING_MAX + 1];
    for (size_t i = 0; i < profile_section_count(profile); i++) {
        const void *settings;
        const struct opt_section *table = profile_section_at(profile, i, &settings);
        if (strcmp(table->name, section) == 0)
            opt_get(opt_find(table, key), settings, text, sizeof text);
    }
    return text;
}

/* Is there a diagnostic of this level with this line and these words? */
static bool complains(const struct profile *profile, enum diag_level level, unsigned line,
                      const char *words)
{
    for (size_t i = 0; i < profile_diag_count(profile); i++) {
        const struct diag *diag = profile_diag_at(profile, i);
        if (diag->level == level && diag->where.line == line && strstr(diag->text, words))
            return true;
    }
    for (size_t i = 0; i < profile_diag_count(profile); i++)
        diag_print(profile_diag_at(profile, i), stderr);
    return false;
}

static char *dumped(const struct profile *profile)
{
    char *text = NULL;
    size_t size_bytes;
    FILE *out = open_memstream(&text, &size_bytes);
    profile_dump(profile, out);
    fclose(out);
    return text;
}

static const char two_phases[] = "[RandomUser]\nUserCount=7\nSleepAfter=9\n"
                                 "[Phase20]\nName=noon\nDuration=30\nRandomUser.UserCount=3\n"
                                 "CONFIG.CacheHitRatio=25%\n"
                                 "[Phase3]\nDuration=10\n";

static void a_phase_has_the_runs_settings_and_its_own_on_top(void **state)
{
    struct profile *profile = loaded(two_phases);
    (void)state;
    assert_int_equal(profile_finish(profile), 0);
    assert_int_equal(profile_phase_count(profile), 2);
    assert_int_equal(profile_phase(profile, 0)->number, 3);
    assert_null(profile_phase(profile, 0)->name);
    assert_string_equal(profile_phase(profile, 1)->name, "noon");
    const struct profile *first = profile_phase_profile(profile, 0);
    const struct profile *second = profile_phase_profile(profile, 1);
    assert_string_equal(value_of(first, "RandomUser", "UserCount"), "7");
    assert_string_equal(value_of(second, "RandomUser", "UserCount"), "3");
    assert_string_equal(value_of(second, "RandomUser", "SleepAfter"), "9");
    assert_int_equal(profile_config(first)->cache_hit_ratio, 1000);
    assert_int_equal(profile_config(second)->cache_hit_ratio, 2500);
    assert_false(profile_is_set(second, "RandomUser", "SleepAfter"));
    profile_free(profile);
}

static void the_main_part_is_as_long_as_its_phases(void **state)
{
    struct profile *profile = loaded(two_phases);
    (void)state;
    assert_int_equal(profile_finish(profile), 0);
    assert_int_equal(profile_config(profile)->test_cycle_duration_ns, 40 * S_NS);
    profile_free(profile);
}

/* 30 + 10 to 20 s: 15 + 5. */
static void scaled_phases_keep_their_proportions(void **state)
{
    struct profile *profile = loaded(two_phases);
    (void)state;
    profile_phases_scale(profile, 20 * S_NS);
    assert_int_equal(profile_finish(profile), 0);
    assert_int_equal(profile_phase(profile, 0)->duration_ns, 5 * S_NS);
    assert_int_equal(profile_phase(profile, 1)->duration_ns, 15 * S_NS);
    profile_free(profile);
}

/* Two databases: 2 x 30 + 20 s are 80; at half of it 15 and 10. */
static void a_phase_for_each_database_counts_as_often(void **state)
{
    struct profile *profile = loaded("[File1]\nFileName=a\nInitialSize=9\n"
                                     "[File2]\nFileName=b\nInitialSize=9\nDatabase=2\n"
                                     "[File3]\nFileName=c\nInitialSize=9\nDatabase=2\n"
                                     "[Phase1]\nDuration=30\nDatabases=each\n"
                                     "[Phase2]\nDuration=20\n");
    (void)state;
    profile_phases_scale(profile, 40 * S_NS);
    assert_int_equal(profile_finish(profile), 0);
    assert_int_equal(profile_phase_times(profile, 0), 2);
    assert_int_equal(profile_phase_times(profile, 1), 1);
    assert_int_equal(profile_phase(profile, 0)->duration_ns, 15 * S_NS);
    assert_int_equal(profile_config(profile)->test_cycle_duration_ns, 40 * S_NS);
    profile_free(profile);
}

/* Any case, commas or blanks; nobody else. */
static void a_phase_waits_for_whom_it_names(void **state)
{
    struct profile *profile = loaded("[BackupUser]\nUserCount=1\n[DbccUser]\nUserCount=-1\n"
                                     "[Phase1]\nDuration=20\nUntil=backupuser, DbccUser\n"
                                     "DurationMin=10\n[Phase2]\nDuration=20\n");
    char text[PHASE_UNTIL_TEXT_MAX];
    (void)state;
    profile_phases_scale(profile, 20 * S_NS);
    assert_int_equal(profile_finish(profile), 0);
    assert_int_equal(profile_diag_count(profile), 0);
    assert_true(profile_phase_awaits(profile, 0, "BackupUser"));
    assert_true(profile_phase_awaits(profile, 0, "DbccUser"));
    assert_false(profile_phase_awaits(profile, 0, "RandomUser"));
    assert_false(profile_phase_awaits(profile, 0, "Backup"));
    assert_false(profile_phase_awaits(profile, 1, "BackupUser"));
    assert_int_equal(profile_phase(profile, 0)->duration_ns, 10 * S_NS);
    assert_int_equal(profile_phase(profile, 0)->duration_min_ns, 5 * S_NS);
    phase_until_text(profile_phase(profile, 0), text);
    assert_string_equal(text, ", until backupuser, DbccUser are done");
    profile_free(profile);
}

static void set_reaches_a_phase(void **state)
{
    struct profile *profile = loaded(two_phases);
    (void)state;
    assert_int_equal(source_set_option(profile, "Phase3.RandomUser.UserCount=5"), 0);
    assert_int_equal(source_set_option(profile, "phase3.name=dawn"), 0);
    assert_int_equal(profile_finish(profile), 0);
    assert_string_equal(profile_phase(profile, 0)->name, "dawn");
    assert_string_equal(value_of(profile_phase_profile(profile, 0), "RandomUser", "UserCount"),
                        "5");
    profile_free(profile);
}

static void what_is_dumped_loads_to_the_same(void **state)
{
    struct profile *one = loaded(two_phases);
    (void)state;
    assert_int_equal(profile_finish(one), 0);
    char *first = dumped(one);
    struct profile *two = loaded(first);
    assert_int_equal(profile_finish(two), 0);
    char *second = dumped(two);
    assert_string_equal(first, second);
    assert_int_equal(profile_diag_count(two), 0);
    assert_string_equal(value_of(profile_phase_profile(two, 1), "RandomUser", "UserCount"), "3");
    free(first);
    free(second);
    profile_free(one);
    profile_free(two);
}

static const struct {
    enum diag_level level;
    unsigned line;
    const char *words, *text;
} mistakes[] = {
    {DIAG_ERROR, 3, "[Phase1] CONFIG.MaxMemoryMB: cannot change within a run",
     "[Phase1]\nDuration=1\nCONFIG.MaxMemoryMB=5\n"},
    {DIAG_ERROR, 3, "[Phase1] Thresholds.LogWriteMean: cannot change within a run",
     "[Phase1]\nDuration=1\nThresholds.LogWriteMean=5ms\n"},
    {DIAG_ERROR, 3, "[Phase1] CpuIdleUser.UserCount: cannot change within a run",
     "[Phase1]\nDuration=1\nCpuIdleUser.UserCount=5\n"},
    {DIAG_ERROR, 3, "[Phase1] File1.InitialSize: files and phases stay",
     "[Phase1]\nDuration=1\nFile1.InitialSize=5\n"},
    {DIAG_ERROR, 3, "[Phase1] Phase2.Name: files and phases stay",
     "[Phase1]\nDuration=1\nPhase2.Name=x\n"},
    {DIAG_ERROR, 3, "[Phase1] RandomUser.UserCount=many: not an integer",
     "[Phase1]\nDuration=1\nRandomUser.UserCount=many\n"},
    {DIAG_WARNING, 3, "[RandomUser] UserCuont: unknown key",
     "[Phase1]\nDuration=1\nRandomUser.UserCuont=5\n"},
    {DIAG_WARNING, 3, "[RandomUsr]: unknown section",
     "[Phase1]\nDuration=1\nRandomUsr.UserCount=5\n"},
    {DIAG_WARNING, 3, "[Phase1] Durration: unknown key", "[Phase1]\nDuration=1\nDurration=5\n"},
    {DIAG_WARNING, 4, "set before in line 3",
     "[Phase1]\nDuration=1\nRandomUser.UserCount=4\nRandomUser.UserCount=5\n"},
    {DIAG_ERROR, 2, "[Phase1] Duration is missing", "[Phase1]\nName=x\n"},
    {DIAG_ERROR, 4, "WarmUp takes all of Duration", "[Phase1]\nDuration=5\nRated=1\nWarmUp=5\n"},
    {DIAG_WARNING, 3, "no user has a RatePerSecond", "[Phase1]\nDuration=9\nRated=TRUE\n"},
    {DIAG_ERROR, 3, "Databases is neither", "[Phase1]\nDuration=9\nDatabases=some\n"},
    {DIAG_ERROR, 6, "Databases=2: no [FileN]",
     "[File1]\nFileName=x\nInitialSize=9\n[Phase1]\nDuration=9\nDatabases=2\n"},
    {DIAG_ERROR, 3, "[Phase1] with its settings of [RandomUser]: MinIOChainLength=500 is above",
     "[Phase1]\nDuration=1\nRandomUser.MinIOChainLength=500\n"},
    {DIAG_ERROR, 2, "[Phase0]: sections of phases are", "[Phase0]\nDuration=1\n"},
    {DIAG_WARNING, 2, "TestCycleDuration has no effect",
     "[CONFIG]\nTestCycleDuration=99\n[Phase1]\nDuration=1\n"},
    {DIAG_ERROR, 2, "[RandomUser] Share and RatePerSecond",
     "[RandomUser]\nShare=50%\nRatePerSecond=5\n"},
    {DIAG_WARNING, 2, "add up to 50 %", "[RandomUser]\nShare=50%\n"},
    {DIAG_WARNING, 5, "[Phase1] the Shares of all users add up to 40 %",
     "[RandomUser]\nShare=100%\n[Phase1]\nDuration=1\nRandomUser.Share=40%\n"},
    {DIAG_ERROR, 5, "[Phase1] Until=BackupUsr: there are no such users (did you mean BackupUser?)",
     "[BackupUser]\nUserCount=1\n[Phase1]\nDuration=9\nUntil=BackupUsr\n"},
    {DIAG_ERROR, 3, "Until=RandomUser: these go on for as long as the phase does",
     "[Phase1]\nDuration=9\nUntil=RandomUser\n"},
    {DIAG_ERROR, 3, "Until=BackupUser: there are none in this phase",
     "[Phase1]\nDuration=9\nUntil=BackupUser\n"},
    {DIAG_ERROR, 6, "Until=DbccUser: there are none in this phase",
     "[DbccUser]\nUserCount=4\n[Phase1]\nDuration=9\nDbccUser.UserCount=0\nUntil=DbccUser\n"},
    {DIAG_ERROR, 3, "Until=CONFIG: there are no such users",
     "[Phase1]\nDuration=9\nUntil=CONFIG\n"},
    {DIAG_ERROR, 3, "[Phase1] Until names nobody", "[Phase1]\nDuration=9\nUntil=,\n"},
    {DIAG_WARNING, 3, "DurationMin has no effect without Until",
     "[Phase1]\nDuration=9\nDurationMin=3\n"},
    {DIAG_ERROR, 3, "DurationMin is above Duration", "[Phase1]\nDuration=9\nDurationMin=10\n"},
    {DIAG_ERROR, 2, "Load: a step is no percentage", "[CONFIG]\nLoad=40%,fast\n"},
};

static void every_mistake_is_told_with_its_line(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof mistakes / sizeof mistakes[0]; i++) {
        struct profile *profile = loaded(mistakes[i].text);
        int rc = profile_finish(profile);
        assert_int_equal(rc != 0, mistakes[i].level == DIAG_ERROR);
        assert_true(complains(profile, mistakes[i].level, mistakes[i].line, mistakes[i].words));
        profile_free(profile);
    }
}

static void more_phases_than_there_may_be_are_told_once(void **state)
{
    struct profile *profile = make();
    char section[32];
    (void)state;
    for (unsigned i = 1; i <= PROFILE_PHASES_MAX + 2; i++) {
        struct opt_where where = {.source = "run.ini", .line = i};
        snprintf(section, sizeof section, "Phase%u", i);
        int rc = profile_set(profile, section, "Duration", "1", where);
        assert_int_equal(rc != 0, i > PROFILE_PHASES_MAX);
    }
    assert_int_equal(profile_error_count(profile), 1);
    assert_true(complains(profile, DIAG_ERROR, PROFILE_PHASES_MAX + 1, "more than 1000 phases"));
    profile_free(profile);
}

/* ---- steps ---- */

static void steps_are_factors(void **state)
{
    struct load_steps steps;
    char why[OPT_TEXT_MAX], text[64];
    (void)state;
    assert_int_equal(load_steps_parse(" 40% ,80 %,120,12.5%,MAX", &steps, why), 0);
    assert_int_equal(steps.count, 5);
    const double wanted[] = {0.4, 0.8, 1.2, 0.125};
    for (unsigned i = 0; i < 4; i++) {
        assert_false(steps.list[i].max);
        assert_true(steps.list[i].factor > wanted[i] - 1e-9);
        assert_true(steps.list[i].factor < wanted[i] + 1e-9);
    }
    assert_true(steps.list[4].max);
    load_step_text(&steps.list[3], text, sizeof text);
    assert_string_equal(text, "load 12.5 %");
    assert_int_equal(load_steps_parse(NULL, &steps, why), 0);
    assert_int_equal(steps.count, 0);
}

static void what_is_no_step_is_refused(void **state)
{
    static const char *const wrong[] = {"fast",  "40%%", "0",      "-5",
                                        "40,",   ",40",  "40,,80", "1e3",
                                        "40 80", "%",    "100001", "99999999999999"};
    struct load_steps steps;
    char why[OPT_TEXT_MAX];
    (void)state;
    for (size_t i = 0; i < sizeof wrong / sizeof wrong[0]; i++)
        assert_true(load_steps_parse(wrong[i], &steps, why) < 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_phase_has_the_runs_settings_and_its_own_on_top),
        cmocka_unit_test(the_main_part_is_as_long_as_its_phases),
        cmocka_unit_test(scaled_phases_keep_their_proportions),
        cmocka_unit_test(a_phase_for_each_database_counts_as_often),
        cmocka_unit_test(a_phase_waits_for_whom_it_names),
        cmocka_unit_test(set_reaches_a_phase),
        cmocka_unit_test(what_is_dumped_loads_to_the_same),
        cmocka_unit_test(every_mistake_is_told_with_its_line),
        cmocka_unit_test(more_phases_than_there_may_be_are_told_once),
        cmocka_unit_test(steps_are_factors),
        cmocka_unit_test(what_is_no_step_is_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
