/*
 * command_run.c - `pagestorm run`: settings, plan, result folder, the run itself, the reports, the
 * exit code.
 *
 * Invariants: nothing is created before arguments, configuration, plan and paths were found good; a
 * run that began always ends with a complete report, also after a signal; who sends SIGINT or
 * SIGTERM again after a second does not want to wait for it.
 */
#include "sim/command_run.h"

#include <errno.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio_ext.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "config/alloc.h"
#include "config/passes.h"
#include "config/paths.h"
#include "sim/command_plan.h"
#include "sim/command_reuse.h"
#include "sim/command_save.h"
#include "sim/command_settings.h"
#include "sim/device_look.h"
#include "sim/engine_choice.h"
#include "sim/engine_mem.h"
#include "sim/error_log.h"
#include "sim/final_summary.h"
#include "sim/io_trace.h"
#include "sim/passes.h"
#include "sim/report.h"
#include "sim/result_dir.h"
#include "sim/watch.h"

/* One Ctrl-C can arrive as several signals (timeout(1), a closing terminal). */
#define SIGNAL_AGAIN_NS NS_PER_S

struct signals {
    _Atomic int seen;          /* the first one */
    _Atomic uint64_t first_ns; /* CLOCK_MONOTONIC; 0: none yet */
    const char *notice;        /* set before the handlers are */
};
/* lint: mutable, the signal flag: a handler can reach nothing else. */
static struct signals signals;

static void on_signal(int number)
{
    int error = errno;
    struct timespec now = {0};
    uint64_t first = 0;
    clock_gettime(CLOCK_MONOTONIC, &now);
    uint64_t ns = (uint64_t)now.tv_sec * NS_PER_S + (uint64_t)now.tv_nsec + 1;
    if (atomic_compare_exchange_strong(&signals.first_ns, &first, ns)) {
        atomic_store(&signals.seen, number);
        if (number != SIGHUP) /* of SIGHUP nobody is left to read */
            (void)!write(STDERR_FILENO, signals.notice, strlen(signals.notice));
    } else if (number != SIGHUP && ns > first && ns - first > SIGNAL_AGAIN_NS) {
        _exit(EXIT_CODE_INTERRUPTED);
    }
    errno = error;
}

static const char *signal_notice(bool quiet)
{
    if (quiet || (progress_is_live(stdout, quiet) && isatty(STDERR_FILENO)))
        return ""; /* the live view says it: two writers on one terminal would be in each other's
                      way */
    return isatty(STDERR_FILENO) ? "\nstopping; press Ctrl-C again to end at once\n"
                                 : "stopping; press Ctrl-C again to end at once\n";
}

/* Of what is mapped only the ledger has a file behind it. */
static void on_bus_error(int number)
{
    static const char text[] =
        "\nerror: the ledger in the result folder can no longer be read or written: its file was "
        "cut, or the device under --out failed. Nothing can be judged without it, so the run ends "
        "here, without a report. Put --out on a sound device and start again.\n";
    (void)number;
    (void)!write(STDERR_FILENO, text, sizeof text - 1);
    _exit(EXIT_CODE_INCOMPLETE);
}

static void signals_install(bool quiet)
{
    signals.notice = signal_notice(quiet);
    static const int numbers[] = {SIGINT, SIGTERM, SIGHUP};
    /* restart: else a line that is being printed would be cut off */
    struct sigaction action = {.sa_handler = on_signal, .sa_flags = SA_RESTART}, before;
    sigemptyset(&action.sa_mask);
    for (size_t i = 0; i < sizeof numbers / sizeof numbers[0]; i++) {
        bool nohup = numbers[i] == SIGHUP && sigaction(SIGHUP, NULL, &before) == 0 &&
                     before.sa_handler == SIG_IGN;
        if (!nohup)
            sigaction(numbers[i], &action, NULL);
    }
    signal(SIGBUS, on_bus_error);
    signal(SIGPIPE, SIG_IGN);
    signal(SIGXFSZ, SIG_IGN); /* beyond ulimit -f: an error with its sentence, as any other */
}

