/* Allocation: the map pages against a count of their own, and what the log says of each change.
 *
 * What is expected follows from the reference, section 2.2: PFS at 1 and every 8,088 pages; GAM,
 * SGAM, DIFF and ML at 2, 3, 6 and 7 of the first 511,232 pages and at 0, 1, 6 and 7 of each later
 * interval; one IAM an interval at its page 8; boot page 9; pages 4 and 5 reserved. */
#include "tests/core_fixture.h"

#include <xxhash.h>

#include "patterns/rng.h"
#include "sim/allocation.h"

#define INTERVAL    511232u
#define PFS_STEP    8088u
#define BIG_PAGES   (INTERVAL + 20000) /* into the second GAM interval */
#define RECORDS_MAX 4096

/* ---- the oracle ---- */

static bool is_pfs(uint32_t page_no)
{
    return page_no == 1 || (page_no > 0 && page_no % PFS_STEP == 0);
}

static bool is_map(uint32_t page_no, uint32_t first, uint32_t later)
{
    return page_no < INTERVAL ? page_no == first : page_no % INTERVAL == later;
}

static bool is_iam(uint32_t page_no)
{
    return page_no % INTERVAL == 8;
}

static bool is_data(uint32_t page_no)
{
    bool map = is_map(page_no, 2, 0) || is_map(page_no, 3, 1) || is_map(page_no, 6, 6) ||
               is_map(page_no, 7, 7);
    bool fixed = page_no == 0 || page_no == 4 || page_no == 5 || page_no == 9;
    return !map && !fixed && !is_pfs(page_no) && !is_iam(page_no);
}

static uint8_t pfs_byte_expected(uint32_t page_no, bool allocated)
{
    if (!allocated || page_no == 4 || page_no == 5)
        return 0;
    return is_iam(page_no) ? 0x74 : 0x44; /* reference 2.3: mixed IAM page; 100 % full */
}

static bool extent_has_data_expected(uint32_t extent)
{
    for (uint32_t i = 0; i < 8; i++)
        if (is_data(8 * extent + i))
            return true;
    return false;
}

/* ---- a file that exists in the pool only: as large as it needs to be ---- */

struct scene {
    struct core core;
    struct pool pool;
    struct data_file file;
    struct probe probe;
    bool *allocated; /* chunks of 128 pages */
};

static void scene_begin(struct scene *s, uint32_t size_pages)
{
    struct sim_options options = {.log_bytes = 16 * CORE_MIB,
                                  .settings = {{"CONFIG", "SectorSize", "512"}}};
    memset(s, 0, sizeof *s);
    core_begin(&s->core, &options);
    assert_int_equal(pool_create(&s->pool, 8, syspage_count_of(size_pages, true)), 0);
    s->core.db->pool = &s->pool;
    s->file.file.mark = s->core.data->file.mark;
    s->file.file.size_pages = size_pages;
    s->file.file.target.fd = -1;
    assert_int_equal(data_file_init(&s->file, s->core.db, 0, true), 0);
    probe_init(&s->probe, s->core.worker);
    s->allocated = calloc(size_pages / ALLOCATION_CHUNK_PAGES + 1, sizeof *s->allocated);
}

static void scene_end(struct scene *s)
{
    s->core.db->pool = &s->core.run->pool;
    data_file_free(&s->file);
    pool_destroy(&s->pool);
    free(s->allocated);
    core_end(&s->core);
}

static void allocate_chunk(struct scene *s, uint32_t chunk)
{
    struct wal *wal = s->core.wal;
    struct allocation allocation;
    struct xact xact;
    uint32_t first = chunk * ALLOCATION_CHUNK_PAGES;
    uint32_t left = s->file.file.size_pages - first;
    uint32_t count = left < ALLOCATION_CHUNK_PAGES ? left : ALLOCATION_CHUNK_PAGES;
    assert_true(wal_reserve(wal, &xact, allocation_log_need(wal->sector_bytes), &s->probe.task));
    allocation_plan(&allocation, &s->file, first, count);
    int error;
    while ((error = allocation_step(&allocation, &xact, &s->probe.task)) == -EAGAIN)
        core_settle(&s->core);
    assert_int_equal(error, 0);
    s->allocated[chunk] = true;
    wal_end(wal, &xact);
}

