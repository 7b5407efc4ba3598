/* test_opt.c - reading numbers, option rows, and the tables that ship. */
#include <errno.h>
#include <inttypes.h>
#include <limits.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "config/cpu_list.h"
#include "config/nearest.h"
#include "config/opt.h"
#include "config/profile.h"
#include "config/units.h"
#include "patterns/pattern.h"
#include "patterns/rng.h"

#define COUNT(array) (sizeof(array) / sizeof((array)[0]))

static void int_reads_plain_decimals(void **state)
{
    (void)state;
    int64_t value;

    assert_int_equal(units_int("0", &value), 0);
    assert_int_equal(value, 0);
    assert_int_equal(units_int("-1", &value), 0);
    assert_int_equal(value, -1);
    assert_int_equal(units_int("9223372036854775807", &value), 0);
    assert_true(value == INT64_MAX);
    assert_int_equal(units_int("-9223372036854775808", &value), 0);
    assert_true(value == INT64_MIN);
}

static void int_reads_a_leading_zero_as_decimal(void **state)
{
    (void)state;
    int64_t value;

    assert_int_equal(units_int("010", &value), 0);
    assert_int_equal(value, 10);
}

static void int_refuses_what_strtol_lets_pass(void **state)
{
    (void)state;
    static const char *const bad[] = {"",      " 1",   "1 ",  "+1",  "12abc",   "0x10",
                                      "1e3",   "1.0",  "--1", "-",   "- 1",     "\t1",
                                      "1,000", "TRUE", "1\n", "1 2", "\xd9\xa1"};
    int64_t value = 77;

    for (size_t i = 0; i < COUNT(bad); i++) {
        assert_int_equal(units_int(bad[i], &value), -EINVAL);
        assert_int_equal(value, 77);
    }
}

static void int_overflow_is_an_error(void **state)
{
    (void)state;
    static const char *const bad[] = {"9223372036854775808", "-9223372036854775809",
                                      "18446744073709551616", "99999999999999999999999999"};
    int64_t value = 77;

    for (size_t i = 0; i < COUNT(bad); i++) {
        assert_int_equal(units_int(bad[i], &value), -ERANGE);
        assert_int_equal(value, 77);
    }
}

static void size_units_are_powers_of_1024(void **state)
{
    (void)state;
    static const struct {
        const char *text;
        int64_t bytes;
    } cases[] = {
        {"100", 100 * 1048576LL},
        {"0", 0},
        {"512B", 512},
        {"64K", 65536},
        {"64KB", 65536},
        {"64kib", 65536},
        {"64 KiB", 65536},
        {"3M", 3145728},
        {"3mb", 3145728},
        {"3MiB", 3145728},
        {"4G", 4294967296LL},
        {"4GB", 4294967296LL},
        {"2T", 2199023255552LL},
        {"2TiB", 2199023255552LL},
    };
    int64_t value;

    for (size_t i = 0; i < COUNT(cases); i++) {
        assert_int_equal(units_size(cases[i].text, 1048576, &value), 0);
        assert_true(value == cases[i].bytes);
    }
}

static void size_refuses_junk_signs_and_unknown_units(void **state)
{
    (void)state;
    static const char *const bad[] = {"",    "-1",  "+1",  "1.5G", "4GG",  "4 G B", "G",   "4  G",
                                      "4G ", " 4G", "4iB", "4P",   "4m b", "0x10",  "4GBs"};
    int64_t value = 77;

    for (size_t i = 0; i < COUNT(bad); i++) {
        assert_int_equal(units_size(bad[i], 1, &value), -EINVAL);
        assert_int_equal(value, 77);
    }
}

static void size_overflow_is_an_error(void **state)
{
    (void)state;
    int64_t value;

    /* 2^63 / 2^40 = 8388608 TiB is one too many */
    assert_int_equal(units_size("8388607T", 1, &value), 0);
    assert_int_equal(units_size("8388608T", 1, &value), -ERANGE);
    assert_int_equal(units_size("9223372036854775807", 1048576, &value), -ERANGE);
    assert_int_equal(units_size("99999999999999999999K", 1, &value), -ERANGE);
}

