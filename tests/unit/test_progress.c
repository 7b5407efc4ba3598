/* test_progress.c - what is printed where the output is no terminal: plain lines, few of them. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "sim/progress.h"

struct view {
    struct progress progress;
    struct run *run;
    struct clock clock;
    struct live live;
    FILE *out;
};

static void view_open(struct view *view, bool quiet)
{
    memset(view, 0, sizeof *view);
    view->out = tmpfile();
    assert_non_null(view->out);
    view->run = calloc(1, sizeof *view->run);
    assert_non_null(view->run);
    clock_init_virtual(&view->clock);
    view->run->clock = &view->clock;
    view->run->phase_deadline_ns = UINT64_MAX;
    assert_int_equal(findings_init(&view->run->findings, &view->clock, NULL, NULL, false), 0);
    progress_init(&view->progress, view->out, quiet);
}

/* What was printed; the view is gone then. */
static void view_close(struct view *view, char *out, size_t out_size_bytes)
{
    progress_free(&view->progress);
    rewind(view->out);
    size_t length = fread(out, 1, out_size_bytes - 1, view->out);
    out[length] = '\0';
    fclose(view->out);
    findings_free(&view->run->findings);
    free(view->run);
}

static void show(struct view *view)
{
    progress_show(&view->progress, view->run, &view->live);
}

/* The creation took 3 s, the initial update ended early after 2 s. */
static void two_phases(struct view *view)
{
    struct run *run = view->run;
    run->phases[PHASE_create] =
        (struct run_phase_time){.start_ns = 1, .end_ns = 1 + 3 * NS_PER_S, .complete = true};
    run->phases[PHASE_initial_update].start_ns = 1 + 3 * NS_PER_S;
    run->phase = PHASE_initial_update;
    clock_advance_to(&view->clock, 3 * NS_PER_S);
    show(view);
    show(view);
    run->phases[PHASE_initial_update].end_ns = 1 + 5 * NS_PER_S;
    clock_advance_to(&view->clock, 5 * NS_PER_S);
    progress_end(&view->progress, run);
}

static void each_phase_gets_one_line_at_its_end(void **state)
{
    struct view view;
    char text[1024];
    (void)state;
    view_open(&view, false);
    two_phases(&view);
    view_close(&view, text, sizeof text);
    assert_string_equal(text, "2026-01-01 00:00:03Z creating files: done after 3 s\n"
                              "2026-01-01 00:00:05Z initial update: ended after 2 s\n");
}

static void quiet_prints_nothing(void **state)
{
    struct view view;
    char text[1024];
    (void)state;
    view_open(&view, true);
    progress_say(&view.progress, 0, "a line");
    two_phases(&view);
    view_close(&view, text, sizeof text);
    assert_string_equal(text, "");
}

/* As if the last line were ten seconds old; the next one is due in ten. */
static void after_ten_seconds_there_is_one_line(void **state)
{
    struct view view;
    char text[1024], line[LIVE_PLAIN_MAX], expected[1024];
    (void)state;
    view_open(&view, false);
    snprintf(view.live.phase, sizeof view.live.phase, "%s", "STRESS (not judged)");
    view.live.length_ns = 300 * NS_PER_S;
    view.progress.phase_known = true;
    view.progress.phase = view.run->phase = PHASE_stress;
    clock_advance_to(&view.clock, 131 * NS_PER_S);
    view.progress.shown_ns -= 10 * NS_PER_S;
    show(&view);
    show(&view);
    live_view_plain(&view.live, line);
    snprintf(expected, sizeof expected, "2026-01-01 00:02:11Z %s\n", line);
    view_close(&view, text, sizeof text);
    assert_string_equal(text, expected);
}

static void a_line_for_people_has_its_own_time_and_is_printed_whole(void **state)
{
    struct view view;
    char text[1024];
    (void)state;
    view_open(&view, false);
    progress_say(&view.progress, CLOCK_VIRTUAL_EPOCH_NS + 50531 * NS_PER_S, /* 14:02:11 */
                 "LOST WRITE a.mdx page 7");
    show(&view);
    view_close(&view, text, sizeof text);
    assert_string_equal(text, "2026-01-01 14:02:11Z LOST WRITE a.mdx page 7\n");
}

/* 64 lines are kept between two looks. */
static void a_flood_of_lines_is_bounded_and_counted(void **state)
{
    struct view view;
    static char text[65536];
    (void)state;
    view_open(&view, false);
    for (unsigned i = 0; i < 1000; i++)
        progress_say(&view.progress, CLOCK_VIRTUAL_EPOCH_NS, "x");
    show(&view);
    view_close(&view, text, sizeof text);
    unsigned lines = 0;
    for (const char *c = text; *c; c++)
        lines += *c == '\n';
    assert_int_equal(lines, 64 + 1);
    assert_non_null(strstr(text, "\nand 936 more lines that were not shown\n")); /* 1000 - 64 */
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(each_phase_gets_one_line_at_its_end),
        cmocka_unit_test(quiet_prints_nothing),
        cmocka_unit_test(after_ten_seconds_there_is_one_line),
        cmocka_unit_test(a_line_for_people_has_its_own_time_and_is_printed_whole),
        cmocka_unit_test(a_flood_of_lines_is_bounded_and_counted),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
