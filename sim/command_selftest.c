/*
 * command_selftest.c - see command_selftest.h.
 *
 * Every case is run, also after one that failed, and one line tells its outcome; several at once
 * (selftest_all.h), told in the order of the table.
 */
#include "sim/command_selftest.h"

#include <errno.h>
#include <getopt.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "config/units.h"
#include "sim/engine_choice.h"
#include "sim/exit_code.h"
#include "sim/selftest_all.h"

static const char usage[] =
    "usage: pagestorm selftest [--dir D [--engine NAME]] [--seed N] [--case NUMBER]\n"
    "  --dir D        use the storage under D (four cases at once, about 500 MB, one to two "
    "minutes);\n"
    "                 without it the device is modelled and the clock virtual, and the result "
    "depends\n"
    "                 on the seed only\n"
    "  --engine NAME  with --dir: how I/O is issued, auto (default), uring, aio or sync\n"
    "  --seed N       another sequence of random choices\n"
    "  --case NUMBER  only this case of the list\n";

struct tally {
    unsigned cases, passed, not_run;
    unsigned faults, caught, named, others;
};

static const char *yes_no(const struct selftest_case *test, bool value)
{
    if (test->expected == VERDICT_NONE)
        return "-";
    return value ? "yes" : "NO";
}

static void print_head(void)
{
    printf("%4s  %-20s %-50s %8s %6s %5s %6s  %s\n", "case", "class", "fault", "applied", "caught",
           "named", "others", "result");
}

static void print_case(size_t index, const struct selftest_case *test,
                       const struct selftest_result *result)
{
    printf("%4zu  %-20s %-50s %8" PRIu64 " %6s %5s %6u  %s\n", index + 1,
           verdict_info(test->expected)->name, test->name, result->injected,
           yes_no(test, result->caught), yes_no(test, result->named), result->others,
           selftest_passed(test, result) ? "ok" : "FAILED");
    if (result->others)
        printf("      not asked for: %s\n", result->first_other);
    fflush(stdout);
}

static void count_case(struct tally *tally, const struct selftest_case *test,
                       const struct selftest_result *result)
{
    bool fault = test->expected != VERDICT_NONE;
    tally->cases++;
    tally->passed += selftest_passed(test, result);
    tally->faults += fault;
    tally->caught += fault && result->caught;
    tally->named += fault && result->named;
    tally->others += result->others;
}

static void tell_case(void *context, size_t index, int error, const struct selftest_result *result)
{
    const struct selftest_case *test = &selftest_cases[index];
    struct tally *tally = context;
    if (error) {
        printf("%4zu  %-20s %-50s could not be run: %s\n", index + 1,
               verdict_info(test->expected)->name, test->name,
               result->message[0] ? result->message : strerror(-error));
        tally->not_run++;
        return;
    }
    print_case(index, test, result);
    count_case(tally, test, result);
}

/* The last line; the exit code. */
static int conclude(const struct tally *tally, uint64_t seed)
{
    bool passed = tally->passed == tally->cases;
    if (tally->not_run)
        printf("%u cases could not be run\n", tally->not_run);
    printf(
        "%s: %u of %u cases as they must be; of %u with a fault %u caught, %u named; %u findings "
        "that were not asked for; seed %" PRIu64 "\n",
        !passed          ? "FAIL"
        : tally->not_run ? "INCOMPLETE"
                         : "PASS",
        tally->passed, tally->cases, tally->faults, tally->caught, tally->named, tally->others,
        seed);
    return !passed ? EXIT_CODE_FAIL : tally->not_run ? EXIT_CODE_INCOMPLETE : EXIT_CODE_OK;
}

static int run_all(const struct selftest_config *config, size_t only)
{
    struct tally tally = {0};
    print_head();
    int error = selftest_all(config, only, tell_case, &tally);
    if (error) {
        fprintf(stderr, "error: no case could be begun: %s\n", strerror(-error));
        return EXIT_CODE_INCOMPLETE;
    }
    return conclude(&tally, config->seed);
}

/* ---- the command line ---- */

struct arguments {
    struct selftest_config config;
    const char *engine;
    size_t only;
};