static bool page_is_allocated(const struct scene *s, uint32_t page_no)
{
    return s->allocated[page_no / ALLOCATION_CHUNK_PAGES];
}

static struct frame *page_frame(struct scene *s, uint32_t page_no)
{
    uint64_t key = page_key(s->file.file.mark.file_uid, page_no);
    pthread_mutex_lock(pool_lock_key(&s->pool, key));
    struct frame *frame = pool_find_locked(&s->pool, key);
    pthread_mutex_unlock(pool_lock_key(&s->pool, key));
    return frame;
}

/* Pages whose PFS byte is not as it should be. */
static unsigned wrong_pfs_bytes(struct scene *s)
{
    unsigned wrong = 0;
    for (uint32_t page_no = 0; page_no < s->file.file.size_pages; page_no++) {
        uint32_t pfs = page_no < PFS_STEP ? 1 : page_no / PFS_STEP * PFS_STEP;
        struct frame *frame = page_frame(s, pfs);
        bool allocated = page_is_allocated(s, page_no);
        uint8_t is = frame ? pfs_get(frame->bytes, page_no) : 0;
        wrong += is != pfs_byte_expected(page_no, allocated);
    }
    return wrong;
}

/* Extents whose bit in the maps at `first` (later intervals: `later`) is not as it should be. */
static unsigned wrong_bits(struct scene *s, uint32_t first, uint32_t later, bool when_free,
                           bool only_data)
{
    unsigned wrong = 0;
    for (uint32_t extent = 0; extent < s->file.file.size_pages / 8; extent++) {
        uint32_t interval = extent * 8 / INTERVAL;
        struct frame *frame = page_frame(s, interval ? interval * INTERVAL + later : first);
        bool is = frame ? bitmap_get(frame->bytes, extent) : when_free;
        bool set = page_is_allocated(s, extent * 8);
        if (only_data && !extent_has_data_expected(extent))
            set = false;
        wrong += is != (set ? !when_free : when_free);
    }
    return wrong;
}

static void assert_maps_are_right(struct scene *s)
{
    assert_int_equal(wrong_pfs_bytes(s), 0);
    assert_int_equal(wrong_bits(s, 2, 0, true, false), 0);  /* GAM: 1 = free */
    assert_int_equal(wrong_bits(s, 6, 6, false, false), 0); /* DIFF */
    assert_int_equal(wrong_bits(s, 7, 7, false, false), 0); /* ML */
    assert_int_equal(wrong_bits(s, 8, 8, false, true), 0);  /* IAM: extents with data */
}

static void a_small_file_is_allocated_right(void **state)
{
    (void)state;
    struct scene s;
    scene_begin(&s, 2048);
    for (uint32_t chunk = 0; chunk < 16; chunk++)
        allocate_chunk(&s, chunk);
    assert_maps_are_right(&s);
    scene_end(&s);
}

static void a_last_chunk_that_is_short_is_allocated_right(void **state)
{
    (void)state;
    struct scene s;
    scene_begin(&s, 128 + 24);
    allocate_chunk(&s, 0);
    allocate_chunk(&s, 1);
    assert_maps_are_right(&s);
    scene_end(&s);
}

/* PFS pages stand at 8088 and 16176: a chunk of 128 pages (8064 to 8191) touches two of them. */
static void chunks_over_the_borders_of_pfs_intervals_are_allocated_right(void **state)
{
    (void)state;
    struct scene s;
    scene_begin(&s, 20480);
    allocate_chunk(&s, 8088 / 128);
    allocate_chunk(&s, 16176 / 128);
    assert_maps_are_right(&s);
    for (uint32_t chunk = 0; chunk < 160; chunk++)
        if (!s.allocated[chunk])
            allocate_chunk(&s, chunk);
    assert_maps_are_right(&s);
    scene_end(&s);
}