static void durations_have_units(void **state)
{
    (void)state;
    static const struct {
        const char *text;
        int64_t ns;
    } cases[] = {
        {"300", 300000000000LL}, {"5m", 300000000000LL},
        {"2h", 7200000000000LL}, {"1d", 86400000000000LL},
        {"200ms", 200000000LL},  {"7us", 7000},
        {"30 s", 30000000000LL}, {"9ns", 9},
        {"5M", 300000000000LL},
    };
    int64_t value;

    for (size_t i = 0; i < COUNT(cases); i++) {
        assert_int_equal(units_duration(cases[i].text, 1000000000, &value), 0);
        assert_true(value == cases[i].ns);
    }
    assert_int_equal(units_duration("5x", 1, &value), -EINVAL);
    assert_int_equal(units_duration("5mm", 1, &value), -EINVAL);
    assert_int_equal(units_duration("1m30s", 1, &value), -EINVAL);
    assert_int_equal(units_duration("-5", 1, &value), -EINVAL);
    /* 2^63 ns are 106751.99 days */
    assert_int_equal(units_duration("106751d", 1, &value), 0);
    assert_int_equal(units_duration("106752d", 1, &value), -ERANGE);
}

static void hundredths_read_both_spellings(void **state)
{
    (void)state;
    static const struct {
        const char *text;
        int64_t value;
    } cases[] = {{"0", 0},        {"1250", 1250},   {"10000", 10000},
                 {"12.5%", 1250}, {"12.50%", 1250}, {"12%", 1200},
                 {"100%", 10000}, {"0.01%", 1},     {"1.05 %", 105}};
    int64_t value;

    for (size_t i = 0; i < COUNT(cases); i++) {
        assert_int_equal(units_hundredths(cases[i].text, &value), 0);
        assert_int_equal(value, cases[i].value);
    }
}

static void hundredths_refuse_more_than_everything(void **state)
{
    (void)state;
    static const char *const too_large[] = {"10001",
                                            "100.01%",
                                            "101%",
                                            "99999999999999999999",
                                            "99999999999999999999%",
                                            "184467440737095517%"};
    static const char *const bad[] = {"12.5", "12.555%", "%", ".5%", "5.%", "-1", "5%%", "5% ", ""};
    int64_t value;

    for (size_t i = 0; i < COUNT(too_large); i++) {
        assert_int_equal(units_hundredths(too_large[i], &value), -ERANGE);
    }
    for (size_t i = 0; i < COUNT(bad); i++) {
        assert_int_equal(units_hundredths(bad[i], &value), -EINVAL);
    }
}

static void masks_read_decimal_and_hexadecimal(void **state)
{
    (void)state;
    uint64_t value;

    assert_int_equal(units_mask("5", &value), 0);
    assert_true(value == 5);
    assert_int_equal(units_mask("0xfF", &value), 0);
    assert_true(value == 255);
    assert_int_equal(units_mask("0xffffffffffffffff", &value), 0);
    assert_true(value == UINT64_MAX);
    assert_int_equal(units_mask("0x10000000000000000", &value), -ERANGE);
    assert_int_equal(units_mask("18446744073709551616", &value), -ERANGE);
    assert_int_equal(units_mask("0x", &value), -EINVAL);
    assert_int_equal(units_mask("0xg", &value), -EINVAL);
    assert_int_equal(units_mask("ff", &value), -EINVAL);
    assert_int_equal(units_mask("-1", &value), -EINVAL);
}

static void bools_read_all_spellings_in_any_case(void **state)
{
    (void)state;
    static const char *const yes[] = {"TRUE", "true", "True", "yes", "YES", "on", "1"};
    static const char *const no[] = {"FALSE", "false", "no", "No", "off", "OFF", "0"};
    static const char *const bad[] = {"", "2", "t", "TRUE ", " TRUE", "truee", "01", "y", "-1"};
    bool value;

    for (size_t i = 0; i < COUNT(yes); i++) {
        value = false;
        assert_int_equal(units_bool(yes[i], &value), 0);
        assert_true(value);
        value = true;
        assert_int_equal(units_bool(no[i], &value), 0);
        assert_false(value);
    }
    for (size_t i = 0; i < COUNT(bad); i++) {
        assert_int_equal(units_bool(bad[i], &value), -EINVAL);
    }
}

