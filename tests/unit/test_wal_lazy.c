/* Lazy commits: what is committed without waiting becomes durable by itself, with the next commit
 * that waits, or when its block is full. */
#include "tests/core_fixture.h"

#define SMALL_BYTES 16
#define BIG_BYTES   59000 /* no second one fits into its block */
#define FLUSH_NS    (100 * NS_PER_MS)

static void begin(struct core *core, struct probe *probe)
{
    struct sim_options options = {.settings = {{"CONFIG", "SectorSize", "512"}}};
    core_begin(core, &options);
    core_settle(core); /* the header of the first VLF is written */
    probe_init(probe, core->worker);
}

static void a_lazy_commit_is_durable_after_its_time_and_not_before(void **state)
{
    (void)state;
    struct core core;
    struct probe probe;
    begin(&core, &probe);
    uint64_t position = core_append(&core, NULL, SMALL_BYTES, &probe.task);
    wal_commit_lazily(core.wal, FLUSH_NS);
    core_pass(&core, FLUSH_NS / 2);
    assert_false(wal_is_durable(core.wal, position));
    core_settle(&core);
    assert_true(wal_is_durable(core.wal, position));
    core_end(&core);
}

/* The time begins with the first lazy commit of a block; later ones do not put it off. */
static void later_lazy_commits_do_not_put_it_off(void **state)
{
    (void)state;
    struct core core;
    struct probe probe;
    begin(&core, &probe);
    uint64_t position = core_append(&core, NULL, SMALL_BYTES, &probe.task);
    for (unsigned i = 0; i < 6; i++) {
        wal_commit_lazily(core.wal, FLUSH_NS);
        core_pass(&core, FLUSH_NS / 4);
    }
    assert_true(wal_is_durable(core.wal, position));
    core_end(&core);
}

static void without_a_bound_it_stays_in_memory(void **state)
{
    (void)state;
    struct core core;
    struct probe probe;
    begin(&core, &probe);
    uint64_t position = core_append(&core, NULL, SMALL_BYTES, &probe.task);
    wal_commit_lazily(core.wal, 0);
    core_pass(&core, 100 * FLUSH_NS);
    assert_false(wal_is_durable(core.wal, position));
    core_end(&core);
}

static void a_commit_that_waits_takes_the_lazy_ones_along(void **state)
{
    (void)state;
    struct core core;
    struct probe probe;
    begin(&core, &probe);
    uint64_t lazy = core_append(&core, NULL, SMALL_BYTES, &probe.task);
    wal_commit_lazily(core.wal, 0);
    uint64_t waiting = core_append(&core, NULL, SMALL_BYTES, &probe.task);
    assert_false(wal_wait_durable(core.wal, waiting, &probe.waiter, &probe.task));
    core_settle(&core);
    assert_true(wal_is_durable(core.wal, lazy));
    assert_int_equal(wal_live_blocks(core.wal), 1); /* in one block */
    core_end(&core);
}

static void a_full_block_is_written_at_once(void **state)
{
    (void)state;
    struct core core;
    struct probe probe;
    begin(&core, &probe);
    uint64_t first = core_append(&core, NULL, BIG_BYTES, &probe.task);
    wal_commit_lazily(core.wal, 0);
    uint64_t second = core_append(&core, NULL, BIG_BYTES, &probe.task);
    wal_commit_lazily(core.wal, 0);
    core_settle(&core);
    assert_true(wal_is_durable(core.wal, first));
    assert_false(wal_is_durable(core.wal, second));
    core_end(&core);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_lazy_commit_is_durable_after_its_time_and_not_before),
        cmocka_unit_test(later_lazy_commits_do_not_put_it_off),
        cmocka_unit_test(without_a_bound_it_stays_in_memory),
        cmocka_unit_test(a_commit_that_waits_takes_the_lazy_ones_along),
        cmocka_unit_test(a_full_block_is_written_at_once),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
