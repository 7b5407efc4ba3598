/*
 * test_sql_server_version.c - the key SqlServerVersion and its table.
 *
 * Figures: Microsoft's documentation as cited in sql_server_version.h.  480 KiB = 491,520 and
 * 3,840 KiB = 3,932,160 bytes.
 */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "config/profile.h"
#include "config/sql_server_version.h"

static struct profile *profile_of(const char *version, const char *gather)
{
    struct profile *profile = profile_create(NULL, 0);
    struct opt_where where = {.source = "run.ini", .line = 1};

    if (version)
        assert_int_equal(profile_set(profile, "CONFIG", "SqlServerVersion", version, where), 0);
    if (gather)
        assert_int_equal(profile_set(profile, "CONFIG", "GatherPages", gather, where), 0);
    assert_int_equal(profile_finish(profile), 0);
    return profile;
}

static const struct sql_server_version *version_of(const struct profile *profile)
{
    return sql_server_version_at(profile_config(profile)->sql_server_version);
}

static void every_version_has_the_published_figures(void **state)
{
    static const struct sql_server_version published[] = {
        {"2005", 32, 491520, 32, 20, 0x00},    {"2008", 32, 3932160, 32, 20, 0x00},
        {"2008R2", 32, 3932160, 32, 20, 0x00}, {"2012", 112, 3932160, 32, 20, 0x00},
        {"2014", 112, 3932160, 32, 20, 0x00},  {"2016", 112, 3932160, 128, 50, 0xC0},
        {"2017", 112, 3932160, 128, 50, 0xC0}, {"2019", 112, 3932160, 128, 50, 0xC0},
        {"2022", 112, 3932160, 128, 50, 0xC0},
    };
    (void)state;
    assert_int_equal(sql_server_versions_count, sizeof published / sizeof published[0]);
    for (size_t i = 0; i < sql_server_versions_count; i++) {
        const struct sql_server_version *wanted = &published[i];
        struct profile *profile = profile_of(wanted->name, NULL);
        const struct sql_server_version *row = version_of(profile);
        assert_string_equal(row->name, wanted->name);
        assert_int_equal(row->log_writes_max, wanted->log_writes_max);
        assert_int_equal(row->log_bytes_max, wanted->log_bytes_max);
        assert_int_equal(row->gather_pages_max, wanted->gather_pages_max);
        assert_int_equal(row->checkpoint_slow_ms, wanted->checkpoint_slow_ms);
        assert_int_equal(row->fresh_log_byte, wanted->fresh_log_byte);
        profile_free(profile);
    }
}

static void without_the_key_it_is_2022(void **state)
{
    (void)state;
    struct profile *profile = profile_of(NULL, NULL);
    assert_string_equal(version_of(profile)->name, "2022");
    profile_free(profile);
}

static void the_version_sets_the_gather_pages(void **state)
{
    (void)state;
    struct profile *profile = profile_of("2014", NULL);
    assert_int_equal(profile_config(profile)->gather_pages_max, 32);
    profile_free(profile);
    profile = profile_of("2016", NULL);
    assert_int_equal(profile_config(profile)->gather_pages_max, 128);
    profile_free(profile);
}

static void gather_pages_that_are_set_beat_the_version(void **state)
{
    (void)state;
    struct profile *profile = profile_of("2014", "64");
    assert_int_equal(profile_config(profile)->gather_pages_max, 64);
    profile_free(profile);
}

/* SQLIOSim's own, with which the mix of its real runs comes out (tests/model/hdd_mix.h). */
static void without_a_version_gather_writes_are_those_of_sqliosim(void **state)
{
    (void)state;
    struct profile *profile = profile_of(NULL, NULL);
    assert_int_equal(profile_config(profile)->gather_pages_max, 64);
    profile_free(profile);
}

static void another_version_is_refused(void **state)
{
    (void)state;
    struct profile *profile = profile_create(NULL, 0);
    struct opt_where where = {.source = "run.ini", .line = 1};
    assert_int_not_equal(profile_set(profile, "CONFIG", "SqlServerVersion", "2010", where), 0);
    profile_free(profile);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_version_has_the_published_figures),
        cmocka_unit_test(without_the_key_it_is_2022),
        cmocka_unit_test(the_version_sets_the_gather_pages),
        cmocka_unit_test(gather_pages_that_are_set_beat_the_version),
        cmocka_unit_test(without_a_version_gather_writes_are_those_of_sqliosim),
        cmocka_unit_test(another_version_is_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
