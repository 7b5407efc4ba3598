/* The buffer pool: the frame state machine, who waits and who is woken, eviction, threads. */
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>
#include <errno.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>
#include <cmocka.h>

#include "patterns/rng.h"
#include "sim/engine_mem.h"
#include "sim/pool.h"
#include "tests/scale.h"

#define UID    3
#define FRAMES 3
#define HANG_S 120

extern const struct io_engine_ops engine_mem, engine_sync;

struct bench {
    struct clock clock;
    struct mem_device *device;
    struct worker worker;
    enum phase phase;
    struct pool pool;
};

struct probe {
    struct task task;
    unsigned turns;
};

static enum task_result probe_step(struct task *task)
{
    ((struct probe *)task)->turns++;
    return TASK_PARK;
}

static void probe_init(struct probe *probe, struct bench *b)
{
    memset(probe, 0, sizeof *probe);
    task_init(&probe->task, &b->worker, probe_step);
}

static int setup(void **state)
{
    struct bench *b = calloc(1, sizeof *b);
    clock_init_virtual(&b->clock);
    struct mem_device_config model = {.seed = 1};
    assert_int_equal(mem_device_create(&b->device, &b->clock, &model), 0);
    struct io_engine_config config = {.clock = &b->clock, .depth = 4, .device = b->device};
    assert_int_equal(worker_init(&b->worker, 0, &engine_mem, &config, &b->phase), 0);
    assert_int_equal(pool_create(&b->pool, FRAMES, 2), 0);
    *state = b;
    return 0;
}

static int teardown(void **state)
{
    struct bench *b = *state;
    pool_destroy(&b->pool);
    worker_free(&b->worker);
    mem_device_free(b->device);
    free(b);
    return 0;
}

static void run_idle(struct bench *b)
{
    while (worker_step(&b->worker))
        ;
}

static enum pool_get get(struct bench *b, uint32_t page_no, struct frame **out)
{
    struct probe *probe = calloc(1, sizeof *probe); /* never parked by the callers of this */
    probe_init(probe, b);
    enum pool_get got = pool_get(&b->pool, page_key(UID, page_no), &probe->task, out);
    assert_true(got != POOL_WAIT && got != POOL_NO_FRAME);
    free(probe);
    return got;
}

/* The page, pinned and CLEAN, as after a verified read. */
static struct frame *clean_page(struct bench *b, uint32_t page_no)
{
    struct frame *frame;
    assert_int_equal(get(b, page_no, &frame), POOL_MISS);
    memset(frame->bytes, 0, PAGE_BYTES);
    pool_read_done(&b->pool, frame, true, 1);
    return frame;
}

static struct frame *unpinned_page(struct bench *b, uint32_t page_no)
{
    struct frame *frame = clean_page(b, page_no);
    pool_unpin(&b->pool, frame);
    return frame;
}

static bool is_there(struct bench *b, uint32_t page_no)
{
    return pool_contains(&b->pool, page_key(UID, page_no));
}

static void dirty(struct bench *b, struct frame *frame, uint32_t block)
{
    pthread_mutex_t *lock = frame_lock(&b->pool, frame);
    pthread_mutex_lock(lock);
    frame_mark_dirty(&b->pool, frame, (struct lsn){7, block, 1});
    pthread_mutex_unlock(lock);
}

static void write_page(struct bench *b, struct frame *frame, bool ok)
{
    pthread_mutex_t *lock = frame_lock(&b->pool, frame);
    pthread_mutex_lock(lock);
    frame_begin_write(&b->pool, frame);
    assert_int_equal(frame->state, FRAME_WRITING);
    frame_end_write(&b->pool, frame, ok);
    pthread_mutex_unlock(lock);
}

/* ---- each edge ---- */

static void a_miss_is_pinned_and_reading(void **state)
{
    struct bench *b = *state;
    struct frame *frame;
    assert_int_equal(get(b, 10, &frame), POOL_MISS);
    assert_int_equal(frame->state, FRAME_READING);
    assert_int_equal(frame->pins, 1);
    assert_int_equal(atomic_load(&frame->key), (uint64_t)UID << 32 | 10);
}