static void enums_read_whole_words_only(void **state)
{
    (void)state;
    int64_t value;

    assert_int_equal(units_enum("MEM", "auto|sync|mem", &value), 0);
    assert_int_equal(value, 2);
    assert_int_equal(units_enum("auto", "auto|sync|mem", &value), 0);
    assert_int_equal(value, 0);
    assert_int_equal(units_enum("", "auto|sync|mem", &value), -EINVAL);
    assert_int_equal(units_enum("me", "auto|sync|mem", &value), -EINVAL);
    assert_int_equal(units_enum("sync|mem", "auto|sync|mem", &value), -EINVAL);
    assert_int_equal(units_enum("2", "auto|sync|mem", &value), -EINVAL);
}

static void decimals_have_at_most_three_places(void **state)
{
    (void)state;
    static const struct {
        const char *text;
        int64_t thousandths;
        const char *printed;
    } cases[] = {{"300", 300000, "300"}, {"3.5", 3500, "3.5"},   {"0.04", 40, "0.04"},
                 {"0.001", 1, "0.001"},  {"2.500", 2500, "2.5"}, {"1.05", 1050, "1.05"}};
    static const char *const bad[] = {"", ".", "1.", ".5", "1.2345", "1,5", "-1", "1e3", "1.5 "};
    char text[UNITS_TEXT_MAX];
    int64_t value;

    for (size_t i = 0; i < COUNT(cases); i++) {
        assert_int_equal(units_decimal(cases[i].text, &value), 0);
        assert_int_equal(value, cases[i].thousandths);
        units_print_decimal(value, text, sizeof(text));
        assert_string_equal(text, cases[i].printed);
    }
    for (size_t i = 0; i < COUNT(bad); i++) {
        assert_int_equal(units_decimal(bad[i], &value), -EINVAL);
    }
    assert_int_equal(units_decimal("9223372036854775808", &value), -ERANGE);
}

static void printed_sizes_and_times_read_back_exactly(void **state)
{
    (void)state;
    static const int64_t bares[] = {1, 1048576, 1000000, 1000000000};
    const uint64_t seed = 20240611;
    struct rng rng;

    print_message("seed %" PRIu64 "\n", seed);
    rng_seed(&rng, seed);
    for (int i = 0; i < 20000; i++) {
        /* round values are the interesting ones: zero some low bits or digits */
        int64_t value = (int64_t)(rng_next(&rng) >> (1 + rng_below(&rng, 60)));
        value =
            i % 2 == 0 ? value >> (i % 41) << (i % 41) : value - value % (1000000 * (i % 7 + 1));
        int64_t bare = bares[rng_below(&rng, COUNT(bares))];
        char text[UNITS_TEXT_MAX];
        int64_t back = -1;
        units_print_size(value, bare, text, sizeof(text));
        assert_int_equal(units_size(text, bare, &back), 0);
        assert_true(back == value);
        units_print_duration(value, bare, text, sizeof(text));
        assert_int_equal(units_duration(text, bare, &back), 0);
        assert_true(back == value);
    }
}

static void human_texts_are_short_and_rounded(void **state)
{
    (void)state;
    char text[UNITS_TEXT_MAX];

    units_human_size(4LL << 30, text, sizeof(text));
    assert_string_equal(text, "4 GiB");
    units_human_size(3LL << 29, text, sizeof(text)); /* 3 * 0.5 GiB */
    assert_string_equal(text, "1.5 GiB");
    units_human_size(100, text, sizeof(text));
    assert_string_equal(text, "100 bytes");
    units_human_duration(300000000000LL, text, sizeof(text));
    assert_string_equal(text, "5 min");
    units_human_duration(1000000000000LL, text, sizeof(text)); /* 16 * 60 + 40 = 1000 */
    assert_string_equal(text, "16 min 40 s");
    units_human_duration(200000000LL, text, sizeof(text));
    assert_string_equal(text, "200 ms");
    units_human_duration(1500000000LL, text, sizeof(text));
    assert_string_equal(text, "1.5 s");
    units_human_hundredths(1250, text, sizeof(text));
    assert_string_equal(text, "12.5 %");
    units_human_hundredths(9000, text, sizeof(text));
    assert_string_equal(text, "90 %");
}

/* One row of every type. */
struct sample {
    bool flag;
    int64_t count, size, bytes, seconds, millis, share, choice;
    struct cpu_list cpus;
    char *name;
};

#define FIELD(member) OPT_FIELD(struct sample, member)

