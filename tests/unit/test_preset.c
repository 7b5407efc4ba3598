/* test_preset.c - presets lie below what the user sets; the rated phase has settings of its own. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "config/preset.h"
#include "config/source_cli.h"
#include "patterns/pattern.h"

static struct profile *profile_new(void)
{
    const struct opt_section *sections[64];
    size_t count = pattern_sections(sections, 64);
    return profile_create(sections, count);
}

static int64_t value_of(const struct profile *profile, const char *section, const char *key)
{
    const struct opt *opt = opt_find(pattern_by_name(section)->section, key);
    const char *settings = profile_section(profile, section);
    return *(const int64_t *)(const void *)(settings + opt->offset);
}

static void every_preset_names_settings_that_exist(void **state)
{
    (void)state;
    for (size_t i = 0; i < presets_count; i++) {
        struct profile *profile = profile_new();
        profile_set_strict(profile, true);
        assert_int_equal(preset_apply(&presets[i], profile), 0);
        assert_int_equal(profile_finish(profile), 0);
        profile_free(profile);
    }
}

/* What `config --presets` must tell of each. */
static void every_preset_says_what_it_is(void **state)
{
    static const char *const labels[] = {"\n; Mix ", "\n; Rates ", "\n; DiskSpd ", "\n; fio "};
    (void)state;
    for (size_t i = 0; i < presets_count; i++) {
        const char *text = presets[i].text;
        size_t name = strlen(presets[i].name);
        assert_memory_equal(text, "; ", 2);
        assert_memory_equal(text + 2, presets[i].name, name);
        assert_memory_equal(text + 2 + name, " - ", 3);
        for (size_t k = 0; k < sizeof labels / sizeof labels[0]; k++)
            assert_non_null(strstr(text, labels[k]));
    }
}

static void names_are_found_in_any_case(void **state)
{
    (void)state;
    assert_string_equal(preset_by_name("OLTP")->name, "oltp");
    assert_null(preset_by_name("oltpx"));
}

/* VM Fleet: 1,500 data I/Os and 300 transactions; 3.5 + 1.5 = 5 I/Os each. */
static void oltp_asks_for_1500_data_ios_a_second(void **state)
{
    struct profile *profile = profile_new();
    (void)state;
    assert_int_equal(preset_apply(preset_by_name("oltp"), profile), 0);
    struct pattern_rate rate = pattern_random_user.rate(profile_section(profile, "RandomUser"));
    assert_int_equal(rate.per_second, 300 * 1000);
    assert_int_equal(rate.per_second / 1000 * rate.data_ios / 1000, 1500);
    assert_int_equal(value_of(profile, "RandomUser", "UserCount"), 64);
    profile_free(profile);
}

static int apply(struct profile *profile, struct run_options *options, int argc,
                 const char *const *argv)
{
    run_options_init(options);
    assert_int_equal(run_options_parse(options, profile, argc, (char *const *)(uintptr_t)argv), 0);
    return run_options_apply(options, profile);
}

static void what_is_set_beats_the_preset(void **state)
{
    static const char *const argv[] = {
        "run", "--set", "RandomUser.UserCount=8", "--preset", "oltp", "--rated", "90"};
    struct profile *profile = profile_new();
    struct run_options options;
    (void)state;
    assert_int_equal(apply(profile, &options, 7, argv), 0);
    assert_int_equal(value_of(profile, "RandomUser", "UserCount"), 8);
    assert_int_equal(value_of(profile, "RandomUser", "RatePerSecond"), 300000);
    assert_int_equal(profile_config(profile)->rated_duration_ns, 90000000000);
    assert_int_equal(profile_config(profile)->rated_warm_up_ns, 60000000000);
    run_options_free(&options);
    profile_free(profile);
}

static void an_unknown_preset_is_an_error(void **state)
{
    static const char *const argv[] = {"run", "--preset", "olpt"};
    struct profile *profile = profile_new();
    struct run_options options;
    (void)state;
    assert_int_not_equal(apply(profile, &options, 3, argv), 0);
    assert_non_null(strstr(profile_diag_at(profile, 0)->text, "did you mean oltp"));
    assert_non_null(strstr(profile_diag_at(profile, 0)->text, "--presets"));
    run_options_free(&options);
    profile_free(profile);
}

static void the_rated_settings_are_apart_from_the_users(void **state)
{
    struct profile *profile = profile_new();
    (void)state;
    assert_null(profile_rated(profile));
    assert_int_equal(
        profile_set(profile, "RandomUser", "UserCount", "3", (struct opt_where){.source = "x"}), 0);
    profile_rate_by(profile, preset_by_name("oltp"));
    assert_int_equal(value_of(profile, "RandomUser", "UserCount"), 3);
    assert_int_equal(value_of(profile_rated(profile), "RandomUser", "UserCount"), 64);
    profile_free(profile);
}

static void a_preset_that_was_asked_for_rates_by_itself(void **state)
{
    struct profile *profile = profile_new();
    (void)state;
    profile_rate_by_itself(profile);
    assert_ptr_equal(profile_rated(profile), profile);
    profile_free(profile);
}

static void the_list_says_what_each_is(void **state)
{
    char *text = NULL;
    size_t size;
    FILE *out = open_memstream(&text, &size);
    (void)state;
    presets_print(NULL, profile_new, out);
    fclose(out);
    for (size_t i = 0; i < presets_count; i++)
        assert_non_null(strstr(text, presets[i].name));
    assert_non_null(strstr(text, "Sizes    data 20 GiB, at most 40 % of the free space"));
    assert_non_null(strstr(text, "1 min of warm-up and 5 min judged"));
    free(text);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_preset_names_settings_that_exist),
        cmocka_unit_test(every_preset_says_what_it_is),
        cmocka_unit_test(names_are_found_in_any_case),
        cmocka_unit_test(oltp_asks_for_1500_data_ios_a_second),
        cmocka_unit_test(what_is_set_beats_the_preset),
        cmocka_unit_test(an_unknown_preset_is_an_error),
        cmocka_unit_test(the_rated_settings_are_apart_from_the_users),
        cmocka_unit_test(a_preset_that_was_asked_for_rates_by_itself),
        cmocka_unit_test(the_list_says_what_each_is),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
