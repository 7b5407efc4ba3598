/* test_io_trace.c - lines of --trace: generations, results, and what a full disk does. */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include <cmocka.h>

#include "sim/io.h"
#include "sim/io_trace.h"
#include "verify/page.h"

#define PAGES 5

struct fixture {
    char path[64];
    struct clock clock;
    struct io_trace trace;
    struct io_target target;
    uint8_t *memory;
    struct iovec iov[2];
    struct io_req req;
};

static void begin(struct fixture *f)
{
    char message[IO_TRACE_MESSAGE_MAX];
    memset(f, 0, sizeof *f);
    snprintf(f->path, sizeof f->path, "/tmp/pagestorm-trace-%d", (int)getpid());
    unlink(f->path);
    clock_init_virtual(&f->clock);
    assert_int_equal(io_trace_check(f->path, message), 0);
    assert_int_equal(io_trace_open(&f->trace, f->path, &f->clock, 1, message), 0);
    f->memory = aligned_alloc(PAGE_BYTES, PAGES * PAGE_BYTES);
    assert_non_null(f->memory);
    memset(f->memory, 0, PAGES * PAGE_BYTES);
    f->target.uid = 7;
    f->iov[0] = (struct iovec){f->memory, 2 * PAGE_BYTES};
    f->iov[1] = (struct iovec){f->memory + 2 * PAGE_BYTES, (PAGES - 2) * PAGE_BYTES};
    f->req = (struct io_req){.op = IO_WRITE,
                             .stream = STREAM_checkpoint_write,
                             .target = &f->target,
                             .offset = 10 * PAGE_BYTES,
                             .iov = f->iov,
                             .iov_count = 2,
                             .total_bytes = PAGES * PAGE_BYTES,
                             .issuer = "Checkpoint 1",
                             .phase = PHASE_stress,
                             .submit_ns = 1000,
                             .done_ns = 2 * NS_PER_S + 5};
}

static void end(struct fixture *f)
{
    io_trace_close(&f->trace);
    unlink(f->path);
    free(f->memory);
}

/* The last line of the file; the caller frees it. */
static char *last_line(const struct fixture *f)
{
    FILE *file = fopen(f->path, "r");
    char *line = NULL, *last = NULL;
    size_t size = 0;
    assert_non_null(file);
    while (getline(&line, &size, file) > 0) {
        free(last);
        last = strdup(line);
    }
    free(line);
    fclose(file);
    return last;
}

static void page_make(uint8_t *page, uint32_t page_no, uint64_t generation)
{
    uint8_t run_id[RUN_ID_BYTES] = {1};
    struct run_identity run = run_identity_make(run_id, 1, 0);
    struct page_identity id = {.file_uid = 7,
                               .incarnation = 1,
                               .page_no = page_no,
                               .file_id = 1,
                               .generation = generation};
    page_fill(page, &run, &id, 0);
    page_seal(page, (struct lsn){0}, 0);
}

static void a_line_has_the_generation_of_each_page(void **state)
{
    struct fixture f;
    (void)state;
    begin(&f);
    page_make(f.memory, 10, 17);
    page_make(f.memory + PAGE_BYTES, 11, 4);
    page_make(f.memory + 2 * PAGE_BYTES, 12, 4);
    page_make(f.memory + 3 * PAGE_BYTES, 13, 4);
    io_trace_add(io_trace_buffer(&f.trace, 0), &f.req);
    char *line = last_line(&f);
    /* virtual runs begin at 1767225600 */
    assert_string_equal(line,
                        "1767225602.000000005\t1767225600.000001000\t0\tCheckpoint 1\tstress\t"
                        "checkpoint_write\tW\t7\t81920\t40960\t0\t17,4*3,0\n");
    free(line);
    end(&f);
}

static void what_has_no_pages_has_no_generations(void **state)
{
    struct fixture f;
    (void)state;
    begin(&f);
    f.target.is_log = true;
    f.req.result = -5;
    f.req.issuer = NULL;
    io_trace_add(io_trace_buffer(&f.trace, -1), &f.req);
    char *line = last_line(&f);
    assert_non_null(strstr(line, "\t-\t-\tstress\t"));
    assert_non_null(strstr(line, "\t40960\t-5\t-\n"));
    free(line);
    end(&f);
}

/* With a real clock lines go out when a buffer is full, and at the end. */
static void lines_wait_in_the_buffer(void **state)
{
    struct fixture f;
    struct stat before, after;
    (void)state;
    begin(&f);
    f.trace.at_once = false;
    assert_int_equal(stat(f.path, &before), 0);
    io_trace_add(io_trace_buffer(&f.trace, 0), &f.req);
    assert_int_equal(stat(f.path, &after), 0);
    assert_int_equal(before.st_size, after.st_size);
    for (unsigned i = 0; i < 10000; i++) /* more than a buffer */
        io_trace_add(io_trace_buffer(&f.trace, 0), &f.req);
    assert_int_equal(stat(f.path, &after), 0);
    assert_true(after.st_size > before.st_size);
    io_trace_flush(&f.trace);
    FILE *file = fopen(f.path, "r");
    unsigned lines = 0;
    for (int c = getc(file); c != EOF; c = getc(file))
        lines += c == '\n';
    fclose(file);
    assert_int_equal(lines, 2 + 1 + 10000); /* and two of the header */
    end(&f);
}

static void a_full_disk_ends_the_trace_alone(void **state)
{
    struct fixture f;
    char text[IO_TRACE_MESSAGE_MAX];
    (void)state;
    int full = open("/dev/full", O_WRONLY);
    if (full < 0) {
        print_message("SKIP: /dev/full is not here\n");
        skip();
    }
    begin(&f);
    assert_null(io_trace_problem(&f.trace, text));
    assert_int_equal(dup2(full, f.trace.fd), f.trace.fd);
    close(full);
    io_trace_add(io_trace_buffer(&f.trace, 0), &f.req);
    io_trace_add(io_trace_buffer(&f.trace, 0), &f.req);
    assert_non_null(io_trace_problem(&f.trace, text));
    assert_non_null(strstr(text, "ends early"));
    end(&f);
}

static void an_existing_file_is_left_alone(void **state)
{
    struct fixture f;
    char message[IO_TRACE_MESSAGE_MAX];
    struct io_trace other;
    (void)state;
    begin(&f);
    assert_true(io_trace_check(f.path, message) < 0);
    assert_non_null(strstr(message, "never written over"));
    assert_true(io_trace_open(&other, f.path, &f.clock, 1, message) < 0);
    io_trace_close(&other);
    end(&f);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_line_has_the_generation_of_each_page),
        cmocka_unit_test(what_has_no_pages_has_no_generations),
        cmocka_unit_test(lines_wait_in_the_buffer),
        cmocka_unit_test(a_full_disk_ends_the_trace_alone),
        cmocka_unit_test(an_existing_file_is_left_alone),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