static const struct opt sample_opts[] = {
    {.name = "Flag", .type = OPT_BOOL, .def = "TRUE", .help = "h", FIELD(flag)},
    {.name = "Count",
     .alias = "Number",
     .type = OPT_INT,
     .def = "3",
     .min = "-1",
     .max = "1024",
     .unit = "pages",
     .help = "h",
     FIELD(count)},
    {.name = "Size", .type = OPT_SIZE_MB, .def = "4", .min = "1", .help = "h", FIELD(size)},
    {.name = "Bytes", .type = OPT_BYTES, .def = "64K", .max = "1M", .help = "h", FIELD(bytes)},
    {.name = "Seconds", .type = OPT_SECONDS, .def = "5m", .help = "h", FIELD(seconds)},
    {.name = "Millis", .type = OPT_MILLIS, .def = "200", .help = "h", FIELD(millis)},
    {.name = "Share", .type = OPT_HUNDREDTHS, .def = "5%", .help = "h", FIELD(share)},
    {.name = "Cpus", .type = OPT_CPUS, .def = "0", .help = "h", FIELD(cpus)},
    {.name = "Choice",
     .type = OPT_ENUM,
     .def = "two",
     .choices = "one|two|three",
     .help = "h",
     FIELD(choice)},
    {.name = "Name", .type = OPT_STRING, .def = "", .help = "h", FIELD(name)},
};

static const struct opt_section sample_section = {.name = "Sample",
                                                  .opts = sample_opts,
                                                  .count = COUNT(sample_opts),
                                                  .size_bytes = sizeof(struct sample),
                                                  .help = "h"};

static int set(struct sample *sample, const char *key, const char *value, char *text)
{
    const struct opt *opt = opt_find(&sample_section, key);

    assert_non_null(opt);
    return opt_set(opt, sample, value, text);
}

static void defaults_fill_every_type(void **state)
{
    (void)state;
    struct sample sample;

    memset(&sample, 0xa5, sizeof(sample));
    opt_section_defaults(&sample_section, &sample);
    assert_true(sample.flag);
    assert_int_equal(sample.count, 3);
    assert_true(sample.size == 4194304);
    assert_true(sample.bytes == 65536);
    assert_true(sample.seconds == 300000000000LL);
    assert_true(sample.millis == 200000000LL);
    assert_int_equal(sample.share, 500);
    assert_true(cpu_list_is_empty(&sample.cpus));
    assert_int_equal(sample.choice, 1);
    assert_null(sample.name);
    opt_section_free(&sample_section, &sample);
}

static void names_and_aliases_are_found_in_any_case(void **state)
{
    (void)state;
    assert_ptr_equal(opt_find(&sample_section, "cOUNT"), &sample_opts[1]);
    assert_ptr_equal(opt_find(&sample_section, "number"), &sample_opts[1]);
    assert_null(opt_find(&sample_section, "Coun"));
    assert_null(opt_find(&sample_section, ""));
}

static void a_bad_value_stores_nothing_and_tells_the_range(void **state)
{
    (void)state;
    struct sample sample;
    char text[OPT_TEXT_MAX];

    opt_section_defaults(&sample_section, &sample);
    assert_int_equal(set(&sample, "Count", "12abc", text), -EINVAL);
    assert_string_equal(text, "not an integer (allowed -1 .. 1024 pages)");
    assert_int_equal(set(&sample, "Count", "1025", text), -ERANGE);
    assert_string_equal(text, "out of range (allowed -1 .. 1024 pages)");
    assert_int_equal(set(&sample, "Count", "-2", text), -ERANGE);
    assert_int_equal(set(&sample, "Count", "99999999999999999999", text), -ERANGE);
    assert_int_equal(sample.count, 3);
    assert_int_equal(set(&sample, "Size", "1023K", text), -ERANGE); /* minimum is 1 MB = 1024K */
    assert_int_equal(set(&sample, "Size", "1024K", text), 0);
    assert_int_equal(set(&sample, "Bytes", "1048577", text), -ERANGE);
    assert_int_equal(set(&sample, "Flag", "maybe", text), -EINVAL);
    assert_true(sample.flag);
    opt_section_free(&sample_section, &sample);
}

static void a_refused_choice_lists_the_choices(void **state)
{
    (void)state;
    struct sample sample;
    char text[OPT_TEXT_MAX];

    opt_section_defaults(&sample_section, &sample);
    assert_int_equal(set(&sample, "Choice", "four", text), -EINVAL);
    assert_string_equal(text, "not one of the choices (allowed one, two, three)");
    opt_section_free(&sample_section, &sample);
}

