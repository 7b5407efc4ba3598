/* selftest_all.c - a window of child processes over the table of cases; see selftest_all.h. */
#include "sim/selftest_all.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#define LONGER_MAX 2

struct outcome {
    pid_t child; /* 0: not begun */
    int error;
    struct selftest_result result;
};

/* On a slow disk the request that a rule waits for may not have come yet: a fault that was not put
 * in proves nothing, so the case gets more time. */
static int run_until_injected(size_t index, const struct selftest_config *config,
                              struct selftest_result *result)
{
    struct selftest_config longer = *config;
    int error = selftest_run(&selftest_cases[index], &longer, result);
    for (unsigned more = 0; more < LONGER_MAX; more++) {
        if (error || result->injected || selftest_cases[index].rule_count == 0)
            break;
        longer.seconds = (longer.seconds ? longer.seconds : SELFTEST_SECONDS) * 3;
        error = selftest_run(&selftest_cases[index], &longer, result);
    }
    return error;
}

/* The child writes its outcome into memory that both share. */
static void begin(struct outcome *outcome, size_t index, const struct selftest_config *config)
{
    fflush(NULL); /* else the child would print it again */
    outcome->error = -ECHILD;
    pid_t child = fork();
    if (child < 0) {
        outcome->error = run_until_injected(index, config, &outcome->result);
        outcome->child = -1;
        return;
    }
    if (child == 0) {
        outcome->error = run_until_injected(index, config, &outcome->result);
        _exit(0);
    }
    outcome->child = child;
}

static void end(struct outcome *outcome)
{
    int status = 0;
    if (outcome->child < 0)
        return;
    while (waitpid(outcome->child, &status, 0) < 0 && errno == EINTR)
        ;
    if (!WIFSIGNALED(status))
        return;
    outcome->error = -ECHILD;
    snprintf(outcome->result.message, sizeof outcome->result.message,
             "its process was ended by signal %d (%s)", WTERMSIG(status),
             strsignal(WTERMSIG(status)));
}

int selftest_all(const struct selftest_config *config, size_t only, selftest_tell *tell,
                 void *context)
{
    size_t size = selftest_case_count * sizeof(struct outcome);
    struct outcome *outcomes =
        mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    if (outcomes == MAP_FAILED)
        return -errno;
    size_t first = only ? only - 1 : 0, last = only ? only : selftest_case_count;
    size_t begun = first;
    for (size_t i = first; i < last; i++) {
        for (; begun < last && begun < i + SELFTEST_AT_ONCE; begun++)
            begin(&outcomes[begun], begun, config);
        end(&outcomes[i]);
        tell(context, i, outcomes[i].error, &outcomes[i].result);
    }
    munmap(outcomes, size);
    return 0;
}