/* ---- the command line, as it can be typed again ---- */

static bool needs_quotes(const char *word)
{
    return word[0] == '\0' || word[strspn(word, "abcdefghijklmnopqrstuvwxyz"
                                                "ABCDEFGHIJKLMNOPQRSTUVWXYZ"
                                                "0123456789_@%+=:,./-")] != '\0';
}

static char *command_text(const char *program, int argc, char **argv)
{
    char *text = alloc_text(program);
    for (int i = 0; i < argc; i++) {
        char *longer;
        if (!needs_quotes(argv[i])) {
            longer = alloc_printf("%s %s", text, argv[i]);
        } else {
            longer = alloc_printf("%s '", text);
            for (const char *c = argv[i]; *c; c++) {
                char *more =
                    *c == '\'' ? alloc_printf("%s'\\''", longer) : alloc_printf("%s%c", longer, *c);
                free(longer);
                longer = more;
            }
            char *closed = alloc_printf("%s'", longer);
            free(longer);
            longer = closed;
        }
        free(text);
        text = longer;
    }
    return text;
}

/* ---- one run ---- */

struct session {
    struct run_setup setup;
    struct engine_choice engine;
    struct reuse reuse;      /* --reuse */
    struct device_look look; /* before the load; empty for a model */
    struct result_dir result;
    struct clock clock;
    struct mem_device *device;
    struct watch watch;
    struct error_log log;
    bool logging; /* the XML log is open */
    struct io_trace trace;
    bool tracing; /* it is open */
    struct run run;
    char *command;
};

/* Create the result folder, or (NULL) only check whether that would work; what is saved or traced
 * there may not be in its way either. */
static int place_result(const struct session *s, struct result_dir *create)
{
    const struct plan *plan = &s->setup.plan;
    char message[RESULT_MESSAGE_MAX];
    struct clock now;
    const char *saved = create ? NULL : s->setup.options.save_path;
    const char *traced = create ? NULL : s->setup.options.trace_path;
    unsigned count = plan->file_count;
    const char **paths = alloc_zeroed(count + 2, sizeof *paths);
    for (unsigned i = 0; i < count; i++)
        paths[i] = plan->files[i].path;
    if (saved)
        paths[count++] = saved;
    if (traced)
        paths[count++] = traced;
    clock_init_real(&now);
    struct result_place place = {
        .wanted = s->setup.options.out_dir,
        .under_test = paths,
        .under_test_count = count,
        .realtime_ns = clock_realtime_ns(&now),
    };
    int error =
        create ? result_dir_create(create, &place, message) : result_dir_check(&place, message);
    free(paths);
    if (!error)
        return 0;
    fprintf(stderr, "error: %s\n", message);
    return EXIT_CODE_USAGE;
}

static int make_result_dir(struct session *s)
{
    int exit_code = place_result(s, &s->result);
    if (exit_code)
        return exit_code;
    if (!s->setup.options.quiet) {
        if (s->result.note[0])
            printf("  note     %s\n", s->result.note);
        printf("  result   %s\n", s->result.path);
        fflush(stdout);
    }
    return 0;
}

/* ---- the XML log ---- */

/* Where ErrorFile says: a bare name lies in the result folder.  NULL: no log. */
static char *error_log_path(const struct session *s, const char *result_dir)
{
    const char *name = profile_config(s->setup.profile)->error_file;
    if (!name)
        return NULL;
    return strchr(name, '/') ? alloc_text(name) : alloc_printf("%s/%s", result_dir, name);
}

