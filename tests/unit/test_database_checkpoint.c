/*
 * A checkpoint that is asked for: it begins at once, writes what was dirty at the call, answers all
 * who asked before it began, and nobody is left waiting when the database stops.
 */
#include "tests/core_fixture.h"

#include "sim/actor.h"

#define PAGE_NO 100

struct client {
    struct task task;
    struct database *database;
    uint64_t ticket;
    enum checkpoint_answer answer;
};

struct desk_test {
    struct core core;
    struct actor service;
    struct client clients[2];
};

static enum task_result client_step(struct task *task)
{
    struct client *client = (struct client *)task;
    client->answer = checkpoint_wait(client->database, client->ticket, task);
    return client->answer == CHECKPOINT_PENDING ? TASK_PARK : TASK_DONE;
}

static struct desk_test *begin(void)
{
    struct desk_test *t = calloc(1, sizeof *t);
    struct sim_options options = {.settings = {{"CONFIG", "StopOnError", "FALSE"}}};
    core_begin(&t->core, &options);
    core_settle(&t->core);
    assert_int_equal(actor_init(&t->service, t->core.run, t->core.sim.profile,
                                pattern_by_name("Checkpoint"), t->core.worker, 1, 0, t->core.db),
                     0);
    run_task_started(t->core.run, true); /* the clients */
    actor_start(&t->service);
    core_pass(&t->core, NS_PER_S);
    return t;
}

static void end(struct desk_test *t)
{
    run_task_ended(t->core.run, true);
    core_settle(&t->core);
    actor_free(&t->service);
    core_end(&t->core);
    free(t);
}

static void ask(struct desk_test *t, unsigned number)
{
    struct client *client = &t->clients[number];
    client->database = t->core.db;
    client->ticket = checkpoint_ask(t->core.db);
    task_init(&client->task, t->core.worker, client_step);
    task_start(&client->task);
}

static uint64_t count_of(const struct desk_test *t, enum checkpoint_kind kind)
{
    return t->core.db->desk.accounts[kind].count;
}

static void it_begins_at_once_and_writes_what_was_dirty(void **state)
{
    (void)state;
    struct desk_test *t = begin();
    struct frame *frame = core_dirty_page(&t->core, PAGE_NO, 5, (struct lsn){0});
    uint64_t before_ns = core_now(&t->core);
    ask(t, 0);
    while (t->clients[0].answer == CHECKPOINT_PENDING)
        assert_true(core_step(&t->core, UINT64_MAX));
    assert_int_equal(t->clients[0].answer, CHECKPOINT_SERVED);
    assert_int_equal(frame->state, FRAME_CLEAN);
    /* the model's time: its looks are 50 ms apart, the checkpoint alone takes less */
    assert_true(core_now(&t->core) - before_ns < 50 * NS_PER_MS);
    assert_int_equal(count_of(t, CHECKPOINT_MANUAL), 1);
    assert_int_equal(count_of(t, CHECKPOINT_AUTOMATIC), 0);
    /* that page and the boot page, which is far from it */
    assert_int_equal(t->core.db->desk.accounts[CHECKPOINT_MANUAL].pages, 2);
    assert_int_equal(t->core.db->desk.accounts[CHECKPOINT_MANUAL].writes, 2);
    end(t);
}

static void one_serves_all_who_asked_before_it_began(void **state)
{
    (void)state;
    struct desk_test *t = begin();
    ask(t, 0);
    ask(t, 1);
    core_pass(&t->core, NS_PER_S);
    assert_int_equal(t->clients[0].answer, CHECKPOINT_SERVED);
    assert_int_equal(t->clients[1].answer, CHECKPOINT_SERVED);
    assert_int_equal(count_of(t, CHECKPOINT_MANUAL), 1);
    end(t);
}

/* What the second one has changed since the first began may have been passed by the sweep. */
static void who_asks_while_it_runs_gets_the_next(void **state)
{
    (void)state;
    struct desk_test *t = begin();
    core_dirty_page(&t->core, PAGE_NO, 5, (struct lsn){0});
    ask(t, 0);
    while (!t->core.worker->io.pending) /* its begin record is on its way */
        assert_true(core_step(&t->core, UINT64_MAX));
    ask(t, 1);
    core_pass(&t->core, NS_PER_S);
    assert_int_equal(t->clients[1].answer, CHECKPOINT_SERVED);
    assert_int_equal(count_of(t, CHECKPOINT_MANUAL), 2);
    end(t);
}

static void a_failed_write_serves_nobody_until_one_succeeds(void **state)
{
    (void)state;
    struct desk_test *t = begin();
    core_dirty_page(&t->core, PAGE_NO, 5, (struct lsn){0});
    /* the write and its one retry */
    core_fault(
        &t->core,
        (struct fault_rule){
            .kind = FAULT_ERRNO, .op = IO_WRITE, .file_uid = CORE_DATA_UID, .count = 2, .a = EIO});
    ask(t, 0);
    core_pass(&t->core, NS_PER_S);
    assert_int_equal(t->clients[0].answer, CHECKPOINT_SERVED);
    assert_int_equal(count_of(t, CHECKPOINT_MANUAL), 1); /* the one that was complete */
    assert_int_equal(t->core.run->findings.by_verdict[VERDICT_write_error], 2);
    end(t);
}

/* A backup goes on without the checkpoint where the log is held, and waits for other things then:
 * a task stands in one list at most. */
static void who_forgets_it_may_wait_elsewhere(void **state)
{
    (void)state;
    struct desk_test *t = begin();
    struct wait_list elsewhere = {0};
    ask(t, 0);
    while (t->clients[0].answer != CHECKPOINT_PENDING || !t->clients[0].task.wait_list)
        assert_true(core_step(&t->core, UINT64_MAX));
    checkpoint_wait_forget(t->core.db, &t->clients[0].task);
    wait_list_add(&elsewhere, &t->clients[0].task);
    core_pass(&t->core, NS_PER_S);
    assert_ptr_equal(atomic_load(&t->clients[0].task.wait_list), &elsewhere);
    wait_list_wake_all(&elsewhere);
    core_pass(&t->core, NS_PER_S);
    assert_int_equal(t->clients[0].answer, CHECKPOINT_SERVED);
    end(t);
}

static void nobody_waits_when_the_database_stops(void **state)
{
    (void)state;
    struct desk_test *t = begin();
    core_fault(&t->core, (struct fault_rule){.kind = FAULT_ERRNO,
                                             .op = IO_WRITE,
                                             .file_uid = CORE_LOG_UID,
                                             .count = UINT32_MAX,
                                             .a = EIO});
    ask(t, 0);
    core_pass(&t->core, NS_PER_S);
    assert_int_equal(t->clients[0].answer, CHECKPOINT_FAILED);
    end(t);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(it_begins_at_once_and_writes_what_was_dirty),
        cmocka_unit_test(one_serves_all_who_asked_before_it_began),
        cmocka_unit_test(who_asks_while_it_runs_gets_the_next),
        cmocka_unit_test(a_failed_write_serves_nobody_until_one_succeeds),
        cmocka_unit_test(who_forgets_it_may_wait_elsewhere),
        cmocka_unit_test(nobody_waits_when_the_database_stops),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
