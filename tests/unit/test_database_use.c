/* test_database_use.c - epochs of the users of a data file, and the right to change its size. */
#include <pthread.h>

#include "sim/database_use.h"
#include "tests/core_fixture.h"

#define THREADS   3
#define SHRINKS   2000
#define PAGES_OLD 100
#define PAGES_NEW 50

static void test_a_drain_waits_for_the_users_before_the_turn_only(void **state)
{
    (void)state;
    struct core core;
    core_begin(&core, &(struct sim_options){0});
    struct probe probe;
    probe_init(&probe, core.worker);
    task_start(&probe.task);
    core_settle(&core);
    unsigned turns = probe.turns;

    struct file_use early = {0}, late = {0};
    file_use_begin(&early, core.data);
    unsigned old = file_use_turn(core.data, &probe.task);
    file_use_begin(&late, core.data);
    assert_false(file_use_drained(core.data, old));
    file_use_end(&early);
    core_settle(&core);
    assert_true(probe.turns > turns); /* it was woken */
    assert_true(file_use_drained(core.data, old));

    unsigned next = file_use_turn(core.data, &probe.task);
    assert_int_equal(next, !old);
    assert_false(file_use_drained(core.data, next)); /* late is still there */
    file_use_end(&late);
    file_use_end(&late); /* no effect */
    assert_true(file_use_drained(core.data, next));
    core_end(&core);
}

static void test_one_changes_a_size_at_a_time(void **state)
{
    (void)state;
    struct core core;
    core_begin(&core, &(struct sim_options){0});
    struct probe first, second;
    probe_init(&first, core.worker);
    probe_init(&second, core.worker);
    task_start(&second.task);
    core_settle(&core);
    unsigned turns = second.turns;

    assert_int_equal(size_right_begin(core.db, false, &first.task), SIZE_RIGHT_YOURS);
    assert_int_equal(size_right_begin(core.db, true, &second.task), SIZE_RIGHT_WAIT);
    assert_true(shrink_forbid(core.db, &first.task)); /* that one grows */
    size_right_end(core.db);
    core_settle(&core);
    assert_true(second.turns > turns);
    assert_int_equal(size_right_begin(core.db, true, &second.task), SIZE_RIGHT_REFUSED);
    shrink_allow(core.db);
    assert_int_equal(size_right_begin(core.db, true, &second.task), SIZE_RIGHT_YOURS);
    assert_false(shrink_forbid(core.db, &first.task));
    size_right_end(core.db);
    core_end(&core);
}

/* ---- threads ---- */

struct arena {
    struct data_file *file;
    _Atomic bool over;
    _Atomic uint32_t last_page; /* of the file that there is */
    _Atomic unsigned beyond;    /* pages named that were gone */
};

static void *user_thread(void *argument)
{
    struct arena *arena = argument;
    while (!atomic_load(&arena->over)) {
        struct file_use use = {0};
        file_use_begin(&use, arena->file);
        uint32_t page_no = arena->file->file.size_pages - 1;
        for (unsigned i = 0; i < 50; i++)
            if (atomic_load(&arena->last_page) < page_no)
                atomic_fetch_add(&arena->beyond, 1);
        file_use_end(&use);
    }
    return NULL;
}

static void test_nobody_names_a_page_that_is_gone(void **state)
{
    (void)state;
    struct data_file file = {0};
    struct arena arena = {.file = &file, .last_page = PAGES_OLD - 1};
    pthread_t threads[THREADS];
    atomic_store(&file.file.size_pages, PAGES_OLD);
    for (unsigned i = 0; i < THREADS; i++)
        assert_int_equal(pthread_create(&threads[i], NULL, user_thread, &arena), 0);
    for (unsigned i = 0; i < SHRINKS; i++) {
        atomic_store(&file.file.size_pages, PAGES_NEW);
        unsigned old = file_use_turn(&file, NULL);
        while (!file_use_drained(&file, old))
            sched_yield();
        atomic_store(&arena.last_page, PAGES_NEW - 1); /* truncated */
        atomic_store(&arena.last_page, PAGES_OLD - 1); /* and grown again: the size last */
        atomic_store(&file.file.size_pages, PAGES_OLD);
    }
    atomic_store(&arena.over, true);
    for (unsigned i = 0; i < THREADS; i++)
        assert_int_equal(pthread_join(threads[i], NULL), 0);
    assert_int_equal(arena.beyond, 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_a_drain_waits_for_the_users_before_the_turn_only),
        cmocka_unit_test(test_one_changes_a_size_at_a_time),
        cmocka_unit_test(test_nobody_names_a_page_that_is_gone),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
