/* test_progress.c - the live view where the output is no terminal: plain lines, few of them. */
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
    FILE *out;
};

static void view_open(struct view *view, bool quiet)
{
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
    rewind(view->out);
    size_t length = fread(out, 1, out_size_bytes - 1, view->out);
    out[length] = '\0';
    fclose(view->out);
    progress_free(&view->progress);
    findings_free(&view->run->findings);
    free(view->run);
}

/* The creation took 3 s, the initial update ended early after 2 s. */
static void two_phases(struct view *view)
{
    struct run *run = view->run;
    run->phases[PHASE_create] =
        (struct run_phase_time){.start_ns = 1, .end_ns = 1 + 3 * NS_PER_S, .complete = true};
    run->phases[PHASE_initial_update].start_ns = 1 + 3 * NS_PER_S;
    run->phase = PHASE_initial_update;
    progress_show(&view->progress, run);
    progress_show(&view->progress, run);
    run->phases[PHASE_initial_update].end_ns = 1 + 5 * NS_PER_S;
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
    assert_string_equal(text, "creating files: done after 3 s\ninitial update: ended after 2 s\n");
}

static void quiet_prints_nothing(void **state)
{
    struct view view;
    char text[1024];
    (void)state;
    view_open(&view, true);
    progress_say(&view.progress, "a line");
    two_phases(&view);
    view_close(&view, text, sizeof text);
    assert_string_equal(text, "");
}

/* As if the last line were ten seconds old. */
static void after_ten_seconds_there_is_a_line_with_the_findings(void **state)
{
    struct view view;
    char text[1024];
    (void)state;
    view_open(&view, false);
    view.run->phase = PHASE_stress;
    view.run->phases[PHASE_stress].start_ns = 1;
    view.run->phase_deadline_ns = 1 + 300 * NS_PER_S;
    clock_advance_to(&view.clock, 1 + 131 * NS_PER_S);
    view.run->findings.by_verdict[VERDICT_lost_write] = 2;
    view.progress.shown_ns -= 10 * NS_PER_S;
    progress_show(&view.progress, view.run);
    progress_show(&view.progress, view.run);
    view_close(&view, text, sizeof text);
    assert_string_equal(text, "stress (not judged)  02:11 of 05:00  findings 2  - IOPS  - MB/s\n");
}

/* 4,000 reads of 8 KiB in 8 s are 500 a second, 500 * 8,192 / 1,048,576 = 3.9 MB/s; the 7,000 of
 * the time before the phase do not count. */
static void rates_are_those_since_the_phase_began(void **state)
{
    struct view view;
    char text[1024];
    (void)state;
    view_open(&view, false);
    view.run->workers = calloc(1, sizeof *view.run->workers);
    assert_non_null(view.run->workers);
    view.run->worker_count = 1;
    struct stream_stats *stream =
        &view.run->workers[0].stats.streams[PHASE_stress][STREAM_page_read];
    view.run->phase = PHASE_stress;
    view.run->phases[PHASE_stress].start_ns = 1;
    stream->ops = 7000;
    stream->bytes = 7000ull * 8192;
    clock_advance_to(&view.clock, 1);
    progress_show(&view.progress, view.run);
    stream->ops += 4000;
    stream->bytes += 4000ull * 8192;
    clock_advance_to(&view.clock, 1 + 8 * NS_PER_S);
    view.progress.shown_ns -= 10 * NS_PER_S;
    progress_show(&view.progress, view.run);
    free(view.run->workers);
    view_close(&view, text, sizeof text);
    assert_string_equal(text, "stress (not judged)  00:08  findings 0  500 IOPS  3.9 MB/s\n");
}

static void a_line_for_people_is_printed_whole(void **state)
{
    struct view view;
    char text[1024];
    (void)state;
    view_open(&view, false);
    progress_say(&view.progress, "LOST WRITE a.mdx page 7");
    view_close(&view, text, sizeof text);
    assert_string_equal(text, "LOST WRITE a.mdx page 7\n");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(each_phase_gets_one_line_at_its_end),
        cmocka_unit_test(quiet_prints_nothing),
        cmocka_unit_test(after_ten_seconds_there_is_a_line_with_the_findings),
        cmocka_unit_test(rates_are_those_since_the_phase_began),
        cmocka_unit_test(a_line_for_people_is_printed_whole),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