static void the_second_gam_interval_has_maps_of_its_own(void **state)
{
    (void)state;
    struct scene s;
    struct rng rng;
    scene_begin(&s, BIG_PAGES);
    rng_seed(&rng, 3);
    uint32_t border = INTERVAL / 128; /* 3,994: chunks and intervals share their borders */
    assert_int_equal(border * 128, INTERVAL);
    allocate_chunk(&s, border - 1);
    allocate_chunk(&s, border);
    allocate_chunk(&s, border + 1);
    for (unsigned i = 0; i < 100; i++) {
        uint32_t chunk = (uint32_t)rng_below(&rng, BIG_PAGES / 128);
        if (!s.allocated[chunk])
            allocate_chunk(&s, chunk);
    }
    assert_maps_are_right(&s);
    assert_non_null(page_frame(&s, INTERVAL)); /* GAM, and not in the first interval's place */
    scene_end(&s);
}

/* ---- the log ---- */

struct change_list {
    struct log_page_change changes[RECORDS_MAX];
    uint8_t ops[RECORDS_MAX];
    unsigned count;
};

static void take_change(void *context, const struct log_record_view *record)
{
    struct change_list *list = context;
    struct log_page_change change;
    if (!log_record_change(record, &change))
        return;
    assert_true(list->count < RECORDS_MAX);
    list->ops[list->count] = record->op;
    list->changes[list->count++] = change;
}

static struct change_list *logged_changes(struct scene *s)
{
    struct change_list *list = calloc(1, sizeof *list);
    uint64_t position = core_append(&s->core, NULL, 16, &s->probe.task);
    if (!wal_wait_durable(s->core.wal, position, &s->probe.waiter, &s->probe.task))
        core_settle(&s->core);
    struct log_scan scan = {.on_record = take_change, .context = list};
    core_scan(&s->core, &scan);
    assert_int_equal(scan.damage_count, 0);
    return list;
}

/* verify/syspage_hash.h in words: m_flagBits (0x04), m_lsn (0x28) and the checksum (0x3C) count as
 * zero. */
static uint64_t image_hash(const uint8_t *page)
{
    uint8_t image[PAGE_BYTES];
    memcpy(image, page, PAGE_BYTES);
    memset(image + 0x04, 0, 2);
    memset(image + 0x28, 0, 10);
    memset(image + 0x3C, 0, 4);
    return XXH3_64bits(image, PAGE_BYTES);
}

static void each_change_is_logged_with_its_generation(void **state)
{
    (void)state;
    struct scene s;
    uint64_t generation[2048] = {0};
    scene_begin(&s, 2048);
    for (uint32_t chunk = 0; chunk < 16; chunk++)
        allocate_chunk(&s, chunk);
    struct change_list *list = logged_changes(&s);
    for (unsigned i = 0; i < list->count; i++) {
        const struct log_page_change *change = &list->changes[i];
        assert_int_equal(list->ops[i], LOG_OP_SET_BITS);
        assert_int_equal(change->file_uid, CORE_DATA_UID);
        assert_int_equal(change->incarnation, 1);
        assert_int_equal(change->page_count, 1);
        assert_int_equal(change->generation, ++generation[change->page_no]);
    }
    for (uint32_t page_no = 0; page_no < 2048; page_no++) {
        struct frame *frame = page_frame(&s, page_no);
        assert_int_equal(frame ? frame->generation : 0, generation[page_no]);
    }
    /* PFS, GAM, DIFF, ML and IAM change with each of the 16 chunks */
    static const uint32_t maps[] = {1, 2, 6, 7, 8};
    for (unsigned i = 0; i < 5; i++)
        assert_int_equal(generation[maps[i]], 16);
    free(list);
    scene_end(&s);
}