static void a_verified_read_makes_the_page_clean(void **state)
{
    struct bench *b = *state;
    struct frame *frame;
    get(b, 10, &frame);
    struct page_header *header = (struct page_header *)(void *)frame->bytes;
    memset(frame->bytes, 0, PAGE_BYTES);
    header->lsn_fseq = 5;
    header->lsn_block = 16;
    header->lsn_slot = 2;
    pool_read_done(&b->pool, frame, true, 44);
    assert_int_equal(frame->state, FRAME_CLEAN);
    assert_int_equal(frame->generation, 44);
    assert_int_equal(lsn_compare(frame->lsn, (struct lsn){5, 16, 2}), 0);
    assert_int_equal(frame->pins, 1);
}

static void a_read_that_is_not_right_leaves_no_page(void **state)
{
    struct bench *b = *state;
    struct frame *frame;
    get(b, 10, &frame);
    pool_read_done(&b->pool, frame, false, 0);
    assert_false(is_there(b, 10));
    assert_int_equal(frame->state, FRAME_FREE);
    assert_int_equal(get(b, 10, &frame), POOL_MISS); /* read again by the next one */
}

static void a_page_in_the_pool_is_a_hit_and_pinned_once_more(void **state)
{
    struct bench *b = *state;
    struct frame *frame = clean_page(b, 10), *again;
    assert_int_equal(get(b, 10, &again), POOL_HIT);
    assert_ptr_equal(again, frame);
    assert_int_equal(frame->pins, 2);
}

static void the_first_change_is_kept_until_the_page_is_clean(void **state)
{
    struct bench *b = *state;
    struct frame *frame = clean_page(b, 10);
    dirty(b, frame, 16);
    dirty(b, frame, 80);
    assert_int_equal(frame->state, FRAME_DIRTY);
    assert_int_equal(frame->first_change, 7ull << 32 | 16);
    assert_int_equal(frame->lsn.block, 80);
    assert_int_equal(atomic_load(&b->pool.dirty_count), 1);
    write_page(b, frame, true);
    dirty(b, frame, 99);
    assert_int_equal(frame->first_change, 7ull << 32 | 99);
}

static void an_acknowledged_write_makes_the_page_clean(void **state)
{
    struct bench *b = *state;
    struct frame *frame = clean_page(b, 10);
    dirty(b, frame, 16);
    write_page(b, frame, true);
    assert_int_equal(frame->state, FRAME_CLEAN);
    assert_int_equal(atomic_load(&b->pool.dirty_count), 0);
}

static void a_failed_write_leaves_the_page_dirty(void **state)
{
    struct bench *b = *state;
    struct frame *frame = clean_page(b, 10);
    dirty(b, frame, 16);
    write_page(b, frame, false);
    assert_int_equal(frame->state, FRAME_DIRTY);
    assert_int_equal(frame->first_change, 7ull << 32 | 16);
    assert_int_equal(atomic_load(&b->pool.dirty_count), 1);
}

static void the_third_failure_in_a_row_makes_the_page_bad(void **state)
{
    struct bench *b = *state;
    struct frame *frame = clean_page(b, 10), *again;
    dirty(b, frame, 16);
    write_page(b, frame, false);
    write_page(b, frame, false);
    assert_int_equal(frame->state, FRAME_DIRTY);
    write_page(b, frame, false);
    assert_int_equal(frame->state, FRAME_BAD);
    assert_int_equal(atomic_load(&b->pool.dirty_count), 0);
    assert_int_equal(get(b, 10, &again), POOL_QUARANTINED);
}

static void a_good_write_forgets_the_failures_before_it(void **state)
{
    struct bench *b = *state;
    struct frame *frame = clean_page(b, 10);
    for (unsigned i = 0; i < 3; i++) {
        dirty(b, frame, 16 + i);
        write_page(b, frame, false);
        write_page(b, frame, false);
        write_page(b, frame, true);
    }
    assert_int_equal(frame->state, FRAME_CLEAN);
}

