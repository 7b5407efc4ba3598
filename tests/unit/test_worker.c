/* The worker: turns, timers, wake-ups; with real threads where another thread wakes. */
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <cmocka.h>

#include "patterns/rng.h"
#include "sim/engine_mem.h"
#include "sim/worker.h"
#include "tests/scale.h"

#define HANG_S       120 /* ends a test whose wake-up was lost */
#define ORDER_MAX    64
#define RANDOM_TASKS 300
#define PING_PONGS   20000
#define WAKERS       8
#define WAKES_EACH   3000

extern const struct io_engine_ops engine_mem, engine_sync;

/* ---- one worker under a virtual clock ---- */

struct bench {
    struct clock clock;
    struct mem_device *device;
    struct worker worker;
    enum phase phase;
    unsigned order[ORDER_MAX];
    unsigned order_count;
};

struct item {
    struct task task;
    struct bench *bench;
    unsigned number;
    unsigned turns, turns_wanted; /* TASK_DONE after so many; 0 = always PARK */
    enum task_result answer;
    bool wake_self;
    struct wait_list *wait_again;
    bool finished;
};

static int bench_setup(void **state)
{
    struct bench *b = calloc(1, sizeof *b);
    clock_init_virtual(&b->clock);
    struct mem_device_config model = {.seed = 1};
    assert_int_equal(mem_device_create(&b->device, &b->clock, &model), 0);
    struct io_engine_config config = {.clock = &b->clock, .depth = 4, .device = b->device};
    assert_int_equal(worker_init(&b->worker, 0, &engine_mem, &config, &b->phase), 0);
    *state = b;
    return 0;
}

static int bench_teardown(void **state)
{
    struct bench *b = *state;
    worker_free(&b->worker);
    mem_device_free(b->device);
    free(b);
    return 0;
}

static enum task_result item_step(struct task *task)
{
    struct item *item = (struct item *)task;
    if (item->bench->order_count < ORDER_MAX)
        item->bench->order[item->bench->order_count++] = item->number;
    item->turns++;
    if (item->wake_self && item->turns == 1)
        task_wake(task);
    if (item->wait_again)
        wait_list_add(item->wait_again, task);
    if (item->turns_wanted && item->turns >= item->turns_wanted)
        return TASK_DONE;
    return item->answer;
}

static void item_finished(struct task *task)
{
    ((struct item *)task)->finished = true;
}

static void item_init(struct item *item, struct bench *b, unsigned number)
{
    memset(item, 0, sizeof *item);
    task_init(&item->task, &b->worker, item_step);
    item->task.finished = item_finished;
    item->bench = b;
    item->number = number;
    item->answer = TASK_PARK;
}

static void run_idle(struct bench *b)
{
    while (worker_step(&b->worker))
        ;
}

/* Let time pass from timer to timer up to ns. */
static void run_until(struct bench *b, uint64_t ns)
{
    run_idle(b);
    while (worker_next_timer_ns(&b->worker) <= ns) {
        clock_advance_to(&b->clock, worker_next_timer_ns(&b->worker));
        run_idle(b);
    }
}

static void assert_order(const struct bench *b, const unsigned *wanted, unsigned count)
{
    assert_int_equal(b->order_count, count);
    for (unsigned i = 0; i < count; i++)
        assert_int_equal(b->order[i], wanted[i]);
}

static void timers_fire_in_the_order_of_their_times(void **state)
{
    struct bench *b = *state;
    struct item items[4];
    static const uint64_t times[] = {400, 100, 300, 200};
    static const unsigned wanted[] = {1, 3, 2, 0};
    for (unsigned i = 0; i < 4; i++) {
        item_init(&items[i], b, i);
        task_sleep_until(&items[i].task, times[i]);
    }
    run_until(b, 1000);
    assert_order(b, wanted, 4);
}

static void equal_times_keep_their_order(void **state)
{
    struct bench *b = *state;
    struct item items[5];
    static const unsigned wanted[] = {0, 1, 2, 3, 4};
    for (unsigned i = 0; i < 5; i++) {
        item_init(&items[i], b, i);
        task_sleep_until(&items[i].task, 500);
    }
    run_until(b, 1000);
    assert_order(b, wanted, 5);
}

