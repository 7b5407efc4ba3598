/* pool.c - see pool.h for the states and invariants. */
#include "sim/pool.h"

#include <assert.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

static uint64_t key_hash(uint64_t key)
{
    key ^= key >> 32;
    key *= 0x9E3779B97F4A7C15ull;
    return key ^ key >> 29;
}

static struct pool_partition *partition_of(struct pool *pool, uint64_t key)
{
    return &pool->partitions[key_hash(key) % POOL_PARTITIONS];
}

static struct frame **bucket_of(struct pool *pool, uint64_t key)
{
    uint64_t hash = key_hash(key) / POOL_PARTITIONS;
    return &partition_of(pool, key)->buckets[hash & (pool->buckets_per_partition - 1)];
}

void frame_assert_state(const struct frame *frame)
{
    uint64_t key = atomic_load_explicit(&frame->key, memory_order_relaxed);
    assert((frame->state == FRAME_FREE) == (key == 0));
    assert(frame->state != FRAME_FREE || frame->pins == 0);
    assert(frame->state != FRAME_READING || frame->pins > 0);
    assert(frame->state != FRAME_DIRTY || frame->generation > 0);
    assert(frame->state != FRAME_WRITING || frame->generation > 0);
    assert(!frame->system || frame->state != FRAME_READING);
}

/* ---- the list of dirty pages ---- */

static struct dirty_list *list_of(const struct pool *pool, const struct frame *frame)
{
    uint64_t uid = atomic_load_explicit(&frame->key, memory_order_relaxed) >> 32;
    return uid < pool->dirty_lists_count ? pool->dirty_lists[uid] : NULL;
}

static void list_enter(struct pool *pool, struct frame *frame)
{
    struct dirty_list *list = list_of(pool, frame);
    if (list)
        dirty_list_enter(list, frame);
}

static void list_leave(struct pool *pool, struct frame *frame)
{
    struct dirty_list *list = list_of(pool, frame);
    if (list)
        dirty_list_leave(list, frame);
}

int pool_list_dirty(struct pool *pool, uint16_t file_uid, struct dirty_list *list)
{
    if (file_uid >= pool->dirty_lists_count) {
        size_t bytes = (file_uid + 1u) * sizeof(struct dirty_list *);
        struct dirty_list **grown = realloc((void *)pool->dirty_lists, bytes);
        if (!grown)
            return -ENOMEM;
        for (unsigned i = pool->dirty_lists_count; i <= file_uid; i++)
            grown[i] = NULL;
        pool->dirty_lists = grown;
        pool->dirty_lists_count = file_uid + 1u;
    }
    pool->dirty_lists[file_uid] = list;
    return 0;
}

void pool_changes_end(struct pool *pool)
{
    for (unsigned i = 0; i < POOL_PARTITIONS; i++) {
        pthread_mutex_lock(&pool->partitions[i].lock);
        pthread_mutex_unlock(&pool->partitions[i].lock);
    }
}

/* ---- life ---- */

/* The list that a frame of the pool belongs to when it is free. */
static struct frame **free_list_of(struct pool *pool, const struct frame *frame)
{
    size_t index = (size_t)(frame - pool->frames);
    size_t node = pool->numa ? index / pool->node_frames : 0;
    return &pool->free_lists[node];
}

static void frames_init(struct pool *pool)
{
    size_t total = pool->frame_count + pool->system_count;
    for (size_t i = total; i-- > 0;) {
        struct frame *frame = &pool->frames[i];
        frame->bytes = pool->memory + i * PAGE_BYTES;
        frame->system = i >= pool->frame_count;
        struct frame **list = frame->system ? &pool->system_free_list : free_list_of(pool, frame);
        frame->hash_next = *list;
        *list = frame;
    }
    pool->free_count = pool->frame_count;
    size_t small = pool->frame_count / 4 < POOL_FREE_MIN ? pool->frame_count / 4 : POOL_FREE_MIN;
    size_t share = pool->frame_count / POOL_FREE_SHARE;
    pool->free_target = share > small ? share : small;
    pool->free_low = pool->free_target / 2;
}