/* ---- edges that do not exist: a bug in the simulator, so the process ends ---- */

static bool dies(struct frame *frame, struct bench *b, void (*edge)(struct bench *, struct frame *))
{
    pid_t child = fork();
    assert_true(child >= 0);
    if (child == 0) {
        struct rlimit none = {0, 0};
        setrlimit(RLIMIT_CORE, &none);
        signal(SIGABRT, SIG_DFL); /* cmocka's handler would go on */
        close(STDERR_FILENO);
        edge(b, frame);
        _exit(0);
    }
    int status;
    assert_int_equal(waitpid(child, &status, 0), child);
    return WIFSIGNALED(status) && WTERMSIG(status) == SIGABRT;
}

static void begin_write_edge(struct bench *b, struct frame *frame)
{
    frame_begin_write(&b->pool, frame);
}

static void end_write_edge(struct bench *b, struct frame *frame)
{
    frame_end_write(&b->pool, frame, true);
}

static void change_edge(struct bench *b, struct frame *frame)
{
    frame_mark_dirty(&b->pool, frame, (struct lsn){7, 99, 1});
}

static void read_done_edge(struct bench *b, struct frame *frame)
{
    pool_read_done(&b->pool, frame, true, 2);
}

static void a_clean_page_is_not_written(void **state)
{
    struct frame *frame = clean_page(*state, 10);
    assert_true(dies(frame, *state, begin_write_edge));
    assert_true(dies(frame, *state, end_write_edge));
    assert_true(dies(frame, *state, read_done_edge));
}

static void a_page_being_written_does_not_change(void **state)
{
    struct bench *b = *state;
    struct frame *frame = clean_page(b, 10);
    dirty(b, frame, 16);
    frame_begin_write(&b->pool, frame);
    assert_true(dies(frame, b, change_edge));
    assert_true(dies(frame, b, begin_write_edge)); /* nor is it written twice at once */
    frame_end_write(&b->pool, frame, true);
}

static void a_page_being_read_does_not_change(void **state)
{
    struct bench *b = *state;
    struct frame *frame;
    get(b, 10, &frame);
    assert_true(dies(frame, b, change_edge));
    assert_true(dies(frame, b, begin_write_edge));
}

/* ---- waiting ---- */

static void readers_of_a_page_being_read_wait_for_it(void **state)
{
    struct bench *b = *state;
    struct frame *frame, *other;
    struct probe probes[2];
    get(b, 10, &frame);
    for (unsigned i = 0; i < 2; i++) {
        probe_init(&probes[i], b);
        assert_int_equal(pool_get(&b->pool, page_key(UID, 10), &probes[i].task, &other), POOL_WAIT);
    }
    run_idle(b);
    assert_int_equal(probes[0].turns + probes[1].turns, 0);
    pool_read_done(&b->pool, frame, true, 1);
    run_idle(b);
    assert_int_equal(probes[0].turns, 1);
    assert_int_equal(probes[1].turns, 1);
}

static void readers_are_woken_when_the_read_was_not_right_too(void **state)
{
    struct bench *b = *state;
    struct frame *frame, *other;
    struct probe probe;
    get(b, 10, &frame);
    probe_init(&probe, b);
    assert_int_equal(pool_get(&b->pool, page_key(UID, 10), &probe.task, &other), POOL_WAIT);
    pool_read_done(&b->pool, frame, false, 0);
    run_idle(b);
    assert_int_equal(probe.turns, 1);
}

static void who_waits_for_a_write_is_woken_at_its_end(void **state)
{
    struct bench *b = *state;
    for (unsigned ok = 0; ok < 2; ok++) {
        struct probe probe;
        struct frame *frame = clean_page(b, 10 + ok);
        probe_init(&probe, b);
        dirty(b, frame, 16);
        frame_begin_write(&b->pool, frame);
        wait_list_add(&frame->waiters, &probe.task);
        run_idle(b);
        assert_int_equal(probe.turns, 0);
        frame_end_write(&b->pool, frame, ok);
        run_idle(b);
        assert_int_equal(probe.turns, 1);
    }
}

