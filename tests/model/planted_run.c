/*
 * planted_run.c - `pagestorm run` over the modelled device with one planted fault: from the second
 * write on, a page's writes are acknowledged and lost.  For the test of minimise.py, which shall
 * come to that page's operations by itself.
 *
 *   planted_run run <options of pagestorm run>      PLANTED_PAGE: the page of file 1 (default 400)
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "sim/command_settings.h"
#include "sim/engine_fault.h"
#include "sim/exit_code.h"
#include "sim/io_trace.h"
#include "sim/mem_device.h"
#include "sim/report.h"
#include "sim/result_dir.h"

#define PAGE_DEFAULT 400

struct planted {
    struct run_setup setup;
    struct clock clock;
    struct mem_device *device;
    struct fault_config faults;
    struct io_trace trace;
    bool tracing;
    struct run run;
};

static void plant(struct planted *p)
{
    const char *text = getenv("PLANTED_PAGE");
    uint64_t page = text ? strtoull(text, NULL, 10) : PAGE_DEFAULT;
    struct fault_rule rule = {.kind = FAULT_LOST,
                              .op = IO_WRITE,
                              .file_uid = 1,
                              .low = page * PAGE_BYTES,
                              .high = (page + 1) * PAGE_BYTES,
                              .nth = 2,
                              .count = UINT32_MAX};
    fault_config_init(&p->faults, &engine_mem, p->device);
    fault_add(&p->faults, &rule);
}

static int machine_make(struct planted *p)
{
    struct mem_device_config config = {.seed = p->setup.plan.seed};
    char message[IO_TRACE_MESSAGE_MAX];
    const char *trace = p->setup.options.trace_path;
    clock_init_virtual(&p->clock);
    int error = mem_device_create(&p->device, &p->clock, &config);
    if (!error && trace)
        error = io_trace_open(&p->trace, trace, &p->clock, p->setup.plan.workers, message);
    p->tracing = !error && trace;
    return error;
}

static int report(struct planted *p)
{
    struct report frozen;
    char message[RESULT_MESSAGE_MAX];
    struct result_dir result = {.path = p->setup.options.out_dir};
    if (report_freeze(&frozen, &p->run, "planted_run", 0))
        return EXIT_CODE_INCOMPLETE;
    int error = result_dir_write(&result, &frozen, message);
    int exit_code = error ? EXIT_CODE_INCOMPLETE : frozen.exit_code;
    report_free(&frozen);
    return exit_code;
}

static int run(struct planted *p)
{
    struct run_config config = {.profile = p->setup.profile,
                                .plan = &p->setup.plan,
                                .out_dir = p->setup.options.out_dir,
                                .engine = &engine_fault,
                                .engine_device = &p->faults,
                                .virtual_clock = true,
                                .clock = &p->clock,
                                .trace = p->tracing ? &p->trace : NULL};
    if (run_create(&p->run, &config)) {
        fprintf(stderr, "error: %s\n", p->run.message);
        return p->run.exit_code;
    }
    int error = run_execute(&p->run);
    return error && error != -EINTR ? EXIT_CODE_INCOMPLETE : report(p);
}

int main(int argc, char **argv)
{
    struct planted *p = calloc(1, sizeof *p);
    int exit_code = EXIT_CODE_INCOMPLETE;
    if (argc < 2 || !p || run_setup_make(&p->setup, argc - 1, argv + 1, false) ||
        !p->setup.options.out_dir || mkdir(p->setup.options.out_dir, 0750)) {
        fprintf(stderr, "usage: planted_run run --engine mem --out DIR (a new one) ...\n");
        return EXIT_CODE_USAGE;
    }
    if (machine_make(p) == 0) {
        plant(p);
        exit_code = run(p);
        run_destroy(&p->run);
        fault_config_clear(&p->faults);
    }
    if (p->tracing)
        io_trace_close(&p->trace);
    mem_device_free(p->device);
    run_setup_free(&p->setup);
    free(p);
    return exit_code;
}