static void a_timer_does_not_fire_early(void **state)
{
    struct bench *b = *state;
    struct item item;
    item_init(&item, b, 0);
    task_sleep_until(&item.task, 500);
    clock_advance_to(&b->clock, 499);
    run_idle(b);
    assert_int_equal(item.turns, 0);
    assert_int_equal(worker_next_timer_ns(&b->worker), 500);
    clock_advance_to(&b->clock, 500);
    run_idle(b);
    assert_int_equal(item.turns, 1);
}

static void a_wake_up_cancels_the_timer(void **state)
{
    struct bench *b = *state;
    struct item item;
    item_init(&item, b, 0);
    task_sleep_until(&item.task, 500);
    task_wake(&item.task);
    run_idle(b);
    assert_int_equal(worker_next_timer_ns(&b->worker), UINT64_MAX);
    run_until(b, 1000);
    assert_int_equal(item.turns, 1);
}

static void a_second_timer_replaces_the_first(void **state)
{
    struct bench *b = *state;
    struct item item;
    item_init(&item, b, 0);
    task_sleep_until(&item.task, 500);
    task_sleep_until(&item.task, 300);
    assert_int_equal(worker_next_timer_ns(&b->worker), 300);
    run_until(b, 1000);
    assert_int_equal(item.turns, 1);
}

static void a_wake_up_while_running_is_not_lost(void **state)
{
    struct bench *b = *state;
    struct item item;
    item_init(&item, b, 0);
    item.wake_self = true;
    task_start(&item.task);
    run_idle(b);
    assert_int_equal(item.turns, 2);
}

static void many_wake_ups_of_a_queued_task_are_one_turn(void **state)
{
    struct bench *b = *state;
    struct item item;
    item_init(&item, b, 0);
    for (unsigned i = 0; i < 5; i++)
        task_wake(&item.task);
    run_idle(b);
    assert_int_equal(item.turns, 1);
}

static void again_lets_the_others_run_first(void **state)
{
    struct bench *b = *state;
    struct item items[3];
    static const unsigned wanted[] = {0, 1, 2, 0, 1, 2};
    for (unsigned i = 0; i < 3; i++) {
        item_init(&items[i], b, i);
        items[i].answer = TASK_AGAIN;
        items[i].turns_wanted = 2;
        task_start(&items[i].task);
    }
    run_idle(b);
    assert_order(b, wanted, 6);
}

static void one_round_gives_each_task_one_turn(void **state)
{
    struct bench *b = *state;
    struct item items[2];
    static const unsigned wanted[] = {0, 1};
    for (unsigned i = 0; i < 2; i++) {
        item_init(&items[i], b, i);
        items[i].answer = TASK_AGAIN;
        items[i].turns_wanted = 10;
        task_start(&items[i].task);
    }
    assert_true(worker_step(&b->worker));
    assert_order(b, wanted, 2);
    run_idle(b);
}

static void a_task_that_is_done_finishes_once_and_loses_its_timer(void **state)
{
    struct bench *b = *state;
    struct item item;
    item_init(&item, b, 0);
    item.turns_wanted = 1;
    task_sleep_until(&item.task, 500);
    task_wake(&item.task);
    run_idle(b);
    assert_true(item.finished);
    assert_int_equal(worker_next_timer_ns(&b->worker), UINT64_MAX);
}

static void a_list_wakes_all_in_order(void **state)
{
    struct bench *b = *state;
    struct item items[3];
    struct wait_list list = {0};
    static const unsigned wanted[] = {2, 0, 1};
    for (unsigned i = 0; i < 3; i++)
        item_init(&items[i], b, i);
    for (unsigned i = 0; i < 3; i++)
        wait_list_add(&list, &items[wanted[i]].task);
    wait_list_wake_all(&list);
    assert_null(list.head);
    run_idle(b);
    assert_order(b, wanted, 3);
}

static void a_woken_task_may_wait_in_the_list_again(void **state)
{
    struct bench *b = *state;
    struct item items[2];
    struct wait_list list = {0};
    for (unsigned i = 0; i < 2; i++) {
        item_init(&items[i], b, i);
        items[i].wait_again = &list;
        wait_list_add(&list, &items[i].task);
    }
    for (unsigned round = 1; round <= 3; round++) {
        wait_list_wake_all(&list);
        run_idle(b);
        assert_int_equal(items[0].turns, round);
        assert_int_equal(items[1].turns, round);
    }
}