/* What opening it would say.  In the result folder, which is new, nothing is in its way. */
static int check_error_log(const struct session *s)
{
    char message[ERROR_LOG_MESSAGE_MAX];
    const char *name = profile_config(s->setup.profile)->error_file;
    if (!name || !strchr(name, '/'))
        return 0;
    for (unsigned i = 0; i < s->setup.plan.file_count; i++) {
        if (!run_setup_same_file(name, s->setup.plan.files[i].path))
            continue;
        fprintf(stderr, "error: the XML log (-log, ErrorFile) %s is a file under test as well\n",
                name);
        return EXIT_CODE_USAGE;
    }
    if (error_log_check(name, message) == 0)
        return 0;
    fprintf(stderr, "error: %s\n", message);
    return EXIT_CODE_USAGE;
}

static int open_error_log(struct session *s)
{
    char message[ERROR_LOG_MESSAGE_MAX];
    char *path = error_log_path(s, s->result.path);
    if (!path)
        return 0;
    int error = error_log_open(&s->log, path, s->engine.is_model, message);
    s->logging = !error;
    if (error)
        fprintf(stderr, "error: %s\n", message);
    else if (!s->setup.options.quiet && strchr(profile_config(s->setup.profile)->error_file, '/'))
        printf("  XML log  %s\n", path);
    free(path);
    return error ? EXIT_CODE_USAGE : 0;
}

static void close_error_log(struct session *s)
{
    if (s->logging)
        error_log_close(&s->log);
    s->logging = false;
}

/* ---- the trace ---- */

/* Beside the files under test it would disturb them; no device is looked at for that. */
static int check_trace(struct session *s)
{
    char message[IO_TRACE_MESSAGE_MAX];
    const char *path = s->setup.options.trace_path;
    if (!path)
        return 0;
    for (unsigned i = 0; i < s->setup.plan.file_count; i++)
        if (run_setup_same_file(path, s->setup.plan.files[i].path)) {
            fprintf(stderr, "error: --trace %s is a file under test as well\n", path);
            return EXIT_CODE_USAGE;
        }
    if (io_trace_check(path, message) == 0)
        return 0;
    fprintf(stderr, "error: %s\n", message);
    return EXIT_CODE_USAGE;
}

static void tell_trace(const struct session *s)
{
    const char *path = s->setup.options.trace_path;
    if (path)
        printf(
            "  trace    %s, about %u bytes an I/O: at 10,000 a second %u GB an hour. Keep it off "
            "the disks under test\n",
            path, IO_TRACE_LINE_BYTES, IO_TRACE_LINE_BYTES * 36 / 1000);
}

static int open_trace(struct session *s)
{
    char message[IO_TRACE_MESSAGE_MAX];
    const char *path = s->setup.options.trace_path;
    if (!path)
        return 0;
    int error = io_trace_open(&s->trace, path, &s->clock, s->setup.plan.workers, message);
    s->tracing = !error;
    if (!error)
        return 0;
    fprintf(stderr, "error: %s\n", message);
    return EXIT_CODE_USAGE;
}

/* A request that never ended may still come to its buffer. */
static void close_trace(struct session *s, bool started)
{
    if (s->tracing && !started && unlink(s->setup.options.trace_path) != 0)
        fprintf(stderr, "warning: %s could not be removed\n", s->setup.options.trace_path);
    if (s->tracing && !s->run.stuck)
        io_trace_close(&s->trace);
    s->tracing = false;
}

/* ---- the run ---- */

static int make_device(struct session *s)
{
    int64_t model = profile_config(s->setup.profile)->device_model;
    struct mem_device_config config = {
        .seed = s->setup.plan.seed,
        .model = model == CONFIG_DEVICE_HDD ? MEM_HDD : MEM_SSD,
    };
    if (!s->engine.is_model) {
        clock_init_real(&s->clock);
        return 0;
    }
    clock_init_virtual(&s->clock);
    int error = mem_device_create(&s->device, &s->clock, &config);
    if (error) {
        fprintf(stderr, "error: the modelled device cannot be made: %s\n", strerror(-error));
        return EXIT_CODE_INCOMPLETE;
    }
    return 0;
}

static void on_progress(void *context, const struct run *run)
{
    watch_show(&((struct session *)context)->watch, run);
}