/* ---- eviction ---- */

static void pinned_pages_stay_and_an_unpin_wakes_who_waits(void **state)
{
    struct bench *b = *state;
    struct frame *frames[FRAMES], *fresh;
    struct probe probe;
    for (unsigned i = 0; i < FRAMES; i++)
        frames[i] = clean_page(b, i);
    probe_init(&probe, b);
    assert_int_equal(pool_get(&b->pool, page_key(UID, 50), &probe.task, &fresh), POOL_NO_FRAME);
    run_idle(b);
    assert_int_equal(probe.turns, 0);
    pool_unpin(&b->pool, frames[1]);
    run_idle(b);
    assert_int_equal(probe.turns, 1);
    assert_int_equal(pool_get(&b->pool, page_key(UID, 50), &probe.task, &fresh), POOL_MISS);
    assert_false(is_there(b, 1));
    assert_true(is_there(b, 0) && is_there(b, 2));
}

static void dirty_pages_and_pages_being_written_are_not_evicted(void **state)
{
    struct bench *b = *state;
    struct frame *frames[FRAMES], *fresh;
    struct probe probe;
    for (unsigned i = 0; i < FRAMES; i++) {
        frames[i] = clean_page(b, i);
        dirty(b, frames[i], 16);
        pool_unpin(&b->pool, frames[i]);
    }
    frame_begin_write(&b->pool, frames[0]);
    probe_init(&probe, b);
    assert_int_equal(pool_get(&b->pool, page_key(UID, 50), &probe.task, &fresh), POOL_NO_FRAME);
    frame_end_write(&b->pool, frames[0], true);
    pool_wake_frame_waiters(&b->pool); /* as the writeback does */
    run_idle(b);
    assert_int_equal(probe.turns, 1);
    assert_int_equal(pool_get(&b->pool, page_key(UID, 50), &probe.task, &fresh), POOL_MISS);
    assert_false(is_there(b, 0));
}

/* Clock algorithm by hand, three frames in order a, b, c, all referenced.  d: the hand takes the
 * second chance of a, b, c and evicts a.  b is used again.  e: the hand stands at b, takes its
 * second chance, and evicts c. */
static void a_page_used_again_has_a_second_chance(void **state)
{
    struct bench *b = *state;
    struct frame *frame;
    for (uint32_t page_no = 'a'; page_no <= 'd'; page_no++)
        unpinned_page(b, page_no);
    assert_false(is_there(b, 'a'));
    assert_int_equal(get(b, 'b', &frame), POOL_HIT);
    pool_unpin(&b->pool, frame);
    unpinned_page(b, 'e');
    assert_true(is_there(b, 'b'));
    assert_false(is_there(b, 'c'));
}

static void a_bad_page_gives_its_frame_back(void **state)
{
    struct bench *b = *state;
    struct frame *frame = clean_page(b, 10);
    dirty(b, frame, 16);
    for (unsigned i = 0; i < POOL_WRITE_FAILURES_MAX; i++)
        write_page(b, frame, false);
    pool_unpin(&b->pool, frame);
    for (uint32_t page_no = 20; page_no < 20 + FRAMES; page_no++)
        unpinned_page(b, page_no);
    assert_false(is_there(b, 10));
}

static void system_pages_are_never_evicted(void **state)
{
    struct bench *b = *state;
    struct frame *system = pool_add_system(&b->pool, page_key(UID, 1));
    assert_int_equal(system->state, FRAME_CLEAN);
    assert_int_equal(system->generation, 0);
    assert_true(page_is_zero(system->bytes, PAGE_BYTES));
    pool_unpin(&b->pool, system); /* even without a pin */
    for (uint32_t page_no = 20; page_no < 40; page_no++)
        unpinned_page(b, page_no);
    assert_true(is_there(b, 1));
}

