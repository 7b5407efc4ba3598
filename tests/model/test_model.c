/*
 * Random operations on pool, log and ledger over the modelled device, against a trivial model: for
 * each page the newest generation in memory, the newest one sent, and the newest acknowledged.
 *
 * Clients run transactions step by step, checkpoints are the real executor, single gathers go out
 * between them, readers read past the pool, time passes, and at a random moment the power fails or
 * everything is brought to rest.  Then the files are read without the simulator and compared:
 *
 *  - the log is whole up to the durable end, and has every change up to there that its live part
 *    covers; what was acknowledged as committed lies before that end;
 *  - every change up to there that its page on disk lacks is in the log, so that it can be redone;
 *  - no page is newer than the end of the log;
 *  - a page holds a generation between its last durable and its newest sent one; torn it is only
 *    where a write was under way at the cut.
 *
 * TEST_SEED=N repeats one episode.
 */
#include "tests/core_fixture.h"

#include "patterns/rng.h"
#include "sim/actor.h"
#include "sim/one_checkpoint.h"
#include "sim/page_change.h"
#include "tests/model/seeds.h"

#define EPISODES      300
#define STEPS         4000
#define PAGES         128 /* of the file; the first ten are system pages */
#define FIRST_PAGE    10
#define CLIENTS       6
#define CHANGES_MAX   8     /* of a transaction */
#define LOG_BYTES_MAX 20000 /* so that an episode uses its VLFs more than once */
#define GATHERS       4
#define HISTORY_MAX   STEPS

struct model_page {
    uint64_t changed; /* in memory */
    uint64_t sent;    /* newest submitted */
    uint64_t acked;
    uint64_t floor; /* certainly survives a cut */
    uint64_t snapshot;
};

struct change {
    uint32_t page_no;
    uint64_t generation;
    uint64_t position; /* in the log */
};

enum client_state {
    CLIENT_IDLE,
    CLIENT_CHANGING,
    CLIENT_READING,
    CLIENT_COMMITTING,
    CLIENT_WAITING
};

struct world;

struct client {
    struct task task;
    struct world *world;
    enum client_state state;
    bool parked, woken;
    struct xact xact;
    struct wal_waiter waiter;
    struct page_reader reader;
    struct frame *frame;
    uint32_t page_no;
    unsigned left;
    uint64_t commit_position;
};

struct sender {
    struct gather gather;
    struct world *world;
    bool busy;
};

struct world {
    struct core core;
    struct rng rng;
    struct model_page pages[PAGES];
    struct change history[HISTORY_MAX];
    unsigned history_count;
    struct client clients[CLIENTS];
    struct sender senders[GATHERS];
    struct client auditor; /* reads past the pool */
    uint8_t *audit_page;
    bool auditing;
    struct actor *checkpoint;
    uint64_t checkpoints_before, durable_end_before;
    uint64_t newest_commit; /* position of the newest acknowledged commit */
    unsigned commits, reads, checkpoints;
    bool write_through, sends;
    uint64_t checkpoint_rarity; /* with few of them the log fills up */
};

static enum task_result client_woken(struct task *task)
{
    ((struct client *)task)->woken = true;
    return TASK_PARK;
}

static uint64_t key_of(uint32_t page_no)
{
    return page_key(CORE_DATA_UID, page_no);
}

static uint32_t any_page(struct world *w)
{
    return FIRST_PAGE + (uint32_t)rng_below(&w->rng, PAGES - FIRST_PAGE);
}

static bool park(struct client *c)
{
    c->parked = true;
    c->woken = false;
    return false;
}

/* ---- clients: each function is one step; false when the client must wait ---- */

static void client_finish(struct client *c)
{
    wal_end(c->world->core.wal, &c->xact);
    c->state = CLIENT_IDLE;
}

static bool client_begin(struct client *c)
{
    struct world *w = c->world;
    size_t sector = w->core.wal->sector_bytes;
    c->left = 1 + (unsigned)rng_below(&w->rng, CHANGES_MAX);
    uint64_t need =
        c->left * page_change_cost(LOG_BYTES_MAX, sector) + 2 * log_record_cost(16, sector);
    if (need > wal_transaction_max(w->core.wal)) {
        c->left = 1;
        need = page_change_cost(LOG_BYTES_MAX, sector) + 2 * log_record_cost(16, sector);
    }
    if (!wal_reserve(w->core.wal, &c->xact, need, &c->task))
        return park(c);
    c->state = CLIENT_CHANGING;
    c->page_no = any_page(w);
    return true;
}