static void on_event(void *context, const struct event *event)
{
    struct session *s = context;
    int error = s->logging ? error_log_add(&s->log, event) : 0;
    if (event->line)
        watch_say(&s->watch, event->realtime_ns, event->line);
    if (!error)
        return;
    char line[256];
    snprintf(line, sizeof line,
             "warning: the XML log cannot be written: %s. The run goes on; entries are missing in "
             "the log, nothing else is",
             strerror(-error));
    watch_say(&s->watch, event->realtime_ns, line);
}

static int start_run(struct session *s)
{
    struct run_config config = {
        .profile = s->setup.profile,
        .plan = &s->setup.plan,
        .out_dir = s->result.path,
        .engine = s->engine.ops,
        .engine_device = s->device,
        .virtual_clock = s->engine.is_model,
        .clock = &s->clock,
        .progress = on_progress,
        .event = on_event,
        .context = s,
        .signal = &signals.seen,
        .reuse = s->reuse.ledger ? &s->reuse : NULL,
        .on_finding = s->setup.options.on_finding,
        .on_stall = s->setup.options.on_stall,
        .on_every = s->setup.options.on_every,
        .trace = s->tracing ? &s->trace : NULL,
    };
    if (run_create(&s->run, &config) == 0)
        return 0;
    watch_clear(&s->watch); /* the block would take the reason with it */
    fprintf(stderr, "error: %s\n", s->run.message);
    struct event event = {
        .type = EVENT_ERROR, .user = "System", .place = EVENT_HERE, .text = s->run.message};
    run_event(&s->run, &event);
    return s->run.exit_code;
}

#define SUMMARY_USER "Display Monitor" /* SQLIOSim's: it prints the Final Summary */

static void log_row(void *context, const char *row)
{
    run_log(context, SUMMARY_USER, EVENT_HERE, "%s", row);
}

static void log_axis(const struct run *run, const char *name, const struct axis *axis)
{
    run_log(run, SUMMARY_USER, EVENT_HERE, "%s: %s: %s", name, grade_name(axis->grade),
            axis->reason);
}

/* By their final names: what was told at once may have been amended since. */
static void log_findings(const struct run *run)
{
    char line[EVENT_TEXT_MAX / 2];
    for (unsigned i = 0; i < run->findings.count; i++) {
        const struct finding *finding = &run->findings.list[i];
        finding_line(finding, line, sizeof line);
        if (!finding->amended)
            run_log(run, SUMMARY_USER, EVENT_HERE, "Finding %u: %s", finding->number, line);
    }
}

/* The end of the XML log: each file's summary, findings, the axes, the result. */
static void log_report(struct run *run, const struct report *report)
{
    for (unsigned i = 0; i < report->file_count; i++)
        final_summary_of(&report->files[i], log_row, run);
    log_findings(run);
    log_axis(run, "INTEGRITY", &report->integrity);
    log_axis(run, "DURABILITY", &report->durability);
    log_axis(run, "SPEED", &report->speed);
    run_log(run, SUMMARY_USER, EVENT_HERE, "RESULT: %s", report->result);
}

/* What was written during the run and is not whole. */
static void add_problems(const struct session *s, struct report *report)
{
    char text[SERIES_MESSAGE_MAX], why[IO_TRACE_MESSAGE_MAX];
    if (s->tracing)
        report_problem_add(report, s->setup.options.trace_path, io_trace_problem(&s->trace, why));
    report_problem_add(report, SERIES_FILE_NAME, series_problem(&s->watch.series, text));
    report_problem_add(report, profile_config(s->setup.profile)->error_file,
                       s->logging && s->log.failed ? "lacks entries: writing it failed" : NULL);
}

