/* test_series.c - series.csv: its rows, and what is left when the disk is full. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

#include "sim/series.h"

#define HEADER                                                                                     \
    "t_s,utc,seconds,phase,stream,ops,bytes,mean_us,p99_us,max_us,in_flight,throttled,"            \
    "stalled,part\n"

struct fixture {
    char folder[64], path[96];
    struct run *run;
    struct sampler sampler;
    struct series series;
};

static int setup(void **state)
{
    struct fixture *f = calloc(1, sizeof *f);
    assert_non_null(f);
    snprintf(f->folder, sizeof f->folder, "/tmp/pagestorm-series.XXXXXX");
    assert_non_null(mkdtemp(f->folder));
    snprintf(f->path, sizeof f->path, "%s/series.csv", f->folder);
    f->run = calloc(1, sizeof *f->run);
    assert_non_null(f->run);
    f->run->session_start_ns = CLOCK_VIRTUAL_EPOCH_NS; /* 2026-01-01 00:00 UTC */
    f->run->phase = PHASE_stress;
    f->run->phases[PHASE_create].start_ns = 1;
    series_open(&f->series, f->folder);
    *state = f;
    return 0;
}

static int teardown(void **state)
{
    struct fixture *f = *state;
    series_close(&f->series);
    unlink(f->path);
    rmdir(f->folder);
    free(f->run);
    free(f);
    return 0;
}

static void read_file(const struct fixture *f, char *out, size_t out_size_bytes)
{
    FILE *in = fopen(f->path, "r");
    assert_non_null(in);
    size_t length = fread(out, 1, out_size_bytes - 1, in);
    out[length] = '\0';
    fclose(in);
}

/* 250 page reads of 8,192 bytes from 61.5 s to 62 s, 2 ms each: 250 * 8,192 = 2,048,000 bytes, and
 * 250 * 2 ms / 500 ms = 1 in flight.  Commits are no I/O: not in "all". */
static void sample(struct fixture *f)
{
    f->sampler.start_ns = 61 * NS_PER_S + 500 * NS_PER_MS;
    f->sampler.end_ns = 62 * NS_PER_S;
    f->sampler.throttled = 7;
    f->sampler.stalled = 1;
    f->sampler.row_count = 2;
    f->sampler.rows[0] = (struct sample_row){.phase = PHASE_stress,
                                             .stream = STREAM_page_read,
                                             .ops = 250,
                                             .bytes = 2048000,
                                             .latency_sum_ns = 500 * NS_PER_MS,
                                             .mean_ns = 2e6,
                                             .p99_ns = 2100000,
                                             .max_ns = 2200000};
    f->sampler.rows[1] = f->sampler.rows[0];
    f->sampler.rows[1].stream = STREAM_commit;
    f->sampler.rows[1].bytes = 0;
}

#define ROWS                                                                                       \
    "62.000,2026-01-01T00:01:02.000Z,0.500,stress,page_read,250,2048000,2000.0,2100.0,2200.0,"     \
    "1.00,,,\n"                                                                                    \
    "62.000,2026-01-01T00:01:02.000Z,0.500,stress,commit,250,0,2000.0,2100.0,2200.0,1.00,,,\n"     \
    "62.000,2026-01-01T00:01:02.000Z,0.500,stress,all,,,,,,1.00,7,1,\n"

static void an_interval_has_a_row_per_stream_and_one_of_all(void **state)
{
    struct fixture *f = *state;
    char text[2048], message[SERIES_MESSAGE_MAX];
    sample(f);
    series_write(&f->series, &f->sampler, f->run);
    read_file(f, text, sizeof text); /* before it is closed: a kill leaves it */
    assert_string_equal(text, HEADER ROWS);
    assert_null(series_problem(&f->series, message));
}

/* Room for the header, one interval and a part of the next. */
static void a_full_disk_leaves_whole_rows_and_a_sentence(void **state)
{
    struct fixture *f = *state;
    char text[2048], message[SERIES_MESSAGE_MAX];
    struct rlimit before, limit;
    assert_int_equal(getrlimit(RLIMIT_FSIZE, &before), 0);
    limit = before;
    limit.rlim_cur = sizeof HEADER + sizeof ROWS + 20;
    signal(SIGXFSZ, SIG_IGN);
    assert_int_equal(setrlimit(RLIMIT_FSIZE, &limit), 0);
    sample(f);
    for (unsigned i = 0; i < 3; i++)
        series_write(&f->series, &f->sampler, f->run);
    assert_int_equal(setrlimit(RLIMIT_FSIZE, &before), 0);
    series_write(&f->series, &f->sampler, f->run); /* rows behind a gap would look complete */
    read_file(f, text, sizeof text);
    assert_string_equal(text, HEADER ROWS);
    assert_non_null(series_problem(&f->series, message));
    assert_string_equal(message, "ends after 1 of the run's seconds: File too large");
}

static void a_folder_that_is_missing_is_a_sentence_and_no_crash(void **state)
{
    struct fixture *f = *state;
    struct series series;
    char message[SERIES_MESSAGE_MAX];
    series_open(&series, "/nonexistent/folder");
    sample(f);
    series_write(&series, &f->sampler, f->run);
    assert_string_equal(series_problem(&series, message),
                        "could not be written: No such file or directory");
    series_close(&series);
}

#define CASE(test) cmocka_unit_test_setup_teardown(test, setup, teardown)

int main(void)
{
    const struct CMUnitTest tests[] = {
        CASE(an_interval_has_a_row_per_stream_and_one_of_all),
        CASE(a_full_disk_leaves_whole_rows_and_a_sentence),
        CASE(a_folder_that_is_missing_is_a_sentence_and_no_crash),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
