/*
 * test_engine_uring.c - what only engine_uring does: memory registered with the kernel, and a ring
 * that goes from one thread to another.
 */
#include "engine_fixture.h"

#include <pthread.h>

#include "sim/engine_memory.h"

#define MEMORY_PAGES 32u

struct scene {
    struct rig rig;
    unsigned char *memory; /* registered */
};

/* False, and the reason told, where this kernel has no io_uring. */
static bool scene_start(struct scene *scene, const struct engine_without *without)
{
    struct rig *rig = &scene->rig;
    memset(scene, 0, sizeof(*scene));
    clock_init_real(&rig->clock);
    scene->memory = pages_of(MEMORY_PAGES, 0);
    struct iovec memory = {scene->memory, MEMORY_PAGES * PAGE};
    struct io_engine_config config = {.clock = &rig->clock,
                                      .depth = 8,
                                      .device = (void *)(uintptr_t)without,
                                      .memory = &memory,
                                      .memory_count = 1,
                                      .memory_engines = 1};
    int error = engine_uring.create(&rig->engine, &config);
    if (error) {
        print_message("SKIP this kernel refuses io_uring: %s\n", strerror(-error));
        free(scene->memory);
        return false;
    }
    rig_target(rig, rig_scratch_fd(), false);
    assert_int_equal(engine_uring.attach(rig->engine, &rig->target), 0);
    io_init(&rig->io, rig->engine, &rig->clock, NULL, &rig->phase);
    return true;
}

static void scene_end(struct scene *scene)
{
    rig_stop(&scene->rig);
    free(scene->memory);
}

static bool memlock_suffices(void)
{
    return engine_memory_budget(1) >= MEMORY_PAGES * PAGE;
}

static void memory_is_registered_as_far_as_the_limit_allows(void **state)
{
    (void)state;
    struct scene scene;
    if (!scene_start(&scene, NULL))
        skip();
    assert_true(scene.rig.engine->wants_memory);
    if (memlock_suffices())
        assert_int_equal(scene.rig.engine->memory_registered_bytes, MEMORY_PAGES * PAGE);
    scene_end(&scene);
}

static void without_registered_memory_nothing_is_registered_and_all_works(void **state)
{
    (void)state;
    struct scene scene;
    struct engine_without without = {.buffers = true};
    if (!scene_start(&scene, &without))
        skip();
    assert_int_equal(scene.rig.engine->memory_registered_bytes, 0);
    memset(scene.memory, 0x3c, PAGE);
    assert_int_equal(rig_io(&scene.rig, IO_WRITE, 0, scene.memory, PAGE), 0);
    assert_file_bytes(&scene.rig, 0, PAGE, 0x3c);
    scene_end(&scene);
}

/* First and last page of the piece, and one outside. */
static void transfers_inside_and_outside_of_registered_memory(void **state)
{
    (void)state;
    struct scene scene;
    if (!scene_start(&scene, NULL))
        skip();
    unsigned char *outside = pages_of(2, 0x44);
    unsigned char *places[] = {scene.memory, scene.memory + (MEMORY_PAGES - 1) * PAGE, outside};
    for (unsigned i = 0; i < 3; i++) {
        memset(places[i], 0x51 + (int)i, PAGE);
        assert_int_equal(rig_io(&scene.rig, IO_WRITE, (uint64_t)i * PAGE, places[i], PAGE), 0);
        memset(places[i], 0, PAGE);
        assert_int_equal(rig_io(&scene.rig, IO_READ, (uint64_t)i * PAGE, places[i], PAGE), 0);
        assert_bytes(places[i], PAGE, (unsigned char)(0x51 + i));
        assert_file_bytes(&scene.rig, (uint64_t)i * PAGE, PAGE, (unsigned char)(0x51 + i));
    }
    free(outside);
    scene_end(&scene);
}

/* ---- from thread to thread ---- */

static void *write_a_page(void *argument)
{
    struct scene *scene = argument;
    memset(scene->memory, 0x66, PAGE);
    assert_int_equal(rig_io(&scene->rig, IO_WRITE, 7 * PAGE, scene->memory, PAGE), 0);
    return NULL;
}

static void an_idle_engine_can_go_on_in_another_thread_and_come_back(void **state)
{
    (void)state;
    struct scene scene;
    if (!scene_start(&scene, NULL))
        skip();
    for (unsigned i = 0; i < 2; i++) {
        pthread_t thread;
        memset(scene.memory, 0x65, PAGE);
        assert_int_equal(rig_io(&scene.rig, IO_WRITE, 6 * PAGE, scene.memory, PAGE), 0);
        assert_int_equal(pthread_create(&thread, NULL, write_a_page, &scene), 0);
        pthread_join(thread, NULL);
    }
    assert_file_bytes(&scene.rig, 6 * PAGE, PAGE, 0x65);
    assert_file_bytes(&scene.rig, 7 * PAGE, PAGE, 0x66);
    scene_end(&scene);
}

static void *wait_for_a_wake(void *argument)
{
    struct scene *scene = argument;
    struct io_req *list = NULL;
    assert_int_equal(engine_uring.reap(scene->rig.engine, 1, UINT64_MAX, &list), 0);
    return NULL;
}

/* The ring that the first thread left still waits for the same descriptor. */
static void a_wake_reaches_the_thread_that_took_the_engine_over(void **state)
{
    (void)state;
    struct scene scene;
    struct io_req *list = NULL;
    if (!scene_start(&scene, NULL))
        skip();
    uint64_t soon = clock_now_ns(&scene.rig.clock) + NS_PER_MS;
    assert_int_equal(engine_uring.reap(scene.rig.engine, 1, soon, &list), 0);
    for (unsigned i = 0; i < 5; i++) {
        pthread_t thread;
        assert_int_equal(pthread_create(&thread, NULL, wait_for_a_wake, &scene), 0);
        io_wake(&scene.rig.io);
        pthread_join(thread, NULL);
    }
    scene_end(&scene);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(memory_is_registered_as_far_as_the_limit_allows),
        cmocka_unit_test(without_registered_memory_nothing_is_registered_and_all_works),
        cmocka_unit_test(transfers_inside_and_outside_of_registered_memory),
        cmocka_unit_test(an_idle_engine_can_go_on_in_another_thread_and_come_back),
        cmocka_unit_test(a_wake_reaches_the_thread_that_took_the_engine_over),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