/* Wake-ups may be spurious: the task looks, must wait on, and stands in the list already. */
static void a_task_woken_by_something_else_does_not_break_its_list(void **state)
{
    struct bench *b = *state;
    struct item items[3];
    struct wait_list list = {0};
    static const unsigned wanted[] = {0, 1, 0, 1, 2};
    for (unsigned i = 0; i < 3; i++) {
        item_init(&items[i], b, i);
        wait_list_add(&list, &items[i].task);
    }
    items[0].wait_again = items[1].wait_again = &list;
    task_wake(&items[0].task);
    task_wake(&items[1].task);
    run_idle(b);
    items[0].wait_again = items[1].wait_again = NULL;
    wait_list_wake_all(&list);
    run_idle(b);
    assert_order(b, wanted, 5);
}

/* ---- random timers against a sorted array ---- */

struct alarm_set {
    struct task task;
    struct alarm_log *log;
    unsigned number;
    uint64_t wanted_ns;
    unsigned serial; /* order in which the timers were set */
};

struct alarm_log {
    unsigned order[RANDOM_TASKS];
    unsigned count;
};

static enum task_result alarm_step(struct task *task)
{
    struct alarm_set *a = (struct alarm_set *)task;
    a->log->order[a->log->count++] = a->number;
    return TASK_PARK;
}

static int alarm_compare(const void *left, const void *right)
{
    const struct alarm_set *a = *(struct alarm_set *const *)left;
    const struct alarm_set *b = *(struct alarm_set *const *)right;
    if (a->wanted_ns != b->wanted_ns)
        return a->wanted_ns < b->wanted_ns ? -1 : 1;
    return a->serial < b->serial ? -1 : 1;
}

static void random_timers_fire_as_sorted(void **state)
{
    struct bench *b = *state;
    uint64_t seed = (uint64_t)getpid();
    struct rng rng;
    struct alarm_set *alarms = calloc(RANDOM_TASKS, sizeof *alarms);
    struct alarm_set *sorted[RANDOM_TASKS];
    struct alarm_log log = {.count = 0};
    unsigned serial = 0;
    rng_seed(&rng, seed);
    print_message("seed %llu\n", (unsigned long long)seed);
    for (unsigned i = 0; i < RANDOM_TASKS; i++) {
        task_init(&alarms[i].task, &b->worker, alarm_step);
        alarms[i].log = &log;
        alarms[i].number = i;
        sorted[i] = &alarms[i];
    }
    for (unsigned i = 0; i < 3 * RANDOM_TASKS; i++) {
        struct alarm_set *a = &alarms[i < RANDOM_TASKS ? i : rng_below(&rng, RANDOM_TASKS)];
        a->wanted_ns = 1 + rng_below(&rng, RANDOM_TASKS / 2); /* many equal ones */
        a->serial = serial++;
        task_sleep_until(&a->task, a->wanted_ns);
    }
    qsort(sorted, RANDOM_TASKS, sizeof *sorted, alarm_compare);
    run_until(b, RANDOM_TASKS);
    assert_int_equal(log.count, RANDOM_TASKS);
    for (unsigned i = 0; i < RANDOM_TASKS; i++)
        assert_int_equal(log.order[i], sorted[i]->number);
    free(alarms);
}

/* ---- threads ---- */

struct crew {
    struct clock clock;
    struct worker workers[3];
    enum phase phase;
};

static void crew_start(struct crew *crew)
{
    clock_init_real(&crew->clock);
    struct io_engine_config config = {.clock = &crew->clock, .depth = 1};
    for (unsigned i = 0; i < 3; i++)
        assert_int_equal(worker_init(&crew->workers[i], i, &engine_sync, &config, &crew->phase), 0);
}

static void crew_go(struct crew *crew)
{
    for (unsigned i = 0; i < 3; i++)
        assert_int_equal(worker_start(&crew->workers[i]), 0);
}

static void crew_stop(struct crew *crew)
{
    for (unsigned i = 0; i < 3; i++)
        worker_stop(&crew->workers[i]);
    for (unsigned i = 0; i < 3; i++)
        worker_free(&crew->workers[i]);
}

