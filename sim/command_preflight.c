/*
 * command_preflight.c - see command_preflight.h.
 *
 * How busy the devices are is measured over three seconds, all at once.
 */
#include "sim/command_preflight.h"

#include <errno.h>
#include <getopt.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "config/alloc.h"
#include "config/units.h"
#include "sim/clock.h"
#include "sim/exit_code.h"
#include "sim/preflight_report.h"
#include "sim/result_dir.h"

#define SAMPLE_NS (3 * NS_PER_S)

static const char usage[] =
    "usage: pagestorm preflight PATH... [--json FILE] [--sample TIME]\n"
    "  PATH           a directory, file or block device that SQL Server is to use\n"
    "  --json FILE    everything as JSON, too (-: standard output, and nothing else there)\n"
    "  --sample TIME  how long the devices are watched for other load (3 s; 0: not at all)\n"
    "\n"
    "Looks at file system, mount options, devices, sectors, O_DIRECT (one extent is written to\n"
    "a file that is gone afterwards), FUA, caches, space, settings of the machine, and who else\n"
    "uses the device. Exit: 0 accepted, 4 accepted with advice, 3 refused, 2 wrong path.\n";

struct preflight {
    struct path_facts *paths;
    struct drive_level *levels; /* at the begin of the sample */
    bool *has_level;
    struct preflight_result *results, host_result;
    struct host_facts host;
    unsigned count;
    bool bad_path;
};

static const struct device_roots roots = {DEVICE_PROC, DRIVE_SYSFS};

static void look_at_paths(struct preflight *p, char **paths, unsigned count)
{
    for (unsigned i = 0; i < count; i++) {
        char message[FILE_MESSAGE_MAX];
        if (device_facts_look(&p->paths[p->count], &roots, paths[i], message) == 0) {
            p->count++;
            continue;
        }
        fprintf(stderr, "error: %s\n", message);
        p->bad_path = true;
    }
}

static void measure_load(struct preflight *p, uint64_t sample_ns)
{
    struct clock clock;
    clock_init_real(&clock);
    for (unsigned i = 0; i < p->count; i++)
        p->has_level[i] = device_facts_counters(&p->paths[i].place, &roots, &p->levels[i]);
    uint64_t from_ns = clock_now_ns(&clock);
    const struct timespec pause = {.tv_sec = (time_t)(sample_ns / NS_PER_S),
                                   .tv_nsec = (long)(sample_ns % NS_PER_S)};
    (void)nanosleep(&pause, NULL);
    uint64_t elapsed_ns = clock_now_ns(&clock) - from_ns;
    for (unsigned i = 0; i < p->count; i++) {
        struct drive_level now;
        if (p->has_level[i] && device_facts_counters(&p->paths[i].place, &roots, &now))
            p->paths[i].busy = device_busy_between(&p->levels[i], &now, elapsed_ns);
    }
}

static int judge(struct preflight *p, const char *json_path)
{
    preflight_judge_host(&p->host_result, &p->host, p->paths, p->count);
    struct preflight_report report = {
        .paths = p->paths,
        .results = p->results,
        .path_count = p->count,
        .host = &p->host_result,
        .kernel = p->host.kernel,
        .worst = p->host_result.worst,
    };
    for (unsigned i = 0; i < p->count; i++) {
        preflight_judge_path(&p->results[i], &p->paths[i], &p->host);
        if (p->results[i].worst > report.worst)
            report.worst = p->results[i].worst;
    }
    report.exit_code = preflight_exit_code(report.worst);
    bool to_stdout = json_path && strcmp(json_path, "-") == 0;
    preflight_print(&report, to_stdout ? stderr : stdout);
    if (!json_path)
        return report.exit_code;
    int error = preflight_write_json(&report, json_path);
    if (!error)
        return report.exit_code;
    fprintf(stderr, "error: %s: %s\n", json_path, strerror(-error));
    return EXIT_CODE_INCOMPLETE;
}

static int preflight(char **paths, unsigned count, const char *json_path, uint64_t sample_ns)
{
    struct preflight p = {
        .paths = alloc_zeroed(count, sizeof *p.paths),
        .levels = alloc_zeroed(count, sizeof *p.levels),
        .has_level = alloc_zeroed(count, sizeof *p.has_level),
        .results = alloc_zeroed(count, sizeof *p.results),
    };
    int exit_code = EXIT_CODE_USAGE;
    host_facts_look(&p.host, "");
    look_at_paths(&p, paths, count);
    if (!p.bad_path) {
        if (sample_ns)
            measure_load(&p, sample_ns);
        exit_code = judge(&p, json_path);
    }
    free(p.paths);
    free(p.levels);
    free(p.has_level);
    free(p.results);
    return exit_code;
}

static int wrong_usage(const char *message)
{
    if (message)
        fprintf(stderr, "error: %s\n", message);
    fputs(usage, stderr);
    return EXIT_CODE_USAGE;
}

int command_preflight(int argc, char **argv)
{
    static const struct option options[] = {{"json", required_argument, NULL, 'j'},
                                            {"sample", required_argument, NULL, 's'},
                                            {"help", no_argument, NULL, 'h'},
                                            {0}};
    const char *json_path = NULL;
    int64_t sample_ns = (int64_t)SAMPLE_NS;
    int option;
    optind = 0; /* main may have parsed, too */
    while ((option = getopt_long(argc, argv, "h", options, NULL)) != -1) {
        if (option == 'h') {
            fputs(usage, stdout);
            return EXIT_CODE_OK;
        }
        if (option == 's' && units_duration(optarg, UNITS_S_NS, &sample_ns) != 0)
            return wrong_usage("--sample wants a time, such as 3 or 500ms");
        if (option == 'j')
            json_path = optarg;
        else if (option != 's')
            return wrong_usage(NULL);
    }
    if (optind >= argc)
        return wrong_usage("which paths? Name those that SQL Server is to use");
    if (json_path && !result_json_may_be_written(json_path)) {
        fprintf(stderr, "error: --json %s: exists and is no JSON file; it was left as it is\n",
                json_path);
        return EXIT_CODE_USAGE;
    }
    return preflight(argv + optind, (unsigned)(argc - optind), json_path, (uint64_t)sample_ns);
}
