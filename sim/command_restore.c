/* command_restore.c - see command_restore.h. */
#include "sim/command_restore.h"

#include <errno.h>
#include <getopt.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "sim/exit_code.h"
#include "sim/restore.h"
#include "sim/verify_files.h"
#include "sim/verify_report.h"

static const char usage[] =
    "usage: pagestorm restore BACKUP... --to DIR\n"
    "  BACKUP    backup files of one database (.bak, and the .trn beside it), in any order\n"
    "  --to DIR  where the data files are created, under their old names; no file there is\n"
    "            replaced. The newest full backup is taken and all log that follows it without\n"
    "            a gap; transactions that were under way at its end are left as they are.\n";

/* -1: go on; else the exit code. */
static int parse(int argc, char **argv, const char **to)
{
    static const struct option options[] = {
        {"to", required_argument, NULL, 't'}, {"help", no_argument, NULL, 'h'}, {0}};
    int option;
    optind = 0; /* main may have parsed, too */
    while ((option = getopt_long(argc, argv, "h", options, NULL)) != -1) {
        if (option == 't') {
            *to = optarg;
        } else if (option == 'h') {
            fputs(usage, stdout);
            return EXIT_CODE_OK;
        } else {
            fputs(usage, stderr);
            return EXIT_CODE_USAGE;
        }
    }
    if (*to && optind < argc && argc - optind <= RESTORE_SOURCES_MAX)
        return -1;
    fputs(usage, stderr);
    return EXIT_CODE_USAGE;
}

static int take_sources(struct verify_set *set, struct restore *r)
{
    for (size_t i = 0; i < set->count; i++) {
        if (!set->files[i].is_backup) {
            snprintf(r->message, sizeof r->message, "%s: no backup file of pagestorm",
                     set->files[i].file.path);
            r->refused = true;
            return -EINVAL;
        }
        r->sources[r->source_count++] = &set->files[i].file;
    }
    return 0;
}

static void print_result(const struct restore *r)
{
    printf("restored from one full and %u log backups: %" PRIu64 " pages, %" PRIu64
           " of them redone from %" PRIu64 " log records; all read back and right\n",
           r->log_backups, r->pages, r->redone, r->log_records);
    for (unsigned i = 0; i < r->target_count; i++)
        printf("  %s\n", r->targets[i].path);
}

static int exit_code_of(const struct restore *r, int error)
{
    if (error == 0)
        return EXIT_CODE_OK;
    if (error == -EBADMSG)
        return EXIT_CODE_FAIL;
    bool path_bad = error == -EEXIST || error == -EBUSY || error == -EACCES || error == -EPERM;
    return r->refused || path_bad ? EXIT_CODE_USAGE : EXIT_CODE_INCOMPLETE;
}

static int restore_to(struct verify_set *set, const char *to)
{
    struct restore r = {.io = &set->io,
                        .directory = to,
                        .prefix = "",
                        .how = {.direct = true, .dsync = false},
                        .findings = set->findings,
                        .actor = "restore",
                        .now_ns = clock_realtime_ns(&set->clock)};
    int error = take_sources(set, &r);
    if (!error)
        error = restore_run(&r);
    if (error == -EBADMSG)
        verify_print_findings(set->findings, stdout);
    if (error == 0)
        print_result(&r);
    else
        fprintf(stderr, "error: nothing was restored: %s\n",
                error == -EBADMSG ? "a backup is damaged"
                : r.message[0]    ? r.message
                                  : strerror(-error));
    restore_close(&r, error == 0);
    return exit_code_of(&r, error);
}

int command_restore(int argc, char **argv)
{
    const char *to = NULL;
    struct verify_set set;
    struct findings findings;
    int parsed = parse(argc, argv, &to);
    if (parsed >= 0)
        return parsed;
    if (findings_init(&findings, NULL, NULL, NULL, false)) {
        fprintf(stderr, "error: no memory\n");
        return EXIT_CODE_INCOMPLETE;
    }
    int exit_code;
    int error = verify_set_open(&set, (const char *const *)argv + optind, (size_t)(argc - optind),
                                false, &findings);
    if (error) {
        fprintf(stderr, "error: %s\n", set.message[0] ? set.message : strerror(-error));
        exit_code = set.exit_code ? set.exit_code : EXIT_CODE_INCOMPLETE;
    } else {
        exit_code = restore_to(&set, to);
    }
    verify_set_close(&set);
    findings_free(&findings);
    return exit_code;
}
