/*
 * real_engines.h - the engines for real devices, and several runs on them at a time.
 *
 * A run on a real device mostly waits, so runs go on side by side, each in a process of its own.
 */
#ifndef TESTS_FAULT_REAL_ENGINES_H
#define TESTS_FAULT_REAL_ENGINES_H

#include <errno.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "sim/engine_choice.h"

#define CREW_MAX 8 /* runs at a time: four for each CPU of a small machine */

static const enum config_engine real_engines[] = {CONFIG_ENGINE_URING, CONFIG_ENGINE_AIO,
                                                  CONFIG_ENGINE_SYNC};
#define REAL_ENGINES (sizeof real_engines / sizeof real_engines[0])

/* NULL, and the reason printed, where this machine refuses it. */
static inline const struct io_engine_ops *real_engine_or_skip(enum config_engine named)
{
    struct engine_choice choice;
    if (engine_choose(named, &choice) == 0)
        return choice.ops;
    printf("SKIP %s: %s\n", choice.ops->name, choice.text);
    return NULL;
}

struct crew {
    unsigned running, failed;
};

static inline void crew_wait_one(struct crew *crew)
{
    int status;
    pid_t child = wait(&status);
    if (child < 0 && errno == EINTR)
        return;
    crew->running--;
    crew->failed += child < 0 || !WIFEXITED(status) || WEXITSTATUS(status) != 0;
}

/* In the child: true, and it must end by crew_leave(). */
static inline bool crew_start(struct crew *crew)
{
    while (crew->running >= CREW_MAX)
        crew_wait_one(crew);
    fflush(NULL);
    pid_t child = fork();
    if (child == 0)
        return true;
    crew->running += child > 0;
    crew->failed += child < 0;
    return false;
}

static inline void crew_leave(bool good)
{
    fflush(NULL);
    _exit(good ? 0 : 1);
}

/* Waits for all; how many were not good. */
static inline unsigned crew_end(struct crew *crew)
{
    while (crew->running > 0)
        crew_wait_one(crew);
    return crew->failed;
}

#endif
