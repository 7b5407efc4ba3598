/*
 * test_engine_choice.c - which engine is taken, what people are told, with injected answers of the
 * system.
 */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <cmocka.h>

#include "sim/engine_choice.h"

static const struct engine_system plain = {.io_uring_disabled = 0,
                                           .aio_nr = 100,
                                           .aio_max_nr = 65536,
                                           .open_files_max = 1024,
                                           .locked_memory_bytes = 8 << 20};

/* ---- what create answers ---- */

static int all_work(const struct io_engine_ops *ops)
{
    (void)ops;
    return 0;
}

static int no_uring(const struct io_engine_ops *ops)
{
    return ops == &engine_uring ? -EPERM : 0;
}

static int old_kernel(const struct io_engine_ops *ops)
{
    return ops == &engine_uring ? -ENOSYS : 0;
}

static int only_sync(const struct io_engine_ops *ops)
{
    if (ops == &engine_uring)
        return -ENOSYS;
    return ops == &engine_aio ? -EAGAIN : 0;
}

static int nothing_works(const struct io_engine_ops *ops)
{
    (void)ops;
    return -EMFILE;
}

static void assert_says(const char *text, const char *part)
{
    if (!strstr(text, part))
        fail_msg("'%s' does not say '%s'", text, part);
}

/* ---- auto ---- */

static void auto_takes_io_uring_where_it_works(void **state)
{
    (void)state;
    struct engine_choice choice;
    assert_int_equal(engine_choose_from(CONFIG_ENGINE_AUTO, all_work, &plain, &choice), 0);
    assert_ptr_equal(choice.ops, &engine_uring);
    assert_false(choice.is_model);
    assert_string_equal(choice.text, "uring (io_uring)");
}

static void auto_takes_native_aio_where_io_uring_is_switched_off(void **state)
{
    (void)state;
    struct engine_choice choice;
    struct engine_system system = plain;
    system.io_uring_disabled = 2;
    assert_int_equal(engine_choose_from(CONFIG_ENGINE_AUTO, no_uring, &system, &choice), 0);
    assert_ptr_equal(choice.ops, &engine_aio);
    assert_says(choice.text, "io_uring is switched off here (kernel.io_uring_disabled=2)");
}

static void auto_names_a_security_policy_where_the_setting_allows_io_uring(void **state)
{
    (void)state;
    struct engine_choice choice;
    assert_int_equal(engine_choose_from(CONFIG_ENGINE_AUTO, no_uring, &plain, &choice), 0);
    assert_ptr_equal(choice.ops, &engine_aio);
    assert_says(choice.text, "security policy");
}

static void auto_names_the_group_where_only_it_may_use_io_uring(void **state)
{
    (void)state;
    struct engine_choice choice;
    struct engine_system system = plain;
    system.io_uring_disabled = 1;
    assert_int_equal(engine_choose_from(CONFIG_ENGINE_AUTO, no_uring, &system, &choice), 0);
    assert_says(choice.text, "kernel.io_uring_group");
}

static void auto_takes_sync_last_and_names_both_reasons(void **state)
{
    (void)state;
    struct engine_choice choice;
    struct engine_system system = plain;
    system.aio_nr = 65500;
    assert_int_equal(engine_choose_from(CONFIG_ENGINE_AUTO, only_sync, &system, &choice), 0);
    assert_ptr_equal(choice.ops, &engine_sync);
    assert_says(choice.text, "5.11");
    assert_says(choice.text, "fs.aio-max-nr=65536");
    assert_says(choice.text, "fs.aio-nr=65500");
}

static void auto_fails_only_where_nothing_works(void **state)
{
    (void)state;
    struct engine_choice choice;
    assert_int_equal(engine_choose_from(CONFIG_ENGINE_AUTO, nothing_works, &plain, &choice),
                     -EMFILE);
    assert_says(choice.text, "ulimit -n is 1024");
}

/* ---- a named engine ---- */

static void a_named_engine_that_works_is_taken(void **state)
{
    (void)state;
    static const struct {
        enum config_engine named;
        const char *name;
    } rows[] = {{CONFIG_ENGINE_URING, "uring"},
                {CONFIG_ENGINE_AIO, "aio"},
                {CONFIG_ENGINE_SYNC, "sync"},
                {CONFIG_ENGINE_MEM, "mem"}};
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct engine_choice choice;
        assert_int_equal(engine_choose_from(rows[i].named, all_work, &plain, &choice), 0);
        assert_string_equal(choice.ops->name, rows[i].name);
        assert_int_equal(choice.is_model, rows[i].named == CONFIG_ENGINE_MEM);
    }
}

static void a_named_engine_is_never_replaced_by_another(void **state)
{
    (void)state;
    struct engine_choice choice;
    assert_int_equal(engine_choose_from(CONFIG_ENGINE_URING, old_kernel, &plain, &choice), -ENOSYS);
    assert_ptr_equal(choice.ops, &engine_uring);
    assert_says(choice.text, "this kernel has no io_uring");
    assert_says(choice.text, "Use --engine aio");
}

static void an_exhausted_aio_limit_names_the_setting_and_its_remedy(void **state)
{
    (void)state;
    struct engine_choice choice;
    assert_int_equal(engine_choose_from(CONFIG_ENGINE_AIO, only_sync, &plain, &choice), -EAGAIN);
    assert_says(choice.text, "sysctl -w fs.aio-max-nr=1048576");
}

/* ---- registered memory ---- */

static void memory_that_stays_unregistered_is_told_with_the_remedy(void **state)
{
    (void)state;
    char text[ENGINE_TEXT_MAX];
    struct io_engine engine = {.wants_memory = true, .memory_registered_bytes = 2 << 20};
    assert_true(engine_memory_note(&engine, 64 << 20, &plain, text));
    assert_says(text, "2 of 64 MiB");
    assert_says(text, "ulimit -l is 8 MiB");
    assert_says(text, "LimitMEMLOCK=");
}

static void nothing_is_told_where_all_is_registered_or_none_is_wanted(void **state)
{
    (void)state;
    char text[ENGINE_TEXT_MAX];
    struct io_engine all = {.wants_memory = true, .memory_registered_bytes = 64 << 20};
    struct io_engine other = {.wants_memory = false};
    assert_false(engine_memory_note(&all, 64 << 20, &plain, text));
    assert_false(engine_memory_note(&other, 64 << 20, &plain, text));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(auto_takes_io_uring_where_it_works),
        cmocka_unit_test(auto_takes_native_aio_where_io_uring_is_switched_off),
        cmocka_unit_test(auto_names_a_security_policy_where_the_setting_allows_io_uring),
        cmocka_unit_test(auto_names_the_group_where_only_it_may_use_io_uring),
        cmocka_unit_test(auto_takes_sync_last_and_names_both_reasons),
        cmocka_unit_test(auto_fails_only_where_nothing_works),
        cmocka_unit_test(a_named_engine_that_works_is_taken),
        cmocka_unit_test(a_named_engine_is_never_replaced_by_another),
        cmocka_unit_test(an_exhausted_aio_limit_names_the_setting_and_its_remedy),
        cmocka_unit_test(memory_that_stays_unregistered_is_told_with_the_remedy),
        cmocka_unit_test(nothing_is_told_where_all_is_registered_or_none_is_wanted),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