static uint64_t image_generation(const uint8_t *page)
{
    return page_is_zero(page, PAGE_BYTES) ? 0 : page_stamp_of(page)->generation;
}

static bool client_get(struct client *c)
{
    struct world *w = c->world;
    switch (pool_get(&w->core.run->pool, key_of(c->page_no), &c->task, &c->frame)) {
    case POOL_HIT:
        return true;
    case POOL_MISS:
        page_read_start(&c->reader, w->core.data, c->page_no, c->frame->bytes, STREAM_page_read);
        c->state = CLIENT_READING;
        return park(c);
    default:
        return park(c);
    }
}

static void client_next_page(struct client *c)
{
    pool_unpin(&c->world->core.run->pool, c->frame);
    c->frame = NULL;
    c->page_no = any_page(c->world);
    c->left--;
    c->state = c->left ? CLIENT_CHANGING : CLIENT_COMMITTING;
}

/* Under the frame's lock. */
static int change_locked(struct client *c)
{
    struct world *w = c->world;
    struct frame *frame = c->frame;
    struct file *file = &w->core.data->file;
    struct model_page *page = &w->pages[c->page_no];
    if (frame->state == FRAME_WRITING) {
        wait_list_add(&frame->waiters, &c->task);
        return -EAGAIN;
    }
    assert_int_equal(frame->generation, page->changed);
    struct page_identity identity = {file->mark.file_uid, file->mark.incarnation,
                                     file->mark.file_id, c->page_no, frame->generation + 1};
    struct lsn lsn;
    uint32_t bytes = (uint32_t)rng_below(&w->rng, LOG_BYTES_MAX);
    int error = page_change_log(w->core.wal, &c->xact, &identity, bytes, &lsn, &c->task);
    if (error)
        return error;
    page_fill(frame->bytes, &w->core.run->identity, &identity, 1);
    frame->generation = identity.generation;
    frame_mark_dirty(&w->core.run->pool, frame, lsn);
    page->changed = identity.generation;
    assert_true(w->history_count < HISTORY_MAX);
    w->history[w->history_count++] =
        (struct change){c->page_no, identity.generation, lsn_position(lsn)};
    return 0;
}

static bool client_change(struct client *c)
{
    if (!c->frame && !client_get(c))
        return false;
    pthread_mutex_t *lock = frame_lock(&c->world->core.run->pool, c->frame);
    pthread_mutex_lock(lock);
    int error = change_locked(c);
    pthread_mutex_unlock(lock);
    if (error == -EAGAIN)
        return park(c);
    assert_int_equal(error, 0);
    client_next_page(c);
    return true;
}

/* What a read brings in is what was acknowledged last: nobody can have written it meanwhile. */
static bool client_read(struct client *c)
{
    struct world *w = c->world;
    enum page_read_result result = page_read_step(&c->reader);
    if (result == PAGE_READ_WAIT)
        return park(c);
    assert_int_equal(result, PAGE_READ_RIGHT);
    uint64_t generation = image_generation(c->frame->bytes);
    assert_int_equal(generation, w->pages[c->page_no].acked);
    pool_read_done(&w->core.run->pool, c->frame, true, generation);
    w->reads++;
    c->state = CLIENT_CHANGING;
    return true;
}

static bool client_commit(struct client *c)
{
    struct wal *wal = c->world->core.wal;
    uint8_t payload[16] = "PSTC";
    struct log_record record = {.op = LOG_OP_COMMIT_XACT,
                                .xact_id = c->xact.id,
                                .head = payload,
                                .head_bytes = sizeof payload,
                                .payload_bytes = sizeof payload};
    struct lsn lsn;
    int error = wal_append(wal, &c->xact, &record, 1, &lsn, &c->task);
    if (error == -EAGAIN)
        return park(c);
    assert_int_equal(error, 0);
    c->commit_position = lsn_position(lsn);
    c->state = CLIENT_WAITING;
    return true;
}

