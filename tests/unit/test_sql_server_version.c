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
        {"2005", 32, 491520, 32, 20, 0x00, 0, 0},     {"2008", 32, 3932160, 32, 20, 0x00, 0, 0},
        {"2008R2", 32, 3932160, 32, 20, 0x00, 0, 0},  {"2012", 112, 3932160, 32, 20, 0x00, 0, 0},
        {"2014", 112, 3932160, 32, 20, 0x00, 1, 0},   {"2016", 112, 3932160, 128, 50, 0xC0, 1, 60},
        {"2017", 112, 3932160, 128, 50, 0xC0, 1, 60}, {"2019", 112, 3932160, 128, 50, 0xC0, 1, 60},
        {"2022", 112, 3932160, 128, 50, 0xC0, 2, 60},
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
        assert_int_equal(row->vlf_rule, wanted->vlf_rule);
        assert_int_equal(row->target_recovery_s, wanted->target_recovery_s);
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

/* What each key may be set to, other than any version sets it. */
static const struct {
    const char *key, *value;
    int64_t stored;
} own_values[] = {
    {"GatherPages", "17", 17},
    {"TargetRecoveryTime", "90", 90000000000},
    {"LogWrites", "5", 5},
    {"LogBytes", "123K", 125952},
    {"FreshLogByte", "0x00", 0},
    {"VlfRule", "2012", 0},
    {"CheckpointSlowMs", "33", 33000000},
};

/* By its name in the table of keys: the table and the table of options agree. */
static int64_t stored_value(const struct profile *profile, const char *name)
{
    const struct sql_server_key *key = sql_server_key_by_name(name);
    int64_t value;
    assert_non_null(key);
    memcpy(&value, (const char *)profile_config(profile) + key->offset, sizeof value);
    return value;
}

static void every_key_alone_beats_its_version(void **state)
{
    (void)state;
    assert_int_equal(sizeof own_values / sizeof own_values[0], sql_server_keys_count);
    for (size_t i = 0; i < sql_server_keys_count; i++) {
        struct opt_where where = {.source = "run.ini", .line = 7};
        char origin[64];
        struct profile *profile = profile_create(NULL, 0);
        assert_int_equal(
            profile_set(profile, "CONFIG", own_values[i].key, own_values[i].value, where), 0);
        assert_int_equal(profile_set(profile, "CONFIG", "SqlServerVersion", "2017", where), 0);
        assert_int_equal(profile_finish(profile), 0);
        for (size_t j = 0; j < sql_server_keys_count; j++) {
            const struct sql_server_key *key = &sql_server_keys[j];
            bool own = strcmp(key->name, own_values[i].key) == 0;
            int64_t wanted = own ? own_values[i].stored : key->value(version_of(profile));
            assert_int_equal(stored_value(profile, key->name), wanted);
            profile_origin(profile, key->name, origin, sizeof origin);
            assert_string_equal(origin, own ? "run.ini:7" : "SqlServerVersion=2017");
        }
        profile_free(profile);
    }
}

static void without_a_version_the_origin_says_whose_it_is(void **state)
{
    (void)state;
    char origin[64];
    struct profile *profile = profile_of(NULL, NULL);
    profile_origin(profile, "LogWrites", origin, sizeof origin);
    assert_string_equal(origin, "as in SQL Server 2022");
    profile_origin(profile, "GatherPages", origin, sizeof origin);
    assert_string_equal(origin, "default");
    profile_free(profile);
}

static void the_list_says_which_version_sets_what(void **state)
{
    (void)state;
    char text[512];
    profile_versions_text(opt_find(&config_section, "LogWrites"), text, sizeof text);
    assert_string_equal(text, " SqlServerVersion sets 32 (2005 .. 2008R2), 112 (2012 .. 2022).");
    profile_versions_text(opt_find(&config_section, "LogBytes"), text, sizeof text);
    assert_string_equal(text, " SqlServerVersion sets 491520 (2005), 3932160 (2008 .. 2022).");
    profile_versions_text(opt_find(&config_section, "Seed"), text, sizeof text);
    assert_string_equal(text, "");
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
        cmocka_unit_test(every_key_alone_beats_its_version),
        cmocka_unit_test(without_a_version_the_origin_says_whose_it_is),
        cmocka_unit_test(the_list_says_which_version_sets_what),
        cmocka_unit_test(another_version_is_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
