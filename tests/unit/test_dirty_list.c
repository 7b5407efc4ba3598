/*
 * The list of dirty pages: ordered by their first change whatever is written, fails, is overwritten
 * or cleaned between; compared with a trivial model over random operations of a real pool.
 */
#include "tests/core_fixture.h"

#include "patterns/rng.h"
#include "tests/scale.h"

#define PAGES      64
#define OPERATIONS 20000

enum model_state { CLEAN, DIRTY, WRITING, FORMATTING };

struct model {
    struct core core;
    struct dirty_list list;
    struct frame *frames[PAGES];
    enum model_state states[PAGES];
    bool was_dirty[PAGES];
    uint64_t serials[PAGES], next_serial, limit;
    struct rng rng;
};

static struct model *begin(uint64_t seed)
{
    struct model *m = calloc(1, sizeof *m);
    struct sim_options options = {.pool_bytes = 4 * PAGES * PAGE_BYTES};
    core_begin(&m->core, &options);
    core_settle(&m->core);
    dirty_list_init(&m->list);
    assert_int_equal(pool_list_dirty(&m->core.run->pool, CORE_DATA_UID, &m->list), 0);
    for (uint32_t i = 0; i < PAGES; i++) {
        m->frames[i] = core_page(&m->core, 100 + i, 1);
        pool_unpin(&m->core.run->pool, m->frames[i]);
    }
    m->next_serial = 1;
    m->limit = 1;
    rng_seed(&m->rng, seed);
    return m;
}

static void end(struct model *m)
{
    core_end(&m->core);
    dirty_list_free(&m->list);
    free(m);
}

static void set(struct model *m, unsigned page, enum model_state to)
{
    if (m->states[page] == CLEAN && to != CLEAN)
        m->serials[page] = m->next_serial++;
    m->states[page] = to;
}

/* One thing that may happen to a page in its state. */
static void change(struct model *m, unsigned page)
{
    struct pool *pool = &m->core.run->pool;
    struct frame *frame = m->frames[page], *out;
    pthread_mutex_t *lock = frame_lock(pool, frame);
    bool first = rng_below(&m->rng, 2);
    switch (m->states[page]) {
    case CLEAN:
    case DIRTY:
        if (first) {
            m->was_dirty[page] = m->states[page] == DIRTY;
            assert_int_equal(pool_overwrite(pool, atomic_load(&frame->key), NULL, &out), POOL_HIT);
            set(m, page, FORMATTING);
            return;
        }
        pthread_mutex_lock(lock);
        if (m->states[page] == CLEAN)
            frame_mark_dirty(pool, frame, (struct lsn){0});
        else
            frame_begin_write(pool, frame);
        pthread_mutex_unlock(lock);
        set(m, page, m->states[page] == CLEAN ? DIRTY : WRITING);
        return;
    case WRITING:
        frame->write_failures = 0; /* never quarantined here */
        pthread_mutex_lock(lock);
        frame_end_write(pool, frame, first);
        pthread_mutex_unlock(lock);
        set(m, page, first ? CLEAN : DIRTY);
        return;
    case FORMATTING:
        if (first)
            pool_overwrite_end(pool, frame, frame->generation + 1, (struct lsn){0}, 0);
        else
            pool_overwrite_cancel(pool, frame);
        set(m, page, first || m->was_dirty[page] ? DIRTY : CLEAN);
        return;
    }
}

static void compare(struct model *m)
{
    unsigned oldest = PAGES, listed = 0;
    bool past = true;
    for (unsigned i = 0; i < PAGES; i++) {
        bool in_list = m->states[i] == DIRTY || m->states[i] == FORMATTING;
        listed += in_list;
        if (in_list && (oldest == PAGES || m->serials[i] < m->serials[oldest]))
            oldest = i;
        past &= m->states[i] == CLEAN || m->serials[i] >= m->limit;
    }
    uint64_t key = 0;
    bool old = oldest < PAGES && m->serials[oldest] < m->limit;
    assert_int_equal(dirty_list_count(&m->list), listed);
    assert_int_equal(dirty_list_oldest(&m->list, &key), old);
    if (old)
        assert_int_equal((uint32_t)key, 100 + oldest);
    assert_int_equal(dirty_list_is_past(&m->list), past);
}

static void it_is_ordered_by_first_change_whatever_happens(void **state)
{
    (void)state;
    for (uint64_t seed = 1; seed <= 3; seed++) {
        struct model *m = begin(seed);
        print_message("seed %ju\n", (uintmax_t)seed);
        for (unsigned i = 0; i < test_scaled(OPERATIONS); i++) {
            change(m, (unsigned)rng_below(&m->rng, PAGES));
            if (rng_below(&m->rng, 50) == 0) {
                dirty_list_limit(&m->list, NULL);
                m->limit = m->next_serial;
            }
            compare(m);
        }
        for (unsigned i = 0; i < PAGES; i++) /* as the pool wants to be left */
            while (m->states[i] != CLEAN)
                change(m, i);
        compare(m);
        end(m);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(it_is_ordered_by_first_change_whatever_happens),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