static bool client_wait(struct client *c)
{
    struct world *w = c->world;
    if (!wal_wait_durable(w->core.wal, c->commit_position, &c->waiter, &c->task))
        return park(c);
    if (c->commit_position > w->newest_commit)
        w->newest_commit = c->commit_position;
    w->commits++;
    client_finish(c);
    return true;
}

/* True if it did something. */
static bool client_step(struct client *c)
{
    static bool (*const steps[])(struct client *) = {
        [CLIENT_IDLE] = client_begin,   [CLIENT_CHANGING] = client_change,
        [CLIENT_READING] = client_read, [CLIENT_COMMITTING] = client_commit,
        [CLIENT_WAITING] = client_wait,
    };
    if (c->parked && !c->woken)
        return false;
    c->parked = false;
    steps[c->state](c);
    return true;
}

/* ---- writes: every image that goes out is the newest, and the ledger says so ---- */

static void note_sent(struct world *w)
{
    for (uint32_t page_no = FIRST_PAGE; page_no < PAGES; page_no++) {
        struct model_page *page = &w->pages[page_no];
        struct ledger_view view = ledger_view(w->core.run->ledger, CORE_DATA_UID, page_no);
        if (view.issued != page->sent) {
            assert_true(view.issued > page->sent && view.issued <= page->changed);
            page->sent = view.issued;
        }
        if (view.acked != page->acked) {
            assert_int_equal(view.acked, page->sent);
            page->acked = view.acked;
            if (w->write_through)
                page->floor = view.acked;
        }
    }
}

static void sender_done(struct gather *gather)
{
    ((struct sender *)gather->context)->busy = false;
}

static void sender_error(struct gather *gather, bool final)
{
    (void)gather;
    (void) final;
}

static void send_some(struct world *w)
{
    struct sender *sender = &w->senders[rng_below(&w->rng, GATHERS)];
    uint64_t position;
    if (sender->busy)
        return;
    unsigned cap = 1 + (unsigned)rng_below(&w->rng, 16);
    struct gather *gather = &sender->gather;
    if (writeback_collect(w->core.db, w->core.data, any_page(w), cap, gather, &position) !=
        COLLECT_CLAIMED)
        return;
    gather->stream = STREAM_checkpoint_write;
    gather->worker = w->core.worker;
    gather->retried = false;
    gather->done = sender_done;
    gather->on_error = sender_error;
    gather->run = w->core.run;
    gather->actor = "model";
    gather->context = sender;
    sender->busy = true;
    writeback_submit(gather);
}

/* ---- the real checkpoint ---- */

static bool checkpoint_runs(const struct world *w)
{
    return w->checkpoint && atomic_load(&w->core.run->tasks_running) > 0;
}

static bool vlf_is_kept(const struct wal *wal, uint32_t fseq)
{
    for (size_t i = 0; i < wal->vlf_count; i++)
        if (wal->vlfs[i].header.fseq == fseq)
            return wal->vlfs[i].in_use;
    return false;
}

/* What recovery would need is not given back: changes that are not on the device for certain. */
static void check_vlfs_kept(const struct world *w)
{
    for (unsigned i = 0; i < w->history_count; i++) {
        const struct change *c = &w->history[i];
        if (c->generation > w->pages[c->page_no].floor &&
            !vlf_is_kept(w->core.wal, (uint32_t)(c->position >> 32)))
            fail_msg("the log of page %u generation %ju was given back", c->page_no,
                     (uintmax_t)c->generation);
    }
}

/* One that is complete made durable what was dirty when it began. */
static void checkpoint_settle(struct world *w)
{
    if (!w->checkpoint || checkpoint_runs(w))
        return;
    bool complete = atomic_load(&w->core.db->checkpoints) > w->checkpoints_before;
    for (uint32_t page_no = FIRST_PAGE; page_no < PAGES && complete; page_no++)
        if (w->pages[page_no].floor < w->pages[page_no].snapshot)
            w->pages[page_no].floor = w->pages[page_no].snapshot;
    w->checkpoints += complete;
    note_sent(w);
    check_vlfs_kept(w);
    actor_free(w->checkpoint);
    free(w->checkpoint);
    w->checkpoint = NULL;
}

