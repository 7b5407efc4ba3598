/* passes.c - see passes.h. */
#include "sim/passes.h"

#include <errno.h>
#include <jansson.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "config/alloc.h"
#include "config/passes.h"
#include "sim/exit_code.h"

#define SELF        "/proc/self/exe"
#define RESULT_JSON "result.json"
#define REASON_MAX  256

/* The process of the pass that runs, and the first signal: all that a handler can reach. */
/* lint: mutable, the signal flag and whom it goes on to. */
static _Atomic int running_pid, signal_seen;

static void on_signal(int number)
{
    int error = errno;
    int pid = atomic_load(&running_pid);
    atomic_store(&signal_seen, number);
    if (pid > 0)
        kill(pid, number);
    errno = error;
}

static void signals_forward(void)
{
    static const int numbers[] = {SIGINT, SIGTERM, SIGHUP};
    struct sigaction action = {.sa_handler = on_signal, .sa_flags = SA_RESTART};
    sigemptyset(&action.sa_mask);
    for (size_t i = 0; i < sizeof numbers / sizeof numbers[0]; i++)
        sigaction(numbers[i], &action, NULL);
}

/* ---- one pass ---- */

struct pass_result {
    int exit_code;
    bool done;
    char grade[16];
    char reason[REASON_MAX];
};

/* "02-bulk-load": what can be typed without quotes. */
static char *folder_of(const struct pass_settings *pass, size_t index, const char *out_dir)
{
    char *path = alloc_printf("%s/%02zu-%s", out_dir, index + 1, pass->name);
    for (char *c = path + strlen(out_dir) + 1; *c; c++)
        if (!strchr("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-", *c))
            *c = '-';
    return path;
}

static bool is_preflight(const struct pass_settings *pass)
{
    return pass->command == PASS_PREFLIGHT;
}

/* Every directory of the command line, once: what preflight looks at. */
static void add_directories(const struct run_options *options, struct text_list *words)
{
    const struct text_list *lists[] = {&options->dirs, &options->data_dirs, &options->log_dirs,
                                       &options->tempdb_dirs, &options->backup_dirs};
    size_t first = words->count;
    for (size_t i = 0; i < sizeof lists / sizeof lists[0]; i++) {
        for (size_t k = 0; k < lists[i]->count; k++) {
            bool known = false;
            for (size_t w = first; w < words->count; w++)
                known = known || strcmp(words->items[w], lists[i]->items[k]) == 0;
            if (!known)
                text_list_add(words, lists[i]->items[k]);
        }
    }
}

/* The command line of the pass; the words are copies. */
static struct text_list words_of(const struct run_setup *setup, const struct pass_settings *pass,
                                 const char *folder)
{
    struct text_list words = {0};
    text_list_add(&words, "pagestorm");
    text_list_add(&words, is_preflight(pass) ? "preflight" : "run");
    text_list_add_words(&words, pass->options);
    if (is_preflight(pass)) {
        add_directories(&setup->options, &words);
        return words;
    }
    if (pass->preset) {
        text_list_add(&words, "--preset");
        text_list_add(&words, pass->preset);
    }
    run_options_words(&setup->options, &words);
    text_list_add(&words, "--out");
    text_list_add(&words, folder);
    return words;
}

static void exec_pass(struct text_list *words)
{
    char **argv = alloc_zeroed(words->count + 1, sizeof *argv);
    for (size_t i = 0; i < words->count; i++)
        argv[i] = words->items[i];
    execv(SELF, argv);
    fprintf(stderr, "error: this program cannot be started again: %s\n", strerror(errno));
    _exit(EXIT_CODE_INCOMPLETE);
}

/* The exit code of the child, or what its end by a signal means. */
static int wait_for(pid_t pid)
{
    int status;
    while (waitpid(pid, &status, 0) < 0)
        if (errno != EINTR)
            return EXIT_CODE_INCOMPLETE;
    return WIFEXITED(status) ? WEXITSTATUS(status) : EXIT_CODE_INCOMPLETE;
}

/* The verdict that the pass wrote. */
static void read_verdict(const char *folder, struct pass_result *out)
{
    char *path = alloc_printf("%s/" RESULT_JSON, folder);
    const char *grade = NULL, *reason = NULL;
    json_t *root = json_load_file(path, 0, NULL);
    if (root && json_unpack(root, "{s:{s:{s:s},s:s}}", "verdict", "overall", "grade", &grade,
                            "result", &reason) == 0) {
        snprintf(out->grade, sizeof out->grade, "%s", grade);
        snprintf(out->reason, sizeof out->reason, "%s", reason);
    }
    json_decref(root);
    free(path);
}