struct player {
    struct task task;
    struct player *other;
    _Atomic unsigned *ball; /* whose turn it is: even = first player */
    unsigned side, rounds;
    _Atomic bool *over;
};

static enum task_result player_step(struct task *task)
{
    struct player *p = (struct player *)task;
    unsigned ball = atomic_load(p->ball);
    if (ball >= p->rounds) {
        atomic_store(p->over, true);
        return TASK_PARK;
    }
    if (ball % 2 != p->side)
        return TASK_PARK;
    atomic_store(p->ball, ball + 1);
    task_wake(&p->other->task);
    return TASK_PARK;
}

static void wait_for(_Atomic bool *over)
{
    while (!atomic_load(over))
        usleep(200);
}

/* Each hit parks and is woken by the other thread: one lost wake-up and the ball rests for ever. */
static void no_wake_up_is_lost_between_threads(void **state)
{
    (void)state;
    struct crew *crew = calloc(1, sizeof *crew);
    struct player players[2] = {0};
    _Atomic unsigned ball = 0;
    _Atomic bool over = false;
    alarm(HANG_S);
    crew_start(crew);
    for (unsigned i = 0; i < 2; i++) {
        task_init(&players[i].task, &crew->workers[i], player_step);
        players[i].other = &players[!i];
        players[i].ball = &ball;
        players[i].side = i;
        players[i].rounds = (unsigned)test_scaled(PING_PONGS);
        players[i].over = &over;
    }
    crew_go(crew);
    task_start(&players[0].task);
    wait_for(&over);
    crew_stop(crew);
    alarm(0);
    assert_int_equal(atomic_load(&ball), players[0].rounds);
    free(crew);
}

struct counter_task {
    struct task task;
    _Atomic unsigned *posted;
    unsigned seen, wanted;
    _Atomic bool *over;
};

static enum task_result counter_step(struct task *task)
{
    struct counter_task *c = (struct counter_task *)task;
    c->seen = atomic_load(c->posted);
    if (c->seen == c->wanted)
        atomic_store(c->over, true);
    return TASK_PARK;
}

struct waker {
    struct task task;
    struct counter_task *counter;
    unsigned left;
};

static enum task_result waker_step(struct task *task)
{
    struct waker *w = (struct waker *)task;
    atomic_fetch_add(w->counter->posted, 1);
    task_wake(&w->counter->task);
    return --w->left ? TASK_AGAIN : TASK_DONE;
}

static void many_wakers_never_leave_a_task_behind(void **state)
{
    (void)state;
    struct crew *crew = calloc(1, sizeof *crew);
    struct waker wakers[WAKERS] = {0};
    _Atomic unsigned posted = 0;
    _Atomic bool over = false;
    unsigned each = (unsigned)test_scaled(WAKES_EACH);
    struct counter_task counter = {.posted = &posted, .wanted = WAKERS * each, .over = &over};
    alarm(HANG_S);
    crew_start(crew);
    task_init(&counter.task, &crew->workers[0], counter_step);
    for (unsigned i = 0; i < WAKERS; i++) {
        task_init(&wakers[i].task, &crew->workers[i % 3], waker_step);
        wakers[i].counter = &counter;
        wakers[i].left = each;
        task_start(&wakers[i].task);
    }
    crew_go(crew);
    wait_for(&over);
    crew_stop(crew);
    alarm(0);
    assert_int_equal(counter.seen, WAKERS * each);
    free(crew);
}

static void an_idle_worker_can_be_stopped_and_started_again(void **state)
{
    (void)state;
    struct crew *crew = calloc(1, sizeof *crew);
    alarm(HANG_S);
    crew_start(crew);
    for (unsigned i = 0; i < 20; i++) {
        crew_go(crew);
        for (unsigned w = 0; w < 3; w++)
            worker_stop(&crew->workers[w]);
        assert_false(crew->workers[0].running);
    }
    crew_stop(crew);
    alarm(0);
    free(crew);
}

/* ---- idle tasks ---- */

static void an_idle_task_runs_when_nothing_else_does(void **state)
{
    struct bench *b = *state;
    struct item idle;
    item_init(&idle, b, 1);
    task_set_idle(&idle.task);
    task_start(&idle.task);
    assert_true(worker_step(&b->worker));
    assert_int_equal(idle.turns, 1);
    assert_false(worker_step(&b->worker));
}