static void checkpoint_start(struct world *w)
{
    if (w->checkpoint)
        return;
    for (uint32_t page_no = FIRST_PAGE; page_no < PAGES; page_no++)
        w->pages[page_no].snapshot = w->pages[page_no].changed;
    w->checkpoints_before = atomic_load(&w->core.db->checkpoints);
    w->checkpoint = calloc(1, sizeof *w->checkpoint);
    assert_int_equal(actor_init(w->checkpoint, w->core.run, NULL, &pattern_one_checkpoint,
                                w->core.worker, 0, 0, w->core.db),
                     0);
    actor_start(w->checkpoint);
}

/* ---- reads past the pool ---- */

static void audit_step(struct world *w)
{
    struct client *a = &w->auditor;
    if (!w->auditing) {
        a->page_no = any_page(w);
        page_read_start(&a->reader, w->core.data, a->page_no, w->audit_page, STREAM_audit_read);
        w->auditing = true;
        park(a);
        return;
    }
    if (a->parked && !a->woken)
        return;
    enum page_read_result result = page_read_step(&a->reader);
    if (result == PAGE_READ_WAIT) {
        park(a);
        return;
    }
    w->auditing = false;
    assert_true(result == PAGE_READ_RIGHT || result == PAGE_READ_OVERLAPPED);
    note_sent(w);
    if (result == PAGE_READ_RIGHT)
        assert_int_equal(image_generation(w->audit_page), w->pages[a->page_no].acked);
    w->reads++;
}

/* ---- invariants after each step ---- */

static void check_invariants(struct world *w)
{
    struct pool *pool = &w->core.run->pool;
    size_t dirty = 0;
    for (size_t i = 0; i < pool->frame_count + pool->system_count; i++) {
        enum frame_state state = pool->frames[i].state;
        dirty += state == FRAME_DIRTY || state == FRAME_WRITING;
    }
    assert_int_equal(atomic_load(&pool->dirty_count), dirty);
    uint64_t reserved = 0;
    for (unsigned i = 0; i < CLIENTS; i++)
        reserved += w->clients[i].xact.reserved_bytes;
    assert_int_equal(w->core.wal->reserved_bytes, reserved);
    uint64_t durable_end = atomic_load(&w->core.wal->durable_end);
    assert_true(durable_end >= w->durable_end_before);
    assert_true(durable_end > w->newest_commit || w->newest_commit == 0);
    w->durable_end_before = durable_end;
    assert_int_equal(w->core.run->findings.count, 0);
    note_sent(w);
}

/* ---- afterwards, without the simulator ---- */

struct found {
    uint8_t *changes; /* of the history: seen in the log */
    struct world *world;
    uint32_t first_fseq;
    unsigned next; /* in the history, which has the order of the log */
};

static void take_record(void *context, const struct log_record_view *record)
{
    struct found *found = context;
    struct log_page_change change;
    if (found->first_fseq == 0)
        found->first_fseq = record->lsn.fseq;
    if (record->op != LOG_OP_MODIFY || !log_record_change(record, &change))
        return;
    for (unsigned i = found->next; i < found->world->history_count; i++) {
        const struct change *c = &found->world->history[i];
        if (c->page_no == change.page_no && c->generation == change.generation) {
            assert_int_equal(c->position, lsn_position(record->lsn));
            found->changes[i] = 1;
            found->next = i;
            return;
        }
    }
    fail_msg("the log has a change of page %u that nobody made", change.page_no);
}

/* The durable end as it was promised: the log writer's own may be that of a fresh VLF header. */
static uint64_t promised_end(const struct world *w)
{
    return atomic_load(&ledger_file_at(w->core.run->ledger, CORE_LOG_UID)->log_durable_position);
}

/* Fills found->changes. */
static void check_log(struct world *w, struct log_scan *scan, struct found *found)
{
    uint64_t durable_end = promised_end(w);
    if (durable_end == 0) /* not even the new file's VLF headers were flushed; nothing is owed */
        return;
    scan->on_record = take_record;
    scan->context = found;
    core_scan(&w->core, scan);
    /* Behind the durable end blocks may be missing in any order. */
    for (size_t i = 0; i < scan->damage_count; i++)
        assert_true(((uint64_t)scan->damage[i].fseq << 32 | scan->damage[i].block) >= durable_end);
    assert_true(durable_end <= scan->end_position);
    for (unsigned i = 0; i < w->history_count; i++) {
        const struct change *c = &w->history[i];
        bool owed = c->position < durable_end && c->position >> 32 >= found->first_fseq;
        if (owed && !found->changes[i])
            fail_msg("page %u generation %ju is durable and not in the log", c->page_no,
                     (uintmax_t)c->generation);
    }
}