int pool_create(struct pool *pool, size_t frame_count, size_t system_count)
{
    memset(pool, 0, sizeof *pool);
    size_t total = frame_count + system_count;
    pool->frame_count = frame_count;
    pool->system_count = system_count;
    pool->memory_bytes = total * PAGE_BYTES;
    pool->memory = mmap(NULL, pool->memory_bytes, PROT_READ | PROT_WRITE,
                        MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (pool->memory == MAP_FAILED) {
        pool->memory = NULL;
        return -ENOMEM;
    }
    pool->frames = calloc(total, sizeof *pool->frames);
    pool->buckets_per_partition = 16;
    while (pool->buckets_per_partition * POOL_PARTITIONS < total)
        pool->buckets_per_partition *= 2;
    bool ok = pool->frames != NULL;
    for (unsigned i = 0; i < POOL_PARTITIONS; i++) {
        pthread_mutex_init(&pool->partitions[i].lock, NULL);
        pool->partitions[i].buckets =
            calloc(pool->buckets_per_partition, sizeof *pool->partitions[i].buckets);
        ok = ok && pool->partitions[i].buckets;
    }
    pthread_mutex_init(&pool->free_lock, NULL);
    if (!ok) {
        pool_destroy(pool);
        return -ENOMEM;
    }
    frames_init(pool);
    return 0;
}

int pool_spread(struct pool *pool, const struct numa *numa)
{
    size_t each = (pool->frame_count + numa->count - 1) / numa->count;
    int error = 0;
    for (size_t first = 0, i = 0; first < pool->frame_count && !error; first += each, i++) {
        size_t count = pool->frame_count - first < each ? pool->frame_count - first : each;
        error =
            numa_prefer(pool->memory + first * PAGE_BYTES, count * PAGE_BYTES, numa->nodes[i].id);
    }
    if (error) {
        numa_prefer_none(pool->memory, pool->memory_bytes);
        return error;
    }
    pool->numa = numa;
    pool->here = numa_here;
    pool->node_frames = each;
    pool->free_lists[0] = pool->system_free_list = NULL;
    frames_init(pool);
    return 0;
}

void pool_destroy(struct pool *pool)
{
    if (!pool->memory)
        return;
    munmap(pool->memory, pool->memory_bytes);
    for (unsigned i = 0; i < POOL_PARTITIONS; i++) {
        free(pool->partitions[i].buckets);
        pthread_mutex_destroy(&pool->partitions[i].lock);
    }
    pthread_mutex_destroy(&pool->free_lock);
    free(pool->frames);
    free((void *)pool->dirty_lists);
    memset(pool, 0, sizeof *pool);
}

/* ---- hash ---- */

pthread_mutex_t *pool_lock_key(struct pool *pool, uint64_t key)
{
    return &partition_of(pool, key)->lock;
}

pthread_mutex_t *frame_lock(struct pool *pool, const struct frame *frame)
{
    return pool_lock_key(pool, atomic_load(&frame->key));
}

struct frame *pool_find_locked(struct pool *pool, uint64_t key)
{
    struct frame *frame = *bucket_of(pool, key);
    while (frame && atomic_load_explicit(&frame->key, memory_order_relaxed) != key)
        frame = frame->hash_next;
    return frame;
}

static void hash_insert(struct pool *pool, struct frame *frame, uint64_t key)
{
    struct frame **bucket = bucket_of(pool, key);
    atomic_store(&frame->key, key);
    frame->hash_next = *bucket;
    *bucket = frame;
}

static void hash_remove(struct pool *pool, struct frame *frame)
{
    struct frame **link = bucket_of(pool, atomic_load(&frame->key));
    assert(!frame->dirty.listed);
    while (*link != frame)
        link = &(*link)->hash_next;
    *link = frame->hash_next;
    frame->hash_next = NULL;
    atomic_store(&frame->key, 0);
    frame->state = FRAME_FREE;
}

/* ---- free frames and eviction ---- */

static void free_list_put(struct pool *pool, struct frame *frame)
{
    frame_assert_state(frame);
    struct frame **list = free_list_of(pool, frame);
    pthread_mutex_lock(&pool->free_lock);
    frame->hash_next = *list;
    *list = frame;
    atomic_fetch_add(&pool->free_count, 1);
    pthread_mutex_unlock(&pool->free_lock);
}

static void call_cleaner(struct pool *pool)
{
    struct task *cleaner = atomic_load(&pool->cleaner);
    if (cleaner)
        task_wake(cleaner);
}

void pool_set_cleaner(struct pool *pool, struct task *cleaner)
{
    atomic_store(&pool->cleaner, cleaner);
}

/* The caller's own node first, then the others in turn. */
static struct frame **free_list_to_take(struct pool *pool)
{
    unsigned nodes = pool->numa ? pool->numa->count : 1;
    unsigned here = pool->numa ? pool->here(pool->numa) : 0, tries = 1;
    while (!pool->free_lists[here] && tries++ < nodes)
        here = (here + 1) % nodes;
    return &pool->free_lists[here];
}

static struct frame *free_list_take(struct pool *pool)
{
    pthread_mutex_lock(&pool->free_lock);
    struct frame **list = free_list_to_take(pool);
    struct frame *frame = *list;
    if (frame) {
        *list = frame->hash_next;
        frame->hash_next = NULL;
        atomic_fetch_sub(&pool->free_count, 1);
    }
    pthread_mutex_unlock(&pool->free_lock);
    if (pool_is_low(pool))
        call_cleaner(pool);
    return frame;
}

static bool is_evictable(const struct frame *frame)
{
    /* A BAD frame may go: the ledger has its page quarantined. */
    return frame->pins == 0 && (frame->state == FRAME_CLEAN || frame->state == FRAME_BAD);
}

/* One step of the clock: take the frame if nobody needs it and it had its second chance. */
static bool evict_try(struct pool *pool, struct frame *frame)
{
    uint64_t key = atomic_load(&frame->key);
    if (!key)
        return false;
    pthread_mutex_t *lock = pool_lock_key(pool, key);
    pthread_mutex_lock(lock);
    bool taken = false;
    /* The key first: a frame that has another page meanwhile is another partition's. */
    if (atomic_load(&frame->key) == key && is_evictable(frame)) {
        if (frame->referenced) {
            frame->referenced = false;
        } else {
            hash_remove(pool, frame);
            taken = true;
        }
    }
    pthread_mutex_unlock(lock);
    return taken;
}

size_t pool_clock_next(struct pool *pool)
{
    return atomic_fetch_add(&pool->clock_hand, 1) % pool->frame_count;
}

static struct frame *frame_take(struct pool *pool)
{
    struct frame *frame = free_list_take(pool);
    if (frame)
        return frame;
    for (size_t tries = 0; tries < 2 * pool->frame_count + 1; tries++) {
        size_t hand = pool_clock_next(pool);
        if (evict_try(pool, &pool->frames[hand]))
            return &pool->frames[hand];
    }
    return NULL;
}

void pool_wake_waiters(struct pool *pool, size_t frames)
{
    if (atomic_load(&pool->waiting) == 0)
        return;
    pthread_mutex_lock(&pool->free_lock);
    while (frames-- > 0 && wait_list_wake_one(&pool->frame_waiters))
        atomic_fetch_sub(&pool->waiting, 1);
    pthread_mutex_unlock(&pool->free_lock);
}

void pool_wake_frame_waiters(struct pool *pool)
{
    pool_wake_waiters(pool, SIZE_MAX);
}

/* A frame that was taken and is not needed after all: others may have begun to wait meanwhile. */
static void free_list_return(struct pool *pool, struct frame *frame)
{
    free_list_put(pool, frame);
    pool_wake_waiters(pool, 1);
}

/* ---- the lazy writer's part ---- */

/* Under the partition lock. */
static enum pool_age age_locked(struct pool *pool, struct frame *frame, bool failed_too)
{
    bool dirty = frame->state == FRAME_DIRTY && frame->pins == 0;
    if (dirty && frame->write_failures && !failed_too)
        return POOL_AGE_KEPT;
    if (!dirty && !is_evictable(frame))
        return POOL_AGE_KEPT;
    if (frame->referenced) {
        frame->referenced = false;
        return POOL_AGE_KEPT;
    }
    if (dirty)
        return POOL_AGE_DIRTY;
    hash_remove(pool, frame);
    return POOL_AGE_FREED;
}

enum pool_age pool_age(struct pool *pool, size_t index, bool failed_too, uint64_t *key)
{
    struct frame *frame = &pool->frames[index];
    enum pool_age age = POOL_AGE_KEPT;
    *key = atomic_load(&frame->key);
    if (!*key)
        return age;
    pthread_mutex_t *lock = pool_lock_key(pool, *key);
    pthread_mutex_lock(lock);
    if (atomic_load(&frame->key) == *key)
        age = age_locked(pool, frame, failed_too);
    pthread_mutex_unlock(lock);
    if (age == POOL_AGE_FREED)
        free_list_put(pool, frame);
    return age;
}

bool pool_free_cold(struct pool *pool, struct frame *frame, uint64_t key)
{
    pthread_mutex_t *lock = pool_lock_key(pool, key);
    pthread_mutex_lock(lock);
    bool cold = atomic_load(&frame->key) == key && is_evictable(frame) && !frame->referenced;
    if (cold)
        hash_remove(pool, frame);
    pthread_mutex_unlock(lock);
    if (cold)
        free_list_put(pool, frame);
    return cold;
}

/* ---- the idle user's part ---- */

static bool is_unused_clean(const struct frame *frame)
{
    return frame->state == FRAME_CLEAN && frame->generation > 0 &&
           frame->pins == (frame->system ? 1 : 0);
}

bool pool_copy_clean(struct pool *pool, size_t index, struct frame_copy *copy)
{
    struct frame *frame = &pool->frames[index];
    uint64_t key = atomic_load(&frame->key);
    if (!key)
        return false;
    pthread_mutex_t *lock = pool_lock_key(pool, key);
    pthread_mutex_lock(lock);
    bool fit = atomic_load(&frame->key) == key && is_unused_clean(frame);
    if (fit) {
        copy->index = index;
        copy->key = key;
        copy->generation = frame->generation;
        copy->lsn = frame->lsn;
        copy->system = frame->system;
        memcpy(copy->bytes, frame->bytes, PAGE_BYTES);
    }
    pthread_mutex_unlock(lock);
    return fit;
}

void pool_give_up_clean(struct pool *pool, const struct frame_copy *copy, const uint8_t *image)
{
    struct frame *frame = &pool->frames[copy->index];
    pthread_mutex_t *lock = pool_lock_key(pool, copy->key);
    pthread_mutex_lock(lock);
    bool same = atomic_load(&frame->key) == copy->key && is_unused_clean(frame) &&
                frame->generation == copy->generation;
    bool freed = same && !frame->system;
    if (freed)
        hash_remove(pool, frame);
    else if (same)
        memcpy(frame->bytes, image, PAGE_BYTES);
    pthread_mutex_unlock(lock);
    if (freed)
        free_list_return(pool, frame);
}

/* ---- waiting for a frame ---- */

void pool_wait_for_frame(struct pool *pool, struct task *task)
{
    pthread_mutex_lock(&pool->free_lock);
    if (atomic_load(&task->wait_list) != &pool->frame_waiters) {
        atomic_fetch_add(&pool->waiting, 1);
        wait_list_add(&pool->frame_waiters, task);
    }
    pthread_mutex_unlock(&pool->free_lock);
    /* What became evictable before the task stood in the list woke nobody: look once more. */
    struct frame *frame = frame_take(pool);
    if (frame) {
        free_list_put(pool, frame);
        pool_wake_waiters(pool, 1);
    }
    call_cleaner(pool);
}

void pool_wait_forget(struct pool *pool, struct task *task)
{
    if (atomic_load(&task->wait_list) != &pool->frame_waiters)
        return;
    pthread_mutex_lock(&pool->free_lock);
    if (atomic_load(&task->wait_list) == &pool->frame_waiters) {
        wait_list_remove(&pool->frame_waiters, task);
        atomic_fetch_sub(&pool->waiting, 1);
    }
    pthread_mutex_unlock(&pool->free_lock);
}

/* ---- get ---- */

static enum pool_get frame_use(struct frame *frame, struct task *task, struct frame **out)
{
    frame_assert_state(frame);
    switch (frame->state) {
    case FRAME_READING:
    case FRAME_FORMATTING:
        wait_list_add(&frame->waiters, task);
        return POOL_WAIT;
    case FRAME_BAD:
        return POOL_QUARANTINED;
    default:
        frame->pins++;
        frame->referenced = true;
        *out = frame;
        return POOL_HIT;
    }
}

/* Under the partition lock: the page is the caller's to fill. */
static void frame_enter(struct pool *pool, struct frame *fresh, uint64_t key)
{
    hash_insert(pool, fresh, key);
    fresh->state = FRAME_READING;
    fresh->pins = 1;
    fresh->referenced = true;
    fresh->write_failures = 0;
    fresh->generation = 0;
    frame_assert_state(fresh);
}

enum pool_get pool_get(struct pool *pool, uint64_t key, struct task *task, struct frame **out)
{
    pthread_mutex_t *lock = pool_lock_key(pool, key);
    pthread_mutex_lock(lock);
    struct frame *frame = pool_find_locked(pool, key);
    enum pool_get got = frame ? frame_use(frame, task, out) : POOL_MISS;
    pthread_mutex_unlock(lock);
    if (frame)
        return got;

    struct frame *fresh = frame_take(pool);
    if (!fresh) {
        pool_wait_for_frame(pool, task);
        return POOL_NO_FRAME;
    }
    pthread_mutex_lock(lock);
    frame = pool_find_locked(pool, key); /* another worker may have been faster */
    if (frame) {
        got = frame_use(frame, task, out);
    } else {
        frame_enter(pool, fresh, key);
        *out = fresh;
    }
    pthread_mutex_unlock(lock);
    if (frame)
        free_list_return(pool, fresh);
    return got;
}

enum pool_get pool_claim(struct pool *pool, uint64_t key, struct frame **out)
{
    if (pool_contains(pool, key))
        return POOL_HIT;
    struct frame *fresh = frame_take(pool);
    if (!fresh)
        return POOL_NO_FRAME;
    pthread_mutex_t *lock = pool_lock_key(pool, key);
    pthread_mutex_lock(lock);
    bool there = pool_find_locked(pool, key) != NULL;
    if (!there)
        frame_enter(pool, fresh, key);
    pthread_mutex_unlock(lock);
    if (there) {
        free_list_return(pool, fresh);
        return POOL_HIT;
    }
    *out = fresh;
    return POOL_MISS;
}

struct frame *pool_take(struct pool *pool, uint64_t key)
{
    struct frame *frame;
    return pool_claim(pool, key, &frame) == POOL_MISS ? frame : NULL;
}

struct frame *pool_borrow(struct pool *pool)
{
    return frame_take(pool);
}

void pool_give_back(struct pool *pool, struct frame *frame)
{
    assert(frame->state == FRAME_FREE);
    free_list_return(pool, frame);
}

bool pool_discard(struct pool *pool, uint64_t key, struct task *task, bool *waits,
                  uint64_t *generation)
{
    pthread_mutex_t *lock = pool_lock_key(pool, key);
    pthread_mutex_lock(lock);
    struct frame *frame = pool_find_locked(pool, key);
    bool busy = frame && (frame->state == FRAME_WRITING || frame->state == FRAME_READING ||
                          frame->state == FRAME_FORMATTING);
    bool gone = frame && !busy && frame->pins == 0;
    *waits = busy;
    *generation = gone ? frame->generation : 0;
    if (busy)
        wait_list_add(&frame->waiters, task);
    if (gone) {
        assert(!frame->system);
        frame_forget_change(pool, frame);
        hash_remove(pool, frame);
        wait_list_wake_all(&frame->waiters);
    }
    pthread_mutex_unlock(lock);
    if (gone)
        free_list_return(pool, frame);
    return gone || !frame;
}

bool pool_contains(struct pool *pool, uint64_t key)
{
    pthread_mutex_t *lock = pool_lock_key(pool, key);
    pthread_mutex_lock(lock);
    bool found = pool_find_locked(pool, key) != NULL;
    pthread_mutex_unlock(lock);
    return found;
}

/* ---- overwriting whole pages ---- */

/* Under the partition lock. */
static enum pool_get overwrite_locked(struct pool *pool, struct frame *frame, struct task *task)
{
    assert(!frame->system);
    if (frame->state == FRAME_BAD)
        return POOL_QUARANTINED;
    if (frame->state != FRAME_CLEAN && frame->state != FRAME_DIRTY) {
        if (task)
            wait_list_add(&frame->waiters, task);
        return POOL_WAIT;
    }
    frame->was_dirty = frame->state == FRAME_DIRTY;
    if (!frame->was_dirty)
        list_enter(pool, frame);
    frame->state = FRAME_FORMATTING;
    frame->referenced = true;
    frame_assert_state(frame);
    return POOL_HIT;
}

enum pool_get pool_overwrite(struct pool *pool, uint64_t key, struct task *task, struct frame **out)
{
    struct frame *fresh = NULL;
    if (!pool_contains(pool, key)) {
        fresh = frame_take(pool);
        if (!fresh && task)
            pool_wait_for_frame(pool, task);
        if (!fresh)
            return POOL_NO_FRAME;
    }
    pthread_mutex_t *lock = pool_lock_key(pool, key);
    pthread_mutex_lock(lock);
    struct frame *frame = pool_find_locked(pool, key);
    enum pool_get got = POOL_NO_FRAME; /* evicted this moment, and none in hand */
    if (frame) {
        got = overwrite_locked(pool, frame, task);
        *out = frame;
    } else if (fresh) {
        frame_enter(pool, fresh, key);
        fresh->state = FRAME_FORMATTING;
        fresh->pins = 0;
        fresh->was_dirty = false;
        list_enter(pool, fresh);
        *out = fresh;
        got = POOL_MISS;
    }
    pthread_mutex_unlock(lock);
    if (fresh && got != POOL_MISS)
        free_list_return(pool, fresh);
    return frame || fresh ? got : pool_overwrite(pool, key, task, out);
}

void pool_overwrite_end(struct pool *pool, struct frame *frame, uint64_t generation, struct lsn lsn,
                        uint16_t actor)
{
    pthread_mutex_t *lock = frame_lock(pool, frame);
    pthread_mutex_lock(lock);
    assert(frame->state == FRAME_FORMATTING && generation > frame->generation);
    frame->state = frame->was_dirty ? FRAME_DIRTY : FRAME_CLEAN;
    frame->generation = generation;
    frame->actor = actor;
    frame_mark_dirty(pool, frame, lsn);
    wait_list_wake_all(&frame->waiters);
    pthread_mutex_unlock(lock);
}

void pool_overwrite_cancel(struct pool *pool, struct frame *frame)
{
    pthread_mutex_t *lock = frame_lock(pool, frame);
    pthread_mutex_lock(lock);
    assert(frame->state == FRAME_FORMATTING);
    bool fresh = frame->generation == 0;
    frame->state = frame->was_dirty ? FRAME_DIRTY : FRAME_CLEAN;
    if (!frame->was_dirty)
        list_leave(pool, frame);
    if (fresh)
        hash_remove(pool, frame);
    wait_list_wake_all(&frame->waiters);
    pthread_mutex_unlock(lock);
    if (fresh)
        free_list_return(pool, frame);
    else
        pool_wake_waiters(pool, 1); /* it may be had again */
}

void pool_read_done(struct pool *pool, struct frame *frame, bool right, uint64_t generation)
{
    pthread_mutex_t *lock = frame_lock(pool, frame);
    pthread_mutex_lock(lock);
    assert(frame->state == FRAME_READING && frame->pins == 1);
    if (right) {
        frame->state = FRAME_CLEAN;
        frame->generation = generation;
        frame->lsn = page_lsn(frame->bytes);
    } else {
        frame->pins = 0;
        hash_remove(pool, frame);
    }
    frame_assert_state(frame);
    wait_list_wake_all(&frame->waiters);
    pthread_mutex_unlock(lock);
    if (!right) {
        free_list_put(pool, frame);
        pool_wake_waiters(pool, 1);
    }
}

void pool_unpin(struct pool *pool, struct frame *frame)
{
    pthread_mutex_t *lock = frame_lock(pool, frame);
    pthread_mutex_lock(lock);
    assert(frame->pins > 0);
    frame->pins--;
    bool free = frame->pins == 0, dirty = frame->state == FRAME_DIRTY;
    pthread_mutex_unlock(lock);
    if (free && !dirty)
        pool_wake_waiters(pool, 1);
    else if (free && atomic_load(&pool->waiting) > 0)
        call_cleaner(pool);
}

struct frame *pool_add_system(struct pool *pool, uint64_t key)
{
    pthread_mutex_lock(&pool->free_lock);
    struct frame *frame = pool->system_free_list;
    assert(frame); /* pool_create was told how many there will be */
    pool->system_free_list = frame->hash_next;
    pthread_mutex_unlock(&pool->free_lock);
    memset(frame->bytes, 0, PAGE_BYTES);
    pthread_mutex_t *lock = pool_lock_key(pool, key);
    pthread_mutex_lock(lock);
    assert(!pool_find_locked(pool, key));
    hash_insert(pool, frame, key);
    frame->state = FRAME_CLEAN;
    frame->pins = 1;
    frame_assert_state(frame);
    pthread_mutex_unlock(lock);
    return frame;
}

/* ---- state changes ---- */

void frame_mark_dirty(struct pool *pool, struct frame *frame, struct lsn lsn)
{
    assert(frame->state == FRAME_CLEAN || frame->state == FRAME_DIRTY);
    if (frame->state == FRAME_CLEAN) {
        frame->state = FRAME_DIRTY;
        frame->first_change = lsn_position(lsn);
        atomic_fetch_add(&pool->dirty_count, 1);
        if (!frame->dirty.listed) /* else since it was claimed to be overwritten */
            list_enter(pool, frame);
    }
    frame->lsn = lsn;
    frame_assert_state(frame);
}

void frame_forget_change(struct pool *pool, struct frame *frame)
{
    if (frame->state != FRAME_DIRTY)
        return;
    atomic_fetch_sub(&pool->dirty_count, 1);
    list_leave(pool, frame);
    frame->state = FRAME_CLEAN;
}

void frame_begin_write(struct pool *pool, struct frame *frame)
{
    struct dirty_list *list = list_of(pool, frame);
    assert(frame->state == FRAME_DIRTY);
    if (list)
        dirty_list_write_begins(list, frame);
    frame->state = FRAME_WRITING;
    frame->writer = NULL;
    frame_assert_state(frame);
}

void frame_end_write(struct pool *pool, struct frame *frame, bool ok)
{
    assert(frame->state == FRAME_WRITING);
    frame->write_failures = ok ? 0 : frame->write_failures + 1;
    if (ok)
        frame->state = FRAME_CLEAN;
    else
        frame->state = frame->write_failures < POOL_WRITE_FAILURES_MAX ? FRAME_DIRTY : FRAME_BAD;
    struct dirty_list *list = list_of(pool, frame);
    if (list)
        dirty_list_write_ended(list, frame, frame->state == FRAME_DIRTY);
    if (frame->state != FRAME_DIRTY)
        atomic_fetch_sub(&pool->dirty_count, 1);
    frame_assert_state(frame);
    wait_list_wake_all(&frame->waiters);
}