static int parse_number(const char *text, uint64_t *out)
{
    char *end;
    errno = 0;
    unsigned long long value = strtoull(text, &end, 10);
    if (errno || end == text || *end || text[0] == '-')
        return -EINVAL;
    *out = value;
    return 0;
}

static int usage_error(const char *why)
{
    if (why)
        fprintf(stderr, "error: %s\n", why);
    fputs(usage, stderr);
    return EXIT_CODE_USAGE;
}

static int check_dir(const char *dir)
{
    struct stat st;
    if (stat(dir, &st) == 0 && S_ISDIR(st.st_mode))
        return -1;
    fprintf(stderr, "error: --dir %s: no such folder; it must exist\n", dir);
    return EXIT_CODE_USAGE;
}

/* By the names of the setting Engine; mem is what is used without --dir. */
static int engine_named(const char *name, enum config_engine *out)
{
    int64_t choice;
    int error = units_enum(name, opt_find(&config_section, "Engine")->choices, &choice);
    if (error || choice == CONFIG_ENGINE_MEM)
        return -EINVAL;
    *out = (enum config_engine)choice;
    return 0;
}

/* -1: go on; else the exit code. */
static int choose_engine(struct arguments *arguments)
{
    struct engine_choice choice;
    enum config_engine wanted = CONFIG_ENGINE_AUTO;
    if (!arguments->config.real)
        return -1;
    if (arguments->engine && engine_named(arguments->engine, &wanted))
        return usage_error("--engine must be auto, uring, aio or sync");
    if (engine_choose(wanted, &choice)) {
        fprintf(stderr, "error: the I/O engine %s cannot be used: %s.\n", choice.ops->name,
                choice.text);
        return EXIT_CODE_INCOMPLETE;
    }
    arguments->config.engine = choice.ops;
    printf("engine: %s\n", choice.text);
    return -1;
}

/* -1: go on; else the exit code. */
static int take_option(int option, struct arguments *arguments)
{
    char why[80];
    uint64_t number = 0;
    switch (option) {
    case 'h':
        fputs(usage, stdout);
        return EXIT_CODE_OK;
    case 'd':
        arguments->config.dir = optarg;
        arguments->config.real = true;
        return -1;
    case 'e':
        arguments->engine = optarg;
        return -1;
    case 's':
        if (parse_number(optarg, &number) || number == 0)
            return usage_error("--seed must be a number from 1 on");
        arguments->config.seed = number;
        return -1;
    case 'c':
        snprintf(why, sizeof why, "--case must be 1 .. %zu, a number of the list",
                 selftest_case_count);
        if (parse_number(optarg, &number) || number == 0 || number > selftest_case_count)
            return usage_error(why);
        arguments->only = number;
        return -1;
    default:
        return usage_error(NULL); /* getopt has said why */
    }
}

/* -1: go on; else the exit code. */
static int parse(int argc, char **argv, struct arguments *arguments)
{
    static const struct option options[] = {
        {"dir", required_argument, NULL, 'd'},  {"engine", required_argument, NULL, 'e'},
        {"seed", required_argument, NULL, 's'}, {"case", required_argument, NULL, 'c'},
        {"help", no_argument, NULL, 'h'},       {0}};
    int option;
    optind = 0;
    while ((option = getopt_long(argc, argv, "h", options, NULL)) != -1) {
        int code = take_option(option, arguments);
        if (code >= 0)
            return code;
    }
    if (optind != argc)
        return usage_error("selftest takes options only; --dir D names a folder");
    if (arguments->engine && !arguments->config.real)
        return usage_error("--engine needs --dir: without it the device is modelled");
    int code = check_dir(arguments->config.dir);
    return code < 0 ? choose_engine(arguments) : code;
}

int command_selftest(int argc, char **argv)
{
    const char *temporary = getenv("TMPDIR");
    struct arguments arguments = {
        .config = {.dir = temporary && *temporary ? temporary : "/tmp", .seed = 1}};
    int code = parse(argc, argv, &arguments);
    if (code >= 0)
        return code;
    return run_all(&arguments.config, arguments.only);
}
