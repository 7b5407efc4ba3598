/* main.c - the subcommands of pagestorm. */
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "config/source_cli.h"
#include "sim/command_clean.h"
#include "sim/command_config.h"
#include "sim/command_preflight.h"
#include "sim/command_restore.h"
#include "sim/command_run.h"
#include "sim/command_selftest.h"
#include "sim/command_verify.h"
#include "sim/report.h"

struct command {
    const char *name;
    const char *arguments;
    const char *help;
    int (*run)(int argc, char **argv); /* argv[0] is the name */
};

static int command_help(int argc, char **argv);

static const struct command commands[] = {
    {"run", "[CONFIG.ini] [options]", "simulate, verify, report", command_run},
    {"verify", "PATH...", "check files of an earlier run or of SQL Server, offline",
     command_verify},
    {"restore", "BACKUP... --to DIR", "data files from the backups of a run", command_restore},
    {"selftest", "[--dir D]", "prove here that every fault class is caught and named",
     command_selftest},
    {"preflight", "PATH...", "would SQL Server accept these paths, and who else is there?",
     command_preflight},
    {"config", "--list|--presets|...", "list, dump and explain settings", command_config},
    {"clean", "RUN_DIR [--yes]", "remove the files that a run left", command_clean},
    {"help", "[COMMAND]", "this text, or that of a command", command_help},
};

#define COMMAND_COUNT (sizeof(commands) / sizeof(commands[0]))

static void usage(FILE *out)
{
    fputs("pagestorm - a storage simulator for SQL Server\n\n", out);
    for (size_t i = 0; i < COMMAND_COUNT; i++)
        fprintf(out, "  pagestorm %-9s %-23s %s\n", commands[i].name, commands[i].arguments,
                commands[i].help);
    fputs("\nStart with: pagestorm run --dir DIR --dry-run\n"
          "pagestorm COMMAND --help describes a command; pagestorm --version says which this is.\n",
          out);
}

static const struct command *command_by_name(const char *name)
{
    for (size_t i = 0; i < COMMAND_COUNT; i++)
        if (strcmp(commands[i].name, name) == 0)
            return &commands[i];
    return NULL;
}

static int unknown(const char *name)
{
    fprintf(stderr, "error: pagestorm knows no command '%s'\n\n", name);
    usage(stderr);
    return EXIT_CODE_USAGE;
}

static int command_help(int argc, char **argv)
{
    if (argc < 2) {
        usage(stdout);
        return EXIT_CODE_OK;
    }
    const struct command *command = command_by_name(argv[1]);
    if (!command || command->run == command_help) {
        if (!command)
            return unknown(argv[1]);
        usage(stdout);
        return EXIT_CODE_OK;
    }
    char option[] = "--help";
    char *arguments[] = {argv[1], option, NULL};
    return command->run(2, arguments);
}

static int dispatch(int argc, char **argv)
{
    if (argc > 0 && run_options_called_as_sqliosim(argv[0]))
        return command_sqliosim(argc, argv);
    if (argc < 2) {
        usage(stderr);
        return EXIT_CODE_USAGE;
    }
    if (strcmp(argv[1], "--help") == 0 || strcmp(argv[1], "-h") == 0) {
        usage(stdout);
        return EXIT_CODE_OK;
    }
    if (strcmp(argv[1], "--version") == 0) {
        printf("pagestorm %s\n", report_version());
        return EXIT_CODE_OK;
    }
    const struct command *command = command_by_name(argv[1]);
    return command ? command->run(argc - 1, argv + 1) : unknown(argv[1]);
}

/* Output that was asked for and got lost is no success.  The result of a run is in its folder: it
 * gives up a broken standard output by itself. */
int main(int argc, char **argv)
{
    int exit_code = dispatch(argc, argv);
    errno = 0;
    if (fflush(stdout) == 0 && !ferror(stdout))
        return exit_code;
    fprintf(stderr, "error: standard output cannot be written: %s\n",
            strerror(errno ? errno : EIO));
    return exit_code == EXIT_CODE_OK ? EXIT_CODE_INCOMPLETE : exit_code;
}
