/* command_reuse.c - see command_reuse.h. */
#include "sim/command_reuse.h"

#include <string.h>

#include "sim/exit_code.h"
#include "sim/verify_check.h"
#include "sim/verify_report.h"

int command_reuse_open(struct reuse *reuse, struct run_setup *setup)
{
    char message[PLAN_MESSAGE_MAX];
    const char *directory = setup->options.reuse_dir;
    if (!directory)
        return 0;
    if (reuse_open(reuse, directory, &setup->plan, profile_config(setup->profile), message) == 0)
        return 0;
    fprintf(stderr, "error: %s\n", message);
    return EXIT_CODE_USAGE;
}

static int judge(const struct reuse *reuse, struct verify_set *set, int error, bool quiet)
{
    struct findings *findings = set->findings;
    bool wrong = findings_count(findings, SEVERITY_INTEGRITY) > 0;
    if (error)
        fprintf(stderr, "error: %s\n", set->message[0] ? set->message : strerror(-error));
    if (findings->count)
        verify_print_findings(findings, stdout);
    if (wrong) {
        fprintf(stderr,
                "error: --reuse %s: its files are not what that run left: since then the storage "
                "or another program changed what was acknowledged. They were left as they are.\n",
                reuse->directory);
        return EXIT_CODE_FAIL;
    }
    if (error || set->incomplete || findings_count(findings, SEVERITY_IO_ERROR) > 0)
        return set->exit_code ? set->exit_code : EXIT_CODE_INCOMPLETE;
    if (!quiet)
        printf("  reuse    every page and the log are what the run in %s left\n", reuse->directory);
    return 0;
}

int command_reuse_verify(const struct reuse *reuse, bool quiet)
{
    struct verify_set set;
    struct findings findings;
    const char *path = reuse->directory;
    if (findings_init(&findings, NULL, NULL, NULL, false) != 0) {
        fprintf(stderr, "error: no memory\n");
        return EXIT_CODE_INCOMPLETE;
    }
    if (!quiet) {
        printf("  reuse    reading what the run in %s left\n", path);
        fflush(stdout);
    }
    int error = verify_set_open(&set, &path, 1, true, &findings);
    if (!error)
        error = verify_check(&set);
    int exit_code = judge(reuse, &set, error, quiet);
    verify_set_close(&set);
    findings_free(&findings);
    return exit_code;
}