/* The end of a phase wakes who waits, too; the next frame is not for who has gone. */
static void who_has_left_the_line_takes_no_turn_from_the_next(void **state)
{
    struct bench *b = *state;
    struct probe gone, next;
    struct frame *frames[FRAMES], *none;
    probe_init(&gone, b);
    probe_init(&next, b);
    for (unsigned i = 0; i < FRAMES; i++)
        frames[i] = clean_page(b, i + 10);
    assert_int_equal(pool_get(&b->pool, page_key(UID, 50), &gone.task, &none), POOL_NO_FRAME);
    assert_int_equal(pool_get(&b->pool, page_key(UID, 51), &next.task, &none), POOL_NO_FRAME);
    pool_wait_forget(&b->pool, &gone.task);
    pool_wait_forget(&b->pool, &gone.task);
    assert_null(atomic_load(&gone.task.wait_list));
    assert_int_equal(atomic_load(&b->pool.waiting), 1);
    pool_unpin(&b->pool, frames[0]);
    run_idle(b);
    assert_int_equal(gone.turns, 0);
    assert_int_equal(next.turns, 1);
    for (unsigned i = 1; i < FRAMES; i++)
        pool_unpin(&b->pool, frames[i]);
}

static void a_page_made_in_memory_takes_a_frame_without_waiting(void **state)
{
    struct bench *b = *state;
    struct frame *frames[FRAMES];
    for (uint32_t i = 0; i < FRAMES; i++) {
        frames[i] = pool_take(&b->pool, page_key(UID, i));
        assert_non_null(frames[i]);
        assert_int_equal(frames[i]->state, FRAME_READING);
    }
    assert_null(pool_take(&b->pool, page_key(UID, 0)));  /* is there */
    assert_null(pool_take(&b->pool, page_key(UID, 50))); /* no frame */
    assert_int_equal(atomic_load(&b->pool.waiting), 0);
    pool_read_done(&b->pool, frames[0], false, 0);
    assert_non_null(pool_take(&b->pool, page_key(UID, 50)));
}

/* ---- threads: nothing that was changed is lost, whoever evicts, reads or writes ---- */

#define CREW_WORKERS 3
#define CREW_USERS   12
#define CREW_PAGES   64
#define CREW_FRAMES  20
#define CREW_CHANGES 3000 /* of each user */

struct crew {
    struct clock clock;
    struct worker workers[CREW_WORKERS];
    enum phase phase;
    struct pool pool;
    uint64_t device[CREW_PAGES]; /* what was "written": a counter a page; its frame's lock */
    _Atomic unsigned users;
    _Atomic bool cleaner_over;
};

struct user {
    struct task task;
    struct crew *crew;
    struct rng rng;
    unsigned left;
};

static uint64_t *counter_of(struct frame *frame)
{
    return (uint64_t *)(void *)frame->bytes;
}

/* One change of a random page; false: wait. */
static bool user_change(struct user *user, uint32_t page_no)
{
    struct crew *crew = user->crew;
    struct frame *frame;
    switch (pool_get(&crew->pool, page_key(UID, page_no), &user->task, &frame)) {
    case POOL_MISS:
        memset(frame->bytes, 0, PAGE_HEADER_BYTES);
        *counter_of(frame) = crew->device[page_no];
        pool_read_done(&crew->pool, frame, true, 1);
        break;
    case POOL_HIT:
        break;
    default:
        return false;
    }
    pthread_mutex_t *lock = frame_lock(&crew->pool, frame);
    pthread_mutex_lock(lock);
    bool writing = frame->state == FRAME_WRITING;
    if (writing) {
        wait_list_add(&frame->waiters, &user->task);
    } else {
        ++*counter_of(frame);
        frame_mark_dirty(&crew->pool, frame, (struct lsn){7, 16, 1});
    }
    pthread_mutex_unlock(lock);
    pool_unpin(&crew->pool, frame);
    return !writing;
}

static enum task_result user_step(struct task *task)
{
    struct user *user = (struct user *)task;
    struct rng before = user->rng;
    if (!user_change(user, (uint32_t)rng_below(&user->rng, CREW_PAGES))) {
        user->rng = before; /* the same page again */
        return TASK_PARK;
    }
    if (--user->left)
        return TASK_AGAIN;
    atomic_fetch_sub(&user->crew->users, 1);
    return TASK_DONE;
}