static void the_newest_record_of_a_page_has_the_hash_of_its_image(void **state)
{
    (void)state;
    struct scene s;
    uint64_t hash[2048] = {0};
    scene_begin(&s, 2048);
    for (uint32_t chunk = 0; chunk < 16; chunk++)
        allocate_chunk(&s, chunk);
    struct change_list *list = logged_changes(&s);
    for (unsigned i = 0; i < list->count; i++)
        hash[list->changes[i].page_no] = list->changes[i].image_xxh3;
    unsigned compared = 0;
    for (uint32_t page_no = 0; page_no < 2048; page_no++) {
        struct frame *frame = page_frame(&s, page_no);
        if (!frame)
            continue;
        assert_int_equal(hash[page_no], image_hash(frame->bytes));
        compared++;
    }
    assert_int_equal(compared, 8); /* 0, 1, 2, 3, 6, 7, 8, 9 */
    free(list);
    scene_end(&s);
}

static void a_changed_page_is_dirty_with_the_lsn_of_its_record(void **state)
{
    (void)state;
    struct scene s;
    scene_begin(&s, 2048);
    allocate_chunk(&s, 0);
    struct frame *gam = page_frame(&s, 2);
    assert_int_equal(gam->state, FRAME_DIRTY);
    assert_int_equal(gam->lsn.fseq, run_first_fseq(s.core.run->run_id));
    assert_true(gam->first_change == lsn_position(gam->lsn));
    scene_end(&s);
}

static void a_page_being_written_is_waited_for(void **state)
{
    (void)state;
    struct scene s;
    struct allocation allocation;
    struct xact xact;
    scene_begin(&s, 2048);
    allocate_chunk(&s, 0);
    struct frame *gam = page_frame(&s, 2);
    frame_begin_write(&s.pool, gam);
    assert_true(wal_reserve(s.core.wal, &xact, allocation_log_need(512), &s.probe.task));
    allocation_plan(&allocation, &s.file, 128, 128);
    assert_int_equal(allocation_step(&allocation, &xact, &s.probe.task), -EAGAIN);
    core_settle(&s.core);
    assert_int_equal(s.probe.turns, 0);
    assert_true(bitmap_get(gam->bytes, 16)); /* nothing changes while it is written */
    frame_end_write(&s.pool, gam, true);
    core_settle(&s.core);
    assert_int_equal(s.probe.turns, 1);
    assert_int_equal(allocation_step(&allocation, &xact, &s.probe.task), 0);
    assert_false(bitmap_get(gam->bytes, 16));
    wal_end(s.core.wal, &xact);
    scene_end(&s);
}

/* The reservation holds for the chunk that changes most: the first of the second interval holds a
 * PFS byte range, five maps of its own and their system pages. */
static void a_chunk_never_needs_more_log_than_is_reserved(void **state)
{
    (void)state;
    struct scene s;
    scene_begin(&s, BIG_PAGES);
    for (uint32_t chunk = 0; chunk < BIG_PAGES / 128; chunk++) {
        struct allocation allocation;
        allocation_plan(&allocation, &s.file, chunk * 128, 128);
        uint64_t records = allocation.page_count + 16 + 2; /* extents, begin and commit */
        assert_true(records * log_record_cost(sizeof(struct log_page_change), 512) <=
                    allocation_log_need(512));
    }
    scene_end(&s);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_small_file_is_allocated_right),
        cmocka_unit_test(a_last_chunk_that_is_short_is_allocated_right),
        cmocka_unit_test(chunks_over_the_borders_of_pfs_intervals_are_allocated_right),
        cmocka_unit_test(the_second_gam_interval_has_maps_of_its_own),
        cmocka_unit_test(each_change_is_logged_with_its_generation),
        cmocka_unit_test(the_newest_record_of_a_page_has_the_hash_of_its_image),
        cmocka_unit_test(a_changed_page_is_dirty_with_the_lsn_of_its_record),
        cmocka_unit_test(a_page_being_written_is_waited_for),
        cmocka_unit_test(a_chunk_never_needs_more_log_than_is_reserved),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