static void an_idle_task_waits_while_others_have_work(void **state)
{
    struct bench *b = *state;
    struct item idle, busy;
    item_init(&idle, b, 1);
    task_set_idle(&idle.task);
    idle.answer = TASK_AGAIN;
    item_init(&busy, b, 2);
    busy.answer = TASK_AGAIN;
    busy.turns_wanted = 20;
    task_start(&idle.task);
    task_start(&busy.task);
    for (int i = 0; i < 20; i++)
        worker_step(&b->worker);
    assert_int_equal(busy.turns, 20);
    assert_int_equal(idle.turns, 0);
    worker_step(&b->worker);
    assert_int_equal(idle.turns, 1);
}

/* Two idle tasks that always want to run: one turn a round, so who comes waits for one turn. */
static void one_round_gives_one_idle_turn(void **state)
{
    struct bench *b = *state;
    struct item idle[2];
    for (unsigned i = 0; i < 2; i++) {
        item_init(&idle[i], b, i);
        task_set_idle(&idle[i].task);
        idle[i].answer = TASK_AGAIN;
        task_start(&idle[i].task);
    }
    worker_step(&b->worker);
    assert_int_equal(idle[0].turns + idle[1].turns, 1);
    worker_step(&b->worker);
    assert_int_equal(idle[0].turns, 1);
    assert_int_equal(idle[1].turns, 1);
}

static void an_idle_task_sleeps_and_is_woken_like_any(void **state)
{
    struct bench *b = *state;
    struct item idle;
    item_init(&idle, b, 1);
    task_set_idle(&idle.task);
    task_sleep_until(&idle.task, 1000);
    run_until(b, 999);
    assert_int_equal(idle.turns, 0);
    run_until(b, 1000);
    assert_int_equal(idle.turns, 1);
    task_wake(&idle.task);
    run_idle(b);
    assert_int_equal(idle.turns, 2);
}

static void a_list_wakes_one_at_a_time_in_order(void **state)
{
    struct bench *b = *state;
    struct wait_list list = {0};
    struct item items[3];
    for (unsigned i = 0; i < 3; i++) {
        item_init(&items[i], b, i);
        wait_list_add(&list, &items[i].task);
    }
    for (unsigned i = 0; i < 3; i++) {
        assert_true(wait_list_wake_one(&list));
        run_idle(b);
        assert_int_equal(b->order_count, i + 1);
        assert_int_equal(b->order[i], i);
    }
    assert_false(wait_list_wake_one(&list));
}

#define BENCH_TEST(name) cmocka_unit_test_setup_teardown(name, bench_setup, bench_teardown)

int main(void)
{
    const struct CMUnitTest tests[] = {
        BENCH_TEST(timers_fire_in_the_order_of_their_times),
        BENCH_TEST(equal_times_keep_their_order),
        BENCH_TEST(a_timer_does_not_fire_early),
        BENCH_TEST(a_wake_up_cancels_the_timer),
        BENCH_TEST(a_second_timer_replaces_the_first),
        BENCH_TEST(a_wake_up_while_running_is_not_lost),
        BENCH_TEST(many_wake_ups_of_a_queued_task_are_one_turn),
        BENCH_TEST(again_lets_the_others_run_first),
        BENCH_TEST(one_round_gives_each_task_one_turn),
        BENCH_TEST(a_task_that_is_done_finishes_once_and_loses_its_timer),
        BENCH_TEST(a_list_wakes_all_in_order),
        BENCH_TEST(a_woken_task_may_wait_in_the_list_again),
        BENCH_TEST(a_task_woken_by_something_else_does_not_break_its_list),
        BENCH_TEST(random_timers_fire_as_sorted),
        BENCH_TEST(an_idle_task_runs_when_nothing_else_does),
        BENCH_TEST(an_idle_task_waits_while_others_have_work),
        BENCH_TEST(one_round_gives_one_idle_turn),
        BENCH_TEST(an_idle_task_sleeps_and_is_woken_like_any),
        BENCH_TEST(a_list_wakes_one_at_a_time_in_order),
        cmocka_unit_test(no_wake_up_is_lost_between_threads),
        cmocka_unit_test(many_wakers_never_leave_a_task_behind),
        cmocka_unit_test(an_idle_worker_can_be_stopped_and_started_again),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