static void strings_are_owned_and_replaced(void **state)
{
    (void)state;
    struct sample sample;
    char text[OPT_TEXT_MAX];
    char value[] = "f:\\x;y # \"z\".mdx";

    opt_section_defaults(&sample_section, &sample);
    assert_int_equal(set(&sample, "Name", value, text), 0);
    value[0] = 'X';
    assert_string_equal(sample.name, "f:\\x;y # \"z\".mdx");
    assert_int_equal(set(&sample, "Name", "other", text), 0);
    assert_string_equal(sample.name, "other");
    assert_int_equal(set(&sample, "Name", "", text), 0);
    assert_null(sample.name);
    opt_section_free(&sample_section, &sample);
}

static void strings_with_control_characters_or_no_end_are_refused(void **state)
{
    (void)state;
    struct sample sample;
    char text[OPT_TEXT_MAX];
    char longest[OPT_STRING_MAX + 2];

    opt_section_defaults(&sample_section, &sample);
    assert_int_equal(set(&sample, "Name", "a\nb", text), -EINVAL);
    assert_string_equal(text, "contains a control character (code 10)");
    memset(longest, 'a', sizeof(longest));
    longest[OPT_STRING_MAX + 1] = '\0';
    assert_int_equal(set(&sample, "Name", longest, text), -ERANGE);
    longest[OPT_STRING_MAX] = '\0';
    assert_int_equal(set(&sample, "Name", longest, text), 0);
    opt_section_free(&sample_section, &sample);
}

static void get_gives_the_text_that_set_understands(void **state)
{
    (void)state;
    static const char *const inputs[][3] = {
        {"Flag", "no", "FALSE"},         {"Count", "010", "10"},
        {"Size", "2G", "2048"},          {"Size", "1536K", "1536K"},
        {"Bytes", "1K", "1024"},         {"Seconds", "90", "90"},
        {"Seconds", "1500ms", "1500ms"}, {"Millis", "2s", "2000"},
        {"Millis", "250us", "250us"},    {"Share", "12.5%", "1250"},
        {"Cpus", "255", "0xff"},         {"Cpus", "0-127,200", "0-127,200"},
        {"Choice", "THREE", "three"},    {"Name", "a b", "a b"},
    };
    struct sample sample;
    char text[OPT_TEXT_MAX];
    char out[OPT_TEXT_MAX];

    opt_section_defaults(&sample_section, &sample);
    for (size_t i = 0; i < COUNT(inputs); i++) {
        const struct opt *opt = opt_find(&sample_section, inputs[i][0]);
        assert_int_equal(opt_set(opt, &sample, inputs[i][1], text), 0);
        opt_get(opt, &sample, out, sizeof(out));
        assert_string_equal(out, inputs[i][2]);
        assert_int_equal(opt_set(opt, &sample, out, text), 0);
        opt_get(opt, &sample, out, sizeof(out));
        assert_string_equal(out, inputs[i][2]);
    }
    opt_section_free(&sample_section, &sample);
}

static void check_row_with(struct opt row, const char *expected)
{
    struct opt_section section = sample_section;
    char text[OPT_TEXT_MAX] = "";

    section.opts = &row;
    section.count = 1;
    assert_int_equal(opt_section_check(&section, text), -EINVAL);
    assert_non_null(strstr(text, expected));
}

static void the_table_check_finds_a_bad_row(void **state)
{
    (void)state;
    struct opt row = sample_opts[1];

    row.def = "1025";
    check_row_with(row, "default");
    row = sample_opts[1];
    row.def = "abc";
    check_row_with(row, "default");
    row = sample_opts[1];
    row.min = "9";
    row.max = "8";
    check_row_with(row, "minimum or maximum");
    row = sample_opts[1];
    row.max = "8x";
    check_row_with(row, "minimum or maximum");
    row = sample_opts[1];
    row.help = "";
    check_row_with(row, "missing");
    row = sample_opts[1];
    row.offset = sizeof(struct sample) - 4;
    check_row_with(row, "outside");
    row = sample_opts[0];
    row.min = "0";
    check_row_with(row, "no range");
    row = sample_opts[8];
    row.choices = NULL;
    check_row_with(row, "missing");
}

