/* test_live_view.c - the live view at 40, 60, 80 and 120 columns, and as a plain line. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <stdio.h>
#include <string.h>

#include "sim/clock.h"
#include "sim/live_view.h"

#define US 1000ull

/* The state that the project's first sketch of the view shows: 02:11 of 05:00. */
static struct live sample(void)
{
    struct live live = {
        .phase = "STRESS (not judged)",
        .elapsed_ns = 131 * NS_PER_S,
        .length_ns = 300 * NS_PER_S,
        .left_ns = 169 * NS_PER_S,
        .all_left_ns = 260 * NS_PER_S,
        .rows = {{.label = "log write",
                  .known = true,
                  .iops = 310,
                  .mb_per_s = 9.5,
                  .mean_ns = 400 * US,
                  .p99_ns = 1100 * US,
                  .in_flight = 0.1},
                 {.label = "page read",
                  .known = true,
                  .iops = 1050,
                  .mb_per_s = 8.2,
                  .mean_ns = 900 * US,
                  .p99_ns = 3000 * US,
                  .in_flight = 1},
                 {.label = "read-ahead",
                  .known = true,
                  .iops = 212,
                  .mb_per_s = 106,
                  .mean_ns = 3100 * US,
                  .p99_ns = 9000 * US,
                  .in_flight = 0.7},
                 {.label = "page write",
                  .known = true,
                  .iops = 96,
                  .mb_per_s = 25.1,
                  .mean_ns = 2200 * US,
                  .p99_ns = 8800 * US,
                  .in_flight = 0.2,
                  .checkpoint_percent = 38}},
        .verified = 4211900,
        .coverage_known = true,
        .covered_percent = 61,
        .oldest_unread_s = 40,
        .overwritten_unread = 1234,
        .check_mean_s = 2.5,
        .check_longest_s = 41.25,
        .dirty_percent = 12,
        .log_percent = 34,
        .written_bytes = 42ull << 30,
        .folders = "/data /log",
        .result = "/var/tmp/pagestorm-20261130-140211",
    };
    /* a minute at 1 ms, one second of it at 64 ms: 6 doublings */
    live.rows[0].history_count = LIVE_HISTORY_S;
    for (unsigned i = 0; i < LIVE_HISTORY_S; i++)
        live.rows[0].p99_history_ns[i] = i == 50 ? 64000 * US : 1000 * US;
    return live;
}

static void show(const struct live *live, struct live_style style, char *out, size_t size)
{
    char lines[LIVE_LINES_MAX][LIVE_LINE_BYTES];
    unsigned count = live_view_lines(live, &style, lines);
    size_t used = 0;
    for (unsigned i = 0; i < count; i++) {
        assert_true(live_text_columns(lines[i]) <= style.width || style.colour);
        used += (size_t)snprintf(out + used, size - used, "%s\n", lines[i]);
    }
}

static struct live_style style_of(unsigned width)
{
    return (struct live_style){.width = width, .height = 24, .utf8 = true};
}

static void eighty_columns_show_nine_lines(void **state)
{
    char text[8192];
    struct live live = sample();
    (void)state;
    show(&live, style_of(80), text, sizeof text);
    assert_string_equal(
        text, "STRESS (not judged) 02:11 of 05:00  all done in about 04:20  findings 0\n"
              "                IOPS     MB/s    mean     p99 in flight   p99, last 60 s\n"
              "log write        310      9.5   0.4ms   1.1ms       0.1   ▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▇▁▁▁\n"
              "page read       1050      8.2   0.9ms   3.0ms       1.0\n"
              "read-ahead       212    106.0   3.1ms   9.0ms       0.7\n"
              "page write        96     25.1   2.2ms   8.8ms       0.2   checkpoint 38 %\n"
              "verified 4,211,900 pages, 0 wrong; 61 % since last write; oldest unread 40 s\n"
              "dirty 12 %  log 34 %  throttled 0  stalled 0  written to device 42 GiB\n"
              "Ctrl-C ends and reports. Files: /data /log   Result: /var/tmp/pagestorm-2026113…\n");
}