/* Write every report; the exit code. */
static int report_run(struct session *s)
{
    char message[RESULT_MESSAGE_MAX];
    struct report report;
    const struct report_writer *text = report_writer_by_name("text");
    int error = report_freeze(&report, &s->run, s->command, atomic_load(&signals.seen));
    if (error) {
        fprintf(stderr, "error: the report cannot be made: %s\n", strerror(-error));
        return EXIT_CODE_INCOMPLETE;
    }
    report.label = s->setup.options.label;
    report.out_dir = s->result.path;
    report.look = s->engine.is_model ? NULL : &s->look;
    int exit_code = report.exit_code;
    log_report(&s->run, &report);
    add_problems(s, &report);
    error = result_dir_write(&s->result, &report, message);
    if (error) {
        fprintf(stderr, "error: %s\n", message);
        exit_code = exit_code == EXIT_CODE_FAIL ? EXIT_CODE_FAIL : EXIT_CODE_INCOMPLETE;
    }
    /* Nobody may be left to read this; the reports are written. */
    if (s->setup.options.quiet)
        (void)!report_text_verdict(&report, stdout);
    else
        (void)!text->write(&report, stdout);
    if (fflush(stdout) != 0 || ferror(stdout)) {
        __fpurge(stdout);
        clearerr(stdout);
    }
    report_free(&report);
    return exit_code;
}

/* What the run itself says beats what the report could not know. */
static int exit_code_of(int execute_error, int reported)
{
    bool failed = execute_error && execute_error != -EINTR;
    if (failed && reported != EXIT_CODE_FAIL)
        return EXIT_CODE_INCOMPLETE;
    return reported;
}

static void discard_result_dir(const struct session *s)
{
    unsigned kept;
    if (s->result.created && result_dir_remove(s->result.path, &kept))
        fprintf(stderr, "warning: %s could not be removed\n", s->result.path);
}

static int run_it(struct session *s)
{
    int exit_code = make_device(s);
    if (exit_code)
        return exit_code;
    if (watch_init(&s->watch, s->result.path, stdout, s->setup.options.quiet)) {
        fprintf(stderr, "error: not enough memory to watch the run\n");
        exit_code = EXIT_CODE_INCOMPLETE;
    }
    if (!exit_code)
        exit_code = open_trace(s);
    bool begun = !exit_code; /* before that there is no run to be destroyed */
    if (begun)
        exit_code = start_run(s);
    bool started = exit_code == 0;
    if (started) {
        int error = run_execute(&s->run);
        watch_end(&s->watch, &s->run);
        if (s->tracing && !s->run.stuck)
            io_trace_flush(&s->trace);
        exit_code = exit_code_of(error, report_run(s));
    }
    if (begun)
        run_destroy(&s->run);
    close_trace(s, started);
    close_error_log(s);
    watch_free(&s->watch);
    if (!started)
        discard_result_dir(s);
    return exit_code;
}

static int choose_engine(struct session *s)
{
    int64_t wanted = profile_config(s->setup.profile)->engine;
    if (engine_choose((enum config_engine)wanted, &s->engine) == 0)
        return 0;
    fprintf(stderr, "error: the I/O engine %s cannot be used: %s.\n", s->engine.ops->name,
            s->engine.text);
    return EXIT_CODE_INCOMPLETE;
}

/* Who else is on the devices?  A model has none. */
static int look_before(struct session *s)
{
    static const struct device_roots roots = {DEVICE_PROC, DRIVE_SYSFS};
    struct plan *plan = &s->setup.plan;
    char message[PLAN_MESSAGE_MAX];
    if (s->engine.is_model)
        return 0;
    char **directories = alloc_zeroed(plan->file_count + 1, sizeof *directories);
    for (unsigned i = 0; i < plan->file_count; i++)
        directories[i] = path_directory_of(plan->files[i].path);
    int error = device_look(&s->look, &roots, (const char *const *)directories, plan->file_count);
    for (unsigned i = 0; i < plan->file_count; i++)
        free(directories[i]);
    free(directories);
    if (error) {
        fprintf(stderr, "error: no memory to look at the devices\n");
        return EXIT_CODE_INCOMPLETE;
    }
    if (!s->setup.options.beside_others && !device_look_allows(&s->look, message)) {
        fprintf(stderr, "error: %s\n", message);
        return EXIT_CODE_USAGE;
    }
    plan->note_count += device_look_notes(&s->look, plan->notes + plan->note_count,
                                          PLAN_NOTES_MAX - plan->note_count);
    return 0;
}

