/*
 * Under the virtual clock a seed repeats the run: data, log and ledger files are byte-equal.
 *
 * The ledger names its files by their paths, so both runs have the same folder name: the first
 * one's folder is renamed before the second one starts.
 */
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>
#include <ftw.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include <cmocka.h>

#include "tests/model/drawn.h"

#define RUN_S     2 /* with checkpoints after 1 s and at the end */
#define WALK_FDS  16
#define PATH_ROOM 320

struct pair {
    char base[128], first[192], second[192];
};

static void pair_begin(struct pair *pair)
{
    const char *base = getenv("TMPDIR");
    if (!base)
        base = access("/dev/shm", W_OK) == 0 ? "/dev/shm" : "/tmp";
    snprintf(pair->base, sizeof pair->base, "%s/pagestorm-pair-XXXXXX", base);
    assert_non_null(mkdtemp(pair->base));
    snprintf(pair->first, sizeof pair->first, "%s/first", pair->base);
    snprintf(pair->second, sizeof pair->second, "%s/run", pair->base);
}

static int remove_entry(const char *path, const struct stat *st, int type, struct FTW *walk)
{
    (void)st;
    (void)type;
    (void)walk;
    return remove(path);
}

static void pair_end(const struct pair *pair)
{
    nftw(pair->base, remove_entry, WALK_FDS, FTW_DEPTH | FTW_PHYS);
}

/* Run in pair->second and leave the files at `keep`. */
static void run_into(const struct pair *pair, const struct sim_options *options, const char *keep)
{
    struct sim sim;
    struct sim_options here = *options;
    here.folder = pair->second;
    sim_begin(&sim, &here);
    sim_run(&sim);
    bool clean = drawn_run_is_clean(&sim);
    sim_close(&sim);
    if (strcmp(keep, pair->second) != 0)
        assert_int_equal(rename(pair->second, keep), 0);
    else
        sim.folder[0] = '\0'; /* sim_end removes nothing */
    sim_end(&sim);
    assert_true(clean);
}

static uint8_t *file_bytes(const char *folder, const char *name, size_t *size_bytes)
{
    char path[PATH_ROOM];
    struct stat st;
    snprintf(path, sizeof path, "%s/%s", folder, name);
    assert_int_equal(stat(path, &st), 0);
    FILE *file = fopen(path, "rb");
    assert_non_null(file);
    uint8_t *bytes = malloc((size_t)st.st_size);
    assert_non_null(bytes);
    assert_int_equal(fread(bytes, 1, (size_t)st.st_size, file), st.st_size);
    fclose(file);
    *size_bytes = (size_t)st.st_size;
    return bytes;
}

/* Number of files that differ; the first differing byte of each is printed. */
static unsigned files_differ(const struct pair *pair, unsigned databases)
{
    unsigned different = 0;
    for (unsigned i = 0; i < 2 * databases + 1; i++) {
        char name[32] = "ledger";
        if (i < 2 * databases)
            snprintf(name, sizeof name, i % 2 ? "log%u.ldx" : "data%u.mdx", i / 2 + 1);
        size_t size[2], at = 0;
        uint8_t *a = file_bytes(pair->first, name, &size[0]);
        uint8_t *b = file_bytes(pair->second, name, &size[1]);
        assert_int_equal(size[0], size[1]);
        while (at < size[0] && a[at] == b[at])
            at++;
        if (at < size[0])
            print_message("%s differs from byte %zu on\n", name, at);
        different += at < size[0];
        free(a);
        free(b);
    }
    return different;
}

static unsigned compare_runs(struct sim_options *options, uint64_t second_seed)
{
    struct pair pair;
    pair_begin(&pair);
    run_into(&pair, options, pair.first);
    options->seed = second_seed;
    run_into(&pair, options, pair.second);
    unsigned different = files_differ(&pair, options->databases);
    pair_end(&pair);
    return different;
}

static struct sim_options options_of(unsigned workers, unsigned databases, const char *through)
{
    return (struct sim_options){.seed = 42,
                                .duration_ns = RUN_S * NS_PER_S,
                                .workers = workers,
                                .databases = databases,
                                .settings = {{"CONFIG", "WriteThrough", through},
                                             {"CONFIG", "CheckpointInterval", "1"},
                                             {"RandomUser", "UserCount", "8"},
                                             {"RandomUser", "MaxIOChainLength", "30"}}};
}

static void one_worker_repeats_its_run(void **state)
{
    (void)state;
    struct sim_options options = options_of(1, 1, "TRUE");
    assert_int_equal(compare_runs(&options, 42), 0);
}

static void three_workers_repeat_their_run(void **state)
{
    (void)state;
    struct sim_options options = options_of(3, 1, "TRUE");
    assert_int_equal(compare_runs(&options, 42), 0);
}

static void a_run_with_flushes_repeats(void **state)
{
    (void)state;
    struct sim_options options = options_of(3, 1, "FALSE");
    assert_int_equal(compare_runs(&options, 42), 0);
}

static void two_databases_repeat_their_run(void **state)
{
    (void)state;
    struct sim_options options = options_of(2, 2, "TRUE");
    assert_int_equal(compare_runs(&options, 42), 0);
}

/* The order in which its extents are allocated, too. */
static void a_sparse_file_repeats(void **state)
{
    (void)state;
    struct sim_options options = options_of(3, 1, "TRUE");
    options.sparse = true;
    assert_int_equal(compare_runs(&options, 42), 0);
}

/* Data, log and ledger: all of them. */
static void another_seed_gives_another_run(void **state)
{
    (void)state;
    struct sim_options options = options_of(2, 1, "TRUE");
    assert_int_equal(compare_runs(&options, 43), 3);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(one_worker_repeats_its_run),
        cmocka_unit_test(three_workers_repeat_their_run),
        cmocka_unit_test(a_run_with_flushes_repeats),
        cmocka_unit_test(two_databases_repeat_their_run),
        cmocka_unit_test(a_sparse_file_repeats),
        cmocka_unit_test(another_seed_gives_another_run),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
