/*
 * command_run.c - `pagestorm run`: settings, plan, result folder, the run itself, the reports, the
 * exit code.
 *
 * Invariants: nothing is created before arguments, configuration, plan and paths were found good; a
 * run that began always ends with a complete report, also after a signal; the second signal ends
 * the program at once.
 */
#include "sim/command_run.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "config/alloc.h"
#include "sim/command_settings.h"
#include "sim/engine_mem.h"
#include "sim/progress.h"
#include "sim/report.h"
#include "sim/result_dir.h"

/* lint: mutable, the signal flag: a handler can reach nothing else. */
static _Atomic int signal_seen;

static void on_signal(int number)
{
    if (atomic_exchange(&signal_seen, number))
        _exit(EXIT_CODE_INTERRUPTED);
}

static void signals_install(void)
{
    static const int numbers[] = {SIGINT, SIGTERM, SIGHUP};
    struct sigaction action = {.sa_handler = on_signal}, before;
    sigemptyset(&action.sa_mask);
    for (size_t i = 0; i < sizeof numbers / sizeof numbers[0]; i++) {
        bool nohup = numbers[i] == SIGHUP && sigaction(SIGHUP, NULL, &before) == 0 &&
                     before.sa_handler == SIG_IGN;
        if (!nohup)
            sigaction(numbers[i], &action, NULL);
    }
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

/* ---- engine ---- */

struct engine_choice {
    const struct io_engine_ops *ops;
    bool is_model;
    const char *text;
};

static struct engine_choice engine_choose(const struct config_settings *settings)
{
    switch ((enum config_engine)settings->engine) {
    case CONFIG_ENGINE_MEM:
        return (struct engine_choice){&engine_mem, true,
                                      "mem (a modelled device under a virtual clock: the same seed "
                                      "gives the same run; it says nothing of this storage)"};
    case CONFIG_ENGINE_SYNC:
        return (struct engine_choice){&engine_sync, false, "sync (blocking calls, helper threads)"};
    case CONFIG_ENGINE_AUTO:
        break;
    }
    return (struct engine_choice){&engine_sync, false,
                                  "sync (auto: the only engine for real devices in this version)"};
}

/* ---- one run ---- */

struct session {
    struct run_setup setup;
    struct engine_choice engine;
    struct result_dir result;
    struct clock clock;
    struct mem_device *device;
    struct progress progress;
    struct run run;
    char *command;
};

static int make_result_dir(struct session *s)
{
    const struct plan *plan = &s->setup.plan;
    char message[RESULT_MESSAGE_MAX];
    struct clock now;
    const char **paths = alloc_zeroed(plan->file_count, sizeof *paths);
    for (unsigned i = 0; i < plan->file_count; i++)
        paths[i] = plan->files[i].path;
    clock_init_real(&now);
    struct result_place place = {
        .wanted = s->setup.options.out_dir,
        .under_test = paths,
        .under_test_count = plan->file_count,
        .realtime_ns = clock_realtime_ns(&now),
    };
    int error = result_dir_create(&s->result, &place, message);
    free(paths);
    if (error) {
        fprintf(stderr, "error: %s\n", message);
        return EXIT_CODE_USAGE;
    }
    if (!s->setup.options.quiet) {
        if (s->result.note[0])
            printf("  note     %s\n", s->result.note);
        printf("  result   %s\n", s->result.path);
        fflush(stdout);
    }
    return 0;
}

/* Nothing there, nothing in it, or what begins like a configuration. */
static bool may_be_overwritten(const char *path)
{
    struct stat st;
    if (stat(path, &st) < 0)
        return errno == ENOENT;
    if (!S_ISREG(st.st_mode))
        return S_ISCHR(st.st_mode) || S_ISFIFO(st.st_mode); /* a terminal, a pipe */
    FILE *in = fopen(path, "re");
    if (!in)
        return false;
    int c = fgetc(in);
    while (c == ' ' || c == '\t' || c == '\r' || c == '\n')
        c = fgetc(in);
    fclose(in);
    return c == EOF || c == '[' || c == ';' || c == '#';
}

/* -save: the complete configuration in effect. */
static int save_configuration(const struct session *s)
{
    const char *path = s->setup.options.save_path;
    if (!path)
        return 0;
    if (!may_be_overwritten(path)) {
        fprintf(stderr,
                "error: --save %s: the file exists and is no configuration; name another one\n",
                path);
        return EXIT_CODE_USAGE;
    }
    FILE *out = fopen(path, "we");
    if (out)
        profile_dump(s->setup.profile, out);
    if (!out || fclose(out) != 0) {
        fprintf(stderr, "error: --save %s: %s\n", path, strerror(errno));
        return EXIT_CODE_USAGE;
    }
    return 0;
}

static int make_device(struct session *s)
{
    struct mem_device_config config = {.seed = s->setup.plan.seed};
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
        .progress = progress_show,
        .say = progress_say,
        .context = &s->progress,
        .signal = &signal_seen,
    };
    if (run_create(&s->run, &config) == 0)
        return 0;
    fprintf(stderr, "error: %s\n", s->run.message);
    return s->run.exit_code;
}

/* Write every report; the exit code. */
static int report_run(struct session *s)
{
    char message[RESULT_MESSAGE_MAX];
    struct report report;
    const struct report_writer *text = report_writer_by_name("text");
    int error = report_freeze(&report, &s->run, s->command, atomic_load(&signal_seen));
    if (error) {
        fprintf(stderr, "error: the report cannot be made: %s\n", strerror(-error));
        return EXIT_CODE_INCOMPLETE;
    }
    report.label = s->setup.options.label;
    report.out_dir = s->result.path;
    int exit_code = report.exit_code;
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
    fflush(stdout);
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
    progress_init(&s->progress, stdout, s->setup.options.quiet);
    exit_code = start_run(s);
    bool started = exit_code == 0;
    if (started) {
        int error = run_execute(&s->run);
        progress_end(&s->progress, &s->run);
        exit_code = exit_code_of(error, report_run(s));
    }
    run_destroy(&s->run);
    if (!started)
        discard_result_dir(s);
    progress_free(&s->progress);
    return exit_code;
}

static int session_run(struct session *s, int argc, char **argv, bool sqliosim_mode)
{
    int exit_code = run_setup_make(&s->setup, argc, argv, sqliosim_mode);
    if (s->setup.options.help) {
        run_options_help(stdout);
        return EXIT_CODE_OK;
    }
    if (!exit_code)
        exit_code = run_setup_check_paths(&s->setup);
    if (exit_code)
        return exit_code;
    s->engine = engine_choose(profile_config(s->setup.profile));
    if (!s->setup.options.quiet)
        run_setup_print(&s->setup, s->engine.text, stdout);
    if (s->setup.options.dry_run) {
        printf("dry run: nothing was written\n");
        return EXIT_CODE_OK;
    }
    signals_install();
    exit_code = save_configuration(s);
    if (!exit_code)
        exit_code = make_result_dir(s);
    return exit_code ? exit_code : run_it(s);
}

static int run_as(const char *program, int argc, char **argv, bool sqliosim_mode)
{
    struct session *s = alloc_zeroed(1, sizeof *s);
    int skip = sqliosim_mode ? 1 : 0;
    s->command = command_text(program, argc - skip, argv + skip);
    int exit_code = session_run(s, argc, argv, sqliosim_mode);
    if (s->device)
        mem_device_free(s->device);
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
