/*
 * test_selftest_engines.c - the self-test on every engine for real devices: a run without a fault,
 * and for each class of the table its first case, with threads, real files and a real clock.
 *
 * TEST_SCALE above 1 takes every case of the table.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "sim/selftest.h"
#include "tests/fault/real_engines.h"
#include "tests/scale.h"

static const char *folder(void)
{
    const char *directory = getenv("TMPDIR");
    if (directory && *directory)
        return directory;
    return access("/dev/shm", W_OK) == 0 ? "/dev/shm" : "/tmp";
}

/* Of load.  Most faults need none; these need pages written, or the log used, more than once. */
static unsigned load_seconds(const struct selftest_case *test)
{
    return test->expected == VERDICT_stale_read || test->expected == VERDICT_log_old_use ? 3 : 1;
}

/* On a slow machine a fault may not have its turn in that time, which proves nothing: again with
 * more load, up to this much. */
#define LOAD_MAX_S 30

/* The first case of its class. */
static bool is_wanted(size_t index)
{
    for (size_t i = 0; i < index && test_scaled(1) <= 1; i++)
        if (selftest_cases[i].expected == selftest_cases[index].expected)
            return false;
    return true;
}

static bool comes_out_as_it_must(const struct selftest_case *test,
                                 const struct io_engine_ops *engine)
{
    struct selftest_config config = {
        .dir = folder(), .seed = 1, .real = true, .engine = engine, .seconds = load_seconds(test)};
    struct selftest_result result;
    int error;
    do {
        error = selftest_run(test, &config, &result);
        config.seconds *= 3;
    } while (!error && test->rule_count && !result.injected && config.seconds <= LOAD_MAX_S);
    bool good = !error && selftest_passed(test, &result);
    if (!good)
        printf("%s: %s: error %d %s, injected %llu, caught %d, named %d, %u others: %s\n",
               engine->name, test->name, error, result.message, (unsigned long long)result.injected,
               result.caught, result.named, result.others, result.first_other);
    return good;
}

static void every_class_is_named_on_every_engine(void **state)
{
    struct crew crew = {0};
    (void)state;
    for (size_t e = 0; e < REAL_ENGINES; e++) {
        const struct io_engine_ops *engine = real_engine_or_skip(real_engines[e]);
        for (size_t i = 0; i < selftest_case_count && engine; i++)
            if (is_wanted(i) && crew_start(&crew))
                crew_leave(comes_out_as_it_must(&selftest_cases[i], engine));
    }
    assert_int_equal(crew_end(&crew), 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_class_is_named_on_every_engine),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