/* An integer is stored in 8 bytes: in a bool it would overwrite its neighbours, at any offset. */
static void the_table_check_finds_a_field_of_another_size(void **state)
{
    (void)state;
    struct opt row = sample_opts[1];

    row.offset = offsetof(struct sample, flag);
    row.size_bytes = sizeof(bool);
    check_row_with(row, "its type needs 8");
    row = sample_opts[0];
    row.size_bytes = sizeof(int64_t);
    check_row_with(row, "its type needs 1");
    row = sample_opts[0];
    row.size_bytes = 0; /* a row without OPT_FIELD */
    check_row_with(row, "its type needs 1");
}

static void the_table_check_finds_rows_that_share_a_name_or_a_field(void **state)
{
    (void)state;
    struct opt rows[2] = {sample_opts[1], sample_opts[2]};
    struct opt_section section = sample_section;
    char text[OPT_TEXT_MAX];

    section.opts = rows;
    section.count = 2;
    assert_int_equal(opt_section_check(&section, text), 0);
    rows[1].name = "NUMBER"; /* the alias of the first */
    assert_int_equal(opt_section_check(&section, text), -EINVAL);
    rows[1] = sample_opts[2];
    rows[1].offset = rows[0].offset;
    assert_int_equal(opt_section_check(&section, text), -EINVAL);
}

static void every_table_that_ships_is_sound(void **state)
{
    (void)state;
    const struct opt_section *sections[64];
    size_t count = pattern_sections(sections, 32);
    char text[OPT_TEXT_MAX] = "";

    assert_true(count >= 2); /* RandomUser and AuditUser at least */
    sections[count++] = &config_section;
    sections[count++] = &file_section;
    sections[count++] = &sample_section;
    for (size_t i = 0; i < count; i++) {
        if (opt_section_check(sections[i], text) != 0) {
            fail_msg("[%s] %s", sections[i]->name, text);
        }
    }
}

/* reference: SQLIOSim's documented defaults and ranges of [CONFIG] */
static void config_has_the_documented_defaults(void **state)
{
    (void)state;
    static const char *const documented[][2] = {
        {"ErrorFile", "sqliosim.log.xml"},
        {"StopOnError", "TRUE"},
        {"TestCycles", "1"},
        {"TestCycleDuration", "300"},
        {"CacheHitRatio", "1000"},
        {"MaxOutstandingIO", "0"},
        {"TargetIODuration", "100"},
        {"AllowIOBursts", "TRUE"},
        {"NoBuffering", "TRUE"},
        {"WriteThrough", "TRUE"},
        {"UseScatterGather", "TRUE"},
        {"ScatterGather", "TRUE"},
        {"ForceReadAhead", "TRUE"},
        {"DeleteFilesAtStartup", "TRUE"},
        {"DeleteFilesAtShutdown", "FALSE"},
        {"StampFiles", "FALSE"},
        {"Affinity", "0"},
        {"IOAffinity", "0"},
    };
    struct config_settings settings;
    char out[OPT_TEXT_MAX];

    opt_section_defaults(&config_section, &settings);
    for (size_t i = 0; i < COUNT(documented); i++) {
        const struct opt *opt = opt_find(&config_section, documented[i][0]);
        assert_non_null(opt);
        opt_get(opt, &settings, out, sizeof(out));
        assert_string_equal(out, documented[i][1]);
    }
    opt_section_free(&config_section, &settings);
    assert_string_equal(opt_find(&config_section, "CPUCount")->max, "1024");
    assert_string_equal(opt_find(&config_section, "MaxOutstandingIO")->max, "140000");
}

/* reference: SQLIOSim's documented defaults of the actors, built or still to come */
static void actors_have_the_documented_defaults(void **state)
{
    (void)state;
    static const char *const documented[][3] = {
        {"ReadAheadUser", "UserCount", "2"},         {"ReadAheadUser", "BuffersRAMin", "32"},
        {"ReadAheadUser", "BuffersRAMax", "64"},     {"ReadAheadUser", "DelayAfterCycles", "2"},
        {"ReadAheadUser", "RADelay", "200"},         {"BulkUpdateUser", "UserCount", "-1"},
        {"BulkUpdateUser", "BuffersBUMin", "64"},    {"BulkUpdateUser", "BuffersBUMax", "128"},
        {"BulkUpdateUser", "DelayAfterCycles", "2"}, {"BulkUpdateUser", "BUDelay", "10"},
        {"ShrinkUser", "MinShrinkInterval", "120"},  {"ShrinkUser", "MaxShrinkInterval", "600"},
        {"ShrinkUser", "MinExtends", "1"},           {"ShrinkUser", "MaxExtents", "20"},
    };

    const struct opt_section *sections[64];
    size_t count = pattern_sections(sections, 32);

    for (size_t i = 0; i < COUNT(documented); i++) {
        const struct opt *opt = NULL;
        for (size_t s = 0; s < count; s++) {
            if (strcmp(sections[s]->name, documented[i][0]) == 0) {
                opt = opt_find(sections[s], documented[i][1]);
            }
        }
        assert_non_null(opt);
        assert_string_equal(opt->def, documented[i][2]);
    }
}