static void sixty_columns_show_five_lines(void **state)
{
    char text[8192];
    struct live live = sample();
    (void)state;
    show(&live, style_of(60), text, sizeof text);
    assert_string_equal(text, "STRESS (not judged) 02:11 of 05:00  all in 04:20  findings 0\n"
                              "log write      310 IOPS  mean  0.4ms  p99  1.1ms  in fl. 0.1\n"
                              "page read     1050 IOPS  mean  0.9ms  p99  3.0ms  in fl. 1.0\n"
                              "page write      96 IOPS  mean  2.2ms  p99  8.8ms  in fl. 0.2\n"
                              "verified 4,211,900, 0 wrong; 61 % read back, oldest 40 s\n");
}

static void forty_columns_show_the_most_important(void **state)
{
    char text[8192];
    struct live live = sample();
    (void)state;
    show(&live, style_of(40), text, sizeof text);
    assert_string_equal(text, "02:11 of 05:00  findings 0\n"
                              "log write      310 IOPS p99 1.1ms\n"
                              "page read     1050 IOPS p99 3.0ms\n"
                              "page write      96 IOPS p99 8.8ms\n"
                              "0 wrong; 61 % read back\n");
}

static void a_wide_terminal_shows_all_of_the_coverage(void **state)
{
    char text[8192];
    struct live live = sample();
    (void)state;
    show(&live, style_of(150), text, sizeof text);
    assert_non_null(strstr(text, "\nverified 4,211,900 pages, 0 wrong; 61 % since last write; "
                                 "oldest unread 40 s; first check after 2.5 s, longest 41.2 s; "
                                 "1,234 overwritten unread\n"));
}

static void a_hundred_and_twenty_columns_have_a_character_a_second(void **state)
{
    char text[8192];
    struct live live = sample();
    (void)state;
    show(&live, style_of(120), text, sizeof text);
    const char *line = strstr(text, "log write");
    assert_non_null(line);
    /* 58 columns of figures, then seconds 0 to 49, the slow one, 9 more; three bytes each */
    assert_memory_equal(line + 58 + 50 * 3, "▇", 3);
    assert_memory_equal(line + 58 + 51 * 3, "▁▁▁▁▁▁▁▁▁\n", 9 * 3 + 1);
    assert_non_null(strstr(text, "oldest unread 40 s\n"));
}

static void findings_are_told_in_words_and_are_not_cut(void **state)
{
    char text[8192];
    struct live live = sample();
    (void)state;
    live.findings = 3;
    live.wrong = 3;
    snprintf(live.findings_words, sizeof live.findings_words, "%s", "2 LOST WRITE, 1 BIT FLIP");
    show(&live, style_of(90), text, sizeof text);
    text[strcspn(text, "\n")] = '\0';
    assert_string_equal(text, "STRESS (not judged) 02:11 of 05:00  all in 04:20  "
                              "findings 3: 2 LOST WRITE, 1 BIT FLIP");
    show(&live, style_of(64), text, sizeof text); /* no room for the words: the number stays */
    text[strcspn(text, "\n")] = '\0';
    assert_string_equal(text, "STRESS (not judged) 02:11 of 05:00  all in 04:20  findings 3");
    show(&live, style_of(40), text, sizeof text);
    assert_non_null(strstr(text, "\n2 LOST WRITE, 1 BIT FLIP\n"));
}

static void colour_changes_no_word(void **state)
{
    char plain[8192], coloured[8192];
    struct live live = sample();
    struct live_style style = style_of(90);
    (void)state;
    live.findings = 1;
    show(&live, style, plain, sizeof plain);
    style.colour = true;
    show(&live, style, coloured, sizeof coloured);
    assert_non_null(strstr(coloured, "\033[1;31mfindings 1\033[0m\n"));
    char *on = strstr(coloured, "\033[1;31m");
    memmove(on, on + 7, strlen(on + 7) + 1);
    char *off = strstr(coloured, "\033[0m");
    memmove(off, off + 4, strlen(off + 4) + 1);
    assert_string_equal(coloured, plain);
}

static void a_phase_without_a_fixed_length_shows_percent_and_time_left(void **state)
{
    char text[8192];
    struct live live = sample();
    (void)state;
    snprintf(live.phase, sizeof live.phase, "%s", "INITIAL UPDATE");
    live.length_ns = LIVE_UNKNOWN;
    live.done = 250;
    live.total = 1000;
    live.left_ns = 30 * NS_PER_S;
    show(&live, style_of(80), text, sizeof text);
    text[strcspn(text, "\n")] = '\0';
    assert_string_equal(text,
                        "INITIAL UPDATE 25 %, 00:30 left  all done in about 04:20  findings 0");
}

