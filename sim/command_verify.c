/*
 * command_verify.c - see command_verify.h.
 *
 * Run directories are sets of their own; all files given by name form one set, so that a data file
 * finds its log.
 */
#include "sim/command_verify.h"

#include <errno.h>
#include <getopt.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "sim/exit_code.h"
#include "sim/result_dir.h"
#include "sim/verify_check.h"
#include "sim/verify_report.h"

struct verify_command {
    struct verify_json *json; /* or NULL */
    FILE *out;
    bool integrity, incomplete, refused;
};

static const char usage[] =
    "usage: pagestorm verify PATH... [--json FILE]\n"
    "  PATH         the folder of a run (with its ledger), data or log files of a run, or\n"
    "               real .mdf, .ndf and .ldf files; nothing is written to them\n"
    "  --json FILE  counts and findings as JSON, too (-: standard output, and nothing else "
    "there)\n";

static void take_result(struct verify_command *command, struct verify_set *set, int error)
{
    struct findings *findings = set->findings;
    if (error) {
        fprintf(stderr, "error: %s\n", set->message[0] ? set->message : strerror(-error));
        command->refused = command->refused || set->exit_code == EXIT_CODE_USAGE;
        command->incomplete = command->incomplete || set->exit_code != EXIT_CODE_USAGE;
    } else {
        verify_print_set(set, command->out);
        if (set->incomplete)
            fprintf(command->out, "\na data file has no allocated, protected page at all: nothing "
                                  "in it could be checked\n");
    }
    command->integrity = command->integrity || findings_count(findings, SEVERITY_INTEGRITY) > 0;
    command->incomplete =
        command->incomplete || set->incomplete || findings_count(findings, SEVERITY_IO_ERROR) > 0;
    if (!error || findings->count) /* "no finding" is said of what was checked */
        verify_print_findings(findings, command->out);
    if (command->json)
        verify_json_add(command->json, set);
}

static void check_set(struct verify_command *command, const char *const *paths, size_t count,
                      bool run_dir)
{
    struct verify_set set;
    struct findings findings;
    int error = findings_init(&findings, NULL, NULL, NULL, false);
    if (error) {
        fprintf(stderr, "error: no memory\n");
        command->incomplete = true;
        return;
    }
    error = verify_set_open(&set, paths, count, run_dir, &findings);
    if (!error)
        error = verify_check(&set);
    take_result(command, &set, error);
    verify_set_close(&set);
    findings_free(&findings);
}

/* A run makes its folder and its logs first, then its files, then the ledger. */
static void check_folder(struct verify_command *command, const char *path)
{
    if (result_dir_is_begun(path)) {
        fprintf(stderr,
                "error: %s: a folder without ledger and result: a run that was to write here ended "
                "while it was creating its files, and there is nothing to verify. Remove it with "
                "`pagestorm clean`\n",
                path);
        command->incomplete = true;
        return;
    }
    fprintf(stderr,
            "error: %s: a folder without a ledger, so no result folder of a run; name that, or "
            "data and "
            "log files\n",
            path);
    command->refused = true;
}

/* Run directories one by one, then all files together. */
static void check_paths(struct verify_command *command, char **paths, int count)
{
    const char **files = calloc((size_t)count, sizeof *files);
    size_t file_count = 0;
    if (!files) {
        command->incomplete = true;
        return;
    }
    for (int i = 0; i < count; i++) {
        const char *path = paths[i];
        struct stat st;
        if (verify_is_run_dir(path)) {
            check_set(command, &path, 1, true);
        } else if (stat(path, &st) == 0 && S_ISDIR(st.st_mode)) {
            check_folder(command, path);
        } else {
            files[file_count++] = path;
        }
    }
    if (file_count)
        check_set(command, files, file_count, false);
    free(files);
}

/* 1 beats 3 beats 2. */
static int exit_code_of(const struct verify_command *command)
{
    if (command->integrity)
        return EXIT_CODE_FAIL;
    if (command->incomplete)
        return EXIT_CODE_INCOMPLETE;
    return command->refused ? EXIT_CODE_USAGE : EXIT_CODE_OK;
}

/* -1: go on; else the exit code. */
static int parse(int argc, char **argv, const char **json_path)
{
    static const struct option options[] = {
        {"json", required_argument, NULL, 'j'}, {"help", no_argument, NULL, 'h'}, {0}};
    int option;
    optind = 0; /* main may have parsed, too */
    while ((option = getopt_long(argc, argv, "h", options, NULL)) != -1) {
        if (option == 'j') {
            *json_path = optarg;
        } else if (option == 'h') {
            fputs(usage, stdout);
            return EXIT_CODE_OK;
        } else {
            fputs(usage, stderr);
            return EXIT_CODE_USAGE;
        }
    }
    if (optind < argc)
        return -1;
    fputs(usage, stderr);
    return EXIT_CODE_USAGE;
}

int command_verify(int argc, char **argv)
{
    const char *json_path = NULL;
    struct verify_command command = {.out = stdout};
    int code = parse(argc, argv, &json_path);
    if (code >= 0)
        return code;
    if (json_path && !result_json_may_be_written(json_path)) {
        fprintf(stderr, "error: --json %s: exists and is no JSON file; it was left as it is\n",
                json_path);
        return EXIT_CODE_USAGE;
    }
    if (json_path) {
        command.json = verify_json_begin();
        if (!command.json)
            return EXIT_CODE_INCOMPLETE;
        if (strcmp(json_path, "-") == 0)
            command.out = stderr;
    }
    check_paths(&command, argv + optind, argc - optind);
    code = exit_code_of(&command);
    if (json_path) {
        int error = verify_json_end(command.json, json_path, code);
        if (error) {
            fprintf(stderr, "error: %s: %s\n", json_path, strerror(-error));
            code = code == EXIT_CODE_FAIL ? EXIT_CODE_FAIL : EXIT_CODE_INCOMPLETE;
        }
    }
    return code;
}