struct cleaner {
    struct task task;
    struct crew *crew;
};

static bool clean_frame(struct crew *crew, struct frame *frame)
{
    uint64_t key = atomic_load(&frame->key);
    if (!key)
        return false;
    pthread_mutex_t *lock = pool_lock_key(&crew->pool, key);
    pthread_mutex_lock(lock);
    struct frame *found = pool_find_locked(&crew->pool, key);
    bool claimed = found == frame && frame->state == FRAME_DIRTY;
    if (claimed)
        frame_begin_write(&crew->pool, frame);
    pthread_mutex_unlock(lock);
    if (!claimed)
        return false;
    uint64_t image = *counter_of(frame); /* nobody changes it now */
    pthread_mutex_lock(lock);
    crew->device[(uint32_t)key] = image;
    frame_end_write(&crew->pool, frame, true);
    pthread_mutex_unlock(lock);
    pool_wake_frame_waiters(&crew->pool);
    return true;
}

static enum task_result cleaner_step(struct task *task)
{
    struct crew *crew = ((struct cleaner *)task)->crew;
    bool last = atomic_load(&crew->users) == 0;
    for (size_t i = 0; i < crew->pool.frame_count; i++)
        clean_frame(crew, &crew->pool.frames[i]);
    if (!last)
        return TASK_AGAIN;
    atomic_store(&crew->cleaner_over, true);
    return TASK_DONE;
}

static void crew_start(struct crew *crew, struct user *users, struct cleaner *cleaner)
{
    clock_init_real(&crew->clock);
    struct io_engine_config config = {.clock = &crew->clock, .depth = 1};
    assert_int_equal(pool_create(&crew->pool, CREW_FRAMES, 0), 0);
    for (unsigned i = 0; i < CREW_WORKERS; i++)
        assert_int_equal(worker_init(&crew->workers[i], i, &engine_sync, &config, &crew->phase), 0);
    atomic_store(&crew->users, CREW_USERS);
    for (unsigned i = 0; i < CREW_USERS; i++) {
        task_init(&users[i].task, &crew->workers[i % CREW_WORKERS], user_step);
        users[i].crew = crew;
        users[i].left = (unsigned)test_scaled(CREW_CHANGES);
        rng_split(&users[i].rng, 1, i, 0);
        task_start(&users[i].task);
    }
    task_init(&cleaner->task, &crew->workers[0], cleaner_step);
    cleaner->crew = crew;
    task_start(&cleaner->task);
    for (unsigned i = 0; i < CREW_WORKERS; i++)
        assert_int_equal(worker_start(&crew->workers[i]), 0);
}

static void no_change_is_lost_between_threads(void **state)
{
    (void)state;
    struct crew *crew = calloc(1, sizeof *crew);
    struct user *users = calloc(CREW_USERS, sizeof *users);
    struct cleaner cleaner = {0};
    alarm(HANG_S);
    crew_start(crew, users, &cleaner);
    while (!atomic_load(&crew->cleaner_over))
        usleep(200);
    for (unsigned i = 0; i < CREW_WORKERS; i++)
        worker_stop(&crew->workers[i]);
    alarm(0);
    uint64_t sum = 0;
    for (unsigned i = 0; i < CREW_PAGES; i++)
        sum += crew->device[i];
    assert_int_equal(sum, CREW_USERS * test_scaled(CREW_CHANGES));
    assert_int_equal(atomic_load(&crew->pool.dirty_count), 0);
    for (unsigned i = 0; i < CREW_WORKERS; i++)
        worker_free(&crew->workers[i]);
    pool_destroy(&crew->pool);
    free(users);
    free(crew);
}

/* ---- NUMA ---- */

/* Two nodes whose memory is node 0's, which exists everywhere: here only the lists are looked at.
 */
static const struct numa two_nodes = {.count = 2};

static unsigned on_second(const struct numa *numa)
{
    (void)numa;
    return 1;
}