/* The generation that the page has for certain. */
static uint64_t check_page(struct world *w, uint32_t page_no, const uint8_t *image,
                           uint64_t log_end_position)
{
    const struct model_page *page = &w->pages[page_no];
    bool under_way = page->sent > page->acked;
    bool sound = page_is_zero(image, PAGE_BYTES) || page_check(image) == PAGE_OK;
    if (!sound) {
        if (!under_way && w->write_through)
            fail_msg("page %u is torn, and no write was under way", page_no);
        assert_true(page->sent > page->floor);
        return page->floor;
    }
    uint64_t generation = image_generation(image);
    if (generation < page->floor || generation > page->sent)
        fail_msg("page %u has generation %ju, durable %ju, sent %ju", page_no,
                 (uintmax_t)generation, (uintmax_t)page->floor, (uintmax_t)page->sent);
    if (generation)
        assert_true(lsn_position(page_lsn(image)) < log_end_position);
    return generation;
}

/* Changes of the page that recovery would have to redo are there to be redone. */
static void check_redo(const struct world *w, const struct found *found, uint32_t page_no,
                       uint64_t generation)
{
    uint64_t durable_end = promised_end(w);
    for (unsigned i = 0; i < w->history_count; i++) {
        const struct change *c = &w->history[i];
        bool owed = c->page_no == page_no && c->generation > generation;
        if (owed && c->position < durable_end && !found->changes[i])
            fail_msg("page %u has generation %ju, and the log has lost generation %ju", page_no,
                     (uintmax_t)generation, (uintmax_t)c->generation);
    }
}

static void check_files(struct world *w)
{
    struct log_scan *scan = calloc(1, sizeof *scan);
    uint8_t image[PAGE_BYTES];
    struct found found = {.changes = calloc(HISTORY_MAX, 1), .world = w};
    check_log(w, scan, &found);
    int fd = open(w->core.data->file.path, O_RDONLY | O_CLOEXEC);
    assert_true(fd >= 0);
    for (uint32_t page_no = FIRST_PAGE; page_no < PAGES; page_no++) {
        off_t offset = (off_t)page_no * PAGE_BYTES;
        assert_int_equal(pread(fd, image, sizeof image, offset), sizeof image);
        uint64_t generation = check_page(w, page_no, image, scan->end_position);
        check_redo(w, &found, page_no, generation);
    }
    close(fd);
    free(found.changes);
    free(scan);
}

/* ---- an episode ---- */

static void client_init(struct client *c, struct world *w)
{
    c->world = w;
    task_init(&c->task, w->core.worker, client_woken);
    assert_int_equal(page_reader_init(&c->reader, w->core.run, &c->task, "model"), 0);
}

static struct world *world_begin(uint64_t seed, const char *directory)
{
    struct world *w = calloc(1, sizeof *w);
    rng_split(&w->rng, seed, DRAWN_PURPOSE, 1);
    w->write_through = rng_below(&w->rng, 3) > 0;
    w->sends = rng_below(&w->rng, 2);
    w->checkpoint_rarity = 1ull << rng_below(&w->rng, 8);
    struct sim_options options = {
        .seed = seed,
        .directory = directory,
        .data_bytes = PAGES * PAGE_BYTES,
        .log_bytes = (1 + rng_below(&w->rng, 2)) * CORE_MIB,
        .pool_bytes = (8 + rng_below(&w->rng, 56)) * PAGE_BYTES,
        .settings = {{"CONFIG", "WriteThrough", w->write_through ? "TRUE" : "FALSE"},
                     {"CONFIG", "SectorSize", rng_below(&w->rng, 2) ? "512" : "4096"}}};
    if (rng_below(&w->rng, 2)) /* much happens during one checkpoint */
        options.device = (struct mem_device_config){.channels = 2, .write_ns = 4 * NS_PER_MS};
    core_begin(&w->core, &options);
    for (unsigned i = 0; i < CLIENTS; i++)
        client_init(&w->clients[i], w);
    client_init(&w->auditor, w);
    w->audit_page = aligned_alloc(4096, PAGE_BYTES);
    return w;
}