static void edit_distance_counts_single_slips(void **state)
{
    (void)state;
    assert_int_equal(nearest_distance("UserCount", "usercount"), 0);
    assert_int_equal(nearest_distance("UserCount", "UserCont"), 1);   /* one missing */
    assert_int_equal(nearest_distance("UserCount", "UsserCount"), 1); /* one more */
    assert_int_equal(nearest_distance("UserCount", "UserCoumt"), 1);  /* one changed */
    assert_int_equal(nearest_distance("UserCount", "UesrCount"), 1);  /* neighbours swapped */
    assert_int_equal(nearest_distance("kitten", "sitting"), 3);       /* the textbook pair */
    assert_int_equal(nearest_distance("", "abc"), 3);
}

static void a_word_unlike_all_names_has_no_nearest(void **state)
{
    (void)state;
    struct nearest nearest;
    char endless[4096];

    nearest_init(&nearest, "RandomUsers");
    nearest_offer(&nearest, "AuditUser");
    nearest_offer(&nearest, "RandomUser");
    assert_string_equal(nearest_name(&nearest), "RandomUser");
    nearest_init(&nearest, "Wombat");
    nearest_offer(&nearest, "RandomUser");
    assert_null(nearest_name(&nearest));
    memset(endless, 'a', sizeof(endless));
    endless[sizeof(endless) - 1] = '\0';
    nearest_init(&nearest, endless);
    nearest_offer(&nearest, "RandomUser");
    assert_null(nearest_name(&nearest));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(int_reads_plain_decimals),
        cmocka_unit_test(int_reads_a_leading_zero_as_decimal),
        cmocka_unit_test(int_refuses_what_strtol_lets_pass),
        cmocka_unit_test(int_overflow_is_an_error),
        cmocka_unit_test(size_units_are_powers_of_1024),
        cmocka_unit_test(size_refuses_junk_signs_and_unknown_units),
        cmocka_unit_test(size_overflow_is_an_error),
        cmocka_unit_test(durations_have_units),
        cmocka_unit_test(hundredths_read_both_spellings),
        cmocka_unit_test(hundredths_refuse_more_than_everything),
        cmocka_unit_test(masks_read_decimal_and_hexadecimal),
        cmocka_unit_test(bools_read_all_spellings_in_any_case),
        cmocka_unit_test(enums_read_whole_words_only),
        cmocka_unit_test(decimals_have_at_most_three_places),
        cmocka_unit_test(printed_sizes_and_times_read_back_exactly),
        cmocka_unit_test(human_texts_are_short_and_rounded),
        cmocka_unit_test(defaults_fill_every_type),
        cmocka_unit_test(names_and_aliases_are_found_in_any_case),
        cmocka_unit_test(a_bad_value_stores_nothing_and_tells_the_range),
        cmocka_unit_test(a_refused_choice_lists_the_choices),
        cmocka_unit_test(strings_are_owned_and_replaced),
        cmocka_unit_test(strings_with_control_characters_or_no_end_are_refused),
        cmocka_unit_test(get_gives_the_text_that_set_understands),
        cmocka_unit_test(the_table_check_finds_a_bad_row),
        cmocka_unit_test(the_table_check_finds_a_field_of_another_size),
        cmocka_unit_test(the_table_check_finds_rows_that_share_a_name_or_a_field),
        cmocka_unit_test(every_table_that_ships_is_sound),
        cmocka_unit_test(config_has_the_documented_defaults),
        cmocka_unit_test(actors_have_the_documented_defaults),
        cmocka_unit_test(edit_distance_counts_single_slips),
        cmocka_unit_test(a_word_unlike_all_names_has_no_nearest),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
