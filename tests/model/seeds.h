/*
 * seeds.h - try many seeds: whole runs with drawn settings, or episodes of the model.
 *
 * Each seed runs in a process of its own, so that an assertion that fails in one is reported with
 * its seed and the others go on.  TEST_SEED=N runs one seed in this process, for a debugger;
 * TEST_SEED_FIRST=N begins elsewhere.
 */
#ifndef TESTS_MODEL_SEEDS_H
#define TESTS_MODEL_SEEDS_H

#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>
#include <ftw.h>
#include <inttypes.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>
#include <cmocka.h>

#include "tests/model/drawn.h"

#define SEED_VIRTUAL_S   10
#define SEED_HANG_S      300 /* real time: ends a run that goes round in circles */
#define SEEDS_FAILED_MAX 64
#define SEED_WALK_FDS    16
#define SEED_FOLDER_ROOM 128

static inline uint64_t seed_environment(const char *name, uint64_t otherwise)
{
    const char *text = getenv(name);
    return text ? strtoull(text, NULL, 10) : otherwise;
}

typedef bool (*seed_check)(uint64_t seed, const char *directory);

/* A whole run of so long: nothing is found, everything is covered. */
static inline bool seed_is_clean_for(uint64_t seed, const char *directory, unsigned seconds)
{
    struct drawn drawn;
    struct sim sim;
    drawn_make(&drawn, seed, seconds * NS_PER_S);
    drawn.options.directory = directory;
    sim_begin(&sim, &drawn.options);
    sim_run(&sim);
    bool clean = drawn_run_is_clean(&sim);
    if (!clean)
        drawn_print(&drawn);
    sim_end(&sim);
    return clean;
}

static inline bool seed_is_clean(uint64_t seed, const char *directory)
{
    return seed_is_clean_for(seed, directory, SEED_VIRTUAL_S);
}

/* Why the seed's process ended otherwise than it should, or NULL. */
static inline const char *seed_in_child(seed_check check, uint64_t seed, const char *directory)
{
    pid_t child = fork();
    assert_true(child >= 0);
    if (child == 0) {
        alarm(SEED_HANG_S);
        _exit(check(seed, directory) ? 0 : 1);
    }
    int status;
    assert_int_equal(waitpid(child, &status, 0), child);
    if (WIFSIGNALED(status))
        return strsignal(WTERMSIG(status));
    return WEXITSTATUS(status) == 0 ? NULL : "not clean";
}

static inline int seed_remove_entry(const char *path, const struct stat *st, int type,
                                    struct FTW *walk)
{
    (void)st;
    (void)type;
    (void)walk;
    return remove(path);
}

/* TEST_SEED, or count of them from TEST_SEED_FIRST (1) on. */
static inline void seeds_try(seed_check check, uint64_t count)
{
    uint64_t only = seed_environment("TEST_SEED", 0);
    if (only) {
        assert_true(check(only, NULL));
        return;
    }
    char folder[SEED_FOLDER_ROOM];
    const char *base = getenv("TMPDIR");
    if (!base)
        base = access("/dev/shm", W_OK) == 0 ? "/dev/shm" : "/tmp";
    snprintf(folder, sizeof folder, "%s/pagestorm-seeds-XXXXXX", base);
    assert_non_null(mkdtemp(folder));
    uint64_t first = seed_environment("TEST_SEED_FIRST", 1);
    unsigned failed = 0;
    for (uint64_t seed = first; seed < first + count && failed < SEEDS_FAILED_MAX; seed++) {
        const char *why = seed_in_child(check, seed, folder);
        if (why)
            fprintf(stderr, "TEST_SEED=%" PRIu64 " failed: %s\n", seed, why);
        failed += why != NULL;
    }
    nftw(folder, seed_remove_entry, SEED_WALK_FDS, FTW_DEPTH | FTW_PHYS);
    print_message("seeds %" PRIu64 " to %" PRIu64 ", %u failed\n", first, first + count - 1,
                  failed);
    assert_int_equal(failed, 0);
}

#endif