static struct pass_result run_pass(const struct run_setup *setup, size_t index, const char *out_dir)
{
    const struct pass_settings *pass = profile_pass(setup->profile, index);
    struct pass_result result = {.done = true};
    char *folder = folder_of(pass, index, out_dir);
    struct text_list words = words_of(setup, pass, folder);
    fflush(NULL);
    pid_t pid = fork();
    if (pid == 0)
        exec_pass(&words);
    atomic_store(&running_pid, pid);
    if (pid > 0 && atomic_load(&signal_seen))
        kill(pid, atomic_load(&signal_seen)); /* came between the fork and now */
    result.exit_code = pid > 0 ? wait_for(pid) : EXIT_CODE_INCOMPLETE;
    atomic_store(&running_pid, 0);
    if (!is_preflight(pass)) {
        read_verdict(folder, &result);
    } else if (result.exit_code == EXIT_CODE_SPEED) { /* of preflight: accepted, with advice */
        result.exit_code = EXIT_CODE_OK;
        snprintf(result.grade, sizeof result.grade, "WARN");
        snprintf(result.reason, sizeof result.reason, "accepted, with the advice above");
    }
    text_list_free(&words);
    free(folder);
    return result;
}

/* ---- the series ---- */

static const char *grade_of(const struct pass_result *result)
{
    if (!result->done)
        return "not run";
    if (result->grade[0])
        return result->grade;
    switch (result->exit_code) {
    case EXIT_CODE_OK:
        return "PASS";
    case EXIT_CODE_INTERRUPTED:
        return "INTERRUPTED";
    default:
        return "FAIL";
    }
}

/* Does the series go on after this pass? */
static bool goes_on(const struct pass_result *result)
{
    return result->exit_code == EXIT_CODE_OK || result->exit_code == EXIT_CODE_SPEED;
}

static void print_head(const struct run_setup *setup, size_t index)
{
    printf("\n==== pass %zu of %zu: %s ====\n\n", index + 1, profile_pass_count(setup->profile),
           profile_pass(setup->profile, index)->name);
}

static void print_table(const struct run_setup *setup, const struct pass_result *results,
                        const char *out_dir)
{
    bool left = false;
    printf("\n==== all passes ====\n\n");
    for (size_t i = 0; i < profile_pass_count(setup->profile); i++) {
        const struct pass_settings *pass = profile_pass(setup->profile, i);
        printf("  %2zu  %-28s %-12s %s\n", i + 1, pass->name, grade_of(&results[i]),
               results[i].reason);
        left = left || (results[i].grade[0] && !is_preflight(pass)); /* it wrote a result */
    }
    if (left)
        printf("\nresults %s   remove all: pagestorm clean %s\n", out_dir, out_dir);
    fflush(stdout);
}

/* 1 beats 3 beats 130 beats 4; a wrong command line ends everything. */
static int worst_of(const struct pass_result *results, size_t count)
{
    static const int order[] = {EXIT_CODE_USAGE, EXIT_CODE_FAIL, EXIT_CODE_INCOMPLETE,
                                EXIT_CODE_INTERRUPTED, EXIT_CODE_SPEED};
    for (size_t k = 0; k < sizeof order / sizeof order[0]; k++)
        for (size_t i = 0; i < count; i++)
            if (results[i].done && results[i].exit_code == order[k])
                return order[k];
    return EXIT_CODE_OK;
}

int passes_run(const struct run_setup *setup, const char *out_dir)
{
    size_t count = profile_pass_count(setup->profile);
    struct pass_result *results = alloc_zeroed(count, sizeof *results);
    bool go_on = true;
    signals_forward();
    for (size_t i = 0; i < count && go_on; i++) {
        print_head(setup, i);
        results[i] = run_pass(setup, i, out_dir);
        go_on = goes_on(&results[i]) && !atomic_load(&signal_seen);
    }
    print_table(setup, results, out_dir);
    int exit_code = worst_of(results, count);
    if (exit_code == EXIT_CODE_OK && atomic_load(&signal_seen))
        exit_code = EXIT_CODE_INTERRUPTED;
    free(results);
    return exit_code;
}

void passes_print(const struct run_setup *setup, FILE *out)
{
    fprintf(out, "plan: %zu passes, each with a result of its own\n",
            profile_pass_count(setup->profile));
    for (size_t i = 0; i < profile_pass_count(setup->profile); i++) {
        const struct pass_settings *pass = profile_pass(setup->profile, i);
        fprintf(out, "  %2zu  %-28s %s%s%s\n", i + 1, pass->name,
                is_preflight(pass) ? "preflight"
                : pass->preset     ? pass->preset
                                   : "no preset",
                pass->options ? " " : "", pass->options ? pass->options : "");
    }
}