static void spread_or_skip(struct bench *b)
{
    int error = pool_spread(&b->pool, &two_nodes);
    if (error == -ENOSYS || error == -EPERM) {
        print_message("SKIP: no mbind here: %s\n", strerror(-error));
        skip();
    }
    assert_int_equal(error, 0);
    b->pool.here = on_second;
}

/* Of 3 frames the first 2 are the first node's, the third is the second's. */
static void a_frame_of_ones_own_node_is_taken_first(void **state)
{
    struct bench *b = *state;
    spread_or_skip(b);
    assert_int_equal(pool_free_count(&b->pool), FRAMES);
    struct frame *own = pool_borrow(&b->pool);
    assert_ptr_equal(own, &b->pool.frames[2]);
    struct frame *other = pool_borrow(&b->pool);
    assert_ptr_equal(other, &b->pool.frames[0]);
    pool_give_back(&b->pool, other);
    pool_give_back(&b->pool, own);
    assert_ptr_equal(pool_borrow(&b->pool), own); /* it went back to its own node */
    assert_int_equal(pool_free_count(&b->pool), FRAMES - 1);
}

static void the_last_frame_is_found_on_whatever_node(void **state)
{
    struct bench *b = *state;
    spread_or_skip(b);
    for (unsigned i = 0; i < FRAMES; i++)
        assert_non_null(pool_borrow(&b->pool));
    assert_null(pool_borrow(&b->pool));
    assert_int_equal(pool_free_count(&b->pool), 0);
}

static void memory_that_is_not_placed_leaves_one_list(void **state)
{
    struct bench *b = *state;
    static const struct numa nowhere = {.count = 2, .nodes = {{.id = 0}, {.id = 1024}}};
    assert_true(pool_spread(&b->pool, &nowhere) < 0);
    assert_null(b->pool.numa);
    for (unsigned i = 0; i < FRAMES; i++)
        assert_ptr_equal(pool_borrow(&b->pool), &b->pool.frames[i]);
}

#define BENCH_TEST(name) cmocka_unit_test_setup_teardown(name, setup, teardown)

int main(void)
{
    const struct CMUnitTest tests[] = {
        BENCH_TEST(a_miss_is_pinned_and_reading),
        BENCH_TEST(a_verified_read_makes_the_page_clean),
        BENCH_TEST(a_read_that_is_not_right_leaves_no_page),
        BENCH_TEST(a_page_in_the_pool_is_a_hit_and_pinned_once_more),
        BENCH_TEST(the_first_change_is_kept_until_the_page_is_clean),
        BENCH_TEST(an_acknowledged_write_makes_the_page_clean),
        BENCH_TEST(a_failed_write_leaves_the_page_dirty),
        BENCH_TEST(the_third_failure_in_a_row_makes_the_page_bad),
        BENCH_TEST(a_good_write_forgets_the_failures_before_it),
        BENCH_TEST(a_clean_page_is_not_written),
        BENCH_TEST(a_page_being_written_does_not_change),
        BENCH_TEST(a_page_being_read_does_not_change),
        BENCH_TEST(readers_of_a_page_being_read_wait_for_it),
        BENCH_TEST(readers_are_woken_when_the_read_was_not_right_too),
        BENCH_TEST(who_waits_for_a_write_is_woken_at_its_end),
        BENCH_TEST(pinned_pages_stay_and_an_unpin_wakes_who_waits),
        BENCH_TEST(dirty_pages_and_pages_being_written_are_not_evicted),
        BENCH_TEST(a_page_used_again_has_a_second_chance),
        BENCH_TEST(a_bad_page_gives_its_frame_back),
        BENCH_TEST(system_pages_are_never_evicted),
        BENCH_TEST(who_has_left_the_line_takes_no_turn_from_the_next),
        BENCH_TEST(a_page_made_in_memory_takes_a_frame_without_waiting),
        cmocka_unit_test(no_change_is_lost_between_threads),
        BENCH_TEST(a_frame_of_ones_own_node_is_taken_first),
        BENCH_TEST(the_last_frame_is_found_on_whatever_node),
        BENCH_TEST(memory_that_is_not_placed_leaves_one_list),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