/* [PassN]: each pass is a run of its own. */
static int session_run_passes(struct session *s)
{
    const struct profile *profile = s->setup.profile;
    if (profile_is_set(profile, config_section.name, "TestCycleDuration") ||
        profile_is_set(profile, config_section.name, "RatedDuration")) {
        fprintf(stderr, "error: -d and --rated would change every pass: give a pass its time in "
                        "its Options (pagestorm config --preset signoff > my.ini)\n");
        return EXIT_CODE_USAGE;
    }
    if (s->setup.options.reuse_dir) {
        fprintf(stderr, "error: --reuse takes over what one run left, and each [PassN] is a run: "
                        "name it in the Options of a pass\n");
        return EXIT_CODE_USAGE;
    }
    passes_print(&s->setup, stdout);
    if (s->setup.options.dry_run)
        return EXIT_CODE_OK;
    int exit_code = make_result_dir(s);
    return exit_code ? exit_code : passes_run(&s->setup, s->result.path);
}

static int session_run(struct session *s, int argc, char **argv, bool sqliosim_mode)
{
    int exit_code = run_setup_make(&s->setup, argc, argv, sqliosim_mode);
    if (s->setup.options.help) {
        run_options_help(stdout);
        return EXIT_CODE_OK;
    }
    if (!exit_code && profile_pass_count(s->setup.profile) > 0)
        return session_run_passes(s);
    if (!exit_code)
        exit_code = run_setup_check_paths(&s->setup);
    if (!exit_code)
        exit_code = place_result(s, NULL);
    if (!exit_code)
        exit_code = command_save_check(&s->setup);
    if (!exit_code)
        exit_code = check_error_log(s);
    if (!exit_code)
        exit_code = check_trace(s);
    if (exit_code)
        return exit_code;
    exit_code = choose_engine(s);
    if (!exit_code)
        exit_code = look_before(s);
    if (!exit_code)
        exit_code = command_reuse_open(&s->reuse, &s->setup);
    if (exit_code)
        return exit_code;
    if (!s->setup.options.quiet)
        command_plan_print(&s->setup, s->engine.text, stdout);
    if (!s->setup.options.quiet)
        tell_trace(s);
    if (s->setup.options.dry_run) {
        printf("  result   %s would be created\ndry run: nothing was written\n",
               s->setup.options.out_dir ? s->setup.options.out_dir : "pagestorm-<date>-<time>");
        return EXIT_CODE_OK;
    }
    signals_install(s->setup.options.quiet);
    exit_code = make_result_dir(s);
    if (exit_code)
        return exit_code;
    exit_code = command_save(&s->setup);
    if (!exit_code)
        exit_code = open_error_log(s);
    if (!exit_code && s->reuse.ledger)
        exit_code = command_reuse_verify(&s->reuse, s->setup.options.quiet);
    if (!exit_code)
        return run_it(s);
    close_error_log(s);
    discard_result_dir(s);
    return exit_code;
}

static int run_as(const char *program, int argc, char **argv, bool sqliosim_mode)
{
    struct session *s = alloc_zeroed(1, sizeof *s);
    int skip = sqliosim_mode ? 1 : 0;
    s->command = command_text(program, argc - skip, argv + skip);
    int exit_code = session_run(s, argc, argv, sqliosim_mode);
    if (s->device)
        mem_device_free(s->device);
    reuse_close(&s->reuse);
    device_look_free(&s->look);
    result_dir_free(&s->result);
    run_setup_free(&s->setup);
    free(s->command);
    free(s);
    return exit_code;
}

int command_run(int argc, char **argv)
{
    return run_as("pagestorm", argc, argv, false);
}

int command_sqliosim(int argc, char **argv)
{
    return run_as("sqliosim", argc, argv, true);
}