static void random_step(struct world *w)
{
    switch (rng_below(&w->rng, 16)) {
    case 0:
        if (w->sends)
            send_some(w);
        break;
    case 1:
    case 2:
        audit_step(w);
        break;
    case 3:
        if (rng_below(&w->rng, w->checkpoint_rarity) == 0)
            checkpoint_start(w);
        break;
    case 4:
        core_pass(&w->core, rng_below(&w->rng, 2 * NS_PER_MS));
        break;
    case 5:
    case 6:
    case 7:
        core_step(&w->core, UINT64_MAX);
        break;
    default:
        client_step(&w->clients[rng_below(&w->rng, CLIENTS)]);
        break;
    }
    checkpoint_settle(w);
    check_invariants(w);
}

/* Clients inside a transaction, and how many of them can go on. */
static unsigned clients_busy(struct world *w, unsigned *runnable)
{
    unsigned busy = 0;
    *runnable = 0;
    for (unsigned i = 0; i < CLIENTS; i++) {
        const struct client *c = &w->clients[i];
        busy += c->state != CLIENT_IDLE;
        *runnable += c->state != CLIENT_IDLE && (!c->parked || c->woken);
    }
    return busy;
}

/* All transactions to their ends, without new ones.  That a client waits when nothing can happen
 * any more and no checkpoint could clean a frame for it is a lost wake-up. */
static void bring_to_rest(struct world *w)
{
    unsigned runnable;
    while (clients_busy(w, &runnable)) {
        for (unsigned i = 0; i < CLIENTS; i++)
            if (w->clients[i].state != CLIENT_IDLE)
                client_step(&w->clients[i]);
        core_settle(&w->core);
        checkpoint_settle(w);
        check_invariants(w);
        clients_busy(w, &runnable);
        if (runnable == 0 && !w->checkpoint && clients_busy(w, &runnable)) {
            assert_true(atomic_load(&w->core.run->pool.dirty_count) > 0);
            checkpoint_start(w);
        }
    }
    checkpoint_start(w);
    core_settle(&w->core);
    checkpoint_settle(w);
    note_sent(w);
    assert_int_equal(atomic_load(&w->core.run->pool.dirty_count), 0);
    for (uint32_t page_no = FIRST_PAGE; page_no < PAGES; page_no++)
        assert_int_equal(w->pages[page_no].floor, w->pages[page_no].changed);
}

static void power_cut(struct world *w)
{
    static const enum mem_cut modes[] = {MEM_CUT_DROP_ALL, MEM_CUT_RANDOM, MEM_CUT_TORN,
                                         MEM_CUT_KEEP_ALL};
    note_sent(w);
    mem_device_cut(w->core.sim.device, modes[rng_below(&w->rng, 4)]);
}

static void world_end(struct world *w)
{
    core_settle(&w->core);
    if (w->checkpoint) {
        actor_free(w->checkpoint);
        free(w->checkpoint);
    }
    for (unsigned i = 0; i < CLIENTS; i++)
        page_reader_free(&w->clients[i].reader);
    page_reader_free(&w->auditor.reader);
    free(w->audit_page);
    core_end(&w->core);
    free(w);
}

static bool episode(uint64_t seed, const char *directory)
{
    struct world *w = world_begin(seed, directory);
    bool cut = rng_below(&w->rng, 4) > 0;
    uint64_t steps = cut ? 1 + rng_below(&w->rng, STEPS) : STEPS;
    for (uint64_t i = 0; i < steps; i++)
        random_step(w);
    if (cut)
        power_cut(w);
    else
        bring_to_rest(w);
    check_files(w);
    if (getenv("TEST_SEED"))
        print_message("%u changes, %u commits, %u reads, %u checkpoints, %s\n", w->history_count,
                      w->commits, w->reads, w->checkpoints, cut ? "power cut" : "brought to rest");
    world_end(w);
    return true;
}

static void the_core_agrees_with_the_model(void **state)
{
    (void)state;
    seeds_try(episode, test_scaled(EPISODES));
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(the_core_agrees_with_the_model)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