static void a_stop_is_said_and_what_ends_it_at_once(void **state)
{
    char text[8192];
    struct live live = sample();
    (void)state;
    live.stopping = true;
    show(&live, style_of(80), text, sizeof text);
    assert_non_null(strstr(text, "  stopping ...  findings 0\n"));
    assert_non_null(strstr(text, "\nCtrl-C again ends at once."));
}

static void before_the_first_second_there_are_no_figures(void **state)
{
    char text[8192];
    struct live live = sample();
    (void)state;
    live.rows[1] = (struct live_row){.label = "page read"};
    show(&live, style_of(80), text, sizeof text);
    assert_non_null(strstr(text, "\npage read          -        -       -       -         -\n"));
}

/* No line is ever wider than the terminal, whatever it is, and the lines fit into its height. */
static void no_width_and_no_height_is_exceeded(void **state)
{
    char lines[LIVE_LINES_MAX][LIVE_LINE_BYTES];
    struct live live = sample();
    (void)state;
    snprintf(live.folders, sizeof live.folders, "%s", "/数据库/数据 /журнал");
    live.verified = UINT64_MAX;
    live.written_bytes = INT64_MAX;
    for (unsigned width = 1; width < 200; width++) {
        for (unsigned height = 1; height < 12; height++) {
            struct live_style style = {.width = width, .height = height, .utf8 = width % 2};
            unsigned count = live_view_lines(&live, &style, lines);
            assert_true(count >= 1 && count <= height);
            for (unsigned i = 0; i < count; i++)
                assert_true(live_text_columns(lines[i]) <= width);
        }
    }
}

static void wide_characters_take_two_columns_and_marks_none(void **state)
{
    (void)state;
    assert_int_equal(live_text_columns("abc"), 3);
    assert_int_equal(live_text_columns("数据"), 4);      /* two CJK characters */
    assert_int_equal(live_text_columns("e\xcc\x81"), 1); /* e and a combining acute accent */
    assert_int_equal(live_text_columns("\xff\xfe"), 2);  /* no UTF-8: a column a byte */
    char text[16] = "数据库";
    live_text_cut(text, 4, "~"); /* 2 + the mark: half of a character is not shown */
    assert_string_equal(text, "数~");
}

static void a_plain_line_has_it_all(void **state)
{
    char text[LIVE_PLAIN_MAX];
    struct live live = sample();
    (void)state;
    live.rows[2].iops = 0; /* nothing of it in this second: not told */
    live_view_plain(&live, text);
    assert_string_equal(text,
                        "STRESS (not judged) 02:11 of 05:00, all done in about 04:20; findings 0; "
                        "log write 310 IOPS 9.5 MB/s mean 0.4ms p99 1.1ms; "
                        "page read 1050 IOPS 8.2 MB/s mean 0.9ms p99 3.0ms; "
                        "page write 96 IOPS 25.1 MB/s mean 2.2ms p99 8.8ms; "
                        "verified 4,211,900 pages, 0 wrong");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(eighty_columns_show_nine_lines),
        cmocka_unit_test(sixty_columns_show_five_lines),
        cmocka_unit_test(forty_columns_show_the_most_important),
        cmocka_unit_test(a_wide_terminal_shows_all_of_the_coverage),
        cmocka_unit_test(a_hundred_and_twenty_columns_have_a_character_a_second),
        cmocka_unit_test(findings_are_told_in_words_and_are_not_cut),
        cmocka_unit_test(colour_changes_no_word),
        cmocka_unit_test(a_phase_without_a_fixed_length_shows_percent_and_time_left),
        cmocka_unit_test(a_stop_is_said_and_what_ends_it_at_once),
        cmocka_unit_test(before_the_first_second_there_are_no_figures),
        cmocka_unit_test(no_width_and_no_height_is_exceeded),
        cmocka_unit_test(wide_characters_take_two_columns_and_marks_none),
        cmocka_unit_test(a_plain_line_has_it_all),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
